"""Does the model fit the raw values? Predictive coverage, and PSIS-LOO of one model against another.

Both need the expected value of each cell given each draw. The crossed model was sampled without word effects,
so they are recovered here; nothing is added to the model for it.
"""

import warnings
from collections.abc import Iterable, Mapping

import arviz as az
import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, rv_continuous, t

from bayes_bias.errors import AssociationsError
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.models.word_effects import word_effects

# Enough for importance sampling and for probabilities to .01; more would fill memory for long lists.
_DRAWS = 1000


def predictive_coverage(fit: Fit, probs: Iterable[float] = (0.5, 0.89)) -> pd.Series:
    """Share of raw values inside their own equal-tailed posterior predictive intervals.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of any model.
    probs : iterable of float
        Probabilities of the intervals; those of the published paper by default [1]_.

    Returns
    -------
    pandas.Series
        Indexed by `probs`. A share near its probability says that the spread of values about the words' own
        expected values is right; every word is one of those the model was fitted to.

    Raises
    ------
    AssociationsError
        The values were too many to be formed, so the fit does not hold them.

    References
    ----------
    .. [1] Dobrzeniecka, A., & Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias
       estimation. Computational Linguistics, 50(2), 563-617. https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> predictive_coverage(posterior)                                            # doctest: +SKIP
    """
    observed, residual, parameters = _predictions(Fitted.of(fit))
    rank = xr.apply_ufunc(residual.cdf, observed, *parameters).mean(("chain", "draw"))
    ranks = rank.to_numpy()[np.isfinite(rank.to_numpy())]
    shares = {prob: float((np.abs(ranks - 0.5) < prob / 2).mean()) for prob in probs}
    return pd.Series(shares, name="coverage").rename_axis("prob")


def log_likelihood(fit: Fit) -> xr.DataArray:
    """Log density of each raw value given words and parameters, ``(chain, draw, pair)``, for up to 1,000 draws."""
    observed, residual, parameters = _predictions(Fitted.of(fit))
    density = xr.apply_ufunc(residual.logpdf, observed, *parameters).transpose("chain", "draw", ...)
    pairs = density.to_numpy()[:, :, observed.notnull().to_numpy()]
    return xr.DataArray(pairs, dims=("chain", "draw", "pair"), name="association")


def compare_models(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Expected log predictive density of a left-out value under several models of the same table.

    Pareto-smoothed importance sampling leaves one value out at a time; its words keep their others [1]_.

    Parameters
    ----------
    fits : mapping of str to xarray.DataTree
        Fits of the same table by what to call them.

    Returns
    -------
    pandas.DataFrame
        As `arviz.compare` gives it, best model first: ``elpd``, ``elpd_diff`` to the best with ``dse``, effective
        number of parameters ``p``, stacking ``weight``; and ``bad_k``, the number of values whose Pareto k is
        above ArviZ's threshold (were there many, the comparison could not be trusted).

    Raises
    ------
    AssociationsError
        The fits are not of the same table, or hold no values since there were too many to form.

    References
    ----------
    .. [1] Vehtari, A., Gelman, A., & Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. Statistics and Computing, 27, 1413-1432. https://doi.org/10.1007/s11222-016-9696-4

    Examples
    --------
    >>> compare_models({name: fit(table, name) for name in ("crossed", "hierarchical")})  # doctest: +SKIP
    """
    given = {name: Fitted.of(fit) for name, fit in fits.items()}
    if len({fitted.tree.attrs["table_sha256"] for fitted in given.values()}) > 1:
        raise AssociationsError("fits: are of different tables; models compare only on the same one")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Estimated shape parameter")  # `bad_k` says how many
        left_out = {name: az.loo(_with_likelihood(fit), pointwise=True) for name, fit in given.items()}
    bad = {name: int((loo.pareto_k > loo.good_k).sum()) for name, loo in left_out.items()}
    return az.compare(left_out, round_to="none").assign(bad_k=pd.Series(bad))


def _with_likelihood(fitted: Fitted) -> xr.DataTree:
    likelihood = log_likelihood(fitted)
    posterior = _thinned(fitted.posterior)
    return xr.DataTree.from_dict(
        {"posterior": posterior, "log_likelihood": likelihood.to_dataset().assign_coords(posterior.coords)}
    )


def _predictions(fitted: Fitted) -> tuple[xr.DataArray, rv_continuous, tuple[xr.DataArray, ...]]:
    """The values, their distribution about what is expected of them, and its parameters given each draw."""
    if fitted.observed is None:
        raise AssociationsError(
            "fit: holds no raw values, since there were too many to form; check a fit of shorter lists"
        )
    observed = fitted.observed.drop_vars(["group", "attribute_class"])
    posterior, data = _thinned(fitted.posterior), fitted.data
    if not fitted.structure.GENERALISES:
        return observed, norm, _of_connections(posterior, data, observed)
    effects = _thinned(word_effects(fitted))
    group, attribute_class = (
        data[name].drop_vars(data[name].dims, errors="ignore") for name in ("group_of", "class_of")
    )
    by_block = {"group": group, "attribute_class": attribute_class}
    expected = posterior["mean"].isel(by_block) + effects.target_effect.isel(attribute_class=attribute_class)
    expected = expected + effects.attribute_effect.isel(group=group)
    kept = expected.drop_vars(["group", "attribute_class"], errors="ignore")
    kept, sd = kept.assign_coords(observed.coords), posterior.sd_residual
    if "nu" in posterior:
        return observed, t, (posterior.nu, kept, sd * (1 - 2 / posterior.nu) ** 0.5)
    return observed, norm, (kept, sd)


def _of_connections(
    posterior: xr.Dataset, data: xr.Dataset, observed: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray]:
    """The published model expects the same of all attributes that a target has the same connection to."""
    connection = xr.DataArray(_connection_of(data), dims=("target", "attribute"))
    expected = posterior.target_connection_mean.drop_vars("target").isel(connection=connection)
    sd = posterior.residual_sd.isel(connection=connection)
    expected, sd = (
        values.drop_vars("connection").assign_coords(observed.coords) for values in (1 - expected, sd)
    )
    return expected, sd


def _connection_of(data: xr.Dataset) -> np.ndarray:
    """Position of each pair's connection: 0 associated, 1 different, then the control classes."""
    associated, class_of = data.associated.to_numpy(), data.class_of.to_numpy()
    controls = np.setdiff1d(np.arange(data.sizes["attribute_class"]), associated)
    position = np.ones(data.sizes["attribute_class"], dtype=int)
    position[controls] = 2 + np.arange(len(controls))
    own = associated[data.group_of.to_numpy()][:, None] == class_of
    return np.where(own, 0, position[class_of])


def _thinned(draws: xr.Dataset) -> xr.Dataset:
    step = -(-draws.sizes["chain"] * draws.sizes["draw"] // _DRAWS)
    return draws.isel(draw=slice(None, None, step))
