"""The sentences with which a report opens."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bayes_bias.analyses.report.answer import answer, heading
from bayes_bias.posterior.verdict import verdict
from tests.helpers import random_table, says

type Opening = Callable[[Mapping[str, str]], str]

CLEAR, UNCLEAR, FAILED = "distinguishable", "not distinguishable", "not converged"


@pytest.fixture(scope="module")
def opening() -> Opening:
    """Return the opening of a report of lists with these labels, of which none survives Holm's adjustment."""
    table = random_table()
    positive = verdict(table)

    def of(labels: Mapping[str, str]) -> str:
        sections = []
        for title, label in labels.items():
            what, _, direction = label.partition(", ")
            changes = {"label": what, "problems": ("R-hat",), "expected": -1 if direction else 1}
            made = SimpleNamespace(name=title, title=title, table=replace(table, name=title.partition(" in ")[0]))
            made.verdict = type(positive)(**vars(positive) | changes)
            sections.append(made)
        return answer(sections, dict.fromkeys(labels, False))

    return of


def test_answer_excludes_lists_without_verdict_from_count(opening):
    assert opening({"a": UNCLEAR, "b": UNCLEAR, "c": UNCLEAR}).startswith("None of the three word lists shows a bias")
    assert opening({"a": UNCLEAR, "b": UNCLEAR}).startswith("Neither word list shows a bias")
    one_of_two = opening({"a": UNCLEAR, "b": FAILED})
    assert one_of_two.startswith(
        "The only word list with a verdict shows no bias that can be distinguished from noise."
    )
    assert says(one_of_two, "“b” is missing")
    none = opening({"a": FAILED, "b": FAILED})
    assert none == "The results for “a” and “b” are missing, because the fit has not converged."


def test_answer_marks_each_list_with_bias_against_stereotype(opening):
    against = f"{CLEAR}, against"
    text = opening({"WEAT 6: Names": against, "Jobs": against, "Arts": CLEAR})
    assert text.startswith("All three word lists show a bias")
    assert says(text, "WEAT 6 (names; against the stereotype), “Jobs” (against the stereotype), and “Arts”.")


def test_answer_counts_results_of_a_list_in_two_embeddings(opening):
    labels = {"Arts in a": CLEAR, "Arts in b": CLEAR, "Jobs in a": UNCLEAR, "Jobs in b": UNCLEAR}
    text = opening(labels)
    assert text.startswith("Two of four results (two word lists in several embeddings) show a bias")
    assert says(text, "“Arts in a” and “Arts in b”. No finding remains after Holm’s adjustment for four results.")
    assert opening(dict.fromkeys(labels, UNCLEAR)).startswith("None of the four results shows a bias")
    both = opening({"Arts in a": CLEAR, "Arts in b": CLEAR})
    assert both.startswith("Both results (one word list in several embeddings) show a bias")


def test_heading_contains_list_once_for_two_embeddings() -> None:
    def measured(title: str, embedding: str) -> SimpleNamespace:
        return SimpleNamespace(title=f"{title} in {embedding}", table=SimpleNamespace(title=title))

    weat6 = [measured("WEAT 6: Names", name) for name in "ab"]
    weat7 = [measured("WEAT 7: Math", name) for name in "ab"]
    assert heading(weat6, ["a", "b"]) == "Bias in a and b: WEAT 6"
    assert heading([*weat6, *weat7], ["a", "b"]) == "Bias in a and b: WEAT 6 and WEAT 7"
