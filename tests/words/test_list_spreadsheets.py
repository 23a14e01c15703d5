"""Lists as people keep them: spreadsheets of any kind, frames, mappings and queries in memory."""

import sys
from types import SimpleNamespace
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from bayes_bias import WordList, cosines, load_wordlist, wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.wordlist import listed_wordlists, load_control_lists
from tests.helpers import containing, random_vectors, refused, saying, says, word_rows

WORDS = {
    "groups": {"Democrats": ["Biden", "Obama"], "Republicans": ["Trump", "Bush"]},
    "classes": {"competence": ["smart", "able"], "warmth": ["kind", "warm"]},
    "stereotypes": {"Democrats": "warmth", "Republicans": "competence"},
}
EXPECTED = WordList.from_mapping(WORDS, name="politics")
COLUMNS = WORDS["groups"] | WORDS["classes"]
HEADED_COLUMNS = {
    "Democrats=warmth": WORDS["groups"]["Democrats"],
    "Republicans=competence": WORDS["groups"]["Republicans"],
    **WORDS["classes"],
}
PLAIN = "Democrats,Republicans,competence,warmth\nBiden,Trump,smart,kind\nObama,Bush,able,warm\n"
HEADED = PLAIN.replace("Democrats", "Democrats=warmth").replace("Republicans", "Republicans=competence")


def test_load_wordlist_reads_mappings_and_frames():
    series = {name: pd.Series([*words, None]) for name, words in WORDS["groups"].items()}
    arrays = {name: np.array(words) for name, words in WORDS["classes"].items()}
    assert wordlist(series, arrays, WORDS["stereotypes"], name="politics") == EXPECTED
    for given in (WORDS, HEADED_COLUMNS, pd.DataFrame(HEADED_COLUMNS)):
        assert load_wordlist(given).sha256 == EXPECTED.sha256
        assert listed_wordlists("lists", given) == (given,)


def test_load_wordlist_reads_wefe_query():
    """https://wefe.readthedocs.io, version 1: scores are positive where sets are alike in their order."""
    query = SimpleNamespace(
        target_sets=list(WORDS["groups"].values()),
        attribute_sets=[WORDS["classes"]["warmth"], WORDS["classes"]["competence"]],
        target_sets_names=list(WORDS["groups"]),
        attribute_sets_names=["warmth", "competence"],
    )
    assert load_wordlist(query).sha256 == EXPECTED.sha256
    more = SimpleNamespace(**vars(query))
    more.target_sets, more.target_sets_names = [*query.target_sets, ["Nader"]], [*query.target_sets_names, "Greens"]
    with refused(WordListError, "stereotypes 3 Greens"):
        load_wordlist(more)
    assert load_wordlist(more, stereotypes={**WORDS["stereotypes"], "Greens": "warmth"}).groups["Greens"] == ("Nader",)


def test_load_controls_reads_mappings_and_frames():
    food = {"food": ["soup", "rice"]}
    for given in (food, pd.DataFrame(food), [food], [pd.DataFrame(food)]):
        (controls,) = load_control_lists(given)
        assert controls.controls == {"food": ("soup", "rice")}
    assert load_control_lists("none") == ()


def test_load_wordlist_raises_for_headings_without_stereotypes(tmp_path):
    (tmp_path / "politics.csv").write_text(PLAIN)
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.csv")
    assert says(str(refused.value), "Democrats Republicans competence warmth GROUP=CLASS stereotypes=")
    given = load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    assert given == EXPECTED


def test_table_command_adds_stereotypes_to_spreadsheet(run, tmp_path):
    sheet = tmp_path / "jobs.csv"
    sheet.write_text("technical,care,male,female\nengineer,nurse,he,she\nprogrammer,teacher,man,woman\n,,boy,girl\n")
    code, _, err = run("weat", sheet)
    assert code == 2
    assert says(err, "technical --groups 'technical=male'")
    stereotypes = ("--stereotype", "technical=male", "--stereotype", "care=female")
    code, out, err = run("table", sheet, *stereotypes, "--allow-loss", "--out", tmp_path / "table.csv")
    assert code == 0, err
    assert says(out, "jobs technical = male")


