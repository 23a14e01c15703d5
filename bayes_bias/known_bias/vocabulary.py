"""The words and sentences that scenarios are made of: targets, groups of attributes, templates with slots."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bayes_bias.errors import ScenarioError, did_you_mean
from bayes_bias.files import check_keys, read_toml, shipped, shipped_names

type Roles = Mapping[str, tuple[str, ...]]

TARGET = "target"
TRAINING, TEST = "training", "test"
WORD = re.compile(r"\w+")
SLOT = re.compile(r"\{(\w*)\}")

_ARTICLE = re.compile(r"\ban? \{", re.IGNORECASE)
_FOLDER = "vocabularies/"


@dataclass(frozen=True)
class Attribute:
    """What a target's people differ in: gender, religion.

    Parameters
    ----------
    name : str
    groups : mapping of str to mapping of str to tuple of str
        For each group its words by role: ``groups["male"]["their"] == ("his",)``. All groups have the same roles.
    neutral : mapping of str to tuple of str
        Words of the same roles that belong to no group; empty where a vocabulary has none.
    sentences : mapping of str to tuple of str
        "training" and "test" templates, each with one slot for the target and one for a role.
    more : mapping of str to tuple of str
        Clauses with one slot for a role, which add a word of the group to a sentence.
    """

    name: str
    groups: Mapping[str, Roles]
    neutral: Roles
    sentences: Mapping[str, tuple[str, ...]]
    more: Mapping[str, tuple[str, ...]]

    @property
    def asked(self) -> str:
        """The group whose association is asked for, against all others: the first one."""
        return next(iter(self.groups))

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """All words of each group."""
        return {group: _all(roles) for group, roles in self.groups.items()}

    @property
    def others(self) -> tuple[str, ...]:
        """All words of the groups that the first one is compared with."""
        return tuple(word for group, words in self.classes.items() if group != self.asked for word in words)

    @property
    def neutral_words(self) -> tuple[str, ...]:
        """All words that belong to no group."""
        return _all(self.neutral)

    def roles(self, group: int | None) -> Roles:
        """The words of a group by its number; those of no group without one."""
        return self.neutral if group is None else list(self.groups.values())[group]


@dataclass(frozen=True)
class Vocabulary:
    """Targets, and the attributes that their sentences mention.

    Parameters
    ----------
    name, title, description : str
    targets : tuple of str
    attributes : mapping of str to Attribute
    """

    name: str
    title: str
    description: str
    targets: tuple[str, ...]
    attributes: Mapping[str, Attribute]

    @property
    def sha256(self) -> str:
        """Hash of all that shapes a corpus; titles do not."""
        used = [
            self.targets,
            [
                [name, attribute.groups, attribute.neutral, attribute.sentences, attribute.more]
                for name, attribute in self.attributes.items()
            ],
        ]
        return hashlib.sha256(json.dumps(used, ensure_ascii=False).encode()).hexdigest()


def vocabulary_names() -> list[str]:
    """Names of the shipped vocabularies."""
    return [name.removeprefix(_FOLDER) for name in shipped_names("scenarios") if name.startswith(_FOLDER)]


@cache
def load_vocabulary(name_or_path: str | Path) -> Vocabulary:
    """Read a vocabulary by its shipped name or from the path of a TOML file.

    Raises
    ------
    ScenarioError
        No such file; an unknown key; an empty group; groups of different roles; a template without its slots, with an
        unknown one, twice, in training and test, or that says a target or a word of a group itself.

    Examples
    --------
    >>> people = load_vocabulary("people")
    >>> list(people.attributes["gender"].groups)
    ['male', 'female']
    >>> sum(len(attribute.sentences["training"]) for attribute in people.attributes.values())
    165
    """
    label = str(name_or_path)
    names = vocabulary_names()
    file = shipped("scenarios") / f"{_FOLDER}{label}.toml" if label in names else Path(label)
    if not file.is_file():
        raise ScenarioError(
            f"vocabulary: '{label}' is neither a shipped name nor a TOML file; {did_you_mean(label, names)}"
        )
    content = read_toml(file, f"{label}:", ScenarioError, hint="; see the shipped people.toml")
    return vocabulary_from(content, Path(label).stem)


def vocabulary_from(content: Mapping[str, Any], name: str) -> Vocabulary:
    """A vocabulary from a mapping of the shape of its TOML file; see `load_vocabulary`."""
    check_keys(content, ("title", "description", "targets", "attributes"), name, ScenarioError)
    targets = _texts(content.get("targets"), f"{name}: 'targets'")
    for target in targets:
        if not WORD.fullmatch(target) or targets.count(target) > 1:
            raise ScenarioError(
                f"{name}: target '{target}' is not a single word, or is listed twice; correct or remove it"
            )
    attributes = content.get("attributes")
    if not isinstance(attributes, Mapping) or not attributes:
        raise ScenarioError(f"{name}: has no [attributes]; add one, such as [attributes.gender.groups]")
    read = {key: _attribute(key, table, f"{name}: '{key}'") for key, table in attributes.items()}
    for attribute in read.values():
        _check_sentences(attribute, targets, f"{name}: '{attribute.name}'")
    return Vocabulary(name, str(content.get("title", name)), str(content.get("description", "")), targets, read)


def _attribute(name: str, content: Mapping[str, Any], where: str) -> Attribute:
    check_keys(content, ("groups", "neutral", "sentences", "more"), where, ScenarioError)
    groups = {group: _roles(roles, f"{where}: group '{group}'") for group, roles in content["groups"].items()}
    if len(groups) < 2:
        raise ScenarioError(f"{where}: has {len(groups)} group(s), and shares need two or more; add one")
    first = next(iter(groups))
    neutral = _roles(content.get("neutral", {}), f"{where}: 'neutral'")
    for group, roles in {**groups, **({"neutral": neutral} if neutral else {})}.items():
        if roles.keys() != groups[first].keys():
            raise ScenarioError(
                f"{where}: '{group}' has words for {', '.join(roles) or 'no role'}, and '{first}' for"
                f" {', '.join(groups[first])}; give all the same roles"
            )
    kinds = {
        kind: {
            part: _texts(content.get(kind, {}).get(part, ()), f"{where}: '{kind}.{part}'", least=least)
            for part in (TRAINING, TEST)
        }
        for kind, least in (("sentences", 1), ("more", 0))
    }
    return Attribute(name, groups, neutral, kinds["sentences"], kinds["more"])


def _roles(content: Any, where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(content, Mapping) or (not content and "neutral" not in where):
        raise ScenarioError(f"{where} is empty; give it words for each role, such as they = ['he']")
    return {role: _texts(words, f"{where}: role '{role}'") for role, words in content.items()}


def _check_sentences(attribute: Attribute, targets: Sequence[str], where: str) -> None:
    roles = next(iter(attribute.groups.values()))
    taken = {*targets, *attribute.neutral_words, *(w for words in attribute.classes.values() for w in words)}
    for kind, wanted in (("sentences", (TARGET,)), ("more", ())):
        templates = [text for part in getattr(attribute, kind).values() for text in part]
        for text in templates:
            slots = SLOT.findall(text)
            unknown = [slot for slot in slots if slot not in (*roles, *wanted)]
            if unknown:
                raise ScenarioError(
                    f"{where}: '{text}' has the slot {{{unknown[0]}}}; {did_you_mean(unknown[0], (*roles, *wanted))}"
                )
            if len(slots) != 1 + len(wanted) or any(slots.count(slot) != 1 for slot in wanted):
                raise ScenarioError(
                    f"{where}: '{text}' needs {'{target} and ' if wanted else ''}one slot of a role, and has "
                    f"{', '.join(slots) or 'none'}; mend it"
                )
            if templates.count(text) > 1:
                raise ScenarioError(f"{where}: '{text}' is listed twice, or in both training and test; keep one")
            if _ARTICLE.search(text):
                raise ScenarioError(
                    f"{where}: '{text}' has 'a' or 'an' before a slot, which would tell the word; put one between"
                )
            said = taken.intersection(WORD.findall(SLOT.sub("", text).lower()))
            if said:
                raise ScenarioError(
                    f"{where}: '{text}' says '{min(said)}', which is a target or a word of a group; replace it"
                )


def _texts(content: Any, where: str, least: int = 1) -> tuple[str, ...]:
    if isinstance(content, str) or not isinstance(content, Sequence):
        raise ScenarioError(f"{where} is not a list of texts; write it as ['...', '...']")
    if len(content) < least or not all(isinstance(text, str) and text.strip() for text in content):
        raise ScenarioError(f"{where} is empty, or holds something other than text; give {least} or more")
    return tuple(content)


def _all(roles: Roles) -> tuple[str, ...]:
    return tuple(word for words in roles.values() for word in words)
