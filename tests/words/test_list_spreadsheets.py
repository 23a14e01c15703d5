"""Spreadsheets as people keep them: long tables, Excel, other encodings, headings without a stereotype, notes."""

import sys
from unicodedata import normalize

import pandas as pd
import pytest

from bayes_bias import WordList, load_wordlist
from bayes_bias.errors import WordListError
from tests.helpers import says

WORDS = {
    "groups": {"Democrats": ["Biden", "Obama"], "Republicans": ["Trump", "Bush"]},
    "classes": {"competence": ["smart", "able"], "warmth": ["kind", "warm"]},
    "stereotypes": {"Democrats": "warmth", "Republicans": "competence"},
}
EXPECTED = WordList.from_mapping(WORDS, name="politics")
PLAIN = "Democrats,Republicans,competence,warmth\nBiden,Trump,smart,kind\nObama,Bush,able,warm\n"
HEADED = PLAIN.replace("Democrats", "Democrats=warmth").replace("Republicans", "Republicans=competence")


def test_words_in_memory_are_a_list():
    series = {name: pd.Series(words) for name, words in WORDS["groups"].items()}
    assert WordList.from_words(series, WORDS["classes"], WORDS["stereotypes"], name="politics") == EXPECTED
    assert load_wordlist(WORDS).sha256 == EXPECTED.sha256


def test_headings_without_a_stereotype_are_named_with_what_to_write(tmp_path):
    (tmp_path / "politics.csv").write_text(PLAIN)
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.csv")
    assert says(str(refused.value), "Democrats Republicans competence warmth GROUP=CLASS --stereotype")
    given = load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    assert given == EXPECTED


def test_the_command_line_adds_stereotypes_to_a_spreadsheet(run, tmp_path):
    sheet = tmp_path / "jobs.csv"
    sheet.write_text("technical,care,male,female\nengineer,nurse,he,she\nprogrammer,teacher,man,woman\n,,boy,girl\n")
    code, _, err = run("weat", sheet)
    assert code == 2
    assert says(err, "technical --stereotype")
    code, out, err = run("weat", sheet, "--stereotype", "technical=male", "--stereotype", "care=female", "--allow-loss")
    assert code == 0, err
    assert "jobs" in out


def test_a_long_table_has_a_row_for_each_word(tmp_path):
    groups = {f"{name}={WORDS['stereotypes'][name]}": words for name, words in WORDS["groups"].items()}
    rows = [(word, name) for name, words in (groups | WORDS["classes"]).items() for word in words]
    frame = pd.DataFrame(rows, columns=["word", "group"])
    frame.to_csv(tmp_path / "politics.csv", index=False)
    assert load_wordlist(tmp_path / "politics.csv") == EXPECTED
    assert WordList.from_frame(frame, name="politics") == EXPECTED


def test_excel_needs_openpyxl_and_says_so(tmp_path, monkeypatch):
    (tmp_path / "politics.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.xlsx")
    assert says(str(refused.value), "politics.xlsx openpyxl CSV")


def test_an_excel_sheet_is_read_as_text(tmp_path, monkeypatch):
    (tmp_path / "politics.xlsx").write_bytes(b"PK")
    rows = [line.split(",") for line in HEADED.splitlines()]
    monkeypatch.setattr(pd, "read_excel", lambda *_, **__: pd.DataFrame(rows))
    assert load_wordlist(tmp_path / "politics.xlsx") == EXPECTED


def test_an_excel_workbook_is_read(tmp_path):
    pytest.importorskip("openpyxl")
    rows = [line.split(",") for line in HEADED.splitlines()]
    pd.DataFrame(rows).to_excel(tmp_path / "politics.xlsx", index=False, header=False)
    assert load_wordlist(tmp_path / "politics.xlsx") == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_the_encodings_of_excel_are_read(tmp_path, encoding):
    (tmp_path / "politics.csv").write_text(HEADED, encoding=encoding)
    assert load_wordlist(tmp_path / "politics.csv") == EXPECTED


def test_another_encoding_is_named(tmp_path):
    (tmp_path / "politics.csv").write_bytes(HEADED.replace("kind", "m\u00fcde").encode("cp1252"))
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.csv")
    assert says(str(refused.value), "politics.csv UTF-8 Windows-1252 m\u00fcde")


def test_a_column_of_notes_becomes_a_control_class_with_a_notice(tmp_path):
    lines = HEADED.splitlines()
    text = "\n".join(f"{line},{note}" for line, note in zip(lines, ["notes", "check", "ask"], strict=True))
    (tmp_path / "politics.csv").write_text(text)
    words = load_wordlist(tmp_path / "politics.csv")
    assert dict(words.controls) == {"notes": ("check", "ask")}
    assert any(says(notice, "politics control notes") for notice in words.notices)
    assert not EXPECTED.notices


def test_both_encodings_of_an_accent_are_one_word():
    spellings = [normalize(form, "caf\u00e9") for form in ("NFC", "NFD")]
    words = load_wordlist({**WORDS, "classes": {**WORDS["classes"], "warmth": [*spellings, "warm"]}})
    assert words.classes["warmth"] == (spellings[0], "warm")
    assert any(says(notice, "warmth 2 times") for notice in words.notices)


def test_spellings_that_differ_in_case_are_reported():
    classes = {**WORDS["classes"], "competence": ["competent", "COMPETENT", "able"]}
    words = load_wordlist({**WORDS, "classes": classes})
    assert words.classes["competence"] == ("competent", "COMPETENT", "able")
    assert any(says(notice, "'competence' 'competent' 'COMPETENT' case") for notice in words.notices)
