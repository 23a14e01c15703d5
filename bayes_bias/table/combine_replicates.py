"""Several tables of one list as one table with replicates."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable, announce, check_same_design, check_table
from bayes_bias.table.replicates import StackedVectors, combine, doubtful


def combine_replicates(
    tables: Mapping[str, AssociationTable], kind: str = "replicate", *, name: str | None = None
) -> AssociationTable:
    """Combine tables of the same words in several templates, training runs or corpora.

    Parameters
    ----------
    tables : mapping of str to AssociationTable
        Two or more complete tables of one list and one metric, by the labels of replicates.
    kind : str
        Noun for a replicate, in the singular, such as "template", "seed", or "corpus".
    name : str, optional
        The name of the table. The default is the name of the first one.

    Returns
    -------
    AssociationTable
        A table of the words that all tables have, with a notice about the others. ``values`` contains the means, and
        ``replicates`` the single tables. ``vectors`` is None unless all tables have vectors of the same length.

    Raises
    ------
    TableError
        If there are fewer than two tables, if tables differ in stereotypes or in the measure of association, if a table
        has replicates or repeated pairs itself, if a word is in different groups or classes, if a group or class has no
        word in common, or if a pair is missing.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> tables = {f"seed {n}": cosines("weat6", f"word2vec-{n}.txt") for n in range(5)}        # doctest: +SKIP
    >>> combine_replicates(tables, kind="seed")                                                     # doctest: +SKIP
    """
    problem = "not a mapping of names to tables. Pass {'seed 1': table, 'seed 2': another}."
    check_kind("tables", tables, Mapping, problem, TableError)
    for label, table in tables.items():
        check_table(table, f"tables['{label}']")
        _check_alike(label, table, *next(iter(tables.items())))
    replicates, left_out = combine({label: table.values for label, table in tables.items()}, kind)
    first, mean = next(iter(tables.values())), replicates.mean()
    earlier = dict.fromkeys(chain.from_iterable(table.notices for table in tables.values()))
    return replace(
        first,
        values=mean,
        replicates=replicates,
        vectors=_stacked(tables.values(), str(mean.target.values[0])),
        lengths=_stacked_lengths(tables.values()),
        name=name or first.name,
        origin=None,
        notices=(*earlier, *announce((*left_out, *doubtful(replicates)))),
        provenance=MappingProxyType({**first.provenance, "replicates": ", ".join(replicates.labels)}),
    )


def _stacked(tables: Iterable[AssociationTable], word: str) -> StackedVectors | None:
    """Stack the vectors of all tables, if all have vectors of the same length."""
    vectors, shapes = [], set()
    for table in tables:
        if table.vectors is None:
            return None
        vectors.append(table.vectors)
        shapes.add(np.shape(table.vectors[word]) if word in table.vectors else None)
    return StackedVectors(tuple(vectors)) if len(shapes) == 1 else None


def _stacked_lengths(tables: Iterable[AssociationTable]) -> Mapping[str, NDArray[np.float64]] | None:
    """Stack the original lengths of vectors, for the words whose lengths are known in all tables."""
    lengths = [table.lengths for table in tables]
    if all(single is None for single in lengths):
        return None
    known = [single or {} for single in lengths]
    shared = [word for word in known[0] if all(word in single for single in known)]
    return MappingProxyType({word: np.stack([single[word] for single in known]) for word in shared})


def _check_alike(label: str, table: AssociationTable, first_label: str, first: AssociationTable) -> None:
    if table.replicates is not None:
        raise TableError(
            f"The table '{label}' in `tables` has replicates itself. Pass the tables of single replicates instead."
        )
    if table.repeats is not None:
        raise TableError(f"The table '{label}' in `tables` repeats pairs. Make it with `duplicates='drop'`.")
    check_same_design(table, first, f"The table '{label}'", f"'{first_label}'")
