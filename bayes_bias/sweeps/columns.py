"""The columns of an atlas: each embedding read once, whatever the number of lists, and debiased by each recipe; each
language model asked for the words of every list."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayes_bias.arguments import check_kind, listed
from bayes_bias.associations.table import Associations
from bayes_bias.embeddings import Embedding, open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, OutputError, did_you_mean
from bayes_bias.progress import Progress
from bayes_bias.sweeps.recipes import Recipe
from bayes_bias.sweeps.scored import Scored
from bayes_bias.tasks import Store
from bayes_bias.words.wordlist import WordList


@dataclass(frozen=True, eq=False)
class Column:
    """An embedding, of which the words of all lists are in memory; or a language model's numbers of each list, or why
    it has none; or in a line why there is neither."""

    name: str
    embedding: Embedding | None = None
    scored: Mapping[str, Associations | str] = field(default_factory=lambda: MappingProxyType({}))
    failed: str = ""


def open_columns(embeddings: Mapping[str, Any] | Sequence[Any], trust: bool) -> list[Embedding | Scored]:
    """All embeddings and models opened, each under a name of its own, before any is read.

    Raises
    ------
    EmbeddingError
        There are none, one cannot be opened, two are called the same, or some give cosines and others do not.
    """
    if isinstance(embeddings, Mapping):
        opened = [_opened(each, trust, name) for name, each in embeddings.items()]
    else:
        one = str | Path | Embedding | Scored
        given = listed("embeddings", embeddings, one, "['googlenews-demo']", EmbeddingError)
        opened = [_opened(each, trust) for each in given]
    if not opened:
        raise EmbeddingError("embeddings: there are none; name one or more, such as ['googlenews-demo']")
    check_different([each.name for each in opened])
    models = [each.name for each in opened if isinstance(each, Scored)]
    others = [each.name for each in opened if not isinstance(each, Scored)]
    if models and others:
        raise EmbeddingError(
            f"embeddings: '{models[0]}' gives log probabilities and '{others[0]}' cosines, which no atlas can compare;"
            " make a sweep of each kind"
        )
    return opened


def _opened(given: Any, trust: bool, name: str | None = None) -> Embedding | Scored:
    if isinstance(given, Scored):
        return given.opened(trust=trust, name=name)
    return open_embedding(given, trust=trust, name=name)


def check_different(names: Sequence[str]) -> None:
    """Refuse two columns of one name.

    Raises
    ------
    EmbeddingError
    """
    for name in names:
        if names.count(name) > 1:
            raise EmbeddingError(
                f"embeddings: {names.count(name)} are called '{name}'; give each a name of its own: a mapping of names"
                " to embeddings, or `name` in the sweep's TOML file"
            )


def check_recipes(recipes: Sequence[Recipe], opened: Sequence[Embedding | Scored]) -> list[str]:
    """Names of all columns; refused are a recipe for an embedding that is not there, or where there are no vectors, and
    two columns of one name.

    Raises
    ------
    EmbeddingError
    """
    for each in recipes:
        check_kind("debiasing", each, Recipe, "no recipe; make one with `bayes_bias.Recipe`", EmbeddingError)
    names = [each.name for each in opened]
    if recipes and isinstance(opened[0], Scored):
        raise EmbeddingError(
            f"debiasing: '{recipes[0].name}' takes a direction off vectors, and '{names[0]}' gives log probabilities;"
            " leave it out"
        )
    for recipe in recipes:
        for name in recipe.of:
            if name not in names:
                raise EmbeddingError(
                    f"debiasing: '{recipe.name}' is of '{name}'; {did_you_mean(name, names)}"
                )
    made = [recipe.named(name) for name in names for recipe in recipes if recipe.applies_to(name)]
    check_different([*names, *made])
    return [*names, *made]


def read_columns(
    embeddings: Sequence[Embedding | Scored],
    recipes: Sequence[Recipe],
    lists: Sequence[WordList],
    store: Store | None,
    progress: Progress,
) -> Iterator[Column]:
    """One after the other; what cannot be read, scored or debiased is told and stops no other."""
    wanted = [word for each in lists for word in (*each.targets, *each.attributes)]
    wanted += [word for recipe in recipes for word in recipe.sets.words]
    for each in embeddings:
        if isinstance(each, Scored):
            yield Column(
                each.name, scored={words.name: each.table(words, store, progress) for words in lists}
            )
            continue
        progress.step(f"{each.name}: reading vectors")
        own = [recipe for recipe in recipes if recipe.applies_to(each.name)]
        try:
            read = replace(each, reader=each.excerpt(wanted).reader)
        except OutputError:
            raise
        except BayesBiasError as error:
            yield from (
                Column(name, failed=str(error)) for name in (each.name, *(r.named(each.name) for r in own))
            )
            continue
        yield Column(each.name, read)
        yield from (_debiased(read, recipe) for recipe in own)


def _debiased(embedding: Embedding, recipe: Recipe) -> Column:
    name = recipe.named(embedding.name)
    try:
        return Column(name, recipe.applied(embedding))
    except BayesBiasError as error:
        return Column(name, failed=str(error))
