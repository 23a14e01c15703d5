"""Make a table from vectors and a word list."""

import logging
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import as_tuple, check_kind, check_switch
from bayes_bias.associations.copies import equal_vectors, near_copies, notice_of
from bayes_bias.associations.coverage import Coverage, check_coverage, coverage_of_matrix, lookup
from bayes_bias.associations.frequency import CovariatesFrom, check_covariates, wants_ranks, with_covariates_from
from bayes_bias.associations.related import as_listed, compared_words, general_words_of, related_words_of, with_related
from bayes_bias.associations.similarity import similarity_of
from bayes_bias.embeddings.embedding import SHOWN, Embedding, Excerpt, found_as
from bayes_bias.embeddings.in_memory import in_sentences
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.embeddings.word_vectors import lengths, sha256_of_vectors, unit_rows, with_direction
from bayes_bias.errors import EmbeddingError, TableError
from bayes_bias.formatting import in_quotes, shortened
from bayes_bias.language_models.encoders import is_encoder
from bayes_bias.table.association_table import AssociationTable, announce, assemble, with_notices
from bayes_bias.table.labels import LABELS
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.table.origin import Origin
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.list_rules import category_of
from bayes_bias.words.spelling import used_as_such
from bayes_bias.words.templates import Templates
from bayes_bias.words.topics_and_pairs import SubTopicsFrom
from bayes_bias.words.wordlist import ControlsLike, ListLike, WordList, load_control_lists, load_wordlist

CONTROLS = ("neutral", "human")

# Squares of numbers between these are neither zero nor infinite.
_SMALLEST, _LARGEST = 1e-150, 1e150
# Shorter vectors are toy examples. In most models, no single number dominates the length of all vectors.
_FEWEST_DIMENSIONS, _MOST_OF_LENGTH = 5, 0.9


def cosines(
    wordlist: ListLike,
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    also: Iterable[str] = (),
    templates: Templates | str | Path | None = None,
    sub_topics: SubTopicsFrom | None = None,
    covariates: CovariatesFrom = None,
    allow_loss: bool = False,
    trust: bool = False,
) -> AssociationTable:
    """Compute the cosine similarity of every target with every attribute in a word list.

    This is the usual first step of an analysis. Pass the result to `fit`, `report`, or any function in `measures`.

    Parameters
    ----------
    wordlist : WordList, str or Path
        Word list, name of a built-in list (such as "weat7"), or path of a file.
    embedding : Embedding, str, Path, dict, DataFrame, gensim KeyedVectors, or an encoder of sentences
        Source of the vectors: anything that `open_embedding` accepts, or a sentence encoder. An encoder can be a
        function that maps sentences to vectors, an object with an ``encode`` method, or the folder of a model.
    controls : iterable of str, Path or WordList
        Control classes to add to the list, that is, words that are not associated with any group. The default is the
        built-in classes "neutral" and "human". Use ``()`` for none. A built-in class is omitted, with a notice, if the
        embedding lacks half of its words.
    also : iterable of str
        Additional words whose vectors to store in the table, such as the defining sets of Direct Bias.
    templates : Templates, str or Path, optional
        For encoders: sentence templates in which to embed each word, such as "plain-10". Each template is a replicate.
        By default, each word is encoded on its own.
    sub_topics : {"from vectors", "independent", "exhaustive"}, optional
        How to weight related words, see `WordList`. The default is the setting in the word list or, if there is none,
        "from vectors", which compares their vectors with general words of the embedding (see
        `bayes_bias.associations.related`). If there are fewer than 500 general words, words of the same named topic are
        related. If the list has no topics, words are treated as independent, with a notice.
    covariates : "rank", DataFrame, Series, mapping, or a list of these, optional
        Numeric properties of words, such as frequency. `fit` then estimates the bias for words with equal values of the
        covariates. "rank" uses the log frequency rank of the targets and requires an embedding with frequent words
        first, as in files of word2vec, fastText and GloVe. To adjust both sides, pass ``{"target": "rank", "attribute":
        "rank"}``. See `AssociationTable.with_covariates`.
    allow_loss : bool
        Continue even if the embedding lacks half of the words in a group or class, or words of different groups or
        classes have the same vector.
    trust : bool
        Open files that can run code when they are opened (gensim's native files, pickles). Use this only for files that
        you trust.

    Returns
    -------
    AssociationTable
        Table with one row for each target and one column for each attribute. Words without a usable vector are listed
        in ``notices`` and ``coverage``. If words of a group or class share a vector, only the first is kept.
        ``vectors`` contains the unit vectors. For very long lists, the cosine matrix is not stored, but computed from
        the vectors when needed.

    Raises
    ------
    WordListError, EmbeddingError, TemplateError
        If the list, embedding, or templates cannot be read, or if templates are combined with word vectors.
    CoverageError
        If the embedding lacks half of the words in a group or class, or words of different groups or classes have the
        same vector.

    Examples
    --------
    >>> table = cosines("weat6", "googlenews-demo", controls=())
    >>> table.values.shape
    (16, 16)
    >>> def encoder(sentences):
    ...     return [[text.count(letter) + 1 for letter in "aeiou"] for text in sentences]
    >>> cosines("weat6", encoder, controls=(), templates="noun-10").replicates.text
    '10 templates'
    """
    return similarities(
        wordlist,
        embedding,
        controls,
        also=also,
        templates=templates,
        sub_topics=sub_topics,
        covariates=covariates,
        allow_loss=allow_loss,
        trust=trust,
    )


