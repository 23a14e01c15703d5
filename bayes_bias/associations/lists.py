"""From word lists and embeddings to tables: each embedding is read once, for all lists."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayes_bias.associations.cosines import CONTROLS, table_of, with_relations
from bayes_bias.associations.frequency import CovariatesFrom, check_covariates, wants_ranks, with_covariates_from
from bayes_bias.associations.similarity import Similarity, similarity_of
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import Openable, open_embedding
from bayes_bias.errors import EmbeddingError, TableError
from bayes_bias.progress import Progress
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.words.topics_and_pairs import SubTopicsFrom
from bayes_bias.words.wordlist import (
    ControlsLike,
    ListLike,
    WordList,
    control_lists,
    listed_wordlists,
    load_controls,
    load_wordlist,
)

type EmbeddingLike = Embedding | Openable | Sequence[Embedding | Openable]


@dataclass(frozen=True, eq=False)
class WordsInEmbedding:
    """Where a table comes from: a word list, its control classes, and an embedding with their words in memory."""

    wordlist: WordList
    controls: tuple[WordList, ...]
    embedding: Embedding
    similarity: Similarity
    allow_loss: bool
    covariates: CovariatesFrom = None

    def table(self) -> AssociationTable:
        """The similarities of all targets with all attributes."""
        table = table_of(self.wordlist, self.controls, self.embedding, self.similarity, allow_loss=self.allow_loss)
        table = with_relations(table, self.embedding, self.wordlist)
        return with_covariates_from(table, self.embedding, self.covariates)


@dataclass(frozen=True, eq=False)
class MeasuredList:
    """A table, with what its word list says of itself; `origin` is None for a table that was given as such."""

    table: AssociationTable
    title: str
    description: str = ""
    errata: tuple[str, ...] = ()
    origin: WordsInEmbedding | None = None

    def related(self) -> AssociationTable | None:
        """The table with the sub-topics that the vectors show; None where nobody can know, or wants to."""
        if self.origin is None or self.origin.wordlist.sub_topics not in ("named", "none"):
            return None
        try:
            words = self.origin.wordlist.with_sub_topics("from vectors")
            return with_relations(self.table, self.origin.embedding, words, quiet=True)
        except EmbeddingError:  # too few words to say what words have in common by chance
            return None


def measure_lists(
    wordlists: ListLike | AssociationTable | Sequence[ListLike | AssociationTable],
    embeddings: EmbeddingLike,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    similarity: str | Similarity = "cosine",
    sub_topics: SubTopicsFrom | None = None,
    covariates: CovariatesFrom = None,
    allow_loss: bool = False,
    trust: bool = False,
    with_pool: bool = False,
    progress: Progress,
) -> list[MeasuredList]:
    """The table of every list in every embedding, list by list; tables that are given are passed through.

    With several embeddings, a table is named after both: "weat6 (googlenews)".

    Parameters
    ----------
    wordlists, embeddings, controls, similarity, sub_topics, covariates, allow_loss, trust
        See `bayes_bias.similarities`.
    with_pool : bool
        Read the words that random lists are drawn from, too.
    progress : Progress

    Raises
    ------
    TableError, EmbeddingError
        No list or no embedding, or two of the same name.
    BayesBiasError
        See `bayes_bias.similarities`.
    """
    given = listed_wordlists("wordlists", wordlists, AssociationTable)
    chosen = similarity_of(similarity)
    check_covariates(covariates)
    extra = tuple(load_controls(source) for source in control_lists(controls))
    lists = [
        source if isinstance(source, AssociationTable) else load_wordlist(source).with_sub_topics(sub_topics)
        for source in given
    ]
    _check_lists(lists)
    words = [source for source in lists if isinstance(source, WordList)]
    ranks = wants_ranks(covariates)
    read = _read(embeddings, trust, [*words, *extra], with_pool, ranks, progress) if words else []
    measured = []
    for source in lists:
        if isinstance(source, AssociationTable):
            measured.append(MeasuredList(with_covariates_from(source, None, covariates), source.name))
            continue
        progress.step(f"{source.name}: measuring {chosen.metric.plural}")
        for embedding in read:
            origin = WordsInEmbedding(source, extra, embedding, chosen, allow_loss, covariates)
            measured.append(_measured(origin, several=len(read) > 1))
    return measured


def _measured(origin: WordsInEmbedding, *, several: bool) -> MeasuredList:
    words, table, title = origin.wordlist, origin.table(), origin.wordlist.title
    if several:
        name = origin.embedding.name
        table, title = replace(table, name=f"{table.name} ({name})"), f"{title} in {name}"
    errata = tuple(erratum for source in (words, *origin.controls) for erratum in source.errata)
    return MeasuredList(table, title, words.description, errata, origin)


def _check_lists(lists: Sequence[WordList | AssociationTable]) -> None:
    if not lists:
        raise TableError("wordlists: is empty; name one list or more, such as 'weat6'")
    names = [source.name for source in lists]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"wordlists: '{name}' is given {names.count(name)} times; give each another name")


def _read(
    given: Any, trust: bool, lists: Sequence[WordList], with_pool: bool, ranks: bool, progress: Progress
) -> list[Embedding]:
    """Each embedding with the words of all lists in memory."""
    sources = given if isinstance(given, list | tuple) else [given]
    if not sources:
        raise EmbeddingError("embedding: is an empty list; name one embedding or more")
    opened = _distinct(sources, [open_embedding(source, trust=trust) for source in sources])
    words = [word for wordlist in lists for word in (*wordlist.targets, *wordlist.attributes, *wordlist.texts)]
    read = []
    for embedding in opened:
        progress.step(f"{embedding.name}: reading vectors")
        read.append(embedding.excerpt(words, pool=with_pool, ranks=ranks))
    return read


def _distinct(sources: Sequence[Any], opened: list[Embedding]) -> list[Embedding]:
    """Embeddings under different names: files of the same name go by their paths."""
    shared = [embedding.name for embedding in opened]
    named = [
        replace(embedding, name=str(source))
        if shared.count(embedding.name) > 1 and isinstance(source, str | Path)
        else embedding
        for source, embedding in zip(sources, opened, strict=True)
    ]
    names = [embedding.name for embedding in named]
    for name in names:
        if names.count(name) > 1:
            raise EmbeddingError(
                f"embedding: {names.count(name)} are called '{name}'; open them with different names:"
                " open_embedding(file, name=...)"
            )
    return named
