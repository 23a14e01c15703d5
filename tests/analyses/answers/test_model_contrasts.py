"""Several models that were asked the same: which differ, and in which order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.model import SAMPLES
from bayes_bias.analyses.answers.model_contrasts import are_unequal, centre_of_models
from bayes_bias.analyses.answers.reading import with_factors
from bayes_bias.errors import AnswersError, ScopeError
from bayes_bias.plots import plot_model_contrasts
from benchmarks import answer_models
from benchmarks.answer_values import Design
from tests.analyses.answers.made_up import LIST, WORDS
from tests.helpers import refused, says, unlisted_columns


def of_models(means: dict[str, float], number: int = 150, seed: int = 1) -> pd.DataFrame:
    """Answers of several models to the same questions; labels have the same effects in all of them."""
    asking, rng = np.random.default_rng(0), np.random.default_rng(seed)
    effects = rng.normal(0, 0.25, (2, 6))
    rows = []
    for answer in range(number):
        a, b, wording = asking.integers(6), asking.integers(6), asking.integers(3)
        for model, mean in means.items():
            share = (1 + np.clip(mean + effects[0, a] + effects[1, b], -0.98, 0.98)) / 2
            stereotypical = rng.random(len(WORDS)) < rng.beta(2 * share, 2 * (1 - share))
            first, second = f"man{a}", f"woman{b}"
            for word, hit in zip(WORDS, stereotypical, strict=True):
                chosen = first if hit == word.startswith("job") else second
                rows.append((answer, word, first, second, chosen, f"wording {wording}", model))
    return pd.DataFrame(rows, columns=["answer", "word", "label_a", "label_b", "chosen", "wording", "model"])


MEANS = {"low": -0.2, "middle": 0.35, "same": 0.35, "alike": 0.35}


@pytest.fixture(scope="module")
def several() -> bb.answers.ModelContrasts:
    return bb.answers.compare_models(of_models(MEANS), LIST)


def test_compare_models_finds_model_with_lower_d(several):
    differ = several.table.droplevel("stereotype")
    found = set(differ.index[differ.survives])
    assert found == {("alike", "low"), ("low", "middle"), ("low", "same")}
    assert differ["mean"]["low", "middle"] == pytest.approx(-0.55, abs=0.2)
    assert says(several.text, "larger D than low One other result distinguishable No other difference Holm's")
    assert "D of low is larger" not in several.text


def test_compare_models_has_smaller_sd_than_separate_estimates(several):
    """What labels add to both models cancels."""
    apart = bb.answers.estimate(several.answers, LIST).table
    between_models = np.hypot(apart.sd.loc["low"], apart.sd.loc["middle"]).iloc[0]
    assert several.table.sd.max() < 0.6 * between_models


def test_compare_models_analyses_pairs_alone_if_versions_are_compared_with_others(several):
    answers = of_models({"low": -0.2, "middle": 0.35})
    versions = [answers.assign(model=answers.model + version) for version in (" v1", " v2")]
    found = bb.answers.compare_models(pd.concat(versions), LIST)
    assert says(" ".join(found.notices), "vary more than others each pair of models analysed by itself")
    assert not several.notices
    sd = found.table.sd.droplevel("stereotype")
    assert sd["low v1", "low v2"] < 0.5 * sd["low v1", "middle v1"]
    alone = bb.answers.compare_models(answers, LIST).table.sd.iloc[0]
    assert sd["low v1", "middle v1"] == pytest.approx(alone)


def test_models_are_not_unequal_by_chance():
    """With a limit of 1.5 alone, most sets of ten models with ten labels were called unequal."""
    alike, versions = 0, 0
    for seed in range(20):
        for are_versions in (False, True):
            cell = answer_models.Cell(Design(60, 10, 3, 6), 10, False, are_versions)
            sides = answer_models.made_up(cell.design, cell.means, cell.scales, np.random.default_rng(seed))
            unequal = are_unequal(sides, SAMPLES["all"])
            versions += are_versions and unequal
            alike += unequal and not are_versions
    assert alike == 0
    assert versions == 20


def test_ranking_matches_differences_between_models(several):
    ranking = several.ranking.droplevel("stereotype")
    assert ranking["mean"].sum() == pytest.approx(0, abs=1e-9)
    assert ranking.prob_last["low"] > 0.99
    assert (ranking.prob_first.drop("low") < 0.95).all()
    assert ranking.prob_first.sum() == pytest.approx(1)
    difference = several.table["mean"].droplevel("stereotype")["low", "middle"]
    assert ranking["mean"]["low"] - ranking["mean"]["middle"] == pytest.approx(difference)


def test_compare_models_matches_change_of_estimate():
    rows = of_models({"one": 0.1, "other": 0.5}, number=60)
    by_model = rows.drop(columns="model").groupby(rows.model)
    change = bb.answers.estimate(by_model.get_group("one"), LIST, by_model.get_group("other")).table.iloc[0]
    difference = bb.answers.compare_models(rows, LIST).table.iloc[0]
    assert difference["mean"] == pytest.approx(-change["mean"], abs=0.01)
    assert difference.sd == pytest.approx(change.sd, rel=0.05)


def test_compare_models_ignores_answers_without_partner():
    shared = of_models({"low": -0.2, "high": 0.3}, number=60)
    # Each model also has answers about other words, as many as the other model.
    job_rows, home_rows = shared[shared.word.str.startswith("job")], shared[shared.word.str.startswith("home")]
    few_jobs, few_homes = job_rows[job_rows.word < "job2"], home_rows[home_rows.word < "home2"]
    many_jobs, many_homes = job_rows[job_rows.word >= "job2"], home_rows[home_rows.word.between("home2", "home3")]
    own = [
        pd.concat([few_jobs, few_homes]).query("model == 'low'").assign(answer=lambda rows: rows.answer + 1000),
        pd.concat([many_jobs, many_homes]).query("model == 'high'").assign(answer=lambda rows: rows.answer + 2000),
    ]
    expected = bb.answers.compare_models(shared, LIST)
    found = bb.answers.compare_models(pd.concat([shared, *own]), LIST)
    assert found.notices == ("wordlist: omitted: 120 answers without a partner that was asked the same",)
    pd.testing.assert_frame_equal(found.table, expected.table)


def test_compare_models_and_change_name_stereotypes_that_a_side_lacks():
    rows = of_models({"one": 0.1, "two": 0.5}, number=30)
    rows = pd.concat([rows.assign(stereotype="both"), rows[rows.model == "one"].assign(stereotype="lone")])
    lists = {"both": LIST, "lone": LIST}
    assert says(" ".join(bb.answers.compare_models(rows, lists).notices), "lone: omitted no answers of two are about")
    of_one = rows[rows.model == "one"]
    change = bb.answers.estimate(of_one[of_one.stereotype == "both"], lists, of_one)
    assert says(" ".join(change.notices), "lone (one): omitted no answers before are about it")


def test_compare_models_compares_values_of_factor():
    rows = of_models({"cold": 0.1, "hot": 0.5}, number=60).rename(columns={"model": "temperature"})
    found = bb.answers.compare_models(rows, LIST, factors="temperature")
    assert found.answers.models == ["temperature cold", "temperature hot"]
    rows = rows.assign(model="gpt")
    both = bb.answers.compare_models(rows, LIST, factors=["temperature"])
    assert both.answers.models == ["gpt, temperature cold", "gpt, temperature hot"]
    assert both.table["mean"].iloc[0] == found.table["mean"].iloc[0]
    assert len(bb.answers.estimate(rows, LIST, factors="temperature").table) == 2


ROWS = of_models({"one": 0.1, "other": 0.2}, number=30)


@pytest.mark.parametrize(
    ("change", "factors", "text"),
    [
        ({"model": "one"}, (), "answers one model factors"),
        ({}, "persona", "factors persona no column"),
        ({}, "word", "factors word no column"),
        ({"persona": "nurse"}, "persona", "factors All rows persona nurse"),
        ({"version": ROWS.model + "-1"}, "version", "factors Each model one version belongs to the model"),
        ({"wording": ROWS.model}, (), "answers no answers one and other asked the same"),
    ],
)
def test_compare_models_raises_for_incomparable_models_or_factors(change, factors, text):
    rows = ROWS.drop_duplicates(["answer", "word"]) if change.get("model") == "one" else ROWS
    with refused(AnswersError, text):
        bb.answers.compare_models(rows.assign(**change), LIST, factors=factors)


def test_missing_value_of_factor_belongs_to_its_model():
    """Models without the value must not become one model without a name."""
    frame = pd.DataFrame({"model": ["one", "one", "two", "two"], "temperature": [1.0, None, 1.0, np.nan]})
    models = with_factors(frame, "temperature").model.tolist()
    assert models[1::2] == ["one, temperature (blank)", "two, temperature (blank)"]


def test_compare_models_raises_for_unknown_scope():
    with refused(ScopeError, "scope targets words"):
        bb.answers.compare_models(ROWS, LIST, scope="targets")


def test_report_page_has_models_and_differences(several, tmp_path):
    folder = bb.write(several, tmp_path / "models", figures=())
    page = (folder.parent if folder.is_file() else folder) / "index.html"
    text = page.read_text(encoding="utf-8")
    for name in ("Models in order", "Differences between models", "middle", "Holm"):
        assert name in text
    assert (page.parent / "differences.csv").is_file()
    assert (page.parent / "ranking.csv").is_file()
    assert not unlisted_columns(several.table, several.ranking)


def test_ranking_has_value_of_each_model_by_itself(several):
    apart = bb.answers.estimate(several.answers, LIST).table.droplevel("stereotype")
    own = several.ranking.droplevel("stereotype").loc[apart.index]
    np.testing.assert_allclose(own.own_mean, apart["mean"])
    np.testing.assert_allclose(own[["own_eti95_lb", "own_eti95_ub"]], apart[["eti95_lb", "eti95_ub"]])


def test_plot_model_contrasts_draws_values_before_differences(several):
    ax = plot_model_contrasts(several)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    ranked = several.ranking.droplevel("stereotype")
    assert labels == [*ranked.index, *(f"{model} − mean" for model in ranked.index)]
    means = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(means, [*ranked.own_mean, *ranked["mean"]])


def test_plot_model_contrasts_fills_only_intervals_that_exclude_zero():
    """A model without association beside one with a strong association."""
    found = bb.answers.compare_models(of_models({"none": 0.0, "strong": 0.6}, number=100), LIST)
    ax = plot_model_contrasts(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["strong", "none", "none − strong"]
    filled = [line.get_markerfacecolor() != "white" for line in ax.lines if len(line.get_xdata()) == 1]
    assert filled == [True, False, True]
    assert says(found.text, "strong larger D than none by")


def test_text_omits_first_model_when_draws_are_unreliable(several):
    unreliable = replace(several, table=several.table.assign(pareto_k=0.9))
    assert says(several.text, "D is the largest with probability")
    assert "the largest" not in unreliable.text


@pytest.mark.parametrize("true", [[0.0, 0, 3], [0.0, 0, 3, 5, -1], [1.0] * 6 + [4.0], [2.0] * 5])
def test_centre_of_models_keeps_differences_beside_copies(true):
    """Copies of a model differ by exactly zero, without any variance."""
    difference = np.subtract.outer(true, true)
    variance = 0.01 * (difference != 0)
    assert centre_of_models(difference, variance) == pytest.approx(np.array(true) - np.mean(true), abs=1e-5)
