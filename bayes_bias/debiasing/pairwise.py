"""Several embeddings: by how much does the bias differ between any two of them?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import listed
from bayes_bias.associations.statistics import table_means
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.debiasing.pairing import difference, share_words, zero_by_construction
from bayes_bias.errors import AssociationsError
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.inference.sampling import Sampling, fit
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.results.many_lists import holm
from bayes_bias.results.summary import chance, row_of_bias


def pairwise(
    tables: Sequence[Associations],
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """By how much does the bias of a list differ between any two of several embeddings?

    Each pair is a comparison as in `compare`: the crossed model is fitted to the difference of two tables, value by
    value, so that what a word brings to both cancels.

    Parameters
    ----------
    tables : sequence of Associations
        The same list in two embeddings or more, each under its own name, such as
        ``replace(cosines(e, "weat6"), name=e)``. Words that one of them lacks are left out of all, with a notice.
    model, scope, ci_prob, seed, sampling, progress
        See `compare`; scope "none" has no intervals, and is refused.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``before`` and ``after``, the names of two tables. ``change`` of the bias from the one to the other
        with its equal-tailed interval ``lower``, ``upper`` (units of the tables); ``observed``, that of the raw
        contrasts; ``prob_direction``; ``p_holm``, twice the posterior probability of the other sign, adjusted for the
        number of pairs [1]_; ``converged``. Intervals are not adjusted.

    Raises
    ------
    AssociationsError
        Fewer than two tables, names that are not different, different designs, no words in common, two tables with the
        same values, or two whose bias is zero by construction.
    ScopeError
        The design cannot carry the scope, or the scope leaves nothing uncertain.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics, 6(2), 65-70. https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> pairwise([googlenews, debiased, retrained]).round(3)                      # doctest: +SKIP
    """
    progress, spec = progress or Quiet(), generalising_spec(model, "a comparison")
    sampling_scope(scope)
    tables = listed("tables", tables, Associations, "[one, another]", AssociationsError)
    _check_names(tables)
    shared = share_words(tables)
    scope = check_design(table_means(shared[0]), scope).name
    changes = {(one.name, other.name): _change(one, other) for one, other in combinations(shared, 2)}
    rows = {}
    for names, table in changes.items():
        step = Prefixed(table.name, progress)
        fitted = Fitted.of(fit(table, spec, seed=seed, sampling=sampling, progress=step))
        rows[names] = _row(fitted, scope, ci_prob)
    found = pd.DataFrame(
        list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["before", "after"])
    )
    found.insert(5, "p_holm", holm(chance(found.prob_direction)))
    return found


def _check_names(tables: Sequence[Associations]) -> None:
    for table in tables:
        check_table(table, "tables")
    names = [table.name for table in tables]
    if len(names) < 2:
        raise AssociationsError(f"tables: {len(names)} of them have no pair; give two or more")
    for name in names:
        if names.count(name) > 1:
            raise AssociationsError(
                f"tables: {names.count(name)} are called '{name}'; name each after its embedding:"
                " dataclasses.replace(table, name=...)"
            )


def _change(one: Associations, other: Associations) -> Associations:
    names = f"{one.name}, {other.name}"
    if zero_by_construction(one) and zero_by_construction(other):
        raise AssociationsError(
            f"tables: in '{one.name}' and '{other.name}' the bias is zero by construction, and there is no change to"
            " estimate; leave one of them out"
        )
    try:
        return replace(difference(one, other), name=names)
    except AssociationsError as error:
        raise AssociationsError(
            f"tables: '{one.name}' and '{other.name}' have the same values; leave one of them out"
        ) from error


def _row(fitted: Fitted, scope: ScopeName, ci_prob: float) -> dict[str, Any]:
    row = row_of_bias(fitted, scope, ci_prob)
    return {
        "change": row["mean"],
        **row[["lower", "upper", "observed", "prob_direction"]],
        "converged": Diagnostics.of(fitted).converged,
    }
