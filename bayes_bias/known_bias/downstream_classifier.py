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

from bayes_bias.debiasing.debias_hard import HardDebias
from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.known_bias.asking_measures import Record, defining_sets
from bayes_bias.known_bias.corpora import Truth
from bayes_bias.known_bias.scenario import Scenario
from bayes_bias.known_bias.scenario_lists import of_all_targets
from bayes_bias.known_bias.vocabulary import Attribute
from bayes_bias.measures.quasi_f import quasi_f
from bayes_bias.measuring.vector_tables import cosines
from bayes_bias.tpr_gaps.published_gaps import unbiased_mean_square

# How many dimensions hard debiasing takes out; 0 is the vectors as they are.
COMPONENTS = (0, 1, 3)
CLASSIFIERS = ("logistic regression", "two layers")

# Occupations to tell apart, people of each in training and in test, and the words of a biography.
_CLASSES = 20
_PEOPLE = 200
_MENTIONS, _OWN, _LEAKS = 6, 0.35, 4
_STREAM = 5


def downstream(scenario: Scenario, truth: Truth, vectors: Mapping[str, np.ndarray], seed: int) -> list[Record]:
    """Gaps of true-positive rates of each class, for each classifier, on the vectors and on debiased ones.

    In the test every class has as many people of one group as of the other, so that each gap is known as well.

    Returns
    -------
    list of records
        ``attribute``, ``classifier``, ``components``, ``target``; ``gap`` (rate of the first group less that of all
        others), ``bias`` (WEAT score of the target in the same vectors), ``accuracy`` and ``mean_square`` (unbiased,
        over classes) of the classifier.
    """
    rows: list[Record] = []
    for attribute in scenario.described.values():
        sets = defining_sets(attribute)
        rng = np.random.default_rng([scenario.seed, _STREAM, truth.number, seed])
        chosen = np.sort(rng.choice(np.flatnonzero(truth.mentioned), min(_CLASSES, scenario.targets), replace=False))
        people = [_people(scenario, truth, attribute, chosen, rng, balanced=test) for test in (False, True)]
        for components in COMPONENTS:
            used = HardDebias(components).fit_transform(vectors, sets) if components else _unit(vectors)
            bias = _scores(scenario, attribute, used)
            train, test = ((_features(each, used), each) for each in people)
            rows += [
                {"attribute": attribute.name, "classifier": name, "components": components, **row}
                for name in CLASSIFIERS
                for row in _gaps([scenario.words[k] for k in chosen], train, test, bias, name, seed)
            ]
    return rows


def _people(
    scenario: Scenario,
    truth: Truth,
    attribute: Attribute,
    chosen: np.ndarray,
    rng: np.random.Generator,
    *,
    balanced: bool,
) -> pd.DataFrame:
    """A row for each person: class, whether of the first group, and the words of the biography."""
    first, others = np.array(attribute.classes[attribute.asked]), np.array(attribute.others)
    names = np.array(scenario.words)[chosen]
    rows = []
    for label, share in enumerate(truth.shares[attribute.name][chosen, 0]):
        of_first = rng.random(_PEOPLE) < (0.5 if balanced else share)
        own = rng.random((_PEOPLE, _MENTIONS)) < _OWN
        said = np.where(own, label, rng.integers(len(chosen), size=own.shape))
        for leads, mentions in zip(of_first, said, strict=True):
            words = [*names[mentions], *rng.choice(first if leads else others, _LEAKS)]
            rows.append({"label": label, "first": bool(leads), "words": words})
    return pd.DataFrame(rows)


def _gaps(
    classes: list[str],
    train: tuple[np.ndarray, pd.DataFrame],
    test: tuple[np.ndarray, pd.DataFrame],
    bias: dict[str, float],
    name: str,
    seed: int,
) -> list[Record]:
    """Train a classifier, and count whom it recognises: features and people, each."""
    (seen, known), (features, people) = train, test
    model = _classifier(name, seed)
    model.fit(seen, known.label)
    right = (model.predict(features) == people.label).to_numpy()
    cell = (people.label, (~people["first"]).astype(int))
    people_of, hits = (np.zeros((len(classes), 2), dtype=int) for _ in range(2))
    np.add.at(people_of, cell, 1)
    np.add.at(hits, cell, right.astype(int))
    about = {"accuracy": float(right.mean()), "mean_square": unbiased_mean_square(hits, people_of)}
    return [
        {"target": target, "gap": float(own[0] - own[1]), "bias": bias[target], **about}
        for target, own in zip(classes, hits / people_of, strict=True)
    ]


def _unit(vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The vectors at length one, as debiasing leaves them."""
    return dict(zip(vectors, stack_unit(vectors, list(vectors), "vectors"), strict=True))


def _features(people: pd.DataFrame, vectors: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.stack([np.mean([vectors[word] for word in words], axis=0) for words in people.words])


def _classifier(name: str, seed: int) -> Any:
    head = (
        LogisticRegression(max_iter=1000)
        if name == CLASSIFIERS[0]
        else MLPClassifier((64,), max_iter=200, early_stopping=True, random_state=seed)
    )
    return make_pipeline(StandardScaler(), head)


def _scores(scenario: Scenario, attribute: Attribute, vectors: Mapping[str, np.ndarray]) -> dict[str, float]:
    table = cosines(vectors, of_all_targets(scenario, attribute, scenario.words), controls=())
    words = quasi_f(table).words
    assert words is not None  # the measure is defined on words
    return {str(word): float(value) for word, value in words.association.items()}
