"""A measure of one's own is one file: where it is defined it is registered, and every table has it."""

import importlib
import math
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest

from bayes_bias import arguments, measures, report
from bayes_bias.errors import MeasureError, ScopeError
from bayes_bias.measures import measure_table
from bayes_bias.measures.registry import MEASURES
from tests.helpers import FEW, html_of, refused, says

FILE = '''
"""The largest value of a table."""

import bayes_bias as bb


@bb.measures.measure("toy")
def toy(table):
    """The largest value, wherever it stands."""
    return bb.measures.Result(value=float(table.values.max()), range=table.metric.range)
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


def test_measure_all_has_new_measure_in_last_row(toy, small_table):
    measured = measures.measure_all(small_table)
    assert measured.table.index[-1] == "toy"
    assert measured.table.loc["toy", ["value", "low", "high"]].tolist() == [small_table.values.max(), -1, 1]
    assert measured.results["toy"].value == toy.toy(small_table).value


def test_measure_raises_for_duplicate_name(toy):
    with refused(MeasureError, "measure 'toy' a_measure_of_my_own"):
        measures.measure("toy")(lambda occasion: None)


@pytest.mark.slow
def test_report_contains_new_measure(toy, small_table):
    made = report(small_table, sampling=FEW, calibration_draws=0)
    assert made.measures().loc[("small", "toy"), "value"] == small_table.values.max()
    cell = f'<td class="n" data-label="value">{small_table.values.max():.3f}</td>'
    assert f'<th scope="row">toy</th>{cell}' in html_of(made)


def test_measure_all_omits_removed_measure(toy, small_table, monkeypatch):
    assert "toy" in measures.measure_all(small_table).table.index
    with monkeypatch.context() as patch:
        patch.delitem(MEASURES, "toy")
        assert "toy" not in measures.measure_all(small_table).table.index


def test_measure_all_reads_measures_from_entry_points(toy, small_table, monkeypatch):
    MEASURES.pop("toy")
    del sys.modules["a_measure_of_my_own"]
    installed = EntryPoint("mine", "a_measure_of_my_own", measure_table.ENTRY_POINTS)
    monkeypatch.setattr(
        arguments, "entry_points", lambda group: [installed] if group == measure_table.ENTRY_POINTS else []
    )
    assert measures.measure_all(small_table).table.index[-1] == "toy"


def test_measure_all_omits_unloadable_entry_point_with_reason(small_table, monkeypatch, caplog):
    missing = EntryPoint("mine", "not_there", measure_table.ENTRY_POINTS)
    monkeypatch.setattr(arguments, "entry_points", lambda group: [missing])
    measured = measures.measure_all(small_table)
    assert "quasi-F" in measured.table.index
    assert says(measured.left_out["mine"], "'mine' 'not_there' cannot be loaded")
    assert measured.failed == {"mine"}
    assert any("'not_there'" in message for message in caplog.messages)


@pytest.fixture
def register_mine(monkeypatch):
    """Registers a measure named 'mine' that returns what it is given; it is forgotten afterwards."""

    def register(outcome):
        monkeypatch.setitem(MEASURES, "mine", None)
        del MEASURES["mine"]
        measures.measure("mine")(lambda occasion: outcome)

    return register


@pytest.mark.parametrize("number", [0.5, np.float32(0.5), np.array([0.5]).max()])
def test_measure_all_accepts_number_without_range(register_mine, small_table, number):
    register_mine(number)
    measured = measures.measure_all(small_table)
    row = measured.table.loc["mine"]
    assert row[["value", "low", "high"]].tolist() == [0.5, -math.inf, math.inf]
    assert row[["b0", "p_value"]].isna().all()
    assert {"WEAT", "mine"} <= set(measured.table.index)
    assert measured.results["mine"].value == 0.5


def test_measure_all_reads_result_under_registered_name(register_mine, small_table):
    register_mine(measures.Result(value=0.5, range=(0.0, 2.0), b0=1.0, interval=(0.25, 0.75)))
    table = measures.measure_all(small_table, ci_prob=0.9).table
    row = table.loc["mine", ["value", "low", "high", "b0", "ci90_lb", "ci90_ub"]]
    assert row.tolist() == [0.5, 0.0, 2.0, 1.0, 0.25, 0.75]
    assert "WEAT" in table.index


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (None, "None"),
        ("0.5", "str"),
        (True, "bool"),
        (np.array([0.5, 0.6]), "ndarray"),
        (pd.DataFrame({"value": [0.5]}), "'b0'"),
    ],
)
def test_measure_all_omits_other_outcomes_with_reason(register_mine, small_table, outcome, said):
    register_mine(outcome)
    measured = measures.measure_all(small_table)
    reason = measured.left_out["mine"]
    assert reason.startswith("mine: ")
    assert said in reason
    assert "\n" not in reason
    assert "mine" not in measured.table.index
    assert "WEAT" in measured.table.index


@pytest.fixture
def raising(monkeypatch):
    """Registers a measure named 'mine' that raises what it is given; it is forgotten afterwards."""

    def register(error):
        def mine(table):
            raise error

        monkeypatch.setitem(MEASURES, "mine", None)
        del MEASURES["mine"]
        measures.measure("mine")(mine)

    return register


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("division by zero"), "mine: raised ZeroDivisionError: division by zero (test_registry.py"),
        (KeyError("he"), "mine: raised KeyError: 'he' (test_registry.py"),
        (np.linalg.LinAlgError("Singular\nmatrix"), "mine: raised LinAlgError: Singular matrix (test_registry.py"),
        (AssertionError(), "mine: raised AssertionError (test_registry.py"),
        (ScopeError("no such scope"), "mine: raised ScopeError: no such scope (test_registry.py"),
        (StopIteration(), "mine: raised StopIteration (test_registry.py"),
    ],
)
def test_measure_all_omits_and_logs_raising_measure(raising, small_table, caplog, error, said):
    without = measures.measure_all(small_table).table
    raising(error)
    measured = measures.measure_all(small_table)
    assert measured.left_out["mine"].startswith(said)
    assert measured.left_out["mine"] in caplog.messages
    assert "only=" in measured.left_out["mine"]
    assert "\n" not in measured.left_out["mine"]
    pd.testing.assert_frame_equal(measured.table, without)
    # The remedy of the message:
    assert not measures.measure_all(small_table, only=["WEAT"]).left_out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_measure_all_raises_keyboard_interrupt_and_system_exit(raising, small_table, error):
    raising(error)
    with pytest.raises(type(error)):
        measures.measure_all(small_table)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (measures.Result(value="0.5", range=(0.0, 1.0)), "'value'"),
        (measures.Result(value=None, range=(0.0, 1.0)), "'value'"),
        (measures.Result(value=0.5, range=None), "TypeError"),
        (measures.Result(value=0.5, range=(0.0, 1.0), p_value="small"), "'p_value'"),
    ],
)
def test_measure_all_omits_non_numeric_results(register_mine, small_table, outcome, said):
    register_mine(outcome)
    measured = measures.measure_all(small_table)
    assert said in measured.left_out["mine"]
    assert {"WEAT", "MAC"} <= {*measured.table.index}
    assert measured.table.to_numpy().dtype == np.float64


def test_measure_raises_without_name_or_function():
    with refused(MeasureError, "measure 'mine' 0.5"):
        measures.measure("mine")(0.5)
    with refused(MeasureError, "measure @measure"):
        measures.measure(lambda occasion: 0.5)
    assert "mine" not in MEASURES


@pytest.mark.parametrize("function", [lambda table, second: 0.5, lambda: 0.5, lambda a, b: 0.5])
def test_measure_raises_for_unsuitable_parameters(function):
    with refused(MeasureError, "measure 'mine' parameters groups table vectors"):
        measures.measure("mine")(function)
    assert "mine" not in MEASURES
