"""The columns of an atlas: embeddings, their debiased versions, and language models.

Each embedding is read once, whatever the number of lists.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bayes_bias.arguments import check_different, check_kind, listed
from bayes_bias.debiasing.debiased_embedding import Debiasing
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening_embeddings import open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, OutputError
from bayes_bias.measuring.similarity import Similarity
from bayes_bias.progress import Progress
from bayes_bias.sweeps.cells import Cell, LogProbabilityCell, VectorCell
from bayes_bias.sweeps.job_store import Store
from bayes_bias.sweeps.language_model_columns import LanguageModelColumn
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.words.wordlist import WordList

type Opened = Embedding | LanguageModelColumn

_RENAME = "give each a name of its own: a mapping of names to embeddings, or `name` in the sweep's TOML file"


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of an embedding or language model by the names of the lists, or why there are none.

    `dimensions` are 0 for a language model, whose `replicates` are templates.
    """

    name: str
    cells: Mapping[str, Cell] = field(default_factory=dict)
    source: str = ""
    dimensions: int = 0
    replicates: int = 0
    metric: Metric = COSINE
    failed: str = ""


def open_columns(embeddings: Mapping[str, Any] | Sequence[Any], trust: bool) -> list[Opened]:
    """All embeddings and models opened, before any is read; names are different, and all give one metric."""
    named: list[tuple[str | None, Any]]
    if isinstance(embeddings, Mapping):
        named = [*embeddings.items()]
    else:
        one = str | Path | Embedding | LanguageModelColumn
        given = listed("embeddings", embeddings, one, "['googlenews-demo']", EmbeddingError)
        named = [(None, source) for source in given]
    opened = [_opened(source, trust, name) for name, source in named]
    if not opened:
        raise EmbeddingError("embeddings: there are none; name one or more, such as ['googlenews-demo']")
    check_different("embeddings", [column.name for column in opened], _RENAME, EmbeddingError)
    models = [column.name for column in opened if isinstance(column, LanguageModelColumn)]
    others = [column.name for column in opened if not isinstance(column, LanguageModelColumn)]
    if models and others:
        raise EmbeddingError(
            f"embeddings: '{models[0]}' gives log probabilities and '{others[0]}' cosines, which no atlas can compare;"
            " make a sweep of each kind"
        )
    return opened


def _opened(source: Any, trust: bool, name: str | None) -> Opened:
    if isinstance(source, LanguageModelColumn):
        return source.opened(trust=trust, name=name)
    return open_embedding(source, trust=trust, name=name)


def check_debiasings(debiasings: Sequence[Debiasing], opened: Sequence[Opened]) -> list[str]:
    """Names of all columns; refuses a debiasing of what is not there, or of a language model."""
    names = [column.name for column in opened]
    for debiasing in debiasings:
        needed = "not a debiasing; make one with `bayes_bias.debiasing.Debiasing`"
        check_kind("debiasing", debiasing, Debiasing, needed, EmbeddingError)
        if isinstance(opened[0], LanguageModelColumn):
            raise EmbeddingError(
                f"debiasing: '{debiasing.name}' changes vectors, and '{names[0]}' gives log probabilities; leave it out"
            )
        for name in debiasing.of:
            if name not in names:
                raise EmbeddingError(f"debiasing: '{debiasing.name}' is of '{name}'", name, names)
    names += [debiasing.named(name) for name in names for debiasing in debiasings if debiasing.applies_to(name)]
    check_different("embeddings", names, _RENAME, EmbeddingError)
    return names


def read_columns(
    opened: Sequence[Opened],
    debiasings: Sequence[Debiasing],
    lists: Sequence[WordList],
    similarity: Similarity,
    allow_loss: bool,
    store: Store | None,
    progress: Progress,
) -> Iterator[Column]:
    """One column after the other; one that cannot be read or debiased says why and stops no other."""
    wanted = [word for words in lists for word in (*words.targets, *words.attributes)]
    wanted += [word for debiasing in debiasings for word in debiasing.learns_from.words]
    for source in opened:
        if isinstance(source, LanguageModelColumn):
            tables = {words.name: source.table(words, store, progress) for words in lists}
            yield _column_of_model(source.name, tables)
            continue
        progress.step(f"{source.name}: reading vectors")
        applied = [debiasing for debiasing in debiasings if debiasing.applies_to(source.name)]
        try:
            read = replace(source, reader=source.excerpt(wanted).reader)
        except OutputError:
            raise
        except BayesBiasError as error:
            versions = (debiasing.named(source.name) for debiasing in applied)
            yield from (Column(name, failed=str(error)) for name in (source.name, *versions))
            continue
        yield _column_of_embedding(read, lists, similarity, allow_loss)
        for debiasing in applied:
            try:
                yield _column_of_embedding(debiasing.applied(read), lists, similarity, allow_loss)
            except BayesBiasError as error:
                yield Column(debiasing.named(source.name), failed=str(error))


def _column_of_embedding(
    embedding: Embedding, lists: Sequence[WordList], similarity: Similarity, allow_loss: bool
) -> Column:
    """Each cell has no more vectors than its words need."""
    cells = {}
    for words in lists:
        excerpt = embedding.excerpt([*words.targets, *words.attributes])
        name = f"{words.name} in {embedding.name}"
        cells[words.name] = VectorCell(name, words, excerpt, allow_loss, similarity)
    replicates = len(embedding.replicates)
    return Column(embedding.name, cells, embedding.source, embedding.dimensions, replicates, similarity.metric)


def _column_of_model(name: str, tables: Mapping[str, AssociationTable | str]) -> Column:
    cells = {words: LogProbabilityCell(f"{words} by {name}", table) for words, table in tables.items()}
    for table in tables.values():
        if isinstance(table, AssociationTable):
            templates = 0 if table.replicates is None else len(table.replicates.tables)
            source = table.provenance["embedding_source"]
            return Column(name, cells, source, replicates=templates, metric=table.metric)
    return Column(name, cells)
