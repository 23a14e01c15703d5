"""`bayes-bias pairs` in a terminal."""

import pytest

from tests.sentence_pairs.tables import simulated


@pytest.mark.slow
def test_scores_in_a_file_are_answered(run, tmp_path):
    path = tmp_path / "scores.csv"
    simulated()[["item", "score_more", "score_less"]].to_csv(path, index=False)
    code, out, _ = run("pairs", str(path))
    said = " ".join(out.split())
    assert code == 0
    assert "How often the stereotypical sentence is ahead, in %: scores" in said
    assert "For new pairs like these, if they are independent the share is" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "scores: no file 'nowhere.csv'"),
        (
            ["a.csv", "--decimals", "few"],
            "--decimals: 'few' is no number of decimals; give one such as 3, or none",
        ),
        (
            ["a.csv", "--scores", "b.csv"],
            "--scores: 'b.csv' is to hold scores of a model; name one with --model",
        ),
        (
            ["a.csv", "--model", "m", "--how", "pl"],
            "--how: 'pl' is no score of sentences; did you mean 'pll'?",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, error = run("pairs", *arguments)
    assert code == 2
    assert message in " ".join(error.split())
