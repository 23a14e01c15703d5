"""Verdicts for several lists, adjusted by Holm's procedure for the number of lists."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.formatting import DASH, Column, Layout, Tabled, in_words, joined, probability
from bayes_bias.posterior.pooling import share_in_common
from bayes_bias.posterior.verdict import OF_THESE_ATTRIBUTES, RANDOM_WORDS, Verdict

# Two lists count as related if they share at least this proportion of the shorter list's words.
_MOSTLY = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ManyLists(Tabled):
    """Verdicts for several lists, before and after Holm's adjustment for the number of lists.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each list: ``verdict``, ``chance`` (the probability of a difference this large, of either sign, if
        there were no bias, ``2 (1 - prob_direction)``), ``chance_holm`` (this probability after Holm's adjustment), and
        ``survives`` (whether the verdict is "distinguishable" before and after the adjustment). Probabilities of a fit
        that has not converged are missing.
    related : tuple of str
        Lists that share at least half of their targets, or half of their attributes, with another list. The proportion
        refers to the words of the shorter list.
    caution : str
        A clause about random words, if words of lists differ with fixed attributes, and "" otherwise.
    """

    table: pd.DataFrame
    related: tuple[str, ...] = ()
    caution: str = ""

    @property
    def text(self) -> str:
        """State in a sentence how many lists are distinguishable before and after the adjustment, and name the latter.

        Further sentences are about fits that have not converged, and about lists that share words. With fixed
        attributes, no list is called distinguishable, and lists whose words differ are named instead.
        """
        if self.table.verdict.isin(OF_THESE_ATTRIBUTES).any():
            differ = self.table.index[self.table.verdict == OF_THESE_ATTRIBUTES[0]]
            names = f" ({', '.join(differ)})" if len(differ) else ""
            where = f"{in_words(len(differ))} of {in_words(len(self.table))} lists{names}"
            return f"These words differ in {where}{self.caution}.{self._failed}{self._about_related}"
        before = self.table.index[self.table.verdict == "distinguishable"]
        after = self.table.index[self.table.survives]
        names = f" ({', '.join(after)})" if len(after) else ""
        are = "is" if len(before) == 1 else "are"
        remain = "remains" if len(after) == 1 else "remain"
        return (
            f"{in_words(len(before)).capitalize()} of {in_words(len(self.table))} lists {are} distinguishable from"
            f" noise, and {in_words(len(after))} {remain} after Holm's"
            f" adjustment{names}.{self._failed}{self._about_related}"
        )

    @property
    def layout(self) -> Layout:
        """Show the probabilities before and after the adjustment."""
        rows = self.table
        survives = rows.survives.map({True: "yes", False: "no"}).mask(rows.verdict.isin(OF_THESE_ATTRIBUTES), DASH)
        return Layout(
            list(map(str, rows.index)),
            [
                Column("verdict", rows.verdict, words=True),
                Column("probability\nunder no bias", rows.chance, probability),
                Column("after Holm", rows.chance_holm, probability),
                Column("still distinguishable", survives, words=True),
            ],
            heading="list",
        )

    @property
    def _about_related(self) -> str:
        """A sentence about lists that share most of their words with another list, or "" if there are none."""
        if not self.related:
            return ""
        return (
            f" {joined(self.related)} share most of their targets or attributes with another list, so their findings"
            " are not independent: if the shared words are misleading by chance, several lists show a bias at once."
        )

    @property
    def _failed(self) -> str:
        """A sentence about the number of lists whose fits have not converged, or "" if there are none."""
        failed = int((self.table.verdict == "not converged").sum())
        if not failed:
            return ""
        have, are = ("has", "is") if failed == 1 else ("have", "are")
        return f" {in_words(failed).capitalize()} {have} not converged, but {are} included in the adjustment."


def many_lists(verdicts: Mapping[str, Verdict], words: Mapping[str, Sequence[Set[str]]] | None = None) -> ManyLists:
    """Adjust the verdicts of several lists for their number. `words` contains the targets and attributes of each list.

    The table has, for each list, the verdict, the probability of a difference this large without a bias (``chance``),
    the same after Holm's adjustment, and whether the verdict is "distinguishable" and the adjusted probability still
    below the threshold of the list (``survives``).
    """
    rows = [(verdict.label, verdict.chance, 1 - verdict.ci_prob) for verdict in verdicts.values()]
    table = pd.DataFrame(rows, pd.Index(verdicts, name="list"), ["verdict", "chance", "threshold"])
    table["chance"] = table.chance.mask(table.verdict == "not converged")
    table["chance_holm"] = holm(table.chance.to_numpy())
    table["survives"] = (table.verdict == "distinguishable") & (table.chance_holm < table.threshold)
    differing = [verdict for verdict in verdicts.values() if verdict.label == OF_THESE_ATTRIBUTES[0]]
    caution = f", but {RANDOM_WORDS}" if any(verdict.about_random_words for verdict in differing) else ""
    return ManyLists(table.drop(columns="threshold"), _related_lists(words or {}), caution)


def _related_lists(words: Mapping[str, Sequence[Set[str]]]) -> tuple[str, ...]:
    """Return the lists that share most of their targets, or of their attributes, with another list.

    `words` has the targets and the attributes of each list. A share is a proportion of the words of the shorter list,
    and is compared with `_MOSTLY`.
    """
    related: set[str] = set()
    for first, second in combinations(words, 2):
        shares = map(share_in_common, words[first], words[second])  # of the targets, and of the attributes
        if max(shares) >= _MOSTLY:
            related |= {first, second}
    return tuple(name for name in words if name in related)


def holm(probs: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values for their number by Holm's step-down procedure.

    If you call adjusted probabilities below ``alpha`` significant, the probability of one or more false positives is at
    most ``alpha``, however many null hypotheses are true and however the tests depend on each other. With the
    probabilities in ascending order

        adjusted[i] = max over j <= i of min(1, (n - j + 1) probs[j])

    Parameters
    ----------
    probs : sequence of float
        Probabilities to adjust. Missing values are included in ``n`` as if they were 1, and remain missing.

    Returns
    -------
    numpy.ndarray
        Adjusted probabilities, in the order of `probs`.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics, 6(2),
    65-70. https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    values = np.asarray(probs, dtype=float)
    ascending = np.argsort(values)  # missing values come last
    stepped = np.minimum(1, np.arange(len(values), 0, -1) * values[ascending])
    adjusted = np.empty_like(values)
    adjusted[ascending] = np.maximum.accumulate(stepped)
    return adjusted
