"""SEAT: the sentence encoder association test of May et al. (2019)."""

from dataclasses import dataclass
from math import comb

import numpy as np

from bayes_bias.measures.designs import labels, require_replicates, shares_a_space, two_by_two, unit_sentences
from bayes_bias.measures.permutation import MOST_PARTITIONS, Alternative, Separation, separated
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable

# Together with the observed partition, these are 100,000 partitions, as in the paper.
PERMUTATIONS = 99_999


@dataclass(frozen=True, eq=False, kw_only=True)
class Seat(Separation):
    """Result of SEAT for two groups and two classes. `value` is the effect size for sentences.

    The test regroups *sentences*. The `association` of a word is the mean score of the sentences with this word.

    Attributes
    ----------
    across : bool
        Whether a sentence was compared with the sentences of all templates, as in the paper. Otherwise, it was compared
        only with sentences of its own replicate, because replicates are not comparable or the table has no vectors.
    """

    measure: str = "SEAT"
    word_value: str = "association"

    across: bool

    @property
    def bias(self) -> float:
        """Half of the difference, which is comparable with the `bias` of the posterior."""
        return self.difference / 2


@measure("SEAT", rank=12)
def seat(
    table: AssociationTable, *, alternative: Alternative = "greater", permutations: int | None = None, seed: int = 0
) -> Seat:
    r"""Compute WEAT with sentences instead of words.

    Each target and each attribute is inserted into R templates, and each of the resulting sentences is treated as a
    word:

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b), \qquad
              d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    where w, a, b, x, y are sentences. The p-value is WEAT's over partitions of sentences. If there are more than a
    million partitions, 99,999 random partitions are drawn.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes with replicates. The table must be complete, without repeats. Without
        vectors, or with replicates that are not templates, only cosines within a replicate are used.
    alternative, permutations, seed
        See `weat`.

    Raises
    ------
    MeasureError
        If there are no replicates, or if `weat` raises an error.

    Notes
    -----
    SEAT misleads because it treats sentences as independent. Eight words in ten templates are eighty sentences, and the
    test permutes them like eighty words. If attributes are random words, so that there is no bias, SEAT finds a bias in
    at least three quarters of all cases (docs/evidence/replicates-and-embeddings.md). The package includes SEAT only
    for comparison. The caveats of WEAT also apply, and d depends on which vector represents a sentence. In five models
    (Delobelle et al. 2022) d is .90, .52, 1.15, .77 and .40 for [CLS], and .62, -.30, .05, .57 and .00 for the pooled
    word.

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R. & Rudinger, R. (2019). On measuring social biases in sentence encoders.
    NAACL, 622-628. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = seat(cosines("weat7", "minilm-demo", controls=()))
    >>> round(result.effect_size, 2), round(result.p_value, 3), result.across
    (0.38, 0.008, True)
    """
    require_replicates(table, "SEAT")
    table = table.without_controls()
    two_by_two(table, "SEAT", least_words=2)
    across = table.vectors is not None and shares_a_space(table)
    if across:
        targets, attributes = unit_sentences(table, "SEAT")
        a, b = attributes[table.class_index == 0], attributes[table.class_index == 1]
        # The mean of cosines with unit vectors is the product with the mean of these vectors.
        scores = targets @ (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1)))
    else:
        replicates = require_replicates(table, "SEAT").tables
        values = np.stack([values.to_numpy() for values in replicates.values()], axis=-1)
        scores = values[:, table.class_index == 0].mean(axis=1) - values[:, table.class_index == 1].mean(axis=1)
    first, second = scores[table.group_index == 0].ravel(), scores[table.group_index == 1].ravel()
    if permutations is None and comb(len(first) + len(second), len(first)) > MOST_PARTITIONS:
        permutations = PERMUTATIONS
    no_spread = "SEAT is not defined, because all sentences have the same association score"
    order = np.argsort(table.group_index, kind="stable")
    return Seat(
        **separated(first, second, no_spread, alternative=alternative, permutations=permutations, seed=seed),
        words=labels(table).assign(association=scores.mean(axis=1)[order]),
        across=across,
    )
