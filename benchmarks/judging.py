"""Random tables judged by the crossed model and the quasi-F, many at a time."""

from collections.abc import Callable, Sequence

import joblib
import pandas as pd

from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import Record, judge, judge_by_quasi_f
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable

_BATCH = 25

type Draw = Callable[[int], AssociationTable]


def judged(cells: Sequence[tuple[Draw, float]], draws: int, jobs: int) -> list[pd.DataFrame]:
    """How often either found a bias, and covered the truth, over so many random tables of each cell (scope "both").

    A cell is what draws a table of a seed, and the true bias. Tables of a cell go through one process in batches, since
    what was compiled for the first serves all of them.
    """
    batches = [
        (k, range(first, min(first + _BATCH, draws))) for k in range(len(cells)) for first in range(0, draws, _BATCH)
    ]
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(_judged)(*cells[k], seeds) for k, seeds in batches)
    records: list[list[Record]] = [[] for _ in cells]
    for (k, _), own in zip(batches, found, strict=True):
        records[k] += own
    return [rates(pd.DataFrame(own)).reset_index().query("scope == 'both'") for own in records]


def _judged(draw: Draw, truth: float, seeds: range) -> list[Record]:
    spec, records = load_spec("crossed"), []
    for seed in seeds:
        table = draw(seed)
        records += judge(table, spec, truth=truth, seed=seed + 1, scopes=["both"])
        records += judge_by_quasi_f(table, truth=truth)
    return records
