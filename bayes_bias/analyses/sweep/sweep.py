"""`bb.sweep`: the analysis of every list in every embedding, in which each cell is computed once."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from bayes_bias.analyses.over_time.moments import NEW, Settings
from bayes_bias.analyses.over_time.over_time import tidy_time
from bayes_bias.analyses.over_time.results import OverTime, series_of
from bayes_bias.analyses.sweep.cells import Cell
from bayes_bias.analyses.sweep.columns import (
    Column,
    OpenColumn,
    changes_of,
    names_of_columns,
    open_versions,
    read_columns,
)
from bayes_bias.analyses.sweep.grid import Grid
from bayes_bias.analyses.sweep.pooling import pool_cells
from bayes_bias.analyses.sweep.ranking import rank_versions
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.analyses.sweep.spec_file import SweepSettings, check_chosen
from bayes_bias.analyses.sweep.tables import (
    CELL,
    At,
    Computed,
    cells_table,
    changes_table,
    count_learned,
    coverage_table,
    failures_table,
    measures_table,
    words_table,
)
from bayes_bias.arguments import check_jobs, check_path
from bayes_bias.associations.lists import DEMO, check_alone
from bayes_bias.associations.made_alike import MadeAlike, embeddings_alike
from bayes_bias.debiasing.debiased_embedding import Version
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import joined, shortened
from bayes_bias.jobs import MARKER, Job, Outcome, open_store, run_jobs
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.pooling import Influence, shared_errors
from bayes_bias.progress import logging_from, step, within
from bayes_bias.table.association_table import AssociationTable, announce, unit_of
from bayes_bias.table.metric import COSINE
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName
from bayes_bias.table.words_by_slice import check_shared_words
from bayes_bias.words.wordlist import ListLike, WordList

# The name of the folder for results, which is next to the atlas in the folder of a sweep.
CELLS = "cells"
_DEMO = (DEMO,)
# The maximum number of replaced words, or of embeddings that lack words, that are named in a notice.
_NAMED = 10


def sweep(
    wordlists: ListLike | Sequence[ListLike] | Grid,
    embeddings: Mapping[str, Any] | Sequence[Any] = _DEMO,
    *,
    versions: Version | Sequence[Version] = (),
    models: Iterable[str | Path | ModelSpec] = ("crossed",),
    measures: Iterable[str] | Literal["all"] = (),
    posteriors: Literal["all", "none"] | float | Iterable[tuple[str, str]] = "all",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    folder: str | Path | None = None,
    jobs: Any = -1,
) -> Sweep:
    """Estimate the bias of many lists in many embeddings, for each cell and pooled over all cells.

    Parameters
    ----------
    wordlists : str, Path, WordList, or a sequence of them; or Grid
        Word lists, which are measured in each embedding together with the built-in control classes. For other control
        classes or similarities, and for lists that lost words, pass a grid:
        ``sweep(Grid(wordlists, embeddings, controls=(), similarity="dot"))``.
    embeddings : mapping of str to embedding, or sequence of embeddings
        Embeddings by name, or a sequence of embeddings that are named after their files. Each can be anything that
        `open_embedding` accepts, or a list of replicates (seeds), and is read only once. Alternatively, language
        models, each as a `LanguageModelColumn`. A sweep contains either cosines or log probabilities.
    versions : Debiasing, GivenVersion, or a sequence of them
        Versions of every embedding to which they apply: debiasing methods, or your own vectors. A version of a language
        model is another model. See `bayes_bias.debiasing`. Each version is compared with its embedding: for each list,
        the change is estimated from paired differences. Versions are not included in the pooled model.
    models : iterable of str, Path or ModelSpec
        Crossed models. Pooling and rankings use the first model.
    measures : iterable of str, or "all"
        Published measures to compute in addition, by their names in `measures.measure_all`.
    posteriors : {"all", "none"}, float, or pairs of str
        The cells to which models are fitted. All cells are screened by the quasi-F (`measures.quasi_f`), which takes
        hundredths of a second each. If you pass a number, models are fitted to cells with a smaller p-value. If you
        pass pairs of an embedding and a list, models are fitted to these cells. Cells that are only screened are
        included in the pooled model with the bias and standard error of the quasi-F. Holm's adjustment includes them as
        well, because they were tested. With "none", there is no pooled model.
    scope, ci_prob, seed
        See `verdict` and `fit`. All cells are fitted with the same seed.
    sampling : Sampling
        Draws and chains of sampled posteriors (see `fit`), whose convergence is checked. Other posteriors ignore these
        settings (see Notes).
    folder : str or Path, optional
        A folder for the results, which are stored in the subfolder ``cells`` under a hash of list, vectors, model, and
        settings. If you interrupt or extend a sweep, only the missing results are computed. Two sweeps may use a folder
        at the same time.
    jobs : int or distributed.Client
        Number of processes: -1 for one process per core, and 1 to use only the current process. Alternatively, the
        client of a Dask cluster that runs the jobs (on the command line, use `bayes-bias sweep --scheduler ADDRESS`).

    Returns
    -------
    Sweep
        Result whose ``cells`` has a row for each embedding and list. ``write(sweep(...), folder)`` creates the atlas.

    Raises
    ------
    BayesBiasError
        If an input is invalid. Names, files, lists, models and settings are checked before vectors are read. If a cell
        fails, or an embedding cannot be read, the reason is recorded in ``failures``, and the sweep continues.

    Notes
    -----
    The posterior of a cell is computed by numerical integration in hundredths of a second. It is sampled, in about a
    second, only if it cannot be integrated: if the table has replicates, covariates, pairs, named sub-topics, or lists
    of very different lengths, or if the model is not the default one. A change by a version is also sampled if there
    are control classes, because their changes are estimated as well. The column ``sampled`` of the results marks these
    posteriors.

    Examples
    --------
    >>> atlas = sweep(["weat6", "weat7"], ["googlenews-demo", "glove.txt"], folder="audit")     # doctest: +SKIP
    >>> atlas.pooled.embeddings                                                                 # doctest: +SKIP
    """
    settings = SweepSettings.checked(models, measures, posteriors, scope, ci_prob, seed, sampling)
    jobs = check_jobs(jobs)
    if isinstance(wordlists, Grid):
        check_alone("Grid", embeddings, _DEMO)
    grid = wordlists if isinstance(wordlists, Grid) else Grid(wordlists, embeddings)
    lists, sources, similarity = grid.opened()
    opened_versions = open_versions(versions, sources)
    names = names_of_columns(opened_versions, sources)
    check_chosen(settings.posteriors, names, [words.name for words in lists])
    store = None if folder is None else open_store(check_path("folder", folder, OutputError) / CELLS)
    columns = list(read_columns(sources, opened_versions, lists, similarity, grid.allow_loss, store))
    announce(_notice_of_absent_controls(columns))

    def run(what: str, job_of: Mapping[Any, Job]) -> dict[Any, Outcome]:
        """Run the jobs whose results are not stored, and return the outcome of each job under its key."""
        with within(what):
            outcomes = run_jobs(list(job_of.values()), store, jobs=jobs)
        return dict(zip(job_of, outcomes, strict=True))

    def screen_and_fit(cells: Mapping[At, Cell], of: str = "") -> Computed:
        """Compute the quasi-F of all cells, and fit each model to those cells that the settings select.

        The quasi-F comes first, because its p-value may determine which cells are selected. `of` is appended to the
        names of both steps.
        """
        screened = run(f"quasi-F{of}", {at: cell.screening(ci_prob) for at, cell in cells.items()})
        fit_of = {}
        for how in settings.fittings:
            for at, cell in cells.items():
                if settings.fits(*at, screened[at]):
                    fit_of[how.spec.name, *at] = cell.fitting(how)
        return Computed(screened, run(f"posteriors{of}", fit_of))

    cells = {(column.name, name): cell for column in columns for name, cell in column.cells.items()}
    biases = screen_and_fit(cells)
    changes = screen_and_fit(changes_of(columns), " of changes")
    measured: dict[Any, Outcome] = {}
    if settings.measures != ():
        measured = run("measures", {at: cell.measuring(settings.measures, seed, ci_prob) for at, cell in cells.items()})
    result = _assemble(settings, columns, lists, biases, changes, measured)
    announce(_notice_of_missing_words(result.coverage, result.sources.version_of))
    announce(_notice_of_replaced_words(result.coverage, result.originals))
    readable = _readable_embeddings(sources, columns)
    alike = _alike(readable, lists, seed)
    series, omitted = _series(settings, grid, readable, columns, lists)
    failures = [*result.failures.itertuples(index=False, name=None)]
    failures += [("all", words, "over time", reason) for words, reason in omitted.items()]
    result = replace(result, failures=pd.DataFrame(failures, columns=result.failures.columns))
    step("pooling")
    result = replace(result, alike=alike, series=series)
    return _pooled(result, biases.influence, changes.influence, lists)


def _readable_embeddings(sources: Sequence[OpenColumn], columns: Sequence[Column]) -> dict[str, Embedding]:
    """Return the embeddings by name. Versions are omitted, and so are embeddings that could not be read."""
    failed = {column.name for column in columns if column.failed}
    return {source.name: source for source in sources if isinstance(source, Embedding) and source.name not in failed}


def _notice_of_absent_controls(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return a notice of all control classes that are omitted because embeddings have too few of their words.

    The result is a tuple with this notice, or an empty tuple if no class is omitted.
    """
    embeddings_of_class: dict[str, list[str]] = {}
    for column in columns:
        for cell in column.cells.values():
            for name in cell.absent_controls:
                embeddings_of_class.setdefault(name, []).append(column.name)
    if not embeddings_of_class:
        return ()
    embeddings = dict.fromkeys(chain.from_iterable(embeddings_of_class.values()))  # each embedding once
    names = ", ".join(embeddings_of_class)
    return (f"control classes omitted, because they have too few words in {joined([*embeddings])}: {names}",)


