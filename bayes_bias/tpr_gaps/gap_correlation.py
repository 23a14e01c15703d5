"""Correlation of word bias and true-positive-rate gaps over classes, allowing for errors in both.

    bias_seen[c] ~ Normal(bias[c], sd[c])
    hits[c, g] ~ Binomial(people[c, g], rate[c, g])
    logit rate[c, group] - logit rate[c, rest] = gap[c]
    (bias[c], gap[c]) ~ Normal(means, scales, correlation rho)

Noise in either draws Pearson's correlation of the observed values towards zero.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.arguments import check_ci_prob, check_kind, check_seed
from bayes_bias.errors import TprGapsError, did_you_mean
from bayes_bias.formatting import Tabled, capitalized, estimate, in_words, probability, signed
from bayes_bias.models.compiling import Inputs, ModelOfData
from bayes_bias.models.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.fitting import NamedData, fit_model
from bayes_bias.models.model_spec import ModelSpec, Prior
from bayes_bias.models.priors import free
from bayes_bias.models.sampling import Sampling, check_sampling
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.progress import Progress
from bayes_bias.table.association_table import announce
from bayes_bias.table.metric import Metric
from bayes_bias.tpr_gaps.binomial_density import log_likelihood
from bayes_bias.tpr_gaps.estimating import data_of
from bayes_bias.tpr_gaps.gap_model import START, effects, informed, informed_by
from bayes_bias.tpr_gaps.gap_results import TprGaps
from bayes_bias.tpr_gaps.people_counts import PeopleCounts

type WordBias = pd.DataFrame | xr.DataArray | xr.DataTree | Fitted

FEWEST = 4

CORRELATION = Metric("correlation", unit="correlation", range=(-1.0, 1.0), decimals=2)
SPEC = ModelSpec(
    name="gap correlation",
    title="Correlation of word bias and gaps of true-positive rates, errors in both",
    description="",
    structure="gap correlation",
    options={},
    priors={
        "rho": Prior("Uniform", {"lower": -1, "upper": 1}),
        "mean": Prior("Normal", {"mu": 0, "sigma": 1}),
        "level_mean": Prior("Normal", {"mu": 0, "sigma": 1.5}),
        "sd_bias": Prior("HalfNormal", {"sigma": 1}),
        "sd_gap": Prior("HalfNormal", {"sigma": 1}),
        "sd_level": Prior("HalfNormal", {"sigma": 1.5}),
    },
)


@dataclass(frozen=True, eq=False, repr=False)
class GapCorrelation(Tabled):
    """Correlation of word bias and gaps over classes. Made by `bayes_bias.tpr_gaps.correlation`.

    Attributes
    ----------
    group, rest : str
        The gap is the rate of `group` minus the rate of `rest`.
    rho, lower, upper : float
        Posterior mean and interval of the correlation, in the population of classes, of true bias and true gap (log
        odds).
    prob_direction : float
        Probability of the more probable sign.
    naive : float
        Pearson's correlation of the observed biases and gaps, which noise draws towards zero.
    ci_prob : float
        Probability of the interval.
    table : pandas.DataFrame
        A row for each class: ``bias``, ``sd``, ``raw`` (gap, in rates), and their posterior means ``true_bias`` and
        ``true_gap`` (log odds).
    fit : xarray.DataTree
        The posterior for ArviZ.
    diagnostics : Diagnostics
        Whether the fit has converged.
    notices : tuple of str
        Classes without a word bias and words without a class.
    """

    group: str
    rest: str
    rho: float
    lower: float
    upper: float
    prob_direction: float
    naive: float
    ci_prob: float
    table: pd.DataFrame
    fit: xr.DataTree
    diagnostics: Diagnostics
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer in sentences."""
        if not self.diagnostics.converged:
            return f"Not converged, do not interpret: {'; '.join(self.diagnostics.problems)}."
        answer = (
            f"Over {in_words(len(self.table))} classes, word bias and the gap of {self.group} (minus {self.rest})"
            f" correlate at {estimate(self.rho, self.lower, self.upper, 2)}, allowing for errors in both (probability"
            f" of direction {probability(self.prob_direction)}). Pearson's r of the observed values, which noise draws"
            f" towards zero, is {signed(self.naive, 2)}."
        )
        return " ".join([answer, *(f"{capitalized(notice)}." for notice in self.notices)])

    def _shown(self) -> pd.DataFrame:
        return self.table


