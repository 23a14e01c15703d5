"""Missing cells of a shorter list, and words that a format takes for something else."""

import json
import math

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.list_files import read_names
from tests.helpers import containing, refused

COLUMNS = {
    "flowers=female": ["rose", "tulip", None],
    "insects=male": ["ant", "bee", "wasp"],
    "male": ["he", "him", "his"],
    "female": ["she", "her", None],
}
WORDS = {name: tuple(filter(None, words)) for name, words in COLUMNS.items()}
NESTED = {
    "groups": {"flowers": COLUMNS["flowers=female"], "insects": COLUMNS["insects=male"]},
    "classes": {"male": COLUMNS["male"], "female": COLUMNS["female"]},
    "stereotypes": {"flowers": "female", "insects": "male"},
}


def yaml_of(columns) -> str:
    lines = []
    for name, words in columns.items():
        lines.append(f"{name}: [{', '.join('null' if word is None else word for word in words)}]")
    return "\n".join(lines)


def as_nan(columns):
    return {name: [math.nan if word is None else word for word in words] for name, words in columns.items()}


def write(folder, kind):
    """Write the same list in a format, or return it as it is in memory."""
    path = folder / f"list.{kind.partition(' ')[0]}"
    match kind:
        case "csv":
            pd.DataFrame(COLUMNS).to_csv(path, index=False)
        case "parquet":
            pd.DataFrame(COLUMNS).to_parquet(path)
        case "json":
            path.write_text(json.dumps(COLUMNS))
        case "json with NaN":
            path.write_text(json.dumps(as_nan(COLUMNS)))
        case "json with groups":
            path.write_text(json.dumps(NESTED))
        case "jsonl with a name in each line":
            path.write_text("\n".join(json.dumps({"name": name, "words": words}) for name, words in COLUMNS.items()))
        case "yaml":
            path.write_text(yaml_of(COLUMNS))
        case "yml with tildes":
            path.write_text(yaml_of(COLUMNS).replace("null", "~"))
        case "dict":
            return COLUMNS
        case "dict with NaN":
            return as_nan(COLUMNS)
        case "dict with groups":
            return NESTED
        case "frame":
            return pd.DataFrame(COLUMNS)
        case "frame with NA":
            return pd.DataFrame(COLUMNS).astype("string")
    return path


KINDS = (
    *("csv", "parquet", "json", "json with NaN", "json with groups", "jsonl with a name in each line", "yaml"),
    *("yml with tildes", "dict", "dict with NaN", "dict with groups", "frame", "frame with NA"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_load_wordlist_drops_padding_in_every_format(tmp_path, kind):
    words = load_wordlist(write(tmp_path, kind))
    assert words.groups == {"flowers": WORDS["flowers=female"], "insects": WORDS["insects=male"]}
    assert words.classes == {"male": WORDS["male"], "female": WORDS["female"]}


@pytest.mark.parametrize("kind", ["json", "json with NaN", "yaml"])
def test_read_names_drops_padding(tmp_path, kind):
    assert read_names(write(tmp_path, kind)).values == {name: list(words) for name, words in WORDS.items()}


def test_load_wordlist_logs_missing_cell_above_word(tmp_path):
    columns = COLUMNS | {"male": ["he", None, "his"]}
    (tmp_path / "list.json").write_text(json.dumps(columns))
    for source in (tmp_path / "list.json", columns, pd.DataFrame(columns)):
        words = load_wordlist(source)
        assert words.classes["male"] == ("he", "his")
        assert containing(words.notices, "omitted one missing cell above a word of 'male'", "quotes")


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("no", "line 4 has 'no', which YAML reads as the truth value FALSE"),
        ("On", "line 4 has 'On', which YAML reads as the truth value TRUE"),
        ("1", "line 4 has '1', which YAML reads as the number 1"),
        ("0x1F", "line 4 has '0x1F', which YAML reads as the number 31"),
        ("2001-05-03", "line 4 has '2001-05-03', which YAML reads as the date 2001-05-03"),
        ("1e3", None),  # text in YAML 1.1
        ('"no"', None),
        ("'1'", None),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_load_wordlist_names_word_that_yaml_takes_for_something_else(tmp_path, entry, shown, nested):
    lines = ["flowers=female: [rose, tulip]", "insects=male: [ant, bee]", "male: [he, him]", f"female: [she, {entry}]"]
    if nested:
        lines = [
            *("groups: {flowers: [rose, tulip], insects: [ant, bee]}", "stereotypes: {flowers: female, insects: male}"),
            *("classes:", f"  female: [she, {entry}]", "  male: [he, him]"),
        ]
    (tmp_path / "list.yml").write_text("\n".join(lines))
    if shown is None:
        assert load_wordlist(tmp_path / "list.yml").classes["female"] == ("she", entry.strip("\"'"))
        return
    with refused(WordListError, f"{shown} quotes"):
        load_wordlist(tmp_path / "list.yml")
    (tmp_path / "list.yml").write_text("\n".join(lines).replace(f" {entry}", f" '{entry}'"))
    assert load_wordlist(tmp_path / "list.yml").classes["female"] == ("she", entry)


def test_load_wordlist_keeps_name_that_yaml_takes_for_truth_value(tmp_path):
    (tmp_path / "list.yml").write_text("a=no: [rose]\nb=yes: [ant]\nno: [he]\nyes: [she]\n")
    assert list(load_wordlist(tmp_path / "list.yml").classes) == ["no", "yes"]


@pytest.mark.parametrize("entry", [1, True, 2.5])
def test_load_wordlist_names_entry_of_json_that_is_no_text(tmp_path, entry):
    (tmp_path / "list.json").write_text(json.dumps(COLUMNS | {"male": ["he", entry, "his"]}))
    with refused(WordListError, f"male, entry 2 {str(entry).upper()} text quotes"):
        load_wordlist(tmp_path / "list.json")


@pytest.mark.parametrize("lost", [[["rose", "red"], ["tulip"]], [], [None, None], "rose tulip", 3])
def test_load_wordlist_rejects_list_that_loses_a_group(tmp_path, lost):
    (tmp_path / "list.json").write_text(json.dumps(COLUMNS | {"flowers=female": lost}))
    with refused(WordListError, "'flowers=female' group lost list of texts quotes"):
        load_wordlist(tmp_path / "list.json")


@pytest.mark.parametrize("suffix", ["json", "jsonl", "yaml"])
def test_load_wordlist_reads_records_of_word_and_group(tmp_path, suffix):
    records = [{"word": word, "group": name} for name, words in WORDS.items() for word in words]
    lines = [json.dumps(record) for record in records]
    text = {"json": json.dumps(records), "jsonl": "\n".join(lines), "yaml": "\n".join(f"- {line}" for line in lines)}
    (tmp_path / f"list.{suffix}").write_text(text[suffix])
    words = load_wordlist(tmp_path / f"list.{suffix}")
    assert words.groups == {"flowers": WORDS["flowers=female"], "insects": WORDS["insects=male"]}
