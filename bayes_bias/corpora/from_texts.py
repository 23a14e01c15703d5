"""`from_texts`: the table of a word list in a corpus, with its covariance over texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bayes_bias.arguments import check_count, check_seed, check_switch
from bayes_bias.associations.cosines import CONTROLS, cosines
from bayes_bias.corpora.contexts import (
    Census,
    Contexts,
    CoOccurrences,
    checked_transformation,
    estimate_transformation,
    left_out,
    vectors_of,
)
from bayes_bias.corpora.deviations import deviations_of_cosines
from bayes_bias.corpora.pmi import pmi_table
from bayes_bias.corpora.reading import Corpus, CorpusLike, Tokenizer, lower_case_words, open_corpus
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import CorpusError
from bayes_bias.formatting import in_quotes, shortened
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable, announce
from bayes_bias.table.labels import all_words
from bayes_bias.table.texts import Texts
from bayes_bias.words.wordlist import ControlsLike, ListLike, load_control_lists, load_wordlist

type Measured = Literal["cosine", "pmi"]

# A notice names words with fewer occurrences.
FEW = 20


@dataclass(frozen=True, eq=False)
class CorpusVectors:
    """The result of `corpus_vectors`: vectors of words as a corpus uses them, and how they vary over texts.

    Attributes
    ----------
    embedding : Embedding
        À la carte vectors of the words of the list and of the most frequent words, with frequent words first.
    transformation : array (d, d)
        The transformation of mean context vectors, as rows, to vectors. Pass it to tables that you compare.
    without : mapping of str to array (groups, d)
        The vector of each word of the list without each group of texts.
    groups : tuple of str
        Hash of the texts of each group.
    occurrences : mapping of str to int
        Number of occurrences of the words of the list.
    text : str
        Describes the sample of texts.
    """

    embedding: Embedding
    transformation: Numbers
    without: Mapping[str, Numbers]
    groups: tuple[str, ...]
    occurrences: Mapping[str, int]
    text: str


def from_texts(
    texts: CorpusLike,
    wordlist: ListLike,
    embedding: Embedding | str | Path | Mapping[str, Any] | Any = None,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    measure: Measured = "cosine",
    clusters: Sequence[str] | None = None,
    column: str = "text",
    cluster_column: str = "",
    tokenizer: Tokenizer = lower_case_words,
    window: int = 6,
    groups: int = 50,
    transformation: ArrayLike | None = None,
    allow_loss: bool = False,
    seed: int = 1,
) -> AssociationTable:
    r"""Measure a word list in texts, and treat the texts as a sample.

    The vector of a word is the mean of the pretrained vectors of the words around it, multiplied by a matrix that
    transforms such means to vectors of words (à la carte vectors [1]_). The covariance of the cosines over texts comes
    from a jackknife: with the cosines :math:`y_{(k)}` without the k-th of K groups of texts,

    .. math:: \operatorname{cov}(y) = \frac{K - 1}{K} \sum_k (y_{(k)} - \bar y)(y_{(k)} - \bar y)'.

    With ``measure="pmi"``, :math:`y_{ij}` is the pointwise mutual information [3]_ of target i and attribute j instead.
    It requires no vectors, so it is for texts that are too short or too unusual for them. If two words co-occur
    :math:`n_{ij}` times within the window, but would co-occur :math:`E_{ij}` times if they were independent,

    .. math:: y_{ij} = \log \frac{n_{ij} + 1/2}{E_{ij} + 1/2}, \qquad E_{ij} = \frac{n_i n_j}{N},

    with the number :math:`n_i` of words around i and the number N of pairs of words. The halves move values toward zero
    where few co-occurrences are expected [4]_. A pair that never co-occurs has the value
    :math:`-\log(1 + 2 E_{ij})`. The bias is half of a mean log odds ratio of co-occurrences, as in [5]_.

    Every verdict and estimate of the table then includes the variance over texts (`bayes_bias.table.texts`), also for
    exactly these words (scope "none").

    Parameters
    ----------
    texts : sequence of str, sequence of lists of str, str, or Path
        Texts, as strings or as lists of tokens; a folder of .txt files; a .txt file with a text on each line; or a
        .csv, .tsv or .jsonl file. Files are read one text at a time, in UTF-8 or UTF-16. Texts are what is sampled, so
        pass speeches or chapters rather than sentences. Texts without words are omitted, with a notice. Another notice
        counts texts with exactly the words of an earlier one, which count as independent.
    wordlist, controls, allow_loss
        As in `cosines`.
    embedding : str, Path, Embedding or anything that `open_embedding` opens
        Pretrained vectors of the words around those of the list. Omit it for PMI.
    measure : {"cosine", "pmi"}
        The association of two words: the cosine of their à la carte vectors, or their pointwise mutual information.
    clusters : sequence of str, optional
        A label for each text in memory. Texts with the same label, such as an author or a book, are sampled together.
        A text whose label is missing (None, NaN, or blank, as an empty cell of a file) is sampled by itself.
    column, cluster_column : str
        Columns of a .csv, .tsv or .jsonl file with the text, and with its cluster.
    tokenizer : callable
        Function from a string to a list of words. The default returns words in lower case.
    window : int
        Number of words on each side.
    groups : int
        Largest number of groups of texts for the jackknife.
    transformation : array (d, d), optional
        The matrix A, as estimated in another corpus (see `corpus_vectors`). By default, it is estimated in these texts.
        Omit it for PMI.
    seed : int
        Seed of the assignment of texts to groups.

    Returns
    -------
    AssociationTable
        As from `cosines`, with ``texts``. PMI is in nats, and its table has no vectors, so words are treated as
        unrelated unless the list has sub-topics. A notice states the number and values of pairs that never co-occur.

    Raises
    ------
    CorpusError
        If the texts cannot be read, if there are fewer than two, if they contain no word of the list, or if they are
        too short to estimate the transformation. With PMI, if more than half of the pairs of compared words never
        co-occur.
    CoverageError
        If the texts lack half of the words in a group or class.

    Notes
    -----
    The pretrained vectors and the transformation are treated as fixed. Vectors from few occurrences are noisy, and
    noise makes cosines smaller, so the bias in a small corpus is smaller than in a large one with the same usage. The
    interval is about corpora of the same size. For this reason, parts of one corpus must not be used as replicates, and
    corpora that are compared should have similar sizes.

    References
    ----------
    .. [1] Khodak, M., Saunshi, N., Liang, Y., Ma, T., Stewart, B., & Arora, S. (2018). A la carte embedding: Cheap but
       effective induction of semantic feature vectors. ACL, 12-22. https://doi.org/10.18653/v1/P18-1002
    .. [2] Rodriguez, P. L., Spirling, A., & Stewart, B. M. (2023). Embedding regression: Models for context-specific
       description and inference. American Political Science Review, 117(4), 1255-1274.
       https://doi.org/10.1017/S0003055422001228
    .. [3] Church, K. W., & Hanks, P. (1990). Word association norms, mutual information, and lexicography.
       Computational Linguistics, 16(1), 22-29. https://aclanthology.org/J90-1003
    .. [4] Norén, G. N., Hopstadius, J., & Bate, A. (2013). Shrinkage observed-to-expected ratios for robust and
       transparent large-scale pattern discovery. Statistical Methods in Medical Research, 22(1), 57-69.
       https://doi.org/10.1177/0962280211403604
    .. [5] Valentini, F., Rosati, G., Blasi, D., Fernandez Slezak, D., & Altszyler, E. (2023). On the interpretability
       and significance of bias metrics in texts: A PMI-based approach. ACL, 509-520.
       https://doi.org/10.18653/v1/2023.acl-short.44

    Examples
    --------
    >>> table = from_texts("speeches", "weat7", "glove-6b-50d")                   # doctest: +SKIP
    >>> print(bb.verdict(table), bb.verdict(table, "none"))                       # doctest: +SKIP
    >>> words = {"he=work": ["he"], "she=home": ["she"], "work": ["office"], "home": ["garden"]}
    >>> texts = ["he left his office", "she left her garden", "she saw his garden", "he saw her office"]
    >>> from_texts(texts, words, controls=(), measure="pmi").values.round(2).values.tolist()
    [[0.69, -0.92], [-0.92, 0.69]]
    """
    check_switch("allow_loss", allow_loss)
    _check_measure(measure, embedding, transformation)
    words = load_wordlist(wordlist).with_controls(load_control_lists(controls)).words
    settings: dict[str, Any] = {"clusters": clusters, "column": column, "cluster_column": cluster_column}
    settings["tokenizer"] = tokenizer
    if measure == "pmi":
        window, groups = _checked_counts(window, groups)
        corpus, census, spelling_of = _open_and_count(texts, words, groups, seed, **settings)
        counted = CoOccurrences.of(corpus, census, [*spelling_of.values()], window)
        usable_words, notices = _usable_words(spelling_of, counted.listed, corpus.name)
        table = pmi_table(
            counted,
            usable_words,
            wordlist,
            controls,
            groups=census.labels,
            window=window,
            name=corpus.name,
            text=_description_of_sample(census),
            allow_loss=allow_loss,
        )
        provenance = MappingProxyType({**table.provenance, **_provenance(corpus.name, census, window)})
        return replace(table, notices=(*announce((*census.notices, *notices)), *table.notices), provenance=provenance)
    vectors = corpus_vectors(
        texts, words, embedding, window=window, groups=groups, transformation=transformation, seed=seed, **settings
    )
    table = cosines(wordlist, vectors.embedding, controls, allow_loss=allow_loss)
    notices = announce(_notice_of_rare_words(table, vectors))
    return replace(table, texts=texts_of(table, vectors), notices=(*table.notices, *notices))


def corpus_vectors(
    texts: CorpusLike,
    words: Iterable[str],
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    *,
    clusters: Sequence[str] | None = None,
    column: str = "text",
    cluster_column: str = "",
    tokenizer: Tokenizer = lower_case_words,
    window: int = 6,
    groups: int = 50,
    transformation: ArrayLike | None = None,
    seed: int = 1,
) -> CorpusVectors:
    """Compute the vectors of words as a corpus uses them. See `from_texts` for the parameters.

    Examples
    --------
    >>> everything = corpus_vectors("speeches", [], "glove-6b-50d")               # doctest: +SKIP
    >>> tables = {
    ...     year: from_texts(f"speeches/{year}", "weat7", "glove-6b-50d", transformation=everything.transformation)
    ...     for year in (1900, 1950)}                                             # doctest: +SKIP
    """
    window, groups = _checked_counts(window, groups)
    settings: dict[str, Any] = {"clusters": clusters, "column": column, "cluster_column": cluster_column}
    settings["tokenizer"] = tokenizer
    pretrained = open_embedding(embedding)
    corpus, census, spelling_of = _open_and_count(texts, words, groups, seed, **settings)
    contexts = Contexts.of(corpus, census, list(spelling_of.values()), pretrained, window)
    if transformation is None:
        matrix, origin = estimate_transformation(contexts), "estimated"
    else:
        matrix, origin = checked_transformation(transformation, pretrained.dimensions), "given"
    usable_words, notices = _usable_words(spelling_of, contexts.listed, corpus.name)
    # Sums of the contexts of each word over all texts. The last element is the number of contexts.
    sums_of = {word: contexts.listed[spelling].sum(axis=0) for word, spelling in usable_words.items()}
    for word, sums in contexts.frequent.items():
        if word not in sums_of and word not in spelling_of and sums[-1]:
            sums_of[word] = sums
    count_of = {word: census.counts[spelling_of.get(word, word)] for word in sums_of}
    in_order = sorted(sums_of, key=count_of.__getitem__, reverse=True)
    vectors = [vectors_of(sums_of[word], matrix) for word in in_order]
    reader = MemoryReader(in_order, vectors, pretrained.dimensions, frequent_first=True)
    sample = _description_of_sample(census)
    source = f"{sample}, with the vectors of {pretrained.name}"
    return CorpusVectors(
        Embedding(
            corpus.name,
            source,
            reader,
            notices=(*census.notices, *notices),
            provenance=_provenance(corpus.name, census, window, vectors=pretrained.name, transformation=origin),
        ),
        matrix,
        MappingProxyType({word: left_out(contexts.listed, usable_words[word], matrix) for word in usable_words}),
        census.labels,
        MappingProxyType({word: census.counts[spelling] for word, spelling in usable_words.items()}),
        sample,
    )


def texts_of(table: AssociationTable, vectors: CorpusVectors) -> Texts:
    """Return the deviations of a table's cosines in the jackknife over K groups of texts.

    A deviation is the cosine without one group of texts, minus the mean of these cosines. Deviations are multiplied by
    the square root of (K - 1) / K, so that their sum of squares is the variance of the jackknife.
    """
    factor = np.sqrt(1 - 1 / len(vectors.groups))
    return deviations_of_cosines(table, vectors.without, vectors.groups, factor, vectors.text)


def _check_measure(measure: Any, embedding: Any, transformation: Any) -> None:
    """Raise an error if the measure is unknown, or if it requires an embedding or cannot use one.

    Cosines require the vectors of an embedding. Pointwise mutual information (PMI) counts words and uses neither
    vectors nor a transformation of vectors.
    """
    if measure not in get_args(Measured.__value__):
        raise CorpusError(f"`measure` cannot be {measure!r}.", measure, get_args(Measured.__value__))
    if measure == "cosine" and embedding is None:
        raise CorpusError(
            "Cosines require the pretrained vectors of words. Pass an `embedding` (--embedding), or use"
            " measure='pmi' (--measure pmi)."
        )
    if measure == "pmi" and not (embedding is None and transformation is None):
        raise CorpusError(
            "PMI counts co-occurrences and uses no vectors. Omit `embedding` (--embedding) and"
            " `transformation`, or use measure='cosine' (--measure cosine)."
        )


def _checked_counts(window: Any, groups: Any) -> tuple[int, int]:
    """Return the number of words on each side (`window`) and of groups of texts after checking them.

    Both must be whole numbers, of at least one word and two groups.
    """
    window_words = check_count("window", window, "words", refusal=CorpusError)
    groups_of_texts = check_count("groups", groups, "groups of texts", least=2, refusal=CorpusError)
    return window_words, groups_of_texts


def _open_and_count(
    texts: CorpusLike, words: Iterable[str], groups: int, seed: int, **settings: Any
) -> tuple[Corpus, Census, dict[str, str]]:
    """Open the texts, count their words, and return the spelling of each word of a list in them.

    The census, which counts words, also assigns clusters of texts, such as the texts of one author, to `groups` at
    random. The `settings` are those of `open_corpus`.
    """
    corpus, listed = open_corpus(texts, **settings), list(words)
    census = Census.of(corpus, groups, check_seed(seed))
    spelling_of = _spellings(listed, census)
    if listed and not spelling_of:
        most_common = in_quotes(word for word, _ in census.counts.most_common(6))
        raise CorpusError(
            f"None of the {len(listed)} words of the list, such as {in_quotes(listed[:3])}, occurs in {corpus.place},"
            f" whose most frequent words are {most_common}. Check that these are the texts, and that the list has their"
            " language and spelling."
        )
    return corpus, census, spelling_of


def _description_of_sample(census: Census) -> str:
    """Return a description of the sample of texts, such as "900 texts in 50 groups".

    `clusters` and `groups` of the census are numbers, and `group_of` has the group of each text. Clusters are counted
    instead of texts if a cluster has several texts, and groups are omitted if each has one cluster.
    """
    n_texts = len(census.group_of)
    sample = f"{n_texts:,} texts" if census.clusters == n_texts else f"{census.clusters:,} clusters of texts"
    return f"{sample} in {census.groups} groups" if census.groups < census.clusters else sample


def _spellings(words: Iterable[str], census: Census) -> dict[str, str]:
    """Return the spelling of each word in the texts: its own, or else in lower case, as the default tokenizer does.

    `census.counts` has the number of occurrences of each spelling in the texts. Words that do not occur in them are
    omitted. Two words never get the same spelling.
    """
    spelling_of: dict[str, str] = {}
    for word in dict.fromkeys(words):
        spelling = word if word in census.counts else word.casefold()
        if spelling in census.counts and spelling not in spelling_of.values():
            spelling_of[word] = spelling
    return spelling_of


def _usable_words(
    spelling_of: Mapping[str, str], listed: Mapping[str, Numbers], name: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the spelling of words with contexts in two or more groups of texts, and a notice of all other words.

    `spelling_of` has the spelling of each word in the texts. `listed` are the sums of the contexts of each spelling
    (groups, columns), whose last column is the number of contexts. `name` is the name of the texts in the notice. The
    jackknife over groups of texts needs words that occur in several groups.
    """
    usable, in_one_group = {}, []
    for word, spelling in spelling_of.items():
        n_groups = (listed[spelling][:, -1] > 0).sum()
        if n_groups > 1:
            usable[word] = spelling
        else:
            in_one_group.append(word)
    if not in_one_group:
        return usable, ()
    if not usable:
        raise CorpusError(
            f"{name}: each word of the list that occurs in the texts ({shortened(in_one_group)}) occurs in a single"
            " group of texts, which cannot show how much texts differ. Pass more texts, or more frequent words."
        )
    return usable, (
        f"{name}: {shortened(in_one_group)} occur in a single group of texts, which cannot show how much their vectors"
        " vary over texts. They are omitted",
    )


