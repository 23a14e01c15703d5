"""`multiverse`: the bias under all combinations of choices that could reasonably be made differently."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding, called
from bayes_bias.arguments import as_tuple, check_kind, check_seed
from bayes_bias.documents.document import Document, PageSection, notices_section, priors_of
from bayes_bias.errors import BayesBiasError, SpecError, did_you_mean
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fit_model import versions
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import WORD, Column, Layout, Tabled, with_unit
from bayes_bias.models.preferences import PREFERENCE
from bayes_bias.models.spec import AS_MEASURED, BY_GROUP, COMMON, FALLBACK, FROM_VECTORS, OPTIONS, ModelSpec, load_spec
from bayes_bias.models.structures import generalising_spec, modelled
from bayes_bias.posterior.summary import CHANCE
from bayes_bias.posterior.verdict import integrated_verdict, verdict_on
from bayes_bias.progress import Quiet, advance, shown, step
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.labels import SIDES
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.table.statistics import table_means

type Model = tuple[AssociationTable, ModelSpec]
type Change = Callable[[AssociationTable, ModelSpec], Model]
# The options of each choice, by name. The first option is the setting of the model.
type Choices = dict[str, dict[str, Change]]

PRIOR, UNIT, SCALES, RELATED, CONTROLS = "prior", "unit", "scales", "related words", "control classes"
_FROM_VECTORS = "from vectors"
# Alternative priors for the standard deviation of preferences. Their mean is .4 units, as in the exponential prior for
# tables without vectors, or twice this value.
_ALTERNATIVE_PRIORS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "exponential": (FALLBACK, {"lam": 2.5}),
    "wide exponential": (FALLBACK, {"lam": 1.25}),
    "half-normal": ("HalfNormal", {"sigma": 0.5}),
}


def choices_of(table: AssociationTable, spec: ModelSpec) -> tuple[Choices, tuple[str, ...]]:
    """Return the choices that are possible for a table, and a sentence for each choice that is not possible.

    A choice, such as the prior, has two or more options. An option is a function that changes the table and the model
    (`spec`). The first option of each choice leaves them unchanged.
    """
    choices: Choices = {PRIOR: _priors(table, spec)}
    for name in (UNIT, SCALES):
        value_of_model = spec.options[name]
        choices[name] = {value_of_model: _with_option(name, value_of_model)}
        for value in OPTIONS["crossed"][name]:
            if value not in (value_of_model, AS_MEASURED):
                choices[name][value] = _with_option(name, value)
    left_out: list[str] = []
    if _FROM_VECTORS not in choices[PRIOR]:
        left_out.append("No prior from vectors, because the table does not contain what vectors show of preferences.")
    if has_relations(table):
        choices[RELATED] = {"less weight": _unchanged, "full weight": _with_independent_words}
    else:
        left_out.append("No choice of how to weight related words, because the table names none.")
    if table.controls:
        choices[CONTROLS] = {"with": _unchanged, "without": lambda table, spec: (table.without_controls(), spec)}
    else:
        left_out.append("No choice of control classes, because the table has none.")
    return choices, tuple(left_out)


def reason_against(options: Mapping[str, str]) -> str:
    """Return the reason why options cannot be combined, or "" if they can.

    `options` has the selected option of each choice. A prior from vectors exists only for scales by group.
    """
    if _FROM_VECTORS in options[PRIOR] and options[SCALES] != BY_GROUP:
        return (
            f"A prior from vectors is combined with the scales '{BY_GROUP}' alone, because others have no such prior."
        )
    return ""


def same_model(options: Mapping[str, str], first: Mapping[str, str]) -> str:
    """Return the reason why options define the same model as the options of the model itself, `first`, or "".

    With a common scale, the choice of the unit makes no difference.
    """
    if options[SCALES] == COMMON and options[UNIT] != first[UNIT]:
        return f"The scales '{COMMON}' have one unit, because no group or class has its own."
    return ""


def has_relations(table: AssociationTable) -> bool:
    """Return True if some words of a table are treated as related, by their vectors or by named sub-topics.

    Related words have an inflation above 1, by which the variance of their mean is larger than that for independent
    words.
    """
    is_inflated = any((table.values.coords.get(f"{side}_inflation", np.ones(1)) > 1).any() for side in SIDES)
    has_named_topics = any(name.endswith("_topic") for name in table.labels)
    return is_inflated or (has_named_topics and not table.has_related_words)


def _priors(table: AssociationTable, spec: ModelSpec) -> dict[str, Change]:
    """Return the priors for the standard deviation of preferences that are compared, beginning with the model's.

    If the prior comes from vectors, the alternatives include half and twice its degrees of freedom. If the model has
    the exponential prior of the alternatives, it is not included twice.
    """
    _, spec_for_table = modelled(table, spec)
    priors_of_model = [spec_for_table.priors[parameter] for parameter in PREFERENCE.values()]
    priors: dict[str, Change] = {}
    if all(prior.distribution == FROM_VECTORS for prior in priors_of_model):
        priors[_FROM_VECTORS] = _unchanged
        priors[f"{_FROM_VECTORS}, half the degrees of freedom"] = _with_degrees_of_freedom(0.5)
        priors[f"{_FROM_VECTORS}, twice the degrees of freedom"] = _with_degrees_of_freedom(2.0)
    elif {str(prior) for prior in priors_of_model} != {f"{FALLBACK}(lam=2.5)"}:
        priors["of the model"] = _unchanged
    for name, (distribution, parameters) in _ALTERNATIVE_PRIORS.items():
        priors[name] = _with_prior(distribution, parameters)
    return priors


def _unchanged(table: AssociationTable, spec: ModelSpec) -> Model:
    """Return the table and the model unchanged."""
    return table, spec


def _with_option(name: str, value: str) -> Change:
    """Return a function that sets an option of the model."""
    return lambda table, spec: (table, spec.with_option(name, value))


def _with_prior(distribution: str, parameters: Mapping[str, float]) -> Change:
    """Return an option: a function that sets the prior of preferences of targets and of attributes.

    An option of a choice takes a table and a model, and returns both after the change.
    """

    def change(table: AssociationTable, spec: ModelSpec) -> Model:
        """Return the table, and the model with the other prior."""
        for parameter in PREFERENCE.values():
            spec = spec.with_prior(parameter, distribution, **parameters)
        return table, spec

    return change


def _with_degrees_of_freedom(multiple: float) -> Change:
    """Return an option: a function that multiplies the degrees of freedom (nu) of the prior from vectors.

    The prior of the standard deviation of preferences is changed on both sides, targets and attributes.
    """

    def change(table: AssociationTable, spec: ModelSpec) -> Model:
        """Return the table, and the model whose prior has `multiple` times as many degrees of freedom (nu).

        `PREFERENCE` has the names of two parameters: the standard deviations of preferences on both sides.
        """
        for parameter in PREFERENCE.values():
            prior = {name: float(value) for name, value in spec.priors[parameter].parameters.items()}
            prior["nu"] *= multiple
            spec = spec.with_prior(parameter, FROM_VECTORS, **prior)
        return table, spec

    return change


def _with_independent_words(table: AssociationTable, spec: ModelSpec) -> Model:
    """Return a table whose words are treated as independent, and the model with the same prior of preferences.

    If the table has inflations from vectors, they become 1. Otherwise, the relations that the list names are removed.
    """
    values = table.values
    for side in SIDES:
        name = f"{side}_inflation"
        if name in values.coords:
            values = values.assign_coords({name: xr.ones_like(values[name])})
    if values is table.values:
        return table.with_related_words({}), spec
    return replace(table, values=values), spec


_MODEL = "model"  # the column with the names of models
_NOT_CONVERGED = "not converged"
# Lengths of intervals are treated as equal if their ratio is smaller than this number.
_SAME_LENGTH = 1.005


@dataclass(frozen=True, eq=False, repr=False)
class Multiverse(Tabled):
    """The bias of a table under combinations of defensible choices. Made by `bayes_bias.multiverse`.

    Attributes
    ----------
    name, title : str
        The name of the list, and its title in headings.
    frame : pandas.DataFrame
        A row for each ``combination``. Number 0 is the model itself, unless `choices` omits its options. Columns: the
        option of each choice, ``mean``, the interval (``eti95_lb`` and ``eti95_ub``), ``chance``, ``verdict``, and
        ``sampled``, which is False if the posterior was computed by numerical integration.
    left_out : tuple of str
        Choices and combinations that are not possible for the table, each with the reason.
    metric : Metric
    spec : ModelSpec
        The model whose choices are varied.
    scope : str
    ci_prob : float
    seed : int
    table_sha256 : str
    has_model : bool
        True if the first row is the model itself.
    unit : str
        The noun for the units of the list, such as "word" or "image".
    """

    name: str
    title: str
    frame: pd.DataFrame
    left_out: tuple[str, ...]
    metric: Metric
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    table_sha256: str
    has_model: bool
    unit: str = WORD

    def document(self) -> Document:
        """Return the page and its files, which `bayes_bias.write` writes into a folder."""
        return multiverse_document(self)

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that have more than one option."""
        return tuple(map(str, self.frame.columns[: self.frame.columns.get_loc("mean")]))

    @property
    def excludes_zero(self) -> "pd.Series[bool]":
        """Return True for each combination whose interval excludes zero and whose fit has converged."""
        lower, upper = interval_of(self.frame)
        return ((lower > 0) | (upper < 0)) & (self.frame.verdict != _NOT_CONVERGED)

    @property
    def is_new(self) -> "pd.Series[bool]":
        """Return True for each combination with a result that no earlier combination has.

        Results are equal if some option makes no difference together with the others. Control classes, for example,
        only matter if they share scales with other classes. Results are the mean and the ends of the interval, which
        are compared to nine digits of the longest interval.
        """
        lower, upper = interval_of(self.frame)
        results = pd.concat([self.frame["mean"], lower, upper], axis="columns") / (upper - lower).max()
        return ~results.round(9).duplicated()

    @property
    def influence(self) -> "pd.Series[float]":
        """Return the influence of each choice: the ratio of the longest to the shortest interval among its options.

        The ratio is computed with all other choices equal, and is a geometric mean over their combinations. Choices are
        sorted by decreasing influence. The ratio is NaN for a choice with one option.
        """
        lower, upper = interval_of(self.frame)
        log_length = np.log(upper - lower)
        mean_log_ratios = {}
        for choice in self.choices:
            # The combinations of a group differ only in this choice. If it is the only choice, there is one group.
            other_choices = [self.frame[name] for name in self.choices if name != choice]
            groups = log_length.groupby(other_choices or np.zeros(len(log_length)), sort=False)
            ranges = groups.agg(["min", "max", "size"])
            ranges = ranges[ranges["size"] > 1]  # with one option, there is nothing to compare
            mean_log_ratios[choice] = float((ranges["max"] - ranges["min"]).mean())
        ratios = np.exp(pd.Series(mean_log_ratios, dtype=float)).rename_axis("choice").rename("ratio")
        return ratios.sort_values(ascending=False)

    @property
    def layout(self) -> Layout:
        """Show a row for each option of each choice: how its combinations of options turned out.

        The columns have the number of combinations with this option, the number of intervals that exclude zero, the
        smallest and largest probability, and the mean length of the intervals.
        """
        lower, upper = interval_of(self.frame)
        results = self.frame.assign(excludes_zero=self.excludes_zero, length=upper - lower)
        labels, rows_of_options = [], []
        for choice in self.choices:
            for option, rows in results.groupby(self.frame[choice], sort=False):
                labels.append(f"{with_unit(choice, self.unit)}: {option}")
                rows_of_options.append(rows)
        return Layout(
            labels,
            [
                Column("combinations", list(map(len, rows_of_options)), fmt.as_count),
                Column("interval excludes zero", [rows.excludes_zero.sum() for rows in rows_of_options], fmt.as_count),
                Column("chance\nfrom", [rows.chance.min() for rows in rows_of_options], fmt.probability),
                Column("chance\nto", [rows.chance.max() for rows in rows_of_options], fmt.probability),
                Column(
                    f"mean length\n{fmt.level(self.ci_prob)} interval",
                    [rows.length.mean() for rows in rows_of_options],
                    partial(fmt.plain, decimals=self.metric.decimals),
                ),
            ],
            heading="option",
            caption=f"{self.name}: the bias under {fmt.counted(len(self.frame), 'combination')} of choices",
        )

    @property
    def text(self) -> str:
        """State how many different results find the bias, its range, and the most influential choice.

        The last sentences are on fits that have not converged, and on choices that are not possible.
        """
        sentences = [self._finding, self._range, self._most_influential]
        if not self.is_new.all():
            sentences.append("Combinations have equal results if a choice makes no difference together with others.")
        if number := int((self.frame.verdict == _NOT_CONVERGED).sum()):
            fits = "One fit has not converged and is" if number == 1 else f"{number} fits have not converged and are"
            sentences.append(f"{fits} treated as including zero.")
        return " ".join([*(with_unit(sentence, self.unit) for sentence in sentences), *self.left_out])

    @property
    def _finding(self) -> str:
        """Return the first sentence: in how many combinations the interval excludes zero, and the bias in the first.

        The first combination has the first option of each choice, which is the model itself if all its options are
        compared. Equal results are counted once: "3 of 8 different results of 12 combinations". If all differ, the
        number is written as "all 8 combinations", "3 of 8 combinations", or "none of 8 combinations". Without any fit
        that has converged, there is no verdict.
        """
        first = self.frame.iloc[0]
        n_found, n_new = int(self.excludes_zero[self.is_new].sum()), int(self.is_new.sum())
        bias = fmt.value_and_interval(first["mean"], *interval_of(first), self.metric.decimals)
        options = f"choices of the '{self.spec.name}' model" if self.has_model else "first option of each choice"
        how_many = "all" if n_found == n_new > 1 else f"{n_found or 'none'} of"
        combinations = fmt.numbered(len(self.frame), "combination")
        if n_new < len(self.frame):
            combinations = f"{fmt.numbered(n_new, 'different result')} of {combinations}"
        has_converged = (self.frame.verdict != _NOT_CONVERGED).any()
        return Finding(
            title=called(self.title),
            value=float(first["mean"]),
            size=f"it is {bias} with the {options}",
            clear=n_found > 0,
            has_stereotype=True,
            no_verdict="" if has_converged else "no fit has converged",
            words={"number": f"{how_many} {combinations} of choices"},
        ).sentence("multiverse")

    @property
    def _range(self) -> str:
        """Return sentences on the ranges of means and probabilities, and on the shortest and the longest interval."""
        decimals, frame = self.metric.decimals, self.frame
        lower, upper = interval_of(frame)
        by_length = frame.iloc[(upper - lower).argsort()]
        shortest, longest = by_length.iloc[0], by_length.iloc[-1]
        means = _between(fmt.signed(frame["mean"].min(), decimals), fmt.signed(frame["mean"].max(), decimals))
        chances = _between(fmt.probability(frame.chance.min()), fmt.probability(frame.chance.max()))
        return (
            f"The posterior mean is {means}. The shortest interval is {fmt.bounds(*interval_of(shortest), decimals)}"
            f" and the longest {fmt.bounds(*interval_of(longest), decimals)}. The {CHANCE} is {chances}."
        )

    @property
    def _most_influential(self) -> str:
        """Return a sentence on the choice that changes the length of the interval most.

        If the ratio of the longest to the shortest interval is below _SAME_LENGTH for all choices, no choice matters.
        """
        influence = self.influence.dropna()
        if influence.empty or influence.iloc[0] < _SAME_LENGTH:
            return "No choice changes the length of the interval."
        choice, ratio = influence.index[0], influence.iloc[0]
        return (
            f"The choice '{choice}' matters most: with all other choices equal, its longest interval is on"
            f" average {fmt.plain(ratio, 2)} times as long as its shortest."
        )


