"""Check of whether a bias is also found under other priors, with independent words, and by the quasi-F."""

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.multiverse.multiverse import PRIOR, RELATED, choices_of
from bayes_bias.analyses.report.check import Check, Checker, Question, Study
from bayes_bias.documents.methods import Sentence
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import bounds, equals, joined, probability, probability_in_words
from bayes_bias.measures.crossed_tests import QuasiF, Sampled, quasi_f
from bayes_bias.models.preferences import RATIOS_OF_POOLS
from bayes_bias.plots.style import Rows, axes_or_new, draw_forest, forest_legend, height, set_title, style
from bayes_bias.posterior.quadrature import variance_ratios
from bayes_bias.posterior.summary import chance
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import SIDES, Side

_DEFAULT = "this model"
_INDEPENDENT = "words independent"
_COLUMNS = ("priors", "priors_p_min", "priors_p_max", "priors_changed", *(f"{side}_variance_ratio" for side in SIDES))


def _run(study: Study) -> Check:
    """Check whether the bias is also distinguishable under other priors for the standard deviations of preferences.

    The alternatives are other priors, independent words, and the quasi-F test. If another prior changes the answer,
    the verdict gets a caveat. The check also compares the variance of preferences with general words.
    """
    if not study.fitted.structure.COLLAPSED:
        text = "Not compared, because each prior takes as long as this fit. To compare priors, fit the model with each."
        return Check(text, "no other priors")
    alternatives = _alternatives(study)
    alpha = 1 - study.ci_prob
    others, changed = _other_priors(alternatives, alpha)
    also = "also" if others.p_value.max() < alpha else "not"
    brief = "depends on the prior" if changed else f"{also} found under {len(others)} other priors"
    sentences = [_on_priors(others, changed, alpha)]
    for name, subject in ((_INDEPENDENT, "If all words were independent draws"), (QuasiF.measure, "By the quasi-F")):
        if name in alternatives.index:
            _, lower, upper, p_value = alternatives.loc[name]
            interval = bounds(lower, upper, study.table.metric.decimals)
            sentences.append(f"{subject}: {interval}, p {equals(probability(p_value))}.")
    ratios = variance_ratios(study.spec, study.fitted.data)
    least, most = RATIOS_OF_POOLS
    unusual = [side for side, ratio in ratios.items() if not least <= ratio <= most]
    sentences += [_on_ratio(side, ratio, unusual=side in unusual) for side, ratio in ratios.items()]
    if unusual:
        brief += f", unusual variance of {joined(unusual)} preferences"
    numbers: dict[str, Any] = {"priors": len(others), "priors_changed": ", ".join(changed)}
    numbers |= {"priors_p_min": others.p_value.min(), "priors_p_max": others.p_value.max()}
    numbers |= {f"{side}_variance_ratio": ratio for side, ratio in ratios.items()}
    return Check(
        " ".join(sentences),
        brief,
        numbers,
        alarm=bool(changed or unusual),
        caveat=sentences[0] if changed else "",
        figures={"alternatives": _plot(study, alternatives)},
        tables={"prior-alternatives": alternatives.rename_axis("alternative").reset_index()},
        result=(others.index.tolist(), changed),
    )


def caveat_of(question: Question) -> str:
    """Return the sentence that belongs to a finding which depends on the prior, or "" if it does not."""
    others, changed = _other_priors(_alternatives(question), 1 - question.ci_prob)
    return _on_priors(others, changed, 1 - question.ci_prob) if changed else ""


