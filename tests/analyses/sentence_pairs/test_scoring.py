"""Pairs are scored by whatever has the method that is asked for, in the order and the columns of their frame."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

from bayes_bias.analyses.sentence_pairs.scoring import score as score_pairs
from bayes_bias.errors import LanguageModelError
from bayes_bias.progress import shown
from tests.helpers import refused


@dataclass(frozen=True)
class Counts:
    """A model whose scores are counts of letters."""

    name: str = "letters"
    worst: float = 0.0

    def pseudo_log_likelihood(self, pairs):
        return self.worst - np.vectorize(len)(pairs)

    def all_unmasked(self, sentences, weighted=False):
        return np.array([*map(len, sentences)]) * (-2 if weighted else -1)


@dataclass
class Heard:
    """What progress said."""

    done: list[tuple[int, int]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def step(self, text: str) -> None:
        self.steps.append(text)

    def advance(self, done: int, total: int) -> None:
        self.done.append((done, total))


CROWS = pd.DataFrame(
    {
        "Unnamed: 0": [7, 9],
        "sent_more": ["aaa", "bb"],
        "sent_less": ["a", "bbbb"],
        "stereo_antistereo": ["stereo", "antistereo"],
        "bias_type": ["gender", "age"],
        "anon_writer": ["a1", "a1"],
    }
)
OURS = pd.DataFrame({"sentence_more": ["aaa"], "sentence_less": ["a"]})


def test_score_accepts_columns_of_crows_pairs():
    scored = score_pairs(Counts(), CROWS)
    expected = pd.DataFrame(
        {
            "item": [7, 9],
            "score_more": [-3.0, -2.0],  # always sent_more, whichever way the stereotype goes
            "score_less": [-1.0, -4.0],
            "bias_type": ["gender", "age"],
            "writer": ["a1", "a1"],
            "direction": ["stereo", "antistereo"],
            "model": "letters",
            "how": "pll",
        }
    )
    pd.testing.assert_frame_equal(scored, expected, check_dtype=False)


@pytest.mark.parametrize(("how", "more"), [("aul", -3), ("aula", -6)])
def test_score_matches_model_method_for_aul_and_aula(how: str, more: float):
    assert score_pairs(Counts(), OURS, how).score_more.tolist() == [more]


def test_score_reports_progress_by_number_of_pairs():
    progress, many = Heard(), pd.concat([OURS] * 130)
    with shown(progress):
        assert list(score_pairs(Counts(), many)["item"]) == list(range(130))
    assert progress.steps == ["letters: 130 pairs"]
    assert progress.done == [(64, 130), (128, 130), (130, 130)]


@pytest.mark.parametrize(
    ("model", "frame", "how", "message"),
    [
        (Counts(), OURS, "ppl", "how 'ppl' 'pll'"),
        (Counts(), OURS, "likelihood", "model 'likelihood' load_causal"),
        ("bert", OURS, "pll", "model 'pll' load_masked str"),
        (Counts(), "pairs.csv", "pll", 'pairs str pandas.read_csv'),
        (Counts(), OURS[["sentence_more"]], "pll", "'sentence_less' 'sent_less'"),
        (Counts(), OURS[:0], "pll", 'pairs no rows'),
        (Counts(), OURS.assign(sentence_less=" "), "pll", "pairs sentence_less row 1 ' '"),
        (Counts(), OURS.assign(sentence_more=np.nan), "pll", 'pairs sentence_more row 1 nan'),
        (Counts(), pd.concat([OURS.assign(item=3)] * 2), "pll", "pairs '3'"),
        (Counts(worst=np.nan), OURS, "pll", "pairs 'letters' 'aaa' nan"),
    ],
)  # fmt: skip
def test_score_pairs_raises_for_invalid_input(model, frame, how, message):
    with refused(LanguageModelError, message):
        score_pairs(model, frame, how)
