"""The words and sentences that scenarios are made of: targets, groups of attributes, templates with slots."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from bayes_bias.arguments import check_different
from bayes_bias.errors import did_you_mean
from studies.known_bias.toml_values import (
    SCENARIOS,
    Reader,
    ScenarioError,
    read_source,
    read_values,
    table,
    tables,
    text,
    texts,
)

type Roles = Mapping[str, tuple[str, ...]]

TARGET = "target"
TRAINING, TEST = "training", "test"
WORD = re.compile(r"\w+")
SLOT = re.compile(r"\{(\w*)\}")

_ARTICLE = re.compile(r"\ban? \{", re.IGNORECASE)
_READERS: Mapping[str, Reader] = {"title": text, "description": text, "targets": texts, "attributes": tables}
_OF_ATTRIBUTE = {"groups": tables, "neutral": table, "sentences": table, "more": table}


@dataclass(frozen=True)
class Attribute:
    """What a target's people differ in: gender, religion."""

    name: str
    groups: Mapping[str, Roles]  # words by role, ``groups["male"]["their"] == ("his",)``; all have the same roles
    neutral: Roles  # words of the same roles that belong to no group; a vocabulary may have none
    sentences: Mapping[str, tuple[str, ...]]  # by "training" and "test", with a slot for the target and one for a role
    more: Mapping[str, tuple[str, ...]]  # clauses with a slot for a role, which add a word of the group to a sentence

    @property
    def first_group(self) -> str:
        """The group whose association is measured, against all others."""
        return next(iter(self.groups))

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """All words of each group."""
        return {group: _all(roles) for group, roles in self.groups.items()}

    @property
    def others(self) -> tuple[str, ...]:
        """All words of the groups that the first one is compared with."""
        return tuple(word for group, words in self.classes.items() if group != self.first_group for word in words)

    @property
    def neutral_words(self) -> tuple[str, ...]:
        """All words that belong to no group."""
        return _all(self.neutral)

    @property
    def defining_sets(self) -> list[tuple[str, ...]]:
        """Words of one role, one of each group: he and she, church and mosque."""
        by_group = list(self.groups.values())
        return [matched for role in by_group[0] for matched in zip(*(roles[role] for roles in by_group), strict=False)]

    def roles(self, group: int | None) -> Roles:
        """The words of a group by its number; those of no group without one."""
        return self.neutral if group is None else list(self.groups.values())[group]


@dataclass(frozen=True)
class Vocabulary:
    """Targets, and the attributes that their sentences mention."""

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


@cache
def load_vocabulary(name_or_path: str | Path) -> Vocabulary:
    """Read a vocabulary by its shipped name or from the path of a TOML file.

    Examples
    --------
    >>> people = load_vocabulary("people")
    >>> list(people.attributes["gender"].groups)
    ['male', 'female']
    """
    content = read_source("vocabulary", str(name_or_path), SCENARIOS / "vocabularies")
    return vocabulary_from(content, Path(name_or_path).stem)


def vocabulary_from(content: Mapping[str, Any], name: str) -> Vocabulary:
    """A vocabulary from a mapping of the shape of its TOML file; see `load_vocabulary`."""
    needed = {"targets": None, "attributes": None}
    values = read_values({"title": name, "description": "", **needed, **content}, _READERS, name)
    targets = values["targets"]
    check_different(f"{name}: 'targets'", targets, "keep one", ScenarioError)
    for target in targets:
        if not WORD.fullmatch(target):
            raise ScenarioError(f"{name}: target '{target}' is not a single word; correct or remove it")
    attributes = {key: _attribute(key, table, f"{name}: '{key}'") for key, table in values["attributes"].items()}
    for key, attribute in attributes.items():
        _check_sentences(attribute, targets, f"{name}: '{key}'")
    return Vocabulary(name, values["title"], values["description"], targets, attributes)


def _attribute(name: str, content: Mapping[str, Any], where: str) -> Attribute:
    none: dict[str, Any] = {"groups": None, "neutral": {}, "sentences": {}, "more": {}}
    values = read_values({**none, **content}, _OF_ATTRIBUTE, where)
    groups = {group: _roles(words, f"{where}: group '{group}'") for group, words in values["groups"].items()}
    if len(groups) < 2:
        raise ScenarioError(f"{where}: has {len(groups)} group(s), and shares need two or more; add one")
    neutral = _roles(values["neutral"], f"{where}: 'neutral'")
    first, expected = next(iter(groups.items()))
    for group, roles in (groups | ({"neutral": neutral} if neutral else {})).items():
        if roles.keys() != expected.keys():
            raise ScenarioError(
                f"{where}: '{group}' has words for {', '.join(roles) or 'no role'}, and '{first}' for"
                f" {', '.join(expected) or 'none'}; give all the same roles"
            )
    sentences, more = (
        read_values({TRAINING: (), TEST: (), **values[kind]}, {TRAINING: reader, TEST: reader}, f"{where}: {kind}")
        for kind, reader in (("sentences", texts), ("more", partial(texts, least=0)))
    )
    return Attribute(name, groups, neutral, sentences, more)


def _roles(content: Any, where: str) -> dict[str, tuple[str, ...]]:
    return read_values(table(content, where), dict.fromkeys(content, texts), where)


def _check_sentences(attribute: Attribute, targets: Sequence[str], where: str) -> None:
    roles = next(iter(attribute.groups.values()))
    reserved = {*targets, *attribute.neutral_words, *chain(*attribute.classes.values())}
    for templates, needed in ((attribute.sentences, [TARGET]), (attribute.more, [])):
        lines = [*templates[TRAINING], *templates[TEST]]
        check_different(f"{where}: templates", lines, "keep one, in training or in test", ScenarioError)
        for line in lines:
            slots = SLOT.findall(line)
            for slot in slots:
                if slot not in (valid := (*roles, *needed)):
                    raise ScenarioError(f"{where}: '{line}' has the slot {{{slot}}}. {did_you_mean(slot, valid)}")
            if [slot for slot in slots if slot == TARGET] != needed or len(slots) != 1 + len(needed):
                raise ScenarioError(
                    f"{where}: '{line}' has {', '.join(slots) or 'no slot'}; give it one slot of a role"
                    f"{' and {target}' if needed else ''}"
                )
            if _ARTICLE.search(line):
                raise ScenarioError(
                    f"{where}: '{line}' has 'a' or 'an' before a slot, which would tell the word; put one between"
                )
            if said := reserved.intersection(WORD.findall(SLOT.sub("", line).lower())):
                raise ScenarioError(
                    f"{where}: '{line}' says '{min(said)}', which is a target or a word of a group; replace it"
                )


def _all(roles: Roles) -> tuple[str, ...]:
    return tuple(chain(*roles.values()))
