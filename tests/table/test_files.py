"""Spreadsheets of cosines say what the frame that they were saved from says."""

import pandas as pd
import pytest

from bayes_bias import cosines
from bayes_bias.errors import TableError
from bayes_bias.table.files import COLUMNS, read_matrix, read_table, table_rows
from tests.helpers import random_table, refused

STEREOTYPES = {"men": "work", "women": "home"}


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), ("\t", ","), (";", ".")])
def test_read_table_reads_separators_and_decimal_commas(small_table, tmp_path, separator, decimal):
    path = tmp_path / "mine.csv"
    small_table.to_frame().to_csv(path, index=False, sep=separator, decimal=decimal)
    assert read_table(path, STEREOTYPES).sha256 == small_table.sha256
    small_table.values.to_pandas().to_csv(path, sep=separator, decimal=decimal)
    pd.testing.assert_frame_equal(read_matrix(path), small_table.values.to_pandas(), check_names=False)


def test_read_matrix_raises_without_numbers(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word\nhe\nshe\n")
    with refused(TableError, "words.csv one column numbers"):
        read_matrix(path)


def test_read_table_reads_renamed_columns(small_table, tmp_path):
    path = tmp_path / "mine.csv"
    theirs = {"target": "word", "cosine": "similarity"}
    small_table.to_frame().rename(columns=theirs).to_csv(path, index=False)
    with refused(TableError, "mine.csv 'target' --target attribute_class"):
        read_table(path, STEREOTYPES)
    columns = {**COLUMNS, "target": "word", "value": "similarity"}
    assert read_table(path, STEREOTYPES, columns=columns).sha256 == small_table.sha256


def test_read_table_raises_for_invalid_number(small_table, tmp_path):
    path = tmp_path / "mine.csv"
    frame = small_table.to_frame().astype({"cosine": object})
    frame.loc[1, "cosine"] = "n/a"
    frame.to_csv(path, index=False)
    with refused(TableError, f"cosine 'n/a' '{frame.target[1]}' '{frame.attribute[1]}'"):
        read_table(path, STEREOTYPES)


def test_read_table_raises_for_matrix_and_missing_stereotypes(small_table, tmp_path):
    path = tmp_path / "mine.csv"
    small_table.to_frame().to_csv(path, index=False)
    with refused(TableError, "mine.csv women 'women=work' home"):
        read_table(path, {"men": "work"})
    small_table.values.to_pandas().to_csv(path)
    with refused(TableError, "--matrix mine.csv"):
        read_table(path, STEREOTYPES)


def test_read_table_omits_group_marked_none(tmp_path):
    frame = random_table(targets={"men": 3, "women": 3, "balanced": 3}).to_frame()
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    two = {"men": "work", "women": "home"}
    with refused(TableError, "balanced 'balanced=none'"):
        read_table(path, two)
    read = read_table(path, two | {"balanced": "none"})
    assert read.values.equals(read_table_of(frame[frame.group != "balanced"], two, tmp_path).values)
    assert "balanced" in " ".join(read.notices)
    with refused(TableError, "'balancd' Did you mean 'balanced'"):
        read_table(path, two | {"balancd": "none", "balanced": "none"})


def read_table_of(frame, stereotypes, folder):
    frame.to_csv(folder / "other.csv", index=False)
    return read_table(folder / "other.csv", stereotypes)


def test_table_file_keeps_related_words(tmp_path):
    table = cosines("weat6", "googlenews-demo", ())
    path = tmp_path / "weat6.csv"
    table_rows(table).to_csv(path, index=False)
    again = read_table(path)
    for category, related in table.related_words.categories.items():
        found = again.related_words.categories[category]
        assert found.ends == related.ends
        assert (found.inflation, found.preference_sd, found.directions) == pytest.approx(
            (related.inflation, related.preference_sd, related.directions)
        )
