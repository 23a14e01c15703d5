"""The clustering test of Gonen & Goldberg (2019): do biased words still cluster after debiasing?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy

from bayes_bias.arguments import check_seed
from bayes_bias.embeddings.word_vectors import Vectors, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.biased_words import labelled
from bayes_bias.measures.measure_result import WordResult


def clustering(vectors: Vectors, groups: Mapping[str, Sequence[str]], *, seed: int = 0) -> WordResult:
    """Does k-means recover the groups of biased words from their vectors alone?

    Unit vectors are split into one cluster per group. Clusters are matched with groups so that most words agree, and
    the value is the share that agrees.

    Parameters
    ----------
    vectors : mapping of str to array
        The embedding to test, usually after debiasing.
    groups : mapping of str to sequence of str
        Two groups or more of the same size; in the paper the 500 most male- and the 500 most female-biased words
        *before* debiasing (`bias_towards`, `most_biased`).
    seed : int
        Seed of k-means, which starts ten times.

    Returns
    -------
    WordResult
        `value` in [1/k, 1] for k groups; 1/k where clusters are unrelated to the groups. `words` has the `group` of
        each and the one `predicted`.

    Raises
    ------
    MeasureError
        One group, groups of different sizes, fewer than two words, a word without vector or in two groups.

    Notes
    -----
    Misleads because the words were chosen for their bias: nurses and footballers differ in topic too, and any good
    embedding separates topics. High accuracy shows that the grouping can be recovered, not that the protected attribute
    is the reason. By chance the value exceeds 1/k in small lists, since the best matching counts.

    References
    ----------
    Gonen, H. & Goldberg, Y. (2019). Lipstick on a pig: debiasing methods cover up systematic gender biases
    in word embeddings but do not remove them. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"boss": np.array([1, .1]), "chef": np.array([1, .2]), "nurse": np.array([.1, 1]),
    ...            "maid": np.array([.2, 1])}
    >>> clustering(vectors, {"man": ["boss", "chef"], "woman": ["nurse", "maid"]}).value
    1.0
    """
    words, group = labelled(groups, "clustering")
    if len({len(members) for members in groups.values()}) > 1:
        sizes = ", ".join(f"{name}: {len(members)}" for name, members in groups.items())
        raise MeasureError(f"clustering: groups need equal sizes to compare with chance; here {sizes}")
    rows = stack_unit(vectors, words, "clustering")
    from sklearn.cluster import KMeans  # a second of imports, for this measure alone

    cluster = KMeans(len(groups), n_init=10, random_state=check_seed(seed)).fit_predict(rows)
    predicted = _matched(cluster, group, list(groups))
    agree = [a == b for a, b in zip(predicted, group, strict=True)]
    return WordResult(
        measure="clustering",
        value=float(np.mean(agree)),
        range=(1 / len(groups), 1.0),
        b0=1 / len(groups),
        words=pd.DataFrame({"group": group, "predicted": predicted}, index=pd.Index(words, name="word")),
    )


def _matched(cluster: np.ndarray, group: list[str], names: list[str]) -> list[str]:
    """Clusters by the name of a group, matched so that most words agree."""
    from sklearn.metrics import confusion_matrix

    shared = confusion_matrix([names.index(g) for g in group], cluster).T
    _, name_of = scipy.optimize.linear_sum_assignment(shared, maximize=True)
    return [names[name_of[c]] for c in cluster]
