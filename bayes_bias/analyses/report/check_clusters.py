"""Check for clusters of words, and estimates of the bias without each cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.clusters import Clustering, bias_range, clustering, leave_out
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import DASH, probability, range_in_words
from bayes_bias.plots import plot_related_words
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.related_words import Related

_COLUMNS = (
    *(f"{name}_{side}s" for side in SIDES for name in ("icc", "icc_limit")),
    *(f"bias_without_{what}_{end}" for what in ("word", "cluster") for end in ("min", "max")),
)
# For two clusters of four attribute words each. See docs/evidence/false-positives.md.
_CONSEQUENCE = (
    "Words of one cluster carry less information than their number suggests, and the intervals do not"
    " account for this. In simulations with two clusters of four attribute words, a correlation of .1 to .5"
    " led to 5 to 14% false positives at the 5% level"
)

_BARELY_REDUCED = (
    "Words of one cluster carry less information than their number suggests, but here they have almost full weight. The"
    " interval may be too short."
)
# With a smaller inflation of the variance of a mean, related words have almost full weight.
_LESS_WEIGHT = 1.25


def _run(study: Study) -> Check:
    """Check for clusters: words whose contributions to the bias vary together, and carry less information.

    For targets and attributes, the intraclass correlation within clusters is compared with shuffled words. If words are
    clustered, the interval of the bias is too short, unless the model gives related words less weight. The check also
    computes the range of the observed bias without one word, or without one cluster.
    """
    clusterings = tuple(clustering(study.table, side, seed=study.seed) for side in SIDES)
    left_out = leave_out(study.table, clusterings)
    sentences: list[str] = []
    numbers: dict[str, float] = {}
    for clusters in clusterings:
        numbers |= {f"icc_{clusters.side}s": clusters.icc, f"icc_limit_{clusters.side}s": clusters.limit}
        sentences.append(_sentence(clusters))
    clustered = [clusters for clusters in clusterings if clusters.is_clustered]
    warning = _warning_of_short_interval(study.table, clustered)
    brief = "no words that vary together"
    if clustered:
        sides = " and ".join(f"{clusters.side}s" for clusters in clustered)
        brief = f"{sides} vary together" if warning else f"{sides} vary together, with less weight"
    if warning:
        sentences.append(warning)
    for unit in ("word", "cluster"):
        least, most = bias_range(left_out, unit)
        numbers |= {f"bias_without_{unit}_min": least, f"bias_without_{unit}_max": most}
        range_as_text = range_in_words(least, most, study.table.metric.decimals)
        sentences.append(f"Without any one {unit}, the observed bias would range from {range_as_text}.")
    tables = {"left-out": left_out}
    if study.table.has_related_words:
        related = study.table.related_words
        tables["related-words"] = related.to_frame().reset_index()
        if related.reduced:
            sentences.append(related.sentence)
    return Check(
        " ".join(sentence for sentence in sentences if DASH not in sentence),
        brief,
        numbers,
        alarm=bool(warning),
        figures=_figures(study.table, study.title),
        figure_options={"posterior": {"without": left_out}},
        tables=tables,
        result=clusterings,
    )


def _warning_of_short_interval(table: AssociationTable, clustered: Sequence[Clustering]) -> str:
    """Return a warning if words are clustered on some sides, but have full or almost full weight, and "" otherwise.

    A table has related words if the model knows which words vary together, and can give them less weight.
    """
    if clustered and not table.has_related_words:
        return f"{_CONSEQUENCE}."
    have_less_weight = all(_has_less_weight(table, clusters.side) for clusters in clustered)
    return "" if have_less_weight else _BARELY_REDUCED


def _has_less_weight(table: AssociationTable, side: Side) -> bool:
    """Return True if the words of a side with clusters have clearly less weight than independent words.

    Less weight means that the variance of their mean is inflated, by at least _LESS_WEIGHT in one group or class.
    """
    related = table.related_words
    categories = related.groups if side == "target" else related.classes
    return max((words.inflation for words in categories.values()), default=1.0) >= _LESS_WEIGHT


def _figures(table: AssociationTable, title: str | None) -> dict[str, Axes]:
    """Return a figure for each side on which words get less weight because they are related.

    There are no figures if the vectors, from which related words are detected, are unknown.
    """
    figures: dict[str, Axes] = {}
    if table.has_related_words and table.vectors is not None:
        categories: dict[Side, Mapping[str, Related]] = {
            "target": table.related_words.groups,
            "attribute": table.related_words.classes,
        }
        for side, by_name in categories.items():
            if any(related.is_reduced for related in by_name.values()):
                figures[f"{side}s"] = plot_related_words(table, side, name=title)
    return figures


def _sentence(clusters: Clustering) -> str:
    """Return a sentence on the clusters of one side, with the intraclass correlation and its limit at the 5% level.

    A cluster is a topic that the list names, or else a cluster that was found in residuals.
    """
    if not clusters.shuffled.size:
        return f"There are too few {clusters.side}s to detect words that vary together."
    sides, is_named = f"{clusters.side}s", clusters.words.named
    if is_named.any():
        sides += " (as the list names them)" if is_named.all() else " (partly as the list names them)"
    answer = f"Some {sides} vary together" if clusters.is_clustered else f"No {sides} can be shown to vary together"
    return (
        f"{answer} (intraclass correlation {_correlation(clusters.icc)}, where {_correlation(clusters.limit)}"
        " would be needed at the 5% level)."
    )


def _correlation(value: float) -> str:
    """Return a correlation as text in the format of a probability."""
    return f"−{probability(-value)}" if value < 0 else probability(value)


def _methods(results: Mapping[str, Any]) -> Sentence:
    """Return the sentence of the methods text, which names the lists and sides with clusters.

    `results` has the clusterings of both sides for each list.
    """
    clustered = []
    for name, clusterings in results.items():
        sides = []
        for clusters in clusterings:
            if clusters.is_clustered:
                sides.append(f"{clusters.side}s (intraclass correlation {_correlation(clusters.icc)})")
        if sides:
            clustered.append(f"{' and '.join(sides)} of {name}")
    answer = f"{'; '.join(clustered)} vary together" if clustered else "no such words could be shown"
    return (
        "To look for words that vary together, we computed the intraclass correlation of their raw contrasts within"
        " the topics that a list names or, if it names none, within two Ward clusters of residuals. We compared it"
        f" with the correlation of words that were shuffled between clusters (5% level): {answer}.",
    )


CHECKER = Checker("clusters", "Words that vary together", _COLUMNS, _run, _methods)
