"""What every measure and the posterior make of one model of one corpus."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.checks.null_verdicts import describe, posterior_of
from bayes_bias.embeddings.subspace import defining_subspace
from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.known_bias.corpora import Truth, log_frequency
from bayes_bias.known_bias.scenario import Scenario
from bayes_bias.known_bias.scenario_lists import TARGETS, lists_of
from bayes_bias.known_bias.vocabulary import Attribute
from bayes_bias.measures.crossed_test import CrossedTest
from bayes_bias.measures.measure_result import Result
from bayes_bias.measures.measure_table import measure_all
from bayes_bias.measures.quasi_f import QuasiF
from bayes_bias.measures.same import Same
from bayes_bias.measuring.vector_tables import cosines
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.model_spec import load_spec
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.posterior.verdict import adjustment_of
from bayes_bias.table.association_table import AssociationTable

POSTERIOR = "posterior"
EQUAL_FREQUENCY = "posterior at equal frequency"
SPREAD = "posterior spread"
ANGLE = "angle of bias directions"

_INTERVAL = (0.025, 0.975)

# Measures whose value for a word has no sign, though they know one.
_SIGNED = {"SAME": "SAME (signed)", "Direct Bias": "Direct Bias (signed)", "unmasking": "unmasking (signed)"}

# Mean cosine with the group's words minus that with all others: what WEAT calls the association of a word.
SCORE = "WEAT score"

type Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """Tidy rows about words and about whole models.

    Words have ``attribute``, ``measure``, ``target``, ``value``, and ``ci95_lb`` and ``ci95_ub`` of the posterior;
    models ``attribute``, ``list`` ("targets", or the number of the list of two groups), ``measure``, ``value``,
    ``p_value`` and the interval; a posterior at equal frequency has the ``answer`` of its `Adjustment`.
    """

    words: list[Record]
    models: list[Record]


def ask_vectors(scenario: Scenario, truth: Truth, vectors: Mapping[str, np.ndarray], *, seed: int = 1) -> Answers:
    """Ask static vectors: every measure that applies, and the posterior, of every attribute.

    From the truth is known which targets go into which group; its numbers are not.
    """
    words: list[Record] = []
    models: list[Record] = []
    frequency = log_frequency(scenario, truth)
    for attribute in scenario.described.values():
        for name, wordlist in lists_of(scenario, truth, attribute).items():
            table = cosines(vectors, wordlist, controls=()).with_vectors(vectors)
            answers = of_one_table(table, defining_sets(attribute), name, scenario.posterior, seed)
            models += [{"attribute": attribute.name, **row} for row in answers.models]
            if name != TARGETS and scenario.posterior and frequency is not None:
                row = _at_equal_frequency(table, frequency, seed)
                models.append({"attribute": attribute.name, "list": name, **row})
            if name == TARGETS:
                words += [{"attribute": attribute.name, **row} for row in answers.words]
                models.append({"attribute": attribute.name, "list": TARGETS, **_angle(vectors, attribute)})
    return Answers(words, models)


def defining_sets(attribute: Attribute) -> list[tuple[str, ...]]:
    """Words of one role, one of each group: he and she, church and mosque."""
    by_group = list(attribute.groups.values())
    return [matched for role in by_group[0] for matched in zip(*(roles[role] for roles in by_group), strict=False)]


def of_one_table(
    table: AssociationTable, sets: list[tuple[str, ...]], which: str, posterior: bool, seed: int
) -> Answers:
    """Every measure that applies to a table, and the posterior if it is asked for; `which` names the list in rows."""
    measured = measure_all(table, defining_sets=sets, seed=seed)
    models = [
        {"list": which, "measure": name, **row[["value", "p_value", "ci95_lb", "ci95_ub"]].to_dict()}
        for name, row in measured.table.iterrows()
    ]
    words: list[Record] = []
    for name, result in measured.results.items():
        if isinstance(result, Same):
            first_against_rest = result.one_against_rest.iloc[0]
            models += [
                {"list": which, "measure": f"SAME {part}", "value": float(value)}
                for part, value in first_against_rest.items()
            ]
        words += [
            {"measure": label, "target": target, "value": float(value)}
            for label, values in _word_values(name, result, table.associated_classes[0])
            for target, value in values.items()
        ]
    if posterior:
        answers = _posterior(table, which, seed)
        words += answers.words
        models += answers.models
    return Answers(words, models)


def _word_values(name: str, result: Result, first_class: str) -> list[tuple[str, pd.Series]]:
    """The column that a measure is about, and where that has no sign the one that has."""
    if result.words is None or result.word_values is None:
        return []
    if isinstance(result, CrossedTest) and not isinstance(result, QuasiF):  # the same scores as the quasi-F's
        return []
    values = [(SCORE if name == QuasiF.measure else name, result.word_values)]
    if name in _SIGNED:
        signed = [column for column in result.words if column in ("component_1", first_class) or " - " in str(column)]
        values += [(_SIGNED[name], result.words[column]) for column in signed[:1]]
    return values


def _posterior(table: AssociationTable, which: str, seed: int) -> Answers:
    fitted, _ = posterior_of(table, load_spec("crossed"), seed=seed)
    models: list[Record] = [{"list": which, "measure": POSTERIOR, **_bias(fitted)}]
    if which != TARGETS:
        return Answers([], models)
    models.append({"list": which, "measure": SPREAD, **_spread(fitted)})
    return Answers(_target_biases(fitted), models)


def _at_equal_frequency(table: AssociationTable, frequency: pd.Series, seed: int) -> Record:
    fitted, _ = posterior_of(table.with_covariates({"target": frequency}), load_spec("crossed"), seed=seed)
    found = adjustment_of(fitted)
    assert found is not None  # it has covariates
    return {"measure": EQUAL_FREQUENCY, **_bias(fitted), "answer": found.answer}


def _bias(fitted: Fitted) -> Record:
    bias = describe(estimate_of(fitted, "bias"), truth=0.0)
    return {"value": bias["mean"], **{key: bias[key] for key in ("p_value", "ci95_lb", "ci95_ub")}}


def target_biases(table: AssociationTable, *, seed: int) -> list[Record]:
    """Posterior mean and 95% interval of the bias of each target of a table, as records."""
    fitted, _ = posterior_of(table, load_spec("crossed"), seed=seed)
    return _target_biases(fitted)


def _target_biases(fitted: Fitted) -> list[Record]:
    bias = estimate_of(fitted, "target_bias").mixture
    assert bias is not None  # the crossed model is collapsed
    lower, upper = bias.quantiles(_INTERVAL)
    targets = bias.centre.contrast.to_numpy()
    table = {"measure": POSTERIOR, "target": targets, "value": bias.mean, "ci95_lb": lower, "ci95_ub": upper}
    return pd.DataFrame(table).to_dict("records")


def _spread(fitted: Fitted) -> Record:
    """How much targets differ in what they prefer, beyond what all share: posterior of `sd_target_preference`."""
    draws = fitted.posterior["sd_target_preference"].to_numpy().ravel()
    lower, upper = np.quantile(draws, _INTERVAL)
    return {"value": float(draws.mean()), "ci95_lb": float(lower), "ci95_ub": float(upper)}


def _angle(vectors: Mapping[str, np.ndarray], attribute: Attribute) -> Record:
    """Degrees between two bias directions: of the classes' mean difference, and of the pairs' first component."""
    first, others = (
        stack_unit(vectors, words, f"classes of {attribute.name}")
        for words in (attribute.classes[attribute.first_group], attribute.others)
    )
    difference = first.mean(axis=0) - others.mean(axis=0)
    component = defining_subspace(vectors, defining_sets(attribute))[0]
    cosine = abs(component @ difference) / np.linalg.norm(difference)
    return {"measure": ANGLE, "value": float(np.degrees(np.arccos(min(1.0, cosine))))}
