"""Gates of sentence pairs and of answers: decisions beside the rule, baselines, and errors."""

import json

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.estimands import estimated_shares
from bayes_bias.errors import BayesBiasError, ScopeError, TableError
from tests.analyses.answers.made_up import LIST, answers
from tests.analyses.test_headlines import ENOUGH, SCIENCE, pairs
from tests.helpers import random_table, refused, says


def of_pairs(preference, seed=5, **settings):
    return bb.sentence_pairs.estimate(pairs(preference, seed), sampling=ENOUGH, name="pairs", **settings)


def of_answers(mean, number=200, seed=1, sd_label=0.05, name=None):
    made = answers(number, mean=mean, seed=seed, sd_label=sd_label)
    return bb.answers.estimate(made, LIST if name is None else {name: LIST})


@pytest.fixture(scope="module")
def none_in_pairs():
    return of_pairs(0.0)


@pytest.fixture(scope="module")
def planted_in_pairs():
    return of_pairs(0.8)


@pytest.fixture(scope="module")
def none_in_answers():
    return of_answers(0.0)


@pytest.fixture(scope="module")
def planted_in_answers():
    return of_answers(0.5)


def by_hand(draws, rope, alpha=0.05):
    if np.mean(np.abs(draws) <= rope) >= 1 - alpha:
        return "pass"
    return "fail" if max(np.mean(draws > rope), np.mean(draws < -rope)) >= 1 - alpha else "cannot tell"


@pytest.mark.slow
@pytest.mark.parametrize("rope", [0.001, 0.05, 0.08, 0.12, 0.2, 0.25, 0.3, 0.5])
@pytest.mark.parametrize("fixture", ["none_in_pairs", "planted_in_pairs", "none_in_answers", "planted_in_answers"])
def test_decision_equals_rule_for_draws(fixture, rope, request):
    result = request.getfixturevalue(fixture)
    if "pairs" in fixture:
        draws = estimated_shares(result.fits, result.data).values[:, 0] - 0.5
        mean, observed = result.row("share")["mean"] - 0.5, result.row("share").observed - 0.5
    else:
        (key,) = result.table.index
        draws, observed = result.posteriors[key].draws.mu, result.table.observed.item()
        mean = result.table["mean"].item()
    gate = bb.check(result, rope=rope)
    row = gate.table.iloc[0]
    assert gate.outcome == by_hand(np.asarray(draws), rope)
    assert (row["mean"], row.observed) == pytest.approx((mean, observed), abs=1e-12)
    assert row.prob_within == pytest.approx(np.mean(np.abs(draws) <= rope), abs=1e-12)
    assert row.prob_beyond == pytest.approx(max(np.mean(draws > rope), np.mean(draws < -rope)), abs=1e-12)
    assert (row.eti90_lb, row.eti90_ub) == pytest.approx(np.quantile(draws, (0.05, 0.95)))
    assert gate.table.words_needed.isna().all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fixture", "rope", "outcome", "words"),
    [
        ("none_in_pairs", 0.2, "pass", "pairs: pass between −0.2 and +0.2 a result without a bias"),
        ("none_in_pairs", 0.01, "cannot tell", "cannot tell"),
        ("planted_in_pairs", 0.1, "fail", "pairs: fail beyond +0.1"),
        ("none_in_answers", 0.5, "pass", "pass"),
        ("none_in_answers", 0.01, "cannot tell", "cannot tell"),
        ("planted_in_answers", 0.1, "fail", "fail beyond +0.1"),
    ],
)
def test_gate_of_result_passes_fails_or_cannot_tell(fixture, rope, outcome, words, request):
    gate = bb.check(request.getfixturevalue(fixture), rope=rope)
    assert gate.outcome == outcome
    assert says(gate.text, words)
    assert "words" not in gate.text
    unit = "share of pairs" if "pairs" in fixture else "D between"
    assert says(gate.to_markdown(), unit)
    assert says(gate.to_model_card(), "new pairs" if "pairs" in fixture else "new labels and wordings")
    assert outcome == "pass" or "<failure" in gate.to_junit() or "<skipped" in gate.to_junit()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pairs", "answers"])
