"""The columns of an atlas: embeddings, their versions, and language models.

Each embedding is read only once, regardless of the number of lists.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from bayes_bias.analyses.sweep.cells import Cell, ChangeCell, LogProbabilityCell, VectorCell
from bayes_bias.arguments import as_tuple, check_different, check_kind
from bayes_bias.associations.log_probability import (
    Predicted,
    check_predicted,
    is_causal,
    log_probabilities,
    name_of,
    open_score,
    predicted_by_default,
)
from bayes_bias.associations.related import WORDS_ARE_INDEPENDENT, GeneralWords, general_words_of, reason_of
from bayes_bias.debiasing.debiased_embedding import GivenVersion, Version
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, OutputError
from bayes_bias.jobs import Job, Store, run_jobs
from bayes_bias.progress import Quiet, shown, step, within
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.spelling import Match
from bayes_bias.words.templates import Cloze, Score, Templates, load_templates
from bayes_bias.words.wordlist import WordList

# A language model is a column of an atlas that contains log probabilities for each list.


@dataclass(frozen=True)
class LanguageModelColumn:
    """A masked or causal language model as a column of a sweep (see `bayes_bias.log_probabilities`).

    Parameters
    ----------
    model : callable, str or Path
        A Hugging Face folder or model name (requires ``bayes-bias[transformers]``), the result of `load_masked` or
        `load_causal`, or any callable that maps clozes to the natural-log probabilities of their words. If the model
        has an ``identity``, its log probabilities are stored in the folder of the sweep after each template, and a
        later run reuses them.
    templates : Templates, str or Path
        Sentences with the slots {target} and {attribute}. Each is a replicate.
    predict : {"targets", "attributes"}, optional
        The words whose probability is computed. The default is targets or, for a causal model, attributes.
    name : str
        The name of the column. The default is the name of the model.
    trust : bool
        Allow file formats of weights that can execute code (see `load_masked`).

    Examples
    --------
    >>> LanguageModelColumn("models/bert", predict="attributes", name="BERT").name
    'BERT'
    """

    model: Score | str | Path
    templates: Templates | str | Path = "association-10"
    predict: Predicted | None = None
    name: str = ""
    trust: bool = False

    def opened(self, name: str | None = None) -> "LanguageModelColumn":
        """Return a copy with a name, with model and templates in memory, and with the words that the model predicts.

        Before, model and templates may be names or paths, and `predict` ("targets" or "attributes") may be missing. It
        is set here, so that a version of the model predicts the same words, even if the version is causal but the model
        is not.
        """
        if self.predict is not None:
            check_predicted(self.predict)
        templates = load_templates(self.templates)
        model = open_score(self.model, trust=self.trust)
        predict = self.predict or predicted_by_default(model)
        return replace(
            self, model=model, templates=templates, predict=predict, name=name or self.name or name_of(model)
        )

    def with_model(self, model: Score | str | Path, name: str) -> "LanguageModelColumn":
        """Return an opened column with another model and the same templates and settings."""
        return replace(self, model=model).opened(name=name)

    def table(self, words: WordList, store: Store | None) -> AssociationTable | str:
        """Return the log probabilities of a list with its control classes, or the reason why they are missing.

        If the sweep has a folder (`store`) and the model an identity, such as a hash, the log probabilities are stored,
        so that a repeated sweep does not compute them again. Errors of the folder are raised.
        """
        score: Any = self.model
        if store is not None and getattr(score, "identity", None):
            score = _StoredModel(score, store, name_of(score), str(score.identity), is_causal(score))
        try:
            with within(f"{words.name} by {self.name}"):
                return log_probabilities(words, score, (), templates=self.templates, predict=self.predict)
        except OutputError:
            raise
        except BayesBiasError as error:
            return str(error)


@dataclass(frozen=True)
class _StoredModel:
    """A model whose log probabilities are stored in the folder of a sweep, so that they are computed only once."""

    model: Any
    store: Store
    name: str
    identity: str
    is_causal: bool

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        """Return the log probability of each cloze, from the folder if it was computed before.

        All clozes (sentences with a gap, and the word in the gap) are one job. Its stored result is reused if the
        identity of the model and the clozes are the same. The progress of this job is not shown.
        """
        depends_on = [self.identity, [astuple(cloze) for cloze in clozes]]
        with shown(Quiet()):
            (outcome,) = run_jobs([Job(self.name, answers, (self.model, clozes), depends_on)], self.store, jobs=1)
        return list(outcome.needed())


def answers(model: Score, clozes: Sequence[Cloze]) -> list[float]:
    """Return the log probability of each cloze by a model, as numbers that can be written to JSON."""
    return list(map(float, model(clozes)))


logger = logging.getLogger("bayes_bias")

type OpenColumn = Embedding | LanguageModelColumn

_RENAME = (
    "Use a different name for each: pass a mapping of names to embeddings, or set `name` in the sweep's TOML file."
)


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of an embedding or language model by name of the list, or the reason why the cells are missing.

    For a language model, `dimensions` is 0, and `replicates` is the number of templates. For a version of an embedding,
    `version_of` is the name of the embedding, `version` the name of the version, and `learned` contains the words that
    the debiasing method learned from.
    """

    name: str
    version_of: str = ""
    version: str = ""
    learned: frozenset[str] = frozenset()
    match: Match = "exact"
    cells: Mapping[str, Cell] = field(default_factory=dict)
    source: str = ""
    dimensions: int = 0
    replicates: int = 0
    metric: Metric = COSINE
    failed: str = ""


