"""`sentence_pairs.estimate`: shares and differences of sentence pairs with their uncertainty."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from bayes_bias.analyses.sentence_pairs.estimands import (
    NO_PREFERENCE,
    EstimandDraws,
    PairScope,
    check_pair_scope,
    differences,
    estimated_change,
    estimated_shares,
    linear_predictor,
    observed,
)
from bayes_bias.analyses.sentence_pairs.models import fit_difference, fit_share, labelled_model, pairs_spec
from bayes_bias.analyses.sentence_pairs.planning import pairs_needed, plan_pairs
from bayes_bias.analyses.sentence_pairs.published import changes_of, paired, published, ties_as_half
from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.analyses.sentence_pairs.scores import (
    LABELS,
    TYPE,
    PairScores,
    clusters_of,
    design,
    position_of,
    read_scores,
    untied,
)
from bayes_bias.analyses.sentence_pairs.scoring import opened
from bayes_bias.analyses.sentence_pairs.units import DECIMALS, ScoreUnit
from bayes_bias.arguments import check_ci_prob, keep_whole
from bayes_bias.errors import SentencePairsError
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.estimate import summarize_draws, tails
from bayes_bias.progress import within
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import interval_names

type Scores = PairScores | pd.DataFrame | str | Path

# This number of draws is enough for the 1,508 pairs of CrowS-Pairs. Each draw takes longer than in the crossed model.
SAMPLING = Sampling(draws=1000, tune=700, target_accept=0.95)


class _Options(TypedDict, total=False):
    model: str | Path | ModelSpec
    of: str | None
    name: str | None
    decimals: int | None
    unit: ScoreUnit | None
    ignore: str | Sequence[str]
    scope: PairScope
    ci_prob: float
    seed: int
    sampling: Sampling
    folder: str | Path | None


@overload
def estimate(scores: Scores, after: None = None, **options: Unpack[_Options]) -> SentencePairs: ...


@overload
def estimate(scores: Scores, after: Scores, **options: Unpack[_Options]) -> SentencePairsChange: ...


def estimate(
    scores: Scores,
    after: Scores | None = None,
    *,
    model: str | Path | ModelSpec = "pairs",
    of: str | None = None,
    name: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
    ignore: str | Sequence[str] = (),
    scope: PairScope = "all",
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    folder: str | Path | None = None,
) -> SentencePairs | SentencePairsChange:
    r"""Estimate the preference of a language model for stereotypical sentences, as a share and as a mean difference.

    Benchmarks of sentence pairs (CrowS-Pairs [1]_, StereoSet, AUL, differences of log-likelihoods) report a share as if
    pairs were independent. However, the 1,508 pairs of CrowS-Pairs were written by 77 people, one of whom wrote 130
    pairs. Two hierarchical models therefore include clusters of writers, templates and terms [2]_,

    .. math:: \mathrm{ahead}_i \sim \mathrm{Bernoulli}(\mathrm{logit}^{-1}(\lambda + \mathrm{type}_{t(i)} +
              \mathrm{writer}_{w(i)} + \dots)), \qquad
              d_i \sim N(\mu + \mathrm{type}_{t(i)} + \mathrm{writer}_{w(i)} + \dots, \sigma^2)

    with a term for each of these columns in the scores. The share is averaged over writers and over types. Types are
    weighted by their numbers of pairs.

    Parameters
    ----------
    scores : PairScores, pandas.DataFrame, str or Path
        One row for each pair. See `bayes_bias.analyses.sentence_pairs.scores.read_scores`.
    after : the same as `scores`, optional
        Scores of the same items by another model, or by the same model after debiasing. Each pair is compared with
        itself.
    model : str, Path or ModelSpec
        The built-in model "pairs", or a copy of it with other priors.
    of : str, optional
        The language model whose scores are used, if the column ``model`` contains several models.
    name : str, optional
        The name of the scores in tables and figures.
    decimals : int or None
        Number of decimals to which scores are rounded before they are compared. None compares unrounded scores.
    unit : {"log-probability", "probability", "loss", "perplexity"}, optional
        The unit of the scores. By default, scores must be log probabilities, and other values raise an error.
        Probabilities, losses and perplexities are converted to log probabilities first.
    ignore : str or sequence of str
        Columns of settings, such as a layer or a version. Pairs are pooled over these columns. By default, different
        settings raise an error.
    scope : {"all", "pairs", "none"}
        The population that the results generalise to: new pairs of new writers, templates and terms ("all"), new pairs
        of the same writers ("pairs"), or exactly these pairs ("none").
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
    sampling : Sampling
    folder : str or Path, optional
        A folder to which each posterior is saved as soon as it is sampled. An interrupted run continues from there, and
        the same call does not sample or compile again. A posterior is reused only if the data, labels, model, seed,
        sampler, and software versions are the same.

    Returns
    -------
    SentencePairs, or with `after` SentencePairsChange
        ``table``, ``published``, and ``verdict``. Shares are between 0 and 1, and differences are in nats if the scores
        are natural logarithms. When printed, it shows sentences.

    Raises
    ------
    SentencePairsError
        If the scores cannot be read, do not vary, appear to have a different unit, or were computed under different
        settings, or if `after` contains different pairs.
    SpecError, ScopeError
        If `model` is not a model of pairs, or if a unit, scope, seed or probability is invalid.

    Notes
    -----
    Types, such as gender or religion, are fixed effects, so results do not generalise to other types. The model assumes
    that a writer has the same effect in all types. If this is not the case, intervals of single types are somewhat too
    short.

    Differences need not be normal if the number of pairs is at least 25 times the squared skewness [3]_, because the
    posterior of a mean then depends only on means and variances. If there are fewer pairs, a notice is logged. If you
    use a copy of the model with a prior for ``nu``, residuals have a Student-t distribution, and the estimand is their
    location.

    The change of a share is ``P(changed) (2 P(gained | changed) - 1)``. Each probability has its own effects.

    References
    ----------
    .. [1] Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring
       social biases in masked language models. Proceedings of EMNLP 2020, 1953-1967.
       https://doi.org/10.18653/v1/2020.emnlp-main.154
    .. [2] Miller, E. (2024). Adding error bars to evals: A statistical approach to language model evaluations.
       https://doi.org/10.48550/arXiv.2411.00640
    .. [3] Cochran, W. G. (1977). Sampling Techniques, 3rd edition, section 2.15. Wiley.

    Examples
    --------
    >>> print(estimate("crows.csv"))                                              # doctest: +SKIP
    >>> print(estimate("before.csv", "after.csv").verdict)                        # doctest: +SKIP
    """
    settings = PairSettings(pairs_spec(model), scope, ci_prob, seed, sampling, opened(folder))
    reading: dict[str, Any] = {"name": name, "model": of, "decimals": decimals, "unit": unit, "ignore": ignore}
    before = read_scores(scores, **reading)
    if after is None:
        return estimate_one(before, settings)
    return estimate_change(before, read_scores(after, **reading), settings)


def pymc_model(
    scores: Scores,
    estimand: Literal["share", "difference"] = "share",
    *,
    model: str | Path | ModelSpec = "pairs",
    of: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
    ignore: str | Sequence[str] = (),
) -> pm.Model:
    """Return the PyMC model that `estimate` samples for the share or for the difference.

    Parameters
    ----------
    scores, model, of, decimals, unit, ignore
        As in `estimate`.
    estimand : {"share", "difference"}
        The share of pairs whose stereotypical sentence is ahead, or the mean difference.

    Returns
    -------
    pymc.Model
        The model of a share has a variable ``logit``. The model of a difference has ``mean``, and ``scale_residual`` in
        units of the standard deviation of the differences. Both have standard deviations and effects of the types,
        writers, templates and terms in the scores. The sampled variable with the prior is ``average_logit`` or
        ``average_mean``, the level with the average effect of these writers. The observed variable of a share is
        ``ahead``, a number of pairs for each combination of clusters. The observed variable of a difference is
        ``difference``.

    Raises
    ------
    SentencePairsError
        As in `estimate`, or if the estimand is unknown.
    SpecError
        If `model` is not a model of pairs.

    Examples
    --------
    >>> model = pymc_model("crows.csv", "difference")                             # doctest: +SKIP
    """
    if estimand not in ("share", "difference"):
        raise SentencePairsError(f"`estimand` must be 'share' or 'difference', but is {estimand!r}.")
    spec = pairs_spec(model)
    return labelled_model(read_scores(scores, model=of, decimals=decimals, unit=unit, ignore=ignore), spec, estimand)


# Estimation from checked scores: both models are fitted, and every estimand is tabulated.


@dataclass(frozen=True, eq=False)
class PairSettings:
    """Checked options that all fits of one analysis share."""

    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    seed: int
    sampling: Sampling
    folder: Path | None = None

    def __post_init__(self) -> None:
        check_pair_scope(self.scope)
        check_ci_prob(self.ci_prob)
        keep_whole(self, "seed")
        check_sampling(self.sampling)

    @property
    def fitting(self) -> dict[str, Any]:
        """Return the arguments of a fit."""
        return {"seed": self.seed, "sampling": self.sampling, "folder": self.folder}


def estimate_one(scores: PairScores, settings: PairSettings) -> SentencePairs:
    """Return the share and the difference for one table of scores.

    The fit "share" describes untied pairs, in which one of the two sentences is ahead. If pairs tie, the fit "untied"
    describes how many pairs do not tie, because the estimand counts a tie as half. The rows of each estimand in the
    table come from posterior draws, the observed value of each pair, and one of the intervals that treat pairs as
    independent: Wilson's for a share, and Student's for a share with ties (``ties_half``) and for the difference.
    """
    data, notices = design(scores)
    scores = replace(scores, notices=(*scores.notices, *announce(notices)))
    spec, ci_prob, scope = settings.spec, settings.ci_prob, settings.scope
    share = fit_share(scores, spec, data, **settings.fitting)
    difference = fit_difference(scores, spec, data, **settings.fitting)
    fits = {"share": share, "difference": difference}
    share_draws = _posterior(share)
    untied_draws = None
    interval_of_share = "wilson"
    is_untied = untied(data)
    if not is_untied.all():
        # Another seed makes the draws of the two fits independent.
        reseeded = {**settings.fitting, "seed": settings.seed + 1}
        fits["untied"] = fit_share(scores, spec, data, counted=is_untied, **reseeded)
        untied_draws = _posterior(fits["untied"])
        interval_of_share = "ties_half"
    classical = published(scores, ci_prob)
    # The first three arguments are the same for both estimands.
    rows_of = partial(_rows_of_estimand, data, classical, settings)
    shares_of_pairs = ties_as_half(scores.rows).to_numpy()
    mean_differences = differences(_posterior(difference), data, scope)
    table = {
        "share": rows_of(estimated_shares(fits, data, scope), shares_of_pairs, interval_of_share, NO_PREFERENCE, 0.5),
        "difference": rows_of(mean_differences, data.difference.to_numpy(), "student"),
    }
    return SentencePairs(
        scores=scores,
        fits=fits,
        spec=spec,
        scope=scope,
        ci_prob=ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=classical,
        planned=plan_pairs(share_draws, data, untied=untied_draws, ci_prob=ci_prob),
        needed=pairs_needed(share_draws, data, untied=untied_draws, ci_prob=ci_prob),
        checks=predictive_checks(share, difference, settings.seed),
    )


def estimate_change(before: PairScores, after: PairScores, settings: PairSettings) -> SentencePairsChange:
    """Return the change between two sets of scores for the same pairs, and the results for each set.

    The change of the share is estimated from two fits: "changed", the share of pairs in which another sentence is
    ahead or a tie was gained or lost, and "gained", the share of these pairs that changed towards the stereotype.

    `changes` has a value for each pair: 1 if the stereotypical sentence came to the front, -1 if it fell behind, 1/2 or
    -1/2 from or to a tie, and 0 if the same sentence is ahead. The null value of all estimands is zero.
    """
    change_of_scores = _change(before, after)
    data, _ = design(change_of_scores)
    changes = changes_of(before, after)
    has_changed = changes != 0
    with within("before"):
        result_before = estimate_one(before, settings)
    with within("after"):
        result_after = estimate_one(after, settings)
    spec, scope, fitting = settings.spec, settings.scope, settings.fitting
    # Another seed makes the draws of the two fits independent.
    reseeded = {**fitting, "seed": settings.seed + 1}
    with within("change"):
        changed = fit_share(change_of_scores, spec, data, counted=has_changed, **fitting)
        gained = fit_share(change_of_scores, spec, data, counted=changes > 0, among=has_changed, **reseeded)
        difference = fit_difference(change_of_scores, spec, data, **fitting)
    fits = {"changed": changed, "gained": gained, "difference": difference}
    classical = paired(before, after, settings.ci_prob)
    # The first three arguments are the same for both estimands.
    rows_of = partial(_rows_of_estimand, data, classical, settings)
    mean_differences = differences(_posterior(difference), data, scope)
    table = {
        "share": rows_of(estimated_change(fits, data, changes, scope), changes, "ties_half", largest=1.0),
        "difference": rows_of(mean_differences, data.difference.to_numpy(), "student"),
    }
    return SentencePairsChange(
        before=result_before,
        after=result_after,
        fits=fits,
        spec=spec,
        scope=scope,
        ci_prob=settings.ci_prob,
        table=pd.concat(table, names=["estimand", "label"]),
        published=classical,
    )


def _change(before: PairScores, after: PairScores) -> PairScores:
    """Return scores whose difference is the difference after minus the difference before, for the same pairs.

    The labels are the labels before. Raise an error if the two sets have other pairs, other labels, or another unit, or
    if no difference has changed.
    """
    unmatched = before.rows.index.symmetric_difference(after.rows.index)
    if len(unmatched):
        raise SentencePairsError(
            f"`after` and the scores before have pairs in one of them only ({len(unmatched):,}, such as"
            f" '{unmatched[0]}'). Score the same items twice."
        )
    check_same_labels(before, after, "after", "before")
    if before.metric.unit != after.metric.unit:
        raise SentencePairsError(
            f"`after` has differences in {after.metric.unit}, but before they are in {before.metric.unit}. Use scores"
            " in the same unit."
        )
    difference = after.rows.difference - before.rows.difference
    if not difference.any():
        raise SentencePairsError(
            "`after` has the same difference as before in every pair. Pass the scores of another model."
        )
    name = before.name if before.name == after.name else f"{before.name} to {after.name}"
    return replace(before, name=name, rows=before.rows.assign(difference=difference), notices=())


def check_same_labels(first: PairScores, second: PairScores, argument: str, when: str) -> None:
    """Raise an error if pairs have different sentences or labels in two sets of scores.

    The message names the `argument` that contains the second set, and says when the first set was made (`when`, such
    as "before").
    """
    if first.sentences is not None and second.sentences is not None:
        second_sentences = second.sentences.loc[first.sentences.index]
        differs = (first.sentences != second_sentences).any(axis=1)
        if differs.any():
            item = differs.index[differs][0]
            sentence = first.sentences.sentence_more[item][:60]
            other_sentence = second_sentences.sentence_more[item][:60]
            raise SentencePairsError(
                f"`{argument}`: item '{item}' is '{other_sentence}', but '{sentence}' {when}. Give each pair of"
                " sentences the same item in both tables."
            )
    for column in LABELS:
        if column not in first.rows or column not in second.rows:
            continue
        labels, other_labels = first.rows[column], second.rows[column]
        if not labels.equals(other_labels):
            item = labels.index[labels != other_labels][0]
            raise SentencePairsError(
                f"`{argument}`: {column} of item '{item}' is '{other_labels[item]}', but '{labels[item]}' {when}. Give"
                " each pair the same labels in both tables."
            )


def _posterior(fit: xr.DataTree) -> xr.Dataset:
    """Return the posterior draws of a fit as a data set."""
    return fit["posterior"].to_dataset()


def _rows_of_estimand(
    data: xr.Dataset,
    classical: pd.DataFrame,
    settings: PairSettings,
    draws: EstimandDraws,
    values: NDArray[Any],
    interval: str,
    null: float = 0.0,
    largest: float = np.inf,
) -> pd.DataFrame:
    """Return the rows of the result table for one estimand: all pairs, and each type.

    Parameters
    ----------
    data : xarray.Dataset
        The pairs with their types and clusters.
    classical : pandas.DataFrame
        Numbers of pairs, and intervals that treat pairs as independent, with a row for all pairs and for each type.
        `interval` is the name of one of these intervals, such as "wilson".
    draws : EstimandDraws
        Posterior draws of the estimand, and the standard deviations of its noise.
    values : array (pairs,)
        One value for each pair, whose average is the observed value of the estimand.
    null : float
        The value of the estimand without preference or without change.
    largest : float
        The largest possible deviation from this value. The noise of a few pairs is not normal, and cannot exceed it.

    Returns
    -------
    pandas.DataFrame
        See ``table`` of `SentencePairs`. With the scope "none", the estimand is the observed value without uncertainty,
        so the probabilities and the posterior and noise intervals are missing.
    """
    ci_prob = settings.ci_prob
    labels = list(draws.labels)  # all pairs, and the types
    prob_above = (draws.values > null).mean(axis=0)
    noise_names = interval_names(ci_prob, "ci", "noise")
    noise_bounds = null + np.clip(_noise_interval(draws, ci_prob), -largest, largest)  # (lower and upper bound, label)
    independent_names = interval_names(ci_prob, "ci", "independent")
    independent_bounds = [classical.loc[labels, name].to_numpy() for name in interval_names(ci_prob, "ci", interval)]
    columns = {
        "pairs": classical.pairs[labels].astype(int),
        **summarize_draws(draws.values, ci_prob),
        "prob_above": prob_above,
        "prob_direction": np.maximum(prob_above, 1 - prob_above),
        "observed": list(observed(data, values).values()),
        **dict(zip(noise_names, noise_bounds, strict=True)),
        **dict(zip(independent_names, independent_bounds, strict=True)),
    }
    table = pd.DataFrame(columns, index=pd.Index(labels, name="label"))
    if settings.scope != "none":
        return table
    unknown = [*interval_names(ci_prob), "prob_above", "prob_direction", *noise_names]
    return table.assign(mean=table.observed, sd=0.0, **dict.fromkeys(unknown, np.nan))


def _noise_interval(draws: EstimandDraws, ci_prob: float) -> Numbers:
    """Return the equal-tailed interval of the noise of each label, (2, labels).

    Each draw has a standard deviation s of the noise, so the noise is a mixture of normal distributions N(0, s²) with
    equal weights. Its quantiles are computed from at least 500 draws (if there are as many) and 199 quantiles of each
    normal distribution.
    """
    noise_sd = np.broadcast_to(draws.noise_sd, draws.values.shape)  # (draw, label)
    stride = max(1, len(noise_sd) // 500)
    normal_quantiles = norm.ppf((np.arange(199) + 0.5) / 199)
    noise = noise_sd[::stride, None, :] * normal_quantiles[:, None]  # (draw, quantile, label)
    return np.quantile(noise, tails(ci_prob), axis=(0, 1))


# The number of tables that are drawn for model checks.
DRAWN = 400
# A statistic is reported if it lies outside this interval of the predictive distribution.
EXPECTED = 0.99


def predictive_checks(share: xr.DataTree, difference: xr.DataTree, seed: int) -> pd.DataFrame:
    """Compare statistics of the observed table with those of tables drawn from the fitted models.

    `share` and `difference` are the fits of the two models. The statistics are the mean and the standard deviation of
    the differences, and the standard deviations of shares between types and between the clusters of each kind.

    Each statistic has ``observed``, ``expected``, ``eti99_lb`` and ``eti99_ub`` (mean and 99% interval over tables
    drawn from the posterior predictive distribution), and ``fits``, which is True if the interval includes the observed
    value. Shares exclude ties.

    References
    ----------
    Gelman, A., Meng, X.-L., & Stern, H. (1996). Posterior predictive assessment of model fitness via realized
    discrepancies. Statistica Sinica, 6(4), 733-760. https://www.jstor.org/stable/24306036
    """
    rng = np.random.default_rng(seed)
    data = difference["constant_data"].to_dataset()
    draws = _thinned(_posterior(difference), rng)
    expected = linear_predictor(draws, data, "mean")  # (draw, pair)
    # Each parameter of the residuals is an array (draw, 1).
    scalars = {str(name): values.to_numpy()[:, None] for name, values in draws.items() if values.ndim == 1}
    distribution, parameters = residual_of(scalars).distribution(expected, scalars["scale_residual"], scalars)
    replicated_differences = distribution.rvs(*parameters, size=expected.shape, random_state=rng)
    observed_differences = data.difference.to_numpy()
    # Only these statistics determine the interval of a mean. The shape of the distribution does not affect it.
    rows = {
        "mean difference": _statistic_row(np.mean, observed_differences, replicated_differences),
        "standard deviation of differences": _statistic_row(np.std, observed_differences, replicated_differences),
    }
    untied_pairs = data.isel(pair=untied(data))
    probability = expit(linear_predictor(_thinned(_posterior(share), rng), untied_pairs, "logit"))
    replicated_ahead = rng.random(probability.shape) < probability  # (draw, pair)
    for dim in (TYPE, *clusters_of(data)):
        _, label_of_pair = np.unique(untied_pairs[position_of(dim)].to_numpy(), return_inverse=True)
        if label_of_pair.any():  # the standard deviation requires two labels or more
            name = f"standard deviation of shares between {dim.removeprefix('bias_')}s"
            sd_of_shares = partial(_spread_between, label_of_pair)
            rows[name] = _statistic_row(sd_of_shares, untied_pairs.ahead.to_numpy(), replicated_ahead)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("number")


def _statistic_row(statistic: Callable[[Any], float], table: NDArray[Any], replicates: NDArray[Any]) -> dict[str, Any]:
    """Return a statistic of the observed table beside its mean and 99% interval in replicated tables.

    `table` has a value for each pair, and `replicates` has a row for each replicated table. The entry ``fits`` is True
    if the observed statistic lies inside the interval.
    """
    observed_statistic = statistic(table)
    replicated_statistics = [statistic(replicate) for replicate in replicates]
    lower, upper = np.quantile(replicated_statistics, [(1 - EXPECTED) / 2, (1 + EXPECTED) / 2])
    lower_name, upper_name = interval_names(EXPECTED)
    return {
        "observed": observed_statistic,
        "expected": float(np.mean(replicated_statistics)),
        lower_name: float(lower),
        upper_name: float(upper),
        "fits": bool(lower <= observed_statistic <= upper),
    }


def _spread_between(label_of_pair: NDArray[np.int64], ahead: NDArray[np.bool_]) -> float:
    """Return the standard deviation of shares between labels, weighted by their numbers of pairs.

    Both arrays have a value for each pair: the number of its label (such as its writer), and True if the stereotypical
    sentence is ahead.
    """
    n_pairs = np.bincount(label_of_pair)
    share = np.bincount(label_of_pair, weights=ahead) / n_pairs
    return float(np.sqrt(np.cov(share, fweights=n_pairs)))


def _thinned(posterior: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return at most `DRAWN` draws, which are selected at random, along a dimension ``sample``.

    The draws of all chains are numbered from zero. Number k is draw k % n of chain k // n, if a chain has n draws.
    """
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    sample = rng.choice(chains * draws, size=min(DRAWN, chains * draws), replace=False)
    chain, draw = np.divmod(sample, draws)
    thinned = posterior.isel(chain=xr.DataArray(chain, dims="sample"), draw=xr.DataArray(draw, dims="sample"))
    return thinned.transpose("sample", ...)
