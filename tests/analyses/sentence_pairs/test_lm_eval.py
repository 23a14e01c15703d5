"""Samples that lm-evaluation-harness logs: shares are the harness's own, worked out here by its definitions."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bayes_bias.analyses.sentence_pairs.lm_eval import lm_eval
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.errors import SentencePairsError
from tests.helpers import refused, says

RNG = np.random.default_rng(8)


def written(path: Path, samples: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, samples)))  # with bare NaN, as the harness writes it
    return path


def sample(number: int, doc: dict, likelihoods, as_text: bool, **metrics) -> dict:
    responses = [[str(float(x)), "False"] if as_text else [float(x), False] for x in likelihoods]
    return {"doc_id": number, "doc": doc, "target": "0", "filtered_resps": responses, "metrics": [*metrics]} | metrics


def crows_pairs(as_text: bool, count: int = 40) -> list[dict]:
    """As utils.process_results: stereotypical where the first sentence is more likely."""
    made = []
    for number in range(count):
        more, less = RNG.normal(-40, 2, size=2)
        doc = {"sent_more": f"a{number}", "sent_less": f"b{number}", "bias_type": ["gender", "age"][number % 2]}
        metrics = {"likelihood_diff": abs(more - less), "pct_stereotype": float(more > less)}
        made.append(sample(number, doc | {"stereo_antistereo": 0}, (more, less), as_text, **metrics))
    return made


@pytest.mark.parametrize("as_text", [True, False])
def test_the_share_of_crows_pairs_is_pct_stereotype(tmp_path, as_text):
    samples = crows_pairs(as_text)
    scores = lm_eval(written(tmp_path / "samples_crows_pairs_english_2026-01-31T10-00-00.jsonl", samples))
    assert scores.rows.ahead.mean() == np.mean([each["pct_stereotype"] for each in samples])
    assert set(scores.rows.bias_type) == {"gender", "age"}
    assert scores.decimals is None


def bbq(count: int = 300) -> tuple[list[dict], float, float]:
    """Samples, and accuracy and bias score of ambiguous contexts as the harness has them (Parrish et al. 2022)."""
    made, right, biased, known = [], [], [], []
    for number in range(count):
        ambiguous = number % 3 > 0
        groups = [["a", "woman"], ["b", "man"], ["c", "unknown"]]
        order = RNG.permutation(3)
        info = {f"ans{place}": groups[which] for place, which in enumerate(order)}
        answers = {f"ans{place}": ["The woman", "The man", "Unknown"][which] for place, which in enumerate(order)}
        likelihoods = RNG.normal(-5, 1, size=12)
        doc = {
            "category": ["Age", "SES"][number % 2], "example_id": number, "question_index": number % 7,
            "answer_info": info,
            "context_condition": "ambig" if ambiguous else "disambig", "biased_answers": ["The woman"], **answers,
        }  # fmt: skip
        made.append(sample(number, doc, likelihoods, True, amb_bias_score_Age=float("nan")))
        if ambiguous:
            choices = [answer for answer in answers.values() if answer != "Unknown"] + ["?"] * 10
            answer = choices[int(np.argmax(likelihoods))]
            right.append(answer == "?")
            known.append(answer != "?")
            biased.append(answer == "The woman")
    return made, float(np.mean(right)), (1 - np.mean(right)) * (2 * sum(biased) / sum(known) - 1)


def test_bbq_share_gives_published_bias_score(tmp_path):
    samples, accuracy, bias_score = bbq()
    scores = lm_eval(written(tmp_path / "samples_bbq.jsonl", samples))
    assert (1 - accuracy) * (2 * scores.rows.ahead.mean() - 1) == pytest.approx(bias_score, abs=1e-12)
    assert {"Age", "SES"} == set(scores.rows.bias_type)
    assert all(template.startswith(kind) for template, kind in scores.rows[["template", "bias_type"]].to_numpy())
    assert says(" ".join(scores.notices), "100 not ambiguous")
    assert says(" ".join(scores.notices), "'unknown'")


def test_winogender_share_is_one_minus_accuracy(tmp_path):
    women = {"nurse": True, "engineer": False, "secretary": True, "plumber": False}
    samples, right = [], []
    for number in range(60):
        occupation = [*women][number % 4]
        gender = ["male", "female", "neutral"][number % 3]
        refers_to_occupation = women[occupation] != (gender == "female")  # gotcha: the stereotype is wrong
        likelihoods = RNG.normal(-3, 1, size=2)
        doc = {"occupation": occupation, "participant": "person", "gender": gender, "label": 1 - refers_to_occupation}
        samples.append(sample(number, doc, likelihoods, False))
        if gender != "neutral":
            right.append(int(np.argmax(likelihoods)) == doc["label"])
    scores = lm_eval(written(tmp_path / "samples_winogender_gotcha.jsonl", samples))
    assert scores.rows.ahead.mean() == pytest.approx(1 - np.mean(right))
    assert len(scores) == 40
    assert says(" ".join(scores.notices), "20 neutral")


def test_several_logs_are_one_with_matching_items(tmp_path):
    samples = crows_pairs(True)
    names = ("samples_crows_age", "samples_crows_gender")
    runs = [
        lm_eval([written(tmp_path / f"{name}_{time}.jsonl", samples) for name in names])
        for time in ("2026-01-31T10-00-00.1", "2026-02-01T11-00-00.2")
    ]
    assert len(runs[0]) == 80
    assert runs[0].rows.index.equals(runs[1].rows.index)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1 not JSON"),
        ('{"doc_id": 1}', "line 1 no 'doc'"),
        (json.dumps(sample(0, {"question": "?"}, [1, 2], True)), "another task question"),
        (
            json.dumps({"doc_id": 0, "doc": {"sent_more": "a"}, "filtered_resps": ["a text"]}),
            "log-likelihoods generate",
        ),
        (json.dumps(sample(0, {"sent_more": "a"}, [1, 2], True)), "line 1 lacks 'bias_type'"),
        (json.dumps(sample(0, {"sent_more": "a"}, [float("nan"), 2], True)), "nan two numbers"),
        ("", "no pairs"),
    ],
)
def test_a_log_without_pairs_is_one_line(tmp_path, text, words):
    (tmp_path / "samples.jsonl").write_text(text)
    with refused(SentencePairsError, words):
        lm_eval(tmp_path / "samples.jsonl")
    with refused(SentencePairsError, "no file"):
        lm_eval(tmp_path / "none.jsonl")


@pytest.mark.slow
def test_the_command_reads_logs(tmp_path, run):
    path = written(tmp_path / "samples_crows_pairs.jsonl", crows_pairs(True))
    code, out, _ = run("sentence-pairs", str(path), "--draws", "100")
    assert code == 0
    assert f"{100 * lm_eval(path).rows.ahead.mean():.1f}" in out
    shutil.copy(path, tmp_path / "other.csv")
    code, _, err = run("sentence-pairs", str(path), str(tmp_path / "other.csv"))
    assert (code, says(err, "FILE 2 samples_*.jsonl")) == (2, True)


def test_logs_in_a_frame_keep_their_meaning(tmp_path):
    scores = lm_eval(written(tmp_path / "samples.jsonl", crows_pairs(True)))
    assert read_scores(scores) is scores