def _notice_of_missing_words(coverage: pd.DataFrame, version_of: "pd.Series[str]") -> tuple[str, ...]:
    """Return a notice of the embeddings that lack words of lists, or an empty tuple.

    `coverage` has a row for each group or class with missing words, and `version_of` the original of each version, or
    "". A version is named only if it lacks other words than its original.
    """
    rows = coverage[coverage.found < coverage.asked]
    original = version_of.where(version_of != "", version_of.index).loc[rows.embedding].to_numpy()
    rows = rows.assign(original=original).drop_duplicates(["original", "list", "name", "lost"])
    if rows.empty:
        return ()
    names = [f"'{name}'" for name in rows.embedding.unique()]
    return (
        f"words without a vector of their own are omitted from lists in {shortened(names, _NAMED)} (see `coverage`)",
    )


def _notice_of_replaced_words(coverage: pd.DataFrame, embeddings: Sequence[str]) -> tuple[str, ...]:
    """Return a notice of all words that are replaced by other spellings or by subwords, or an empty tuple.

    `coverage` has a row for each group or class with such words, which are separated by "; ". At most _NAMED words are
    named.
    """
    is_replaced = (coverage.respelt != "") | (coverage.from_subwords != "")
    rows = coverage[coverage.embedding.isin(embeddings) & is_replaced]
    if rows.empty:
        return ()
    words_of_rows = "; ".join([*rows.respelt, *rows.from_subwords]).split("; ")
    words = list(dict.fromkeys(filter(None, words_of_rows)))  # each word once, without empty texts
    examples = "; ".join(words[:_NAMED])
    more = f", and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    where = f"{joined([*rows.embedding.unique()])}, because of `match` (see coverage for all)"
    return (f"other spellings or subwords are used in {where}: {examples}{more}",)


