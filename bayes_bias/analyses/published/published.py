"""`published`: re-evaluate a published d if the vectors are not available, and treat attributes as a sample as well."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import stats

from bayes_bias.arguments import as_tuple, check_count, check_seed, is_number
from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.files import shipped, table_file
from bayes_bias.formatting import Tabled, counted, equals, in_words, percent, plain, probability, value_and_interval
from bayes_bias.measures.permutation import check_ddof
from bayes_bias.posterior.estimate import tails
from bayes_bias.shared_types import Numbers
from bayes_bias.spreadsheets import read_frame

# The variation of words in tables of real studies. This information is missing in a published d.

FILE = "variance-ratios"
SIDES = ("targets", "attributes")


@dataclass(frozen=True, eq=False)
class VarianceRatios:
    r"""Posterior of a hierarchical model of the variances of words, in units of the residual variance.

    The model is fitted separately to targets and attributes. In table k of study s, d is a share :math:`|r_k|` of its
    bound, and

    .. math:: \log \frac{\sigma^2_k}{\sigma^2_{E,k}} = \mu_s + \beta |r_k| + \epsilon_k, \qquad
              \mu_s \sim \mathrm{Normal}(\mu, \tau), \qquad \epsilon_k \sim \mathrm{Normal}(0, \omega)

    Attributes
    ----------
    draws : pandas.DataFrame
        A row for each draw, with columns for both sides ("targets", "attributes"): ``mean`` (:math:`\mu`), ``slope``
        (:math:`\beta`), ``sd_study`` (:math:`\tau`) and ``sd_table`` (:math:`\omega`), such as ``targets_mean``.
    learnt_from : mapping
        Provenance: numbers of studies and tables, lengths of lists, sources, and reliability of the predictions.
    """

    draws: pd.DataFrame
    learnt_from: Mapping[str, Any]

    @classmethod
    @cache
    def shipped(cls) -> Self:
        """Return the installed posterior, which ``benchmarks/published_tables.py`` computed from real studies."""
        learnt_from = tomllib.loads((shipped("tables") / f"{FILE}.toml").read_text(encoding="utf-8"))
        return cls(read_frame(table_file(FILE), "ratios", BayesBiasError), learnt_from)

    def of_new_studies(self, separation: float, tables: int, rng: np.random.Generator) -> dict[str, Numbers]:
        """Draw the variance ratios of `tables` tables of one new study, for each draw of the posterior.

        The log ratio of a table is normal. Its mean is a mean over studies plus an effect of the study plus ``slope *
        separation``, where `separation` is the ratio of d to its bound. Return an array (draw, table) for each side.
        """
        ratios = {}
        for side in SIDES:
            columns = [f"{side}_{name}" for name in ("mean", "slope", "sd_study", "sd_table")]
            mean, slope, sd_study, sd_table = self.draws[columns].to_numpy().T[:, :, None]  # each (draw, 1)
            study_mean = mean + sd_study * rng.standard_normal(mean.shape)
            table_noise = rng.standard_normal((len(mean), tables))
            ratios[side] = np.exp(study_mean + slope * separation + sd_table * table_noise)
        return ratios


LEVEL = 0.05
# Tables that are simulated for each draw of the variance ratios.
TABLES = 100
# Quantiles of the probability over studies, and of the bias over draws.
_STUDIES = tails(0.9)
_INTERVAL = tails(1 - LEVEL)

# A probability is reported if the calibration error of similar predictions does not exceed the first number, in at
# least the second number of studies.
MOST_OFF, FEWEST_STUDIES = 0.1, 5


@dataclass(frozen=True)
class Design:
    """The numbers of words in two groups and two classes, and the published d (see `published`)."""

    d: float
    targets: tuple[int, int]
    attributes: tuple[int, int]
    ddof: int = 1

    @property
    def n(self) -> int:
        """Number of targets in both groups."""
        return sum(self.targets)

    @property
    def of_targets(self) -> float:
        """The variance of a difference between group means, in units of the variance of a target's score."""
        return sum(1 / size for size in self.targets)

    @property
    def of_attributes(self) -> float:
        """The variance of a difference between class means, in units of the variance of an attribute's score."""
        return sum(1 / size for size in self.attributes)

    @property
    def bound(self) -> float:
        """The maximum of d, which is reached if all words in a group have the same score."""
        return float(np.sqrt(self.of_targets * (self.n - self.ddof)))

    @property
    def separation(self) -> float:
        """The ratio of d to its bound. With ``ddof=1``, it is the correlation of score and group."""
        return abs(self.d) / self.bound

    @property
    def within(self) -> float:
        """Standard deviation of scores within groups, in units of the standard deviation over all targets."""
        return float(np.sqrt((self.n - self.ddof) * (1 - self.separation**2) / (self.n - 2)))

    @property
    def t(self) -> float:
        """The t statistic for the scores of the two groups, with ``n - 2`` degrees of freedom."""
        return self.d / (self.within * float(np.sqrt(self.of_targets)))


