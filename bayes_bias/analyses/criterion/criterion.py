"""`criterion`: the correlation of bias with an external criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
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
from bayes_bias.analyses.criterion.model import model_of, spec_of, with_true_values
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
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.progress import within
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import interval_names
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName

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

    The correlation between the errors of several fits is estimated by `bayes_bias.posterior.shared_words.shared_errors`
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
    # For "these words", biases are exact. For "new words", the choice of words causes errors.
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
    )


def _biases(biases: Any, toward: str | None, scope: ScopeName) -> Biases:
    """Return the biases from any type of input that `criterion` accepts."""
    if isinstance(biases, Biases):
        return biases
    if isinstance(biases, pd.DataFrame):
        return Biases.from_frame(biases)
    if isinstance(biases, xr.DataArray):
        return Biases.from_draws(biases)
    if isinstance(biases, xr.DataTree | Fitted):
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
    """Fit the model for these words, or for new words."""
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
    """Return a row for each label with its data and the posterior means of its true values."""
    posterior = fits[NEW if NEW in fits else THESE].posterior
    columns = {"bias": data.biases.values, "bias_sd": data.biases.sd, "criterion": data.criterion}
    table = pd.DataFrame({**columns, "criterion_se": data.criterion_se}).join(data.covariates)
    if data.family is not None:
        table = table.join(data.family)
    for name in OF:
        table[f"true_{name}"] = posterior[name].mean(["chain", "draw"]).to_numpy()
    return table.rename_axis(data.noun)


def _summary(data: CriterionData, fits: Mapping[str, Fitted], ci_prob: float) -> pd.DataFrame:
    """Return the table of `CriterionValidity.summary`."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for quantity, observed in _observed_quantities(data, ci_prob).items():
        rows[quantity, OBSERVED] = observed
        for words, fitted in fits.items():
            rows[quantity, words] = median_row(fitted.posterior[quantity], ci_prob)
    widest = NEW if NEW in fits else THESE
    for name, has_errors in (("bias", not data.biases.exact), ("criterion", data.criterion_se.any())):
        if has_errors:
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
    both_signs = np.array([-1, 1])
    with np.errstate(divide="ignore"):
        reach = scipy.stats.norm.ppf((1 + ci_prob) / 2) / np.sqrt(n - k - 3) if n - k > 3 else np.inf
        r_interval = np.tanh(np.arctanh(r) + reach * both_signs)
    se = ratio_of_sds * np.sqrt(max(1 - r**2, 0.0) / (n - k - 2))
    slope = r * ratio_of_sds
    slope_interval = slope + scipy.stats.t.ppf((1 + ci_prob) / 2, n - k - 2) * se * both_signs
    columns = ["median", *interval_names(ci_prob), "prob_direction"]
    return {
        CORRELATION: dict(zip(columns, [r, *r_interval.tolist(), np.nan], strict=True)),
        SLOPE: dict(zip(columns, [slope, *slope_interval.tolist(), np.nan], strict=True)),
    }
