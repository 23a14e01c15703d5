"""Check with random lists: rates at which the model and WEAT find a bias between random words or arbitrary topics."""

from collections.abc import Mapping
from typing import Any

from bayes_bias.analyses.report.check import Check, Checker, Question, Study
from bayes_bias.checks.calibration import SHARE_BOUNDS, Calibration
from bayes_bias.checks.null_lists import Drawn
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import percent, share_within
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.progress import step
from bayes_bias.table.scopes import WEAT_SCOPE, WORDS, ScopeName, scope_of

_SHARES = ("share", *SHARE_BOUNDS)
_NAMES: Mapping[Drawn, str] = {
    "own words": "own_null",
    "words": "null",
    "sub-topics": "sub_topic_null",
    "topics": "topics",
}


def _columns(name: str) -> list[str]:
    """Return the columns for the rates of findings by the model and by WEAT."""
    return [f"{method}{name}_{column}" for method in ("", "weat_") for column in _SHARES]


_COLUMNS = (
    "own_nulls",
    *_columns("own_null"),
    "nulls",
    *_columns("null"),
    "sub_topic_nulls",
    *_columns("sub_topic_null"),
    "topics",
    *_columns("topics"),
    "topics_median",
    "topics_larger",
    "no_calibration",
)


def _run(study: Study) -> Check:
    """Check how often the model finds a bias in random lists, which have none.

    Random lists are drawn in up to four ways: "own words" exchanges the words of the list, "words" draws single words,
    "sub-topics" draws from neighbourhoods of random words, and "topics" from one neighbourhood for each group and
    class. Because topics do differ, lists of topics show how large arbitrary biases are.
    """
    drawn, reason = _random_lists(study)
    if "words" not in drawn:
        return Check(f"{reason}.", "no random lists", {"no_calibration": reason})
    numbers: dict[str, Any] = {"no_calibration": ""}
    for kind, lists in drawn.items():
        numbers |= _numbers(lists, study, kind)
    sentences = [about_own_words(drawn["own words"], study)] if "own words" in drawn else []
    sentences.append(_about_words(drawn["words"], study))
    if "sub-topics" in drawn:
        sentences.append(_about_sub_topics(drawn["sub-topics"], study))
    if "topics" in drawn:
        median, larger = _sizes_of_topics(drawn["topics"], study)
        numbers |= {"topics_median": median, "topics_larger": larger}
        sentences.append(
            f"Of {_draws(drawn['topics'])} lists with an arbitrary topic of this embedding for each group and class,"
            f" {_found(drawn['topics'], study)} are distinguishable from noise, and {percent(larger)} have a larger"
            " bias, in either direction."
        )
    brief = f"bias found in {_found(drawn['words'], study)} of {numbers['nulls']} random lists"
    result = (drawn["words"], false_positives(drawn["words"], study.spec.name, study.scope))
    return Check(" ".join(sentences), brief, numbers, result=result)


def _about_sub_topics(nulls: Calibration, study: Study) -> str:
    """Return a sentence on the rates at which the model and WEAT found a bias in lists of random sub-topics."""
    whose = "group" if nulls.random == "targets" else "class"
    return (
        f"If the random words of each {whose} come from three sub-topics (the neighbourhoods of random words), a bias"
        f" was found by {false_positives(nulls, study.spec.name, study.scope)} of {_draws(nulls)} lists."
    )


def _sizes_of_topics(lists: Calibration, study: Study) -> tuple[float, float]:
    """Return how large the biases of lists with arbitrary topics are, regardless of their sign.

    The first number is their median. The second is the share of lists whose bias is at least as large as the bias of
    the list in this study.
    """
    posteriors = lists.records.query("method == @study.spec.name and scope == @study.scope")
    sizes = posteriors["mean"].abs()
    own_size = abs(float(row_of_bias(study.fitted, study.scope)["mean"]))
    return float(sizes.median()), float((sizes >= own_size).mean())


