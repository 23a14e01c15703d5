"""Coverage of a list: the words with a usable vector, by group and class."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.associations.copies import equal_vectors, without_copies
from bayes_bias.embeddings.embedding import SHOWN, Embedding, Vector, found_as, joined, near_spellings
from bayes_bias.embeddings.opening import shipped_embeddings
from bayes_bias.embeddings.word_vectors import has_direction, unit, with_direction
from bayes_bias.errors import CoverageError
from bayes_bias.formatting import capitalized, counted, in_quotes, numbered, shortened
from bayes_bias.words.list_spreadsheets import about_notes
from bayes_bias.words.spelling import add_spellings, offer, used_as_such, visible
from bayes_bias.words.wordlist import WordList, shipped_controls

type Role = Literal["target", "attribute", "control"]
type WordVectors = dict[str, NDArray[np.float64]]

# Replacement of bytes that are not UTF-8.
_UNREADABLE = "\ufffd"

# Prefix of words in multilingual sources, such as /c/en/.
_PREFIX = re.compile(r"[\w/:.-]*[/:](?=\w)")
# The same ending of all words, such as the part of speech in rose_NOUN, or a colon.
_SUFFIX = re.compile(r"(?<=\w)([_|/]\w+|[:\u00a0])$")

# Number of named words that share a vector, and of named vectors.
_NAMED, _VECTORS = 20, 5

_KINDS: dict[Role, str] = {"target": "group", "attribute": "class", "control": "control class"}


@dataclass(frozen=True)
class Part:
    """Coverage of the words of one group or class.

    `missing` words are not in the embedding. `zero` and `non_finite` words are in the embedding, but their vectors have
    no direction. `variants` lists spellings of missing words in the embedding that differ only in case or in one
    letter. `phrases` were found with "_" in place of blanks. `respelt` words were found under another spelling that
    `match` allows. `made` words have a vector that was computed from their parts. `copies` are dropped because they
    have the same vector as another word: of the same group or class or, for control words, of any part of the list.
    `in_use` has the spellings in the embedding of all words of the list.
    """

    role: Role
    name: str
    asked: tuple[str, ...]
    missing: tuple[str, ...]
    zero: tuple[str, ...]
    non_finite: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]
    phrases: tuple[str, ...] = ()
    respelt: Mapping[str, str] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    in_use: Collection[str] = ()

    @property
    def unused(self) -> dict[str, list[str]]:
        """The `variants` that no other word of the list uses, so that they can stand for a missing word."""
        return {word: [name for name in names if name not in self.in_use] for word, names in self.variants.items()}

    @property
    def lost(self) -> tuple[str, ...]:
        """All words without a usable vector of their own."""
        return (*self.missing, *self.zero, *self.non_finite, *self.copies)

    @property
    def found(self) -> tuple[str, ...]:
        """The words that remain."""
        absent = frozenset(self.lost)
        return tuple(word for word in self.asked if word not in absent)

    def __str__(self) -> str:
        return f"{_KINDS[self.role]} '{self.name}'"


@dataclass(frozen=True)
class Coverage:
    """The words of a list that an embedding contains, by group and class.

    Examples
    --------
    >>> from bayes_bias import load_wordlist, open_embedding
    >>> _, coverage = lookup(open_embedding("googlenews-demo"), load_wordlist("weat2"))
    >>> coverage.notices()
    ("group 'weapons': 1 of 25 words not in googlenews-demo: axe",)
    """

    embedding: str
    parts: tuple[Part, ...]
    lacking: str = "usable vector"
    # True if a matrix has the targets in its columns, and the attributes in its rows.
    exchanged: bool = False
    begins: tuple[str, ...] = ()
    # Words that share a vector although they are in different groups or classes, each with its group or class.
    shared: tuple[tuple[tuple[str, str], ...], ...] = ()
    # True if a method of this package has debiased the vectors, which may make words equal on purpose.
    debiased: bool = False

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each group or class, with role, name, counts, and lost words.

        Words are lost if they are missing, if their vector has no direction (``zero`` or ``non_finite``), or if they
        are ``copies``, that is, share the vector of another word. The other columns have words that were found under
        another spelling (``respelt``) or by their subwords, and similar spellings of missing words (``variants``).
        """
        rows = []
        for part in self.parts:
            row = {
                "role": part.role,
                "name": part.name,
                "asked": len(part.asked),
                "found": len(part.found),
                "missing": ", ".join(part.missing),
                "zero": ", ".join(part.zero),
                "non_finite": ", ".join(part.non_finite),
                "copies": ", ".join(part.copies),
                "respelt": "; ".join(f"{word}: {spelling}" for word, spelling in part.respelt.items()),
                "from_subwords": ", ".join(part.made),
                "variants": "; ".join(f"{word}: {', '.join(others)}" for word, others in part.variants.items()),
            }
            rows.append(row)
        return pd.DataFrame(rows)

    def notices(self) -> tuple[str, ...]:
        """Return notices of missing words and of words that share a vector, or none if there are no such words."""
        notices = [self.about_shared] if self.shared else []
        for part in self.parts:
            notices += _notices(part, self.embedding)
        return tuple(notices)

    @property
    def about_shared(self) -> str:
        """Notice of words of different groups or classes that have the same vector.

        It names the words of the first `_VECTORS` shared vectors, at most `_NAMED` of each, and counts the others.
        """
        clusters = []
        for cluster in self.shared[:_VECTORS]:
            clusters.append(shortened([f"'{word}' ({category})" for word, category in cluster], _NAMED))
        n_more = len(self.shared) - len(clusters)
        more = f", and {numbered(n_more, 'more vector')}" if n_more else ""
        return (
            f"words of different groups or classes have the same vector in {self.embedding}, as in pruned files or for"
            f" unknown words: {' / '.join(clusters)}{more}"
        )

    def absent_controls(self, *, allow_loss: bool = False) -> tuple[str, ...]:
        """Return the built-in control classes that lost half of their words, or all words if loss is allowed."""
        controls = filter(_is_shipped_control, self.parts)
        return tuple(part.name for part in controls if has_too_few(part, allow_loss=allow_loss))

    def quiet_notices(self) -> tuple[str, ...]:
        """Return a notice with the number of words that built-in control classes lost, or none if they lost no words.

        One number is enough, because the user did not choose these words. Copies of other words are not counted.
        """
        controls = [part for part in self.parts if part.found and _is_shipped_control(part)]
        n_lost = sum(len(part.lost) - len(part.copies) for part in controls)
        n_listed = sum(len(part.asked) for part in controls)
        return (f"control classes: {n_lost} of {n_listed} words not in {self.embedding}",) if n_lost else ()


