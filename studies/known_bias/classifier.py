"""A classifier on the vectors: do its gaps between groups follow the biases of words, and does debiasing help?

People are made from the same truth: each has an occupation, and a group drawn with the occupation's shares. A biography
is a bag of words: mentions of occupations, most of them of the person's own, and words of the person's group, which is
how the group leaks into it. The classifier sees the mean vector of the words and is to tell the occupation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_bias.analyses.tpr_gaps.counts import unbiased_mean_square
from bayes_bias.associations.cosines import cosines
from bayes_bias.debiasing.debias_hard import HardDebias
from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.measures.crossed_tests import quasi_f
from studies.known_bias.asking import Record
from studies.known_bias.corpora import Truth, of_all_targets
from studies.known_bias.scenario import Scenario
from studies.known_bias.vocabulary import Attribute

# How many dimensions hard debiasing takes out; 0 is the vectors as they are.
COMPONENTS = (0, 1, 3)
CLASSIFIERS = ("logistic regression", "two layers")

# Occupations to tell apart, people of each in training and in test, and the words of a biography.
_CLASSES = 20
_PEOPLE = 200
_MENTIONS, _OF_OCCUPATION, _LEAKS = 6, 0.35, 4
_STREAM = 5


def downstream(scenario: Scenario, truth: Truth, vectors: Mapping[str, np.ndarray], seed: int) -> list[Record]:
    """Gaps of true-positive rates of each class, for each classifier, on the vectors and on debiased ones.

    In the test every class has as many people of one group as of the other, so that each gap is known as well.

    Returns
    -------
    list of records
        ``attribute``, ``classifier``, ``components``, ``target``; ``gap`` (rate of the first group minus that of all
        others), ``bias`` (WEAT score of the target in the same vectors), ``accuracy`` and ``mean_square`` (unbiased,
        over classes) of the classifier.
    """
    rows: list[Record] = []
    for attribute in scenario.described.values():
        rng = np.random.default_rng([scenario.seed, _STREAM, truth.number, seed])
        chosen = np.sort(rng.choice(np.flatnonzero(truth.mentioned), min(_CLASSES, scenario.targets), replace=False))
        people = [_people(scenario, truth, attribute, chosen, rng, test) for test in (False, True)]
        for components in COMPONENTS:
            if components:
                used = HardDebias(components).fit_transform(vectors, attribute.defining_sets)
            else:  # at length one, as debiasing leaves them
                used = dict(zip(vectors, stack_unit(vectors, list(vectors), "vectors"), strict=True))
            bias = _scores(scenario, attribute, used)
            train, test = ((_features(sample, used), sample) for sample in people)
            rows += [
                {"attribute": attribute.name, "classifier": name, "components": components, **row}
                for name in CLASSIFIERS
                for row in _gaps([scenario.words[k] for k in chosen], train, test, bias, name, seed)
            ]
    return rows


def _people(
    scenario: Scenario, truth: Truth, attribute: Attribute, chosen: np.ndarray, rng: np.random.Generator, balanced: bool
) -> pd.DataFrame:
    """A row for each person: class, whether of the first group, and the words of the biography."""
    first, others = np.array(attribute.classes[attribute.first_group]), np.array(attribute.others)
    names = np.array(scenario.words)[chosen]
    rows = []
    for label, share in enumerate(truth.shares[attribute.name][chosen, 0]):
        of_first = rng.random(_PEOPLE) < (0.5 if balanced else share)
        of_occupation = rng.random((_PEOPLE, _MENTIONS)) < _OF_OCCUPATION
        said = np.where(of_occupation, label, rng.integers(len(chosen), size=of_occupation.shape))
        for is_first, mentions in zip(of_first, said, strict=True):
            words = [*names[mentions], *rng.choice(first if is_first else others, _LEAKS)]
            rows.append({"label": label, "first": bool(is_first), "words": words})
    return pd.DataFrame(rows)


def _gaps(
    classes: list[str],
    train: tuple[np.ndarray, pd.DataFrame],
    test: tuple[np.ndarray, pd.DataFrame],
    bias: pd.Series,
    name: str,
    seed: int,
) -> list[Record]:
    """Train a classifier, and count whom it recognises; `train` and `test` are features and people."""
    (features, people), (new_features, new_people) = train, test
    model = _classifier(name, seed).fit(features, people.label)
    right = (model.predict(new_features) == new_people.label).to_numpy()
    cell = (new_people.label, (~new_people["first"]).astype(int))
    counts, hits = (np.zeros((len(classes), 2), dtype=int) for _ in range(2))
    np.add.at(counts, cell, 1)
    np.add.at(hits, cell, right.astype(int))
    about = {"accuracy": float(right.mean()), "mean_square": unbiased_mean_square(hits, counts)}
    return [
        {"target": target, "gap": float(first - others), "bias": float(bias[target]), **about}
        for target, (first, others) in zip(classes, hits / counts, strict=True)
    ]


def _features(people: pd.DataFrame, vectors: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.stack([np.mean([vectors[word] for word in words], axis=0) for words in people.words])


def _classifier(name: str, seed: int) -> Any:
    head = (
        LogisticRegression(max_iter=1000)
        if name == CLASSIFIERS[0]
        else MLPClassifier((64,), max_iter=200, early_stopping=True, random_state=seed)
    )
    return make_pipeline(StandardScaler(), head)


def _scores(scenario: Scenario, attribute: Attribute, vectors: Mapping[str, np.ndarray]) -> pd.Series:
    words = quasi_f(cosines(of_all_targets(scenario, attribute, scenario.words), vectors, controls=())).words
    assert words is not None  # the measure is defined on words
    return words.association
