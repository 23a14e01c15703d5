"""Do words come in clusters, and what would the bias be without one of them?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.clusters import Clustering, bias_range, clustering, leave_out
from bayes_bias.checks.null_jobs import NULL_SAMPLING, posterior_of
from bayes_bias.documents.methods import Sentence
from bayes_bias.formatting import DASH, bounds, probability
from bayes_bias.plots import plot_sub_topics
from bayes_bias.posterior.summary import chance, row_of_bias
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.related_words import related_words

_WHAT = ("word", "cluster")
# The chance, and the interval, if the sub-topics that the vectors show were a sample.
_FROM_VECTORS = ("from_vectors_chance", "from_vectors_lb", "from_vectors_ub")
# One chain: the ends of its interval are uncertain by a twentieth of the posterior's standard deviation.
_SAMPLING = replace(NULL_SAMPLING, draws=1000, tune=500)
_COLUMNS = (
    *(f"{name}_{side}s" for side in SIDES for name in ("icc", "icc_limit")),
    *(f"bias_without_{what}_{end}" for what in _WHAT for end in ("min", "max")),
    *_FROM_VECTORS,
)
# Two clusters of four attribute words each: docs/evidence/simulated-tables.md.
_CONSEQUENCE = (
    "Words of one cluster carry less information than their number suggests, which the intervals do not account for:"
    " in simulations with two clusters of four attribute words, a correlation of .1 to .5 gave 5 to 15% false findings"
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
    related = study.related()
    second = _from_vectors(study, related)
    if second is not None:
        sentences.append(second.sentence(decimals))
        row = second.related
        numbers |= dict(zip(_FROM_VECTORS, (chance(row.prob_direction), *interval_of(row)), strict=True))
    shown = next((table for table in (study.table, related) if table is not None and table.has_related_words), None)
    return Check(
        " ".join(sentence for sentence in sentences if DASH not in sentence),
        numbers,
        alarm=clustered or (second is not None and second.settles_otherwise),
        figures={} if shown is None else _figures(shown),
        figure_options={"posterior": {"without": without}},
        listing="" if shown is None else shown.sub_topics.toml,
        tables={"left-out": without},
        result=(sides, second is not None),
    )


@dataclass(frozen=True, eq=False)
class _Second:
    """The bias with words as independent, and with the sub-topics that the vectors show: rows of `summarize`."""

    shown: str
    independent: "pd.Series[Any]"
    related: "pd.Series[Any]"
    threshold: float

    @property
    def chances(self) -> tuple[float, float]:
        """Of both."""
        return chance(self.independent.prob_direction), chance(self.related.prob_direction)

    @property
    def settles_otherwise(self) -> bool:
        """Whether one interval excludes zero and the other does not."""
        one, other = (below < self.threshold for below in self.chances)
        return one != other

    def sentence(self, decimals: int) -> str:
        """What the interval would be, and whether the verdict rests on words being independent."""
        one, other = (bounds(*interval_of(row), decimals) for row in (self.independent, self.related))
        settled = ""
        if self.settles_otherwise:
            before, after = map(probability, self.chances)
            settled = (
                f", and the chance {after} instead of {before}: what the verdict says rests on words being independent"
            )
        return f"{self.shown} Were these sub-topics a sample, the interval would be {other} instead of {one}{settled}."


def _figures(table: AssociationTable) -> dict[str, Axes]:
    """Of each side on which the vectors show sub-topics."""
    if table.vectors is None:  # a user said which words are alike
        return {}
    found = table.sub_topics
    sides: dict[Side, bool] = {"target": bool(found.groups), "attribute": bool(found.classes)}
    return {f"{side}s": plot_sub_topics(table, side) for side, there in sides.items() if there}


def _from_vectors(study: Study, related: AssociationTable | None) -> _Second | None:
    """The second interval; None where the vectors show no sub-topics."""
    if related is None or not related.has_related_words or not study.fitted.structure.COLLAPSED:
        return None
    fitted, _ = posterior_of(related, study.spec, seed=study.seed, sampling=_SAMPLING)
    one, other = (row_of_bias(fit, study.scope, study.ci_prob) for fit in (study.fitted, fitted))
    return _Second(related_words(related.values).sentence, one, other, 1 - study.ci_prob)


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


def _methods(made: Mapping[str, Any]) -> Sentence:
    clusters = {name: [side for side in sides if side.is_clustered] for name, (sides, _) in made.items()}
    clustered = [f"{_listed(sides)} of {name}" for name, sides in clusters.items() if sides]
    answer = f"{'; '.join(clustered)} come in clusters" if clustered else "none could be shown"
    return (
        "To look for clusters of words, we computed the intraclass correlation of their raw contrasts within the"
        " topics that a list names or, where it names none, within two Ward clusters of residuals, and compared it"
        f" with that of words shuffled between clusters (5% level): {answer}.{_second_methods(made)}",
    )


def _second_methods(made: Mapping[str, Any]) -> str:
    shown = [name for name, (_, from_vectors) in made.items() if from_vectors]
    if not shown:
        return ""
    return (
        f" For {', '.join(shown)} we also estimated the bias with the sub-topics that the vectors show: average linkage"
        " of words, kept where its silhouette exceeds that of 95% of random lists, and a correlation within sub-topics"
        " from the vectors."
    )


def _listed(sides: Sequence[Clustering]) -> str:
    return " and ".join(f"{side.side}s (intraclass correlation {_correlation(side.icc)})" for side in sides)


CHECKER = Checker("clusters", "Clusters of words", _COLUMNS, _run, _methods)
