"""Words of a vocabulary that are spelt almost as those that it lacks."""

from collections.abc import Iterable
from unicodedata import normalize

# Shorter words have neighbours that mean something else: axe, age, are.
_SHORTEST = 5


def composed(word: str) -> str:
    """The word in composed form (NFC), in which both ways to encode an accent are one."""
    return word if word.isascii() else normalize("NFC", word)


def joined(phrase: str) -> str:
    """The phrase as word2vec's sources write it, in which it is one word: prime_minister."""
    return phrase.replace(" ", "_")


def keys_of(words: Iterable[str]) -> frozenset[str]:
    """The casefolded forms under which sources may have these words, with accents composed or not, phrases joined."""
    return frozenset(
        form.casefold()
        for word in words
        for spelt in {word, joined(word)}
        for form in (spelt, normalize("NFC", spelt), normalize("NFD", spelt))
    )


def near_spellings(words: Iterable[str], vocabulary: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each word those that differ by one letter: added, left out, replaced, or moved by one place.

    Two words are near if they are equal after at most one letter is removed from each.

    Examples
    --------
    >>> near_spellings(["prime minister", "competant"], ["prime_minister", "competent", "complete"])
    {'prime minister': ('prime_minister',), 'competant': ('competent',)}
    """
    shortened: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= _SHORTEST:
            for form in _shortened(word.casefold()):
                shortened.setdefault(form, []).append(word)
    near: dict[str, dict[str, None]] = {}
    if not shortened:
        return {}
    for other in vocabulary:
        for form in _shortened(other.casefold()):
            for word in shortened.get(form, ()):
                near.setdefault(word, {})[other] = None
    return {word: tuple(others) for word, others in near.items()}


def _shortened(word: str) -> set[str]:
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}
