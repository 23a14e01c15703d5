"""The published simulations of WEAT under chance, with their slip and without."""

import numpy as np
import pytest
from scipy.stats import norm, t

from bayes_bias.errors import MeasureError
from bayes_bias.measures import chance_effect_sizes
from tests.helpers import refused


def beyond(limit: float, **options: object) -> float:
    return float((np.abs(chance_effect_sizes(draws=200_000, **options)) >= limit).mean())


def test_chance_effect_sizes_match_published_38_percent_with_slip() -> None:
    """Dobrzeniecka & Urbaniak 2024: 38% of null samples reach an effect size of 1.27; in R, mean(a, b) is mean(a).

    Reproduced in distribution: their 0.3845 is within the error of 10,000 draws, .005.
    """
    assert beyond(1.27, first_word_only=True) == pytest.approx(0.3845, abs=0.01)
    assert beyond(1.27) == pytest.approx(0.0056, abs=0.0006)


def test_corrected_share_matches_t_test() -> None:
    correlation = 1.27 / 2 * np.sqrt(16 / 15)
    statistic = correlation * np.sqrt(14 / (1 - correlation**2))
    assert beyond(1.27) == pytest.approx(2 * t.sf(statistic, 14), abs=0.0006)


# The early draft's four effect sizes: R's seed, the bias planted in its cosines and their standard deviation; what
# the draft printed, and the same with the slip corrected (tests/reference/published_numbers.csv).
DRAFT = [
    (123, 0.0, 1.0, 1.825005, 0.6480096),
    (124, 0.0, 0.001, -1.933003, -0.2199537),
    (766, 0.1, 0.05, 1.490014, 1.6767662),
    (766, 0.1, 0.1, 1.223023, 1.5529745),
]


@pytest.mark.parametrize(("seed", "bias", "sd", "printed", "corrected"), DRAFT)
def test_draft_effect_sizes_match_printed_numbers_with_slip(seed, bias, sd, printed, corrected) -> None:
    """Two words a group and five attributes a class, drawn as R draws them: target by target."""
    with_slip, without = draft_effect_sizes(bias * STEREOTYPICAL + sd * r_normal(seed, 40).reshape(4, 10))
    assert with_slip == pytest.approx(printed, abs=1e-6)
    assert without == pytest.approx(corrected, abs=1e-6)


@pytest.mark.parametrize(("sd", "printed", "corrected"), [(0.1, 1.563319, 1.558960), (0.05, 1.690664, 1.688762)])
def test_draft_distributions_match_printed_means(sd, printed, corrected) -> None:
    """D1 and D2: which draws they were is not recorded, so their means are met within the error of 1,000 draws."""
    noise = np.random.default_rng(0).standard_normal((50_000, 4, 10))
    with_slip, without = draft_effect_sizes(0.1 * STEREOTYPICAL + sd * noise)
    assert with_slip.mean() == pytest.approx(printed, abs=4 * with_slip.std() / np.sqrt(1000))
    assert without.mean() == pytest.approx(corrected, abs=4 * without.std() / np.sqrt(1000))


STEREOTYPICAL = np.repeat([[1.0, 0.0], [0.0, 1.0]], 2, axis=0).repeat(5, axis=1)


def draft_effect_sizes(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """WEAT's d for 2 + 2 words and 5 + 5 attributes, with the slip (first word of a group alone) and without."""
    scores = table[..., :5].mean(axis=-1) - table[..., 5:].mean(axis=-1)
    spread = scores.std(axis=-1, ddof=1)
    means = scores[..., :2].mean(axis=-1) - scores[..., 2:].mean(axis=-1)
    return (scores[..., 0] - scores[..., 2]) / spread, means / spread


def r_normal(seed: int, size: int) -> np.ndarray:
    """R's ``set.seed(seed); rnorm(size)``: Mersenne Twister, seeded by a congruential generator, and inversion."""
    state = []
    for _ in range(50 + 625):
        seed = (69069 * seed + 1) % 2**32
        state.append(seed)
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": np.array(state[51:], dtype=np.uint32), "pos": 624}}
    uniform = twister.random_raw(2 * size) * 2.3283064365386963e-10
    return norm.ppf((np.floor(2**27 * uniform[::2]) + uniform[1::2]) / 2**27)


def test_chance_effect_sizes_raises_for_fewer_than_two_words() -> None:
    with refused(MeasureError, "n_targets 1"):
        chance_effect_sizes(1)
