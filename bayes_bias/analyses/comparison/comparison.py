"""The result of a comparison of two embeddings: tables, sentences, and a page."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import pandas as pd
import xarray as xr
from scipy.stats import norm

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.comparison.spread import ChangeInSpread, covariance_of_sides, may_be_zero
from bayes_bias.analyses.headlines import Finding, called
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.debiasing.damage import Damage
from bayes_bias.debiasing.debiased_embedding import taught_words
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits, model_facts, source_facts, text_samples
from bayes_bias.documents.word_tables import appendix, tables_of_analysis
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import MINUS, Column, Layout, Tabled, with_unit
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.summary import chance, summarize
from bayes_bias.posterior.verdict import OF_THESE_ATTRIBUTES, Verdict
from bayes_bias.table.association_table import AssociationTable, words_in, words_of_categories
from bayes_bias.table.bias_weights import contrasted_classes
from bayes_bias.table.columns import (
    estimate_columns,
    interval_columns,
    interval_names,
    interval_of,
    opposite,
    with_interval,
)
from bayes_bias.table.scopes import ScopeName, scope_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


State = Literal["before", "after", "change"]

STATES: tuple[State, ...] = ("before", "after", "change")
_WITHOUT_VERDICT: Mapping[str, str] = MappingProxyType(
    {
        "not made alike": "No verdict, because the embeddings were not trained alike",
        "not converged": "No verdict, because a fit has not converged",
        "raw contrast": "These are raw contrasts of exactly these words, without intervals",
    }
)
# Why there is no share of a bias that may be zero.
NO_SHARE = "No share removed is reported, because the bias before is not distinguishable from zero."
# With fewer words in a group or class, intervals of changes are too short. See docs/evidence/other-analyses.md.
_ENOUGH = 8


@dataclass(frozen=True)
class ShareRemoved:
    """The share of the bias that was removed: ``1 - after / before``.

    Attributes
    ----------
    observed : float
        Share for exactly these words, computed from the raw contrasts. It is missing if the bias before is not
        distinguishable from zero, because a share of nothing has no meaning.
    lower, upper : float
        Fieller's interval, which allows for an uncertain denominator. The interval is missing under scope "none", if
        the bias before debiasing is not clearly different from zero, or if a bias is zero by construction.
    """

    observed: float
    lower: float = math.nan
    upper: float = math.nan

    def __str__(self) -> str:
        """Return the observed share with Fieller's interval, if there is one, as percentages."""
        if math.isnan(self.observed):
            return "not reported"
        bounds = "" if math.isnan(self.lower) else f" [{self.lower:.0%}, {self.upper:.0%}]"
        return f"{self.observed:.0%}{bounds}".replace("-", MINUS)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabled):
    """The change of a bias between two embeddings. Made by `bayes_bias.compare`.

    Attributes
    ----------
    before, after : AssociationTable
        The tables of both sides, restricted to words that both contain.
    fits : mapping of str to xarray.DataTree
        Fits of "change" (``after - before``), and of "before" and "after" unless the bias is zero by construction.
    spec : ModelSpec
        The model of all fits.
    scope, ci_prob
        Scope and probability of the intervals in all tables and sentences.
    bias : pandas.DataFrame
        A row for each of "before", "after" and "change". Columns: ``mean``, ``sd`` and interval (units of the table),
        ``prob_direction``, ``observed``, ``by_construction`` and, with `rope`, ``prob_negligible``. A bias that is zero
        by construction has no interval and no probability.
    change : pandas.DataFrame
        The result of `summarize` for the difference, with the change of every estimand, overall and for each word. It
        omits ``effect_size``, because the effect size of a difference is not the change of an effect size.
    controls : pandas.DataFrame
        Change of the mean of each group with each control class, which debiasing should not affect. It has the columns
        of `summarize` and the index "group, control class", and is empty without control classes.
    share_removed : ShareRemoved
    in_spread : ChangeInSpread
        The change in units of the spread of values. Unlike the change in units of the table, it does not depend on the
        size of all cosines.
    verdict : Verdict
        Verdict on the change. With `rope`, it includes the probability that the change is negligible.
    measures : pandas.DataFrame
        Every applicable measure: ``before``, ``after``, ``b0`` (value without bias), ``p_before``, ``p_after``.
    left_out : mapping of str to str
        Measures that do not apply, with the reasons.
    damage : Damage, optional
        The collateral damage of the debiasing method.
    corpora : bool
        True if neither embedding was made from the other. Then "before" is the first embedding, and "change" is the
        second minus the first.
    alike : MadeAlike, optional
        The check that both of two corpora were similarly trained. If it fails, there is no verdict.
    """

    before: AssociationTable
    after: AssociationTable
    fits: Mapping[State, xr.DataTree]
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    bias: pd.DataFrame
    change: pd.DataFrame
    controls: pd.DataFrame
    share_removed: ShareRemoved
    in_spread: ChangeInSpread
    verdict: Verdict
    measures: pd.DataFrame
    left_out: Mapping[str, str]
    damage: Damage | None = None
    corpora: bool = False
    alike: MadeAlike | None = None

    def document(self) -> Document:
        """Return the page of the comparison and the files next to it, which `bayes_bias.write` writes into a folder."""
        return comparison_document(self)

    @property
    def name(self) -> str:
        """The name of the word list."""
        return self.before.name

    @property
    def embeddings(self) -> dict[str, str]:
        """The embedding or model of each side ("before" and "after") whose table contains its name."""
        return _embeddings(self.before, self.after)

    @property
    def names(self) -> Mapping[State, str]:
        """Names of the sides on the page: "before", "after", and "change", or both corpora and "difference"."""
        return names_of_sides(self.before, self.after, self.corpora)

    @property
    def between(self) -> str:
        """The two sides as written in tables, such as "before: bert; after: bert-cda"."""
        if self.corpora:
            return f"{self.names['before']} and {self.names['after']}"
        return "; ".join(f"{side}: {name}" for side, name in self.embeddings.items())

    @property
    def zero_by_construction(self) -> tuple[State, ...]:
        """The sides on which every attribute is equally close to all groups, for example after equalising."""
        return tuple(self.bias.index[self.bias.by_construction])

    @property
    def text(self) -> str:
        """The result in sentences: the headline and its details or, without convergence, only the verdict and notes."""
        if self.verdict.label == "not converged":
            return " ".join([self.verdict.text, *_learning_warning(self), *_cost(self)])
        return with_unit(" ".join([f"{self.headline}.", *self.details]), self.before.unit)

    @property
    def headline(self) -> str:
        """State whether the bias changed, in which direction and how much, without a full stop.

        Some labels of the verdict mean that there is none, and have a sentence of their own.
        """
        label = self.verdict.label
        if label in _WITHOUT_VERDICT:
            return _WITHOUT_VERDICT[label]
        return self.finding.sentence("difference" if self.corpora else "change").removesuffix(".")

    @property
    def finding(self) -> Finding:
        """What the headline needs to state about the change or difference.

        The verdict has a label, which is either clear, borderline, or neither. The verb of the headline states the
        direction of a clear change, so its size has no sign. Labels of verdicts on fixed attributes add "with these
        attributes" to the title. `words` are the texts that replace the placeholders of the headline.
        """
        label = self.verdict.label
        change = self.bias.loc["change"]
        metric = self.before.metric
        clear = label in ("distinguishable", "these words differ")
        borderline = label in ("borderline", "these words may differ")
        is_up = bool(change["mean"] > 0)
        words = {
            "direction": self._direction(is_up),
            "first": self.names["before"],
            "second": self.names["after"],
            "none": f"{'A' if borderline else 'No'} {self.names['change']}",
            "is_found": "is borderline" if borderline else "is distinguishable from noise",
        }
        title = called(self.before.title) + (" with these attributes" if label in OF_THESE_ATTRIBUTES else "")
        size = opposite(change) if clear and not is_up else change
        size_as_text = with_interval(size, self.ci_prob, metric.decimals, sign="" if clear else "+", unit=metric.unit)
        return Finding(title=title, value=float(change["mean"]), size=size_as_text, clear=clear, words=words)

    def _direction(self, is_up: bool) -> str:
        """Return the direction of the change, where `is_up` means towards the stereotype.

        For a negative bias, "increased" would be ambiguous. Two corpora are compared, and do not change.
        """
        if self.corpora:
            return "more stereotypical" if is_up else "less stereotypical"
        if (self.bias["mean"][["before", "after"]] < 0).any():
            return "moved towards the stereotype" if is_up else "moved away from the stereotype"
        return "increased" if is_up else "decreased"

    @property
    def details(self) -> list[str]:
        """The sentences after the headline: the change, its size relative to the bias, and its limits.

        For a change by debiasing, these include the share of the bias that was removed, control classes that moved, and
        words from which the debiasing method learned. `wider` is the verdict under a scope with more samples. Empty
        sentences are omitted.
        """
        if self.verdict.label == "not converged":
            return [f"{fmt.capitalized('; '.join(self.verdict.problems))}."]
        sentences = _sentences_on_biases(self)
        if self.alike is not None:
            sentences.append(self.alike.text)
        if self.verdict.label != "not made alike" and not self.verdict.described_scope.samples_nothing:
            sentences += [self.verdict.frequency, self.verdict.negligible, self.verdict.assumptions]
            if wider := self.verdict.wider:
                result = f"{wider.headline}. {wider.size}. {wider.frequency}"
                sentences.append(f"Generalised to {self.verdict.added}: {result}")
        for side in self.zero_by_construction:
            placed = f"in {self.names[side]}" if self.corpora else side
            sentences.append(
                f"The bias is zero by construction {placed}, because every attribute is equally close to all groups."
                " This does not show that the bias is gone from the vectors."
            )
        if self.corpora:
            sentences.append(self.in_spread.text_between(self.names["before"], self.names["after"]))
        else:
            sentences += [_sentence_on_share(self), self.in_spread.text]
        sentences += [_sentence_on_controls(self), _few_words_warning(self), *_learning_warning(self), *_cost(self)]
        return list(filter(None, sentences))

    @property
    def layout(self) -> Layout:
        """Show the bias on both sides and their difference, with intervals and probabilities.

        A bias that is zero by construction has no interval.
        """
        rows, metric, rope = self.bias, self.before.metric, self.verdict.rope
        mean, interval = estimate_columns(rows, "bias", self.ci_prob, metric.decimals)
        intervals = pd.Series(interval.cells, rows.index)
        intervals[rows.by_construction] = "by construction"
        columns = [
            mean,
            Column(interval.heading, intervals.to_list()),
            Column("probability\nunder no bias", chance(rows.prob_direction), fmt.probability),
        ]
        if rope is not None:
            columns.append(Column(f"negligible\nsmaller than {rope:g}", rows.prob_negligible, fmt.probability))
        columns.append(Column("raw", rows.observed, partial(fmt.signed, decimals=metric.decimals)))
        return Layout(
            [self.names[state] for state in rows.index],
            columns,
            caption=f"Bias of {self.name}, in {metric.unit}{self._interval_text}",
        )

    @property
    def _interval_text(self) -> str:
        """The names of both sides in brackets, or "" if they are unknown."""
        return f" ({self.between})" if self.between else ""

    @property
    def measures_layout(self) -> Layout:
        """Show every published measure on both sides, its value without bias, and its p-values.

        The sides are before and after a change or, for two corpora, the names of the corpora.
        """
        rows, before, after = self.measures, self.names["before"], self.names["after"]
        where = f"in {self.between}" if self.corpora else f"before and after{self._interval_text}"
        return Layout(
            list(rows.index),
            [
                Column(before, rows.before, fmt.plain),
                Column(after, rows.after, fmt.plain),
                Column("no bias", rows.b0, fmt.plain),
                Column(f"p {before}", rows.p_before, fmt.probability),
                Column(f"p {after}", rows.p_after, fmt.probability),
            ],
            heading="measure",
            caption=f"Every measure {where}",
        )

    def summary(self, state: State, scope: ScopeName | None = None) -> pd.DataFrame:
        """Summarize all estimands of the state ("before", "after" or "change") under the scope that you choose.

        Raises
        ------
        TableError
            If the side was not sampled, because its bias is zero by construction.
        """
        if state not in self.fits:
            raise TableError(
                f"`state` '{state}' was not sampled, because its bias is zero by construction. The choices are"
                f" {fmt.joined(list(self.fits))}."
            )
        return summarize(self.fits[state], scope or self.scope, ci_prob=self.ci_prob, ci_kind="eti")

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy frame of the bias and every measure before and after, and of the change of the bias.

        The frame has a row for each quantity and state, with the columns ``quantity``, ``state``, ``value``,
        ``ci95_lb``, ``ci95_ub``, ``p_value``, ``prob_negligible`` (with `rope`), and ``embedding``, the embedding or
        model of the side.
        """
        interval = interval_names(self.ci_prob, "ci")
        new_names = {"mean": "value", **dict(zip(interval_columns(self.bias), interval, strict=True))}
        posterior = self.bias.rename(columns=new_names).reset_index()
        parts = [posterior.assign(quantity="bias (posterior)")]
        measures = self.measures.rename_axis("quantity").reset_index()  # with columns such as "before" and "p_before"
        for state in ("before", "after"):
            parts.append(measures.rename(columns={state: "value", f"p_{state}": "p_value"}).assign(state=state))
        columns = ["quantity", "state", "value", *interval, "p_value"]
        if "prob_negligible" in posterior:
            columns.append("prob_negligible")
        tidy = pd.concat(parts, ignore_index=True).reindex(columns=columns)
        return tidy.assign(embedding=[self.embeddings.get(state, "") for state in tidy.state])


def names_of_sides(before: AssociationTable, after: AssociationTable, corpora: bool) -> Mapping[State, str]:
    """Return the names of the sides and of their difference (see `Comparison.names`).

    Two corpora are named after their embeddings, if these have different names.
    """
    if not corpora:
        return {state: str(state) for state in STATES}
    embeddings = _embeddings(before, after)
    if len(set(embeddings.values())) == 2:
        return {"before": embeddings["before"], "after": embeddings["after"], "change": "difference"}
    return {"before": "the first", "after": "the second", "change": "difference"}


def _embeddings(before: AssociationTable, after: AssociationTable) -> dict[str, str]:
    """Return the name of the embedding of each side, by "before" and "after".

    A side whose table does not contain this name is missing.
    """
    embeddings = {}
    for side, table in (("before", before), ("after", after)):
        if name := table.provenance.get("embedding", ""):
            embeddings[side] = name
    return embeddings


def share_removed(bias: pd.DataFrame, scope: ScopeName, ci_prob: float) -> ShareRemoved:
    r"""Compute Fieller's interval for ``1 - after / before`` from the means and standard deviations of the posteriors.

    For the means b (before) and a (after) and a normal quantile z, the interval contains each ratio r for which

    .. math:: (a - r b)^2 \le z^2 \mathrm{var}(a - r b)
              = z^2 \left( \mathrm{var}_a - 2 r\, \mathrm{cov} + r^2 \mathrm{var}_b \right)

    Its limits solve the quadratic equation :math:`A r^2 - 2 B r + C = 0` with :math:`A = b^2 - z^2 \mathrm{var}_b`,
    :math:`B = a b - z^2 \mathrm{cov}`, and :math:`C = a^2 - z^2 \mathrm{var}_a`. The covariance of the two biases
    follows from the variance of their difference, which the paired fit provides (see `covariance_of_sides`).
    """
    raw_before, raw_after = bias.observed["before"], bias.observed["after"]
    observed = 1 - raw_after / raw_before if raw_before else math.nan
    b, a = bias["mean"]["before"], bias["mean"]["after"]
    var_b = bias["sd"]["before"] ** 2
    var_a = bias["sd"]["after"] ** 2
    z2 = norm.ppf((1 + ci_prob) / 2) ** 2
    if scope_of(scope).samples_nothing:
        return ShareRemoved(observed)
    if may_be_zero(bias.loc["before"]):
        return ShareRemoved(math.nan)
    if bias.by_construction.any() or b**2 <= z2 * var_b:
        return ShareRemoved(observed)
    coef_a = b**2 - z2 * var_b
    coef_b = a * b - z2 * covariance_of_sides(bias["sd"] ** 2)
    coef_c = a**2 - z2 * var_a
    root = math.sqrt(max(coef_b**2 - coef_a * coef_c, 0))
    # The share removed is 1 - r for each solution r.
    return ShareRemoved(observed, lower=1 - (coef_b + root) / coef_a, upper=1 - (coef_b - root) / coef_a)


def _sentences_on_biases(comparison: Comparison) -> list[str]:
    """Return sentences on the change, or difference, and both biases.

    Under a scope that samples nothing, the values are raw contrasts and have no intervals.
    """
    decimals = comparison.before.metric.decimals
    kind = "raw" if scope_of(comparison.scope).samples_nothing else "estimated"
    texts = {}
    for state, row in comparison.bias.iterrows():
        texts[state] = fmt.value_and_interval(row["mean"], *interval_of(row), decimals)
        if row.by_construction:
            texts[state] = "zero by construction"
    before, after, change = texts["before"], texts["after"], texts["change"]
    first, second = comparison.names["before"], comparison.names["after"]
    if comparison.corpora:
        return [
            f"The bias is {before} in {first} and {after} in {second}.",
            f"The {kind} difference, {second} minus {first}, is {change}.",
        ]
    return [f"The {kind} change is {change}: the bias is {before} before and {after} after."]


def _sentence_on_share(comparison: Comparison) -> str:
    """Return a sentence on the share removed, or on the reason why there is none.

    Without Fieller's interval, the share of the raw contrast is stated. If it is infinite, there is no sentence.
    """
    share = comparison.share_removed
    if not math.isnan(share.lower):
        return f"The share removed is {share}."
    if math.isfinite(share.observed):
        return f"The share removed is {share} of the raw contrast."
    return NO_SHARE if math.isnan(share.observed) else ""


def _few_words_warning(comparison: Comparison) -> str:
    """Return a warning if a group or class has so few words that the interval of the change may be too short.

    Fewer than _ENOUGH words are few.
    """
    fewest_words = min(min(sizes.values()) for sizes in words_of_categories(comparison.before).values())
    if scope_of(comparison.scope).samples_nothing or fewest_words >= _ENOUGH:
        return ""
    return (
        "The interval of the change may be too short, because a group or class has only"
        f" {fmt.counted(fewest_words, 'word')}. In simulations, 95% intervals contained 88% of known changes with four"
        " words in each, and 94% with eight."
    )


def _learning_warning(comparison: Comparison) -> list[str]:
    """Return a warning if a debiasing method learned from words of the list, on either side.

    The change of these words does not show the change of other words. The result is a list with the warning, or empty.
    """
    words = list(dict.fromkeys([*taught_words(comparison.before), *taught_words(comparison.after)]))
    if not words:
        return []
    examples = ", ".join(words[:10]) + (f" and {len(words) - 10} more" if len(words) > 10 else "")
    learned = f"The debiasing method learned from {fmt.counted(len(words), 'word')} of this list ({examples})"
    return [f"{learned}, so a change of these tells you little about other words."]


def _cost(comparison: Comparison) -> list[str]:
    """Return the sentences on collateral damage, if it is known."""
    return [] if comparison.damage is None else [comparison.damage.text]


def _sentence_on_controls(comparison: Comparison) -> str:
    """Return a sentence on the control class with the largest change, or "" without control classes.

    Debiasing should not change any control class.
    """
    controls = comparison.controls
    if controls.empty:
        return ""
    moved_most = controls["mean"].abs().idxmax()
    row = controls.loc[moved_most]
    has_interval = not scope_of(comparison.scope).samples_nothing
    bounds: tuple[float, float] = interval_of(row) if has_interval else (math.nan, math.nan)
    change = fmt.value_and_interval(row["mean"], *bounds, comparison.before.metric.decimals)
    verb = "differs" if comparison.corpora else "moved"
    return f"Of the control classes, {moved_most} {verb} most ({change})."


def comparison_document(comparison: Comparison) -> Document:
    """Return the document of a comparison."""
    table, names, decimals = comparison.before, comparison.names, comparison.before.metric.decimals
    methods = methods_of(comparison)
    figures = _figures(comparison)
    fits = {str(state): Fitted.of(fit) for state, fit in comparison.fits.items()}
    heading = f"{comparison.between if comparison.corpora else 'Before and after'}: {comparison.name}"
    measures = f"Every measure in {comparison.between}" if comparison.corpora else "Every measure before and after"
    words = f"{fmt.capitalized(names['change'])}, word by word"
    # Under scope "none", the changes of control classes have no intervals.
    rows = comparison.controls
    if scope_of(comparison.scope).samples_nothing:
        rows = rows.assign(**dict.fromkeys(interval_columns(rows), math.nan))
    columns = estimate_columns(rows, names["change"], comparison.ci_prob, decimals)
    controls = Layout(list(map(str, rows.index)), columns, "group and class", fmt.capitalized(comparison.between))
    return Document(
        title=heading,
        heading=heading,
        opening={"answer": f"{comparison.headline}. {comparison.details[0]}", "lede": comparison.between},
        sections=(
            PageSection("bias", "Bias", "comparison-bias.html"),
            PageSection("controls", "Control classes", "comparison-controls.html") if controls.labels else None,
            PageSection("measures", measures, "comparison-measures.html"),
            PageSection("words", words, "comparison-words.html", look="words") if figures else None,
            notices_section("Notes on the words", table.notices),
            methods_section(methods),
        ),
        facts={
            "comparison": comparison,
            "names": names,
            "level": fmt.level(comparison.ci_prob),
            "rope": comparison.verdict.rope,
            "scope": comparison.verdict.described_scope,
            "no_share": NO_SHARE if math.isnan(comparison.share_removed.observed) else "",
            "failed": [names[state] for state, fit in comparison.fits.items() if not Diagnostics.of(fit).converged],
            "controls": controls,
            "bias": comparison.layout,
            "measures": comparison.measures_layout,
            "metric": table.metric,
            "decimals": decimals,
        },
        figures=figures,
        latex="comparison.tex",
        tables={
            "change": comparison.change,
            "before-and-after": comparison.to_frame(),
            "controls": comparison.controls,
            **tables_of_analysis({"before": table, "after": comparison.after}),
        },
        texts={"appendix.tex": appendix([(comparison.name, table)])},
        methods=methods,
        unit=table.unit,
        fits=fits,
        provenance=model_provenance(comparison, fits["change"])
        | {
            "before": dict(table.provenance),
            "after": dict(comparison.after.provenance),
            "alike": None if comparison.alike is None else comparison.alike.provenance,
            "notices": list(table.notices),
            "fits": {state: fitted.provenance for state, fitted in fits.items()},
        },
    )


def _figures(comparison: Comparison) -> dict[str, Callable[[], "Axes"]]:
    """Return functions that draw the figures, by the names of the figures.

    They are called when the comparison is written to a folder. Under scope "none" there are no intervals, and
    therefore no figures. If all groups have the same class, attributes have no bias.
    """
    if scope_of(comparison.scope).samples_nothing:
        return {}
    words = partial(plots.plot_word_bias, comparison.fits["change"], scope=comparison.scope, ci_prob=comparison.ci_prob)
    figures: dict[str, Callable[[], Axes]] = {
        "bias": partial(_plot_sides, comparison),
        "targets": partial(words, side="target"),
    }
    if contrasted_classes(Fitted.of(comparison.fits["change"]).data).size:
        figures["attributes"] = partial(words, side="attribute")
    return figures


def _plot_sides(comparison: Comparison) -> "Axes":
    """Plot both biases and the change, or difference, with the name of the list in the title alone."""
    from bayes_bias.plots.style import set_title, shortened, style  # which imports Matplotlib

    fits = comparison.fits
    names = {Fitted.of(fit).name: comparison.names[state] for state, fit in fits.items()}
    ax = plots.plot_overview(list(fits.values()), comparison.scope, ci_prob=comparison.ci_prob, names=names)
    with style():
        set_title(ax, shortened(comparison.name))
    return ax


# The methods text of a comparison describes its pairs of values and its fits.

_CHANGE_FIRST: tuple[State, ...] = ("change", "before", "after")

# The references of measures, as in the methods text of a report.
_MEASURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"WEAT": ("caliskan2017semantics",), "quasi-F": ("clark1973language", "satterthwaite1946approximate")}
)


def methods_of(comparison: Comparison) -> Methods:
    """Return the methods text of a paper: a template, and the facts that replace its placeholders.

    The facts describe the tables, the model, and the fits of the change and of both sides. A side whose bias is zero by
    construction has no fit.
    """
    fits = {str(state): Fitted.of(comparison.fits[state]) for state in _CHANGE_FIRST if state in comparison.fits}
    table = comparison.before
    facts = model_facts(fits, comparison.spec, comparison.scope, comparison.ci_prob) | {
        "comparison": comparison,
        "names": comparison.names,
        "rope": comparison.verdict.rope,
        "modelled": f"{comparison.names['change']} of the {table.metric.name}",
        "finding": comparison.names["change"],
        "targets": _counted(table.values.group, table.groups),
        "attributes": _counted(table.values.attribute_class, table.associated_classes),
        "controls": _counted(table.values.attribute_class, table.controls),
        **source_facts(table),
        "samples": text_samples([table, comparison.after]),
        "pairs": f"{table.values.size:,}",
        "by_themselves": [comparison.names[state] for state in comparison.fits if state != "change"],
        "no_share": NO_SHARE if math.isnan(comparison.share_removed.observed) else "",
        "fieller": not math.isnan(comparison.share_removed.lower),
        "measures": [(name, _MEASURES.get(name, ())) for name in comparison.measures.index],
    }
    return methods_of_fits("methods-of-comparison.txt", fits, comparison.spec, facts, sources=tuple(table.references))


def _counted(labels: xr.DataArray, names: Iterable[str]) -> str:
    """Return a text with the number of words in each group or class."""
    return ", ".join(f"{number} {name}" for name, number in words_in(labels, names).items())