def open_columns(embeddings: Mapping[str, Any] | Sequence[Any]) -> list[OpenColumn]:
    """Open all embeddings and models without reading them. Check that names are unique and metrics are equal.

    `embeddings` is a mapping of names to sources, or one or more sources, which are named after their files. A source
    is an embedding, a file of an embedding, or a language model.
    """
    named_sources: list[tuple[str | None, Any]]
    if isinstance(embeddings, Mapping):
        named_sources = [*embeddings.items()]
    else:
        single = str | Path | Embedding | LanguageModelColumn
        sources = as_tuple("embeddings", embeddings, single, "['googlenews-demo']", EmbeddingError)
        named_sources = [(None, source) for source in sources]
    columns: list[OpenColumn] = []
    for name, source in named_sources:
        if isinstance(source, LanguageModelColumn):
            columns.append(source.opened(name=name))
        else:
            columns.append(open_embedding(source, name=name))
    if not columns:
        raise EmbeddingError("`embeddings` is empty. Name one or more, such as ['googlenews-demo'].")
    check_different("embeddings", [column.name for column in columns], _RENAME, EmbeddingError)
    model_names = [column.name for column in columns if isinstance(column, LanguageModelColumn)]
    embedding_names = [column.name for column in columns if isinstance(column, Embedding)]
    if model_names and embedding_names:
        raise EmbeddingError(
            f"`embeddings` contains log probabilities ('{model_names[0]}') and cosines"
            f" ('{embedding_names[0]}'), which cannot be compared. Make a separate sweep for each kind."
        )
    return columns


def names_of_columns(versions: Sequence[Version], columns: Sequence[OpenColumn]) -> list[str]:
    """Return the names of all columns, and check that they are unique.

    The columns are the embeddings or models, followed by a column for each version of each of them.
    """
    names = [column.name for column in columns]
    names += [version.named(name) for name in names for version in versions if version.applies_to(name)]
    check_different("embeddings", names, _RENAME, EmbeddingError)
    return names


def open_versions(all_versions: Version | Sequence[Version], columns: Sequence[OpenColumn]) -> tuple[Version, ...]:
    """Return all versions with opened sources.

    Raises
    ------
    BayesBiasError
        If an argument is not a version, or if a source cannot be opened.
    """
    versions = as_tuple("versions", all_versions, Version, "[Debiasing(HardDebias(), 'she:he')]", EmbeddingError)
    problem = "not a version. Make one with `bayes_bias.debiasing.Debiasing` or `GivenVersion`."
    for version in versions:
        check_kind("versions", version, Version, problem, EmbeddingError)
    by_name = {column.name: column for column in columns}
    return tuple(_opened_version(version, by_name) for version in versions)


def _opened_version(version: Version, columns: Mapping[str, OpenColumn]) -> Version:
    """Return a version with an opened source.

    `columns` are the opened originals by name, and `version.embeddings` the names of the originals to which the version
    applies, or empty for all of them. If the original is a language model, the version must be another model, which is
    used with the same templates and settings. Raise an error if the version does not suit its original.
    """
    for name in version.embeddings:
        if name not in columns:
            raise EmbeddingError(f"versions: '{version.name}' is of '{name}'", name, list(columns))
    original = columns[version.embeddings[0]] if version.embeddings else next(iter(columns.values()))
    if not isinstance(original, LanguageModelColumn):
        return version.opened()
    if not isinstance(version, GivenVersion):
        raise EmbeddingError(
            f"The version '{version.name}' debiases vectors, but '{original.name}' provides log probabilities."
            f" Pass a model that was debiased: GivenVersion(FOLDER, '{version.name}', of='{original.name}')."
        )
    return replace(version, source=original.with_model(version.source, version.named(original.name)))


def changes_of(columns: Sequence[Column]) -> dict[tuple[str, str], ChangeCell]:
    """Return a cell for the change of each list by each version, under (name of the version, name of the list).

    `columns` are the embeddings and their versions, each with a cell for each list, or none if it cannot be read.
    `version_of` is the name of the embedding of a version, and empty for an embedding.
    """
    by_name = {column.name: column for column in columns}
    changes = {}
    for column in columns:
        if not column.version_of:
            continue
        cells_of_original = by_name[column.version_of].cells
        for list_name, cell in column.cells.items():
            changes[column.name, list_name] = ChangeCell(f"{cell.name}, change", cells_of_original[list_name], cell)
    return changes


