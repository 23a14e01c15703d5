"""Lists in embeddings, and how their tables are measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayes_bias.analyses.sweep.columns import Opened, open_columns
from bayes_bias.arguments import check_different, check_switch
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.associations.lists import DEMO
from bayes_bias.associations.similarity import similarity_of
from bayes_bias.errors import WordListError
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.wordlist import ControlsLike, ListLike, WordList, control_lists, listed_wordlists, load_wordlist


@dataclass(frozen=True, eq=False)
class Grid:
    """Every list in every embedding: tables that a sweep measures cell by cell, on whatever process computes the cell.

    Parameters
    ----------
    lists, embeddings
        See `sweep`.
    controls, similarity, allow_loss
        See `similarities`, for all cells alike. Results in a folder are known by the name of a similarity.

    Examples
    --------
    >>> Grid(["weat6", "weat7"], ["googlenews-demo"], controls=(), similarity="dot").similarity
    'dot'
    """

    lists: ListLike | Sequence[ListLike]
    embeddings: Mapping[str, Any] | Sequence[Any] = (DEMO,)
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS
    similarity: str | Similarity = "cosine"
    allow_loss: bool = False

    def opened(self) -> tuple[list[WordList], list[Opened], Similarity]:
        """All lists with their control classes, all embeddings, opened and not yet read, and the similarity."""
        check_switch("allow_loss", self.allow_loss)
        return _read_lists(self.lists, self.controls), open_columns(self.embeddings), similarity_of(self.similarity)


def _read_lists(
    lists: ListLike | Sequence[ListLike], controls: ControlsLike | Iterable[ControlsLike]
) -> list[WordList]:
    """All lists, each with its control classes; refuses none at all, and two of one name."""
    given = listed_wordlists("lists", lists)
    if not given:
        raise WordListError("lists: there are none; name one or more, such as ['weat6']")
    added = control_lists(controls)
    read = [load_wordlist(source).with_controls(added) for source in given]
    check_different("lists", [words.name for words in read], "give each another name", WordListError)
    return read
