"""Tables: what a tidy frame becomes, and what is refused on the way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_bias import AssociationTable, Metric, combine_replicates, cosines, load_wordlist, open_embedding, verdict
from bayes_bias.errors import BayesBiasError, TableError
from bayes_bias.measures import measure_all, quasi_f
from bayes_bias.table.association_table import UNEVEN, uneven
from bayes_bias.table.combine_tables import difference, pair
from bayes_bias.table.labels import settled
from tests.helpers import changed, random_table, random_vectors, refused, says

COLUMNS = {
    "target": "target",
    "group": "group",
    "attribute": "attribute",
    "attribute_class": "attribute_class",
    "value": "cosine",
}
SCORE = Metric("score", unit="points", larger="closer")


def tidy() -> pd.DataFrame:
    words = {"he": "man", "son": "man", "she": "woman", "girl": "woman"}
    classes = {"boss": "work", "pay": "work", "maid": "home", "cook": "home", "tree": "neutral"}
    rows = [(t, g, a, c) for t, g in words.items() for a, c in classes.items()]
    frame = pd.DataFrame(rows, columns=["target", "group", "attribute", "attribute_class"])
    return frame.assign(cosine=np.linspace(-0.2, 0.5, len(frame)))


def read(frame: pd.DataFrame, **changes) -> AssociationTable:
    options = {**COLUMNS, "stereotypes": {"man": "work", "woman": "home"}, **changes}
    return AssociationTable.from_frame(frame, **options)


@given(st.integers(0, 50))
@settings(max_examples=15)
def test_from_frame_of_to_frame_equals_table(seed):
    table = random_table(seed)
    again = AssociationTable.from_frame(table.to_frame(), stereotypes=table.stereotypes, **COLUMNS)
    assert again.values.identical(table.values)
    assert again.sha256 == table.sha256


def test_from_frame_keeps_unassociated_class_as_control():
    table = read(tidy())
    assert table.associated_classes == ("work", "home")
    assert table.controls == ("neutral",)
    assert table.without_controls().classes == ("work", "home")


def test_from_frame_reads_groups_from_mapping():
    frame = tidy()
    mapping = frame.set_index("target").group.to_dict()
    assert read(frame.drop(columns="group"), group=mapping).values.identical(read(frame).values)


def test_from_frame_keeps_input_frame_unchanged():
    frame = tidy()
    before = frame.copy()
    read(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_from_frame_drops_or_keeps_repeated_pairs():
    frame = pd.concat([tidy(), tidy().head(3)])
    dropped = read(frame)
    assert dropped.values.identical(read(tidy()).values)
    (notice,) = dropped.notices
    assert says(notice, "3 of 23 rows repeat dropped")
    kept = read(frame, duplicates="keep")
    assert int(kept.repeats.sum()) == 23
    assert len(kept.to_frame()) == 23


def test_from_frame_compares_repeated_pairs_relative_to_size_of_values():
    small = tidy().assign(cosine=lambda frame: frame.cosine * 1e-9)
    differing = pd.concat([small, small.head(1).assign(cosine=-1e-10)])  # the first value is twice as large
    with refused(TableError, "'he' 'boss' -2e-10 -1e-10"):
        read(differing, metric=SCORE)
    rounded = small.head(3).assign(cosine=small.cosine.astype(np.float32))
    assert read(pd.concat([small, rounded]), metric=SCORE).values.shape == (4, 5)
    cosines_of_float32 = pd.concat([tidy(), tidy().head(1).assign(cosine=-0.2 + 2e-7)])
    assert read(cosines_of_float32).values.shape == (4, 5)


def test_from_frame_names_given_metric_for_value_outside_range():
    with refused(TableError, "scores 0 1 -0.2 not scores metric"):
        read(tidy(), metric=replace(SCORE, range=(0.0, 1.0)))


def test_from_frame_names_code_of_missing_values():
    with refused(TableError, "-100 'he' marks missing remove --metric"):
        read(tidy().assign(cosine=lambda rows: rows.cosine.where(rows.target != "he", -100)))


def test_from_frame_omits_target_from_attributes_with_notice():
    frame = tidy()
    frame.loc[frame.attribute == "tree", "attribute"] = "she"
    table = read(frame)
    assert "she" not in table.values.attribute
    (notice,) = table.notices
    assert says(notice, "one targets attributes dropped she")


def test_from_frame_keeps_missing_pair_as_missing():
    table = read(tidy().drop(index=3))
    assert not table.is_complete
    assert int(table.values.isnull().sum()) == 1
    assert table.notices == ("1 of 20 pairs have no value: 'he' and 'cook'",)
    for analyse in (quasi_f, verdict):
        with refused(BayesBiasError, "1 of 'he' and 'cook' words"):
            analyse(table)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: f.rename(columns={"cosine": "cosines"}), "'cosine' 'cosines'"),
        (lambda f: f.assign(cosine=f.cosine.where(f.index != 4, -100.0)), "-100 'he' 'tree'"),
        (lambda f: f.assign(cosine=f.cosine.where(f.index != 4)), "nan 'he' 'tree'"),
        (lambda f: f.assign(cosine=f.cosine.where(f.index > 2)), "nan 'he' 2 more rows"),
        (lambda f: f.assign(cosine="high"), "numbers"),
        (lambda f: f.assign(cosine=f.cosine > 0), "numbers bool"),
        (lambda f: f.assign(cosine=f.cosine + 0j), "numbers complex128"),
        (lambda f: f.assign(group=f.group.where(f.index != 1, "woman")), "'he' 'man' 'woman'"),
        (lambda f: f.assign(group=f.group.where(f.target != "he")), "'he'"),
        (lambda f: pd.concat([f, f.head(1).assign(cosine=0.4)]), "'boss' -0.2 0.4"),
        (lambda f: f.head(0), "rows"),
    ],
)
def test_from_frame_raises_for_invalid_frame(spoil, message):
    with refused(TableError, message):
        read(spoil(tidy()))


@pytest.mark.parametrize(
    ("stereotypes", "message"),
    [
        ({"man": "work", "woman": "hom"}, "'hom' 'home'"),
        ({"men": "work", "woman": "home"}, "'men'"),
        ({"man": "work"}, "stereotypes 'woman' entry"),
    ],
)
def test_from_frame_raises_for_invalid_stereotypes(stereotypes, message):
    with refused(TableError, message):
        read(tidy(), stereotypes=stereotypes)


def test_from_frame_uses_other_classes_as_opposites():
    table = read(tidy(), stereotypes={"man": "work", "woman": "work"})
    assert set(table.opposites) == set(tidy().attribute_class) - {"work"}


def test_from_frame_raises_for_unknown_duplicates():
    with refused(TableError, "duplicates 'drop' 'keep'"):
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


def test_from_frame_reads_labels_only_from_named_columns():
    assert read(tidy()).labels == ()
    table = read(labelled(), **LABELS)
    assert table.labels == tuple(LABELS)
    assert table.values.target_pair.to_numpy().tolist() == ["he/she", "", "he/she", ""]
    assert table.values.target_pair.dims == ("target",)
    assert table.values.attribute_topic.sel(attribute="cook") == "staff"


def test_from_frame_keeps_labels_from_to_frame():
    table = read(labelled(), **LABELS)
    again = read(table.to_frame(), **LABELS)
    assert again.values.identical(table.values)
    assert again.sha256 == table.sha256 != read(tidy()).sha256


def test_from_frame_omits_pair_of_one_word_with_notice():
    table = read(labelled(), **LABELS)
    (notice,) = table.notices
    assert says(notice, "attribute_pair one 'b'")
    assert table.values.attribute_pair.to_numpy().tolist() == ["a", "", "a", "", ""]
    assert "target_pair" not in settled(table.values[1:]).coords


def test_cosines_labels_words_by_topics_and_pairs():
    weat = load_wordlist("weat7")
    words = replace(
        weat, topics={"math": {"sums": ("addition", "numbers")}}, pairs=(("he", "she"), ("son", "daughter"))
    )
    table = cosines(words, "googlenews-demo", controls=())
    assert table.labels == ("target_topic", "attribute_pair")
    assert table.values.attribute_pair.sel(attribute=["he", "she", "him"]).to_numpy().tolist() == [
        "he/she",
        "he/she",
        "",
    ]
    assert cosines(weat, "googlenews-demo", controls=()).labels == ()


def test_cosines_omits_pair_without_vector():
    words = replace(load_wordlist("weat7"), pairs=(("he", "she"), ("son", "daughter")))
    vectors = open_embedding("googlenews-demo").find([*words.targets, *words.attributes])
    del vectors["she"]
    table = cosines(words, vectors, controls=())
    assert set(table.values.attribute_pair.to_numpy().tolist()) == {"", "son/daughter"}
    assert any("not in" in notice and "she" in notice for notice in table.notices)


def test_without_controls_and_difference_keep_labels():
    table = read(labelled(), **LABELS)
    controls_gone = table.without_controls()
    assert controls_gone.labels == table.labels
    assert difference(*pair(table, changed(table, 0.1))).labels == table.labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"target_topic": "topic"}, "'topic'"),
        ({"target_topic": "cosine"}, "'he' target_topic"),
        ({"attribute_pair": "attribute_class"}, "'boss' 'pay' 'work'"),
        ({"target_pair": "everyone"}, "'all' 4 he, son, she, girl two"),
    ],
)
def test_from_frame_raises_for_inconsistent_labels(labels, message):
    with refused(TableError, message):
        read(tidy().assign(everyone="all"), **labels)


def test_from_frame_warns_about_unequal_group_sizes():
    few = read(tidy()[lambda f: f.target != "girl"])
    assert few.notices == ()
    frame = tidy()
    more = frame[frame.target == "he"]
    table = read(pd.concat([frame, *(more.assign(target=f"he{i}") for i in range(4))]))
    assert len(table.notices) == 1
    assert says(table.notices[0], "group 'man' 6 'woman' 2 7% 7%")


def test_cosines_omits_size_notice_for_long_controls():
    table = cosines("weat7", "googlenews-demo")
    sizes = table.values.attribute_class.to_series().value_counts()
    assert sizes[list(table.controls)].max() >= UNEVEN * sizes[list(table.associated_classes)].min()
    assert uneven(table) == ()


def test_with_vectors_keeps_hash_of_table(small_table):
    words = [*small_table.values.target.values, *small_table.values.attribute.values]
    table = small_table.with_vectors(random_vectors(0, words, 5))
    assert table.sha256 == small_table.sha256
    assert "SAME" in measure_all(table).table.index
    assert "SAME" in measure_all(small_table).left_out
    assert table.without_controls().vectors is table.vectors
    with pytest.raises(TableError, match=rf"vectors. must .*\(d,\).*'{words[0]}'.*\(3, 5\)"):
        small_table.with_vectors({words[0]: np.ones((3, 5))})


def test_combine_replicates_keeps_vectors_of_each_table():
    rng = np.random.default_rng(0)
    words = load_wordlist("weat7")
    names = [*words.targets, *words.attributes]
    tables = {}
    for label in ("seed 0", "seed 1", "seed 2"):
        tables[label] = cosines(words, {name: rng.normal(size=4) for name in names}, ())
    combined = combine_replicates(tables, "seed")
    for label, single in combined.singles().items():
        np.testing.assert_allclose(single.vectors["math"], tables[label].vectors["math"])
    with_one_missing = tables | {"seed 0": replace(tables["seed 0"], vectors=None)}
    assert combine_replicates(with_one_missing, "seed").vectors is None


@pytest.mark.parametrize("zero", [500.0, 10_000.0])
def test_verdict_does_not_depend_on_the_zero_of_the_values(zero):
    """Values far from zero have more rounding error, but still vary."""
    table = random_table()
    moved = verdict(replace(table, values=table.values + zero, metric=Metric("score", unit="points")))
    expected = verdict(table)
    assert moved.mean == pytest.approx(expected.mean, rel=1e-6)
    assert (moved.lower, moved.upper) == pytest.approx((expected.lower, expected.upper), rel=1e-3)