def _alike(embeddings: Mapping[str, Embedding], lists: Sequence[WordList], seed: int) -> MadeAlike | None:
    """Check that embeddings were similarly trained. Return None if there is only one, or if this is unknown.

    The vectors that were drawn for the check are discarded, because a sweep of many embeddings would need too much
    memory.
    """
    if len(embeddings) < 2:
        return None
    step("Are the embeddings comparable?")
    alike = embeddings_alike(embeddings, _words_of(lists), seed=seed)
    return None if alike.unknown else replace(alike, drawn={})


def _series(
    settings: SweepSettings,
    grid: Grid,
    embeddings: Mapping[str, Embedding],
    columns: Sequence[Column],
    lists: Sequence[WordList],
) -> tuple[dict[str, OverTime], dict[str, str]]:
    """Return the analysis over time of each list, and the reason why the analysis of other lists is omitted.

    The slices are the embeddings with a time, such as the decade of their texts. A list is analysed if it was measured
    in at least two of them. If the slices cannot be compared, for example because they share too few words (unless the
    sweep allows a loss of words), the list is omitted. Notices of the tables and of the analysis are not logged (only
    errors), because there would be too many.
    """
    cells = {column.name: column.cells for column in columns}
    times_and_names = sorted((time, name) for name, time in grid.times.items() if name in embeddings)
    how = Settings(settings.specs[0], NEW, settings.scope, settings.ci_prob, settings.seed, settings.sampling)
    series: dict[str, OverTime] = {}
    omitted: dict[str, str] = {}
    for words in lists:
        tables: dict[float, AssociationTable] = {}
        slices: dict[float, Embedding] = {}
        for time, name in times_and_names:
            try:
                with logging_from("bayes_bias", logging.ERROR):
                    tables[tidy_time(time)] = cells[name][words.name].table().without_controls()
            except BayesBiasError:  # already recorded as a failure of the screening
                continue
            slices[tidy_time(time)] = embeddings[name]
        if len(tables) < 2:
            continue
        try:
            if not grid.allow_loss:
                check_shared_words(tables)
            alike = embeddings_alike(slices, _words_of(lists), seed=settings.seed)
            with within(f"{words.name} over time"), logging_from("bayes_bias", logging.ERROR):
                series[words.name] = series_of(tables, alike, how)
        except BayesBiasError as error:
            announce((f"{words.name} over time is omitted (see `failures`)",))
            omitted[words.name] = str(error)
    return series, omitted


