"""`tpr_gaps`: from labels, predictions and groups to gaps with uncertainty."""

import json
import logging
from dataclasses import asdict

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import GapsError, did_you_mean
from bayes_bias.gaps.counts import Counts, Labels, Source, count
from bayes_bias.gaps.model import PRIORS, sample_rates
from bayes_bias.gaps.published import (
    gaps,
    mean_absolute,
    root_mean_square,
    unbiased_mean_square,
    unbiased_variance,
    variances,
    without_gaps,
)
from bayes_bias.gaps.result import MEAN_ABSOLUTE, MEAN_GAP, RMS, VARIANCE, Gaps
from bayes_bias.inference.diagnostics import diagnose
from bayes_bias.inference.sampling import Sampling, check_sampling, versions
from bayes_bias.progress import Progress, Quiet
from bayes_bias.results.pooled import tails

logger = logging.getLogger("bayes_bias")

_CELL = ("class", "group")


def tpr_gaps(
    y: Labels = "y",
    prediction: Labels = "prediction",
    group: Labels = "group",
    *,
    data: Source | None = None,
    of: str | None = None,
    leave_out: bool = False,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "true-positive rates",
    progress: Progress | None = None,
) -> Gaps:
    """Gaps of true-positive rates between groups, class by class and over classes, with uncertainty.

    The gap of group g in class c is the share of its people whom the classifier recognises, less that of all others
    [1]_,

        gap[c, g] = TPR[c, g] - TPR[c, not g]

    A hierarchical binomial model gives each gap an interval, and takes from averages of their sizes what noise alone
    would add:

        hits[c, g] ~ Binomial(people[c, g], TPR[c, g])
        logit TPR[c, g] = level[c] + deviation[c, g],    deviations sum to zero over groups

    Levels are Normal(level_mean, sd_level); the log odds of a group less the average of those of the others are
    Normal(mean_gap[g], sd_gap), so that a gap which few people vouch for is drawn towards the mean gap.

    Parameters
    ----------
    y, prediction, group : sequence of labels, or str
        True class, predicted class and group of each person; with `data` the names of its columns.
    data : pandas.DataFrame, str or Path, optional
        A frame or CSV file with a row for each person. Labels of a CSV file are read as text.
    of : str, optional
        Of two groups the one whose gap is told; by default the first one in alphabetical order. Of more groups each
        has a gap of its own.
    leave_out : bool
        Leave out classes that have no people of a group, with a notice, instead of refusing them.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
        The same seed gives the same numbers.
    sampling : Sampling
        Numbers of draws and chains.
    name : str
        What page and figure call it.
    progress : Progress, optional
        Told of steps and draws as they are done.

    Returns
    -------
    Gaps
        ``table`` (a row for each gap), ``aggregate``, ``variances`` and ``fit``; printed, its sentences. Units: shares
        of people.

    Raises
    ------
    GapsError
        Labels are missing or of different lengths, there is one group alone, no prediction is a class of y, `of` is no
        group, or a class has no people of a group.
    SpecError, ScopeError
        `seed`, `sampling` or `ci_prob` are none.

    Notes
    -----
    Averages of absolute or squared raw gaps are inflated by noise: with ten people in each cell and no gap at all they
    show a mean absolute gap of about .15. ``aggregate`` therefore has, beside the raw value, what would be seen without
    any gap, were groups dealt at random within classes; the posterior of the aggregate of the true gaps of these
    classes; and for squares an unbiased estimate, which may be negative. That of squares is the one number here without
    bias. The posterior mean of a size is nearer to the truth than the raw value, and still above it where gaps are
    small and people few (without any gap and with ten people in each cell .07, see CALIBRATION.md); its interval
    never includes zero: whether there is any gap at all is what ``chance`` tells.

    References
    ----------
    .. [1] De-Arteaga, M., Romanov, A., Wallach, H., Chayes, J., Borgs, C., Chouldechova, A., Geyik, S., Kenthapadi,
       K., & Kalai, A. T. (2019). Bias in bios: A case study of semantic representation bias in a high-stakes setting.
       Proceedings of FAT* '19, 120-128. https://doi.org/10.1145/3287560.3287572

    Examples
    --------
    >>> found = tpr_gaps(data="predictions.csv", of="F")                          # doctest: +SKIP
    >>> print(found)                                                              # doctest: +SKIP
    >>> found.aggregate.loc["mean absolute gap"]                                  # doctest: +SKIP
    """
    check_seed(seed)
    check_sampling(sampling)
    check_ci_prob(ci_prob)
    counts = count(y, prediction, group, data, leave_out=leave_out)
    return gaps_of(counts, of=of, ci_prob=ci_prob, seed=seed, sampling=sampling, name=name, progress=progress)


