"""From a scenario to truths, and from a truth to a corpus, the shares that came out, and the lists that ask."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from bayes_bias.words.topics_and_pairs import SubTopicsFrom
from bayes_bias.words.wordlist import WordList
from studies.known_bias.scenario import EQUAL, FREQUENCY, HALVES, Scenario
from studies.known_bias.vocabulary import SLOT, TARGET, TRAINING, WORD, Attribute

# Streams of random numbers that must not meet.
_TRUTH, _CORPUS, _SPLIT, _FREQUENCY = 1, 2, 3, 4
NEUTRAL, UNSAID = -1, -2
# Names in the lists: of all targets, of the two groups of them, and of all groups but the first.
TARGETS, MORE, LESS, OTHERS = "targets", "more", "less", "others"
# Words are drawn one by one, and none belongs with another.
DRAWN: SubTopicsFrom = "independent"
# Standard deviation of the logarithm of how frequent targets are, where some are more frequent than others.
_SPREAD = 1.0


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of every target.

    `cell` has the scheme's parameters; `shares` for each attribute p(group | target), ``(targets, groups)``;
    `mentioned` which targets occur with groups at all: the others occur with neutral words; `frequency` how many
    sentences each target has for each of the most frequent one, where a scheme makes them unlike.
    """

    number: int
    cell: Mapping[str, float]
    shares: Mapping[str, np.ndarray]
    mentioned: np.ndarray
    frequency: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences, and for each attribute how many of them say a target with a group, ``(targets, groups)``."""

    sentences: tuple[str, ...]
    counts: Mapping[str, np.ndarray]

    @property
    def tokens(self) -> list[list[str]]:
        """The sentences as lower-case words."""
        return [WORD.findall(sentence.lower()) for sentence in self.sentences]


def draw_truth(scenario: Scenario, number: int) -> Truth:
    """One truth of a scenario: the same for the same scenario and number.

    Examples
    --------
    >>> from studies.known_bias.scenario import load_scenario
    >>> truth = draw_truth(load_scenario("groups"), 0)
    >>> truth.shares["ethnicity"].shape
    (100, 5)
    """
    cell = scenario.scheme.cells[number]
    rng = np.random.default_rng([scenario.seed, _TRUTH, number])
    set_apart = rng.permutation(scenario.targets)
    balanced = set_apart[: scenario.balanced]
    unmentioned = set_apart[scenario.balanced : scenario.balanced + scenario.neutral]
    shares = {}
    for name, attribute in scenario.described.items():
        groups = len(attribute.groups)
        drawn = scenario.scheme.draw(cell, scenario.targets, groups, rng)
        drawn[balanced] = 1 / groups
        shares[name] = drawn
    mentioned = np.ones(scenario.targets, dtype=bool)
    mentioned[unmentioned] = False
    truth = Truth(number, cell, shares, mentioned)
    return replace(truth, frequency=_frequencies(scenario, truth)) if FREQUENCY in cell else truth


def more_and_less(scenario: Scenario, truth: Truth, attribute: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbers of the targets that are said most with the first group, and of those that are said least with it.

    Where all shares are equal nothing tells them apart: they are drawn at random then, of a scheme that always has
    equal shares in as many pairs as there are targets for, no target in two of them.
    """
    rng = np.random.default_rng([scenario.seed, _SPLIT, truth.number])
    shares = truth.shares[attribute][:, 0]
    order = np.lexsort((rng.random(len(shares)), -shares))
    order = order[truth.mentioned[order]]
    size = min(scenario.group_size, len(order) // 2)
    if scenario.scheme.kind != EQUAL:
        return [(order[:size], order[-size:])]
    starts = range(0, len(order) - 2 * size + 1, 2 * size)
    return [(order[k : k + size], order[k + size : k + 2 * size]) for k in starts]


def log_frequency(scenario: Scenario, truth: Truth) -> pd.Series | None:
    """Natural logarithm of how frequent targets are, a covariate of a fit; None where all are equally frequent."""
    if truth.frequency is None:
        return None
    return pd.Series(np.log(truth.frequency), list(scenario.words), name="log frequency")


def make_corpus(scenario: Scenario, truth: Truth, number: int = 0, words: int = 1, half: str = "") -> Corpus:
    """One corpus of a truth: every training template with every target, in random order.

    Words are put in as words. The group of each sentence is drawn with the target's shares, or it has neutral words.
    Where targets differ in frequency, the most frequent one has all its sentences, and the others a random part.

    `number` counts the corpora of a truth. Of the `words` of the group in each sentence the template has one, each
    further clause another. `half` is the "first" or "second" half of the templates; "" for all.

    Examples
    --------
    >>> from studies.known_bias.scenario import load_scenario
    >>> scenario = load_scenario("groups")
    >>> corpus = make_corpus(scenario, draw_truth(scenario, 0))
    >>> len(corpus.sentences), int(corpus.counts["gender"].sum())
    (16500, 5500)
    """
    stream = [scenario.seed, _CORPUS, truth.number, number, words, ("", *HALVES).index(half)]
    rng = np.random.default_rng(stream)
    sentences: list[str] = []
    counts = {}
    for name, attribute in scenario.described.items():
        groups = _drawn_groups(scenario, truth, name, len(_templates(attribute, half)), rng)
        sentences += _written(scenario, attribute, half, groups, words, rng)
        counts[name] = np.stack([(groups == group).sum(axis=1) for group in range(len(attribute.groups))], axis=1)
    order = rng.permutation(len(sentences))
    return Corpus(tuple(sentences[k] for k in order), counts)


def truth_table(scenario: Scenario, truth: Truth, corpus: Corpus) -> pd.DataFrame:
    """What is true of each target and attribute, a row each.

    ``p`` is the drawn share of the first group, ``share`` the one that came out, ``log_odds`` the log odds of the first
    group against all others that came out, with half a sentence added to each so that it stays finite; missing where a
    target is never said with a group.
    """
    rows = []
    for name, counts in corpus.counts.items():
        first, others = counts[:, 0], counts[:, 1:].sum(axis=1)
        said = np.where(truth.mentioned, first + others, np.nan)
        rows.append(
            pd.DataFrame(
                {
                    "attribute": name,
                    "target": scenario.words,
                    "p": np.where(truth.mentioned, truth.shares[name][:, 0], np.nan),
                    "sentences": first + others,
                    "share": first / said,
                    "log_odds": np.where(truth.mentioned, np.log((first + 0.5) / (others + 0.5)), np.nan),
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def lists_of(scenario: Scenario, truth: Truth, attribute: Attribute) -> dict[str, WordList]:
    """All lists of an attribute by name: of all targets first, then "two groups 1", ..."""
    two_groups = enumerate(_of_two_groups(scenario, truth, attribute), start=1)
    named = {f"two groups {number}": wordlist.with_sub_topics(DRAWN) for number, wordlist in two_groups}
    return {TARGETS: of_all_targets(scenario, attribute, scenario.words), **named}


def of_all_targets(scenario: Scenario, attribute: Attribute, targets: Sequence[str]) -> WordList:
    """One group of targets; the words of the first group against those of each other group."""
    classes = {group: list(words) for group, words in attribute.classes.items()}
    return WordList.from_mapping(
        {
            "groups": {TARGETS: list(targets)},
            "classes": classes,
            "stereotypes": {TARGETS: attribute.first_group},
            "opposites": [group for group in classes if group != attribute.first_group],
        },
        name=f"{scenario.name}-{attribute.name}",
    ).with_sub_topics(DRAWN)


def _of_two_groups(scenario: Scenario, truth: Truth, attribute: Attribute) -> Iterator[WordList]:
    """Targets that are said most with the first group, against those that are said least with it."""
    words, first = np.array(scenario.words), attribute.first_group
    for number, (more, less) in enumerate(more_and_less(scenario, truth, attribute.name), start=1):
        yield WordList.from_mapping(
            {
                "groups": {MORE: words[more].tolist(), LESS: words[less].tolist()},
                "classes": {first: list(attribute.classes[first]), OTHERS: list(attribute.others)},
                "stereotypes": {MORE: first, LESS: OTHERS},
            },
            name=f"{scenario.name}-{attribute.name}-{number}",
        )


def _frequencies(scenario: Scenario, truth: Truth) -> np.ndarray:
    """Log-normal; those said most with the first group of the first attribute against those said least with it."""
    rng = np.random.default_rng([scenario.seed, _FREQUENCY, truth.number])
    log = _SPREAD * rng.standard_normal(scenario.targets)
    for more, less in more_and_less(scenario, truth, scenario.attributes[0]):
        log[more] += np.log(truth.cell[FREQUENCY]) / 2
        log[less] -= np.log(truth.cell[FREQUENCY]) / 2
    return np.asarray(np.exp(log - log.max()))


def _templates(attribute: Attribute, half: str) -> tuple[str, ...]:
    """The training templates, or every other one of them: halves have all roles in like numbers."""
    templates = attribute.sentences[TRAINING]
    return templates[HALVES.index(half) :: 2] if half else templates


def _drawn_groups(
    scenario: Scenario, truth: Truth, attribute: str, templates: int, rng: np.random.Generator
) -> np.ndarray:
    """The group of each sentence, ``(targets, templates x repeats)``; `NEUTRAL` for neutral words, `UNSAID` for a
    sentence that is not in the corpus."""
    sentences = templates * scenario.repeats
    steps = truth.shares[attribute].cumsum(axis=1)[:, :-1]
    chance = rng.uniform(size=(scenario.targets, sentences))
    if scenario.exact:  # one in each of as many equal parts of the unit interval as there are sentences
        chance = rng.permuted((np.arange(sentences) + chance[:, :1]) / sentences * np.ones_like(chance), axis=1)
    groups = (chance[:, :, None] >= steps[:, None, :]).sum(axis=2)
    neutral = rng.uniform(size=groups.shape) < scenario.neutral_share
    groups = np.where(neutral | ~truth.mentioned[:, None], NEUTRAL, groups)
    if truth.frequency is None:
        return groups
    turn = rng.permuted(np.tile(np.arange(sentences), (scenario.targets, 1)), axis=1)
    return np.where(turn < np.maximum(1, np.rint(truth.frequency * sentences))[:, None], groups, UNSAID)


def _written(
    scenario: Scenario, attribute: Attribute, half: str, groups: np.ndarray, words: int, rng: np.random.Generator
) -> list[str]:
    templates = _templates(attribute, half) * scenario.repeats
    clauses = attribute.more[TRAINING]
    sentences = []
    for target, groups_of_target in zip(scenario.words, groups, strict=True):
        for template, group in zip(templates, groups_of_target, strict=True):
            if group == UNSAID:
                continue
            more = rng.permutation(len(clauses))[: words - 1] if words > 1 else ()
            text = " ".join([template.removesuffix("."), *(clauses[k] for k in more)]) + "."
            roles = attribute.roles(None if group == NEUTRAL else int(group))
            sentences.append(_filled(text, target, roles, iter(rng.random(words))))
    return sentences


def _filled(text: str, target: str, roles: Mapping[str, tuple[str, ...]], chances: Iterator[float]) -> str:
    """A role may come twice in a sentence, each time with a word of its own."""

    def word(slot: re.Match[str]) -> str:
        if slot[1] == TARGET:
            return target
        words = roles[slot[1]]
        return words[int(next(chances) * len(words))]

    return SLOT.sub(word, text)
