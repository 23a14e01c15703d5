"""What can be wrong with an input, as a small tree of exceptions.

Every message is one line that names the argument, its value, what is allowed and the remedy;
the command line prints it as it stands. All of them are `ValueError`s too, so that code which knows
nothing of this package can still catch them.
"""

import difflib
import re
from collections.abc import Iterable
from contextvars import ContextVar

# Whether a message is read in a terminal, whose remedies are options and commands.
IN_TERMINAL: ContextVar[bool] = ContextVar("in_terminal", default=False)

# "trust=True (--trust)": what Python takes, and in brackets what the terminal does.
_REMEDY = re.compile(r"(\b\w++=(?:'[^']*'|\([^()]*\)|[^\s(),])*|`[^`]*`) \((--[^()]*|`bayes-bias [^`]*`)\)")


def for_reader(text: str) -> str:
    """Keep those remedies of a message that its reader can use: arguments in Python, options in a terminal."""
    return _REMEDY.sub(r"\2" if IN_TERMINAL.get() else r"\1", text)


class BayesBiasError(ValueError):
    """Base class of all errors of this package: problems that the user can solve.

    If a name is unknown, the message ends with the nearest of the `valid` names, and with all of them.
    """

    def __init__(self, message: str = "", unknown: object = None, valid: Iterable[str] | None = None) -> None:
        remedy = "" if valid is None else f"; {did_you_mean(unknown, valid)}"
        super().__init__(" ".join(f"{message}{remedy}".splitlines()))  # one line, whatever value it quotes

    def __str__(self) -> str:
        return for_reader(super().__str__())


class WordListError(BayesBiasError):
    """A word list cannot be found, read or understood."""


class TemplateError(BayesBiasError):
    """Sentences cannot be found or made: no such set, a sentence without a slot, a word of unknown class."""


class EmbeddingError(BayesBiasError):
    """Vectors cannot be found or read, or opening them could run code."""


class LanguageModelError(BayesBiasError):
    """A sentence encoder or language model cannot be opened, or cannot read a sentence."""


class CoverageError(BayesBiasError):
    """Too few words of a group or class have a usable vector."""


class TableError(BayesBiasError):
    """A table of associations does not describe a targets x attributes design."""


class SentencePairsError(BayesBiasError):
    """Scores of sentence pairs are missing, are not numbers, or do not belong together."""


class AnswersError(BayesBiasError):
    """Answers of chat models cannot be read, or do not belong to the word list."""


class SpecError(BayesBiasError):
    """A model specification cannot be found, or names something unknown."""


class ScopeError(BayesBiasError):
    """The design cannot carry the generalisation that was asked for."""


class MeasureError(BayesBiasError):
    """A measure, or a debiasing method, is not defined on these words."""


class OtherDataError(MeasureError):
    """A measure needs another kind of data: sentences, probabilities or vectors."""


class TprGapsError(BayesBiasError):
    """Labels, predictions and groups do not determine true-positive rates of every class and group."""


class CriterionError(BayesBiasError):
    """Biases and an outside criterion do not match, or their errors are impossible."""


class OutputError(BayesBiasError):
    """A result cannot be written to the given path."""


def did_you_mean(value: object, valid: Iterable[str]) -> str:
    """The remedy of an unknown name: the nearest valid one, then all of them."""
    choices = sorted(valid)
    folded = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(str(value).casefold(), folded, n=1)
    hint = f"did you mean '{folded[near[0]]}'? " if near else ""
    return f"{hint}valid: {', '.join(choices) or 'none'}"