def gaps_of(
    counts: Counts,
    *,
    of: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "true-positive rates",
    progress: Progress | None = None,
) -> Gaps:
    """`tpr_gaps` of counts."""
    told = _told(counts, of)
    posterior, sample_stats = sample_rates(counts, seed=seed, sampling=sampling, progress=progress or Quiet())
    people = counts.people.to_numpy()
    # The sampler's variables alone are judged: gaps are functions of them.
    diagnostics = diagnose(posterior, sample_stats)
    for problem in diagnostics.problems:
        logger.warning(f"{name}: the fit has not converged: {problem}")
    rates = posterior["rate"].transpose("chain", "draw", *_CELL)
    posterior["gap"] = rates.copy(data=gaps(rates.to_numpy(), people))
    data = xr.Dataset({"hits": (_CELL, counts.hits.to_numpy()), "people": (_CELL, people)})
    coords = {"class": counts.classes, "group": counts.groups}
    tree = xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "sample_stats": sample_stats,
            "constant_data": data.assign_coords(coords),
        }
    )
    tree.attrs = {
        "name": name,
        "model": "hierarchical binomial",
        "priors": json.dumps(dict(PRIORS)),
        "notices": json.dumps(counts.notices),
        "versions": versions(),
        "seed": seed,
        **asdict(sampling),
        "diagnostics": diagnostics.to_json(),
    }
    draws = rates.to_numpy().reshape(-1, *people.shape)
    return Gaps(
        name=name,
        counts=counts,
        of=told,
        ci_prob=ci_prob,
        fit=tree,
        diagnostics=diagnostics,
        table=_table(counts, draws, told, ci_prob),
        variances=_variances(counts, draws, ci_prob),
        aggregate=_aggregate(counts, draws, told, ci_prob, seed),
    )


def _told(counts: Counts, of: str | None) -> tuple[str, ...]:
    """The groups whose gaps are told: with two of them the gap of one is that of the other with its sign changed."""
    if of is not None and of not in counts.groups:
        raise GapsError(f"of: '{of}' is no group; {did_you_mean(of, counts.groups)}")
    if len(counts.groups) == 2:
        return (of or counts.groups[0],)
    return (of,) if of else tuple(counts.groups)


def _table(counts: Counts, draws: np.ndarray, told: tuple[str, ...], ci_prob: float) -> pd.DataFrame:
    """A row for each class and told group."""
    hits, people = counts.hits.to_numpy(), counts.people.to_numpy()
    gap = gaps(draws, people)
    lower, upper = np.quantile(gap, tails(ci_prob), axis=0)
    negative = (gap < 0).mean(axis=0)
    everyone, recognised = people.sum(axis=1, keepdims=True), hits.sum(axis=1, keepdims=True)
    columns = {
        "people": people,
        "people_rest": everyone - people,
        "tpr": hits / people,
        "tpr_rest": (recognised - hits) / (everyone - people),
        "raw": gaps(hits / people, people),
        "gap": gap.mean(axis=0),
        "lower": lower,
        "upper": upper,
        "prob_direction": np.maximum(negative, 1 - negative),
    }
    cells = pd.MultiIndex.from_product([counts.classes, counts.groups], names=_CELL)
    whole = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=cells)
    return whole[whole.index.get_level_values("group").isin(told)]


def _variances(counts: Counts, draws: np.ndarray, ci_prob: float) -> pd.DataFrame:
    """Of the rates over groups, a row for each class."""
    of_draws = variances(draws)
    lower, upper = np.quantile(of_draws, tails(ci_prob), axis=0)
    raw = variances((counts.hits / counts.people).to_numpy())
    columns = {"raw": raw, "variance": of_draws.mean(axis=0), "lower": lower, "upper": upper}
    return pd.DataFrame(columns, index=pd.Index(counts.classes, name="class"))


def _aggregate(
    counts: Counts, draws: np.ndarray, told: tuple[str, ...], ci_prob: float, seed: int
) -> pd.DataFrame:
    """A row for each quantity over classes."""
    hits, people = counts.hits.to_numpy(), counts.people.to_numpy()
    raw, no_gaps = hits / people, without_gaps(hits, people, seed)
    unbiased = {
        RMS: np.sqrt(max(unbiased_mean_square(hits, people), 0.0)),
        VARIANCE: unbiased_variance(hits, people),
    }
    found = {
        quantity: _row(float(of_raw), of_nothing, of_draws, ci_prob)
        for (quantity, of_raw), of_nothing, of_draws in zip(
            _quantities(raw, counts, told).items(),
            _quantities(no_gaps, counts, told).values(),
            _quantities(draws, counts, told).values(),
            strict=True,
        )
    }
    table = pd.DataFrame.from_dict(found, orient="index").rename_axis("quantity")
    table.insert(3, "unbiased", [unbiased.get(quantity, np.nan) for quantity in table.index])
    return table


def _quantities(rates: np.ndarray, counts: Counts, told: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What sums up the gaps of all classes, of rates (..., class, group)."""
    gap = gaps(rates, counts.people.to_numpy())
    found = {MEAN_ABSOLUTE: mean_absolute(gap), RMS: root_mean_square(gap)}
    if len(counts.groups) > 2:
        found[VARIANCE] = variances(rates).mean(axis=-1)
    means = gap.mean(axis=-2)
    return found | {f"{MEAN_GAP} of {group}": means[..., counts.groups.index(group)] for group in told}


def _row(raw: float, nothing: np.ndarray, draws: np.ndarray, ci_prob: float) -> dict[str, float]:
    lower, upper = np.quantile(draws, tails(ci_prob))
    beyond = np.abs(nothing) >= abs(raw) - 1e-12
    return {
        "raw": raw,
        "without_gaps": float(nothing.mean()),
        "chance": float((beyond.sum() + 1) / (len(beyond) + 1)),
        "estimate": float(draws.mean()),
        "lower": float(lower),
        "upper": float(upper),
    }
