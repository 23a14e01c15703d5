"""Compute all measures that are possible for a word list, in one table."""

import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from bayes_bias.arguments import as_tuple, check_ci_prob, check_count, check_seed, import_all, kind_of
from bayes_bias.embeddings.word_vectors import sha256_of_vectors
from bayes_bias.errors import MeasureError, OtherDataError, did_you_mean
from bayes_bias.formatting import DASH, MINUS, Column, Layout, Tabled, bounds, joined, mean_of_interval, probability
from bayes_bias.jobs import Job, Outcome, from_cache, open_store, run_jobs
from bayes_bias.measures.crossed_tests import CrossedTest, WordScores
from bayes_bias.measures.other_words import fewest_words, random_pool, random_tables, redrawn_tables, summarised
from bayes_bias.measures.registry import MEASURES, Occasion, Result, row_columns
from bayes_bias.table.association_table import AssociationTable, announce, check_table
from bayes_bias.table.columns import interval_column, interval_columns, interval_names, interval_of
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of

# Other lists: "chance" has random words, and "redrawn" the words of the list, drawn with replacement.
type Distribution = Literal["chance", "redrawn"]

# The entry-point group under which installed packages name modules with their own measures.
ENTRY_POINTS = "bayes_bias.measures"


# Marks for an interval from redrawn words, and for an interval from too few words.
_REDRAWN, _FEW = "*", "**"
_ROUNDING = 1e-12
# Intervals from redrawn words were tested with at least this number of independent words
# (docs/evidence/power-and-coverage.md).
FEWEST_WORDS = 4


