"""Several embeddings: by how much does the bias differ between any two of them?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_different, listed
from bayes_bias.debiasing.paired_difference import difference, share_words, zero_by_construction
from bayes_bias.errors import TableError
from bayes_bias.models.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.fitting_tables import fit_table
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.summary import chance, row_of_bias
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.column_names import interval_names
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.table.sufficient_statistics import table_means


def compare_all(
    tables: Sequence[AssociationTable],
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """By how much does the bias of a list differ between any two of several embeddings?

    Each pair is compared as in `compare`: the crossed model is fitted to the difference of two tables, value by value.

    Parameters
    ----------
    tables : sequence of AssociationTable
        The same list in two embeddings or more, each under its own name, such as
        ``replace(cosines(e, "weat6"), name=e)``. Words that one of them lacks are left out of all, with a notice.
    model, scope, ci_prob, seed, sampling, progress
        See `compare`; scope "none" has no intervals, and is refused.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``before`` and ``after``, the names of two tables. ``mean`` change of the bias from the one to the
        other with its equal-tailed interval (units of the tables); ``observed``, that of the raw
        contrasts; ``prob_direction``; ``chance_holm``, twice the posterior probability of the other sign, adjusted for
        the number of pairs [1]_; ``converged``. Intervals are not adjusted.

    Raises
    ------
    TableError
        Fewer than two tables, two of the same name, different designs, no words in common, two tables with the same
        values, or two whose bias is zero by construction.
    ScopeError
        The design cannot carry the scope, or the scope leaves nothing uncertain.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics, 6(2), 65-70. https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> compare_all([googlenews, debiased, retrained]).round(3)                      # doctest: +SKIP
    """
    progress, spec = progress or Quiet(), generalising_spec(model, "a comparison")
    sampling_scope(scope)
    tables = listed("tables", tables, AssociationTable, "[one, another]", TableError)
    for table in tables:
        check_table(table, "tables")
    if len(tables) < 2:
        raise TableError(f"tables: {len(tables)} of them have no pair; give two or more")
    remedy = "name each after its embedding: dataclasses.replace(table, name=...)"
    check_different("tables", [table.name for table in tables], remedy, TableError)
    shared = share_words(tables)
    scope = check_design(table_means(shared[0]), scope).name
    changes = {(one.name, other.name): _change(one, other) for one, other in combinations(shared, 2)}
    rows = {}
    for names, table in changes.items():
        step = Prefixed(table.name, progress)
        fitted = fit_table(table, spec, seed=seed, sampling=sampling, progress=step)
        rows[names] = _row(fitted, scope, ci_prob)
    index = pd.MultiIndex.from_tuples(rows, names=["before", "after"])
    result = pd.DataFrame(list(rows.values()), index=index)
    result.insert(5, "chance_holm", holm(chance(result.prob_direction)))
    return result


def _change(one: AssociationTable, other: AssociationTable) -> AssociationTable:
    names = f"{one.name}, {other.name}"
    if zero_by_construction(one) and zero_by_construction(other):
        raise TableError(
            f"tables: in '{one.name}' and '{other.name}' the bias is zero by construction, and there is no change to"
            " estimate; leave one of them out"
        )
    try:
        return replace(difference(one, other), name=names)
    except TableError as error:
        raise TableError(
            f"tables: '{one.name}' and '{other.name}' have the same values; leave one of them out"
        ) from error


def _row(fitted: Fitted, scope: ScopeName, ci_prob: float) -> dict[str, Any]:
    row = row_of_bias(fitted, scope, ci_prob)
    return {
        **row[["mean", *interval_names(ci_prob), "observed", "prob_direction"]],
        "converged": Diagnostics.of(fitted).converged,
    }
