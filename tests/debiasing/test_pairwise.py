"""Several embeddings: any two of them, paired word by word."""

from dataclasses import replace

import pandas as pd
import pytest

from bayes_bias import Associations, compare, pairwise
from bayes_bias.debiasing.pairing import share_words
from bayes_bias.errors import AssociationsError, ScopeError
from tests.helpers import SHORT, changed, equalised, random_table


@pytest.fixture(scope="module")
def tables(small_table: Associations) -> list[Associations]:
    """One embedding, one with less bias, and one that differs from the first by noise alone."""
    shifts = {"first": None, "less": -0.06, "like first": 0.0}
    return [
        replace(small_table if by is None else changed(small_table, by, seed=seed), name=name)
        for seed, (name, by) in enumerate(shifts.items())
    ]


@pytest.fixture(scope="module")
def found(sampled: None, small_fit: object, tables: list[Associations]) -> pd.DataFrame:
    return pairwise(tables, sampling=SHORT)


def test_every_pair_is_there_and_only_planted_changes_are_found(found):
    assert found.index.tolist() == [("first", "less"), ("first", "like first"), ("less", "like first")]
    assert (found.lower < [-0.06, 0, 0.06]).all()
    assert (found.upper > [-0.06, 0, 0.06]).all()
    assert (found.p_holm < 0.05).tolist() == [True, False, True]
    assert found.converged.all()


def test_raw_changes_add_up(found):
    observed = found.observed
    total = observed["first", "less"] + observed["less", "like first"]
    assert total == pytest.approx(observed["first", "like first"], abs=1e-12)


def test_a_pair_is_the_change_of_a_comparison(found, tables):
    change = compare(*tables[:2], sampling=SHORT).bias.loc["change"]
    row = found.loc[("first", "less")]
    assert (row.change, row.lower, row.upper) == (change.bias, change.lower, change.upper)


def test_all_tables_are_cut_to_the_words_that_all_have(tables):
    lacking = replace(tables[1], values=tables[1].values[1:, :])
    cut = share_words([tables[0], lacking, tables[2]])
    assert {table.values.shape for table in cut} == {(10, 19)}
    assert [table.name for table in cut] == ["first", "less", "like first"]


def test_what_has_no_pairs_is_refused_in_a_line(tables, small_table):
    first = tables[0]
    other = replace(random_table(targets={"men": 3, "boys": 4}), name="other")
    for given, message in (
        ([first], "tables: 1 of them have no pair; give two or more"),
        ([first, first], "tables: 2 are called 'first'; name each after its embedding"),
        ([first, replace(first, name="same")], "'first' and 'same' have the same values"),
        ([first, other], "tables: 'other' after 'first': after: its stereotypes"),
        ([first, "less"], "tables: a str is no table of associations"),
        ([replace(equalised(t), name=t.name) for t in tables[:2]], "the bias is zero by construction"),
    ):
        with pytest.raises(AssociationsError, match=message) as refused:
            pairwise(given)
        assert "\n" not in str(refused.value)
    with pytest.raises(ScopeError, match="scope: 'none' generalises to no other words"):
        pairwise(tables, scope="none")