@dataclass(frozen=True, eq=False, repr=False)
class MeasureTable(Tabled):
    """Measures of one word list, side by side.

    Attributes
    ----------
    table : pandas.DataFrame
        One numeric row for each measure: value, b0 (the value without bias), low and high (the range of the measure),
        p_value, and ci95_lb and ci95_ub (the measure's own interval, which is missing for most measures). With
        `chance_draws`, also chance, chance_ci95_lb, and chance_ci95_ub: the median and interval in lists of random
        words. With `redraws`, measures without their own interval also have redrawn, redrawn_ci95_lb, and
        redrawn_ci95_ub: the median and interval after drawing the words of the list again. The number in a column's
        name is `ci_prob` in percent.
    left_out : mapping of str to str
        The reason why a measure is not in the table, in one line. If the function of a measure raises an unexpected
        error, this error is also logged.
    results : mapping of str to Result
        The full result of each measure.
    failed : frozenset of str
        Omitted measures whose function raised an unexpected error.
    fewest_words : float
        Smallest effective number of words of a group or class. The intervals from redrawn words depend on this number.
        It is NaN if no words were redrawn.
    biased : tuple of str
        Rows without an interval from redrawn words, because this interval would not include the row's own value.
    """

    table: pd.DataFrame
    left_out: Mapping[str, str]
    results: Mapping[str, Result]
    failed: frozenset[str] = frozenset()
    fewest_words: float = float("nan")
    biased: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """State the number of rows, and which measures are omitted."""
        omitted = f"; omitted: {', '.join(self.left_out)}" if self.left_out else ""
        return f"{len(self.table)} rows of measures{omitted}"

    @property
    def layout(self) -> Layout:
        """Return the table as text."""
        return self.laid_out(self.table)

    def laid_out(self, rows: pd.DataFrame) -> Layout:
        """Lay out rows of the table, which may be followed by other rows with the same columns.

        The interval from lists of random words is shown in the fourth column if it was computed. A `spare` column is
        omitted in narrow terminals. The names of interval columns, such as "ci95_lb", contain the percentage.
        """
        values = list(map(partial(mean_of_interval, sign=""), rows.value, *interval_of(rows)))
        ranges = rows.low.map(_bound) + " to " + rows.high.map(_bound)
        lower, _ = interval_columns(rows)
        percentage = lower.removeprefix("ci").removesuffix("_lb")
        columns = [
            Column("value", values),
            Column("no bias", [DASH if pd.isna(b0) else f"{b0:g}" for b0 in rows.b0]),
            Column("range", ranges, spare=True),
            Column("p", rows.p_value, probability),
            Column(f"{percentage}% interval", self._intervals(rows)),
        ]
        if "chance" in rows:
            columns.insert(3, interval_column("random words", rows, of="chance"))
        return Layout(list(map(str, rows.index)), columns, heading="measure")

    def _intervals(self, rows: pd.DataFrame) -> list[str]:
        """Return the interval of each measure as text or, if there is none, the interval from redrawn words.

        Intervals from redrawn words have a mark, and another one if a group or class has too few effective words.
        """
        mark = _FEW if self.fewest_words < FEWEST_WORDS else _REDRAWN
        texts = list(map(bounds, *interval_of(rows)))
        if "redrawn" in rows:
            for k, (lower, upper) in enumerate(zip(*interval_of(rows, "redrawn"), strict=True)):
                if not pd.isna(lower):
                    texts[k] = f"{bounds(lower, upper)}{mark}"
        return texts

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes for readers of the table: on its additional columns, on marks, and on omitted measures.

        The interval from redrawn words has the mark `_FEW` and a caution if a group or class has few effective words.
        """
        mark, caution = _REDRAWN, ""
        if self.fewest_words < FEWEST_WORDS:
            mark = _FEW
            caution = (
                " It is unreliable here, because the effective number of words of a group or class is"
                f" {self.fewest_words:.1f}, below {FEWEST_WORDS}."
            )
        remark_on_column = {
            "chance": "Random words: interval of the measure in lists of random words, that is, by chance alone.",
            "redrawn": f"{mark} bootstrap: words of both sides are drawn again.{caution}",
        }
        remarks = [text for column, text in remark_on_column.items() if column in self.table]
        if self.biased:
            remarks.append(
                f"No bootstrap interval is shown of {joined(self.biased)}, because the values of redrawn words are"
                " biased: the interval would not include the value of the list itself."
            )
        return (*remarks, *(f"omitted: {reason}" for reason in self.left_out.values()))


def _bound(value: float) -> str:
    """Format a bound of a range: whole numbers without decimals, and infinity as its sign."""
    return f"{value:.3g}".replace("inf", "∞").replace("-", MINUS)


def measure_all(
    table: AssociationTable,
    *,
    defining_sets: GivenSets = (),
    vocabulary: str | None = None,
    seed: int = 0,
    ci_prob: float = 0.95,
    only: Collection[str] | None = None,
    chance_draws: int = 0,
    redraws: int = 0,
    cached: bool = False,
) -> MeasureTable:
    """Compute every measure that applies to a word list, from this package and your own (see `measure`).

    Units and directions differ, so read each row against its own b0 and range. Relative norm distance has one row
    for each associated class, and is positive if the class is nearer to the *second* group.

    Parameters
    ----------
    table : AssociationTable
        The word list in an embedding. Some measures need its vectors. To add vectors to a table from a frame, use
        `AssociationTable.with_vectors`.
    defining_sets : str, path or sequence of sequences of str, optional
        Pairs such as "she:he,woman:man" or [("she", "he")]. Direct Bias computes its direction from the unit vectors of
        these pairs, and RIPA from their vectors at the original lengths. Word lists do not contain defining sets, so
        create the table with these words: ``cosines(..., also=["she", "he", "woman", "man"])``.
    vocabulary : str, optional
        The control class of random words for the negative control of SD-WEAT.
    seed, ci_prob
        See `Occasion`.
    only : collection of str, optional
        Names of the measures to compute. The default is all measures.
    chance_draws : int
        Number of lists of random words from which to compute the chance level of each measure. They have the same
        numbers of words in each group and class, from the same embedding. The table must come from
        `bayes_bias.cosines`.
    redraws : int
        Number of lists from which to compute intervals by a crossed bootstrap. Words of each group and class, and
        replicates, are drawn with replacement. If words are related, the number of drawn words is their effective
        number.
    cached : bool
        If True, values of these lists are kept in the user's cache and read from there, unless one of the measures is
        your own.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> measured = measure_all(cosines("weat7", "googlenews-demo", controls=()), only=["WEAT", "MAC", "Direct Bias"])
    >>> measured.table.value.round(3).to_dict()
    {'WEAT': 0.966, 'MAC': 0.933}
    >>> measured.left_out["Direct Bias"]
    "Direct Bias: This measure needs defining sets. Pass some, such as defining_sets='she:he,woman:man'."
    """
    check_table(table)
    seed = check_seed(seed)
    check_ci_prob(ci_prob)
    names = measure_names() if only is None else check_measures("only", only)
    occasion = Occasion(table, defining_sets_of(defining_sets), vocabulary, seed, ci_prob)
    chance_draws = check_count("chance_draws", chance_draws, "lists", least=0, refusal=MeasureError)
    redraws = check_count("redraws", redraws, "lists", least=0, refusal=MeasureError)
    rows: list[pd.DataFrame] = []
    left_out = discover() if only is None else {}
    results: dict[str, Result] = {}
    failed = list(left_out)
    announce(tuple(left_out.values()))
    for name in measure_names():
        if name not in names:
            continue
        try:
            row, result = _row(name, occasion)
        except OtherDataError:  # The measure needs another kind of data, so users do not expect it in this table.
            continue
        except MeasureError as refusal:
            reason = str(refusal)
            left_out[name] = reason if reason.startswith(name) else f"{name}: {reason}"
        except Exception as error:  # A user's own measure may raise any error, which must not affect other measures.
            left_out[name] = _error_of(name, error)
            announce((left_out[name],))
            failed.append(name)
        else:
            rows.append(row)
            if result is not None:
                results[name] = result
    frame = pd.concat(rows) if rows else pd.DataFrame(index=[], columns=row_columns(ci_prob), dtype=float)
    in_table = [name for name in names if name not in left_out]
    crossed_tests = [name for name in in_table if isinstance(results.get(name), CrossedTest)]
    without_interval = [name for name in in_table if name not in results or results[name].interval is None]
    values_of_lists = _values_from_cache if cached else _values_of_lists
    draws_of: Mapping[Distribution, int] = {"chance": chance_draws, "redrawn": redraws}
    for distribution, draws in draws_of.items():
        if not draws or frame.empty:
            continue
        tests_of_bias = crossed_tests if distribution == "chance" else []
        try:
            records = values_of_lists(distribution, draws, occasion, without_interval, tests_of_bias)
            frame = frame.join(summarised(records, ci_prob, distribution))
        except MeasureError as refusal:
            left_out[distribution] = str(refusal)
    frame, biased = _without_biased_intervals(frame, ci_prob)
    few = fewest_words(table) if redraws else float("nan")
    return MeasureTable(frame.rename_axis("measure"), left_out, results, frozenset(failed), few, biased)


def _without_biased_intervals(frame: pd.DataFrame, ci_prob: float) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Remove intervals from redrawn words that do not include the row's own value, and return the names of their rows.

    If words are related, fewer words are drawn than a list has. Measures that depend on the number of words, such as
    WEAT near its bound or RNSB near zero, then have other values, and their quantiles are no interval of the measure.
    """
    if "redrawn" not in frame:
        return frame, ()
    lower, upper = interval_names(ci_prob, "ci", "redrawn")
    is_biased = (frame.value < frame[lower] - _ROUNDING) | (frame.value > frame[upper] + _ROUNDING)
    columns = ["redrawn", lower, upper]
    frame[columns] = frame[columns].mask(is_biased)
    return frame, tuple(map(str, frame.index[is_biased]))


