"""A measure of one's own is one file: where it is defined it is registered, and every table has it."""

import importlib
import sys
from importlib.metadata import EntryPoint

import pytest

from bayes_bias import measures, report
from bayes_bias.errors import MeasureError
from bayes_bias.measures import table
from bayes_bias.measures.registry import MEASURES
from tests.helpers import FEW, html_of

FILE = '''
"""The largest value of a table."""

import bayes_bias as bb


class Toy(bb.measures.Result):
    """The largest value."""

    measure = "toy"


@bb.measures.measure("toy")
def toy(occasion):
    """The largest value, wherever it stands."""
    return Toy(value=float(occasion.table.values.max()), range=occasion.table.association.range)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A module with a measure, imported; the measure is forgotten afterwards."""
    (tmp_path / "a_measure_of_my_own.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(MEASURES)
    yield importlib.import_module("a_measure_of_my_own")
    del sys.modules["a_measure_of_my_own"]
    MEASURES.pop("toy")
    assert before == MEASURES


def test_it_stands_last_in_the_table_of_all_measures(toy, small_table):
    measured = measures.measure_all(small_table)
    assert measured.table.index[-1] == "toy"
    assert measured.table.loc["toy", ["value", "low", "high"]].tolist() == [small_table.values.max(), -1, 1]
    assert isinstance(measured.results["toy"], toy.Toy)


def test_its_name_is_taken(toy):
    with pytest.raises(MeasureError, match="measure: 'toy' is taken by a_measure_of_my_own"):
        measures.measure("toy")(lambda occasion: None)


@pytest.mark.slow
def test_it_is_in_the_report_and_on_its_page(toy, small_table):
    made = report(small_table, sampling=FEW, calibration_draws=0)
    assert made.measures().loc[("small", "toy"), "value"] == small_table.values.max()
    cell = f'<td class="n" data-label="value">{small_table.values.max():.3f}</td>'
    assert f'<th scope="row">toy</th>{cell}' in html_of(made)


def test_it_leaves_nothing_behind(small_table):
    assert "toy" not in measures.measure_all(small_table).table.index


def test_an_installed_package_names_its_module_by_an_entry_point(toy, small_table, monkeypatch):
    MEASURES.pop("toy")
    del sys.modules["a_measure_of_my_own"]
    installed = EntryPoint("mine", "a_measure_of_my_own", table.ENTRY_POINTS)
    monkeypatch.setattr(
        table, "entry_points", lambda group: [installed] if group == table.ENTRY_POINTS else []
    )
    assert measures.measure_all(small_table).table.index[-1] == "toy"


def test_a_package_whose_measure_cannot_be_loaded_is_named(small_table, monkeypatch):
    missing = EntryPoint("mine", "not_there", table.ENTRY_POINTS)
    monkeypatch.setattr(table, "entry_points", lambda group: [missing])
    with pytest.raises(
        MeasureError, match="measures: 'mine', an entry point of 'not_there', cannot be loaded"
    ):
        measures.measure_all(small_table)
