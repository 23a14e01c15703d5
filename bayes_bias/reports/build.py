"""The main job: from lists and vectors to a `Report`, one list after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_ci_prob, check_count, check_seed, listed
from bayes_bias.associations.cosine import CONTROLS, cosines_with_vectors
from bayes_bias.associations.statistics import table_means
from bayes_bias.associations.table import Associations
from bayes_bias.checks.calibration import Calibration, Random, calibrate, drawn_beside
from bayes_bias.embeddings import Embedding, open_embedding
from bayes_bias.embeddings.vectors import Vectors
from bayes_bias.errors import AssociationsError, EmbeddingError
from bayes_bias.estimands.facets import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    SHOWN,
    TARGETS,
    ScopeName,
    check_design,
    possible_scopes,
    sampling_scope,
    scope_of,
)
from bayes_bias.inference.sampling import Sampling, check_sampling, fit
from bayes_bias.measures.table import measure_all
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.reports.check import Check, Study
from bayes_bias.reports.checks import CHECKERS
from bayes_bias.reports.record import Report, Section
from bayes_bias.results.design import variance_shares
from bayes_bias.results.negligible import check_rope
from bayes_bias.results.summary import summarize
from bayes_bias.results.verdict import verdict
from bayes_bias.words.wordlist import WordList, control_lists, load_controls, load_wordlist

# As many as fit into a minute and a half for three lists; for a narrower share ask for more.
CALIBRATION_DRAWS = 50

type ListLike = str | Path | WordList | Associations


def report(
    wordlists: ListLike | Sequence[ListLike],
    embedding: Embedding | str | Path | Any = "googlenews-demo",
    *,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    model: str | Path | ModelSpec = "crossed",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    rope: float | None = None,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    calibration_draws: int = CALIBRATION_DRAWS,
    against_published: bool = False,
    allow_loss: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Is this embedding biased, list by list, and how sure can one be?

    Parameters
    ----------
    wordlists : str, Path, WordList, Associations, or a sequence of them
        Word lists to measure in the embedding, or tables, which need none.
    embedding : str, Path, Embedding or anything that `open_embedding` opens, or a list of them
        Where the vectors come from. With several, each list is measured in each, under names such as
        "gender (googlenews-demo)". Each is read once.
    controls : iterable of str, Path or WordList
        Control classes, which nobody associates with any group; ``()`` for none.
    model : str, Path or ModelSpec
        A crossed model: shipped, or the path of a TOML file.
    scope : {"all", "both", "targets", "attributes", ...}
        Over which words, and replicates, the verdict generalises; "all" is "both" for a table without replicates.
    ci_prob : float
        Probability of the equal-tailed credible intervals.
    rope : float, optional
        Up to which size, in the units of the tables, a bias is negligible; see `verdict`.
    seed, sampling
        See `fit`; every list is fitted with the same seed.
    calibration_draws : int
        Random nulls of each list's own design, to count how often the model finds a bias where none is (see
        `calibrate`; a tenth of a second each, in other processes meanwhile); 0 for none.
    against_published : bool
        Fit the published hierarchical model, too, and compare how well either predicts the raw values; it takes
        longer than all the rest. `bayes-bias check` does nothing else.
    allow_loss, trust
        See `bayes_bias.cosines`.
    progress : Progress, optional
        Told of lists, steps and draws.

    Returns
    -------
    Report
        ``report(...).table()`` is one row a list; ``write(report(...), "report")`` makes a page one can cite.

    Raises
    ------
    BayesBiasError
        An input is wrong; names, files, coverage and model are checked for every list before any sampling.

    Examples
    --------
    >>> print(report(["weat6", "weat7", "gender"]).table())                       # doctest: +SKIP
    """
    progress = progress or Quiet()
    spec = generalising_spec(model, "a verdict")
    asked = _Asked(spec, scope, ci_prob, rope, seed, sampling, calibration_draws, against_published)
    asked.check()
    given = listed("wordlists", wordlists, str | Path | WordList | Associations, "['weat6', 'weat7']")
    sources = _sources(
        given, embedding, control_lists(controls), allow_loss, trust, calibration_draws > 0, progress
    )
    scopes = _check_tables([source.table for source in sources], scope)
    designs = [
        partial(source.nulls, random=_sampled(own), scopes=own)
        for source, own in zip(sources, scopes, strict=True)
        if source.nulls
    ]
    drawn = drawn_beside(designs, spec, calibration_draws, seed)
    studies = [_study(source, asked, drawn, progress) for source in sources]
    sections = [_section(*each, rope) for each in zip(sources, studies, strict=True)]
    # Last, since random nulls are ready last.
    checked = (replace(s, checks=_checks(study)) for s, study in zip(sections, studies, strict=True))
    return Report(tuple(checked), spec, scopes[0] if len(set(scopes)) == 1 else scope, ci_prob, rope)


