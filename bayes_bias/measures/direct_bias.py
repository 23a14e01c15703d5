"""Direct Bias (Bolukbasi et al. 2016), the mean absolute component of words along a bias direction."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayes_bias.arguments import is_number
from bayes_bias.embeddings.word_vectors import Vectors, project, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import WordResult, measure


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