def _notice_of_rare_words(table: AssociationTable, vectors: CorpusVectors) -> tuple[str, ...]:
    """Return a notice of the words of a table with fewer than 20 occurrences (`FEW`), or nothing if there are none.

    The vector of a rare word is a mean over few contexts. `vectors` has the number of occurrences of each word.
    """
    n_of = vectors.occurrences
    rare = [f"{word} ({n_of[word]})" for word in all_words(table.values) if n_of[word] < FEW]
    if not rare:
        return ()
    return (
        f"{table.name}: fewer than {FEW} occurrences in the texts: {shortened(rare)}. Their vectors are uncertain,"
        " and their cosines are usually closer to zero than with more text",
    )


def _provenance(name: str, census: Census, window: int, **vectors: str) -> Mapping[str, str]:
    """Return the origin of the values for tables: the sample of texts, the window, and the pretrained vectors, if any.

    The methods text reads the entries that begin with "texts_" (`text_samples`).
    """
    number, tokens = f"{len(census.group_of):,}", f"{census.counts.total():,}"
    facts = {"name": name, "number": number, "tokens": tokens, "window": str(window)}
    facts |= {"clusters": f"{census.clusters:,}", "groups": f"{census.groups:,}", **vectors}
    facts["sha256"] = sha256(" ".join(census.labels).encode()).hexdigest()
    texts = f"{name}, {number} texts, {tokens} tokens, window {window}"
    return MappingProxyType({"texts": texts, **{f"texts_{key}": fact for key, fact in facts.items()}})