def test_load_wordlist_reads_long_table(tmp_path):
    frame = pd.DataFrame(word_rows(HEADED_COLUMNS), columns=["word", "group"])
    frame.to_csv(tmp_path / "politics.csv", index=False)
    assert load_wordlist(tmp_path / "politics.csv") == EXPECTED
    assert WordList.from_frame(frame, name="politics") == EXPECTED


def test_load_wordlist_warns_about_other_columns_of_long_table(tmp_path):
    frame = pd.DataFrame(word_rows(COLUMNS), columns=["Word", "Class"]).assign(notes=[*[""] * 7, "check"])
    frame.to_csv(tmp_path / "politics.csv", index=False, sep=";")
    words = load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    assert words.sha256 == EXPECTED.sha256
    assert saying(words.notices, "politics.csv notes")
    with refused(WordListError, "politics 'group' 'class'"):
        WordList.from_frame(frame.assign(group="x"), WORDS["stereotypes"], name="politics")


def test_load_wordlist_raises_for_column_of_row_numbers(tmp_path):
    """As R and pandas write them unless they are told not to."""
    wide = pd.DataFrame(COLUMNS)
    wide.to_csv(tmp_path / "politics.csv")
    with refused(WordListError, "politics.csv 0 1 '' Remove row.names=FALSE index=False"):
        load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    wide.to_csv(tmp_path / "politics.csv", index=False)
    assert load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"]).sha256 == EXPECTED.sha256


def test_load_wordlist_raises_for_headings_below_first_row(tmp_path):
    (tmp_path / "politics.csv").write_text(f"Targets,,Attributes,\n{HEADED}")
    with refused(WordListError, "politics.csv heading '' first row"):
        load_wordlist(tmp_path / "politics.csv")
    (tmp_path / "politics.csv").write_text(HEADED)
    assert load_wordlist(tmp_path / "politics.csv") == EXPECTED


def test_load_wordlist_warns_about_placeholder_in_long_table(tmp_path):
    frame = pd.DataFrame([("NA", "warmth"), *word_rows(COLUMNS)], columns=["word", "group"])
    frame.to_csv(tmp_path / "politics.csv")
    words = load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    assert "NA" in words.classes["warmth"]
    assert says(" ".join(words.notices), "not without a heading 'NA' read as a word remove row")
    frame.iloc[1:].to_csv(tmp_path / "politics.csv", index=False)
    words = load_wordlist(tmp_path / "politics.csv", stereotypes=WORDS["stereotypes"])
    assert (words.sha256, words.notices) == (EXPECTED.sha256, ())


def test_load_wordlist_raises_for_more_words_than_groups():
    with refused(WordListError, "'word' 3 'group' 2 beside"):
        load_wordlist({"word": ["Biden", "Trump", "kind"], "group": ["Democrats=warmth", "Republicans=competence"]})


def test_load_wordlist_merges_stereotypes_and_rejects_conflicts(tmp_path):
    (tmp_path / "politics.csv").write_text(HEADED)
    with refused(WordListError, "politics.csv Democrats warmth competence"):
        load_wordlist(tmp_path / "politics.csv", stereotypes={"Democrats": "competence"})
    (tmp_path / "politics.csv").write_text(PLAIN.replace("Democrats", "Democrats=warmth"))
    assert load_wordlist(tmp_path / "politics.csv", stereotypes={"Republicans": "competence"}) == EXPECTED
    with refused(WordListError, "politics.csv 'republicans' 'Republicans'"):
        load_wordlist(tmp_path / "politics.csv", stereotypes={"republicans": "competence"})
    with refused(WordListError, "stereotypes weat6"):
        load_wordlist("weat6", stereotypes={"male names": "family"})


def test_load_wordlist_raises_for_group_without_stereotype(tmp_path):
    (tmp_path / "politics.csv").write_text(PLAIN)
    with refused(WordListError, "politics.csv Republicans competence warmth --opposites"):
        load_wordlist(tmp_path / "politics.csv", stereotypes={"Democrats": "warmth"})
    alone = load_wordlist(tmp_path / "politics.csv", stereotypes={"Democrats": "warmth"}, opposites=["competence"])
    assert saying(alone.notices, "politics control Republicans")


