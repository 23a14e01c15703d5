"""The result of `bayes_bias.over_time`: tables, sentences, and a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding, called
from bayes_bias.analyses.over_time.moments import (
    FEWEST,
    NEW,
    THESE,
    NewSlices,
    Settings,
    SliceContrast,
    SliceMoments,
    contrast_of,
    largest_change,
    trend_weights,
)
from bayes_bias.arguments import as_tuple, check_kind, is_number
from bayes_bias.associations.made_alike import MadeAlike, made_alike
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits, model_facts, source_facts, text_samples
from bayes_bias.documents.word_tables import appendix, tables_of_analysis
from bayes_bias.errors import BayesBiasError, MeasureError, TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import (
    MARKS,
    Column,
    Layout,
    Tabled,
    in_words,
    joined,
    level,
    plain,
    probability,
    signed,
    value_and_interval,
    with_unit,
)
from bayes_bias.measures.weat import weat
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.summary import tabulate
from bayes_bias.progress import within
from bayes_bias.table.association_table import AssociationTable, announce, unit_of, words_in
from bayes_bias.table.columns import (
    Sign,
    estimate_columns,
    interval_column,
    interval_columns,
    interval_names,
    interval_of,
    opposite,
    with_interval,
)
from bayes_bias.table.combine_tables import share_words, unpaired, weighted_sum
from bayes_bias.table.labels import words_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName, check_design, scope_of
from bayes_bias.table.statistics import table_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes


type Tables = Mapping[Any, AssociationTable]

# A change is dated if the probability of a step exceeds this value. If trends are linear, one step exceeds .5 in a
# third of all series.
DATED = 0.8
_NAMED = 3
# The reasons for which a contrast has no verdict, by the verdict.
_NO_VERDICT = {"not made alike": "the slices are not comparable", "not converged": "the fit has not converged"}


@dataclass(frozen=True, eq=False, repr=False)
class OverTime(Tabled):
    """The change of a bias across slices over time. Made by `bayes_bias.over_time`.

    Attributes
    ----------
    name : str
        The name of the list.
    tables : mapping of times to AssociationTable
        The slices in the order of their times, restricted to words that all slices contain.
    sources : mapping of times to AssociationTable
        The slices with all their words.
    settings : Settings
        Model, scopes, probability of the intervals, and seed.
    alike : MadeAlike
        The check that the slices were similarly trained. Read this first.
    new : NewSlices or None
        The model of new slices. It is None if there are fewer than five slices.
    table : pandas.DataFrame
        A row for each slice. Columns: ``bias`` with a confidence interval (quasi-F); ``about_mean_ci95_lb`` and
        ``_ub``, a narrower interval for the deviation from the mean of all slices, which is drawn around the bias of
        the slice; ``together``, the bias partially pooled with all other slices, with its interval (five slices or
        more); ``weat_d``. Compare slices by the narrower intervals. All columns except ``weat_d`` are in the units of
        the tables.
    trend : SliceContrast
        The change along the least-squares line from the first slice to the last.
    steps : tuple of SliceContrast
        The changes between neighbours.
    changes : pandas.DataFrame
        The steps as a table, indexed by ``slice`` and ``next``. Columns for these slices: ``mean``, interval,
        ``prob_direction``, ``chance``, and ``chance_holm``, adjusted for the number of steps. The probabilities of a
        step without a verdict are missing. Columns for new slices:
        ``new_eti95_lb`` and ``_ub``, ``chance_new`` and ``chance_new_holm``. ``prob_largest`` is the probability that
        the step is the largest change.
    moved : pandas.DataFrame
        The trend of each word in these vectors, by ``side`` and ``word``, sorted by decreasing size.
    lost : pandas.DataFrame
        A row for each slice that lacks words: the missing words, and the ``trend`` of all other slices for the words
        that these share.
    is_difference : bool
        True for a difference between two series, which has no stereotype of its own.
    notices : tuple of str
        Notices of words and slices that were omitted or could not be paired.
    """

    name: str
    tables: Mapping[Any, AssociationTable]
    sources: Mapping[Any, AssociationTable]
    settings: Settings
    alike: MadeAlike
    new: NewSlices | None
    table: pd.DataFrame
    trend: SliceContrast
    steps: tuple[SliceContrast, ...]
    changes: pd.DataFrame
    moved: pd.DataFrame
    lost: pd.DataFrame
    is_difference: bool = False
    notices: tuple[str, ...] = ()

    def document(self) -> Document:
        """Return the page of the series and the files next to it, which `bayes_bias.write` writes into a folder."""
        return over_time_document(self)

    @property
    def times(self) -> tuple[float, ...]:
        """The times of the slices."""
        return tuple(map(float, self.tables))

    @property
    def metric(self) -> Metric:
        """The metric of the tables."""
        return next(iter(self.tables.values())).metric

    @property
    def scope(self) -> ScopeName:
        """The words that the results generalise to."""
        return self.settings.words

    @property
    def spec(self) -> ModelSpec:
        """The spec of the model."""
        return self.settings.spec

    @property
    def ci_prob(self) -> float:
        """Probability of the intervals."""
        return self.settings.ci_prob

    @property
    def fit(self) -> xr.DataTree:
        """The fit of the crossed model to the trend."""
        return self.trend.fit

    @property
    def slope(self) -> float:
        """The trend per unit of time."""
        return float(self.trend.table["mean"].iloc[0] / (self.times[-1] - self.times[0]))

    def contrast(self, weights: Mapping[Any, float], *, label: str = "") -> SliceContrast:
        """Estimate a contrast of slices, such as ``{1900: -1, 1950: 1}``, in both scopes.

        Raises
        ------
        TableError
            If a slice is unknown, a weight is not finite, or the weights do not sum to zero.
        """
        weights = _check_weights(weights, self.tables)
        label = label or joined([f"{weight:+g} x {time}" for time, weight in weights.items()])
        return contrast_of(self.tables, weights, self.alike, self.new, self.settings, label)

    def minus(self, other: "OverTime", *, name: str = "", sides: tuple[str, str] | None = None) -> "OverTime":
        """Subtract another series slice by slice, for example of another newspaper or another list of the same design.

        The trend of the result is the difference between the two trends.

        Parameters
        ----------
        other : OverTime
        name : str
            The name of the difference. By default, it consists of the names of the sides.
        sides : tuple of two str, optional
            The names of this series and the other one, such as ``("Times", "Mirror")``. The default is the names of
            the lists if they differ.

        Raises
        ------
        TableError
            If the two series have different times, different designs, or no words in common, or if `sides` does not
            have two different names.
        """
        check_kind("other", other, OverTime, "not a series. Pass the result of `bayes_bias.over_time`.", TableError)
        if self.times != other.times:
            raise TableError(
                f"`other` has slices of {_listed(other.tables)}, but this series has slices of"
                f" {_listed(self.tables)}. Use the same times in both."
            )
        first, second = _names_of_sides(self, other, sides)
        # The tables of both series by their time and side: 0 for this series, 1 for the other one.
        sources = {(time, 0): table for time, table in self.sources.items()}
        sources |= {(time, 1): table for time, table in other.sources.items()}
        shared = share_words(sources, "other")
        differences, embeddings = {}, {}
        for time in self.tables:
            pair = {0: shared[time, 0], 1: shared[time, 1]}
            differences[time] = weighted_sum(pair, {0: 1.0, 1: -1.0})
            # The embeddings of both series in a slice follow each other, as `unlike` expects.
            embeddings[f"{time}, {first}"] = sources[time, 0]
            embeddings[f"{time}, {second}"] = sources[time, 1]
        alike = made_alike(embeddings, seed=self.settings.seed, allowed=self.alike.allowed)
        prefix = f"{self.name}, " if self.name == other.name else ""
        series = series_of(differences, alike, self.settings, name or f"{prefix}{first} minus {second}")
        return replace(series, is_difference=True)

    @property
    def unlike(self) -> list[Any]:
        """The slices with an embedding that was not trained like the others.

        A difference between two series has two embeddings in each slice.
        """
        alike_by_slice = self.alike.table.alike.to_numpy().reshape(len(self.tables), -1)  # (slice, embedding)
        return [time for time, alike in zip(self.tables, alike_by_slice, strict=True) if not alike.all()]

    @property
    def text(self) -> str:
        """Describe the result in sentences. The first sentence states whether the bias changed."""
        sentences = [f"{self.headline}.", self.trend.text, self.dated, self.found_changes, self.alike.text]
        return with_unit(" ".join(filter(None, sentences)), self.unit)

    @property
    def unit(self) -> str:
        """The noun for the units of the list, such as "word" or "image"."""
        return unit_of(self.tables.values())

    @property
    def headline(self) -> str:
        """State whether the bias changed, in which direction and how much, in a clause.

        The verdict is on the trend. A clear change is described by a verb, so its size has no sign. The verbs for a
        bias that is negative in the first or last slice are different, because "increased" would be ambiguous.
        """
        first, *_, last = self.tables
        span, verdict = f"from {first} to {last}", self.trend.verdict
        if verdict in _NO_VERDICT:
            return f"No verdict on the trend of {self.title} {span}, because {_NO_VERDICT[verdict]}"
        trend = self.trend.table.loc[THESE]
        is_up = bool(trend["mean"] > 0)
        clear = verdict != "not distinguishable"
        direction = "increased" if is_up else "decreased"
        if (self.table["bias"].iloc[[0, -1]] < 0).any():
            direction = "moved towards the stereotype" if is_up else "moved away from the stereotype"
            if self.is_difference:  # both biases may have moved in the other direction
                direction = "became more positive" if is_up else "became more negative"
        size = opposite(trend) if clear and not is_up else trend
        sign: Sign = "" if clear else "+"
        sentence = Finding(
            title=self.title,
            value=float(trend["mean"]),
            size=with_interval(size, self.ci_prob, self.metric.decimals, sign=sign, unit=self.metric.unit),
            clear=clear,
            words={"direction": direction, "span": span},
        ).sentence("over time")
        if verdict == "for these slices only":
            sentence = f"In these slices, {sentence[0].lower()}{sentence[1:]}"
        return sentence.removesuffix(".")

    @property
    def title(self) -> str:
        """The title of the list, or of the difference between two series, for a sentence."""
        first = next(iter(self.sources.values()))
        return called(first.title) if first.name == self.name else f"“{self.name}”"

    @property
    def dated(self) -> str:
        """A sentence on the time of the change, or "" without a clear change, without a verdict, or with few slices.

        The change is dated if one step between neighbours has a probability above DATED of being the largest.
        """
        has_changed = self.trend.verdict in ("distinguishable", "for these slices only") or self._clear.any()
        if self.new is None or not self._has_verdict or not has_changed:
            return ""
        probabilities = self.changes.prob_largest
        (before, after), highest = probabilities.idxmax(), float(probabilities.max())
        if highest <= DATED:
            return (
                "The change cannot be dated, because no step between neighbours has a probability above"
                f" {probability(DATED)} of being the largest (the highest is {probability(highest)}, for {before}"
                f" to {after})."
            )
        return f"The largest change lies between {before} and {after}, with probability {probability(highest)}."

    @property
    def _has_verdict(self) -> bool:
        """True if the slices were similarly trained and the fit has converged."""
        return not self.alike.prevents_verdict and Diagnostics.of(self.fit).for_bias.converged

    @property
    def _clear(self) -> "pd.Series[bool]":
        """True for each step that is larger than chance explains."""
        return self.changes.chance_holm < 1 - self.ci_prob

    @property
    def found_changes(self) -> str:
        """A sentence that names neighbouring slices with a clear difference, after Holm's adjustment for all steps.

        Steps between slices that were not similarly trained have no verdict, which is stated at the end. They have no
        probability (``chance``), so the steps with one are those that were judged. If none of them is clear, the
        sentence says so. If there are enough slices, the sentence also names those steps that generalise to new slices.
        """
        if not self._has_verdict:
            return ""
        clear = self.changes[self._clear]
        n_steps = len(self.changes)
        n_judged = int(self.changes.chance.notna().sum())
        without_verdict = self._steps_without_verdict
        if not n_judged:
            return without_verdict.strip()
        if clear.empty:
            return f"{self._no_clear_step(n_judged)}{without_verdict}"
        # Clear steps, with their size, and those of them that generalise to new slices.
        steps, generalised = [], []
        for (before, after), row in clear.iterrows():
            change = value_and_interval(row["mean"], *interval_of(row), self.metric.decimals)
            steps.append(f"{before} to {after} ({change})")
            if self.new is not None and row.chance_new_holm < 1 - self.ci_prob:
                generalised.append(f"{before} to {after}")
        subject = f"After Holm's adjustment for {in_words(n_steps)} steps, these" if n_steps > 1 else "The two slices"
        sentence = f"{subject} differ: {joined(steps)}."
        if self.new is not None:
            sentence += f" Generalised to new slices: {joined(generalised) if generalised else 'none'}."
        return f"{sentence}{without_verdict}"

    def _no_clear_step(self, n_judged: int) -> str:
        """Return the sentence that none of the steps is clear, where `n_judged` of them have a verdict."""
        if len(self.changes) == 1:
            return "The step between the two slices is not larger than chance explains."
        other = "other " if n_judged < len(self.changes) else ""
        none_of_several = f"None of the {in_words(n_judged)} {other}steps between neighbours is"
        subject = none_of_several if n_judged > 1 else "The other step between neighbours is not"
        return f"{subject} larger than chance explains, after Holm's adjustment."

    @property
    def _steps_without_verdict(self) -> str:
        """Sentences that name the steps without a verdict, after a blank, or "" if there are none."""
        sentences = ""
        for verdict, reason in _NO_VERDICT.items():
            if steps := [step.label for step in self.steps if step.verdict == verdict]:
                sentences += f" There is no verdict on {joined(steps)}, because {reason}."
        return sentences

    @property
    def moved_most(self) -> str:
        """Sentences with the words of each side that changed most in these vectors, sorted by size.

        The vectors of another training run may show other words.
        """
        meaning = "Words with a negative trend became less stereotypical."
        if self.is_difference:
            meaning = "A word has a negative trend if its bias in the first series fell relative to the second series."
        sides = []
        for side, rows in self.moved.groupby("side", sort=False):
            examples = []
            for word, row in rows.droplevel("side").head(_NAMED).iterrows():
                examples.append(f"{word} ({value_and_interval(row['mean'], *interval_of(row), self.metric.decimals)})")
            sides.append(f"{side}s {', '.join(examples)}")
        return (
            "Words that moved most in these vectors (picked as the largest, intervals not adjusted for"
            f" this): {'; '.join(sides)}. {meaning}"
        )

    @property
    def layout(self) -> Layout:
        """Show the bias of each slice, by itself, relative to the mean of all slices, and given all other slices.

        The last columns show WEAT, and for known training whether the slice is comparable with the others.
        """
        rows, decimals = self.table, self.metric.decimals
        columns = [
            Column("bias", rows.bias, partial(signed, decimals=decimals)),
            interval_column("by itself", rows, decimals),
            self._from_mean(decimals),
        ]
        if self.new is not None:
            numbers = rows[["together", *interval_columns(rows, "together")]].to_numpy()
            together = [value_and_interval(mean, lower, upper, decimals) for mean, lower, upper in numbers]
            columns.append(Column("given all others", together, spare=True))
        columns.append(Column("WEAT’s d", rows.weat_d, partial(plain, decimals=2)))
        if not self.alike.unknown:
            comparable = ["no" if label in self.unlike else "yes" for label in rows.index]
            columns.append(Column("comparable", comparable, words=True))
        return Layout(
            list(map(str, rows.index)), columns, heading="slice", caption=f"Bias of {self.name}, in {self.metric.unit}"
        )

    def _from_mean(self, decimals: int) -> Column:
        """Return the column of the distance between each slice and the mean of all slices, with its interval.

        The columns ``about_mean`` have the interval of this distance plus the mean, so the mean is subtracted.
        """
        lower, upper = interval_of(self.table, "about_mean")
        mean = self.table.bias.mean()
        cells = []
        for bias, low, high in zip(self.table.bias, lower, upper, strict=True):
            cells.append(value_and_interval(bias - mean, low - mean, high - mean, decimals))
        return Column("from the mean", cells)

    @property
    def changes_layout(self) -> Layout:
        """Show the changes from slice to slice, with their probabilities after Holm's adjustment.

        A step without a verdict has no probability, and its label is marked.
        """
        rows = self.changes
        columns = [
            *estimate_columns(rows, "change", self.ci_prob, self.metric.decimals),
            Column("probability under\nno change, Holm,\nthese slices", rows.chance_holm, probability),
        ]
        if self.new is not None:
            columns.append(Column("probability under\nno change, Holm,\nnew slices", rows.chance_new_holm, probability))
            columns.append(Column("largest change\nprobability", rows.prob_largest, probability))
        labels = []
        for (before, after), row in rows.iterrows():
            mark = f"{MARKS['not converged']} " if np.isnan(row.chance) else ""
            labels.append(f"{mark}{before} to {after}")
        return Layout(labels, columns, heading="slices", caption=f"From slice to slice, in {self.metric.unit}")


def series_of(tables: Tables, alike: MadeAlike, settings: Settings, name: str = "") -> OverTime:
    """Return the series of slices, which must be in the order of their times, given the check of their training.

    The slices are reduced to the words that they share. No two may then have equal values, because a difference of zero
    cannot be modelled. The trend is a contrast of all slices, and a step is the contrast of two neighbours. With at
    least FEWEST slices, results are generalised to new slices. `name` is the name of the series.
    """
    shared = share_words(tables)
    for one, other in combinations(shared, 2):
        if shared[one].values.equals(shared[other].values):
            raise TableError(f"`tables` contains the same values in the slices {one} and {other}. Omit one of them.")
    first = next(iter(shared.values()))
    if first.covariates:
        raise TableError(
            "`tables` contain words with covariates, for which biases over time cannot be adjusted yet."
            " Make the tables without covariates."
        )
    settings = replace(settings, words=check_design(table_means(first), settings.words).name)
    times = tuple(map(float, shared))
    moments = SliceMoments.of([*shared.values()], scope_of(settings.words))
    new = NewSlices(moments, times) if len(times) >= FEWEST else None
    draws = None if new is None else new.draws(settings.seed)
    first_label, *_, last_label = shared
    label = f"change along the line from {first_label} to {last_label}"
    weights = dict(zip(shared, trend_weights(times), strict=True))
    trend = contrast_of(shared, weights, alike, new, settings, label, "trend")
    steps = []
    for before, after in pairwise(shared):
        steps.append(contrast_of(shared, {before: -1.0, after: 1.0}, alike, new, settings, f"{before} to {after}"))
    notices = chain.from_iterable(table.notices for table in shared.values())
    return OverTime(
        name=name or first.name,
        tables=shared,
        sources=tables,
        settings=settings,
        alike=alike,
        new=new,
        table=rows_of_slices(shared, moments, draws, settings.ci_prob),
        trend=trend,
        steps=tuple(steps),
        changes=rows_of_changes(steps, [*pairwise(shared)], draws, settings.ci_prob),
        moved=rows_of_words(trend, settings.words, settings.ci_prob),
        lost=rows_of_lost(tables, shared, settings.words, settings.ci_prob),
        notices=(*dict.fromkeys(notices), *announce(unpaired(shared))),
    )


# Tables: slices, steps between neighbours, trends of words, and missing words.


def rows_of_slices(shared: Tables, moments: SliceMoments, draws: np.ndarray | None, ci_prob: float) -> pd.DataFrame:
    """Return a row for each slice: its own bias, its deviation from the mean, and its partially pooled bias.

    A bias is a contrast of the slices that has the weight 1 for its slice, and a deviation is this contrast minus 1 / n
    for all n slices. The interval of a deviation is shifted by the mean of all biases, so that it is comparable.
    `draws` (draw, slice) are draws of the pooled biases, or None with few slices.
    """
    mean = float(moments.biases.mean())
    single_slices = np.eye(len(shared))  # each row is the contrast of one slice
    lower, upper = interval_names(ci_prob, "ci")
    about_lower, about_upper = interval_names(ci_prob, "ci", "about_mean")
    together_lower, together_upper = interval_names(ci_prob, "eti", "together")
    rows = []
    for position, table in enumerate(shared.values()):
        row: dict[str, float] = {}
        row["bias"], row[lower], row[upper] = moments.interval(single_slices[position], ci_prob)
        _, low, high = moments.interval(single_slices[position] - 1 / len(shared), ci_prob)
        row[about_lower], row[about_upper] = low + mean, high + mean
        if draws is not None:
            row["together"] = draws[:, position].mean()
            row[together_lower], row[together_upper] = np.quantile(draws[:, position], tails(ci_prob))
        row["weat_d"] = _effect_size(table)
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(list(shared), name="slice"))


def _effect_size(table: AssociationTable) -> float:
    """Return WEAT's d, or NaN if it is not defined for the list."""
    try:
        return float(weat(table.without_controls(), permutations=1).effect_size)
    except MeasureError:
        return float("nan")


