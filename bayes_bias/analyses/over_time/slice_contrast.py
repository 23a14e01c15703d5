"""A contrast of slices: how much a bias changed, in exactly these slices and in new ones of the same times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.over_time.moments import weights_of
from bayes_bias.analyses.over_time.new_slices import NewSlices
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import Tabled, capitalized, estimate, probability
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
    """How a series is modelled."""

    spec: ModelSpec
    scope: SliceScope
    words: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling


# Draws of the scales that stand for all.
_NORMALS = 500

Label = Literal["distinguishable", "for these slices only", "not distinguishable", "not made alike", "not converged"]


@dataclass(frozen=True, eq=False, repr=False)
class SliceContrast(Tabled):
    """A weighted sum of the biases of slices, with both its intervals. Made by `OverTime.contrast`.

    Attributes
    ----------
    label : str
        What it is called.
    weights : mapping of slices to float
    scope : {"new slices", "these slices"}
        The slices that the verdict is about.
    table : pandas.DataFrame
        A row for "these slices" and, with five slices or more, one for "new slices": ``mean``, ``sd``, equal-tailed
        interval, ``prob_direction`` and ``chance``, twice the probability of the less probable sign. Units: those of
        the tables times those of the weights.
    alike : MadeAlike
        Whether the slices were made alike; if they were not, there is no verdict.
    metric : Metric
    ci_prob : float
    fit : xarray.DataTree
        The crossed model of the combined table.
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
        """Return the verdict on whether it is larger than chance explains."""
        if not Diagnostics.of(self.fit).for_bias.converged:
            return "not converged"
        if self.alike.unlike:
            return "not made alike"
        clear = self.table.chance < 1 - self.ci_prob
        if clear[self.judged]:
            return "distinguishable"
        return "for these slices only" if clear[THESE] else "not distinguishable"

    @property
    def judged(self) -> SliceScope:
        """The scope of the verdict; with fewer than five slices it is "these slices"."""
        return self.scope if self.scope in self.table.index else THESE

    @property
    def written(self) -> str:
        """Mean and interval in these slices, as text."""
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
            return f"{self._written(THESE)} in these slices. {_VERDICTS[self.verdict]}"
        sentence = f"{self._written(THESE)} in these slices (probability if nothing had changed {self._chance(THESE)})"
        if NEW in self.table.index:
            sentence += (
                f". Generalised to new slices of these times, the interval is {self._interval(NEW)}"
                f" ({self._chance(NEW)})"
            )
        else:
            sentence += ". The result cannot be generalised to new slices, because there are fewer than five"
        return f"{sentence}. {_VERDICTS[self.verdict]}"

    def _written(self, scope: str) -> str:
        row = self.table.loc[scope]
        return estimate(row["mean"], *interval_of(row), self.metric.decimals)

    def _interval(self, scope: str) -> str:
        return self._written(scope).partition(" ")[2]

    def _chance(self, scope: str) -> str:
        return probability(float(self.table.chance[scope]))

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
    """The crossed model of a weighted sum of tables that share their words, read in both scopes."""
    weighed = {each: tables[each] for each, weight in weights.items() if weight}
    name = f"{next(iter(tables.values())).name}, {short or label}"
    combined = weighted_sum(weighed, weights, name=name)
    with within(short or label):
        fitted = fit_table(combined, settings.spec, seed=settings.seed, sampling=settings.sampling)
    in_order = weights_of([*tables], weights)
    return SliceContrast(
        label=label,
        weights=dict(weights),
        scope=settings.scope,
        table=_both_scopes(fitted, in_order, new, settings.words, settings.ci_prob),
        alike=alike,
        metric=combined.metric,
        ci_prob=settings.ci_prob,
        fit=fitted.tree,
    )


def _both_scopes(
    fitted: Fitted, weights: np.ndarray, new: NewSlices | None, words: ScopeName, ci_prob: float
) -> pd.DataFrame:
    """The rows of `SliceContrast.table`, from the fit of a combined table."""
    row = row_of_bias(fitted, words, ci_prob)
    columns = ["mean", "sd", *interval_names(ci_prob), "prob_direction"]
    rows = {str(THESE): row[columns].to_dict()}
    if new is not None:
        of_new = IntervalEstimate.of(new.contrast(weights, *_normals(fitted, words)), ci_prob)
        rows[NEW] = of_new.row(ci_prob)
    table = pd.DataFrame.from_dict(rows, orient="index").astype(float).rename_axis("scope")
    return table.assign(chance=chance(table.prob_direction))


def _normals(fitted: Fitted, words: ScopeName) -> tuple[np.ndarray, np.ndarray]:
    """The posterior as some hundred normals, their means and standard deviations; as one where word effects were
    sampled."""
    posterior = bias_estimate(fitted, words)
    if posterior.mixture is None:
        draws = posterior.draws.to_numpy()
        return np.array([draws.mean()]), np.array([draws.std()])
    centre, sd = (np.ravel(each) for each in (posterior.mixture.centre, posterior.mixture.sd))
    thinned = slice(None, None, max(1, len(sd) // _NORMALS))
    return centre[thinned], sd[thinned]
