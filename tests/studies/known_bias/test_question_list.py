"""Which questions a page asks of a scenario, in which order, and what each needs to be answered."""

from typing import Any

import pytest

from studies.known_bias.questions import QUESTIONS
from tests.studies.known_bias.helpers import short_scenario

FIVE_TRUTHS = {"scheme": "majority", "min_p": [0.05, 0.1, 0.15, 0.2, 0.25], "max_p": [0.8]}
NO_BIAS = {"scheme": "equal"}
STATIC = {"cbow": {"dimensions": 20}}


def asked(**changed: Any) -> list[str]:
    scenario = short_scenario(**{"posterior": False, "models": STATIC} | changed)
    return [question.name for question in QUESTIONS if question.asks(scenario)]


def test_questions_have_fixed_order() -> None:
    everything = asked(
        truth=FIVE_TRUTHS, words_per_sentence=[1, 3], posterior=True, corpora=3, seeds=2, retest=True, downstream=True
    )
    assert everything == [
        *("orders", "words", "models", "following", "coverage", "replicates"),
        *("ranking", "robustness", "parts", "classifiers"),
    ]


def test_scenario_with_one_truth_asks_only_words() -> None:
    assert asked() == ["words"]


def test_scenario_without_bias_asks_only_false_findings() -> None:
    assert asked(truth=NO_BIAS, words_per_sentence=[1, 3], seeds=2, posterior=True) == ["false-findings"]


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("orders", {"words_per_sentence": [1, 3]}),
        ("coverage", {"truth": FIVE_TRUTHS, "posterior": True}),
        ("replicates", {"truth": FIVE_TRUTHS, "posterior": True, "corpora": 3}),
        ("frequency", {"truth": {"scheme": "skew", "mu": [0.9], "sigma": [0], "frequency": [1, 8]}}),
        ("ranking", {"truth": FIVE_TRUTHS}),
        ("robustness", {"seeds": 2}),
        ("robustness", {"halves": True}),
        ("parts", {"retest": True}),
        ("classifiers", {"downstream": True}),
    ],
)
def test_question_is_asked_only_when_needs_are_met(question: str, needs: dict[str, Any]) -> None:
    assert question in asked(**needs)
    for name in needs:
        assert question not in asked(**{key: value for key, value in needs.items() if key != name})


def test_bert_scenario_omits_question_on_replicates() -> None:
    """A BERT's vectors belong to sentences: its trainings are compared, and not laid side by side as replicates."""
    enough = {"truth": FIVE_TRUTHS, "posterior": True, "corpora": 3}
    assert "replicates" not in asked(**enough, models={"bert": {}})


def test_suited_to_compares_numbers_of_group_words() -> None:
    one_word, several = short_scenario(), short_scenario(words_per_sentence=[1, 3])
    for question in QUESTIONS:
        assert question.suited_to(one_word) == question
        suited = question.suited_to(several)
        assert "words_per_sentence" in (*suited.panels, suited.series)
        assert (question.series == "model") == ("model" in suited.panels and "model" not in question.panels)
