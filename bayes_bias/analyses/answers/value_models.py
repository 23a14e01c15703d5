"""The model of values. It has one hierarchical predictor, and a likelihood for each kind of value.

    predictor[i] = intercept + contrasts[corner i] . coefficient
                   + effect[f, l(i)] + contrasts[corner i] . bias_effect[f, l(i)]

The last two terms are included for each factor f: label, wording, word, and answer.

A corner is a combination that is compared, such as the labels of a group. Effects of the levels of a factor are normal.
A factor has effects on the bias if its levels occur in several corners, for example a word that is asked about every
group. To add a likelihood, write a class like `Numeric` and add it to `LIKELIHOODS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray
from pymc.distributions.transforms import ordered
from scipy.special import expit
from scipy.stats import mannwhitneyu

from bayes_bias.errors import AnswersError
from bayes_bias.fitting.sampling import PyMCModel, key_of
from bayes_bias.models.normal_effects import normal_effects
from bayes_bias.models.priors import free, observe_with_scale
from bayes_bias.models.scales import rounded
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.shared_types import Numbers

type Codes = NDArray[np.int64]

LABEL, WORDING, WORD, ANSWER = "label", "wording", "word", "answer"
# Gauss-Hermite nodes for averages over normal effects on the log odds.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
# The variance of the logistic distribution, which is the latent distribution of ratings.
_LOGISTIC = np.pi**2 / 3
# Ratings with more steps must be analysed as numbers.
_MOST_RATINGS = 20
# Values are separated if a value of one side exceeds a value of the other side with a larger probability.
_SEPARATED = 0.98
# A typical size of the standard deviations, in units of the priors.
_TYPICAL = 0.4


@dataclass(frozen=True, eq=False)
class Corners:
    """The combinations that are compared: groups of labels, classes of words, or both.

    Attributes
    ----------
    names : tuple of str
        Names of the corners.
    contrasts : array (corner, contrast)
        Weights of the coefficients. The difference of two corners that differ in one contrast is its coefficient.
    is_bias : array (contrast,)
        True for contrasts of the bias. The other contrasts are main effects.
    estimands : mapping of str to array (corner,)
        Weights of the expected values of the corners in each estimand.
    """

    names: tuple[str, ...]
    contrasts: Numbers
    is_bias: NDArray[np.bool_]
    estimands: Mapping[str, Numbers]

    @property
    def of_bias(self) -> Numbers:
        """Return the contrasts of the bias, (corner, bias)."""
        return self.contrasts[:, self.is_bias]


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor (labels, wordings, words or answers).

    `codes` has the position in `levels` of each value. If `has_bias` is True, the levels have effects on the bias as
    well, because they occur in several corners.
    """

    name: str
    levels: tuple[str, ...]
    codes: Codes
    has_bias: bool


@dataclass(frozen=True, eq=False)
class ValueData:
    """Observed values, with the position of the corner of each value, and the factors with the level of each value."""

    value: Numbers
    corner: Codes
    corners: Corners
    factors: tuple[Factor, ...]
    # The lowest and highest possible rating.
    lowest: float = 0.0
    highest: float = 1.0

    def averages(self, values: Numbers) -> Numbers:
        """Return the average of the values in each corner, (corner,). `values` has a number for each observed value."""
        size = len(self.corners.names)
        return np.bincount(self.corner, values, size) / np.bincount(self.corner, minlength=size)

    def is_separated(self, weights: Numbers) -> bool:
        """Return True if the values on both sides of an estimand, such as the answers about two groups, hardly overlap.

        `weights` are the weights of the corners in the estimand. The sides are the values of corners with positive and
        with negative weights. They are separated if a value of one side exceeds a value of the other side with a
        probability above `_SEPARATED`.
        """
        weight = weights[self.corner]
        plus = self.value[weight > 0]
        minus = self.value[weight < 0]
        # The probability that a value of the first kind exceeds one of the second kind, where ties count as half.
        superiority = float(mannwhitneyu(plus, minus).statistic) / (len(plus) * len(minus))
        return max(superiority, 1 - superiority) > _SEPARATED


@dataclass(frozen=True)
class Scale:
    """The centre and unit by which values are standardised before the model is fitted."""

    centre: float
    unit: float


