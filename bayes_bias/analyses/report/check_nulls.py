"""How often do the model and WEAT find a bias in this very design if there is none, and between arbitrary topics?"""

from collections.abc import Mapping
from typing import Any

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.calibration import SHARE_BOUNDS, Calibration
from bayes_bias.checks.null_lists import Drawn
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import percent, share_within
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.progress import step
from bayes_bias.table.scopes import WEAT_SCOPE, WORDS, ScopeName, scope_of

_SHARES = ("share", *SHARE_BOUNDS)
_NAMES: Mapping[Drawn, str] = {"words": "null", "sub-topics": "sub_topic_null", "topics": "topics"}
_COLUMNS = (
    "nulls",
    *(f"null_{column}" for column in _SHARES),
    *(f"weat_null_{column}" for column in _SHARES),
    "sub_topic_nulls",
    *(f"sub_topic_null_{column}" for column in _SHARES),
    *(f"weat_sub_topic_null_{column}" for column in _SHARES),
    "topics",
    *(f"topics_{column}" for column in _SHARES),
    *(f"weat_topics_{column}" for column in _SHARES),
    "topics_median",
    "topics_larger",
    "no_calibration",
)


def _run(study: Study) -> Check:
    drawn, reason = _random_lists(study)
    if "words" not in drawn:
        return Check(f"{reason}.", "no random lists", {"no_calibration": reason})
    text = _about_words(drawn["words"], study)
    numbers: dict[str, Any] = {"no_calibration": ""}
    for kind, lists in drawn.items():
        numbers |= _numbers(lists, study, _NAMES[kind])
    if "sub-topics" in drawn:
        text += _about_sub_topics(drawn["sub-topics"], study)
    if "topics" in drawn:
        median, larger = _sizes_of_topics(drawn["topics"], study)
        text += _about_topics(drawn["topics"], study, larger)
        numbers |= {"topics_median": median, "topics_larger": larger}
    brief = (
        f"bias found in {share_within(*(numbers[f'null_{column}'] for column in _SHARES))} of"
        f" {numbers['nulls']} random lists"
    )
    result = (drawn["words"], false_positives(drawn["words"], study.spec.name, study.scope))
    return Check(text, brief, numbers, result=result)


def _random_lists(study: Study) -> tuple[dict[Drawn, Calibration], str]:
    """Random lists by how their words were drawn, or why there are none."""
    if study.null_draws == 0:
        return {}, "Not drawn, because `calibration_draws` is 0"
    if study.nulls is None:
        return {}, "Not drawn, because this table has no embedding from which to draw random words"
    if not study.fitted.structure.COLLAPSED:
        return {}, "Not drawn, because each list takes as long as this fit. Use `bayes-bias calibrate` for this model"
    step("random nulls")
    lists = study.nulls()
    drawn = {kind: each for kind, each in lists.items() if isinstance(each, Calibration)}
    return drawn, f"Not drawn: {lists['words']}"


def _about_words(nulls: Calibration, study: Study) -> str:
    same, random = ("attributes", "targets") if nulls.random == "targets" else ("targets", "attribute words")
    expected = "5% is expected"
    if scope_of(study.scope).facets.isdisjoint(WORDS):
        expected = "a higher share is not an error if only these words matter, because random words differ as well"
    return (
        f"Among {_draws(nulls)} random lists of this design (the same {same}, with as many {random} drawn at"
        " random), a bias was found at the 5% level by"
        f" {false_positives(nulls, study.spec.name, study.scope)} (95% Monte Carlo intervals), where"
        f" {expected}."
    )


def _about_sub_topics(nulls: Calibration, study: Study) -> str:
    whose = "group" if nulls.random == "targets" else "class"
    return (
        f" If the random words of each {whose} come from three sub-topics (the neighbourhoods of random"
        f" words), a bias was found by {false_positives(nulls, study.spec.name, study.scope)} of"
        f" {_draws(nulls)} lists."
    )


def _about_topics(topics: Calibration, study: Study, larger: float) -> str:
    model, scope = study.spec.name, study.scope
    found = share_within(*topics.table.loc[(model, scope), list(_SHARES)])
    return (
        f" Of {_draws(topics)} lists with an arbitrary topic of this embedding for each group and class, {found} are"
        f" distinguishable from noise, and {percent(larger)} have a larger bias, in either direction."
    )


def _sizes_of_topics(topics: Calibration, study: Study) -> tuple[float, float]:
    """Return the median size of the bias between arbitrary topics, and the share with at least the list's bias."""
    of_model = topics.records.query("method == @study.spec.name and scope == @study.scope")
    sizes, observed = of_model["mean"].abs(), float(row_of_bias(study.fitted, study.scope)["mean"])
    return float(sizes.median()), float((sizes >= abs(observed)).mean())


def false_positives(calibration: Calibration, model: str, scope: ScopeName) -> str:
    """How often the model (and WEAT, if it is defined) finds a bias when there is none."""
    shares = calibration.table[list(_SHARES)]
    rows = {"the model": shares.loc[(model, scope)]}
    if ("WEAT", WEAT_SCOPE) in shares.index:
        rows["WEAT"] = shares.loc[("WEAT", WEAT_SCOPE)]
    return ", by ".join(f"{name} in {share_within(*row)}" for name, row in rows.items())


def _draws(lists: Calibration) -> int:
    return int(lists.records.draw.nunique())


def _numbers(lists: Calibration, study: Study, name: str) -> dict[str, Any]:
    """How many lists there are, and the shares of findings by the model and by WEAT, in columns of this name."""
    methods = {name: (study.spec.name, study.scope), f"weat_{name}": ("WEAT", WEAT_SCOPE)}
    shares = {
        f"{prefix}_{column}": lists.table.loc[method, column]
        for prefix, method in methods.items()
        if method in lists.table.index
        for column in _SHARES
    }
    return {name if name == "topics" else f"{name}s": _draws(lists), **shares}


def _methods(results: Mapping[str, Any]) -> Sentence:
    first = next(iter(results.values()))[0]
    random = "targets" if first.random == "targets" else "attribute words"
    whose = "group" if first.random == "targets" else "class"
    shares = "; ".join(f"for {name} by {by_method}" for name, (_, by_method) in results.items())
    return (
        f"To count false positives, the {random} of each list were replaced by as many words drawn at"
        f" random, from the same population for each {whose} ({first.records.draw.nunique()} draws, 5%"
        f" level, 95% Monte Carlo intervals). A bias was found {shares}.",
    )


CHECKER = Checker("nulls", "Random nulls", _COLUMNS, _run, _methods)
