"""Do words come in clusters, and what would the bias be without one of them?"""

from collections.abc import Mapping, Sequence

from bayes_bias.checks.cluster_scan import Clustering, clustering
from bayes_bias.checks.leave_one_out import bias_range, leave_out
from bayes_bias.formatting import DASH, bounds, probability
from bayes_bias.reports.check_record import Check, Checker, Sentence, Study
from bayes_bias.table.word_labels import SIDES

_WHAT = ("word", "cluster")
_COLUMNS = (
    *(f"{name}_{side}s" for side in SIDES for name in ("icc", "icc_limit")),
    *(f"bias_without_{what}_{end}" for what in _WHAT for end in ("min", "max")),
)
# Two clusters of four attribute words each: CALIBRATION.md, "Simulated tables".
_CONSEQUENCE = (
    "Words of one cluster carry less information than their number suggests, which the intervals do not account for:"
    " in simulations with two clusters of four attribute words, a correlation of .1 to .5 gave 6 to 17% false findings"
    " at the 5% level"
)


def _run(study: Study) -> Check:
    sides = tuple(clustering(study.table, side, seed=study.seed) for side in SIDES)
    without = leave_out(study.table, sides)
    ranges = {what: bias_range(without, what) for what in _WHAT}
    clustered = any(side.is_clustered for side in sides)
    decimals = study.table.metric.decimals
    sentences = [
        *map(_sentence, sides),
        *([f"{_CONSEQUENCE}."] if clustered else []),
        *(
            f"Without any one {what} the observed bias would lie in {bounds(*ends, decimals)}."
            for what, ends in ranges.items()
        ),
    ]
    numbers = {f"icc_{side.side}s": side.icc for side in sides}
    numbers |= {f"icc_limit_{side.side}s": side.limit for side in sides}
    numbers |= {
        f"bias_without_{what}_{end}": value
        for what, ends in ranges.items()
        for end, value in zip(("min", "max"), ends, strict=True)
    }
    return Check(
        " ".join(sentence for sentence in sentences if DASH not in sentence),
        numbers,
        alarm=clustered,
        figure_options={"posterior": {"without": without}},
        tables={"left-out": without},
        result=sides,
    )


def _sentence(words: Clustering) -> str:
    if not words.shuffled.size:
        return f"There are too few {words.side}s to say whether they come in clusters."
    sides = f"{words.side}s{_source(words)}"
    answer = f"The {sides} come in clusters" if words.is_clustered else f"No clusters of {sides} can be shown"
    return (
        f"{answer}: intraclass correlation {_correlation(words.icc)} ({_correlation(words.limit)} would be needed at"
        " the 5% level)."
    )


def _source(words: Clustering) -> str:
    named = words.words.named
    if not named.any():
        return ""
    return " (as the list names them)" if named.all() else " (partly as the list names them)"


def _correlation(value: float) -> str:
    return f"−{probability(-value)}" if value < 0 else probability(value)


def _methods(checks: Mapping[str, Check]) -> Sentence:
    clusters = {name: [side for side in check.result if side.is_clustered] for name, check in checks.items()}
    clustered = [f"{_listed(sides)} of {name}" for name, sides in clusters.items() if sides]
    answer = f"{'; '.join(clustered)} come in clusters" if clustered else "none could be shown"
    return (
        "To look for clusters of words, we computed the intraclass correlation of their raw contrasts within the"
        " topics that a list names or, where it names none, within two Ward clusters of residuals, and compared it"
        f" with that of words shuffled between clusters (5% level): {answer}.",
    )


def _listed(sides: Sequence[Clustering]) -> str:
    return " and ".join(f"{side.side}s (intraclass correlation {_correlation(side.icc)})" for side in sides)


CHECKER = Checker("clusters", "Clusters of words", _COLUMNS, _run, _methods)
