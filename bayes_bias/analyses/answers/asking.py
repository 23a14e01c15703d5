"""`answers.prompts`: prompts with ids. Labels, their order, wordings, and positions of words are balanced."""

from collections.abc import Mapping
from itertools import chain, product
from pathlib import Path
from string import Formatter
from types import MappingProxyType

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.lists import SEPARATOR, AssociationList, Lists, lists_of
from bayes_bias.analyses.answers.reading import check_ratings
from bayes_bias.analyses.answers.replies import PROMPT_COLUMNS
from bayes_bias.arguments import all_are, check_count, check_seed
from bayes_bias.errors import AnswersError
from bayes_bias.files import read_toml, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.formatting import joined

CHOICES = "choices"
# The built-in set of wordings for each kind of answer.
DEFAULTS = MappingProxyType({CHOICES: "assign-3", "ordinal": "rate-3", "numeric": "percent-3", "binary": "yes-no-3"})
DEFAULT = DEFAULTS[CHOICES]
_SLOTS = frozenset({"first", "second", "words"})
_OPTIONAL_SLOTS = frozenset({"low", "high"})
_SLOTS_OF_VALUES = frozenset({"label", "word", "low", "high"})


def prompts(
    wordlist: Lists,
    wordings: str | Path | Mapping[str, str] | None = None,
    *,
    each: int = 1,
    seed: int = 1,
    likelihood: str = CHOICES,
    ratings: tuple[int, int] = (1, 7),
) -> pd.DataFrame:
    """Write questions that ask a chat model to assign the words of a list to one of two labels, or to rate them.

    Every pair of labels occurs in every wording and in both orders, `each` times. Words are in random order. From
    prompt to prompt, they move by one position, so that each word is in every position equally often. Questions for
    ratings, numbers, and yes or no contain one label and one word each, in every combination and wording.

    Parameters
    ----------
    wordlist
        As for `bayes_bias.answers.estimate`: one or several lists, each with two groups of labels and two classes of
        words.
    wordings : str, Path or mapping of str to str
        The name of a built-in set, a TOML file with a table ``[wordings]``, or a mapping from names to texts. Each text
        contains the slots ``{first}``, ``{second}`` and ``{words}`` or, for other answers than choices, ``{label}``,
        ``{word}``, and optionally ``{low}`` and ``{high}``. The default is a set for the kind of answer.
    each : int
        Number of times that each question is asked.
    seed : int
    likelihood : {"choices", "ordinal", "numeric", "binary"}
        The kind of answer: choices of labels, ratings, numbers, or yes and no.
    ratings : tuple of int
        The ends of the scale of ratings.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``stereotype``, ``wording``, ``label_a``, ``label_b``, ``first``, ``words`` (separated by bars), and
        ``prompt``, the text to send. `bayes_bias.answers.choices` matches replies to prompts by ``id``. For other
        answers than choices, there are ``label`` and ``word`` instead, and `bayes_bias.answers.numbers` reads the
        replies.

    Raises
    ------
    AnswersError
        If a wording is unknown or lacks a slot, if a list does not have two groups and two classes, or if `each` is
        invalid.
    SpecError
        If `seed` is invalid.

    Examples
    --------
    >>> asked = prompts({"groups": {"men": ["Ben", "Paul"], "women": ["Ann", "Eve"]},
    ...                  "classes": {"career": ["office", "salary"], "family": ["home", "wedding"]},
    ...                  "stereotypes": {"men": "career", "women": "family"}})
    >>> len(asked), asked.columns.tolist()[:5]
    (24, ['id', 'stereotype', 'wording', 'label_a', 'label_b'])
    """
    seed = check_seed(seed)
    each = check_count("each", each, "repetitions", refusal=AnswersError)
    if likelihood not in DEFAULTS:
        raise AnswersError(f"`likelihood` is '{likelihood}', for which there are no prompts.", likelihood, DEFAULTS)
    wordings = DEFAULTS[likelihood] if wordings is None else wordings
    if likelihood != CHOICES:
        return _prompts_for_values(lists_of(wordlist), wordings_of(wordings, _SLOTS_OF_VALUES), each, seed, ratings)
    texts = wordings_of(wordings)
    rows = []
    for stereotype, questions in lists_of(wordlist).items():
        rng = np.random.default_rng(seed)
        words = rng.permutation(np.array(questions.words, object))
        # Every wording is combined with every pair of labels in both orders.
        combinations = list(product(texts, questions.labels[0], questions.labels[1], (True, False))) * each
        for number, position in enumerate(rng.permutation(len(combinations))):
            wording, label_a, label_b, begins_with_a = combinations[position]
            first, second = (label_a, label_b) if begins_with_a else (label_b, label_a)
            ordered = np.roll(words, number)
            words_of_prompt = SEPARATOR.join(ordered)
            prompt = texts[wording].format(first=first, second=second, words=", ".join(ordered))
            name = f"{stereotype}-{number + 1:05d}"
            rows.append((name, stereotype, wording, label_a, label_b, first, words_of_prompt, prompt))
    return pd.DataFrame(rows, columns=list(PROMPT_COLUMNS))