def rows_of_changes(
    steps: list[SliceContrast], pairs: list[tuple[Any, Any]], draws: np.ndarray | None, ci_prob: float
) -> pd.DataFrame:
    """Return a row for each step between neighbours, with probabilities adjusted for the number of steps.

    `steps` are the contrasts of `pairs` of slices. Columns that begin with ``new`` generalise to new slices. A step
    without a verdict has no probabilities. ``prob_largest`` is the share of `draws` in which a step is the largest
    change.
    """
    index = pd.MultiIndex.from_tuples(pairs, names=["slice", "next"])
    new_lower, new_upper = interval_names(ci_prob, of="new")
    rows = []
    for change in steps:
        in_these_slices = change.table.loc[THESE]
        row = dict(in_these_slices[["mean", *interval_names(ci_prob), "prob_direction", "chance"]])
        if NEW in change.table.index:
            in_new_slices = change.table.loc[NEW]
            row[new_lower], row[new_upper] = interval_of(in_new_slices)
            row["chance_new"] = in_new_slices.chance
        if change.verdict in _NO_VERDICT:
            row |= {name: np.nan for name in row if name.startswith("chance")}
        rows.append(row)
    table = pd.DataFrame(rows, index=index).astype(float)
    table.insert(5, "chance_holm", holm(table.chance))
    if draws is not None:
        table["chance_new_holm"] = holm(table.chance_new)
        table["prob_largest"] = largest_change(draws)
    return table


