"""The classification test of Gonen & Goldberg (2019): can bias be learned from the debiased vectors?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_seed
from bayes_bias.embeddings.word_vectors import Vectors, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.biased_words import labelled
from bayes_bias.measures.measure_result import WordResult


def classification(
    vectors: Vectors, groups: Mapping[str, Sequence[str]], *, train: float = 0.2, seed: int = 0
) -> WordResult:
    """Does a classifier learn from some biased words to which group the others belong?

    A support vector machine with radial kernel is trained on the unit vectors of a random share of the words,
    stratified by group, and tested on the others.

    Parameters
    ----------
    vectors, groups
        See `clustering`; the paper has 2,500 words in each group. Groups may differ in size.
    train : float
        Share of words to train on; the paper trains on 1,000 of 5,000.
    seed : int
        Seed of the split.

    Returns
    -------
    WordResult
        `value` in [0, 1]; `b0` is the share of the largest group. `words` has the `group` of the unseen words and the
        one `predicted`.

    Raises
    ------
    MeasureError
        One group, fewer than four words in a group, `train` outside (0, 1), a word without vector or in two
        groups.

    Notes
    -----
    Misleads as `clustering` does: words chosen for bias differ in topic too, and a classifier may learn the topic.

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
    from sklearn.model_selection import train_test_split  # a second of imports, for this measure alone
    from sklearn.svm import SVC

    seen, unseen = train_test_split(
        np.arange(len(words)), train_size=train, stratify=group, random_state=check_seed(seed)
    )
    labels = np.array(group)
    # gamma = 1 / dimensions was scikit-learn's default at the time and gives the published accuracies.
    predicted = SVC(kernel="rbf", gamma="auto").fit(rows[seen], labels[seen]).predict(rows[unseen])
    return WordResult(
        measure="classification",
        value=float((predicted == labels[unseen]).mean()),
        range=(0.0, 1.0),
        b0=max(group.count(name) for name in groups) / len(group),
        words=pd.DataFrame(
            {"group": labels[unseen], "predicted": predicted}, index=pd.Index([words[i] for i in unseen], name="word")
        ),
    )
