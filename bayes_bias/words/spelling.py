"""How words are spelt: characters that nobody sees, and which spellings of a word may stand for one another."""

import re
from unicodedata import normalize

# Zero-width spaces, marks of direction, soft hyphens, byte-order marks: copied along from web pages and PDF files.
# (Joiners such as U+200C are letters in Persian and Hindi.)
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u00ad\u2060\ufeff]")
# Blanks that no line may break at.
_BLANKS = re.compile("[\u00a0\u2007\u202f]")


def is_plain(word: str) -> bool:
    """Whether every character of a word shows."""
    return word.isascii() or not (_INVISIBLE.search(word) or _BLANKS.search(word))


def plain_word(word: str) -> str:
    """The word as it shows: without invisible characters, and with ordinary blanks."""
    return word if is_plain(word) else _BLANKS.sub(" ", _INVISIBLE.sub("", word)).strip()


def visible(word: str) -> str:
    """The word with its invisible characters written out.

    Examples
    --------
    >>> visible("sal\\u00adary"), visible("ward\\u00a0nurse"), visible("é")
    ('sal<U+00AD>ary', 'ward<U+00A0>nurse', 'é')
    """

    def named(found: re.Match[str]) -> str:
        return f"<U+{ord(found[0]):04X}>"

    return word if is_plain(word) else _BLANKS.sub(named, _INVISIBLE.sub(named, word))


def composed(word: str) -> str:
    """The word in composed form (NFC), in which both ways to encode an accent are one."""
    return word if word.isascii() else normalize("NFC", word)
