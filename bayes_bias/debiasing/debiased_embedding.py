"""Apply a debiasing method to an embedding to create another version."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

import numpy as np

from bayes_bias.arguments import check_kind
from bayes_bias.debiasing.debiaser import Debiaser
from bayes_bias.embeddings.embedding import FREQUENT, Embedding, Excerpt, Vector
from bayes_bias.embeddings.opening import Openable, open_embedding
from bayes_bias.embeddings.word_vectors import has_direction, with_direction
from bayes_bias.errors import EmbeddingError, MeasureError
from bayes_bias.language_models.encoding import KIND as TEMPLATE
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import CATEGORY_COORD
from bayes_bias.words.defining_sets import DebiasSets, GivenSets, read_debias_sets
from bayes_bias.words.spelling import ALIKE, Match, add_spellings, offer, other_spellings, used_as_such


class Version(ABC):
    """A version that a sweep compares with its embedding: a `Debiasing`, or a `GivenVersion`.

    Attributes
    ----------
    name : str
        Name of the version, after the name of the embedding: "googlenews, debiased". Versions with the same name are
        treated as one method, even if they belong to different embeddings.
    of : str or tuple of str
        Name or names of the embeddings, or empty for all embeddings of a sweep.
    """

    name: str
    of: str | tuple[str, ...]

    @property
    def embeddings(self) -> tuple[str, ...]:
        """The names of the embeddings, or empty for all."""
        return (self.of,) if isinstance(self.of, str) else tuple(self.of)

    @property
    def learned_words(self) -> Sequence[str]:
        """The words that are required in addition to the words of the lists."""
        return ()

    @property
    def needs_vocabulary(self) -> bool:
        """True if all vectors of the embedding are required, and not only the vectors of listed and learned words."""
        return False

    def applies_to(self, embedding: str) -> bool:
        """Return True if this is a version of the embedding with this name."""
        return not self.embeddings or embedding in self.embeddings

    def named(self, embedding: str) -> str:
        """Return the name of this version for an embedding."""
        return f"{embedding}, {self.name}"

    def opened(self) -> "Version":
        """Open the source, so that errors are found before anything is computed."""
        return self

    @abstractmethod
    def applied(self, embedding: Embedding) -> Embedding:
        """Return the version of an embedding.

        Raises
        ------
        BayesBiasError
            If the version cannot be created because the method is not defined for these vectors or a file is damaged.
        """


@dataclass(frozen=True)
class GivenVersion(Version):
    """External vectors as a version of an embedding, for example debiased by another tool, retrained, or fine-tuned.

    In a sweep of language models, the version is another model, for example fine-tuned on counterfactual data or with
    an adapter. It is evaluated with the templates of the original model.

    Parameters
    ----------
    source : Embedding, str, Path, mapping, DataFrame or gensim KeyedVectors; or a model
        Anything that `open_embedding` opens. For a language model, any model that `LanguageModelColumn` accepts, such
        as its folder.
    name : str
        Name of the version, after the name of the embedding or model.
    of : str
        The name of the embedding or model.

    Raises
    ------
    EmbeddingError
        If `of` is not the name of an embedding, or if a sweep cannot open the source.

    Examples
    --------
    >>> GivenVersion("glove-theirs.txt", "theirs", of="glove").named("glove")
    'glove, theirs'
    >>> GivenVersion("models/bert-cda", "CDA", of="BERT").named("BERT")
    'BERT, CDA'
    """

    source: Any
    name: str
    of: str

    def __post_init__(self) -> None:
        problem = "not the name of an embedding. Pass the name of the embedding that the vectors are a version of."
        check_kind("of", self.of, str, problem, EmbeddingError)

    def opened(self) -> "GivenVersion":
        return replace(self, source=open_embedding(self.source))

    def applied(self, embedding: Embedding) -> Embedding:
        """Return the vectors of the source for the words of the original embedding, in memory.

        Unless the source has its own setting of `match`, its words are looked up like words of the original embedding,
        for example in another case.
        """
        version = open_embedding(self.source)
        if version.match == "exact":
            version = replace(version, match=embedding.match)
        return replace(version.excerpt(embedding.vocabulary()), name=self.named(embedding.name))


logger = logging.getLogger("bayes_bias")

type _Vectors = Mapping[str, Vector]
# Vectors of an embedding, and of the general words that it stores.
type _Both = tuple[_Vectors, _Vectors]

# The key in the provenance of a table under which the words are recorded that a debiasing method learned from.
_TAUGHT = "debiasing_words"


@dataclass(frozen=True)
class Debiasing(Version):
    """A debiasing method, and the words from which it learns.

    Parameters
    ----------
    method : Debiaser
        A method such as `HardDebias`.
    sets : DebiasSets, str, Path, mapping or sequence of sequences of str
        Sets of words. See `read_debias_sets`.
    name : str
        Name of the version, after the name of the embedding: "googlenews, debiased".
    of : str or tuple of str
        Names of the embeddings that a sweep debiases, or empty for all.
    skip_missing : bool
        Learn only from words of the sets that have a vector, with a notice. Pairs with a missing vector are omitted.

    Raises
    ------
    EmbeddingError
        If the method is not a `Debiaser`.
    WordListError
        If the sets cannot be read.

    Examples
    --------
    >>> from bayes_bias import open_embedding
    >>> from bayes_bias.debiasing import HardDebias
    >>> debiasing = Debiasing(HardDebias(), "she:he,woman:man")
    >>> debiasing.applied(open_embedding("googlenews-demo")).name
    'googlenews-demo, debiased'
    """

    method: Debiaser[Any]
    sets: GivenSets
    name: str = "debiased"
    of: str | tuple[str, ...] = ()
    skip_missing: bool = False

    def __post_init__(self) -> None:
        problem = "not a debiasing method. Pass one, such as `bayes_bias.debiasing.HardDebias()`."
        check_kind("method", self.method, Debiaser, problem, EmbeddingError)
        object.__setattr__(self, "sets", read_debias_sets(self.sets))  # read the sets once, and before any vectors

    @property
    def learns_from(self) -> DebiasSets:
        """The sets of words."""
        return read_debias_sets(self.sets)

    @property
    def learned_words(self) -> Sequence[str]:
        return self.learns_from.words

    @property
    def needs_vocabulary(self) -> bool:
        return self.method.needs_vocabulary

    def applied(self, embedding: Embedding | Openable) -> Embedding:
        """Return the debiased version of an embedding, or of anything that `open_embedding` opens.

        Words of the sets are looked up like words of lists (see `match` of `open_embedding`). The method learns from
        each replicate separately. However, if replicates are the templates of one encoder, the method learns from the
        sentences of all templates together, and changes all sentences in the same way. General words that the embedding
        stores are changed in the same way, but the method does not learn from them. Words without a usable vector are
        omitted, with a notice.

        Raises
        ------
        EmbeddingError
            If the embedding uses vectors of subwords, which no method changes.
        MeasureError
            If a word of the sets has no vector, or if the method is not defined for these vectors.
        """
        embedding = open_embedding(embedding)
        if embedding.match == "subwords":
            raise EmbeddingError(
                "`match='subwords'` cannot be combined with debiasing. Use 'exact', 'case', or 'accents' instead."
            )
        vectors = _usable_vectors(embedding)
        labels = embedding.replicates
        sets = self._known_sets(vectors, embedding)
        stored = embedding.reader.general()
        usable = with_direction(stored or {}, stored or {})
        # Of replicates, general words only have the vector in the first.
        general: _Vectors = {word: np.atleast_2d(rows)[0] for word, rows in usable.items()}
        if not labels:
            debiased, general = self._fit_transform(vectors, general, sets)
        elif embedding.kind == TEMPLATE:
            debiased, general = self._debiased_together(vectors, general, labels, sets)
        else:  # the vectors of a word are (replicate, dimension)
            originals = [{word: rows[k] for word, rows in vectors.items()} for k in range(len(labels))]
            pairs = [self._fit_transform(original, general, sets) for original in originals]
            debiased = {word: np.stack([replicate[word] for replicate, _ in pairs]) for word in vectors}
            general = pairs[0][1]
        return replace(
            embedding,
            name=self.named(embedding.name),
            source=f"{embedding.source}, {self.name}",
            reader=_excerpt_with_pool(embedding, debiased, None if stored is None else general),
            provenance=MappingProxyType({**embedding.provenance, **self.provenance}),
        )

    @property
    def provenance(self) -> dict[str, str]:
        """The method with its settings, a hash of the sets, and their words as JSON, as recorded in tables."""
        settings = ", ".join(f"{name} = {value}" for name, value in self.method.provenance.items())
        words = json.dumps(self.learned_words, ensure_ascii=False)
        return {"debiasing": settings, "debiasing_sets_sha256": self.learns_from.sha256, _TAUGHT: words}

    def _known_sets(self, vectors: Mapping[str, Vector], embedding: Embedding) -> DebiasSets:
        """Return the sets of words to learn from, spelt as in the embedding, whose words have the `vectors`.

        If words have no vector, a message names all of them at once, with similar spellings that the embedding
        contains. With `skip_missing`, this message is logged, and the sets are returned without these words. Otherwise,
        it is raised as an error.
        """
        sets = self._respelt_sets(vectors, embedding)
        # The sets of all kinds that are not empty, and those with a word that has no vector.
        word_sets = [*filter(None, (*sets.defining_sets, *sets.equalize_sets, *sets.groups, sets.independent))]
        incomplete = [words for words in word_sets if any(word not in vectors for word in words)]
        missing = dict.fromkeys(word for word in chain.from_iterable(incomplete) if word not in vectors)
        if not missing:
            return sets
        count = f"{len(missing)} word{'s' if len(missing) > 1 else ''} of {len(incomplete)} of {len(word_sets)} sets"
        variants = embedding.near(missing, vectors)
        problem = f"{embedding.name} has no vector of {count}: {', '.join(add_spellings(missing, variants))}."
        if not self.skip_missing:
            message = " ".join(filter(None, [problem, offer(variants)]))  # an offer may be ""
            raise MeasureError(
                f"{message} Remove these words from the sets, or omit them"
                " with skip_missing=True (--skip-missing of `bayes-bias debias`)."
            )
        logger.warning("%s They are omitted, with pairs of which only one word remains", problem)
        return sets.without(missing)

    def _respelt_sets(self, vectors: Mapping[str, Vector], embedding: Embedding) -> DebiasSets:
        """Return the sets with words as they are spelt in the embedding, and log a notice of changed spellings.

        The setting `match` of the embedding defines which spellings count as the same word, for example those that
        differ only in case.
        """
        lacking = [word for word in self.learned_words if word not in vectors]
        respelt = other_spellings(lacking, vectors, self.learned_words, embedding.match)
        if respelt:
            logger.warning("sets: %s", used_as_such(respelt, embedding.name))
        return self.learns_from.respelt(respelt)

    def _fit_transform(self, vectors: _Vectors, general: _Vectors, sets: DebiasSets) -> _Both:
        """Learn from the vectors, and return them and the `general` words after debiasing.

        General words are changed together with the vectors, which contain the words that a method equalises, but the
        vectors are changed as without general words, which would be further neighbours for some methods.
        """
        learned = self.method.fit(vectors, sets)
        debiased = learned.transform(vectors)
        with_general = learned.transform({**general, **vectors}) if general else {}
        return debiased, {word: with_general[word] for word in general}

    def _debiased_together(
        self, vectors: _Vectors, general: _Vectors, labels: Sequence[str], sets: DebiasSets
    ) -> _Both:
        """Debias all sentences of one encoder together, treating each sentence as a word.

        `labels` are the templates. The vectors of a word have a row for each template, in this order. Sentences get
        names such as "nurse in 'This is [WORD].'", under which the method learns from them and changes them. The words
        of the `sets` are repeated for each template in the same way. The result has the rows of each word again, and
        the `general` words, which have a vector in the first template.
        """
        sentences = {}
        for word, rows in vectors.items():
            for k, label in enumerate(labels):
                sentences[_insert_word(word, label)] = rows[k]
        first = {_insert_word(word, labels[0]): vector for word, vector in general.items()}
        debiased, others = self._fit_transform(sentences, first, sets.repeat_for(labels, _insert_word))
        stacked = {word: np.stack([debiased[_insert_word(word, label)] for label in labels]) for word in vectors}
        return stacked, dict(zip(general, others.values(), strict=True))


def _excerpt_with_pool(embedding: Embedding, debiased: _Vectors, general: _Vectors | None) -> Excerpt:
    """Return debiased vectors with the pool of words from which random lists of the original embedding are drawn.

    If the source of the original embedding marks no pool (`marked` returns None), the pool consists of the first words,
    which are the most frequent words if the source is sorted by frequency.
    """
    reader = embedding.reader
    marked = reader.marked()
    pool_words = islice(debiased, FREQUENT) if marked is None else dict.fromkeys(marked)
    pool = tuple(word for word in pool_words if word in debiased)
    # Words that a source marks are not sorted by frequency, except in an excerpt of a sorted source.
    frequent_first = (marked is None or isinstance(reader, Excerpt)) and reader.frequent_first
    return Excerpt(debiased, pool, reader.dimensions, general_words=general, frequent_first=frequent_first)


def taught_words(table: AssociationTable) -> list[str]:
    """Return those words of a table from which the debiasing method learned, if the table records them.

    The biases of these words say little about the success of debiasing.
    """
    words = chain.from_iterable(table.values[dim].to_numpy() for dim in CATEGORY_COORD)
    match = "exact" if table.origin is None else table.origin.embedding.match
    return find_learned(json.loads(table.provenance.get(_TAUGHT, "[]")), words, match)


def find_learned(learned: Iterable[str], words: Iterable[str], match: Match) -> list[str]:
    """Return those of the `words` that the debiasing method `learned` from.

    Words are compared in the same way as an embedding with this `match` looks them up: in their exact spelling, or
    without regard to case or accents. For the latter, `ALIKE` contains a function that maps spellings of the same word
    to the same text.
    """
    folded = ALIKE.get(match, str)
    learned_spellings = {*map(folded, learned)}
    return [word for word in words if folded(word) in learned_spellings]


def _insert_word(word: str, template: str) -> str:
    """Return the name of a word in a template."""
    return f"{word} in '{template}'"


def _usable_vectors(embedding: Embedding) -> Mapping[str, Vector]:
    """Return the words whose vectors have a direction, with a notice if some vectors have none.

    A vector has no direction if it is zero or not finite. A word with replicates is only usable if all of its vectors
    are.
    """
    vectors = embedding.all()
    usable = {word: vector for word, vector in vectors.items() if has_direction(vector).all()}
    if n_lost := len(vectors) - len(usable):
        logger.warning("%s: words without a usable vector are omitted: %d", embedding.name, n_lost)
    return usable
