"""WEFAT, also called SC-WEAT: the association of single words (Caliskan, Bryson & Narayanan 2017)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from bayes_bias.arguments import listed
from bayes_bias.associations.table import Associations
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import ROUNDING, TwoByTwo, two_by_two
from bayes_bias.measures.permutation import Alternative, check_ddof, permutation_tests
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.result import Result
from bayes_bias.measures.separation import largest_effect


@dataclass(frozen=True, eq=False, kw_only=True)
class Wefat(Result):
    """Mean effect size of single words; `words` has each one's `group`, `effect_size` and `p_value`.

    The result's own `p_value` is that of the word, where a single one was asked for, and None otherwise.
    """

    measure: ClassVar[str] = "WEFAT"
    word_value: ClassVar[str] = "effect_size"

    words: pd.DataFrame


def wefat(
    table: Associations,
    targets: str | Sequence[str] | None = None,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> Wefat:
    r"""Is a single word closer to the class that is stereotypical for its group than to the other one?

    With A the class associated with the group of target w, and B the other one,

    .. math:: d(w) = \frac{\mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)}
                          {\mathrm{sd}_{x \in A \cup B} \cos(w, x)}

    so that positive is stereotypical for words of either group. The p-value permutes attributes between A
    and B, as WEAT's permutes targets between groups.

    Parameters
    ----------
    table : Associations
        Two groups and two associated classes, or one group with its class and an opposite one (control classes are
        ignored); complete, without repeats.
    targets : str or sequence of str, optional
        The word or words to measure; by default all targets.
    ddof, alternative, permutations, seed
        As in `weat`.

    Returns
    -------
    Wefat
        `value` is the mean of d over the words, in standard deviations of a word's cosines, within `range`.

    Raises
    ------
    MeasureError
        More than two groups or classes, a class with one word, a word that is no target, missing or repeated
        pairs, a word with the same cosine to all attributes.

    Notes
    -----
    Misleads as WEAT does: d says how cleanly two classes are separated seen from one word, not by how much. A
    word with few attributes has a large ``|d|`` by chance, and testing every target multiplies false findings.

    References
    ----------
    Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). Semantics derived automatically from language corpora
    contain human-like biases. Science 356, 183-186. https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> from bayes_bias.associations.table import assemble
    >>> table = assemble(
    ...     [[0.4, 0.3, 0.1, 0.1], [0.2, 0.1, 0.3, 0.2]], {"he": "man", "she": "woman"},
    ...     {"boss": "work", "job": "work", "maid": "home", "cook": "home"}, {"man": "work", "woman": "home"})
    >>> wefat(table).words.effect_size.round(2).to_dict()
    {'he': 1.67, 'she': 1.22}
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEFAT", least_groups=1)
    n_a, n_b = design.to_a.shape[1], design.to_b.shape[1]
    if min(n_a, n_b) < 2:
        raise MeasureError("WEFAT: a class has 1 word and needs 2 or more")
    chosen = _chosen(design, targets)
    seen = _seen_from_own_class(design)[chosen]
    tests = permutation_tests(seen, n_a, alternative=alternative, permutations=permutations, seed=seed)
    words = design.words.iloc[chosen]
    words = words.assign(
        effect_size=_effects(seen, n_a, ddof, words.index), p_value=[t.p_value for t in tests]
    )
    bound = largest_effect(n_a, n_b, ddof)
    return Wefat(
        value=float(words.effect_size.mean()),
        range=(-bound, bound),
        p_value=tests[0].p_value if len(tests) == 1 else None,
        words=words,
    )


@measure("WEFAT", rank=20)
def _on(occasion: Occasion) -> Wefat:
    return wefat(occasion.table, seed=occasion.seed)


def _chosen(design: TwoByTwo, targets: str | Sequence[str] | None) -> list[int]:
    """Positions of the words that were asked for."""
    every = design.words.index.tolist()
    asked = every if targets is None else listed("targets", targets, str, f"['{every[0]}']", MeasureError)
    for word in asked:
        if word not in every:
            raise MeasureError(f"targets: '{word}' is no target of this table; {did_you_mean(word, every)}")
    return [every.index(word) for word in asked]


def _seen_from_own_class(design: TwoByTwo) -> np.ndarray:
    """Cosines with A, then B; signs changed for the second group, whose own class is B."""
    sign = np.where(np.arange(len(design.words)) < design.n_x, 1, -1)
    signed: np.ndarray = np.hstack([design.to_a, design.to_b]) * sign[:, None]
    return signed


def _effects(seen: np.ndarray, n_a: int, ddof: int, words: pd.Index) -> np.ndarray:
    spread = seen.std(axis=1, ddof=ddof)
    if (spread < ROUNDING).any():
        word = words[int(spread.argmin())]
        raise MeasureError(
            f"WEFAT: '{word}' has the same cosine with all attributes; no spread to measure d in"
        )
    effects: np.ndarray = (seen[:, :n_a].mean(axis=1) - seen[:, n_a:].mean(axis=1)) / spread
    return effects
