"""All measures that a word list allows, in one table."""

import traceback
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from pathlib import Path

import pandas as pd

from bayes_bias.arguments import check_ci_prob, check_seed, described, import_modules, listed
from bayes_bias.errors import MeasureError, OtherDataError, did_you_mean
from bayes_bias.measures.registry import MEASURES, Occasion, Result, row_columns
from bayes_bias.table.association_table import AssociationTable, announce, check_table
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of

# The entry points under which installed packages name modules with measures of their own.
ENTRY_POINTS = "bayes_bias.measures"


@dataclass(frozen=True, eq=False)
class MeasureTable:
    """Measures of one word list, side by side.

    Attributes
    ----------
    table : pandas.DataFrame
        One numeric row for each measure: value, b0 (no bias), low and high (its range), p_value, ci95_lb and ci95_ub
        (its own interval, which few have). The number in a column's name is `ci_prob` in percent.
    left_out : mapping of str to str
        Why a measure is not in the table, in one line. If the function of a measure raises an unexpected error, that is
        also logged.
    results : mapping of str to Result
        The full result of each measure.
    failed : frozenset of str
        Those of the measures that are left out whose function raised an unexpected error.
    """

    table: pd.DataFrame
    left_out: Mapping[str, str]
    results: Mapping[str, Result]
    failed: frozenset[str] = frozenset()


def measure_all(
    table: AssociationTable,
    *,
    defining_sets: GivenSets = (),
    vocabulary: str | None = None,
    seed: int = 0,
    ci_prob: float = 0.95,
    only: Collection[str] | None = None,
) -> MeasureTable:
    """Compute every measure that applies to a word list: those of this package and your own (see `measure`).

    Units and directions differ, so read each row against its own b0 and range. Relative norm distance has one row
    for each associated class, and is positive if the class is nearer to the *second* group.

    Parameters
    ----------
    table : AssociationTable
        The word list in an embedding. Some measures need its vectors; add them to a table from a frame by
        `AssociationTable.with_vectors`.
    defining_sets : str, path or sequence of sequences of str, optional
        Pairs such as "she:he,woman:man" or [("she", "he")], from which Direct Bias and RIPA take their direction: from
        unit vectors, or from vectors at their original lengths. Word lists have none, so make the table with their
        words: ``cosines(..., also=["she", "he", "woman", "man"])``.
    vocabulary : str, optional
        The control class of random words for the negative control of SD-WEAT.
    seed, ci_prob
        See `Occasion`.
    only : collection of str, optional
        Names of the measures to run; all of them by default.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> measured = measure_all(cosines("weat7", "googlenews-demo", controls=()), only=["WEAT", "MAC", "Direct Bias"])
    >>> measured.table.value.round(3).to_dict()
    {'WEAT': 0.966, 'MAC': 0.933}
    >>> measured.left_out["Direct Bias"]
    "Direct Bias: needs defining sets; give some, such as 'she:he,woman:man', as defining_sets="
    """
    check_table(table)
    check_seed(seed)
    check_ci_prob(ci_prob)
    names = measure_names() if only is None else check_measures("only", only)
    occasion = Occasion(table, defining_sets_of(defining_sets), vocabulary, seed, ci_prob)
    rows: list[pd.DataFrame] = []
    left_out: dict[str, str] = {}
    results: dict[str, Result] = {}
    failed: list[str] = []
    for name in (name for name in measure_names() if name in names):
        try:
            row, result = _row(name, occasion)
        except OtherDataError:  # a measure of another kind of data: nobody would look for it here
            continue
        except MeasureError as refusal:
            reason = str(refusal)
            left_out[name] = reason if reason.startswith(name) else f"{name}: {reason}"
        except Exception as error:  # a measure of your own may raise anything, and the others do not depend on it
            (left_out[name],) = announce((_error_of(name, error),))
            failed.append(name)
        else:
            rows.append(row)
            if result is not None:
                results[name] = result
    frame = pd.concat(rows) if rows else pd.DataFrame(index=[], columns=row_columns(ci_prob), dtype=float)
    return MeasureTable(frame.rename_axis("measure"), left_out, results, frozenset(failed))


def _row(name: str, occasion: Occasion) -> tuple[pd.DataFrame, Result | None]:
    """The rows of a measure, and its result, if it is a single one."""
    outcome = _outcome(name, occasion)
    if isinstance(outcome, pd.DataFrame):
        return _numeric(name, outcome), None
    return _numeric(name, outcome.to_frame(occasion.ci_prob).set_axis([name])), outcome


def _numeric(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a measure, all of which must be numbers."""
    for column, cells in rows.items():
        if not pd.api.types.is_numeric_dtype(cells):
            example = next(cell for cell in cells if not isinstance(cell, Real))
            raise MeasureError(f"{name}: its '{column}' is {described(example)}. It must be a number, or NaN")
    return rows


def _error_of(name: str, error: Exception) -> str:
    """Say which error the function of a measure raised, and on which of its lines."""
    lines = traceback.extract_tb(error.__traceback__)
    of_function = [line for caller, line in pairwise(lines) if caller.name == Occasion.answered_by.__name__]
    line = of_function[0] if of_function else lines[-1]
    text = " ".join(str(error).split())
    return (
        f"{name}: raised {type(error).__name__}{f': {text}' if text else ''} ({Path(line.filename).name}, line"
        f" {line.lineno}). Correct the function of this measure, or omit the measure with only=[...]"
    )


def _outcome(name: str, occasion: Occasion) -> Result | pd.DataFrame:
    outcome = occasion.answered_by(MEASURES[name].function)
    if type(outcome) is not bool and isinstance(outcome, Real):
        return Result(value=float(outcome), range=(-float("inf"), float("inf")), b0=float("nan"))
    if isinstance(outcome, pd.DataFrame):
        if missing := [column for column in row_columns(occasion.ci_prob) if column not in outcome]:
            raise MeasureError(f"{name}: its rows lack '{missing[0]}'; return `Result.to_frame(occasion.ci_prob)`")
    elif not isinstance(outcome, Result):
        raise MeasureError(f"{name}: returned {described(outcome)}; return a number, a `Result` or rows of one")
    return outcome


def measure_names() -> list[str]:
    """Names of all measures, in the order of tables."""
    discover()
    return sorted(MEASURES, key=lambda name: MEASURES[name].rank)


def check_measures(argument: str, measures: str | Iterable[str]) -> tuple[str, ...]:
    """Names of measures as a tuple, each of which must be known."""
    allowed_names, names = measure_names(), listed(argument, measures, str, "['WEAT']", MeasureError)
    for name in names:
        if name not in allowed_names:
            raise MeasureError(f"{argument}: '{name}' is not known; {did_you_mean(name, allowed_names)}")
    return names


def discover() -> None:
    """Import all that registers measures: the modules of this folder, and those of packages by an entry point."""
    import_modules("bayes_bias.measures", "", ENTRY_POINTS, MeasureError)