def similarities(
    wordlist: ListLike,
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    similarity: str | Similarity = "cosine",
    also: Iterable[str] = (),
    templates: Templates | str | Path | None = None,
    sub_topics: SubTopicsFrom | None = None,
    covariates: CovariatesFrom = None,
    allow_loss: bool = False,
    trust: bool = False,
) -> AssociationTable:
    """Compute similarities of all targets with all attributes of a word list, by the cosine or another measure.

    Parameters
    ----------
    embedding, wordlist, controls, also, templates, sub_topics, covariates, allow_loss, trust
        See `cosines`.
    similarity : {"cosine", "dot"} or Similarity
        Similarity of two words, given their vectors. "dot" is the dot product, which is larger for long vectors. To
        define your own, see `bayes_bias.table.similarity.Similarity`.

    Returns
    -------
    AssociationTable
        As from `cosines`, in the units of the similarity. ``vectors`` have unit length if the similarity requires it.

    Raises
    ------
    TableError
        If there is no such similarity.
    WordListError, EmbeddingError, TemplateError, CoverageError
        As in `cosines`.

    Examples
    --------
    >>> similarities("weat6", "googlenews-demo", controls=(), similarity="dot").metric.name
    'dot product'
    """
    check_switch("allow_loss", allow_loss)
    chosen_similarity = similarity_of(similarity)
    further_words = as_tuple("also", also, str, "['she', 'he']")
    words = load_wordlist(wordlist).with_sub_topics(sub_topics)
    control_lists = load_control_lists(controls)
    words_with_controls = words.with_controls(control_lists)
    if templates is not None or is_encoder(embedding):
        from bayes_bias.language_models.encoding import encode

        opened_embedding = encode(words_with_controls, embedding, templates, also=further_words, trust=trust)
    else:
        opened_embedding = open_embedding(embedding, trust=trust)
    check_covariates(covariates)
    vocabulary = [*words_with_controls.words, *words_with_controls.texts, *further_words]
    needs_general_words = words.sub_topics != "exhaustive"
    try:
        excerpt = opened_embedding.excerpt(vocabulary, general=needs_general_words, ranks=wants_ranks(covariates))
    except EmbeddingError:
        # Only general words may be unreadable. If words of the list are missing as well, their error is more helpful.
        table_of(Origin(words, control_lists, opened_embedding.excerpt(vocabulary), chosen_similarity, allow_loss))
        raise
    # Random words are read when they are needed, unless they are in memory.
    in_memory = isinstance(excerpt.reader, Excerpt) and excerpt.reader.drawable
    origin = Origin(words, control_lists, excerpt if in_memory else opened_embedding, chosen_similarity, allow_loss)
    table = table_of(origin, excerpt, also=further_words)
    table = with_relations(table, excerpt, words, required=sub_topics == "from vectors")
    return with_covariates_from(table, excerpt, covariates)


