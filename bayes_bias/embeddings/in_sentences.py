"""Words whose vectors are the vectors of their sentences."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayes_bias.embeddings.embedding import Embedding, Reader, Vector
from bayes_bias.words.sentences import shared_templates
from bayes_bias.words.wordlist import WordList


def in_sentences(embedding: Embedding, words: WordList) -> Embedding:
    """Return the embedding of the words of a list, if some of them have sentences.

    Templates with all words are replicates. Otherwise, a word has the mean vector of its sentences. An embedding
    without any of the sentences is returned unchanged, because it may contain the words.
    """
    own = words.sentences
    if not own or not embedding.find(sentence for sentences in own.values() for sentence in sentences):
        return embedding
    all_in_sentences = own.keys() >= {*words.targets, *words.attributes}
    templates = shared_templates(own) if all_in_sentences and not embedding.replicates else ()
    in_order = {word: _in_order(sentences, templates) for word, sentences in own.items()}
    embedding_of_words = replace(
        embedding, reader=WordsInSentences(embedding, in_order, bool(templates), embedding.dimensions)
    )
    return replace(embedding_of_words, replicates=templates, kind="template") if templates else embedding_of_words


def _in_order(sentences: Mapping[str, str], templates: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(sentences, key=lambda sentence: templates.index(sentences[sentence]) if templates else 0))


@dataclass(frozen=True)
class WordsInSentences(Reader):
    """Words with the vectors of their sentences, stacked or averaged, and other words unchanged."""

    embedding: Embedding
    sentences: Mapping[str, tuple[str, ...]]
    apart: bool
    dimensions: int

    def words(self) -> Iterator[str]:
        return iter({**self.sentences, **dict.fromkeys(self.embedding.reader.words())})

    def by_frequency(self) -> bool:
        return False  # a sentence has no frequency

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        sentences_of = {word: own for word, own in self.sentences.items() if first or word.casefold() in wanted}
        vectors = self.embedding.find(sentence for own in sentences_of.values() for sentence in own)
        for word, own in sentences_of.items():
            if all(sentence in vectors for sentence in own):
                rows = np.stack([vectors[sentence] for sentence in own])
                yield word, rows if self.apart else rows.mean(axis=0)
        if not self.apart:
            yield from self.embedding.reader.entries(wanted, first)

    def general(self) -> Mapping[str, Vector]:
        return {}  # single words are no sentences

    def marked(self) -> Iterator[str]:
        return iter(())  # all other entries are sentences

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return {}
