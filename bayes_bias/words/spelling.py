"""Spelling and language of words: invisible characters, other spellings, and the language of a list."""

import gzip
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from string import punctuation
from types import MappingProxyType
from typing import Any, Literal
from unicodedata import category, name, normalize

from bayes_bias.errors import EmbeddingError, WordListError
from bayes_bias.files import shipped
from bayes_bias.formatting import shortened

# Replacements for a missing word: other spellings, or vectors that fastText models compute from parts of the word.
type Match = Literal["exact", "case", "accents", "subwords"]

# Characters that are often copied from web pages and PDF files: zero-width spaces, marks of direction, soft hyphens,
# and byte-order marks. (Joiners such as U+200C are letters in Persian and Hindi.)
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u00ad\u2060\ufeff]")
# Categories of Unicode: connectors, dashes, brackets, quotation marks, other punctuation; mathematical and modifying
# signs; blanks.
_SIGNS = frozenset({"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sk", "Zs"})
# Non-breaking blanks.
_BLANKS = re.compile("[\u00a0\u2007\u202f]")


def is_plain(word: str) -> bool:
    """Return True if every character of a word is visible."""
    return word.isascii() or not (_INVISIBLE.search(word) or _BLANKS.search(word))


def plain_word(word: str) -> str:
    """Remove invisible characters, and replace special blanks."""
    return word if is_plain(word) else _BLANKS.sub(" ", _INVISIBLE.sub("", word)).strip()


def is_punctuation(word: str) -> bool:
    """Return True if a word is only punctuation and signs such as + and =. (Emoji and currencies are words.)

    Examples
    --------
    >>> [is_punctuation(word) for word in ("...", "\u2013", "=", "?!", "C++", "\u20ac")]
    [True, True, True, True, False, False]
    """
    return all(character in punctuation or category(character) in _SIGNS for character in word)


def visible(word: str) -> str:
    """Replace the invisible characters of a word with their code points.

    Examples
    --------
    >>> visible("sal\\u00adary"), visible("ward\\u00a0nurse"), visible("é")
    ('sal<U+00AD>ary', 'ward<U+00A0>nurse', 'é')
    """

    def named(match: re.Match[str]) -> str:
        return f"<U+{ord(match[0]):04X}>"

    return word if is_plain(word) else _BLANKS.sub(named, _INVISIBLE.sub(named, word))


# Letters of one sound with two encodings (Arabic and Persian kaf and yeh), and signs that join the words of a phrase.
_SAME_LETTER = str.maketrans(
    {"\u0643": "\u06a9", "\u064a": "\u06cc", "\u0153": "oe", **dict.fromkeys("- \u2010\u2011", "_")}
)
_ACUTE, _DIAERESIS, _ALEF = "\u0301", "\u0308", "\u0627"
_ON_ALEF = ("\u0653", "\u0654", "\u0655")  # madda and hamza


def unaccented(word: str) -> str:
    """Return a word in lower case, without accents, and with one encoding of each letter.

    In the decomposed form (NFKD), an accent is a sign of the category "Mn" after its letter. Signs that make another
    letter, such as the vowels of Thai and the signs of voiced kana, are kept.

    Examples
    --------
    >>> unaccented("José"), unaccented("Straße"), unaccented("мой")
    ('jose', 'strasse', 'мой')
    """
    folded = word.casefold()
    if folded.isascii():
        return folded.translate(_SAME_LETTER)
    kept: list[str] = []
    letter = ""
    for sign in normalize("NFKD", folded):
        if category(sign) != "Mn":
            letter = sign  # to which the accents that follow belong
        elif _is_optional(sign, letter):
            continue
        kept.append(sign)
    return normalize("NFC", "".join(kept)).translate(_SAME_LETTER)


def _is_optional(sign: str, letter: str) -> bool:
    """Return True if readers of a script take a letter without this sign for the same letter.

    `sign` is an accent after its letter, as in decomposed text. Accents of Latin, Greek, and Hebrew letters are
    optional. A few signs of Arabic and Cyrillic letters make another letter. The script is the first word of the
    letter's name in Unicode, such as "LATIN SMALL LETTER E".
    """
    match name(letter, "").split(" ")[0]:
        case "LATIN" | "GREEK" | "HEBREW":
            return True
        case "ARABIC":
            return sign not in _ON_ALEF or letter == _ALEF
        case "CYRILLIC":
            return sign == _ACUTE or (sign, letter) == (_DIAERESIS, "\u0435")  # stress, and \u0451 for \u0435
    return False


