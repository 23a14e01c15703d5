"""Measures along a bias direction or subspace: Direct Bias, RIPA, SemAxis, relative norm distance, and PairDir."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_seed, is_number
from bayes_bias.embeddings.word_vectors import (
    Vectors,
    check_named_words,
    lengths,
    orthonormal,
    project,
    stack,
    stack_unit,
    unit_rows,
)
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import bounds, plain
from bayes_bias.measures.registry import Occasion, WordResult, measure
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of


@measure("Direct Bias", rank=70)
def direct_bias(vectors: Vectors, words: Sequence[str], subspace: np.ndarray, *, strictness: float = 1.0) -> WordResult:
    r"""Compute the bias component (along a direction, or in a subspace) of words that should be neutral.

    .. math:: DB_c = \frac{1}{|N|} \sum_{w \in N} |\cos(w, g)|^c

    For a subspace of several components, :math:`|\cos(w, g)|` is replaced by the length of the projection of the unit
    vector. For one component, both are equal.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of the words, of any length.
    words : sequence of str
        The words N that should be neutral, such as professions.
    subspace : numpy.ndarray
        The direction g, shape (dimensions,), or a subspace, shape (components, dimensions), from `pair_direction` or
        `defining_subspace`.
    strictness : float
        The exponent c > 0. Values below 1 give small biases more weight.

    Returns
    -------
    WordResult
        `value` in [0, 1], 0 without bias. `words` contains the `bias` of each word, and its coordinates, which are
        positive towards the first word of the pair.

    Raises
    ------
    MeasureError
        If there are no words, if a word has no vector or a zero vector, if the subspace is unusable, or if c is not
        positive.

    Notes
    -----
    Direct Bias misleads if the first principal component is not the direction in which the groups differ. In a
    published counterexample, Direct Bias is 1 for a word that is equally close to both groups, and 0 for a word with
    the greatest possible bias. Because of the absolute values, Direct Bias does not distinguish a bias in one direction
    from balanced stereotypes. A unit vector has a ``|cos|`` of about .8 / sqrt(dimensions) with *any* direction, so
    noise alone results in a Direct Bias of .046 in 300 dimensions.

    References
    ----------
    Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V. & Kalai, A. (2016). Man is to computer programmer as
    woman is to homemaker? Debiasing word embeddings. NeurIPS 29. https://doi.org/10.48550/arXiv.1607.06520

    Schröder, S., Schulz, A., Hinder, F. & Hammer, B. (2024). Semantic properties of cosine based bias scores
    for word embeddings. ICPRAM, 160-168. https://doi.org/10.5220/0012577200003654 (the counterexample).

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_bias.measures import pair_direction
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([0.6, 0.8])}
    >>> round(direct_bias(vectors, ["nurse"], pair_direction(vectors, "she", "he")).value, 3)
    0.6
    """
    if not is_number(strictness) or strictness <= 0:
        raise MeasureError(f"`strictness` must be positive, but is {strictness!r}. The paper uses 1.")
    coordinates = project(stack_unit(vectors, words, "Direct Bias"), subspace)
    bias = np.linalg.norm(coordinates, axis=1) ** strictness
    return WordResult(
        measure="Direct Bias",
        word_value="bias",
        value=float(bias.mean()),
        range=(0.0, 1.0),
        words=coordinate_frame(words, coordinates).assign(bias=bias),
    )


def coordinate_frame(words: Sequence[str], coordinates: np.ndarray) -> pd.DataFrame:
    """Return one column for each component: component_1, component_2, ..."""
    columns = [f"component_{i}" for i in range(1, coordinates.shape[1] + 1)]
    return pd.DataFrame(coordinates, index=pd.Index(words, name="word"), columns=columns)


# If lengths differ by less than this share, they are equal up to rounding, even for normalised vectors in half
# precision.
_EQUAL = 1e-3


def ripa(vectors: Vectors, words: Sequence[str], subspace: np.ndarray) -> WordResult:
    r"""Compute the component of words, at their original length, along the direction of a pair of words.

    .. math:: \beta(w; x, y) = w \cdot \frac{x - y}{\lVert x - y \rVert}

    In models that factorise co-occurrences, :math:`\beta` is a difference of log probabilities of the words. The value
    is the mean of :math:`|\beta|` or, for a subspace of several components, the mean length of the projection.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length. With unit vectors RIPA is a signed Direct Bias.
    words : sequence of str
        The words to measure.
    subspace : numpy.ndarray
        For one pair, pass ``pair_direction(vectors, x, y, normalize=False)``. For several pairs, pass
        ``defining_subspace(vectors, pairs, normalize=False)``, which is the first principal component of the
        differences within pairs.

    Returns
    -------
    WordResult
        `value` in [0, inf), 0 without bias, in the embedding's units of length. `words` contains the coordinates of
        each word and its `association`. For a single direction, the association has a sign, which is positive towards
        x.

    Raises
    ------
    MeasureError
        If there are no words, if a word has no vector or a zero vector, or if the subspace is unusable.

    Notes
    -----
    RIPA misleads in comparisons of embeddings. The lengths of vectors differ between models and increase with word
    frequency, so values of two embeddings are not comparable. In addition, the sign may change if you choose another
    pair for the same attribute.

    References
    ----------
    Ethayarajh, K., Duvenaud, D. & Hirst, G. (2019). Understanding undesirable word embedding associations.
    ACL 57, 1696-1705. https://doi.org/10.18653/v1/P19-1166

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_bias.measures import pair_direction
    >>> vectors = {"she": np.array([2.0, 1.0]), "he": np.array([0.0, 1.0]), "nurse": np.array([3.0, 4.0])}
    >>> direction = pair_direction(vectors, "she", "he", normalize=False)
    >>> ripa(vectors, ["nurse"], direction).words.association.round(3).to_dict()
    {'nurse': 3.0}
    """
    coordinates = project(stack(vectors, words, "RIPA"), subspace)
    length = lengths(coordinates)
    association = coordinates[:, 0] if coordinates.shape[1] == 1 else length
    return WordResult(
        measure="RIPA",
        word_value="association",
        value=float(length.mean()),
        range=(0.0, float("inf")),
        words=coordinate_frame(words, coordinates).assign(association=association),
    )


@measure("RIPA", rank=80)
def _ripa_of(occasion: Occasion) -> WordResult:
    """Compute RIPA of the targets, from vectors at their original lengths.

    Raise an error if all vectors have the same length, because they were then normalised.
    """
    vectors = occasion.original_vectors
    vector_lengths = np.array([lengths(vectors[word]) for word in occasion.table_words if word in vectors])
    if vector_lengths.size and np.isclose(vector_lengths, vector_lengths[:1], rtol=_EQUAL, atol=0).all():
        name = occasion.table.provenance.get("embedding", occasion.table.name)
        raise MeasureError(
            f"RIPA depends on the lengths of vectors, but all vectors of {name} have the same length. Use vectors that"
            " were not normalised, or Direct Bias, which is the same measure for normalised vectors."
        )
    return ripa(vectors, occasion.words, occasion.original_subspace)


# If an axis is shorter than this share of the mean vectors of its poles, it is a rounding error.
_NO_AXIS = 1e-6


def semaxis(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> WordResult:
    r"""Compute the position of words on the axis from one class to another.

    With the mean vectors :math:`v_A` and :math:`v_B` of the two classes, the poles of the axis,

    .. math:: \mathrm{score}(w) = \cos(w, v_A - v_B).

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length, as in the authors' code. Longer vectors of a pole have more weight. With unit
        vectors the score is the signed coordinate of `same`.
    words : sequence of str
        The words to measure.
    classes : mapping of str to sequence of str
        Two classes of attributes. The first is the positive pole.

    Returns
    -------
    WordResult
        `value` is the mean score of the words, in [-1, 1], and 0 if they lie in the middle. `words` contains the
        `score` of each word.

    Raises
    ------
    MeasureError
        If there are no words, if there are not two classes, if a word has no vector or a zero vector, or if both poles
        coincide.

    Notes
    -----
    The paper also extends each pole by the nearest words of a vocabulary (k = 3 in its examples). In this
    implementation, a pole contains only the words of the list (k = 0).

    SemAxis misleads in small lists, like SAME: the mean of few words is a noisy pole, and any word has a ``|cos|`` of
    about .8 / sqrt(dimensions) with any axis. The paper has no test.

    References
    ----------
    An, J., Kwak, H. & Ahn, Y.-Y. (2018). SemAxis: A lightweight framework to characterize domain-specific word
    semantics beyond sentiment. ACL 56, 2450-2461. https://doi.org/10.18653/v1/P18-1228

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([2.0, 2.0]), "she": np.array([-2.0, 2.0]), "nurse": np.array([-0.6, 0.8])}
    >>> semaxis(vectors, ["nurse"], {"man": ["he"], "woman": ["she"]}).words.score.round(3).to_dict()
    {'nurse': -0.6}
    """
    check_named_words("classes", classes)
    if len(classes) != 2:
        raise MeasureError(f"SemAxis needs two classes as the poles of its axis, but {len(classes)} were given.")
    rows = stack(vectors, words, "SemAxis")
    first, second = (stack(vectors, pole, "SemAxis").mean(axis=0) for pole in classes.values())
    axis = first - second
    if lengths(axis) < _NO_AXIS * max(lengths(first), lengths(second)):
        raise MeasureError(f"SemAxis: {' and '.join(classes)} have the same mean vector, which gives no axis")
    score = unit_rows(rows) @ unit_rows(axis)
    return WordResult(
        measure="SemAxis",
        word_value="score",
        value=float(score.mean()),
        range=(-1.0, 1.0),
        words=pd.DataFrame({"score": score}, index=pd.Index(words, name="word")),
    )


@measure("SemAxis", rank=65)
def _semaxis_of(occasion: Occasion) -> WordResult:
    """Compute SemAxis of the targets of a table, whose two classes are the poles of the axis.

    The value is the mean over groups of the mean score towards the class that is associated with the group.
    """
    result = semaxis(occasion.original_vectors, occasion.words, occasion.classes)
    positive_class, _ = occasion.classes
    towards_own_class = []
    for group, words in occasion.groups.items():
        sign = 1 if occasion.table.stereotypes[group] == positive_class else -1
        towards_own_class.append(sign * result.words.score[words].mean())
    return replace(result, value=float(np.mean(towards_own_class)))


def relative_norm(vectors: Vectors, words: Sequence[str], first: Sequence[str], second: Sequence[str]) -> WordResult:
    r"""Compute whether words are closer to the mean vector of one group or of another.

    .. math:: \sum_{m \in M} \lVert v_m - v_1 \rVert - \lVert v_m - v_2 \rVert

    with unit vectors :math:`v_m` of the words and the groups' mean unit vectors :math:`v_1, v_2`. Positive values mean
    closer to the *second* group. `value` is the mean over words, as in the paper's figures, instead of the sum.

    Parameters
    ----------
    vectors, words
        See `direct_bias`.
    first, second : sequence of str
        The words of the two groups.

    Returns
    -------
    WordResult
        The absolute value is at most the distance between the two mean vectors, and 0 if there is no bias. `words`
        contains the `distance_difference` of each word.

    Raises
    ------
    MeasureError
        If there are no words, or a word has no vector or a zero vector.

    Notes
    -----
    The measure misleads if the words of one group vary more than the words of the other group. The more varied group
    has a shorter mean vector, which is closer to all words. The measure then reports a bias even for words that have
    equal cosines with both mean vectors.

    References
    ----------
    Garg, N., Schiebinger, L., Jurafsky, D. & Zou, J. (2018). Word embeddings quantify 100 years of gender
    and ethnic stereotypes. PNAS 115, E3635-E3644. https://doi.org/10.1073/pnas.1720347115

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([1.0, 0.0]), "she": np.array([0.0, 1.0]), "nurse": np.array([0.6, 0.8])}
    >>> round(relative_norm(vectors, ["nurse"], ["he"], ["she"]).value, 3)
    0.262
    """
    rows = stack_unit(vectors, words, "relative norm distance")
    mean_first = stack_unit(vectors, first, "relative norm distance").mean(axis=0)
    mean_second = stack_unit(vectors, second, "relative norm distance").mean(axis=0)
    difference = np.linalg.norm(rows - mean_first, axis=1) - np.linalg.norm(rows - mean_second, axis=1)
    bound = float(np.linalg.norm(mean_first - mean_second))
    return WordResult(
        measure="relative norm distance",
        word_value="distance_difference",
        value=float(difference.mean()),
        range=(-bound, bound),
        words=pd.DataFrame({"distance_difference": difference}, index=pd.Index(words, name="word")),
    )


@measure("relative norm distance", rank=90)
def _relative_norm_of(occasion: Occasion) -> pd.DataFrame:
    """Return a row of the table of measures for each associated class.

    The words of the class are compared with the mean vectors of the two groups of the table.
    """
    if len(occasion.groups) != 2:
        raise MeasureError(
            f"The relative norm distance compares two groups, but this table has {len(occasion.groups)}."
        )
    first, second = occasion.groups.values()
    rows = []
    for name, words in occasion.classes.items():
        row = relative_norm(occasion.vectors, words, first, second).to_frame(occasion.ci_prob)
        rows.append(row.set_axis([f"relative norm distance: {name}"]))
    return pd.concat(rows)


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
            f"PairDir: the differences of {len(self.words)} pairs have a mean cosine of {plain(self.value, 2)}{random}."
            f" The pair that agrees least is {least}, {plain(self.words.agreement[least], 2)}"
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
    r"""Return the mean cosine of the difference of each pair with the differences of the other pairs.

    With the differences :math:`o_i` of unit vectors, scaled to length one, the sum of the cosines of pair i with all n
    pairs is :math:`o_i \cdot \sum_j o_j`. The cosine of a pair with itself, which is 1, is subtracted.
    """
    differences = []
    for pair in pairs:
        first, second = stack_unit(vectors, pair, "PairDir")
        [difference] = orthonormal(first - second, f"'{pair[0]}' and '{pair[1]}' have the same vector")
        differences.append(difference)
    o = np.stack(differences)
    sum_of_cosines = o @ o.sum(axis=0)
    return np.asarray((sum_of_cosines - 1) / (len(o) - 1))
