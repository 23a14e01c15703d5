"""A report compares its verdict with other priors, independent words, and the quasi-F."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.report.check import Check, Study
from bayes_bias.analyses.report.check_prior import CHECKER, _on_priors
from bayes_bias.analyses.report.report import report
from bayes_bias.analyses.report.results import Report, methods_of
from bayes_bias.fitting.fit import fit_table
from bayes_bias.measures import quasi_f
from bayes_bias.posterior.verdict import verdict_of_table
from bayes_bias.table.related_words import Related
from tests.helpers import FEW, SHORT, html_of, says, states

SPEC = bb.load_spec("crossed")
DEGREES = ["from vectors, half the degrees of freedom", "from vectors, twice the degrees of freedom"]
OTHERS = ["exponential", "wide exponential", "half-normal"]


@pytest.fixture(scope="module")
def made(sampled) -> Report:
    """The verdict of the first list is the same under all priors, and the verdict of the second is not."""
    return report(["weat6", "religion"], sampling=SHORT, calibration_draws=0)


@pytest.fixture(scope="module")
def checks(made) -> dict[str, Check]:
    return {section.name: section.checks["prior"] for section in made.sections}


def study_of(table: bb.AssociationTable, model: str = "crossed") -> Study:
    fitted = fit_table(table, model, sampling=SHORT)
    return Study(table, fitted.spec, "both", 0.95, 1, fitted, FEW, nulls=None, null_draws=0)


def test_prior_check_has_row_for_each_alternative(checks):
    table = checks["religion"].tables["prior-alternatives"].set_index("alternative")
    assert table.index.tolist() == ["this model", *DEGREES, *OTHERS, "words independent", "quasi-F"]
    cosines = bb.cosines("religion", "googlenews-demo")
    half_normal = SPEC
    for parameter in ("sd_target_preference", "sd_attribute_preference"):
        half_normal = half_normal.with_prior(parameter, "HalfNormal", sigma=0.5)
    expected = verdict_of_table(cosines, model=half_normal)
    row = table.loc["half-normal"]
    assert (row["mean"], row.eti95_lb, row.p_value) == pytest.approx((expected.mean, expected.lower, expected.chance))
    test, row = quasi_f(cosines), table.loc["quasi-F"]
    assert (row["mean"], row.eti95_lb, row.eti95_ub, row.p_value) == (test.value, *test.interval, test.p_value)
    independent = bb.cosines("religion", "googlenews-demo", sub_topics="independent")
    assert table.p_value["words independent"] == pytest.approx(bb.verdict(independent).chance)


def test_prior_check_changes_degrees_of_freedom(checks):
    table = checks["religion"].tables["prior-alternatives"].set_index("alternative")
    for name, nu in zip(DEGREES, (4, 16), strict=True):
        spec = SPEC
        for parameter in ("sd_target_preference", "sd_attribute_preference"):
            spec = spec.with_prior(parameter, "FromVectors", nu=nu, nu_factor=1, lam=2.5)
        expected = verdict_of_table(bb.cosines("religion", "googlenews-demo"), model=spec)
        assert table.p_value[name] == pytest.approx(expected.chance)


def test_verdict_contains_priors_that_change_it(made, checks):
    check = checks["religion"]
    p_values = check.tables["prior-alternatives"].set_index("alternative").p_value
    assert p_values["this model"] < 0.05 < p_values[OTHERS].min()
    # With half the degrees of freedom, p is .051, which hardly differs from the level.
    changed = [name for name in (*DEGREES, *OTHERS) if p_values[name] >= 0.05]
    assert check.result == ([*DEGREES, *OTHERS], changed)
    assert check.numbers["priors_changed"] == ", ".join(changed)
    assert check.brief == "depends on the prior"
    assert check.alarm
    sentence = (
        "The verdict depends on the prior of preferences: the bias is not distinguishable from noise with the priors"
    )
    assert check.caveat.startswith(f"{sentence} '{changed[0]}' (p = .")
    assert "'exponential' (p = .11)" in check.caveat
    verdict = made.sections[1].verdict
    assert check.caveat in verdict.caveats
    assert check.caveat in verdict.text
    assert states(html_of(made), "verdict depends prior preferences not distinguishable 'wide exponential'")


def test_verdict_has_no_caveat_if_it_is_the_same_under_all_priors(made, checks):
    check = checks["weat6"]
    assert check.caveat == check.numbers["priors_changed"] == ""
    assert check.text.startswith("The bias is also distinguishable from noise under 5 other priors of preferences (p b")
    assert check.brief == "also found under 5 other priors"
    assert not check.alarm
    assert made.sections[0].verdict.caveats == ()
    assert "prior" not in made.sections[0].verdict.text


def test_borderline_bias_is_not_said_to_have_the_same_verdict_under_other_priors():
    """The bias of race is borderline (p = .066), and not distinguishable with priors that ignore the vectors."""
    others = pd.DataFrame({"p_value": [0.058, 0.197]}, index=[DEGREES[0], OTHERS[0]])
    assert _on_priors(others, [], 0.05) == (
        "The bias is not distinguishable from noise under 2 other priors of preferences either (p from .058 to .20)."
    )


def test_evidence_and_methods_contain_other_priors(made, checks):
    evidence = made.evidence()
    assert evidence.priors.tolist() == [5, 5]
    assert (evidence.priors_p_min <= evidence.priors_p_max).all()
    assert evidence.priors_changed["religion"].endswith("exponential, wide exponential, half-normal")
    text = methods_of(made).plain
    assert f"({'; '.join([*DEGREES, *OTHERS])})" in text
    assert "Where possible (weat6, religion), biases were therefore computed by numerical integration" in text
    integrated = verdict_of_table(bb.cosines("religion", "googlenews-demo"))
    assert (made.sections[1].verdict.lower, made.sections[1].verdict.upper) == pytest.approx(
        (integrated.lower, integrated.upper), rel=1e-5
    )
    _, changed = checks["religion"].result
    assert f"the finding changed for religion ({'; '.join(changed)})." in text
    first = methods_of(replace(made, sections=made.sections[:1])).plain
    assert "the same biases were found." in first


def test_methods_contain_numbers_of_prior_from_vectors(made):
    text = methods_of(made).plain
    assert (
        "For targets and for attributes, the factor has a scaled inverse chi-squared prior with location one and 1"
        in text
    )
    assert (
        "degree of freedom, and the variance of each group or class has a scaled inverse chi-squared prior with" in text
    )
    assert "the product as its location and 8 degrees of freedom." in text
    parameters = {"nu": 5, "nu_factor": 2, "lam": 2.5}
    changed = replace(made, spec=SPEC.with_prior("sd_target_preference", "FromVectors", **parameters))
    text = methods_of(changed).plain
    assert says(text, "For targets location one and 2 degrees of freedom each group 5 degrees of freedom")
    assert says(text, "For attributes location one and 1 degree of freedom each class 8 degrees of freedom")


def test_methods_of_table_without_vectors_contain_no_factor(small_table, sampled):
    text = methods_of(report(small_table, sampling=FEW)).plain
    assert "factor" not in text
    assert "Exponential(lam=2.5)" in text


def test_prior_check_draws_alternatives(checks):
    ax = checks["religion"].figures["alternatives"]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    degrees = [name.removeprefix("from vectors, ") for name in DEGREES]
    assert labels == ["this model", *degrees, *OTHERS, "words independent", "quasi-F"]


def test_prior_check_of_table_without_vectors_compares_other_priors(small_table, sampled):
    """Its own prior is exponential, and no words are related."""
    check = CHECKER.run(study_of(small_table))
    names = check.tables["prior-alternatives"].alternative.tolist()
    assert names == ["this model", "wide exponential", "half-normal", "quasi-F"]
    assert check.result == (["wide exponential", "half-normal"], [])
    assert "general words" not in check.text
    assert "target_variance_ratio" not in check.numbers


def with_expected(table: bb.AssociationTable, sd: dict[str, float]) -> bb.AssociationTable:
    related = {}
    for side, coord in (("target", "group"), ("attribute", "attribute_class")):
        belongs_to = table.values[coord].to_numpy()
        for name in dict.fromkeys(belongs_to.tolist()):
            words = tuple(table.values[side].to_numpy()[belongs_to == name].tolist())
            related[name] = Related(words, 1.0, sd[side], 20.0, np.linspace(1, -1, len(words)))
    return table.with_related_words(related)


def test_prior_check_refers_only_to_a_quasi_f_that_it_has(small_table, sampled):
    """Scope "all" has no quasi-F."""
    table = with_expected(small_table, {"target": 0.002, "attribute": 0.02})
    check = CHECKER.run(replace(study_of(table), scope="all"))
    assert "outside the range of the pools of words" in check.text
    assert "quasi-F" not in check.text


@pytest.mark.parametrize(("factor", "unusual"), [(1.0, False), (0.1, True), (10.0, True)])
def test_prior_check_warns_of_variances_outside_range_of_pools(small_table, sampled, factor, unusual):
    """Words vary by a hundred times more, or less, than expected."""
    check = CHECKER.run(study_of(with_expected(small_table, {"target": 0.02 * factor, "attribute": 0.02})))
    ratio = check.numbers["target_variance_ratio"]
    assert says(check.text, f"variance preferences targets {ratio:.3g} times general words")
    warned = "outside the range of the pools of words" in check.text
    assert warned == check.alarm == unusual
    suffix = ", unusual variance of target preferences" if unusual else ""
    assert check.brief == f"also found under 5 other priors{suffix}"
    assert check.caveat == ""  # the verdict is the same


def test_prior_check_omits_long_models(small_table, from_priors):
    """Each prior would take as long as the fit."""
    check = CHECKER.run(study_of(small_table, "robust"))
    assert check.result is None
    assert says(check.text, "Not compared each prior as long as this fit")


@pytest.mark.slow
def test_prior_check_samples_tables_that_cannot_be_integrated(small_table, sampled):
    length = {word: len(word) + k % 3 for k, word in enumerate(small_table.values.target.to_numpy())}
    table = small_table.with_covariates(length)
    check = CHECKER.run(study_of(table))
    alternatives = check.tables["prior-alternatives"].set_index("alternative")
    own, other = alternatives.loc["this model"], alternatives.loc["half-normal"]
    assert other["mean"] == pytest.approx(own["mean"], abs=0.01)
    assert other["mean"] != pytest.approx(alternatives.loc["quasi-F", "mean"], abs=1e-4)  # which ignores covariates
