"""A word list is read as its source has it, and a slip in it is an error with a remedy."""

import copy
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import WordListError
from bayes_bias.files import shipped
from bayes_bias.words.list_files import control_names, wordlist_names
from bayes_bias.words.wordlist import WordList, load_controls, load_wordlist
from tests.helpers import REFERENCE, refused, saying, says

# Of the items of each WEAT as Caliskan et al. (2017, doi:10.1126/science.aal4230) used them, computed by `digest` from
# weat_items_caliskan.csv of https://github.com/conjugateprior/cbn, whose licence (GPL-3) keeps the file out of here.
CALISKAN = {
    1: "7cd76258d425da417ed02d0630ff4d70db9f9e08eb26d476fe05ab3ac2878ce1",
    2: "806b7479b9fa1300c81ec989d12b670db57a628a55480b0cae960cb3246e5205",
    3: "b172715b6c9d60e8569585771b23f35c95fe484c7807095b9693fdcec4fd4abc",
    4: "6249d98c0950a7bce1212e3a75a73a61a9ad139d3de093c6de3148b741fdbc53",
    5: "919f731a5863fc2dcaa1c06b5a00fc5480fcf8330bd9b64aff258ad0b9afc369",
    6: "7e69aade3796a73e122f04239e4021426bf7257ef9abc571cef41289a114fe01",
    7: "91918e4428832447e4700f3da0d5b112837c4e859c83cb137f1844afb1196f25",
    8: "38e7c9cfadf9a436e2800c3756daa0f11351b45997c93187588f87b9f080689f",
    9: "e4da3a8e0af3efcce3de2926aaa11696933ac51efffc92ccfdd0d57a5deaf9ea",
    10: "663d7e8c8e47202501abd454c3e67b903dfd8bc1ba29b9001bffaef8046df899",
}

FLORA = {
    "groups": {"flowers": ["rose", "tulip"], "insects": ["ant", "wasp"]},
    "classes": {"pleasant": ["love", "peace"], "unpleasant": ["abuse", "crash"]},
    "stereotypes": {"flowers": "pleasant", "insects": "unpleasant"},
}
FLORA_TOML = """
[groups]
flowers = ["rose", "tulip"]
insects = ["ant", "wasp"]
[classes]
pleasant = ["love", "peace"]
unpleasant = ["abuse", "crash"]
[stereotypes]
flowers = "pleasant"
insects = "unpleasant"
"""


def changed(key, name, value):
    content = copy.deepcopy(FLORA)
    content[key][name] = value
    return content


@pytest.mark.parametrize("name", wordlist_names())
def test_builtin_wordlist_has_title_source_and_stereotypes(name):
    wordlist = load_wordlist(name)
    assert wordlist.name == name
    assert wordlist.title
    assert wordlist.description
    assert wordlist.source.doi.startswith("10.")
    assert wordlist.source.doi in wordlist.source.bibtex
    assert set(wordlist.stereotypes) == set(wordlist.groups)
    assert set(wordlist.stereotypes.values()) == set(wordlist.classes)


@pytest.mark.parametrize("number", CALISKAN)
def test_weat_items_match_caliskan_et_al(number):
    wordlist = load_wordlist(f"weat{number}")
    assert digest(wordlist.groups.values(), wordlist.classes.values()) == CALISKAN[number]


def digest(targets: Iterable[Sequence[str]], attributes: Iterable[Sequence[str]]) -> str:
    """Of the words of each group and class, in their order; which group or class comes first does not matter."""
    roles = ("\n".join(sorted(",".join(words) for words in role)) for role in (targets, attributes))
    return hashlib.sha256("\n\n".join(roles).encode()).hexdigest()


@pytest.mark.parametrize("name", ["gender", "race", "religion"])
def test_manzini_lists_match_published_words(name):
    tables = pd.read_csv(REFERENCE / "cosines.csv.xz")
    published = tables[tables.table == f"{name}_google"]
    wordlist = load_wordlist(name).with_controls(["neutral", "human"])
    assert set(wordlist.targets) == set(published.protected_word)
    assert set(wordlist.attributes) == set(published.word_to_compare)
    for group, words in wordlist.groups.items():
        stereotype = published[published.protected_word.isin(words) & (published.connection == "associated")]
        assert set(stereotype.word_to_compare) == set(wordlist.classes[wordlist.stereotypes[group]])


def test_controls_have_226_neutral_and_85_human_words():
    assert {name: len(load_controls(name).controls[name]) for name in control_names()} == {"human": 85, "neutral": 226}


