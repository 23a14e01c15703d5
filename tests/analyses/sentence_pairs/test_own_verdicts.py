"""The verdict on each pair that a file contains is compared with its scores."""

import json

import numpy as np
import pandas as pd
import pytest

from bayes_bias.analyses.sentence_pairs.lm_eval import lm_eval
from bayes_bias.analyses.sentence_pairs.published import published
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.errors import SentencePairsError
from tests.helpers import refused, says

N = 50


def crows_pairs() -> pd.DataFrame:
    """A file as the CrowS-Pairs program writes it, with two ties."""
    rng = np.random.default_rng(1)
    more = -rng.uniform(20, 40, N).round(3)
    less = (more + rng.normal(-1, 2, N)).round(3)
    less[:2] = more[:2]
    return pd.DataFrame(
        {
            "sent_more": [f"The first sentence {k} is here." for k in range(N)],
            "sent_less": [f"The second sentence {k} is here." for k in range(N)],
            "sent_more_score": more,
            "sent_less_score": less,
            "score": (more > less).astype(int),
            "stereo_antistereo": np.where(rng.random(N) < 0.3, "antistereo", "stereo"),
            "bias_type": "gender",
        }
    )


def exchanged(frame: pd.DataFrame, swap) -> pd.DataFrame:
    both = ["sent_more_score", "sent_less_score"]
    frame = frame.copy()
    frame.loc[swap, both] = frame.loc[swap, both[::-1]].to_numpy()
    return frame


def share(scores) -> float:
    return published(scores).share["all pairs"]


def test_read_scores_rejects_differences_that_contradict_the_scores():
    frame = crows_pairs().assign(item=np.arange(N))
    difference = frame.sent_more_score - frame.sent_less_score
    for same in (difference, difference.round(2), difference.round(0), difference.where(difference > 0), ""):
        assert share(read_scores(frame.assign(difference=same))) == share(read_scores(frame))
    rounded = frame.round({"sent_more_score": 1, "sent_less_score": 1}).assign(difference=difference)
    assert len(read_scores(rounded)) == N
    with refused(SentencePairsError, f"'difference' contradicts score_more minus score_less {N - 2} of {N} item '2'"):
        read_scores(frame.assign(difference=-difference))
    losses = frame.assign(sent_more_score=-frame.sent_more_score, sent_less_score=-frame.sent_less_score)
    for same in (difference, -difference):  # of log probabilities, or of losses
        assert share(read_scores(losses.assign(difference=same), unit="loss")) == share(read_scores(frame))


def test_read_scores_rejects_exchanged_scores_and_prints_code_that_corrects_them(tmp_path):
    good = crows_pairs()
    old = exchanged(good, good.stereo_antistereo == "antistereo")
    old.to_csv(tmp_path / "old.csv")
    with refused(SentencePairsError, "'score' contradicts antistereo exchanged before May 2021") as caught:
        read_scores(tmp_path / "old.csv")
    code = str(caught.value).split("`")[-2]
    frame = pd.read_csv(tmp_path / "old.csv")
    exec(code, {"frame": frame})
    frame.to_csv(tmp_path / "corrected.csv", index=False)
    assert share(read_scores(tmp_path / "corrected.csv")) == good.score.mean()


def test_read_scores_accepts_own_verdict_of_right_scores_with_ties(tmp_path):
    crows_pairs().to_csv(tmp_path / "new.csv")
    assert share(read_scores(tmp_path / "new.csv")) == crows_pairs().score.mean()


def test_read_scores_notifies_of_scores_that_may_be_exchanged_if_file_has_no_own_verdict(tmp_path, caplog):
    frame = crows_pairs()
    count = int((frame.stereo_antistereo == "antistereo").sum())
    frame.to_csv(tmp_path / "with.csv")
    frame.drop(columns="score").to_csv(tmp_path / "without.csv")
    read_scores(tmp_path / "with.csv")
    assert "antistereo" not in caplog.text
    assert any(
        says(notice, f"{count} pairs 'antistereo' exchanged before May 2021 Keep 'score'")
        for notice in read_scores(tmp_path / "without.csv").notices
    )


@pytest.mark.parametrize("names", ["theirs", "ours"])
def test_read_scores_rejects_other_contradictions(names):
    wrong = exchanged(crows_pairs(), [10, 11, 12]).rename_axis("item").reset_index()
    if names == "ours":
        wrong = wrong.rename(columns={"sent_more_score": "score_more", "sent_less_score": "score_less"})
    with refused(SentencePairsError, "'score' contradicts 3 of 50 pairs item '10' remove 'score'"):
        read_scores(wrong)
    assert len(read_scores(wrong.drop(columns="score"))) == N


def test_read_scores_ignores_column_score_of_other_numbers():
    frame = crows_pairs().rename_axis("item").reset_index().assign(score=np.linspace(0, 5, N))
    assert share(read_scores(frame)) == crows_pairs().score.mean()


@pytest.mark.parametrize("own", [0, 1, None])
def test_lm_eval_rejects_sample_whose_verdict_contradicts_its_likelihoods(tmp_path, own):
    lines = []
    for k in range(4):
        doc = {"sent_more": f"More {k}.", "sent_less": f"Less {k}.", "bias_type": "age"}
        lines.append({"doc": doc, "filtered_resps": [[-10.0 - k, False], [-12.0, False]], "pct_stereotype": int(k < 2)})
    lines[0]["pct_stereotype"] = own
    path = tmp_path / "samples_crows_pairs_english.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    if own == 0:
        with refused(SentencePairsError, "line 1 pct_stereotype 0 contradicts"):
            lm_eval(path)
    else:
        assert len(lm_eval(path)) == 4


@pytest.mark.parametrize("acc", [0, 1])
def test_lm_eval_rejects_accuracy_of_bbq_that_contradicts_its_likelihoods(tmp_path, acc):
    lines = []
    for k in range(3):
        doc = {
            "context_condition": "ambig",
            "category": "Age",
            "example_id": k,
            "question_index": k,
            "ans0": "the old man",
            "ans1": "the young man",
            "ans2": "unknown",
            "biased_answers": ["the old man"],
            "answer_info": {"ans0": ["x", "old"], "ans1": ["y", "young"], "ans2": ["z", "unknown"]},
        }
        arguments = {f"gen_args_{n}": {"arg_0": "", "arg_1": doc[f"ans{n}"]} for n in range(3)}
        likelihoods = [[-1.0 - k, False], [-2.0, False], [-9.0, False]]
        lines.append({"doc": doc, "arguments": arguments, "filtered_resps": likelihoods, "acc": 0})
    lines[0]["acc"] = acc
    path = tmp_path / "samples_bbq.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    if acc:
        with refused(SentencePairsError, "line 1 acc 1 contradicts"):
            lm_eval(path)
    else:
        assert len(lm_eval(path)) == 3
