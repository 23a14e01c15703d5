"""Decisions of a gate beside their formulas, and what it says, for biases that are known."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import bayes_bias as bb
from bayes_bias.analyses.gate.decision import Excess, overall
from bayes_bias.associations.cosines import cosines
from bayes_bias.errors import BayesBiasError, ScopeError, TableError
from bayes_bias.formatting import DASH
from bayes_bias.posterior.estimate import estimate_of
from bayes_bias.posterior.verdict import verdict_of_table
from tests.helpers import changed, random_table, refused, says

EVEN = {"targets": {"men": 8, "women": 8}, "attributes": {"work": 8, "home": 8}}


def table(bias, seed=1, name="small"):
    return random_table(seed, **EVEN, bias=bias, name=name)


def exact(of, bias):
    """The same table, whose raw bias is exactly this."""
    return changed(of, bias - bb.check(of, rope=1).table.observed.item(), noise=0.0)


NONE, SMALL, LARGE = exact(table(0.0), 0.0), exact(table(0.1), 0.05), exact(table(0.1), 0.2)


def test_probabilities_and_interval_equal_verdict():
    for of, rope in ((NONE, 0.03), (SMALL, 0.03), (LARGE, 0.1)):
        row = bb.check(of, rope=rope).table.loc["small"]
        verdict = verdict_of_table(of, ci_prob=0.9, rope=rope)
        assert row.prob_within == pytest.approx(verdict.prob_negligible, abs=1e-9)
        assert (row.eti90_lb, row.eti90_ub) == pytest.approx((verdict.lower, verdict.upper), abs=1e-6)
        assert row["mean"] == pytest.approx(verdict.mean)


@pytest.mark.parametrize(
    ("of", "rope", "outcome", "code", "words"),
    [
        (NONE, 0.05, "pass", 0, "pass bias 0.000 between −0.05 and +0.05 is above .999"),
        (NONE, 0.001, "cannot tell", 3, "cannot tell between −0.001 and +0.001 beyond"),
        (LARGE, 0.05, "fail", 1, "fail bias +0.200 beyond +0.05 is above .999"),
        (LARGE, 0.5, "pass", 0, "pass"),
        (SMALL, 0.05, "cannot tell", 3, "between beyond"),
    ],
)
def test_gate_passes_fails_or_cannot_tell(of, rope, outcome, code, words):
    gate = bb.check(of, rope=rope)
    assert (gate.outcome, gate.exit_code) == (outcome, code)
    assert says(gate.text, words)
    row = gate.table.loc["small"]
    assert {
        "pass": row.prob_within >= 0.95,
        "fail": row.prob_beyond >= 0.95 and not -rope <= row.eti90_lb <= rope and not -rope <= row.eti90_ub <= rope,
        "cannot tell": max(row.prob_within, row.prob_beyond) < 0.95,
    }[outcome]


def test_wide_posterior_never_fails_a_narrow_range():
    """Nearly all of the posterior is outside, but on both sides."""
    row = bb.check(NONE, rope=1e-6).table.loc["small"]
    assert row.prob_within < 0.01
    assert (row.outcome, row.prob_beyond) == ("cannot tell", pytest.approx(0.5, abs=0.01))


def test_negative_bias_fails_as_the_positive_does():
    negative = exact(table(0.1), -0.2)
    gate = bb.check(negative, rope=0.05)
    assert gate.outcome == "fail"
    assert says(gate.text, "bias −0.200 beyond −0.05")


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.001, 0.5))
def test_size_grows_if_both_contrasts_are_beyond_the_range(before, now, rope):
    grown = abs(now) - abs(before) > rope
    pairs = [(sign * (now - before), sign * (now + before)) for sign in (1, -1)]
    near = min(abs(abs(now) - abs(before) - rope), *(abs(x - rope) for pair in pairs for x in pair)) < 1e-9
    assert near or grown == any(min(pair) > rope for pair in pairs)


@pytest.mark.parametrize(
    ("before", "now", "outcome"),
    [
        (0.1, 0.2, "fail"),  # it grew
        (0.2, 0.1, "pass"),  # it shrank
        (0.2, -0.1, "pass"),  # it has another sign, and is smaller
        (0.1, -0.2, "fail"),  # it has another sign, and is larger
        (-0.1, -0.2, "fail"),
        (0.0, 0.2, "fail"),
        (0.0, -0.2, "fail"),
        (0.15, 0.16, "pass"),
    ],
)
def test_baseline_decides_about_the_size_of_the_bias(before, now, outcome):
    first = exact(table(0.1), before)
    second = exact(changed(first, 0.0, noise=0.01), now)
    gate = bb.check(second, rope=0.04, baseline=bb.check(first, rope=0.04))
    assert gate.outcome == outcome
    row = gate.table.loc["small"]
    assert (row.before, row.observed, row["mean"]) == pytest.approx((before, now, now - before), abs=1e-9)
    assert says(gate.text, f"{outcome} raw bias was change grown")


def test_baseline_of_the_same_table_passes_any_range():
    gate = bb.check(LARGE, rope=1e-9, baseline=bb.check(LARGE, rope=1))
    assert (gate.outcome, gate.exit_code) == ("pass", 0)
    assert says(gate.text, "pass All values are the same as in the baseline (raw bias +0.200)")
    assert gate.sight == []


def test_rates_are_missing_if_all_values_are_the_same_as_in_the_baseline():
    gate = bb.check(LARGE, rope=0.05, baseline=bb.check(LARGE, rope=1))
    rates = ["passes_at_zero", "fails_at_allowed", "fails_at_twice"]
    assert gate.table[rates].isna().all(axis=None)
    assert gate.to_dict()["table"][0]["fails_at_twice"] is None
    assert gate.to_markdown().split("|")[-2].strip() == DASH
    assert not bb.check(LARGE, rope=0.05).table[rates].isna().any(axis=None)


def test_shared_words_cancel_in_comparison_with_baseline():
    """The biases of both tables are uncertain, because of their words, but the change is not."""
    second = changed(LARGE, 0.0, noise=0.001)
    gate, alone = bb.check(second, rope=0.01, baseline=bb.check(LARGE, rope=1)), bb.check(second, rope=0.01)
    width, width_alone = (float((each.table.eti90_ub - each.table.eti90_lb).item()) for each in (gate, alone))
    assert gate.outcome == "pass"
    assert width < width_alone / 10


def test_several_lists_are_adjusted_by_holm_for_failures_alone():
    edge = next(
        bias
        for bias in np.linspace(0.03, 0.2, 200)
        if bb.check(exact(SMALL, bias), rope=0.03).table.prob_beyond.item() > 0.95
    )
    just = replace(exact(SMALL, edge), name="edge")
    assert bb.check(just, rope=0.03).outcome == "fail"
    none = exact(table(0.0, seed=2, name="none"), 0.0)
    both = bb.check([just, none], rope=0.03)
    assert both.table.prob_beyond_holm["edge"] == pytest.approx(1 - 2 * (1 - both.table.prob_beyond["edge"]))
    assert both.table.outcome.to_dict() == {"edge": "cannot tell", "none": "pass"}
    assert both.outcome == "cannot tell"
    assert says(both.text, "edge could not be decided and none passed failures adjusted two lists Holm")
    assert bb.check([replace(LARGE, name="large"), none], rope=0.03).outcome == "fail"


def test_outcome_of_several_lists():
    assert overall(["pass", "pass"]) == "pass"
    assert overall(["pass", "fail", "cannot tell"]) == "fail"
    assert overall(["pass", "cannot tell"]) == "cannot tell"


def test_rates_are_stated_and_match_shares_of_simulated_decisions():
    """Tables of one design, with known scales: the stated rates of failures average to those of decisions."""
    drawn = [bb.check(table(0.07, seed), rope=0.05) for seed in range(40)]
    stated = np.array([gate.decisions["small"].excess.rates(0.07, 0.05).fails for gate in drawn])
    failed = np.mean([gate.outcome == "fail" for gate in drawn])
    assert abs(failed - stated.mean()) < 3 * np.sqrt(stated.mean() * (1 - stated.mean()) / 40) + 0.02
    assert says(
        drawn[0].text, "passes a list without a bias fails a bias of exactly 0.05 bias of 0.1 words would be needed"
    )
    at_zero, at_allowed, at_twice = drawn[0].decisions["small"].rates
    assert at_allowed.fails <= 0.06
    assert at_zero.fails < at_allowed.fails < at_twice.fails
    assert at_zero.passes > at_allowed.passes > at_twice.passes


def test_rates_of_impossible_sizes_are_omitted():
    gate = bb.check(LARGE, rope=1.2)
    row = gate.table.loc["small"]
    assert row[["fails_at_twice", "words_needed"]].isna().all()
    assert row[["passes_at_zero", "fails_at_allowed"]].notna().all()
    assert "2.4" not in gate.to_markdown()
    (sentence,) = gate.sight
    assert sentence.endswith(f"fails a bias of exactly 1.2 in {row.fails_at_allowed:.0%} of checks.")
    # From a size of 1.9, a bias cannot grow by 0.15.
    (at_zero, *others) = replace(bb.check(LARGE, rope=0.15).decisions["small"], before=-1.9).rates
    assert at_zero.passes > 0
    assert np.isnan([rates.fails for rates in others]).all()


@pytest.mark.parametrize("ahead", [294, 237, 63, 150])  # of 300 pairs
def test_rates_of_shares_agree_with_binomial_probabilities(ahead):
    """Posteriors of shares are narrower and skewed far from one half, but rates are those of shares near one half."""
    rng = np.random.default_rng(1)
    numbers = np.arange(301)
    above, below = beta.sf(0.58, numbers + 0.5, 300.5 - numbers), beta.cdf(0.42, numbers + 0.5, 300.5 - numbers)
    draws = rng.beta(ahead + 0.5, 300.5 - ahead, 4000)
    excess = Excess((estimate_of(draws - 0.5, 0.0),), 0.08, is_share=True)
    for size in (0.0, 0.08, 0.16):
        probs = binom.pmf(numbers, 300, 0.5 + size)
        passes, fails = probs @ (above + below <= 0.05), probs @ (np.maximum(above, below) >= 0.95)
        rates = excess.rates(size, 0.05)
        assert (rates.passes, rates.fails) == pytest.approx((passes, fails), abs=0.04)


def test_result_as_json_is_baseline_of_equal_decision(tmp_path):
    gate = bb.check(["weat6", "weat7"], rope=0.05)
    file = tmp_path / "base.json"
    file.write_text(json.dumps(gate.to_dict(), allow_nan=False), encoding="utf-8")
    other = [changed(cosines(name, "googlenews-demo"), 0.02) for name in ("weat6", "weat7")]
    from_file, from_result = (bb.check(other, rope=0.01, baseline=source) for source in (file, gate))
    assert from_file.table.equals(from_result.table)
    record = json.loads(file.read_text(encoding="utf-8"))
    assert (record["schema"], record["kind"], record["outcome"], record["exit_code"]) == (
        "bayes-bias/1", "Gate", gate.outcome, gate.exit_code,
    )  # fmt: skip
    assert [row["list"] for row in record["table"]] == ["weat6", "weat7"]


def test_damaged_or_other_baselines_raise_error(tmp_path):
    content = bb.check(NONE, rope=1).to_dict()
    file = tmp_path / "base.json"

    def compare(changed_content, of=NONE):
        file.write_text(json.dumps(changed_content), encoding="utf-8")
        return bb.check(of, rope=1, baseline=file)

    assert compare(content).outcome == "pass"
    with refused(TableError, "baseline no list 'other' small"):
        compare(content, replace(NONE, name="other"))
    with refused(TableError, "baseline 'small' damaged KeyError"):
        compare(content | {"measured": {"small": {}}})
    short = content["measured"]["small"] | {"values": [[0.1]]}
    with refused(TableError, "baseline 'small' damaged shape"):
        compare(content | {"measured": {"small": short}})
    with refused(TableError, "baseline 'small' log probabilities"):
        compare(content | {"measured": {"small": content["measured"]["small"] | {"metric": "log probability"}}})
    with refused(TableError, "not the file of a check"):
        compare({"schema": "bayes-bias/1"})
    with refused(TableError, "not the file of a check"):
        compare([1])
    file.write_text("{", encoding="utf-8")
    with refused(TableError, "not valid JSON"):
        bb.check(NONE, rope=1, baseline=file)
    with refused(TableError, "File not found no.json --json"):
        bb.check(NONE, rope=1, baseline="no.json")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "rope missing 0.05"),
        ({"rope": -1}, "rope positive"),
        ({"rope": 2}, "rope is 2 every bias between −2 and +2 cosine similarity could not fail"),
        ({"rope": 0.1, "alpha": 0.5}, "alpha below 0.5"),
        ({"rope": 0.1, "alpha": 0}, "alpha above 0"),
        ({"rope": 0.1, "scope": "none"}, "scope none"),
        ({"rope": 0.1, "scope": "foo"}, "scope foo"),
    ],
)
def test_impossible_settings_raise_error(settings, words):
    with refused((BayesBiasError, ScopeError), words):
        bb.check(NONE, **settings)


def test_files_for_other_programs(tmp_path):
    gate = bb.check([replace(LARGE, name="large <&>"), NONE, replace(SMALL, name="edge")], rope=0.05)
    suite = ET.fromstring(gate.to_junit())
    assert suite.attrib == {"name": "bayes-bias check", "tests": "3", "failures": "1", "skipped": "1"}
    children = {case.get("name"): {child.tag for child in case} for case in suite}
    assert children == {
        "large <&>": {"failure", "system-out"}, "small": {"system-out"}, "edge": {"skipped", "system-out"},
    }  # fmt: skip
    assert says(gate.to_markdown(), "### Bias check: fail | list decision small pass Allowed −0.05")
    assert says(
        gate.to_model_card(), "## Bias Checked bayes-bias error probability 0.05 targets and attributes samples"
    )


def test_check_command_has_exit_codes_and_files(run, tmp_path):
    files = [tmp_path / name for name in ("base.json", "comment.md", "junit.xml", "card.md")]
    options = [part for pair in zip(("--json", "--markdown", "--junit", "--card"), files, strict=True) for part in pair]
    code, out, _ = run("check", "weat7", "--rope", "0.2", *options)
    assert code == 0
    assert says(out, "weat7: pass")
    assert all(file.stat().st_size for file in files)
    result = json.loads(files[0].read_text(encoding="utf-8"))
    assert result["command"] == "check"
    assert result["results"]["gate"] == bb.check("weat7", rope=0.2).to_dict()
    assert run("check", "weat7", "--rope", "0.001", "--baseline", files[0], "--quiet")[0] == 0
    assert run("check", "weat7", "--rope", "0.001")[0] == 3
    assert run("check", "weat1", "--rope", "0.01", "--scope", "targets")[0] == 1
    code, out, err = run("check", "weat7", "--rope", "0.2", "--junit", files[2])
    assert (code, out) == (2, "")
    assert says(err, "--junit junit.xml already exists --overwrite")
    assert run("check", "weat7", "--rope", "0.2", "--junit", files[2], "--overwrite")[0] == 0
    assert run("check", "weat7")[0] == 2
    assert not [path for path in tmp_path.iterdir() if path not in files]


@pytest.mark.slow
def test_table_with_replicates_is_sampled_and_compared(sampled):
    first = cosines("weat7", "minilm-demo", controls=())
    settings = {"rope": 0.05, "sampling": bb.Sampling(draws=300, tune=300, chains=2)}
    gate = bb.check(first, **settings)
    after = replace(first, values=first.values + 0.0)
    same = bb.check(after, **settings, baseline=gate)
    assert same.outcome == "pass"
    assert gate.table.words_needed.notna().all()
