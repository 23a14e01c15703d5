"""`answers.prompts`: prompts with ids. Labels, their order, wordings, and positions of words are balanced."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from string import Formatter

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.lists import SEPARATOR, Lists, lists_of
from bayes_bias.analyses.answers.replies import PROMPT_COLUMNS
from bayes_bias.arguments import all_are, check_count, check_seed
from bayes_bias.errors import AnswersError
from bayes_bias.files import read_toml, refuse_pipe_or_address, shipped, shipped_names

DEFAULT = "assign-3"
_SLOTS = {"first", "second", "words"}


def prompts(
    wordlist: Lists, wordings: str | Path | Mapping[str, str] = DEFAULT, *, each: int = 1, seed: int = 1
) -> pd.DataFrame:
    """Write questions that ask a chat model to assign the words of a list to one of two labels.

    Every pair of labels occurs in every wording and in both orders, `each` times. Words are in random order. From
    prompt to prompt, they move by one position, so that each word is in every position equally often.

    Parameters
    ----------
    wordlist
        As for `bayes_bias.answers.estimate`: one or several lists, each with two groups of labels and two classes of
        words.
    wordings : str, Path or mapping of str to str
        The name of a built-in set, a TOML file with a table ``[wordings]``, or a mapping from names to texts. Each text
        contains the slots ``{first}``, ``{second}`` and ``{words}``.
    each : int
        Number of times that each question is asked.
    seed : int

    Returns
    -------
    pandas.DataFrame
        ``id``, ``stereotype``, ``wording``, ``label_a``, ``label_b``, ``first``, ``words`` (separated by bars), and
        ``prompt``, the text to send. `bayes_bias.answers.choices` matches replies to prompts by ``id``.

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
    check_seed(seed)
    check_count("each", each, "repetitions", refusal=AnswersError)
    texts = wordings_of(wordings)
    rows = []
    for stereotype, questions in lists_of(wordlist).items():
        rng = np.random.default_rng(seed)
        words = rng.permutation(np.array(questions.words, object))
        # Every wording is combined with every pair of labels in both orders.
        combinations = list(product(texts, questions.labels[0], questions.labels[1], (True, False))) * each
        for number, at in enumerate(rng.permutation(len(combinations))):
            wording, a, b, begins_with_a = combinations[at]
            first, second = (a, b) if begins_with_a else (b, a)
            ordered = np.roll(words, number)
            prompt = texts[wording].format(first=first, second=second, words=", ".join(ordered))
            row = (f"{stereotype}-{number + 1:05d}", stereotype, wording, a, b, first, SEPARATOR.join(ordered), prompt)
            rows.append(row)
    return pd.DataFrame(rows, columns=list(PROMPT_COLUMNS))


def wordings_of(source: str | Path | Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a set of wordings, by name."""
    if isinstance(source, Mapping):
        content, name = dict(source), "wordings"
    else:
        names, path = shipped_names("wordings"), Path(source)
        if source not in names and not path.is_file():
            refuse_pipe_or_address(source, "wordings", AnswersError)
            raise AnswersError(f"`wordings` is '{source}', which is neither a built-in set nor a file.", source, names)
        file = shipped("wordings") / f"{source}.toml" if source in names else path
        content, name = read_toml(file, f"wordings: '{source}' is", AnswersError).get("wordings", {}), str(source)
    if not content or not all_are(str, content.values()):
        raise AnswersError(f"'{name}' has no table [wordings] of texts. Add the table, for example as in '{DEFAULT}'.")
    stripped = {}
    for wording, text in content.items():
        try:
            slots = {slot for _, slot, _, _ in Formatter().parse(text) if slot is not None}
        except ValueError as error:
            raise AnswersError(f"The wording '{wording}' of '{name}' is not a text with slots: {error}.") from error
        if slots != _SLOTS:
            raise AnswersError(
                f"The wording '{wording}' of '{name}' has the slots {', '.join(sorted(slots)) or 'none'}. Use"
                " {first}, {second} and {words}."
            )
        stripped[wording] = text.strip()
    return stripped