def with_relations(
    table: AssociationTable, embedding: Embedding, words: WordList, *, required: bool = False
) -> AssociationTable:
    """Add the related words to a table, from an embedding whose words are in memory.

    The setting `sub_topics` of the word list selects one of three methods. "from vectors" compares the words with
    general words of the embedding. "independent" treats words as independent, takes only the variance of their
    preferences from the vectors, and adds a notice of words with nearly equal vectors. "exhaustive" adds nothing. The
    provenance of the table records the method.

    If the embedding has too few general words, named sub-topics of the list, or near copies, replace related words, and
    the table has a notice. If related words are `required`, an error is raised instead.
    """
    if words.sub_topics == "exhaustive" or table.vectors is None:
        return _with_provenance(table, words.sub_topics)
    independent = words.sub_topics == "independent"
    if independent:
        copies_of_category = near_copies(compared_words(table), table.vectors)
        notices = announce(tuple(starmap(notice_of, copies_of_category.items())))
        table = replace(table, notices=(*table.notices, *notices))
    method: str = words.sub_topics  # as the provenance of the table records it
    try:
        general = general_words_of(embedding).without(words)
        related = with_related(table, related_words_of(table, general, independent=independent))
        if words.topics and not independent:
            notice = f"{table.name}: related words are found in the vectors, so the sub-topics of the list are not used"
            related = replace(related, notices=(*related.notices, notice))
    except EmbeddingError as error:
        if required:
            raise
        if independent:
            return _with_provenance(table, words.sub_topics)
        related = as_listed(table, error)
        without_topics = "near copies" if related.has_related_words else "independent"
        method = "named" if words.topics else without_topics
    announce(related.notices[len(table.notices) :])  # the new ones
    return _with_provenance(related, method)


def _with_provenance(table: AssociationTable, sub_topics: str) -> AssociationTable:
    """Record in the provenance of a table how related words were found."""
    return replace(table, provenance=MappingProxyType({**table.provenance, "sub_topics": sub_topics}))


def table_of(origin: Origin, excerpt: Embedding | None = None, *, also: Iterable[str] = ()) -> AssociationTable:
    """Make the table of a list from words in memory, in `excerpt` or else in the embedding. See `similarities`."""
    similarity, words = origin.similarity, origin.words
    embedding = in_sentences(excerpt or origin.embedding, words)
    stored, coverage = lookup(embedding, words, np.asarray)  # vectors as stored, before they are scaled
    if absent := coverage.absent_controls(allow_loss=origin.allow_loss):
        controls = _present_controls(origin.controls, absent)
        origin = replace(origin, wordlist=origin.wordlist.without_controls(absent), controls=controls)
        words = origin.words
        stored, coverage = lookup(embedding, words, np.asarray)
    check_coverage(coverage, allow_loss=origin.allow_loss)
    targets = _categories(words.groups, stored)
    attributes = _categories({**words.classes, **words.controls}, stored)
    if not similarity.unit:
        _check_size(stored, embedding, similarity)
    further, about_further = _further_vectors(embedding, also)
    original_lengths = {word: lengths(vector) for word, vector in {**further, **stored}.items()}
    target_vectors = np.stack([similarity.prepared(stored[word]) for word in targets])
    attribute_vectors = np.stack([similarity.prepared(stored[word]) for word in attributes])
    measured = dict(zip((*targets, *attributes), (*target_vectors, *attribute_vectors), strict=True))
    vectors = {word: similarity.prepared(vector) for word, vector in further.items()} | measured
    values, singles = similarity.average_replicates(target_vectors, attribute_vectors, lazily=True)
    table = assemble(
        values,
        targets,
        attributes,
        words.stereotypes,
        opposites=words.opposites,
        topics=words.topic_of,
        pairs=words.pair_of,
        replicates=dict(zip(embedding.replicates, singles, strict=True)),
        kind=embedding.kind,
        metric=similarity.metric,
        vectors=MappingProxyType(vectors),
        lengths=MappingProxyType(original_lengths) if similarity.unit else None,
        name=words.name,
        notices=(
            *words.notices,
            *coverage.notices(),
            *about_further,
            *_notices_of_counts(stored, embedding.name),
            *_notices_of_parallel_vectors(stored, coverage),
            *_about_absent(absent, embedding.name),
            *embedding.notices,
        ),
        source=words.source,
        control_sources=words.control_sources,
        provenance=MappingProxyType(
            {
                "wordlist": words.name,
                "wordlist_sha256": words.sha256,
                "embedding": embedding.name,
                "embedding_source": embedding.source,
                **embedding.provenance,
                "vectors_sha256": sha256_of_vectors(measured),
            }
        ),
        coverage=coverage.to_frame(),
        origin=origin,
    )
    complete = with_notices(table)
    quiet = announce((*words.remarks, *coverage.quiet_notices()), logging.INFO)
    return replace(complete, notices=(*complete.notices, *quiet))


def _categories(words: Mapping[str, tuple[str, ...]], present: Container[str]) -> dict[str, str]:
    """Return the group or class of each word that is present, in the order of the list."""
    return {word: category for word, category in category_of(words).items() if word in present}


