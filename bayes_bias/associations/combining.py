"""Several tables of one list as one table with replicates."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from bayes_bias.arguments import check_kind
from bayes_bias.associations.replicates import combine, few
from bayes_bias.associations.table import Associations, announce, check_table
from bayes_bias.errors import AssociationsError


def replicated(
    tables: Mapping[str, Associations], kind: str = "replicate", *, name: str | None = None
) -> Associations:
    """One table of several that measured the same words: in several templates, trainings, corpora.

    Parameters
    ----------
    tables : mapping of str to Associations
        Two or more by the label of the replicate, of one list and one kind of association, each complete.
    kind : str
        What a replicate is, in the singular: "template", "seed", "corpus".
    name : str, optional
        What the table is called; by default as the first one.

    Returns
    -------
    Associations
        Over the words that all of them have, with a notice of those that were left out. ``values`` are the means,
        ``replicates`` the single tables.

    Raises
    ------
    AssociationsError
        Fewer than two tables; other stereotypes or another association; a table that has replicates or repeated pairs
        itself; a word in another group or class; a group or class without a word in common; a missing pair.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> tables = {f"seed {n}": cosines(f"word2vec-{n}.txt", "weat6") for n in range(5)}        # doctest: +SKIP
    >>> replicated(tables, kind="seed")                                                     # doctest: +SKIP
    """
    needed = "no mapping of names to tables; give {'seed 1': table, 'seed 2': another}"
    check_kind("tables", tables, Mapping, needed, AssociationsError)
    for label, table in tables.items():
        check_table(table, f"tables, {kind} '{label}'")
        _check_alike(label, table, *next(iter(tables.items())), kind)
    found, notices = combine({label: table.values for label, table in tables.items()}, kind)
    first = next(iter(tables.values()))
    said = dict.fromkeys(notice for table in tables.values() for notice in table.notices)
    told = announce((*notices, *few(found)))
    return replace(
        first,
        values=found.mean(),
        replicates=found,
        name=name or first.name,
        notices=(*said, *told),
        provenance=MappingProxyType({**first.provenance, "replicates": ", ".join(found.labels)}),
    )


def _check_alike(label: str, table: Associations, first_label: str, first: Associations, kind: str) -> None:
    both = f"tables, {kind} '{label}'"
    if table.replicates is not None:
        raise AssociationsError(f"{both}: has replicates itself; give the tables of single replicates")
    if table.repeats is not None:
        raise AssociationsError(f"{both}: repeats pairs; make it with duplicates='drop'")
    if table.association != first.association:
        raise AssociationsError(
            f"{both}: holds {table.association.plural}, and {kind} '{first_label}' {first.association.plural};"
            " replicates measure the same association"
        )
    if dict(table.stereotypes) != dict(first.stereotypes) or table.opposites != first.opposites:
        raise AssociationsError(
            f"{both}: its stereotypes are not those of {kind} '{first_label}'; replicates measure the same list"
        )
