"""Results for true-positive-rate gaps: tables, sentences, and a page."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from bayes_bias.documents.document import Document, PageSection, methods_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import file_names
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.table.columns import estimate_columns, interval_of, opposite, with_interval

MEAN_ABSOLUTE = "mean absolute gap"
RMS = "root mean square gap"
VARIANCE = "mean variance over groups"
MEAN_GAP = "mean gap"
# Variances are shown with more decimals, because they are small.
DECIMALS = {VARIANCE: 4}

_NAMED = 6


@dataclass(frozen=True, eq=False, repr=False)
class TprGaps(Tabled):
    """Gaps of true-positive rates for each class and over classes. Made by `bayes_bias.tpr_gaps.estimate`.

    Attributes
    ----------
    name : str
        The title of the page and the figure.
    counts : PeopleCounts
        People and correct predictions by class and group.
    of : tuple of str
        The groups whose gaps are reported. If there are two groups, only one gap is reported, because the gaps of the
        groups differ only in sign.
    ci_prob : float
        Probability of the equal-tailed intervals.
    fit : xarray.DataTree
        The posterior for ArviZ: ``rate`` and ``gap`` by class and group, ``mean_gap`` and scales (log odds).
    diagnostics : Diagnostics
        The convergence of the fit.
    table : pandas.DataFrame
        A row for each class and group of `of`: ``people``, ``people_rest``, ``tpr``, ``tpr_rest``, ``observed``,
        posterior ``mean``, ``sd``, interval and ``prob_direction``.
    variances : pandas.DataFrame
        The variance of the rates of each class over groups: ``observed``, posterior ``mean``, ``sd`` and interval.
    aggregate : pandas.DataFrame
        Rows "mean absolute gap", "root mean square gap", "mean variance over groups" (three groups or more), "mean gap
        of ...". Columns: ``observed``, the published statistic; ``without_gaps``, its expected value if no class had a
        gap; ``chance``, the probability of an observed value this large if no class had a gap; ``unbiased``, an
        unbiased estimate of the mean variance, or the root of an unbiased estimate of the mean square (0 if negative);
        posterior ``mean``, ``sd`` and interval.
    """

    name: str
    counts: PeopleCounts
    of: tuple[str, ...]
    ci_prob: float
    fit: xr.DataTree
    diagnostics: Diagnostics
    table: pd.DataFrame
    variances: pd.DataFrame
    aggregate: pd.DataFrame

    def document(self) -> Document:
        """Return the page of the gaps and its files, for `bayes_bias.write`."""
        return tpr_gaps_document(self)

    @property
    def two_groups(self) -> bool:
        """Return True if there are two groups, so that a gap is the difference between their rates."""
        return len(self.counts.groups) == 2

    @property
    def rest(self) -> str:
        """Return a name for the people with whom a group is compared: the other one of two groups, or "all others"."""
        if not self.two_groups:
            return "all others"
        return next(group for group in self.counts.groups if group not in self.of)

    @property
    def whose(self) -> str:
        """Return the groups that each gap compares, in the form "F minus M"."""
        return f"{self.of[0]} minus {self.rest}" if len(self.of) == 1 else "each group minus all others"

    @property
    def shrinkage(self) -> float:
        """Return the average shrinkage of raw gaps towards the mean gap, from 0 (none) to 1 (complete).

        Shrinkage is one minus the slope of posterior gaps on raw gaps, both as deviations from the means of their
        group. It is missing if all raw gaps are equal.
        """
        columns = ["observed", "mean"]
        deviations = self.table[columns] - self.table.groupby("group")[columns].transform("mean")
        sum_of_squares = float((deviations.observed**2).sum())
        sum_of_products = float((deviations.observed * deviations["mean"]).sum())
        return 1 - sum_of_products / sum_of_squares if sum_of_squares > 0 else np.nan

    @property
    def shrunk(self) -> str:
        """Return a sentence on the shrinkage, or an empty text if there is only one class."""
        if np.isnan(self.shrinkage):
            return ""
        return f"Single raw gaps are shrunk towards their mean, by {fmt.percent(self.shrinkage)} on average."

    @property
    def clear(self) -> pd.DataFrame:
        """Return the gaps whose intervals exclude zero, sorted by decreasing size."""
        lower, upper = interval_of(self.table)
        return self.table[(lower > 0) | (upper < 0)].sort_values("mean", key=abs, ascending=False)

    @property
    def priors(self) -> dict[str, str]:
        """Return the priors of the parameters of the model, on the scale of log odds."""
        return dict(json.loads(self.fit.attrs["priors"]))

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of the software."""
        return dict(json.loads(self.fit.attrs["versions"]))

    @property
    def answer(self) -> str:
        """Return a sentence on the largest mean gap whose interval excludes zero.

        If the fit has not converged, the sentence contains the reasons instead.

        A mean gap is the average gap of a group over all classes, and only reported groups (`of`) are compared. If no
        interval of a mean gap excludes zero, the sentence is about single classes whose interval does or, if there are
        none of these either, about the mean gap of the first group.
        """
        if not self.diagnostics.converged:
            return f"Not converged, do not interpret: {'; '.join(self.diagnostics.problems)}."
        means = self.aggregate.loc[[f"{MEAN_GAP} of {group}" for group in self.of]]
        lower, upper = interval_of(means)
        is_clear = ((lower > 0) | (upper < 0)).to_numpy()
        has_clear_mean = bool(is_clear.any())
        if not has_clear_mean and len(self.clear):
            return self._sentence_on_single_gaps()
        # An unclear gap gets the size -1, so that each clear gap is larger. Without a clear gap, all sizes are equal.
        largest = int(means["mean"].abs().where(is_clear, -1.0).argmax())
        row = means.iloc[largest]
        is_lower = row["mean"] < 0
        # The sentence names the direction, so the size is written without a sign.
        size = opposite(row) if is_lower else row
        words = {
            "group": self.of[largest] if has_clear_mean or len(self.of) == 1 else "any group",
            "rest": self.rest,
            "direction": "lower" if is_lower else "higher",
        }
        n_classes = len(self.counts.classes)
        return Finding(
            title=f"{fmt.in_words(n_classes)} {'class' if n_classes == 1 else fmt.plural('class')}",
            value=float(row["mean"]),
            size=with_interval(size, self.ci_prob, 1, factor=100, sign="", unit="percentage points"),
            clear=has_clear_mean,
            words=words,
        ).sentence("gaps")

    @property
    def _noise(self) -> str:
        """Return a sentence that compares the mean absolute raw gap with the value to expect if no class had a gap.

        The row of the table has the ``observed`` value, its expected value ``without_gaps``, and ``chance``, the
        probability of an observed value this large without gaps. Values are written in percentage points.
        """
        row = self.aggregate.loc[MEAN_ABSOLUTE]
        raw = fmt.plain(100 * row.observed, 1)
        without_gaps = fmt.plain(100 * row.without_gaps, 1)
        chance = fmt.equals(fmt.probability(row.chance))
        if row.chance < 1 - self.ci_prob:
            return f"The raw gaps ({raw} points on average) are larger than chance gives ({without_gaps}; p {chance})."
        if row.observed <= row.without_gaps:
            return f"The raw gaps ({raw} points on average) are no larger than chance gives ({without_gaps})."
        return f"The raw gaps ({raw} points on average) are compatible with chance ({without_gaps}; p {chance})."

    @property
    def text(self) -> str:
        """Describe the gaps in sentences: the main result, the sizes of gaps, mean gaps of groups, and shrinkage.

        The rows of `aggregate` are summaries over classes, and sizes and mean gaps are written in percentage points.
        """
        if not self.diagnostics.converged:
            return self.answer
        size = with_interval(self.aggregate.loc[MEAN_ABSOLUTE], self.ci_prob, 1, factor=100, sign="", unit="points")
        sentences = [
            self.answer,
            self._noise,
            f"The size of the true gaps is estimated as {size} on average. A size has no sign, so its interval never"
            " includes zero and does not show that there is a gap.",
        ]
        on_single_gaps = self._sentence_on_single_gaps()
        if on_single_gaps not in self.answer:
            sentences.append(on_single_gaps)
        for group in self.of:
            row = self.aggregate.loc[f"{MEAN_GAP} of {group}"]
            mean_gap = with_interval(row, self.ci_prob, 1, factor=100, unit="points")
            sentences.append(f"The mean gap, {group} minus {self.rest}, is {mean_gap}.")
        sentences.append(self._sentence_on_root_mean_square())
        if not self.two_groups:
            row = self.aggregate.loc[VARIANCE]
            decimals = DECIMALS[VARIANCE]
            posterior = with_interval(row, self.ci_prob, decimals, sign="")
            raw = fmt.plain(row.observed, decimals)
            unbiased = fmt.plain(row.unbiased, decimals)
            sentences.append(f"The mean variance over groups is {posterior}, of raw rates {raw}, unbiased {unbiased}.")
        sentences += [self.shrunk, *(f"{fmt.capitalized(notice)}." for notice in self.counts.notices)]
        return " ".join(filter(None, sentences))  # `shrunk` may be empty

    def _sentence_on_root_mean_square(self) -> str:
        """Return a sentence on the root mean square gap: posterior, raw and, if it is known, unbiased.

        The unbiased estimate is zero if raw gaps vary no more than noise alone would make them vary. It is missing if a
        group has only one person in a class.
        """
        row = self.aggregate.loc[RMS]
        estimate = with_interval(row, self.ci_prob, 1, factor=100, sign="", unit="points")
        raw = fmt.plain(100 * row.observed, 1)
        unbiased = "" if np.isnan(row.unbiased) else f", unbiased {fmt.plain(100 * row.unbiased, 1)}"
        because = ", because raw gaps vary no more than noise" if row.unbiased == 0 else ""
        return f"The root mean square is {estimate}, of raw rates {raw}{unbiased}{because}."

    def _sentence_on_single_gaps(self) -> str:
        """Return a sentence on the gaps of single classes whose intervals exclude zero.

        It has their number, and at most _NAMED of the largest of them as examples.
        """
        clear = self.clear
        gaps = fmt.counted(len(self.table), "gap")
        excludes = f"the {fmt.level(self.ci_prob)} interval excludes zero"
        if clear.empty:
            return f"For none of {gaps} {excludes}."
        examples = []
        for (class_name, group), row in clear[:_NAMED].iterrows():
            name = class_name if self.two_groups else f"{class_name}, {group}"
            lower, upper = interval_of(row)
            gap = fmt.mean_of_interval(100 * row["mean"], 100 * lower, 100 * upper, 1)
            examples.append(f"{name} ({gap} points)")
        more = f" and {len(clear) - _NAMED} more" if len(clear) > _NAMED else ""
        return f"For {fmt.in_words(len(clear))} of {gaps} {excludes}: {', '.join(examples)}{more}."

    @property
    def layout(self) -> Layout:
        """Show the summaries over all classes, with a row for each row of `aggregate`.

        Mean gaps of groups are shown with a sign, and average sizes without. Columns that are marked as `spare` are
        omitted if there is little room.
        """
        cells: dict[str, list[str]] = {"observed": [], "without_gaps": [], "unbiased": [], "posterior": []}
        for name, row in self.aggregate.iterrows():
            decimals = DECIMALS.get(str(name), 3)
            sign = "+" if str(name).startswith(MEAN_GAP) else ""
            write_number = fmt.signed if sign else fmt.plain
            for column in ("observed", "without_gaps", "unbiased"):
                cells[column].append(write_number(row[column], decimals))
            cells["posterior"].append(fmt.value_and_interval(row["mean"], *interval_of(row), decimals, sign=sign))
        return Layout(
            list(map(str, self.aggregate.index)),
            [
                Column("raw\npublished", cells["observed"]),
                Column("no gaps\nexpected", cells["without_gaps"]),
                Column("chance\nof raw then", self.aggregate.chance, fmt.probability, spare=True),
                Column("unbiased", cells["unbiased"], spare=True),
                Column(f"posterior\n{fmt.level(self.ci_prob)} interval", cells["posterior"]),
            ],
            heading="quantity",
            caption="Over all classes",
        )

    @property
    def classes_layout(self) -> Layout:
        """Show the gap of each class, from the most positive to the most negative.

        Numbers of people and rates are shown for the group and for all other people, as in "12; 30".
        """
        rows = self.table.sort_values("mean", ascending=False)
        has_groups = len(self.of) > 1

        def group_and_rest(heading: str, column: str, write_number: Callable[[float], str]) -> Column:
            """Return a column with the numbers of the group and of all other people, such as "12; 30"."""
            pairs = list(rows[[column, f"{column}_rest"]].itertuples(index=False, name=None))
            return Column(heading, pairs, lambda pair: "; ".join(map(write_number, pair)), spare=True)

        return Layout(
            [f"{class_name}, {group}" if has_groups else str(class_name) for class_name, group in rows.index],
            [
                group_and_rest("people\nand the others", "people", fmt.as_count),
                group_and_rest("rate\nand the others’", "tpr", partial(fmt.plain, decimals=2)),
                Column("raw gap", rows.observed, fmt.signed),
                *estimate_columns(rows, "gap", self.ci_prob, 3),
                Column("P(direction)", rows.prob_direction, fmt.probability),
            ],
            heading="class and group" if has_groups else "class",
            caption=f"Gaps of true-positive rates: {self.whose}",
        )


