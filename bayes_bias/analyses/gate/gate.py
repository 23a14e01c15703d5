"""`check`: the decision on whether biases stay within the allowed size, or grew since a baseline."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_bias.analyses.gate.biases import (
    MEASURED,
    HasBiases,
    biases_of,
    excess_of_change,
    origin_of,
    read_records,
    table_of,
)
from bayes_bias.analyses.gate.decision import UNCHANGED, Decision, Excess, mean_of
from bayes_bias.analyses.gate.results import Gate
from bayes_bias.arguments import check_seed, is_number
from bayes_bias.associations.lists import DEMO, EmbeddingLike, measure_lists
from bayes_bias.errors import BayesBiasError, optional
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit
from bayes_bias.formatting import MINUS
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimate import BiasDraws, ChangedBias, Estimate
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.planning import words_needed
from bayes_bias.posterior.quadrature import integrated, integrated_bias
from bayes_bias.posterior.summary import check_rope
from bayes_bias.progress import step
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.combine_tables import pair, weighted_sum
from bayes_bias.table.replicates import EQUAL
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.table.statistics import table_means
from bayes_bias.words.wordlist import ListLike

if TYPE_CHECKING:
    from bayes_bias.fitting.sampling import Sampling

type Checked = ListLike | AssociationTable | HasBiases

# The interval has the probability 1 - 2 alpha.
_ALPHA_BELOW = 0.5
# Probability with which a bias of twice the allowed size fails with as many words as are needed.
_POWER = 0.8


def check(
    wordlists: Checked | Sequence[Checked],
    embedding: EmbeddingLike = DEMO,
    *,
    rope: float | None = None,
    baseline: str | Path | Gate | None = None,
    scope: ScopeName = DEFAULT_SCOPE,
    alpha: float = 0.05,
    seed: int = 1,
    sampling: "Sampling | None" = None,
) -> Gate:
    r"""Decide whether biases stay within an allowed range or, with a baseline, whether they have grown.

    For each list, the gate passes, fails, or cannot tell. Let :math:`\theta` be the bias, :math:`r` the allowed size
    (`rope`), and :math:`y` the data. The gate

    - passes if :math:`P(|\theta| \le r \mid y) \ge 1 - \alpha`;
    - fails if :math:`\max\{P(\theta > r \mid y),\; P(\theta < -r \mid y)\} \ge 1 - \alpha`, which means that the
      central interval of probability :math:`1 - 2\alpha` lies outside the range;
    - cannot tell otherwise.

    A failure requires one direction, because a posterior that is much wider than the range would otherwise fail without
    any evidence of a bias. With a baseline, whose bias is :math:`\theta_0`, the question is whether the size of the
    bias grew by more than :math:`r`, that is, whether :math:`|\theta| - |\theta_0| > r`. This is true if, and only if,
    for one of the directions :math:`s = \pm 1`,

    .. math:: s\,(\theta - \theta_0) > r \quad \text{and} \quad s\,(\theta + \theta_0) > r .

    A bias that shrinks therefore passes, and a bias that changes its sign passes only if it is not larger than before.
    With

    .. math:: p_s = \min\{P(s\,(\theta - \theta_0) > r \mid y),\; P(s\,(\theta + \theta_0) > r \mid y)\},

    the gate passes if :math:`p_{+} + p_{-} \le \alpha`, and fails if :math:`\max(p_{+}, p_{-}) \ge 1 - \alpha`. Without
    a baseline, :math:`\theta_0 = 0`, and the rules are the same. Both posteriors are those of tables, the difference
    and the sum of both tables, value by value. Both embeddings are measured with the same words, so that the words'
    preferences that both share cancel in the difference. For sentence pairs and answers, the difference is paired if
    you pass a result of ``estimate`` with `after`. A baseline has only the posterior of :math:`\theta_0`, so that the
    difference is computed as if both posteriors were independent. The sum is always computed as if they were perfectly
    correlated. No interval is then too short if results for the same pairs or questions are positively correlated.

    Several lists fail together if one of them fails after Holm's adjustment of :math:`1 - \max(p_{+}, p_{-})`, and pass
    together if all of them pass, which needs no adjustment [1]_.

    Parameters
    ----------
    wordlists, embedding
        See `report`. Tables are checked as they are. Instead of word lists, you can pass results of
        `bayes_bias.sentence_pairs.estimate` (the bias is the share of pairs whose stereotypical sentence is ahead,
        minus one half) or of `bayes_bias.answers.estimate` (the bias is D, and each model and stereotype is a list).
        Results of a change (`after`) are checked like results with a baseline.
    rope : float
        Largest allowed size of a bias, in the units of the table; with a baseline the largest allowed increase of its
        size.
    baseline : str, path, or Gate, optional
        An earlier result, or its JSON file (``--json FILE`` of `bayes-bias check`), which contains the tables of its
        lists.
    scope : {"all", "both", "targets", "attributes", ...}
        Words that the result generalises to. Results of sentence pairs and answers have a scope already.
    alpha : float
        Largest allowed probability of a wrong decision, below 0.5.
    seed, sampling
        For tables whose posterior needs a sampler. See `fit`.

    Returns
    -------
    Gate
        A decision for each list. ``print(gate)`` shows sentences, and `Gate.exit_code` is 0, 1, or 3.

    Raises
    ------
    BayesBiasError
        If `rope` or `alpha` is impossible, if `rope` allows every possible bias, or if results are mixed with word
        lists or changes.
    TableError
        If the baseline cannot be read, or lacks a list, or has another design.
    ScopeError
        If the data do not support the scope.

    References
    ----------
    .. [1] Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics, 24(4),
       295-300. https://doi.org/10.2307/1267823

    Examples
    --------
    >>> gate = check("weat6", rope=0.2)
    >>> gate.outcome, gate.exit_code
    ('pass', 0)
    """
    rope = check_allowed(rope, alpha)
    sampling_scope(scope)  # raises an error for the scope without uncertainty
    fitting: dict[str, Any] = {"seed": check_seed(seed)}
    if sampling is not None:
        with optional():
            from bayes_bias.fitting.sampling import check_sampling  # imports nutpie in seconds, as `fit` does

        check_sampling(sampling)
        fitting["sampling"] = sampling
    records: Mapping[str, Any] | None = None
    if isinstance(baseline, Gate):
        records = baseline.to_dict()[MEASURED]
    elif baseline is not None:
        records = read_records(baseline)
    # Results of sentence pairs or answers have a posterior of the bias already. Word lists are measured and fitted.
    biases = biases_of(wordlists)
    has_changes = bool(biases) and isinstance(biases[0], ChangedBias)
    if has_changes and records is not None:
        raise BayesBiasError(
            "`baseline` cannot be combined with a change, which has a baseline already. Omit it, or pass the result"
            " without `after`."
        )
    if biases and (embedding is not DEMO or scope != DEFAULT_SCOPE or sampling is not None):
        raise BayesBiasError("`embedding`, `scope`, and `sampling` apply to word lists. Omit them for other results.")
    tables = [] if biases else list(measure_lists(wordlists, embedding))
    measured: list[AssociationTable | BiasDraws] = [*biases, *tables]
    for item in measured:
        _check_possible(rope, item)
    gate = _Settings(rope, scope, float(alpha), fitting, len(measured))
    decisions: dict[str, Decision] = {}
    for bias in biases:
        decisions[bias.name] = gate.decision_on_bias(bias, records)
    if tables:
        befores = [None if records is None else table_of(records, table) for table in tables]
        scope = {check_design(table_means(table), scope).name for table in tables}.pop()
        for table, before in zip(tables, befores, strict=True):
            step(f"{table.name}: estimating the bias")
            decisions[table.name] = gate.decision(table, before)
    adjusted = 1 - holm([1 - decision.excess.prob_beyond for decision in decisions.values()])
    for name, prob_beyond in zip(decisions, adjusted.tolist(), strict=True):
        decisions[name] = replace(decisions[name], prob_beyond_holm=prob_beyond)
    return Gate(
        decisions=decisions,
        measured={item.name: item for item in measured},
        rope=gate.rope,
        alpha=gate.alpha,
        scope=scope,
        has_baseline=has_changes or records is not None,
        baseline={} if baseline is None or isinstance(baseline, Gate) else origin_of(baseline),
    )


def check_allowed(rope: float | None, alpha: float) -> float:
    """Return the allowed size of a bias as a number.

    Raise an error if it is missing or negative, or if `alpha` is no probability below one half.
    """
    if rope is None:
        raise BayesBiasError(
            "`rope` is missing. Pass the largest allowed size of a bias, such as rope=0.05 (--rope 0.05)."
        )
    check_rope(rope)
    if not is_number(alpha) or not 0 < alpha < _ALPHA_BELOW:
        raise BayesBiasError(f"`alpha` must be a probability above 0 and below 0.5, such as 0.05, but is {alpha!r}.")
    return float(rope)


def _check_possible(rope: float, item: AssociationTable | BiasDraws) -> None:
    """Raise an error if no bias of this metric is larger than `rope`, so that the gate could not fail."""
    largest = _largest(item)
    if rope >= largest:
        raise BayesBiasError(
            f"`rope` is {rope:g}, but every bias is between {MINUS}{largest:g} and +{largest:g}, in {item.metric.unit},"
            " so that the gate could not fail. Pass a smaller size in this unit, such as rope=0.05 (--rope 0.05)."
        )


def _largest(item: AssociationTable | BiasDraws) -> float:
    """Return the largest possible size of a bias, which is infinite if the values have no bounds.

    The bias of a table is a difference between two average values.
    """
    metric = item.metric if isinstance(item, BiasDraws) else item.metric.difference
    return max(map(abs, metric.range))


@dataclass(frozen=True)
class _Settings:
    """The settings of a gate, and the number of its lists.

    `rope`, `scope` and `alpha` are the arguments of `check`, `fitting` are the arguments of a fit, and `lists` is the
    number of lists, which are adjusted for each other.
    """

    rope: float
    scope: ScopeName
    alpha: float
    fitting: Mapping[str, Any]
    lists: int

    def decision(self, table: AssociationTable, before: AssociationTable | None) -> Decision:
        """Return the decision on one list, without the adjusted probability.

        Without a baseline, the decision is based on the posterior of the bias. With the table `before` of a baseline,
        it is based on the posteriors of the difference and of the sum of both biases (see `check`). Both tables are
        first restricted to the same words. If all values are the same as in the baseline, the bias has not changed, and
        there is no posterior.
        """
        decide = partial(Decision, alpha=self.alpha, lists=self.lists, largest=_largest(table))
        if before is None:
            return decide(**self._posteriors([table]), observed=_raw_bias(table))
        table, before = pair(table, before)
        raw_biases: dict[str, Any] = {"observed": _raw_bias(table), "before": _raw_bias(before)}
        both_tables = {"now": table, "before": before}
        difference = weighted_sum(both_tables, {"now": 1.0, "before": -1.0})
        total = weighted_sum(both_tables, {"now": 1.0, "before": 1.0})
        if np.abs(difference.values).max() < EQUAL:  # a posterior of zero differences does not exist
            return decide(Excess((UNCHANGED,), self.rope), **raw_biases)
        return decide(**self._posteriors([difference, total]), **raw_biases)

    def decision_on_bias(self, bias: BiasDraws, records: Mapping[str, Any] | None) -> Decision:
        """Return the decision on a bias of sentence pairs or answers, without the adjusted probability.

        `records` are the biases of a baseline by name. A `ChangedBias` contains the bias before itself. Without any
        bias before, the decision is on the size of the bias. The excess has the probabilities that the bias (or its
        increase) is within or beyond the allowed size.
        """
        if records is not None and self.lists == len(records) == 1:
            # Names of single results may differ between releases, so the only record gets the name of the bias.
            records = {bias.name: next(iter(records.values()))}
        if records is not None or isinstance(bias, ChangedBias):
            excess, before = excess_of_change(bias, records, self.rope)
        else:
            excess, before = Excess((bias.estimate,), self.rope, bias.is_share), math.nan
        settings: dict[str, Any] = {"lists": self.lists, "largest": _largest(bias)}
        return Decision(excess, self.alpha, bias.observed, before, problems=bias.problems, **settings)

    def _posteriors(self, tables: Sequence[AssociationTable]) -> dict[str, Any]:
        """Return the arguments of `Decision` that depend on posteriors: excess, words needed, and problems of fits.

        The tables are those of the bias, or of the difference and of the sum of two biases. The words needed are the
        words with which a bias (or an increase) of twice the allowed size fails with the probability `_POWER`, or None
        if no number of words is enough.
        """
        estimates: list[Estimate] = []
        problems: list[str] = []
        needed: list[int | None] = []
        for table in tables:
            estimate, source, problems_of_fit = _posterior(table, self.scope, self.fitting)
            estimates.append(estimate)
            problems += problems_of_fit
            # A bias of twice the allowed size exceeds it by this much, and so does the sum of both biases by more.
            excess = self.rope + abs(mean_of(estimate) - mean_of(estimates[0]))
            ci_prob = 1 - 2 * self.alpha / self.lists
            power = _POWER ** (1 / len(tables))  # so that the gate fails for all tables with this probability
            needed.append(words_needed(source, excess, self.scope, ci_prob=ci_prob, power=power))
        return {
            "excess": Excess(tuple(estimates), self.rope),
            "words_needed": None if None in needed else max(filter(None, needed)),
            "problems": (f"the fit has not converged: {'; '.join(problems)}",) if problems else (),
        }


def _posterior(
    table: AssociationTable, scope: ScopeName, fitting: Mapping[str, Any]
) -> tuple[Estimate, AssociationTable | Fit, tuple[str, ...]]:
    """Return the bias of a table, the table or its fit, and the reasons why the fit has not converged.

    The posterior of a small table is integrated numerically, without a fit. Other tables are fitted with the arguments
    `fitting`. The second item is the source from which the number of words is planned.
    """
    spec = load_spec("crossed")
    if integral := integrated(table, spec):
        return integrated_bias(*integral, scope), table, ()
    with optional(f" for '{table.name}'"):
        from bayes_bias.fitting.fit import fit_table  # which imports Numba, in seconds, and most tables need no sampler

    fitted = fit_table(table, spec, **fitting)
    return bias_estimate(fitted, scope), fitted.tree, Diagnostics.of(fitted).for_bias.problems


def _raw_bias(table: AssociationTable) -> float:
    """Return the raw contrast of a table: the weighted sum of the mean associations of its groups with its classes."""
    means = table_means(table)
    return float((bias_weights(means).isel(contrast=0) * means.block_mean).sum())
