"""Tests by Gonen and Goldberg (2019) for remaining bias after debiasing: clusters, a classifier, and neighbours of
biased words.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy

from bayes_bias.arguments import check_count, check_kind, check_seed
from bayes_bias.embeddings.word_vectors import Vectors, check_named_words, class_means, stack_unit
from bayes_bias.errors import MeasureError, optional
from bayes_bias.measures.registry import WordResult
from bayes_bias.measures.same import directions_against_rest


def bias_towards(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Compute the cosine of each word with the direction to each class from the mean of all other classes.

    For ``{"woman": ["she"], "man": ["he"]}``, the two columns are the paper's projection on she - he and the negative
    of this projection.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words, in the embedding *before* debiasing.
    words : sequence of str
        The words to measure.
    classes : mapping of str to sequence of str
        Two classes or more.

    Returns
    -------
    pandas.DataFrame
        One row for each word and one column for each class. Values are positive for words that are biased towards the
        class.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([1.0, 0.0]), "she": np.array([-1.0, 0.0]), "nurse": np.array([-0.6, 0.8])}
    >>> bias_towards(vectors, ["nurse"], {"man": ["he"], "woman": ["she"]}).loc["nurse"].round(2).to_dict()
    {'man': -0.6, 'woman': 0.6}
    """
    directions = directions_against_rest(class_means(vectors, classes, "bias towards classes"))
    leaning = stack_unit(vectors, words, "bias towards classes") @ directions.T
    columns = pd.Index(list(classes), name="class")
    return pd.DataFrame(leaning, index=pd.Index(words, name="word"), columns=columns)


def check_bias(bias: pd.DataFrame) -> None:
    """Raise an error unless the frame comes from `bias_towards`."""
    problem = "not a DataFrame. Pass the result of `bias_towards`."
    check_kind("bias", bias, pd.DataFrame, problem, MeasureError)


def most_biased(bias: pd.DataFrame, n: int) -> dict[str, list[str]]:
    """Return the n most biased words for each class, among the words that are more biased towards this class than any
    other.

    Examples
    --------
    >>> bias = pd.DataFrame({"man": [0.3, 0.1, -0.2], "woman": [-0.3, -0.1, 0.2]}, ["boss", "chef", "nurse"])
    >>> most_biased(bias, 1)
    {'man': ['boss'], 'woman': ['nurse']}
    """
    check_bias(bias)
    n = check_count("n", n, "words", refusal=MeasureError)
    class_of_word = bias.idxmax(axis=1)
    most_biased_words = {}
    for name in bias.columns:
        words = bias.loc[class_of_word == name, name].nlargest(n).index.tolist()
        if len(words) < n:
            lean = "word leans" if len(words) == 1 else "words lean"
            raise MeasureError(f"`n` is {n}, but only {len(words)} {lean} to '{name}'. Use a smaller number.")
        most_biased_words[str(name)] = words
    return most_biased_words


def labelled(groups: Mapping[str, Sequence[str]], measure: str, *, least: int = 2) -> tuple[list[str], list[str]]:
    """Return all words, and the group of each word, as two lists of the same length.

    Raise an error unless there are at least two groups, with at least `least` words in each.
    """
    check_named_words("groups", groups)
    if len(groups) < 2:
        raise MeasureError(f"{measure} needs at least two groups, but {len(groups)} were given.")
    all_words: list[str] = []
    labels: list[str] = []
    for name, words in groups.items():
        if len(words) < least:
            raise MeasureError(f"{measure} needs at least {least} words in each group, but '{name}' has {len(words)}.")
        all_words += words
        labels += [name] * len(words)
    return all_words, labels


# The clustering test of Gonen and Goldberg (2019): whether biased words still form clusters after debiasing.


