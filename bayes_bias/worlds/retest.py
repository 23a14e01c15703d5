"""How much do scores of a model change when other targets stand for the same? Random parts of the list, asked again."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from bayes_bias.associations.cosine import cosines
from bayes_bias.measures.table import measure_all
from bayes_bias.worlds.asking import Record, defining_sets
from bayes_bias.worlds.lists import of_all_targets
from bayes_bias.worlds.vocabulary import Attribute
from bayes_bias.worlds.world import World

# Shares of the targets that stand for all of them, and how often each is drawn.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
_DRAWS = 10
_STREAM = 4


def retest(world: World, vectors: Mapping[str, np.ndarray], seed: int) -> list[Record]:
    """Scores of random parts of the targets beside those of all, for every measure that one group of targets allows.

    Returns
    -------
    list of records
        ``attribute``, ``measure``, ``share``, ``value`` (of all targets), ``change`` (mean absolute change), ``low``,
        ``high`` (the measure's range).
    """
    rng = np.random.default_rng([world.seed, _STREAM, seed])
    rows: list[Record] = []
    for attribute in world.described.values():
        scores = partial(_scores, world, vectors, attribute, seed)
        whole = scores(world.words)
        for share in SHARES:
            size = max(2, round(share * world.targets))
            parts = [scores(rng.choice(world.words, size, replace=False).tolist()) for _ in range(_DRAWS)]
            for name, row in whole.iterrows():
                values = np.array([part.value.get(name, np.nan) for part in parts])
                rows.append(
                    {
                        "attribute": attribute.name,
                        "measure": name,
                        "share": share,
                        "value": row.value,
                        "change": float(np.abs(values - row.value).mean()),
                        "low": row.low,
                        "high": row.high,
                    }
                )
    return rows


def _scores(
    world: World, vectors: Mapping[str, np.ndarray], attribute: Attribute, seed: int, targets: Sequence[str]
) -> pd.DataFrame:
    table = cosines(vectors, of_all_targets(world, attribute, targets), controls=())
    return measure_all(table, vectors, defining_sets=defining_sets(attribute), seed=seed).table
