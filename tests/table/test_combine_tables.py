"""Contrasts of tables: what is combined is each value, each replicate, and the variance between replicates."""

import numpy as np
import pytest

from bayes_bias import AssociationTable, combine, combine_replicates
from bayes_bias.errors import TableError
from bayes_bias.measures.crossed_tests import WordScores
from bayes_bias.table.association_table import assemble
from bayes_bias.table.labels import belongs
from tests.helpers import random_table, refused, says

YEARS = (1900, 1910, 1930)


def bias(table: AssociationTable) -> float:
    return WordScores.from_table(table).bias


def seeds(number: int, sd: float = 0.02, seed: int = 0, name: str = "seed") -> AssociationTable:
    """A table of trainings that differ by noise of single values."""
    first, rng = random_table(1), np.random.default_rng(seed)
    targets, attributes = belongs(first.values, "target"), belongs(first.values, "attribute")
    tables = {}
    for k in range(number):
        values = first.values.to_numpy() + sd * rng.standard_normal(first.values.shape)
        tables[f"{name} {k}"] = assemble(values, targets, attributes, first.stereotypes)
    return combine_replicates(tables, "seed")


def test_combine_bias_equals_weighted_sum_of_biases() -> None:
    tables = {year: random_table(seed) for seed, year in enumerate(YEARS)}
    weights = {1900: -0.25, 1930: 0.75}
    found = combine(tables, weights, name="trend")
    assert found.name == "trend"
    assert bias(found) == pytest.approx(sum(weights.get(year, 0) * bias(tables[year]) for year in YEARS), abs=1e-12)
    np.testing.assert_array_equal(combine(tables, (-0.25, 0, 0.75)).values, found.values)
    assert found.metric.range == (-1, 1)


def test_combine_pairs_replicates_by_label_or_order() -> None:
    first, second = seeds(3), seeds(3, seed=1)
    turned = combine_replicates(dict(reversed(second.singles().items())), "seed")
    expected = second.replicates.stacked().to_numpy() - first.replicates.stacked().to_numpy()
    for table in (second, turned):
        np.testing.assert_allclose(combine({"a": first, "b": table}, (-1, 1)).replicates.stacked(), expected)
    renamed = seeds(3, seed=1, name="training")
    np.testing.assert_allclose(combine({"a": first, "b": renamed}, (-1, 1)).replicates.stacked(), expected)


def test_combine_keeps_mean_and_variance_of_unequal_replicates() -> None:
    numbers, sd, variances = {1900: 2, 1910: 5, 1930: 4}, 0.02, []
    weights = dict(zip(YEARS, (-0.5, -0.5, 1.0), strict=True))
    for draw in range(16):
        tables = {year: seeds(n, sd, seed=97 * draw + n) for year, n in numbers.items()}
        found = combine(tables, weights)
        assert len(found.replicates.tables) == 2
        np.testing.assert_allclose(found.replicates.mean(), found.values, atol=1e-12)
        np.testing.assert_allclose(found.values, sum(weights[year] * t.values for year, t in tables.items()))
        variances.append(found.replicates.stacked().var("replicate", ddof=1).mean().item() / 2)
    assert says(found.notices, "paired 1900: 2 1910: 5 independent")
    assert np.mean(variances) == pytest.approx(sum(weights[y] ** 2 * sd**2 / n for y, n in numbers.items()), rel=0.05)


def test_combine_keeps_only_means_without_replicates() -> None:
    found = combine({1900: seeds(3), 1910: random_table(1)}, (-1, 1))
    assert found.replicates is None
    assert says(found.notices, "1900: 3 1910: none only means")


def test_combine_omits_words_missing_in_one_table() -> None:
    lacking = random_table(2).select(lambda values: values.drop_sel(target="men 0"))
    found = combine({1900: random_table(1), 1910: lacking}, (-1, 1))
    assert "men 0" not in found.values.target
    assert says(found.notices, "'1910' lacks one target men 0")


def test_combine_raises_for_invalid_tables_or_weights() -> None:
    table = random_table()
    tables = {1900: table, 1910: random_table(1)}
    other_words = random_table(targets={"men": 3, "boys": 4})
    for given, weights, message in (
        ({1900: table}, (1,), "tables 1 two"),
        ([table, table], (1, 1), "tables list {1900:"),
        (tables, (1,), "weights 1 2 tables"),
        (tables, {1920: 1}, "weights 1920 1900, 1910"),
        (tables, (1, "much"), "weights 1910 'much'"),
        (tables, (0, 0), "weights zero"),
        ({1900: table, 1910: other_words}, (-1, 1), "'1910' stereotypes '1900'"),
        ({1900: table, 1910: 3}, (-1, 1), "tables[ 1910 not a table"),
    ):
        with refused(TableError, message):
            combine(given, weights)