class Likelihood:
    """A kind of value.

    It defines the likelihood given the predictor, and the expected value in the unit of the answers.
    """

    name: ClassVar[str]
    # The estimand and its unit.
    quantity: ClassVar[str]
    unit: ClassVar[str]
    # The likelihood in a methods text.
    described: ClassVar[str]
    # The columns that the likelihood needs, and True if each value is about a pair of labels.
    reads: ClassVar[str] = "value"
    has_label_pairs: ClassVar[bool] = False
    # The scale of the priors, in units of the predictor.
    size: ClassVar[float] = 1.0
    own_priors: ClassVar[Mapping[str, Prior]] = MappingProxyType({})

    def spec(self, factors: Sequence[Factor]) -> ModelSpec:
        """Return the priors of the model for these factors, such as labels and wordings, in units of the predictor.

        Each factor has a standard deviation of its effects and, if its levels have effects on the bias, another one for
        these. Coefficients are normal, and standard deviations half-normal, with scales in proportion to `size`. A kind
        of value may have further parameters (`own_priors`), such as an intercept.
        """
        scales = [f"sd_{factor.name}" for factor in factors]
        bias_scales = [f"sd_{factor.name}_bias" for factor in factors if factor.has_bias]
        priors = dict.fromkeys([*scales, *bias_scales], Prior("HalfNormal", {"sigma": 0.5 * self.size}))
        priors = {"coefficient": Prior("Normal", {"mu": 0, "sigma": self.size}), **priors, **self.own_priors}
        title = f"Hierarchical model of answers ({self.described})"
        return ModelSpec(
            name=f"answers: {self.name}", title=title, description="", structure="answers", options={}, priors=priors
        )

    def scale(self, data: ValueData) -> Scale:
        """Return the centre and unit by which values are standardised before the model is fitted."""
        raise NotImplementedError

    def ends(self, values: Numbers, ratings: tuple[int, int] | None, where: str) -> tuple[float, float]:
        """Return the lowest and highest possible rating, or 0 and 1 for kinds of values without a scale of ratings.

        Raise an error if `ratings`, the scale of ordinal answers, is set for another kind of values.
        """
        if ratings is not None:
            raise AnswersError(f"`ratings` is the scale of ordinal answers. Omit it for '{self.name}'.")
        return 0.0, 1.0

    def evidence(self, values: Numbers, data: ValueData) -> tuple[Numbers, Numbers]:
        """Return the approximate score and information of each value for its predictor, for the sampler.

        Score and information are the first and the negative second derivative of the log likelihood. With the variance
        s² within corners (the combinations that are compared, such as groups of labels), they are (value - average of
        its corner) / s², and 1 / s².
        """
        deviation = values - data.averages(values)[data.corner]
        variance = max(float(deviation.var()), 1e-6)
        return deviation / variance, np.full(len(values), 1 / variance)

    def observe(self, spec: ModelSpec, predictor: pt.TensorVariable, values: pt.TensorVariable) -> None:
        """Add the intercept and the observed values to the current PyMC model."""
        raise NotImplementedError

    def expected(self, mean: Numbers, variance: Numbers, draws: Mapping[str, Numbers], scale: Scale) -> Numbers:
        """Return the expected values, given a normal predictor in each corner.

        `mean` and `variance` describe the predictor, (draw, corner), and `draws` has the draws of the other parameters.
        """
        raise NotImplementedError

    def as_answered(self, values: Numbers) -> Numbers:
        """Return values in the unit of the estimand."""
        return values


class Numeric(Likelihood):
    """Numbers with normal residuals. The estimand is a difference of means."""

    name = "numeric"
    quantity, unit = "difference of means", ""
    described = "normal"
    own_priors = MappingProxyType(
        {"intercept": Prior("Normal", {"mu": 0, "sigma": 1}), "scale_residual": Prior("HalfNormal", {"sigma": 1})}
    )

    def scale(self, data: ValueData) -> Scale:
        return Scale(float(rounded(data.value.mean())), float(rounded(data.value.std())))

    def observe(self, spec: ModelSpec, predictor: pt.TensorVariable, values: pt.TensorVariable) -> None:
        expected = free(spec, "intercept") + predictor
        observe_with_scale(spec, "answered", expected, free(spec, "scale_residual"), values)

    def expected(self, mean: Numbers, variance: Numbers, draws: Mapping[str, Numbers], scale: Scale) -> Numbers:
        return scale.centre + scale.unit * mean


