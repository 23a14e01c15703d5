"""WEFAT, also called SC-WEAT: the association of single words (Caliskan, Bryson & Narayanan 2017)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayes_bias.arguments import as_tuple
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import ROUNDING, TwoByTwo, two_by_two
from bayes_bias.measures.permutation import Alternative, check_ddof, largest_effect, permutation_tests
from bayes_bias.measures.registry import WordResult, measure
from bayes_bias.table.association_table import AssociationTable


@measure("WEFAT", rank=20)
def wefat(
    table: AssociationTable,
    targets: str | Sequence[str] | None = None,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> WordResult:
    r"""Compute how much closer each target is to the class that is stereotypical for its group than to the other class.

    Let A be the class associated with the group of target w, and B the other class. The effect size is

    .. math:: d(w) = \frac{\mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)}
                          {\mathrm{sd}_{x \in A \cup B} \cos(w, x)}

    so that positive values are stereotypical for words of both groups. The p-value permutes attributes between A and B.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes, or one group with its class and an opposite class. The table must be
        complete, without repeats. Control classes are ignored.
    targets : str or sequence of str, optional
        The word or words to measure. The default is all targets.
    ddof, alternative, permutations, seed
        See `weat`.

    Returns
    -------
    WordResult
        `value` is the mean effect size. `words` contains the `group`, `effect_size` (in standard deviations of the
        word's cosines), and `p_value` of each word. If only one word was measured, `p_value` is its p-value.

    Raises
    ------
    MeasureError
        If there are more than two groups or classes, if a class has one word, if a target is unknown, if pairs are
        missing or repeated, or if a word has the same cosine with all attributes.

    Notes
    -----
    WEFAT misleads like WEAT: d measures how clearly a word separates two classes instead of the size of the difference.
    With few attributes, ``|d|`` is large by chance, and testing every target increases the number of false positives.

    References
    ----------
    Caliskan et al. (2017) (see `weat`). https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> table = cosines("weat7", "googlenews-demo", controls=())
    >>> wefat(table, ["math", "poetry"]).words.effect_size.round(2).to_dict()
    {'math': -0.94, 'poetry': 1.18}
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEFAT", least_groups=1)
    n_a, n_b = design.to_a.shape[1], design.to_b.shape[1]
    if min(n_a, n_b) < 2:
        raise MeasureError("WEFAT needs at least two words in each class, but a class has 1.")
    rows = _chosen_positions(design, targets)
    # Cosines with A, followed by those with B. The sign is reversed for the second group, whose class is B.
    sign = np.where(np.arange(len(design.words)) < design.n_x, 1, -1)
    scores = (np.hstack([design.to_a, design.to_b]) * sign[:, None])[rows]
    tests = permutation_tests(scores, n_a, alternative=alternative, permutations=permutations, seed=seed)
    words = design.words.iloc[rows]
    effect_sizes = _effect_sizes(scores, n_a, ddof, words.index)
    words = words.assign(effect_size=effect_sizes, p_value=[test.p_value for test in tests])
    bound = largest_effect(n_a, n_b, ddof)
    return WordResult(
        measure="WEFAT",
        word_value="effect_size",
        value=float(words.effect_size.mean()),
        range=(-bound, bound),
        p_value=tests[0].p_value if len(tests) == 1 else None,
        words=words,
    )


def _chosen_positions(design: TwoByTwo, targets: str | Sequence[str] | None) -> list[int]:
    """Return the positions of the chosen targets, or of all targets."""
    names = design.words.index.tolist()
    words = names if targets is None else as_tuple("targets", targets, str, f"['{names[0]}']", MeasureError)
    for word in words:
        if word not in names:
            raise MeasureError(
                f"`targets` contains '{word}', which is not a target of this table. {did_you_mean(word, names)}"
            )
    return [names.index(word) for word in words]


def _effect_sizes(scores: np.ndarray, n_a: int, ddof: int, words: pd.Index) -> np.ndarray:
    """Return the effect size of each word."""
    spread = scores.std(axis=1, ddof=ddof)
    if (spread < ROUNDING).any():
        word = words[int(spread.argmin())]
        raise MeasureError(
            f"WEFAT is not defined, because '{word}' has the same cosine with all attributes,"
            " so there is no spread to measure d in."
        )
    effects: np.ndarray = (scores[:, :n_a].mean(axis=1) - scores[:, n_a:].mean(axis=1)) / spread
    return effects
