"""Do words come in clusters, and what would the bias be without one of them?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.clusters import Clustering, bias_range, clustering, leave_out
from bayes_bias.checks.null_jobs import NULL_SAMPLING, posterior_of
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import DASH, bounds, probability, range_in_words
from bayes_bias.plots import plot_related_words
from bayes_bias.posterior.quadrature import integrated
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.posterior.verdict import verdict_of_table
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.related_words import Related, RelatedWords

_WHAT = ("word", "cluster")
# The interval if all words were independent draws.
_INDEPENDENT = ("independent_lb", "independent_ub")
# One chain: the ends of its interval are uncertain by a twentieth of the posterior's standard deviation.
_SAMPLING = replace(NULL_SAMPLING, draws=1000, tune=500)
_COLUMNS = (
    *(f"{name}_{side}s" for side in SIDES for name in ("icc", "icc_limit")),
    *(f"bias_without_{what}_{end}" for what in _WHAT for end in ("min", "max")),
    *_INDEPENDENT,
)
# Two clusters of four attribute words each: docs/evidence/false-positives.md.
_CONSEQUENCE = (
    "Words of one cluster carry less information than their number suggests, and the intervals do not"
    " account for this. In simulations with two clusters of four attribute words, a correlation of .1 to .5"
    " led to 5 to 14% false positives at the 5% level"
)


def _run(study: Study) -> Check:
    sides = tuple(clustering(study.table, side, seed=study.seed) for side in SIDES)
    left_out = leave_out(study.table, sides)
    ranges = {what: bias_range(left_out, what) for what in _WHAT}
    uncounted = any(side.is_clustered for side in sides) and not study.table.has_related_words
    decimals = study.table.metric.decimals
    sentences = [
        *map(_sentence, sides),
        *([f"{_CONSEQUENCE}."] if uncounted else []),
        *(
            f"Without any one {what}, the observed bias would range from {range_in_words(*ends, decimals)}."
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
    related = study.table.related_words if study.table.has_related_words else None
    if related is not None and related.reduced:
        interval = _if_independent(study)
        numbers |= dict(zip(_INDEPENDENT, interval, strict=True))
        sentences.append(f"{related.sentence} If all words were independent draws: {bounds(*interval, decimals)}.")
    return Check(
        " ".join(sentence for sentence in sentences if DASH not in sentence),
        _brief(sides, accounted_for=not uncounted),
        numbers,
        alarm=uncounted,
        figures={} if related is None or study.table.vectors is None else _figures(study.table, related),
        figure_options={"posterior": {"without": left_out}},
        tables={"left-out": left_out}
        | ({} if related is None else {"related-words": related.to_frame().reset_index()}),
        result=sides,
    )


def _brief(sides: Sequence[Clustering], *, accounted_for: bool) -> str:
    clustered = _listed_sides(sides)
    if not clustered:
        return "no clusters of words"
    return f"clusters of {clustered}, accounted for" if accounted_for else f"clusters of {clustered}"


def _listed_sides(sides: Sequence[Clustering]) -> str:
    return " and ".join(f"{side.side}s" for side in sides if side.is_clustered)


def _if_independent(study: Study) -> tuple[float, float]:
    """The interval if words were independent draws."""
    categories = study.table.related_words.categories
    independent = {category: replace(each, inflation=1.0) for category, each in categories.items()}
    table = study.table.with_related_words(independent)
    if integrated(table, study.spec):
        verdict = verdict_of_table(table, study.scope, model=study.spec, ci_prob=study.ci_prob)
        return verdict.lower, verdict.upper
    fitted, _ = posterior_of(table, study.spec, seed=study.seed, sampling=_SAMPLING)
    lower, upper = interval_of(row_of_bias(fitted, study.scope, study.ci_prob))
    return float(lower), float(upper)


def _figures(table: AssociationTable, related: RelatedWords) -> dict[str, Axes]:
    """Of each side on which words are related."""
    categories: dict[Side, Mapping[str, Related]] = {"target": related.groups, "attribute": related.classes}
    reduced = [side for side, own in categories.items() if any(each.is_reduced for each in own.values())]
    return {f"{side}s": plot_related_words(table, side) for side in reduced}


def _sentence(words: Clustering) -> str:
    if not words.shuffled.size:
        return f"There are too few {words.side}s to detect clusters."
    sides = f"{words.side}s{_source(words)}"
    answer = f"The {sides} come in clusters" if words.is_clustered else f"No clusters of {sides} can be shown"
    return (
        f"{answer} (intraclass correlation {_correlation(words.icc)}, where {_correlation(words.limit)}"
        " would be needed at the 5% level)."
    )


def _source(words: Clustering) -> str:
    topics = words.words.named
    if not topics.any():
        return ""
    return " (as the list names them)" if topics.all() else " (partly as the list names them)"


def _correlation(value: float) -> str:
    return f"−{probability(-value)}" if value < 0 else probability(value)


def _methods(results: Mapping[str, Any]) -> Sentence:
    clusters = {name: [side for side in sides if side.is_clustered] for name, sides in results.items()}
    clustered = [f"{_listed(sides)} of {name}" for name, sides in clusters.items() if sides]
    answer = f"{'; '.join(clustered)} come in clusters" if clustered else "none could be shown"
    return (
        "To look for clusters of words, we computed the intraclass correlation of their raw contrasts"
        " within the topics that a list names or, if it names none, within two Ward clusters of residuals."
        " We compared it with the correlation of words that were shuffled between clusters (5% level):"
        f" {answer}.",
    )


def _listed(sides: Sequence[Clustering]) -> str:
    return " and ".join(f"{side.side}s (intraclass correlation {_correlation(side.icc)})" for side in sides)


CHECKER = Checker("clusters", "Clusters of words", _COLUMNS, _run, _methods)
