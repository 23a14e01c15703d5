"""From checked scores to answers: both models fitted, and all that is asked of them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.associations.table import announce
from bayes_bias.errors import PairsError, SpecError
from bayes_bias.inference.sampling import Sampling, check_sampling
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.sentence_pairs.changes import change_of_shares
from bayes_bias.sentence_pairs.checks import predictive_checks
from bayes_bias.sentence_pairs.design import design
from bayes_bias.sentence_pairs.estimands import (
    NO_PREFERENCE,
    Draws,
    PairScope,
    check_pair_scope,
    differences,
    observed,
    shares,
)
from bayes_bias.sentence_pairs.fitting import fit_difference, fit_share
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sentence_pairs.precision import pairs_needed, plan_pairs
from bayes_bias.sentence_pairs.published import paired, published
from bayes_bias.sentence_pairs.scores import LABELS, PairScores


@dataclass(frozen=True, eq=False)
class Settings:
    """What all fits of one question share."""

    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    seed: int
    sampling: Sampling
    progress: Progress

    @classmethod
    def checked(
        cls,
        model: str | Path | ModelSpec,
        scope: PairScope,
        ci_prob: float,
        seed: int,
        sampling: Sampling,
        progress: Progress | None,
    ) -> Self:
        """Settings that can be sampled with.

        Raises
        ------
        SpecError, ScopeError
        """
        check_pair_scope(scope)
        check_ci_prob(ci_prob)
        check_seed(seed)
        check_sampling(sampling)
        spec = load_spec(model)
        if spec.structure != "pairs":
            raise SpecError(
                f"model: '{spec.name}' is {spec.structure}, a model of targets and attributes; give 'pairs' or a copy"
                " of it"
            )
        return cls(spec, scope, ci_prob, seed, sampling, progress or Quiet())

    def telling(self, what: str) -> Self:
        """With progress that says what a step belongs to."""
        return replace(self, progress=Prefixed(what, self.progress))

    @property
    def fitting(self) -> dict[str, Any]:
        """How to sample."""
        return {"seed": self.seed, "sampling": self.sampling, "progress": self.progress}


def answer(scores: PairScores, settings: Settings) -> Pairs:
    """Share and difference of one table."""
    data, notices = design(scores)
    scores = replace(scores, notices=(*scores.notices, *announce(notices)))
    spec, ci_prob, scope = settings.spec, settings.ci_prob, settings.scope
    share = fit_share(scores, spec, data, **settings.fitting)
    difference = fit_difference(scores, spec, data, **settings.fitting)
    of_share, of_difference = _posterior(share), _posterior(difference)
    known = published(scores, ci_prob)
    table = {
        "share": _tabulated(
            shares(of_share, data, scope),
            observed(data, data.ahead.to_numpy()),
            known[["pairs", "wilson_lower", "wilson_upper"]],
            settings,
            none=NO_PREFERENCE,
        ),
        "difference": _tabulated(
            differences(of_difference, data, scope),
            observed(data, data.difference.to_numpy()),
            known[["pairs", "student_lower", "student_upper"]],
            settings,
        ),
    }
    return Pairs(
        scores=scores,
        fits={"share": share, "difference": difference},
        spec=spec,
        scope=scope,
        ci_prob=ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=known,
        planned=plan_pairs(of_share, data, ci_prob=ci_prob),
        needed=pairs_needed(of_share, data, ci_prob=ci_prob),
        checks=predictive_checks(share, difference, settings.seed),
    )


def answer_change(before: PairScores, after: PairScores, settings: Settings) -> PairsChange:
    """What changed of the same pairs, and both sides by themselves."""
    change = _change(before, after)
    data, _ = design(change)
    crossed = after.rows.ahead.to_numpy() != before.rows.ahead.to_numpy()
    one, other = answer(before, settings.telling("before")), answer(after, settings.telling("after"))
    now, how = (
        settings.telling("change"),
        settings.fitting | {"progress": settings.telling("change").progress},
    )
    changed = fit_share(change, now.spec, data, counted=crossed, **how)
    # By other random numbers, so that draws of the two go together by nothing.
    other_seed = how | {"seed": now.seed + 1}
    gained = fit_share(
        change, now.spec, data, counted=after.rows.ahead.to_numpy(), among=crossed, **other_seed
    )
    difference = fit_difference(change, now.spec, data, **how)
    known = paired(before, after, now.ci_prob)
    table = {
        "share": _tabulated(
            change_of_shares(_posterior(changed), _posterior(gained), data, now.scope),
            observed(data, crossed * np.where(after.rows.ahead, 1, -1)),
            known[["pairs", "change_lower", "change_upper"]],
            now,
        ),
        "difference": _tabulated(
            differences(_posterior(difference), data, now.scope),
            observed(data, data.difference.to_numpy()),
            known[["pairs", "student_lower", "student_upper"]],
            now,
        ),
    }
    return PairsChange(
        before=one,
        after=other,
        fits={"changed": changed, "gained": gained, "difference": difference},
        spec=now.spec,
        scope=now.scope,
        ci_prob=now.ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=known,
    )


def _change(before: PairScores, after: PairScores) -> PairScores:
    """Differences after less before, of the same pairs.

    Raises
    ------
    PairsError
        A pair is in one of them alone, or is told of in another way.
    """
    alone = before.rows.index.symmetric_difference(after.rows.index)
    if len(alone):
        raise PairsError(
            f"after: {len(alone):,} pairs are in one table alone, '{alone[0]}' among them; score the same items twice"
        )
    for label in LABELS:
        if label in before.rows and label in after.rows and not before.rows[label].equals(after.rows[label]):
            item = before.rows.index[before.rows[label] != after.rows[label]][0]
            raise PairsError(
                f"after: {label} of item '{item}' is '{after.rows[label][item]}', and was '{before.rows[label][item]}';"
                " the same pairs have the same"
            )
    difference = after.rows.difference - before.rows.difference
    if not difference.any():
        raise PairsError(
            "after: every pair has the same difference as before; nothing changed, which is no estimate"
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
    draws: Draws, seen: Any, known: pd.DataFrame, settings: Settings, *, none: float = 0.0
) -> pd.DataFrame:
    """One estimand: posterior, raw number, what no preference would show, and the interval of independent pairs."""
    tails = [(1 - settings.ci_prob) / 2, (1 + settings.ci_prob) / 2]
    lower, upper = np.quantile(draws.values, tails, axis=0)
    above = (draws.values > none).mean(axis=0)
    raw = np.array([seen[label] for label in draws.labels])
    below, beyond = _noise_bounds(draws, tails)
    index = list(draws.labels)
    table = pd.DataFrame(
        {
            "pairs": known.pairs[index].astype(int),
            "mean": draws.values.mean(axis=0),
            "sd": draws.values.std(axis=0),
            "lower": lower,
            "upper": upper,
            "prob_above": above,
            "prob_direction": np.maximum(above, 1 - above),
            "observed": raw,
            "noise_lower": none + below,
            "noise_upper": none + beyond,
            "independent_lower": known.iloc[:, 1][index],
            "independent_upper": known.iloc[:, 2][index],
        },
        index=pd.Index(index, name="label"),
    )
    if settings.scope != "none":
        return table
    unknown = ["lower", "upper", "prob_above", "prob_direction", "noise_lower", "noise_upper"]
    return table.assign(mean=raw, sd=0.0, **dict.fromkeys(unknown, np.nan))


def _noise_bounds(draws: Draws, tails: list[float]) -> np.ndarray:
    """Quantiles of noise that is normal about zero with one of these standard deviations, all of them as probable."""
    grid = norm.ppf((np.arange(199) + 0.5) / 199)
    noise = np.broadcast_to(draws.noise_sd, draws.values.shape)
    few = noise[:: max(1, len(noise) // 500)]
    return np.quantile(few[:, None, :] * grid[:, None], tails, axis=(0, 1))
