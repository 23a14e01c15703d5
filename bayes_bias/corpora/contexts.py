r"""Sums of the vectors around words, by group of texts, and à la carte vectors from them.

The à la carte vector of a word with the mean context vector :math:`u_w` is :math:`A u_w`. The transformation A is the
ridge regression of the pretrained vectors :math:`v_w` of frequent words on their mean context vectors in the corpus,

.. math:: A = \operatorname{argmin}_A \sum_w \log(n_w)\, \lVert v_w - A u_w \rVert^2 + \lambda \lVert A \rVert^2,

where :math:`n_w` is the number of context words, and the penalty has the smallest leave-one-out error.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from bayes_bias.corpora.reading import Corpus, Text
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import CorpusError, optional
from bayes_bias.progress import advance, step
from bayes_bias.shared_types import Numbers

# Numbers in one batch of tokens: 4 MB for each of a few arrays, which fit into a cache.
_BATCH = 2**19
# The most frequent words, from which the transformation is estimated and random lists are drawn.
FREQUENT = 5_000


@dataclass(frozen=True, eq=False)
class Census:
    """What the first pass over a corpus counts.

    Attributes
    ----------
    counts : Counter
        Number of tokens of each word.
    group_of : array (texts,)
        Group of each text, for the jackknife. Texts of one cluster are in the same group.
    labels : tuple of str
        A hash of the texts of each group.
    clusters : int
        Number of clusters.
    notices : tuple of str
        Notices of texts that are omitted because they have no words, of texts without a label of a cluster, and of
        copies in different clusters.
    """

    counts: Counter[str]
    group_of: NDArray[np.intp]
    labels: tuple[str, ...]
    clusters: int
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, corpus: Corpus, groups: int, seed: int) -> Self:
        """Count words, and assign clusters of texts to groups at random.

        Texts without tokens are omitted, because they are no sample of how words are used. A text without a cluster is
        a cluster of its own. The label of a group is a hash of the hashes of its texts.
        """
        step("counting words")
        counts: Counter[str] = Counter()
        # A corpus can have millions of short texts, so that 40 bytes are kept of each.
        cluster_of, hashes = array("q"), bytearray()
        position: dict[str, int] = {}
        clusters = empty = unlabelled = 0
        for text in corpus:
            if len(text.tokens) == 0:
                empty += 1
                continue
            counts.update(text.tokens)
            unlabelled += not text.cluster
            if not text.cluster or text.cluster not in position:
                position[text.cluster] = clusters
                clusters += 1
            cluster_of.append(position[text.cluster])
            hashes += bytes.fromhex(text.sha256)
        if clusters < 2:
            raise CorpusError(
                f"`texts` ({corpus.place}) has {len(cluster_of)} texts with words in {clusters} clusters, which cannot"
                " show how much texts differ. Pass at least two, such as chapters or speeches."
            )
        # The random position of a cluster, modulo the number of groups, is the group of its texts.
        order = np.random.default_rng(seed).permutation(clusters)
        group_of = order[np.array(cluster_of)] % min(groups, clusters)
        n_texts, notices = len(cluster_of), []
        labelled = corpus.clusters is not None or corpus.cluster_column != ""
        if empty:
            notices.append(f"{corpus.name}: texts without words are omitted ({empty:,} of {empty + n_texts:,})")
        if labelled and unlabelled:
            notices.append(
                f"{corpus.name}: texts without a label are sampled by themselves ({unlabelled:,} of {n_texts:,})"
            )
        if copies := _copies(hashes, np.array(cluster_of)):
            notices.append(
                f"{corpus.name}: texts with exactly the words of an earlier one{' of another cluster' * labelled} count"
                f" as independent ({copies:,} of {n_texts:,}). If they are copies, intervals are too short: keep one of"
                " each, or pass the same cluster for all copies"
            )
        digests = [sha256() for _ in range(int(group_of.max()) + 1)]
        for number, group in enumerate(group_of):  # a hash has 32 bytes
            digests[group].update(hashes[32 * number : 32 * (number + 1)].hex().encode())
        names = [digest.hexdigest()[:16] for digest in digests]
        # Copies of texts can be in different groups, whose labels must differ.
        labels = tuple(name + "+" * names[:k].count(name) for k, name in enumerate(names))
        return cls(counts, group_of, labels, clusters, tuple(notices))

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Contexts:
    """Sums of context vectors. The last number of each sum is the number of context words.

    Attributes
    ----------
    listed : mapping of str to array (groups, d + 1)
        Sums of the words of the list, by group of texts.
    frequent : mapping of str to array (d + 1,)
        Sums of the most frequent words that have a vector, in order of frequency.
    vectors : mapping of str to array (d,)
        Their vectors.
    """

    listed: dict[str, Numbers]
    frequent: dict[str, Numbers]
    vectors: dict[str, Numbers]

    @classmethod
    def of(cls, corpus: Corpus, census: Census, words: Sequence[str], embedding: Embedding, window: int) -> Self:
        """Add up the vectors of the words within a window around each occurrence. Windows end where texts end.

        Each vector is extended by a one, so that the last element of a sum counts context words. The sums of listed
        words are kept for each group of texts (for the jackknife), and those of frequent words for all texts together.
        Words are numbered by frequency, so that the most frequent words have the first numbers (see `frequent`).

        Tokens are processed in batches. For each token of a batch, `ids` has the number of its word, which is also its
        row in the matrix of vectors, and `group` the group of its text. The sums of both kinds are the rows of two
        matrices: `overall` has a row for each frequent word, and `by_group` a row for each listed word and group, with
        the groups of a word in consecutive rows. `_add` ignores tokens whose row is -1.
        """
        step("reading vectors")
        stored = embedding.find(census.counts)
        known = [word for word, _ in census.counts.most_common() if word in stored]
        if not known:
            raise CorpusError(
                f"{embedding.name} has no vector of any word in the texts. Check the language, and upper and lower"
                " case."
            )
        listed = [word for word in dict.fromkeys(words) if word in census.counts]
        vectors = _Vectors.of(known, np.stack([stored[word] for word in known]), listed)
        del stored
        width = vectors.rows.shape[1]
        frequent = known[:FREQUENT]
        by_group, overall = np.zeros((len(listed) * census.groups, width)), np.zeros((len(frequent), width))
        step("adding up contexts")
        texts = _with_progress(corpus, census)
        for ids, group in _batches(texts, vectors, window, _BATCH // width):
            windows = _windows(vectors.rows[ids], window)  # (tokens, d + 1): the sum of the vectors around each token
            # The numbers of frequent words are their rows in `overall`.
            _add(overall, np.where(ids < len(frequent), ids, -1), windows)
            place = vectors.listed_at[ids]  # position of each token's word in the list, or -1
            _add(by_group, np.where(place < 0, -1, place * census.groups + group), windows)
        groups = by_group.reshape(len(listed), census.groups, width)
        rows = vectors.rows[: len(frequent), :-1]
        return cls(
            dict(zip(listed, groups, strict=True)),
            dict(zip(frequent, overall, strict=True)),
            dict(zip(frequent, rows, strict=True)),
        )


@dataclass(frozen=True, eq=False)
class CoOccurrences:
    """Numbers of pairs of tokens that are at most a window apart in the same text.

    Attributes
    ----------
    listed : mapping of str to array (groups, words + 1)
        For each word of the list, by group of texts: co-occurrences with the words of the list, in the same order, and
        with any word.
    pairs : array (groups,)
        Co-occurrences of any two words, counted from both sides.
    """

    listed: dict[str, Numbers]
    pairs: Numbers

    @classmethod
    def of(cls, corpus: Corpus, census: Census, words: Sequence[str], window: int) -> Self:
        """Count the words within a window around each occurrence. Windows end where texts end.

        Words of the list are numbered 0 to n - 1 in the given order. All other words have the number n, and the
        positions between two texts have the number n + 1 (`gap`), so that no window covers two texts.

        The counts are one long array. It consists of a row of n + 1 counts for each listed word and group of texts, in
        which the groups of a word are consecutive: co-occurrences with each listed word, and last with any word. Tokens
        are processed in batches. For each token of a batch, `ids` has the number of its word, `group` the group of its
        text, `near` the number of words in its window, `place` the position of its word in the list (-1 for other words
        and gaps), and `row` the index at which the row of its counts begins.
        """
        n_words, gap = len(words), len(words) + 1
        number = {word: position for position, word in enumerate(words)}
        # Only the numbers of words are used here. Each of the n + 2 numbers has a vector without dimensions, and a
        # position in the list: 0 to n - 1 for listed words, -1 for other words, and -1 for gaps.
        vectors = _Vectors(number, np.empty((gap + 1, 0)), np.r_[:n_words, -1, -1], n_words)
        counts, pairs = np.zeros(n_words * census.groups * (n_words + 1)), np.zeros(census.groups)
        step("counting co-occurrences")
        for ids, group in _batches(_with_progress(corpus, census), vectors, window, _BATCH // 4):
            # The window sums of an indicator: 1 for each word, 0 for a gap.
            near = _windows((ids != gap)[:, None].astype(float), window)[:, 0]
            pairs += np.bincount(group, np.where(ids == gap, 0.0, near), census.groups)
            place = vectors.listed_at[ids]
            listed, row = np.flatnonzero(place >= 0), (place * census.groups + group) * (n_words + 1)
            np.add.at(counts, row[listed] + n_words, near[listed])  # the last count of a row: with any word
            # Pairs of listed words at each distance, from left (`first`) to right. Both rows count the pair.
            for distance in range(1, window + 1):
                first = listed[listed < len(ids) - distance]
                first = first[place[first + distance] >= 0]  # the other token of the pair is also a listed word
                second = first + distance
                np.add.at(counts, np.concatenate([row[first] + place[second], row[second] + place[first]]), 1.0)
        of_words = counts.reshape(n_words, census.groups, n_words + 1)
        return cls(dict(zip(words, of_words, strict=True)), pairs)


@dataclass(frozen=True, eq=False)
class _Vectors:
    """Vectors of the words of a corpus, each with a one, by the number of the word.

    Words with vectors come first, then words of the list without. All other words have the number `other`. The last
    row, which is zero, is the gap between texts.
    """

    number: dict[str, int]
    rows: Numbers
    listed_at: NDArray[np.intp]
    other: int

    @classmethod
    def of(cls, known: Sequence[str], vectors: Numbers, listed: Sequence[str]) -> Self:
        """Number the `known` words, which have `vectors` (words, d), and then the words of the list without vectors.

        `listed_at` is the position of a word in the list by the number of the word, or -1 for other words.
        """
        number = {word: position for position, word in enumerate(dict.fromkeys((*known, *listed)))}
        rows = np.zeros((len(number) + 1, vectors.shape[1] + 1))
        rows[: len(known), :-1], rows[: len(known), -1] = vectors, 1.0
        listed_at = np.full(len(rows), -1)
        for position, word in enumerate(listed):
            listed_at[number[word]] = position
        return cls(number, rows, listed_at, len(number))


def _copies(hashes: bytearray, cluster_of: NDArray[np.int64]) -> int:
    """Return the number of texts that are equal to the first text of another cluster.

    `hashes` has 32 bytes for each text, of which the first 8 are compared to save memory. The chance that any two of
    ten million different texts agree in them is 3 in a million.
    """
    _, first, text_of = np.unique(np.frombuffer(hashes, np.uint64)[::4], return_index=True, return_inverse=True)
    return int((cluster_of != cluster_of[first[text_of]]).sum())


def _with_progress(corpus: Corpus, census: Census) -> Iterator[tuple[Text, int]]:
    """Yield each text that has words with its group."""
    n_texts = len(census.group_of)
    texts = (text for text in corpus if len(text.tokens))
    for done, (text, group) in enumerate(zip(texts, census.group_of, strict=True), start=1):
        yield text, group
        advance(done, n_texts)


def _batches(
    texts: Iterator[tuple[Text, int]], vectors: _Vectors, window: int, size: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the numbers of words, and the groups of their texts, of about `size` tokens at once.

    Texts are separated by gaps as long as a window, so that no window covers two texts. A gap has the number of the
    last row of the vectors, which is zero. A text of more than `size` tokens is cut, with a loss of the contexts at the
    cut.
    """
    gap = len(vectors.rows) - 1
    ids: list[int] = []
    groups: list[NDArray[np.intp]] = []
    for text, group in texts:
        for first in range(0, len(text.tokens), size):
            part = [vectors.number.get(token, vectors.other) for token in text.tokens[first : first + size]]
            ids += [*part, *[gap] * window]
            groups.append(np.full(len(part) + window, group))
            if len(ids) >= size:
                yield np.array(ids), np.concatenate(groups)
                ids, groups = [], []
    if ids:
        yield np.array(ids), np.concatenate(groups)


