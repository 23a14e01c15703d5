"""The biases of all slices, their covariance over samples of words, and contrasts of slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import chdtri, logsumexp, ndtri, softmax
from scipy.stats import t as student

from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import Tabled, capitalized, probability, value_and_interval
from bayes_bias.measures.crossed_tests import WordScores
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.pooling import IntervalEstimate, Normals
from bayes_bias.posterior.summary import chance, row_of_bias
from bayes_bias.progress import within
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.columns import interval_columns, interval_names, interval_of
from bayes_bias.table.combine_tables import weighted_sum
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ATTRIBUTES, TARGETS, Scope, ScopeName
from bayes_bias.table.statistics import table_means


@dataclass(frozen=True, eq=False)
class Part:
    """A component of the covariance of biases (slice, slice) from words of one cell, the residual, or replicates."""

    source: str
    matrix: Numbers
    df: float


@dataclass(frozen=True, eq=False)
class SliceMoments:
    r"""Biases of slices for the same words, and the components of their covariance over new words.

    The computation extends `bayes_bias.measures.quasi_f` to all slices at once: scores of targets and of attributes are
    vectors over slices, and mean squares are matrices, :math:`V = V_T + V_A - V_E`. V is only used in traces, such as
    the variance :math:`L' V L` of a contrast or the sum of the variances of several contrasts. Mean squares are
    unbiased estimates of these traces, and their degrees of freedom follow from Satterthwaite's approximation.
    """

    biases: Numbers
    parts: tuple[Part, ...]
    within_sd: float  # standard deviation of values within blocks, pooled over slices: the unit of the prior of tau

    @classmethod
    def of(cls, tables: Sequence[AssociationTable], scope: Scope) -> Self:
        r"""Compute the moments of tables with the same words, which are sampled on the sides in `scope`.

        Let :math:`y_{tij}` be the value of target i and attribute j in slice t, and :math:`k_{gc}` the weight of group
        g and class c in the bias. The bias of slice t is :math:`\sum_{gc} k_{gc} \bar y_{tgc}`, the score of a target
        of group g is :math:`\sum_c k_{gc} \bar y_{tic}`, and the score of an attribute of class c is
        :math:`\sum_g k_{gc} \bar y_{tgj}`.
        """
        associated = [table.without_controls() for table in tables]
        # The index of the group of each target, and of the class of each attribute.
        g, c = associated[0].group_index, associated[0].class_index
        (weights,) = bias_weights(table_means(associated[0])).to_numpy()  # (group, class)
        group_sizes = np.bincount(g)
        class_sizes = np.bincount(c)
        # Products with these matrices are means over the words of each group or class.
        in_group = np.eye(len(weights))[g] / group_sizes  # (target, group)
        in_class = np.eye(weights.shape[1])[c] / class_sizes  # (attribute, class)
        y = np.stack([table.values.to_numpy() for table in associated])  # (slice, target, attribute)
        target_means = y @ in_class  # (slice, target, class)
        attribute_means = in_group.T @ y  # (slice, group, attribute)
        block_means = in_group.T @ target_means  # (slice, group, class)
        block_mean_of_pair = block_means[:, g][:, :, c]  # (slice, target, attribute)
        parts: list[Part] = []
        if TARGETS in scope:
            parts += _parts_of_cells("targets", (target_means * weights[g]).sum(axis=2), g)
        if ATTRIBUTES in scope:
            parts += _parts_of_cells("attributes", (attribute_means * weights[:, c]).sum(axis=1), c)
        if TARGETS in scope and ATTRIBUTES in scope:
            # The values without row, column, and block means, (slice, pair).
            residual = (y - target_means[:, :, c] - attribute_means[:, g] + block_mean_of_pair).reshape(len(y), -1)
            df = float(np.outer(group_sizes - 1, class_sizes - 1).sum())
            scale = float((weights**2 / np.outer(group_sizes, class_sizes)).sum())
            # The parts of both sides contain the variance of residuals, which is therefore subtracted once.
            parts.append(Part("residual", -scale * residual @ residual.T / df, df))
        if scope.samples_replicates:
            parts += _parts_of_replicates(associated)
        within_variance = ((y - block_mean_of_pair) ** 2).sum() / (len(y) * (g.size * c.size - weights.size))
        return cls((block_means * weights).sum(axis=(1, 2)), tuple(parts), float(np.sqrt(within_variance)))

    def trace(self, form: Numbers, rank: float = 1.0) -> tuple[float, float]:
        """Return the trace of ``form @ V``, and its degrees of freedom, which are multiplied by `rank`.

        V is the covariance matrix of the biases. `form` is the matrix of a quadratic form, such as ``w w'``, for which
        the trace is the variance of the contrast with the weights w. V is a sum of parts with the traces v and degrees
        of freedom df, so Satterthwaite's approximation gives the sum ``(sum v)^2 / sum(v^2 / df)`` degrees of freedom.
        As for the quasi-F, sampling a second side must not reduce the variance, so the largest of three sums is used:
        of all parts, without attributes, and without targets.
        """
        sums = []  # of traces, and of squared traces divided by degrees of freedom
        for omitted in ((), ("attributes", "residual"), ("targets", "residual")):
            traces, squares = [], []
            for part in self.parts:
                if part.source in omitted:
                    continue
                trace = float((form * part.matrix).sum())
                traces.append(trace)
                if part.df:
                    squares.append(trace**2 / (part.df * rank))
            sums.append((sum(traces), sum(squares)))
        variance, sum_of_squares = max(sums, key=itemgetter(0))
        return variance, variance**2 / sum_of_squares if sum_of_squares else np.inf

    def rank(self, form: Numbers) -> float:
        """Return the effective number of independent contrasts in a form: (tr form V)² / tr (form V)²."""
        product = form @ sum(part.matrix for part in self.parts)
        return float(max(1.0, np.trace(product) ** 2 / np.trace(product @ product)))

    def interval(self, contrast: Numbers, ci_prob: float) -> tuple[float, float, float]:
        """Return the estimate of a contrast (slice) of the biases, and the ends of its Student interval.

        The variance of the contrast L is ``L' V L``, the trace of ``L L' V``.
        """
        variance, df = self.trace(np.outer(contrast, contrast))
        estimate = float(contrast @ self.biases)
        half_length = float(student.ppf((1 + ci_prob) / 2, df)) * max(variance, 0.0) ** 0.5
        return estimate, estimate - half_length, estimate + half_length


def trend_weights(times: Sequence[float]) -> Numbers:
    """Return weights of slices, with which the weighted sum of biases is the change along the least-squares line.

    The slope of this line is ``sum(x b) / sum(x^2)`` for the centred times x and the biases b. The change is the slope
    times the distance between the first time and the last.
    """
    x = np.asarray(times, float) - np.mean(times)
    return np.asarray(x * (x.max() - x.min()) / (x @ x))


def residual_form(times: Sequence[float]) -> Numbers:
    """Return the matrix M for which ``b' M b`` is the sum of squares of biases b about the least-squares line.

    It is the residual maker ``I - X (X' X)^-1 X'`` of a regression on a constant and on time.
    """
    design = np.column_stack([np.ones(len(times)), np.asarray(times, float) - np.mean(times)])
    return np.asarray(np.eye(len(times)) - design @ np.linalg.pinv(design))


def _parts_of_cells(source: str, scores: Numbers, cells: NDArray[np.integer]) -> list[Part]:
    """Return the covariance matrix (slice, slice) of the mean score of each group or class, as a part of `source`.

    `scores` are (slice, word), and `cells` is the index of each word's group or class. The covariance of means of n
    words is ``D D' / (n (n - 1))`` with the deviations D (slice, word) from the mean, and has n - 1 degrees of freedom.
    """
    parts = []
    for cell in np.unique(cells):
        cell_scores = scores[:, cells == cell]
        deviations = cell_scores - cell_scores.mean(axis=1, keepdims=True)
        n_words = cell_scores.shape[1]
        parts.append(Part(source, deviations @ deviations.T / ((n_words - 1) * n_words), n_words - 1.0))
    return parts


def _parts_of_replicates(tables: Sequence[AssociationTable]) -> list[Part]:
    """Return the variance of each slice's mean over its replicates, as a matrix (slice, slice) for each slice.

    The matrix of a slice has one element that is not zero, because replicates of different slices are independent. The
    variance also contains noise from words, so this noise is included twice in the total.
    """
    parts = []
    for position, table in enumerate(tables):
        tables_of_replicates = table.singles().values()
        if not tables_of_replicates:
            continue
        biases = np.array([WordScores.from_table(replicate).bias for replicate in tables_of_replicates])
        matrix = np.zeros((len(tables), len(tables)))
        matrix[position, position] = biases.var(ddof=1) / len(biases)
        parts.append(Part("replicates", matrix, len(biases) - 1.0))
    return parts


# The scale of the half-normal prior of tau, in standard deviations of values within blocks.
SCALE = 0.5
# With fewer slices, the variation between slices cannot be estimated.
FEWEST = 5
# The numbers of values of tau, of values of the error variance, and of draws.
_TAUS, _ERRORS, _DRAWS = 25, 5, 4_000
# The variance of each slice is shrunk towards the mean variance. The mean variance has the weight of this number of
# degrees of freedom.
_PULL = 4.0


@dataclass(frozen=True, eq=False)
class NewSlices:
    r"""The model of new slices: :math:`\beta_t = \alpha + \gamma x_t + \eta_t,\ \eta_t \sim N(0, \tau^2)`.

    Observed biases have errors from the choice of words. The covariance V of these errors is estimated in
    `SliceMoments`. The matrix M projects out the constant and the trend. The distribution of the sum of squares about
    the line is approximated by

    .. math:: b' M b \sim (w + \tau^2)\, \chi^2_{T - 2}, \qquad w = \mathrm{tr}(M V) / (T - 2)

    and tau has a half-normal prior whose scale is half the standard deviation of values within blocks. The posterior
    variance of a contrast of slices L, such as the trend, is its variance for exactly these slices plus
    :math:`\tau^2 L' L`. V enters only through two traces. (Models of V with compound symmetry or slice variances have
    four to twenty times as many degrees of freedom, but find false trends if words drift.)
    """

    moments: SliceMoments
    times: tuple[float, ...]

    @cached_property
    def taus(self) -> Numbers:
        """Values of tau with equal prior mass."""
        return np.asarray(SCALE * self.moments.within_sd * ndtri(0.5 + (np.arange(_TAUS) + 0.5) / _TAUS / 2))

    @cached_property
    def weight(self) -> Numbers:
        r"""Posterior weights of the values of tau, which are relative likelihoods, because prior masses are equal.

        For T slices with biases b and the matrix M (`form`), which projects out the line, the log likelihood of tau is

        .. math:: -\frac{T - 2}{2} \log(w + \tau^2) - \frac{b' M b}{2 (w + \tau^2)}

        up to a constant. The mean error variance w has an estimate with df degrees of freedom, so the likelihood is
        averaged over a few values of w.
        """
        form, b = residual_form(self.times), self.moments.biases
        residual_df = len(b) - 2
        trace, df = self.moments.trace(form, self.moments.rank(form))
        # Quantiles of the ratio of w to its estimate, which has a scaled inverse chi-squared distribution.
        probs = (np.arange(_ERRORS) + 0.5) / _ERRORS
        ratios = df / chdtri(df, 1 - probs) if np.isfinite(df) else np.ones(1)
        variance = ratios[:, None] * max(trace, 0.0) / residual_df + self.taus**2  # (ratio, tau)
        log_likelihood = -residual_df / 2 * np.log(variance) - float(b @ form @ b) / variance / 2
        return np.asarray(softmax(logsumexp(log_likelihood, axis=0)))

    @property
    def tau(self) -> float:
        """Posterior mean of the standard deviation of slices about the line."""
        return float(self.weight @ self.taus)

    def contrast(self, weights: Numbers, centre: Numbers, sd: Numbers) -> Normals:
        """Return the posterior of a contrast for new slices, given the normal mixture for these slices.

        `weights` (slice) are the contrast, and `centre` and `sd` the normals of the mixture. New slices deviate from
        the line by tau, which adds ``tau^2`` times the sum of squared weights to the variance. Each normal therefore
        becomes one normal for each value of tau, and their shares are the posterior weights of tau.
        """
        sd_of_new = np.sqrt(sd[:, None] ** 2 + self.taus**2 * float(weights @ weights))  # (normal, tau)
        share = np.broadcast_to(self.weight / len(sd), sd_of_new.shape)
        return Normals(np.repeat(centre, _TAUS), sd_of_new.ravel(), share.ravel())

    def draws(self, seed: int) -> Numbers:
        """Return draws (draw, slice) of the biases of these slices, partially pooled across slices.

        For each draw of tau and of the error variances, the line is drawn from its posterior in a weighted regression
        of biases on time, ``level + slope x``, where x are times minus their weighted mean. The bias of a slice is then
        drawn given the line and the observed bias. It is a weighted mean of both, and the observed bias has the weight
        ``tau^2 / (tau^2 + error variance)``.
        """
        rng, b = np.random.default_rng(seed), self.moments.biases
        estimated_variance, df = self._own_variances
        error_variance = estimated_variance * df / rng.chisquare(df, (_DRAWS, len(b)))
        tau2 = rng.choice(self.taus, _DRAWS, p=self.weight)[:, None] ** 2
        precision = 1 / (error_variance + tau2)  # (draw, slice)
        level_precision = precision.sum(axis=1, keepdims=True)
        x = np.asarray(self.times) - (precision * self.times).sum(axis=1, keepdims=True) / level_precision
        slope_precision = (precision * x**2).sum(axis=1, keepdims=True)
        mean_slope = (precision * x * b).sum(axis=1, keepdims=True) / slope_precision
        slope = mean_slope + rng.standard_normal(mean_slope.shape) / np.sqrt(slope_precision)
        mean_level = (precision * b).sum(axis=1, keepdims=True) / level_precision
        level = mean_level + rng.standard_normal(mean_level.shape) / np.sqrt(level_precision)
        line = level + slope * x
        share_observed = tau2 * precision
        mean = line + share_observed * (b - line)
        sd = np.sqrt(share_observed * error_variance)
        return np.asarray(mean + sd * rng.standard_normal(line.shape))

    @cached_property
    def _own_variances(self) -> tuple[Numbers, Numbers]:
        """Error variance that each slice does not share with other slices, and its degrees of freedom (Grubbs 1948).

        The variance of the deviation of a slice from the mean of all n slices has the expected value ``(1 - 2 / n) own
        + mean / n``, where ``own`` is the error variance of the slice and ``mean`` the mean of these variances. This
        equation is solved for ``own``. The solutions are shrunk towards their mean, which has the weight of _PULL
        degrees of freedom.
        """
        n = len(self.times)
        deviations = np.eye(n) - 1 / n  # a contrast of each slice with the mean of all slices
        traces = np.array([self.moments.trace(np.outer(row, row)) for row in deviations])
        mean = traces[:, 0].sum() / (n - 1)
        own = (traces[:, 0] - mean / n) / (1 - 2 / n)
        df = np.minimum(traces[:, 1], 1e6)
        shrunk = (df * own + _PULL * mean) / (df + _PULL)
        return np.maximum(shrunk, 0.1 * mean), df + _PULL


def largest_change(draws: Numbers) -> Numbers:
    """Return the probability that a step is the largest change, for each step between neighbouring slices."""
    steps = np.abs(np.diff(draws, axis=1)).argmax(axis=1)
    return np.bincount(steps, minlength=draws.shape[1] - 1) / len(draws)


SliceScope = Literal["these slices", "new slices"]
THESE: SliceScope = "these slices"
NEW: SliceScope = "new slices"


@dataclass(frozen=True)
class Settings:
    """The settings of the model of a series."""

    spec: ModelSpec
    scope: SliceScope
    words: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling


# The approximate number of normals that represent a posterior.
_NORMALS = 500

Label = Literal["distinguishable", "for these slices only", "not distinguishable", "not made alike", "not converged"]


@dataclass(frozen=True, eq=False, repr=False)
class SliceContrast(Tabled):
    """A weighted sum of the biases of slices, with intervals in both scopes. Made by `OverTime.contrast`.

    Attributes
    ----------
    label : str
        The name of the contrast.
    weights : mapping of slices to float
    scope : {"new slices", "these slices"}
        The slices to which the verdict refers. With fewer than five slices, these are "these slices".
    table : pandas.DataFrame
        A row for "these slices" and, with five slices or more, one for "new slices": ``mean``, ``sd``, equal-tailed
        interval, ``prob_direction`` and ``chance``, twice the probability of the less probable sign. The unit is the
        unit of the tables times the unit of the weights.
    alike : MadeAlike
        The check that the slices with a weight were similarly trained. If it fails, there is no verdict.
    metric : Metric
    ci_prob : float
    fit : xarray.DataTree
        The fit of the crossed model to the combined table.
    """

    label: str
    weights: Mapping[Any, float]
    scope: SliceScope
    table: pd.DataFrame
    alike: MadeAlike
    metric: Metric
    ci_prob: float
    fit: xr.DataTree

    @property
    def verdict(self) -> Label:
        """The verdict on the contrast, which states whether it is larger than chance explains.

        There is no verdict if the fit has not converged, or if a slice was not similarly trained.
        """
        if not Diagnostics.of(self.fit).for_bias.converged:
            return "not converged"
        if self.alike.prevents_verdict:
            return "not made alike"
        clear = self.table.chance < 1 - self.ci_prob
        if clear[self.scope]:
            return "distinguishable"
        return "for these slices only" if clear[THESE] else "not distinguishable"

    @property
    def written(self) -> str:
        """The mean and interval in these slices as text."""
        return self._written(THESE)

    @property
    def text(self) -> str:
        """Describe both intervals and the verdict in sentences."""
        return f"{capitalized(self.label)}: {self.answer}"

    @property
    def answer(self) -> str:
        """Describe the intervals for these slices and for new slices, and the verdict without its label.

        Without a verdict, the reason is stated. With fewer than five slices, there is no interval for new slices.
        """
        if self.verdict == "not converged":
            problems = Diagnostics.of(self.fit).for_bias.problems
            return f"no answer, because the fit has not converged: {'; '.join(problems)}."
        if self.verdict == "not made alike":
            return f"{self.written} in these slices. {_VERDICTS[self.verdict]}"
        chances = self.table.chance.map(probability)
        sentence = f"{self.written} in these slices (probability if nothing had changed {chances[THESE]})"
        if NEW in self.table.index:
            interval = self._written(NEW).partition(" ")[2]
            sentence += f". Generalised to new slices of these times, the interval is {interval} ({chances[NEW]})"
        else:
            sentence += ". The result cannot be generalised to new slices, because there are fewer than five"
        return f"{sentence}. {_VERDICTS[self.verdict]}{self.alike.despite}"

    def _written(self, scope: str) -> str:
        """Return the mean and interval in a scope as text."""
        row = self.table.loc[scope]
        return value_and_interval(row["mean"], *interval_of(row), self.metric.decimals)

    def _shown(self) -> pd.DataFrame:
        return self.table[["mean", *interval_columns(self.table), "prob_direction", "chance"]]


_VERDICTS: Mapping[Label, str] = {
    "distinguishable": "This is larger than chance explains.",
    "for these slices only": (
        "This is larger than chance explains in these slices, but slices of other texts of these times"
        " might not show it."
    ),
    "not distinguishable": "Chance can explain a change of this size.",
    "not made alike": "No verdict is given, because the slices are not comparable.",
}


def contrast_of(
    tables: Mapping[Any, AssociationTable],
    weights: Mapping[Any, float],
    alike: MadeAlike,
    new: NewSlices | None,
    settings: Settings,
    label: str,
    short: str = "",
) -> SliceContrast:
    """Fit the crossed model to a weighted sum of tables with the same words, and return the contrast.

    `weights` has the weight of each slice. Slices that it does not name have a weight of zero. `new` generalises the
    contrast to new slices, if there are enough of them. `alike` is the check that embeddings were similarly trained.
    `label` describes the contrast in texts, and `short` in names.
    """
    name = f"{next(iter(tables.values())).name}, {short or label}"
    combined = weighted_sum({time: tables[time] for time, weight in weights.items() if weight}, weights, name=name)
    with within(short or label):
        fitted = fit_table(combined, settings.spec, seed=settings.seed, sampling=settings.sampling)
    weight_of_slice = np.array([float(weights.get(time, 0.0)) for time in tables])
    return SliceContrast(
        label=label,
        weights=dict(weights),
        scope=settings.scope if new is not None else THESE,
        table=_both_scopes(fitted, weight_of_slice, new, settings.words, settings.ci_prob),
        alike=alike.among(_embeddings_of(alike, weight_of_slice)),
        metric=combined.metric,
        ci_prob=settings.ci_prob,
        fit=fitted.tree,
    )


def _embeddings_of(alike: MadeAlike, weights: np.ndarray) -> list[Any]:
    """Return the embeddings of all slices with a weight. A difference of two series has two embeddings in a slice."""
    embeddings_per_slice = len(alike.table) // len(weights)
    return alike.table.index[np.repeat(weights != 0, embeddings_per_slice)].tolist()


def _both_scopes(
    fitted: Fitted, weights: np.ndarray, new: NewSlices | None, words: ScopeName, ci_prob: float
) -> pd.DataFrame:
    """Return the rows of `SliceContrast.table` from the fit to a combined table: for these and for new slices.

    The row for these slices is the bias in the fit under the scope `words`. For new slices, this posterior is
    represented by normals, whose variance `new` increases by that of slices about the line. Without `new`, there is
    only the row for these slices. `weights` are the weights of the slices in the combined table.
    """
    row = row_of_bias(fitted, words, ci_prob)
    columns = ["mean", "sd", *interval_names(ci_prob), "prob_direction"]
    rows = {str(THESE): row[columns].to_dict()}
    if new is not None:
        posterior = new.contrast(weights, *_normals(fitted, words))
        rows[NEW] = IntervalEstimate.of(posterior, ci_prob).row(ci_prob)
    table = pd.DataFrame.from_dict(rows, orient="index").astype(float).rename_axis("scope")
    return table.assign(chance=chance(table.prob_direction))


def _normals(fitted: Fitted, words: ScopeName) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and standard deviations of about _NORMALS normals that represent the posterior.

    The posterior is a mixture of many normals, of which every nth is used. If word effects were sampled, the posterior
    is represented by a single normal.
    """
    posterior = bias_estimate(fitted, words)
    if posterior.mixture is None:
        draws = posterior.draws.to_numpy()
        return np.array([draws.mean()]), np.array([draws.std()])
    mean = np.ravel(posterior.mixture.centre)
    sd = np.ravel(posterior.mixture.sd)
    step = max(1, len(sd) // _NORMALS)
    return mean[::step], sd[::step]
