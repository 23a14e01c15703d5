"""`compare` and `compare_all`: differences in bias between embeddings for the same words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.comparison.comparison import STATES, Comparison, State, names_of_sides, share_removed
from bayes_bias.analyses.comparison.spread import change_in_spread
from bayes_bias.arguments import as_tuple, check_ci_prob, check_different, check_seed, check_switch
from bayes_bias.associations.made_alike import MadeAlike, made_alike
from bayes_bias.debiasing.damage import Damage
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.measures import measure_all
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.estimates import levels
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.summary import chance, check_rope, row_of_bias, summarize, tabulate
from bayes_bias.posterior.verdict import Verdict, verdict_on
from bayes_bias.progress import step, within
from bayes_bias.table.association_table import AssociationTable, announce, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.columns import interval_names
from bayes_bias.table.combine_tables import difference, pair, share_words
from bayes_bias.table.labels import words_of
from bayes_bias.table.replicates import EQUAL
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope, scope_of
from bayes_bias.table.statistics import compared_attributes, table_means
from bayes_bias.words.defining_sets import GivenSets

_DECIMALS = 9
# Median cosine of a word's two vectors, below which neither embedding was made from the other.
_UNRELATED = 0.5


def compare(
    before: AssociationTable,
    after: AssociationTable,
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    rope: float | None = None,
    defining_sets: GivenSets = (),
    damage: Damage | None = None,
    versions: bool | None = None,
    allow_unlike: bool = False,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> Comparison:
    r"""Estimate the change in bias after debiasing, or the difference in bias between two corpora.

    The crossed model is fitted to the *difference* of the two tables, value by value,

    .. math:: \Delta_{ij} = y_{ij}^{after} - y_{ij}^{before},

    so that variation that both embeddings share cancels. The bias in the table of differences is the change of the
    bias. A comparison of two separate posteriors would ignore that the values are paired.

    Parameters
    ----------
    before, after : AssociationTable
        The same list in two embeddings, from `bayes_bias.cosines`, or two tables, from `AssociationTable.from_frame`.
        Words that one table lacks are omitted from both tables, with a notice. Sub-topics, pairs and covariates of
        words are taken from `before`.
    model : str, Path or ModelSpec
        A crossed model. The priors are intended for the values of single tables. They are also suitable for differences
        that are not larger than these values.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        Words that the result generalises to.
    ci_prob : float
        Probability of the equal-tailed intervals.
    rope : float, optional
        Largest negligible change or bias, in the units of the tables (see `verdict`).
    defining_sets : str, path or sequence of sequences of str, optional
        For Direct Bias and RIPA (see `measure_all`).
    damage : Damage, optional
        The collateral damage of the debiasing method, from `bayes_bias.debiasing.damage`, to be included in sentences
        and page.
    versions : bool, optional
        True if `after` was made from `before`, for example by debiasing, and False if it was trained on another text.
        By default, `after` counts as a version of `before` if its table records a debiasing method, if most words have
        similar vectors in both, or if neither table records vectors. If it is False, sentences and page name both
        corpora, and do not report a share removed.
    allow_unlike : bool
        Return a verdict on two corpora even if their embeddings are not comparable. The warning remains in all texts
        and on the page, and the provenance records the argument.
    seed, sampling
        See `fit`.

    Returns
    -------
    Comparison
        Bias before and after, and its change. ``print(comparison.text)`` shows sentences, and `bayes_bias.write`
        creates a page.

    Raises
    ------
    TableError
        If the tables have different designs, no words in common, or the same values, or if the bias is zero by
        construction on both sides.

    Notes
    -----
    *Zero by construction.* After equalising, the words of both groups have the same cosine with every neutral word. The
    bias after debiasing is then exactly zero, even if bias remains elsewhere in the vectors. A bias of this kind is
    reported as zero by construction and is not sampled.

    *Similarly trained.* The biases in two embeddings also differ if one embedding was trained on less text, or for
    fewer epochs. If the distances between random words differ between the embeddings
    (`bayes_bias.associations.made_alike`), there is no verdict, unless you pass `allow_unlike`.

    *Share removed.* See `bayes_bias.analyses.comparison.comparison.share_removed`. If all cosines of an embedding
    become smaller, the bias also becomes smaller, even if it does not change relative to the spread of the cosines.
    Therefore, the change is also reported in units of the spread (`Comparison.in_spread`), which is the pooled standard
    deviation of values within groups and classes.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B,
    16(2), 175-185. https://doi.org/10.1111/j.2517-6161.1954.tb00159.x

    Gonen, H., & Goldberg, Y. (2019). Lipstick on a pig: Debiasing methods cover up systematic gender biases in
    word embeddings but do not remove them. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> print(compare(cosines("weat6", original), cosines("weat6", debiased)).text)      # doctest: +SKIP
    """
    spec = generalising_spec(model, "a comparison")
    scope_of(scope)  # raises an error for an unknown scope
    check_ci_prob(ci_prob)
    check_rope(rope)
    seed = check_seed(seed)
    check_sampling(sampling)
    check_switch("allow_unlike", allow_unlike)
    if versions is not None:
        check_switch("versions", versions)
    tables_as_passed = {"before": before, "after": after}
    before, after = pair(before, after)
    # If the table records a debiasing method, vectors need not be read to identify a version.
    is_version = versions or (versions is None and "debiasing" in after.provenance)
    alike = None if is_version else made_alike(tables_as_passed, reference="before", seed=seed, allowed=allow_unlike)
    # Unless `versions` is set, the vectors show if one side was made from the other.
    corpora = alike is not None and not _are_versions(before, after, alike)
    if versions is not None:
        corpora = not versions
    names = names_of_sides(before, after, corpora)
    changes = difference(before, after)
    before = replace(before, notices=changes.notices)
    sides = {"before": before, "after": after, "change": changes}
    scope = check_design(table_means(changes), scope).name
    zero_sides = _zero_sides(before, after)
    measures, left_out = _measures(before, after, defining_sets, seed)
    for side in zero_sides:  # values such as 1e-17 are rounding errors and need no p-value
        measures = measures.assign(**{f"p_{side}": math.nan, side: measures[side].round(_DECIMALS)})
    fits: dict[State, Fitted] = {}
    for state in STATES:
        if state not in zero_sides:
            table = replace(sides[state], name=f"{before.name}, {names[state]}")
            with within(names[state]):
                fits[state] = fit_table(table, spec, seed=seed, sampling=sampling)
    step("summarising")
    change = summarize(fits["change"], scope, ci_prob=ci_prob, ci_kind="eti", rope=rope)
    bias = _biases(fits, scope, ci_prob, rope)
    return Comparison(
        before=before,
        after=after,
        fits={state: fitted.tree for state, fitted in fits.items()},
        spec=spec,
        scope=scope,
        ci_prob=ci_prob,
        bias=bias,
        change=change.drop("effect_size", level="estimand", errors="ignore"),
        controls=control_levels(fits["change"], before, scope, ci_prob, rope),
        share_removed=share_removed(bias, scope, ci_prob),
        in_spread=change_in_spread(before, after, bias),
        verdict=_verdict(fits["change"], scope, ci_prob, rope, alike if corpora else None),
        measures=measures,
        left_out=left_out,
        damage=damage,
        corpora=corpora,
        alike=alike.named(names) if corpora and alike is not None else None,
    )


def _verdict(change: Fitted, scope: ScopeName, ci_prob: float, rope: float | None, alike: MadeAlike | None) -> Verdict:
    """Return the verdict on a change by debiasing or, if `alike` is given, on a difference between two corpora.

    Corpora whose embeddings were not similarly trained get no verdict.
    """
    if alike is None:
        return verdict_on("change", change, scope, ci_prob, rope)
    verdict = verdict_on("difference", change, scope, ci_prob, rope)
    return replace(verdict, label="not made alike", wider=None) if alike.prevents_verdict else verdict


def _are_versions(before: AssociationTable, after: AssociationTable, alike: MadeAlike) -> bool:
    """Return True if one embedding seems to be made from the other, because words have similar vectors in both.

    The words are random words if both embeddings can be read (`alike` is known), and otherwise the words of the list.
    The median cosine of a word's two vectors must exceed _UNRELATED. Without vectors, the result is True.
    """
    if not alike.unknown:
        return alike.are_versions
    if before.vectors is None or after.vectors is None:
        return True
    words = [*words_of(before.values, "target"), *words_of(before.values, "attribute")]
    rows_before = unit_rows(np.stack([before.vectors[word] for word in words]))
    rows_after = unit_rows(np.stack([after.vectors[word] for word in words]))
    if rows_before.shape != rows_after.shape:
        return False
    return bool(np.median((rows_before * rows_after).sum(axis=-1)) > _UNRELATED)


def _zero_sides(before: AssociationTable, after: AssociationTable) -> tuple[State, ...]:
    """Return the side whose bias is zero by construction, if any. Raise an error if this applies to both sides.

    The result is a tuple with "before" or "after", or an empty tuple.
    """
    sides: dict[State, AssociationTable] = {"before": before, "after": after}
    zero_sides = tuple(state for state, table in sides.items() if zero_by_construction(table))
    if len(zero_sides) == 2:
        raise TableError(
            "In `before` and `after`, every attribute is equally close to all groups, so both biases are"
            " zero by construction and there is no change to estimate."
        )
    return zero_sides


def _biases(fits: Mapping[State, Fitted], scope: ScopeName, ci_prob: float, rope: float | None) -> pd.DataFrame:
    """Return a row for each state: the posterior of the bias before, after, and of its change.

    A state without a fit was not sampled, because its bias is zero by construction. Under a scope that samples nothing,
    intervals are missing.
    """
    interval = list(interval_names(ci_prob))
    rows: dict[State, dict[str, Any]] = {}
    for state in STATES:
        if state not in fits:
            unknown = dict.fromkeys((*interval, "prob_direction"), math.nan)
            rows[state] = {"mean": 0.0, "sd": 0.0, **unknown, "observed": 0.0, "by_construction": True}
            continue
        row = row_of_bias(fits[state], scope, ci_prob, rope)
        if scope_of(scope).samples_nothing:
            row[interval] = math.nan
        rows[state] = {**row[["mean", "sd", *interval, "prob_direction", "observed"]], "by_construction": False}
        if rope is not None:
            rows[state]["prob_negligible"] = row.prob_negligible
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("state")


def control_levels(
    change: Fitted, table: AssociationTable, scope: ScopeName, ci_prob: float, rope: float | None = None
) -> pd.DataFrame:
    """Return the change of the mean of each group with each control class (see `Comparison.controls`).

    The levels of a change are the changes of all means of a group with a class, of which those with control classes are
    selected.
    """
    table_of_levels = tabulate(levels(change, scope), ci_prob, "eti", rope)
    return table_of_levels.loc[[f"{group}, {control}" for group in table.groups for control in table.controls]]


def _measures(
    before: AssociationTable, after: AssociationTable, defining_sets: GivenSets, seed: int
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return every published measure on both sides, and the reasons why others are omitted.

    A measure is omitted if it is undefined on one side. ``b0`` is its value without bias.
    """
    measured_before = measure_all(before, defining_sets=defining_sets, seed=seed)
    measured_after = measure_all(after, defining_sets=defining_sets, seed=seed)
    rows_before, rows_after = measured_before.table.align(measured_after.table, join="inner", axis=0)
    columns = {"before": rows_before.value, "after": rows_after.value, "b0": rows_before.b0}
    table = pd.DataFrame({**columns, "p_before": rows_before.p_value, "p_after": rows_after.p_value})
    return table.rename_axis("measure"), {**measured_after.left_out, **measured_before.left_out}


