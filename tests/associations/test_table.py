"""Tables: what a tidy frame becomes, and what is refused on the way."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias import Associations
from bayes_bias.errors import AssociationsError
from tests.helpers import random_table

COLUMNS = {
    "target": "target",
    "group": "group",
    "attribute": "attribute",
    "attribute_class": "attribute_class",
    "value": "cosine",
}


def tidy() -> pd.DataFrame:
    words = {"he": "man", "son": "man", "she": "woman", "girl": "woman"}
    classes = {"boss": "work", "pay": "work", "maid": "home", "cook": "home", "tree": "neutral"}
    rows = [(t, g, a, c) for t, g in words.items() for a, c in classes.items()]
    frame = pd.DataFrame(rows, columns=["target", "group", "attribute", "attribute_class"])
    return frame.assign(cosine=np.linspace(-0.2, 0.5, len(frame)))


def read(frame: pd.DataFrame, **changes) -> Associations:
    options = {**COLUMNS, "stereotypes": {"man": "work", "woman": "home"}, **changes}
    return Associations.from_frame(frame, **options)


@given(st.integers(0, 50))
def test_a_table_comes_back_as_it_went_in(seed):
    table = random_table(seed)
    again = Associations.from_frame(table.to_frame(), stereotypes=table.stereotypes, **COLUMNS)
    assert again.values.identical(table.values)
    assert again.sha256 == table.sha256


def test_a_class_without_a_group_is_a_control():
    table = read(tidy())
    assert table.associated_classes == ("work", "home")
    assert table.controls == ("neutral",)
    assert table.without_controls().classes == ("work", "home")


def test_groups_may_come_as_a_mapping_from_target_to_group():
    frame = tidy()
    mapping = dict(zip(frame.target, frame.group, strict=True))
    assert read(frame.drop(columns="group"), group=mapping).values.identical(read(frame).values)


def test_the_callers_frame_is_not_changed():
    frame = tidy()
    before = frame.copy()
    read(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_repeated_pairs_are_dropped_with_a_notice_or_counted():
    frame = pd.concat([tidy(), tidy().head(3)])
    dropped = read(frame)
    assert dropped.values.identical(read(tidy()).values)
    assert dropped.notices == ("3 of 23 rows repeat a pair and were dropped",)
    kept = read(frame, duplicates="keep")
    assert int(kept.repeats.sum()) == 23
    assert len(kept.to_frame()) == 23


def test_a_word_never_meets_itself():
    frame = tidy()
    frame.loc[frame.attribute == "tree", "attribute"] = "she"
    table = read(frame)
    assert "she" not in table.values.attribute
    assert table.notices == ("1 word(s) are targets and attributes; dropped from the attributes: she",)


def test_a_missing_pair_stays_missing():
    table = read(tidy().drop(index=3))
    assert not table.is_complete
    assert int(table.values.isnull().sum()) == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: f.rename(columns={"cosine": "cosines"}), r"no column 'cosine'; did you mean 'cosines'"),
        (lambda f: f.assign(cosine=f.cosine.where(f.index != 4, -100.0)), r"-100 at \('he', 'tree'\)"),
        (lambda f: f.assign(cosine=f.cosine.where(f.index != 4)), r"nan at \('he', 'tree'\)"),
        (lambda f: f.assign(cosine="high"), "not numbers"),
        (lambda f: f.assign(group=f.group.where(f.index != 1, "woman")), "'he' is in 'man' and 'woman'"),
        (lambda f: f.assign(group=f.group.where(f.target != "he")), "for target 'he'"),
        (lambda f: pd.concat([f, f.head(1).assign(cosine=0.4)]), r"'boss'\) is listed with -0.2 and 0.4"),
        (lambda f: f.head(0), "has no rows"),
    ],
)
def test_a_spoilt_table_is_refused_in_one_line(spoil, message):
    with pytest.raises(AssociationsError, match=message) as error:
        read(spoil(tidy()))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("stereotypes", "message"),
    [
        ({"man": "work", "woman": "hom"}, "'hom' is no attribute class; did you mean 'home'"),
        ({"men": "work", "woman": "home"}, "'men' is no group; did you mean"),
        ({"man": "work"}, "group 'woman' has none"),
        ({"man": "work", "woman": "work"}, "at least two of each"),
    ],
)
def test_stereotypes_must_fit_the_table(stereotypes, message):
    with pytest.raises(AssociationsError, match=message):
        read(tidy(), stereotypes=stereotypes)


def test_an_unknown_way_with_duplicates_is_refused():
    with pytest.raises(AssociationsError, match="valid: drop, keep"):
        read(tidy(), duplicates="average")