def rows_of_words(trend: SliceContrast, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """Return the trend of each word, sorted by decreasing size, with its side and category.

    The side is "target" or "attribute". The category is the group of a target, or the class of an attribute. The trend
    of a word is its `target_bias` or `attribute_bias` in the fit of the trend, under the scope `words`. In the data of
    the fit, ``group_of`` and ``class_of`` are the position of the category of each word among the names of all groups
    or classes.
    """
    fitted = Fitted.of(trend.fit)
    data = fitted.data
    category_of_word = {"target": data.group[data.group_of], "attribute": data.attribute_class[data.class_of]}
    tables = {}
    for side, categories in category_of_word.items():
        try:
            rows = tabulate(estimate_of(fitted, f"{side}_bias", words), ci_prob, "eti")
        except BayesBiasError:  # with a single group, attributes have no bias
            continue
        rows["category"] = categories.to_series().loc[rows.index].to_numpy()
        tables[side] = rows[["category", "mean", *interval_names(ci_prob), "prob_direction", "observed"]]
    return pd.concat(tables, names=["side", "word"]).sort_values("mean", key=lambda size: -size.abs())


def rows_of_lost(tables: Tables, shared: Tables, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """Return a row for each slice that lacks words: the words, their number, and the trend of all other slices.

    Slices are compared by the words that all of them have. The trend without a slice uses more words, and so shows how
    much the result depends on the words that this slice lacks. `shared` are the slices with only the common words.
    """
    words_of_slices = {time: _words_of(table) for time, table in tables.items()}
    all_words = dict.fromkeys(chain.from_iterable(words_of_slices.values()))
    shared_words = {*chain.from_iterable(map(_words_of, shared.values()))}
    columns = ["lacks", "number", "trend", *interval_names(ci_prob, "ci", "trend")]
    rows: dict[Any, list[Any]] = {}
    for lacking_time, words_of_slice in words_of_slices.items():
        lacking = [word for word in all_words if word not in shared_words.union(words_of_slice)]
        if not lacking:
            continue
        other_slices = {time: table for time, table in tables.items() if time != lacking_time}
        trend = [np.nan] * 3  # mean and interval, unknown for a single slice
        if len(other_slices) > 1:
            with within(f"without {lacking_time}"):
                moments = SliceMoments.of([*share_words(other_slices).values()], scope_of(words))
            trend = list(moments.interval(trend_weights(list(map(float, other_slices))), ci_prob))
        rows[lacking_time] = [", ".join(lacking), len(lacking), *trend]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("slice")


def _words_of(table: AssociationTable) -> list[str]:
    """Return the targets and attributes of a table."""
    return [*words_of(table.values, "target"), *words_of(table.values, "attribute")]


def _check_weights(weights: Any, tables: Mapping[Any, AssociationTable]) -> dict[Any, float]:
    """Return the weights of a contrast of slices as a dictionary, or raise an error if they are not valid.

    Weights must be finite, belong to slices of the series, and sum to zero, up to rounding, without all being zero.
    """
    check_kind("weights", weights, Mapping, "not a mapping of slices to weights. Pass {1900: -1, 1950: 1}.", TableError)
    for label, weight in weights.items():
        if label not in tables:
            raise TableError(
                f"`weights` contains {label!r}, but there is no such slice. The slices are {_listed(tables)}."
            )
        if not is_number(weight):
            raise TableError(f"`weights` must contain finite numbers, but the weight of {label} is {weight!r}.")
    total = sum(weights.values())
    sum_of_sizes = sum(map(abs, weights.values()))
    if not sum_of_sizes or abs(total) > 1e-9 * sum_of_sizes:
        raise TableError(
            f"`weights` sum to {total:g}, but the weights of a contrast must sum to zero without all being"
            " zero. Use, for example, {1900: -1, 1950: 1}."
        )
    return {label: float(weight) for label, weight in weights.items()}


def _names_of_sides(series: OverTime, other: OverTime, sides: tuple[str, str] | None) -> tuple[str, str]:
    """Return the names of the two sides of a difference between series.

    These are the names that the user passed as `sides` or, by default, the names of the series if they differ.
    """
    if sides is None:
        return ("the first series", "the second series") if series.name == other.name else (series.name, other.name)
    names = as_tuple("sides", sides, str, "('Times', 'Mirror')", TableError)
    if len(set(names)) != 2 or len(names) != 2:
        raise TableError(
            f"`sides` must have two different names, but is {sides!r}. Name this series and the other one."
        )
    return names[0], names[1]


def _listed(tables: Mapping[Any, Any]) -> str:
    """Return the times of slices as text."""
    return ", ".join(map(str, tables))


# The page of a series.


def over_time_document(series: OverTime) -> Document:
    """Return the document of a series, from which its page, LaTeX, CSV, and netCDF files are written.

    ``sections`` are the parts of the page, and ``facts`` the values that their templates use.
    """
    methods = methods_of(series)
    fitted = Fitted.of(series.fit)
    first, *_, last = series.tables
    return Document(
        title=f"Over time: {series.name}",
        heading=f"Did the bias of {series.title} change from {first} to {last}?",
        opening={"answer": series.text, "lede": f"Slices: {', '.join(map(str, series.tables))}"},
        sections=(
            PageSection("slices", "Each slice", "over-time-slices.html"),
            PageSection("trend", "Trend", "over-time-trend.html"),
            PageSection("changes", "From slice to slice", "over-time-changes.html"),
            PageSection("alike", "Are the slices comparable?", "over-time-alike.html"),
            PageSection("words", "Words that moved", "over-time-words.html", look="words"),
            PageSection("lost", "Words that a slice lacks", "over-time-lost.html") if len(series.lost) else None,
            notices_section("Notes on the words", series.notices),
            methods_section(methods),
        ),
        facts={
            "series": series,
            "level": level(series.ci_prob),
            "metric": series.metric,
            "decimals": series.metric.decimals,
            "layouts": {"slices": series.layout, "changes": series.changes_layout},
            "tau": None if series.new is None else series.new.tau,
        },
        figures=_figures(series),
        tables={
            "alike": series.alike.table.rename_axis("slice"),
            "slices": series.table,
            "trend": series.trend.table,
            "changes": series.changes,
            "word-trends": series.moved,
            "lost": series.lost,
            **tables_of_analysis({str(time): table for time, table in series.sources.items()}),
        },
        latex="layouts.tex",
        texts={"appendix.tex": appendix([(series.name, next(iter(series.tables.values())))])},
        methods=methods,
        unit=series.unit,
        fits={"trend": fitted},
        provenance=model_provenance(series, fitted)
        | {
            "slices": {str(time): dict(table.provenance) for time, table in series.sources.items()},
            **series.alike.provenance,
            "notices": list(series.notices),
            "fit": fitted.provenance,
        },
    )


def _figures(series: OverTime) -> dict[str, Callable[[], "Axes"]]:
    """Return the functions that draw the figures by name: the series, and the trend of words on each side.

    If all groups have the same class, attributes have no bias, so there is no figure of their trends.
    """
    words = partial(plots.plot_word_bias, series.fit, scope=series.scope, ci_prob=series.ci_prob)
    figures: dict[str, Callable[[], Axes]] = {
        "series": partial(plots.plot_over_time, series),
        "targets": partial(words, side="target"),
    }
    if "attribute" in series.moved.index.get_level_values("side"):
        figures["attributes"] = partial(words, side="attribute")
    return figures


def methods_of(series: OverTime) -> Methods:
    """Return the methods text of a paper: a template, and the facts that replace its placeholders.

    The facts describe the tables of the slices, the model, and the fits of the trend and of all steps.
    """
    trend = Fitted.of(series.fit)
    fits = {"trend": trend} | {step.label: Fitted.of(step.fit) for step in series.steps}
    table = next(iter(series.tables.values()))
    first, *_, last = series.tables
    facts = model_facts(fits, series.spec, series.scope, series.ci_prob) | {
        "series": series,
        "modelled": f"weighted sum of the {table.metric.plural}",
        "finding": "change",
        "first": first,
        "last": last,
        "targets": _counted(words_in(table.values.group, table.groups)),
        "attributes": _counted(words_in(table.values.attribute_class, table.associated_classes)),
        "scope": scope_of(series.scope).with_replicates_called(trend.replicate_kind).with_texts(trend.has_texts),
        **source_facts(table),
        "samples": text_samples(series.sources.values()),
    }
    return methods_of_fits("methods-of-over-time.txt", fits, series.spec, facts, sources=tuple(table.references))


def _counted(words: dict[str, int]) -> str:
    """Return a text with the number of words in each group or class."""
    return ", ".join(f"{number} {name}" for name, number in words.items())
