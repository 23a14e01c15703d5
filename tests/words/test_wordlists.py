"""A word list is read as its source has it, and a slip in it is an error with a remedy."""

import copy
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias.errors import WordListError
from bayes_bias.words.wordlist import WordList, control_names, load_controls, load_wordlist, wordlist_names

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
NEEDS_REFERENCE = pytest.mark.skipif(not REFERENCE.is_dir(), reason="needs ../shared/reference")

FLORA = {
    "groups": {"flowers": ["rose", "tulip"], "insects": ["ant", "wasp"]},
    "classes": {"pleasant": ["love", "peace"], "unpleasant": ["abuse", "crash"]},
    "associations": {"flowers": "pleasant", "insects": "unpleasant"},
}
FLORA_TOML = """
[groups]
flowers = ["rose", "tulip"]
insects = ["ant", "wasp"]
[classes]
pleasant = ["love", "peace"]
unpleasant = ["abuse", "crash"]
[associations]
flowers = "pleasant"
insects = "unpleasant"
"""


def changed(key, name, value):
    content = copy.deepcopy(FLORA)
    content[key][name] = value
    return content


@pytest.mark.parametrize("name", wordlist_names())
def test_shipped_list_is_complete_and_cites_its_source(name):
    wordlist = load_wordlist(name)
    assert wordlist.name == name
    assert wordlist.title
    assert wordlist.description
    assert wordlist.source.doi.startswith("10.")
    assert wordlist.source.doi in wordlist.source.bibtex
    assert set(wordlist.stereotypes) == set(wordlist.groups)
    assert set(wordlist.stereotypes.values()) == set(wordlist.classes)


@NEEDS_REFERENCE
@pytest.mark.parametrize("number", range(1, 11))
def test_weat_items_are_those_of_caliskan_et_al(number):
    items = pd.read_csv(REFERENCE / "weat_items_caliskan.csv").query(f"Study == 'WEAT{number}'")
    wordlist = load_wordlist(f"weat{number}")
    for role, table in (("target", wordlist.groups), ("attribute", wordlist.classes)):
        published = items[items.Role == role].groupby("Condition", sort=False).Word.agg(tuple)
        assert set(table.values()) == set(published)


@NEEDS_REFERENCE
@pytest.mark.parametrize("name", ["gender", "race", "religion"])
def test_manzini_words_and_controls_are_those_of_the_published_cosines(name):
    published = pd.read_csv(REFERENCE / "cosines" / f"{name}_google.csv")
    wordlist = load_wordlist(name).with_controls(["neutral", "human"])
    assert set(wordlist.targets) == set(published.protected_word)
    assert set(wordlist.attributes) == set(published.word_to_compare)
    for group, words in wordlist.groups.items():
        stereotype = published[published.protected_word.isin(words) & (published.connection == "associated")]
        assert set(stereotype.word_to_compare) == set(wordlist.classes[wordlist.stereotypes[group]])


def test_controls_have_226_neutral_and_85_human_words():
    assert {name: len(load_controls(name).controls[name]) for name in control_names()} == {
        "human": 85,
        "neutral": 226,
    }


def test_positive_bias_is_the_stereotype():
    assert load_wordlist("weat1").stereotypes["insects"] == "unpleasant"
    assert load_wordlist("weat6").stereotypes["male names"] == "career"
    assert load_wordlist("weat7").stereotypes["math"] == "male terms"
    assert load_wordlist("weat9").stereotypes["mental disease"] == "temporary"


def test_repeated_targets_are_kept_once_and_told():
    race = load_wordlist("race")
    assert race.groups["asian"] == ("asian", "asia", "china")
    assert "race: 'black' lists 'black' 2 times, 'africa' 3 times; kept once" in race.notices


