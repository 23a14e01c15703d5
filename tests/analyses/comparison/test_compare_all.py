"""Several embeddings: any two of them, paired word by word."""

from dataclasses import replace

import pandas as pd
import pytest

from bayes_bias import AssociationTable, compare, compare_all
from bayes_bias.errors import ScopeError, TableError
from bayes_bias.table.combine_tables import share_words
from tests.helpers import SHORT, changed, equalised, random_table, refused


@pytest.fixture(scope="module")
def tables(small_table: AssociationTable) -> list[AssociationTable]:
    """One embedding, one with less bias, and one that differs from the first by noise alone."""
    shifts = {"first": None, "less": -0.06, "like first": 0.0}
    return [
        replace(small_table if by is None else changed(small_table, by, seed=seed), name=name)
        for seed, (name, by) in enumerate(shifts.items())
    ]


@pytest.fixture(scope="module")
def found(sampled: None, small_fit: object, tables: list[AssociationTable]) -> pd.DataFrame:
    return compare_all(tables, sampling=SHORT)


def test_compare_all_returns_row_per_pair_with_planted_changes(found):
    assert found.index.tolist() == [("first", "less"), ("first", "like first"), ("less", "like first")]
    assert (found.eti95_lb < [-0.06, 0, 0.06]).all()
    assert (found.eti95_ub > [-0.06, 0, 0.06]).all()
    assert (found.chance_holm < 0.05).tolist() == [True, False, True]
    assert found.converged.all()


def test_observed_changes_of_pairs_add_up(found):
    observed = found.observed
    total = observed["first", "less"] + observed["less", "like first"]
    assert total == pytest.approx(observed["first", "like first"], abs=1e-12)


def test_compare_all_row_equals_change_of_compare(found, tables):
    change = compare(*tables[:2], sampling=SHORT).bias.loc["change"]
    row = found.loc[("first", "less")]
    assert (row["mean"], row.eti95_lb, row.eti95_ub) == (change["mean"], change.eti95_lb, change.eti95_ub)


def test_share_words_keeps_common_words_of_all_tables(tables):
    lacking = replace(tables[1], values=tables[1].values[1:, :])
    cut = share_words({"first": tables[0], "less": lacking, "like first": tables[2]}).values()
    assert {table.values.shape for table in cut} == {(10, 19)}
    assert [table.name for table in cut] == ["first", "less", "like first"]


def test_compare_all_raises_for_tables_without_pairs(tables, small_table):
    first = tables[0]
    second = replace(random_table(targets={"men": 3, "boys": 4}), name="other")
    for given, message in (
        ([first], "tables 1 two"),
        ([first, first], "tables 'first' twice"),
        ([first, replace(first, name="same")], "'first' 'same' values"),
        ([first, second], "tables 'other' 'first' stereotypes"),
        ([first, "less"], "tables str"),
        ([replace(equalised(t), name=t.name) for t in tables[:2]], "zero by construction"),
    ):
        with refused(TableError, message):
            compare_all(given)
    with refused(ScopeError, "scope 'none'"):
        compare_all(tables, scope="none")
