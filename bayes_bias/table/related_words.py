"""Words of a table that belong together, with a known correlation: for how many independent words they count."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.formatting import Tabled, joined, plain
from bayes_bias.table.labels import HOMES, SIDES, Side, words_of

# So many words of a cluster are named in a sentence.
_NAMED = 4
# From here on it is said that opposite words have the same clusters.
_MUCH = 0.5


def effective_words(n: Any, expected: Any, inflation: Any) -> Any:
    """For how many independent words n count whose correlation is expected to be this, and would multiply the variance
    of their average by `inflation` if it were one."""
    return n / (1 + expected * (inflation - 1))


@dataclass(frozen=True, eq=False)
class Related:
    """The words of one group or class, in clusters.

    Attributes
    ----------
    words : tuple of str
    cluster : array (words,)
        The number of each word's cluster; a word alone has its own number.
    share : float
        Expected correlation of two words of one cluster, beyond that of any two words of the group or class; 0 without
        clusters.
    in_common : float
        How far the opposite group, or class, has the same clusters. What both share cancels, and `share` is without it.
    """

    words: tuple[str, ...]
    cluster: NDArray[np.intp]
    share: float
    in_common: float = field(default=0.0, kw_only=True)

    @property
    def clusters(self) -> list[tuple[str, ...]]:
        """Clusters of at least two words, largest first; empty if words do not correlate."""
        numbers = np.unique(self.cluster) if self.share else ()
        members = [tuple(self.words[i] for i in np.flatnonzero(self.cluster == number)) for number in numbers]
        return sorted((words for words in members if len(words) > 1), key=len, reverse=True)

    @property
    def effective(self) -> float:
        r"""For how many independent words these count: :math:`n^2 / \mathbf{1}' R \mathbf{1}`."""
        inflation = (np.bincount(self.cluster).astype(float) ** 2).sum() / len(self.words)
        return float(effective_words(len(self.words), self.share, inflation))

    @property
    def count_as_fewer(self) -> bool:
        """Whether that is fewer, in whole words."""
        return round(self.effective) < len(self.words)

    @property
    def text(self) -> str:
        """The clusters, and for how many words all count."""
        if not self.count_as_fewer:
            return "no sub-topics can be shown"
        count = f"{len(self.words)} words that count as {self.effective:.0f}"
        cancels = "; what the opposite words share with them cancels" if self.in_common >= _MUCH else ""
        return f"{count}, since the vectors show sub-topics: {self.named}{cancels}"

    @property
    def named(self) -> str:
        """The clusters by their first words."""
        examples = [", ".join(words[:_NAMED]) + (", …" if len(words) > _NAMED else "") for words in self.clusters]
        return " | ".join(examples)


@dataclass(frozen=True, eq=False, repr=False)
class RelatedWords(Tabled):
    """The sub-topics that vectors show in the groups and classes of a table. See `AssociationTable.sub_topics`.

    Attributes
    ----------
    groups, classes : mapping of str to Related
        The groups and classes whose words count as fewer.
    """

    groups: Mapping[str, Related]
    classes: Mapping[str, Related]

    @property
    def homes(self) -> Mapping[str, Related]:
        """Groups and classes."""
        return {**self.groups, **self.classes}

    @property
    def text(self) -> str:
        """Describe the clusters of each group and class, and the number of words that they count for."""
        sentences = [f"{home}: {related.text}." for home, related in self.homes.items()]
        return " ".join(sentences) or "No sub-topics can be shown."

    @property
    def sentence(self) -> str:
        """Describe them in one sentence."""
        clauses = [
            f"the {len(related.words)} words of '{home}' count as {related.effective:.0f} ({related.named})"
            for home, related in self.homes.items()
        ]
        return f"The vectors show sub-topics, so {joined(clauses)}."

    @property
    def toml(self) -> str:
        """The clusters as tables of a word list, to be pasted, named and changed."""
        return "\n".join(_tables(self.homes))

    def _shown(self) -> pd.DataFrame:
        rows = {
            home: {
                "words": len(related.words),
                "count as": related.effective,
                "correlation": related.share,
                "sub-topics": " | ".join(", ".join(words) for words in related.clusters),
            }
            for home, related in self.homes.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index")


def related_words(values: xr.DataArray) -> RelatedWords:
    """The clusters that stand with the words of a table; see `AssociationTable.with_related_words`."""
    groups, classes = (dict(_related(values, side)) for side in SIDES)
    return RelatedWords(groups, classes)


def _related(values: xr.DataArray, side: Side) -> Iterator[tuple[str, Related]]:
    """Each group, or class, in which there are clusters."""
    words = words_of(values, side)
    home_of, cluster_of, share_of = (
        values[name].to_numpy() for name in (HOMES[side], f"{side}_related", f"{side}_share")
    )
    for home in dict.fromkeys(home_of.tolist()):
        own = np.flatnonzero(home_of == home)
        if share := float(share_of[own[0]]):
            number = np.unique(cluster_of[own], return_inverse=True)[1]
            related = Related(tuple(words[i] for i in own), number, share)
            if related.count_as_fewer:
                yield home, related


def _tables(homes: Mapping[str, Related]) -> Iterator[str]:
    for home, related in homes.items():
        yield (
            f"# {home}: {len(related.words)} words that count as {related.effective:.0f}; correlation in a sub-topic"
            f" {plain(related.share, 2)}"
        )
        yield f"[topics.{_key(home)}]"
        for number, words in enumerate(related.clusters, 1):
            yield f"{_key(f'{home} {number}')} = [{', '.join(map(_quoted, words))}]"
        yield ""


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _quoted(name)


def _quoted(text: str) -> str:
    """A string of JSON is one of TOML."""
    return json.dumps(text, ensure_ascii=False)
