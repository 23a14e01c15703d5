"""Fields of the page become word lists, and files fill the fields, without a browser."""

import io
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from bayes_bias.explore.fields import Fields, examples, read_upload
from tests.helpers import refused, says

WEAT6 = Fields.of_list(load_wordlist("weat6"), "googlenews-demo")
PASSWORDS = "../../etc/passwd"


def with_text(field: str, text: str) -> Fields:
    """Return the fields of weat6 with another text in one field of the form."""
    return Fields.of_form(WEAT6.form | {field: text})


def workbook(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_excel(file, index=False)
    return file.getvalue()


def test_fields_equal_form_and_list():
    assert Fields.of_form(WEAT6.form) == WEAT6
    assert WEAT6.wordlist().sha256 == load_wordlist("weat6").sha256


def test_fields_separate_words_by_commas_semicolons_tabs_and_lines():
    assert with_text("group-1-words", " he,him;\nhis\tman ,, prime minister\r\n").wordlist().groups["male names"] == (
        "he",
        "him",
        "his",
        "man",
        "prime minister",
    )


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("group-1", "", "group 1 empty name"),
        ("class-2", "a=b", "class 2 '='"),
        ("group-2", "male names", "two columns 'male names'"),
        ("class-2", "career", "two columns 'career'"),
        ("group-1-words", " ,\n", "groups.male names empty"),
        ("group-2-words", "John, Amy", "'John' two groups"),
    ],
)
def test_fields_raise_message_of_package_if_list_is_invalid(field, text, message):
    with refused(WordListError, message):
        with_text(field, text).wordlist()


def test_fields_keep_markup_and_paths_as_text():
    fields = with_text("name", PASSWORDS)
    assert fields.wordlist().name == PASSWORDS
    assert with_text("group-1", "<script>").wordlist().groups["<script>"][0] == "John"


def test_csv_of_fields_is_read_into_equal_fields():
    again = Fields.of_list(read_upload("weat6.csv", WEAT6.csv().encode()), "googlenews-demo")
    assert again == WEAT6


@pytest.mark.parametrize("field", ["group-1-words", "class-1-words", "class-2-words"])
def test_csv_of_fields_keeps_words_that_are_fillers_elsewhere(tmp_path, field):
    fields = with_text(field, "he, NA, n/a, none, NaN, null, nil")
    again = Fields.of_list(read_upload("weat6.csv", fields.csv().encode()), "googlenews-demo")
    assert again == fields
    (tmp_path / "weat6.csv").write_text(fields.csv())
    assert load_wordlist(tmp_path / "weat6.csv").sha256 == fields.wordlist().sha256


def test_csv_of_fields_keeps_columns_with_the_same_name():
    fields = replace(WEAT6, names=("a", "b", "c", "c"))
    assert fields.csv().splitlines()[:2] == ["a=c,b=c,c,c", "John,Amy,executive,home"]


def test_csv_of_fields_quotes_formulas():
    assert "'=1+1" in with_text("group-1-words", "=1+1, John").csv()


def test_upload_reads_workbook():
    frame = pd.DataFrame(
        {"flowers": ["rose", "tulip"], "insects": ["ant", "wasp"], "good": ["a", "b"], "bad": ["c", "d"]}
    )
    wordlist = read_upload("C:\\lists\\flora.XLSX", workbook(frame))
    assert wordlist.name == "flora"
    assert dict(wordlist.stereotypes) == {"flowers": "good", "insects": "bad"}


def test_upload_reads_table_with_row_for_each_word():
    table = "word,group,source,note\nrose,flowers=good,a,\nant,insects=bad,a,\nlove,good,b,\nwar,bad,b,\n"
    assert read_upload("long.csv", table.encode()).groups["flowers"] == ("rose",)


def test_upload_has_notices_of_what_is_omitted():
    table = b"a list,,,,\na=c,b=d,c,d,mine\nw,x,y,z,tree\nv,u,t,s,stone\nr,NA,q,p,\n"
    wordlist = read_upload("five.csv", table)
    assert not wordlist.controls
    title, filler, classes = wordlist.notices
    assert says(title, "five.csv 'a list' title")
    assert says(filler, "omitted 'NA' 'b=d'")
    assert says(classes, "five.csv omitted mine page control classes")


def test_upload_of_other_columns_must_name_stereotypes():
    with refused(WordListError, "three.csv groups GROUP=CLASS"):
        read_upload("three.csv", b"a,b,c\nx,y,z\n")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (PASSWORDS, b"root", "'passwd' spreadsheet .csv .xlsx"),
        ("vectors.pkl", pickle.dumps(print), "'vectors.pkl' spreadsheet"),
        ("pickle.csv", pickle.dumps(print), "pickle.csv UTF-8"),
        ("empty.csv", b"", "empty.csv empty"),
        ("broken.xlsx", b"PK\3\4", "broken.xlsx workbook"),
        ("<b>.csv", b"a,a\nx,y", "<b>.csv two columns 'a'"),
    ],
)
def test_upload_raises_message_of_package_if_file_is_bad(name, data, message):
    with refused(WordListError, message):
        read_upload(name, data)


def test_upload_rejects_workbook_that_unpacks_to_many_bytes():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(30_000_000))
    assert len(file.getvalue()) < 100_000
    with refused(WordListError, "bomb.xlsx bytes unpacking CSV"):
        read_upload("bomb.xlsx", file.getvalue())


def test_upload_writes_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    read_upload("weat6.csv", WEAT6.csv().encode())
    assert not list(Path(tmp_path).iterdir())


def test_list_with_three_groups_does_not_fit():
    three = {name: [name] for name in "abc"}
    content = {"groups": three, "classes": {"x": ["x"], "y": ["y"]}, "stereotypes": {"a": "x", "b": "y", "c": "x"}}
    with refused(WordListError, "two groups a, b, and c x and y"):
        Fields.of_list(load_wordlist(content), "")


def test_examples_are_lists_of_weat_with_their_words():
    assert "WEAT 6: Male and female names, career and family" in examples()
    assert all(fields.wordlist().groups for fields in examples().values())
