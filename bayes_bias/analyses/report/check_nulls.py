"""How often do the model and WEAT find a bias in this very design if there is none?"""

from collections.abc import Mapping
from typing import Any

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.calibration import SHARE_BOUNDS, Calibration
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import share, share_within
from bayes_bias.progress import step
from bayes_bias.table.scopes import WEAT_SCOPE, WORDS, ScopeName, scope_of

_SHARES = ("share", *SHARE_BOUNDS)
_COLUMNS = (
    "nulls",
    *(f"null_{column}" for column in _SHARES),
    *(f"weat_null_{column}" for column in _SHARES),
    "no_calibration",
)


def _run(study: Study) -> Check:
    nulls, reason = _nulls_or_reason(study)
    if nulls is None:
        return Check(f"{reason}.", "no random nulls", {"no_calibration": reason})
    same, random = ("attributes", "targets") if nulls.random == "targets" else ("targets", "attribute words")
    expected = "5% is expected"
    if scope_of(study.scope).facets.isdisjoint(WORDS):
        expected = "a higher share is not an error if only these words matter, since random words differ, too"
    shares = false_findings(nulls, study.spec.name, study.scope)
    text = (
        f"Of {nulls.records.draw.nunique()} random nulls of this design (the same {same}, as many {random} drawn at"
        f" random) a bias was found at the 5% level by {shares} (95% Monte Carlo intervals); {expected}."
    )
    numbers = _numbers(nulls, study.spec.name, study.scope)
    brief = f"bias found in {share(numbers['null_share'])} of {numbers['nulls']} random nulls"
    return Check(text, brief, numbers, result=(nulls, shares))


def _nulls_or_reason(study: Study) -> tuple[Calibration | None, str]:
    if study.null_draws == 0:
        return None, "Not drawn, since none were asked for"
    if study.nulls is None:
        return None, "Not drawn: this table has no embedding to draw random words from"
    if not study.fitted.structure.COLLAPSED:
        return None, "Not drawn, since each takes as long as this fit; `bayes-bias calibrate` takes the time"
    step("random nulls")
    nulls = study.nulls()
    return (None, f"Not drawn: {nulls}") if isinstance(nulls, str) else (nulls, "")


def false_findings(calibration: Calibration, model: str, scope: ScopeName) -> str:
    """How often the model, and WEAT if it is defined, found a bias if there is none."""
    shares = calibration.table[list(_SHARES)]
    rows = {"the model": shares.loc[(model, scope)]}
    if ("WEAT", WEAT_SCOPE) in shares.index:
        rows["WEAT"] = shares.loc[("WEAT", WEAT_SCOPE)]
    return ", by ".join(f"{name} in {share_within(*row)}" for name, row in rows.items())


def _numbers(nulls: Calibration, model: str, scope: ScopeName) -> dict[str, Any]:
    methods = {"null": (model, scope), "weat_null": ("WEAT", WEAT_SCOPE)}
    shares = {
        f"{name}_{column}": nulls.table.loc[method, column]
        for name, method in methods.items()
        if method in nulls.table.index
        for column in _SHARES
    }
    return {"nulls": nulls.records.draw.nunique(), **shares, "no_calibration": ""}


def _methods(results: Mapping[str, Any]) -> Sentence:
    first = next(iter(results.values()))[0]
    random = "targets" if first.random == "targets" else "attribute words"
    whose = "group" if first.random == "targets" else "class"
    shares = "; ".join(f"for {name} by {by_method}" for name, (_, by_method) in results.items())
    return (
        f"To count false findings, the {random} of each list were replaced by as many drawn at random, from the same"
        f" population for each {whose} ({first.records.draw.nunique()} draws; 5% level; 95% Monte Carlo intervals). A"
        f" bias was found {shares}.",
    )


CHECKER = Checker("nulls", "Random nulls", _COLUMNS, _run, _methods)