def test_load_wordlist_raises_for_file_of_vectors(tmp_path):
    (tmp_path / "vectors.txt").write_text("he 0.1 0.2\n")
    with refused(WordListError, "vectors.txt numbers vectors embedding"):
        load_wordlist(tmp_path / "vectors.txt")


def test_excel_raises_without_openpyxl(tmp_path, monkeypatch):
    (tmp_path / "politics.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.xlsx")
    assert says(str(refused.value), "politics.xlsx openpyxl CSV")


def test_load_wordlist_reads_excel_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame(HEADED_COLUMNS).to_excel(tmp_path / "politics.xlsx", index=False)
    assert load_wordlist(tmp_path / "politics.xlsx") == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_load_wordlist_reads_encodings_of_excel(tmp_path, encoding):
    (tmp_path / "politics.csv").write_text(HEADED, encoding=encoding)
    assert load_wordlist(tmp_path / "politics.csv") == EXPECTED


def test_load_wordlist_raises_for_windows1252_spreadsheet(tmp_path):
    (tmp_path / "politics.csv").write_bytes(HEADED.replace("kind", "m\u00fcde").encode("cp1252"))
    with pytest.raises(WordListError) as refused:
        load_wordlist(tmp_path / "politics.csv")
    assert says(str(refused.value), "politics.csv UTF-8 Windows-1252 m\u00fcde")


def test_load_wordlist_keeps_column_of_notes_as_control(tmp_path):
    pd.DataFrame(HEADED_COLUMNS | {"notes": ["check", "ask"]}).to_csv(tmp_path / "politics.csv", index=False)
    words = load_wordlist(tmp_path / "politics.csv")
    assert dict(words.controls) == {"notes": ("check", "ask")}
    assert saying(words.notices, "politics control notes")
    assert not EXPECTED.notices


def test_load_wordlist_merges_composed_and_decomposed_accents():
    spellings = [normalize(form, "caf\u00e9") for form in ("NFC", "NFD")]
    words = load_wordlist({**WORDS, "classes": {**WORDS["classes"], "warmth": [*spellings, "warm"]}})
    assert words.classes["warmth"] == (spellings[0], "warm")
    assert saying(words.notices, "warmth 2 times")


def test_load_wordlist_warns_about_spellings_differing_in_case():
    classes = {**WORDS["classes"], "competence": ["competent", "COMPETENT", "able"]}
    words = load_wordlist({**WORDS, "classes": classes})
    assert words.classes["competence"] == ("competent", "COMPETENT", "able")
    assert saying(words.notices, "'competence' 'competent' 'COMPETENT' case")


def test_load_wordlist_warns_about_forms_of_one_word():
    classes = {**WORDS["classes"], "warmth": ["liberal", "liberals", "smile", "smiling", "her", "hers"]}
    words = load_wordlist({**WORDS, "classes": classes})
    (notice,) = words.notices
    assert says(notice, "'warmth' 'liberal' 'liberals' 'smile' 'smiling'")
    assert not says(notice, "'hers'")
    topics = {"warmth": {"left": ["liberal", "liberals"], "faces": ["smile", "smiling"]}}
    assert not load_wordlist({**WORDS, "classes": classes, "topics": topics}).notices


def test_load_wordlist_uses_other_class_as_opposite():
    words = load_wordlist({**WORDS, "stereotypes": {"Democrats": "warmth", "Republicans": "warmth"}})
    assert words.opposites == ("competence",)
    assert cosines(words, random_vectors(1, words.words), controls=()).opposites == ("competence",)


@pytest.mark.parametrize("heading", ["word", "Term", "token"])
def test_load_wordlist_reads_sparse_lexicon(tmp_path, heading):
    """As DLATK writes it."""
    (tmp_path / "mine.csv").write_text(
        f"id,{heading},category,weight\n1,rose,flowers=pleasant,0.9\n2,ant,insects=unpleasant,1.2\n"
        "3,love,pleasant,1.1\n4,hate,unpleasant,1\n"
    )
    found = load_wordlist(tmp_path / "mine.csv")
    assert {**found.groups, **found.classes} == {
        "flowers": ("rose",),
        "insects": ("ant",),
        "pleasant": ("love",),
        "unpleasant": ("hate",),
    }
    assert containing(found.notices, f"only the columns '{heading.lower()}' and 'category' are used, not id, weight")
