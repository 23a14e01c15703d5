"""`tpr_gaps.estimate`: gaps of true-positive rates with their uncertainty."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pymc.model.transform.optimization import freeze_dims_and_data
from scipy.linalg import helmert
from scipy.special import logit

from bayes_bias.analyses.tpr_gaps.counts import (
    Labels,
    PeopleCounts,
    Source,
    count,
    gaps,
    mean_absolute,
    root_mean_square,
    unbiased_mean_square,
    unbiased_variance,
    variances,
    without_gaps,
)
from bayes_bias.analyses.tpr_gaps.results import MEAN_ABSOLUTE, MEAN_GAP, RMS, VARIANCE, TprGaps
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import TprGapsError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import NamedData, fit_model
from bayes_bias.fitting.sampling import PyMCModel, Sampling, check_sampling, key_of
from bayes_bias.models.normal_effects import normal_effects
from bayes_bias.models.patterns import zero_sum_sd
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.shared_types import Numbers
from bayes_bias.table.metric import Metric

SPEC = ModelSpec(
    name="hierarchical binomial",
    title="Hierarchical binomial model of true-positive rates",
    description="",
    structure="tpr gaps",
    options={},
    priors={
        "level_mean": Prior("Normal", {"mu": 0, "sigma": 1.5}),
        "sd_level": Prior("HalfNormal", {"sigma": 1.5}),
        "mean_gap": Prior("Normal", {"mu": 0, "sigma": 1}),
        "sd_gap": Prior("Exponential", {"lam": 2.5}),
    },
)
# The variables from which rates and mean gaps are computed.
_CELL = ("class", "group")
MADE_OF = ("level", "gap_contrast", "mean_contrast")
# A typical size of the standard deviations, in log odds.
_TYPICAL = 0.5


def rates_model(counts: PeopleCounts) -> PyMCModel:
    """Return the model for these counts, with the key under which its compiled form is kept."""
    inputs = _inputs(counts)
    coords = _coords(counts)
    return PyMCModel(lambda: _model(inputs), coords, key_of(SPEC, inputs, coords), inputs)


def labelled_rates_model(counts: PeopleCounts) -> pm.Model:
    """Return the PyMC model of the rates with labels, and with the counts as constants."""
    return freeze_dims_and_data(_model(_inputs(counts), _coords(counts)))


def _coords(counts: PeopleCounts) -> dict[str, list[str]]:
    """Return the coordinates of the dimensions of the model."""
    return {"class": counts.classes, "group": counts.groups}


def _inputs(counts: PeopleCounts) -> dict[str, Numbers]:
    """Return the data of the model: hits and people (class, group), contrasts (contrast, group), and evidence.

    The contrasts describe the differences between groups, one fewer than the number of groups. With two groups, the
    only contrast is the difference between their log odds. The evidence only helps the sampler.
    """
    hits = counts.hits.to_numpy(dtype=int)
    people = counts.people.to_numpy(dtype=int)
    n_groups = len(counts.groups)
    contrasts = helmert(n_groups) / zero_sum_sd(n_groups)
    level, gap = _evidence(hits, people, contrasts)
    return {"hits": hits, "people": people, "contrasts": contrasts, "level_evidence": level, "gap_evidence": gap}


def _evidence(hits: Numbers, people: Numbers, contrasts: Numbers) -> tuple[Numbers, Numbers]:
    """Return score and information of levels (2, class) and gaps (2, class, contrast). See `normal_effects`.

    For an estimate with a variance, these are ``estimate / variance`` and ``1 / variance``. Estimates of levels and
    gaps are weighted sums of the empirical log odds over groups. With the rate p of all people of a class, the log odds
    of n people have approximately the variance 1 / (p (1 - p) n).
    """
    rate = (hits.sum(axis=1, keepdims=True) + 1) / (people.sum(axis=1, keepdims=True) + 2)
    log_odds = logit((hits + 0.5) / (people + 1))  # (class, group)
    variance = 1 / (rate * (1 - rate) * people)

    def score_and_information(weights: Numbers) -> Numbers:
        estimate = log_odds @ weights
        return np.array([estimate, np.ones_like(estimate)]) / (variance @ weights**2)

    weights_of_level = np.full(people.shape[1], 1 / people.shape[1])
    weights_of_gaps = np.linalg.pinv(contrasts)  # (group, contrast)
    return score_and_information(weights_of_level), score_and_information(weights_of_gaps)


def _model(inputs: Mapping[str, Numbers], coords: dict[str, list[str]] | None = None) -> pm.Model:
    r"""Return the model for any numbers of classes and groups, which are determined by the data.

    .. math:: \mathrm{hits}_{cg} \sim \mathrm{Binomial}(\mathrm{people}_{cg}, \mathrm{rate}_{cg}), \qquad
              \mathrm{logit}\ \mathrm{rate}_{cg} = \mathrm{level}_c + \sum_k \mathrm{gap}_{ck} H_{kg}

    where :math:`H` contains the contrasts of groups. If the model is labelled, inputs that only the sampler uses are
    constants, which a graph does not show.
    """
    with pm.Model(coords=coords) as model:
        hits = pm.Data("hits", inputs["hits"], dims=_CELL)
        people = pm.Data("people", inputs["people"], dims=_CELL)
        contrasts = pm.Data("contrasts", inputs["contrasts"], dims=("contrast", "group"))
        level_evidence, gap_evidence = inputs["level_evidence"], inputs["gap_evidence"]
        if coords is None:
            level_evidence = pm.Data("level_evidence", level_evidence)
            gap_evidence = pm.Data("gap_evidence", gap_evidence)

        level_mean = free(SPEC, "level_mean")
        mean = pm.Normal("mean_contrast", **SPEC.priors["mean_gap"].parameters, dims="contrast")
        sd_level = free(SPEC, "sd_level", _TYPICAL)
        sd_gap = free(SPEC, "sd_gap", _TYPICAL)
        level = normal_effects("level", level_mean, sd_level, level_evidence, "class")
        gap = normal_effects("gap_contrast", mean, sd_gap, gap_evidence, ("class", "contrast"))

        # Sums of products, because a matrix product takes half a minute to compile.
        deviation = (gap[:, :, None] * contrasts).sum(axis=1)
        logit_rate = level[:, None] + deviation
        pm.Deterministic("rate", pm.math.sigmoid(logit_rate), dims=_CELL)
        # Convert deviations from the average of all groups to deviations from the average of the other groups.
        to_others = zero_sum_sd(contrasts.shape[1], pt) ** 2
        mean_deviation = (mean[:, None] * contrasts).sum(axis=0)
        pm.Deterministic("mean_gap", to_others * mean_deviation, dims="group")
        pm.Binomial("recognised", people, logit_p=logit_rate, observed=hits, dims=_CELL)
    return model


RATE = Metric("true-positive rate", unit="share of people", range=(0.0, 1.0), zero="nobody is recognised")


def estimate(
    y: Labels = "y",
    prediction: Labels = "prediction",
    group: Labels = "group",
    *,
    data: Source | None = None,
    of: str | None = None,
    leave_out: bool = False,
    ignore: str | Sequence[str] = (),
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "true-positive rates",
) -> TprGaps:
    """Estimate gaps of true-positive rates between groups, for each class and over classes.

    The gap of group g in class c is the share of people whose class is predicted correctly in this group, minus the
    share among all others [1]_,

        gap[c, g] = TPR[c, g] - TPR[c, not g]

    A hierarchical binomial model estimates an interval for each gap, and corrects the average size of gaps for noise:

        hits[c, g] ~ Binomial(people[c, g], TPR[c, g])
        logit TPR[c, g] = level[c] + deviation[c, g],    deviations sum to zero over groups

    Levels are Normal(level_mean, sd_level). The difference between the log odds of a group and the average of all other
    groups is Normal(mean_gap[g], sd_gap), so that gaps with few people are shrunk towards the mean gap.

    Parameters
    ----------
    y, prediction, group : sequence of labels, or str
        True class, predicted class and group of each person, or the names of columns of `data`.
    data : pandas.DataFrame, str or Path, optional
        A frame or CSV file with a row for each person. Labels of a CSV file are read as text.
    of : str, optional
        The group whose gap is reported. By default, it is the first of two groups in alphabetical order. If there are
        more than two groups, the gaps of all groups are reported.
    leave_out : bool
        Whether to omit classes in which a group has no people, and log a notice. By default, such classes raise an
        error.
    ignore : str or sequence of str
        Columns of settings of the classifier, such as a seed or a version. Predictions are pooled over these columns.
        By default, different settings raise an error.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
        Seed of the random numbers. The same seed returns the same results.
    sampling : Sampling
        Numbers of draws and chains.
    name : str
        The title of the page and the figure.

    Returns
    -------
    TprGaps
        ``table`` (a row for each gap), ``aggregate``, ``variances`` and ``fit``, in shares of people. When printed, it
        shows sentences.

    Raises
    ------
    TprGapsError
        If labels are missing or have different lengths, if there is only one group, if no prediction is a class of `y`,
        if `of` is not a group, if a class has no people of a group, or if predictions are from several classifiers or
        settings.
    SpecError, ScopeError
        If `seed`, `sampling` or `ci_prob` is invalid.

    Notes
    -----
    Noise inflates averages of absolute or squared raw gaps: with ten people in each cell and no gap, the mean absolute
    raw gap is about .15. Therefore, ``aggregate`` contains the raw value, its expected value without any gap (from
    permuting groups within classes), the posterior of the aggregate of the true gaps of these classes and, for squares,
    an unbiased estimate, which may be negative. It is the raw value minus the part that sampling adds: an observed rate
    p of n people adds p (1 - p) / (n - 1) times the square of its weight. The posterior mean of an average size is
    closer to the truth than the raw value, but still too large if gaps are small and there are few people (.07 without
    any gap and with ten people in each cell, see docs/evidence/other-analyses.md). The interval of an average size
    never includes zero, so use ``chance`` to decide whether there is a gap.

    References
    ----------
    .. [1] De-Arteaga, M., Romanov, A., Wallach, H., Chayes, J., Borgs, C., Chouldechova, A., Geyik, S., Kenthapadi,
       K., & Kalai, A. T. (2019). Bias in bios: A case study of semantic representation bias in a high-stakes setting.
       Proceedings of FAT* '19, 120-128. https://doi.org/10.1145/3287560.3287572

    Examples
    --------
    >>> gaps = estimate(data="predictions.csv", of="F")                           # doctest: +SKIP
    >>> gaps.aggregate.loc["mean absolute gap"]                                   # doctest: +SKIP
    """
    seed = check_seed(seed)
    check_sampling(sampling)
    check_ci_prob(ci_prob)
    counts = count(y, prediction, group, data, leave_out=leave_out, ignore=ignore)
    return gaps_of(counts, of=of, ci_prob=ci_prob, seed=seed, sampling=sampling, name=name)


def pymc_model(
    y: Labels = "y",
    prediction: Labels = "prediction",
    group: Labels = "group",
    *,
    data: Source | None = None,
    leave_out: bool = False,
    ignore: str | Sequence[str] = (),
) -> pm.Model:
    """Return the PyMC model that `estimate` samples.

    Parameters
    ----------
    y, prediction, group, data, leave_out, ignore
        As in `estimate`.

    Returns
    -------
    pymc.Model
        Its free variables are ``level_mean``, ``mean_contrast (contrast)``, ``sd_level``, ``sd_gap``, ``level (class)``
        and ``gap_contrast (class, contrast)``. With two groups, the contrast is the difference between their log odds.
        With more groups, Helmert contrasts are used. ``mean_gap (group)`` and ``rate (class, group)`` are computed from
        these variables. The observed variable is ``recognised (class, group)``, whose density is binomial without the
        constant coefficient. The fit of `TprGaps` contains all variables, so that
        ``pm.sample_posterior_predictive(gaps.fit, model=model)`` works.

    Raises
    ------
    TprGapsError
        As in `estimate`.

    Examples
    --------
    >>> people = {"y": ["a", "a", "b", "b"], "prediction": ["a", "b", "b", "b"], "group": ["F", "M", "F", "M"]}
    >>> [variable.name for variable in pymc_model(**people).observed_RVs]
    ['recognised']
    """
    return labelled_rates_model(count(y, prediction, group, data, leave_out=leave_out, ignore=ignore))


def gaps_of(
    counts: PeopleCounts,
    *,
    of: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "true-positive rates",
) -> TprGaps:
    """Estimate gaps from counts of people and hits by class and group. The other arguments are those of `estimate`.

    Rates are sampled from their posterior. The gap of each draw, a group's rate minus the rate of all other people of
    the class, is computed from the rates, and added to the posterior.
    """
    if of is not None and of not in counts.groups:
        raise TprGapsError(f"`of` is '{of}', which is not a group.", of, counts.groups)
    # The gaps of two groups differ only in sign, so only one of them is reported.
    reported = counts.groups[:1] if len(counts.groups) == 2 else counts.groups
    groups = (of,) if of else tuple(reported)
    hits = counts.hits.to_numpy()
    people = counts.people.to_numpy()

    def with_gaps(posterior: xr.Dataset) -> xr.Dataset:
        """Add the gap of each class and group to the posterior."""
        rates = posterior["rate"].transpose("chain", "draw", *_CELL)
        return posterior.assign(gap=rates.copy(data=gaps(rates.to_numpy(), people)))

    fitted = fit_model(
        NamedData(name, RATE, counts.sha256, counts.notices),
        SPEC,
        rates_model(counts),
        xr.Dataset({"hits": (_CELL, hits), "people": (_CELL, people)}, coords=_coords(counts)),
        seed=seed,
        sampling=sampling,
        derive=with_gaps,
        made_of=MADE_OF,
    )
    # The rates (draw, class, group), with the draws of all chains in one dimension.
    draws = fitted.posterior["rate"].transpose("chain", "draw", *_CELL).to_numpy().reshape(-1, *people.shape)
    variance_columns = {"observed": variances(hits / people), **summarize_draws(variances(draws), ci_prob)}
    return TprGaps(
        name=name,
        counts=counts,
        of=groups,
        ci_prob=ci_prob,
        fit=fitted.tree,
        diagnostics=Diagnostics.of(fitted),
        table=_table(counts, draws, groups, ci_prob),
        variances=pd.DataFrame(variance_columns, pd.Index(counts.classes, name="class")),
        aggregate=_aggregate(counts, draws, groups, ci_prob, seed),
    )


def _table(counts: PeopleCounts, draws: np.ndarray, groups: tuple[str, ...], ci_prob: float) -> pd.DataFrame:
    """Return a row for each class and each group whose gap is reported. See ``table`` of `TprGaps`.

    `draws` are posterior draws of the rates, (draw, class, group), and `groups` are the groups that are reported. The
    columns ending in "rest" are about all other people of the class. All columns are computed as arrays (class, group).
    """
    hits = counts.hits.to_numpy()
    people = counts.people.to_numpy()
    people_rest = people.sum(axis=1, keepdims=True) - people
    hits_rest = hits.sum(axis=1, keepdims=True) - hits
    gap = gaps(draws, people)
    prob_negative = (gap < 0).mean(axis=0)
    columns = {
        "people": people,
        "people_rest": people_rest,
        "tpr": hits / people,
        "tpr_rest": hits_rest / people_rest,
        "observed": gaps(hits / people, people),
        **summarize_draws(gap, ci_prob),
        "prob_direction": np.maximum(prob_negative, 1 - prob_negative),
    }
    index = pd.MultiIndex.from_product([counts.classes, counts.groups], names=_CELL)
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=index)
    return table[table.index.get_level_values("group").isin(groups)]


def _aggregate(
    counts: PeopleCounts, draws: np.ndarray, groups: tuple[str, ...], ci_prob: float, seed: int
) -> pd.DataFrame:
    """Return the observed value, expected value without gaps, and estimate of each summary over classes.

    `draws` are posterior draws of the rates, (draw, class, group). Three sets of rates are summarised: the observed
    rates, posterior draws, and S simulations for classes without gaps. The p-value ``chance`` is (k + 1) / (S + 1),
    where k simulated values are at least as far from zero as the observed value. Unbiased estimates exist for two of
    the summaries, and an estimated mean square below zero becomes zero. See ``aggregate`` of `TprGaps`.
    """
    hits = counts.hits.to_numpy()
    people = counts.people.to_numpy()
    unbiased = {RMS: np.sqrt(max(unbiased_mean_square(hits, people), 0.0)), VARIANCE: unbiased_variance(hits, people)}
    observed = _summaries(hits / people, counts, groups)
    posterior = _summaries(draws, counts, groups)
    simulated = _summaries(without_gaps(hits, people, seed), counts, groups)
    rows = {}
    for quantity, value in observed.items():
        # Simulated values that differ from the observed value only by rounding errors count as equal.
        is_as_large = np.abs(simulated[quantity]) >= abs(float(value)) - 1e-12
        rows[quantity] = {
            "observed": float(value),
            "without_gaps": float(simulated[quantity].mean()),
            "chance": float((is_as_large.sum() + 1) / (len(is_as_large) + 1)),
            "unbiased": unbiased.get(quantity, np.nan),
            **{name: float(number) for name, number in summarize_draws(posterior[quantity], ci_prob).items()},
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")


def _summaries(rates: np.ndarray, counts: PeopleCounts, groups: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return summaries of rates (..., class, group) over all classes, each (...), by name.

    These are the mean absolute and the root mean square gap, the mean variance over groups (for three groups or more),
    and the mean gap of each group in `groups`. The gap of a group is its rate minus the rate of all other people of the
    class, which depends on the numbers of people in `counts`.
    """
    gap = gaps(rates, counts.people.to_numpy())
    summaries = {MEAN_ABSOLUTE: mean_absolute(gap), RMS: root_mean_square(gap)}
    if len(counts.groups) > 2:
        summaries[VARIANCE] = variances(rates).mean(axis=-1)
    mean_gaps = gap.mean(axis=-2)  # (..., group)
    for group in groups:
        summaries[f"{MEAN_GAP} of {group}"] = mean_gaps[..., counts.groups.index(group)]
    return summaries