@dataclass(frozen=True)
class _Asked:
    """What the same is asked of every list."""

    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    rope: float | None
    seed: int
    sampling: Sampling
    calibration_draws: int
    against_published: bool

    def check(self) -> None:
        sampling_scope(self.scope)
        check_ci_prob(self.ci_prob)
        check_rope(self.rope)
        check_seed(self.seed)
        check_sampling(self.sampling)
        check_count("calibration_draws", self.calibration_draws, "random nulls", least=0)


@dataclass(frozen=True, eq=False)
class _Source:
    """A table, what its word list says of itself, and how to draw random nulls of its design."""

    table: Associations
    title: str
    description: str = ""
    errata: tuple[str, ...] = ()
    vectors: Vectors | None = None
    nulls: Callable[..., Calibration] | None = None


def _check_tables(tables: Sequence[Associations], scope: ScopeName) -> list[ScopeName]:
    """The scope of each: "all" is another where there are replicates than where there are none."""
    carried = []
    for table in tables:
        if not table.is_formed:
            raise AssociationsError(
                f"wordlists: '{table.name}' has {table.values.size:,} cosines, too many for a report, which shows"
                " every word; fit it and ask for `verdict` and `summarize`, or shorten the list"
            )
        carried.append(check_design(table_means(table), scope).name)
        if table.association != tables[0].association:
            raise AssociationsError(
                f"wordlists: '{table.name}' holds {table.association.plural} and '{tables[0].name}'"
                f" {tables[0].association.plural}; make a report of each kind"
            )
    return carried


def _sources(
    given: Sequence[ListLike],
    embedding: Any,
    controls: tuple[str | Path | WordList, ...],
    allow_loss: bool,
    trust: bool,
    with_pool: bool,
    progress: Progress,
) -> list[_Source]:
    """Tables of every list, before any sampling: a slip in the last list is found at once."""
    if not given:
        raise AssociationsError("wordlists: is empty; name one list or more, such as 'weat6'")
    lists = [each if isinstance(each, Associations) else load_wordlist(each) for each in given]
    _refuse_repeated([each.name for each in lists])
    extra = [load_controls(each) for each in controls]
    words = [each for each in lists if isinstance(each, WordList)]
    opened = _read(embedding, trust, [*words, *extra], with_pool, progress) if words else []
    sources = []
    for each in lists:
        if isinstance(each, Associations):
            sources.append(_Source(each, each.name))
            continue
        progress.step(f"{each.name}: measuring cosines")
        sources += [_named(_measured(each, one, extra, allow_loss), one, len(opened)) for one in opened]
    return sources


def _read(
    embedding: Any, trust: bool, lists: Sequence[WordList], with_pool: bool, progress: Progress
) -> list[Embedding]:
    """Each embedding read once, whatever the number of lists: their words, and a pool for random nulls."""
    given = embedding if isinstance(embedding, list | tuple) else [embedding]
    if not given:
        raise EmbeddingError("embedding: is an empty list; name one embedding or more")
    opened = _told_apart(given, [open_embedding(each, trust=trust) for each in given])
    names = [each.name for each in opened]
    for name in names:
        if names.count(name) > 1:
            raise EmbeddingError(
                f"embedding: {names.count(name)} are called '{name}'; open them with different names:"
                " open_embedding(file, name=...)"
            )
    wanted = [word for each in lists for word in (*each.targets, *each.attributes)]
    read = []
    for each in opened:
        progress.step(f"{each.name}: reading vectors")
        read.append(each.excerpt(wanted, pool=with_pool))
    return read


