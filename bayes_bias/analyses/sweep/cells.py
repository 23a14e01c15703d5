"""The cells of a sweep, and the functions that jobs call. A cell is one list in one embedding or language model."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial, wraps
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.comparison.compare import control_levels
from bayes_bias.associations.cosines import table_of
from bayes_bias.associations.coverage import lookup
from bayes_bias.associations.related import GeneralWords, related_as_shown, with_near_copies, without_preferences
from bayes_bias.associations.similarity import COSINES
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import sha256_of_vectors, unit_rows
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fit_model import versions
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import shortened
from bayes_bias.jobs import Job, Provisional
from bayes_bias.measures.crossed_tests import quasi_f
from bayes_bias.measures.measure_table import measure_all, measure_names
from bayes_bias.models.spec import COMMON, ModelSpec
from bayes_bias.posterior.planning import variance_shares
from bayes_bias.posterior.pooling import influence_of
from bayes_bias.posterior.quadrature import integrated, integrated_row, is_integrated
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.posterior.verdict import Verdict, judge, verdict
from bayes_bias.progress import logging_from
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.combine_tables import difference, pair
from bayes_bias.table.labels import SIDES, all_words
from bayes_bias.table.origin import Origin
from bayes_bias.table.scopes import ScopeName, check_design
from bayes_bias.table.similarity import Similarity
from bayes_bias.table.statistics import within_sd
from bayes_bias.words.wordlist import WordList

type Record = dict[str, Any]

# The maximum number of missing words that are named in a message.
_NAMED = 8
# The target acceptance rate if a fit is sampled again.
_CAREFUL = 0.99


@dataclass(frozen=True)
class Fitting:
    """The settings for fitting a model and for the verdict on the bias."""

    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling

    @property
    def depends_on(self) -> list[Any]:
        """All settings that affect the results for a given table."""
        # Earlier releases sampled every posterior. Their records have other keys.
        return [self.spec.sha256, self.scope, self.ci_prob, self.seed, asdict(self.sampling), "integrated if possible"]


@dataclass(frozen=True, eq=False)
class Cell(ABC):
    """A list with its control classes in an embedding or a language model."""

    name: str

    @property
    @abstractmethod
    def depends_on(self) -> list[Any]:
        """All inputs that affect the table, except names and paths of files."""

    @abstractmethod
    def table(self, controls: bool = True) -> AssociationTable:
        """Return the association table, with or without control classes.

        Raises
        ------
        BayesBiasError
            If the list cannot be measured.
        """

    @property
    def absent_controls(self) -> list[str]:
        """Control classes that are omitted because they have too few words."""
        return []

    def without_controls(self) -> "Cell":
        """Return the cell without control classes, which the quasi-F does not use."""
        return self

    def screening(self, ci_prob: float) -> Job:
        """Return the job that computes the quasi-F."""
        return Job(self.name, screen_cell, (self, ci_prob), [self.depends_on, ci_prob])

    def fitting(self, how: Fitting) -> Job:
        """Return the job that fits a model."""
        return Job(self.name, fit_cell, (self, how), [self.depends_on, how.depends_on])

    def measuring(self, measures: Sequence[str] | None, seed: int, ci_prob: float) -> Job:
        """Return the job that computes published measures, or all of them if `measures` is None.

        A job has a name, a function with its arguments, and the inputs on which its stored result depends. With None,
        these inputs name all measures, so that results are computed again if a measure is added.
        """
        names = None if measures is None else list(measures)
        depends_on = [self.measures_depend_on, measure_names() if names is None else names, seed, ci_prob]
        return Job(self.name, measure_cell, (self, names, seed, ci_prob), depends_on)

    @property
    def measures_depend_on(self) -> list[Any]:
        """All inputs that affect the table and its vectors."""
        return self.depends_on


@dataclass(frozen=True, eq=False)
class VectorCell(Cell):
    """A list in an embedding, with vectors of only the words in the list.

    The general words in `vocabulary` are used to detect related words. If the embedding is a version of another
    embedding, related words are detected in its `original`, because debiased vectors do not show the meanings of words.
    """

    words: WordList
    embedding: Embedding
    allow_loss: bool
    similarity: Similarity = COSINES
    vocabulary: GeneralWords | None = None
    original: Cell | None = None

    @cached_property
    def depends_on(self) -> list[Any]:
        """All inputs that affect the table: hashes of words and vectors, replicates, and settings.

        If replicates are compared by cosines, only the directions of vectors matter, so each vector has unit length.
        """
        vectors = {**self.embedding.all(), **self.embedding.made(self.words.words)}
        if self.embedding.replicates and self.similarity.unit:
            vectors = {word: unit_rows(rows) for word, rows in vectors.items()}
        replicates = [list(self.embedding.replicates), self.embedding.kind]
        parts = [self.words.sha256, sha256_of_vectors(vectors), replicates, self.allow_loss]
        # Settings with default values are omitted, so that folders of older releases remain valid.
        if self.similarity != COSINES:
            parts.append(self.similarity.name)
        if self.embedding.match != "exact":
            parts.append(self.embedding.match)
        if self.vocabulary is not None:
            parts.append(self.vocabulary.sha256)
        if self.original is not None:
            parts.append(self.original.depends_on)
        if self.absent_controls:
            parts.append(self.absent_controls)
        return parts

    @property
    def measures_depend_on(self) -> list[Any]:
        """All inputs that affect the table and its vectors, whose lengths matter for SemAxis."""
        return [self.depends_on, sha256_of_vectors(self.embedding.all())]

    @cached_property
    def absent_controls(self) -> list[str]:
        """Control classes that are omitted because the embedding has too few of their words."""
        if not self.words.controls:
            return []
        _, coverage = lookup(self.embedding, self.words, prepared=np.asarray)  # only the coverage is used
        return [*coverage.absent_controls(allow_loss=self.allow_loss)]

    def table(self, controls: bool = True) -> AssociationTable:
        """Return the similarities of the words of the list, with the information which words are related.

        Related words are detected by their similarity to general words. Without general words, only near copies of a
        word can be detected. For a version of an embedding, words are related as in its original, unless the original
        lacks some of them. Debiased vectors also do not show how much preferences vary, so their table does not contain
        this information.
        """
        words = self.words if controls else self.words.without_controls()
        table = table_of(Origin(words, (), self.embedding, self.similarity, self.allow_loss))
        if self.vocabulary is None:
            return with_near_copies(table) if self.words.sub_topics == "from vectors" else table
        if self.original is None:
            return related_as_shown(table, self.vocabulary, besides=self.words)
        original = self.original.table(controls)
        shown = table  # if the original lacks words
        if {*all_words(table.values)} <= {*all_words(original.values)}:
            own_words = {dim: table.values[dim].to_numpy() for dim in SIDES}
            shown = original.select(lambda matrix: matrix.sel(own_words))
        return without_preferences(related_as_shown(table, self.vocabulary, besides=self.words, shown=shown))

    def without_controls(self) -> "VectorCell":
        return replace(self, words=self.words.without_controls(), vocabulary=None, original=None)


@dataclass(frozen=True, eq=False)
class LogProbabilityCell(Cell):
    """A list with its log probabilities, or with the reason why the log probabilities are missing."""

    scored: AssociationTable | str

    @cached_property
    def depends_on(self) -> list[Any]:
        return [self.scored if isinstance(self.scored, str) else self.scored.sha256]

    def table(self, controls: bool = True) -> AssociationTable:
        """Return the log probabilities, or raise an error with the reason why they are missing."""
        if isinstance(self.scored, str):
            raise TableError(self.scored)
        return self.scored if controls else self.scored.without_controls()


@dataclass(frozen=True, eq=False)
class ChangeCell(Cell):
    """The change that a version causes: the paired difference between a list's tables in version and original."""

    before: Cell
    after: Cell

    @cached_property
    def depends_on(self) -> list[Any]:
        return ["change", self.before.depends_on, self.after.depends_on]

    def table(self, controls: bool = True) -> AssociationTable:
        return difference(*pair(self.before.table(controls), self.after.table(controls)))

    def without_controls(self) -> "ChangeCell":
        return replace(self, before=self.before.without_controls(), after=self.after.without_controls())

    def fitting(self, how: Fitting) -> Job:
        """Return the job that fits a model to the change and summarises changes of control classes."""
        return Job(self.name, fit_change, (self, how), [self.depends_on, how.depends_on])


