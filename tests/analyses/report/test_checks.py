"""Checks of a report: no number of a check is lost, and each list has its own random nulls."""

from functools import partial

import pandas as pd
import pytest

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks import null_jobs
from bayes_bias.checks.calibration import BackgroundNulls, calibrate, draw_in_background
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import CACHE_VARIABLE
from bayes_bias.models.spec import load_spec
from tests.helpers import refused

ANY_STUDY: Study = None  # type: ignore[assignment]  # the checks below do not read it


@pytest.mark.parametrize("numbers", [{"shar": 0.1}, {"share": 0.1, "n": 3}, {"Share": 0.1}])
def test_checker_raises_for_number_without_column(numbers):
    checker = Checker("shares", "Shares", ("share",), lambda _: Check("text", "brief", numbers))
    with refused(BayesBiasError, "shares columns"):
        checker.check(ANY_STUDY)


def test_checker_returns_check_with_declared_numbers():
    made = Check("text", "brief", {"share": 0.1})
    assert Checker("shares", "Shares", ("share", "n"), lambda _: made).check(ANY_STUDY) is made


@pytest.mark.parametrize("order", ["ab", "ba", "bab"])
def test_background_nulls_return_own_list_in_any_order(order):
    nulls = BackgroundNulls(iter([("a", "nulls of a"), ("b", "nulls of b")]))
    assert [nulls.of_list(name) for name in order] == [f"nulls of {name}" for name in order]


def test_draw_in_background_returns_nulls_by_list_name():
    designs = {name: lambda drawn, name=name, **_: f"{drawn} of {name}" for name in ("weat6", "weat7")}
    with draw_in_background(designs, load_spec("crossed"), 2, 1, sampled=False) as nulls:
        for name in ("weat7", "weat6"):
            kinds = ("own words", "words", "sub-topics", "topics")
            assert nulls.of_list(name) == {kind: f"{kind} of {name}" for kind in kinds}


def test_draw_in_background_returns_only_own_and_random_words_when_sampled():
    designs = {"weat7": lambda drawn, **_: drawn}
    with draw_in_background(designs, load_spec("crossed"), 2, 1, sampled=True) as nulls:
        assert nulls.of_list("weat7") == {"own words": "own words", "words": "words"}


def test_draw_in_background_exchanges_targets_whatever_is_random():
    """A report on scope "attributes", or "both", draws random attributes."""
    calibrated = partial(dict, random="attributes")
    with draw_in_background({"weat7": calibrated}, load_spec("crossed"), 2, 1, sampled=True) as nulls:
        drawn = nulls.of_list("weat7")
    assert {kind: settings["random"] for kind, settings in drawn.items()} == {"own words": None, "words": "attributes"}


def test_draw_in_background_draws_topics_whatever_is_random():
    """A report on new attributes once ended in the error of `calibrate` for topics of attributes alone."""
    calibrated = partial(calibrate, "weat7", random="attributes")
    with draw_in_background({"weat7": calibrated}, load_spec("crossed"), 2, 1, sampled=False) as nulls:
        drawn = nulls.of_list("weat7")
    assert {kind: lists.random for kind, lists in drawn.items()} == {
        "own words": "targets",
        "words": "attributes",
        "sub-topics": "attributes",
        "topics": "both",
    }


def test_second_report_reads_random_lists_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    calibrated = partial(calibrate, "weat7", "googlenews-demo")

    def drawn():
        with draw_in_background({"weat7": calibrated}, load_spec("crossed"), 20, 1, sampled=False) as nulls:
            return nulls.of_list("weat7")["words"].records

    first = drawn()
    assert list(tmp_path.glob("random-lists/*/*.json"))
    monkeypatch.delattr(null_jobs.Cell, "_judge_plain")  # nothing is drawn again
    pd.testing.assert_frame_equal(drawn(), first)


def test_random_lists_are_drawn_if_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    designs = {"weat7": partial(calibrate, "weat7", "googlenews-demo")}
    with draw_in_background(designs, load_spec("crossed"), 2, 1, sampled=True) as nulls:
        assert len(nulls.of_list("weat7")["words"].records)