# Number of words that a line names.
_NAMED = 10

# The form that two spellings of a word share.
ALIKE: Mapping[str, Callable[[str], str]] = MappingProxyType({"case": str.casefold, "accents": unaccented})
MATCHES = ("exact", *ALIKE, "subwords")


def check_match(match: Any) -> None:
    """Raise an error if `match` is not one of `MATCHES`."""
    if match not in MATCHES:
        raise EmbeddingError(f"There is no `match` '{match}'.", match, MATCHES)


def other_spellings(
    words: Iterable[str], spellings: Iterable[str], spellings_in_use: Collection[str], match: Match
) -> dict[str, str]:
    """Find another spelling of each missing word, such that two words never get the same spelling.

    `words` are the missing words, and `spellings` the words of a source, of which those in `spellings_in_use` belong to
    other words already. For the `match` "case", two spellings are alike if they differ only in case, and for "accents",
    also if they differ in accents. `ALIKE` has a function that returns the form which such spellings share. The first
    word with a form gets the first unused spelling, the next word the next one.

    Examples
    --------
    >>> other_spellings(["John", "JOHN", "Rosé"], ["john", "rose"], (), "accents")
    {'John': 'john', 'Rosé': 'rose'}
    """
    if match not in ALIKE:
        return {}
    form_of = ALIKE[match]
    unused_spellings = grouped((spelling for spelling in spellings if spelling not in spellings_in_use), form_of)
    respelt = {}
    for word in words:
        if candidates := unused_spellings.get(form_of(word)):
            respelt[word] = candidates.pop(0)
    return respelt


def add_spellings(words: Iterable[str], variants: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Describe each missing word, with the other spellings of the word that are present (`variants`).

    Examples
    --------
    >>> add_spellings(["John", "axe"], {"John": ["john"]})
    ('John (but: john)', 'axe')
    """
    described = []
    for word in words:
        described.append(f"{word} (but: {', '.join(map(visible, variants[word]))})" if word in variants else word)
    return tuple(described)


def offer(variants: Mapping[str, Iterable[str]]) -> str:
    """Suggest the `match` that would find words under another spelling, as a sentence.

    `variants` has similar spellings of each word. `ALIKE` has, for each `match`, a function that returns the form which
    two spellings of a word share. The sentence is empty if no spelling is the same word.

    Examples
    --------
    >>> offer({"John": ["john"]}), offer({"axe": ["age"]})
    ("To use these spellings, open the embedding with match='case' (--match case).", '')
    """
    for match, alike in ALIKE.items():
        for word, spellings in variants.items():
            if alike(word) in map(alike, spellings):
                return f"To use these spellings, open the embedding with match='{match}' (--match {match})."
    return ""


def used_as_such(respelt: Mapping[str, str], embedding: str) -> str:
    """Describe words that replace missing ones."""
    examples = [f"'{spelling}' for '{word}'" for word, spelling in respelt.items()]
    return f"{embedding}: other spellings are used as requested with `match`: {shortened(examples, _NAMED)}"


def composed(word: str) -> str:
    """Return a word in composed form (NFC), in which accents have only one encoding."""
    return word if word.isascii() else normalize("NFC", word)


ENGLISH = "en"
# In the built-in lists, at least 59% of the words are among the frequent ones. In translations of such lists into
# Dutch, German, French, Spanish, Italian, Portuguese, Swedish, Danish and Afrikaans, at most 35% are.
LEAST_SHARE = 0.5

# A language, with an optional script and region, as in "pt-BR" (https://www.rfc-editor.org/info/bcp47).
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_PARTS = re.compile(r"[^\W\d_]+")


def checked_language(code: str, place: str) -> str:
    """Return the code of a language in lower case with hyphens, such as "pt-br", or "" if no language is stated.

    Raise an error if a text is not a code. `place` is the name of the argument or key, for the message.
    """
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
    parts_of_words = map(_PARTS.findall, words)  # a phrase has several parts
    return sum(bool(parts) and frequent.issuperset(map(str.casefold, parts)) for parts in parts_of_words)


@cache
def _english_words() -> frozenset[str]:
    """Return the frequent words of English, in lower case."""
    content = (shipped("words") / "english.txt.gz").read_bytes()
    return frozenset(gzip.decompress(content).decode().split("\n"))


def grouped[T](items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Return the items of each key, such as the words of each form without case."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
