"""The language of a word list, as stated, or for English as recognised from its words."""

import gzip
import re
from collections.abc import Collection
from functools import cache

from bayes_bias.errors import WordListError
from bayes_bias.files import shipped

ENGLISH = "en"
# In the built-in lists, at least 59% of the words are among the frequent ones. In translations of such lists into
# Dutch, German, French, Spanish, Italian, Portuguese, Swedish, Danish and Afrikaans, at most 35% are.
LEAST_SHARE = 0.5

# A language, with an optional script and region, as in "pt-BR" (https://www.rfc-editor.org/info/bcp47).
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_PARTS = re.compile(r"[^\W\d_]+")


def checked_language(code: str, place: str) -> str:
    """Return the code of a language in lower case, or "", and raise an error if it is not a code."""
    if code and not _CODE.fullmatch(code):
        raise WordListError(
            f"{place} must be the code of a language, but is '{code}'. Use two or three letters, for example 'en' or"
            " 'de'."
        )
    return code.lower().replace("_", "-")


def same_language(first: str, second: str) -> bool:
    """Return True if two codes are of the same language, in any region.

    Examples
    --------
    >>> same_language("en", "en-gb"), same_language("en", "de")
    (True, False)
    """
    return first.partition("-")[0] == second.partition("-")[0]


def count_english(words: Collection[str]) -> int:
    """Count the words that are frequent in English, and the phrases all of whose words are.

    Examples
    --------
    >>> count_english(["algebra", "Prime Minister", "Mädchen", "er"])
    2
    """
    frequent = _english_words()
    count = 0
    for word in words:
        parts = _PARTS.findall(word)
        count += bool(parts) and frequent.issuperset(map(str.casefold, parts))
    return count


@cache
def _english_words() -> frozenset[str]:
    content = (shipped("words") / "english.txt.gz").read_bytes()
    return frozenset(gzip.decompress(content).decode().split("\n"))
