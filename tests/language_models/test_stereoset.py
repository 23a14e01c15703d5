"""StereoSet's scores are those that its authors published for their models' predictions."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.stereoset import read_triples, scores, stereoset, stereotype_pairs
from tests.helpers import REFERENCE

# LM Score, SS Score, ICAT Score of the intrasentence task in code/predictions.json of github.com/moinnadeem/StereoSet,
# with all digits given there. Counts of preferences are in tests/reference/; where they come from is told there.
PUBLISHED = {
    "gpt2": {
        "gender": (93.27790824312564, 62.66777425473077, 69.64543855157751),
        "race": (89.7567072075023, 60.35000089116578, 71.1770672157872),
        "religion": (88.45977011494251, 58.02298850574713, 74.26553573787817),
    },
    "roberta-base": {
        "gender": (71.35529148790017, 54.207720942503556, 65.3504284008585),
        "race": (70.02782512792561, 56.07187093282957, 61.52382681025514),
        "religion": (70.59770114942529, 40.82758620689655, 57.646674593737615),
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


def files(folder: Path, gold: object = GOLD, given: dict | None = None) -> tuple[Path, Path]:
    given = SCORES if given is None else given
    rows = [{"id": name, "score": score} for name, score in given.items()]
    contents = {"gold.json": gold, "predictions.json": {"intrasentence": rows}}
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return folder / "gold.json", folder / "predictions.json"


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_predictions_have_their_published_scores(model: str):
    counts = pd.read_csv(REFERENCE / "stereoset_counts.csv")
    found = scores(counts[counts.model == model]).query("task == 'intrasentence'").set_index("bias_type")
    for kind, published in PUBLISHED[model].items():
        assert found.loc[kind, ["lms", "ss", "icat"]].tolist() == pytest.approx(published, abs=1e-9)


def test_files_worked_out_by_hand(tmp_path: Path):
    found = stereoset(*files(tmp_path))
    # Term x: s > a once in two, four comparisons with u won three times. Term y: three ties, so none.
    lms, ss = (100 * 3 / 4 + 0) / 2, (50 + 0) / 2
    assert found.columns.tolist() == ["task", "bias_type", "triples", "terms", "lms", "ss", "icat"]
    assert found.values.tolist() == [
        [task, kind, 3, 2, lms, ss, lms * 25 / 50]
        for task, kind in [("intrasentence", "race"), ("intrasentence", "overall"), ("overall", "overall")]
    ]


def test_triples_are_pairs_of_sentences_too(tmp_path: Path):
    pairs = stereotype_pairs(read_triples(*files(tmp_path)))
    assert pairs["item"].tolist() == ["i0", "i1", "i2"]
    assert (pairs.score_more - pairs.score_less).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("gold", "given", "message"),
    [
        (GOLD, {"0s": 1.0}, "predictions: sentence '0u' of 'i0' has no score"),
        (GOLD, SCORES | {"0s": float("nan")}, "predictions: '0s' in"),
        (GOLD, SCORES | {"0s": "high"}, "is no id with a score"),
        ([], SCORES, "gold: "),
        ({"data": {}}, SCORES, "has no triples of sentences; give StereoSet's dev.json"),
        ({"data": {"intrasentence": [{"id": "i0"}]}}, SCORES, "an example of 'intrasentence' in"),
        (
            {"data": {"intrasentence": [GOLD["data"]["intrasentence"][0] | {"sentences": []}]}},
            SCORES,
            "gold: 'i0' in",
        ),
    ],
)
def test_files_that_do_not_belong_together(tmp_path: Path, gold: object, given: dict, message: str):
    with pytest.raises(LanguageModelError) as caught:
        stereoset(*files(tmp_path, gold, given))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_no_json(tmp_path: Path):
    gold, predictions = files(tmp_path)
    with pytest.raises(LanguageModelError, match=r"predictions: .* cannot be read as JSON: No such file"):
        stereoset(gold, tmp_path / "none.json")
    gold.write_text("{")
    with pytest.raises(LanguageModelError, match=r"gold: .* cannot be read as JSON"):
        stereoset(gold, predictions)
