"""Characters that nobody sees, and lists in other encodings."""

import subprocess
from itertools import chain

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines, load_wordlist, open_embedding
from bayes_bias.errors import WordListError
from tests.helpers import containing, refused

WORDS = {"trees=soft": ["oak", "elm"], "rocks=hard": ["flint"], "soft": ["wool", "silk"], "hard": ["raw iron", "tin"]}
LIST = load_wordlist(WORDS)


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("oak", "o\u00adak", "o<U+00AD>ak"),
        ("oak", "oak\u200b", "oak<U+200B>"),
        ("silk", "\u200esilk\u200f", "<U+200E>silk<U+200F>"),
        ("raw iron", "raw\u00a0iron", "raw<U+00A0>iron"),
        ("elm", "\ufeffelm", "<U+FEFF>elm"),
    ],
)
def test_load_wordlist_ignores_invisible_characters_with_notice(tmp_path, old, new, shown):
    spoilt = {name: [new if word == old else word for word in words] for name, words in WORDS.items()}
    columns = spoilt | {"rocks=hard": 2 * spoilt["rocks=hard"]}
    pd.DataFrame(columns).to_csv(tmp_path / "mine.csv", index=False)
    for source in (spoilt, tmp_path / "mine.csv"):
        words = load_wordlist(source)
        assert words.sha256 == LIST.sha256
        assert containing(words.notices, shown)


def test_load_wordlist_keeps_joiner_between_letters():
    persian = "می\u200cخواهم"
    assert persian in load_wordlist(WORDS | {"soft": ["wool", persian]}).attributes


def test_load_wordlist_ignores_hard_blanks_in_headings(tmp_path):
    (tmp_path / "m.csv").write_text("jobs=male terms,male\u00a0terms,female terms\nnurse,he,she\n")
    assert load_wordlist(tmp_path / "m.csv").stereotypes == {"jobs": "male terms"}


def test_gb18030_error_prints_working_iconv_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "花=好,虫=坏,好,坏\n玫瑰,蚂蚁,爱,恨\n"
    (tmp_path / "list.csv").write_bytes(text.encode("gb18030"))
    with refused(WordListError, "UTF-8 GB18030 '花=好,虫=坏,好,坏' iconv") as caught:
        load_wordlist("list.csv")
    command = str(caught.value).split("`")[1].replace("ENCODING", "GB18030")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert load_wordlist("utf8.csv").groups["花"] == ("玫瑰",)


def test_cosines_raises_for_several_words_in_cell(tmp_path):
    vectors = {word: [1.0, k] for k, word in enumerate(["oak", "flint", "wool", "silk", "tin"])}
    (tmp_path / "m.csv").write_text('trees=soft,rocks=hard,soft,hard\noak,flint,"wool, silk",tin\n')
    with pytest.raises(ValueError, match="look like 'oak', 'flint', 'wool', but the list has words like 'wool, silk'"):
        cosines(tmp_path / "m.csv", vectors, controls=())


# A word of a list, another spelling in the vectors, and whether a native reader takes both for one word.
SPELLINGS = [
    ("José", "jose", True),
    ("Ελλάδα", "ελλαδα", True),
    ("ёлка", "елка", True),
    ("за\u0301мок", "замок", True),  # stress
    ("שָׁלוֹם", "שלום", True),
    ("مُعَلِّم", "معلم", True),
    ("أحمد", "احمد", True),
    ("كتاب", "کتاب", True),  # Arabic and Persian kaf
    ("علي", "علی", True),
    ("ﾊﾟﾝﾀﾞ", "パンダ", True),
    ("ＲＯＳＥ", "rose", True),
    ("cœur", "coeur", True),
    ("mother-in-law", "mother_in_law", True),
    ("ガラス", "カラス", False),
    ("かぎ", "かき", False),
    ("мой", "мои", False),
    ("їсти", "істи", False),
    ("क्या", "कया", False),  # virama
    ("फ़न", "फन", False),  # nukta
    ("หมู", "หม", False),
    ("ไม้", "ไม", False),
    ("سؤال", "سوال", False),
]


@pytest.mark.parametrize(("word", "spelling", "is_same"), SPELLINGS)
def test_match_accents_is_offered_and_used_only_for_spellings_of_one_word(word, spelling, is_same):
    words = {
        "a=one": [word, "oak", "elm"],
        "b=two": ["slate", "flint", "chalk"],
        "one": ["wool", "silk", "felt"],
        "two": ["iron", "tin", "zinc"],
    }
    names = [*chain.from_iterable(words.values()), spelling]
    vectors = {name: np.random.default_rng(k).normal(size=5) for k, name in enumerate(names) if name != word}
    (missing,) = containing(cosines(words, vectors, controls=()).notices, "1 of 3 words not in")
    assert ("match='accents'" in missing or "match='case'" in missing) == is_same
    matched = cosines(words, open_embedding(vectors, match="accents"), controls=())
    assert (word in matched.values.target) == is_same
