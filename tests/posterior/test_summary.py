"""One interval everywhere: 95%, equal-tailed, unless another is asked for."""

import inspect

import arviz as az
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.table.columns import interval_columns
from tests.helpers import refused

CALLABLES = [
    *(getattr(bb, name) for name in bb.__all__ if callable(getattr(bb, name))),
    *(getattr(bb.plots, name) for name in bb.plots.__all__),
]
WITH_INTERVAL = (
    *("compare", "compare_all", "contrast", "criterion", "multiverse", "over_time", "plan", "pool", "register"),
    *("report", "stability", "summarize", "sweep", "verdict"),
    *("plot_forest", "plot_overview", "plot_plan", "plot_posterior", "plot_replicates", "plot_word_bias"),
)


def defaults_of(option: str) -> dict[str, object]:
    """The default of an option in each public function that has it."""
    parameters = {function.__name__: inspect.signature(function).parameters for function in CALLABLES}
    return {name: of[option].default for name, of in parameters.items() if option in of}


def test_public_functions_have_same_interval_defaults():
    assert defaults_of("ci_prob") == dict.fromkeys(WITH_INTERVAL, 0.95)
    assert defaults_of("ci_kind") == {"summarize": "eti"}


def test_summarize_ignores_arviz_interval_defaults(small_fit):
    with az.rc_context({"stats.ci_prob": 0.5, "stats.ci_kind": "hdi"}):
        assert interval_columns(bb.summarize(small_fit)) == ("eti95_lb", "eti95_ub")


@pytest.mark.parametrize("prob", [0.685, 0.975, 0.999])
def test_verdict_interval_has_exact_probability(small_fit, prob):
    found = bb.verdict(small_fit, ci_prob=prob)
    mixture = bias_estimate(small_fit).mixture
    assert mixture.below(found.upper).item() - mixture.below(found.lower).item() == pytest.approx(prob, abs=1e-6)


@pytest.mark.parametrize("scope", ["both", "targets", "none"])
def test_summarize_without_words_omits_only_word_rows(small_fit, scope):
    whole, short = bb.summarize(small_fit, scope), bb.summarize(small_fit, scope, words=False)
    names = set(whole.index.unique("estimand"))
    assert names - set(short.index.unique("estimand")) == {"target_bias", "attribute_bias"}
    pd.testing.assert_frame_equal(short, whole.loc[short.index])


def test_summarize_returns_requested_interval(small_fit):
    found = bb.summarize(small_fit, ci_prob=0.8, ci_kind="hdi")
    assert interval_columns(found) == ("hdi80_lb", "hdi80_ub")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ci_prob": 95}, "ci_prob 95 0 1 0.95"),
        ({"ci_prob": 1}, "ci_prob 1"),
        ({"ci_prob": None}, "ci_prob None"),
        ({"ci_kind": "etti"}, "ci_kind 'etti' 'eti'"),
    ],
)
def test_summarize_raises_for_invalid_interval(small_fit, asked, message):
    with refused(BayesBiasError, message):
        bb.summarize(small_fit, **asked)
