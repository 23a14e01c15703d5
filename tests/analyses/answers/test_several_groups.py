"""Questions with labels of three groups: each group against the others."""

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.cell import differences
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST
from tests.helpers import numbered, refused

GROUPS = ("english", "chinese", "spanish")
THREE = {"groups": {}, "classes": {}, "stereotypes": {}}
WORDS = {}
for name in GROUPS:
    THREE["groups"][name] = numbered(name[:3], 5)
    THREE["classes"][f"of {name}"] = numbered(f"{name}-", 4)
    THREE["stereotypes"][name] = f"of {name}"
    WORDS |= dict.fromkeys(THREE["classes"][f"of {name}"], name)


def answers(number: int = 90, association: float = 0.5, seed: int = 1) -> pd.DataFrame:
    """Answers that give words of English to the English label more often, and choose at random otherwise."""
    rng, rows = np.random.default_rng(seed), []
    for answer in range(number):
        labels = {group: f"{group[:3]}{rng.integers(5)}" for group in GROUPS}
        for word, group in WORDS.items():
            is_stereotypical = group == "english" and rng.random() < association
            chosen = labels["english" if is_stereotypical else rng.choice(GROUPS)]
            offered = " | ".join(rng.permutation(list(labels.values())))
            rows.append((answer, word, offered, chosen, f"wording {answer % 3}"))
    frame = pd.DataFrame(rows, columns=["answer", "word", "labels", "chosen", "wording"])
    return frame.assign(labels=frame.groupby("answer").labels.transform("first"))


ROWS = answers()


def test_d_of_group_equals_difference_of_shares_between_words():
    cells = {cell.stereotype: cell for cell in read_answers(ROWS, {"three": THREE}).cells}
    assert list(cells) == ["three: chinese", "three: english", "three: spanish"]
    own = ROWS.word.map(WORDS)
    for group in GROUPS:
        cell = cells[f"three: {group}"]
        is_chosen = ROWS.chosen.str.startswith(group[:3])
        by_hand = is_chosen[own == group].mean() - is_chosen[own != group].mean()
        assert differences(cell.counted).mean() == pytest.approx(by_hand)


def test_estimate_finds_associated_group():
    found = bb.answers.estimate(ROWS, {"three": THREE})
    table = found.table.droplevel("model")
    clear = found.distinguishable.droplevel("model")
    assert clear["three: english"]
    assert table["mean"]["three: english"] == pytest.approx(1 / 3, abs=0.1)  # .5 + .5 / 3, less 1 / 3
    assert table["mean"][["three: chinese", "three: spanish"]].abs().max() < 0.2


def test_read_answers_keeps_share_of_refusals():
    rows = ROWS.assign(chosen=ROWS.chosen.where(ROWS.index % 5 > 0, ""))
    cells = read_answers(rows, {"three": THREE}).cells
    for cell in cells:
        assert cell.invalid == pytest.approx((ROWS.index % 5 == 0).mean())


@pytest.mark.parametrize(
    ("change", "wordlist", "text"),
    [
        ({"labels": "eng0 | chi0"}, {"three": THREE}, "labels eng0 chi0 not one of each group"),
        ({"labels": "eng0 | chi0 | chi1"}, {"three": THREE}, "labels not one of each group"),
        ({}, LIST, "2 groups three groups or more label_a and label_b"),
        ({"stereotype": "other"}, {"three": THREE}, "no list for the stereotype other"),
    ],
)
def test_read_answers_raises_without_one_label_per_group(change, wordlist, text):
    with refused(AnswersError, text):
        read_answers(ROWS.assign(**change), wordlist)
