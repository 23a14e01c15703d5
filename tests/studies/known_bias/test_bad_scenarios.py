"""What a scenario cannot be is said in one line, before anything is trained."""

import copy
from pathlib import Path
from typing import Any

import pytest

from bayes_bias.embeddings import format_gensim
from bayes_bias.errors import EmbeddingError, OutputError
from bayes_bias.files import read_toml
from studies.known_bias.running import run
from studies.known_bias.scenario import load_scenario, scenario_names
from studies.known_bias.toml_values import SCENARIOS, ScenarioError
from studies.known_bias.vocabulary import vocabulary_from
from tests.helpers import refused
from tests.studies.known_bias.helpers import short_scenario

PEOPLE = SCENARIOS / "vocabularies" / "people.toml"
MAJORITY = {"scheme": "majority", "min_p": [0.05], "max_p": [0.8]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"truth": {**MAJORITY, "min_p": [1.2], "max_p": [1.3]}}, "'min_p' 1.2 1"),
        ({"truth": {**MAJORITY, "min_p": [0.9]}}, "'min_p' 0.9 'max_p' 0.8"),
        ({"truth": {**MAJORITY, "max_p": [1.5]}}, "'max_p' 1.5 1"),
        ({"truth": {"scheme": "skew", "mu": [0.5], "sigma": [-1]}}, "'sigma' -1 0"),
        (
            {"truth": {"scheme": "skew", "mu": [0.5], "sigma": [0.1]}, "attributes": ["religion"]},
            "'religion' 4 'majority'",
        ),
        ({"truth": {"scheme": "equal", "frequency": [0]}}, "'frequency' 0"),
        ({"truth": {"scheme": "equal", "frequency": 8}}, "'frequency' 8 numbers"),
        ({"truth": {"scheme": "equal", "frequency": [8]}, "exact": True}, "'exact' 'frequency'"),
        ({"truth": {**MAJORITY, "truths": 0}}, "'truths' 0"),
        ({"truth": {"scheme": "magority"}}, "'majority'"),
        ({"truth": {}}, "scheme = 'majority' 'skew' 'equal'"),
        ({"attributes": ["gendre"]}, "'gender'"),
        ({"targets": 101}, "'targets' 101 'people' 100"),
        ({"balanced": 30, "neutral": 20}, "'balanced' 'neutral' 50 40"),
        ({"neutral": 40}, "40 'neutral'"),
        ({"neutral_share": 1.5}, "'neutral_share' 1.5 0 1"),
        ({"words_per_sentence": [40]}, "'gender' 40 39 12"),
        ({"corpora": 0}, "'corpora' 0 1"),
        ({"group_size": 30}, "'group_size' 30 40 20"),
        ({"models": {}}, "'models' table"),
        ({"models": {"cbow": 3}}, "'models' table"),
        ({"models": {"mine": {"kind": ["cbow"]}}}, "'mine' cbow"),
        ({"attributes": [["gender"]]}, "'attributes' texts"),
        ({"models": {"word2vex": {}}}, "'word2vex' cbow"),
        ({"models": {"cbow": {"epoch": 3}}}, "'epochs'"),
        ({"models": {"cbow": {"epochs": 0.5}}}, "'epochs' 0.5"),
        ({"models": {"fine-tune": {"folder": "nowhere"}}}, "'nowhere' folder"),
        ({"corpus": 3}, "'corpus' 'corpora'"),
        ({"halves": 1}, "'halves' 1 true false"),
    ],
)
def test_scenario_raises_for_invalid_values(changed: dict[str, Any], said: str) -> None:
    with refused(ScenarioError, said):
        short_scenario(**changed)


def _with(path: str, value: object) -> dict[str, Any]:
    """The shipped vocabulary with one thing changed."""
    content = copy.deepcopy(read_toml(PEOPLE, "people:", ScenarioError))
    *parents, last = path.split(".")
    place = content
    for name in parents:
        place = place[name]
    place[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("attributes.gender.sentences.training", ["The {target} met {him}."], "{him} kin, target"),
        ("attributes.gender.sentences.training", ["The {target} slept."], "{target} role"),
        ("attributes.gender.sentences.test", ["The {target} is a {person}."], "'a' 'an' slot"),
        ("attributes.gender.sentences.test", ["The {target} saw her in {their} car."], "'her'"),
        ("attributes.gender.sentences.test", ["The {target} told the nurse {their} name."], "'nurse'"),
        (
            "attributes.gender.sentences.test",
            ["The {target} said that {they} had finished before noon."],
            "templates noon",
        ),
        ("attributes.gender.groups.male", {}, "'male' roles"),
        ("attributes.gender.groups.male.they", [], "'they' []"),
        ("attributes.gender.groups.female", {"they": ["she"]}, "'female' roles"),
        ("attributes.gender.groups", {"male": {"they": ["he"]}}, "two"),
        ("targets", ["nurse", "nurse"], "'nurse'"),
    ],
)
def test_vocabulary_from_raises_for_invalid_content(path: str, value: object, said: str) -> None:
    with refused(ScenarioError, said):
        vocabulary_from(_with(path, value), "mine")


def test_load_scenario_raises_without_neutral_words(tmp_path: Path) -> None:
    text = PEOPLE.read_text(encoding="utf-8")
    start, end = text.index("[attributes.gender.neutral]"), text.index("[attributes.gender.sentences]")
    (tmp_path / "mine.toml").write_text(text[:start] + text[end:], encoding="utf-8")
    (tmp_path / "scenario.toml").write_text(
        "vocabulary = 'mine.toml'\nattributes = ['gender']\nneutral_share = 0.5\n[truth]\nscheme = 'equal'\n"
        "[models.cbow]\n",
        encoding="utf-8",
    )
    with refused(ScenarioError, "'gender' [attributes.gender.neutral]"):
        load_scenario(tmp_path / "scenario.toml")


def test_known_bias_raises_for_unknown_scenario_or_folder(tmp_path: Path) -> None:
    with refused(ScenarioError, "'majority'"):
        load_scenario("majorty")
    (tmp_path / "file").write_text("x")
    with refused(OutputError, "file folder"):
        run(short_scenario(), tmp_path / "file" / "out")


def test_run_raises_without_gensim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_gensim, "find_spec", lambda _: None)
    with refused(EmbeddingError, "skip-gram gensim not installed 3.12 3.13 contextual"):
        run(short_scenario(), tmp_path / "answers")


@pytest.mark.parametrize("name", scenario_names())
def test_built_in_scenarios_load_with_title_and_name(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.title != name
    assert scenario.name in scenario.text
