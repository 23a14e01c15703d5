"""Words around an answer which show that it is a demonstration, a refusal, a retraction, or the view of others.

The words are in `data/replies/cues.toml`, by language. Replies are searched in all languages, because a model may
decline in another language than the question. To support a language, add a table to this file.
"""

import re
from dataclasses import dataclass
from functools import cache

from bayes_bias.errors import AnswersError
from bayes_bias.files import read_toml, shipped

# Scripts without blanks between words begin here.
_FIRST_UNSPACED = 0x2E80
_LETTERS = re.compile(r"[^\W\d_]+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Cues:
    """Patterns of the words that show how a text around an answer relates to it.

    `anywhere` and `negations` show, in a sentence around an answer or beside a label, that the answer is not the
    model's own, but a demonstration, for example. `beside` does so only beside a label, and `whole` extends a doubt
    beside a label to all labels of a reply. `ordinary` words and `closings` are expected around an answer, and
    `harmless` phrases are ignored. A reply without labels that contains one of the `refusals` is refused.
    """

    anywhere: re.Pattern[str]
    ordinary: re.Pattern[str]
    negations: re.Pattern[str]
    beside: re.Pattern[str]
    harmless: re.Pattern[str]
    closings: re.Pattern[str]
    whole: re.Pattern[str]
    refusals: re.Pattern[str]

    def doubtful_sentence(self, text: str) -> bool:
        """Return True if a sentence around an answer shows that the answer may not be the model's own.

        Harmless phrases are removed first. A sentence that begins with a closing, such as "let me know", is not
        searched.
        """
        if self.closings.match(text):
            return False
        without_harmless = self.harmless.sub(" ", text)
        return bool(self.anywhere.search(without_harmless) or self.negations.search(without_harmless))

    def is_ordinary(self, text: str) -> bool:
        """Return True if a sentence is expected around an answer, such as an introduction or a single word.

        It contains an ordinary word, or begins with a closing such as "let me know".
        """
        return len(_LETTERS.findall(text)) < 2 or bool(self.ordinary.search(text) or self.closings.match(text))

    def withdraws(self, text: str) -> bool:
        """Return True if a text shows, by more than a negation, that the answer may not be the model's own."""
        return self.anywhere.search(self.harmless.sub(" ", text)) is not None

    def doubts(self, text: str) -> bool:
        """Return True if the text beside a label shows that the label may not be the model's own choice.

        Harmless phrases are removed first.
        """
        without_harmless = self.harmless.sub(" ", text)
        patterns = (self.anywhere, self.negations, self.beside)
        return any(pattern.search(without_harmless) for pattern in patterns)


@cache
def cues() -> Cues:
    """Return the cues of all languages. Each pattern combines the phrases of all languages in the file.

    The file has a table for each language, such as ``[de]``, with a text for each kind of cue. The phrases in a
    text are separated by bars or line ends.
    """
    content = read_toml(shipped("replies") / "cues.toml", "cues.toml is", AnswersError)
    tables_of_languages = [table for table in content.values() if isinstance(table, dict)]
    patterns = {}
    for kind in ("anywhere", "ordinary", "negations", "beside", "harmless", "closings", "whole", "refusals"):
        phrases: list[str] = []
        for table in tables_of_languages:
            phrases += re.split(r"\s*[|\n]\s*", table[kind].strip())
        patterns[kind] = _pattern_of(phrases)
    return Cues(**patterns)


def sentences(text: str) -> list[str]:
    """Split a line into sentences."""
    return [sentence for sentence in _SENTENCE_ENDS.split(text) if sentence.strip()]


def _pattern_of(phrases: list[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the phrases, and prefers longer phrases.

    In a phrase, "*" stands for any word, and "answer*" for any word that begins with "answer". Phrases are found as
    whole words, except in scripts without blanks between words, such as Chinese, which have characters from
    `_FIRST_UNSPACED` on.
    """
    spaced: list[str] = []
    unspaced: list[str] = []
    for phrase in sorted(set(phrases), key=len, reverse=True):
        words = [r"\w+" if word == "*" else re.escape(word).replace(r"\*", r"\w*") for word in phrase.split(" ")]
        is_unspaced = any(ord(character) >= _FIRST_UNSPACED for character in phrase)
        patterns = unspaced if is_unspaced else spaced
        patterns.append(" ".join(words))
    # The boundary is tested once for all phrases, which is much faster than once for each.
    whole_words = rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"
    return re.compile("|".join([whole_words, *unspaced]))
