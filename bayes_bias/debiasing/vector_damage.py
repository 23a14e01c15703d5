"""What a version of an embedding costs: neighbours that words have lost, variance that went, similarities."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.debiasing.rated_pairs import RatedPairs, rated_pairs
from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import percent, share_bounds
from bayes_bias.posterior.estimate import tails

_RESAMPLES = 1000
_MOST_WORDS = 1000


@dataclass(frozen=True)
class Damage:
    """What is no longer as it was.

    Attributes
    ----------
    words : int
        How many words were looked at.
    neighbours_kept, lower, upper : float
        Mean share of a word's nearest neighbours that it has kept, with a bootstrap interval over words.
    variance_gone : float
        Share of the variance of unit vectors that no rotation and scale of those after recovers (Procrustes).
    ratings : tuple of RatedPairs
        How well cosines follow people's ratings of word pairs, before and after: a file each.
    """

    words: int
    neighbours_kept: float
    lower: float
    upper: float
    variance_gone: float
    ratings: tuple[RatedPairs, ...] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """All of them by name, as a row of a table."""
        named = {name: getattr(self, name) for name in ("words", "neighbours_kept", "lower", "upper", "variance_gone")}
        changes = {f"{rated.name}_change": rated for rated in self.ratings}
        for name, rated in changes.items():
            named |= {name: rated.change, f"{name}_lower": rated.lower, f"{name}_upper": rated.upper}
        return named

    @property
    def text(self) -> str:
        """What it costs, in sentences."""
        kept = f"{percent(self.neighbours_kept)} {share_bounds(self.lower, self.upper)}"
        neighbours = f"Of the nearest neighbours of words, {kept} are kept (among {self.words:,} words)"
        rated = [str(each) for each in self.ratings]
        return " ".join([f"{neighbours}; {percent(self.variance_gone)} of the variance of vectors went.", *rated])


def damage(
    before: Mapping[str, NDArray[np.floating]],
    after: Mapping[str, NDArray[np.floating]],
    *,
    neighbours: int = 10,
    vocabulary: int = 20_000,
    ratings: Sequence[str | os.PathLike[str]] = (),
    ci_prob: float = 0.95,
    seed: int = 1,
) -> Damage:
    r"""How far the vectors of the same words are still the same.

    With unit vectors :math:`X` before and :math:`Y` after, each centred, the variance that went is
    :math:`1 - \lVert X^\top Y \rVert_*^2 / (\lVert X \rVert^2 \lVert Y \rVert^2)`, with the nuclear norm [1]_.

    Parameters
    ----------
    before, after : mapping of str to array
        One vector for each word; words that both have are compared. Give the whole vocabulary: neighbours are looked
        for among these words, for 1,000 of them drawn at random where there are more.
    neighbours : int
        How many nearest neighbours, by cosine.
    vocabulary : int
        Of a larger vocabulary the first words, often the frequent ones, stand for all.
    ratings : sequence of paths
        Text files of word pairs and how similar people find them, such as SimLex-999, WordSim-353 and MEN.
    ci_prob, seed
        Of the bootstrap intervals, over words and over pairs.

    Raises
    ------
    MeasureError
        No more words in common than there are neighbours, a vector that is zero, or a file of ratings that cannot be
        read or has fewer than ten pairs with vectors.

    Notes
    -----
    Neighbours that are lost are not all damage: that a word has left its gendered neighbours is what debiasing is for.
    Words that nobody associates with a group should keep theirs.

    References
    ----------
    .. [1] Gower, J. C. (1975). Generalized Procrustes analysis. Psychometrika, 40(1), 33-51.
       https://doi.org/10.1007/BF02291478

    Examples
    --------
    >>> vectors = {f"w{k}": v for k, v in enumerate(np.random.default_rng(1).standard_normal((50, 4)))}
    >>> damage(vectors, vectors).neighbours_kept
    1.0
    """
    check_count("neighbours", neighbours, "neighbours", refusal=MeasureError)
    check_ci_prob(ci_prob)
    rng = np.random.default_rng(check_seed(seed))
    check_count("vocabulary", vocabulary, "words", least=3, refusal=MeasureError)
    shared = [word for word in before if word in after][:vocabulary]
    if len(shared) <= neighbours + 1:
        raise MeasureError(
            f"damage: {len(shared)} words in common are too few for {neighbours} neighbours; give the vocabulary"
        )
    one, other = (stack_unit(vectors, shared, "damage") for vectors in (before, after))
    rows = np.sort(rng.permutation(len(shared))[:_MOST_WORDS])
    near = [_nearest(vectors, rows, neighbours) for vectors in (one, other)]
    kept = np.array([np.isin(*pair).mean() for pair in zip(*near, strict=True)])
    means = kept[rng.integers(len(kept), size=(_RESAMPLES, len(kept)))].mean(axis=1)
    lower, upper = np.quantile(means, tails(ci_prob)).tolist()
    rated = tuple(rated_pairs(before, after, source, ci_prob=ci_prob, rng=rng) for source in ratings)
    return Damage(len(shared), float(kept.mean()), lower, upper, _variance_gone(one, other), rated)


def _nearest(unit: NDArray[np.float64], rows: NDArray[np.integer], neighbours: int) -> NDArray[np.integer]:
    similarity = unit[rows] @ unit.T
    similarity[np.arange(len(rows)), rows] = -np.inf  # no word is its own neighbour
    return np.argpartition(-similarity, neighbours - 1, axis=1)[:, :neighbours]


def _variance_gone(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    x, y = (vectors - vectors.mean(axis=0) for vectors in (one, other))
    agreement = np.linalg.svd(x.T @ y, compute_uv=False).sum() ** 2 / ((x**2).sum() * (y**2).sum())
    return max(0.0, 1 - float(agreement))
