"""Lists as people have them: words under names in JSON, YAML, text and spreadsheets, and a list made of them."""

import json
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.defining_sets import read_debias_sets
from bayes_bias.words.list_files import read_names
from tests.helpers import option, refused, says, word_rows

WORDS = {"trees": ["oak", "elm"], "rocks": ["slate", "flint"], "soft": ["wool", "silk"], "hard": ["iron", "tin"]}
IS = {"trees": "soft", "rocks": "hard"}
GROUPS = {name: WORDS[name] for name in IS}
CLASSES = {name: WORDS[name] for name in IS.values()}
LIST = load_wordlist({f"{name}={IS[name]}" if name in IS else name: words for name, words in WORDS.items()})
YAML = "\n".join(f"{name}: [{', '.join(words)}]" for name, words in WORDS.items())

FILES = {
    "names.json": json.dumps(WORDS),
    "nested.json": json.dumps({"version": 1, "targets": GROUPS, "attributes": CLASSES}),
    "responsibly.json": json.dumps([{"name": "t", "first": {"name": k, "words": words}} for k, words in WORDS.items()]),
    "names.yml": YAML,
    "blocks.yaml": YAML.replace("[", "\n  - ").replace(", ", "\n  - ").replace("]", ""),
    "pairs.json": json.dumps({
        "targets": [["oak", "slate"], ["elm", "flint"]], "attributes": [["wool", "iron"], ["silk", "tin"]]
    }),
    "rated.json": json.dumps({name: [[word, 0.5, -1] for word in words] for name, words in WORDS.items()}),
    "wide.csv": pd.DataFrame(WORDS).to_csv(index=False),
    "long.csv": "year,word,score,group\n" + "".join(f"1910,{word},0.1,{name}\n" for word, name in word_rows(WORDS)),
}  # fmt: skip
PLACES = {"trees": "targets 1", "rocks": "targets 2", "soft": "attributes 1", "hard": "attributes 2"}


def same_words(words) -> bool:
    return [*words.groups.values(), *words.classes.values()] == [*LIST.groups.values(), *LIST.classes.values()]


@pytest.mark.parametrize("name", FILES)
def test_load_wordlist_reads_named_words_only_with_stereotypes(tmp_path, run, name):
    path = tmp_path / name
    path.write_text(FILES[name])
    stereotypes = IS
    if name == "pairs.json":
        stereotypes = {PLACES[group]: PLACES[class_name] for group, class_name in IS.items()}
    assert same_words(load_wordlist(path, stereotypes=stereotypes))
    with refused(WordListError, f"{name} groups --groups stereotypes"):
        load_wordlist(path)
    options = option("--groups", *map("=".join, stereotypes.items()))
    code, _, _ = run("wordlists", str(path), *options, "--out", str(tmp_path / "list.csv"))
    assert code == 0
    assert same_words(load_wordlist(tmp_path / "list.csv"))


