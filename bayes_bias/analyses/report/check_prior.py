"""Check of the sensitivity of the bias to the prior."""

from collections.abc import Mapping
from dataclasses import replace

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.prior_sensitivity import prior_sensitivity, sensitivity_by_prior
from bayes_bias.documents.methods import Cite, Sentence
from bayes_bias.fitting.diagnostics import MAX_PRIOR_SENSITIVITY, Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.formatting import plain, value_and_interval
from bayes_bias.posterior.verdict import verdict
from bayes_bias.table.related_words import scaled_directions


def _run(study: Study) -> Check:
    """Return the result of the check for one list."""
    diagnostics = Diagnostics.of(study.fitted)
    sensitivity, concern = diagnostics.prior_sensitivity, diagnostics.concern
    if sensitivity is None:
        text = (
            "Power-scaling is not defined for this model, for a group or class of one word, or for as few draws as"
            " these."
        )
        return Check(text, "sensitivity to the prior unknown", {"prior_sensitivity": None})
    by_prior = sensitivity_by_prior(study.fitted, study.scope)
    strongest = f"The prior of {by_prior.index[0]} has the largest sensitivity ({plain(by_prior.iloc[0])})."
    if concern:
        text = f"{concern[0].upper()}{concern[1:]}. {strongest}"
        text += _other_priors(study, by_prior.index[0]) if by_prior.index[0].endswith("_variance") else ""
    else:
        text = (
            f"The bias does not depend on the prior (power-scaling sensitivity {plain(sensitivity)}, where"
            f" values above {MAX_PRIOR_SENSITIVITY} would be a concern). {strongest}"
        )
    return Check(
        text,
        "depends on the prior" if concern else "does not depend on the prior",
        {"prior_sensitivity": sensitivity},
        alarm=bool(concern),
        tables={
            "prior-sensitivity": prior_sensitivity(study.fitted, study.scope).reset_index(),
            "prior-sensitivity-by-prior": by_prior.reset_index(),
        },
        result=sensitivity,
    )


def _other_priors(study: Study, parameter: str) -> str:
    """Return a sentence on the bias with half and twice the degrees of freedom of the estimate from vectors."""
    sentences = []
    for times, how in ((0.5, "half"), (2.0, "twice")):
        table = replace(study.table, values=scaled_directions(study.table.values, times))
        fitted = fit_table(table, study.spec, seed=study.seed, sampling=study.sampling)
        result = verdict(fitted, study.scope, ci_prob=study.ci_prob)
        bias = value_and_interval(result.mean, result.lower, result.upper, study.table.metric.decimals)
        sentences.append(f"With {how} as many degrees of freedom, the bias is {bias}, {result.label}.")
    return f" The vectors tell {parameter}. " + " ".join(sentences)


def _methods(results: Mapping[str, float]) -> Sentence:
    """Return the sentence of the methods text."""
    sensitive = [name for name, sensitivity in results.items() if sensitivity > MAX_PRIOR_SENSITIVITY]
    answer = f"it is for {', '.join(sensitive)}" if sensitive else "none is"
    return (
        "Sensitivity of the bias to the prior, by power-scaling ",
        Cite(("kallioinen2024detecting",)),
        f", was at most {plain(max(results.values()))}. Values above {MAX_PRIOR_SENSITIVITY} count as"
        f" prior-sensitive, and {answer}.",
    )


CHECKER = Checker("prior", "Prior", ("prior_sensitivity",), _run, _methods)
