"""The lists and embeddings of a sweep, with the settings for measuring their tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bayes_bias.analyses.sweep.columns import OpenColumn, open_columns
from bayes_bias.arguments import check_different, check_switch, is_number
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.associations.lists import DEMO
from bayes_bias.associations.similarity import similarity_of
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import EmbeddingError, WordListError
from bayes_bias.language_models.encoding import KIND as TEMPLATE
from bayes_bias.table.association_table import announce
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.spelling import Match, check_match
from bayes_bias.words.wordlist import (
    ControlsLike,
    ListLike,
    WordList,
    listed_wordlists,
    load_control_lists,
    load_wordlist,
)


@dataclass(frozen=True, eq=False)
class Grid:
    """Lists and embeddings of a sweep. The table of each cell is measured in the process that computes the cell.

    Parameters
    ----------
    wordlists, embeddings
        See `sweep`.
    controls, similarity, allow_loss
        See `similarities`. They apply to all cells. Stored results identify a similarity by its name.
    match : {"exact", "case", "accents", "subwords"}
        How to replace a word that an embedding lacks (see `open_embedding`).
    language : str, optional
        The language of lists that do not state one, such as "en" (see `load_wordlist`).
    times : mapping of str to float
        The time when the text of an embedding was written, by name of the embedding. With two or more times, each list
        is also analysed over time (see `bayes_bias.over_time`).

    Examples
    --------
    >>> Grid(["weat6", "weat7"], ["googlenews-demo"], controls=(), similarity="dot").similarity
    'dot'
    """

    wordlists: ListLike | Sequence[ListLike]
    embeddings: Mapping[str, Any] | Sequence[Any] = (DEMO,)
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS
    similarity: str | Similarity = "cosine"
    allow_loss: bool = False
    match: Match = "exact"
    language: str | None = None
    times: Mapping[str, float] = MappingProxyType({})

    def opened(self) -> tuple[list[WordList], list[OpenColumn], Similarity]:
        """Open all lists with their control classes, all embeddings without reading them, and the similarity.

        The settings of the grid are checked first, because reading vectors takes long.
        """
        check_switch("allow_loss", self.allow_loss)
        check_match(self.match)
        columns = [self._with_match(column) for column in open_columns(self.embeddings)]
        self._check_times([column.name for column in columns if isinstance(column, Embedding)])
        return self._lists(), columns, similarity_of(self.similarity)

    def _with_match(self, column: OpenColumn) -> OpenColumn:
        """Return an embedding that looks up words according to `match`, such as "case" to ignore case.

        Only word vectors can be looked up in other ways, so other columns (encoders of sentences and language models)
        raise an error, unless `match` is "exact".
        """
        if self.match == "exact":
            return column
        if not isinstance(column, Embedding) or column.kind == TEMPLATE:
            raise EmbeddingError(
                f"`match` is '{self.match}', which applies to word vectors, but '{column.name}' encodes"
                " sentences. Omit `match`."
            )
        return open_embedding(column, match=self.match)

    def _check_times(self, embeddings: Sequence[str]) -> None:
        """Raise an error if a time belongs to an unknown embedding, is not a number, or occurs twice.

        `embeddings` are the names of all embeddings, and `times` has the time of some of them.
        """
        for name, time in self.times.items():
            if name not in embeddings:
                raise EmbeddingError(
                    f"`times` contains '{name}', which is not the name of an embedding.", name, embeddings
                )
            if not is_number(time):
                raise EmbeddingError(
                    f"`times` must contain numbers, such as 1900, but the time of '{name}' is {time!r}."
                )
            with_time = [other_name for other_name, other_time in self.times.items() if other_time == time]
            if len(with_time) > 1:
                raise EmbeddingError(
                    f"`times` contains {time:g} for both '{with_time[0]}' and '{with_time[1]}'."
                    " Use a different time for each."
                )

    def _lists(self) -> list[WordList]:
        """Return all lists with their control classes. Raise an error if there are no lists or duplicate names.

        A notice is logged for each list whose control classes are in another language.
        """
        sources = listed_wordlists("wordlists", self.wordlists)
        if not sources:
            raise WordListError("`wordlists` is empty. Name one or more, such as ['weat6'].")
        controls = load_control_lists(self.controls)
        without_controls = [load_wordlist(source, language=self.language) for source in sources]
        announce(tuple(notice for words in without_controls for notice in words.about_foreign(controls)))
        lists = [words.with_controls(controls) for words in without_controls]
        check_different("wordlists", [words.name for words in lists], "Use a different name for each.", WordListError)
        return lists
