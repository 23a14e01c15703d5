"""From what was measured in each world to means over truths, with their intervals, and who wins."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from studies.debiasing_league.methods import METHODS, ORIGINAL

LEAGUE = Path(__file__).with_name("results") / "league.csv"
WORLD = ("kind", "truth", "corpus", "model")
NUMBERS = (
    "new_left",
    "new_r",
    "clear",
    "turned",
    "taught_left",
    "religion_left",
    "religion_r",
    "religion_alone_left",
    "neighbours_kept",
    "variance_gone",
    "clustering",
    "classifier",
)


def by_truth(league: pd.DataFrame) -> pd.DataFrame:
    """Means over the corpora of each truth, with their number: all that the text and the figure are made of."""
    grouped = league.groupby(["kind", "truth", "model", "version"], sort=False)
    return grouped[list(NUMBERS)].mean().assign(corpora=grouped.size()).reset_index()


def over_truths(league: pd.DataFrame, by: Sequence[str] = ("kind", "version")) -> pd.DataFrame:
    """Means of each number, and Student's 95% interval over truths (``_lb``, ``_ub``); models count alike."""
    truths = league.groupby([*by, "truth"], sort=False)[list(NUMBERS)].mean().groupby(list(by), sort=False)
    mean, error, counted = truths.mean(), truths.sem(), truths.size()
    half = error.mul(stats.t.ppf(0.975, counted - 1), axis=0)
    return mean.join((mean - half).add_suffix("_lb")).join((mean + half).add_suffix("_ub"))


def removers(league: pd.DataFrame) -> pd.DataFrame:
    """Methods by how much of the bias of new words they leave, each against the one that leaves least.

    ``left`` is the mean over truths of the share of gender that is left, whatever its sign, divided by the share of
    religion that is left: a method that shrinks all cosines alike takes no bias away. ``more`` is how much more than
    the first method it leaves, with its interval over truths; ``p_holm`` of the paired t-tests, adjusted for the number
    of methods.
    """
    mine = league[league.version.isin(METHODS)].assign(left=league.new_left.abs() / league.religion_left)
    left = mine.pivot_table("left", "truth", "version")
    least = left.mean().idxmin()
    tests = {name: stats.ttest_rel(left[name], left[least]) for name in left if name != least}
    ends = {name: (*test.confidence_interval(), test.pvalue) for name, test in tests.items()}
    table = pd.DataFrame.from_dict(ends, orient="index", columns=["more_lb", "more_ub", "p"])
    ordered = table.p.sort_values()
    table["p_holm"] = (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1)
    return left.mean().to_frame("left").assign(more=left.mean() - left[least].mean()).join(table).sort_values("left")


def winners(league: pd.DataFrame) -> list[str]:
    """The method that leaves least, and those that cannot be told from it."""
    table = removers(league)
    return [name for name, p in table.p_holm.items() if not p < 0.05]


def worlds_of(league: pd.DataFrame) -> dict[str, int]:
    """How many worlds there are of each kind."""
    original = league[league.version == ORIGINAL]
    return {str(kind): int(rows.corpora.sum()) for kind, rows in original.groupby("kind", sort=False)}
