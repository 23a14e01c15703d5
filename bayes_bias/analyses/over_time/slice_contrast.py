"""A contrast of slices: the change of a bias in exactly these slices, and in new slices of the same times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.over_time.moments import NewSlices
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import Tabled, capitalized, probability, value_and_interval
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.pooling import IntervalEstimate
from bayes_bias.posterior.summary import chance, row_of_bias
from bayes_bias.progress import within
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_columns, interval_names, interval_of
from bayes_bias.table.combine_tables import weighted_sum
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName

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
        The slices to which the verdict refers.
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
        """The verdict on the contrast, which states whether it is larger than chance explains."""
        if not Diagnostics.of(self.fit).for_bias.converged:
            return "not converged"
        if self.alike.prevents_verdict:
            return "not made alike"
        clear = self.table.chance < 1 - self.ci_prob
        if clear[self.judged]:
            return "distinguishable"
        return "for these slices only" if clear[THESE] else "not distinguishable"

    @property
    def judged(self) -> SliceScope:
        """The scope of the verdict, which is "these slices" if there are fewer than five slices."""
        return self.scope if self.scope in self.table.index else THESE

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
        """Describe both intervals and the verdict without the label."""
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
    """Fit the crossed model to a weighted sum of tables with the same words, and return the contrast."""
    name = f"{next(iter(tables.values())).name}, {short or label}"
    combined = weighted_sum({time: tables[time] for time, weight in weights.items() if weight}, weights, name=name)
    with within(short or label):
        fitted = fit_table(combined, settings.spec, seed=settings.seed, sampling=settings.sampling)
    # Slices that are not named have a weight of zero.
    weight_of_slice = np.array([float(weights.get(time, 0.0)) for time in tables])
    return SliceContrast(
        label=label,
        weights=dict(weights),
        scope=settings.scope,
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
    """Return the rows of `SliceContrast.table` from the fit to a combined table."""
    row = row_of_bias(fitted, words, ci_prob)
    columns = ["mean", "sd", *interval_names(ci_prob), "prob_direction"]
    rows = {str(THESE): row[columns].to_dict()}
    if new is not None:
        posterior = new.contrast(weights, *_normals(fitted, words))
        rows[NEW] = IntervalEstimate.of(posterior, ci_prob).row(ci_prob)
    table = pd.DataFrame.from_dict(rows, orient="index").astype(float).rename_axis("scope")
    return table.assign(chance=chance(table.prob_direction))


def _normals(fitted: Fitted, words: ScopeName) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and standard deviations of a few hundred normals that represent the posterior.

    The posterior is a mixture of many normals, of which every nth is used. If word effects were sampled, the posterior
    is represented by a single normal.
    """
    posterior = bias_estimate(fitted, words)
    if posterior.mixture is None:
        draws = posterior.draws.to_numpy()
        return np.array([draws.mean()]), np.array([draws.std()])
    mean, sd = np.ravel(posterior.mixture.centre), np.ravel(posterior.mixture.sd)
    step = max(1, len(sd) // _NORMALS)
    return mean[::step], sd[::step]