def _random_lists(study: Study) -> tuple[dict[Drawn, Calibration], str]:
    """Return random lists by the way in which their words were drawn, and the reason if there are none.

    The lists are drawn in the background while the model is fitted, so the function waits for them. A way that failed
    has a reason instead of lists, and is omitted.
    """
    if study.null_draws == 0:
        return {}, "Not drawn, because `calibration_draws` is 0"
    if study.nulls is None:
        return {}, "Not drawn, because this table has no embedding from which to draw random words"
    if not study.fitted.structure.COLLAPSED:
        return {}, "Not drawn, because each list takes as long as this fit. Use `bayes-bias calibrate` for this model"
    step("random nulls")
    results = study.nulls()
    drawn = {kind: result for kind, result in results.items() if isinstance(result, Calibration)}
    return drawn, f"Not drawn: {results['words']}"


def about_own_words(nulls: Calibration, study: Question) -> str:
    """Return a sentence on the rate at which a bias was found after words were exchanged between groups or classes."""
    return (
        f"If the {nulls.random} of this list are exchanged at random between its"
        f" {'groups' if nulls.random == 'targets' else 'classes'}, so that there is no bias, the model finds one in"
        f" {_found(nulls, study)} of {_draws(nulls)} cases."
    )


def _about_words(nulls: Calibration, study: Study) -> str:
    """Return a sentence on the rates at which the model and WEAT found a bias between random words.

    If the scope treats all words as fixed, random words do differ, so the rate may be higher than 5%.
    """
    same = "attributes" if nulls.random == "targets" else "targets"
    random = "targets" if nulls.random == "targets" else "attribute words"
    expected = "5% is expected"
    if scope_of(study.scope).facets.isdisjoint(WORDS):
        expected = "a higher share is not an error if only these words matter, because random words differ as well"
    return (
        f"Among {_draws(nulls)} random lists of this design (the same {same}, with as many {random} drawn at random), a"
        f" bias was found at the 5% level by {false_positives(nulls, study.spec.name, study.scope)} (95% Monte Carlo"
        f" intervals), where {expected}."
    )


def false_positives(calibration: Calibration, model: str, scope: ScopeName) -> str:
    """Return a clause with the shares of findings by the model and, if it is defined, WEAT.

    ``calibration.table`` has a row for each (method, scope), with the share and its interval in the columns _SHARES.
    """
    shares = calibration.table[list(_SHARES)]
    rows = {"the model": shares.loc[(model, scope)]}
    if ("WEAT", WEAT_SCOPE) in shares.index:
        rows["WEAT"] = shares.loc[("WEAT", WEAT_SCOPE)]
    return ", by ".join(f"{name} in {share_within(*row)}" for name, row in rows.items())


def _draws(lists: Calibration) -> int:
    """Return the number of random lists."""
    return int(lists.records.draw.nunique())


def _found(lists: Calibration, study: Question) -> str:
    """Return a text with the share, and its interval, of random lists in which the model found a bias."""
    return share_within(*lists.table.loc[(study.spec.name, study.scope), list(_SHARES)])


def _numbers(lists: Calibration, study: Study, kind: Drawn) -> dict[str, Any]:
    """Return the number of lists, and the shares of findings by the model and by WEAT, for ``evidence.csv``.

    The names of columns begin with the name of the way of drawing, such as "null" or "own_null". `lists.table` has a
    row for each (method, scope).
    """
    name = _NAMES[kind]  # in the names of columns
    numbers: dict[str, Any] = {name if kind == "topics" else f"{name}s": _draws(lists)}
    methods = {name: (study.spec.name, study.scope), f"weat_{name}": ("WEAT", WEAT_SCOPE)}
    for prefix, method_and_scope in methods.items():
        if method_and_scope in lists.table.index:
            for column in _SHARES:
                numbers[f"{prefix}_{column}"] = lists.table.loc[method_and_scope, column]
    return numbers


def _methods(results: Mapping[str, Any]) -> Sentence:
    """Return the sentence of the methods text, with the shares of findings for each list.

    `results` has the random lists and a clause with these shares, by the name of the list. In a report, the same side
    is random for all lists.
    """
    lists, _ = next(iter(results.values()))
    random = "targets" if lists.random == "targets" else "attribute words"
    whose = "group" if lists.random == "targets" else "class"
    shares = "; ".join(f"for {name} by {by_method}" for name, (_, by_method) in results.items())
    return (
        f"To count false positives, the {random} of each list were replaced by as many words drawn at"
        f" random, from the same population for each {whose} ({lists.records.draw.nunique()} draws, 5%"
        f" level, 95% Monte Carlo intervals). A bias was found {shares}.",
    )


CHECKER = Checker("nulls", "Random nulls", _COLUMNS, _run, _methods)