class Robust(Numeric):
    """Numbers with Student-t residuals. The estimand is a difference of locations."""

    name = "robust"
    quantity = "difference of locations"
    described = "Student-t"
    own_priors = MappingProxyType({**Numeric.own_priors, "nu": Prior("Gamma", {"alpha": 2, "beta": 0.1})})


class Probability(Numeric):
    """Logit-normal probabilities of the label of the first group. The estimand is D.

    Language models compute probabilities from logits, on which effects of label, wording and word are additive. The log
    odds are therefore modelled as normal. This allows for probabilities near 0 and 1, which are frequent. A beta
    density would have the same precision for all probabilities, and would also require a transformation of its mean.
    """

    name = "probabilities"
    quantity, unit = "D", ""
    reads, has_label_pairs = "probabilities", True
    described = "logit-normal"

    def expected(self, mean: Numbers, variance: Numbers, draws: Mapping[str, Numbers], scale: Scale) -> Numbers:
        """Return the expected probability: the average of the inverse logit over the predictor and the residual."""
        sd = np.sqrt(variance + draws["scale_residual"][:, None] ** 2)
        return averaged(scale.centre + scale.unit * mean, scale.unit * sd)

    def as_answered(self, values: Numbers) -> Numbers:
        return expit(values)


class Ordinal(Likelihood):
    """Integer ratings with a cumulative logit. The estimand is a difference of expected ratings."""

    name = "ordinal"
    quantity, unit = "difference of expected ratings", "points"
    described = "cumulative logit"
    size = 1.5

    own_priors = MappingProxyType({"cutpoint": Prior("Normal", {"mu": 0, "sigma": 3})})

    def scale(self, data: ValueData) -> Scale:
        return Scale(data.lowest, 1.0)

    def ends(self, values: Numbers, ratings: tuple[int, int] | None, where: str) -> tuple[float, float]:
        """Return the ends of the scale, which are the lowest and the highest rating if `ratings` is not set.

        Raise an error if a value is no whole number or lies beyond the ends, or if the scale has too many steps.
        `where` names the answers in messages.
        """
        fractions = values[values != np.round(values)]
        if len(fractions):
            value = fractions[0]
            raise AnswersError(
                f"{where}: the value {value:g} is not a whole number. Use likelihood='numeric' for numbers that are not"
                " ratings."
            )
        lowest, highest = (values.min(), values.max()) if ratings is None else ratings
        if values.min() < lowest or values.max() > highest or highest - lowest >= _MOST_RATINGS:
            raise AnswersError(
                f"{where}: values must be ratings between {lowest:g} and {highest:g}, in at most {_MOST_RATINGS} steps,"
                f" but lie between {values.min():g} and {values.max():g}. Set `ratings`, or use likelihood='numeric'."
            )
        return float(lowest), float(highest)

    def evidence(self, values: Numbers, data: ValueData) -> tuple[Numbers, Numbers]:
        """Return score and information of the latent logistic variable of each rating, whose variance is π² / 3.

        Deviations of ratings from the averages of their corners (the groups that are compared) are scaled to this
        variance. If x is such a deviation, the score is x / (π² / 3), and the information is 1 / (π² / 3).
        """
        deviation = values - data.averages(values)[data.corner]
        latent = deviation / max(float(deviation.std()), 1e-6) * np.sqrt(_LOGISTIC)
        return latent / _LOGISTIC, np.full(len(values), 1 / _LOGISTIC)

    def observe(self, spec: ModelSpec, predictor: pt.TensorVariable, values: pt.TensorVariable) -> None:
        """Add cutpoints between ratings, in increasing order, and the observed ratings to the current PyMC model."""
        start = np.linspace(-1, 1, len(pm.modelcontext(None).coords["step"]))
        cutpoints = free(spec, "cutpoint", dims="step", transform=ordered, initval=start)
        pm.OrderedLogistic("answered", predictor, cutpoints, compute_p=False, observed=pt.cast(values, "int64"))

    def expected(self, mean: Numbers, variance: Numbers, draws: Mapping[str, Numbers], scale: Scale) -> Numbers:
        """Return the expected rating of each corner, (draw, corner).

        It is the lowest rating (the centre of the scale) plus the sum of the probabilities of ratings above each
        cutpoint. The probability is averaged over the normal predictor with this `mean` and `variance`.
        """
        # (draw, corner, cutpoint)
        above = averaged(mean[..., None] - draws["cutpoint"][:, None, :], np.sqrt(variance)[..., None])
        return scale.centre + above.sum(axis=-1)


