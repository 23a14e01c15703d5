"""Columns that contain no words of a list are ignored on request, in every format."""

import json

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from tests.helpers import containing, refused

COLUMNS = {
    "flowers=pleasant": ["rose", "tulip", "iris"],
    "insects=unpleasant": ["ant", "wasp", "bee"],
    "pleasant": ["love", "peace", "joy"],
    "unpleasant": ["abuse", "crash", "filth"],
}
NOTES = ["check", "", "Mum said 2.5"]
PLAIN = load_wordlist(COLUMNS)


def written(folder, kind):
    frame = pd.DataFrame({**COLUMNS, "notes": NOTES, "rating": [0.5, 0.25, 1.5]})
    path = folder / f"list.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "json":
        path.write_text(json.dumps({**COLUMNS, "notes": NOTES[:1], "rating": ["0.5"]}))
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "json", "jsonl"])
def test_load_wordlist_ignores_columns_of_files_with_notice(tmp_path, kind):
    words = load_wordlist(written(tmp_path, kind), ignore_columns=["notes", "rating"])
    assert words.sha256 == PLAIN.sha256
    assert containing(words.notices, "ignored two columns, as requested: 'notes', 'rating'")


def test_load_wordlist_ignores_columns_in_memory():
    for source in (pd.DataFrame({**COLUMNS, "notes": NOTES}), {**COLUMNS, "notes": NOTES}):
        assert load_wordlist(source, ignore_columns="notes").sha256 == PLAIN.sha256


def test_load_wordlist_ignores_second_column_of_labels_and_names_in_rows(tmp_path):
    rows = [f"{word},{name},old" for name, words in COLUMNS.items() for word in words]
    (tmp_path / "long.csv").write_text("\n".join(["word,group,class", *rows]))
    with refused(WordListError, "'group' 'class'"):
        load_wordlist(tmp_path / "long.csv")
    assert load_wordlist(tmp_path / "long.csv", ignore_columns=["class"]).sha256 == PLAIN.sha256
    lines = [",".join([name, *words]) for name, words in {**COLUMNS, "id": "123"}.items()]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    assert load_wordlist(tmp_path / "rows.csv", ignore_columns=["id"]).sha256 == PLAIN.sha256


def test_load_wordlist_names_columns_when_ignored_column_is_missing(tmp_path):
    with refused(WordListError, "`ignore_columns` 'note' 'notes' flowers=pleasant"):
        load_wordlist(written(tmp_path, "csv"), ignore_columns=["note"])


@pytest.mark.parametrize("source", ["weat6", PLAIN, {"groups": {}, "classes": {}}])
def test_load_wordlist_raises_when_columns_of_complete_list_are_ignored(source):
    with refused(WordListError, "`ignore_columns` defines own"):
        load_wordlist(source, ignore_columns=["notes"])


def test_commands_ignore_columns(run, tmp_path):
    path = written(tmp_path, "csv")
    vectors = bb.open_embedding("googlenews-demo").find([*PLAIN.words])
    assert len(vectors) == len(PLAIN.words)
    ignoring = ("--ignore-column", "notes", "--ignore-column", "rating")
    expected = bb.measures.weat(bb.cosines(COLUMNS, "googlenews-demo", ())).effect_size
    code, out, error = run("weat", path, *ignoring, "--json")
    assert code == 0, error
    assert json.loads(out)["results"]["weat"]["value"] == pytest.approx(expected)
    for command in (("table", path), ("wordlists", path), ("sentences", path, "--controls", "none")):
        made = tmp_path / f"{command[0]}.csv"
        code, _, error = run(*command, *ignoring, "--out", made)
        assert code == 0 or "word class" in error, error
    assert load_wordlist(tmp_path / "wordlists.csv").sha256 == PLAIN.sha256
    code, _, error = run("weat", tmp_path / "wordlists.csv", "--ignore-column", "note")
    assert code == 2
    assert "--ignore-column: " in error
    assert "The choices are group and word" in error
