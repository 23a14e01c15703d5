"""The measurement-error model of bias and criterion.

True values are bivariate normal over labels, and both are observed with errors of known size:

    (bias[i], criterion[i]) ~ Normal(mean + covariates[i] @ coefficient + family[f(i)], sd, correlation)
    bias_seen ~ Normal(bias, bias_covariance)
    criterion_seen[i] ~ Normal(criterion[i], criterion_se[i])

The true values are integrated out, so that only a few parameters are sampled. The observed criterion is normal, and the
observed biases are normal given the criterion.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.analyses.criterion.data import OF, CriterionData
from bayes_bias.fitting.sampling import PyMCModel, key_of
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.shared_types import Numbers

_STANDARD = Prior("Normal", {"mu": 0, "sigma": 1})
_SCALE = Prior("HalfNormal", {"sigma": 1})
_ANY_CORRELATION = Prior.parse("Uniform(lower=-1, upper=1)")
_PRIORS = {"correlation": _ANY_CORRELATION, "mean": _STANDARD, "sd": _SCALE}
_OF_COVARIATES = {"coefficient": _STANDARD}
_OF_FAMILIES = {"family_correlation": _ANY_CORRELATION, "sd_family": _SCALE}


def spec_of(data: CriterionData) -> ModelSpec:
    """Return the spec of the model. All data are in units of their standard deviation over labels."""
    priors = dict(_PRIORS)
    if len(data.covariates.columns):
        priors |= _OF_COVARIATES
    if data.family is not None:
        priors |= _OF_FAMILIES
    title = "Correlation of bias and criterion, errors in both"
    return ModelSpec("criterion", title, "", "criterion", {}, priors)


def model_of(data: CriterionData) -> PyMCModel:
    """Return the model for these data."""
    spec, inputs = spec_of(data), _inputs(data)
    coords: dict[str, list[str]] = {"of": list(OF), "covariate": list(data.covariates.columns)}
    if data.family is not None:
        coords["family"] = list(_membership(data.family).columns)
    return PyMCModel(lambda: _model(spec, inputs), coords, key_of(spec, inputs, coords, len(data.labels)), inputs)


def _inputs(data: CriterionData) -> dict[str, Numbers]:
    """Return the data of the model in standard deviations over labels."""
    both = np.stack([data.biases.values.to_numpy(), data.criterion.to_numpy()], axis=1)
    standardised = (both - data.means.to_numpy()) / data.units.to_numpy()
    bias_unit, criterion_unit = data.units.to_numpy()
    covariance = data.biases.covariance.to_numpy()
    error = np.diag(covariance) if data.biases.independent else covariance
    inputs = {
        "bias": standardised[:, 0],
        "criterion": standardised[:, 1],
        "bias_error": error / bias_unit**2,
        "criterion_error": (data.criterion_se.to_numpy() / criterion_unit) ** 2,
    }
    if len(data.covariates.columns):
        inputs["covariates"] = ((data.covariates - data.covariates.mean()) / data.covariates.std()).to_numpy()
    if data.family is not None:
        inputs["membership"] = _membership(data.family).to_numpy(dtype=float)
    return inputs


def _membership(families: "pd.Series[Any]") -> pd.DataFrame:
    """Return a matrix of labels by families that contains 1 for the family of each label."""
    return pd.get_dummies(families.astype(str))


def _model(spec: ModelSpec, inputs: Mapping[str, Numbers]) -> pm.Model:
    r"""Return the model, with the true values integrated out.

    With the standard deviations :math:`s_b` and :math:`s_c` of true biases and criterion, their correlation
    :math:`\rho`, and the error variance :math:`e_i` of the criterion, the observed criterion has the variance
    :math:`v_i = s_c^2 + e_i`. Given the observed criterion, the true bias has the variance :math:`s_b^2 -
    (\rho s_b s_c)^2 / v_i`, and its mean changes by :math:`\rho s_b s_c / v_i` per unit of the criterion.
    """
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
            # Effects of families are partially pooled and have a separate correlation.
            family_correlation, family_sd = free(spec, "family_correlation"), free(spec, "sd_family", dims="of")
            z = pm.Normal("family_z", dims=("family", "of"))
            z_criterion = family_correlation * z[:, 0] + pt.sqrt(1 - family_correlation**2) * z[:, 1]
            effects = family_sd * pt.stack([z[:, 0], z_criterion], axis=1)
            expected += data["membership"] @ pm.Deterministic("family_effect", effects, dims=("family", "of"))
        variance = sd[1] ** 2 + data["criterion_error"]  # of the observed criterion
        covariance = correlation * sd[0] * sd[1]  # of true bias and criterion
        pm.Normal("criterion_seen", expected[:, 1], pt.sqrt(variance), observed=data["criterion"], dims="label")
        expected_bias = expected[:, 0] + covariance / variance * (data["criterion"] - expected[:, 1])
        residual = sd[0] ** 2 - covariance**2 / variance
        if inputs["bias_error"].ndim == 1:  # variances of independent errors, otherwise their covariance matrix
            bias_sd = pt.sqrt(residual + data["bias_error"])
            pm.Normal("bias_seen", expected_bias, bias_sd, observed=data["bias"], dims="label")
        else:
            bias_covariance = data["bias_error"] + pt.diag(residual)
            pm.MvNormal("bias_seen", expected_bias, cov=bias_covariance, observed=data["bias"], dims="label")
    return model


def with_true_values(data: CriterionData, posterior: xr.Dataset, seed: int) -> xr.Dataset:
    """Add the slope, the reliabilities, and draws of the true bias and criterion of each label to a posterior.

    The unit of ``slope`` is criterion per bias, and ``bias`` and ``criterion`` are in their original units. All other
    parameters are in standard deviations.
    """
    sd, units = posterior["sd"], data.units
    true = data.means + units * xr.DataArray(
        _draw_true_values(data, posterior, np.random.default_rng(seed)),
        dims=("chain", "draw", "label", "of"),
        coords={"label": data.labels, "of": list(OF)},
    )
    scale = float(units.sel(of="criterion") / units.sel(of="bias"))
    slope = posterior["correlation"] * sd.sel(of="criterion", drop=True) / sd.sel(of="bias", drop=True) * scale
    # The mean variance of the errors after their mean over labels is subtracted. An error that all labels share does
    # not affect the correlation.
    covariance, n = data.biases.covariance.to_numpy(), len(data.labels)
    bias_error = (np.trace(covariance) - covariance.sum() / n) / (n - 1)
    criterion_error = float((data.criterion_se**2).mean())
    error = xr.DataArray([bias_error, criterion_error], dims="of", coords={"of": list(OF)}) / units**2
    return posterior.assign(
        slope=slope,
        reliability=sd**2 / (sd**2 + error),
        bias=true.sel(of="bias", drop=True),
        criterion=true.sel(of="criterion", drop=True),
    )


def _draw_true_values(data: CriterionData, posterior: xr.Dataset, rng: np.random.Generator) -> Numbers:
    r"""Return draws of the true values (chain, draw, label, of) given the observed values, in the units of the model.

    First, true values and errors are drawn without conditioning on the observed values. The difference :math:`d`
    between the observed values and these simulated observations is then used to correct the true values (Matheron's
    rule) by :math:`C K^{-1} d`, where :math:`C` is the covariance of true values over labels, and :math:`K` the
    covariance of observed values. With the covariance :math:`E` of errors of the biases and the symbols of `_model`,

    .. math:: C = \begin{pmatrix} s_b^2 I & \rho s_b s_c I \\ \rho s_b s_c I & s_c^2 I \end{pmatrix}, \qquad
              K = \begin{pmatrix} s_b^2 I + E & \rho s_b s_c I \\ \rho s_b s_c I & \mathrm{diag}(v) \end{pmatrix}

    This requires solving one system of equations for each draw.
    """
    inputs = _inputs(data)
    shape = (*posterior["correlation"].shape, len(data.labels), 2)
    n_draws, n = shape[0] * shape[1], shape[2]
    correlation = posterior["correlation"].to_numpy().reshape(-1)
    mean, sd = posterior["mean"].to_numpy().reshape(-1, 2), posterior["sd"].to_numpy().reshape(-1, 2)
    expected = np.broadcast_to(mean[:, None, :], (n_draws, n, 2)).copy()  # (draw, label, of)
    for name, effect in (("covariates", "coefficient"), ("membership", "family_effect")):
        if name in inputs:
            expected += inputs[name] @ posterior[effect].to_numpy().reshape(n_draws, -1, 2)
    z = rng.standard_normal((n_draws, n, 2))
    z[..., 1] = correlation[:, None] * z[..., 0] + np.sqrt(1 - correlation[:, None] ** 2) * z[..., 1]
    true = expected + sd[:, None, :] * z
    noise = rng.standard_normal((2, n_draws, n))
    if inputs["bias_error"].ndim == 1:
        bias_noise = noise[0] * np.sqrt(inputs["bias_error"])
    else:
        eigenvalues, vectors = np.linalg.eigh(inputs["bias_error"])
        bias_noise = noise[0] @ (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T
    bias_difference = inputs["bias"] - true[..., 0] - bias_noise
    criterion_difference = inputs["criterion"] - true[..., 1] - noise[1] * np.sqrt(inputs["criterion_error"])
    variance = sd[:, 1:] ** 2 + inputs["criterion_error"]
    covariance = (correlation * sd[:, 0] * sd[:, 1])[:, None]
    residual = sd[:, :1] ** 2 - covariance**2 / variance
    # The two parts of K^-1 d.
    unexplained = bias_difference - covariance / variance * criterion_difference
    bias_part = _solve_each_draw(inputs["bias_error"], residual, unexplained)
    criterion_part = (criterion_difference - covariance * bias_part) / variance
    true[..., 0] += sd[:, :1] ** 2 * bias_part + covariance * criterion_part
    true[..., 1] += covariance * bias_part + sd[:, 1:] ** 2 * criterion_part
    return true.reshape(shape)


def _solve_each_draw(error: Numbers, residual: Numbers, right: Numbers) -> Numbers:
    """Return the solution of ``(error + diag(residual)) x = right`` for each draw."""
    if error.ndim == 1:
        return np.asarray(right / (residual + error))
    solved = np.empty_like(right)
    for draw in range(len(right)):
        solved[draw] = np.linalg.solve(error + np.diag(residual[draw]), right[draw])
    return solved