def _prompts_for_values(
    lists: Mapping[str, AssociationList], texts: Mapping[str, str], each: int, seed: int, ratings: tuple[int, int]
) -> pd.DataFrame:
    """Return a question for each label, word, and wording, `each` times and in random order, with its id.

    `lists` has the labels and words of each stereotype. `texts` are the wordings by name, such as "How well does {word}
    fit {label}?", whose slots are filled with the label, the word, and the ends of the scale of `ratings`.
    """
    check_ratings(ratings)
    low, high = ratings
    rows = []
    for stereotype, questions in lists.items():
        rng = np.random.default_rng(seed)
        combinations = list(product(texts, chain(*questions.labels), questions.words)) * each
        for number, position in enumerate(rng.permutation(len(combinations)), start=1):
            wording, label, word = combinations[position]
            prompt = texts[wording].format(label=label, word=word, low=low, high=high)
            rows.append((f"{stereotype}-{number:05d}", stereotype, wording, label, word, prompt))
    return pd.DataFrame(rows, columns=["id", "stereotype", "wording", "label", "word", "prompt"])


def wordings_of(source: str | Path | Mapping[str, str], slots_of_kind: frozenset[str] = _SLOTS) -> dict[str, str]:
    """Return the texts of a set of wordings, by name.

    The source is a mapping, the name of a built-in set, or a TOML file. Each text must have all slots of its kind of
    answer (`slots_of_kind`), such as ``{words}``, and no others. The ends of a scale, ``{low}`` and ``{high}``, are
    optional slots.
    """
    if isinstance(source, Mapping):
        content, name = dict(source), "wordings"
    else:
        names = shipped_names("wordings")
        path = Path(source)
        if source not in names and not path.is_file():
            refuse_pipe_or_address(source, "wordings", AnswersError)
            raise AnswersError(f"`wordings` is '{source}', which is neither a built-in set nor a file.", source, names)
        file = shipped("wordings") / f"{source}.toml" if source in names else path
        content = read_toml(file, f"wordings: '{source}' is", AnswersError).get("wordings", {})
        name = str(source)
    if not content or not all_are(str, content.values()):
        raise AnswersError(f"'{name}' has no table [wordings] of texts. Add the table, for example as in '{DEFAULT}'.")
    required = slots_of_kind - _OPTIONAL_SLOTS
    stripped = {}
    for wording, text in content.items():
        try:
            slots = {slot for _literal, slot, _format, _conversion in Formatter().parse(text) if slot is not None}
        except ValueError as error:
            raise AnswersError(f"The wording '{wording}' of '{name}' is not a text with slots: {error}.") from error
        if not required <= slots <= slots_of_kind:
            remedy = joined([f"{{{slot}}}" for slot in sorted(required)])  # such as "{first}, {second} and {words}"
            existing = ", ".join(sorted(slots)) or "none"
            raise AnswersError(f"The wording '{wording}' of '{name}' has the slots {existing}. Use {remedy}.")
        stripped[wording] = text.strip()
    return stripped
