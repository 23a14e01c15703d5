"""Excel workbooks are read as a person sees them, and notices count everything else."""

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias import load_wordlist
from bayes_bias.errors import BayesBiasError
from tests.helpers import containing, refused

openpyxl = pytest.importorskip("openpyxl")

from openpyxl.comments import Comment  # noqa: E402
from openpyxl.styles import Font, PatternFill  # noqa: E402

WORDS = {
    "flowers=female": ["rose", "tulip", "daisy", "lily"],
    "insects=male": ["ant", "bee", "wasp", "moth"],
    "male": ["he", "him", "his", "man"],
    "female": ["she", "her", "hers", "woman"],
}


def long_rows() -> list[tuple[str, ...]]:
    return [("word", "group"), *((word, name) for name, words in WORDS.items() for word in words)]


def sheet_of(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book, book.active


def wide():
    return sheet_of([tuple(WORDS), *zip(*WORDS.values(), strict=True)])


def read(book, tmp_path):
    book.save(tmp_path / "list.xlsx")
    return load_wordlist(tmp_path / "list.xlsx")


def test_load_wordlist_omits_hidden_rows_with_notice(tmp_path):
    book, sheet = wide()
    sheet.auto_filter.ref = "A1:D5"
    for row in (3, 5):
        sheet.row_dimensions[row].hidden = True
    words = read(book, tmp_path)
    assert words.groups["flowers"] == ("rose", "daisy")
    assert containing(words.notices, "omitted two hidden rows", "unhide")
    sheet.row_dimensions[3].hidden = sheet.row_dimensions[5].hidden = False
    words = read(book, tmp_path)
    assert words.groups["flowers"] == tuple(WORDS["flowers=female"])
    assert not words.notices


def test_load_wordlist_omits_hidden_columns_and_sheets_with_notice(tmp_path):
    rows = [(*WORDS, "notes", "more"), *((*row, "mine", "") for row in zip(*WORDS.values(), strict=True))]
    book, sheet = sheet_of(rows)
    sheet.column_dimensions.group("E", "F", hidden=True)
    other = book.create_sheet("old")
    other.append(["rose"])
    other.sheet_state = "hidden"
    words = read(book, tmp_path)
    assert words.classes.keys() == {"male", "female"}
    assert containing(words.notices, "omitted one hidden sheet", "unhide")
    assert containing(words.notices, "omitted two hidden columns")


def test_hidden_keep_reads_hidden_and_struck_through_cells_with_notice(tmp_path):
    book, sheet = sheet_of([(*WORDS, "tools"), *zip(*WORDS.values(), ["saw", "axe", "awl", "hoe"], strict=True)])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["E"].hidden = True
    sheet["A5"].font = Font(strike=True)
    assert read(book, tmp_path).groups["flowers"] == ("rose", "daisy")
    words = load_wordlist(tmp_path / "list.xlsx", hidden="keep")
    assert words.groups["flowers"] == tuple(WORDS["flowers=female"])
    assert words.controls == {"tools": ("saw", "axe", "awl", "hoe")}
    assert containing(words.notices, "read one hidden row, one struck-through cell, and one hidden column like all")
    with refused(BayesBiasError, "`hidden` 'show' drop keep"):
        load_wordlist(tmp_path / "list.xlsx", hidden="show")


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_load_wordlist_omits_struck_through_words_with_notice(tmp_path, layout):
    book, sheet = wide() if layout == "wide" else sheet_of(long_rows())
    struck = [cell for row in sheet.iter_rows() for cell in row if cell.value in ("tulip", "bee")]
    for cell in struck:
        cell.font = Font(strike=True)
    words = read(book, tmp_path)
    assert words.groups == {"flowers": ("rose", "daisy", "lily"), "insects": ("ant", "wasp", "moth")}
    assert containing(words.notices, "omitted two struck-through cells", "remove the strikethrough")


def test_load_wordlist_reads_merged_label_in_each_row(tmp_path):
    book, sheet = sheet_of(long_rows())
    for first in range(2, 18, 4):
        sheet.merge_cells(start_row=first, end_row=first + 3, start_column=2, end_column=2)
    words = read(book, tmp_path)
    assert words.groups["insects"] == tuple(WORDS["insects=male"])
    assert containing(words.notices, "four merged ranges")


def test_load_wordlist_names_comments_and_colours_whose_meaning_is_unknown(tmp_path):
    book, sheet = wide()
    sheet["A3"].comment = Comment("drop this", "me")
    sheet["B4"].fill = PatternFill("solid", fgColor="FFFF0000")
    for cell in sheet[1]:  # a coloured heading means nothing
        cell.fill = PatternFill("solid", fgColor="FF00FF00")
    words = read(book, tmp_path)
    assert words.groups["flowers"] == tuple(WORDS["flowers=female"])
    assert containing(words.notices, "one comment of cells (A3)", "delete the words")
    assert containing(words.notices, "one cell with a colour of their own ('wasp')", "delete the words")


def test_title_above_headings_is_omitted_with_notice(tmp_path):
    rows = [("My list of words", "", "", ""), tuple(WORDS), *zip(*WORDS.values(), strict=True)]
    book, sheet = sheet_of(rows)
    assert read(book, tmp_path).groups["flowers"] == tuple(WORDS["flowers=female"])
    sheet.merge_cells("A1:D1")
    assert containing(read(book, tmp_path).notices, "'My list of words' is read as a title")
    with refused(BayesBiasError, "two columns 'science'"):  # repeated headings are no title
        (tmp_path / "repeated.csv").write_text("science,science\nphysics,chemistry\nlaboratory,Einstein\n")
        load_wordlist(tmp_path / "repeated.csv")
    for delimiter, title in ((",", "My list"), (";", "Meine Liste, 2024"), ("\t", ""), (",", '"Words; of mine"')):
        lines = [title, *(delimiter.join(row) for row in rows[1:])]
        (tmp_path / "list.csv").write_text("\n".join(lines))
        words = load_wordlist(tmp_path / "list.csv")
        assert words.groups["flowers"] == tuple(WORDS["flowers=female"])
        assert bool(title) == bool(containing(words.notices, "title", "headings"))


def test_row_of_one_heading_is_not_a_title(tmp_path):
    (tmp_path / "list.csv").write_text("flowers=female,,,\nrose,ant,he,she\n")
    with refused(BayesBiasError, "heading"):
        load_wordlist(tmp_path / "list.csv")


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "sep=;;;;"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_load_wordlist_reads_delimiter_that_excel_states(tmp_path, first, encoding):
    lines = [first, ";".join(WORDS), *(";".join(row) for row in zip(*WORDS.values(), strict=True))]
    (tmp_path / "list.csv").write_text("\r\n".join(lines), encoding=encoding)
    assert load_wordlist(tmp_path / "list.csv").groups["flowers"] == tuple(WORDS["flowers=female"])


def test_table_of_numbers_omits_hidden_rows_with_notice(tmp_path):
    rows = bb.cosines("weat6", "googlenews-demo", controls=()).to_frame()
    rows.to_excel(tmp_path / "t.xlsx", index=False)
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    for number, target in enumerate(rows.target, 2):
        book.active.row_dimensions[number].hidden = target == "John"
    book.save(tmp_path / "t.xlsx")
    from bayes_bias.table.files import read_table

    table = read_table(tmp_path / "t.xlsx", {"male names": "career", "female names": "family"})
    assert "John" not in table.values.target
    assert containing(table.notices, "omitted 16 hidden rows")


def test_read_frame_logs_hidden_rows(tmp_path, caplog):
    from bayes_bias.spreadsheets import read_frame

    pd.DataFrame({"item": ["a", "b"], "x": ["p", "q"]}).to_excel(tmp_path / "t.xlsx", index=False)
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    book.active.row_dimensions[2].hidden = True
    book.save(tmp_path / "t.xlsx")
    assert read_frame(tmp_path / "t.xlsx", "scores", BayesBiasError)["item"].to_list() == ["b"]
    assert containing(caplog.messages, "scores: omitted one hidden row")