def _windows(rows: Numbers, window: int) -> Numbers:
    """Return, for each position, the sum of the rows within a window around it, without its own row.

    `rows` has a vector for each position of a batch of texts. `sums[k]` is the sum of the first k rows, so the sum of
    the rows i to j - 1 is `sums[j] - sums[i]`. At the ends of the batch, windows are shorter.
    """
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    position = np.arange(len(rows))
    last, first = np.minimum(position + window + 1, len(rows)), np.maximum(position - window, 0)
    return np.asarray(sums[last] - sums[first] - rows)


def _add(sums: Numbers, places: NDArray[np.intp], windows: Numbers) -> None:
    """Add each of the windows (tokens, d) to the row of `sums` at its place. Windows with the place -1 are ignored.

    Several windows may have the same place. A sparse matrix with a one for each window adds them faster than a loop.
    """
    chosen = np.flatnonzero(places >= 0)
    if chosen.size:
        # (rows of `sums`, windows): 1 if the window belongs to the row
        pick = csr_array((np.ones(chosen.size), (places[chosen], chosen)), shape=(len(sums), len(windows)))
        sums += pick @ windows


# Words with fewer context words than this do not inform the transformation.
_ENOUGH = 100
_PENALTIES = np.logspace(-5, 2, 15)  # relative to the mean eigenvalue


