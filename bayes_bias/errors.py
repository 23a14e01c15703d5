"""The exceptions of the package, one for each kind of input.

Every message is one line: a sentence that names the argument and its value, and a sentence that recommends a solution.
The command line also prints this line. All exceptions are also `ValueError`s, so that code which does not import this
package can catch them.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_MOST_SHOWN = 12  # maximal number of valid values in a message
_MOST_SIMILAR = 5  # number of valid values that a message shows if there are more

# True in a terminal, where messages mention options and commands instead of arguments.
IN_TERMINAL: ContextVar[bool] = ContextVar("in_terminal", default=False)
# The command line that is running, or "" in Python.
COMMAND: ContextVar[str] = ContextVar("command", default="")

# For example "trust=True (--trust)": the Python argument, followed by the command-line option in brackets.
_REMEDY = re.compile(r"(\b\w++=(?:'[^']*'|\([^()]*\)|[^\s(),])*|`[^`]*`) \((--[^()]*|`bayes-bias [^`]*`)\)")

# The libraries that an optional dependency of pyproject.toml installs, as they are imported. An import that lacks one
# of them raises an error of one line (`optional`).
LIBRARIES = MappingProxyType(
    {
        "arrow": ("pyarrow",),
        "cluster": ("distributed",),
        "excel": ("openpyxl",),
        "explore": ("starlette", "uvicorn"),
        "report": ("matplotlib",),
        "sampling": ("arviz_base", "arviz_stats", "h5netcdf", "h5py", "numba", "nutpie", "pymc", "pytensor"),
        "sklearn": ("sklearn",),
    }
)


def for_reader(text: str) -> str:
    """Keep only the remedies that the reader can use: arguments in Python, and options in a terminal.

    Messages contain both, such as "trust=True (--trust)". In Python, this becomes "trust=True", and in a terminal
    "--trust".
    """
    return _REMEDY.sub(r"\2" if IN_TERMINAL.get() else r"\1", text)


class BayesBiasError(ValueError):
    """Base class of all errors of this package: problems that the user can solve.

    If a name is unknown, the message ends with the most similar `valid` name.
    """

    def __init__(self, message: str = "", unknown: object = None, valid: Iterable[str] | None = None) -> None:
        if valid is not None:
            message = f"{message.removesuffix('.')}. {did_you_mean(unknown, valid)}"
        super().__init__(" ".join(message.splitlines()))  # the message is one line, even if it quotes a long value

    def __str__(self) -> str:
        return for_reader(super().__str__())


@contextmanager
def optional(purpose: str = "", instead: str = "", *, refusal: type[BayesBiasError] = BayesBiasError) -> Iterator[None]:
    """Raise an error with the command that installs an optional dependency, if an import in this context lacks one.

    `purpose` follows "is required", and `instead` follows the command. The context is also a decorator. `LIBRARIES` has
    the libraries of each extra of this package, which pip installs as ``bayes-bias[extra]``. The error of any other
    library is not changed.

    Examples
    --------
    >>> try:
    ...     with optional(" for fits"):
    ...         raise ModuleNotFoundError(name="pymc")
    ... except BayesBiasError as error:
    ...     print(error)
    pymc is required for fits, but is not installed. Install it with pip install 'bayes-bias[sampling]'.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        extras = [extra for extra, libraries in LIBRARIES.items() if library in libraries]
        if not extras:
            raise
        raise refusal(
            f"{library} is required{purpose}, but is not installed. Install it with pip install"
            f" 'bayes-bias[{extras[0]}]'{instead}."
        ) from error


class WordListError(BayesBiasError):
    """A word list cannot be found or read."""


class TemplateError(BayesBiasError):
    """Sentence templates cannot be found or filled."""


class EmbeddingError(BayesBiasError):
    """Vectors cannot be found or read, or opening their file could run code."""


class CorpusError(BayesBiasError):
    """Texts cannot be found or read, or are too few."""


class LanguageModelError(BayesBiasError):
    """A sentence encoder or language model cannot be opened, or cannot read a sentence."""


class CoverageError(BayesBiasError):
    """Too few words of a group or class have a usable vector."""


class TableError(BayesBiasError):
    """A table of associations does not describe a targets x attributes design."""


class SentencePairsError(BayesBiasError):
    """Scores of sentence pairs are missing, not numeric, or inconsistent."""


class AnswersError(BayesBiasError):
    """Answers of chat models cannot be read, or do not match the word list."""


class SpecError(BayesBiasError):
    """A model specification cannot be found, or contains an unknown name."""


class ScopeError(BayesBiasError):
    """The data do not support the requested scope."""


class MeasureError(BayesBiasError):
    """A measure or debiasing method is not defined for these words."""


class OtherDataError(MeasureError):
    """A measure requires another kind of data: sentences, probabilities, or vectors."""


class TprGapsError(BayesBiasError):
    """Labels, predictions, and groups do not determine the true-positive rate of every class and group."""


class CriterionError(BayesBiasError):
    """Biases and an external criterion do not match, or a standard error is not valid."""


class OutputError(BayesBiasError):
    """A result cannot be written to the path."""


def did_you_mean(value: object, valid: Iterable[str]) -> str:
    """Name the valid choices in a sentence, after a question with the most similar one if there is one.

    All choices are named if there are few (`_MOST_SHOWN`), and otherwise the most similar ones (`_MOST_SIMILAR`) with
    the number of others. Upper and lower case are not distinguished when `value` is compared with the choices.

    Examples
    --------
    >>> did_you_mean("wheat", ["weat", "rnsb"])
    "Did you mean 'weat'? The choices are rnsb and weat."
    """
    choices = sorted(valid)
    if not choices:
        return "There are no choices."
    folded_value = str(value).casefold()
    choice_of = {choice.casefold(): choice for choice in choices}
    most_similar = difflib.get_close_matches(folded_value, choice_of, n=1)
    hint = f"Did you mean '{choice_of[most_similar[0]]}'? " if most_similar else ""
    if len(choices) > _MOST_SHOWN:
        similar = difflib.get_close_matches(folded_value, choice_of, n=_MOST_SIMILAR, cutoff=0)
        n_others = len(choices) - len(similar)
        others = "1 other" if n_others == 1 else f"{n_others} others"
        choices = [*sorted(choice_of[name] for name in similar), others]
    if len(choices) == 1:
        return f"{hint}The only choice is {choices[0]}."
    comma = "," if len(choices) > 2 else ""
    return f"{hint}The choices are {', '.join(choices[:-1])}{comma} and {choices[-1]}."
