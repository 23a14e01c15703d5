"""What may be given as one thing or as a list of them, in whichever function."""

import math

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias import Sampling, calibrate, cosines
from bayes_bias.arguments import as_tuple, as_whole, check_count, check_jobs, check_seed, kind_of
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


@pytest.mark.parametrize("whole", [7, 7.0, np.float64(7), np.int8(7), np.float32(7)], ids=repr)
def test_whole_numbers_of_any_type_are_integers(whole):
    assert (as_whole(whole), type(as_whole(whole))) == (7, int)
    assert check_seed(whole) == check_count("draws", whole, "draws") == check_jobs(whole) == Sampling(whole).draws == 7
    assert type(Sampling(draws=whole).draws) is int


@pytest.mark.parametrize("other", [1.5, True, "1", None, math.nan, math.inf, 1 + 0j], ids=repr)
def test_numbers_that_are_not_whole_raise_error(other):
    assert as_whole(other) is None
    for check in (check_seed, check_jobs, lambda value: check_count("draws", value, "draws"), lambda n: Sampling(n)):
        with pytest.raises(BayesBiasError, match=r"whole number|processes"):
            check(other)


def test_functions_with_whole_floats_equal_functions_with_integers():
    """Reticulate passes every number of R as a float."""
    table = cosines("weat7", "googlenews-demo", ())
    weat = bb.measures.weat
    assert weat(table, permutations=50.0, seed=1.0).p_value == weat(table, permutations=50, seed=1).p_value
    assert bb.published(0.97, [8.0, 8.0], [8.0, 8.0], seed=1.0) == bb.published(0.97, (8, 8), (8, 8), seed=1)
    floats = bb.calibrate(table, draws=3.0, seed=1.0, jobs=1.0).records
    assert floats.drop(columns="seconds").equals(bb.calibrate(table, draws=3, jobs=1).records.drop(columns="seconds"))
