"""The questions in the order in which a page asks them, each with what it takes to read its answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pandas as pd

from studies.known_bias.agreement import classifiers, following, of_models, of_words, orders, ranking
from studies.known_bias.certainty import coverage, false_findings, findings, parts, replicates, robustness
from studies.known_bias.results import FEWEST_TRUTHS, KnownBias
from studies.known_bias.scenario import EQUAL, FREQUENCY, Scenario


@dataclass(frozen=True)
class Question:
    """One question, and how its answer is laid out."""

    name: str
    title: str
    says: str  # how to read the answer
    unit: str
    # Tidy rows: ``attribute``, ``model``, ``words_per_sentence``, what is compared, ``value``, mostly with ``ci95_lb``
    # and ``ci95_ub`` over truths, and with the numbers of ``truths`` and ``trainings``.
    table: Callable[[KnownBias], pd.DataFrame]
    asks: Callable[[Scenario], bool]  # whether a scenario can answer it
    # Columns that lay the answer out.
    panels: tuple[str, ...] = ("attribute",)
    rows: str = "measure"
    series: str = "model"
    reference: float | None = 0.0  # the value that means nothing, or the nominal one

    def suited_to(self, scenario: Scenario) -> "Question":
        """Where sentences differ in how many words of a group they have, that is what is compared."""
        if len(scenario.words_per_sentence) == 1 or self.series == "words_per_sentence":
            return self
        if self.series == "model":
            return replace(self, series="words_per_sentence", panels=("model", *self.panels))
        return replace(self, panels=(*self.panels, "words_per_sentence"))


@dataclass(frozen=True, eq=False)
class Answer:
    """A question with its tidy table, and the panels that show it."""

    question: Question
    table: pd.DataFrame

    @property
    def panels(self) -> dict[str, pd.DataFrame]:
        """Rows of each panel by its name."""
        shown = self.table[self.table.kind == "pearson"] if "kind" in self.table else self.table
        shown = shown.dropna(subset="value")
        by = list(self.question.panels)
        return {", ".join(map(str, key)): rows for key, rows in shown.groupby(by, sort=False)}


def _biased(scenario: Scenario) -> bool:
    return scenario.scheme.kind != EQUAL


def _several_truths(scenario: Scenario) -> bool:
    return _biased(scenario) and len(scenario.scheme.cells) >= FEWEST_TRUTHS


def _static(scenario: Scenario) -> bool:
    return not any(recipe.contextual for recipe in scenario.models)


def _trained_again(scenario: Scenario) -> bool:
    return _biased(scenario) and (scenario.seeds > 1 or scenario.halves)


QUESTIONS = (
    Question(
        "orders",
        "What goes together, and what is alike?",
        "Correlation over targets with the true log odds of two associations that need no training: of first order, how"
        " often a target and the group's words stand in one sentence; of second order, how alike the sentences are in"
        " which they stand, which is what cosines tell. Where a sentence has a single word of a group, those words"
        " never meet each other, and a cosine may not know the group, or have the wrong sign. Below them the models.",
        "Pearson's correlation",
        orders,
        lambda scenario: _biased(scenario) and len(scenario.words_per_sentence) > 1,
        series="words_per_sentence",
    ),
    Question(
        "words",
        "Do values of words follow the truth?",
        "Correlation over targets of a measure's value with the true log odds of the first group against all others, or"
        " with their absolute value, which is all that a measure without sign can know. Mean over truths; intervals are"
        " over truths.",
        "Pearson's correlation",
        of_words,
        _biased,
        panels=("attribute", "against"),
    ),
    Question(
        "models",
        "Do values of models follow the truth?",
        "Correlation over trainings of a measure's value for a whole model with the mean absolute log odds of its"
        " corpus. 'targets' asks about all targets, 'two groups 1' about those said most and least with the first"
        " group. Intervals resample truths.",
        "Pearson's correlation",
        of_models,
        _several_truths,
        panels=("attribute", "list"),
    ),
    Question(
        "following",
        "Which measures follow skew, which stereotype, which size?",
        "Skew is the mean of a corpus's log odds, stereotype their standard deviation, size the mean distance of shares"
        " from one half. A measure that claims one of them should not follow the others. Intervals resample truths.",
        "Pearson's correlation",
        following,
        _several_truths,
        panels=("attribute", "list", "model"),
        series="followed",
    ),
    Question(
        "coverage",
        "Do posterior intervals cover what the truth implies?",
        "Share of 95% intervals of `target_bias` that hold what a line through the posterior means of other truths"
        " gives for the target's log odds. Intervals are over truths.",
        "share covered",
        coverage,
        lambda scenario: _several_truths(scenario) and scenario.posterior,
        panels=("estimand",),
        rows="attribute",
        reference=0.95,
    ),
    Question(
        "replicates",
        "Do intervals cover the truth when corpora are replicates?",
        "Share of 95% intervals of `target_bias` that hold what the *drawn* shares imply: from one corpus, and from all"
        " corpora of the truth as replicates of one table. Intervals are over truths.",
        "share covered",
        replicates,
        lambda scenario: (
            _several_truths(scenario) and scenario.posterior and scenario.corpora > 2 and _static(scenario)
        ),
        panels=("attribute",),
        rows="model",
        series="asked",
        reference=0.95,
    ),
    Question(
        "false-findings",
        "How often is a bias found where there is none?",
        "Share of findings at the 5% level in corpora in which all groups are said alike: of lists of two groups drawn"
        " at random, and of single targets (posterior intervals without zero). Intervals are over corpora.",
        "share of findings",
        false_findings,
        lambda scenario: scenario.scheme.kind == EQUAL,
        panels=("attribute", "asked"),
        reference=0.05,
    ),
    Question(
        "frequency",
        "Is it the bias, or how frequent words are?",
        "Share of lists of two groups with a finding at the 5% level, for each cell of the scheme. At frequency 8 the"
        " targets that are said most with the first group are eight times as frequent as those said least with it."
        " Where all shares are equal (sigma 0), a finding is of frequency, or of chance. Intervals are over truths.",
        "share of findings",
        findings,
        lambda scenario: FREQUENCY in scenario.scheme.cells[0],
        panels=("attribute", "cell"),
        reference=0.05,
    ),
    Question(
        "ranking",
        "Of two models, which is more biased?",
        "Share of pairs of trainings, of different truths, that a measure puts in the order of their corpora's mean"
        " absolute log odds. Half is chance. Intervals resample truths.",
        "share in the right order",
        ranking,
        _several_truths,
        panels=("attribute", "list"),
        reference=0.5,
    ),
    Question(
        "robustness",
        "How much of a value is the truth, and how much is corpus, templates or seed?",
        "Shares of the variance over trainings. The file has the mean relative difference of two trainings of one truth"
        " besides.",
        "share of variance",
        robustness,
        _trained_again,
        panels=("attribute", "list", "model"),
        series="level",
        reference=None,
    ),
    Question(
        "parts",
        "Does a part of the targets say the same?",
        "Mean absolute change of a score when a random part of the targets stands for all of them, over the range that"
        " the measure can take. Measures without a finite range are not here.",
        "change over range",
        parts,
        lambda scenario: scenario.retest,
        panels=("attribute", "model"),
        series="share",
    ),
    Question(
        "classifiers",
        "Do gaps of a classifier follow the biases of words?",
        "Biographies are made from the same truth, with words of the person's group in them; a classifier tells the"
        " occupation from their mean vector. Its gap is the true-positive rate of the first group minus that of all"
        " others. Hard debiasing takes 0, 1 or 3 dimensions out of the vectors of all words but those of the groups'"
        " defining sets.",
        "correlation, root mean square or share",
        classifiers,
        lambda scenario: scenario.downstream,
        panels=("attribute", "model", "classifier"),
        rows="what",
        series="components",
    ),
)


def answers(known: KnownBias) -> Iterator[Answer]:
    """The questions that a scenario can answer, answered."""
    for question in QUESTIONS:
        if question.asks(known.scenario) and len(table := question.table(known)):
            yield Answer(question.suited_to(known.scenario), table)
