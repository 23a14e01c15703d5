"""Whether a noun takes "a" or "an", by its first sound."""

import re

# Vowels that sound like consonants (a unicorn, a European, a one-off) and a silent h (an hour).
_LIKE_A_CONSONANT = re.compile(
    r"(uni([^nm]|$)|uni[mn]od|use|usu|usa|uti|ubi|ura|uro|ute|uku|eu|ewe|one(\b|s|-)|once|ouija)"
)
_SILENT_H = re.compile(r"(hour|honou?r|honest|heir)")
_SPELT_AS_VOWELS = "AEFHILMNORSX"


def article(word: str) -> str:
    """The indefinite article of a word. Words in capitals are read letter by letter: an FBI agent, a UFO.

    Examples
    --------
    >>> [article(word) for word in ("rose", "orchid", "hour", "unicorn", "uncle", "European", "FBI")]
    ['a', 'an', 'an', 'a', 'an', 'a', 'an']
    """
    first = word.split()[0] if word.split() else ""
    if len(first) > 1 and first.isupper():
        return "an" if first[0] in _SPELT_AS_VOWELS else "a"
    lower = word.lower()
    if _SILENT_H.match(lower):
        return "an"
    return "an" if lower[:1] in "aeiou" and not _LIKE_A_CONSONANT.match(lower) else "a"