def _present_controls(controls: Iterable[WordList], absent: Collection[str]) -> tuple[WordList, ...]:
    """Return the lists of control classes whose classes are not all absent."""
    return tuple(added for added in controls if not added.controls.keys() <= set(absent))


def _about_absent(absent: Sequence[str], name: str) -> tuple[str, ...]:
    """Return a notice that names the absent control classes, if there are any."""
    if not absent:
        return ()
    return (f"control classes omitted because {name} has too few of their words: {', '.join(absent)}",)


def _notices_of_counts(vectors: Mapping[str, np.ndarray], name: str) -> tuple[str, ...]:
    """Return a notice if one dimension of the vectors seems to be a frequency, a rank, or the number of a row.

    This happens if a column of a text file is read as a part of the vectors. The column is recognised in two ways: it
    is the only dimension that varies and has whole numbers in all vectors, or it has more than `_MOST_OF_LENGTH` of
    their squared length. Vectors with fewer than `_FEWEST_DIMENSIONS` bring no notice.
    """
    rows = np.vstack(list(vectors.values()))  # (words, dimensions)
    shares = unit_rows(rows) ** 2  # share of each dimension in the squared length of a vector
    has_whole_numbers = (rows == np.round(rows)).all(axis=0) & (np.ptp(rows, axis=0) > 0)
    is_only_one = has_whole_numbers.sum() == 1
    suspect = int(np.argmax(has_whole_numbers if is_only_one else shares.mean(axis=0)))
    share = float(shares[:, suspect].mean())
    if rows.shape[1] < _FEWEST_DIMENSIONS or not (is_only_one or share > _MOST_OF_LENGTH):
        return ()
    whole_numbers = ", and is a whole number in each" if has_whole_numbers[suspect] else ""
    return (
        f"number {suspect + 1} of {rows.shape[1]} in the vectors of {name} has {share:.0%} of their squared"
        f" length{whole_numbers}. If it is a frequency, a rank, or a number of the row, remove it, because cosines"
        " depend on it",
    )


def _notices_of_parallel_vectors(vectors: Mapping[str, np.ndarray], coverage: Coverage) -> tuple[str, ...]:
    """Return a notice that lists words whose vectors are multiples of each other, so that their cosine is 1.

    Words whose vectors are equal are omitted, because another notice names them. They are in `coverage.shared`, as
    clusters of (word, group or class). Debiased vectors get no notice.
    """
    words_with_equal_vectors = {word for cluster in coverage.shared for word, _ in cluster}
    unit_vectors = dict(zip(vectors, unit_rows(np.stack([*vectors.values()])), strict=True))
    parallel = []
    for cluster in equal_vectors(unit_vectors):
        if not words_with_equal_vectors.issuperset(cluster):
            parallel.append(in_quotes(cluster[:SHOWN]))
    if not parallel or coverage.debiased:
        return ()
    return (
        f"vectors of words have the same direction in {coverage.embedding}, and therefore a cosine of 1:"
        f" {shortened(parallel)}. Check whether they stand for unknown words",
    )


def _check_size(vectors: Mapping[str, np.ndarray], embedding: Embedding, similarity: Similarity) -> None:
    """Raise an error if vectors are so short or long that products of their numbers are zero or infinite."""
    largest = max(float(np.abs(vector).max()) for vector in vectors.values())
    if not _SMALLEST < largest < _LARGEST:
        raise EmbeddingError(
            f"`similarity='{similarity.name}'` requires values near 1, but the largest value of {embedding.name} is"
            f" {largest:.1g}. Multiply all vectors by the same number, or use similarity='cosine'."
        )


