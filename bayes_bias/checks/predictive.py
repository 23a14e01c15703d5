"""Check the fit to the raw values: predictive coverage, and comparison of models by PSIS-LOO."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.fitting.power_scaling import GivenDraws
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.posterior.word_effects import effects_of
from bayes_bias.table.association_table import AssociationTable

# This number of draws is enough for importance sampling, and results in an error of .01 in probabilities. For long
# lists, more draws would fill the memory.
_DRAWS = 1000


def predictive_coverage(fit: Fit, probs: Iterable[float] = (0.5, 0.89)) -> pd.Series:
    """Return the share of raw values inside their equal-tailed posterior predictive intervals, for each probability.

    The default probabilities are those of the published paper [1]_. If a share is close to its probability, the model
    describes the spread of values around their expected values. The shares do not refer to new words, because all words
    were used for the fit. If the table has too many values, the function raises TableError.

    References
    ----------
    .. [1] Dobrzeniecka, A., & Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias
       estimation. Computational Linguistics, 50(2), 563-617. https://doi.org/10.1162/coli_a_00507
    """
    ranks = _given_draws(Fitted.of(fit)).rank.to_numpy()
    shares = {prob: float((np.abs(ranks - 0.5) < prob / 2).mean()) for prob in probs}
    return pd.Series(shares, name="coverage").rename_axis("prob")


def posterior_predictive(fit: Fit) -> xr.DataTree:
    """Return a fit with log likelihoods of all values and replicated values, which ArviZ needs for model checks.

    Values are independent given word effects, which this function samples. Therefore, you can pass the result to
    ``az.loo``, ``az.compare``, ``az.plot_ppc_dist``, and ``az.plot_loo_pit``. (In contrast, the likelihood in a fit is
    the joint likelihood of all values, for power-scaling.)

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of any model.

    Returns
    -------
    xarray.DataTree
        ``posterior``, with at most 1,000 of its draws, ``log_likelihood`` and ``posterior_predictive``, ``association
        (chain, draw, pair)``, and ``observed_data``, ``association (pair)``, in the units of the table. The coordinates
        of a pair are its words, group, and class. Replicated values are for the same words, and depend only on the fit
        and its seed.

    Raises
    ------
    TableError
        If the table had so many values that the fit does not contain them.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> az.plot_ppc_dist(posterior_predictive(posterior))                                   # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    draws = _given_draws(fitted)
    groups = {
        **_with_likelihood(fitted, draws),
        "posterior_predictive": draws.replicated(np.random.default_rng(fitted.seed)).to_dataset(),
        "observed_data": draws.observed.to_dataset(),
    }
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {name: fitted.tree.attrs[name] for name in ("name", "model", "seed", "table_sha256")}
    return tree


