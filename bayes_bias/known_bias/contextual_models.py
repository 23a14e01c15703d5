"""Contextual models of a corpus: a BERT that learns to fill in the words of the groups, and is asked what it fills in.

It is asked in sentences that it was not trained on: how probable is each word of a group where the target stands
beside its blank, and, for measures of vectors, what becomes of targets and words of the groups in the same sentences.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.errors import ScenarioError
from bayes_bias.known_bias.asking_measures import SCORE, Answers, Record, defining_sets, of_one_table
from bayes_bias.known_bias.corpora import Truth
from bayes_bias.known_bias.scenario import ModelRecipe, Scenario
from bayes_bias.known_bias.scenario_lists import TARGETS, of_all_targets, of_two_groups
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

# Mean log probability of the group's words less that of all others: what Kurita et al. (2019) call a word's score.
LPBS_SCORE = "LPBS score"

# Mean cosine of a target's sentences with those of the group's words less that with all others.
SEAT_SCORE = "SEAT score"

# So many of the test sentences have a vector, since SEAT compares each with all others.
_ENCODED = 10
_BATCH = 256

# With three times this rate a small model mostly stays where it knows the role of a word, and not whom it is about.
_RATE = 1e-3

# Vocabularies say themselves in which sentence a word can stand, not its class.
_CLASS = "other"


def attribute_words(scenario: Scenario) -> list[str]:
    """Words of the groups, and neutral words."""
    return [
        word
        for each in scenario.described.values()
        for words in (*each.classes.values(), each.neutral_words)
        for word in words
    ]


def check_contextual(recipes: Iterable[ModelRecipe]) -> None:
    """Refuse what cannot be trained before anything is: an answer that is kept needs neither torch nor a folder.

    Raises
    ------
    LanguageModelError
        torch is not installed; a folder holds no masked language model.
    """
    for recipe in {each.name: each for each in recipes if each.contextual}.values():
        check_installed()
        if recipe.kind == "fine-tune":
            load_masked(recipe.settings["folder"])


def train_contextual(
    sentences: Sequence[str], recipe: ModelRecipe, words: Sequence[str], folder: Path, seed: int
) -> Path:
    """A BERT that is trained on these sentences, or a folder's that goes on learning from them.

    Parameters
    ----------
    sentences : sequence of str
    recipe : ModelRecipe
        Of kind "bert" or "fine-tune".
    words : sequence of str
        Those that are masked.
    folder : Path
        Where the model goes; a training that was killed goes on from there.
    seed : int

    Raises
    ------
    LanguageModelError
        torch is not installed; the folder to start from holds no masked language model.
    """
    settings = dict(recipe.settings)
    if recipe.kind == "fine-tune":
        return fine_tune(settings.pop("folder"), sentences, folder, asked=words, seed=seed, **settings)
    return train_masked(sentences, folder, asked=words, seed=seed, rate=_RATE, **settings)


def ask_model(scenario: Scenario, truth: Truth, folder: Path, *, seed: int = 1) -> Answers:
    """Ask a masked language model: measures and posterior of log probabilities, and of cosines of its sentences.

    Where both have a measure of one name, that of cosines says so in its label. WEAT of log probabilities goes by its
    name, LPBS.

    Parameters
    ----------
    scenario : Scenario
    truth : Truth
        Which target goes into which group is known from it; the numbers are not.
    folder : Path
        Of the model.
    seed : int

    Raises
    ------
    ScenarioError
        A role has no test sentence.
    LanguageModelError
        The model cannot be opened, or has no token for a word.
    """
    with one_thread(), _without_unknown_words():
        model = load_masked(folder, batch=_BATCH)
        encoder = load_encoder(folder, batch=_BATCH)
        every = [
            answers
            for attribute in scenario.described.values()
            for answers in _of_attribute(scenario, truth, attribute, model, encoder, seed)
        ]
    return Answers([row for each in every for row in each.words], [row for each in every for row in each.models])


def _of_attribute(
    scenario: Scenario, truth: Truth, attribute: Attribute, model: MaskedModel, encoder: SentenceEncoder, seed: int
) -> Iterator[Answers]:
    targets = of_all_targets(scenario, attribute, scenario.words)
    two_groups = enumerate(of_two_groups(scenario, truth, attribute), start=1)
    lists = {TARGETS: targets, **{f"two groups {number}": each for number, each in two_groups}}
    values = filled_in(model, attribute, targets)
    embedding = _encoded(encoder, attribute, targets)
    for which, words in lists.items():
        logs = of_one_table(_of_values(values, words), [], which, scenario.posterior, seed)
        logs = _named(logs, which, attribute, {SCORE: LPBS_SCORE, Weat.measure: None})
        table = cosines(embedding, words, controls=()).with_vectors(_unit_sentences(embedding))
        cosine = of_one_table(table, defining_sets(attribute), which, scenario.posterior, seed)
        taken = {row["measure"] for row in (*logs.words, *logs.models)}
        names = {name: f"{name} (cosine)" for name in taken}
        yield from (logs, _named(cosine, which, attribute, {**names, SCORE: SEAT_SCORE}))


def filled_in(model: MaskedModel, attribute: Attribute, words: WordList) -> pd.DataFrame:
    """Log probability of each word of a group beside each target, its mean over the test sentences of its role.

    Returns
    -------
    pandas.DataFrame
        A row for each target, a column for each word.
    """
    columns = []
    for role in next(iter(attribute.groups.values())):
        own = replace(
            words,
            classes={group: roles[role] for group, roles in attribute.groups.items()},
            word_classes=_classes(words),
        )
        table = log_probabilities(
            model, own, controls=(), templates=_of_role(attribute, role), predict="attributes", corrected=False
        )
        columns.append(table.values.to_pandas())
    return pd.concat(columns, axis=1)


def _encoded(encoder: SentenceEncoder, attribute: Attribute, words: WordList) -> Embedding:
    """Vectors of sentences with each word, made once for all lists."""
    read = encode(
        encoder,
        replace(words, word_classes=_classes(words)),
        _templates(attribute, encoder.opened.tokenizer.mask_token),
        cache=False,
    )
    return read.excerpt([*words.targets, *words.attributes])


def _unit_sentences(embedding: Embedding) -> dict[str, np.ndarray]:
    """Vectors of words as measures are to see them: each of their sentences at length one."""
    stored = embedding.all()
    return {word: unit_rows(vector) if embedding.replicates else vector for word, vector in stored.items()}


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
            f"vocabulary: no test sentence of '{attribute.name}' has the slot {{{role}}}, and a contextual model is"
            " asked in them; add one"
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
    """With labels of their own, or without what has none; words are asked about in the list of all targets alone."""

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
