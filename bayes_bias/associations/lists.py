"""Make tables from word lists and embeddings, reading each embedding once for all lists."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from bayes_bias.associations.cosines import CONTROLS, table_of, with_relations
from bayes_bias.associations.frequency import CovariatesFrom, check_covariates, wants_ranks, with_covariates_from
from bayes_bias.associations.similarity import COSINES, similarity_of
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.in_memory import are_pairs
from bayes_bias.embeddings.opening import Openable, open_embedding
from bayes_bias.errors import EmbeddingError, TableError
from bayes_bias.progress import step
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.origin import Origin, read_once
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.topics_and_pairs import SubTopicsFrom
from bayes_bias.words.wordlist import (
    ControlsLike,
    ListLike,
    WordList,
    listed_wordlists,
    load_control_lists,
    load_wordlist,
)

# The built-in vectors, in which lists are measured by default.
DEMO = "googlenews-demo"

type EmbeddingLike = Embedding | Openable | Sequence[Embedding | Openable]


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
) -> list[AssociationTable]:
    """Measure every list in every embedding, list by list.

    Tables are returned unchanged. Each embedding is read only once, including the pool of words for random lists. With
    several embeddings, a table is named after both: "weat6 (googlenews)".

    Parameters
    ----------
    wordlists, embeddings, controls, similarity, sub_topics, covariates, allow_loss, trust
        See `bayes_bias.similarities`.

    Raises
    ------
    TableError, EmbeddingError
        If there is no list or no embedding, or two have the same name.
    BayesBiasError
        See `bayes_bias.similarities`.
    """
    sources = listed_wordlists("wordlists", wordlists, AssociationTable)
    chosen_similarity = similarity_of(similarity)
    check_covariates(covariates)
    control_lists = load_control_lists(controls)
    lists: list[WordList | AssociationTable] = []
    word_lists: list[WordList] = []
    for source in sources:
        if not isinstance(source, AssociationTable):
            source = load_wordlist(source).with_sub_topics(sub_topics)
            word_lists.append(source)
        lists.append(source)
    if not lists:
        raise TableError("`wordlists` is empty. Pass at least one list, such as 'weat6'.")
    for name, count in Counter(map(attrgetter("name"), lists)).items():
        if count > 1:
            raise TableError(f"`wordlists` contains '{name}' {count} times. Pass it once, or rename one of the lists.")
    excerpts: list[Embedding] = []
    if word_lists:
        excerpts = _excerpts(embeddings, trust, [*word_lists, *control_lists], wants_ranks(covariates))
    measured = []
    for source in lists:
        if isinstance(source, AssociationTable):
            measured.append(with_covariates_from(source, None, covariates))
            continue
        step(f"{source.name}: measuring {chosen_similarity.metric.plural}")
        for embedding in excerpts:
            table = table_of(Origin(source, control_lists, embedding, chosen_similarity, allow_loss))
            table = with_relations(table, embedding, source, required=sub_topics == "from vectors")
            table = with_covariates_from(table, embedding, covariates)
            name = f"{table.name} ({embedding.name})" if len(excerpts) > 1 else table.name
            measured.append(replace(table, name=name))
    return measured


def origin_of(wordlist: ListLike | AssociationTable, embedding: Any) -> Origin:
    """Return the origin of a table, or of the cosines of a list with the built-in control classes.

    Raises
    ------
    TableError
        If a table does not come from an embedding, or its words differ from the words of its list.
    """
    if not isinstance(wordlist, AssociationTable):
        return Origin(load_wordlist(wordlist), load_control_lists(CONTROLS), open_embedding(embedding), COSINES)
    check_alone(wordlist.name, embedding, DEMO)
    if wordlist.origin is None:
        raise TableError(
            f"The table '{wordlist.name}' has no embedding from which to draw random words. Pass the complete result of"
            " `bayes_bias.cosines` as `wordlist`."
        )
    return wordlist.origin


def check_alone(table: str, embedding: Any, default: Any) -> None:
    """Raise an error if an embedding is passed with a table, that is, if `embedding` is not the default argument."""
    is_default = isinstance(embedding, type(default)) and embedding == default
    if not is_default:
        raise EmbeddingError(
            f"`embedding` cannot be combined with '{table}', which already has an embedding. Omit `embedding`, or pass"
            " a word list instead."
        )


def with_random_words(tables: Sequence[AssociationTable]) -> list[AssociationTable]:
    """Return the tables with the pool of words for random lists in the memory of their origins.

    The origin of a table is the list and the embedding from which it was made. Tables with the same embedding share it,
    so that each embedding is read only once. Tables without an origin are returned unchanged.
    """
    origins = iter(read_once([table.origin for table in tables if table.origin is not None]))
    with_words = []
    for table in tables:
        with_words.append(table if table.origin is None else replace(table, origin=next(origins)))
    return with_words


def _excerpts(embeddings: Any, trust: bool, lists: Sequence[WordList], ranks: bool) -> list[Embedding]:
    """Read the words of all lists and the pool for random lists from each embedding.

    `embeddings` is one embedding or a list of them. Files with the same name are named after their paths.
    """
    are_several = isinstance(embeddings, list | tuple) and not are_pairs(embeddings)
    sources = embeddings if are_several else [embeddings]
    if not sources:
        raise EmbeddingError("The list of embeddings is empty. Pass at least one embedding.")
    opened = [open_embedding(source, trust=trust) for source in sources]
    n_of_name = Counter(map(attrgetter("name"), opened))
    for number, source in enumerate(sources):
        if n_of_name[opened[number].name] > 1 and isinstance(source, str | Path):
            opened[number] = replace(opened[number], name=str(source))
    for name, count in Counter(map(attrgetter("name"), opened)).items():
        if count > 1:
            raise EmbeddingError(
                f"{count} embeddings have the name '{name}'. Open them with different names:"
                " `open_embedding(file, name=...)`."
            )
    words: list[str] = []
    for wordlist in lists:
        words += (*wordlist.words, *wordlist.texts)
    excerpts = []
    for embedding in opened:
        step(f"{embedding.name}: reading vectors")
        excerpts.append(embedding.excerpt(words, pool=True, general=True, ranks=ranks))
    return excerpts
