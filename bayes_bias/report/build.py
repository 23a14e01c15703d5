"""The main job: from lists and vectors to a `Report`, one list after the other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import xarray as xr

from bayes_bias.baselines import Weat, measure_all, weat
from bayes_bias.baselines.vectors import Vectors
from bayes_bias.calibration import Calibration, calibrate
from bayes_bias.cosines import Cosines
from bayes_bias.diagnostics import Diagnostics
from bayes_bias.embeddings import Embedding, open_embedding
from bayes_bias.errors import (
    BayesBiasError,
    CosinesError,
    EmbeddingError,
    MeasureError,
    ScopeError,
    SpecError,
    WordListError,
    did_you_mean,
)
from bayes_bias.fit import fit
from bayes_bias.measure import CONTROLS, measure_with_vectors
from bayes_bias.planning import variance_shares
from bayes_bias.progress import Progress, Quiet
from bayes_bias.report.data_fit import DataFit, data_fit
from bayes_bias.report.record import Report, Section
from bayes_bias.scopes import SCOPES, Scope, check_design, possible_scopes
from bayes_bias.sensitivity import is_collapsed
from bayes_bias.specs import ModelSpec, Reference, load_spec
from bayes_bias.sufficient import table_means
from bayes_bias.summary import summarize
from bayes_bias.verdict import verdict
from bayes_bias.wordlists import WordList, load_controls, load_wordlist

# As many as fit into a minute and a half for three lists; for a narrower share ask for more.
CALIBRATION_DRAWS = 50

List = str | Path | WordList | Cosines


def report(
    wordlists: List | Sequence[List],
    embedding: Embedding | str | Path | Any = "googlenews-demo",
    *,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    model: str | Path | ModelSpec = "crossed",
    scope: Scope = "both",
    ci_prob: float = 0.95,
    seed: int = 1,
    draws: int = 1500,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.95,
    calibration_draws: int = CALIBRATION_DRAWS,
    allow_loss: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Is this embedding biased, list by list, and how sure can one be?

    Parameters
    ----------
    wordlists : str, Path, WordList, Cosines, or a sequence of them
        Word lists to measure in the embedding, or cosines, which need none.
    embedding : str, Path, Embedding or anything that `open_embedding` opens, or a list of them
        Where the vectors come from. With several, each list is measured in each, under names such as
        "gender (googlenews-demo)".
    controls : iterable of str, Path or WordList
        Control classes, which nobody associates with any group; ``()`` for none.
    model : str, Path or ModelSpec
        A crossed model: shipped, or the path of a TOML file.
    scope : {"both", "targets", "attributes"}
        Over which words the verdict generalises.
    ci_prob : float
        Probability of the equal-tailed credible intervals.
    seed, draws, tune, chains, target_accept
        See `fit`; every list is fitted with the same seed.
    calibration_draws : int
        Random nulls of each list's own design, to count how often the model finds a bias where none is (see
        `calibrate`; a tenth of a second each); 0 for none.
    allow_loss, trust
        See `measure`.
    progress : Progress, optional
        Told of lists, steps and draws.

    Returns
    -------
    Report
        ``report(...).table()`` is one row a list; ``report(...).write("report")`` makes a page one can cite.

    Raises
    ------
    BayesBiasError
        An input is wrong; names, files, coverage and model are checked for every list before any sampling.

    Examples
    --------
    >>> print(report(["weat6", "weat7", "gender"]).table())                       # doctest: +SKIP
    """
    progress = progress or Quiet()
    spec = _crossed(model)
    _check_scope(scope, ci_prob)
    if calibration_draws < 0:
        raise BayesBiasError(
            f"calibration_draws: {calibration_draws} is negative; give 0 for no random nulls, or a number such as 100"
        )
    sources = _sources(wordlists, embedding, tuple(controls), allow_loss, trust, progress)
    for source in sources:
        _refuse_unformed(source.cosines)
        check_design(table_means(source.cosines), scope)
    settings = {"seed": seed, "draws": draws, "tune": tune, "chains": chains, "target_accept": target_accept}
    sections = tuple(
        _section(source, spec, scope, ci_prob, settings, calibration_draws, progress) for source in sources
    )
    return Report(sections, spec, scope, ci_prob)


