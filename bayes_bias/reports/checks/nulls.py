"""How often do the model and WEAT find a bias in this very design where none is?"""

from collections.abc import Mapping
from typing import Any

from bayes_bias.checks.calibration import Calibration
from bayes_bias.estimands.facets import WEAT_SCOPE, WORDS, ScopeName, scope_of
from bayes_bias.formatting import share_within
from bayes_bias.reports.check import Check, Checker, Sentence, Study

_SHARES = ("share", "share_lb", "share_ub")
_COLUMNS = (
    "nulls",
    *(f"null_{column}" for column in _SHARES),
    *(f"weat_null_{column}" for column in _SHARES),
    "no_calibration",
)


def _run(study: Study) -> Check:
    made, reason = _drawn_or_why_not(study)
    if made is None:
        return Check(f"{reason}.", {"no_calibration": reason})
    same, drawn = ("attributes", "targets") if made.random == "targets" else ("targets", "attribute words")
    right = "5% would be right"
    if scope_of(study.scope).facets.isdisjoint(WORDS):
        right = "more is no error where only these words matter, since random ones differ, too"
    told = false_findings(made, study.spec.name, study.scope)
    text = (
        f"Of {made.records.draw.nunique()} random nulls of this design (the same {same}, as many {drawn} drawn at"
        f" random) a bias was found at the 5% level by {told} (95% Monte Carlo intervals); {right}."
    )
    return Check(text, _numbers(made, study.spec.name, study.scope), found=(made, told))


def _drawn_or_why_not(study: Study) -> tuple[Calibration | None, str]:
    if not study.null_draws:
        return None, "Not drawn, since none were asked for"
    if study.nulls is None:
        return None, "Not drawn: this table has no embedding to draw random words from"
    if not study.fitted.structure.COLLAPSED:
        return None, "Not drawn, since each takes as long as this fit; `bayes-bias calibrate` takes the time"
    study.progress.step("random nulls")
    made = study.nulls()
    return (None, f"Not drawn: {made}") if isinstance(made, str) else (made, "")


def false_findings(calibration: Calibration, model: str, scope: ScopeName) -> str:
    """How often the model, and WEAT where it is defined, found a bias where none is."""
    found = calibration.table[list(_SHARES)]
    rows = {"the model": found.loc[(model, scope)]}
    if ("WEAT", WEAT_SCOPE) in found.index:
        rows["WEAT"] = found.loc[("WEAT", WEAT_SCOPE)]
    return ", by ".join(f"{name} in {share_within(*row)}" for name, row in rows.items())


def _numbers(made: Calibration, model: str, scope: ScopeName) -> dict[str, Any]:
    methods = {"null": (model, scope), "weat_null": ("WEAT", WEAT_SCOPE)}
    shares = {
        f"{name}_{column}": made.table.loc[method, column]
        for name, method in methods.items()
        if method in made.table.index
        for column in _SHARES
    }
    return {"nulls": made.records.draw.nunique(), **shares, "no_calibration": ""}


def _methods(checks: Mapping[str, Check]) -> Sentence:
    made = {name: check.found for name, check in checks.items() if check.found is not None}
    if not made:
        return ()
    first = next(iter(made.values()))[0]
    drawn = "targets" if first.random == "targets" else "attribute words"
    whose = "group" if first.random == "targets" else "class"
    found = "; ".join(f"for {name} by {told}" for name, (_, told) in made.items())
    return (
        f"To count false findings, the {drawn} of each list were replaced by as many drawn at random, the same"
        f" population for each {whose} ({first.records.draw.nunique()} draws; 5% level; 95% Monte Carlo intervals). A"
        f" bias was found {found}.",
    )


CHECKER = Checker("nulls", "Random nulls", _COLUMNS, _run, _methods)
