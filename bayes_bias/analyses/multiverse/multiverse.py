"""Does a finding depend on choices that could have been made otherwise? The bias under all their combinations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.multiverse.choices import Choices, choices_of, reason_against, same_model
from bayes_bias.arguments import check_kind, check_seed, listed
from bayes_bias.errors import BayesBiasError, SpecError, did_you_mean
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import (
    Column,
    Layout,
    Tabled,
    bounds,
    count,
    counted,
    estimate,
    joined,
    level,
    plain,
    probability,
    signed,
)
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.summary import CHANCE
from bayes_bias.posterior.verdict import Verdict, integrated_verdict, verdict_on
from bayes_bias.progress import Quiet, advance, shown, step
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.table.statistics import table_means

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

_MODEL = "model"
_NOT_CONVERGED = "not converged"
# Lengths of intervals that differ by less than this share do not differ.
_SAME_LENGTH = 1.005


@dataclass(frozen=True, eq=False, repr=False)
class Multiverse(Tabled):
    """The bias of a table under combinations of defensible choices. Made by `bayes_bias.multiverse`.

    Attributes
    ----------
    name : str
        The list.
    frame : pandas.DataFrame
        A row for each combination, the model itself first unless `choices` omits its options: the option of each
        choice, ``mean``, the interval (``eti95_lb`` and ``eti95_ub``), ``chance``, ``verdict``, and ``sampled``, which
        is False if the posterior was integrated without a sampler.
    left_out : tuple of str
        Choices that the table does not leave, and combinations that are not possible, each with the reason.
    metric : Metric
    spec : ModelSpec
        The model whose choices are varied.
    scope : str
    ci_prob : float
    seed : int
    table_sha256 : str
    has_model : bool
        Whether the first row is the model itself.
    """

    name: str
    frame: pd.DataFrame
    left_out: tuple[str, ...]
    metric: Metric
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    table_sha256: str
    has_model: bool

    def document(self) -> "Document":
        """Return the page and its files, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.multiverse.document import multiverse_document

        return multiverse_document(self)

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that have more than one option."""
        return tuple(map(str, self.frame.columns[: self.frame.columns.get_loc("mean")]))

    @property
    def excludes_zero(self) -> "pd.Series[bool]":
        """Return whether the interval of each combination excludes zero. False if its fit has not converged."""
        lower, upper = interval_of(self.frame)
        return ((lower > 0) | (upper < 0)) & (self.frame.verdict != _NOT_CONVERGED)

    @property
    def influence(self) -> "pd.Series[float]":
        """Return how much each choice matters: the ratio of the longest to the shortest interval among its options.

        The ratio is a geometric mean over all combinations of the other choices, in descending order.
        """
        lower, upper = interval_of(self.frame)
        length = np.log(upper - lower)
        ratios = {choice: self._log_ratio(length, choice) for choice in self.choices}
        return np.exp(pd.Series(ratios, dtype=float)).rename_axis("choice").rename("ratio").sort_values(ascending=False)

    def _log_ratio(self, length: "pd.Series[float]", choice: str) -> float:
        others = [self.frame[other] for other in self.choices if other != choice]
        groups = length.groupby(others, sort=False) if others else length.groupby(np.zeros(len(length)))
        ranges = groups.agg(["min", "max", "size"])
        compared = ranges[ranges["size"] > 1]
        return float((compared["max"] - compared["min"]).mean())

    @property
    def layout(self) -> Layout:
        """Show each option of each choice: in how many of its combinations the interval excludes zero."""
        rows = [(choice, option) for choice in self.choices for option in self.frame[choice].unique()]
        chosen = [self.frame[choice] == option for choice, option in rows]
        lower, upper = interval_of(self.frame)
        decimals = self.metric.decimals
        return Layout(
            [f"{choice}: {option}" for choice, option in rows],
            [
                Column("combinations", [rows.sum() for rows in chosen], count),
                Column("interval excludes zero", [self.excludes_zero[rows].sum() for rows in chosen], count),
                Column("chance, from", [self.frame.chance[rows].min() for rows in chosen], probability),
                Column("to", [self.frame.chance[rows].max() for rows in chosen], probability),
                Column(
                    f"mean length of the {level(self.ci_prob)} interval",
                    [(upper - lower)[rows].mean() for rows in chosen],
                    partial(plain, decimals=decimals),
                ),
            ],
            heading="option",
            caption=f"{self.name}: the bias under {counted(len(self.frame), 'combination')} of choices",
        )

    @property
    def text(self) -> str:
        """State how many combinations find the bias, how it ranges, and which choice matters most."""
        return " ".join([self._finding, self._range, self._most_influential, *self._problems, *self.left_out])

    @property
    def _finding(self) -> str:
        first, decimals = self.frame.iloc[0], self.metric.decimals
        own = estimate(first["mean"], *interval_of(first), decimals)
        found = int(self.excludes_zero.sum())
        number = len(self.frame)
        of = f"choices of the model '{self.spec.name}'" if self.has_model else "first option of each choice"
        how_many = "all" if found == number else f"{found or 'none'} of"
        combinations = f"{how_many} {number} combinations" if number > 1 else f"{found or 'none'} of one combination"
        return (
            f"{self.name}: the {level(self.ci_prob)} interval of the bias excludes zero in {combinations}"
            f" of choices. With the {of}, the bias is {own}."
        )

    @property
    def _range(self) -> str:
        decimals, frame = self.metric.decimals, self.frame
        lower, upper = interval_of(frame)
        by_length = (upper - lower).argsort()
        shortest, longest = frame.iloc[by_length.iloc[0]], frame.iloc[by_length.iloc[-1]]
        means = [signed(mean, decimals) for mean in (frame["mean"].min(), frame["mean"].max())]
        chances = [probability(chance) for chance in (frame.chance.min(), frame.chance.max())]
        return (
            f"The posterior mean is {_between(*means)}. The shortest interval is"
            f" {bounds(*interval_of(shortest), decimals)} and the longest {bounds(*interval_of(longest), decimals)}."
            f" The {CHANCE} is {_between(*chances)}."
        )

    @property
    def _most_influential(self) -> str:
        influence = self.influence.dropna()
        if influence.empty or influence.iloc[0] < _SAME_LENGTH:
            return "No choice changes the length of the interval."
        choice, ratio = influence.index[0], influence.iloc[0]
        return (
            f"The choice '{choice}' matters most: with all other choices equal, its longest interval is on"
            f" average {plain(ratio, 2)} times as long as its shortest."
        )

    @property
    def _problems(self) -> list[str]:
        number = int((self.frame.verdict == _NOT_CONVERGED).sum())
        return [f"{_not_converged(number)} treated as including zero."] if number else []


def _not_converged(number: int) -> str:
    return "One fit has not converged and is" if number == 1 else f"{number} fits have not converged and are"


def _between(least: str, most: str) -> str:
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

    The choices are the prior of preferences ("prior": from vectors, with half and twice its degrees of freedom; an
    exponential one, a wider one, and a half-normal one), the unit of all other priors ("unit"), which groups and
    classes share their standard deviations ("scales"), whether related words get less weight ("related words"), and
    "control classes". A table may leave fewer choices, see ``left_out`` of the result.

    Parameters
    ----------
    table : AssociationTable
    model : str, Path or ModelSpec
        The crossed model whose choices are varied.
    scope : str
        See `verdict`. Another scope is another question, and not another answer to the same one.
    choices : mapping of str to iterable of str, optional
        Options to compare; of choices that are not named, all. Use ``{"scales": ["common"]}`` for one of them.
    also : iterable of str, Path or ModelSpec
        Further models of the table, such as "robust", each once and as it is ("model"). Each takes as long as its fit.
    ci_prob : float
        Probability of the intervals.
    seed, sampling
        See `fit`, for combinations whose posterior needs a sampler.

    Returns
    -------
    Multiverse
        ``frame``, ``influence`` and ``text``. `bayes_bias.plots.plot_multiverse` draws the specification curve, and
        `bayes_bias.write` writes a folder.

    Raises
    ------
    SpecError
        If the model is not a crossed one with normal residuals.
    BayesBiasError
        If a choice or an option is unknown.
    ScopeError
        If the data do not support the scope.

    Notes
    -----
    Without replicates, covariates, and pairs, the posterior of most combinations is integrated in some 20 ms each. All
    others are sampled, in about a second each.

    Given the standard deviations, the posterior of the bias is centred at the observed contrast. Choices of priors
    therefore change the length of the interval, and hardly ever its centre.

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
    check_seed(seed)
    spec = generalising_spec(model, "a multiverse")
    if spec.options.get("likelihood") != "collapsed":
        raise SpecError(
            f"model: '{spec.name}' samples an effect of every word, which takes half a minute for each combination of"
            f" choices. Use 'crossed' here, and also=['{spec.name}'] to add this model once."
        )
    further = tuple(map(load_spec, listed("also", also, str | Path | ModelSpec, "['robust']")))
    name = check_design(table_means(table), sampling_scope(scope).name).name
    possible, left_out = choices_of(table, spec)
    wanted = _wanted(possible, choices or {})
    judge = partial(_judged, scope=name, ci_prob=ci_prob, seed=seed, sampling=sampling)
    rows, reasons = _rows(table, spec, wanted, judge)
    if further:
        rows = [{_MODEL: spec.name, **row} for row in rows]
        first = {choice: rows[0][choice] for choice in wanted}
        rows += [{_MODEL: other.name, **first, **judge(table, other)} for other in further]
    frame = pd.DataFrame(rows)
    varied = [column for column in (_MODEL, *wanted) if column in frame and len(frame[column].unique()) > 1]
    fixed = [column for column in wanted if column not in varied]
    return Multiverse(
        name=table.name,
        frame=frame[[*varied, *frame.columns.drop([*varied, *fixed])]],
        left_out=(*left_out, *dict.fromkeys(reasons)),
        metric=table.metric,
        spec=spec,
        scope=name,
        ci_prob=ci_prob,
        seed=seed,
        table_sha256=table.sha256,
        has_model=all(next(iter(wanted[choice])) == next(iter(options)) for choice, options in possible.items()),
    )


def _wanted(possible: Choices, choices: Mapping[str, Iterable[str]]) -> Choices:
    """The options that are compared, of each choice."""
    check_kind("choices", choices, Mapping, "not a mapping. Pass options by choice, such as {'scales': ['common']}.")
    for choice in choices:
        if choice not in possible:
            raise BayesBiasError(
                f"'{choice}' in `choices` is not a choice for this table. {did_you_mean(choice, possible)}"
            )
    wanted: Choices = {}
    for choice, options in possible.items():
        names = listed(f"choices, {choice}", choices.get(choice, options), str, f"{list(options)[:1]}")
        for option in names:
            if option not in options:
                raise BayesBiasError(
                    f"`choices` contains '{option}', which is not an option of '{choice}'."
                    f" {did_you_mean(option, options)}"
                )
        wanted[choice] = {option: change for option, change in options.items() if option in names}
    return wanted


def _rows(
    table: AssociationTable, spec: ModelSpec, wanted: Choices, judge: Any
) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """A row for each combination, and the reasons why some are left out."""
    first = {choice: next(iter(options)) for choice, options in wanted.items()}
    rows, reasons = [], []
    combinations = list(_combinations(wanted))
    step(f"{table.name}: {len(combinations)} combinations of choices")
    for number, options in enumerate(combinations, 1):
        advance(number, len(combinations))
        if reason := reason_against(options) or same_model(options, first):
            reasons.append(reason)
            continue
        own_table, own_spec = table, spec
        for choice, option in options.items():
            own_table, own_spec = wanted[choice][option](own_table, own_spec)
        with shown(Quiet()):
            rows.append({**options, **judge(own_table, own_spec)})
    if not rows:
        raise BayesBiasError(f"`choices` leaves no possible combination. {joined(list(dict.fromkeys(reasons)))}")
    return rows, reasons


def _combinations(wanted: Choices) -> Iterator[dict[str, str]]:
    for options in product(*wanted.values()):
        yield dict(zip(wanted, options, strict=True))


def _judged(
    table: AssociationTable, spec: ModelSpec, *, scope: ScopeName, ci_prob: float, seed: int, sampling: Sampling
) -> dict[str, Any]:
    """The bias under one combination, without a sampler where that is possible."""
    found = integrated_verdict(table, scope, model=spec, ci_prob=ci_prob)
    sampled = found is None
    if found is None:
        found = verdict_on("bias", fit_table(table, spec, seed=seed, sampling=sampling), scope, ci_prob)
    return _numbers(found) | {"sampled": sampled}


def _numbers(found: Verdict) -> dict[str, Any]:
    lower, upper = interval_names(found.ci_prob)
    return {"mean": found.mean, lower: found.lower, upper: found.upper, "chance": found.chance, "verdict": found.label}