def _told_apart(given: Sequence[Any], opened: list[Embedding]) -> list[Embedding]:
    """Files of one name go by their paths."""
    names = [each.name for each in opened]
    return [
        replace(each, name=str(source))
        if names.count(each.name) > 1 and isinstance(source, str | Path)
        else each
        for source, each in zip(given, opened, strict=True)
    ]


def _named(source: _Source, embedding: Embedding, count: int) -> _Source:
    """With several embeddings, lists are told apart by theirs."""
    if count == 1:
        return source
    table = replace(source.table, name=f"{source.table.name} ({embedding.name})")
    return replace(source, table=table, title=f"{source.title} in {embedding.name}")


def _refuse_repeated(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise AssociationsError(
                f"wordlists: '{name}' is there {names.count(name)} times; give each another name"
            )


def _measured(words: WordList, embedding: Embedding, extra: list[WordList], allow_loss: bool) -> _Source:
    table, vectors = cosines_with_vectors(embedding, words, extra, allow_loss=allow_loss)
    lists = (words, *extra)
    return _Source(
        table,
        words.title,
        words.description,
        tuple(erratum for each in lists for erratum in each.errata),
        vectors,
        partial(calibrate, words, embedding, controls=extra, allow_loss=allow_loss),
    )


def _study(source: _Source, asked: _Asked, drawn: Iterator[Calibration | str], progress: Progress) -> Study:
    """A list's fit, and all that its checks will look at."""
    table, step = source.table, Prefixed(source.table.name, progress)
    fitted = Fitted.of(fit(table, asked.spec, seed=asked.seed, sampling=asked.sampling, progress=step))
    return Study(
        table,
        fitted,
        asked.spec,
        check_design(fitted.data, asked.scope).name,
        asked.ci_prob,
        asked.seed,
        asked.sampling,
        nulls=partial(next, drawn) if source.nulls else None,
        null_draws=asked.calibration_draws,
        progress=step,
        against_published=asked.against_published,
    )


def _section(source: _Source, study: Study, rope: float | None) -> Section:
    """All but the checks."""
    table, fitted, scope, ci_prob = study.table, study.fitted, study.scope, study.ci_prob
    study.progress.step("summarising")
    carried = possible_scopes(fitted.data)
    wanted = dict.fromkeys([scope, *(each for each in SHOWN if each in carried)])
    return Section(
        title=source.title,
        description=source.description,
        table=table,
        fitted=fitted,
        summaries={s: summarize(fitted, s, ci_prob=ci_prob, ci_kind="eti", rope=rope) for s in wanted},
        verdict=verdict(fitted, scope, ci_prob=ci_prob, rope=rope),
        measures=measure_all(table, source.vectors, seed=study.seed, ci_prob=ci_prob),
        coverage=_coverage(table),
        variance_shares=variance_shares(fitted),
        checks={},
        errata=source.errata,
    )


def _checks(study: Study) -> dict[str, Check]:
    return {checker.name: checker.run(study) for checker in CHECKERS}


def _sampled(scope: ScopeName) -> Random:
    """The words that random nulls replace: those that the scope calls a sample."""
    sampled = scope_of(scope)
    return "targets" if TARGETS in sampled and ATTRIBUTES not in sampled else "attributes"


def _coverage(table: Associations) -> pd.DataFrame:
    """Words of each group and class; a table from a frame does not say which others were asked for."""
    if table.coverage is None:
        return _sizes(table)
    frame = table.coverage
    reasons = frame[["missing", "zero", "non_finite"]].itertuples(index=False)
    return frame[["role", "name", "asked", "found"]].assign(
        lost=[", ".join(filter(None, r)) for r in reasons]
    )


def _sizes(table: Associations) -> pd.DataFrame:
    groups = table.values.group.to_series().value_counts()
    classes = table.values.attribute_class.to_series().value_counts()
    rows = [("target", g, groups[g]) for g in table.groups]
    rows += [("attribute", c, classes[c]) for c in table.associated_classes]
    rows += [("control", c, classes[c]) for c in table.controls]
    frame = pd.DataFrame(rows, columns=["role", "name", "found"])
    return frame.assign(asked=float("nan"), lost="")[["role", "name", "asked", "found", "lost"]]
