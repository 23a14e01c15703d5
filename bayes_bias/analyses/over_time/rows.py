"""The tables of a series: slices, neighbours, words that moved, words that a slice lacks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.over_time.moments import SliceMoments, trend_weights
from bayes_bias.analyses.over_time.new_slices import largest_change
from bayes_bias.analyses.over_time.slice_contrast import NEW, THESE, SliceContrast
from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.measures.weat import weat
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.summary import tabulate
from bayes_bias.progress import within
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.combine_tables import share_words
from bayes_bias.table.labels import CATEGORY_COORD, words_of
from bayes_bias.table.scopes import ScopeName, scope_of

type Tables = Mapping[Any, AssociationTable]


def rows_of_slices(shared: Tables, moments: SliceMoments, draws: np.ndarray | None, ci_prob: float) -> pd.DataFrame:
    """Each slice: by itself, about the mean of all, and with what the others say of it."""
    n = len(shared)
    rows = []
    for position, table in enumerate(shared.values()):
        own, about = np.eye(n)[position], np.eye(n)[position] - 1 / n
        bias, *interval = moments.interval(own, ci_prob)
        _, low, high = moments.interval(about, ci_prob)
        mean = float(moments.biases.mean())
        row = {"bias": bias, **_bounds(interval, ci_prob), **_bounds((low + mean, high + mean), ci_prob, "about_mean")}
        if draws is not None:
            row["together"] = float(draws[:, position].mean())
            row |= _bounds(np.quantile(draws[:, position], tails(ci_prob)), ci_prob, "together")
        rows.append(row | {"weat_d": _effect_size(table)})
    return pd.DataFrame(rows, index=pd.Index(list(shared), name="slice"))


def _bounds(ends: Any, ci_prob: float, of: str = "") -> dict[str, float]:
    kind = "eti" if of == "together" else "ci"
    return dict(zip(interval_names(ci_prob, kind, of), map(float, ends), strict=True))  # type: ignore[arg-type]


def _effect_size(table: AssociationTable) -> float:
    """WEAT's d, where the list has two groups and two classes."""
    try:
        return float(weat(table.without_controls(), permutations=1).effect_size)
    except MeasureError:
        return float("nan")


def rows_of_changes(
    steps: list[SliceContrast], pairs: list[tuple[Any, Any]], draws: np.ndarray | None, ci_prob: float
) -> pd.DataFrame:
    """Neighbours, adjusted for their number."""
    index = pd.MultiIndex.from_tuples(pairs, names=["slice", "next"])
    rows = []
    for change in steps:
        these = change.table.loc[THESE]
        row = {**these[["mean", *interval_names(ci_prob), "prob_direction", "chance"]]}
        if NEW in change.table.index:
            new = change.table.loc[NEW]
            row |= dict(zip(interval_names(ci_prob, of="new"), interval_of(new), strict=True))
            row["chance_new"] = new.chance
        rows.append(row)
    table = pd.DataFrame(rows, index=index).astype(float)
    table.insert(5, "chance_holm", holm(table.chance))
    if draws is not None:
        table["chance_new_holm"] = holm(table.chance_new)
        table["prob_largest"] = largest_change(draws)
    return table


def rows_of_words(trend: SliceContrast, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """The trend of each word, those that moved most first."""
    fitted = Fitted.of(trend.fit)
    tables = {}
    for side in CATEGORY_COORD:
        try:
            rows = tabulate(estimate_of(fitted, f"{side}_bias", words), ci_prob, "eti")
        except BayesBiasError:  # attributes of a single group have no bias
            continue
        categories = fitted.data[{"target": "group_of", "attribute": "class_of"}[side]].to_series()
        names = fitted.data[CATEGORY_COORD[side]].to_numpy()
        rows = rows.assign(category=[names[categories[word]] for word in rows.index])
        tables[side] = rows[["category", "mean", *interval_names(ci_prob), "prob_direction", "observed"]]
    table = pd.concat(tables, names=["side", "word"])
    return table.sort_values("mean", key=lambda size: -size.abs())


def rows_of_lost(tables: Tables, shared: Tables, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """Slices that lack words which others have: how many, which, and the trend of the others over all their words."""
    every = dict.fromkeys(
        word for table in tables.values() for dim in CATEGORY_COORD for word in words_of(table.values, dim)
    )
    common = {word for table in shared.values() for dim in CATEGORY_COORD for word in words_of(table.values, dim)}
    columns = ["lacks", "number", "trend", *interval_names(ci_prob, "ci", "trend")]
    rows: dict[Any, list[Any]] = {}
    for label, table in tables.items():
        own = {word for dim in CATEGORY_COORD for word in words_of(table.values, dim)}
        lacking = [word for word in every if word not in own and word not in common]
        if not lacking:
            continue
        others = {other: each for other, each in tables.items() if other != label}
        trend = [np.nan] * 3
        if len(others) > 1:
            with within(f"without {label}"):
                moments = SliceMoments.of([*share_words(others).values()], scope_of(words))
            trend = list(moments.interval(trend_weights([float(time) for time in others]), ci_prob))
        rows[label] = [", ".join(lacking), len(lacking), *trend]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("slice")
