"""A word list may be kept as the columns of a spreadsheet."""

from pathlib import Path

import pandas as pd
import pytest

from bayes_bias import WordList, cosines, load_wordlist
from bayes_bias.errors import WordListError
from tests.helpers import refused, says

ROWS = [
    ["technical=male", "care=female", "male", "female", "food"],
    ["engineer", "nurse", "he", "she", "bread"],
    ["mechanic", "teacher", " man ", "woman", "soup"],
    ["programmer", "", "boy", "girl", ""],
]
SAME = """
groups = {technical = ["engineer", "mechanic", "programmer"], care = ["nurse", "teacher"]}
classes = {male = ["he", "man", "boy"], female = ["she", "woman", "girl"], food = ["bread", "soup"]}
stereotypes = {technical = "male", care = "female"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.toml").write_text(SAME)
    return tmp_path


def written(folder: Path, text: str, name: str = "jobs.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "jobs.csv"), (";", "jobs.csv"), ("\t", "jobs.tsv"), (",", "jobs.CSV")]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_load_wordlist_reads_spreadsheet_like_toml(folder, delimiter, name, encoding):
    text = "\r\n".join(map(delimiter.join, ROWS))
    found = load_wordlist(written(folder, text, name, encoding))
    assert found == load_wordlist(folder / "jobs.toml")
    assert found.sha256 == load_wordlist(folder / "jobs.toml").sha256


def test_from_frame_equals_list_from_toml(folder):
    frame = pd.DataFrame(ROWS[1:], columns=ROWS[0]).replace("", None)
    assert WordList.from_frame(frame, name="jobs") == load_wordlist(folder / "jobs.toml")


def test_load_wordlist_keeps_placeholders_above_words(folder):
    sheet = written(folder, "a=b,b,c\nNA,null,nan\nx,y,z\n")
    assert load_wordlist(sheet).groups == {"a": ("NA", "x")}


def test_cosines_reads_controls_from_spreadsheet(folder):
    sheet = written(folder, "food,places\nsoup,city\n,road\n", "mine.csv")
    table = cosines("weat6", "googlenews-demo", controls=sheet)
    controls = {"food": ("soup",), "places": ("city", "road")}
    assert load_wordlist("weat6").with_controls(sheet).controls == controls
    assert table.controls == tuple(controls)


REFUSED = {
    "no group": ("a,b\nx,y\n", "group"),
    "no class of a group": ("a=,b\nx,y\n", "'a='"),
    "words under no name": ("a=b,b,\nx,y,z\n", "column z ''"),
    "more cells than names": ("b,a=b\nx,y,z\n", "row 2 3 cells 2 columns"),
    "two of one name": ("a=b,b,b\nx,y,z\n", "two columns 'b'"),
    "an unknown class": ("a=he,her,him\nx,y,z\n", "'stereotypes.a' 'he'"),
    "no words": ("a=b,b,c\n,y,z\n", "'groups.a' empty"),
    "nothing": ("", "jobs.csv empty"),
    "an open quote": ('a=b,b\n"x,y\n', "columns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_load_wordlist_raises_for_malformed_spreadsheet(folder, name):
    text, message = REFUSED[name]
    with refused(WordListError, "jobs.csv") as caught:
        load_wordlist(written(folder, text))
    assert says(caught.value, message)


def test_load_wordlist_raises_for_latin1_spreadsheet(folder):
    with refused(WordListError, "UTF-8"):
        load_wordlist(written(folder, "a=b,b\nmädchen,y\n", encoding="latin-1"))


def test_weat_command_reads_words_and_rejects_incomplete_cosines(run, folder):
    sheet = written(folder, "\n".join(map(",".join, ROWS)))
    code, out, err = run("weat", sheet, "--allow-loss")
    assert code == 0, err
    assert "jobs" in out
    code, _, err = run("weat", written(folder, "target,group\nx,y\n", "values.csv"))
    assert code == 2
    assert says(err, "values.csv 'attribute' --attribute")
