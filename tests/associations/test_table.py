"""Tables: what a tidy frame becomes, and what is refused on the way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias import Associations, cosines, load_wordlist, open_embedding
from bayes_bias.associations.labels import settled
from bayes_bias.debiasing.pairing import difference, pair
from bayes_bias.errors import AssociationsError
from tests.helpers import changed, random_table

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
        ({"man": "work", "woman": "work"}, "needs a group and two classes"),
    ],
)
def test_stereotypes_must_fit_the_table(stereotypes, message):
    with pytest.raises(AssociationsError, match=message):
        read(tidy(), stereotypes=stereotypes)


def test_an_unknown_way_with_duplicates_is_refused():
    with pytest.raises(AssociationsError, match="valid: drop, keep"):
        read(tidy(), duplicates="average")


LABELS = {name: name for name in ("target_topic", "target_pair", "attribute_topic", "attribute_pair")}


def labelled() -> pd.DataFrame:
    frame = tidy()
    return frame.assign(
        target_topic=frame.target.map({"son": "kin", "girl": "young"}),
        target_pair=frame.target.map({"he": "he/she", "she": "he/she"}),
        attribute_topic=frame.attribute.map({"maid": "staff", "cook": "staff"}),
        attribute_pair=frame.attribute.map({"boss": "a", "maid": "a", "tree": "b"}),
    )


def test_a_table_has_labels_only_where_its_source_names_some():
    assert read(tidy()).labels == ()
    table = read(labelled(), **LABELS)
    assert table.labels == tuple(LABELS)
    assert table.values.target_pair.to_numpy().tolist() == ["he/she", "", "he/she", ""]
    assert table.values.target_pair.dims == ("target",)
    assert table.values.attribute_topic.sel(attribute="cook") == "staff"


def test_labels_come_back_as_they_went_in():
    table = read(labelled(), **LABELS)
    again = read(table.to_frame(), **LABELS)
    assert again.values.identical(table.values)
    assert again.sha256 == table.sha256 != read(tidy()).sha256


def test_a_pair_that_has_lost_a_word_is_no_pair():
    table = read(labelled(), **LABELS)
    assert table.notices == ("attribute_pair: one word alone is labelled 'b', so it is no pair",)
    assert table.values.attribute_pair.to_numpy().tolist() == ["a", "", "a", "", ""]
    assert "target_pair" not in settled(table.values[1:]).coords


def test_a_list_gives_its_topics_and_pairs_to_the_table():
    weat = load_wordlist("weat7")
    words = replace(
        weat, topics={"math": {"sums": ("addition", "numbers")}}, pairs=(("he", "she"), ("son", "daughter"))
    )
    table = cosines("googlenews-demo", words, controls=())
    assert table.labels == ("target_topic", "attribute_pair")
    assert table.values.attribute_pair.sel(attribute=["he", "she", "him"]).to_numpy().tolist() == [
        "he/she",
        "he/she",
        "",
    ]
    assert cosines("googlenews-demo", weat, controls=()).labels == ()


def test_a_pair_of_a_word_that_the_embedding_lacks_is_no_pair():
    words = replace(load_wordlist("weat7"), pairs=(("he", "she"), ("son", "daughter")))
    vectors = open_embedding("googlenews-demo").find([*words.targets, *words.attributes])
    del vectors["she"]
    table = cosines(vectors, words, controls=())
    assert set(table.values.attribute_pair.to_numpy().tolist()) == {"", "son/daughter"}
    assert any("not in" in notice and "she" in notice for notice in table.notices)


def test_what_leaves_a_table_takes_its_labels_along():
    table = read(labelled(), **LABELS)
    controls_gone = table.without_controls()
    assert controls_gone.labels == table.labels
    assert difference(*pair(table, changed(table, 0.1))).labels == table.labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"target_topic": "topic"}, "no column 'topic'"),
        ({"target_topic": "cosine"}, "target 'he' is in .* a word belongs to one target_topic"),
        ({"attribute_pair": "attribute_class"}, "'neutral'|'work' matches 'boss' and 'pay', both in 'work'"),
        ({"target_pair": "everyone"}, r"'all' labels 4 words \(he, son, she, girl\); a pair has two"),
    ],
)
def test_labels_that_mean_nothing_are_refused(labels, message):
    with pytest.raises(AssociationsError, match=message):
        read(tidy().assign(everyone="all"), **labels)


def test_groups_of_very_different_length_are_told():
    few = read(tidy()[lambda f: f.target != "girl"])
    assert few.notices == ()
    frame = tidy()
    more = frame[frame.target == "he"]
    table = read(pd.concat([frame, *(more.assign(target=f"he{i}") for i in range(4))]))
    assert len(table.notices) == 1
    assert (
        "group 'man' has 6 words and 'woman' 2, and groups share their scales: if words of"
        in table.notices[0]
    )


def test_controls_may_be_as_long_as_they_like():
    assert not any("scale" in notice for notice in cosines("googlenews-demo", "weat7").notices)