def test_a_file_of_ones_own_works_like_a_name(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(FLORA_TOML)
    assert load_wordlist(path) == load_wordlist(str(path)) == WordList.from_mapping(FLORA, name="flora")


def test_a_list_is_immutable_and_leaves_its_source_alone():
    content = copy.deepcopy(FLORA)
    wordlist = WordList.from_mapping(content)
    assert content == FLORA
    with pytest.raises(TypeError):
        wordlist.groups["weeds"] = ("nettle",)


def test_hash_depends_on_words_alone(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text("# a comment\n" + FLORA_TOML + "\n[source]\ncitation = 'me'\n")
    assert load_wordlist(path).sha256 == WordList.from_mapping(FLORA).sha256
    assert load_wordlist(path).with_controls("human").sha256 != WordList.from_mapping(FLORA).sha256


def test_class_that_nobody_is_associated_with_is_a_control():
    wordlist = WordList.from_mapping(changed("classes", "food", ["bread", "soup"]))
    assert dict(wordlist.controls) == {"food": ("bread", "soup")}
    assert set(wordlist.classes) == {"pleasant", "unpleasant"}


def test_target_that_is_an_attribute_leaves_the_attributes_with_a_notice():
    wordlist = WordList.from_mapping(changed("classes", "pleasant", ["love", "rose"]), name="flora")
    assert wordlist.classes["pleasant"] == ("love",)
    assert wordlist.notices == ("flora: 'rose' is a target; left out of the class 'pleasant'",)


def test_control_words_used_elsewhere_leave_the_control_with_a_notice(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[classes]\nfirst = ["rose", "love", "soup"]\nsecond = ["soup", "bread"]\n')
    wordlist = WordList.from_mapping(FLORA, name="flora").with_controls([path])
    assert dict(wordlist.controls) == {"first": ("rose", "love", "soup"), "second": ("bread",)} | {
        "first": ("soup",)
    }
    assert any("'rose' is a target" in notice for notice in wordlist.notices)
    assert any("'love' is in 'pleasant' too" in notice for notice in wordlist.notices)


BAD_CONTENT = {
    "unknown key": ({**FLORA, "asociations": {}}, "unknown key 'asociations'; did you mean 'associations'"),
    "unknown source key": ({**FLORA, "source": {"DOI": "10"}}, "'source': unknown key 'DOI'"),
    "unknown group": (
        changed("associations", "flwers", "pleasant"),
        "unknown group 'flwers'; did you mean 'flowers'",
    ),
    "unknown class": (
        changed("associations", "flowers", "plesant"),
        "'associations.flowers' names an unknown class 'plesant'; did you mean 'pleasant'",
    ),
    "no association": (
        {**FLORA, "associations": {"flowers": "pleasant"}},
        "group 'insects' has no association",
    ),
    "empty group": (changed("groups", "flowers", []), "'groups.flowers' is empty"),
    "empty class": (changed("classes", "pleasant", []), "'classes.pleasant' is empty"),
    "number for a word": (
        changed("groups", "flowers", ["rose", 7]),
        "'groups.flowers' lists 7; a word is text",
    ),
    "blanks around a word": (changed("groups", "flowers", ["rose "]), "'groups.flowers' lists 'rose '"),
    "text for a list": (changed("groups", "flowers", "rose"), "'rose' .str.; write it as a list of words"),
    "list for a table": (
        {**FLORA, "groups": ["rose"]},
        r"'groups' is \['rose'\] .list.; write it as a table",
    ),
    "word in two groups": (
        changed("groups", "insects", ["ant", "rose"]),
        "'rose' is in two groups, 'flowers' and 'insects'; remove it from one",
    ),
    "word in two classes": (
        changed("classes", "unpleasant", ["abuse", "love"]),
        "'love' is in two associated classes, 'pleasant' and 'unpleasant'",
    ),
    "class of targets": (
        changed("classes", "pleasant", ["rose"]),
        "every word of class 'pleasant' is used elsewhere",
    ),
    "one group": (
        {**FLORA, "groups": {"flowers": ["rose"]}, "associations": {"flowers": "pleasant"}},
        "found 'flowers' as groups",
    ),
    "one class for all": (
        changed("associations", "insects", "pleasant"),
        "found 'pleasant' as associated classes",
    ),
    "no groups": ({"classes": FLORA["classes"]}, r"has no \[groups\]"),
}


@pytest.mark.parametrize(("content", "message"), BAD_CONTENT.values(), ids=BAD_CONTENT.keys())
def test_bad_content_is_refused(content, message):
    with pytest.raises(WordListError, match=message) as caught:
        WordList.from_mapping(content, name="flora")
    assert str(caught.value).startswith("flora: ")
    assert "\n" not in str(caught.value)


def test_no_such_list():
    with pytest.raises(WordListError, match=r"'weat77' is neither .* did you mean 'weat7'\?"):
        load_wordlist("weat77")


def test_no_such_control():
    with pytest.raises(WordListError, match=r"control classes: 'nutral' .* did you mean 'neutral'\?"):
        load_wordlist("weat7").with_controls(["nutral"])


def test_malformed_toml_is_located(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text('[groups]\nflowers = ["rose" "tulip"]\n')
    with pytest.raises(WordListError, match=r"broken\.toml: not valid TOML: .*line 2, column 19"):
        load_wordlist(path)


def test_list_given_as_control_is_refused(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(FLORA_TOML)
    with pytest.raises(WordListError, match="is a word list, not control classes"):
        load_controls(path)


def test_control_with_the_name_of_a_class_is_refused():
    wordlist = load_wordlist("weat7").with_controls("neutral")
    with pytest.raises(WordListError, match="'neutral' already is a class of the list 'weat7'"):
        wordlist.with_controls("neutral")