def test_weat_stereotypes_match_published_direction():
    assert load_wordlist("weat1").stereotypes["insects"] == "unpleasant"
    assert load_wordlist("weat6").stereotypes["male names"] == "career"
    assert load_wordlist("weat7").stereotypes["math"] == "male terms"
    assert load_wordlist("weat9").stereotypes["mental disease"] == "temporary"


def test_load_wordlist_keeps_repeated_targets_once_with_notice():
    race = load_wordlist("race")
    assert race.groups["asian"] == ("asian", "asia", "china")
    assert says(race.notices, "race 'black' 2 'africa' 3")


def test_load_wordlist_reads_file_like_mapping(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(FLORA_TOML)
    assert load_wordlist(path) == load_wordlist(str(path)) == WordList.from_mapping(FLORA, name="flora")


def test_load_wordlist_raises_for_builtin_name_of_local_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weat6").write_bytes((shipped("wordlists") / "weat7.toml").read_bytes())
    with pytest.raises(WordListError) as raised:
        load_wordlist("weat6")
    assert "'weat6'" in str(raised.value)
    assert str(tmp_path / "weat6") in str(raised.value)
    assert {load_wordlist(path).sha256 for path in ("./weat6", Path("weat6"))} == {load_wordlist("weat7").sha256}


def test_wordlist_is_immutable():
    content = copy.deepcopy(FLORA)
    wordlist = WordList.from_mapping(content)
    assert content == FLORA
    with pytest.raises(TypeError):
        wordlist.groups["weeds"] = ("nettle",)


def test_wordlist_hash_ignores_comments_and_source_and_includes_controls(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text("# a comment\n" + FLORA_TOML + "\n[source]\ncitation = 'me'\n")
    assert load_wordlist(path).sha256 == WordList.from_mapping(FLORA).sha256
    assert load_wordlist(path).with_controls("human").sha256 != WordList.from_mapping(FLORA).sha256


def test_load_wordlist_keeps_choice_of_sub_topics(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(f'sub_topics = "exhaustive"\n{FLORA_TOML}')
    words = load_wordlist(path)
    assert words.sub_topics == "exhaustive"
    assert words == bb.wordlist(**FLORA, sub_topics="exhaustive", name="flora")
    assert len({words.with_sub_topics(how).sha256 for how in ("from vectors", "independent", "exhaustive")}) == 3
    assert words.with_sub_topics("from vectors").sha256 == WordList.from_mapping(FLORA).sha256
    assert words.with_sub_topics(None) is words


def test_wordlist_raises_for_invalid_sub_topics(tmp_path):
    with refused(WordListError, "flora 'sub_topics' 'exhaustiv' 'exhaustive'"):
        bb.wordlist(**FLORA, sub_topics="exhaustiv", name="flora")
    with refused(WordListError, "flora 'sub_topics' text"):
        bb.wordlist(**FLORA, sub_topics=True, name="flora")
    with refused(WordListError, "sub_topics None"):
        load_wordlist("weat6").with_sub_topics("None")
    path = tmp_path / "flora.toml"
    path.write_text(f'{FLORA_TOML}sub_topics = "exhaustive"\n')
    with refused(WordListError, "flora.toml 'sub_topics' [stereotypes] above"):
        load_wordlist(path)


def test_wordlist_keeps_unassociated_class_as_control():
    wordlist = WordList.from_mapping(changed("classes", "food", ["bread", "soup"]))
    assert dict(wordlist.controls) == {"food": ("bread", "soup")}
    assert set(wordlist.classes) == {"pleasant", "unpleasant"}


def test_wordlist_raises_for_group_named_like_class():
    groups, classes = {"male": ["he", "man"], "female": ["she", "woman"]}, {"male": ["job"], "home": ["family"]}
    with refused(WordListError, "'male' group class Rename 'male attributes'"):
        bb.wordlist(groups, classes, {"male": "male", "female": "home"})
    rooms = {"groups": {"neutral": ["he"]}, "classes": {"work": ["job"], "home": ["family"]}}
    with refused(WordListError, "'neutral' group Rename omit"):
        bb.wordlist(**rooms, stereotypes={"neutral": "work"}, opposites=["home"]).with_controls("neutral")


def test_wordlist_omits_targets_from_attributes_with_notice():
    wordlist = WordList.from_mapping(changed("classes", "pleasant", ["love", "rose"]), name="flora")
    assert wordlist.classes["pleasant"] == ("love",)
    (notice,) = wordlist.notices
    assert says(notice, "flora 'rose' 'pleasant'")


def test_with_controls_omits_words_used_elsewhere(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[classes]\nfirst = ["rose", "love", "soup"]\nsecond = ["soup", "bread"]\n')
    wordlist = WordList.from_mapping(FLORA, name="flora").with_controls([path])
    assert dict(wordlist.controls) == {"first": ("soup",), "second": ("bread",)}
    assert saying(wordlist.notices, "'rose' target")
    assert saying(wordlist.notices, "'love' 'pleasant'")


BAD_CONTENT = {
    "unknown key": ({**FLORA, "sterotypes": {}}, "'sterotypes' 'stereotypes'"),
    "unknown source key": ({**FLORA, "source": {"DOI": "10"}}, "'source' 'DOI'"),
    "unknown group": (changed("stereotypes", "flwers", "pleasant"), "'flwers' 'flowers'"),
    "unknown class": (changed("stereotypes", "flowers", "plesant"), "'stereotypes.flowers' 'plesant' 'pleasant'"),
    "no stereotype": ({**FLORA, "stereotypes": {"flowers": "pleasant"}}, "'insects' stereotypical"),
    "empty group": (changed("groups", "flowers", []), "'groups.flowers' empty"),
    "empty class": (changed("classes", "pleasant", []), "'classes.pleasant' empty"),
    "number for a word": (changed("groups", "flowers", ["rose", 7]), "'groups.flowers' 7 text"),
    "blanks around a word": (changed("groups", "flowers", ["rose "]), "'groups.flowers' 'rose '"),
    "text for a list": (changed("groups", "flowers", "rose"), "'rose' str list"),
    "list for a table": ({**FLORA, "groups": ["rose"]}, "'groups' ['rose'] list table"),
    "word in two groups": (changed("groups", "insects", ["ant", "rose"]), "'rose' 'flowers' 'insects'"),
    "word in two classes": (changed("classes", "unpleasant", ["abuse", "love"]), "'love' 'pleasant' 'unpleasant'"),
    "class of targets": (changed("classes", "pleasant", ["rose"]), "'pleasant'"),
    "no group": ({**FLORA, "groups": {}, "stereotypes": {}}, "none groups"),
    "one group and one class": (
        {"groups": {"flowers": ["rose"]}, "classes": {"pleasant": ["love"]}, "stereotypes": {"flowers": "pleasant"}},
        "'pleasant' associated",
    ),
    "no groups": ({"classes": FLORA["classes"]}, "[groups]"),
}


@pytest.mark.parametrize(("content", "message"), BAD_CONTENT.values(), ids=BAD_CONTENT.keys())
def test_from_mapping_raises_for_invalid_content(content, message):
    with refused(WordListError, message) as caught:
        WordList.from_mapping(content, name="flora")
    assert str(caught.value).startswith("flora")
    assert "\n" not in str(caught.value)


def test_load_wordlist_raises_for_unknown_name():
    with refused(WordListError, "'weat77' 'weat7'"):
        load_wordlist("weat77")


def test_with_controls_raises_for_unknown_name():
    with refused(WordListError, "'nutral' 'neutral' control"):
        load_wordlist("weat7").with_controls(["nutral"])


def test_load_wordlist_raises_for_malformed_toml(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text('[groups]\nflowers = ["rose" "tulip"]\n')
    with refused(WordListError, "broken.toml TOML line 2 column 19"):
        load_wordlist(path)


def test_load_controls_raises_for_complete_list(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(FLORA_TOML)
    with refused(WordListError, "word list control"):
        load_controls(path)


def test_with_controls_raises_for_repeated_control():
    wordlist = load_wordlist("weat7").with_controls("neutral")
    with refused(WordListError, "'neutral' 'weat7'"):
        wordlist.with_controls("neutral")


TOPICAL_TOML = (
    'pairs = [["rose", "ant"]]'
    + FLORA_TOML
    + """
[topics.pleasant]
feelings = ["love"]
[topics.insects]
flying = ["wasp"]
"""
)
TOPICAL = {
    **FLORA,
    "pairs": [["rose", "ant"]],
    "topics": {"pleasant": {"feelings": ["love"]}, "insects": {"flying": ["wasp"]}},
}


def test_load_wordlist_reads_topics_and_pairs(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(TOPICAL_TOML)
    wordlist = load_wordlist(path)
    assert wordlist == WordList.from_mapping(TOPICAL, name="flora")
    assert wordlist.topics["pleasant"] == {"feelings": ("love",)}
    assert wordlist.pairs == (("rose", "ant"),)
    assert wordlist.topic_of == {"love": "feelings", "wasp": "flying"}
    assert wordlist.pair_of == {"rose": "rose/ant", "ant": "rose/ant"}


def test_wordlist_hash_includes_topics_and_pairs():
    lists = (FLORA, TOPICAL, {**TOPICAL, "pairs": []}, {**TOPICAL, "topics": {}})
    assert len({WordList.from_mapping(content).sha256 for content in lists}) == 4


def test_wordlist_omits_targets_from_topics():
    content = changed("classes", "pleasant", ["love", "rose", "peace"])
    topics = {"pleasant": {"plants": ["rose"], "feelings": ["love"]}}
    wordlist = WordList.from_mapping({**content, "topics": topics})
    assert wordlist.topics == {"pleasant": {"feelings": ("love",)}}


def test_with_controls_adds_topics_and_pairs(tmp_path):
    path = tmp_path / "food.toml"
    path.write_text(
        'pairs = [["bread", "ham"], ["love", "tongue"]]\n[classes]\nbaked = ["bread", "cake", "love"]\n'
        'meat = ["ham", "tongue"]\n[topics.baked]\nsweet = ["cake", "love"]\n'
    )
    wordlist = WordList.from_mapping(TOPICAL).with_controls(path)
    assert wordlist.topics["baked"] == {"sweet": ("cake",)}
    assert wordlist.topics["pleasant"] == {"feelings": ("love",)}
    assert wordlist.pairs == (("rose", "ant"), ("bread", "ham"))


BAD_BELONGING = {
    "topic of an unknown class": ({"topics": {"plesant": {"feelings": ["love"]}}}, "'topics' 'plesant' 'pleasant'"),
    "topic with a word of another class": (
        {"topics": {"pleasant": {"feelings": ["abuse"]}}},
        "'topics.pleasant.feelings' 'abuse' 'pleasant'",
    ),
    "overlapping topics": (
        {"topics": {"pleasant": {"feelings": ["love"], "states": ["love", "peace"]}}},
        "'love' 'pleasant' 'feelings' 'states'",
    ),
    "empty topic": ({"topics": {"pleasant": {"feelings": []}}}, "'topics.pleasant.feelings' empty"),
    "topics without names": ({"topics": {"pleasant": ["love"]}}, "'topics.pleasant' table"),
    "topics of nothing": ({"topics": ["love"]}, "'topics' table"),
    "pair of an unknown word": ({"pairs": [["rose", "wesp"]]}, "'pairs' 'wesp' 'wasp'"),
    "pair of a list": ({"pairs": [["rose", ["wasp"]]]}, "'pairs' ['wasp']"),
    "pair of three": ({"pairs": [["rose", "ant", "wasp"]]}, "'rose' 'ant' 'wasp' two"),
    "pair of one": ({"pairs": ["rose"]}, "'pairs' 'rose' two"),
    "pairs as a table": ({"pairs": {"rose": "ant"}}, "'pairs' list"),
    "word in two pairs": ({"pairs": [["rose", "ant"], ["rose", "wasp"]]}, "'pairs' 'rose' two"),
    "word paired with itself": ({"pairs": [["rose", "rose"]]}, "'rose' 'flowers'"),
    "pair in one group": ({"pairs": [["rose", "tulip"]]}, "'pairs' 'rose' 'tulip' 'flowers'"),
    "target with attribute": ({"pairs": [["rose", "love"]]}, "'pairs' target attribute 'rose' 'love'"),
}


@pytest.mark.parametrize(("belonging", "message"), BAD_BELONGING.values(), ids=BAD_BELONGING.keys())
def test_from_mapping_raises_for_invalid_topics_and_pairs(belonging, message):
    with refused(WordListError, message) as caught:
        WordList.from_mapping({**FLORA, **belonging}, name="flora")
    assert str(caught.value).startswith("flora: ")
    assert "\n" not in str(caught.value)


def test_load_wordlist_raises_for_pairs_below_table(tmp_path):
    path = tmp_path / "flora.toml"
    path.write_text(FLORA_TOML + 'pairs = [["rose", "ant"]]\n')
    with refused(WordListError, "'pairs' [stereotypes] [table]"):
        load_wordlist(path)
