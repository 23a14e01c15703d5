"""Do classes whose words are biased have gaps in their true-positive rates? A correlation, with errors in both.

    bias_seen[c] ~ Normal(bias[c], sd[c])
    hits[c, g] ~ Binomial(people[c, g], rate[c, g])
    logit rate[c, group] - logit rate[c, rest] = gap[c]
    (bias[c], gap[c]) ~ Normal(means, scales, correlation rho)

Pearson's correlation of what is seen is nearer to zero than that of what is true, the more so the noisier either is.
"""

import logging
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.arguments import check_ci_prob, check_kind, check_seed
from bayes_bias.associations.table import announce
from bayes_bias.errors import GapsError, did_you_mean
from bayes_bias.estimands.estimates import estimate_of
from bayes_bias.formatting import Telling, estimate, in_words, probability, signed
from bayes_bias.gaps.binomial import log_likelihood
from bayes_bias.gaps.counts import Counts
from bayes_bias.gaps.model import effects, informed, informed_by, scale
from bayes_bias.gaps.result import Gaps
from bayes_bias.inference.diagnostics import Diagnostics, diagnose
from bayes_bias.inference.sampling import Sampling, check_sampling, sample_compiled, versions
from bayes_bias.models.compiling import Inputs, compiled_once
from bayes_bias.models.fitted import Fitted
from bayes_bias.progress import Progress, Quiet
from bayes_bias.results.pooled import tails

logger = logging.getLogger("bayes_bias")

type WordBias = pd.DataFrame | xr.DataArray | xr.DataTree | Fitted

FEWEST = 4


