"""Columns of notes do not join the opposites of a list with one group: which classes are compared is asked."""

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from tests.helpers import containing, refused, says

PLAIN = "math=male,male,female\nmath,he,she\nalgebra,man,woman\ngeometry,boy,girl\n"
NOTES = "math=male,male,female,notes\nmath,he,she,check\nalgebra,man,woman,rare\ngeometry,boy,girl,\n"
IDS = "id,math=male,male,female\n1,math,he,she\n2,algebra,man,woman\n3,geometry,boy,girl\n"
TWO_GROUPS = "math=male,arts=male,male,female,source\nmath,art,he,she,own\nalgebra,dance,man,woman,own\n"


@pytest.mark.parametrize(("text", "column"), [(NOTES, "notes"), (IDS, "id"), (TWO_GROUPS, "source")])
def test_load_wordlist_raises_for_ambiguous_opposites(tmp_path, text, column):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with refused(WordListError, f"mine.csv {column} female male --opposites opposites= --ignore-column"):
        load_wordlist(path)
    named = load_wordlist(path, opposites=["female"])
    assert (named.opposites, tuple(named.controls)) == (("female",), (column,))
    ignoring = load_wordlist(path, ignore_columns=[column])
    assert (ignoring.opposites, ignoring.classes) == (("female",), named.classes)
    assert containing(ignoring.notices, "ignored one column", f"'{column}'")
    frame = pd.read_csv(path, dtype=str)
    with refused(WordListError, "--opposites"):
        load_wordlist(frame)
    assert load_wordlist(frame.drop(columns=column)).opposites == ("female",)
    assert load_wordlist(frame, opposites=["female"]).classes == named.classes


def test_load_wordlist_uses_only_other_class_as_opposite(tmp_path):
    (tmp_path / "mine.csv").write_text(PLAIN)
    assert load_wordlist(tmp_path / "mine.csv").opposites == ("female",)


def test_load_wordlist_raises_for_invalid_opposites(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(NOTES)
    with refused(WordListError, "'opposites' 'femal' 'female'"):
        load_wordlist(path, opposites=["femal"])
    with refused(WordListError, "opposites weat6"):
        load_wordlist("weat6", opposites=["family"])


@pytest.mark.slow
def test_commands_require_opposites_for_ambiguous_spreadsheet(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(NOTES.replace("notes", "family").replace("check", "home").replace("rare", "parents"))
    code, _, error = run("measures", path)
    assert code == 2
    assert says(" ".join(error.split()), "family --opposites")
    table = tmp_path / "table.csv"
    code, _, error = run("table", path, "--opposites", "female", "--out", table)
    assert code == 0, error
    code, _, error = run("measures", table)
    assert code == 0, error