class Refusal(Ordinal):
    """Refusals, modelled as ratings with one step. The estimand is a difference of probabilities."""

    name = "refusals"
    quantity, unit = "difference of refusal rates", "percentage points"
    reads = "refused"
    described = "binomial, logit"

    def expected(self, mean: Numbers, variance: Numbers, draws: Mapping[str, Numbers], scale: Scale) -> Numbers:
        return 100 * super().expected(mean, variance, draws, scale)

    def ends(self, values: Numbers, ratings: tuple[int, int] | None, where: str) -> tuple[float, float]:
        return Likelihood.ends(self, values, ratings, where)

    def as_answered(self, values: Numbers) -> Numbers:
        return 100 * values


class Binary(Refusal):
    """Yes and no, modelled like refusals. The estimand is a difference of shares of yes."""

    name = "binary"
    quantity = "difference of shares of yes"
    reads = "value"


_ALL = (Ordinal(), Numeric(), Robust(), Binary(), Probability(), Refusal())
LIKELIHOODS: Mapping[str, Likelihood] = MappingProxyType({likelihood.name: likelihood for likelihood in _ALL})


def averaged(mean: Numbers, sd: Numbers) -> Numbers:
    """Return the average of the inverse logit over a normal distribution, by Gauss-Hermite quadrature.

    The average of 1 / (1 + exp(-x)) for x ~ Normal(mean, sd²) is a weighted sum over nodes z of its values at mean + sd
    z. The sum is a loop, because an array of all nodes would need too much memory.
    """
    average = np.zeros(np.broadcast_shapes(mean.shape, sd.shape))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        average += weight * expit(mean + node * sd)
    return average


# Construction of the PyMC model from data.


def value_model(likelihood: Likelihood, data: ValueData, scale: Scale | None = None) -> PyMCModel:
    """Return the model of a likelihood for the data. Models with the same shape are compiled only once.

    The `scale` is the centre and unit by which values are standardised. By default, it is computed from the data.
    """
    spec = likelihood.spec(data.factors)
    inputs = _inputs(likelihood, data, scale)
    coords = _coords(data)
    key = key_of(spec, inputs, coords, len(data.value), likelihood.name, data.corners.contrasts.tobytes())
    return PyMCModel(lambda: build(likelihood, data, inputs, coords), coords, key, inputs, adaptation="low_rank")


def build(
    likelihood: Likelihood, data: ValueData, inputs: Mapping[str, NDArray[Any]], coords: Mapping[str, list[str]]
) -> pm.Model:
    """Return the PyMC model. Its data, the `inputs`, are variables that can be replaced.

    Each value belongs to a corner, such as a group of labels, and to a level of each factor, such as a label, a wording
    and a word. Its predictor is the sum of the coefficients times the contrasts of its corner, and of the effects of
    its levels. An effect on the bias is multiplied by the contrasts of the bias in the corner of the value. For each
    factor, the inputs have the level of each value (such as "word_of") and the evidence, which only helps the sampler.
    """
    spec = likelihood.spec(data.factors)
    bias_contrasts = pt.constant(data.corners.of_bias)
    with pm.Model(coords=dict(coords)) as model:
        tensors = {name: pm.Data(name, values) for name, values in inputs.items()}
        corner = tensors["corner"]
        # A sum of products, because a matrix product takes half a minute to compile.
        of_corners = (data.corners.contrasts * free(spec, "coefficient", dims="contrast")).sum(axis=1)
        predictor = of_corners[corner]
        for factor in data.factors:
            level = tensors[factor.name + "_of"]
            evidence = tensors[factor.name + "_evidence"]
            sd = free(spec, f"sd_{factor.name}", _TYPICAL)
            predictor += normal_effects(f"{factor.name}_effect", 0.0, sd, evidence, factor.name)[level]
            if factor.has_bias:
                name = f"{factor.name}_bias"
                sd = free(spec, f"sd_{name}", _TYPICAL)
                evidence = tensors[name + "_evidence"]
                effects = normal_effects(f"{name}_effect", 0.0, sd, evidence, (factor.name, "bias"))
                predictor += (effects[level] * bias_contrasts[corner]).sum(axis=1)
        likelihood.observe(spec, predictor, tensors["value"])
    return model