def correlation(
    gaps: TprGaps,
    bias: WordBias,
    *,
    group: str | None = None,
    toward: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> GapCorrelation:
    r"""Correlation of the bias of class words with gaps of true-positive rates, allowing for errors in both.

    True bias and true gap (log odds) of a class are bivariate normal over classes,

    .. math:: (b_c, \gamma_c) \sim \mathrm{Normal}(\mu, \Sigma), \qquad \hat b_c \sim \mathrm{Normal}(b_c, s_c)

    with binomial counts of correct predictions given :math:`\gamma_c`. The estimate is the correlation in
    :math:`\Sigma`; errors of measurement attenuate that of the observed values [1]_.

    Parameters
    ----------
    gaps : TprGaps
        From `bayes_bias.tpr_gaps.estimate`.
    bias : pandas.DataFrame, xarray.DataArray, or a fit
        The bias of each class's word. A frame with the columns ``class``, ``bias`` and ``sd``, its standard
        error; draws ``(chain, draw, contrast)``, whose mean and standard deviation are used, not shrunk towards
        each other; or a fit of a list whose targets are the classes, whose raw contrasts are used with their
        standard errors for these attributes.
    group : str, optional
        The group whose gap is used; by default the one that `gaps` reports, if there is one.
    toward : str, optional
        For a fit: the attribute class to which a positive bias is closer, such as that of `group`. (The contrasts of a
        fit are signed by each word's own stereotype.)
    ci_prob, seed, sampling, progress
        See `bayes_bias.tpr_gaps.estimate`.

    Returns
    -------
    GapCorrelation
        Printed, its sentences.

    Raises
    ------
    TprGapsError
        An unknown `group` or `toward`, missing or non-numeric columns, or fewer than four classes that have both.

    Notes
    -----
    Priors: ``rho`` uniform from -1 to 1; for bias in units of its standard deviation over classes, and for log odds,
    means Normal(0, 1) and scales HalfNormal(1). With more than two groups the gap is that of one group against all
    others together.

    Classes are modelled as normal, so that intervals are too short with outliers: of 200 simulated classifiers with
    Student-t classes (5 degrees of freedom) 88% of the 95% intervals contained the truth, and 96% to 100% with normal
    classes (CALIBRATION.md).

    References
    ----------
    .. [1] Spearman, C. (1904). The proof and measurement of association between two things. American Journal of
       Psychology, 15(1), 72-101. https://doi.org/10.2307/1412159

    Examples
    --------
    >>> words = pd.DataFrame({"class": ["nurse", ...], "bias": [0.11, ...], "sd": [0.02, ...]})  # doctest: +SKIP
    >>> print(correlation(estimate(data="predictions.csv", of="F"), words))                # doctest: +SKIP
    """
    check_kind("gaps", gaps, TprGaps, "not a result of `tpr_gaps.estimate`; give one", TprGapsError)
    check_seed(seed)
    check_sampling(sampling)
    check_ci_prob(ci_prob)
    group = _group(gaps, group)
    counts, words, notices = _matched(gaps.counts.against_the_rest(group), measured(bias, toward))
    inputs = _inputs(counts, words)
    notices = announce(notices)
    hashed = hashlib.sha256((counts.sha256 + words.to_csv(float_format="%.10g")).encode()).hexdigest()
    fitted = fit_model(
        NamedData("gap correlation", CORRELATION, hashed, notices),
        SPEC,
        ModelOfData(("gap correlation",), lambda: _model(inputs), inputs, {"class": counts.classes}),
        data_of(counts).assign(bias_seen=("class", words.bias), bias_sd=("class", words.sd)),
        seed=seed,
        sampling=sampling,
        progress=progress,
    )
    rho = fitted.posterior["rho"].to_numpy().ravel()
    lower, upper = np.quantile(rho, tails(ci_prob))
    negative = float((rho < 0).mean())
    rates = counts.hits / counts.people
    true_bias, true_gap = (fitted.posterior[name].mean(["chain", "draw"]).to_numpy() for name in ("bias", "gap"))
    table = words.assign(
        observed=rates[group] - rates[counts.groups[1]],
        true_bias=float(words.bias.mean()) + float(words.bias.std()) * true_bias,
        true_gap=true_gap,
    )
    return GapCorrelation(
        group=group,
        rest=counts.groups[1],
        rho=float(rho.mean()),
        lower=float(lower),
        upper=float(upper),
        prob_direction=max(negative, 1 - negative),
        naive=float(table.bias.corr(table.observed)),
        ci_prob=ci_prob,
        table=table,
        fit=fitted.tree,
        diagnostics=Diagnostics.of(fitted),
        notices=notices,
    )


def _group(gaps: TprGaps, group: str | None) -> str:
    if group is None and len(gaps.of) > 1:
        raise TprGapsError(f"group: there are several gaps; give one of {', '.join(gaps.of)}")
    name = group or gaps.of[0]
    if name not in gaps.counts.groups:
        raise TprGapsError(f"group: there is no group '{name}'; {did_you_mean(name, gaps.counts.groups)}")
    return name


def measured(bias: WordBias, toward: str | None = None) -> pd.DataFrame:
    """Bias and its standard error by class, from each kind of bias that `correlation` accepts."""
    if isinstance(bias, pd.DataFrame):
        return _of_frame(bias)
    if isinstance(bias, xr.DataArray):
        return _of_draws(bias)
    return _of_fit(Fitted.of(bias), toward)


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame if "class" in frame else frame.rename_axis("class").reset_index()
    for column in ("class", "bias", "sd"):
        if column not in frame:
            raise TprGapsError(f"bias: there is no column '{column}'; {did_you_mean(column, map(str, frame.columns))}")
    words = frame.set_index(frame["class"].astype(str))[["bias", "sd"]]
    if words.index.has_duplicates:
        raise TprGapsError(f"bias: class '{words.index[words.index.duplicated()][0]}' is given twice; give it once")
    for column in words:
        if not pd.api.types.is_numeric_dtype(words[column]) or not np.isfinite(words[column]).all():
            raise TprGapsError(f"bias: column '{column}' must hold finite numbers; fill or remove the other rows")
    if (words.sd <= 0).any():
        raise TprGapsError(f"bias: sd of '{words.index[words.sd <= 0][0]}' must be above 0; give its standard error")
    return words.astype(float)


def _of_draws(draws: xr.DataArray) -> pd.DataFrame:
    labels = [dim for dim in draws.dims if dim not in ("chain", "draw")]
    if len(labels) != 1 or "draw" not in draws.dims or labels[0] not in draws.coords:
        raise TprGapsError(
            f"bias: draws must have the dims chain, draw and one labelled by the classes, got"
            f" {', '.join(map(str, draws.dims))}; give `posterior_draws`, or name its labels"
        )
    sample = [dim for dim in draws.dims if dim in ("chain", "draw")]
    classes = draws[labels[0]].to_numpy().astype(str)
    columns = {"class": classes, "bias": draws.mean(sample).to_numpy(), "sd": draws.std(sample).to_numpy()}
    return _of_frame(pd.DataFrame(columns))


def _of_fit(fitted: Fitted, toward: str | None) -> pd.DataFrame:
    """Raw contrasts of the targets, signed towards one class, and their standard errors with these attributes."""
    data = fitted.generalising("the bias of class words").data
    associated = data.associated.to_numpy()
    names = data.attribute_class.to_numpy()[associated].tolist()
    if toward is None or toward not in names or len(names) != 2:
        raise TprGapsError(
            f"toward: must be the attribute class to which a positive bias is closer, one of two, got {toward!r};"
            f" valid: {', '.join(names)}"
        )
    target_bias = estimate_of(fitted, "target_bias", "targets")
    assert target_bias.noise_sd is not None
    words = target_bias.observed.contrast.to_numpy()
    sign = np.where(np.array(names)[data.group_of.sel(target=words).to_numpy()] == toward, 1, -1)
    sd = (target_bias.noise_sd**2).mean(["chain", "draw"]) ** 0.5
    columns = {"class": words.astype(str), "bias": sign * target_bias.observed.to_numpy(), "sd": sd.to_numpy()}
    return _of_frame(pd.DataFrame(columns))


def _matched(counts: PeopleCounts, words: pd.DataFrame) -> tuple[PeopleCounts, pd.DataFrame, tuple[str, ...]]:
    """The classes that have both counts and a word bias, and a notice of the others."""
    both = [name for name in counts.classes if name in words.index]
    if len(both) < FEWEST:
        raise TprGapsError(
            f"bias: {in_words(len(both))} of {len(counts.classes)} classes have one; give {in_words(FEWEST)} classes or"
            " more the same names in both"
        )
    unmatched = {"classes without a word bias": counts.classes, "words that are not a class": list(words.index)}
    spare = {why: [name for name in names if name not in both] for why, names in unmatched.items()}
    notices = [f"left out, {why}: {', '.join(names)}" for why, names in spare.items() if names]
    kept = PeopleCounts(counts.hits.loc[both], counts.people.loc[both], counts.notices)
    return kept, words.loc[both].rename_axis("class"), tuple(notices)


def _inputs(counts: PeopleCounts, words: pd.DataFrame) -> Inputs:
    """Biases in units of their standard deviation over classes, about their mean."""
    unit = float(words.bias.std())
    if not unit > 0:
        raise TprGapsError("bias: is the same for all classes; give biases that differ")
    hits, people = (frame.to_numpy(dtype=float) for frame in (counts.hits, counts.people))
    seen, sd = ((values / unit).to_numpy(dtype=float) for values in (words.bias - words.bias.mean(), words.sd))
    bias_informed = informed(seen**2, sd**2)
    counted = {"hits": hits, "people": people, **informed_by(hits, people)}
    return {"seen": seen, "sd": sd, "bias_informed": bias_informed, **counted}


def _model(inputs: Inputs) -> pm.Model:
    with pm.Model(coords={"group": ["group", "rest"], "of": ["bias", "gap"]}) as model:
        hits, people = (pm.Data(name, inputs[name], dims=("class", "group")) for name in ("hits", "people"))
        seen, sd = (pm.Data(name, inputs[name], dims="class") for name in ("seen", "sd"))
        bias_informed, gap_informed, level_informed = (
            pm.Data(f"{name}_informed", inputs[f"{name}_informed"], dims="class") for name in ("bias", "gap", "level")
        )
        rho, mean, level_mean = free(SPEC, "rho"), free(SPEC, "mean", dims="of"), free(SPEC, "level_mean")
        sd_bias, sd_gap, sd_level = (free(SPEC, f"sd_{name}", initval=START) for name in ("bias", "gap", "level"))
        bias = mean[0] + effects("bias", mean[0], sd_bias, bias_informed, "class")
        # A gap has a part that the bias predicts, and an independent part.
        predicted = mean[1] + rho * sd_gap * (bias - mean[0]) / sd_bias
        gap = predicted + effects("gap", predicted, pt.sqrt(1 - rho**2) * sd_gap, gap_informed, "class")
        level = level_mean + effects("level", level_mean, sd_level, level_informed, "class")
        pm.Deterministic("bias", bias, dims="class")
        pm.Deterministic("gap", gap, dims="class")
        pm.Potential("seen_given_bias", -(((seen - bias) / sd) ** 2).sum() / 2)
        nothing, halves = np.zeros(1), np.array([[0.5, -0.5]])
        pm.Potential("binomial", log_likelihood(level, nothing, gap[:, None], halves, hits, people))
    return model