def _further_vectors(embedding: Embedding, also: Iterable[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the vectors of the words in `also`, which belong to no group or class, and notices about them.

    One notice lists the words that were found under another spelling, and another lists the words that are omitted,
    because they have no vector or a vector without a direction.
    """
    requested = tuple(dict.fromkeys(also))
    stored = embedding.find(requested)
    spelling_of = found_as(requested, stored, embedding.match)
    vectors = with_direction({word: stored[spelling] for word, spelling in spelling_of.items()}, requested)
    respelt = {word: spelling for word, spelling in spelling_of.items() if spelling != word}
    notices = [used_as_such(respelt, embedding.name)] if respelt else []
    if lacking := [word for word in requested if word not in vectors]:
        notices.append(f"`also`: {embedding.name} has no usable vector of {', '.join(lacking)}, omitted")
    return vectors, notices


# Make a table from a word list and a matrix of similarities that were computed elsewhere.


def cosines_from_matrix(
    matrix: pd.DataFrame,
    wordlist: ListLike,
    controls: ControlsLike | Iterable[ControlsLike] = (),
    *,
    metric: Metric = COSINE,
    name: str = "matrix",
    allow_loss: bool = False,
) -> AssociationTable:
    """Make the table of a word list from a matrix of cosines, or of other similarities.

    Parameters
    ----------
    matrix : DataFrame
        Targets in the index, and attributes in the columns. Other words are ignored. NaN is a missing pair.
    wordlist, controls
        As in `bayes_bias.cosines`, but without control classes by default.
    metric : Metric
        Name and unit of the numbers.
    name : str
        Name of the matrix in messages.
    allow_loss : bool
        Continue even if the matrix lacks half of the words in a group or class.

    Raises
    ------
    TableError
        If a word has two rows or columns, or a value is out of range, see `AssociationTable.from_frame`.
    CoverageError
        If the matrix lacks half of the words in a group or class.
    WordListError
        If the list cannot be read.

    Examples
    --------
    >>> matrix = pd.DataFrame({"boss": [0.4, 0.1], "maid": [0.1, 0.3]}, index=["he", "she"])
    >>> words = {"man=work": ["he"], "woman=home": ["she"], "work": ["boss"], "home": ["maid"]}
    >>> cosines_from_matrix(matrix, words).values.sel(target="she", attribute="maid").item()
    0.3
    """
    check_kind("matrix", matrix, pd.DataFrame, "not a DataFrame. Pass one with a row for each target.", TableError)
    check_switch("allow_loss", allow_loss)
    for side, labels in (("rows", matrix.index), ("columns", matrix.columns)):
        if not labels.is_unique:
            raise TableError(f"{name} has two {side} with the name '{labels[labels.duplicated()][0]}'. Remove one.")
    metric.check_direction(matrix.attrs.get("heading", ""))
    _check_diagonal(matrix, metric, name)
    extra = load_control_lists(controls)
    words = load_wordlist(wordlist).with_controls(extra)
    coverage = coverage_of_matrix(name, words, matrix.index, matrix.columns)
    if absent := coverage.absent_controls(allow_loss=allow_loss):
        words = load_wordlist(wordlist).without_controls(absent).with_controls(_present_controls(extra, absent))
        coverage = coverage_of_matrix(name, words, matrix.index, matrix.columns)
    check_coverage(coverage, allow_loss=allow_loss)
    targets = _categories(words.groups, matrix.index)
    attributes = _categories({**words.classes, **words.controls}, matrix.columns)
    values = matrix.loc[[*targets], [*attributes]].rename_axis("target")
    frame = values.melt(ignore_index=False, var_name="attribute").reset_index()
    frame["attribute_class"] = frame.attribute.map(attributes)
    label_columns: dict[str, Any] = {}
    for column, side in LABELS.items():
        label_of = words.topic_of if column.endswith("_topic") else words.pair_of
        labels = frame[side].map(label_of)
        if labels.notna().any():
            frame[column] = labels.fillna("")
            label_columns[column] = column
    table = AssociationTable.from_frame(
        frame.dropna(subset="value"),
        target="target",
        group=targets,
        attribute="attribute",
        attribute_class="attribute_class",
        value="value",
        stereotypes=words.stereotypes,
        opposites=words.opposites,
        metric=metric,
        name=words.name,
        **label_columns,
    )
    list_notices = announce((*words.notices, *coverage.notices(), *_about_absent(absent, name)))
    return replace(
        table,
        notices=(*list_notices, *table.notices, *announce(words.remarks, logging.INFO)),
        source=words.source,
        control_sources=words.control_sources,
        coverage=coverage.to_frame(),
        provenance=MappingProxyType({"wordlist": words.name, "wordlist_sha256": words.sha256, "source": name}),
    )


def _check_diagonal(matrix: pd.DataFrame, metric: Metric, name: str) -> None:
    """Raise an error if a matrix seems to contain distances, but its metric has no direction (`larger`).

    In a matrix of distances, every word that is in a row and in a column has the value zero with itself.
    """
    words = matrix.index.intersection(matrix.columns)
    values = matrix.loc[words, words].to_numpy(dtype=float)
    has_distances = len(words) > 1 and not values.diagonal().any() and values.any()
    if has_distances and metric.larger is None:
        raise TableError(
            f"Each of the {len(words)} words in both the rows and the columns of {name} has the value 0 with itself, as"
            " in a matrix of distances. Set `metric=bayes_bias.Metric('distance', unit='distance', larger='farther')`"
            " (--metric distance --larger farther). If larger values mean closer, set larger='closer'."
        )