def clustering(vectors: Vectors, groups: Mapping[str, Sequence[str]], *, seed: int = 0) -> WordResult:
    """Compute how well k-means recovers the groups of biased words from their vectors.

    Unit vectors are split into one cluster per group. Clusters are matched with groups to maximise agreement, and the
    value is the share of words in the cluster of their group.

    Parameters
    ----------
    vectors : mapping of str to array
        The embedding to test, usually after debiasing.
    groups : mapping of str to sequence of str
        Two groups or more of the same size, such as the 500 most male- and the 500 most female-biased words *before*
        debiasing (`bias_towards`, `most_biased`).
    seed : int
        Seed of k-means, which starts ten times.

    Returns
    -------
    WordResult
        `value` in [1/k, 1] for k groups. It is 1/k if clusters are unrelated to the groups. `words` contains the
        `group` of each word, and the `predicted` group.

    Raises
    ------
    MeasureError
        If there is only one group, if groups differ in size or have fewer than two words, or if a word has no vector or
        is in two groups.

    Notes
    -----
    This test misleads because the words were selected by their bias. For example, nurses and footballers also differ in
    topic, and any good embedding separates topics. High accuracy shows that k-means can recover the groups, but not
    that the protected attribute is the reason. In small lists, the value exceeds 1/k by chance, because clusters are
    matched with groups to maximise agreement.

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
        raise MeasureError(
            f"Clustering needs groups of equal size to compare with chance, but their sizes are {sizes}."
        )
    rows = stack_unit(vectors, words, "clustering")
    with optional(" for clustering", refusal=MeasureError):
        from sklearn.cluster import KMeans  # importing scikit-learn takes a second, and only this measure needs it
        from sklearn.metrics import confusion_matrix

    cluster = KMeans(len(groups), n_init=10, random_state=check_seed(seed)).fit_predict(rows)
    # Each cluster gets the name of a group, matched to maximise agreement.
    names = np.array(list(groups))
    group_number = [list(groups).index(name) for name in group]
    n_words = confusion_matrix(group_number, cluster).T  # (clusters, groups)
    _, group_of_cluster = scipy.optimize.linear_sum_assignment(n_words, maximize=True)
    predicted = names[group_of_cluster[cluster]]
    return WordResult(
        measure="clustering",
        value=float((predicted == np.array(group)).mean()),
        range=(1 / len(groups), 1.0),
        b0=1 / len(groups),
        words=pd.DataFrame({"group": group, "predicted": predicted.tolist()}, index=pd.Index(words, name="word")),
    )


# The classification test of Gonen and Goldberg (2019): whether a classifier can learn the bias from debiased vectors.


def classification(
    vectors: Vectors, groups: Mapping[str, Sequence[str]], *, train: float = 0.2, seed: int = 0
) -> WordResult:
    """Train a classifier on some biased words, and compute how well it predicts the groups of other biased words.

    A support vector machine with a radial kernel is trained on the unit vectors of a random share of the words,
    stratified by group, and tested on the remaining words.

    Parameters
    ----------
    vectors, groups
        See `clustering`. The paper uses 2,500 words in each group. Groups may differ in size.
    train : float
        Share of words to train on (in the paper 1,000 of 5,000).
    seed : int
        Seed of the split.

    Returns
    -------
    WordResult
        `value` in [0, 1]. `b0` is the share of the largest group. `words` contains the `group` of each test word, and
        the `predicted` group.

    Raises
    ------
    MeasureError
        If there is only one group, if a group has fewer than four words, if `train` is outside (0, 1), or if a word has
        no vector or is in two groups.

    Notes
    -----
    This test misleads for the same reason as `clustering`: words that were selected by bias also differ in topic, and a
    classifier may learn the topic.

    References
    ----------
    Gonen, H. & Goldberg, Y. (2019). Lipstick on a pig. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> groups = {"man": [f"m{i}" for i in range(10)], "woman": [f"w{i}" for i in range(10)]}
    >>> vectors = {w: rng.normal((w[0] == "m", w[0] == "w"), 0.1) for w in sum(groups.values(), [])}
    >>> classification(vectors, groups).value
    1.0
    """
    words, group = labelled(groups, "classification", least=4)
    if not 0 < train < 1 or int(train * len(words)) < len(groups):
        raise MeasureError(f"train: {train:g} of {len(words)} words leaves too few to learn from or to test on")
    rows = stack_unit(vectors, words, "classification")
    with optional(" for classification", refusal=MeasureError):
        # importing scikit-learn takes a second, and only this measure needs it
        from sklearn.model_selection import train_test_split
        from sklearn.svm import SVC

    in_training, in_test = train_test_split(
        np.arange(len(words)), train_size=train, stratify=group, random_state=check_seed(seed)
    )
    labels = np.array(group)
    # gamma = 1 / dimensions was scikit-learn's default at the time, and reproduces the published accuracies.
    predicted = SVC(kernel="rbf", gamma="auto").fit(rows[in_training], labels[in_training]).predict(rows[in_test])
    return WordResult(
        measure="classification",
        value=float((predicted == labels[in_test]).mean()),
        range=(0.0, 1.0),
        b0=max(group.count(name) for name in groups) / len(group),
        words=pd.DataFrame(
            {"group": labels[in_test], "predicted": predicted}, index=pd.Index([words[i] for i in in_test], name="word")
        ),
    )


# The neighbour test of Gonen and Goldberg (2019): whether the neighbours of a biased word still have the same bias.


def neighbours(vectors: Vectors, words: Sequence[str], bias: pd.DataFrame, *, k: int = 100) -> WordResult:
    r"""Compute how strongly the bias of words is related to the bias of their neighbours after debiasing.

    For each word and class, the function computes the share of the k nearest neighbours (by cosine, in the tested
    embedding) that were biased towards the class. The value is Pearson's correlation, over words, of this share with
    the word's bias before debiasing, averaged over the classes.

    Parameters
    ----------
    vectors : mapping of str to array
        The embedding to test, usually after debiasing.
    words : sequence of str
        The words to test (in the paper professions).
    bias : pandas.DataFrame
        Bias *before* debiasing (`bias_towards`) of the words and of the vocabulary: every row is a candidate neighbour.
    k : int
        Number of neighbours.

    Returns
    -------
    WordResult
        `value` in [-1, 1], 0 if neighbours are unrelated to the bias. For two classes, `p_value` is two-sided. `words`
        contains the share of neighbours that were biased towards each class.

    Raises
    ------
    MeasureError
        If there are fewer than three words, or fewer than k other words; if a word has no vector, or its bias before
        debiasing is unknown; or if all words have the same bias or the same share of neighbours.

    Notes
    -----
    This test misleads because words on the same topic are neighbours, and topics are biased. The correlation may
    therefore be unrelated to the protected attribute. Values for different vocabularies are not comparable.

    References
    ----------
    Gonen, H. & Goldberg, Y. (2019). Lipstick on a pig. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> lean = np.linspace(-1, 1, 30)
    >>> vectors = {f"w{i}": np.array([x, 1.0]) for i, x in enumerate(lean)}
    >>> bias = pd.DataFrame({"man": lean, "woman": -lean}, index=list(vectors))
    >>> round(neighbours(vectors, ["w2", "w14", "w17", "w28"], bias, k=5).value, 2)
    0.89
    """
    _check_neighbours(words, bias, k)
    rows = stack_unit(vectors, words, "neighbours", least=3)
    candidates = stack_unit(vectors, bias.index.tolist(), "neighbours")
    similarity = rows @ candidates.T
    # No word is its own neighbour.
    similarity[np.arange(len(words)), bias.index.get_indexer(words)] = -np.inf
    nearest = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
    class_of_neighbour = bias.to_numpy().argmax(axis=1)[nearest]  # (words, k)
    share = np.stack([(class_of_neighbour == c).mean(axis=1) for c in range(bias.shape[1])], axis=1)
    bias_before = bias.loc[list(words)].to_numpy()
    if (share.std(axis=0) == 0).any() or (bias_before.std(axis=0) == 0).any():
        raise MeasureError(
            "Neighbours are not defined, because all words have the same bias or neighbours,"
            " so there is no correlation."
        )
    tests = [scipy.stats.pearsonr(share[:, c], bias_before[:, c]) for c in range(bias.shape[1])]
    return WordResult(
        measure="neighbours",
        value=float(np.mean([test.statistic for test in tests])),
        range=(-1.0, 1.0),
        p_value=float(tests[0].pvalue) if bias.shape[1] == 2 else None,
        words=pd.DataFrame(share, index=pd.Index(words, name="word"), columns=bias.columns),
    )


def _check_neighbours(words: Sequence[str], bias: pd.DataFrame, k: int) -> None:
    """Raise an error if the arguments of `neighbours` do not fit together.

    `bias` must have at least two classes, and a row for each of the words, and the number k of neighbours must be
    smaller than the number of its words.
    """
    check_bias(bias)
    k = check_count("k", k, "neighbours", refusal=MeasureError)
    if bias.shape[1] < 2:
        raise MeasureError("Neighbours need the columns of at least two classes in `bias`. See `bias_towards`.")
    if missing := [word for word in words if word not in bias.index]:
        raise MeasureError(f"`bias` has no row for '{missing[0]}'. Pass its bias before debiasing.")
    if k >= len(bias):
        raise MeasureError(
            f"`k` is {k}, but there are only {len(bias) - 1} other words. Use a smaller `k` or more words."
        )