def _values_from_cache(
    distribution: Distribution, draws: int, occasion: Occasion, names: Sequence[str], tests_of_bias: Sequence[str]
) -> Sequence[Mapping[str, float]]:
    """Return the values of `_values_of_lists` from the user's cache, or compute and keep them.

    They depend on the words and vectors of the table, on the words that can be drawn, and on the settings. The code of
    a user's own measure is not part of the key, so values of such a measure are always computed.
    """
    table = occasion.table
    arguments = (distribution, draws, occasion, names, tests_of_bias)
    is_own = any(not MEASURES[name].function.__module__.startswith("bayes_bias.") for name in names)
    if is_own or table.origin is None or table.vectors is None:
        return _values_of_lists(*arguments)
    vectors: list[Any] = [random_pool(table.origin), table.vectors, table.lengths or {}]
    settings = [draws, occasion.defining_sets, occasion.vocabulary, occasion.seed, occasion.ci_prob]
    key = [distribution, table.sha256, *map(sha256_of_vectors, vectors), *settings, names, tests_of_bias]
    job = Job(f"{table.name}, {distribution}", _values_of_lists, arguments, depends_on=key)

    def run(folder: Path | None = None) -> Outcome:
        return run_jobs([job], open_store(folder) if folder else None, jobs=1)[0]

    outcome = from_cache(run)
    if outcome.failed:
        raise MeasureError(outcome.failed)
    return list(outcome.result)


def _values_of_lists(
    distribution: Distribution, draws: int, occasion: Occasion, names: Sequence[str], tests_of_bias: Sequence[str]
) -> Sequence[Mapping[str, float]]:
    """Return the values of some measures for lists of random words ("chance") or of redrawn words."""
    tables_of = random_tables if distribution == "chance" else redrawn_tables
    others = tables_of(occasion.table, draws, occasion.seed)
    return [values_of(table, occasion, names, tests_of_bias) for table in others]