def _coords(data: ValueData) -> dict[str, list[str]]:
    """Return the names of the levels of each dimension of the PyMC model.

    These are all contrasts, contrasts of the bias, steps between ratings, and the levels of each factor.
    """
    contrasts = [f"contrast {k + 1}" for k in range(len(data.corners.is_bias))]
    contrasts_of_bias = list(np.array(contrasts)[data.corners.is_bias])
    steps = [f"above {step}" for step in range(int(data.lowest), int(data.highest))]
    coords = {"contrast": contrasts, "bias": contrasts_of_bias, "step": steps}
    for factor in data.factors:
        coords[factor.name] = list(factor.levels)
    return coords


def _inputs(likelihood: Likelihood, data: ValueData, scale: Scale | None) -> dict[str, NDArray[Any]]:
    """Return the data of a model: standardised values, corners, levels, and the evidence on each effect.

    A corner is a combination that is compared, such as a group of labels, and its contrasts are the weights of its
    coefficients. The evidence, the score and information of each level, is only used by the sampler. For an
    effect on the bias, the score of a value is multiplied by its contrast c, and the information by c².
    """
    scale = scale or likelihood.scale(data)
    value = rounded((data.value - scale.centre) / scale.unit)
    score, information = likelihood.evidence(value, data)
    inputs: dict[str, NDArray[Any]] = {"value": value, "corner": data.corner.astype(np.int32)}
    contrasts_of_bias = data.corners.of_bias[data.corner]  # (value, bias)
    for factor in data.factors:
        inputs[factor.name + "_of"] = factor.codes.astype(np.int32)
        inputs[factor.name + "_evidence"] = _evidence(factor, score, information)
        if factor.has_bias:
            columns = [_evidence(factor, score * c, information * c**2) for c in contrasts_of_bias.T]
            inputs[factor.name + "_bias_evidence"] = np.stack(columns, axis=-1)  # (2, level, bias)
    return inputs


def _evidence(factor: Factor, score: Numbers, information: Numbers) -> Numbers:
    """Return the score and information of each level, (2, level), as sums over its values. See `normal_effects`."""
    n_levels = len(factor.levels)
    return np.array([np.bincount(factor.codes, score, n_levels), np.bincount(factor.codes, information, n_levels)])


# Computation of the estimands from draws.


def expected_values(
    likelihood: Likelihood, data: ValueData, posterior: xr.Dataset, random: Sequence[str], scale: Scale | None = None
) -> Numbers:
    """Return draws of the expected value of each corner (draw, corner) for new levels of the `random` factors.

    Given a draw, the predictor of an answer in a corner with contrasts c is treated as normal. Its mean is intercept +
    c . coefficient. A random factor contributes the variance sd² + |c_bias|² sd_bias², where c_bias are the contrasts
    of the bias. The levels of all other factors are fixed and have equal weights, so the mean and the variance of their
    effects in the corner are added. The `likelihood` then converts the predictor to expected values in the unit of the
    answers, for values that were standardised by the `scale` (by default computed from the data).
    """
    samples = posterior.stack(sample=("chain", "draw")).transpose("sample", ...)
    draws = {str(name): np.asarray(samples[name].to_numpy()) for name in samples.data_vars}
    corners = data.corners
    mean = draws["coefficient"] @ corners.contrasts.T + draws.get("intercept", np.zeros(1))[:, None]  # (draw, corner)
    variance = np.zeros_like(mean)
    squared_contrasts = (corners.of_bias**2).sum(axis=1)  # (corner,)
    for factor in data.factors:
        if factor.name in random:
            variance += draws[f"sd_{factor.name}"][:, None] ** 2
            if factor.has_bias:
                variance += draws[f"sd_{factor.name}_bias"][:, None] ** 2 * squared_contrasts
            continue
        for corner in range(len(corners.names)):
            levels = np.unique(factor.codes[data.corner == corner])
            effects = draws[f"{factor.name}_effect"][:, levels]  # (draw, level)
            if factor.has_bias:
                effects = effects + draws[f"{factor.name}_bias_effect"][:, levels] @ corners.of_bias[corner]
            mean[:, corner] += effects.mean(axis=1)
            variance[:, corner] += effects.var(axis=1)
    return likelihood.expected(mean, variance, draws, scale or likelihood.scale(data))
