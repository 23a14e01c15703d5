"""All results of the evidence, by the name of their table: designs, methods, and the number of draws."""

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks import (
    answer_models,
    answer_positions,
    answer_values,
    answers,
    atlases,
    comparisons,
    context,
    covariates,
    criterion,
    frequency,
    gates,
    gates_of_pairs,
    known_bias,
    lists,
    measure_intervals,
    over_time,
    pairs,
    pmi,
    pools,
    replicate_estimates,
    replicates,
    sbc,
    several,
    shipped,
    tables,
    text_words,
    texts,
    tpr,
    words,
)
from benchmarks.harness import Result

# In the order of the pages.
_MODULES = (
    *(
        words,
        pools,
        lists,
        tables,
        several,
        frequency,
        shipped,
        known_bias,
        measure_intervals,
        replicates,
        replicate_estimates,
        texts,
        text_words,
        context,
        pmi,
        atlases,
    ),
    *(over_time, comparisons, gates, gates_of_pairs, covariates, criterion, tpr, pairs),
    *(answers, answer_models, answer_positions, answer_values, sbc),
)
_EVERY = [result for module in _MODULES for result in module.RESULTS]
RESULTS: Mapping[str, Result] = MappingProxyType({result.name: result for result in _EVERY})
