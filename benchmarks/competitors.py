"""Classical tests and published measures beside the posterior, in random lists of one design."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import get_args

from bayes_bias.checks.null_jobs import ONE_SIDED_WEAT, Cell, Method, Record, interval_record, judge_by_weat
from bayes_bias.measures.crossed_tests import (
    CrossedTest,
    MinF,
    Pigeonhole,
    QuasiF,
    Reml,
    Sampled,
    min_f,
    pigeonhole,
    quasi_f,
    reml,
)
from bayes_bias.measures.registry import Occasion
from bayes_bias.measures.weat import sd_weat
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import ScopeName

# Tests that generalise to new words on both sides, as the posterior does.
COMPETITORS: Mapping[str, Callable[..., CrossedTest]] = MappingProxyType(
    {Reml.measure: reml, MinF.measure: min_f, Pigeonhole.measure: pigeonhole}
)
# SD-WEAT compares the targets with new attributes.
_SD_WEAT_SCOPE: ScopeName = "attributes"


@dataclass(frozen=True, eq=False)
class ComparedCell(Cell):
    """A design that is also evaluated with published tests.

    SD-WEAT requires the name of a control class of random words. `competitors` are keys of COMPETITORS, or
    ONE_SIDED_WEAT.
    """

    sd_weat_vocabulary: str | None = None
    with_quasi_f: bool = False
    competitors: tuple[str, ...] = ()

    @property
    def other_methods(self) -> Mapping[str, Method]:
        methods: dict[str, Method] = {}
        if self.sd_weat_vocabulary:
            methods[f"SD-WEAT, {self.sd_weat_vocabulary}"] = partial(_by_sd_weat, vocabulary=self.sd_weat_vocabulary)
        if self.with_quasi_f:
            methods[QuasiF.measure] = judge_by_quasi_f
        for name in self.competitors:
            methods[name] = partial(_by_competitor, name=name)
        return methods


def _by_sd_weat(table: AssociationTable, truth: float, seed: int, vocabulary: str) -> list[Record]:
    """Compare the targets with random attributes from a control class, as in the paper's negative control."""
    result = sd_weat(table, vocabulary=vocabulary, seed=seed)
    return [{"method": "SD-WEAT", "scope": _SD_WEAT_SCOPE, "mean": result.value, "p_value": result.p_value}]


def judge_by_quasi_f(table: AssociationTable, truth: float = 0.0, seed: int = 1) -> list[Record]:
    """Return the results of the quasi-F under each scope."""
    records = []
    for scope in get_args(Sampled):
        records.append({"method": QuasiF.measure, "scope": scope, **_describe(quasi_f(table, scope), truth)})
    return records


def _by_competitor(table: AssociationTable, truth: float, seed: int, name: str) -> list[Record]:
    if name == ONE_SIDED_WEAT:
        return [judge_by_weat(table, seed=seed, alternative="greater")]
    test: CrossedTest = Occasion(table, seed=seed).answered_by(COMPETITORS[name])
    return [{"method": name, "scope": test.scope, **_describe(test, truth)}]


def _describe(test: CrossedTest, truth: float) -> Record:
    """The results of a test, with its confidence that the bias is below the true bias."""
    return interval_record(test.value, test.se, test.interval, test.p_value, test.below(truth))
