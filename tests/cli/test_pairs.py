"""`bayes-bias sentence-pairs` in a terminal."""

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from tests.analyses.sentence_pairs.tables import simulated
from tests.analyses.sentence_pairs.test_scoring import CROWS, Counts
from tests.helpers import says


def test_sentence_pairs_command_prints_shares_of_file(run, from_priors, tmp_path):
    path = tmp_path / "scores.csv"
    simulated()[["item", "score_more", "score_less"]].to_csv(path, index=False)
    code, out, _ = run("sentence-pairs", str(path))
    said = " ".join(out.split())
    assert code == 0
    assert says(said, "stereotypical % scores")
    assert says(said, "new pairs share")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "scores 'nowhere.csv'"),
        (["a.csv", "--decimals", "few"], "--decimals 'few' 3 none"),
        (["a.csv", "--scores", "b.csv"], "--scores 'b.csv' --model"),
        (["a.csv", "--model", "m", "--how", "pl"], "--how 'pl' 'pll'"),
        (["a.csv", "--how", "aul"], "--how 'aul' --model"),
        (["a.csv", "--compare-models", "--priors", "mine.toml"], "--priors 'mine.toml' --compare-models"),
        (["a.csv", "--compare-models", "--scores", "b.csv"], "--scores 'b.csv' --compare-models"),
        (["a.csv", "--compare-models", "--folder", "work"], "--folder 'work' --compare-models"),
        (["a.csv", "--compare-models", "--draws", "500"], "--draws --compare-models"),
    ],
)
def test_sentence_pairs_command_rejects_invalid_options(run, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, error = run("sentence-pairs", *arguments)
    assert code == 2
    assert says(" ".join(error.split()), message)


def test_sentence_pairs_command_scores_sentences_with_model(run, tmp_path, monkeypatch):
    estimated = []

    def estimate(*scores, **_):
        estimated.extend(scores)
        raise BayesBiasError("enough: is known")

    monkeypatch.setattr(bb.language_models, "load_masked", lambda folder: Counts(name=folder))
    monkeypatch.setattr(bb.sentence_pairs, "estimate", estimate)
    sentences, scores = tmp_path / "sentences.csv", tmp_path / "scores.csv"
    CROWS.to_csv(sentences, index=False)
    _, _, error = run(
        *("sentence-pairs", sentences, "--model", "before", "--after", "debiased"),
        *("--how", "aula", "--scores", scores),
    )
    assert "enough" in error
    before, after = estimated
    assert list(before.score_more) == [-6.0, -4.0]
    assert [set(frame.model) for frame in (before, after)] == [{"before"}, {"debiased"}]
    pd.testing.assert_frame_equal(pd.read_csv(scores), before, check_dtype=False)
