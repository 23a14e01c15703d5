"""`criterion`: the correlation of bias with an external criterion.

True values are bivariate normal over labels, and both are observed with errors of known size:

    (bias[i], criterion[i]) ~ Normal(mean + covariates[i] @ coefficient + family[f(i)], sd, correlation)
    bias_seen ~ Normal(bias, bias_covariance)
    criterion_seen[i] ~ Normal(criterion[i], criterion_se[i])

The true values are integrated out, so that only a few parameters are sampled. The observed criterion is normal, and the
observed biases are normal given the criterion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import scipy
import xarray as xr

from bayes_bias.analyses.criterion.data import (
    OF,
    Biases,
    CriterionData,
    CriterionLike,
    biases_of_fits,
    biases_of_words,
    outside_of,
    read,
)
from bayes_bias.analyses.criterion.results import (
    CORRELATION,
    NEW,
    OBSERVED,
    RELIABILITY,
    SLOPE,
    THESE,
    CriterionValidity,
    median_row,
)
from bayes_bias.arguments import as_tuple, check_ci_prob, check_seed, kind_of
from bayes_bias.errors import CriterionError
from bayes_bias.fitting.fit_model import NamedData, fit_model
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.fitting.sampling import PyMCModel, Sampling, check_sampling, key_of
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.progress import within
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import interval_names
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName

_STANDARD = Prior("Normal", {"mu": 0, "sigma": 1})
_SCALE = Prior("HalfNormal", {"sigma": 1})
_ANY_CORRELATION = Prior.parse("Uniform(lower=-1, upper=1)")
_PRIORS = {"correlation": _ANY_CORRELATION, "mean": _STANDARD, "sd": _SCALE}
_OF_COVARIATES = {"coefficient": _STANDARD}
_OF_FAMILIES = {"family_correlation": _ANY_CORRELATION, "sd_family": _SCALE}


def spec_of(data: CriterionData) -> ModelSpec:
    """Return the spec of the model for these data. All priors are in standard deviations over labels.

    There are priors of coefficients only if there are covariates, and priors of families only if there are families.
    """
    priors = dict(_PRIORS)
    if len(data.covariates.columns):
        priors |= _OF_COVARIATES
    if data.family is not None:
        priors |= _OF_FAMILIES
    return ModelSpec("criterion", "Correlation of bias and criterion, errors in both", "", "criterion", {}, priors)


def model_of(data: CriterionData) -> PyMCModel:
    """Return the model for these data, with the key under which its compiled form is kept."""
    spec = spec_of(data)
    inputs = _inputs(data)
    coords: dict[str, list[str]] = {"of": list(OF), "covariate": list(data.covariates.columns)}
    if data.family is not None:
        coords["family"] = list(_membership(data.family).columns)
    return PyMCModel(lambda: _model(spec, inputs), coords, key_of(spec, inputs, coords, len(data.labels)), inputs)


def _inputs(data: CriterionData) -> dict[str, Numbers]:
    """Return the data of the model in standard deviations over labels.

    ``bias`` and ``criterion`` are standardised values (label,). ``bias_error`` has the variances of the errors of the
    biases (label,) or, if errors are correlated, their covariance (label, label), and ``criterion_error`` has the
    variances of the errors of the criterion. ``covariates`` are standardised, and ``membership`` (label, family) is 1
    for the family of each label.
    """
    bias_mean, criterion_mean = data.means.to_numpy()
    bias_unit, criterion_unit = data.units.to_numpy()
    covariance = data.biases.covariance.to_numpy()
    error = np.diag(covariance) if data.biases.independent else covariance
    inputs = {
        "bias": (data.biases.values.to_numpy() - bias_mean) / bias_unit,
        "criterion": (data.criterion.to_numpy() - criterion_mean) / criterion_unit,
        "bias_error": error / bias_unit**2,
        "criterion_error": (data.criterion_se.to_numpy() / criterion_unit) ** 2,
    }
    if len(data.covariates.columns):
        inputs["covariates"] = ((data.covariates - data.covariates.mean()) / data.covariates.std()).to_numpy()
    if data.family is not None:
        inputs["membership"] = _membership(data.family).to_numpy(dtype=float)
    return inputs


def _membership(families: "pd.Series[Any]") -> pd.DataFrame:
    """Return a table with a row for each label and a column for each family, True for the family of the label."""
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
        correlation = free(spec, "correlation")
        mean = free(spec, "mean", dims="of")
        sd = free(spec, "sd", dims="of")
        expected = mean + pt.zeros_like(data["bias"])[:, None]
        if "covariates" in data:
            coefficients = free(spec, "coefficient", dims=("covariate", "of"))
            # A sum of products, because a matrix product takes half a minute to compile.
            expected += (data["covariates"][:, :, None] * coefficients).sum(axis=1)
        if "membership" in data:
            # Effects of families are partially pooled and have a separate correlation.
            family_correlation = free(spec, "family_correlation")
            family_sd = free(spec, "sd_family", dims="of")
            z = pm.Normal("family_z", dims=("family", "of"))
            z_criterion = family_correlation * z[:, 0] + pt.sqrt(1 - family_correlation**2) * z[:, 1]
            z_of = pt.stack([z[:, 0], z_criterion], axis=1)
            effects = pm.Deterministic("family_effect", family_sd * z_of, dims=("family", "of"))
            expected += (data["membership"][:, :, None] * effects).sum(axis=1)
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
    parameters are in standard deviations. The reliability is s² / (s² + e), where s² is the variance of true values
    over labels, and e is the mean variance of their errors.
    """
    sd, units = posterior["sd"], data.units
    standardised = xr.DataArray(
        _draw_true_values(data, posterior, np.random.default_rng(seed)),
        dims=("chain", "draw", "label", "of"),
        coords={"label": data.labels, "of": list(OF)},
    )
    true = data.means + units * standardised
    ratio_of_units = float(units.sel(of="criterion") / units.sel(of="bias"))
    slope = posterior["correlation"] * sd.sel(of="criterion", drop=True) / sd.sel(of="bias", drop=True) * ratio_of_units
    # The mean variance of the errors after their mean over labels is subtracted. An error that all labels share does
    # not affect the correlation.
    covariance = data.biases.covariance.to_numpy()
    n = len(data.labels)
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

    With the variance :math:`v` of the observed criterion, and :math:`c = \rho s_b s_c`, elimination of the criterion
    gives the two parts of :math:`x = K^{-1} d` from one system of equations for each draw:

    .. math:: \left(E + (s_b^2 - c^2 / v) I\right) x_b = d_b - (c / v)\, d_c, \qquad x_c = (d_c - c\, x_b) / v
    """
    inputs = _inputs(data)
    n_chains, n_draws_each = posterior["correlation"].shape
    n_draws, n_labels = n_chains * n_draws_each, len(data.labels)
    rho = posterior["correlation"].to_numpy().reshape(-1, 1)
    mean = posterior["mean"].to_numpy().reshape(-1, 2)
    sd = posterior["sd"].to_numpy().reshape(-1, 2)
    expected = np.broadcast_to(mean[:, None, :], (n_draws, n_labels, 2)).copy()  # (draw, label, of)
    for name, effect in (("covariates", "coefficient"), ("membership", "family_effect")):
        if name in inputs:
            expected += inputs[name] @ posterior[effect].to_numpy().reshape(n_draws, -1, 2)
    # Draw true values and errors from the population.
    z = rng.standard_normal((n_draws, n_labels, 2))
    z[..., 1] = rho * z[..., 0] + np.sqrt(1 - rho**2) * z[..., 1]
    true = expected + sd[:, None, :] * z
    bias_noise, criterion_noise = rng.standard_normal((2, n_draws, n_labels))
    if inputs["bias_error"].ndim == 1:
        bias_noise = bias_noise * np.sqrt(inputs["bias_error"])
    else:
        eigenvalues, vectors = np.linalg.eigh(inputs["bias_error"])
        bias_noise = bias_noise @ (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T
    s_b = sd[:, :1]  # (draw, 1)
    s_c = sd[:, 1:]
    d_b = inputs["bias"] - true[..., 0] - bias_noise  # (draw, label)
    d_c = inputs["criterion"] - true[..., 1] - criterion_noise * np.sqrt(inputs["criterion_error"])
    v = s_c**2 + inputs["criterion_error"]
    c = rho * s_b * s_c
    x_b = _solve_each_draw(inputs["bias_error"], s_b**2 - c**2 / v, d_b - c / v * d_c)
    x_c = (d_c - c * x_b) / v
    # Add C x.
    true[..., 0] += s_b**2 * x_b + c * x_c
    true[..., 1] += c * x_b + s_c**2 * x_c
    return true.reshape(n_chains, n_draws_each, n_labels, 2)


def _solve_each_draw(error: Numbers, residual: Numbers, right: Numbers) -> Numbers:
    """Return the solution x of ``(error + diag(residual)) x = right`` for each draw, (draw, label).

    `error` is a covariance matrix (label, label) or, for independent errors, its diagonal (label,). `residual` and
    `right` have a row for each draw.
    """
    if error.ndim == 1:
        return np.asarray(right / (residual + error))
    solved = np.empty_like(right)
    for draw in range(len(right)):
        solved[draw] = np.linalg.solve(error + np.diag(residual[draw]), right[draw])
    return solved


METRIC = Metric("correlation", unit="correlation", range=(-1.0, 1.0), decimals=2)


@runtime_checkable
class ManyBiases(Protocol):
    """A result with the biases of many embeddings, such as a sweep."""

    def biases(self) -> Biases:
        """Return the biases of the list in all embeddings."""


type BiasesLike = pd.DataFrame | str | Path | xr.DataArray | Fit | Mapping[str, Fit] | ManyBiases | Biases


def criterion(
    biases: BiasesLike,
    criterion: CriterionLike | None = None,
    *,
    toward: str | None = None,
    scope: ScopeName = DEFAULT_SCOPE,
    covariates: Sequence[str] = (),
    family: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "criterion validity",
    bias_name: str = "bias",
    criterion_name: str = "",
) -> CriterionValidity:
    r"""Estimate the correlation of bias with a criterion, such as human ratings or the share of women in jobs.

    Each label, such as a language, an occupation, or a class, has a true bias :math:`b_i` and a true criterion
    :math:`c_i`. Over labels, both are bivariate normal, and both are observed with errors,

    .. math:: (b_i, c_i) \sim \mathrm{Normal}(\mu + X_i \beta, \Sigma), \qquad
              \hat b \sim \mathrm{Normal}(b, S), \qquad \hat c_i \sim \mathrm{Normal}(c_i, s_i)

    where S is the covariance of errors from the choice of words. Labels that share words have correlated errors, but an
    error that all labels share does not change the correlation. The estimands are the correlation in :math:`\Sigma` and
    the slope of c on b. Errors attenuate Pearson's r of the observed values [1]_, and the model corrects for this [2]_.
    The true values are integrated out analytically.

    Parameters
    ----------
    biases : DataFrame, path, fits, fit, Sweep, DataArray or Biases
        The bias of each label and its standard error:

        - a frame or CSV file with the columns ``label``, ``bias`` and ``sd`` (standard error); for correlated errors,
          pass ``Biases.from_frame(frame, covariance)`` from `bayes_bias.analyses.criterion.data`;
        - a mapping from labels to fits of one list in several embeddings or languages;
        - one fit, if its targets are the labels (requires `toward`);
        - a sweep of one list, if its embeddings are the labels, or ``sweep.biases("weat6")`` if it has several lists;
        - draws ``(chain, draw, label)``, whose mean and covariance are used.
    criterion : DataFrame, path, Series or mapping, optional
        The criterion of each label. A frame or CSV file has the columns ``label`` and ``criterion``. The standard error
        is either in the column ``criterion_se``, or is computed from the number of people, ``criterion_n``, and the
        standard deviation between people, ``criterion_sd``. For shares from 0 to 1, ``criterion_n`` is sufficient. A
        Series, or a frame without these columns, is treated as exact. By default, these are columns of `biases`.
    toward : str, optional
        For one fit: the class of attributes that defines the sign. Targets that are closer to this class have a
        positive bias.
    scope : {"all", "both", "targets", "attributes", ...}
        For fits: the words that are treated as samples. Their choice causes the errors of the biases.
    covariates : sequence of str
        Further columns, such as a country's median age, which are treated as exact. Both bias and criterion may depend
        on the covariates, so correlation and slope are estimated for fixed covariate values.
    family : str, optional
        Another column, such as families of languages. The labels of a family share effects on bias and criterion, which
        are partially pooled, and the correlation is estimated within families.
    ci_prob, seed, sampling
        See `fit`.
    name, bias_name, criterion_name : str
        The title, and the names of bias and criterion in the figure and in sentences.

    Returns
    -------
    CriterionValidity
        ``summary()``, ``verdict()``, ``table``, and the posteriors in ``fits``. When printed, it shows sentences.

    Raises
    ------
    CriterionError
        If labels do not match, if fewer than four labels match, if numbers are missing or equal for all labels, if a
        standard error is negative, or if a covariance is not positive semidefinite.
    BayesBiasError
        If a probability, seed, scope or sampler is invalid.

    Notes
    -----
    There are two results. For *these words*, biases are exact, and only the criterion has errors. For *new words*,
    biases have errors with covariance S. If you pass a frame, the meaning of "new words" depends on the source of
    ``sd``.

    Priors, in standard deviations over labels: ``correlation`` uniform from -1 to 1, ``mean`` and the coefficients of
    covariates Normal(0, 1), ``sd`` HalfNormal(1); for families ``sd_family`` HalfNormal(1) and a separate correlation,
    also uniform. With few labels, or biases of low reliability, the prior dominates the posterior of the correlation.
    The interval is then wide, its centre is near zero, and the slope of the criterion on the bias also shrinks towards
    zero. To estimate a trend of a bias over time, use `bayes_bias.over_time`.

    Reliabilities refer to biases in these vectors. In vectors from another text, or from another seed, the biases of
    single words differ, especially those of rare words. Fits with several corpora as replicates take this into account.

    The correlation between the errors of several fits is estimated by `bayes_bias.posterior.pooling.shared_errors`
    and is equal for all pairs. True values are modelled as normal, so intervals are too short if there are outliers.
    docs/evidence/other-analyses.md reports the coverage.

    References
    ----------
    .. [1] Spearman, C. (1904). The proof and measurement of association between two things. American Journal of
       Psychology, 15(1), 72-101. https://doi.org/10.2307/1412159
    .. [2] Kelly, B. C. (2007). Some aspects of measurement error in linear regression of astronomical data. The
       Astrophysical Journal, 665(2), 1489-1506. https://doi.org/10.1086/519947

    Examples
    --------
    >>> import bayes_bias as bb
    >>> jobs = bb.fit(bb.cosines("occupations.csv", "googlenews-demo"))           # doctest: +SKIP
    >>> print(bb.criterion(jobs, "womens-share.csv", toward="female"))            # doctest: +SKIP
    """
    seed = check_seed(seed)
    check_sampling(sampling)
    check_ci_prob(ci_prob)
    covariates = as_tuple("covariates", covariates, str, "['median_age']", CriterionError)
    if isinstance(biases, str | Path):
        biases = read(biases, "biases")
    if criterion is None:
        if not isinstance(biases, pd.DataFrame):
            raise CriterionError(
                "`criterion` is missing. Pass a number for each label, as a frame, CSV file, or Series."
            )
        criterion = biases
    data = CriterionData.of(_biases(biases, toward, scope), outside_of(criterion), tuple(covariates), family)
    series_name = str(criterion.name or "") if isinstance(criterion, pd.Series) else ""
    announce(data.notices)
    # For "these words", biases are exact, so their errors have no covariance. For "new words", the choice of words
    # causes errors.
    exact = replace(data.biases, covariance=data.biases.covariance * 0.0)
    data_of_words = {THESE: replace(data, biases=exact)}
    if not data.biases.exact:
        data_of_words[NEW] = data
    fits: dict[str, Fitted] = {}
    for words, word_data in data_of_words.items():
        with within(words):
            fits[words] = _fit_criterion(word_data, words, name, seed, sampling)
    return CriterionValidity(
        name=name,
        bias_name=bias_name,
        criterion_name=criterion_name or series_name or "criterion",
        noun=data.noun,
        ci_prob=ci_prob,
        covariates=tuple(covariates),
        table=_table(data, fits),
        numbers=_summary(data, fits, ci_prob),
        fits={words: fitted.tree for words, fitted in fits.items()},
        notices=data.notices,
        of_words=data.biases.of_words,
    )


def _biases(biases: Any, toward: str | None, scope: ScopeName) -> Biases:
    """Return the biases from any type of input that `criterion` accepts, such as a frame, draws, a fit, or a sweep."""
    is_fit = isinstance(biases, xr.DataTree | Fitted)
    if toward is not None and not is_fit:
        raise CriterionError(f"`toward` is '{toward}', but applies to one fit whose targets are the labels. Omit it.")
    if scope != DEFAULT_SCOPE and not (is_fit or isinstance(biases, Mapping)):
        raise CriterionError(f"`scope` is '{scope}', but applies to fits. Omit it, because these biases have errors.")
    if isinstance(biases, Biases):
        return biases
    if isinstance(biases, pd.DataFrame):
        return Biases.from_frame(biases)
    if isinstance(biases, xr.DataArray):
        return Biases.from_draws(biases)
    if is_fit:
        return biases_of_words(biases, toward, scope)
    if isinstance(biases, Mapping) and biases:
        return biases_of_fits(biases, scope)
    if isinstance(biases, ManyBiases):
        return biases.biases()
    raise CriterionError(
        f"`biases` is {kind_of(biases)} without labels. Pass a frame with the columns 'label', 'bias', and"
        " 'sd', a mapping from labels to fits, a fit whose targets are the labels, or a sweep."
    )


def _fit_criterion(data: CriterionData, words: str, name: str, seed: int, sampling: Sampling) -> Fitted:
    """Return a fit of the model, with draws of the true values added to its posterior.

    `words` is the population of words, "these words" or "new words", and `name` is the title of the analysis.
    """
    source = NamedData(f"{name}, {words}", METRIC, data.sha256, data.notices, {"words": words})
    return fit_model(
        source,
        spec_of(data),
        model_of(data),
        data.dataset,
        seed=seed,
        sampling=sampling,
        derive=lambda posterior: with_true_values(data, posterior, seed),
        observed={"observed_data": data.observed},
    )


def _table(data: CriterionData, fits: Mapping[str, Fitted]) -> pd.DataFrame:
    """Return a row for each label with its data and the posterior means of its true values.

    True values are from the fit for new words or, if biases are exact, from the fit for these words.
    """
    posterior = fits[NEW if NEW in fits else THESE].posterior
    columns = {"bias": data.biases.values, "bias_sd": data.biases.sd, "criterion": data.criterion}
    table = pd.DataFrame({**columns, "criterion_se": data.criterion_se}).join(data.covariates)
    if data.family is not None:
        table = table.join(data.family)
    for name in OF:
        table[f"true_{name}"] = posterior[name].mean(["chain", "draw"]).to_numpy()
    return table.rename_axis(data.noun)


def _summary(data: CriterionData, fits: Mapping[str, Fitted], ci_prob: float) -> pd.DataFrame:
    """Return the table of `CriterionValidity.summary`, with a row for each quantity and population of words.

    The quantities are the correlation, the slope, and the reliabilities. The observed correlation and slope precede the
    estimates of the `fits` for "these words" and "new words". Reliabilities are those of the widest population, without
    a probability of direction, and the reliability of an exact bias or criterion is omitted.
    """
    rows: dict[tuple[str, str], dict[str, float]] = {}  # by quantity and population
    for quantity, observed in _observed_quantities(data, ci_prob).items():
        rows[quantity, OBSERVED] = observed
        for words, fitted in fits.items():
            rows[quantity, words] = median_row(fitted.posterior[quantity], ci_prob)
    widest = NEW if NEW in fits else THESE
    has_errors = {"bias": not data.biases.exact, "criterion": bool(data.criterion_se.any())}
    for name in OF:
        if has_errors[name]:
            reliability = median_row(fits[widest].posterior[RELIABILITY].sel(of=name), ci_prob)
            rows[f"{RELIABILITY} of {name}", widest] = reliability | {"prob_direction": np.nan}
    return pd.DataFrame(list(rows.values()), pd.MultiIndex.from_tuples(list(rows), names=["quantity", "words"]))


def _observed_quantities(data: CriterionData, ci_prob: float) -> dict[str, dict[str, float]]:
    r"""Return Pearson's r and the least-squares slope, adjusted for covariates.

    Both are computed from the residuals of bias and criterion after a regression on the k covariates. With n labels,
    the interval of r is :math:`\tanh(\mathrm{artanh}\, r \pm z / \sqrt{n - k - 3})` (Fisher), and the slope :math:`r
    s_c / s_b` has the standard error :math:`(s_c / s_b) \sqrt{(1 - r^2) / (n - k - 2)}` (Student's t).
    """
    n, k = data.covariates.shape
    design = np.column_stack([np.ones(n), data.covariates])
    both = np.column_stack([data.biases.values, data.criterion])
    coefficients = np.linalg.lstsq(design, both, rcond=None)[0]
    bias, criterion = (both - design @ coefficients).T
    r = float(np.corrcoef(bias, criterion)[0, 1])
    ratio_of_sds = float(criterion.std() / bias.std())
    slope = r * ratio_of_sds
    se_of_slope = ratio_of_sds * np.sqrt(max(1 - r**2, 0.0) / (n - k - 2))
    z = scipy.stats.norm.ppf((1 + ci_prob) / 2)
    t = scipy.stats.t.ppf((1 + ci_prob) / 2, n - k - 2)
    signs = np.array([-1, 1])
    with np.errstate(divide="ignore"):  # artanh of a correlation of 1 or -1 is infinite
        half_width = z / np.sqrt(n - k - 3) if n - k > 3 else np.inf
        r_interval = np.tanh(np.arctanh(r) + half_width * signs)
    slope_interval = slope + t * se_of_slope * signs
    columns = ["median", *interval_names(ci_prob), "prob_direction"]
    return {
        CORRELATION: dict(zip(columns, [r, *r_interval.tolist(), np.nan], strict=True)),
        SLOPE: dict(zip(columns, [slope, *slope_interval.tolist(), np.nan], strict=True)),
    }
