"""Does the bias depend on the prior?"""

from collections.abc import Mapping

import pandas as pd

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.prior_sensitivity import prior_sensitivity
from bayes_bias.documents.methods import Cite, Sentence
from bayes_bias.fitting.diagnostics import MAX_PRIOR_SENSITIVITY, Diagnostics
from bayes_bias.formatting import plain


def _run(study: Study) -> Check:
    diagnostics = Diagnostics.of(study.fitted)
    sensitivity, concern = diagnostics.prior_sensitivity, diagnostics.concern
    brief = "depends on the prior" if concern else "does not depend on the prior"
    if sensitivity is None:
        brief = "sensitivity to the prior unknown"
        text = (
            "Power-scaling is not defined for this model, for a group or class of one word, or for as few draws as"
            " these."
        )
    elif concern:
        text = f"{concern[0].upper()}{concern[1:]}."
    else:
        text = (
            f"The bias does not depend on it: power-scaling sensitivity {plain(sensitivity)}; above"
            f" {MAX_PRIOR_SENSITIVITY} it would."
        )
    return Check(
        text,
        brief,
        {"prior_sensitivity": sensitivity},
        alarm=bool(concern),
        tables={} if sensitivity is None else {"prior-sensitivity": _every_estimand(study)},
        result=sensitivity,
    )


def _every_estimand(study: Study) -> pd.DataFrame:
    return prior_sensitivity(study.fitted, study.scope).reset_index()


def _methods(results: Mapping[str, float]) -> Sentence:
    sensitive = [name for name, sensitivity in results.items() if sensitivity > MAX_PRIOR_SENSITIVITY]
    answer = f"it is for {', '.join(sensitive)}" if sensitive else "none is"
    return (
        "Sensitivity of the bias to the prior, by power-scaling ",
        Cite(("kallioinen2024detecting",)),
        f", was at most {plain(max(results.values()))}; above {MAX_PRIOR_SENSITIVITY} a bias is prior-sensitive, as"
        f" {answer}.",
    )


CHECKER = Checker("prior", "Prior", ("prior_sensitivity",), _run, _methods)
