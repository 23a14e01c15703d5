"""Several models that scored the same pairs: which differ, and in which order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import ScopeError, SentencePairsError
from bayes_bias.plots import plot_model_contrasts
from tests.analyses.sentence_pairs.tables import simulated
from tests.analyses.sentence_pairs.test_lm_eval import crows_pairs, written
from tests.helpers import numbered, refused, says, unlisted_columns


def of_models(ahead: dict[str, float], pairs: int = 240) -> pd.DataFrame:
    """Scores of several models, which find the same pairs stereotypical."""
    shared, rng = simulated(pairs), np.random.default_rng(5)
    frames = []
    for model, more in ahead.items():
        own = shared.score_more + more + 0.5 * rng.normal(size=len(shared))
        frames.append(shared.assign(score_more=own, model=model))
    return pd.concat(frames)


SCORES = of_models({"small": 0.0, "medium": 0.0, "large": 0.8})


@pytest.fixture(scope="module")
def several() -> bb.sentence_pairs.PairContrasts:
    return bb.sentence_pairs.compare_models(SCORES)


def test_compare_models_finds_model_with_larger_bias(several):
    pairs = {("share", "large", "medium"), ("share", "large", "small")}
    pairs |= {("difference", "large", "medium"), ("difference", "large", "small")}
    assert set(several.table.index[several.table.survives]) == pairs
    assert says(several.text, "large larger share than small percentage points larger mean difference than small nats")
    assert several.ranking.loc["share"].index[0] == "large"


def test_text_names_adjustment_if_only_that_makes_a_difference_unclear(several):
    """An interval without zero beside "cannot be distinguished" would otherwise look like a contradiction."""
    two = several.table.xs("small", level="other", drop_level=False).xs("large", level="model", drop_level=False)
    text = replace(several, table=two.assign(survives=False)).text
    words = "large and small cannot be distinguished after Holm's adjustment for two differences: the difference in"
    assert text.count(words) == 2
    wide = two.assign(survives=False, eti95_lb=-9.0, eti95_ub=9.0)
    assert replace(several, table=wide).text.count("cannot be distinguished: the difference") == 2


def test_compare_models_matches_paired_scores(several):
    scores = SCORES.assign(difference=SCORES.score_more - SCORES.score_less)
    by_model = scores.pivot_table("difference", "item", "model")
    paired = by_model["large"] - by_model["small"]
    row = several.table.loc["difference", "large", "small"]
    assert row["mean"] == pytest.approx(paired.mean(), abs=0.02)
    assert row.sd == pytest.approx(paired.std() / len(paired) ** 0.5, rel=0.3)
    ahead = (by_model > 0).mean()
    assert several.table.loc["share", "large", "small"]["mean"] == pytest.approx(ahead.large - ahead.small, abs=0.03)


def test_compare_models_difference_scales_with_unit(several):
    in_tens = SCORES.assign(score_more=10 * SCORES.score_more, score_less=10 * SCORES.score_less)
    tens = bb.sentence_pairs.compare_models(in_tens, decimals=None).table.loc["difference", "large", "small"]
    assert tens["mean"] == pytest.approx(10 * several.table.loc["difference", "large", "small"]["mean"], rel=0.01)


def test_compare_models_accepts_scores_by_model_name(several):
    by_model = {model: own.drop(columns="model") for model, own in SCORES.groupby("model")}
    assert bb.sentence_pairs.compare_models(by_model).table.equals(several.table)


def test_compare_models_compares_values_of_factor(several):
    layers = SCORES.rename(columns={"model": "layer"})
    found = bb.sentence_pairs.compare_models(layers, factors="layer")
    assert list(found.scores) == ["layer large", "layer medium", "layer small"]
    assert found.table["mean"].to_list() == several.table["mean"].to_list()


def test_compare_models_omits_pairs_not_scored_by_all_models(several):
    lacking = SCORES[(SCORES.model != "small") | (SCORES["item"] != "pair 7")]
    found = bb.sentence_pairs.compare_models(lacking)
    assert says(" ".join(found.notices), "omitted 1 of 240 pairs not scored by all models")
    assert set(found.table.questions) == {239}


def test_compare_models_sd_increases_when_writers_differ_by_model():
    rng = np.random.default_rng(7)
    writers = {name: rng.normal() for name in SCORES.writer.unique()}
    own = SCORES.score_more + (SCORES.model == "large") * SCORES.writer.map(writers)
    scores = SCORES.assign(score_more=own)
    row = ("difference", "large", "small")
    sd_of_pairs = bb.sentence_pairs.compare_models(scores, scope="pairs").table.sd[row]
    assert bb.sentence_pairs.compare_models(scores, scope="all").table.sd[row] > 1.5 * sd_of_pairs


def of_versions(seed: int) -> pd.DataFrame:
    """Three versions of one model, and two models that have nothing in common; all without a bias."""
    rng = np.random.default_rng(seed)
    base = rng.normal(0, 2, 200)
    differences = {f"version {k}": base + rng.normal(0, 0.05, 200) for k in range(3)}
    differences |= {model: rng.normal(0, 2, 200) for model in ("x", "y")}
    frames = []
    for model, difference in differences.items():
        frames.append(pd.DataFrame({"item": numbered("pair ", 200), "model": model, "difference": difference}))
    return pd.concat(frames)


def test_compare_models_result_of_two_models_ignores_others():
    """With common standard deviations, differences between versions were as uncertain as those between x and y."""
    scores = of_versions(1)
    table = bb.sentence_pairs.compare_models(scores).table
    for first, second in [("version 0", "version 1"), ("x", "y")]:
        alone = bb.sentence_pairs.compare_models(scores[scores.model.isin([first, second])])
        both = scores[scores.model == first].difference - scores[scores.model == second].difference
        for estimand, rel in (("share", 1e-9), ("difference", 0.03)):
            sd = table.sd[estimand, first, second]
            assert sd == pytest.approx(alone.table.sd[estimand, first, second], rel=rel)
        assert sd == pytest.approx(both.std() / len(both) ** 0.5, rel=0.06)


def test_compare_models_ranking_matches_differences_without_common_sds():
    found = bb.sentence_pairs.compare_models(of_versions(2))
    ranking, table = found.ranking.loc["difference"], found.table.loc["difference"]
    assert ranking["mean"].sum() == pytest.approx(0, abs=1e-9)
    assert ranking.prob_first.sum() == pytest.approx(1)
    # The mean of all models includes x and y, so each version is uncertain, although versions are nearly equal.
    assert ranking.sd["version 0"] > 10 * table.sd["version 0", "version 1"]
    for first, second in table.index:
        difference = ranking["mean"][first] - ranking["mean"][second]
        assert difference == pytest.approx(table["mean"][first, second], abs=0.02)


def test_compare_models_ranks_equal_models_alike():
    """Equal scores have no order, although their differences from a third model are separate draws."""
    scores = of_models({"first": 0.4, "other": 0.7})
    first = scores[scores.model == "first"]
    ranking = bb.sentence_pairs.compare_models(pd.concat([scores, first.assign(model="second")])).ranking.loc["share"]
    assert ranking.prob_last.loc[["first", "second"]].between(0.4, 0.6).all()
    assert ranking["mean"]["first"] == pytest.approx(ranking["mean"]["second"], abs=1e-5)


@pytest.mark.thorough
def test_compare_models_covers_zero_between_unlike_models_beside_versions():
    """Forty data sets: with common standard deviations, 28% of the intervals excluded zero."""
    missed = 0
    for seed in range(40):
        row = bb.sentence_pairs.compare_models(of_versions(seed)).table.loc["difference", "x", "y"]
        missed += row.eti95_lb > 0 or row.eti95_ub < 0
    assert missed <= 6  # P(more | 5%) = .003


def test_compare_models_shares_lie_between_zero_and_one():
    ahead = {"always": 4.0, "never": -4.0, "half": 0.0}
    found = bb.sentence_pairs.compare_models(of_models(ahead, pairs=60))
    own = found.ranking.loc["share"].filter(like="own")
    assert (own > 0).all(axis=None)
    assert (own < 1).all(axis=None)
    assert found.table.loc["share"][["eti95_lb", "eti95_ub"]].abs().max(axis=None) < 1
    assert says(" ".join(found.notices), "always never fewer than 10 pairs on one side rough")


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (SCORES[SCORES.model == "small"], "all are of one model factors"),
        (SCORES.assign(item=SCORES["item"] + SCORES.model), "no two pairs in common"),
        (SCORES.assign(writer=SCORES.writer + SCORES.model), "writer of item pair for another model"),
        (pd.concat([SCORES[SCORES.model == "small"].assign(model=m) for m in "ab"]), "same share in every pair"),
    ],
)
def test_compare_models_raises_for_incomparable_scores(scores, text):
    with refused(SentencePairsError, text):
        bb.sentence_pairs.compare_models(scores)


@pytest.mark.parametrize(
    ("change", "factor", "text"),
    [
        ({"layer": 12}, "layer", "factors All rows layer 12"),
        ({"version": SCORES.model + "-1"}, "version", "factors Each model one version belongs to the model"),
        ({}, "layer", "factors 'layer' no column"),
        ({}, "writer", "factors 'writer' no column"),
    ],
)
def test_compare_models_raises_for_incomparable_factors(change, factor, text):
    with refused(SentencePairsError, text):
        bb.sentence_pairs.compare_models(SCORES.assign(**change), factors=factor)


def test_compare_models_raises_for_scope_none():
    with refused(ScopeError, "scope none pairs"):
        bb.sentence_pairs.compare_models(SCORES, scope="none")


def test_estimate_raises_for_several_models():
    with refused(SentencePairsError, "3 models compare_models --compare-models"):
        bb.sentence_pairs.estimate(SCORES)


def test_report_page_has_shares_and_differences_of_models(several, tmp_path):
    page = bb.write(several, tmp_path / "models", figures=())
    text = page.read_text(encoding="utf-8")
    for name in ("percentage points", "nats", "large − small", "after Holm", "writers"):
        assert name in text
    assert (page.parent / "differences.csv").is_file()
    again = bb.sentence_pairs.compare_models(str(page.parent / "scores.csv"))
    pd.testing.assert_frame_equal(again.table, several.table)
    assert not unlisted_columns(several.table, several.ranking)
    labels = [label.get_text() for label in plot_model_contrasts(several, ["difference"]).get_yticklabels()]
    models = several.ranking.loc["difference"].index.to_list()
    assert labels[: len(models)] == models
    share = several.ranking.loc["share"]
    assert share.own_mean.between(0, 1).all()
    drawn, _ = several.drawn(["share"])
    np.testing.assert_allclose(drawn["mean"], 100 * (share.own_mean - 0.5))


def test_sentence_pairs_command_compares_models_of_file(run, tmp_path):
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    code, out, _ = run("sentence-pairs", "scores.csv", "--compare-models")
    assert code == 0
    assert says(out, "large − small after Holm large larger share than small percentage points")
    code, _, error = run("sentence-pairs", "scores.csv", "--compare-models", "--of", "small")
    assert code != 0
    assert says(error, "--compare-models --of Omit")
    code, _, error = run("sentence-pairs", "scores.csv", "--factors", "layer")
    assert code != 0
    assert says(error, "--factors --compare-models")


@pytest.mark.parametrize(
    ("folders", "difference"), [(("gpt2", "opt"), "gpt2 − opt"), (("a/results", "b/results"), "a/results − b/results")]
)
def test_sentence_pairs_command_compares_logs_by_folder(folders, difference, run, tmp_path):
    files = []
    for seed, model in enumerate(folders):
        (tmp_path / model).mkdir(parents=True)
        samples = crows_pairs(as_text=True, seed=seed)
        files.append(written(tmp_path / model / "samples_crows_pairs_english_2026-01-31.jsonl", samples))
    code, out, _ = run("sentence-pairs", *map(str, files), "--compare-models")
    assert code == 0
    assert says(out, difference)