def _other_priors(alternatives: pd.DataFrame, alpha: float) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of priors other than the prior of the model, and the names of the priors with another finding.

    `alternatives` also has rows for the model itself, for independent words, and for the quasi-F, which are not other
    priors. A bias is found if its p-value is below `alpha`.
    """
    finds_bias = alternatives.p_value[_DEFAULT] < alpha
    others = alternatives.drop(index=[_DEFAULT, _INDEPENDENT, QuasiF.measure], errors="ignore")
    return others, others.index[(others.p_value < alpha) != finds_bias].tolist()


def _alternatives(study: Question) -> pd.DataFrame:
    """Return the posterior mean, the interval, and p of the bias under each alternative, beginning with the model.

    The last row is the quasi-F test, which has no prior, if it is defined for the scope and the list.
    """
    estimate = ["mean", *interval_names(study.ci_prob)]
    rows = {}
    for name, row in _posteriors(study):
        rows[name] = [*row[estimate], chance(float(row.prob_direction))]
    if study.scope in get_args(Sampled):
        try:
            test = quasi_f(study.table, cast(Sampled, study.scope), ci_prob=study.ci_prob)
        except MeasureError:  # the second opinion of the report contains the reason
            pass
        else:
            rows[QuasiF.measure] = [test.value, *test.interval, test.p_value]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*estimate, "p_value"])


def _posteriors(study: Question) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """Yield the posterior of the bias under the prior of the model, under other priors, and for independent words.

    Each posterior comes with a name. The changes of the model are options of a multiverse analysis: functions that
    change a table and a model.
    """
    yield _DEFAULT, study.row
    choices, _ = choices_of(study.table, study.spec)
    _, *other_priors = choices[PRIOR]  # the first prior is the prior of the model
    for name in other_priors:
        table, spec = choices[PRIOR][name](study.table, study.spec)
        yield name, study.row_under(table, spec)
    if RELATED in choices:
        table, spec = choices[RELATED]["full weight"](study.table, study.spec)
        yield _INDEPENDENT, study.row_under(table, spec)


def _on_priors(others: pd.DataFrame, changed: list[str], alpha: float) -> str:
    """Return a sentence on the findings under other priors, of which `changed` are the names with another finding.

    A bias is distinguishable from noise or not, and a borderline one is not. So all priors in `changed` agree.
    """
    if not changed:
        least = probability_in_words(others.p_value.min())
        most = probability_in_words(others.p_value.max())
        p_values = f"p {most}" if least == most else f"p from {least} to {most}"
        found = others.p_value.max() < alpha
        bias_is, either = ("is also", "") if found else ("is not", " either")
        priors = f"{len(others)} other priors of preferences{either} ({p_values})"
        return f"The bias {bias_is} distinguishable from noise under {priors}."
    answer = "distinguishable" if others.p_value[changed[0]] < alpha else "not distinguishable"
    names = [f"'{name}' (p {equals(probability(others.p_value[name]))})" for name in changed]
    priors = "prior" if len(changed) == 1 else "priors"
    return (
        f"The verdict depends on the prior of preferences: the bias is {answer} from noise with the {priors}"
        f" {joined(names)}."
    )


def _on_ratio(side: Side, ratio: float, *, unusual: bool) -> str:
    """Return a sentence on the observed variance of preferences, relative to the variance of general words.

    A ratio outside RATIOS_OF_POOLS is unusual: the prior is based on pools of words with ratios in this range.
    """
    sentence = f"The variance of preferences of {side}s is {ratio:.3g} times the variance expected for general words."
    if not unusual:
        return sentence
    least, most = RATIOS_OF_POOLS
    return (
        f"{sentence} This is outside the range of the pools of words on which the prior is based ({least:g} to"
        f" {most:g}), so compare the verdict with the other results of this check."
    )


def _plot(study: Study, alternatives: pd.DataFrame) -> Axes:
    """Draw the bias under each alternative, with a row for each (see `_alternatives`)."""
    with style():
        labels = [str(name).removeprefix("from vectors, ") for name in alternatives.index]
        rows = [Rows("", labels, alternatives)]
        ax = axes_or_new(None, rows=height(rows))
        draw_forest(ax, rows, study.table.metric)
        forest_legend(ax, ci_prob=study.ci_prob)
        set_title(ax, f"{study.title or study.table.name}: bias under other assumptions")
        return ax


def _methods(results: Mapping[str, tuple[list[str], list[str]]]) -> Sentence:
    """Return the sentence of the methods text, which names all priors and the lists whose finding changed.

    `results` has for each list the names of the other priors, and of those that changed the finding.
    """
    all_priors: dict[str, None] = {}
    changes = []
    for name, (priors, changed) in results.items():
        all_priors |= dict.fromkeys(priors)
        if changed:
            changes.append(f"{name} ({'; '.join(changed)})")
    answer = f"the finding changed for {', '.join(changes)}" if changes else "the same biases were found"
    return (
        "We repeated the analysis with other priors for the standard deviations of preferences"
        f" ({'; '.join(all_priors)}): {answer}.",
    )


CHECKER = Checker("prior", "Prior", _COLUMNS, _run, _methods)
