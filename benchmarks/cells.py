"""All results of the evidence, by the name of their table: designs, methods, and the number of draws."""

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks import (
    answers,
    atlases,
    comparisons,
    covariates,
    criterion,
    frequency,
    known_bias,
    lists,
    measure_intervals,
    over_time,
    pairs,
    replicates,
    sbc,
    several,
    shipped,
    tables,
    tpr,
)
from benchmarks.designs import in_embedding
from benchmarks.harness import Method, Result, Row, judged
from benchmarks.methods import OF_WORDS

_WORDS = ("benchmarks.designs", "benchmarks.methods", "benchmarks.harness")


def of_words(
    source: str, draws: int, branches: str = "tight", kinds: str = "", methods: Mapping[str, Method] = OF_WORDS
) -> list[Row]:
    """Lists of all designs in one embedding; odd seeds report, even ones were used to tune."""
    seeds = range(1, 2 * draws, 2)
    designs = in_embedding(source, branches, kinds)
    return [
        row for design in designs for row in judged(design, methods, seeds, effective=lambda drawn: drawn.effective)
    ]


def glove(draws: int) -> list[Row]:
    """The embedding in which nothing was tuned."""
    return of_words("GLOVE", draws)


def googlenews(draws: int) -> list[Row]:
    """The embedding in which the rule was tuned."""
    return of_words("VECTORS", draws)


def wide(draws: int) -> list[Row]:
    """The same, with sub-topics whose words are less alike."""
    return of_words("VECTORS", draws, "wide", "sub-topics")


_OF_WORDS = (
    Result("words-glove", glove, 1_000, needs="GLOVE", uses=_WORDS),
    Result("words-googlenews", googlenews, 500, needs="VECTORS", uses=_WORDS),
    Result("words-wide", wide, 200, needs="VECTORS", uses=_WORDS),
)
_MODULES = (
    *(lists, tables, several, frequency, shipped, measure_intervals, replicates, atlases, over_time, comparisons),
    *(covariates, criterion, tpr, pairs, answers, known_bias, sbc),
)
_EVERY = (*_OF_WORDS, *(result for module in _MODULES for result in module.RESULTS))
RESULTS: Mapping[str, Result] = MappingProxyType({result.name: result for result in _EVERY})