@dataclass(frozen=True, eq=False)
class _Source:
    """Cosines, what their word list says of itself, and how to draw random nulls of its design."""

    cosines: Cosines
    title: str
    description: str = ""
    errata: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    vectors: Vectors | None = None
    nulls: Callable[..., Calibration] | None = None


@dataclass(frozen=True)
class _OfList:
    """Progress that says which list a step belongs to."""

    name: str
    progress: Progress

    def step(self, text: str) -> None:
        self.progress.step(f"{self.name}: {text}")

    def advance(self, done: int, total: int) -> None:
        self.progress.advance(done, total)


def _crossed(model: str | Path | ModelSpec) -> ModelSpec:
    spec = model if isinstance(model, ModelSpec) else load_spec(model)
    if spec.structure != "crossed":
        raise SpecError(
            f"model: '{spec.name}' is {spec.structure} and has neither scopes nor a noise floor, on which the"
            " verdict rests; use a crossed model here, and `fit` and `summarize` for this one"
        )
    return spec


def _check_scope(scope: str, ci_prob: float) -> None:
    if scope == "none" or scope not in SCOPES:
        valid = [each for each in SCOPES if each != "none"]
        raise ScopeError(f"scope: '{scope}' gives no intervals to report; {did_you_mean(scope, valid)}")
    if not 0 < ci_prob < 1:
        raise ScopeError(f"ci_prob: {ci_prob:g} is no probability; give one between 0 and 1, such as 0.95")


def _refuse_unformed(cosines: Cosines) -> None:
    if not cosines.is_formed:
        raise CosinesError(
            f"wordlists: '{cosines.name}' has {cosines.similarity.size:,} cosines, too many for a report, which shows"
            " every word; fit it and ask for `verdict` and `summarize`, or shorten the list"
        )


def _sources(
    wordlists: List | Sequence[List],
    embedding: Any,
    controls: tuple[str | Path | WordList, ...],
    allow_loss: bool,
    trust: bool,
    progress: Progress,
) -> list[_Source]:
    """Cosines of every list, before any sampling: a slip in the last list is found at once."""
    given = [wordlists] if isinstance(wordlists, str | Path | WordList | Cosines) else list(wordlists)
    if not given:
        raise CosinesError("wordlists: is empty; name one list or more, such as 'weat6'")
    lists = [load_wordlist(each) if isinstance(each, str | Path) else each for each in given]
    _refuse_repeated([each.name for each in lists])
    extra = [each if isinstance(each, WordList) else load_controls(each) for each in controls]
    opened: list[Embedding] = []
    sources = []
    for each in lists:
        if isinstance(each, Cosines):
            sources.append(_Source(each, each.name))
            continue
        progress.step(f"{each.name}: measuring cosines")
        opened = opened or _opened(embedding, trust)
        sources += [_named(_measured(each, one, extra, allow_loss), one, len(opened)) for one in opened]
    return sources


def _opened(embedding: Any, trust: bool) -> list[Embedding]:
    given = embedding if isinstance(embedding, list | tuple) else [embedding]
    if not given:
        raise EmbeddingError("embedding: is an empty list; name one embedding or more")
    opened = [e if isinstance(e, Embedding) else open_embedding(e, trust=trust) for e in given]
    names = [each.name for each in opened]
    for name in names:
        if names.count(name) > 1:
            raise EmbeddingError(
                f"embedding: {names.count(name)} are called '{name}'; open them with different names:"
                " open_embedding(file, name=...)"
            )
    return opened


def _named(source: _Source, embedding: Embedding, count: int) -> _Source:
    """With several embeddings, lists are told apart by theirs."""
    if count == 1:
        return source
    cosines = replace(source.cosines, name=f"{source.cosines.name} ({embedding.name})")
    return replace(source, cosines=cosines, title=f"{source.title} in {embedding.name}")


