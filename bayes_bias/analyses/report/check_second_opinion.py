"""Comparison with the quasi-F, a method without priors that estimates variances separately for each group."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, cast, get_args

import numpy as np
from scipy.stats import f

from bayes_bias.analyses.report.check import Check, Checker, Question, Study
from bayes_bias.documents.methods import Sentence
from bayes_bias.errors import MeasureError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import equals, plain, probability, value_and_interval
from bayes_bias.measures.crossed_tests import QuasiF, Sampled, quasi_f
from bayes_bias.measures.designs import rounding_of
from bayes_bias.models.patterns import differs_by_group
from bayes_bias.posterior.summary import chance
from bayes_bias.table.association_table import UNEVEN
from bayes_bias.table.clusters import is_reduced
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import SIDES
from bayes_bias.table.scopes import TARGETS, scope_of

_COLUMNS = ("quasi_f", *interval_names(kind="ci", of="quasi_f"), "quasi_f_p_value")
# The level of the F test of two variances: about one report in a hundred contains a false warning.
_VARY_UNLIKE = 0.01
_NO_OPINION = "no second opinion"
_INDEPENDENT = "The quasi-F treats all words as independent, whereas the model gives related words less weight."
_DIFFERENT = "Do not rely on a finding of only one of the two, and add more words if you can."


def _run(study: Study) -> Check:
    """Check whether the quasi-F, a classical test without a prior, agrees with the posterior that there is a bias.

    If both disagree, the verdict gets a caveat. A disagreement is an alarm, unless the test ignores something that the
    model includes, such as sub-topics or covariates. If variances differ clearly between groups, the model may need
    separate scales.
    """
    if study.scope not in get_args(Sampled):
        return Check(f"None: the quasi-F is not defined for scope '{study.scope}'.", _NO_OPINION)
    if not Diagnostics.of(study.fitted).for_bias.converged:
        return Check("None: the fit has not converged.", _NO_OPINION)
    try:
        test = quasi_f(study.table, cast(Sampled, study.scope), ci_prob=study.ci_prob)
    except MeasureError as error:
        return Check(f"None: {error}.", _NO_OPINION)
    caveat = _caveat(test, study)  # "" if both agree
    agree = not caveat
    agrees = "agrees" if agree else "disagrees"
    p_value = equals(probability(test.p_value))
    data, decimals = study.fitted.data, study.table.metric.decimals
    ignored = []
    if any(data.sizes.get(f"{side}_clustering") for side in SIDES):
        ignored.append("the sub-topics or pairs that the list names")
    if study.table.covariates:
        ignored.append("covariates of words")
    answer = f"{value_and_interval(test.value, *test.interval, decimals)}, two-sided p {p_value}"
    sentences = [
        "The quasi-F test, which has no prior and a variance for the words of each group and class,"
        f" {agrees} ({answer})."
    ]
    if ignored:
        sentences.append(f"It ignores {' and '.join(ignored)}.")
    if not agree and any(is_reduced(data, side) for side in SIDES):
        sentences.append(_INDEPENDENT)
    if not agree and not ignored:
        sentences.append(_DIFFERENT)
    if not differs_by_group(study.fitted.posterior) and TARGETS in scope_of(study.scope):
        sentences += _on_unequal_variances(test, decimals, rounding_of(study.table))
    return Check(
        " ".join(sentences),
        f"quasi-F {agrees} (p {p_value})",
        dict(zip(_COLUMNS, (test.value, *test.interval, test.p_value), strict=True)),
        alarm=not (agree or ignored),
        caveat=caveat,
        result=(answer, agree),
    )


def caveat_of(question: Question) -> str:
    """Return the sentence that belongs to a verdict if only one of the two methods finds a bias, or "" otherwise.

    The methods are the model and the quasi-F test. If the test is not defined for the list, there is no sentence.
    """
    try:
        test = quasi_f(question.table, cast(Sampled, question.scope), ci_prob=question.ci_prob)
    except MeasureError:
        return ""
    return _caveat(test, question)


def _caveat(test: QuasiF, question: Question) -> str:
    """Return `caveat_of`, given the result of the quasi-F test: "" if both methods, or neither, find a bias."""
    alpha = 1 - question.ci_prob
    quasi_f_finds_bias = test.p_value < alpha
    model_finds_bias = chance(float(question.row.prob_direction)) < alpha
    if quasi_f_finds_bias == model_finds_bias:
        return ""
    p_value = equals(probability(test.p_value))
    if quasi_f_finds_bias:
        return f"Only the quasi-F test finds a bias (p {p_value})."
    return f"Only the model finds a bias, and the quasi-F test does not (p {p_value})."


def _on_unequal_variances(test: QuasiF, decimals: int, rounding: float) -> list[str]:
    """Return a sentence on each pair of groups whose variances differ clearly, by an F test at the level _VARY_UNLIKE.

    ``test.sources`` has the variance of the mean of each group. Multiplied by the number of words, it is the variance
    of the contributions of words. The ratio of two variances has an F distribution if they are equal. The model uses
    the same scales for all groups, which matters if one group is longer by a factor of UNEVEN.
    """
    groups = test.sources.query("source == 'targets' and df > 0").set_index("cell")
    words = groups.df + 1
    variance = groups.variance * words
    sentences = []
    for pair in combinations(groups.index, 2):
        less, more = sorted(pair, key=variance.__getitem__)
        ratio = variance[more] / max(variance[less], rounding**2)
        p_value = 2 * f.sf(ratio, groups.df[more], groups.df[less])
        if p_value >= _VARY_UNLIKE:
            continue
        # See docs/evidence/false-positives.md for the consequences.
        consequence = "With lists of similar length this matters little"
        if words[more] * UNEVEN <= words[less]:
            consequence = "Its interval is too short, since the group that varies more is the shorter one"
        elif words[less] * UNEVEN <= words[more]:
            consequence = "Its interval is too long, since the group that varies more is the longer one"
        sizes = " and ".join(plain(float(np.sqrt(variance[group])), decimals) for group in (more, less))
        sentences.append(
            f"Targets of '{more}' vary more than those of '{less}' (standard deviations of their contributions to the"
            f" bias: {sizes}), but the model uses the same scales for all groups. {consequence}."
        )
    return sentences


def _methods(results: Mapping[str, Any]) -> Sentence:
    """Return the sentence of the methods text, with the result of the quasi-F for each list.

    `results` has for each list the result as text, and True if the test agrees with the posterior.
    """
    disagreeing = [name for name, (_, agree) in results.items() if not agree]
    verdict = "agreed with the posterior"
    if disagreeing:
        verdict = f"disagreed with the posterior about {', '.join(disagreeing)}"
    answers = "; ".join(f"{name}: {answer}" for name, (answer, _) in results.items())
    return (f"The quasi-F test (see below) {verdict} on which biases differ from zero ({answers}).",)


CHECKER = Checker("second-opinion", "Second opinion", _COLUMNS, _run, _methods)
