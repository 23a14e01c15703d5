"""Questions asked of frames whose answers are known by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from studies.known_bias.agreement import FIRST, SECOND, first_and_second, ranking
from studies.known_bias.asking import EQUAL_FREQUENCY, POSTERIOR
from studies.known_bias.certainty import components, findings
from studies.known_bias.corpora import draw_truth, make_corpus, truth_table
from studies.known_bias.results import KnownBias, correlation_over_trainings, mean_over_truths
from tests.studies.known_bias.helpers import short_scenario


def nested(sds: dict[str, float], seed: int = 0) -> pd.DataFrame:
    """Values of a nested design with these standard deviations."""
    rng = np.random.default_rng(seed)
    rows = []
    for truth in range(60):
        true_effect = rng.normal(0, sds["truth"])
        for corpus in range(4):
            corpus_effect = true_effect + rng.normal(0, sds["corpus"])
            rows += [
                {"truth": truth, "corpus": corpus, "half": "", "seed": seed, "value": corpus_effect + noise}
                for seed, noise in enumerate(rng.normal(0, sds["seed"], 3))
            ]
    return pd.DataFrame(rows)


def test_components_match_nested_design() -> None:
    sds = {"truth": 2.0, "corpus": 1.0, "seed": 0.5}
    found = components(nested(sds))
    assert list(found) == ["truth", "corpus", "seed"]
    for level, sd in sds.items():
        assert found[level] == pytest.approx(sd**2, rel=0.35), level


def test_mean_over_truths_counts_each_truth_once() -> None:
    rng = np.random.default_rng(1)
    truths = rng.normal(size=10)
    once = mean_over_truths(pd.Series(truths), pd.Series(range(10)))
    often = mean_over_truths(pd.Series(np.repeat(truths, 5)), pd.Series(np.repeat(range(10), 5)))
    pd.testing.assert_series_equal(once[["value", "ci95_lb", "ci95_ub"]], often[["value", "ci95_lb", "ci95_ub"]])


def test_correlation_over_trainings_has_nominal_coverage() -> None:
    covered = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truths = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=30)
        frame = pd.DataFrame(np.repeat(truths, 5, axis=0), columns=["value", "size"])
        found = correlation_over_trainings(frame.assign(truth=np.repeat(range(30), 5)), "value", "size")
        covered.append(found.ci95_lb < 0.6 < found.ci95_ub)
    assert 0.86 <= np.mean(covered) <= 0.99


def test_correlation_over_trainings_matches_numpy() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(5, 1, (40, 2)), columns=["value", "size"]).assign(truth=np.arange(40) % 8)
    found = correlation_over_trainings(frame, "value", "size")
    assert found.value == pytest.approx(np.corrcoef(frame.value, frame["size"])[0, 1], abs=1e-12)


def test_ranking_is_1_for_perfect_measure_half_for_noise() -> None:
    class Found:
        models_with_truth = pd.DataFrame(
            {
                "attribute": "gender", "model": "m", "words_per_sentence": 1, "list": "targets",
                "measure": np.repeat(["perfect", "noise"], 40), "truth": np.tile(np.arange(40), 2),
                "size": np.tile(np.arange(40.0), 2), "ci95_lb": np.nan, "ci95_ub": np.nan,
                "value": np.concatenate([np.arange(40.0), np.random.default_rng(0).normal(size=40)]),
            }
        )  # fmt: skip

    table = ranking(Found()).set_index("measure").value  # type: ignore[arg-type]
    assert table["perfect"] == 1
    assert table["noise"] == pytest.approx(0.5, abs=0.12)


def test_second_order_correlation_requires_two_group_words() -> None:
    """With one word of a group in a sentence, what goes together (first order) is not alike (second order)."""
    scenario = short_scenario(targets=100, words_per_sentence=[1, 2])
    truth = draw_truth(scenario, 0)
    r = {}
    for words in scenario.words_per_sentence:
        corpus = make_corpus(scenario, truth, words=words)
        odds = truth_table(scenario, truth, corpus).log_odds
        for order, values in first_and_second(corpus, scenario.described["gender"], scenario.words).items():
            r[order, words] = np.corrcoef(values, odds)[0, 1]
    assert r[FIRST, 1] > 0.95
    assert r[FIRST, 2] > 0.95
    assert r[SECOND, 2] > 0.9
    assert r[SECOND, 1] < 0.6


def test_first_and_second_removes_common_lean() -> None:
    """What vectors learn from compares how often words meet with how often each is said at all."""
    means = []
    for mu in (0.3, 0.7):
        scenario = short_scenario(
            targets=100, words_per_sentence=[2], truth={"scheme": "skew", "mu": [mu], "sigma": [0.1]}
        )
        corpus = make_corpus(scenario, draw_truth(scenario, 0), words=2)
        values = first_and_second(corpus, scenario.described["gender"], scenario.words)[FIRST]
        means.append((values.mean(), values.std()))
    (low, spread), (high, _) = means
    assert abs(high - low) < 0.1 * np.log(0.7 / 0.3)
    assert spread > 0.2


def test_findings_match_hand_made_frequency_cells(tmp_path: Path) -> None:
    """Cells by hand: the bias of the same shares at frequency 1 is what an interval must hold."""
    scenario = short_scenario(truth={"scheme": "skew", "mu": [0.9], "sigma": [0, 0.2], "frequency": [1, 8]})
    values = {POSTERIOR: [0.0, 0.2, 0.5, 0.7], EQUAL_FREQUENCY: [0.0, 0.0, 0.5, 0.5]}
    rows = [
        {"attribute": "gender", "list": "two groups 1", "measure": measure, "value": value, "answer": answer}
        | {"model": "cbow", "words_per_sentence": 2, "truth": truth, **cell}
        | {"ci95_lb": value - 0.1, "ci95_ub": value + 0.1, "p_value": 0.5 if value < 0.1 else 0.01}
        for measure, cells in values.items()
        for truth, (value, cell, answer) in enumerate(
            zip(cells, scenario.scheme.cells, ["no bias", "covariates", *["not covariates"] * 2], strict=True)
        )
    ]
    none = pd.DataFrame()
    known = KnownBias(scenario, tmp_path, none, none, pd.DataFrame(rows), none, none, {}, {})
    found = findings(known).set_index(["measure", "cell"])
    cells = [f"mu 0.9, sigma {sigma}, frequency {ratio}" for sigma in ("0", "0.2") for ratio in (1, 8)]
    assert found.loc[POSTERIOR].loc[cells, "value"].tolist() == [0, 1, 1, 1]
    assert found.loc[POSTERIOR].loc[cells, "covered"].tolist() == [1, 0, 1, 0]
    adjusted = found.loc[EQUAL_FREQUENCY].loc[cells]
    assert adjusted.value.tolist() == [0, 0, 1, 1]
    assert adjusted.covered.tolist() == [1, 1, 1, 1]
    assert adjusted.called_frequency.tolist() == [0, 1, 0, 0]
    assert adjusted.called_bias.tolist() == [0, 0, 1, 1]