# Pairwise comparisons of several embeddings.


def compare_all(
    tables: Sequence[AssociationTable],
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    allow_unlike: bool = False,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> pd.DataFrame:
    """Estimate the difference in bias between each pair of several embeddings.

    Each pair is compared as in `compare`: the crossed model is fitted to the differences between the values of two
    tables.

    Parameters
    ----------
    tables : sequence of AssociationTable
        The same list in two or more embeddings. Each table needs a different name, such as
        ``replace(cosines("weat6", e), name=e)``. Words that one table lacks are omitted from all, with a notice.
    model, scope, ci_prob, allow_unlike, seed, sampling
        See `compare`. Scope "none" has no intervals and raises an error.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``before`` and ``after``, the names of two tables. Columns: ``mean`` change of the bias from the
        first table to the second with its equal-tailed interval (units of the tables); ``observed``, the change of the
        raw contrast; ``prob_direction``; ``chance_holm``, twice the posterior probability of the opposite sign,
        adjusted for the number of pairs [1]_; ``converged``; ``alike``, False if the two embeddings are known not to be
        similarly trained. In that case, ``chance_holm`` is missing (unless `allow_unlike` is set), and a notice is
        logged. Intervals are not adjusted.

    Raises
    ------
    TableError
        If there are fewer than two tables; if two tables have the same name, the same values, or a bias of zero by
        construction; or if the tables have different designs or no words in common.
    ScopeError
        If the data do not support the scope, or if the scope is "none".

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics, 6(2), 65-70. https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> compare_all([googlenews, debiased, retrained]).round(3)                      # doctest: +SKIP
    """
    spec = generalising_spec(model, "a comparison")
    sampling_scope(scope)  # raises an error for scope "none"
    check_switch("allow_unlike", allow_unlike)
    tables = as_tuple("tables", tables, AssociationTable, "[one, another]", TableError)
    for table in tables:
        check_table(table, "tables")
    if len(tables) < 2:
        raise TableError(f"`tables` contains {len(tables)} of them. Pass at least two.")
    remedy = "Name each table after its embedding: dataclasses.replace(table, name=...)."
    check_different("tables", [table.name for table in tables], remedy, TableError)
    by_name = {table.name: table for table in tables}
    with_shared_words = list(share_words(by_name).values())
    scope = check_design(table_means(with_shared_words[0]), scope).name
    # All pairs are checked before the first model is fitted.
    changes = [_change(before, after) for before, after in combinations(with_shared_words, 2)]
    # The model is fitted to the difference of each pair of tables.
    rows = []
    for change in changes:
        with within(change.name):
            fitted = fit_table(change, spec, seed=seed, sampling=sampling)
        row = row_of_bias(fitted, scope, ci_prob)[["mean", *interval_names(ci_prob), "observed", "prob_direction"]]
        rows.append({**row, "converged": Diagnostics.of(fitted).for_bias.converged})
    index = pd.MultiIndex.from_tuples(combinations(by_name, 2), names=["before", "after"])
    result = pd.DataFrame(rows, index=index)
    # Embeddings that were not similarly trained get no probability, unless this is allowed.
    alike = made_alike(by_name, seed=seed, copies=True, allowed=allow_unlike)
    if alike.unlike:
        announce((alike.text,))
    result["alike"] = [set(alike.unlike).isdisjoint(pair) for pair in index]
    result.insert(5, "chance_holm", holm(chance(result.prob_direction)))
    result["chance_holm"] = result.chance_holm.where(result.alike | allow_unlike)
    return result


def _change(before: AssociationTable, after: AssociationTable) -> AssociationTable:
    """Return the difference of two tables, whose name contains both table names.

    Raise an error if there is nothing to estimate, because the tables are equal or both biases are zero by
    construction.
    """
    if zero_by_construction(before) and zero_by_construction(after):
        raise TableError(
            f"In '{before.name}' and '{after.name}', the bias is zero by construction, so there is no change to"
            " estimate. Omit one of them."
        )
    try:
        return replace(difference(before, after), name=f"{before.name}, {after.name}")
    except TableError as error:
        raise TableError(
            f"`tables` contains the same values twice, in '{before.name}' and '{after.name}'. Omit one of them."
        ) from error


def zero_by_construction(table: AssociationTable) -> bool:
    """Return True if every associated attribute is equally close to all groups, so that the bias is exactly zero.

    This is the case after equalising, which results in the same cosine of "he" and "she" with every neutral word.
    Because this bias is exactly zero, a posterior would wrongly show uncertainty. Differences below EQUAL are rounding
    errors.
    """
    means = table_means(table)
    closeness = means.attribute_mean[compared_attributes(means)]  # (attribute, group)
    bias = (means.block_mean * bias_weights(means)).sum()
    return bool((closeness.max("group") - closeness.min("group")).max() < EQUAL and abs(bias) < EQUAL)
