"""How words are spelt: characters that nobody sees, and which spellings of a word may stand for one another."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from string import punctuation
from types import MappingProxyType
from typing import Any, Literal
from unicodedata import category, combining, normalize

from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import shortened

# Which spelling of a source may stand for a word that it lacks; or vectors of the word's parts, from fastText models.
type Match = Literal["exact", "case", "accents", "subwords"]

# Zero-width spaces, marks of direction, soft hyphens, byte-order marks: copied along from web pages and PDF files.
# (Joiners such as U+200C are letters in Persian and Hindi.)
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u00ad\u2060\ufeff]")
# Categories of Unicode: connectors, dashes, brackets, quotation marks, other punctuation; mathematical and modifying
# signs; blanks.
_SIGNS = frozenset({"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sk", "Zs"})
# Blanks that no line may break at.
_BLANKS = re.compile("[\u00a0\u2007\u202f]")


def is_plain(word: str) -> bool:
    """Whether every character of a word shows."""
    return word.isascii() or not (_INVISIBLE.search(word) or _BLANKS.search(word))


def plain_word(word: str) -> str:
    """The word as it shows: without invisible characters, and with ordinary blanks."""
    return word if is_plain(word) else _BLANKS.sub(" ", _INVISIBLE.sub("", word)).strip()


def is_punctuation(word: str) -> bool:
    """Whether a word consists of punctuation and signs such as + and = alone. (Emoji and currencies are words.)

    Examples
    --------
    >>> [is_punctuation(word) for word in ("...", "\u2013", "=", "?!", "C++", "\u20ac")]
    [True, True, True, True, False, False]
    """
    return all(character in punctuation or category(character) in _SIGNS for character in word)


def visible(word: str) -> str:
    """The word with its invisible characters written out.

    Examples
    --------
    >>> visible("sal\\u00adary"), visible("ward\\u00a0nurse"), visible("é")
    ('sal<U+00AD>ary', 'ward<U+00A0>nurse', 'é')
    """

    def named(match: re.Match[str]) -> str:
        return f"<U+{ord(match[0]):04X}>"

    return word if is_plain(word) else _BLANKS.sub(named, _INVISIBLE.sub(named, word))


def unaccented(word: str) -> str:
    """The word in lower case and without accents.

    Examples
    --------
    >>> unaccented("José"), unaccented("Straße")
    ('jose', 'strasse')
    """
    folded = word.casefold()
    return folded if folded.isascii() else "".join(c for c in normalize("NFD", folded) if not combining(c))


# So many words are named in a line.
_NAMED = 10

# What two spellings of a word have in common.
ALIKE: Mapping[str, Callable[[str], str]] = MappingProxyType({"case": str.casefold, "accents": unaccented})
MATCHES = ("exact", *ALIKE, "subwords")


def check_match(match: Any) -> None:
    """Refuse anything but one of `MATCHES`."""
    if match not in MATCHES:
        raise EmbeddingError(f"match: '{match}' is not a way to look words up", match, MATCHES)


def other_spellings(
    words: Iterable[str], spellings: Iterable[str], spellings_in_use: Collection[str], match: Match
) -> dict[str, str]:
    """For each word the first spelling that is like it, unless another word has it already: two never become one.

    Examples
    --------
    >>> other_spellings(["John", "JOHN", "Rosé"], ["john", "rose"], (), "accents")
    {'John': 'john', 'Rosé': 'rose'}
    """
    if match not in ALIKE:
        return {}
    alike = ALIKE[match]
    free: dict[str, list[str]] = {}
    for spelling in spellings:
        if spelling not in spellings_in_use:
            free.setdefault(alike(spelling), []).append(spelling)
    return {word: free[alike(word)].pop(0) for word in words if free.get(alike(word))}


def add_spellings(words: Iterable[str], variants: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Words that are missing, each with the spellings that are there.

    Examples
    --------
    >>> add_spellings(["John", "axe"], {"John": ["john"]})
    ('John (but: john)', 'axe')
    """
    return tuple(
        f"{word} (but: {', '.join(map(visible, variants[word]))})" if word in variants else word for word in words
    )


def offer(variants: Mapping[str, Iterable[str]]) -> str:
    """The match that would find words under another spelling, as the end of a sentence.

    Examples
    --------
    >>> offer({"John": ["john"]}), offer({"axe": ["age"]})
    ("; match='case' (--match case) reads them so", '')
    """
    pairs = [(word, other) for word, others in variants.items() for other in others]
    for match, alike in ALIKE.items():
        if any(alike(word) == alike(other) for word, other in pairs):
            return f"; match='{match}' (--match {match}) reads them so"
    return ""


def used_as_such(respelt: Mapping[str, str], embedding: str) -> str:
    """Replacements of words that an embedding lacks: never silent."""
    examples = [f"'{other}' for '{word}'" for word, other in respelt.items()]
    return f"{embedding} has {shortened(examples, _NAMED)}; used instead, as match asks"


def composed(word: str) -> str:
    """The word in composed form (NFC), in which both ways to encode an accent are one."""
    return word if word.isascii() else normalize("NFC", word)