def _between(least: str, most: str) -> str:
    """Return a range as text."""
    return f"{least} in all" if least == most else f"between {least} and {most}"


def multiverse(
    table: AssociationTable,
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    choices: Mapping[str, Iterable[str]] | None = None,
    also: Iterable[str | Path | ModelSpec] = (),
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> Multiverse:
    """Estimate the bias of a table under each combination of defensible choices: a multiverse analysis [1]_.

    There are five choices. "prior" is the prior of preferences: from vectors (with the same, half, or twice the degrees
    of freedom), exponential, wide exponential, or half-normal. "unit" is the unit of all other priors. "scales"
    determines the groups and classes that share standard deviations, "related words" the weight of related words, and
    "control classes" the inclusion of control classes. Some choices may not be possible for a table. See ``left_out``
    of the result.

    Parameters
    ----------
    table : AssociationTable
    model : str, Path or ModelSpec
        The crossed model whose choices are varied.
    scope : str
        See `verdict`. The scope is not one of the choices, because a different scope is a different question.
    choices : mapping of str to iterable of str, optional
        Options to compare. By default, all options of a choice are compared. Use ``{"scales": ["common"]}`` to fix one.
    also : iterable of str, Path or ModelSpec
        Further models of the table, such as "robust". Each further model is fitted once, and its choices are not
        varied: its row has the options that it defines. The column "model" contains the name of the model.
    ci_prob : float
        Probability of the intervals.
    seed, sampling
        See `fit`. These are used for combinations whose posterior must be sampled.

    Returns
    -------
    Multiverse
        ``frame``, ``influence`` and ``text``. `bayes_bias.plots.plot_multiverse` draws the specification curve, and
        `bayes_bias.write` writes a folder.

    Raises
    ------
    SpecError
        If the model is not a crossed model with normal residuals.
    BayesBiasError
        If a choice or an option is unknown.
    ScopeError
        If the data do not support the scope.

    Notes
    -----
    For tables without replicates, covariates, and pairs, the posteriors of most combinations are computed by numerical
    integration in about 20 ms each. All other posteriors are sampled in about a second each.

    Given the standard deviations, the posterior of the bias is centred at the observed contrast. Priors therefore
    affect the length of the interval, but have almost no effect on its centre.

    References
    ----------
    .. [1] Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Increasing transparency through a multiverse
       analysis. Perspectives on Psychological Science, 11(5), 702-712. https://doi.org/10.1177/1745691616658637

    Examples
    --------
    >>> from bayes_bias import cosines, multiverse
    >>> table = cosines("weat6", "googlenews-demo", controls=())
    >>> found = multiverse(table, choices={"prior": ["from vectors", "exponential"], "unit": ["within-block sd"]})
    >>> int(found.excludes_zero.sum()), len(found.frame)
    (8, 8)
    """
    check_table(table)
    seed = check_seed(seed)
    spec = generalising_spec(model, "a multiverse")
    if spec.options.get("likelihood") != "collapsed":
        raise SpecError(
            f"model: '{spec.name}' samples an effect of every word, which takes half a minute for each combination of"
            f" choices. Use 'crossed' here, and also=['{spec.name}'] to add this model once."
        )
    further_specs = [load_spec(model, "also") for model in as_tuple("also", also, str | Path | ModelSpec, "['robust']")]
    checked_scope = check_design(table_means(table), sampling_scope(scope).name).name
    possible, left_out = choices_of(table, spec)
    compared = _options_to_compare(possible, choices or {})
    # A function of a table and a model, which returns the bias with its interval and verdict.
    judge = partial(_row_of_bias, scope=checked_scope, ci_prob=ci_prob, seed=seed, sampling=sampling)
    rows, reasons = _rows_of_combinations(table, spec, compared, judge)
    if further_specs:
        rows = [{_MODEL: spec.name, **row} for row in rows]
    for further in further_specs:  # judged once, with its own options, which are the first of its choices
        own_choices, _ = choices_of(table, further)
        own_options = _first_options({choice: own_choices[choice] for choice in compared})
        rows.append({_MODEL: further.name, **own_options, **judge(table, further)})
    frame = pd.DataFrame(rows).rename_axis("combination")
    # Columns of choices come before the results. A choice with one option needs no column.
    choice_columns = frame.columns[: frame.columns.get_loc("mean")]
    with_one_option = choice_columns[frame[choice_columns].nunique() < 2]
    return Multiverse(
        name=table.name,
        title=table.title,
        frame=frame.drop(columns=with_one_option),
        left_out=tuple(with_unit(reason, table.unit) for reason in (*left_out, *dict.fromkeys(reasons))),
        metric=table.metric,
        spec=spec,
        scope=checked_scope,
        ci_prob=ci_prob,
        seed=seed,
        table_sha256=table.sha256,
        # The first possible option of each choice is the setting of the model.
        has_model=_first_options(compared) == _first_options(possible),
        unit=table.unit,
    )


def _options_to_compare(possible: Choices, choices: Mapping[str, Iterable[str]]) -> Choices:
    """Return the options of each choice that are compared: those in `choices`, or all possible options.

    `possible` has the options that the table supports. An unknown choice or option raises an error.
    """
    check_kind("choices", choices, Mapping, "not a mapping. Pass options by choice, such as {'scales': ['common']}.")
    for choice in choices:
        if choice not in possible:
            raise BayesBiasError(
                f"'{choice}' in `choices` is not a choice for this table. {did_you_mean(choice, possible)}"
            )
    compared: Choices = {}
    for choice, options in possible.items():
        names = as_tuple(f"choices, {choice}", choices.get(choice, options), str, f"{list(options)[:1]}")
        if not names:
            raise BayesBiasError(f"`choices` has no option of '{choice}'. Name one, such as '{next(iter(options))}'.")
        for option in names:
            if option not in options:
                problem = f"`choices` contains '{option}', which is not an option of '{choice}'."
                raise BayesBiasError(f"{problem} {did_you_mean(option, options)}")
        compared[choice] = {option: change for option, change in options.items() if option in names}
    return compared


def _first_options(choices: Choices) -> dict[str, str]:
    """Return the name of the first option of each choice."""
    return {choice: next(iter(options)) for choice, options in choices.items()}


def _rows_of_combinations(
    table: AssociationTable, spec: ModelSpec, compared: Choices, judge: Callable[..., dict[str, Any]]
) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """Return a row for each combination of options, and the reasons why some combinations are omitted.

    A combination is omitted if its options exclude each other, or if it is the same model as another one. Each option
    changes the table or the model. `judge` returns the results for the changed table and model.
    """
    rows, reasons = [], []
    first_options = _first_options(compared)
    combinations = list(product(*compared.values()))
    step(f"{table.name}: {len(combinations)} combinations of choices")
    for number, combination in enumerate(combinations, 1):
        options = dict(zip(compared, combination, strict=True))
        advance(number, len(combinations))
        if reason := reason_against(options) or same_model(options, first_options):
            reasons.append(reason)
            continue
        changed_table, changed_spec = table, spec
        for choice, option in options.items():
            changed_table, changed_spec = compared[choice][option](changed_table, changed_spec)
        with shown(Quiet()):
            rows.append({**options, **judge(changed_table, changed_spec)})
    if not rows:
        raise BayesBiasError(f"`choices` leaves no possible combination. {fmt.joined(list(dict.fromkeys(reasons)))}")
    return rows, reasons


def _row_of_bias(
    table: AssociationTable, spec: ModelSpec, *, scope: ScopeName, ci_prob: float, seed: int, sampling: Sampling
) -> dict[str, Any]:
    """Return the bias and its verdict under one combination.

    The posterior is sampled only if it cannot be integrated numerically.
    """
    integrated = integrated_verdict(table, scope, model=spec, ci_prob=ci_prob)
    verdict = integrated or verdict_on("bias", fit_table(table, spec, seed=seed, sampling=sampling), scope, ci_prob)
    lower, upper = interval_names(verdict.ci_prob)
    return {
        "mean": verdict.mean,
        lower: verdict.lower,
        upper: verdict.upper,
        "chance": verdict.chance,
        "verdict": verdict.label,
        "sampled": integrated is None,
    }


def multiverse_document(multiverse: Multiverse) -> Document:
    """Return the document of a multiverse, from which its page, figure, and CSV files are written.

    The page has two sections, whose templates receive the `facts`. Figures are functions that draw them, `tables`
    become CSV files, and `provenance` becomes a JSON file.
    """
    return Document(
        title=f"Multiverse: {multiverse.name}",
        heading=f"Does the bias of {multiverse.title} depend on choices of the analysis?",
        opening={"answer": replace(multiverse, left_out=()).text},  # omitted choices have their own section
        sections=(
            PageSection("choices", "The bias under each combination of choices", "multiverse.html"),
            notices_section("Omitted choices", multiverse.left_out),
        ),
        facts={"multiverse": multiverse},
        figures={"multiverse": partial(plots.plot_multiverse, multiverse)},
        tables={"multiverse": multiverse.frame, "influence": multiverse.influence.to_frame()},
        texts={"multiverse.txt": f"{multiverse.text}\n"},
        provenance={
            "scope": multiverse.scope,
            "ci_prob": multiverse.ci_prob,
            "model": multiverse.spec.name,
            "priors": priors_of(multiverse.spec),
            "options": dict(multiverse.spec.options),
            "versions": json.loads(versions()),
            "table_sha256": multiverse.table_sha256,
            "seed": multiverse.seed,
        },
        unit=multiverse.unit,
    )
