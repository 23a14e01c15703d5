"""Biases of sentence pairs and of answers in a gate, and their change since a baseline."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bayes_bias.analyses.gate.decision import UNCHANGED, Excess
from bayes_bias.errors import BayesBiasError, TableError
from bayes_bias.formatting import joined
from bayes_bias.posterior.bias_draws import BiasDraws, ChangedBias, estimate_of
from bayes_bias.shared_types import Numbers

# Probabilities of the quantiles that represent a posterior in a baseline.
_PROBS = (np.arange(1000) + 0.5) / 1000


@runtime_checkable
class HasBiases(Protocol):
    """A result of `bayes_bias.sentence_pairs.estimate` or `bayes_bias.answers.estimate`, or a change of one."""

    def biases(self) -> tuple[BiasDraws, ...]:
        """Return the biases with their posteriors."""


def biases_of(source: object) -> list[BiasDraws]:
    """Return the biases of one or several results. Word lists and tables have none.

    Raises
    ------
    BayesBiasError
        If results are mixed with word lists, if changes are mixed with other results, if units differ, or if a name is
        repeated.
    """
    results = list(source) if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    if not any(isinstance(result, HasBiases) for result in results):
        return []
    biases: list[BiasDraws] = []
    for result in results:
        if not isinstance(result, HasBiases):
            raise BayesBiasError("`wordlists` mixes word lists with other results. Check them separately.")
        biases += result.biases()
    if len({bias.metric.unit for bias in biases}) > 1:
        raise BayesBiasError("`wordlists` mixes sentence pairs and answers, whose units differ. Check them separately.")
    if len({isinstance(bias, ChangedBias) for bias in biases}) > 1:
        raise BayesBiasError("`wordlists` mixes changes with other results. Check them separately.")
    names = [bias.name for bias in biases]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BayesBiasError(f"`wordlists` has several results named '{repeated[0]}'. Use different names.")
    return biases


def record_of_bias(bias: BiasDraws) -> dict[str, Any]:
    """Return the quantiles of a posterior and its unit and population, as JSON accepts them."""
    return {
        "unit": bias.metric.unit,
        "population": bias.population,
        "observed": bias.observed,
        "quantiles": _quantiles(bias.draws).tolist(),
    }


def excess_of_change(bias: BiasDraws, records: Mapping[str, Any] | None, rope: float) -> tuple[Excess, float]:
    """Return the posterior of the change since a baseline, and the raw bias of the baseline.

    The change of a `ChangedBias` is a result of paired data. Otherwise, the baseline is in `records`, which have no
    data, and both posteriors are treated as independent in the difference. In the sum, they are always treated as
    perfectly correlated. Neither contrast is then too narrow if the same pairs or questions have a positive
    correlation.
    """
    if isinstance(bias, ChangedBias):
        before, observed = _quantiles(bias.before.draws), bias.before.observed
    else:
        before, observed = _read_record(bias, records or {})
    now = _quantiles(bias.draws)
    if np.array_equal(now, before):
        return Excess((UNCHANGED,), rope), observed
    paired = bias.change if isinstance(bias, ChangedBias) else np.subtract.outer(now, before).ravel()
    contrasts = (_quantiles(paired), bias.observed - observed), (now + before, bias.observed + observed)
    return Excess(tuple(estimate_of(*contrast) for contrast in contrasts), rope), observed


def _quantiles(draws: Numbers) -> Numbers:
    return np.quantile(draws, _PROBS)


def _read_record(bias: BiasDraws, records: Mapping[str, Any]) -> tuple[Numbers, float]:
    """Return the quantiles and the raw bias in the record of a baseline."""
    if bias.name not in records:
        raise TableError(f"`baseline` has no result '{bias.name}', but {joined(list(records)) or 'none'}.")
    name, record = f"`baseline`: the result '{bias.name}'", records[bias.name]
    try:
        quantiles, observed = np.array(record["quantiles"], dtype=float), float(record["observed"])
        kinds = {"unit": record["unit"], "population": record["population"]}
        if quantiles.shape != _PROBS.shape or not np.isfinite([*quantiles, observed]).all():
            raise ValueError(f"expected {len(_PROBS):,} finite quantiles and a finite raw bias")
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(
            f"{name} is damaged, or belongs to a word list ({type(error).__name__}: {error}). Write a new baseline."
        ) from error
    for key, now in {"unit": bias.metric.unit, "population": bias.population}.items():
        if kinds[key] != now:
            raise TableError(f"{name} has the {key} '{kinds[key]}', but now it is '{now}'. Write a new baseline.")
    return quantiles, observed
