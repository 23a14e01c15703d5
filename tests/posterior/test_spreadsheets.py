"""CSV files: no word is a formula, and every word comes back as it was."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.errors import TableError
from bayes_bias.files import csv_text
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.files import read_table
from tests.helpers import random_table, refused

FORMULAS = ('=HYPERLINK("http://x")', "+1", "-ed", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x")


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@pytest.mark.parametrize("word", FORMULAS)
def test_csv_text_escapes_formulas(word):
    for frame in (
        pd.DataFrame({"word": [word]}),
        pd.DataFrame({"value": [1.0]}, index=pd.Index([word], name="word")),
        pd.DataFrame({word: [1.0]}),
    ):
        assert f"'{word}" in cells(csv_text(frame))
        assert word not in cells(csv_text(frame))


def test_csv_text_keeps_numbers_and_other_words():
    frame = pd.DataFrame({"word": ["rose", "it's", "'t", None], "value": [-0.1, 1e-300, float("nan"), 3.0]})
    assert csv_text(frame, index=False) == frame.to_csv(index=False)


@given(st.lists(st.text("='+-@ab\t\r", min_size=1), min_size=1))
def test_read_frame_returns_written_words(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("csv") / "words.csv"
    path.write_text(csv_text(pd.DataFrame({"word": words, "value": 1.0}), index=False), encoding="utf-8")
    assert read_frame(path, "file", TableError, text=None).word.tolist() == words


@pytest.mark.parametrize("text", [(), None])
@pytest.mark.parametrize("index", [None, "writer", "number"])
def test_read_frame_reads_parquet_like_csv(tmp_path, text, index):
    frame = pd.DataFrame(
        {
            "number": [3, 1],
            "score": [-0.1, 1e-300],
            "writer": ["NA", "01"],
            "type": [None, "a\nb\rc"],
            "is": [True, False],
        }
    )
    frame = frame if index is None else frame.set_index(index)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=index is not None)
    read = [read_frame(tmp_path / name, "file", TableError, text=text) for name in ("t.parquet", "t.csv")]
    pd.testing.assert_frame_equal(*read)
    pd.DataFrame({"text": ["a" * 200_000]}).to_parquet(tmp_path / "long.parquet")
    assert len(read_frame(tmp_path / "long.parquet", "file", TableError).text[0]) == 200_000
    (tmp_path / "no.parquet").write_bytes(b"PAR1 and no more")
    with refused(TableError, "file damaged Parquet"):
        read_frame(tmp_path / "no.parquet", "file", TableError)


def test_read_table_reads_parquet(tmp_path):
    table = random_table()
    table.to_frame().to_parquet(tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet", {"men": "work", "women": "home"})
    pd.testing.assert_frame_equal(read.to_frame(), table.to_frame())


def test_read_table_returns_escaped_words(tmp_path):
    frame = random_table().to_frame().replace({"men 0": "=men", "work 5": "-work"})
    path = tmp_path / "mine.csv"
    path.write_text(csv_text(frame, index=False), encoding="utf-8")
    read = read_table(path, {"men": "work", "women": "home"})
    assert {"=men", "-work"} <= set(read.values.target.to_numpy()) | set(read.values.attribute.to_numpy())
