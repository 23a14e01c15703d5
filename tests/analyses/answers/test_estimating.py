"""What `estimate` says of answers: the published ones, and made-up ones whose truth is known."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.cell import differences
from bayes_bias.analyses.answers.results import _OPTIMISTIC
from bayes_bias.errors import AnswersError, BayesBiasError, ScopeError, SpecError
from bayes_bias.files import table_file
from bayes_bias.plots import plot_answers, plot_label_pairs
from benchmarks.provenance import read as benchmark
from benchmarks.shares import from_to
from tests.analyses.answers.made_up import LIST, answers
from tests.helpers import html_of, refused, says, states, unlisted_columns

DEMO = "answers-demo"


@pytest.fixture(scope="module")
def some() -> bb.answers.ModelAnswers:
    """Three stereotypes of the published answers."""
    rows = pd.read_csv(table_file(DEMO), keep_default_na=False)
    return bb.answers.estimate(rows[rows.stereotype.isin(["age", "islam", "power"])], DEMO, name="three")


@pytest.fixture(scope="module")
def change() -> bb.answers.AnswersChange:
    before = answers(200, mean=0.6)
    return bb.answers.estimate(before, LIST, before.assign(chosen=answers(200, mean=-0.2, seed=2).chosen))


def test_ladder_intervals_widen_with_each_sampled_kind(some):
    islam = some.ladder.loc[("gpt4o", "islam")]
    assert ((islam.eti95_ub - islam.eti95_lb)[["words", "wordings", "all"]].diff().dropna() > 0).all()
    assert islam.eti95_lb["trials"] == pytest.approx(0.34, abs=0.02)
    assert islam.eti95_lb["all"] == pytest.approx(-0.3, abs=0.1)


def test_verdict_is_limited_to_single_pair_of_labels(some):
    row = some.table.loc[("gpt4o", "age")]
    assert row.reach == "this pair only"
    assert some.ladder.loc[("gpt4o", "age", "all")].isna().all()
    assert says(some.verdict("age"), "this pair of labels")
    assert says(some.verdict("power"), "four labels of each group few five distinguishable")


@pytest.mark.thorough
def test_estimate_matches_published_table_of_21_stereotypes():
    """Analysed for this project first by another program: 15, 15, 13 and 10, of which 13, 13, 12 and 9 upwards."""
    found = bb.answers.estimate(DEMO, DEMO)
    assert found.counts().distinguishable.tolist() == [15, 15, 13, 10]
    assert found.counts().positive.tolist() == [13, 13, 12, 9]
    assert (found.published.binomial_p < 0.05).sum() == 17
    assert (found.published.p < 0.05).sum() == 15
    assert (found.distinguishable & (found.table.reach == "this pair only")).sum() == 7
    assert found.table.one_label.sum() == 63
    science = found.table.loc[("gpt4o", "science")]
    assert [science["mean"], science.eti95_lb, science.eti95_ub] == pytest.approx([0.62, 0.36, 0.88], abs=0.05)
    career = found.table.loc[("gpt4o", "career")]
    assert [career["mean"], career.eti95_lb, career.eti95_ub] == pytest.approx([0.86, 0.62, 0.99], abs=0.04)


def test_reach_depends_on_number_of_labels_and_wordings():
    reach = []
    for labels, wordings in ((5, 3), (5, 2), (4, 3), (1, 3)):
        found = bb.answers.estimate(answers(60, labels=labels, wordings=wordings), LIST)
        reach.append(found.table.reach.iloc[0])
    assert reach == ["new labels", "few wordings", "few labels", "this pair only"]


def test_estimate_returns_row_for_each_model():
    both = pd.concat([answers(80).assign(model="one"), answers(80, mean=-0.5, seed=2).assign(model="other")])
    found = bb.answers.estimate(both, LIST)
    assert found.table.index.get_level_values("model").tolist() == ["one", "other"]
    assert found.table["mean"].iloc[0] > 0 > found.table["mean"].iloc[1]
    assert "wordlist (other)" in found.called(("other", "wordlist"))


def test_estimate_returns_change_between_paired_answers(change):
    row = change.table.iloc[0]
    assert row.observed == pytest.approx(-0.8, abs=0.2)
    assert row.eti95_lb < row.observed < row.eti95_ub < 0
    assert says(change.text, "D changed by pairs of answers distinguishable from zero")
    assert change.published.index.get_level_values("state").unique().tolist() == ["before", "after"]


def test_change_is_zero_for_identical_answers():
    table = answers(60)
    assert bb.answers.estimate(table, LIST, table.copy()).table.observed.iloc[0] == 0


def test_estimate_raises_for_other_questions_after():
    with refused(AnswersError, "after asked the same labels wording"):
        bb.answers.estimate(answers(20), LIST, answers(20).assign(wording="another"))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"scope": "labels"}, ScopeError, "scope 'labels' all wordings words trials"),
        ({"seed": -1}, SpecError, "seed"),
        ({"ci_prob": 2}, BayesBiasError, "ci_prob"),
    ],
)
def test_estimate_raises_for_impossible_options(options, error, says):
    with refused(error, says):
        bb.answers.estimate(answers(10), LIST, **options)


def test_report_page_contains_text_of_result(some, change, tmp_path):
    rendered = bb.write(some, tmp_path / "three", figures=()).read_text(encoding="utf-8")
    for result, page in ((some, rendered), (change, html_of(change))):
        assert states(page, result.text.split(". ")[0])
        assert "None" not in page
        assert not unlisted_columns(result.table, result.ladder, result.sources, result.levels, result.published)
        assert result.to_dict()["posteriors"].popitem()[1].keys() == {"pareto_k", "ess"}, "no draws in JSON"
    written = pd.read_csv(tmp_path / "three/summary.csv")
    assert len(written) == 3


@pytest.mark.parametrize("kind", ["D", "ladder", "sources", "wordings"])
def test_plot_answers_has_row_for_each_stereotype(some, kind):
    axes = plot_answers(some, kind)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["age", "islam", "power"]


def test_plot_label_pairs_has_means_of_pairs(some):
    texts = [text.get_text() for text in plot_label_pairs(some, "islam").texts]
    assert "−0.75 (7)" in texts  # church against muslim
    assert len(texts) == 16


def test_compare_returns_verdicts_of_answers_and_vectors(small_fit, sketched, tmp_path):
    asked = bb.answers.prompts("weat6")
    classes = bb.load_wordlist("weat6").classes
    reply = " - {a}\n".join([*classes["career"], ""]) + " - {b}\n".join([*classes["family"], ""])
    given = asked[["id"]].assign(reply=[reply.format(a=row.label_a, b=row.label_b) for row in asked.itertuples()])
    found = bb.answers.estimate(bb.answers.choices(asked, given, "weat6"), "weat6", name="stub")
    posterior = bb.fit(bb.cosines("weat6", "googlenews-demo"), seed=1)
    both = bb.answers.compare(found, {"GoogleNews": posterior})
    assert both.table.verdict.tolist() == ["distinguishable", "distinguishable"]
    assert both.table["mean"]["GoogleNews"] == pytest.approx(bb.summarize(posterior)["mean"]["bias"]["overall"])
    assert says(both.text, "stub GoogleNews direction of the stereotype")
    assert states(bb.write(both, tmp_path / "both", figures=()).read_text(encoding="utf-8"), "stub")
    with refused(AnswersError, "fits 'other' same list"):
        bb.answers.compare(found, {"other": small_fit})


def test_text_warns_when_labels_decide_nearly_everything():
    cells = pd.DataFrame(benchmark("answers-planted")["rows"]).query("varies == 'nearly all labels' and truth > 0.8")
    assert from_to(cells.covers) in _OPTIMISTIC
    found = bb.answers.estimate(sure_but_for_one_pair(), LIST)
    assert found.table.optimistic.iloc[0]
    assert _OPTIMISTIC in found.text


def sure_but_for_one_pair() -> pd.DataFrame:
    """All answers are stereotypical, but for those with one pair of labels, of which none is."""
    table = answers(300)
    is_other_pair = (table.label_b == "man0") & (table.label_a == "woman0")
    own = table.word.str.startswith("job") != is_other_pair
    return table.assign(chosen=table.label_b.where(own, table.label_a))


def test_result_docstrings_contain_all_fields():
    for kind in (bb.answers.ModelAnswers, bb.answers.AnswersChange, bb.answers.Agreement):
        for field in fields(kind):
            assert field.name in (kind.__doc__ or "")


def test_interval_contains_mean_of_all_labels():
    """docs/evidence/other-analyses.md has the coverage. Here, the mean of one set of labels is in the interval."""
    table = answers(300, mean=0.3, sd_label=0.3, seed=5)
    row = bb.answers.estimate(table, LIST).table.iloc[0]
    assert row.eti95_lb < 0.3 < row.eti95_ub
    assert np.isfinite(row.pareto_k)


@pytest.mark.thorough
def test_predictive_intervals_contain_d_of_held_out_labels():
    """Models are fitted to four labels of each group, and predict the mean D of pairs of two other labels."""
    covered, naive = [], []
    for seed in range(16):
        table = answers(500, mean=0.2, sd_label=0.3, seed=seed)
        number = table[["label_a", "label_b"]].apply(lambda labels: labels.str[-1].astype(int)).max(axis=1)
        smallest = table[["label_a", "label_b"]].apply(lambda labels: labels.str[-1].astype(int)).min(axis=1)
        found = bb.answers.estimate(table[number < 4], LIST)
        (posterior,) = found.posteriors.values()
        draws, rng = posterior.draws, np.random.default_rng(seed)
        sd_pair = np.sqrt(draws.sd_label_a**2 + draws.sd_label_b**2 + draws.sd_pair**2)
        (cell,) = bb.answers.estimate(table[smallest >= 4], LIST).answers.cells
        for _, replies in cell.counted.groupby(["label_a", "label_b"]):
            observed, sd_of_mean = differences(replies).mean(), draws.sd_answer / np.sqrt(len(replies))
            predicted = draws.mu + np.hypot(sd_pair, sd_of_mean) * rng.standard_normal(len(draws))
            lower, upper = np.quantile(predicted, [0.025, 0.975])
            covered.append(lower < observed < upper)
            lower, upper = np.quantile(draws.mu + sd_of_mean * rng.standard_normal(len(draws)), [0.025, 0.975])
            naive.append(lower < observed < upper)
    assert len(covered) == 64
    assert np.mean(covered) >= 0.9
    assert np.mean(naive) < np.mean(covered)