@dataclass(frozen=True)
class PublishedFinding(Tabled):
    """A published d, re-evaluated with both lists as samples of words. Made by `bayes_bias.published`.

    Attributes
    ----------
    d : float
        The published effect size.
    targets, attributes : tuple of int
        Numbers of words in each group, and in each class.
    t, p_value : float
        The t statistic of the targets' scores and its two-sided p-value. Attributes are fixed, as in WEAT's test.
    probability : float or None
        Probability that the finding would be distinguishable from noise, averaged over studies. The value is None if
        predictions of this kind are not calibrated (see `why`).
    studies : tuple of float
        The range of this probability in the middle 90% of studies. It shows how much the unknown words matter.
    lower, upper : float
        95% interval of the bias for new words on both sides, in units of d.
    why : str
        The reason why there is no probability, or "" if there is a probability.
    learnt_from : str
        The studies that the variances of words were learnt from.
    """

    d: float
    targets: tuple[int, int]
    attributes: tuple[int, int]
    t: float
    p_value: float
    probability: float | None
    studies: tuple[float, float]
    lower: float
    upper: float
    why: str
    learnt_from: str

    @property
    def text(self) -> str:
        """A sentence that answers a reviewer's question, and the basis of this answer.

        The question is how probable it is that the bias is distinguishable from noise if attributes are a sample as
        well. If the probability is not calibrated, only its range over studies is stated, with the reason.
        """
        design = f"{_lengths(self.targets)} targets and {_lengths(self.attributes)} attributes"
        tested = f"t = {plain(self.t, 2)}, p {equals(probability(self.p_value))}, for new targets and these attributes"
        least, most = map(percent, self.studies)
        how_often = f"in {least} to {most} of tables like it, depending on the study (no probability: {self.why})"
        if self.probability is not None:
            average = percent(self.probability)
            how_often = f"with a probability of {average} ({least} to {most} in nine of ten studies)"
        return (
            f"If attributes were treated as a sample as well, WEAT's d of {plain(self.d, 2)} with {design}"
            f" ({tested}) would be distinguishable from noise {how_often}. The bias would be"
            f" {value_and_interval(self.d, self.lower, self.upper, 2)} in units of d. The variation of attributes was"
            f" estimated from {self.learnt_from}."
        )

    def _shown(self) -> pd.DataFrame:
        """Return the numbers as a table with one row, for files."""
        row = {"d": self.d, "t": self.t, "p": self.p_value, "probability": self.probability}
        least, most = self.studies
        interval = {"studies from": least, "studies to": most, "ci95_lb": self.lower, "ci95_ub": self.upper}
        return pd.DataFrame([row | interval], index=pd.Index(["published"]), dtype=float)


