"""Each debiasing method equals its authors' program, or its closed form; see `reference/debiasing`."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from importlib import import_module
from itertools import batched, chain
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.decomposition import PCA

import bayes_bias as bb
from bayes_bias.debiasing import (
    INLP,
    LEACE,
    RAN,
    Conceptor,
    Debiaser,
    Debiasing,
    DoubleHardDebias,
    HalfSiblingRegression,
    HardDebias,
    LinearProjection,
    OSCaR,
    PartialProjection,
    SoftDebias,
    debias_hard,
    debias_ran,
    debiaser_names,
    make_debiaser,
)
from bayes_bias.debiasing.debias_ran import indirect_bias
from bayes_bias.debiasing.debiaser import BLOCK
from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.measures import bias_towards, defining_subspace
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets
from tests.helpers import Vectors, numbered, random_vectors, refused, stacked, unit

PAIRS = [("she", "he"), ("woman", "man"), ("girl", "boy"), ("mother", "father")]
PAIRED = list(chain(*PAIRS))
# Three groups with neutral words among them, as `reference/debiasing/oracles.py` has them.
GROUPS = [
    ["she", "woman", "girl", "mother", "w0", "w1"],
    ["he", "man", "boy", "father", "w2", "w3"],
    ["w4", "w5", "w6"],
]
TRIPLES = [("she", "he", "w0"), ("woman", "man", "w1"), ("girl", "boy", "w2")]
SETS = {"defining_sets": PAIRS, "independent": numbered("w", 20)[10:]}
NEUTRAL = numbered("w", 40)


@pytest.fixture(scope="module")
def oracles() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parents[1] / "reference" / "debiasing" / "oracles.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def vectors(oracles: dict[str, np.ndarray]) -> Vectors:
    return dict(zip(oracles["words"].tolist(), oracles["vectors"], strict=True))


@pytest.mark.parametrize(
    ("oracle", "method", "sets"),
    [
        ("hard", HardDebias(equalize=True), PAIRS),
        ("hard-3", HardDebias(components=2, equalize=True), TRIPLES),
        ("linear-projection", LinearProjection(), SETS),
        ("half-sibling", HalfSiblingRegression(alpha=5.0), {"defining_sets": PAIRS}),
        ("conceptor", Conceptor(), {"defining_sets": PAIRS}),
        ("inlp", INLP(iterations=3), SETS),
        ("inlp-3", INLP(iterations=2), {"groups": GROUPS}),
        ("leace", LEACE(shrinkage=False), SETS),
        ("leace-shrunk", LEACE(), {"groups": GROUPS[:2]}),
        ("leace-3", LEACE(), {"groups": GROUPS}),
        ("oscar", OSCaR(), SETS),
        ("soft", SoftDebias(strength=3), SETS),
    ],
)
def test_debiaser_matches_program_of_authors(
    oracle: str, method: Debiaser, sets: GivenSets, oracles: dict[str, np.ndarray], vectors: Vectors
) -> None:
    debiased = method.fit_transform(vectors, sets)
    assert list(debiased) == list(vectors)
    np.testing.assert_allclose(np.stack(list(debiased.values())), oracles[oracle], atol=1e-6)


def test_double_hard_matches_program_of_authors(oracles: dict[str, np.ndarray], vectors: Vectors) -> None:
    first = DoubleHardDebias(components=1, most_biased=10).fit_transform(vectors, PAIRS)
    np.testing.assert_allclose(stacked(first, NEUTRAL), oracles["double-hard-0"], atol=1e-6)
    chosen = DoubleHardDebias(components=3, most_biased=10).fit_transform(vectors, PAIRS)
    rows = stacked(chosen, NEUTRAL)
    assert [np.allclose(rows, oracles[f"double-hard-{k}"], atol=1e-6) for k in range(3)].count(True) == 1


def test_double_hard_centres_on_all_words_in_blocks() -> None:
    """The last block is short: 10 words, far from the others."""
    words = random_vectors(1, numbered("w", BLOCK + 10), 4)
    moved = {word: vector + 9 * (place >= BLOCK) for place, (word, vector) in enumerate(words.items())}
    moved |= random_vectors(2, PAIRED, 4)
    learned = DoubleHardDebias(components=1, most_biased=10).fit(moved, PAIRS).fitted
    pca = PCA(1).fit(list(moved.values()))
    assert learned.mean == pytest.approx(pca.mean_)
    assert abs(learned.frequency @ pca.components_[0]) == pytest.approx(1)


def test_ran_minimises_objective_of_authors(oracles: dict[str, np.ndarray], vectors: Vectors) -> None:
    """Better than gradient steps do, and as well as can be: at the minimum, F equals its lower bound, the dual.

    Their program weighs neutralisation as it weighs attraction.
    """
    debiased = RAN(neighbours=10, neutralization=6 / 8).fit_transform(vectors, PAIRS)
    (bias,) = defining_subspace(vectors, PAIRS)
    unit_of = unit(vectors)
    for number, word in enumerate(NEUTRAL):
        candidates = [unit_of[candidate] for candidate in unit_of if candidate != word]
        near = sorted(candidates, key=lambda row: -row @ unit_of[word])[:10]
        repelled = [row for row in near if indirect_bias(unit_of[word], row[None], bias)[0] > 0.05]
        pushes = np.array([*(np.array(repelled) / len(repelled) / 8), 6 / 8 * bias])
        pull = 3 / 8 * unit_of[word]

        def objective(new: np.ndarray, pushes: np.ndarray = pushes, pull: np.ndarray = pull) -> float:
            return np.abs(pushes @ new).sum() + 3 / 8 - pull @ new

        assert objective(oracles["ran-points"][number]) == pytest.approx(oracles["ran-at-points"][number], abs=1e-12)
        least = objective(debiased[word])
        assert least <= oracles["ran"][number] + 1e-12
        shares = lsq_linear(pushes.T, pull, bounds=(-1, 1), tol=1e-14).x
        assert least == pytest.approx(3 / 8 - np.linalg.norm(pull - shares @ pushes), abs=1e-9)


def test_partial_projection_equals_its_formula(vectors: Vectors) -> None:
    (bias,), mean = defining_subspace(vectors, PAIRS), stacked(vectors, PAIRED).mean(axis=0)
    for word, debiased in PartialProjection(sigma=0.5).fit_transform(vectors, PAIRS).items():
        residual = vectors[word] - (vectors[word] @ bias) * bias
        left = (vectors[word] - mean) @ bias * 0.25 / (np.linalg.norm(residual) + 1) ** 2
        assert debiased == pytest.approx(mean + residual + left * bias)


def test_linear_projection_of_encoder_matches_sentdebias() -> None:
    """One subspace for all templates: that of Liang et al., as bias-bench computes it from pairs of sentences."""
    encoder = bb.open_embedding("minilm-demo")
    rows = {word: row.astype(float) for word, row in encoder.all().items()}
    unit = {word: rows[word] / np.linalg.norm(rows[word], axis=1, keepdims=True) for word in PAIRED[:6]}
    deviations = [s * (unit[first] - unit[second]) / 2 for first, second in PAIRS[:3] for s in (1, -1)]
    directions = PCA(2).fit(np.vstack(deviations)).components_
    debiased = Debiasing(LinearProjection(components=2), PAIRS[:3], "SentDebias").applied(encoder)
    assert debiased.replicates == encoder.replicates
    for word, left in debiased.all().items():
        np.testing.assert_allclose(left, rows[word] - rows[word] @ directions.T @ directions, atol=1e-6)
    with refused(MeasureError, "heroine"):
        Debiasing(LinearProjection(), "heroine:hero").applied(encoder)


def test_half_sibling_regression_matches_conceptor_for_neutral_words(vectors: Vectors) -> None:
    regression = HalfSiblingRegression(alpha=2.0).fit_transform(vectors, PAIRS)
    conceptor = Conceptor(aperture=2.0).fit_transform(vectors, PAIRS)  # sqrt(8 words / alpha)
    assert stacked(regression, NEUTRAL) == pytest.approx(stacked(conceptor, NEUTRAL))
    np.testing.assert_array_equal(stacked(regression, PAIRED), stacked(vectors, PAIRED))


def test_oscar_makes_concept_orthogonal_to_bias(vectors: Vectors) -> None:
    method = OSCaR().fit(vectors, SETS)
    (bias, _), between = method.fitted
    concept = method.fitted[0].T @ [np.cos(between), np.sin(between)]
    turned = method.transform({"bias": bias, "concept": concept, **vectors})
    assert turned["concept"] @ bias == pytest.approx(0, abs=1e-12)
    assert turned["bias"] == pytest.approx(bias)
    assert np.linalg.norm(turned["w0"]) == pytest.approx(np.linalg.norm(vectors["w0"]))


def test_soft_debiasing_ranges_from_none_to_projection(vectors: Vectors) -> None:
    (bias,) = defining_subspace(vectors, PAIRS)
    left = [bias @ SoftDebias(strength).fit(vectors, PAIRS).fitted @ bias for strength in (1e-6, 1e9)]
    assert left == pytest.approx([1, 0], abs=1e-3)


def test_leace_returns_equal_means_for_groups(vectors: Vectors) -> None:
    debiased = LEACE().fit_transform(vectors, {"groups": GROUPS})
    means = [stacked(debiased, group).mean(axis=0) for group in GROUPS]
    assert means[0] == pytest.approx(means[1])
    assert means[0] == pytest.approx(means[2])


def test_leace_learns_from_most_biased_words_of_vocabulary(vectors: Vectors) -> None:
    method = LEACE(most_biased=5)
    assert method.needs_vocabulary
    debiased = method.fit_transform(vectors, PAIRS)
    female, male = map(list, zip(*PAIRS, strict=True))
    bias = bias_towards(vectors, [word for word in vectors if word not in PAIRED], {"female": female, "male": male})
    groups = [female + bias.female.nlargest(5).index.tolist(), male + bias.male.nlargest(5).index.tolist()]
    by_words = LEACE().fit_transform(vectors, {"groups": groups})
    np.testing.assert_allclose(stacked(debiased, NEUTRAL), stacked(by_words, NEUTRAL), atol=1e-6)


METHODS = {name: make_debiaser(name, {}) for name in debiaser_names() if name not in ("double-hard", "inlp")} | {
    "double-hard": DoubleHardDebias(components=2, most_biased=5),
    "inlp": INLP(iterations=2),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_keep_words_order_precision_and_originals(name: str, vectors: Vectors) -> None:
    single = {word: vector.astype(np.float32) for word, vector in vectors.items()}
    before = deepcopy(single)
    method = METHODS[name].fit(single, SETS)
    debiased = method.transform(single)
    assert list(debiased) == list(single)
    assert {vector.dtype for vector in debiased.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(list(single.values()), list(before.values()))
    assert not np.allclose(stacked(debiased, NEUTRAL), stacked(single, NEUTRAL), atol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_debiasers_return_same_vectors_in_blocks(name: str, vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    together, sizes = METHODS[name].fit_transform(vectors, SETS), []
    blocks = import_module("bayes_bias.debiasing.debiaser")  # the package exports a function of the same name

    def counted(words: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
        for block in batched(words, size):
            sizes.append(len(block))
            yield block

    monkeypatch.setattr(blocks, "batched", counted)
    for module, setting, value in (
        (blocks, "BLOCK", 7),
        (debias_hard, "BLOCK", 7),
        (debias_ran, "_SIMILARITIES", 7 * len(vectors)),
    ):
        monkeypatch.setattr(module, setting, value)
    iterate_blocks = METHODS[name].fit_transform(vectors, SETS)
    assert max(sizes) == 7
    assert list(iterate_blocks) == list(together)
    np.testing.assert_allclose([*iterate_blocks.values()], [*together.values()], atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_debiasers_raise_for_missing_word_of_sets(name: str, vectors: Vectors) -> None:
    with refused(MeasureError, "hers vector"):
        METHODS[name].fit(vectors, {**SETS, "defining_sets": [*PAIRS, ("hers", "his")]})


EDGES = {
    "identical vectors": (lambda vectors: dict.fromkeys(PAIRED, vectors["w0"]), SETS),
    "collinear sets": (
        lambda v: {w: k * v[PAIRS[0][w == m]] for k, (f, m) in enumerate(PAIRS, 1) for w in (f, m)},
        SETS,
    ),
    "one set": (lambda _: {}, {**SETS, "defining_sets": PAIRS[:1]}),
}
# What is refused, by a piece of its one line; conceptors and half-sibling regression take out what words share, so that
# identical ones are as good as one.
REFUSED = {
    "identical vectors": dict.fromkeys(sorted({*METHODS} - {"conceptor", "half-sibling"}), ""),
    "collinear sets": {"inlp": "nothing remains 'she'"},
    "one set": {"inlp": "1 labelled", "leace": "1 labelled"},
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", METHODS)
def test_debiasers_return_vectors_or_raise_for_sparse_sets(edge: str, name: str, vectors: Vectors) -> None:
    special, sets = EDGES[edge]
    given = {**vectors, **special(vectors)}
    if name in REFUSED[edge]:
        with refused(MeasureError, REFUSED[edge][name]):
            METHODS[name].fit_transform(given, sets)
    else:
        debiased = METHODS[name].fit_transform(given, sets)
        assert np.linalg.norm(list(debiased.values()), axis=1).min() > 1e-3


@pytest.mark.parametrize(
    ("method", "sets", "message"),
    [
        (LinearProjection(components=2), [("she", "he")], "components 2"),
        (HardDebias(), {"groups": GROUPS}, "defining_sets"),
        (OSCaR(), PAIRS, "independent 0"),
        (INLP(iterations=35), PAIRS, "iterations 7 35 8 labelled groups most_biased"),
        (INLP(), [("she", "he")], "two group"),
        (LEACE(), [("she", "he")], "two group"),
        (LEACE(), [("she", "he"), ("mother", "father", "boy")], "defining_sets sizes groups"),
        (LEACE(most_biased=50), PAIRS, "50"),
        (DoubleHardDebias(components=9), PAIRS, "components 9 8"),
        (DoubleHardDebias(components=2), PAIRS, "500"),
    ],
)
def test_debiasers_raise_for_unsuitable_sets_or_components(
    method: Debiaser, sets: object, message: str, vectors: Vectors
) -> None:
    with refused(BayesBiasError, message):  # type: ignore[arg-type]
        method.fit(vectors, sets)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("conceptor", "aperture", 0),
        ("half-sibling", "alpha", -1),
        ("partial-projection", "sigma", "1"),
        ("inlp", "iterations", 1.5),
        ("leace", "shrinkage", "yes"),
        ("leace", "most_biased", -1),
        ("ran", "repulsion", 0),
        ("soft", "strength", 0),
        ("double-hard", "components", 0),
    ],
)
def test_make_debiaser_raises_for_invalid_setting(name: str, setting: str, value: object) -> None:
    with refused(BayesBiasError, f"{setting} {value!r}"):
        make_debiaser(name, {setting: value})


@pytest.mark.parametrize("name", METHODS)
def test_debiasers_return_no_zero_vectors(name: str) -> None:
    words = numbered("word", 60)
    vectors = random_vectors(1, [*words, *PAIRED, *SETS["independent"]], 12)
    debiased = METHODS[name].fit_transform(vectors, SETS)
    assert np.linalg.norm(stacked(debiased, words), axis=1).min() > 0


def test_read_debias_sets_reads_groups_from_sets_or_alone() -> None:
    assert read_debias_sets("she:he,woman:man").labelled == (("she", "woman"), ("he", "man"))
    assert read_debias_sets({"groups": GROUPS}).labelled == tuple(map(tuple, GROUPS))
    for groups, message in (([["she", "her"]], "groups one"), ([["she", "her"], ["he", "her"]], "'her' 2 groups")):
        with refused(BayesBiasError, message):
            read_debias_sets({"groups": groups})