def _refuse_repeated(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise CosinesError(
                f"wordlists: '{name}' is there {names.count(name)} times; give each another name"
            )


def _measured(words: WordList, embedding: Embedding, extra: list[WordList], allow_loss: bool) -> _Source:
    cosines, vectors = measure_with_vectors(embedding, words, extra, allow_loss=allow_loss)
    lists = (words, *extra)
    sources = [each.source for each in lists if each.source.citation]
    return _Source(
        cosines,
        words.title,
        words.description,
        tuple(erratum for each in lists for erratum in each.errata),
        tuple(dict.fromkeys(Reference(s.citation, s.doi, s.bibtex) for s in sources)),
        vectors,
        partial(calibrate, words, embedding, controls=extra, allow_loss=allow_loss),
    )


def _section(
    source: _Source,
    spec: ModelSpec,
    scope: Scope,
    ci_prob: float,
    settings: dict[str, Any],
    calibration_draws: int,
    progress: Progress,
) -> Section:
    cosines = source.cosines
    step = _OfList(cosines.name, progress)
    posterior = fit(cosines, spec, progress=step, **settings)
    step.step("summarising")
    carried = possible_scopes(posterior["constant_data"].to_dataset())
    wanted = dict.fromkeys([scope, *(each for each in ("both", "targets") if each in carried)])
    weat_result, no_weat = _weat_or_why_not(cosines, settings["seed"])
    measures = measure_all(cosines, source.vectors, seed=settings["seed"])
    fitted, no_data_fit = _data_fit_or_why_not(posterior, cosines, settings, step)
    calibration, no_calibration = _calibration_or_why_not(source, posterior, spec, calibration_draws, step)
    return Section(
        title=source.title,
        description=source.description,
        cosines=cosines,
        fit=posterior,
        summaries={s: summarize(posterior, s, ci_prob=ci_prob, ci_kind="eti") for s in wanted},
        verdict=verdict(posterior, scope, ci_prob=ci_prob),
        weat=weat_result,
        no_weat=no_weat,
        measures=measures,
        coverage=_coverage(cosines),
        variance_shares=variance_shares(posterior),
        diagnostics=Diagnostics.of(posterior),
        data_fit=fitted,
        no_data_fit=no_data_fit,
        calibration=calibration,
        no_calibration=no_calibration,
        errata=source.errata,
        references=source.references,
    )


def _weat_or_why_not(cosines: Cosines, seed: int) -> tuple[Weat | None, str]:
    try:
        return weat(cosines.without_controls(), seed=seed), ""
    except MeasureError as error:
        return None, str(error)


def _data_fit_or_why_not(
    posterior: xr.DataTree, cosines: Cosines, settings: dict[str, Any], progress: Progress
) -> tuple[DataFit | None, str]:
    if not Diagnostics.of(posterior).converged:
        return None, "Not checked, because the fit has not converged"
    progress.step("comparing with the published model")
    try:
        return data_fit(posterior, cosines, **settings), ""
    except CosinesError as error:
        return None, f"Not checked: {error}"


def _calibration_or_why_not(
    source: _Source, posterior: xr.DataTree, spec: ModelSpec, draws: int, progress: _OfList
) -> tuple[Calibration | None, str]:
    """In threads, which can use the model that this process has compiled: another would first compile its own."""
    if not draws:
        return None, "Not drawn, since none were asked for"
    if source.nulls is None:
        return None, "Not drawn: a table of cosines has no embedding to draw random words from"
    if not is_collapsed(posterior["constant_data"].to_dataset()):
        return None, "Not drawn, since each takes as long as this fit; `bayes-bias calibrate` takes the time"
    named = replace(progress, name=f"{progress.name}: random nulls")
    seed = int(posterior.attrs["seed"])
    try:
        with joblib.parallel_config(backend="threading"):
            return source.nulls(models=[spec], draws=draws, seed=seed, progress=named), ""
    except WordListError as error:
        return None, f"Not drawn: {error}"


def _coverage(cosines: Cosines) -> pd.DataFrame:
    """Words of each group and class; a table of cosines does not say which others were asked for."""
    if cosines.coverage is None:
        return _sizes(cosines)
    frame = cosines.coverage
    reasons = frame[["missing", "zero", "non_finite"]].itertuples(index=False)
    return frame[["role", "name", "asked", "found"]].assign(
        lost=[", ".join(filter(None, r)) for r in reasons]
    )


def _sizes(cosines: Cosines) -> pd.DataFrame:
    groups = cosines.similarity.group.to_series().value_counts()
    classes = cosines.similarity.attribute_class.to_series().value_counts()
    rows = [("target", g, groups[g]) for g in cosines.groups]
    rows += [("attribute", c, classes[c]) for c in cosines.associated_classes]
    rows += [("control", c, classes[c]) for c in cosines.controls]
    frame = pd.DataFrame(rows, columns=["role", "name", "found"])
    return frame.assign(asked=float("nan"), lost="")[["role", "name", "asked", "found", "lost"]]
