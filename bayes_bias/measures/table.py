"""All measures that a word list allows, in one table."""

import pkgutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

import pandas as pd

from bayes_bias.arguments import check_ci_prob, check_seed, listed
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.embeddings.vectors import Vectors
from bayes_bias.errors import MeasureError, OtherDataError, did_you_mean
from bayes_bias.measures.registry import MEASURES, Occasion
from bayes_bias.measures.result import Result

# Under which installed packages name modules with measures of their own.
ENTRY_POINTS = "bayes_bias.measures"

_EMPTY = pd.DataFrame(
    columns=["value", "b0", "low", "high", "p_value", "lower", "upper"],
    index=pd.Index([], name="measure"),
    dtype=float,
)


@dataclass(frozen=True, eq=False)
class MeasureTable:
    """Measures side by side.

    Attributes
    ----------
    table : pandas.DataFrame
        One numeric row for each measure: value, b0 (no bias), low and high (its range), p_value, lower and upper
        (its own interval, which few have).
    left_out : mapping of str to str
        For each measure that is not in the table the reason, in one line.
    results : mapping of str to Result
        What each measure found, with all that it says beyond the row.
    """

    table: pd.DataFrame
    left_out: Mapping[str, str]
    results: Mapping[str, Result]


def measure_all(
    table: Associations,
    vectors: Vectors | None = None,
    *,
    defining_sets: Sequence[Sequence[str]] = (),
    vocabulary: str | None = None,
    seed: int = 0,
    ci_prob: float = 0.95,
    only: Collection[str] | None = None,
) -> MeasureTable:
    """Every measure that applies to a word list, in one table: those of this folder and your own (see `measure`).

    Units and directions differ: each row is read against its own b0 and range. Relative norm distance, one
    row for each associated class, is positive where the class is nearer to the *second* group.

    Parameters
    ----------
    table : Associations
        The word list in an embedding.
    vectors : mapping of str to array, optional
        Vectors of all its words, for the measures that a table does not suffice for.
    defining_sets : sequence of sequences of str, optional
        What Direct Bias and RIPA take their direction from: pairs such as ("she", "he"), which no word list
        has.
    vocabulary : str, optional
        The control class of random words for the negative control of SD-WEAT.
    seed : int
        Seed of whatever draws.
    ci_prob : float
        Probability of the intervals of measures that have one.
    only : collection of str, optional
        Names of the measures that are asked for; all of them by default.

    Examples
    --------
    >>> from bayes_bias.associations.table import assemble
    >>> table = assemble(
    ...     [[0.4, 0.1], [0.2, 0.3]], {"he": "man", "she": "woman"}, {"boss": "work", "maid": "home"},
    ...     {"man": "work", "woman": "home"})
    >>> measured = measure_all(table)
    >>> measured.table.value.round(3).to_dict()
    {'gWEAT': 0.2, 'MAC': 0.75}
    >>> measured.left_out["WEAT"]
    "WEAT: group 'man' has 1 word(s) and needs 2 or more"
    """
    check_table(table)
    check_seed(seed)
    check_ci_prob(ci_prob)
    names = measure_names() if only is None else check_measures("only", only)
    occasion = Occasion(table, vectors, defining_sets, vocabulary, seed, ci_prob)
    rows: list[pd.DataFrame] = []
    left_out: dict[str, str] = {}
    results: dict[str, Result] = {}
    for name, registered in sorted(MEASURES.items(), key=lambda item: item[1].rank):
        if name not in names:
            continue
        try:
            found = registered.run(occasion)
        except OtherDataError:  # nothing that a reader of this table would miss
            continue
        except MeasureError as refusal:
            reason = str(refusal)
            left_out[name] = reason if reason.startswith(name) else f"{name}: {reason}"
            continue
        if isinstance(found, Result):
            results[name] = found
            found = found.to_frame()
        rows.append(found)
    return MeasureTable(pd.concat(rows) if rows else _EMPTY, left_out, results)


def measure_names() -> list[str]:
    """Names of all measures, as `measure_all` has them."""
    discover()
    return sorted(MEASURES, key=lambda name: MEASURES[name].rank)


def check_measures(argument: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Names of measures; one is as good as a list of one.

    Raises
    ------
    MeasureError
        It is no list, or one of them is unknown.
    """
    known, names = measure_names(), listed(argument, given, str, "['WEAT']", MeasureError)
    for name in names:
        if name not in known:
            raise MeasureError(f"{argument}: '{name}' is not known; {did_you_mean(name, known)}")
    return names


def discover() -> None:
    """Have every file of this folder register its measure, and every installed package that names one of its own.

    A package does so by an entry point of the group ``bayes_bias.measures``: a module that uses the decorator.
    """
    package = import_module(__package__ or "")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:
            raise MeasureError(
                f"measures: '{entry.name}', an entry point of '{entry.value}', cannot be loaded ({error}); mend or"
                " uninstall the package"
            ) from error
