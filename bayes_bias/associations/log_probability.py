"""Measure log probabilities of a word list in templates, by a masked or causal language model."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import kind_of
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.errors import TableError
from bayes_bias.language_models.likelihoods import load_causal, load_masked
from bayes_bias.language_models.opening import is_masked
from bayes_bias.progress import advance, step
from bayes_bias.table.association_table import AssociationTable, announce, assemble, with_notices
from bayes_bias.table.metric import LOG_PROBABILITY, LOG_PROBABILITY_RATIO
from bayes_bias.words.list_rules import category_of
from bayes_bias.words.templates import Cloze, Pair, Score, Templates, check_word_classes, load_templates, word_classes
from bayes_bias.words.wordlist import ControlsLike, ListLike, WordList, load_wordlist

Predicted = Literal["targets", "attributes"]

# This word replaces the other word in place of a mask. In most models it is one piece, and it is a complete phrase.
_NOTHING = ("something", "name")


def log_probabilities(
    wordlist: ListLike,
    model: Score | str | Path,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    templates: Templates | str | Path = "association-10",
    predict: Predicted | None = None,
    corrected: bool = True,
) -> AssociationTable:
    r"""Measure how much one word raises the probability of another in a sentence, for all pairs of a list.

    For target i and attribute j in template r, with the target predicted,

    .. math:: y_{ijr} = \log p(i \mid j, r) - \log p(i \mid \text{a mask in the attribute's place}, r)

    the log probability score of Kurita et al. (2019), LPBS, before any averaging. The probability of a word of several
    pieces is joint, by the chain rule. The predicted word keeps its article. The mask replaces the whole phrase of the
    other word and is the same for all words, because an article, or the number of masks, would reveal information about
    the word.

    A causal model such as GPT-2 predicts a word from the text before it, so the predicted word must be the later of the
    two in each template. Because it has no mask, "something" replaces the other word. The result is the pointwise
    mutual information of Holtzman et al. (2021), whose domain is here the template. Log probabilities are summed over
    the tokens of a word, and not averaged as by Brown et al. (2020). Long words are less probable, but this affects
    only the level of a word, which cancels in y and in differences between groups. A mean over tokens would divide
    associations by the number of pieces.

    Parameters
    ----------
    wordlist : WordList, str or Path
        Word list, name of a built-in list, or path of a file.
    model : callable, str or Path
        A masked or causal language model: a folder or name on Hugging Face, which requires
        ``bayes-bias[transformers]``, the result of `load_masked` or `load_causal`, or any callable from clozes to the
        natural-log probabilities of their words.
    controls : iterable of str, Path or WordList
        Control classes, as in `cosines`, or ``()`` for none. If targets are predicted, the model reads a sentence for
        each attribute and template, and the built-in classes add 311 attributes.
    templates : Templates, str or Path
        Sentences with the slots {target} and {attribute}. Each sentence is a replicate.
    predict : {"targets", "attributes"}, optional
        The words to predict. The default is targets, or attributes for a causal model, because they come last in the
        built-in templates. Pointwise mutual information is the same either way, but a model's estimate of it is not.
        Results record this choice.
    corrected : bool
        Set to False to compute only :math:`\log p(i \mid j, r)`, which `bayes_bias.measures.unmasking` requires.

    Returns
    -------
    AssociationTable
        A table with the templates as replicates, in nats (natural logarithms). Scope "all" generalises to new words and
        new templates.

    Raises
    ------
    WordListError, TemplateError, LanguageModelError
        If the list, the templates or the model cannot be read, the class of a word is unknown, the tokenizer has no
        token for a word, or a sentence is longer than the model's window.
    TableError
        If `predict` is unknown, if a causal model would have to predict a word that comes before the other, or if the
        model's answers are not finite log probabilities, or their number is wrong.

    References
    ----------
    Kurita, K., Vyas, N., Pareek, A., Black, A. W. & Tsvetkov, Y. (2019). Measuring bias in contextualized word
    representations. First Workshop on Gender Bias in NLP, 166-172. https://doi.org/10.18653/v1/W19-3823

    Holtzman, A., West, P., Shwartz, V., Choi, Y. & Zettlemoyer, L. (2021). Surface form competition: Why the highest
    probability answer isn't always right. EMNLP 2021, 7038-7051. https://doi.org/10.18653/v1/2021.emnlp-main.564

    Brown, T. B. et al. (2020). Language models are few-shot learners. NeurIPS 33.
    https://doi.org/10.48550/arXiv.2005.14165

    Examples
    --------
    >>> def model(clozes):
    ...     return [-1.0 if cloze.word in ("he", "him") and "boss" in cloze.seen else -2.0 for cloze in clozes]
    >>> words = WordList.from_mapping({
    ...     "groups": {"men": ["he"], "women": ["she"]}, "classes": {"work": ["boss"], "home": ["cook"]},
    ...     "stereotypes": {"men": "work", "women": "home"}, "word_classes": {"noun": ["boss", "cook"]}})
    >>> log_probabilities(words, model, controls=()).block("men", "work").item()
    1.0
    """
    if predict is not None:
        check_predicted(predict)
    words = load_wordlist(wordlist).with_controls(controls)
    sentence_templates = load_templates(templates)
    score = open_score(model)
    predict = predict or predicted_by_default(score)
    targets = category_of(words.groups)
    attributes = category_of({**words.classes, **words.controls})
    sentences = _sentences(words, sentence_templates, predict)
    if is_causal(score):
        _check_order(sentences, predict, name_of(score))
    singles = _values(score, sentences, predict, corrected)
    table = assemble(
        np.mean([*singles.values()], axis=0),
        targets,
        attributes,
        words.stereotypes,
        opposites=words.opposites,
        topics=words.topic_of,
        pairs=words.pair_of,
        replicates=singles if len(singles) > 1 else {},
        kind="template",
        metric=LOG_PROBABILITY_RATIO if corrected else LOG_PROBABILITY,
        name=words.name,
        notices=words.notices,
        source=words.source,
        control_sources=words.control_sources,
        provenance=MappingProxyType(
            {
                "wordlist": words.name,
                "wordlist_sha256": words.sha256,
                "embedding": name_of(score),
                "embedding_source": f"log probabilities of {predict} by {name_of(score)}",
                "model_identity": str(getattr(score, "identity", "")),
                "predicted": predict,
                "templates": sentence_templates.name,
                "templates_sha256": sentence_templates.sha256,
            }
        ),
    )
    complete = with_notices(table)
    return replace(complete, notices=(*complete.notices, *announce(words.remarks, logging.INFO)))


def open_score(model: Score | str | Path, *, trust: bool = False) -> Score:
    """Return the model that answers clozes. If a folder or name is passed, open the masked or causal model.

    Raises
    ------
    TableError
        If it cannot be called.
    """
    if not isinstance(model, str | Path):
        if not callable(model):
            raise TableError(
                f"`model` must be a folder, the result of `load_masked` or `load_causal`, or a function from clozes to"
                f" log probabilities, but is {kind_of(model)}. Pass one of these."
            )
        return model
    load = load_masked if is_masked(model, trust) else load_causal
    return load(model, trust=trust)


def name_of(score: Score) -> str:
    """Return the name of a model in tables."""
    return str(getattr(score, "name", None) or getattr(score, "__name__", type(score).__name__))


def predicted_by_default(score: Score) -> Predicted:
    """Return the words that a model predicts by default: attributes for a causal model, which reads targets first."""
    return "attributes" if is_causal(score) else "targets"


def is_causal(score: Score) -> bool:
    """Return True if a model reads from left to right."""
    return bool(getattr(score, "is_causal", False))


def check_predicted(predict: str) -> None:
    """Raise an error if `predict` is not a side of a table."""
    if predict not in get_args(Predicted):
        raise TableError(f"`predict` cannot be '{predict}'.", predict, get_args(Predicted))


class _Sentences(NamedTuple):
    """Sentences in every template, whose names are the `labels`.

    `pairs` has the sentences of each target with each attribute, and `alone` has a sentence for each predicted word, in
    which the other word is masked. For each pair, (targets, attributes), `position` is the position of its predicted
    word in `alone`.
    """

    labels: tuple[str, ...]
    pairs: list[tuple[Pair, ...]]
    alone: list[tuple[Pair, ...]]
    position: NDArray[np.intp]


def _sentences(words: WordList, templates: Templates, predict: Predicted) -> _Sentences:
    """Return the sentences of every target with every attribute, and of every predicted word without its partner.

    `predict` names the side whose words are predicted. In sentences without a partner, the placeholder "something"
    takes the place of the other word, and is masked later. A template needs the grammatical class of each word: the
    placeholder has the class "name" or, if the templates lack this class, the class of the first target.
    """
    class_of = word_classes(words)
    check_word_classes(words.words, class_of)
    targets = [(word, class_of[word]) for word in words.targets]
    attributes = [(word, class_of[word]) for word in words.attributes]
    target_position, attribute_position = np.indices((len(targets), len(attributes)))
    word, word_class = _NOTHING
    placeholder = (word, word_class if word_class in templates.classes else class_of[words.targets[0]])
    pairs = [templates.pairs(target, attribute) for target, attribute in product(targets, attributes)]
    if predict == "targets":
        alone = [templates.pairs(target, placeholder) for target in targets]
        return _Sentences(templates.labels, pairs, alone, target_position)
    alone = [templates.pairs(placeholder, attribute) for attribute in attributes]
    return _Sentences(templates.labels, pairs, alone, attribute_position)


def _check_order(sentences: _Sentences, predict: Predicted, name: str) -> None:
    """Raise an error if the predicted word precedes the other word in a template.

    A causal model, such as GPT-2, reads from left to right, so the predicted word must come last. The first pair of
    words is checked, because the order is the same for all pairs. `pair.target` and `pair.attribute` are the start and
    end of a word in the sentence.
    """
    for label, pair in zip(sentences.labels, sentences.pairs[0], strict=True):
        predicted, other = (pair.target, pair.attribute) if predict == "targets" else (pair.attribute, pair.target)
        start_of_predicted, end_of_other = predicted[0], other[1]
        if start_of_predicted < end_of_other:
            last = "targets" if predict == "attributes" else "attributes"
            raise TableError(
                f"'{name}' reads from left to right, so it cannot predict the {predict} in '{label}'. Predict the"
                f" {last}, or use templates in which the {predict} come last."
            )


def _values(score: Score, sentences: _Sentences, predict: Predicted, corrected: bool) -> dict[str, NDArray[np.float64]]:
    r"""Return the values of all pairs, (targets, attributes), for each template.

    A value is :math:`\log p(i \mid j)`, the log probability of the predicted word i in a sentence with the other word
    j. If `corrected`, the prior log probability :math:`\log p(i)`, with a mask in place of j, is subtracted. The model
    (`score`) answers all sentences of a template in one call: first the pairs, row by row, and then the predicted words
    alone. `sentences.position` (targets, attributes) is the position of the predicted word of each pair among the
    latter.
    """
    values = {}
    step(f"log probabilities in {len(sentences.labels)} sentences")
    for number, label in enumerate(sentences.labels):
        together = [_cloze(pair[number], predict) for pair in sentences.pairs]
        alone = [_cloze(pair[number], predict, hide=True) for pair in sentences.alone] if corrected else []
        answers = _checked_answers(score, [*together, *alone], label)
        log_p = answers[: len(together)].reshape(sentences.position.shape)
        log_prior = answers[len(together) :][sentences.position] if corrected else 0.0
        values[label] = log_p - log_prior
        advance(number + 1, len(sentences.labels))
    return values


def _cloze(pair: Pair, predict: Predicted, *, hide: bool = False) -> Cloze:
    """Return a sentence with a blank for the predicted word, and with a mask for the other word if `hide` is True.

    `pair.target` and `pair.attribute` are the start and end of a word in the text of the sentence.
    """
    predicted, other = (pair.target, pair.attribute) if predict == "targets" else (pair.attribute, pair.target)
    start, end = predicted
    return Cloze(pair.text[:start], pair.text[start:end], pair.text[end:], (other,) if hide else ())


def _checked_answers(score: Score, clozes: Sequence[Cloze], template: str) -> NDArray[np.float64]:
    """Return the log probabilities that a model gives to clozes, or raise an error if they are impossible.

    A cloze is a sentence with a masked word, whose probability is asked for. `score` is the model, a function that
    users may write. It must return one number for each cloze, finite and at most zero, up to rounding.
    """
    answers = np.asarray(score(clozes), dtype=float)
    if answers.shape != (len(clozes),):
        raise TableError(
            f"The model must return one log probability for each of {len(clozes)} clozes, but returned the shape"
            f" {answers.shape}. Correct the function."
        )
    wrong = ~(np.isfinite(answers) & (answers <= 1e-6))
    if wrong.any():
        cloze = clozes[int(wrong.argmax())]
        raise TableError(
            "The model must return natural logarithms of probabilities, which are finite and at most zero, but returned"
            f" {answers[wrong][0]:g} for '{cloze.word}' in '{template}'. Correct the function."
        )
    return answers
