"""Cloze questions: sentences with a blank, and the word whose probability there is estimated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayes_bias.errors import LanguageModelError


@dataclass(frozen=True)
class Cloze:
    """Question to a language model: how probable is `word` between `before` and `after`?

    Attributes
    ----------
    before, word, after : str
        The sentence is ``before + word + after``, spaces included.
    hidden : tuple of (int, int)
        Spans of characters that the model may not see either, such as the slot of the attribute in the prior of a
        target.

    Raises
    ------
    LanguageModelError
        If there is no word, or a hidden span is empty, outside the sentence, or overlaps the word.

    Examples
    --------
    >>> Cloze("", "She", " is a nurse.", hidden=((9, 14),)).seen
    '___ is a ___.'
    """

    before: str
    word: str
    after: str
    hidden: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.word.strip():
            raise LanguageModelError(f"`word` is empty in '{self.text}'. Pass the word of the blank.")
        for start, end in self.hidden:
            if not 0 <= start < end <= len(self.text):
                raise LanguageModelError(
                    f"`hidden` contains the span ({start}, {end}), which is outside the {len(self.text)} characters of"
                    f" '{self.text}'. Correct the span."
                )
            if start < self.end and self.start < end:
                raise LanguageModelError(
                    f"`hidden` contains '{self.text[start:end]}', which overlaps the word '{self.word}' of"
                    f" '{self.text}'. The word is always masked, so hide only other words."
                )

    @property
    def text(self) -> str:
        """The sentence without a blank."""
        return self.before + self.word + self.after

    @property
    def start(self) -> int:
        """Position of the first character of the word."""
        return len(self.before)

    @property
    def end(self) -> int:
        """Position after the last character of the word."""
        return len(self.before) + len(self.word)

    @property
    def seen(self) -> str:
        """The sentence with its blanks."""
        text = self.text
        for start, end in sorted([*self.hidden, (self.start, self.end)], reverse=True):
            text = f"{text[:start]}___{text[end:]}"
        return text


# Natural-log probability of each word in its blank. A word of several pieces has their joint probability, by the chain
# rule.
type Score = Callable[[Sequence[Cloze]], Sequence[float]]
