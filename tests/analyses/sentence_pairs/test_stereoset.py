"""StereoSet's scores are those that its authors published for their models' predictions."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.analyses.sentence_pairs.stereoset import read_triples, scores, stereoset, stereotype_pairs
from bayes_bias.errors import LanguageModelError, SentencePairsError
from tests.helpers import REFERENCE, refused

# LM Score, SS Score, ICAT Score in code/predictions.json of github.com/moinnadeem/StereoSet, with all its digits.
# Counts of preferences are in tests/reference/; where they come from is told there.
PUBLISHED = {
    "gpt2": {
        ("intrasentence", "gender"): (93.27790824312564, 62.66777425473077, 69.64543855157751),
        ("intrasentence", "profession"): (92.28935393467714, 63.97468647350802, 66.4950582130826),
        ("intrasentence", "race"): (89.7567072075023, 60.35000089116578, 71.1770672157872),
        ("intrasentence", "religion"): (88.45977011494251, 58.02298850574713, 74.26553573787817),
        ("intrasentence", "overall"): (91.1149426618542, 61.931485244958985, 69.37221078255025),
        ("intersentence", "gender"): (85.95185008228486, 53.38029321724974, 80.14100096542057),
        ("intersentence", "profession"): (72.7908066154173, 52.38766238499275, 69.31480919683904),
        ("intersentence", "race"): (76.50494920395892, 51.49425411284266, 74.21859250394222),
        ("intersentence", "religion"): (75.82758620689656, 56.92528735632184, 65.32502972651605),
        ("intersentence", "overall"): (76.26460290188072, 52.278503972830144, 72.78921888791575),
        ("overall", "overall"): (83.65206453498922, 57.03077944935812, 71.8892802104096),
    },
    "roberta-base": {
        ("intrasentence", "gender"): (71.35529148790017, 54.207720942503556, 65.3504284008585),
        ("intrasentence", "profession"): (72.4880733187488, 55.94327435427913, 63.8717431758203),
        ("intrasentence", "race"): (70.02782512792561, 56.07187093282957, 61.52382681025514),
        ("intrasentence", "religion"): (70.59770114942529, 40.82758620689655, 57.646674593737615),
        ("intrasentence", "overall"): (71.15177117082358, 55.208171547543834, 63.74035856743892),
        ("intersentence", "gender"): (59.623015873015866, 46.76184725097769, 55.761647217931724),
        ("intersentence", "profession"): (69.75382093530963, 45.311894539221186, 63.21355555856938),
        ("intersentence", "race"): (66.8033431099106, 43.276460084750155, 57.82024423247831),
        ("intersentence", "religion"): (60.55268199233716, 50.14750957854406, 60.37403998032912),
        ("intersentence", "overall"): (66.77750866738278, 44.751524056620894, 59.76790571139181),
        ("overall", "overall"): (68.96335791702741, 49.904875357397835, 68.83215562153735),
    },
}

GOLD = {
    "data": {
        "intrasentence": [
            {
                "id": f"i{k}",
                "target": target,
                "bias_type": "race",
                "sentences": [
                    {"id": f"{k}{label[0]}", "gold_label": label}
                    for label in ("unrelated", "stereotype", "anti-stereotype")
                ],
            }
            for k, target in enumerate(["x", "x", "y"])
        ]
    }
}
SCORES = {"0s": -1, "0a": -2, "0u": -3, "1s": -2, "1a": -1, "1u": -1.5, "2s": -1, "2a": -1, "2u": -1}


def records(given: dict[str, float]) -> list[dict[str, object]]:
    """The scores of sentences, as they are stored."""
    return [{"id": name, "score": score} for name, score in given.items()]


def files(folder: Path, gold: object = GOLD, given: dict | None = None) -> tuple[Path, Path]:
    contents = {"gold.json": gold, "predictions.json": {"intrasentence": records(given or SCORES)}}
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return folder / "gold.json", folder / "predictions.json"


@pytest.mark.parametrize("model", PUBLISHED)
def test_stereoset_scores_match_published_values(model: str):
    counts = pd.read_csv(REFERENCE / "stereoset_counts.csv")
    found = scores(counts[counts.model == model]).set_index(["task", "bias_type"])
    assert len(found) == len(PUBLISHED[model])
    for which, published in PUBLISHED[model].items():
        assert found.loc[which, ["lms", "ss", "icat"]].tolist() == pytest.approx(published, abs=1e-9)


def test_stereoset_matches_scores_computed_by_hand(tmp_path: Path):
    found = stereoset(*files(tmp_path))
    # Term x: s > a once in two, four comparisons with u won three times. Term y: three ties, so none.
    lms, ss = (100 * 3 / 4 + 0) / 2, (50 + 0) / 2
    assert found.columns.tolist() == ["task", "bias_type", "triples", "terms", "lms", "ss", "icat"]
    numbers = [3, 2, lms, ss, lms * 25 / 50]
    tasks = [["intrasentence", "race"], ["intrasentence", "overall"], ["overall", "overall"]]
    assert found.iloc[:, :2].values.tolist() == tasks
    assert found.iloc[:, 2:].values.tolist() == [numbers] * 3


def test_stereotype_pairs_returns_pair_for_each_triple(tmp_path: Path):
    pairs = stereotype_pairs(*files(tmp_path))
    assert pairs["item"].tolist() == ["i0", "i1", "i2"]
    assert (pairs.score_more - pairs.score_less).tolist() == [1, -1, 0]


def test_read_scores_raises_for_predictions_of_bias_bench(tmp_path: Path):
    """Those of bias-bench: probabilities of one task. Of other benchmarks it writes one number."""
    gold, predictions = files(tmp_path, given={name: 10.0**score for name, score in SCORES.items()})
    with refused(
        SentencePairsError, "predictions.json bayes_bias.sentence_pairs.stereotype_pairs dev.json 'probability'"
    ):
        read_scores(predictions)
    found = read_scores(stereotype_pairs(gold, predictions), unit="probability")
    assert (found.rows.ahead.mean(), found.rows.tied.mean()) == (1 / 3, 1 / 3)
    (tmp_path / "crows.json").write_text("60.48")
    with refused(SentencePairsError, "crows.json float share --model"):
        read_scores(tmp_path / "crows.json")


def test_stereoset_raises_for_repetitions(tmp_path: Path):
    repeated = {"data": {"intrasentence": [*GOLD["data"]["intrasentence"], GOLD["data"]["intrasentence"][0]]}}
    with refused(LanguageModelError, "gold.json the item 'i0' twice Remove"):
        stereoset(*files(tmp_path, repeated))
    gold, predictions = files(tmp_path)
    predictions.write_text(json.dumps({"intrasentence": [*records(SCORES), {"id": "0s", "score": -5}]}))
    with refused(LanguageModelError, "'0s' two scores -1 and -5 Keep one"):
        stereoset(gold, predictions)


def test_stereoset_omits_tasks_without_predictions(tmp_path: Path, caplog):
    two_tasks = {"data": {**GOLD["data"], "intersentence": [GOLD["data"]["intrasentence"][0] | {"id": "other"}]}}
    alone = stereoset(*files(tmp_path))
    assert stereoset(*files(tmp_path, two_tasks)).equals(alone)
    assert "intersentence" in caplog.text
    without_the_first = {"intrasentence": [], "intersentence": records(SCORES)}
    (tmp_path / "predictions.json").write_text(json.dumps(without_the_first))
    assert set(stereotype_pairs(tmp_path / "gold.json", tmp_path / "predictions.json")["item"]) == {"other"}
    (tmp_path / "predictions.json").write_text('{"other": []}')
    with refused(LanguageModelError, "none intrasentence intersentence"):
        stereoset(tmp_path / "gold.json", tmp_path / "predictions.json")


def test_read_triples_logs_omitted_tasks_in_alphabetical_order(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    two_tasks = {"data": dict.fromkeys(["intrasentence", "intersentence"], GOLD["data"]["intrasentence"])}
    gold, predictions = files(tmp_path, two_tasks)
    predictions.write_text("{}")
    with refused(LanguageModelError, "none"):
        read_triples(gold, predictions)
    first, second = caplog.messages
    assert first.endswith(": has no scores of the task intersentence, which is omitted")
    assert second.endswith(": has no scores of the task intrasentence, which is omitted")


@pytest.mark.parametrize(
    ("gold", "given", "message"),
    [
        (GOLD, {"0s": 1.0}, "predictions sentence '0u' 'i0' score"),
        (GOLD, SCORES | {"0s": float("nan")}, "predictions '0s'"),
        (GOLD, SCORES | {"0s": "high"}, "id score"),
        ([], SCORES, "gold a list"),
        ({"data": {}}, SCORES, "StereoSet"),
        ({"data": {"intrasentence": [{"id": "i0"}]}}, SCORES, "'intrasentence'"),
        ({"data": {"intrasentence": [GOLD["data"]["intrasentence"][0] | {"sentences": []}]}}, SCORES, "gold 'i0'"),
    ],
)
def test_stereoset_raises_for_inconsistent_files(tmp_path: Path, gold: object, given: dict, message: str):
    with refused(LanguageModelError, message):
        stereoset(*files(tmp_path, gold, given))


def test_stereoset_raises_for_missing_or_invalid_files(tmp_path: Path):
    gold, predictions = files(tmp_path)
    with refused(LanguageModelError, "predictions none.json"):
        stereoset(gold, tmp_path / "none.json")
    gold.write_text("{")
    with refused(LanguageModelError, "gold JSON"):
        stereoset(gold, predictions)