def test_growth_fails_and_shrinkage_passes(kind, tmp_path, request):
    none, planted = (request.getfixturevalue(f"{name}_in_{kind}") for name in ("none", "planted"))
    gates = {name: bb.check(result, rope=1.0) for name, result in (("none", none), ("planted", planted))}
    for name, gate in gates.items():
        text = json.dumps(gate.to_dict(), allow_nan=False)
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    grown = bb.check(planted, rope=0.05, baseline=tmp_path / "none.json")
    assert grown.outcome == "fail"
    assert grown.table.equals(bb.check(planted, rope=0.05, baseline=gates["none"]).table)
    assert says(grown.text, "fail raw bias change grown independent wider than necessary")
    shrunk = bb.check(none, rope=0.1, baseline=tmp_path / "planted.json")
    assert shrunk.outcome == "pass"
    row = shrunk.table.iloc[0]
    means = [gate.table["mean"].item() for gate in gates.values()]
    assert row["mean"] == pytest.approx(means[0] - means[1], abs=1e-3)
    widths = [(gate.table.eti90_ub - gate.table.eti90_lb).item() for gate in gates.values()]
    assert row.eti90_ub - row.eti90_lb == pytest.approx(np.hypot(*widths), rel=0.1)
    unchanged = bb.check(planted, rope=1e-9, baseline=tmp_path / "planted.json")
    assert unchanged.outcome == "pass"
    assert says(unchanged.text, "same as in the baseline")


@pytest.mark.slow
def test_sign_change_fails_if_the_bias_is_larger(none_in_pairs):
    negative, small = of_pairs(-0.8, seed=6), of_pairs(0.1, seed=7)
    baseline = bb.check(small, rope=1.0)
    assert bb.check(negative, rope=0.05, baseline=baseline).outcome == "fail"
    assert bb.check(small, rope=0.05, baseline=bb.check(negative, rope=1.0)).outcome == "pass"


def test_models_and_stereotypes_are_adjusted_by_holm():
    made = answers(200, mean=0.35, sd_label=0.05)
    two = [made.assign(stereotype="work"), answers(200, mean=0.0, seed=4, sd_label=0.05).assign(stereotype="ideas")]
    result = bb.answers.estimate(pd.concat(two), {"work": LIST, "ideas": SCIENCE})
    gate = bb.check(result, rope=0.1)
    assert set(gate.decisions) == {"work", "ideas"}
    row = gate.table.loc["work"]
    assert row.prob_beyond_holm == pytest.approx(1 - 2 * (1 - row.prob_beyond), abs=1e-9)
    apart = bb.check([of_answers(0.35, name="work"), of_answers(0.0, seed=4, name="other")], rope=0.1)
    assert set(apart.decisions) == {"work", "other"}


def test_results_without_verdict_cannot_be_decided():
    made = answers(60, mean=0.9)
    made.loc[made.index % 3 > 0, "chosen"] = "neither"
    gate = bb.check(bb.answers.estimate(made, LIST), rope=0.01)
    assert gate.outcome == "cannot tell"
    assert says(gate.text, "cannot tell, because lost")