def _recorded[**P](compute: Callable[P, Record]) -> Callable[P, Record]:
    """Decorate a function so that its record can be stored: log no notices, and round to ten significant digits.

    Notices are not logged, because there would be hundreds, and the atlas lists omissions and failures. Numbers are
    rounded, because further digits depend on the order in which a processor adds numbers.
    """

    @wraps(compute)
    def recorded(*args: P.args, **kwargs: P.kwargs) -> Record:
        with logging_from("bayes_bias", logging.ERROR):
            record: Record = _round(compute(*args, **kwargs))
        return record

    return recorded


def _round(value: Any) -> Any:
    """Return a value with all its numbers rounded to ten significant digits, including numbers in nested records."""
    match value:
        case float():
            return float(f"{value:.10g}")
        case dict():
            return {name: _round(item) for name, item in value.items()}
        case list() | tuple():
            return [_round(item) for item in value]
    return value


@_recorded
def screen_cell(cell: Cell, ci_prob: float) -> Record:
    """Return the record of the quasi-F test for a cell, with which cells are screened before models are fitted.

    The record also has the influence of each word (its contribution to the bias), the number of words that were found,
    and the standard deviation of values within blocks.
    """
    table = cell.without_controls().table()
    result = quasi_f(table, ci_prob=ci_prob)
    lower, upper = interval_names(ci_prob, "ci")
    return {
        "bias": result.value,
        "sd": result.se,
        "df": result.df,
        lower: result.interval[0],
        upper: result.interval[1],
        "chance": result.p_value,
        "influence": influence_of(result),
        "coverage": _coverage(table),
        "within_sd": within_sd(table),
    }


