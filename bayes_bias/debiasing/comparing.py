"""Did debiasing change anything? Two embeddings, or two tables of cosines, over the same words."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.debiasing.change_in_spread import change_in_spread
from bayes_bias.debiasing.comparison import STATES, Comparison, State, share_removed
from bayes_bias.debiasing.paired_difference import difference, pair, zero_by_construction
from bayes_bias.debiasing.vector_damage import Damage
from bayes_bias.errors import TableError
from bayes_bias.measures import measure_all
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.fitting_tables import fit_table
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling, check_sampling
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.estimates import levels
from bayes_bias.posterior.summary import check_rope, row_of_bias, summarize, tabulate
from bayes_bias.posterior.verdict import verdict
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.column_names import interval_names
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, scope_of
from bayes_bias.table.sufficient_statistics import table_means
from bayes_bias.words.defining_sets import GivenSets

_DECIMALS = 9


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
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> Comparison:
    r"""Did debiasing change anything, and how sure can one be?

    The crossed model is fitted to the *difference* of the two tables, value by value,

    .. math:: \Delta_{ij} = y_{ij}^{after} - y_{ij}^{before},

    so that variation shared by both embeddings cancels: the bias of the difference is the change of the bias. Two
    separate posteriors, compared by eye, would lose the pairing.

    Parameters
    ----------
    before, after : AssociationTable
        The same list in two embeddings, from `bayes_bias.cosines`, or two tables, from `AssociationTable.from_frame`.
        Words that one of them lacks are left out of both, with a notice. Sub-topics, pairs and covariates of words
        are those of `before`.
    model : str, Path or ModelSpec
        A crossed model. Its priors are made for single values, and serve for differences of that size or smaller.
    scope : {"both", "targets", "attributes", "none"}
        Words that the answer generalises over.
    ci_prob : float
        Probability of the equal-tailed intervals.
    rope : float, optional
        Size, in the units of the tables, up to which a change or a bias is negligible; see `verdict`.
    defining_sets : str, path or sequence of sequences of str, optional
        For Direct Bias and RIPA; see `measure_all`.
    damage : Damage, optional
        What the change has cost, from `bayes_bias.debiasing.damage`; it stands beside it in sentences and page.
    seed, sampling, progress
        See `fit`.

    Returns
    -------
    Comparison
        Bias before and after, and its change; ``print(comparison.text)`` says it in sentences, `bayes_bias.write`
        makes a page.

    Raises
    ------
    TableError
        Different designs; no word in common; the same cosines twice; a bias that is zero by construction on both
        sides.

    Notes
    -----
    *Zero by construction.* Equalising gives the words of both groups the same cosine with every neutral word. The
    bias after is then zero by arithmetic, whatever is left of it in the vectors. Such a side is reported as zero by
    construction and not sampled.

    *Share removed.* See `bayes_bias.debiasing.comparison.share_removed`. Where an embedding shrinks as a whole, all
    cosines become smaller, and so does the bias, although words are as far apart relative to their spread as before.
    So the change is given in units of the spread too (`Comparison.in_spread`), the pooled standard deviation of values
    within groups and classes.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B,
    16(2), 175-185. https://doi.org/10.1111/j.2517-6161.1954.tb00159.x

    Gonen, H., & Goldberg, Y. (2019). Lipstick on a pig: Debiasing methods cover up systematic gender biases in
    word embeddings but do not remove them. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> print(compare(cosines(original, "weat6"), cosines(debiased, "weat6")).text)      # doctest: +SKIP
    """
    progress, spec = progress or Quiet(), generalising_spec(model, "a comparison")
    scope_of(scope)
    check_ci_prob(ci_prob)
    check_rope(rope)
    check_seed(seed)
    check_sampling(sampling)
    before, after = pair(before, after)
    sides = {"before": before, "after": after, "change": difference(before, after)}
    scope = check_design(table_means(before), scope).name
    constructed = _constructed(before, after)
    measures, left_out = _measures(before, after, defining_sets, seed)
    for side in constructed:  # a value of 1e-17 and its p-value are rounding errors
        measures = measures.assign(**{f"p_{side}": math.nan, side: measures[side].round(_DECIMALS)})
    fits = {
        state: fit_table(
            replace(sides[state], name=f"{before.name}, {state}"),
            spec,
            seed=seed,
            sampling=sampling,
            progress=Prefixed(state, progress),
        )
        for state in STATES
        if state not in constructed
    }
    progress.step("summarising")
    changed = fits["change"]
    change = summarize(changed, scope, ci_prob=ci_prob, ci_kind="eti", rope=rope)
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
        controls=control_levels(changed, before, scope, ci_prob, rope),
        share_removed=share_removed(bias, scope, ci_prob),
        in_spread=change_in_spread(before, after, bias),
        verdict=verdict(changed, scope, ci_prob=ci_prob, rope=rope, quantity="change"),
        measures=measures,
        left_out=left_out,
        damage=damage,
    )


def _constructed(before: AssociationTable, after: AssociationTable) -> tuple[State, ...]:
    sides: dict[State, AssociationTable] = {"before": before, "after": after}
    constructed = tuple(state for state, table in sides.items() if zero_by_construction(table))
    if len(constructed) == 2:
        raise TableError(
            "before and after: in both, every attribute is equally close to all groups; the bias is zero by"
            " construction twice, and there is no change to estimate"
        )
    return constructed


def _biases(fits: Mapping[State, Fitted], scope: ScopeName, ci_prob: float, rope: float | None) -> pd.DataFrame:
    """A row for each state; a bias that was not sampled is zero by construction."""
    rows = {state: _bias(fits[state], scope, ci_prob, rope) if state in fits else _zero(ci_prob) for state in STATES}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("state")


def _bias(fit: Fitted, scope: ScopeName, ci_prob: float, rope: float | None) -> dict[str, Any]:
    row = row_of_bias(fit, scope, ci_prob, rope)
    interval = list(interval_names(ci_prob))
    if scope_of(scope).samples_nothing:
        row[interval] = math.nan
    known = row[["mean", "sd", *interval, "prob_direction", "observed"]]
    negligible = {} if rope is None else {"prob_negligible": row.prob_negligible}
    return {**known, "by_construction": False, **negligible}


def _zero(ci_prob: float) -> dict[str, Any]:
    unknown = dict.fromkeys((*interval_names(ci_prob), "prob_direction"), math.nan)
    return {"mean": 0.0, "sd": 0.0} | unknown | {"observed": 0.0, "by_construction": True}


def control_levels(
    change: Fitted, table: AssociationTable, scope: ScopeName, ci_prob: float, rope: float | None = None
) -> pd.DataFrame:
    """The change of the mean of each group with each control class of the table; see `Comparison.controls`."""
    moved = tabulate(levels(change, scope), ci_prob, "eti", rope)
    return moved.loc[[f"{group}, {control}" for group in table.groups for control in table.controls]]


def _measures(
    before: AssociationTable, after: AssociationTable, defining_sets: GivenSets, seed: int
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Every measure on both sides; one that is undefined on one of them is left out."""
    first, second = (measure_all(table, defining_sets=defining_sets, seed=seed) for table in (before, after))
    one, other = first.table.align(second.table, join="inner", axis=0)
    table = pd.DataFrame(
        {"before": one.value, "after": other.value, "b0": one.b0, "p_before": one.p_value, "p_after": other.p_value}
    )
    return table.rename_axis("measure"), {**second.left_out, **first.left_out}
