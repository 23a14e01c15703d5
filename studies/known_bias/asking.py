"""What every measure and the posterior make of one model of one corpus: of its vectors, or of a BERT's sentences.

A BERT sees sentences that it was not trained on: how probable is each word of a group where the target stands beside
its blank, and, for measures of vectors, what becomes of targets and words of the groups in the same sentences.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.associations.cosines import cosines
from bayes_bias.associations.log_probability import log_probabilities
from bayes_bias.checks.null_jobs import describe, posterior_of
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import defining_subspace, stack_unit
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.language_models.encoding import encode
from bayes_bias.language_models.hugging_face import SentenceEncoder, load_encoder
from bayes_bias.language_models.likelihoods import MaskedModel, load_masked
from bayes_bias.language_models.tokens import UNKNOWN
from bayes_bias.measures.crossed_tests import CrossedTest, QuasiF
from bayes_bias.measures.measure_table import measure_all
from bayes_bias.measures.registry import Result
from bayes_bias.measures.same import Same
from bayes_bias.measures.weat import Weat
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.posterior.verdict import adjustment_of
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.metric import LOG_PROBABILITY
from bayes_bias.words.list_rules import category_of
from bayes_bias.words.templates import Template, Templates
from bayes_bias.words.wordlist import WordList
from studies.known_bias.corpora import TARGETS, Truth, lists_of, log_frequency, of_all_targets
from studies.known_bias.scenario import Scenario
from studies.known_bias.toml_values import ScenarioError
from studies.known_bias.training import one_thread
from studies.known_bias.vocabulary import SLOT, TARGET, TEST, Attribute

POSTERIOR = "posterior"
EQUAL_FREQUENCY = "posterior at equal frequency"
SPREAD = "posterior spread"
ANGLE = "angle of bias directions"

_INTERVAL = (0.025, 0.975)

# Measures whose value for a word has no sign, though they know one.
_SIGNED = {"SAME": "SAME (signed)", "Direct Bias": "Direct Bias (signed)", "unmasking": "unmasking (signed)"}

# Mean cosine with the group's words minus that with all others: what WEAT calls the association of a word.
SCORE = "WEAT score"

# Mean log probability of the group's words minus that of all others: what Kurita et al. (2019) call a word's score.
LPBS_SCORE = "LPBS score"

# Mean cosine of a target's sentences with those of the group's words minus that with all others.
SEAT_SCORE = "SEAT score"

# How many test sentences have a vector: SEAT compares each with all others.
_ENCODED = 10
_BATCH = 256

# Vocabularies say themselves in which sentence a word can stand, not its class.
_CLASS = "other"

# Shares of the targets that stand for all of them, and how often each is drawn.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
_DRAWS = 10
_STREAM = 4

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
            sets = [word for words in attribute.defining_sets for word in words]
            table = cosines(wordlist, vectors, controls=(), also=sets)
            answers = of_one_table(table, attribute.defining_sets, name, scenario.posterior, seed)
            models += [{"attribute": attribute.name, **row} for row in answers.models]
            if name != TARGETS and scenario.posterior and frequency is not None:
                row = _at_equal_frequency(table, frequency, seed)
                models.append({"attribute": attribute.name, "list": name, **row})
            if name == TARGETS:
                words += [{"attribute": attribute.name, **row} for row in answers.words]
                models.append({"attribute": attribute.name, "list": TARGETS, **_angle(vectors, attribute)})
    return Answers(words, models)


def retest(scenario: Scenario, vectors: Mapping[str, np.ndarray], seed: int) -> list[Record]:
    """Scores of random parts of the targets beside those of all, for every measure that one group of targets allows.

    Returns
    -------
    list of records
        ``attribute``, ``measure``, ``share``, ``value`` (of all targets), ``change`` (mean absolute change), ``low``,
        ``high`` (the measure's range).
    """
    rng = np.random.default_rng([scenario.seed, _STREAM, seed])
    rows: list[Record] = []
    for attribute in scenario.described.values():
        scores = partial(_scores, scenario, vectors, attribute, seed)
        whole = scores(scenario.words)
        for share in SHARES:
            size = max(2, round(share * scenario.targets))
            parts = [scores(rng.choice(scenario.words, size, replace=False).tolist()) for _ in range(_DRAWS)]
            for name, row in whole.iterrows():
                values = np.array([part.value.get(name, np.nan) for part in parts])
                change = float(np.abs(values - row.value).mean())
                known = {"value": row.value, "change": change, "low": row.low, "high": row.high}
                rows.append({"attribute": attribute.name, "measure": name, "share": share, **known})
    return rows


def _scores(
    scenario: Scenario, vectors: Mapping[str, np.ndarray], attribute: Attribute, seed: int, targets: Sequence[str]
) -> pd.DataFrame:
    sets = [word for words in attribute.defining_sets for word in words]
    table = cosines(of_all_targets(scenario, attribute, targets), vectors, controls=(), also=sets)
    return measure_all(table, defining_sets=attribute.defining_sets, seed=seed).table


def _at_equal_frequency(table: AssociationTable, frequency: pd.Series, seed: int) -> Record:
    fitted, _ = posterior_of(table.with_covariates({"target": frequency}), load_spec("crossed"), seed=seed)
    found = adjustment_of(fitted)
    assert found is not None  # it has covariates
    return {"measure": EQUAL_FREQUENCY, **_bias(fitted), "answer": found.answer}


def _angle(vectors: Mapping[str, np.ndarray], attribute: Attribute) -> Record:
    """Degrees between two bias directions: of the classes' mean difference, and of the pairs' first component."""
    first, others = (
        stack_unit(vectors, words, f"classes of {attribute.name}")
        for words in (attribute.classes[attribute.first_group], attribute.others)
    )
    difference = first.mean(axis=0) - others.mean(axis=0)
    component = defining_subspace(vectors, attribute.defining_sets)[0]
    cosine = abs(component @ difference) / np.linalg.norm(difference)
    return {"measure": ANGLE, "value": float(np.degrees(np.arccos(min(1.0, cosine))))}


def ask_model(scenario: Scenario, truth: Truth, folder: Path, *, seed: int = 1) -> Answers:
    """Ask a masked language model: measures and posterior of log probabilities, and of cosines of its sentences.

    Where both have a measure of one name, that of cosines says so in its label. WEAT of log probabilities goes by its
    name, LPBS. From the truth is known which target goes into which group; its numbers are not.
    """
    with one_thread(), _without_unknown_words():
        model = load_masked(folder, batch=_BATCH)
        encoder = load_encoder(folder, batch=_BATCH)
        parts = [
            answers
            for attribute in scenario.described.values()
            for answers in _of_attribute(scenario, truth, attribute, model, encoder, seed)
        ]
    return Answers([row for part in parts for row in part.words], [row for part in parts for row in part.models])


def _of_attribute(
    scenario: Scenario, truth: Truth, attribute: Attribute, model: MaskedModel, encoder: SentenceEncoder, seed: int
) -> Iterator[Answers]:
    lists = lists_of(scenario, truth, attribute)
    values = filled_in(model, attribute, lists[TARGETS])
    embedding = _encoded(encoder, attribute, lists[TARGETS])
    for which, words in lists.items():
        logs = of_one_table(_of_values(values, words), [], which, scenario.posterior, seed)
        logs = _named(logs, which, attribute, {SCORE: LPBS_SCORE, Weat.measure: None})
        table = cosines(words, embedding, controls=())
        cosine = of_one_table(table, attribute.defining_sets, which, scenario.posterior, seed)
        taken = {row["measure"] for row in (*logs.words, *logs.models)}
        names = {name: f"{name} (cosine)" for name in taken}
        yield from (logs, _named(cosine, which, attribute, {**names, SCORE: SEAT_SCORE}))


def filled_in(model: MaskedModel, attribute: Attribute, words: WordList) -> pd.DataFrame:
    """Log probability of each word of a group (columns) beside each target (rows), mean over its test sentences."""
    columns = []
    for role in next(iter(attribute.groups.values())):
        classes = {group: roles[role] for group, roles in attribute.groups.items()}
        of_role = replace(words, classes=classes, word_classes=_classes(words))
        templates = _of_role(attribute, role)
        table = log_probabilities(
            of_role, model, controls=(), templates=templates, predict="attributes", corrected=False
        )
        columns.append(table.values.to_pandas())
    return pd.concat(columns, axis=1)


def _encoded(encoder: SentenceEncoder, attribute: Attribute, words: WordList) -> Embedding:
    """Vectors of sentences with each word, made once for all lists."""
    templates = _with_words(attribute, encoder.transformer.tokenizer.mask_token)
    embedding = encode(replace(words, word_classes=_classes(words)), encoder, templates, cache=False)
    return embedding.excerpt([*words.targets, *words.attributes])


def _of_values(values: pd.DataFrame, words: WordList) -> AssociationTable:
    targets, attributes = category_of(words.groups), category_of(words.classes)
    return assemble(
        values.loc[[*targets], [*attributes]].to_numpy(),
        targets,
        attributes,
        words.stereotypes,
        opposites=words.opposites,
        metric=LOG_PROBABILITY,
        name=words.name,
        provenance=MappingProxyType({"predicted": "attributes"}),
    )


def _of_role(attribute: Attribute, role: str) -> Templates:
    """The test sentences that have a word of this role, which is an attribute beside the target."""
    texts = [text for text in attribute.sentences[TEST] if role in SLOT.findall(text)]
    if not texts:
        raise ScenarioError(
            f"vocabulary: no test sentence of '{attribute.name}' has the slot {{{role}}}, and a contextual model"
            " needs one; add it"
        )
    return _templates_of(f"{attribute.name}-{role}", [text.replace(f"{{{role}}}", "{attribute}") for text in texts])


def _with_words(attribute: Attribute, mask: str) -> Templates:
    """Some of the test sentences, in which a word stands where targets do, and nothing tells a group."""
    texts = [SLOT.sub(lambda slot: "{word}" if slot[1] == TARGET else mask, text) for text in attribute.sentences[TEST]]
    return _templates_of(f"{attribute.name}-test", texts[:: max(1, len(texts) // _ENCODED)][:_ENCODED])


def _templates_of(name: str, texts: Sequence[str]) -> Templates:
    templates = tuple(Template(text, MappingProxyType({})) for text in texts)
    return Templates(name, name, "", templates, (_CLASS,), MappingProxyType({_CLASS: "{word}"}))


def _classes(words: WordList) -> dict[str, str]:
    return dict.fromkeys((*words.targets, *words.attributes), _CLASS)


def _named(answers: Answers, which: str, attribute: Attribute, names: Mapping[str, str | None]) -> Answers:
    """With labels of their own, or without what has none; words are reported for the list of all targets alone."""

    def rows(given: Sequence[Record]) -> list[Record]:
        return [
            {"attribute": attribute.name, **row, "measure": label}
            for row in given
            if (label := names.get(row["measure"], row["measure"])) is not None
        ]

    return Answers(rows(answers.words if which == TARGETS else ()), rows(answers.models))


@contextmanager
def _without_unknown_words() -> Iterator[None]:
    """Test sentences have words that the training sentences lack; the log need not name each."""

    def is_about_known_words(record: logging.LogRecord) -> bool:
        return record.msg != UNKNOWN

    logger = logging.getLogger("bayes_bias")
    logger.addFilter(is_about_known_words)
    try:
        yield
    finally:
        logger.removeFilter(is_about_known_words)


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
