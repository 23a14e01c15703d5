"""The commands for debiasing: `debias` and `compare`."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.arguments import suffixes_of_modules
from bayes_bias.cli.console import deliver, print_frame, print_layout, progress_bar, say, say_where
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    Inference,
    OutputFolder,
    OverwriteOption,
    RatingsOption,
    SetsOption,
    SettingsOption,
    reject,
    settings_of,
    split_lists,
    with_options,
)
from bayes_bias.cli.table_source import AllowUnlikeOption, BeforeAndAfter, MatchOption, TableSource, TrustOption
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import signed
from bayes_bias.progress import step
from bayes_bias.table.scopes import ScopeName
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets
from bayes_bias.words.spelling import Match
from bayes_bias.words.wordlist import load_control_lists

if TYPE_CHECKING:
    from bayes_bias.debiasing.damage import Damage
    from bayes_bias.debiasing.debiased_embedding import GivenVersion
    from bayes_bias.embeddings.embedding import Embedding

# With fewer words, nearest neighbours are not meaningful.
_FEW = 20
# Each method is in a file with the name of the method.
_METHODS = [name.replace("_", "-") for name in suffixes_of_modules("bayes_bias.debiasing", "debias_")]


@app.command()
def debias(
    out_file: Annotated[
        Path, typer.Option("--out", "-o", help="File for the vectors: .npz, or .txt for word2vec's text format.")
    ],
    sets: Annotated[
        str,
        typer.Option(
            help="Pairs of words that differ only in the protected attribute, such as she:he,woman:man."
            " Alternatively, a TOML file with defining_sets and other words that the method needs"
            " (groups, independent, equalize_sets, specific)."
        ),
    ],
    embedding: Annotated[
        str, typer.Option("--embedding", "-e", help="Built-in name, file, or gensim-downloader name.")
    ] = "googlenews-demo",
    method: Annotated[
        str, typer.Option(help=f"One of {', '.join(_METHODS)}, or a method of an installed package.")
    ] = "hard",
    settings: SettingsOption = None,
    ratings: RatingsOption = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave words without a vector out of the sets, and list them.")
    ] = False,
    match: MatchOption = "exact",
    overwrite: OverwriteOption = False,
    trust: TrustOption = False,
) -> None:
    """Debias an embedding, by hard debiasing or another method.

    Example: bayes-bias debias --sets she:he,woman:man --out debiased.npz
    """
    from bayes_bias.debiasing.debiaser import make_debiaser
    from bayes_bias.embeddings.saving import check_vectors_path, save_vectors

    check_vectors_path(out_file, overwrite, "--out")
    debiaser = make_debiaser(method, settings_of(settings), "--method")
    debiasing = bb.debiasing.Debiasing(debiaser, sets, skip_missing=skip_missing)
    with progress_bar():
        step(f"{embedding}: reading vectors")
        source = bb.open_embedding(embedding, trust=trust, match=cast(Match, match))
        step(f"debiasing: {method}")
        debiased = debiasing.applied(source)
        damage = None
        if ratings or len(debiased.vocabulary()) > _FEW:  # with fewer words, nearest neighbours are not meaningful
            damage = bb.debiasing.damage(source.all(), debiased.all(), ratings=ratings or ())
        step(f"writing {out_file}")
        save_vectors(debiased, out_file, overwrite=overwrite)
    say(f"{len(debiased.vocabulary()):,} debiased vectors are in {out_file}")
    if damage is not None:
        say(damage.text)
    match_option = "" if match == "exact" else f" --match {match}"
    say(f"To see what changed, run: bayes-bias compare LIST --before {embedding} --after {out_file}{match_option}")


@app.command()
@with_options
def compare(
    sides: BeforeAndAfter,
    output: OutputFolder,
    lists: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LIST]...",
            help="Names of built-in word lists, TOML files, or spreadsheets. Probabilities are adjusted for all of"
            " them.",
            callback=split_lists,
        ),
    ] = None,
    sets: SetsOption = None,
    settings: SettingsOption = None,
    damage: Annotated[
        bool, typer.Option("--damage", help="Report the cost of the change: neighbours of other words, variance.")
    ] = False,
    ratings: RatingsOption = None,
    allow_unlike: AllowUnlikeOption = False,
    *,
    inference: Inference,
) -> None:
    """Compare two embeddings, such as before and after debiasing: both biases and their difference.

    With several lists or versions, probabilities are adjusted for the number of comparisons, and versions are ranked.

    Example: bayes-bias compare weat6 --before googlenews-demo --after debiased.npz
    """
    lists = lists or []
    debias_sets = None if sets is None else read_debias_sets(sets)
    method_settings = settings_of(settings)
    # Files of human ratings, with which the damage is computed, or None if no damage is reported.
    rating_files = (ratings or []) if damage or ratings else None
    result: bb.Comparison | bb.Sweep
    with progress_bar():
        if len(lists) > 1 or len(sides.versions) > 1:
            is_used = {"--rope": inference.rope is not None, "--allow-unlike": allow_unlike}
            _check_several(sides, lists, method_settings, is_used)
            result = _compare_by_sweep(sides, lists, debias_sets, method_settings, rating_files, inference)
        else:
            wordlist = lists[0] if lists else None
            result = _compare_one(sides, wordlist, debias_sets, method_settings, rating_files, inference, allow_unlike)
        page = output.write(result)
    if isinstance(result, bb.Sweep):
        _show_several(result)
    else:
        _show(result)
    say_where("\nThe comparison is in", page)


def _compare_one(
    sides: BeforeAndAfter,
    wordlist: str | None,
    sets: DebiasSets | None,
    settings: Mapping[str, Any],
    ratings: list[Path] | None,
    inference: Inference,
    allow_unlike: bool,
) -> "bb.Comparison":
    """Compare one list before and after, for one version.

    --after names embeddings, a model, or a debiasing method with these `settings`, which learns from the words of the
    `sets` and is applied to the embedding before. The tables of both sides contain the vectors of these words (`also`).
    Without a word list, both sides are table files. `ratings` are files of human ratings for the damage by the change
    (how much the vectors changed), or None to omit the damage.
    """
    also = sets.words if sets else ()
    method = _method(sides.after, sets, settings)  # None if --after names no method
    before = sides.side(sides.before)
    after = before if method else sides.side(sides.after)
    if wordlist:
        before.check_sources()
        _check_after(after)

    def measured(
        source: TableSource, names: list[str], debiasing: "bb.debiasing.Debiasing | None" = None
    ) -> "bb.AssociationTable":
        """Return the table of one side: a file, or the list measured in `source`, possibly after debiasing.

        Only the required words are debiased, unless the method needs the whole vocabulary.
        """
        step(f"{', '.join(names)}: measuring")
        if wordlist is None:
            return source.read_alone(names, "an embedding or a model")
        if debiasing is None:
            return source.table(wordlist, also=also)
        words = bb.load_wordlist(source.words(wordlist)).with_controls(source.control_classes)
        embedding = source.opened([wordlist], also=also)
        if not debiasing.needs_vocabulary:
            embedding = embedding.excerpt([*words.words, *words.texts, *also])
        return _table_in(debiasing.applied(embedding), wordlist, source, also)

    table = measured(before, sides.before)
    changed = measured(after, sides.after, method)
    damage = None
    if ratings is not None:
        lists = [] if wordlist is None else [wordlist]
        _check_vocabulary([before, after], lists)
        # A method is applied to the embedding before. Without a method, --after is an embedding.
        (damage,) = _damages(before.opened(lists), [method or after.opened(lists)], ratings)
    settings_of_fit = {**inference.fitting, **inference.reading}
    return bb.compare(
        table, changed, allow_unlike=allow_unlike, defining_sets=sets or (), damage=damage, **settings_of_fit
    )


def _check_several(
    sides: BeforeAndAfter, lists: list[str], settings: Mapping[str, Any], is_used: Mapping[str, bool]
) -> None:
    """Raise an error if LIST is missing, or if an option is used that is only valid for one list and one version.

    `is_used` is True for each of these options that was used. Settings of a method are only valid for one version.
    """
    if not lists:
        raise BayesBiasError(f"LIST is missing. Name the word lists by which to compare {len(sides.after)} versions.")
    used = [option for option in is_used if is_used[option]]
    if used:
        raise BayesBiasError(
            f"{used[0]} can only be used with one list and one version. Omit it, or compare them one by one."
        )
    if (n_versions := len(sides.versions)) > 1:
        reject(
            f"can only be used with one method, but there are {n_versions} versions. Name one version, or write a file"
            " for `bayes-bias sweep`.",
            setting=list(settings),
        )


def _compare_by_sweep(
    sides: BeforeAndAfter,
    lists: list[str],
    sets: DebiasSets | None,
    settings: Mapping[str, Any],
    ratings: list[Path] | None,
    inference: Inference,
) -> "bb.Sweep":
    """Compare several lists or versions by a sweep of one embedding or model, the original that --before names.

    Each --after names one version of the original: a debiasing method, which learns from the words of the `sets` and
    is applied to the original, or another embedding or model. `settings` are those of the method. `ratings` are files
    of human ratings, with which the damage by each version is computed, or None to omit the damage.
    """
    from bayes_bias.analyses.sweep.grid import Grid
    from bayes_bias.debiasing.debiased_embedding import GivenVersion

    before = sides.side(sides.before)
    before.check_sources()
    if ratings is not None:
        _check_vocabulary([before], lists)
    original = _original(before, lists, sets.words if sets else ())
    # The debiasing method of each version, or None if the version is another embedding or model.
    methods = [_method(names, sets, settings) for names in sides.versions]
    if sets is not None and not any(methods):
        raise BayesBiasError(
            "--sets has no effect, because no --after is a method that learns from sets. Omit it, or use one of"
            f" {', '.join(_METHODS)}."
        )
    versions: list[bb.debiasing.Debiasing | GivenVersion] = []
    for names, method in zip(sides.versions, methods, strict=True):
        if method is None:
            _check_after(sides.side(names))
        versions.append(method or _version_from(sides.side(names), lists, original.name))
    damage_of_version: dict[str, Damage] = {}
    if ratings is not None:
        assert isinstance(original, bb.Embedding)  # because a model has no vocabulary, which was checked
        # An embedding is compared itself, and a method is applied to the original.
        changed = [version.source if isinstance(version, GivenVersion) else version for version in versions]
        damages = _damages(original, changed, ratings)
        damage_of_version = dict(zip([version.name for version in versions], damages, strict=True))
    wordlists = [before.words(name) for name in lists]
    return bb.sweep(
        Grid(wordlists, [original], controls=before.control_classes, allow_loss=before.allow_loss),
        models=[inference.model],
        versions=versions,
        scope=cast(ScopeName, inference.scope),
        ci_prob=inference.ci_prob,
        seed=inference.seed,
        sampling=inference.sampling,
    ).with_damage(damage_of_version)


def _table_in(version: "Embedding", wordlist: str, source: TableSource, also: Iterable[str]) -> "bb.AssociationTable":
    """Return the table of a word list, measured in a debiased version of an embedding.

    `source` has the options for lists and control classes, and `also` further words whose vectors the table contains.
    Related words are not detected in this table: a comparison uses the related words of the original embedding, because
    debiased vectors do not show the meanings of words.
    """
    from bayes_bias.associations.cosines import table_of
    from bayes_bias.associations.similarity import COSINES
    from bayes_bias.table.origin import Origin

    words = bb.load_wordlist(source.words(wordlist))
    controls = load_control_lists(source.control_classes)
    return table_of(Origin(words, controls, version, COSINES, source.allow_loss), also=also)


def _original(source: TableSource, lists: list[str], also: Iterable[str]) -> "Embedding | bb.LanguageModelColumn":
    """Return the embedding or language model with which versions are compared.

    The embedding can contain further words (`also`) besides those of the lists, such as the words of debiasing sets.
    """
    if not source.predicts_words:
        return source.opened(lists, also=also)
    options: dict[str, Any] = {} if source.templates is None else {"templates": source.templates}
    name = Path(source.language_model).name
    return bb.LanguageModelColumn(source.open_language_model(), name=name, trust=source.trust, **options)


def _version_from(source: TableSource, lists: list[str], of: str) -> "GivenVersion":
    """Return an embedding or a language model as a version of another embedding or model, whose name is `of`.

    `source` names the embedding, or the folder of the model, whose last part is its name. An encoder encodes
    the words of the `lists`.
    """
    from bayes_bias.debiasing.debiased_embedding import GivenVersion

    if source.predicts_words:
        return GivenVersion(source.open_language_model(), Path(source.language_model).name, of)
    embedding = source.opened(lists)
    return GivenVersion(embedding, embedding.name, of)


def _check_vocabulary(sides: Iterable[TableSource], lists: list[str]) -> None:
    """Raise an error if a side has no vocabulary, which is required to compute the damage.

    Table files (which have no lists) and models that read sentences have none.
    """
    if not lists or any(side.reads_sentences for side in sides):
        raise BayesBiasError("--damage needs the vectors of a vocabulary on both sides. Omit it.")


def _damages(
    before: "Embedding", after: "Sequence[Embedding | bb.debiasing.Debiasing]", ratings: list[Path]
) -> "list[Damage]":
    """Compute the damage by each version in `after`: how much the vectors of the embedding before changed.

    A version is an embedding, or a debiasing method, which is applied here. The original vectors are read once, into an
    excerpt: the words with human `ratings`, the words from which methods learn, and the pool of words for random lists,
    which serves as a vocabulary. Damage is computed from the rated words and the pool.
    """
    from bayes_bias.debiasing.damage import read_ratings

    step("damage: reading vectors")
    rated_words: list[str] = []
    for file in ratings:
        rated_words += read_ratings(file)[["word", "other"]].to_numpy().ravel().tolist()
    methods = [version for version in after if isinstance(version, bb.debiasing.Debiasing)]
    learned_words = [word for method in methods for word in method.learned_words]
    excerpt = before.excerpt([*rated_words, *learned_words], pool=True)
    vectors = excerpt.excerpt(rated_words, pool=True).all()
    damages = []
    for version in after:
        if isinstance(version, bb.debiasing.Debiasing):
            version = version.applied(before if version.needs_vocabulary else excerpt)
        damages.append(bb.debiasing.damage(vectors, version.excerpt(vectors).all(), ratings=ratings))
    return damages


def _check_after(after: TableSource) -> None:
    """Raise an error if a file is missing. If its name is similar to that of a debiasing method, suggest the method."""
    try:
        after.check_sources()
    except BayesBiasError as error:
        method = get_close_matches(after.embedding[0], _METHODS, 1)
        if not method:
            raise
        raise BayesBiasError(f"{error} Did you mean the debiasing method '{method[0]}'?") from error


def _method(after: list[str], sets: DebiasSets | None, settings: Mapping[str, Any]) -> "bb.debiasing.Debiasing | None":
    """Return the debiasing method named by --after with its sets and settings, or None if --after names embeddings.

    A file with the name of a method is an embedding. A method requires --sets, and other versions reject --setting.
    """
    from bayes_bias.debiasing.debiaser import debiaser_names, make_debiaser

    if len(after) > 1 or after[0] not in debiaser_names() or Path(after[0]).exists():
        reject(
            f"can only be used with a method, but --after '{after[0]}' is not a method. Omit it, or use one of"
            f" {', '.join(debiaser_names())}.",
            setting=list(settings),
        )
        return None
    if sets is None:
        raise BayesBiasError(
            f"--after '{after[0]}' debiases with sets of words. Add, for example, --sets she:he,woman:man."
        )
    return bb.debiasing.Debiasing(make_debiaser(after[0], settings, "--after"), sets, name=after[0])


def _show(comparison: "bb.Comparison") -> None:
    """Print both biases, their difference, and the measures.

    `CHANCE` explains the probability of a bias under the assumption of no bias. For the difference, the assumption is
    that the two sides do not differ.
    """
    from bayes_bias.posterior.summary import CHANCE

    deliver(comparison=comparison)
    no_difference = "both had the same bias" if comparison.corpora else "nothing had changed"
    print_layout(comparison.layout)
    say(f"Probability under no bias: {CHANCE}. For the {comparison.names['change']}, if {no_difference}.")
    print_layout(comparison.measures_layout)
    for reason in comparison.left_out.values():
        say(f"omitted: {reason}")
    say(f"\n{comparison.text}")


def _show_several(result: "bb.Sweep") -> None:
    """Print the biases of several lists or versions, and the damage of each version.

    The table of biases has a row for each list and a column for each version. The embedding itself, which is no version
    of another, is named "before".
    """
    from bayes_bias.cli.sweep import show_sweep  # imported here because other functions do not need sweeps

    names = result.sources.version.where(result.sources.version_of != "", "before")
    biases = result.matrix().T.rename(columns=names.to_dict()).rename_axis("list")
    rows = biases.map(partial(signed, decimals=result.metric.decimals))
    print_frame(rows, title=f"Bias of {result.originals[0]} before and after, in {result.metric.unit}")
    show_sweep(result)
    for name, damage in result.damage.items():
        say(f"{name}: {damage.text}")