def lookup(
    embedding: Embedding, wordlist: WordList, prepared: Callable[[Vector], NDArray[np.float64]] = unit
) -> tuple[WordVectors, Coverage]:
    """Look up vectors of the words of a list, and report words without one.

    Words must be spelt in exactly the same way. Variants in upper and lower case are reported but not substituted,
    unless the embedding's `match` allows it. A missing phrase such as "prime minister" is replaced, with a notice, by
    its joined form "prime_minister".

    Returns
    -------
    vectors : dict of str to array (d,) or (replicate, d)
        The vector of every usable word of the list, after `prepared` was applied, which by default scales it to unit
        length.
    coverage : Coverage
        Missing, zero and non-finite words per group and class. `check_coverage` decides whether they are too many.
    """
    stored = embedding.find(wordlist.words)
    # A match is a vector and the spelling of its word. Vectors of subwords are made for words that are not stored.
    matches: dict[str, _Match] = {}
    for word, spelling in found_as(wordlist.words, stored, embedding.match).items():
        matches[word] = _Match(stored[spelling], spelling)
    unmatched = [word for word in dict.fromkeys(wordlist.words) if word not in matches]
    for word, vector in embedding.made(unmatched).items():
        matches[word] = _Match(vector, word, is_made=True)
    vectors = {word: match.vector for word, match in matches.items()}
    near = embedding.near(wordlist.words, {**stored, **vectors})  # similar spellings of words that were not found
    # The coverage of each group and class.
    parts = []
    part_of: dict[str, Part] = {}
    for role, name, words in words_by_part(wordlist):
        part = _part(role, name, words, matches, near)
        parts.append(part)
        part_of |= dict.fromkeys(part.found, part)
    # Words that share a vector.
    clusters = equal_vectors({word: vectors[word] for word in part_of})
    shared = _across_categories(parts, clusters)
    debiased = "debiasing" in embedding.provenance
    if not debiased:
        parts = _without_copies(parts, part_of, clusters)
    prepared_vectors: WordVectors = {}
    for part in parts:
        for word in part.found:
            if word not in prepared_vectors:
                prepared_vectors[word] = prepared(vectors[word])
    # If no word of a group or class was found, the first words of the embedding may show why.
    begins = () if all(part.found for part in parts) else embedding.reader.begins()
    return prepared_vectors, Coverage(embedding.name, tuple(parts), begins=begins, shared=shared, debiased=debiased)


