"""The biases that a gate compares, and the JSON file that a later check reads as its baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bayes_bias.analyses.gate.decision import UNCHANGED, Excess
from bayes_bias.arguments import check_path
from bayes_bias.errors import BayesBiasError, TableError
from bayes_bias.files import given_table, read_json, sha256_of_file, table_file
from bayes_bias.formatting import as_json, joined
from bayes_bias.posterior.estimate import BiasDraws, ChangedBias, estimate_of
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable, check_same_design
from bayes_bias.table.labels import belongs

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

    A positive bias has become larger in size if it is above the earlier bias, and also above the earlier bias with the
    opposite sign. The `Excess` therefore has two contrasts, ``now - before`` and ``now + before``, and both must be
    beyond the range.

    A `ChangedBias` has draws of the difference from paired data. Otherwise, the baseline is in `records`, which have
    only quantiles. The difference then consists of all differences between quantiles, as if both biases were
    independent. The sum adds equal quantiles, as if they were perfectly correlated. If the same pairs or questions have
    a positive correlation, neither contrast is therefore too narrow. If all quantiles are equal, nothing has changed.
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


# The key of the numbers in the file, and the name under which the command line writes the result.
MEASURED, RESULT = "measured", "gate"
_REMEDY = "Write one with `gate.to_dict()` (`bayes-bias check LIST --rope SIZE --json baseline.json`)."


def record_of(table: AssociationTable) -> dict[str, Any]:
    """Return the numbers, words, and design of a table, as JSON accepts them."""
    replicates = {} if table.replicates is None else table.replicates.tables
    values_by_replicate = [single.to_numpy().tolist() for single in replicates.values()]
    record = {
        "metric": table.metric.name,
        "unit": table.metric.unit,
        "targets": belongs(table.values, "target"),
        "attributes": belongs(table.values, "attribute"),
        "stereotypes": table.stereotypes,
        "opposites": table.opposites,
        "values": values_by_replicate or table.values.to_numpy().tolist(),
        "replicates": list(replicates),
        "kind": "" if table.replicates is None else table.replicates.kind,
    }
    return dict(as_json(record))


def read_records(source: str | Path) -> Mapping[str, Any]:
    """Read the records of lists in the file of an earlier check.

    Raises
    ------
    TableError
        If the file cannot be read, or is not the file of a check.
    """
    path = given_table(check_path("baseline", source, TableError), "baseline", TableError, _REMEDY)
    content = _content(path)
    if isinstance(content, list):
        raise TableError(
            f"`baseline`: '{path}' is not the .json file of a check. To pair two releases of sentence pairs or"
            " answers, pass the new one as --pairs or --answers, or use `after` of `estimate`. For word lists, write"
            " the file of a check."
        )
    result = {}
    if isinstance(content, dict):
        # The command line writes the result of the check below "results", and `Gate.to_dict` returns it by itself.
        result = content.get("results", {}).get(RESULT, content)
    if not isinstance(result.get(MEASURED), dict):
        raise TableError(f"`baseline`: '{path}' is not the file of a check. {_REMEDY}")
    return dict(result[MEASURED])


def is_data(source: str | Path) -> bool:
    """Return True for a table of scores or answers. The file of a check is a JSON object, a JSON table is a list."""
    path = _file(source)
    if not path.is_file():
        return not _is_json(path)
    return isinstance(_content(path), list)


def origin_of(source: str | Path) -> dict[str, str]:
    """Return the path of a baseline and the hash of its file, for the provenance of a result."""
    path = _file(source)
    return {"file": str(path), "sha256": sha256_of_file(path)}


def _file(source: str | Path) -> Path:
    return table_file(str(check_path("baseline", source, TableError)))


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _content(path: Path) -> Any:
    """Return the content of a JSON file. Other files are tables, for which the result is an empty list."""
    return read_json(path, f"`baseline`: '{path}' is", TableError) if _is_json(path) else []


def table_of(records: Mapping[str, Any], now: AssociationTable) -> AssociationTable:
    """Return the earlier table of a list.

    Raises
    ------
    TableError
        If the baseline lacks the list, is damaged, or has another design or unit.
    """
    if now.name not in records:
        raise TableError(
            f"`baseline` has no list '{now.name}', but {joined(list(records)) or 'none'}. Check the lists of the"
            " baseline, or write a new one."
        )
    try:
        before = _table(records[now.name], now)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TableError(
            f"`baseline`: the list '{now.name}' is damaged ({type(error).__name__}: {error}). Write a new baseline."
        ) from error
    check_same_design(before, now, f"`baseline`: the list '{now.name}'", "the checked list")
    return before


def _table(record: Mapping[str, Any], now: AssociationTable) -> AssociationTable:
    """Return the table in a record, in the metric of the checked table if its name and unit are the same."""
    replicates = {"replicates": record["replicates"], "kind": record["kind"]} if record["replicates"] else {}
    return AssociationTable.from_arrays(
        record["values"],
        targets=record["targets"],
        attributes=record["attributes"],
        stereotypes=record["stereotypes"],
        opposites=record["opposites"] or None,
        metric=replace(now.metric, name=record["metric"], unit=record["unit"]),
        name=now.name,
        **replicates,
    )
