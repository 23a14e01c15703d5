"""Cells that hold no word: padding of shorter columns, and what Excel stores in place of text."""

import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.wordlist import load_controls
from tests.helpers import containing, refused, saying, word_rows

# Two columns are one word shorter, one is two words shorter.
WORDS = {
    "trees=soft": ["oak", "elm", "ash", "fir"],
    "rocks=hard": ["slate", "chalk", "flint"],
    "soft": ["wool", "silk", "down", "felt"],
    "hard": ["iron", "glass"],
}
HEADINGS = list(WORDS)
LIST = load_wordlist(WORDS)


def padded(padding: str) -> list[list[str]]:
    return list(map(list, zip_longest(*WORDS.values(), fillvalue=padding)))


def csv(folder: Path, rows: list[list[str]]) -> Path:
    path = folder / "mine.csv"
    path.write_text("\n".join(map(",".join, [HEADINGS, *rows])))
    return path


def workbook(folder: Path, rows: list[list[Any]], **more: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name, content in {"Sheet": rows, **more}.items():
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for row in content:
            sheet.append(row)
    book.save(folder / "mine.xlsx")
    return folder / "mine.xlsx"


@pytest.mark.parametrize("padding", ["NA", "nan", "NaN", "None", "null", "NULL", ".", "N/A", ""])
def test_load_wordlist_omits_padding_in_every_format(tmp_path, padding):
    rows = padded(padding)
    frame = pd.DataFrame(rows, columns=HEADINGS)
    files = csv(tmp_path, rows), workbook(tmp_path, [HEADINGS, *rows])
    melted = frame.melt(var_name="group", value_name="word")
    for source in (*files, frame, melted, pd.read_csv(files[0]), pd.read_csv(files[0], keep_default_na=False)):
        words = load_wordlist(source)
        assert words.sha256 == LIST.sha256
        left_out = containing(words.notices, "filler")
        assert bool(left_out) == bool(
            padding and not (isinstance(source, pd.DataFrame) and source.isna().any(axis=None))
        )
        if left_out:
            assert saying(left_out, f"two '{padding}' 'hard'")


def test_load_wordlist_omits_null_only_at_end_of_column(tmp_path):
    rows = padded("")
    rows[2][1] = "null"  # the last of its column, beside words of others
    ends = load_wordlist(csv(tmp_path, rows))
    assert ends.groups["rocks"] == ("slate", "chalk")
    assert saying(ends.notices, "'null' 'rocks=hard' further up")
    rows[2][1], rows[0][1] = rows[0][1], "null"
    assert load_wordlist(csv(tmp_path, rows)).groups["rocks"] == ("null", "chalk", "slate")


def test_load_wordlist_keeps_none_as_only_cell_of_row(tmp_path):
    rows = [*padded(""), ["none", "", "", ""]]
    assert load_wordlist(csv(tmp_path, rows)).groups["trees"] == ("oak", "elm", "ash", "fir", "none")


def test_load_wordlist_keeps_null_in_mapping():
    assert load_wordlist(WORDS | {"hard": ["iron", "null"]}).classes["hard"] == ("iron", "null")


def test_load_controls_omits_padding_with_notice(tmp_path):
    (tmp_path / "controls.csv").write_text("food,places\nsoup,road\nrice,NA\n")
    controls = load_controls(tmp_path / "controls.csv")
    assert controls.controls == {"food": ("soup", "rice"), "places": ("road",)}
    assert containing(controls.notices, "NA")


def test_load_wordlist_warns_about_words_lost_by_pandas(tmp_path):
    rows = padded("NA")
    rows[0][3] = "null"
    path = csv(tmp_path, rows)
    lost = load_wordlist(pd.read_csv(path))
    assert lost.classes["hard"] == ("glass",)
    assert saying(lost.notices, "one missing 'hard' keep_default_na=False")
    kept = load_wordlist(pd.read_csv(path, keep_default_na=False))
    assert kept.classes["hard"] == load_wordlist(path).classes["hard"] == ("null", "glass")


CELLS: dict[str, tuple[Any, str]] = {
    "a number": (7, "D3 number 7"),
    "a decimal number": (0.5, "D3 number 0.5"),
    "a truth value": (True, "D3 truth value TRUE"),
    "a date": (datetime.datetime(2024, 5, 1), "D3 date 2024-05-01"),
}


@pytest.mark.parametrize("kind", CELLS)
def test_load_wordlist_raises_for_excel_cell_without_text(tmp_path, kind):
    value, message = CELLS[kind]
    rows: list[list[Any]] = [HEADINGS, *padded("")]
    rows[2][3] = value
    with refused(WordListError, f"mine.xlsx {message} Format text"):
        load_wordlist(workbook(tmp_path, rows))
    rows[2][3] = "007"
    assert load_wordlist(workbook(tmp_path, rows)).classes["hard"] == ("iron", "007")


@pytest.mark.parametrize(("value", "message"), [("#N/A", "D4 error #N/A clear"), ('=A2&""', "D4 formula value save")])
def test_load_wordlist_raises_for_excel_errors_and_empty_formulas(tmp_path, value, message):
    rows: list[list[Any]] = [HEADINGS, *padded("")]
    rows[3][3] = value
    with refused(WordListError, f"mine.xlsx {message}"):
        load_wordlist(workbook(tmp_path, rows))
    rows[3][3] = None
    assert load_wordlist(workbook(tmp_path, rows)).sha256 == LIST.sha256


def test_load_wordlist_raises_for_second_sheet_with_cells(tmp_path):
    rows = [HEADINGS, *padded("")]
    with refused(WordListError, "mine.xlsx 2 sheets 'Sheet', 'corrected' CSV delete"):
        load_wordlist(workbook(tmp_path, rows, corrected=rows))
    assert load_wordlist(workbook(tmp_path, rows, empty=[])).sha256 == LIST.sha256
    assert load_wordlist(workbook(tmp_path, [], corrected=rows)).sha256 == LIST.sha256


def test_load_wordlist_omits_column_of_numbers_with_notice(tmp_path):
    rows = [[word, heading, number] for number, (word, heading) in enumerate(word_rows(WORDS))]
    words = load_wordlist(workbook(tmp_path, [["word", "group", "id"], *rows]))
    assert words.sha256 == LIST.sha256
    assert saying(words.notices, "not id")


@pytest.mark.parametrize("label", ["NA", "nan", "", None])
def test_load_wordlist_raises_for_word_without_group(label):
    frame = pd.DataFrame([*word_rows(WORDS), ("love", label)], columns=["word", "group"])
    with refused(WordListError, "group 'love' remove row"):
        load_wordlist(frame)
    assert load_wordlist(frame.iloc[:-1]).sha256 == LIST.sha256


def test_table_command_reads_cosines_from_workbook(tmp_path, run):
    rows: list[list[Any]] = [["target", "group", "attribute", "attribute_class", "cosine"]]
    for target in ("xa", "xbb", "ya", "ybbb"):
        for number, attribute in enumerate(("pa", "pb", "qa", "qb"), 1):
            rows.append([target, target[:1], attribute, attribute[:1], len(target) * number**2 / 100])
    code, _, error = run(
        *("table", workbook(tmp_path, rows), "--stereotype", "x=p", "--stereotype", "y=q", "--out", tmp_path / "t.csv")
    )
    assert code == 0, error
