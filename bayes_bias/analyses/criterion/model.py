"""The measurement-error model of bias and criterion.

Over labels the true values are bivariate normal, and both are observed with errors of known size:

    (bias[i], criterion[i]) ~ Normal(mean + covariates[i] @ coefficient + family[f(i)], sd, correlation)
    bias_seen ~ Normal(bias, bias_covariance)
    criterion_seen[i] ~ Normal(criterion[i], criterion_se[i])

The true values are integrated out, so that only a handful of parameters is sampled. The observed criterion is normal,
and so are the observed biases given the criterion.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import scipy
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.analyses.criterion.data import OF, CriterionData
from bayes_bias.fitting.compiling import PyMCModel
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec, Prior

type Numbers = NDArray[np.float64]

_STANDARD = Prior("Normal", {"mu": 0, "sigma": 1})
_SCALE = Prior("HalfNormal", {"sigma": 1})
_ANY_CORRELATION = Prior.parse("Uniform(lower=-1, upper=1)")
_PRIORS = {"correlation": _ANY_CORRELATION, "mean": _STANDARD, "sd": _SCALE}
_OF_COVARIATES = {"coefficient": _STANDARD}
_OF_FAMILIES = {"family_correlation": _ANY_CORRELATION, "sd_family": _SCALE}


def spec_of(data: CriterionData) -> ModelSpec:
    """The model as data. Biases, criterion and covariates are in units of their standard deviation over labels."""
    priors = dict(_PRIORS)
    if len(data.covariates.columns):
        priors |= _OF_COVARIATES
    if data.family is not None:
        priors |= _OF_FAMILIES
    title = "Correlation of bias and criterion, errors in both"
    return ModelSpec("criterion", title, "", "criterion", {}, priors)


def model_of(data: CriterionData) -> PyMCModel:
    """The model with these data."""
    spec, inputs = spec_of(data), _inputs(data)
    coords: dict[str, list[str]] = {"of": list(OF), "covariate": list(data.covariates.columns)}
    coords |= {} if data.family is None else {"family": list(_membership(data).columns)}
    return PyMCModel(lambda: _model(spec, inputs), coords)


def _inputs(data: CriterionData) -> dict[str, Numbers]:
    values = _standardised(data)
    (unit, of_criterion), covariance = data.units.to_numpy(), data.biases.covariance.to_numpy()
    error = np.diag(covariance) if data.biases.independent else covariance
    inputs = {
        **{name: values[:, k] for k, name in enumerate(OF)},
        "bias_error": error / unit**2,
        "criterion_error": (data.criterion_se.to_numpy() / of_criterion) ** 2,
    }
    if len(data.covariates.columns):
        inputs["covariates"] = _design(data)
    if data.family is not None:
        inputs["membership"] = _membership(data).to_numpy(dtype=float)
    return inputs


def _standardised(data: CriterionData) -> Numbers:
    both = np.stack([data.biases.values.to_numpy(), data.criterion.to_numpy()], axis=1)
    return np.asarray((both - data.means.to_numpy()) / data.units.to_numpy())


def _design(data: CriterionData) -> Numbers:
    return ((data.covariates - data.covariates.mean()) / data.covariates.std()).to_numpy()


def _membership(data: CriterionData) -> pd.DataFrame:
    return pd.get_dummies(data.family.astype(str)) if data.family is not None else pd.DataFrame()


def _model(spec: ModelSpec, inputs: Mapping[str, Numbers]) -> pm.Model:
    dims = {
        "bias_error": ("label", "label_too")[: inputs["bias_error"].ndim],
        "covariates": ("label", "covariate"),
        "membership": ("label", "family"),
    }
    with pm.Model(coords={"of": OF}) as model:
        data = {name: pm.Data(name, values, dims=dims.get(name, "label")) for name, values in inputs.items()}
        correlation, mean, sd = free(spec, "correlation"), free(spec, "mean", dims="of"), free(spec, "sd", dims="of")
        expected = mean + pt.zeros_like(data["bias"])[:, None]
        if "covariates" in data:
            expected += data["covariates"] @ free(spec, "coefficient", dims=("covariate", "of"))
        if "membership" in data:
            expected += data["membership"] @ _families(spec)
        variance, together = sd[1] ** 2 + data["criterion_error"], correlation * sd[0] * sd[1]
        pm.Normal("criterion_seen", expected[:, 1], pt.sqrt(variance), observed=data["criterion"], dims="label")
        expected_bias = expected[:, 0] + together / variance * (data["criterion"] - expected[:, 1])
        residual = sd[0] ** 2 - together**2 / variance
        if inputs["bias_error"].ndim == 1:
            spread = pt.sqrt(residual + data["bias_error"])
            pm.Normal("bias_seen", expected_bias, spread, observed=data["bias"], dims="label")
        else:
            covariance = data["bias_error"] + pt.diag(residual)
            pm.MvNormal("bias_seen", expected_bias, cov=covariance, observed=data["bias"], dims="label")
    return model


def _families(spec: ModelSpec) -> pt.TensorVariable:
    """What the labels of a family share, (family, of): partly pooled, with a correlation of its own."""
    correlation, sd = free(spec, "family_correlation"), free(spec, "sd_family", dims="of")
    z = pm.Normal("family_z", dims=("family", "of"))
    of_criterion = correlation * z[:, 0] + pt.sqrt(1 - correlation**2) * z[:, 1]
    return pm.Deterministic("family_effect", sd * pt.stack([z[:, 0], of_criterion], axis=1), dims=("family", "of"))


def with_true_values(data: CriterionData, posterior: xr.Dataset, seed: int) -> xr.Dataset:
    """The posterior with the slope, the reliabilities and a draw of each label's true bias and criterion.

    Units: ``slope`` is criterion per bias, ``bias`` and ``criterion`` are in their own. All other parameters are in
    standard deviations.
    """
    sd, unit = posterior["sd"], data.units
    true = _drawn(data, posterior, np.random.default_rng(seed))
    error = xr.DataArray(_error_variances(data), dims="of", coords={"of": list(OF)})
    scale = float(unit.sel(of="criterion") / unit.sel(of="bias"))
    slope = posterior["correlation"] * sd.sel(of="criterion", drop=True) / sd.sel(of="bias", drop=True) * scale
    own = data.means + unit * xr.DataArray(
        true, dims=("chain", "draw", "label", "of"), coords={"label": data.labels, "of": list(OF)}
    )
    beside = {"slope": slope, "reliability": sd**2 / (sd**2 + error)}
    return posterior.assign(beside | {name: own.sel(of=name, drop=True) for name in OF})


def _error_variances(data: CriterionData) -> list[float]:
    """Mean variance of errors about their mean over labels: an error that all labels share moves no correlation."""
    covariance, n = data.biases.covariance.to_numpy(), len(data.labels)
    of_biases = (np.trace(covariance) - covariance.sum() / n) / (n - 1)
    of_criterion = float((data.criterion_se**2).mean())
    return [float(error / unit**2) for error, unit in zip((of_biases, of_criterion), data.units.values, strict=True)]


def _drawn(data: CriterionData, posterior: xr.Dataset, rng: np.random.Generator) -> Numbers:
    """True values in the units of the model, (chain, draw, label, of), given what is seen.

    True values and errors are drawn as if nothing were seen, and moved by what is seen less what these would show
    (Matheron's rule): one system of equations a draw.
    """
    inputs, values = _inputs(data), _standardised(data)
    sample = [posterior[name].to_numpy() for name in ("correlation", "mean", "sd")]
    correlation, mean, sd = (each.reshape(-1, *each.shape[2:]) for each in sample)
    n_draws, n = len(correlation), len(values)
    expected = np.broadcast_to(mean[:, None, :], (n_draws, n, 2)).copy()
    for name, effect in (("covariates", "coefficient"), ("membership", "family_effect")):
        if name in inputs:
            expected += inputs[name] @ posterior[effect].to_numpy().reshape(n_draws, -1, 2)
    z = rng.standard_normal((n_draws, n, 2))
    z[..., 1] = correlation[:, None] * z[..., 0] + np.sqrt(1 - correlation[:, None] ** 2) * z[..., 1]
    true = expected + sd[:, None, :] * z
    noise = rng.standard_normal((2, n_draws, n))
    errors = noise[0] @ _root(inputs["bias_error"]), noise[1] * np.sqrt(inputs["criterion_error"])
    of_bias, of_criterion = (values[:, k] - true[..., k] - errors[k] for k in range(2))
    variance = sd[:, 1:] ** 2 + inputs["criterion_error"]
    together = (correlation * sd[:, 0] * sd[:, 1])[:, None]
    residual = sd[:, :1] ** 2 - together**2 / variance
    solved = _solved(inputs["bias_error"], residual, of_bias - together / variance * of_criterion)
    other = (of_criterion - together * solved) / variance
    true[..., 0] += sd[:, :1] ** 2 * solved + together * other
    true[..., 1] += together * solved + sd[:, 1:] ** 2 * other
    return true.reshape(*posterior["correlation"].shape, n, 2)


def _root(error: Numbers) -> Any:
    """What makes errors of this covariance, from the right, of independent ones."""
    if error.ndim == 1:
        return scipy.sparse.diags_array(np.sqrt(error))
    eigenvalues, vectors = np.linalg.eigh(error)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T


def _solved(error: Numbers, residual: Numbers, right: Numbers) -> Numbers:
    """What ``error + diag(untold)`` takes to `right`, draw by draw."""
    if error.ndim == 1:
        return np.asarray(right / (residual + error))
    return np.stack([np.linalg.solve(error + np.diag(own), each) for own, each in zip(residual, right, strict=True)])
