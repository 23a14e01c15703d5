"""The words of a report's lists, for the appendix of a paper."""

from dataclasses import replace
from itertools import chain

import numpy as np

import bayes_bias as bb
from bayes_bias.documents.word_tables import _lines, appendix, tables_of_analysis, words_of_tables

WORDS = {
    "groups": {"men": ["he", "him_x", "boy"], "women": ["she", "her", "girl"]},
    "classes": {"work": ["office", "salary", "50%"], "home": ["family", "wedding", "kitchen"], "any": ["up", "down"]},
    "stereotypes": {"men": "work", "women": "home"},
}


def table_of(name: str = "mine") -> bb.AssociationTable:
    words = [*chain(*WORDS["groups"].values(), *WORDS["classes"].values())]
    vectors = np.random.default_rng(1).normal(size=(len(words), 20))
    embedding = {word: vector for word, vector in zip(words, vectors, strict=True) if word != "him_x"}
    return bb.cosines(bb.WordList.from_mapping(WORDS, name=name), embedding, ())


def test_words_of_tables_marks_words_without_vector():
    words = words_of_tables({"mine": table_of()})
    assert words.columns.tolist() == ["role", "name", "word", "used", "reason"]
    assert words.groupby("role").size().to_dict() == {"attribute": 6, "control": 2, "target": 6}
    assert words[~words.used].word.tolist() == ["him_x"]


def test_appendix_escapes_words_and_lists_words_without_vector():
    text = appendix([("Mine", table_of())])
    assert r"\item[men] (2 of 3 words) he, boy. \emph{Without a usable vector: him\_x.}" in text
    assert r"50\%" in text


def test_appendix_lists_shared_control_class_once():
    text = appendix([("Mine", table_of()), ("Other", table_of("other"))])
    assert text.count(r"\item[men]") == 2
    assert text.count(r"\item[any]") == 1


def test_appendix_lines_separate_group_and_class_of_same_name():
    words = words_of_tables({"mine": table_of()})
    lines = _lines(words.replace({"name": {"work": "men"}}))
    assert [(line.name, line.n_used, line.n_all) for line in lines][::2] == [
        ("men", 2, 3),
        ("men", 3, 3),
        ("any", 2, 2),
    ]


def test_appendix_marks_copies_and_missing_words_with_comma():
    made = table_of()
    assert made.coverage is not None
    coverage = made.coverage.copy()
    coverage.loc[coverage.name == "men", "missing"] = "him, and so on"
    coverage.loc[coverage.name == "women", ["copies", "found"]] = ["girl", 2]
    changed = replace(made, coverage=coverage)
    words = words_of_tables({"mine": changed}).set_index("word")
    assert words.reason["him, and so on"] == "no usable vector"
    assert words.reason["girl"].tolist() == ["", "same vector as another word"]
    assert r"\emph{With the vector of another word: girl.}" in appendix([("Mine", changed)])


def test_tables_of_analysis_has_a_file_for_each_table_with_a_similar_name():
    table = table_of()
    files = tables_of_analysis({"-100": table, "100": table.without_controls(), "a b": table, "a-b": table})
    assert len(files["table-minus-100"]) > len(files["table-100"]) > 0
    assert {"table-a-b", "table-a-b-2"} <= set(files)