def estimate_transformation(contexts: Contexts) -> Numbers:
    """Return the transformation (d, d) that predicts vectors, as rows, from mean context vectors, as rows.

    It is the ridge regression in the description of this module, with the log number of context words as the weight of
    each frequent word. Penalties (`_PENALTIES`) are relative to the mean eigenvalue of the weighted cross-products.

    Raises
    ------
    CorpusError
        If fewer words than dimensions are frequent.
    """
    with optional(" to estimate a transformation", ", or pass a `transformation`", refusal=CorpusError):
        from sklearn.linear_model import RidgeCV

    usable = [word for word, total in contexts.frequent.items() if total[-1] >= _ENOUGH]
    dimensions = len(next(iter(contexts.vectors.values())))
    if len(usable) < dimensions:
        raise CorpusError(
            f"Only {len(usable)} words with vectors have {_ENOUGH} or more words around them, but a transformation of"
            f" {dimensions} dimensions needs as many. Pass more text, or the `transformation` of a larger corpus."
        )
    sums = np.stack([contexts.frequent[word] for word in usable])
    means, weight = sums[:, :-1] / sums[:, -1:], np.log(sums[:, -1])
    scale = float((weight[:, None] * means**2).sum() / dimensions)
    ridge = RidgeCV(alphas=scale * _PENALTIES, fit_intercept=False)
    ridge.fit(means, np.stack([contexts.vectors[word] for word in usable]), sample_weight=weight)
    return np.asarray(ridge.coef_.T)


def checked_transformation(transformation: ArrayLike, dimensions: int) -> Numbers:
    """Return a given transformation, and raise an error if it has another shape."""
    matrix = np.asarray(transformation, dtype=float)
    if matrix.shape != (dimensions, dimensions) or not np.isfinite(matrix).all():
        raise CorpusError(
            f"`transformation` must be an array of {dimensions} by {dimensions} finite numbers, but has the shape"
            f" {matrix.shape}. Pass the transformation of the same vectors."
        )
    return matrix


def vectors_of(sums: Numbers, transformation: Numbers) -> Numbers:
    """Return the vectors (..., d) of sums of contexts (..., d + 1), whose last element is the number of contexts.

    The mean context vector is multiplied by the transformation (d, d).
    """
    return np.asarray(sums[..., :-1] / sums[..., -1:] @ transformation)


def left_out(listed: Mapping[str, Numbers], word: str, transformation: Numbers) -> Numbers:
    """Return the vector of a word without each group of texts, (groups, d), for the jackknife.

    `listed` has the sums of the contexts of each word in each group of texts (groups, d + 1).
    """
    sums = listed[word]
    return vectors_of(sums.sum(axis=0) - sums, transformation)
