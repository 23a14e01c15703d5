"""The tokens whose mean is the vector of a sentence."""

from typing import Literal

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening_models import Opened
from bayes_bias.language_models.tokens import Tokens, pieces

type Pooling = Literal["cls", "mean", "mean-content", "word", "last"]

POOLINGS = ("cls", "mean", "mean-content", "word", "last")


def averaged(opened: Opened, tokens: Tokens, pooling: Pooling, span: tuple[int, int] | None) -> list[int]:
    """Positions of the tokens to average; `span` are the characters of the word, for "word"."""
    if pooling == "word" and span is not None:
        return pieces(opened, tokens, *span)
    if pooling == "cls":
        return [0]
    if pooling == "last":
        return [len(tokens) - 1]
    every = range(len(tokens))
    taken = [k for k in every if pooling == "mean" or not tokens.special[k]]
    if not taken:
        raise LanguageModelError(f"sentences: '{tokens.text}' has no token in '{opened.name}' but special ones")
    return taken
