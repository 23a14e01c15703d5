"""What a world cannot be is said in one line, before anything is trained."""

import copy
from pathlib import Path
from typing import Any

import pytest

import bayes_bias as bb
from bayes_bias.errors import OutputError, WorldError
from bayes_bias.files import read_toml
from bayes_bias.resources import shipped
from bayes_bias.worlds.vocabulary import vocabulary_from
from bayes_bias.worlds.world import load_world, world_names
from tests.worlds.helpers import short_world

MAJORITY = {"scheme": "majority", "min_p": [0.05], "max_p": [0.8]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"truth": {**MAJORITY, "min_p": [1.2], "max_p": [1.3]}}, "each of 2 groups would have 0.60 or more"),
        ({"truth": {**MAJORITY, "min_p": [0.9]}}, "give 0 <= min_p <= max_p"),
        ({"truth": {**MAJORITY, "max_p": [1.5]}}, "give at most 1"),
        ({"truth": {"scheme": "skew", "mu": [0.5], "sigma": [-1]}}, "sigma 0 or more"),
        (
            {"truth": {"scheme": "skew", "mu": [0.5], "sigma": [0.1]}, "attributes": ["religion"]},
            "'religion' has 4; take 'majority'",
        ),
        ({"truth": {"scheme": "magority"}}, "did you mean 'majority'?"),
        ({"truth": {}}, "add scheme = 'majority', 'skew' or 'equal'"),
        ({"attributes": ["gendre"]}, "did you mean 'gender'?"),
        ({"targets": 101}, "'targets' is 101, and 'people' has 100"),
        ({"balanced": 30, "neutral": 20}, "are 50 targets of 40; ask for fewer"),
        ({"neutral": 40}, "all 40 targets are 'neutral', and none is left to be biased; ask for fewer"),
        ({"neutral_share": 1.5}, "give a share from 0 to below 1"),
        ({"words_per_sentence": [40]}, "has 12; ask for fewer words"),
        ({"corpora": 0}, "give a whole number, 1 or more"),
        ({"group_size": 30}, "40 targets give two groups of 20"),
        ({"models": {}}, "has no [models]"),
        ({"models": {"word2vex": {}}}, "unknown kind 'word2vex'"),
        ({"models": {"cbow": {"epoch": 3}}}, "did you mean 'epochs'?"),
        ({"models": {"cbow": {"epochs": 0.5}}}, "'epochs' is 0.5; give a whole number"),
        ({"models": {"fine-tune": {"folder": "nowhere"}}}, "'nowhere', which is no folder"),
        ({"corpus": 3}, "unknown key 'corpus'; did you mean 'corpora'?"),
        ({"halves": 1}, "give true or false"),
    ],
)
def test_a_world_that_cannot_be(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(WorldError) as refused:
        short_world(**changed)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def _with(path: str, value: object) -> dict[str, Any]:
    """The shipped vocabulary with one thing changed."""
    content = copy.deepcopy(
        read_toml(shipped("worlds") / "vocabularies" / "people.toml", "people:", WorldError)
    )
    *parents, last = path.split(".")
    place = content
    for name in parents:
        place = place[name]
    place[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            "attributes.gender.sentences.training",
            ["The {target} met {him}."],
            "has the slot {him}; valid: kin, person, target",
        ),
        (
            "attributes.gender.sentences.training",
            ["The {target} slept."],
            "needs {target} and one slot of a role",
        ),
        ("attributes.gender.sentences.test", ["The {target} is a {person}."], "'a' or 'an' before a slot"),
        ("attributes.gender.sentences.test", ["The {target} saw her in {their} car."], "says 'her'"),
        ("attributes.gender.sentences.test", ["The {target} told the nurse {their} name."], "says 'nurse'"),
        (
            "attributes.gender.sentences.test",
            ["The {target} said that {they} had finished before noon."],
            "twice",
        ),
        ("attributes.gender.groups.male", {}, "group 'male' is empty"),
        ("attributes.gender.groups.male.they", [], "role 'they' is empty"),
        ("attributes.gender.groups.female", {"they": ["she"]}, "give all the same roles"),
        ("attributes.gender.groups", {"male": {"they": ["he"]}}, "shares need two or more"),
        ("targets", ["nurse", "nurse"], "target 'nurse' is no single word, or is there twice"),
    ],
)
def test_a_vocabulary_that_cannot_be(path: str, value: object, said: str) -> None:
    with pytest.raises(WorldError) as refused:
        vocabulary_from(_with(path, value), "mine")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_neutral_words_are_asked_for_where_there_are_none(tmp_path: Path) -> None:
    text = (shipped("worlds") / "vocabularies" / "people.toml").read_text(encoding="utf-8")
    start, end = text.index("[attributes.gender.neutral]"), text.index("[attributes.gender.sentences]")
    (tmp_path / "mine.toml").write_text(text[:start] + text[end:], encoding="utf-8")
    (tmp_path / "world.toml").write_text(
        "vocabulary = 'mine.toml'\nattributes = ['gender']\nneutral_share = 0.5\n[truth]\nscheme = 'equal'\n"
        "[models.cbow]\n",
        encoding="utf-8",
    )
    with pytest.raises(WorldError, match=r"'gender' has none; add \[attributes.gender.neutral\]"):
        load_world(tmp_path / "world.toml")


def test_an_unknown_world_and_a_folder_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="did you mean 'majority'"):
        load_world("majorty")
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="no name of a file or folder"):
        bb.ground_truth(short_world(), tmp_path / "file" / "out")


@pytest.mark.parametrize("name", world_names())
def test_every_shipped_world_is_one(name: str) -> None:
    world = load_world(name)
    assert world.title != name
    assert world.name in world.text