def tpr_gaps_document(gaps: TprGaps) -> Document:
    """Return the page of the gaps of a classifier and its files, with a figure for each group whose gap is reported.

    Each section names a template, which is filled with the facts. The table "counts" has a row for each class and
    group, from which readers can reproduce the gaps. The provenance contains the settings of the fit.
    """
    names = {group: f"gaps-{file}" for group, file in file_names(gaps.of).items()}
    people = gaps.counts.people.to_numpy()
    facts = {"gaps": gaps, "people": int(people.sum()), "fewest": people.min(), "most": people.max()}
    fit = gaps.fit.attrs
    methods = Methods("methods-of-gaps.txt", {**facts, "settings": fit})
    cells = pd.MultiIndex.from_product([gaps.counts.classes, gaps.counts.groups], names=["class", "group"])
    counts = {"hits": gaps.counts.hits.to_numpy().ravel(), "people": people.ravel()}
    return Document(
        title=f"Gaps: {gaps.name}",
        heading="How far do true-positive rates differ between groups?",
        opening={"answer": gaps.text},
        sections=(
            PageSection("classes", "Class by class", "gaps-classes.html", {"names": names}),
            PageSection("aggregate", "Over all classes", "gaps-aggregate.html"),
            methods_section(methods),
        ),
        facts={"gaps": gaps, "layouts": {"all-classes": gaps.layout, "classes": gaps.classes_layout}},
        latex="layouts.tex",
        figures={name: partial(plots.plot_tpr_gaps, gaps, group) for group, name in names.items()},
        tables={
            "gaps": gaps.table,
            "aggregate": gaps.aggregate,
            "variances": gaps.variances,
            "counts": pd.DataFrame(counts, index=cells),
        },
        methods=methods,
        fits={"": gaps.fit},
        provenance={
            "ci_prob": gaps.ci_prob,
            "model": fit["model"],
            "priors": gaps.priors,
            "versions": gaps.versions,
            "counts_sha256": gaps.counts.sha256,
            **{key: fit[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
        },
    )