@_recorded
def fit_cell(cell: Cell, how: Fitting) -> Record:
    """Return the record of a posterior, which is sampled only if it cannot be computed by numerical integration.

    Control classes affect an integrated posterior only if all classes have a common scale. Otherwise, they are not
    measured until it is clear that the posterior must be sampled.
    """
    needs_controls = how.spec.options["scales"] == COMMON
    table = cell.table(controls=needs_controls or not is_integrated(how.spec))
    # A sampled posterior also uses the control classes, for the scales of all classes.
    return _integrated(table, how) or _sampled(table if table.controls else cell.table(), how)[0]


@_recorded
def fit_change(cell: ChangeCell, how: Fitting) -> Record:
    """Return the record of the change by a version, with the control class that moved most.

    A version should change only the bias, so the record has the largest change of the mean of a group with a control
    class: its name, mean, and interval. Changes of control classes are always sampled.
    """
    table = cell.table()
    if not table.controls:
        return _integrated(table, how) or _sampled(table, how)[0]
    record, fitted = _sampled(table, how)
    levels = control_levels(fitted, table, record["scope"], how.ci_prob)
    moved_most = levels.loc[levels["mean"].abs().idxmax()]
    lower, upper = interval_of(moved_most)
    lower_name, upper_name = interval_names(how.ci_prob, of="control")
    moved = {"control": moved_most.name, "control_moved": float(moved_most["mean"])}
    return record | {"controls": moved | {lower_name: float(lower), upper_name: float(upper)}}


def _integrated(table: AssociationTable, how: Fitting) -> Record | None:
    """Return the record of a posterior without sampling, or None if the posterior requires a sampler.

    `integrated` returns the model and the statistics of the table from which the posterior is computed. `judge` derives
    the verdict from the posterior under one or more scopes, so the results under each scope are computed once and kept.
    The shares are the shares of targets, attributes, and residuals in the variance of the bias.
    """
    if (spec_and_statistics := integrated(table, how.spec)) is None:
        return None
    spec, statistics = spec_and_statistics
    scope = check_design(statistics, how.scope).name
    row_under = cache(partial(integrated_row, spec, statistics, ci_prob=how.ci_prob))
    judged = judge(statistics, table.metric, row_under, scope, how.ci_prob, quantity="bias")
    shares = row_under("both").filter(["targets", "attributes", "residual"])
    return _record(judged, row_under(scope), shares)


