"""Checks of a report: no number of a check is lost, and each list has its own random nulls."""

import pytest

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.calibration import BackgroundNulls, draw_in_background
from bayes_bias.errors import BayesBiasError
from bayes_bias.models.spec import load_spec
from tests.helpers import refused

ANY_STUDY: Study = None  # type: ignore[assignment]  # the checks below do not read it


@pytest.mark.parametrize("numbers", [{"shar": 0.1}, {"share": 0.1, "n": 3}, {"Share": 0.1}])
def test_check_raises_for_number_without_column(numbers):
    checker = Checker("shares", "Shares", ("share",), lambda _: Check("text", "brief", numbers))
    with refused(BayesBiasError, "shares columns"):
        checker.check(ANY_STUDY)


def test_check_returns_declared_numbers():
    made = Check("text", "brief", {"share": 0.1})
    assert Checker("shares", "Shares", ("share", "n"), lambda _: made).check(ANY_STUDY) is made


@pytest.mark.parametrize("order", ["ab", "ba", "bab"])
def test_background_nulls_match_lists_in_any_order(order):
    nulls = BackgroundNulls(iter([("a", "nulls of a"), ("b", "nulls of b")]))
    assert [nulls.of_list(name) for name in order] == [f"nulls of {name}" for name in order]


def test_background_nulls_are_drawn_by_name_of_list():
    designs = {name: lambda drawn, name=name, **_: f"{drawn} of {name}" for name in ("weat6", "weat7")}
    with draw_in_background(designs, load_spec("crossed"), 2, 1, sampled=False) as nulls:
        for name in ("weat7", "weat6"):
            assert nulls.of_list(name) == {kind: f"{kind} of {name}" for kind in ("words", "sub-topics", "topics")}


def test_sampled_background_nulls_are_drawn_as_words_only():
    designs = {"weat7": lambda drawn, **_: drawn}
    with draw_in_background(designs, load_spec("crossed"), 2, 1, sampled=True) as nulls:
        assert nulls.of_list("weat7") == {"words": "words"}
