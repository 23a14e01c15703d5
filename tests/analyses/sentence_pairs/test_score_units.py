"""Scores are looked at before they are fitted: what is no log probability is refused until its unit is said."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.results import methods_of
from bayes_bias.analyses.sentence_pairs.scores import PairScores, read_scores
from bayes_bias.errors import SentencePairsError, SpecError
from tests.analyses.sentence_pairs.tables import simulated
from tests.helpers import refused, says

LOGS = simulated(60)[["item", "score_more", "score_less"]].assign(
    score_more=lambda t: t.score_more / 4, score_less=lambda t: t.score_less / 4
)
RIGHT = read_scores(LOGS)
BOTH = ["score_more", "score_less"]


def in_unit(unit: str, columns: list[str] = BOTH) -> pd.DataFrame:
    """The same scores as programs write them."""
    to = {"probability": np.exp, "loss": np.negative, "perplexity": lambda x: np.exp(-x)}[unit]
    return LOGS.assign(**{column: to(LOGS[column]) for column in columns})


def same_answer(scores: PairScores) -> None:
    assert_allclose(scores.rows.difference, RIGHT.rows.difference, atol=1e-9)
    assert scores.rows.ahead.equals(RIGHT.rows.ahead)


@pytest.mark.parametrize(
    ("unit", "looks"), [("probability", "probabilities"), ("loss", "losses"), ("perplexity", "perplexities")]
)
def test_read_scores_raises_for_other_scale_without_unit(unit, looks):
    frame = in_unit(unit)
    with refused(SentencePairsError, f"scores {looks} above 0 unit= --unit {unit}"):
        read_scores(frame)
    scores = read_scores(frame, unit=unit)
    same_answer(scores)
    assert scores.provenance["unit"] == scores.unit == unit


def test_read_scores_raises_for_small_losses_without_unit():
    small = in_unit("loss").assign(score_more=lambda t: t.score_more / 40, score_less=lambda t: t.score_less / 40)
    with refused(SentencePairsError, "probabilities --unit loss"):
        read_scores(small)
    assert_allclose(read_scores(small, unit="loss", decimals=None).rows.difference * 40, RIGHT.rows.difference)


def test_read_scores_raises_for_absolute_differences():
    """As lm-evaluation-harness writes them."""
    frame = LOGS.assign(difference=LOGS.score_more - LOGS.score_less)
    absolute = frame[["item", "difference"]].assign(difference=frame.difference.abs())
    with refused(
        SentencePairsError, "60 differences absolute score_more score_less samples_*.jsonl --unit log-probability"
    ):
        read_scores(absolute)
    same_answer(read_scores(frame))
    same_answer(read_scores(frame[["item", "difference"]]))
    assert read_scores(absolute, unit="log-probability").rows.ahead.all()
    losses = frame[["item", "difference"]].assign(difference=-frame.difference)
    same_answer(read_scores(losses, unit="loss"))
    with refused(SentencePairsError, "probability score_more score_less"):
        read_scores(absolute, unit="probability")


def test_read_scores_raises_for_columns_of_different_units():
    with refused(SentencePairsError, "score_more score_less log probabilities losses one unit"):
        read_scores(in_unit("loss", ["score_less"]))
    sums_and_averages = LOGS.assign(score_less=LOGS.score_less / 40)
    with refused(SentencePairsError, "overlap sum average --unit log-probability"):
        read_scores(sums_and_averages)
    assert len(read_scores(sums_and_averages, unit="log-probability")) == 60
    mixed = LOGS.assign(score_more=LOGS.score_more - LOGS.score_more.mean())
    with refused(SentencePairsError, "score_more above 0 below difference"):
        read_scores(mixed)
    difference = mixed.score_more - LOGS.score_less
    assert read_scores(pd.DataFrame({"item": LOGS["item"], "difference": difference - difference.mean()}))


@pytest.mark.parametrize(
    ("unit", "impossible"), [("log-probability", 0.5), ("probability", 0.0), ("loss", -1.0), ("perplexity", 0.5)]
)
def test_read_scores_raises_for_values_impossible_in_unit(unit, impossible):
    frame = LOGS if unit == "log-probability" else in_unit(unit)
    with refused(SentencePairsError, f"score_less row 3 {impossible:g} '{unit}'"):
        read_scores(frame.assign(score_less=frame.score_less.where(frame.index != 2, impossible)), unit=unit)


def test_read_scores_raises_for_unknown_unit():
    with refused(SpecError, "unit 'los' Did you mean 'loss' perplexity"):
        read_scores(LOGS, unit="los")  # type: ignore[arg-type]


def test_sentence_pairs_command_accepts_right_unit_and_rejects_others(run, from_priors, tmp_path):
    path = tmp_path / "scores.csv"
    in_unit("perplexity").to_csv(path, index=False)
    code, _, error = run("sentence-pairs", path)
    assert code == 2
    assert says(" ".join(error.split()), "perplexities --unit perplexity")
    code, _, error = run("sentence-pairs", path, "--unit", "log-probability")
    assert code == 2
    assert says(" ".join(error.split()), "score_more row 1 'log-probability'")
    code, out, error = run("sentence-pairs", path, "--unit", "perplexity")
    assert code == 0, error
    assert says(out, f"{RIGHT.rows.ahead.mean():.1%} of 60 pairs")
    code, _, error = run("sentence-pairs", path, "--model", "m", "--unit", "loss")
    assert code == 2
    assert says(" ".join(error.split()), "--unit 'loss' --model")


def test_methods_text_contains_unit_of_scores(from_priors):
    found = bb.sentence_pairs.estimate(in_unit("perplexity"), unit="perplexity")
    assert "minus the natural logarithms of perplexities" in " ".join(methods_of(found).paragraphs)
    assert found.metric.unit == "nats per token"


@pytest.mark.parametrize(
    ("how", "unit", "text"),
    [
        ("pll", "nats", "scores are natural logarithms"),
        ("aul", "nats per token", "means of the natural logarithms of the probabilities of tokens."),
        ("aula", "weighted nats per token", "of tokens, weighted by attention."),
    ],
)
def test_estimate_has_unit_of_kind_of_score(from_priors, how, unit, text):
    found = bb.sentence_pairs.estimate(simulated(60).assign(how=how))
    assert found.metric.unit == unit
    assert text in " ".join(methods_of(found).paragraphs)


def test_methods_text_claims_no_interval_of_independent_pairs(from_priors):
    """Whether it is shorter than the interval for pairs of writers depends on the scores."""
    text = " ".join(methods_of(bb.sentence_pairs.estimate(simulated(60))).paragraphs)
    assert "with random effects of bias type and writer on the log odds" in text
    assert says(text, "writers an interval for independent pairs can be too short")
