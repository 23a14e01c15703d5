"""The words that each slice of a corpus lacks, before the slices are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pandas as pd

from bayes_bias.errors import TableError
from bayes_bias.formatting import Tabled, counted, shortened
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES, belongs


@dataclass(frozen=True, eq=False, repr=False)
class WordsBySlice(Tabled):
    """The words of a list by slice, as returned by `words_by_slice`.

    Attributes
    ----------
    present : pandas.DataFrame
        True if a slice has a word. Indexed by ``category`` (group or class) and ``word``, with a column for each slice.
    slices : pandas.DataFrame
        A row for each slice, the most costly first: ``lacks``, the number of words that it lacks, ``alone``, the number
        of words that only this slice lacks, which remain if it is omitted, and ``words``.
    """

    present: pd.DataFrame
    slices: pd.DataFrame

    @property
    def text(self) -> str:
        """Describe the words that all slices have, the slice that costs most, and the words that most slices lack.

        `present` has a row for each word and a column for each slice. The slice that costs most is the first row of
        `slices`, whose ``alone`` is the number of words that only this slice lacks.
        """
        in_all = self.present.all(axis=1)
        n_slices = len(self.present.columns)
        by_category = in_all.groupby(level="category", sort=False)
        shares = ", ".join(f"{is_shared.sum()} of {len(is_shared)} {name}" for name, is_shared in by_category)
        all_have = f"All {n_slices} slices have {in_all.sum()} of {len(in_all)} words ({shares})."
        if in_all.all():
            return all_have
        worst = self.slices.iloc[0]
        without_worst = "Omitting a single slice keeps no further word."
        if worst.alone:
            without_worst = f"{worst.name} costs most: {in_all.sum() + worst.alone} words remain without it."
        n_lacking = (~self.present).sum(axis=1).sort_values(ascending=False, kind="stable")
        rarest = [f"{word} ({counted(number, 'slice')})" for (_, word), number in n_lacking[n_lacking > 0].items()]
        return f"{all_have} {without_worst} Most often absent: {shortened(rarest)}."

    def _shown(self) -> pd.DataFrame:
        return self.slices


def words_by_slice(tables: Mapping[Any, AssociationTable]) -> WordsBySlice:
    """Return the words that each slice has and lacks, and the loss if all slices are compared.

    Parameters
    ----------
    tables : mapping of times to AssociationTable
        The same list in each slice. Control classes are ignored. Words that no slice has are included if the tables
        record their word list.

    Raises
    ------
    TableError
        If there are no tables.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> words = {"he=work": ["he", "man"], "she=home": ["she"], "work": ["office"], "home": ["garden", "nest"]}
    >>> vectors = {word: [k, 1.0] for k, word in enumerate(["he", "man", "she", "office", "garden", "nest"])}
    >>> fewer = {word: vector for word, vector in vectors.items() if word != "nest"}
    >>> tables = {1900: cosines(words, fewer, (), allow_loss=True), 1950: cosines(words, vectors, ())}
    >>> words_by_slice(tables).slices.lacks.to_dict()
    {1900: 1, 1950: 0}
    """
    if not tables:
        raise TableError("`tables` has no slices. Pass {1900: table, 1950: another}.")
    # Entries are a group or class and a word of it. `listed` has the entries of all lists and slices.
    listed: dict[tuple[str, str], None] = {}
    entries_of_slice: dict[Any, set[tuple[str, str]]] = {}
    for time, table in tables.items():
        if table.origin is not None:
            wordlist = table.origin.words
            for name, words in {**wordlist.groups, **wordlist.classes}.items():
                listed |= dict.fromkeys((name, word) for word in words)
        values = table.without_controls().values
        entries = [(name, word) for side in SIDES for word, name in belongs(values, side).items()]
        entries_of_slice[time] = set(entries)
        listed |= dict.fromkeys(entries)
    categories = list(dict.fromkeys(name for name, _ in listed))
    ordered = sorted(listed, key=lambda entry: categories.index(entry[0]))
    index = pd.MultiIndex.from_tuples(ordered, names=["category", "word"])
    present = pd.DataFrame({time: index.isin(entries) for time, entries in entries_of_slice.items()}, index)
    only_one_lacks = (~present).sum(axis=1) == 1
    rows = {}
    for time in present:
        is_absent = ~present[time]
        absent = [word for _, word in present.index[is_absent]]
        alone = int((is_absent & only_one_lacks).sum())
        rows[time] = {"lacks": len(absent), "alone": alone, "words": shortened(absent)}
    slices = pd.DataFrame.from_dict(rows, orient="index").rename_axis("slice")
    return WordsBySlice(present, slices.sort_values(["alone", "lacks"], ascending=False, kind="stable"))


def check_shared_words(slices: Mapping[Any, AssociationTable]) -> None:
    """Raise an error if the slices together have lost half of the words of a group or class.

    A comparison of slices, such as decades, uses only the words that are in all slices. A word is lost if a slice lacks
    it that another slice has. If no word is left, there is no error here, because `share_words` raises one.

    Raises
    ------
    TableError
    """
    for side in SIDES:
        category_in_slice = {time: belongs(table.values, side) for time, table in slices.items()}
        words_of_category: dict[str, dict[str, None]] = {}
        for category_of_word in category_in_slice.values():
            for word, category in category_of_word.items():
                words_of_category.setdefault(category, {})[word] = None
        for category, words in words_of_category.items():
            absent = {}
            for time, words_of_slice in category_in_slice.items():
                absent[time] = [word for word in words if word not in words_of_slice]
            n_shared = len(words) - len(set(chain.from_iterable(absent.values())))
            if 0 < 2 * n_shared <= len(words):
                raise TableError(_text_of_loss(category, len(words), n_shared, absent))


def _text_of_loss(category: str, n_words: int, n_shared: int, absent: Mapping[Any, list[str]]) -> str:
    """Return a message that names the words which each slice lacks, beginning with the slice that lacks most.

    The message includes the number of words that would remain without this slice.
    """
    slices = sorted(absent, key=lambda time: -len(absent[time]))
    lacks = "; ".join(f"{time} lacks {shortened(absent[time])}" for time in slices if absent[time])
    absent_elsewhere = set(chain.from_iterable(absent[time] for time in slices[1:]))
    return (
        f"`tables`: all slices together contain only {n_shared} of the {n_words} words of '{category}' ({lacks}). Omit"
        f" slices (without {slices[0]}, {n_words - len(absent_elsewhere)} words remain) or words, or pass"
        " allow_loss=True (--allow-loss)."
    )
