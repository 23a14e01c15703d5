"""A report shows how frequent words are, and warns where groups and classes both differ."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.report.check import Check, Study
from bayes_bias.analyses.report.check_frequency import CHECKER
from bayes_bias.associations.lists import with_random_words
from bayes_bias.models.spec import load_spec
from tests.helpers import FEW, says

WORDS = [f"w{chr(97 + k // 676)}{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}" for k in range(3_000)]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), 20)).round(4)


@pytest.fixture(scope="module")
def ordered(tmp_path_factory) -> Path:
    """Frequent words first, as word2vec and GloVe write them."""
    path = tmp_path_factory.mktemp("vectors") / "ordered.txt"
    path.write_text("\n".join(f"{word} {' '.join(map(str, v))}" for word, v in zip(WORDS, VECTORS, strict=True)))
    return path


def checked(embedding: object, first_group: int, first_class: int) -> Check:
    """Words of the second group, and class, lie among the last; those of the first from a place on."""
    parts = {"a=c": first_group, "b=d": 2_500, "c": first_class, "d": 2_705}
    words = {home: WORDS[start : start + 160 : 20] for home, start in parts.items()}
    (table,) = with_random_words([bb.cosines(words, embedding, (), sub_topics="independent")])
    no_fit: Any = None  # which words are frequent needs none
    return CHECKER.run(Study(table, no_fit, load_spec("crossed"), "both", 0.95, 1, FEW, nulls=None, null_draws=0))


def test_unequal_frequency_is_an_alarm_with_remedy(ordered):
    check = checked(ordered, 0, 10)
    assert check.alarm
    assert says(check.text, "a 71 b 2,571 c 81 d 2,776 covariates rank")
    assert check.numbers["rank_ratio_groups"] > check.numbers["rank_limit_groups"] > 1


def test_where_one_side_alone_differs_it_is_none(ordered):
    check = checked(ordered, 0, 2_310)
    assert not check.alarm
    assert "covariates" not in check.text
    assert check.numbers["rank_ratio_classes"] < check.numbers["rank_limit_classes"]


def test_vectors_in_no_order_tell_no_frequency():
    check = checked(dict(zip(WORDS, VECTORS, strict=True)), 0, 10)
    assert not check.numbers
    assert "does not show" in check.text
