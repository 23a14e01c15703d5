"""Hard debiasing does what its papers say, no more."""

from copy import deepcopy
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.debiasing.debias_hard import HardDebias, equalize, neutralize
from bayes_bias.errors import MeasureError
from bayes_bias.measures import defining_subspace, direct_bias, same
from tests.helpers import numbered, random_vectors, refused

PAIRS = [("she", "he"), ("woman", "man")]
FAITHS = [("church", "mosque", "synagogue"), ("priest", "imam", "rabbi")]
NEUTRAL = numbered("w", 6)
WORDS = [*NEUTRAL, "queen", *chain(*PAIRS, *FAITHS)]
seeds = st.integers(0, 10_000)


@given(seed=seeds)
def test_hard_debias_removes_bias_from_neutral_words_only(seed: int) -> None:
    vectors = random_vectors(seed, WORDS, 8)
    debiased = HardDebias().fit_transform(vectors, {"defining_sets": PAIRS, "specific": ["queen"]})
    gender = defining_subspace(vectors, PAIRS)
    assert direct_bias(debiased, NEUTRAL, gender).value == pytest.approx(0, abs=1e-9)
    assert debiased["queen"] == pytest.approx(vectors["queen"] / np.linalg.norm(vectors["queen"]))
    assert list(debiased) == list(vectors)


@given(seed=seeds)
def test_equalised_pairs_are_equidistant_from_neutral_words(seed: int) -> None:
    debiased = HardDebias(equalize=True).fit_transform(random_vectors(seed, WORDS, 8), PAIRS)
    for she, he in PAIRS:
        for word in NEUTRAL:
            assert debiased[word] @ debiased[she] == pytest.approx(debiased[word] @ debiased[he])
    assert same(debiased, NEUTRAL, {"she": ["she"], "he": ["he"]}).value == pytest.approx(0, abs=1e-9)


@given(seed=seeds)
def test_hard_debias_equalises_sets_of_three_words(seed: int) -> None:
    debiased = HardDebias(2, equalize=True).fit_transform(random_vectors(seed, WORDS, 8), {"defining_sets": FAITHS})
    for word in NEUTRAL:
        closeness = [debiased[word] @ debiased[faith] for faith in FAITHS[0]]
        assert closeness == pytest.approx([closeness[0]] * 3)


@given(seed=seeds)
def test_hard_debias_returns_unit_vectors_and_keeps_originals(seed: int) -> None:
    vectors = random_vectors(seed, WORDS, 8)
    before = deepcopy(vectors)
    debiased = HardDebias(equalize=True).fit_transform(vectors, PAIRS)
    assert np.linalg.norm(list(debiased.values()), axis=1) == pytest.approx(np.ones(len(vectors)))
    np.testing.assert_array_equal(list(vectors.values()), list(before.values()))


def test_neutralize_is_idempotent() -> None:
    vectors = random_vectors(0, WORDS, 8)
    gender = defining_subspace(vectors, PAIRS)
    once = neutralize(vectors, NEUTRAL, gender)
    assert np.stack(list(neutralize(once, NEUTRAL, gender).values())) == pytest.approx(np.stack(list(once.values())))


def test_hard_debias_raises_for_unusable_words_and_components() -> None:
    vectors = random_vectors(0, WORDS, 8) | {"pure": random_vectors(0, WORDS, 8)["she"]}
    gender = defining_subspace(vectors, [("she", "he")])
    with refused(MeasureError, "'pure' subspace"):
        neutralize({"pure": gender[0]}, ["pure"], gender)
    with refused(MeasureError, "she, pure subspace"):
        equalize(vectors, ["she", "pure"], gender)
    with refused(MeasureError, "hers vector"):
        HardDebias().fit(vectors, [("hers", "his")])
    with refused(MeasureError, "components 5"):
        HardDebias(components=5).fit(vectors, {"defining_sets": FAITHS})