def read_columns(
    sources: Sequence[OpenColumn],
    versions: Sequence[Version],
    lists: Sequence[WordList],
    similarity: Similarity,
    allow_loss: bool,
    store: Store | None,
) -> Iterator[Column]:
    """Read each embedding or model followed by its versions, and yield their columns.

    If an embedding cannot be read, or a version cannot be computed, its column has the reason instead of cells. An
    error of the output folder is raised, because it concerns all columns. Only the vectors of general words and of
    words in the lists and versions are read (an excerpt of the embedding), but some debiasing methods need all vectors.
    The cells of a version refer to the cells of its original, in which related words are detected.
    """
    needed_words: list[str] = []
    for words in lists:
        needed_words += (*words.words, *words.texts)
    for version in versions:
        needed_words += version.learned_words
    for source in sources:
        versions_of_source = [version for version in versions if version.applies_to(source.name)]
        if isinstance(source, LanguageModelColumn):
            yield _column_of_model(source, lists, store)
            for version in versions_of_source:
                assert isinstance(version, GivenVersion)  # `open_versions` rejects all other types
                column = _column_of_model(version.source, lists, store)
                yield replace(column, version_of=source.name, version=version.name)
            continue
        step(f"{source.name}: reading vectors")
        try:
            excerpt = source.excerpt(needed_words, general=True)
        except OutputError:
            raise
        except BayesBiasError as error:
            yield Column(source.name, failed=str(error))
            for version in versions_of_source:
                yield Column(version.named(source.name), source.name, version.name, failed=str(error))
            continue
        # The lists and all settings are the same for the versions, whose related words are those of the original.
        lists_and_settings = (lists, similarity, allow_loss, _vocabulary(excerpt, lists))
        original = _column_of_embedding(excerpt, *lists_and_settings, originals={})
        yield original
        for version in versions_of_source:
            try:
                vectors = source if version.needs_vocabulary else excerpt
                column = _column_of_embedding(version.applied(vectors), *lists_and_settings, originals=original.cells)
            except BayesBiasError as error:
                column = Column(version.named(source.name), failed=str(error))
            learned = frozenset(version.learned_words)
            yield replace(column, version_of=source.name, version=version.name, learned=learned)


def _column_of_embedding(
    embedding: Embedding,
    lists: Sequence[WordList],
    similarity: Similarity,
    allow_loss: bool,
    vocabulary: GeneralWords | None,
    originals: Mapping[str, Cell],
) -> Column:
    """Return the column of an embedding, whose cells contain only the vectors of their words.

    `vocabulary` are general words, which are used to detect related words. For a version, `originals` are the cells of
    its embedding by name of the list, to which the cells of the version refer.
    """
    cells = {}
    for words in lists:
        excerpt = embedding.excerpt([*words.words, *words.texts])
        name = f"{words.name} in {embedding.name}"
        general = vocabulary if words.sub_topics == "from vectors" else None
        original = originals.get(words.name)
        cells[words.name] = VectorCell(name, words, excerpt, allow_loss, similarity, general, original)
    return Column(
        embedding.name,
        cells=cells,
        source=embedding.source,
        dimensions=embedding.dimensions,
        replicates=len(embedding.replicates),
        metric=similarity.metric,
        match=embedding.match,
    )


def _vocabulary(embedding: Embedding, lists: Sequence[WordList]) -> GeneralWords | None:
    """Return the general words of an embedding, or None if no list requires them or they are not available.

    General words are used to detect related words of lists whose sub-topics come from vectors. If they are not
    available, a warning states that words are treated as independent.
    """
    if not any(words.sub_topics == "from vectors" for words in lists):
        return None
    try:
        return general_words_of(embedding)
    except EmbeddingError as error:
        logger.warning(f"{WORDS_ARE_INDEPENDENT}: {reason_of(error)}")
        return None


def _column_of_model(model: LanguageModelColumn, lists: Sequence[WordList], store: Store | None) -> Column:
    """Return the column of a language model, with a cell of log probabilities for each list.

    The source of the model, the number of templates, and the metric are taken from the first list that could be
    measured. If a list could not be measured, the `table` is a text with the reason.
    """
    column = Column(model.name)
    cells = {}
    for words in lists:
        table = model.table(words, store)
        cells[words.name] = LogProbabilityCell(f"{words.name} by {model.name}", table)
        if not column.source and isinstance(table, AssociationTable):
            templates = 0 if table.replicates is None else len(table.replicates.tables)
            source = table.provenance["embedding_source"]
            column = replace(column, source=source, replicates=templates, metric=table.metric)
    return replace(column, cells=cells)
