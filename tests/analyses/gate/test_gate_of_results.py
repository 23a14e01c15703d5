"""Gates of sentence pairs and of answers: decisions beside the rule, baselines, and errors."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.estimands import estimated_shares
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.errors import AnswersError, BayesBiasError, ScopeError, SentencePairsError, TableError
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
@pytest.mark.parametrize("rope", [0.001, 0.05, 0.08, 0.12, 0.2, 0.25, 0.3, 0.45])
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
    gates = {name: bb.check(result, rope=0.4) for name, result in (("none", none), ("planted", planted))}
    for name, gate in gates.items():
        text = json.dumps(gate.to_dict(), allow_nan=False)
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    grown = bb.check(planted, rope=0.05, baseline=tmp_path / "none.json")
    assert grown.outcome == "fail"
    assert grown.table.equals(bb.check(planted, rope=0.05, baseline=gates["none"]).table)
    assert says(grown.text, "fail raw bias change grown independent wider than necessary")
    # The table has the same upper bound as the sentence.
    bound = f"{grown.table.fails_at_twice.item():.0%}"
    assert f"of 0.1 in at most {bound} of checks" in grown.text
    assert f"≤ {bound} |" in grown.to_markdown()
    assert "≤" not in gates["none"].to_markdown()
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
    baseline = bb.check(small, rope=0.4)
    assert bb.check(negative, rope=0.05, baseline=baseline).outcome == "fail"
    assert bb.check(small, rope=0.05, baseline=bb.check(negative, rope=0.4)).outcome == "pass"


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
    with refused(BayesBiasError, "baseline cannot be combined change without `after`"):
        bb.check(change, rope=0.1, baseline=bb.check(none_in_answers, rope=0.4))
    with refused(BayesBiasError, "mixes changes with other results"):
        bb.check([change, none_in_answers], rope=0.1)
    pairs(0.0).to_csv(tmp_path / "scores.csv", index=False)
    with refused(TableError, "is not the .json file of a check pair two releases `after` of `estimate`"):
        bb.check(none_in_pairs, rope=0.1, baseline=tmp_path / "scores.csv")
    with refused(TableError, "damaged word list KeyError"):
        bb.check(none_in_pairs, rope=0.1, baseline=bb.check(table, rope=1))
    with refused(TableError, "damaged KeyError"):
        bb.check(table, rope=0.1, baseline=_renamed(bb.check(none_in_pairs, rope=0.4), tmp_path))
    with refused(TableError, "unit 'D"):
        bb.check(none_in_pairs, rope=0.1, baseline=bb.check(none_in_answers, rope=0.4))
    content = bb.check(none_in_pairs, rope=0.4).to_dict()
    content["measured"]["pairs"]["quantiles"][0] = None
    (tmp_path / "damaged.json").write_text(json.dumps(content), encoding="utf-8")
    with refused(TableError, "damaged 1,000 finite quantiles"):
        bb.check(none_in_pairs, rope=0.1, baseline=tmp_path / "damaged.json")
    two = bb.check([none_in_answers, of_answers(0.0, name="other")], rope=0.4)
    with refused(TableError, "no result 'pairs' other"):
        bb.check(none_in_pairs, rope=0.1, baseline=two)
    with refused(BayesBiasError, "rope is 5 −0.5 and +0.5 share of pairs minus one half could not fail"):
        bb.check(none_in_pairs, rope=5)
    with refused(BayesBiasError, "rope is 1 −1 and +1 in D could not fail"):
        bb.check(none_in_answers, rope=1)


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


def releases(change, *, start=0.3, number=200, kept=0.7, seed=3):
    """Scores of the same pairs in two releases, whose preferences are correlated and differ by `change`."""
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(0, kept, number), rng.normal(0, np.sqrt(1 - kept**2), (2, number))
    return [
        pd.DataFrame({"item": np.arange(number), "difference": shared + each + mean})
        for each, mean in zip(own, (start, start + change), strict=True)
    ]


@pytest.mark.slow
def test_paired_gate_passes_without_change_and_fails_at_twice_the_rope_but_not_for_shrinkage():
    rope, start = 0.08, 0.3
    # Preferences that change the share from .62 by nothing, by twice the rope, and to .46.
    for change, outcome in ((0.0, "pass"), (0.57, "fail"), (-0.4, "pass")):
        before, after = releases(change, start=start, kept=0.98, number=400)
        result = bb.sentence_pairs.estimate(before, after, sampling=ENOUGH, name="pairs")
        gate = bb.check(result, rope=rope)
        row = gate.table.iloc[0]
        assert gate.outcome == outcome, change
        share = result.row("share")
        assert row["mean"] == pytest.approx(share["mean"], abs=1e-3)
        assert row.observed - row.before == pytest.approx(share.observed, abs=1e-12)
        independent = bb.check(result.after, rope=rope, baseline=bb.check(result.before, rope=rope))
        apart = independent.table.iloc[0]
        assert row.eti90_ub - row.eti90_lb < 0.7 * (apart.eti90_ub - apart.eti90_lb)
        assert says(gate.text, "same pairs compared with itself")
        assert independent.outcome in (outcome, "cannot tell")
    later = bb.check(result.after, rope=rope, baseline=gate)
    assert says(later.text, "pass same as in the baseline")


def test_paired_gate_of_answers_passes_or_fails_planted_changes():
    for change, outcome in ((0.0, "pass"), (0.5, "fail"), (-0.3, "pass")):
        first = answers(600, mean=0.3, sd_label=0.05, seed=1)
        second = answers(600, mean=0.3 + change, sd_label=0.05, seed=2)
        result = bb.answers.estimate(first, LIST, second)
        gate = bb.check(result, rope=0.25)
        row = gate.table.iloc[0]
        assert gate.outcome == outcome, change
        assert row["mean"] == pytest.approx(result.table["mean"].item(), abs=1e-3)
        assert row.observed - row.before == pytest.approx(result.table.observed.item(), abs=1e-12)
        assert outcome != "fail" or says(gate.text, "The probability that the size of the bias has grown by more")
    same = bb.check(bb.answers.estimate(first, LIST, first), rope=1e-9)
    assert says(same.text, "pass same as in the baseline")


def test_paired_gate_of_answers_rejects_models_without_answers_before():
    first, second = answers(60, mean=0.3), answers(60, mean=0.3, seed=2)
    before = pd.concat([first.assign(model="a"), second.assign(model="b")])
    after = pd.concat([first.assign(model="a"), second.assign(model="c")])
    with refused(AnswersError, "answers of 'c' none before same models"):
        bb.check(bb.answers.estimate(before, LIST, after), rope=0.1)


@pytest.mark.slow
def test_check_command_pairs_a_table_of_the_last_release(run, tmp_path):
    before, after = releases(0.6, kept=0.98)
    files = {"before": before, "after": after, "other": before.assign(item=before["item"] + 900)}
    files["missing"] = before.drop(columns="item")
    for name, frame in files.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    options = ("--rope", 0.05, "--draws", 800, "--quiet")
    base, table = tmp_path / "gate.json", tmp_path / "before.csv"
    paired = ("check", "--pairs", tmp_path / "after.csv", *options)
    code, out, _ = run(*paired, "--baseline", table, "--json", base)
    assert code == 1
    assert says(out, "pairs: fail compared with itself")
    gate = json.loads(base.read_text())["results"]["gate"]
    assert gate["baseline"] == {"file": str(table), "sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
    code, out, _ = run(*paired, "--baseline", tmp_path / "after.csv")
    assert code == 0
    assert says(out, "same as in the baseline")
    assert run(*paired, "--baseline", base)[0] == 0  # the file of a paired check is the next baseline
    of_words = tmp_path / "words.json"
    assert run("check", "weat7", "--rope", 0.2, "--json", of_words)[0] == 0
    for baseline, message in (
        (tmp_path / "other.csv", "--baseline pairs in one of them only"),
        (tmp_path / "missing.csv", "--baseline no column 'item'"),
        (of_words, "belongs to a word list"),
        (tmp_path / "none.csv", "File not found none.csv"),
    ):
        code, _, error = run(*paired, "--baseline", baseline)
        assert code == 2
        assert says(error, message)
    code, _, error = run("check", "weat7", "--rope", 0.2, "--baseline", table)
    assert code == 2
    assert says(error, "not the .json file of a check --pairs")


def test_gate_omits_the_width_of_an_interval_if_all_values_are_the_same():
    result = of_answers(0.3)
    same = bb.check(result, rope=0.1, baseline=bb.check(result, rope=0.1))
    assert says(same.text, "same as in the baseline")
    assert "wider than necessary" not in same.text


def test_check_command_names_the_file_of_an_error_and_no_option_that_it_lacks(run, tmp_path):
    good, two = releases(0.1)
    pd.concat([good.assign(model="a"), two.assign(model="b")]).to_csv(tmp_path / "two.csv", index=False)
    good.to_csv(tmp_path / "good.csv", index=False)
    good.assign(item=good["item"] + 1).to_csv(tmp_path / "moved.csv", index=False)
    for new, old, message in (
        ("two", "good", "'two.csv': 2 models check no --of Pass a result of `estimate` to `bb.check`"),
        ("good", "two", "--baseline 'two.csv': 2 models"),
        ("good", "moved", "'good.csv' after --baseline 'moved.csv': one of them only"),
    ):
        code, _, error = run(
            "check", "--pairs", tmp_path / f"{new}.csv", "--baseline", tmp_path / f"{old}.csv", "--rope", 0.1
        )
        assert code == 2
        assert says(error.replace(f"{tmp_path}/", ""), message)
    code, _, error = run("check", "--pairs", tmp_path / "none.csv", "--rope", 0.1)
    assert (code, "--of" in error) == (2, False)


def test_check_command_reads_logs_of_the_harness(run, tmp_path):
    (tmp_path / "samples.jsonl").write_text('{"doc": {"a": 1}, "filtered_resps": [[-1], [-2]]}\n', encoding="utf-8")
    code, _, error = run("check", "--pairs", tmp_path / "samples.jsonl", "--rope", 0.1)
    assert code == 2
    assert says(error, "samples.jsonl, line 1 is of another task")


def test_json_lines_are_named_instead_of_quoted_as_a_column(tmp_path):
    for name in ("log.csv", "log.jsonl"):
        (tmp_path / name).write_text('{"doc_id": 0, "resps": [1, 2]}\n' * 2, encoding="utf-8")
        with refused(SentencePairsError, "contains JSON lines `bayes_bias.sentence_pairs.lm_eval`") as found:
            read_scores(tmp_path / name)
        assert "doc_id" not in str(found.value)


def test_change_of_scores_in_other_units_raises_error():
    scores = pd.DataFrame({"item": range(40), "score_more": np.linspace(2, 9, 40), "score_less": np.linspace(9, 2, 40)})
    before, after = (read_scores(scores, unit=unit) for unit in ("perplexity", "loss"))
    with refused(SentencePairsError, "differences in nats, but before in nats per token"):
        bb.sentence_pairs.estimate(before, after)


def _toml(folder):
    lines = []
    for table in ("groups", "classes", "stereotypes"):
        lines += [f"[{table}]", *(f"{name} = {json.dumps(words)}" for name, words in LIST[table].items())]
    (folder / "words.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "words.toml"
