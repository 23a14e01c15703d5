"""A published d: what it says is arithmetic, and what it leaves out is drawn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayes_bias as bb
from bayes_bias.analyses.published import published as published_module
from bayes_bias.analyses.published.published import Design, VarianceRatios, published, simulate
from bayes_bias.errors import MeasureError
from bayes_bias.table.association_table import assemble
from tests.helpers import REFERENCE, WEATS, says

# Attributes hardly vary, and tables of all studies are alike.
NO_OTHERS = VarianceRatios(
    pd.DataFrame(
        {
            f"{side}_{name}": [value] * 200
            for side, mean in (("targets", 0.0), ("attributes", -40.0))
            for name, value in (("mean", mean), ("slope", 0.0), ("sd_study", 0.0), ("sd_table", 0.0))
        }
    ),
    {},
)


def scores(targets: tuple[int, int], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(shift, 1, size) for shift, size in zip((0.7, 0.0), targets, strict=True)]


def effect_size(x: np.ndarray, y: np.ndarray, ddof: int) -> float:
    return float((x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=ddof))


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("targets", [(8, 8), (25, 25), (5, 11)])
def test_design_matches_t_and_correlation_of_scipy(targets, ddof):
    x, y = scores(targets)
    design = Design(effect_size(x, y, ddof), targets, (8, 8), ddof)
    assert design.t == pytest.approx(stats.ttest_ind(x, y).statistic)
    group = np.repeat([1, 0], targets)
    assert design.separation == pytest.approx(abs(stats.pearsonr(group, np.concatenate([x, y])).statistic))


@pytest.mark.parametrize(
    ("targets", "ddof", "bound"), [((8, 8), 1, 3.75**0.5), ((8, 8), 0, 2.0), ((2, 8), 1, 5.625**0.5)]
)
def test_design_bound_equals_d_without_spread(targets, ddof, bound):
    x, y = (np.full(size, value) for size, value in zip(targets, (1.0, 0.0), strict=True))
    assert effect_size(x, y, ddof) == pytest.approx(bound) == pytest.approx(Design(1.0, targets, (8, 8), ddof).bound)


def test_simulate_matches_t_interval_for_constant_attributes():
    design = Design(0.97, (8, 8), (8, 8))
    _, bias = simulate(design, NO_OTHERS, seed=1)
    half = stats.t.ppf(0.975, 14) * design.d / design.t
    assert np.quantile(bias, (0.025, 0.975)) == pytest.approx([design.d - half, design.d + half], abs=0.06)


def test_p_of_quasi_f_matches_measure():
    rng = np.random.default_rng(2)
    block = rng.normal(0, 1, (6, 7)) + rng.normal(0, 1, (6, 1)) + rng.normal(0, 1, (1, 7)) + 0.6
    groups, classes = {f"{g}{i}": g for g in "xy" for i in range(6)}, {f"{c}{j}": c for c in "ab" for j in range(7)}
    # Groups and classes vary alike, which is what d alone cannot deny.
    values = np.block([[block, -block], [-block, block]]) / 10
    table = assemble(values, groups, classes, {"x": "a", "y": "b"}, name="even")
    quasi_f = bb.measures.quasi_f(table)
    noise = quasi_f.sources.groupby("source").variance.sum()
    design = Design(bb.measures.weat(table).effect_size, (6, 6), (7, 7))
    unit = noise["targets"] / design.of_targets
    attributes = noise["attributes"] / design.of_attributes / unit
    pairs = noise["residual"] / design.of_targets / design.of_attributes / unit
    p = published_module._p_of_quasi_f(design, np.array([attributes]), np.array([pairs]))
    assert p == pytest.approx(quasi_f.p_value)


def test_probability_increases_with_d_and_length_of_lists():
    ratios = VarianceRatios.shipped()
    by_d = [simulate(Design(d, (8, 8), (8, 8)), ratios, 1)[0].mean() for d in (0.5, 1.0, 1.4, 1.8)]
    by_length = [simulate(Design(1.0, (n, n), (n, n)), ratios, 1)[0].mean() for n in (4, 8, 16, 32)]
    assert sorted(by_d) == by_d
    assert sorted(by_length) == by_length


def test_probability_predicts_published_ds_better_than_baselines():
    """Table 1 of Caliskan et al. (2017), all ten significant by WEAT's test; what is true is said by the vectors."""
    numbers = pd.read_csv(REFERENCE / "published_numbers.csv")
    reported = numbers[numbers.group == "WEAT GloVe840B"].set_index("quantity").published
    predicted, found = [], []
    for name in WEATS:
        table = bb.cosines(name, REFERENCE / "glove840b_weat_items.npz", controls=())
        sizes = [tuple(np.bincount(index).tolist()) for index in (table.group_index, table.class_index)]
        by_study, _ = simulate(Design(float(reported[f"{name.upper()} d"]), *sizes), VarianceRatios.shipped(), 1)
        predicted.append(by_study.mean())
        found.append(bb.measures.quasi_f(table).p_value < 0.05)
    brier = ((np.array(predicted) - found) ** 2).mean()
    assert brier < 0.6 * np.var(found)
    assert brier < 1 - np.mean(found)