def published(
    d: float, targets: Sequence[int], attributes: Sequence[int], *, ddof: int = 1, seed: int = 1
) -> PublishedFinding:
    r"""Predict whether a published d is distinguishable from noise if attribute words are also treated as a sample.

    WEAT's :math:`d = \Delta / S` is the difference between the mean scores of the groups, divided by the standard
    deviation of the scores of all N targets. Let :math:`h_T = 1/P_1 + 1/P_2` for the numbers of words in the groups,
    and :math:`h_A = 1/W_1 + 1/W_2` for the classes. The variance of scores within groups and the t statistic are then

    .. math:: s^2 = S^2 \, \frac{(N - 1) - d^2 / h_T}{N - 2}, \qquad
              t = \frac{\Delta}{s \sqrt{h_T}} = d \sqrt{\frac{N - 2}{h_T (N - 1) - d^2}}, \qquad
              |d| < \sqrt{h_T (N - 1)}

    For new words on both sides, the variance of :math:`\Delta` is

    .. math:: \mathrm{var}\, \Delta = h_T \sigma_T^2 + h_A \sigma_A^2 + h_T h_A \sigma_E^2
              = h_T \left( \sigma_T^2 + h_A \sigma_E^2 \right)
                \left( 1 + \frac{h_A \sigma_A^2}{h_T (\sigma_T^2 + h_A \sigma_E^2)} \right)

    where :math:`\sigma_T^2` is the variance of a target's preference for a class, :math:`\sigma_A^2` the variance of an
    attribute's preference for a group, and :math:`\sigma_E^2` the variance of a single pair. The first two factors,
    :math:`h_T` times the variance in parentheses, are estimated by :math:`h_T s^2`. The last factor cannot be computed
    from d. Instead, :math:`\sigma_A^2 / \sigma_E^2` and :math:`\sigma_T^2 / \sigma_E^2` are drawn from their
    distribution over real studies (see `VarianceRatios`), always for a new study. For each draw, tables with this d are
    simulated, and their quasi-F is tested at the 5% level. (In the tables from which this distribution was estimated,
    the quasi-F and the posterior of the crossed model agree in 99% of cases.)

    Parameters
    ----------
    d : float
        WEAT's effect size.
    targets, attributes : sequence of int
        Number of words in each of the two groups, and in each of the two classes.
    ddof : {1, 0}
        Number subtracted from the number of targets in the standard deviation of d. Caliskan et al. use 1.
    seed : int
        Seed of the random numbers. The same seed returns the same results.

    Returns
    -------
    PublishedFinding
        The re-evaluated finding. When printed, it shows a sentence.

    Raises
    ------
    MeasureError
        If `d` is not a number, or reaches its bound; if there are not two groups and two classes; if a group or class
        has fewer than two words; or if `ddof` is neither 0 nor 1.

    Notes
    -----
    The probability refers to the published table. The interval refers to the bias for new words on both sides, with a
    flat prior. It is too short if words of a list are related.

    docs/evidence/other-analyses.md reports the calibration of the probability in studies that were not used for
    estimation. In three cases, only the range of the probability over studies is reported: if a list is shorter or
    longer than all lists that were used for estimation, if the calibration error of similar predictions exceeds .1, or
    if fewer than five studies have similar predictions.

    References
    ----------
    Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). Semantics derived automatically from language corpora
    contain human-like biases. Science 356, 183-186. https://doi.org/10.1126/science.aal4230

    Clark, H. H. (1973). The language-as-fixed-effect fallacy: a critique of language statistics in psychological
    research. Journal of Verbal Learning and Verbal Behavior 12, 335-359.
    https://doi.org/10.1016/S0022-5371(73)80014-3

    Examples
    --------
    >>> finding = published(d=0.97, targets=(8, 8), attributes=(8, 8))
    >>> round(finding.t, 2), round(finding.p_value, 3)
    (2.17, 0.048)
    """
    design = _possible_design(d, targets, attributes, ddof)
    seed = check_seed(seed)
    ratios = VarianceRatios.shipped()
    probability_by_study, bias = simulate(design, ratios, seed)
    average = float(probability_by_study.mean())
    why = _why_not_calibrated(design, average, ratios.learnt_from)
    least, most = np.quantile(probability_by_study, _STUDIES)
    lower, upper = np.quantile(bias, _INTERVAL)
    return PublishedFinding(
        d=design.d,
        targets=design.targets,
        attributes=design.attributes,
        t=design.t,
        p_value=float(2 * stats.t.sf(abs(design.t), design.n - 2)),
        probability=None if why else average,
        studies=(float(least), float(most)),
        lower=float(lower),
        upper=float(upper),
        why=why,
        learnt_from=f"{ratios.learnt_from['tables']} tables of {ratios.learnt_from['studies']} studies",
    )


def simulate(design: Design, ratios: VarianceRatios, seed: int) -> tuple[Numbers, Numbers]:
    r"""Return the share of simulated tables with a significant quasi-F for each draw of a study, and draws of the bias.

    All variances are in units of the mean square of the targets' scores within groups. The variance of a target's score
    is :math:`\sigma_T^2 + h_A \sigma_E^2` (see `published`), and the variance of an attribute's score is
    :math:`\sigma_A^2 + h_T \sigma_E^2`. Mean squares are variances times chi-squared variables, divided by their
    degrees of freedom. Arrays have the shape (draw, table).
    """
    rng = np.random.default_rng(seed)
    ratio = ratios.of_new_studies(design.separation, TABLES, rng)  # of the variances of words and of pairs
    shape = ratio["targets"].shape
    df_targets = design.n - 2
    df_attributes = sum(design.attributes) - 2
    # The variance of the scores of new targets, given the mean square of the scores in the table.
    score_variance = 1 / _mean_square(df_targets, shape, rng)
    pair_variance = score_variance / (ratio["targets"] + design.of_attributes)
    attribute_score_variance = pair_variance * (ratio["attributes"] + design.of_targets)
    ms_attributes = attribute_score_variance * _mean_square(df_attributes, shape, rng)
    ms_pairs = pair_variance * _mean_square(df_targets * df_attributes, shape, rng)
    is_significant = _p_of_quasi_f(design, ms_attributes, ms_pairs) < LEVEL
    noise = design.of_targets * score_variance + design.of_attributes * pair_variance * ratio["attributes"]
    bias = design.d + design.within * np.sqrt(noise) * rng.standard_normal(shape)
    return is_significant.mean(axis=1), bias


def _mean_square(df: int, shape: tuple[int, ...], rng: np.random.Generator) -> Numbers:
    """Draw mean squares of normal values with a variance of 1."""
    return rng.chisquare(df, shape) / df