@dataclass(frozen=True, eq=False)
class _Match:
    """The vector of a word, the spelling of the word in the source, and True if the vector is made from the word's
    parts."""

    vector: Vector
    spelling: str
    is_made: bool = False


def _across_categories(
    parts: Sequence[Part], clusters: Iterable[Sequence[str]]
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the clusters of words that share a vector across different groups or compared classes.

    `clusters` are all words that share a vector. The result has a tuple of (word, category) for each cluster. Words of
    control classes are ignored, because these classes are not compared.
    """
    category_of: dict[str, str] = {}
    for part in parts:
        if part.role != "control":
            category_of |= dict.fromkeys(part.found, part.name)
    shared = []
    for cluster in clusters:
        category_of_shared = {word: category_of[word] for word in cluster if word in category_of}
        if len(set(category_of_shared.values())) > 1:
            shared.append(tuple(category_of_shared.items()))
    return tuple(shared)


def _without_copies(
    parts: Sequence[Part], part_of: Mapping[str, Part], clusters: Iterable[Sequence[str]]
) -> list[Part]:
    """Drop words that have the same vector as an earlier word of their group or class or, for controls, as any earlier
    word.

    `part_of` is the group or class of each word, and `clusters` are the words that share a vector. The dropped words
    are recorded in `Part.copies`, with the word that is used in place of each.
    """
    original_of: dict[str, str] = {}  # the word that is used in place of each copy
    for cluster in clusters:
        for number, word in enumerate(cluster):
            part = part_of[word]
            for earlier in cluster[:number]:
                if part.role == "control" or part_of[earlier] is part:
                    original_of[word] = earlier
                    break
    without_copies = []
    for part in parts:
        copies = {word: original_of[word] for word in part.found if word in original_of}
        without_copies.append(replace(part, copies=copies))
    return without_copies


def coverage_of_matrix(
    name: str, wordlist: WordList, targets: Collection[str], attributes: Collection[str]
) -> Coverage:
    """Return the coverage of a word list by a matrix, that is, the words of each group and class that it contains.

    `targets` and `attributes` are the words in the rows and columns of the matrix. Missing words are listed with near
    spellings.
    """
    parts = []
    for role, part, words in words_by_part(wordlist):
        present = targets if role == "target" else attributes
        missing = tuple(word for word in words if word not in present)
        near = near_spellings(missing, present)
        parts.append(Part(role, part, words, missing, (), (), near, in_use=present))  # a matrix has no `match`
    return Coverage(name, tuple(parts), lacking="value", exchanged=_is_exchanged(wordlist, targets, attributes))


def _is_exchanged(wordlist: WordList, rows: Collection[str], columns: Collection[str]) -> bool:
    """Return True if the targets of a list are only in the columns of a matrix, and its attributes only in the rows."""
    targets = set(chain.from_iterable(wordlist.groups.values()))
    attributes = set(chain.from_iterable(wordlist.classes.values()))
    is_exchanged = not (targets.isdisjoint(columns) or attributes.isdisjoint(rows))
    return is_exchanged and targets.isdisjoint(rows) and attributes.isdisjoint(columns)


def has_too_few(part: Part, *, allow_loss: bool) -> bool:
    """Return True if a group or class has lost half of its words, or all words if loss is allowed."""
    return not part.found or (2 * len(part.lost) >= len(part.asked) and not allow_loss)


def check_coverage(coverage: Coverage, *, allow_loss: bool = False) -> None:
    """Raise an error if a group or class has lost half of its words.

    Parameters
    ----------
    coverage : Coverage
    allow_loss : bool
        Continue with the remaining words, and with words of different groups or classes that share a vector.

    Raises
    ------
    CoverageError
        If a group or class has lost half of its words, or all words if loss is allowed, or if words of different groups
        or classes share a vector. Built-in control classes raise no error, see `Coverage.absent_controls`.
    """
    if coverage.shared and not (allow_loss or coverage.debiased):
        raise CoverageError(
            f"{capitalized(coverage.about_shared)}. Omit these words, use a file with a vector for each word, or pass"
            " allow_loss=True (--allow-loss) to use one vector for several words."
        )
    for part in coverage.parts:
        if has_too_few(part, allow_loss=allow_loss) and not _is_shipped_control(part):
            raise CoverageError(_text_of_loss(coverage, part))


def _text_of_loss(coverage: Coverage, part: Part) -> str:
    """Return the error message for a group or class that has lost too many words.

    The message has three parts: a sentence with the number of words without a vector, their names, and the reason; a
    hint, if the embedding has other spellings of these words; and a remedy.
    """
    n_words = len(part.asked)
    is_empty = not part.found
    lost = "any" if is_empty else f"{len(part.lost)}"
    lost_words = "the only word" if n_words == 1 else f"{lost} of the {n_words} words"
    of_their_own = " of their own" if part.copies else ""
    words = shortened(add_spellings(part.lost, part.variants))
    n_unusable = len(part.zero) + len(part.non_finite)
    are_unusable = f"the values of {counted(n_unusable, 'word')} are all zero or not finite as 32-bit numbers"
    reason = f", because {are_unusable}" if n_unusable else ""
    other_spellings = offer(part.unused)
    hint = other_spellings or (_spellings_of_both(coverage, part) if is_empty else "")
    remedy = _remedy(part, coverage, is_empty=is_empty, has_spellings=bool(other_spellings))
    return (
        f"{coverage.embedding} has no {coverage.lacking}{of_their_own} for {lost_words} in the {part}"
        f" ({words}){reason}. {f'{hint} ' if hint else ''}{remedy}"
    )


def words_by_part(wordlist: WordList) -> Iterator[tuple[Role, str, tuple[str, ...]]]:
    """Yield the role, name, and words of each group ("target"), class ("attribute"), and control class ("control")."""
    for name, words in wordlist.groups.items():
        yield "target", name, words
    for name, words in wordlist.classes.items():
        yield "attribute", name, words
    for name, words in wordlist.controls.items():
        yield "control", name, words


def _is_shipped_control(part: Part) -> bool:
    """Return True for words of a built-in control class."""
    return part.role == "control" and set(part.asked) <= shipped_controls().get(part.name, frozenset())


def _part(
    role: Role, name: str, words: tuple[str, ...], matches: Mapping[str, _Match], near: Mapping[str, tuple[str, ...]]
) -> Part:
    """Return the coverage of a group or class, that is, sort its words by how they were found.

    `matches` has the vector of each word that was found, and the spelling under which it was found. `near` has other
    spellings in the embedding for words that were not found.
    """
    missing = tuple(word for word in words if word not in matches)
    variants = {word: near[word] for word in missing if word in near}
    found = {word: matches[word] for word in words if word in matches}
    without_direction = [word for word, match in found.items() if not has_direction(match.vector).all()]
    zero = tuple(word for word in without_direction if np.isfinite(found[word].vector).all())
    non_finite = tuple(word for word in without_direction if word not in zero)
    made = tuple(word for word, match in found.items() if match.is_made)
    spelling_of = {word: match.spelling for word, match in found.items() if match.spelling != word}
    phrases = tuple(word for word, spelling in spelling_of.items() if spelling == joined(word))
    respelt = {word: spelling for word, spelling in spelling_of.items() if word not in phrases}
    in_use = {match.spelling for match in matches.values()}
    return Part(role, name, words, missing, zero, non_finite, variants, phrases, respelt, made, in_use=in_use)


def _notices(part: Part, embedding: str) -> Iterator[str]:
    """Yield notices of words that are replaced by others and, except for built-in controls, of missing words.

    Replaced words are copies (another word has the same vector), words under another spelling (`respelt`), words whose
    vector is made from subwords (`made`), and phrases joined by "_".
    """
    if part.copies:
        copies = shortened([f"'{word}' (as '{original}')" for word, original in part.copies.items()])
        yield (
            f"{part}: {len(part.copies)} of {len(part.asked)} words have the same vector as another word in"
            f" {embedding}, which is used once: {copies}"
        )
    if part.respelt:
        yield f"{part}: {used_as_such(part.respelt, embedding)}"
    if part.made:
        yield (
            f"{part}: {len(part.made)} of {len(part.asked)} words have no vector in {embedding}, so the vector of their"
            f" subwords is used, as requested with `match`: {shortened(part.made)}"
        )
    if _is_shipped_control(part):
        return
    if part.phrases:
        spellings = ", ".join(f"'{phrase}' as '{joined(phrase)}'" for phrase in part.phrases)
        yield f"{part}: phrases are read as one word of {embedding}: {spellings}"
    losses = {
        f"not in {embedding}": add_spellings(part.missing, part.variants),
        "with all values zero (as 32-bit numbers), so without a direction": part.zero,
        "with values that are not finite (as 32-bit numbers)": part.non_finite,
    }
    for loss, words in losses.items():
        if words:
            hint = f". {offer(part.unused)}".rstrip(". ")  # "" without an offer, because notices end without a stop
            yield f"{part}: {len(words)} of {len(part.asked)} words {loss}: {shortened(words)}{hint}"


def _spellings_of_both(coverage: Coverage, part: Part) -> str:
    """Show the first words of the source and of a group or class, none of whose words were found in the source.

    Side by side, these words reveal a prefix such as "/c/en/", an ending such as "_NOUN", quotes, or another encoding.
    In the first two cases, and for another encoding, the text includes the command that repairs the file.
    """
    if not coverage.begins:
        return ""
    source_words = in_quotes(map(visible, coverage.begins[:SHOWN]))
    listed = in_quotes(map(visible, part.asked[:SHOWN]))
    if _UNREADABLE in "".join(coverage.begins):
        return (  # the same words in another encoding
            f"The words of {coverage.embedding} are not in UTF-8 ({source_words}). Convert the file first, for example"
            " with `iconv -f GB18030 -t UTF-8 FILE > utf8.txt`."
        )
    prefix = _PREFIX.match(coverage.begins[0])
    suffix = _SUFFIX.search(coverage.begins[0])
    remedy = "Spell words in the same way in both, and write one word in each cell."
    if prefix and all(word.startswith(prefix[0]) for word in coverage.begins):
        remedy = f"Remove the prefix: `sed 's|^{prefix[0]}||' FILE > plain.txt`."
    elif suffix and all(word.endswith(suffix[0]) for word in coverage.begins):
        ending = f"[{suffix[0][0]}]{suffix[0][1:]}([ ,;\\t])"
        remedy = f"Remove the ending: `sed -E 's#^([^ ,;\\t]*){ending}#\\1\\2#' FILE > plain.txt`."
    return f"The words of {coverage.embedding} look like {source_words}, but the list has words like {listed}. {remedy}"


def _remedy(part: Part, coverage: Coverage, *, is_empty: bool, has_spellings: bool) -> str:
    """Return the advice for a group or class with too few words.

    `is_empty` is True if no word is left, and `has_spellings` if the message already offers other spellings. The advice
    depends on the role of the words: control classes can be omitted. Built-in embeddings have only the words of
    built-in lists, so another embedding is necessary. A matrix may have rows in place of columns.
    """
    if coverage.exchanged:
        return "Exchange its rows and columns: targets must be in the rows, but are in the columns."
    source = "source" if coverage.lacking == "value" else "embedding"
    notes = "" if part.role == "target" else about_notes(part.name)
    allow_loss = "pass allow_loss=True (--allow-loss) to continue"
    if part.role == "control":
        omit = "Remove other classes from the list, or omit added ones with controls=() (--controls none)"
        return f"{notes} {omit}." if is_empty else f"{notes} {omit}, or {allow_loss}."
    if coverage.embedding in shipped_embeddings():
        return "It contains only the words of built-in lists. Pass your own vectors as `embedding` (--embedding)."
    if is_empty and (notes or has_spellings):
        return f"{notes} Otherwise, use another {source} or other words.".lstrip()
    if is_empty:
        return f"Use another {source} or other words."
    return f"{capitalized(allow_loss)} with the remaining words. {notes}".rstrip()


# Words of an embedding from which random lists are drawn.

# Random words consist of lower-case letters, unless the pool of the source is small.
POOL_SIZE = 2_000


def random_words(embedding: Embedding, seed: int) -> list[str]:
    """Draw at most `POOL_SIZE` common words from an embedding, and return them in the order of the embedding.

    Words are drawn from those that the embedding offers as its pool, if they have more than two letters, all of them
    lower-case and ASCII. A pool of at most `POOL_SIZE` words is returned whole. The same seed gives the same words.
    """
    offered = embedding.pool()
    if len(offered) <= POOL_SIZE:
        return offered
    common = [word for word in offered if word.isascii() and word.isalpha() and word.islower() and len(word) > 2]
    sample = np.random.default_rng(seed).permutation(len(common))[:POOL_SIZE]
    return [common[i] for i in sorted(sample)]


def pool_without(wordlist: WordList, embedding: Embedding, seed: int = 1) -> dict[str, Vector]:
    """Return random common words that are not in a list, in any spelling, with their vectors as stored.

    Words without a direction (zero vectors), and copies of other vectors, are omitted.
    """
    listed = set(map(str.casefold, wordlist.words))
    words = [word for word in random_words(embedding, seed) if word.casefold() not in listed]
    return without_copies(with_direction(embedding.find(words), words))