def _sampled(table: AssociationTable, how: Fitting) -> tuple[Record, Fitted]:
    """Return the record of a sampled posterior, and the fit.

    Among hundreds of fits, a few do not converge. They are sampled again with twice as many draws and smaller steps (a
    higher target acceptance rate).
    """
    fitted = fit_table(table, how.spec, seed=how.seed, sampling=how.sampling)
    diagnostics = Diagnostics.of(fitted)
    sampled_again = not diagnostics.for_bias.converged
    if sampled_again:
        draws, tune = 2 * how.sampling.draws, 2 * how.sampling.tune
        accept = max(_CAREFUL, how.sampling.target_accept)
        careful = replace(how.sampling, draws=draws, tune=tune, target_accept=accept)
        fitted = fit_table(table, how.spec, seed=how.seed, sampling=careful)
        diagnostics = Diagnostics.of(fitted)
    judged = verdict(fitted, how.scope, ci_prob=how.ci_prob)
    row = row_of_bias(fitted, judged.scope, how.ci_prob)
    record = _record(judged, row, variance_shares(fitted).loc["bias"])
    return record | asdict(diagnostics) | {"sampled": True, "sampled_again": sampled_again}, fitted


def _record(judged: Verdict, row: "pd.Series[Any]", shares: "pd.Series[float]") -> Record:
    """Return the record of a posterior from its verdict. `_sampled` adds diagnostics to it.

    `row` is the summary of the bias under the scope of the verdict, and `shares` are the shares of words and residuals
    in its variance.
    """
    lower, upper = interval_names(judged.ci_prob)
    return {
        "bias": judged.mean,
        "sd": float(row.sd),
        lower: judged.lower,
        upper: judged.upper,
        "chance": judged.chance,
        "observed": float(row.observed),
        "noise_sd": float(row.noise_sd),
        "verdict": judged.label,
        "scope": judged.scope,
        "problems": list(judged.problems),
        "shares": shares.to_dict(),
        "sampled": False,
        "sampled_again": False,
        "versions": versions(),
    }


def measure_cell(cell: Cell, measures: Sequence[str] | None, seed: int, ci_prob: float) -> Record | Provisional:
    """Return the record of the measures. It is provisional if a measure failed."""
    record = _measured(cell, measures, seed, ci_prob)
    return Provisional(record) if record["failed"] else record


@_recorded
def _measured(cell: Cell, measures: Sequence[str] | None, seed: int, ci_prob: float) -> Record:
    """Return the rows of the table of measures, and the reasons why other measures are missing.

    Without `measures`, all measures are computed, and some of them do not apply to the list. Those are only reported as
    missing if the user named them.
    """
    result = measure_all(cell.table(), seed=seed, ci_prob=ci_prob, only=measures)
    missing = []
    for name, reason in result.left_out.items():
        if measures is not None or name in result.failed:
            missing.append(reason)
    return {
        "rows": result.table.reset_index().to_dict("records"),
        "left_out": dict(result.left_out),
        "failed": sorted(result.failed),
        "missing": missing,
    }


def _coverage(table: AssociationTable) -> list[Record]:
    """Return a record for each group and class with missing or replaced words, except control classes.

    A word is replaced if another spelling has a vector (``respelt``), or if its vector was computed from parts of the
    word (``from_subwords``). ``lost`` has the words without a vector of their own, at most _NAMED of them.
    """
    if (frame := table.coverage) is None:
        return []
    is_missing = frame.found < frame.asked
    is_replaced = (frame.respelt != "") | (frame.from_subwords != "")
    records = []
    for row in frame[(is_missing | is_replaced) & (frame.role != "control")].itertuples(index=False):
        lost = ", ".join(filter(None, (row.missing, row.zero, row.non_finite, row.copies)))
        records.append(
            {
                "name": row.name,
                "asked": int(row.asked),
                "found": int(row.found),
                "lost": shortened(lost.split(", ") if lost else [], _NAMED),
                "respelt": row.respelt,
                "from_subwords": row.from_subwords,
            }
        )
    return records
