"""How much do scores of a model change when other targets stand for the same? Measures of random parts of the list."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import Record, defining_sets
from bayes_bias.known_bias.scenario import Scenario
from bayes_bias.known_bias.scenario_lists import of_all_targets
from bayes_bias.known_bias.vocabulary import Attribute
from bayes_bias.measures.measure_table import measure_all
from bayes_bias.measuring.vector_tables import cosines

# Shares of the targets that stand for all of them, and how often each is drawn.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
_DRAWS = 10
_STREAM = 4


def retest(scenario: Scenario, vectors: Mapping[str, np.ndarray], seed: int) -> list[Record]:
    """Scores of random parts of the targets beside those of all, for every measure that one group of targets allows.

    Returns
    -------
    list of records
        ``attribute``, ``measure``, ``share``, ``value`` (of all targets), ``change`` (mean absolute change), ``low``,
        ``high`` (the measure's range).
    """
    rng = np.random.default_rng([scenario.seed, _STREAM, seed])
    rows: list[Record] = []
    for attribute in scenario.described.values():
        scores = partial(_scores, scenario, vectors, attribute, seed)
        whole = scores(scenario.words)
        for share in SHARES:
            size = max(2, round(share * scenario.targets))
            parts = [scores(rng.choice(scenario.words, size, replace=False).tolist()) for _ in range(_DRAWS)]
            for name, row in whole.iterrows():
                values = np.array([part.value.get(name, np.nan) for part in parts])
                change = float(np.abs(values - row.value).mean())
                known = {"value": row.value, "change": change, "low": row.low, "high": row.high}
                rows.append({"attribute": attribute.name, "measure": name, "share": share, **known})
    return rows


def _scores(
    scenario: Scenario, vectors: Mapping[str, np.ndarray], attribute: Attribute, seed: int, targets: Sequence[str]
) -> pd.DataFrame:
    table = cosines(vectors, of_all_targets(scenario, attribute, targets), controls=()).with_vectors(vectors)
    return measure_all(table, defining_sets=defining_sets(attribute), seed=seed).table
