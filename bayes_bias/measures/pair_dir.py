"""PairDir (Boutyline & Johnston 2023), which shows whether the pairs of defining sets differ in one direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.embeddings.word_vectors import orthonormal, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import bounds, plain
from bayes_bias.measures.registry import WordResult
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of


@dataclass(frozen=True, eq=False, kw_only=True)
class PairDir(WordResult):
    """Result of PairDir. `words` contains the `agreement` of each pair, such as "she:he", with the other pairs.

    Attributes
    ----------
    chance : tuple of float or None
        Central 95% interval for an equal number of pairs of random words.
    """

    measure: str = "PairDir"
    word_value: str = "agreement"

    chance: tuple[float, float] | None = None

    @property
    def text(self) -> str:
        """State the agreement of the pairs, its chance level, and the pair with the lowest agreement."""
        least = self.words.agreement.idxmin()
        random = f" (random pairs: {bounds(*self.chance, decimals=2)})" if self.chance else ""
        return (
            f"PairDir: the differences of {len(self.words)} pairs have a mean cosine of"
            f" {plain(self.value, 2)}{random}. The pair that agrees least is {least},"
            f" {plain(self.words.agreement[least], 2)}"
        )


def pair_dir(
    vectors: Mapping[str, NDArray[np.floating]],
    defining_sets: GivenSets,
    *,
    random: Sequence[str] = (),
    draws: int = 200,
    seed: int = 0,
) -> PairDir:
    r"""Compute how consistently all pairs of defining sets point in one direction.

    With the differences :math:`o_i = (v_{i1} - v_{i2}) / \lVert v_{i1} - v_{i2} \rVert` of the unit vectors of n pairs,

    .. math:: \mathrm{PairDir} = \frac{1}{n (n - 1)} \sum_{i \ne j} o_i \cdot o_j

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words.
    defining_sets : str, path or sequence of pairs of str
        At least two pairs, such as "she:he,woman:man". The order within each pair matters.
    random : sequence of str
        Words with vectors. An equal number of random pairs is drawn from them `draws` times.
    draws, seed
        Number and seed of the random draws.

    Raises
    ------
    MeasureError
        If there is only one pair, if a set has more than two words, if a word has no usable vector, or if the two words
        of a pair have equal vectors.

    Notes
    -----
    A high value does not show that the pairs differ in the intended attribute. For example, pairs of singular and
    plural also agree.

    References
    ----------
    Boutyline, A. & Johnston, E. (2023). Forging better axes: evaluating and improving the measurement of semantic
    dimensions in word embeddings. https://doi.org/10.31235/osf.io/576h3

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"she": np.array([1.0, 0]), "he": np.array([0, 1.0])}
    >>> vectors |= {"hen": np.array([0.8, 0.6]), "cock": np.array([0, 1.0])}
    >>> round(pair_dir(vectors, "she:he,hen:cock").value, 3)
    0.949
    """
    pairs = defining_sets_of(defining_sets)
    if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
        raise MeasureError("PairDir compares at least two pairs of words. Pass sets such as 'she:he,woman:man'.")
    cosines = _cosines_of_differences(vectors, pairs)
    draws = check_count("draws", draws, "draws", refusal=MeasureError)
    chance = None
    if len(random) >= 2 * len(pairs):
        rng = np.random.default_rng(check_seed(seed))
        means = []
        for _ in range(draws):
            drawn = [(random[i], random[j]) for i, j in rng.choice(len(random), (len(pairs), 2), replace=False)]
            means.append(_cosines_of_differences(vectors, drawn).mean())
        chance = (float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975)))
    return PairDir(
        value=float(cosines.mean()),
        range=(-1.0, 1.0),
        b0=float("nan"),
        words=pd.DataFrame({"agreement": cosines}, [":".join(pair) for pair in pairs]).rename_axis("pair"),
        chance=chance,
    )


def _cosines_of_differences(
    vectors: Mapping[str, NDArray[np.floating]], pairs: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """Return the mean cosine of the difference of each pair with the differences of the other pairs."""
    differences = []
    for pair in pairs:
        first, second = stack_unit(vectors, pair, "PairDir")
        differences.append(orthonormal(first - second, f"'{pair[0]}' and '{pair[1]}' have the same vector")[0])
    rows = np.stack(differences)
    total = rows @ rows.sum(axis=0)
    return np.asarray((total - 1) / (len(rows) - 1))
