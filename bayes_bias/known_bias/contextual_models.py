"""Contextual models of a corpus: a BERT that learns to fill in the words of the groups, and what measures make of it.

They see sentences that it was not trained on: how probable is each word of a group where the target stands beside its
blank, and, for measures of vectors, what becomes of targets and words of the groups in the same sentences.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.errors import ScenarioError
from bayes_bias.known_bias.asking_measures import SCORE, Answers, Record, defining_sets, of_one_table
from bayes_bias.known_bias.corpora import Truth
from bayes_bias.known_bias.scenario import ModelRecipe, Scenario
from bayes_bias.known_bias.scenario_lists import TARGETS, lists_of
from bayes_bias.known_bias.training import fine_tune, one_thread, train_masked
from bayes_bias.known_bias.vocabulary import SLOT, TARGET, TEST, Attribute
from bayes_bias.language_models.encoding import encode
from bayes_bias.language_models.hugging_face import SentenceEncoder, load_encoder
from bayes_bias.language_models.masked import MaskedModel, load_masked
from bayes_bias.language_models.opening_models import check_installed
from bayes_bias.language_models.tokens import UNKNOWN
from bayes_bias.measures.weat import Weat
from bayes_bias.measuring.log_probability import log_probabilities
from bayes_bias.measuring.vector_tables import cosines
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.metric import LOG_PROBABILITY
from bayes_bias.words.list_rules import home_of
from bayes_bias.words.templates import Template, Templates
from bayes_bias.words.wordlist import WordList

# Mean log probability of the group's words minus that of all others: what Kurita et al. (2019) call a word's score.
LPBS_SCORE = "LPBS score"

# Mean cosine of a target's sentences with those of the group's words minus that with all others.
SEAT_SCORE = "SEAT score"

# How many test sentences have a vector: SEAT compares each with all others.
_ENCODED = 10
_BATCH = 256

# With three times this rate a small model mostly stays where it knows the role of a word, and not whom it is about.
_RATE = 1e-3

# Vocabularies say themselves in which sentence a word can stand, not its class.
_CLASS = "other"


def attribute_words(scenario: Scenario) -> list[str]:
    """Words of the groups, and neutral words."""
    attributes = scenario.described.values()
    return [word for attribute in attributes for word in chain(*attribute.classes.values(), attribute.neutral_words)]


def check_contextual(recipes: Iterable[ModelRecipe]) -> None:
    """Refuse what cannot be trained before anything is: kept answers need neither torch nor a folder."""
    for recipe in {recipe.name: recipe for recipe in recipes if recipe.contextual}.values():
        check_installed()
        if recipe.kind == "fine-tune":
            load_masked(recipe.settings["folder"])


def train_contextual(
    sentences: Sequence[str], recipe: ModelRecipe, words: Sequence[str], folder: Path, seed: int
) -> Path:
    """A BERT that is trained on these sentences, or a folder's that goes on learning from them.

    These words alone are masked. A training that was killed goes on from its folder.
    """
    settings = dict(recipe.settings)
    if recipe.kind == "fine-tune":
        return fine_tune(settings.pop("folder"), sentences, folder, maskable=words, seed=seed, **settings)
    return train_masked(sentences, folder, maskable=words, seed=seed, rate=_RATE, **settings)


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
    vectors = {  # as measures see them: each of a word's sentences at length one
        word: unit_rows(vector) if embedding.replicates else vector for word, vector in embedding.all().items()
    }
    for which, words in lists.items():
        logs = of_one_table(_of_values(values, words), [], which, scenario.posterior, seed)
        logs = _named(logs, which, attribute, {SCORE: LPBS_SCORE, Weat.measure: None})
        table = cosines(embedding, words, controls=()).with_vectors(vectors)
        cosine = of_one_table(table, defining_sets(attribute), which, scenario.posterior, seed)
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
            model, of_role, controls=(), templates=templates, predict="attributes", corrected=False
        )
        columns.append(table.values.to_pandas())
    return pd.concat(columns, axis=1)


def _encoded(encoder: SentenceEncoder, attribute: Attribute, words: WordList) -> Embedding:
    """Vectors of sentences with each word, made once for all lists."""
    templates = _templates(attribute, encoder.opened.tokenizer.mask_token)
    embedding = encode(encoder, replace(words, word_classes=_classes(words)), templates, cache=False)
    return embedding.excerpt([*words.targets, *words.attributes])


def _of_values(values: pd.DataFrame, words: WordList) -> AssociationTable:
    targets, attributes = home_of(words.groups), home_of(words.classes)
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
    return _set(f"{attribute.name}-{role}", [text.replace(f"{{{role}}}", "{attribute}") for text in texts])


def _templates(attribute: Attribute, mask: str) -> Templates:
    """Some of the test sentences, in which a word stands where targets do, and nothing tells a group."""
    texts = [SLOT.sub(lambda slot: "{word}" if slot[1] == TARGET else mask, text) for text in attribute.sentences[TEST]]
    return _set(f"{attribute.name}-test", texts[:: max(1, len(texts) // _ENCODED)][:_ENCODED])


def _set(name: str, texts: Sequence[str]) -> Templates:
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
