"""The word lists of a scenario: all targets against one group's words, and two groups of targets."""

from collections.abc import Iterator, Sequence

import numpy as np

from bayes_bias.known_bias.corpora import Truth, more_and_less
from bayes_bias.known_bias.scenario import Scenario
from bayes_bias.known_bias.vocabulary import Attribute
from bayes_bias.words.wordlist import WordList

TARGETS, MORE, LESS, OTHERS = "targets", "more", "less", "others"


def lists_of(scenario: Scenario, truth: Truth, attribute: Attribute) -> dict[str, WordList]:
    """All lists of an attribute by name: of all targets first, then "two groups 1", ..."""
    two_groups = enumerate(_of_two_groups(scenario, truth, attribute), start=1)
    named = {f"two groups {number}": wordlist for number, wordlist in two_groups}
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
    )


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
