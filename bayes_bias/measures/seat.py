"""SEAT: the sentence encoder association test of May et al. (2019)."""

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.table import Associations
from bayes_bias.embeddings.vectors import Vectors
from bayes_bias.measures.contexts import require_replicates, shares_a_space, unit_sentences
from bayes_bias.measures.designs import labels, require_words, two_by_two
from bayes_bias.measures.permutation import MOST_PARTITIONS, Alternative
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.separation import Separation, separated

# With the observed one there are 100,000, as in the paper.
PERMUTATIONS = 99_999


@dataclass(frozen=True, eq=False, kw_only=True)
class Seat(Separation):
    """SEAT of two groups and two classes; `value` is the effect size over sentences.

    Regroupings are of *sentences*; a word's `association` is the mean score of its sentences.

    Attributes
    ----------
    across : bool
        Whether a sentence was compared with those of all templates, as in the paper, or with those of its own
        replicate, which is all that can be done where replicates have no space in common.
    """

    measure: ClassVar[str] = "SEAT"
    word_value: ClassVar[str] = "association"

    across: bool

    @property
    def bias(self) -> float:
        """Half the difference: what the posterior's `bias` is about."""
        return self.difference / 2


def seat(
    table: Associations,
    vectors: Vectors | None = None,
    *,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> Seat:
    r"""WEAT with every sentence as a word: are the sentences of X closer to those of A than to those of B?

    Each target and each attribute stands in R templates, and each of these sentences is a word of its own:

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b), \qquad
              d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    where w, a, b, x, y are sentences. The p-value is the share of partitions of the sentences of X and Y into groups of
    the same sizes whose difference of means is at least as large, ties and the observed one included: of all, where
    there are at most a million, or of 99,999 random ones and the observed one.

    Parameters
    ----------
    table : Associations
        Two groups and two associated classes with replicates; complete, without repeats.
    vectors : mapping of str to array, optional
        The long vectors of words with replicates, as `cosines_with_vectors` gives them. Without them, and for
        replicates that are no templates, cosines are those within a replicate.
    alternative : {"greater", "less", "two-sided"}
        Stereotypical, anti-stereotypical, either.
    permutations : int, optional
        Draw this many partitions instead of deciding by their number.
    seed : int
        Seed of the draws; exact tests do not use it.

    Returns
    -------
    Seat
        `effect_size`, `difference` and `p_value`; `across` says which cosines it rests on.

    Raises
    ------
    MeasureError
        No replicates; more than two groups or classes, a group with one word, missing pairs; or sentences that all
        have the same score.

    Notes
    -----
    Misleads in what it counts. Eight words in ten templates are eighty sentences, and the test shuffles them as if they
    were eighty independent words: with attribute words drawn at random, where no bias exists, it finds one in
    three quarters or more of all cases (CALIBRATION.md). It is here to be compared with. All else that is said of WEAT
    holds, and d depends on which vector stands for a sentence: over five models .90, .52, 1.15, .77, .40 for
    [CLS], .62, -.30, .05, .57, .00 for the pooled word (Delobelle et al. 2022).

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R. & Rudinger, R. (2019). On measuring social biases in sentence encoders.
    NAACL, 622-628. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> from bayes_bias import open_embedding
    >>> from bayes_bias.associations.cosine import cosines_with_vectors
    >>> table, vectors = cosines_with_vectors(open_embedding("minilm-demo"), "weat7", controls=())
    >>> result = seat(table, vectors)
    >>> round(result.effect_size, 2), round(result.p_value, 3), result.across
    (0.38, 0.008, True)
    """
    require_replicates(table, "SEAT")
    two_by_two(table, "SEAT")
    require_words(table, "SEAT", least=2)
    across = vectors is not None and shares_a_space(table)
    scores = _across(table, vectors) if across and vectors is not None else _within(table)
    first, second = (scores[table.group_index == k].ravel() for k in (0, 1))
    if permutations is None and comb(len(first) + len(second), len(first)) > MOST_PARTITIONS:
        permutations = PERMUTATIONS
    nothing = "SEAT: all sentences have the same association score"
    order = np.argsort(table.group_index, kind="stable")
    return Seat(
        **separated(first, second, nothing, alternative=alternative, permutations=permutations, seed=seed),
        words=labels(table).assign(association=scores.mean(axis=1)[order]),
        across=across,
    )


@measure("SEAT", rank=12)
def _on(occasion: Occasion) -> Seat:
    return seat(occasion.table.without_controls(), occasion.given, seed=occasion.seed)


def _across(table: Associations, vectors: Vectors) -> NDArray[np.float64]:
    """Scores (targets, replicates): a mean of cosines of unit vectors is the cosine's product with their mean."""
    targets, attributes = unit_sentences(table, vectors, "SEAT")
    a, b = (attributes[table.class_index == k].mean(axis=(0, 1)) for k in (0, 1))
    return np.asarray(targets @ (a - b))


def _within(table: Associations) -> NDArray[np.float64]:
    replicates = require_replicates(table, "SEAT")
    values = np.stack([each.to_numpy() for each in replicates.tables.values()], axis=-1)
    a, b = (values[:, table.class_index == k].mean(axis=1) for k in (0, 1))
    return np.asarray(a - b)