@dataclass(frozen=True, eq=False, repr=False)
class GapCorrelation(Telling):
    """How word bias and gaps go together over classes. Made by `bayes_bias.gap_correlation`.

    Attributes
    ----------
    group, rest : str
        The gap is that of the one less that of the other.
    rho, lower, upper : float
        Posterior mean and interval of the correlation, in the population of classes, of true bias and true gap (log
        odds).
    prob_direction : float
        Probability of the more probable sign.
    naive : float
        Pearson's correlation of the biases and gaps as they are seen: nearer to zero than the true one.
    ci_prob : float
    table : pandas.DataFrame
        A row for each class: ``bias``, ``sd``, ``raw`` (gap, in rates), and what the model makes of them, ``true_bias``
        and ``true_gap`` (log odds).
    fit : xarray.DataTree
        The posterior, readable by ArviZ.
    diagnostics : Diagnostics
    notices : tuple of str
        Classes without a word and words without a class.
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
        """What was found, in sentences."""
        if not self.diagnostics.converged:
            return f"Not converged, do not interpret: {'; '.join(self.diagnostics.problems)}."
        said = (
            f"Over {in_words(len(self.table))} classes, word bias and the gap of {self.group} (less {self.rest})"
            f" correlate at {estimate(self.rho, self.lower, self.upper, 2)}, errors in both allowed for (probability of"
            f" direction {probability(self.prob_direction)}); Pearson's r of what is seen is {signed(self.naive, 2)},"
            " which noise draws to zero."
        )
        return " ".join([said, *(f"{notice[0].upper()}{notice[1:]}." for notice in self.notices)])

    def _shown(self) -> pd.DataFrame:
        return self.table


def gap_correlation(
    gaps: Gaps,
    bias: WordBias,
    *,
    group: str | None = None,
    toward: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> GapCorrelation:
    """Correlation of the bias of class words with gaps of true-positive rates, errors in both.

    Parameters
    ----------
    gaps : Gaps
        From `tpr_gaps`.
    bias : pandas.DataFrame, xarray.DataArray, or a fit
        How biased the word of each class is. A frame with the columns ``class``, ``bias`` and ``sd``, a measurement and
        its standard error; draws ``(chain, draw, contrast)``, of which mean and standard deviation are taken, and
        which must not be shrunken, since what draws them together is no error; or a fit of a list whose targets
        are the classes: then what is taken is each word's raw contrast, and its standard error with these
        attributes.
    group : str, optional
        Whose gap; by default the one that `gaps` tells of, if it is one.
    toward : str, optional
        For a fit the attribute class that a positive bias is closeness to, such as the one of `group`. The
        contrasts of a fit are signed by each word's own stereotype.
    ci_prob, seed, sampling, progress
        As for `tpr_gaps`.

    Returns
    -------
    GapCorrelation
        Printed, its sentence.

    Raises
    ------
    GapsError
        `group` or `toward` is none, columns are missing or no numbers, or fewer than four classes have both.

    Notes
    -----
    Priors: ``rho`` uniform from -1 to 1; bias in units of its standard deviation over classes, log odds as they are:
    means Normal(0, 1), scales HalfNormal(1). With more than two groups the gap is that of one group less all others
    together.

    Classes are taken for normal: with a few far from the others intervals are too short (of 200 simulated classifiers
    with Student-t classes, 5 degrees of freedom, 88% of the 95% intervals held the truth; 96% to 100% of those with
    normal ones; CALIBRATION.md).

    Examples
    --------
    >>> words = pd.DataFrame({"class": ["nurse", ...], "bias": [0.11, ...], "sd": [0.02, ...]})  # doctest: +SKIP
    >>> print(gap_correlation(tpr_gaps(data="predictions.csv", of="F"), words))          # doctest: +SKIP
    """
    check_kind("gaps", gaps, Gaps, "not what `tpr_gaps` returned; give that", GapsError)
    check_seed(seed)
    check_sampling(sampling)
    check_ci_prob(ci_prob)
    asked = _group(gaps, group)
    counts, words, notices = _matched(gaps.counts.against_the_rest(asked), measured(bias, toward))
    inputs, coords = _inputs(counts, words), {"class": counts.classes}
    progress = progress or Quiet()
    progress.step("compiling the model")
    compiled = compiled_once(("gap correlation",), lambda: _model(inputs), inputs)
    posterior, sample_stats = sample_compiled(compiled, inputs, coords, seed, sampling, progress)
    diagnostics = diagnose(posterior, sample_stats)
    for problem in diagnostics.problems:
        logger.warning(f"gap_correlation: the fit has not converged: {problem}")
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": sample_stats})
    tree.attrs = {
        "versions": versions(),
        "seed": seed,
        **asdict(sampling),
        "diagnostics": diagnostics.to_json(),
    }
    rho = posterior["rho"].to_numpy().ravel()
    lower, upper = np.quantile(rho, tails(ci_prob))
    negative = float((rho < 0).mean())
    rates = counts.hits / counts.people
    table = words.assign(raw=rates[asked] - rates[counts.groups[1]])
    spread = float(words.bias.std())
    true = {name: posterior[name].mean(["chain", "draw"]).to_numpy() for name in ("bias", "gap")}
    return GapCorrelation(
        group=asked,
        rest=counts.groups[1],
        rho=float(rho.mean()),
        lower=float(lower),
        upper=float(upper),
        prob_direction=max(negative, 1 - negative),
        naive=float(table.bias.corr(table.raw)),
        ci_prob=ci_prob,
        table=table.assign(true_bias=float(words.bias.mean()) + spread * true["bias"], true_gap=true["gap"]),
        fit=tree,
        diagnostics=diagnostics,
        notices=announce(notices),
    )


def _group(gaps: Gaps, group: str | None) -> str:
    if group is None and len(gaps.of) > 1:
        raise GapsError(f"group: name the one whose gap is meant; valid: {', '.join(gaps.of)}")
    asked = group or gaps.of[0]
    if asked not in gaps.counts.groups:
        raise GapsError(f"group: '{asked}' is no group; {did_you_mean(asked, gaps.counts.groups)}")
    return asked


def measured(bias: WordBias, toward: str | None = None) -> pd.DataFrame:
    """Measurement and standard error by class; what `gap_correlation` takes of each kind of bias."""
    if isinstance(bias, pd.DataFrame):
        return _of_frame(bias)
    if isinstance(bias, xr.DataArray):
        return _of_draws(bias)
    return _of_fit(Fitted.of(bias), toward)


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame if "class" in frame else frame.rename_axis("class").reset_index()
    for column in ("class", "bias", "sd"):
        if column not in frame:
            raise GapsError(
                f"bias: has no column '{column}'; {did_you_mean(column, map(str, frame.columns))}"
            )
    found = frame.set_index(frame["class"].astype(str))[["bias", "sd"]]
    if found.index.has_duplicates:
        raise GapsError(
            f"bias: class '{found.index[found.index.duplicated()][0]}' is there twice; give it once"
        )
    for column in found:
        if not pd.api.types.is_numeric_dtype(found[column]) or not np.isfinite(found[column]).all():
            raise GapsError(
                f"bias: column '{column}' holds more than finite numbers; fill or remove these rows"
            )
    if (found.sd <= 0).any():
        raise GapsError(
            f"bias: sd of '{found.index[found.sd <= 0][0]}' is not above 0; give its standard error"
        )
    return found.astype(float)


def _of_draws(draws: xr.DataArray) -> pd.DataFrame:
    labels = [dim for dim in draws.dims if dim not in ("chain", "draw")]
    if len(labels) != 1 or "draw" not in draws.dims or labels[0] not in draws.coords:
        raise GapsError(
            f"bias: draws have the dims {', '.join(map(str, draws.dims))}; give chain, draw and one with the classes"
            " as its labels"
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
        raise GapsError(
            f"toward: {toward!r} is none of two attribute classes of the fit; say which one a positive bias is"
            f" closeness to; valid: {', '.join(names)}"
        )
    found = estimate_of(fitted, "target_bias", "targets")
    assert found.noise_sd is not None
    words = found.observed.contrast.to_numpy()
    sign = np.where(np.array(names)[data.group_of.sel(target=words).to_numpy()] == toward, 1, -1)
    sd = (found.noise_sd**2).mean(["chain", "draw"]) ** 0.5
    columns = {"class": words.astype(str), "bias": sign * found.observed.to_numpy(), "sd": sd.to_numpy()}
    return _of_frame(pd.DataFrame(columns))


def _matched(counts: Counts, words: pd.DataFrame) -> tuple[Counts, pd.DataFrame, tuple[str, ...]]:
    """The classes that have both, and a notice of those that have one."""
    both = [name for name in counts.classes if name in words.index]
    if len(both) < FEWEST:
        raise GapsError(
            f"bias: {in_words(len(both))} of {len(counts.classes)} classes have one; a correlation needs"
            f" {in_words(FEWEST)} or more: give the classes the same names in both"
        )
    alone = {"classes without a word bias": counts.classes, "words that are no class": list(words.index)}
    spare = {why: [name for name in names if name not in both] for why, names in alone.items()}
    notices = [f"left out, {why}: {', '.join(names)}" for why, names in spare.items() if names]
    kept = Counts(counts.hits.loc[both], counts.people.loc[both], counts.notices)
    return kept, words.loc[both].rename_axis("class"), tuple(notices)


def _inputs(counts: Counts, words: pd.DataFrame) -> Inputs:
    """Biases in units of their standard deviation over classes, about their mean."""
    unit = float(words.bias.std())
    if not unit > 0:
        raise GapsError("bias: is the same for all classes; a correlation needs some that differ")
    hits, people = (frame.to_numpy(dtype=float) for frame in (counts.hits, counts.people))
    seen, sd = (
        ((words.bias - words.bias.mean()) / unit).to_numpy(dtype=float),
        (words.sd / unit).to_numpy(dtype=float),
    )
    return {
        "hits": hits,
        "people": people,
        "seen": seen,
        "sd": sd,
        "bias_informed": informed(seen**2, sd**2),
        **informed_by(hits, people),
    }


def _model(inputs: Inputs) -> pm.Model:
    with pm.Model(coords={"group": ["group", "rest"], "of": ["bias", "gap"]}) as model:
        hits, people = (pm.Data(name, inputs[name], dims=("class", "group")) for name in ("hits", "people"))
        seen, sd = (pm.Data(name, inputs[name], dims="class") for name in ("seen", "sd"))
        bias_informed, gap_informed, level_informed = (
            pm.Data(f"{name}_informed", inputs[f"{name}_informed"], dims="class")
            for name in ("bias", "gap", "level")
        )
        rho = pm.Uniform("rho", -1, 1)
        mean, level_mean = pm.Normal("mean", 0, 1, dims="of"), pm.Normal("level_mean", 0, 1.5)
        sd_bias, sd_gap = (scale(f"sd_{name}", pm.HalfNormal.dist(1)) for name in ("bias", "gap"))
        sd_level = scale("sd_level", pm.HalfNormal.dist(1.5))
        bias = mean[0] + effects("bias", mean[0], sd_bias, bias_informed, "class")
        # A gap is what the bias foretells of it, and what is independent of the bias.
        foretold = mean[1] + rho * sd_gap * (bias - mean[0]) / sd_bias
        gap = foretold + effects("gap", foretold, pt.sqrt(1 - rho**2) * sd_gap, gap_informed, "class")
        level = level_mean + effects("level", level_mean, sd_level, level_informed, "class")
        pm.Deterministic("bias", bias, dims="class")
        pm.Deterministic("gap", gap, dims="class")
        pm.Potential("seen_given_bias", -(((seen - bias) / sd) ** 2).sum() / 2)
        nothing, halves = np.zeros(1), np.array([[0.5, -0.5]])
        pm.Potential("binomial", log_likelihood(level, nothing, gap[:, None], halves, hits, people))
    return model