def _p_of_quasi_f(design: Design, ms_attributes: Numbers, ms_pairs: Numbers) -> Numbers:
    """Return the two-sided p-value of `bayes_bias.measures.quasi_f`, as an array (draw, table).

    It is computed from the mean squares of attributes and pairs, in units of the mean square of targets. The variance
    of the difference is ``h_T + h_A MS_A - h_T h_A MS_E``, where the factors are sums of ``1 / size`` over two groups
    or classes. By Satterthwaite's approximation, a sum of variances has ``variance^2 / sum(part^2 / df)`` degrees of
    freedom. Sampling a second side must not reduce the variance, so the largest of three variances is used.
    """
    targets = design.of_targets
    attributes = design.of_attributes * ms_attributes
    pairs = design.of_targets * design.of_attributes * ms_pairs
    # The sums of part^2 / df.
    squares_targets = sum(1 / size**2 / (size - 1) for size in design.targets)
    squares_attributes = ms_attributes**2 * sum(1 / size**2 / (size - 1) for size in design.attributes)
    squares_pairs = pairs**2 / ((design.n - 2) * (sum(design.attributes) - 2))
    both = targets + attributes - pairs
    squares_both = squares_targets + squares_attributes + squares_pairs
    is_largest = [both >= np.maximum(targets, attributes), targets >= attributes]
    variance = np.select(is_largest, [both, targets], attributes)
    squares = np.select(is_largest, [squares_both, squares_targets], squares_attributes)
    t = abs(design.d) / design.within / np.sqrt(variance)
    return np.asarray(2 * stats.t.sf(t, variance**2 / squares))


def _possible_design(d: float, targets: Sequence[int], attributes: Sequence[int], ddof: int) -> Design:
    """Return the design of a published d (the numbers of words), or raise an error if d is impossible.

    With N targets, the absolute value of d has an upper bound, which depends on `ddof` and on the numbers of targets.
    """
    if not is_number(d):
        raise MeasureError(f"`d` must be a finite number, WEAT's effect size, but is {d!r}.")
    check_ddof(ddof)
    sizes = _check_lengths("targets", targets, "groups"), _check_lengths("attributes", attributes, "classes")
    design = Design(float(d), *sizes, ddof)
    if abs(d) >= design.bound:
        raise MeasureError(
            f"`d` is {d}, which is impossible with {_lengths(design.targets)} targets and ddof={ddof}, where |d| is"
            f" below {design.bound:.4g}. Check `d` and the lengths, or try the other `ddof`."
        )
    return design


def _check_lengths(argument: str, lengths: Sequence[int], sides: str) -> tuple[int, int]:
    """Return the lengths of two groups or classes (`sides`), or raise an error.

    There must be two lengths, and each must be two or more, because one word does not show how much words vary.
    """
    pair = as_tuple(argument, lengths, Real, "(8, 8)", MeasureError)
    if len(pair) != 2:
        raise MeasureError(
            f"`{argument}` contains {counted(len(pair), 'length')}, but d compares two {sides}. Pass two lengths,"
            " such as (8, 8)."
        )
    counted_as = "words that shows how much they vary"  # the message says "is the number of"
    first, second = (check_count(argument, length, counted_as, least=2, refusal=MeasureError) for length in pair)
    return first, second


def _why_not_calibrated(design: Design, predicted: float, learnt_from: Mapping[str, Any]) -> str:
    """Return the reason why this predicted probability is not reported, or "" (see the notes of `published`).

    In `learnt_from`, each row of "reliability" is a bin of predictions up to the value "to", with the number of
    studies, the average prediction, and the observed share of findings. There must be FEWEST_STUDIES studies in the bin
    of `predicted`, and average and observed share must not differ by more than MOST_OFF. "lengths" has the shortest and
    longest lists.
    """
    for side, lengths in (("targets", design.targets), ("attributes", design.attributes)):
        shortest, longest = learnt_from["lengths"][side]
        if not shortest <= min(lengths) <= max(lengths) <= longest:
            return f"lists of {side} have {shortest} to {longest} words in the tables that it would be learnt from"
    similar = next(row for row in learnt_from["reliability"] if predicted <= row["to"])
    if similar["studies"] < FEWEST_STUDIES:
        return f"only {in_words(similar['studies'])} studies had predictions like it"
    if abs(similar["predicted"] - similar["observed"]) > MOST_OFF:
        average = percent(similar["predicted"])
        came_true = percent(similar["observed"])
        return f"of predictions like it, {average} on average, {came_true} came true"
    return ""


def _lengths(sizes: tuple[int, int]) -> str:
    """Return the lengths of two groups or classes as text."""
    return " + ".join(map(str, sizes))
