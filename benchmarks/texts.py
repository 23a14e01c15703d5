"""Halves of a corpus: does the interval over texts of one half cover the bias in the other?"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import t as student

from bayes_bias import open_embedding
from bayes_bias.corpora.contexts import Census, CoOccurrences
from bayes_bias.corpora.from_texts import CorpusVectors, corpus_vectors
from bayes_bias.corpora.pmi import MOST_ZEROS, smoothed_pmi
from bayes_bias.corpora.reading import open_corpus
from bayes_bias.embeddings.word_vectors import unit_rows
from benchmarks.corpora import CORPORA, NamedLists, Words
from benchmarks.harness import LEVEL, Numbers, Result, Row

_VECTORS = "glove-6b-50d"
_LISTS, _WORDS = 300, 8
# Words of lists occur at least this often, and words of random lists in at least so many texts. Of these, 600 are drawn
# at random, or the 300 most frequent ones are taken, because other pairs of words seldom co-occur.
_LEAST, _TEXTS = 60, 30
_COMMON, _MOST_FREQUENT = 600, 300
_WINDOW_PMI = 20
_GROUPS, _FOLDS = 50, 10
_ENOUGH = 10  # co-occurrences per pair of words, below which `from_texts` prints a notice


class Measured(NamedTuple):
    """Biases of lists in one half, their variances over texts, and the co-occurrences per pair in the rarest block."""

    biases: Numbers
    variances: Numbers
    least_pairs: Numbers


class Sample(NamedTuple):
    """A corpus, the words from which random lists are drawn, and its named lists without rare words."""

    texts: list[list[str]]
    frequent: list[str]
    named: dict[str, Words]
    pretrained: Any

    @classmethod
    def of(cls, corpus: NamedLists, rng: np.random.Generator, *, most_frequent: bool = False) -> Self:
        """Read a corpus, and choose the words of its random lists."""
        texts = corpus.texts()
        counts, spread = Counter(chain.from_iterable(texts)), Counter(chain.from_iterable(map(set, texts)))
        found = open_embedding(_VECTORS).find(counts)
        frequent = sorted(
            (w for w in counts if w in found and counts[w] >= _LEAST and spread[w] >= _TEXTS), key=lambda w: -counts[w]
        )
        places = range(_MOST_FREQUENT) if most_frequent else rng.permutation(len(frequent))[:_COMMON]
        drawn = [frequent[k] for k in places]
        named = {label: _present(one, counts) for label, one in corpus.lists.items()}
        return cls(texts, drawn, named, open_embedding({word: found[word] for word in counts if word in found}))

    @property
    def words(self) -> list[str]:
        """All words of lists."""
        return list(dict.fromkeys([*self.frequent, *chain(*chain(*self.named.values()))]))

    def halves(self, rng: np.random.Generator) -> list[list[list[str]]]:
        """Split the texts at random."""
        return [[self.texts[k] for k in part] for part in np.array_split(rng.permutation(len(self.texts)), 2)]

    def lists(self, rng: np.random.Generator) -> list[Words]:
        """Random lists, and then the named ones."""
        return [*_random_lists(self.frequent, rng), *self.named.values()]


def _present(one: Words, counts: Mapping[str, int]) -> Words:
    first, second, third, fourth = ([word for word in part if counts.get(word, 0) >= _LEAST] for part in one)
    return first, second, third, fourth


def _random_lists(words: Sequence[str], rng: np.random.Generator) -> list[Words]:
    drawn = [rng.permutation(len(words))[: 4 * _WORDS].reshape(4, _WORDS) for _ in range(_LISTS)]
    lists: list[Words] = []
    for one in drawn:
        first, second, third, fourth = ([words[k] for k in part] for part in one)
        lists.append((first, second, third, fourth))
    return lists


def _direction(unit: Numbers, number: dict[str, int], words: Words) -> Numbers:
    """Return the bias of a list from unit vectors (..., words, d), without words whose vector is NaN."""
    means = [np.nanmean(unit[..., [number[word] for word in part], :], axis=-2) for part in words]
    first, second, third, fourth = means
    return np.asarray(((first - second) * (third - fourth)).sum(axis=-1) / 2)


def _by_cosines(texts: list[list[str]], sample: Sample, lists: Sequence[Words]) -> Measured:
    """Measure lists by cosines of à la carte vectors in some of the texts."""
    words = sample.words
    return _of_vectors(corpus_vectors(texts, words, sample.pretrained, groups=_GROUPS), words, lists)


def _of_vectors(vectors: CorpusVectors, words: Sequence[str], lists: Sequence[Words]) -> Measured:
    number = {word: position for position, word in enumerate(words)}
    stored = vectors.embedding.find(words)
    whole = unit_rows(np.stack([stored[word] for word in words]))
    without = unit_rows(np.stack([vectors.without[word] for word in words], axis=1))
    biases = np.array([_direction(whole, number, one) for one in lists])
    left_out = np.array([_direction(without, number, one) for one in lists])
    return Measured(biases, (_GROUPS - 1) * left_out.var(axis=1), np.full(len(lists), np.nan))


def _by_pmi(texts: list[list[str]], sample: Sample, lists: Sequence[Words]) -> Measured:
    """Measure lists by PMI in some of the texts. Biases are NaN if `from_texts` would reject the list."""
    words = sample.words
    corpus = open_corpus(texts)
    counted = CoOccurrences.of(corpus, Census.of(corpus, _GROUPS, seed=1), words, _WINDOW_PMI)
    sums = np.stack([counted.listed[word] for word in words], axis=1)
    kept = np.vstack([np.ones((1, _GROUPS)), 1 - np.eye(_GROUPS)])
    n, totals, pairs = np.tensordot(kept, sums[:, :, :-1], 1), kept @ sums[:, :, -1], kept @ counted.pairs
    values = smoothed_pmi(n, totals[:, :, None] * totals[:, None, :] / pairs[:, None, None])
    number = {word: position for position, word in enumerate(words)}
    biases, least = [], []
    for one in lists:
        first, second, third, fourth = ([number[word] for word in part] for part in one)
        blocks = [np.ix_(group, kind) for group in (first, second) for kind in (third, fourth)]
        a, b, c, d = (values[:, rows, columns].mean(axis=(1, 2)) for rows, columns in blocks)
        zeros = np.concatenate([(n[0][block] == 0).ravel() for block in blocks]).mean()
        biases.append((a - b - c + d) / 2 if zeros <= MOST_ZEROS else np.full(len(kept), np.nan))
        least.append(min(n[0][block].mean() for block in blocks))
    of_lists = np.array(biases)
    return Measured(of_lists[:, 0], (_GROUPS - 1) * of_lists[:, 1:].var(axis=1), np.array(least))


def by_cosines(draws: int) -> Iterator[Row]:
    """Rows for random lists, and for each named list, in each corpus. A draw is a split of the texts in halves."""
    for name, corpus in CORPORA.items():
        started, rng = time.process_time(), np.random.default_rng(1)
        sample = Sample.of(corpus, rng)
        pairs = _measured_halves(sample, _by_cosines, draws, rng)
        folds = _mean_of_folds(sample, rng)
        rows = _rows({"random": slice(0, _LISTS)}, sample, pairs)
        for row in rows:
            slope = folds if row["list"] == "random" else float("nan")
            seconds = time.process_time() - started
            yield {"corpus": name, **row, "slope of folds": slope, "seconds": seconds}


def by_pmi(draws: int) -> Iterator[Row]:
    """The same with PMI. Random lists with a notice about few co-occurrences in one half have a row of their own."""
    for name, corpus in CORPORA.items():
        rng = np.random.default_rng(1)
        sample = Sample.of(corpus, rng, most_frequent=True)
        pairs = _measured_halves(sample, _by_pmi, draws, rng)
        columns = {label: slice(0, _LISTS) for label in ("random", "random, with notice")}
        for row in _rows(columns, sample, pairs):
            yield {"corpus": name, **row}


def _measured_halves(
    sample: Sample,
    measure: Callable[[list[list[str]], Sample, Sequence[Words]], Measured],
    draws: int,
    rng: np.random.Generator,
) -> list[list[Measured]]:
    pairs = []
    for _ in range(draws):
        lists = sample.lists(rng)
        pairs.append([measure(half, sample, lists) for half in sample.halves(rng)])
    return pairs


def _mean_of_folds(sample: Sample, rng: np.random.Generator) -> float:
    """Return the slope of the mean bias in ten folds, each measured on its own, on the bias in the whole corpus."""
    texts, words = sample.texts, sample.frequent
    whole = corpus_vectors(texts, words, sample.pretrained, groups=_GROUPS)
    lists = _random_lists(words, rng)
    biases = _of_vectors(whole, words, lists).biases
    parts = []
    for part in np.array_split(rng.permutation(len(texts)), _FOLDS):
        fold = corpus_vectors([texts[k] for k in part], words, sample.pretrained, transformation=whole.transformation)
        stored = fold.embedding.find(words)
        unit = {word: unit_rows(stored[word]) for word in words if word in fold.without}
        rows = np.stack([unit.get(word, np.full(whole.embedding.dimensions, np.nan)) for word in words])
        parts.append([_direction(rows, {w: k for k, w in enumerate(words)}, one) for one in lists])
    mean = np.nanmean(parts, axis=0)
    return float(mean @ biases / (biases @ biases))


def _rows(random: Mapping[str, slice], sample: Sample, pairs: Sequence[Sequence[Measured]]) -> Iterator[Row]:
    """Coverage (one half's interval for the other half), with errors over splits, and the ratio of standard errors."""
    differences = np.array([first.biases - second.biases for first, second in pairs])
    variances = np.array([first.variances + second.variances for first, second in pairs])
    least = np.array([np.minimum(first.least_pairs, second.least_pairs) for first, second in pairs])
    covered = np.abs(differences) <= student.isf(LEVEL / 2, 2 * (_GROUPS - 1)) * np.sqrt(variances)
    named = {label: slice(k, k + 1) for k, label in enumerate(sample.named, start=_LISTS)}
    for label, part in {**random, **named}.items():
        usable = np.isfinite(differences[:, part])
        if label in random and len(random) > 1:
            usable &= (least[:, part] < _ENOUGH) == label.endswith("with notice")
        splits = usable.any(axis=1)
        if not splits.any():
            continue
        by_split = np.array([row[keep].mean() for row, keep in zip(covered[splits, part], usable[splits], strict=True)])
        true = np.sqrt((differences[:, part][usable] ** 2).mean())
        yield {
            "texts": len(sample.texts),
            "tokens": sum(map(len, sample.texts)),
            "list": label,
            "splits": int(splits.sum()),
            "lists a split": usable.sum() / splits.sum(),
            "covered": by_split.mean(),
            "mc error": by_split.std(ddof=1) / np.sqrt(splits.sum()) if splits.sum() > 1 else np.nan,
            "error ratio": np.sqrt(variances[:, part][usable].mean()) / true,
            "co-occurrences": float(np.median(least[:, part][usable])),
        }


_USES = ("benchmarks.corpora", "bayes_bias.corpora.contexts")
RESULTS = (
    Result("texts", by_cosines, 10, model=None, needs="TEXTS", uses=_USES),
    Result("texts-pmi", by_pmi, 6, model=None, needs="TEXTS", uses=(*_USES, "bayes_bias.corpora.pmi")),
)