def test_published_returns_same_finding_for_same_seed():
    finding = published(0.97, (8, 8), (8, 8))
    assert says(
        finding.text, "WEAT's d of 0.97 8 + 8 targets 8 + 8 attributes distinguishable units of d tables studies"
    )
    assert finding == published(0.97, (8, 8), (8, 8), seed=1) != published(0.97, (8, 8), (8, 8), seed=2)
    assert finding.lower < 0 < finding.upper
    assert "ci95_lb" in finding.to_markdown()
    mirrored = published(-0.97, (8, 8), (8, 8))
    assert mirrored.t == -finding.t
    assert mirrored.studies == finding.studies


def test_published_omits_probability_without_reliable_evidence(monkeypatch):
    short = published(1.0, (2, 2), (8, 8))
    assert short.probability is None
    assert says(short.text, "no probability targets words")
    shipped = VarianceRatios.shipped()
    row = {"to": 1.0, "predicted": 0.5, "observed": 0.5, "tables": 9, "studies": 9}
    for changes, why in (({}, ""), ({"studies": 4}, "four studies"), ({"observed": 0.61}, "61%")):
        ratios = replace(shipped, learnt_from={**shipped.learnt_from, "reliability": [row | changes]})
        monkeypatch.setattr(VarianceRatios, "shipped", lambda ratios=ratios: ratios)
        finding = published(1.0, (8, 8), (8, 8))
        assert why in finding.why
        assert (finding.probability is None) == bool(why)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"d": float("nan")}, "d: nan finite"),
        ({"d": float("inf")}, "d: inf finite"),
        ({"d": "0.97"}, "d: '0.97' number"),
        ({"d": 2.1}, "d: 2.1 8 + 8 1.936"),
        ({"d": -1.95}, "d: -1.95 1.936"),
        ({"d": 2.0, "ddof": 0}, "d: 2.0 ddof=0 below 2"),
        ({"ddof": 2}, "ddof: 2"),
        ({"targets": (1, 8)}, "targets: 1 2 or more"),
        ({"attributes": (8, 1)}, "attributes: 1 2 or more"),
        ({"attributes": (0, 8)}, "attributes: 0 2 or more"),
        ({"targets": (8.5, 8)}, "targets: 8.5 whole"),
        ({"targets": (8, 8, 8)}, "targets: three two groups (8, 8)"),
        ({"attributes": 8}, "attributes: one two classes (8, 8)"),
        ({"targets": None}, "targets: None (8, 8)"),
        ({"seed": -1}, "seed: -1"),
    ],
)
def test_published_raises_for_bad_input_in_one_line(given, said):
    with pytest.raises((MeasureError, bb.errors.BayesBiasError)) as refused:
        published(**{"d": 0.97, "targets": (8, 8), "attributes": (8, 8)} | given)
    assert says(str(refused.value), said)
    assert "\n" not in str(refused.value)


def test_published_command_prints_sentence_and_rejects_bad_input(run):
    lists = ("--targets", "8", "8", "--attributes", "8", "8")
    code, out, _ = run("published", "--d", "-0.97", *lists)
    assert code == 0
    assert says(out.replace("\n", " "), "−0.97 8 + 8 targets")
    for wrong in (
        ("--d", "nan", *lists),
        ("--d", "2.2", *lists),
        ("--d", "1", "--targets", "8", "8", *lists[:2], "1", *lists[3:]),
    ):
        code, _, err = run("published", *wrong)
        assert code == 2
        assert err.count("\n") == 1
