"""From checked scores to results: both models fitted, and every estimand tabulated."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import norm

from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import SentencePairsError
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling, check_sampling
from bayes_bias.posterior.estimate import over_draws, tails
from bayes_bias.progress import Prefixed, Progress
from bayes_bias.sentence_pairs.change_of_share import change_of_shares, shares_with_ties, steps_of
from bayes_bias.sentence_pairs.pair_checks import predictive_checks
from bayes_bias.sentence_pairs.pair_design import design, untied
from bayes_bias.sentence_pairs.pair_estimands import (
    NO_PREFERENCE,
    EstimandDraws,
    PairScope,
    check_pair_scope,
    differences,
    observed,
    shares,
)
from bayes_bias.sentence_pairs.pair_fits import fit_difference, fit_share
from bayes_bias.sentence_pairs.pair_results import SentencePairs, SentencePairsChange
from bayes_bias.sentence_pairs.pair_scores import LABELS, PairScores
from bayes_bias.sentence_pairs.pairs_needed import pairs_needed, plan_pairs
from bayes_bias.sentence_pairs.published_shares import paired, published, ties_as_half
from bayes_bias.table.association_table import announce
from bayes_bias.table.column_names import interval_names


@dataclass(frozen=True, eq=False)
class PairSettings:
    """Options that all fits of one question share, checked."""

    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    seed: int
    sampling: Sampling
    progress: Progress

    def __post_init__(self) -> None:
        check_pair_scope(self.scope)
        check_ci_prob(self.ci_prob)
        check_seed(self.seed)
        check_sampling(self.sampling)

    def for_step(self, name: str) -> Self:
        """The same with progress that names the step."""
        return replace(self, progress=Prefixed(name, self.progress))

    @property
    def fitting(self) -> dict[str, Any]:
        """How to sample."""
        return {"seed": self.seed, "sampling": self.sampling, "progress": self.progress}


def estimate_one(scores: PairScores, settings: PairSettings) -> SentencePairs:
    """Share and difference of one table."""
    data, notices = design(scores)
    scores = replace(scores, notices=(*scores.notices, *announce(notices)))
    spec, ci_prob, scope = settings.spec, settings.ci_prob, settings.scope
    share = fit_share(scores, spec, data, **settings.fitting)
    difference = fit_difference(scores, spec, data, **settings.fitting)
    share_draws, fits = _posterior(share), {"share": share, "difference": difference}
    compared = None
    if not untied(data).all():
        # Another seed makes the draws of the two fits independent.
        reseeded = settings.fitting | {"seed": settings.seed + 1}
        fits["untied"] = fit_share(scores, spec, data, counted=untied(data), **reseeded)
        compared = _posterior(fits["untied"])
    of_share = shares(share_draws, data, scope)
    if compared is not None:
        of_share = shares_with_ties(compared, share_draws, data, scope)
    independent = published(scores, ci_prob)
    tabulated = partial(_tabulated, data, independent, settings)
    table = {
        "share": tabulated(
            of_share, ties_as_half(scores.rows).to_numpy(), "wilson" if compared is None else "ties_half", NO_PREFERENCE
        ),
        "difference": tabulated(
            differences(_posterior(difference), data, scope), data.difference.to_numpy(), "student"
        ),
    }
    return SentencePairs(
        scores=scores,
        fits=fits,
        spec=spec,
        scope=scope,
        ci_prob=ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=independent,
        planned=plan_pairs(share_draws, data, untied=compared, ci_prob=ci_prob),
        needed=pairs_needed(share_draws, data, untied=compared, ci_prob=ci_prob),
        checks=predictive_checks(share, difference, settings.seed),
    )


def estimate_change(before: PairScores, after: PairScores, settings: PairSettings) -> SentencePairsChange:
    """The change of the same pairs, and both sides by themselves."""
    change = _change(before, after)
    data, _ = design(change)
    moved = (ties_as_half(after.rows) - ties_as_half(before.rows)).to_numpy()
    crossed = moved != 0
    first = estimate_one(before, settings.for_step("before"))
    second = estimate_one(after, settings.for_step("after"))
    settings = settings.for_step("change")
    spec, scope, fitting = settings.spec, settings.scope, settings.fitting
    changed = fit_share(change, spec, data, counted=crossed, **fitting)
    # Another seed makes the draws of the two fits independent.
    reseeded = fitting | {"seed": settings.seed + 1}
    gained = fit_share(change, spec, data, counted=moved > 0, among=crossed, **reseeded)
    difference = fit_difference(change, spec, data, **fitting)
    independent = paired(before, after, settings.ci_prob)
    rates = _posterior(changed), _posterior(gained)
    steps = steps_of(moved, rates[0].sizes["chain"] * rates[0].sizes["draw"], settings.seed)
    of_share = change_of_shares(*rates, data, scope, steps)
    of_difference = differences(_posterior(difference), data, scope)
    tabulated = partial(_tabulated, data, independent, settings)
    table = {
        "share": tabulated(of_share, moved, "ties_half"),
        "difference": tabulated(of_difference, data.difference.to_numpy(), "student"),
    }
    return SentencePairsChange(
        before=first,
        after=second,
        fits={"changed": changed, "gained": gained, "difference": difference},
        spec=spec,
        scope=scope,
        ci_prob=settings.ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=independent,
    )


def _change(before: PairScores, after: PairScores) -> PairScores:
    """Differences after minus before, of the same pairs with the same labels."""
    unmatched = before.rows.index.symmetric_difference(after.rows.index)
    if len(unmatched):
        raise SentencePairsError(
            f"after: {len(unmatched):,} pairs are in one table only, such as '{unmatched[0]}'; score the same items"
            " twice"
        )
    for label in LABELS:
        if label in before.rows and label in after.rows and not before.rows[label].equals(after.rows[label]):
            item = before.rows.index[before.rows[label] != after.rows[label]][0]
            raise SentencePairsError(
                f"after: {label} of item '{item}' is '{after.rows[label][item]}', and '{before.rows[label][item]}'"
                " before; give each pair the same labels in both tables"
            )
    difference = after.rows.difference - before.rows.difference
    if not difference.any():
        raise SentencePairsError(
            "after: every pair has the same difference as before; give the scores of another model"
        )
    return replace(
        before,
        name=before.name if before.name == after.name else f"{before.name} to {after.name}",
        rows=before.rows.assign(difference=difference),
        notices=(),
    )


def _posterior(fit: xr.DataTree) -> xr.Dataset:
    return fit["posterior"].to_dataset()


def _tabulated(
    data: xr.Dataset,
    independent: pd.DataFrame,
    settings: PairSettings,
    draws: EstimandDraws,
    values: NDArray[Any],
    interval: str,
    null: float = 0.0,
) -> pd.DataFrame:
    """Posterior, raw average, noise floor about the null value, and the interval of independent pairs."""
    raw = observed(data, values)
    ci_prob, labels = settings.ci_prob, list(draws.labels)
    posterior, above = over_draws(draws.values, ci_prob), (draws.values > null).mean(axis=0)
    noise = dict(zip(interval_names(ci_prob, "ci", "noise"), null + _noise_bounds(draws, tails(ci_prob)), strict=True))
    bounds = independent.loc[labels, list(interval_names(ci_prob, "ci", interval))]
    table = pd.DataFrame(
        {
            "pairs": independent.pairs[labels].astype(int),
            **posterior,
            "prob_above": above,
            "prob_direction": np.maximum(above, 1 - above),
            "observed": [raw[label] for label in labels],
            **noise,
            **dict(zip(interval_names(ci_prob, "ci", "independent"), bounds.to_numpy().T, strict=True)),
        },
        index=pd.Index(labels, name="label"),
    )
    if settings.scope != "none":
        return table
    known = table.assign(mean=table.observed, sd=0.0)
    return known.assign(**dict.fromkeys([*interval_names(ci_prob), "prob_above", "prob_direction", *noise], np.nan))


def _noise_bounds(draws: EstimandDraws, probs: tuple[float, float]) -> np.ndarray:
    """Quantiles of an equal mixture of normals about zero with the draws' standard deviations."""
    grid = norm.ppf((np.arange(199) + 0.5) / 199)
    noise = np.broadcast_to(draws.noise_sd, draws.values.shape)
    few = noise[:: max(1, len(noise) // 500)]
    return np.quantile(few[:, None, :] * grid[:, None], probs, axis=(0, 1))