def values_of(
    table: AssociationTable, occasion: Occasion, names: Iterable[str], tests_of_bias: Sequence[str]
) -> dict[str, float]:
    """Return the values of some measures for a table with other words, by the name of their row.

    `occasion` has the other settings of measures. p-values are not needed, so permutation tests use a single
    permutation. The value of `tests_of_bias`, such as the quasi-F, is the bias itself, so these tests are not computed.
    A measure that is not defined for these words has no value.
    """
    other_occasion = replace(occasion, table=table, permutations=1)
    values: dict[str, float] = {}
    if tests_of_bias:
        values |= dict.fromkeys(tests_of_bias, WordScores.from_table(table).bias)
    for name in names:
        try:
            outcome = _outcome(name, other_occasion)
        except Exception:  # A user's own measure may raise any error. A column with many missing values is left empty.
            continue
        values |= outcome.value.to_dict() if isinstance(outcome, pd.DataFrame) else {name: outcome.value}
    return {name: float(value) for name, value in values.items()}


def _row(name: str, occasion: Occasion) -> tuple[pd.DataFrame, Result | None]:
    """Return the rows of a measure in the table, and its result, or None if the measure returns rows.

    A measure returns a result, which becomes a row with the name of the measure, or several rows as a frame. Raise an
    error if a cell of the rows is not a number.
    """
    outcome = _outcome(name, occasion)
    result = outcome if isinstance(outcome, Result) else None
    rows = outcome.to_frame(occasion.ci_prob).set_axis([name]) if isinstance(outcome, Result) else outcome
    for column, cells in rows.items():
        if not pd.api.types.is_numeric_dtype(cells):
            example = next(cell for cell in cells if not isinstance(cell, Real))
            raise MeasureError(f"{name}: '{column}' must be a number or NaN, but is {kind_of(example)}.")
    return rows, result


def _error_of(name: str, error: Exception) -> str:
    """Describe the error that the function of a measure raised, with its line, in a sentence.

    `Occasion.answered_by` calls the function of the measure, whose frame in the traceback is therefore the next one. If
    this function was not called, the last frame is named.
    """
    frames = traceback.extract_tb(error.__traceback__)
    functions = [frame.name for frame in frames]  # names, from the outermost to the innermost
    caller = Occasion.answered_by.__name__
    frame_of_measure = frames[functions.index(caller) + 1] if caller in functions[:-1] else frames[-1]
    text = " ".join(str(error).split())
    kind = f"{type(error).__name__}: {text}" if text else type(error).__name__
    place = f"{Path(frame_of_measure.filename).name}, line {frame_of_measure.lineno}"
    return (
        f"{name}: raised {kind} ({place}). Correct the function of this measure, or omit the measure with only=[...]."
    )


def _outcome(name: str, occasion: Occasion) -> Result | pd.DataFrame:
    """Return the result of a measure, or its rows. Raise an error for other return values.

    A function of a user may return a plain number, which becomes a result without a range and a value of no bias.
    """
    outcome = occasion.answered_by(MEASURES[name].function)
    if type(outcome) is not bool and isinstance(outcome, Real):
        return Result(value=float(outcome), range=(-float("inf"), float("inf")), b0=float("nan"))
    if isinstance(outcome, pd.DataFrame):
        if missing := [column for column in row_columns(occasion.ci_prob) if column not in outcome]:
            raise MeasureError(f"{name}: its rows lack '{missing[0]}'. Return `Result.to_frame(occasion.ci_prob)`.")
    elif not isinstance(outcome, Result):
        raise MeasureError(f"{name}: returned {kind_of(outcome)}. Return a number, a `Result`, or rows of one.")
    return outcome


def measure_names() -> list[str]:
    """Return the names of all measures, in the order of tables. Measures from packages that cannot be loaded are
    omitted.
    """
    discover()
    return sorted(MEASURES, key=lambda name: MEASURES[name].rank)


def check_measures(argument: str, measures: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of measures as a tuple. Raise an error for unknown names.

    `argument` is the name of the argument in messages.
    """
    allowed_names = measure_names()
    names = as_tuple(argument, measures, str, "['WEAT']", MeasureError)
    for name in names:
        if name not in allowed_names:
            raise MeasureError(
                f"`{argument}` contains '{name}', which is not a measure. {did_you_mean(name, allowed_names)}"
            )
    return names


def discover() -> dict[str, str]:
    """Import all modules that register measures: the modules in this folder, and modules named by entry points.

    Returns
    -------
    dict of str to str
        The error of each entry point that cannot be loaded.
    """
    return import_all("bayes_bias.measures", "", ENTRY_POINTS)
