"""One table of all measures: complete, quick, and open about what is missing."""

import time
from collections.abc import Callable

import pytest

from bayes_bias.measures import measure_all, weat
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import WEATS, Vectors, says


def test_all_measures_of_ten_lists_are_fast(study: Callable[[str], AssociationTable], glove: Vectors) -> None:
    lists = {name: study(name) for name in WEATS}
    start = time.process_time()
    measured = {name: measure_all(table.with_vectors(glove)) for name, table in lists.items()}
    assert time.process_time() - start < 10
    assert {tuple(m.left_out) for m in measured.values()} == {("Direct Bias", "RIPA")}
    for name, m in measured.items():
        assert m.table.loc["WEAT", "value"] == weat(lists[name], permutations=1).value
        assert m.table.value.between(m.table.low, m.table.high).all()


def test_inapplicable_measures_have_a_reason() -> None:
    similarity = [[0.3, 0.1, 0.2], [0.1, 0.3, 0.2], [0.2, 0.2, 0.4]]
    three = assemble(
        similarity, {"a": "x", "b": "y", "c": "z"}, {"d": "X", "e": "Y", "f": "Z"}, {"x": "X", "y": "Y", "z": "Z"}
    )
    measured = measure_all(three)
    assert measured.table.index.tolist() == ["gWEAT", "MAC"]
    assert says(measured.left_out["WEAT"], "two groups two classes")
    assert "with_vectors" in measured.left_out["SAME"]


def test_defining_sets_bring_direct_bias_and_ripa(study: Callable[[str], AssociationTable], glove: Vectors) -> None:
    given = study("weat6").with_vectors(glove)
    table = measure_all(given, defining_sets=[("female", "male"), ("she", "he")]).table
    assert table.loc["Direct Bias", "value"] == pytest.approx(0.2, abs=0.15)
    assert table.loc["RIPA", "value"] > 0
