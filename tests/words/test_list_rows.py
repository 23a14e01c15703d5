"""Tables with a word list in each row, such as WEATHub: one row is read, and several are never merged or dropped."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.list_files import read_names
from tests.helpers import option, refused, word_rows

ENGLISH = {
    "Flowers": ["rose", "tulip", "lily"],
    "Insects": ["ant", "fly", "bee"],
    "Pleasant": ["love", "peace", "joy"],
    "Unpleasant": ["agony", "evil", "grief"],
}
GERMAN = {
    "Flowers": ["Rose", "Tulpe", "Lilie"],
    "Insects": ["Ameise", "Fliege", "Biene"],
    "Pleasant": ["Liebe", "Frieden", "Freude"],
    "Unpleasant": ["Qual", "Böses", "Trauer"],
}
EXPECTED = load_wordlist(
    {
        "Flowers=Pleasant": ENGLISH["Flowers"],
        "Insects=Unpleasant": ENGLISH["Insects"],
        "Pleasant": ENGLISH["Pleasant"],
        "Unpleasant": ENGLISH["Unpleasant"],
    }
)
PARTS = ("targ1", "targ2", "attr1", "attr2")


def row(words: dict[str, list[str]], **about: str) -> dict:
    """A row of WEATHub."""
    parts = {}
    for part, content in nested(words).items():
        parts |= {f"{part}.category": content["category"], f"{part}.examples": content["examples"]}
    return {**about, **parts}


def nested(words: dict[str, list[str]], **about: str) -> dict:
    parts = {}
    for part, (name, own) in zip(PARTS, words.items(), strict=True):
        parts[part] = {"category": name, "examples": own}
    return {**about, **parts}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(rows: list[dict], name: str) -> str:
    path = Path(name)
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        path.write_text(json.dumps(rows))  # which is YAML as well
    return name


FILES = ["w.parquet", "w.jsonl", "w.json", "w.yaml"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("of", [row, nested])
def test_load_wordlist_reads_single_row_of_weathub(name, of):
    path = written([of(ENGLISH, language="en", weat="WEAT1")], name)
    assert load_wordlist(path).sha256 == EXPECTED.sha256


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("of", [row, nested])
def test_load_wordlist_reads_row_selected_by_language(name, of, run):
    rows = [of(ENGLISH, language="en", weat="WEAT1"), of(GERMAN, language="de", weat="WEAT1")]
    path = written(rows, name)
    for wrong in (path, f"{path}#fr"):
        with refused(WordListError, f"{name} 2 rows language en, de '{name}#en'"):
            load_wordlist(wrong)
    code, _, err = run("wordlists", path, "--groups", "targ1.examples=attr1.examples", "--out", "l.csv")
    assert code == 2
    assert "distinguished by language" in err
    german = load_wordlist(f"{path}#de")
    assert german.name == f"{Path(path).stem} de"
    assert german.language == "de"
    assert german.groups["Flowers"] == tuple(GERMAN["Flowers"])
    assert load_wordlist(Path(f"{path}#en")).sha256 == load_wordlist(f"{path}#en").sha256
    assert run("wordlists", f"{path}#de")[0] == 0


@pytest.mark.parametrize("name", FILES)
def test_load_wordlist_reads_row_selected_by_language_and_test(name):
    rows = []
    for language, words in (("en", ENGLISH), ("de", GERMAN)):
        rows += [row(words, language=language, weat="WEAT1"), row(words, language=language, weat="WEAT2")]
    with refused(WordListError, f"4 rows language and weat en WEAT1, en WEAT2 '{name}#en WEAT1'"):
        load_wordlist(written(rows, name))
    assert load_wordlist(f"{name}#de WEAT2").groups["Insects"] == tuple(GERMAN["Insects"])


def test_load_wordlist_raises_for_unknown_row():
    with refused(WordListError, "w.json#en no row '#en'"):
        load_wordlist(f"{written([row(ENGLISH)], 'w.json')}#en")


def test_load_wordlist_raises_for_several_rows_of_named_lists():
    rows = [{"lang": "en", **ENGLISH}, {"lang": "de", **GERMAN}]
    with refused(WordListError, "w.json 2 rows lang en, de"):
        load_wordlist(written(rows, "w.json"), stereotypes={"Flowers": "Pleasant", "Insects": "Unpleasant"})


def test_load_wordlist_raises_for_rows_in_two_languages():
    rows = []
    for language, lists in (("en", ENGLISH), ("de", GERMAN)):
        rows += [{"language": language, "name": name, "words": words} for name, words in lists.items()]
    with refused(WordListError, "w.json 8 rows language"):
        load_wordlist(written(rows, "w.json"), stereotypes={"Flowers": "Pleasant", "Insects": "Unpleasant"})


@pytest.mark.parametrize("name", ["w.json", "w.yaml"])
def test_load_wordlist_adds_language_to_names_under_language_keys(name, run):
    Path(name).write_text(json.dumps({"en": ENGLISH, "de": GERMAN}))
    with refused(WordListError, ", ".join(map("{} (en)".format, ENGLISH))):
        load_wordlist(name)
    code, _, err = run("wordlists", name, "--groups", "Flowers=Pleasant", "--out", "l.csv")
    assert code == 2
    assert "no words called 'Flowers'" in err
    groups = option("--groups", "Flowers (en)=Pleasant (en)", "Insects (en)=Unpleasant (en)")
    assert run("wordlists", name, *groups, "--out", "l.csv")[0] == 0
    assert load_wordlist("l.csv").targets == EXPECTED.targets


def test_wordlists_command_rejects_files_with_conflicting_words(run):
    names = ("Flowers=Pleasant", "Insects=Unpleasant", "Pleasant", "Unpleasant")
    for file, words in (("en.json", ENGLISH), ("de.json", GERMAN)):
        Path(file).write_text(json.dumps(dict(zip(names, words.values(), strict=True))))
    code, _, err = run("wordlists", "en.json", "de.json", "--out", "l.csv")
    assert code == 2
    assert "'de.json' has other words for 'Flowers' than 'en.json'" in err
    assert run("wordlists", "en.json", "en.json", "--out", "l.csv")[0] == 0
    assert load_wordlist("l.csv").sha256 == EXPECTED.sha256


def test_load_wordlist_raises_for_repeated_key():
    Path("w.json").write_text('{"a": ["x", "y"], "a": ["z"]}')
    with refused(WordListError, "w.json 'a' twice"):
        load_wordlist("w.json")


@pytest.mark.parametrize("long", [True, False])
def test_load_wordlist_reads_parquet_like_spreadsheet(long):
    heads = {"Flowers": "Flowers=Pleasant", "Insects": "Insects=Unpleasant"}
    if long:
        frame = pd.DataFrame(word_rows(ENGLISH), columns=["word", "group"]).replace({"group": heads})
    else:
        frame = pd.DataFrame(ENGLISH).rename(columns=heads)
    frame.to_parquet("w.parquet")
    assert load_wordlist("w.parquet").sha256 == EXPECTED.sha256
    pd.DataFrame({"Flowers=Pleasant": [1, 2], "Pleasant": ["a", "b"]}).to_parquet("w.parquet")
    with refused(WordListError, "w.parquet number 1 text"):
        load_wordlist("w.parquet")


def test_load_wordlist_raises_for_damaged_parquet():
    Path("w.parquet").write_bytes(b"PAR1 and no more")
    with refused(WordListError, "w.parquet damaged Parquet"):
        load_wordlist("w.parquet")


@pytest.mark.parametrize("rows", [True, False], ids=["row for each category", "column for each category"])
def test_several_words_in_a_cell_raise_error(rows):
    frame = pd.DataFrame({name: ", ".join(words) for name, words in ENGLISH.items()}, index=[0])
    if rows:
        frame = frame.T.set_axis(["words"], axis=1).rename_axis("category").reset_index()
    frame.to_csv("list.csv", index=False)
    with refused(WordListError, "list.csv 'rose, tulip, lily' 'Flowers' several words one word in each cell"):
        load_wordlist("list.csv")


@pytest.mark.parametrize(
    "sentence",
    ["In spring, {}, which is red, grows.", "in spring and in summer the red {}, as you know, grows"],
    ids=["full stop", "many words between commas"],
)
def test_sentences_with_commas_are_read(sentence):
    frame = pd.DataFrame({name: list(map(sentence.format, words)) for name, words in ENGLISH.items()})
    frame.to_csv("sentences.csv", index=False)
    assert read_names("sentences.csv").values["Flowers"][0] == sentence.format("rose")


def test_short_sentences_with_commas_are_read_if_list_states_them():
    captions = {name: [f"a {word}, large, red" for word in words] for name, words in ENGLISH.items()}
    Path("captions.json").write_text(json.dumps({**captions, "sentences": "as units"}))
    assert read_names("captions.json").values["Flowers"][0] == "a rose, large, red"
    Path("captions.json").write_text(json.dumps(captions))
    with refused(WordListError, "'a rose, large, red' several words"):
        read_names("captions.json")
