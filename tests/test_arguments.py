"""What may be given as one thing or as a list of them, in whichever function."""

import pytest

from bayes_bias import Sampling, calibrate, cosines
from bayes_bias.arguments import as_tuple, kind_of
from bayes_bias.errors import BayesBiasError
from tests.helpers import refused


def test_cosines_with_single_control_class_equals_list_of_one():
    single = cosines("weat6", "googlenews-demo", controls="neutral")
    several = cosines("weat6", "googlenews-demo", controls=["neutral"])
    assert single.controls == several.controls == ("neutral",)
    assert single.values.equals(several.values)


@pytest.mark.slow
def test_calibrate_with_single_model_equals_list_of_one():
    settings = {"draws": 1, "jobs": 1, "sampling": Sampling(draws=50, tune=50, chains=1, target_accept=0.8)}
    table = cosines("weat6", "googlenews-demo", ())
    single, several = calibrate(table, models="crossed", **settings), calibrate(table, models=["crossed"], **settings)
    assert single.records.drop(columns="seconds").equals(several.records.drop(columns="seconds"))


def test_a_list_is_any_iterable():
    assert as_tuple("lists", iter(("weat6", "weat7")), str, "['weat6']") == ("weat6", "weat7")


@pytest.mark.parametrize(("value", "text"), [(None, "None"), (3, "an int"), (1.5, "a float")])
def test_what_is_no_list_is_described(value, text):
    assert kind_of(value) == text
    with refused(BayesBiasError, f"lists {text} list weat6"):
        as_tuple("lists", value, str, "weat6")