def test_load_wordlist_error_prints_working_command(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("names.json").write_text(FILES["names.json"])
    with pytest.raises(WordListError) as error:
        load_wordlist("names.json")
    command = str(error.value.args[0]).split("`bayes-bias wordlists ")[1].split("`")[0]
    assert run("wordlists", *shlex.split(command))[0] == 0
    assert load_wordlist("new-list.csv").sha256 == LIST.sha256


def test_wordlists_command_reads_text_file_per_name(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, words in WORDS.items():
        Path(f"{name}.txt").write_text("; a comment\n\n# another\n" + "\r\n".join(words) + "\n")
    files = [f"{name}.txt" for name in WORDS]
    assert run("wordlists", *files, "--groups", "trees=soft", "--groups", "rocks=hard", "--out", "list.csv")[0] == 0
    assert load_wordlist("list.csv").sha256 == LIST.sha256
    with refused(WordListError, "trees.txt OTHER-FILES 'trees=CLASS'"):
        load_wordlist("trees.txt")
    with refused(WordListError, "not found 'tree.txt' path"):
        read_names("tree.txt")
    Path("vectors.txt").write_text("oak 0.1 -0.2 0.3 1e-3\n")
    with refused(WordListError, "vectors.txt numbers embedding"):
        load_wordlist("vectors.txt")
    Path("table.txt").write_text("trees=tall\ttall\noak\thigh\n")
    with refused(WordListError, "table.txt several columns .tsv tabs"):
        load_wordlist("table.txt")


def test_load_wordlist_reads_toml_keys_from_json_and_yaml(tmp_path):
    content = {"groups": GROUPS, "classes": CLASSES, "stereotypes": IS}
    for name in ("list.json", "list.yaml"):
        (tmp_path / name).write_text(json.dumps(content))
        assert load_wordlist(tmp_path / name).sha256 == LIST.sha256


def test_names_of_omits_other_content_with_notice():
    first = {"a": ["x"], "n": 3, "source": "book"}
    found = read_names_of([first, {"a": ["x"]}, {"a": ["y"]}])
    assert found.values == {"a (1)": ["x"], "a (2)": ["y"]}
    assert says(found.notices[0], "n source")


def read_names_of(content):
    from bayes_bias.words.list_names import names_of

    return names_of(content, "stem", "file")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.json", "{", "m.json not JSON"),
        ("m.json", "[[1, 2]]", "m.json without lists names"),
        ("m.yaml", "a: [b", "m.yaml not YAML"),
        ("m.yaml", "x: {flowers: [rose, no], flowers: [lily]}", "m.yaml not YAML 'flowers' twice"),
        ("m.yaml", "a: !!python/object/apply:os.system [ls]", "m.yaml not YAML"),
        ("m.txt", "\xff", "m.txt groups"),
    ],
)
def test_load_wordlist_raises_for_invalid_file_of_names(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with refused(WordListError, words):
        load_wordlist(tmp_path / name)


def test_yaml_raises_without_pyyaml(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "m.yaml").write_text(YAML)
    with refused(WordListError, "m.yaml PyYAML JSON"):
        load_wordlist(tmp_path / "m.yaml")


PAIRS = [["she", "he"], ["woman", "man"]]


@pytest.mark.parametrize(
    "content",
    [
        PAIRS,  # debiaswe's definitional_pairs.json
        {"definite_sets": PAIRS, "eval_targets": [["x", "y"]], "testTerms": ["chair"]},  # Manzini et al.
        {"gender": {"definitional_pairs": PAIRS, "specific_seed": ["queen"]}},  # responsibly
        {"defining_sets": PAIRS},
    ],
)
def test_read_debias_sets_reads_json_and_yaml(tmp_path, content):
    for suffix in (".json", ".yaml"):
        path = tmp_path / f"sets{suffix}"
        path.write_text(json.dumps(content))
        assert read_debias_sets(str(path)).defining_sets == (("she", "he"), ("woman", "man"))
    path.write_text(json.dumps({"defining_set": PAIRS}))
    with refused(WordListError, "'defining_set' 'defining_sets'"):
        read_debias_sets(path)


def test_read_debias_sets_reads_keys_of_other_packages(tmp_path):
    (tmp_path / "s.json").write_text(
        json.dumps({"definitional_pairs": PAIRS, "equalize_pairs": [["boy", "girl"]], "specific_full": ["queen"]})
    )
    sets = read_debias_sets(tmp_path / "s.json")
    assert (sets.equalize_sets, sets.specific) == ((("boy", "girl"),), ("queen",))


def test_wordlists_command_writes_word_classes_for_sentences(tmp_path, run):
    from bayes_bias.language_models import sentences_to_encode

    path = tmp_path / "m.csv"
    path.write_text("zots=soft,gnus=hard,soft,hard\nzot,gnu,wug,blick\nzat,gna,wag,black\n")
    code, _, err = run("sentences", str(path), "--templates", "noun-10", "--controls", "none", "--out", "s.csv")
    assert code == 2
    assert says(err, "zot zat gnu gna wug wag blick word_class wordlists")
    options = option("--word-class", "zots=noun", "gnus=noun", "soft=noun", "hard=noun")
    assert run("wordlists", str(path), *options, "--out", str(tmp_path / "list.csv"))[0] == 0
    rows = sentences_to_encode(tmp_path / "list.csv", "noun-10")
    assert set(rows.word) == {"zot", "zat", "gnu", "gna", "wug", "wag", "blick", "black"}


def test_wordlists_command_rejects_unknown_name_in_groups(tmp_path, run):
    (tmp_path / "m.json").write_text(FILES["names.json"])
    code, _, err = run("wordlists", str(tmp_path / "m.json"), "--groups", "tree=soft", "--out", str(tmp_path / "l.csv"))
    assert code == 2
    assert says(err, "'tree' Did you mean 'trees'")
    assert not (tmp_path / "l.csv").exists()
    with refused(WordListError, "complete word list"):
        read_names(Path(__file__).parents[2] / "wordlists" / "weat1.toml")


@pytest.mark.parametrize("content", ["[" * 20_000, "a: &x [b]\nc: *x\n", "{a: " * 60 + "b" + "}" * 60])
def test_load_wordlist_raises_for_deep_or_aliased_yaml(tmp_path, content):
    (tmp_path / "m.yaml").write_text(content)
    with refused(WordListError, "m.yaml YAML"):
        load_wordlist(tmp_path / "m.yaml")