def compare_models(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Compare models of the same table by the expected log predictive density of a left-out value.

    Pareto-smoothed importance sampling leaves out one value at a time, but keeps the other values of its words [1]_.
    The result is the table of `arviz.compare`, in which the best model comes first. Columns: ``elpd``; ``elpd_diff``,
    the difference to the best model, with its standard error ``dse``; ``p``, the effective number of parameters; the
    stacking ``weight``; and ``bad_k``, the number of values whose Pareto k exceeds ArviZ's threshold. If there are many
    such values, the comparison is unreliable.

    References
    ----------
    .. [1] Vehtari, A., Gelman, A., & Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. Statistics and Computing, 27, 1413-1432. https://doi.org/10.1007/s11222-016-9696-4
    """
    fitted_models = {name: Fitted.of(fit) for name, fit in fits.items()}
    if len({fitted.tree.attrs["table_sha256"] for fitted in fitted_models.values()}) > 1:
        raise TableError("`fits` are of different tables, but models can only be compared on the same table.")
    loo_of_model, bad_k = {}, {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Estimated shape parameter")  # `bad_k` contains their number
        for name, fitted in fitted_models.items():
            tree = xr.DataTree.from_dict(_with_likelihood(fitted, _given_draws(fitted)))
            loo = arviz_stats.loo(tree, pointwise=True)
            loo_of_model[name] = loo
            bad_k[name] = int((loo.pareto_k > loo.good_k).sum())
    return arviz_stats.compare(loo_of_model, round_to="none").assign(bad_k=pd.Series(bad_k))


def _with_likelihood(fitted: Fitted, draws: GivenDraws) -> dict[str, xr.Dataset]:
    """Return the posterior with the log likelihood of each value."""
    return {"posterior": _thinned(fitted.posterior), "log_likelihood": draws.log_likelihood.to_dataset()}


def _given_draws(fitted: Fitted) -> GivenDraws:
    """Return the distribution of each raw value given the parameters and word effects of some posterior draws.

    Raise an error if the fit does not contain the raw values. Models that generalise to new words may integrate word
    effects out, so these effects are drawn first.
    """
    if fitted.observed is None:
        raise TableError("`fit` contains no raw values, because there were too many. Check a fit of shorter lists.")
    posterior = _posterior_of_mean_table(fitted) if fitted.structure.GENERALISES else fitted.posterior
    return GivenDraws.of(fitted.structure, _thinned(posterior), fitted.data, fitted.observed)


def _posterior_of_mean_table(fitted: Fitted) -> xr.Dataset:
    """Return the posterior with word effects, from which the distribution of fitted values can be computed.

    For a table with R replicates, the fitted values are means over the replicates in the table. Their residual variance
    is ``sd_residual^2 + sd_residual_by_replicate^2 / R``.
    """
    posterior = fitted.posterior
    has_replicates = "replicate_average" in posterior
    with_effects = posterior.assign(effects_of(fitted, these_replicates=has_replicates).data_vars)
    if not has_replicates:
        return with_effects
    sd, sd_by_replicate = posterior.sd_residual, posterior.sd_residual_by_replicate
    return with_effects.assign(
        mean=posterior["mean"] + posterior.replicate_average,
        sd_residual=(sd**2 + sd_by_replicate**2 / fitted.data.sizes["replicate"]) ** 0.5,
    )


def _thinned(draws: xr.Dataset) -> xr.Dataset:
    """Return every nth draw of each chain, with the smallest n that leaves at most 1,000 draws, up to rounding."""
    step = -(-draws.sizes["chain"] * draws.sizes["draw"] // _DRAWS)  # rounded up
    return draws.isel(draw=slice(None, None, step))


PUBLISHED = "hierarchical"
PROBS = (0.5, 0.89)
NOT_ASKED = "not requested (against_published=True (--against-published))"

# If there are a thousand values, leaving out each of them takes half a second, and each array of draws takes eight
# megabytes.
MOST_PAIRS = 20_000


@dataclass(frozen=True, eq=False)
class DataFit:
    """The fit of a model to the raw values. `pairs` is their number.

    `coverage` is the share of raw values inside posterior predictive intervals (see `predictive_coverage`). It has a
    row for the fitted model and, if possible, a row for the published model ("hierarchical"), with a column for each
    probability. `elpd_difference` compares the fitted model with the published model: it is the difference in the
    expected log predictive density of a left-out value, summed over values, with its standard error. For `bad_k`
    values, the Pareto k of either model is so high that the difference is unreliable (see `compare_models`). If there
    is no comparison, these attributes are missing, and `no_comparison` contains the reason.
    """

    coverage: pd.DataFrame
    pairs: int
    elpd_difference: float = float("nan")
    elpd_se: float = float("nan")
    bad_k: float = float("nan")
    no_comparison: str = ""


def data_fit(
    fit: Fit,
    table: AssociationTable,
    *,
    against_published: bool = False,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> DataFit:
    """Compute the predictive coverage of a converged fit and, on request, compare it with the published model by
    PSIS-LOO.

    Fitting the published model takes longer than all other steps of a report. If the table has too many values, the
    function raises TableError.
    """
    pairs = table.values.size
    if pairs > MOST_PAIRS:
        raise TableError(
            f"{pairs:,} values are too many for leave-one-out prediction in a report (the limit is"
            f" {MOST_PAIRS:,}). Use `bayes_bias.checks.predictive.predictive_coverage(fit)`"
        )
    fitted = Fitted.of(fit)
    name = fitted.spec.name
    published, reason = _published_or_why_not(table, seed, sampling) if against_published else (None, NOT_ASKED)
    if published is None:
        return DataFit(_coverage({name: fitted}), pairs, no_comparison=reason)
    fits = {name: fitted, PUBLISHED: published}
    compared = compare_models(fits)
    return DataFit(
        coverage=_coverage(fits),
        pairs=pairs,
        elpd_difference=float(compared.elpd[name] - compared.elpd[PUBLISHED]),
        elpd_se=float(compared.dse.max()),
        bad_k=float(compared.bad_k.max()),
    )


def _coverage(fits: Mapping[str, Fitted]) -> pd.DataFrame:
    """Return the predictive coverage of each model."""
    return pd.DataFrame({name: predictive_coverage(fit, PROBS) for name, fit in fits.items()}).T


def _published_or_why_not(table: AssociationTable, seed: int, sampling: Sampling) -> tuple[Fitted | None, str]:
    """Return a fit of the published model, or None and the reason why there is none.

    The model may not support the table, or its fit may not converge.
    """
    try:
        published = fit_table(table, PUBLISHED, seed=seed, sampling=sampling)
    except TableError as error:
        return None, str(error)
    return (published, "") if Diagnostics.of(published).converged else (None, "its fit has not converged")