def _words_of(lists: Sequence[WordList]) -> set[str]:
    """Return the targets and attributes of all lists."""
    return {word for words in lists for word in words.words}


def _pooled(
    result: Sweep,
    influence: Mapping[At, Influence],
    influence_on_changes: Mapping[At, Influence],
    lists: Sequence[WordList],
) -> Sweep:
    """Return the sweep with the ranking of versions and, unless `posteriors` is "none", the pooled model.

    Both use the influence of each word (its contribution to a bias) from the quasi-F: errors of two embeddings are
    correlated if the same words have influence in both. The pooled model contains only the originals of versions.
    """
    scope, ci_prob, seed = result.settings.scope, result.settings.ci_prob, result.settings.seed
    influences = influence, influence_on_changes
    ranking = rank_versions(
        result.cells, result.changes, *influences, scope=scope, ci_prob=ci_prob, seed=seed, unit=result.unit
    )
    if result.settings.posteriors == "none":
        return replace(result, ranking=ranking)
    # Keys are (embedding, list).
    influence_in_originals = {key: by_word for key, by_word in influence.items() if key[0] in result.originals}
    shared = shared_errors(influence_in_originals, scope)
    pooled = pool_cells(result.cells, shared, ci_prob=ci_prob, seed=seed, noun=result.noun, lists=lists)
    return replace(result, ranking=ranking, pooled=pooled)


def is_sweep(folder: Path) -> bool:
    """Return True if a sweep was started in this folder."""
    return (folder / CELLS / MARKER).is_file()


def _assemble(
    settings: SweepSettings,
    columns: Sequence[Column],
    lists: Sequence[WordList],
    biases: Computed,
    changes: Computed,
    measured: Mapping[At, Outcome],
) -> Sweep:
    """Return a sweep with the tables of all outcomes, before pooling.

    `columns` are the embeddings and their versions, `biases` and `changes` the outcomes of the quasi-F and of all fits,
    and `measured` the outcomes of published measures. If a metric is not the cosine, all columns that were measured
    have it.
    """
    # A row for each column, with its attributes.
    sources = pd.DataFrame(list(map(vars, columns))).set_index("name").rename_axis("embedding")
    sources = sources[["version_of", "version", "source", "dimensions", "replicates"]]
    embeddings = tuple(sources.index)
    list_names = tuple(words.name for words in lists)
    screening, posteriors = biases.screening, biases.posteriors
    index = pd.MultiIndex.from_product([embeddings, list_names], names=CELL)
    cells = cells_table(settings, index, screening, posteriors, sources.version_of)
    taught = count_learned(columns, lists)
    other_metrics = [column.metric for column in columns if column.metric != COSINE]
    return Sweep(
        settings=settings,
        embeddings=embeddings,
        lists=list_names,
        sources=sources,
        cells=cells,
        changes=changes_table(settings, sources, list_names, cells, changes).assign(taught=taught),
        posteriors=posteriors.drop(columns=["versions"], errors="ignore"),
        screening=screening.drop(columns=["coverage", "influence"], errors="ignore"),
        measures=measures_table(measured),
        coverage=coverage_table(screening),
        words=words_table(lists),
        failures=failures_table(columns, biases, changes, measured),
        software=tuple(map(json.loads, sorted({*posteriors.get("versions", ())}))),
        titles={words.name: words.title for words in lists},
        metric=other_metrics[0] if other_metrics else COSINE,
        unit=unit_of(lists),
    )
