"""The tables of a series: slices, steps between neighbours, trends of words, and missing words."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.over_time.moments import SliceMoments, largest_change, trend_weights
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
from bayes_bias.table.labels import words_of
from bayes_bias.table.scopes import ScopeName, scope_of

type Tables = Mapping[Any, AssociationTable]


def rows_of_slices(shared: Tables, moments: SliceMoments, draws: np.ndarray | None, ci_prob: float) -> pd.DataFrame:
    """Return a row for each slice: its own bias, its deviation from the mean, and its partially pooled bias."""
    n, mean = len(shared), float(moments.biases.mean())
    lower, upper = interval_names(ci_prob, "ci")
    about_lower, about_upper = interval_names(ci_prob, "ci", "about_mean")
    together_lower, together_upper = interval_names(ci_prob, "eti", "together")
    rows = []
    for position, table in enumerate(shared.values()):
        own = np.eye(n)[position]
        row: dict[str, float] = {}
        row["bias"], row[lower], row[upper] = moments.interval(own, ci_prob)
        _, low, high = moments.interval(own - 1 / n, ci_prob)
        row[about_lower], row[about_upper] = low + mean, high + mean
        if draws is not None:
            row["together"] = draws[:, position].mean()
            row[together_lower], row[together_upper] = np.quantile(draws[:, position], tails(ci_prob))
        row["weat_d"] = _effect_size(table)
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(list(shared), name="slice"))


def _effect_size(table: AssociationTable) -> float:
    """Return WEAT's d, or NaN if it is not defined for the list."""
    try:
        return float(weat(table.without_controls(), permutations=1).effect_size)
    except MeasureError:
        return float("nan")


def rows_of_changes(
    steps: list[SliceContrast], pairs: list[tuple[Any, Any]], draws: np.ndarray | None, ci_prob: float
) -> pd.DataFrame:
    """Return a row for each step between neighbours, with probabilities adjusted for the number of steps."""
    index = pd.MultiIndex.from_tuples(pairs, names=["slice", "next"])
    new_lower, new_upper = interval_names(ci_prob, of="new")
    rows = []
    for change in steps:
        these = change.table.loc[THESE]
        row = {**these[["mean", *interval_names(ci_prob), "prob_direction", "chance"]]}
        if NEW in change.table.index:
            new = change.table.loc[NEW]
            row[new_lower], row[new_upper] = interval_of(new)
            row["chance_new"] = new.chance
        rows.append(row)
    table = pd.DataFrame(rows, index=index).astype(float)
    table.insert(5, "chance_holm", holm(table.chance))
    if draws is not None:
        table["chance_new_holm"] = holm(table.chance_new)
        table["prob_largest"] = largest_change(draws)
    return table


def rows_of_words(trend: SliceContrast, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """Return the trend of each word, sorted by decreasing size."""
    fitted = Fitted.of(trend.fit)
    tables = {}
    for side, coord, category_of in (("target", "group", "group_of"), ("attribute", "attribute_class", "class_of")):
        try:
            rows = tabulate(estimate_of(fitted, f"{side}_bias", words), ci_prob, "eti")
        except BayesBiasError:  # with a single group, attributes have no bias
            continue
        names = fitted.data[coord].to_numpy()
        categories = fitted.data[category_of].to_series().loc[rows.index]
        rows = rows.assign(category=names[categories])
        tables[side] = rows[["category", "mean", *interval_names(ci_prob), "prob_direction", "observed"]]
    table = pd.concat(tables, names=["side", "word"])
    return table.sort_values("mean", key=lambda size: -size.abs())


def rows_of_lost(tables: Tables, shared: Tables, words: ScopeName, ci_prob: float) -> pd.DataFrame:
    """Return a row for each slice that lacks words: the words, their number, and the trend of all other slices."""
    words_of_slices = {label: _words_of(table) for label, table in tables.items()}
    every = dict.fromkeys(chain.from_iterable(words_of_slices.values()))
    common = {*chain.from_iterable(map(_words_of, shared.values()))}
    columns = ["lacks", "number", "trend", *interval_names(ci_prob, "ci", "trend")]
    rows: dict[Any, list[Any]] = {}
    for label, own_words in words_of_slices.items():
        lacking = [word for word in every if word not in common.union(own_words)]
        if not lacking:
            continue
        others = {time: table for time, table in tables.items() if time != label}
        trend = [np.nan] * 3
        if len(others) > 1:
            with within(f"without {label}"):
                moments = SliceMoments.of([*share_words(others).values()], scope_of(words))
            trend = list(moments.interval(trend_weights(list(map(float, others))), ci_prob))
        rows[label] = [", ".join(lacking), len(lacking), *trend]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("slice")


def _words_of(table: AssociationTable) -> list[str]:
    """Return the targets and attributes of a table."""
    return [*words_of(table.values, "target"), *words_of(table.values, "attribute")]