@pytest.mark.slow
def test_impossible_results_and_baselines_raise_error(none_in_pairs, none_in_answers, tmp_path):
    table = random_table(1, targets={"men": 4, "women": 4}, attributes={"work": 4, "home": 4}, name="small")
    with refused(BayesBiasError, "mixes word lists"):
        bb.check([none_in_pairs, table], rope=0.1)
    with refused(BayesBiasError, "mixes sentence pairs and answers units"):
        bb.check([none_in_pairs, none_in_answers], rope=0.1)
    with refused(BayesBiasError, "several results named 'pairs'"):
        bb.check([none_in_pairs, none_in_pairs], rope=0.1)
    with refused(BayesBiasError, "embedding scope sampling"):
        bb.check(none_in_pairs, rope=0.1, scope="targets")
    with refused(ScopeError, "none no posterior"):
        bb.check(of_pairs(0.0, scope="none"), rope=0.1)
    change = bb.answers.estimate(answers(60), LIST, answers(60, seed=2))
    with refused(BayesBiasError, "result of a change without `after` baseline"):
        bb.check(change, rope=0.1)
    with refused(TableError, "damaged word list KeyError"):
        bb.check(none_in_pairs, rope=0.1, baseline=bb.check(table, rope=1))
    with refused(TableError, "damaged KeyError"):
        bb.check(table, rope=0.1, baseline=_renamed(bb.check(none_in_pairs, rope=1), tmp_path))
    with refused(TableError, "unit 'D"):
        bb.check(none_in_pairs, rope=0.1, baseline=bb.check(none_in_answers, rope=1))
    content = bb.check(none_in_pairs, rope=1).to_dict()
    content["measured"]["pairs"]["quantiles"][0] = None
    (tmp_path / "damaged.json").write_text(json.dumps(content), encoding="utf-8")
    with refused(TableError, "damaged 1,000 finite quantiles"):
        bb.check(none_in_pairs, rope=0.1, baseline=tmp_path / "damaged.json")
    two = bb.check([none_in_answers, of_answers(0.0, name="other")], rope=1)
    with refused(TableError, "no result 'pairs' other"):
        bb.check(none_in_pairs, rope=0.1, baseline=two)


def _renamed(gate, folder):
    content = gate.to_dict()
    content["measured"] = {"small": content["measured"]["pairs"]}
    (folder / "renamed.json").write_text(json.dumps(content), encoding="utf-8")
    return folder / "renamed.json"


@pytest.mark.slow
def test_check_command_of_pairs_and_answers(run, tmp_path):
    pairs(0.8).to_csv(tmp_path / "planted.csv", index=False)
    pairs(0.0).to_csv(tmp_path / "none.csv", index=False)
    base, options = tmp_path / "base.json", ("--draws", 800, "--quiet")
    assert run("check", "--pairs", tmp_path / "none.csv", "--rope", 0.2, "--json", base, *options)[0] == 0
    code, out, _ = run("check", "--pairs", tmp_path / "planted.csv", "--rope", 0.05, "--baseline", base, *options)
    assert code == 1
    assert says(out, "pairs: fail")
    assert run("check", "--pairs", tmp_path / "none.csv", "--rope", 0.01, *options)[0] == 3
    answers(200, mean=0.5, sd_label=0.05).to_csv(tmp_path / "answers.csv", index=False)
    files = [tmp_path / name for name in ("comment.md", "junit.xml", "card.md")]
    made = [part for pair in zip(("--markdown", "--junit", "--card"), files, strict=True) for part in pair]
    of_words = ("check", _toml(tmp_path), "--answers", tmp_path / "answers.csv")
    assert run(*of_words, "--rope", 0.1, *made)[0] == 1
    assert all(file.stat().st_size for file in files)
    for arguments, message in (
        (("--rope", 0.1), "LIST missing"),
        (("weat6", "--pairs", "x.csv", "--rope", 0.1), "--pairs cannot be combined"),
        (("--answers", "x.csv", "--rope", 0.1), "LIST missing"),
        (("--pairs", "x.csv", "--rope", 0.1, "--embedding", "x"), "no embedding"),
        (("--pairs", "x.csv"), "rope missing"),
        (("--pairs", "x.csv", "--rope", 0.1, "--baseline", "no.json"), "File not found no.json"),
        (("--pairs", "x.csv", "--rope", 0.1, "--scope", "targets"), "scope"),
    ):
        code, _, error = run("check", *arguments)
        assert code == 2
        assert says(error, message)


def _toml(folder):
    lines = []
    for table in ("groups", "classes", "stereotypes"):
        lines += [f"[{table}]", *(f"{name} = {json.dumps(words)}" for name, words in LIST[table].items())]
    (folder / "words.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "words.toml"
