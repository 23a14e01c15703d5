"""How sure can you be? What intervals cover, what is found without any bias, and what another training changes."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from bayes_bias.associations.cosines import cosines
from bayes_bias.table.combine_tables import combine_replicates
from studies.known_bias.asking import EQUAL_FREQUENCY, POSTERIOR, target_biases
from studies.known_bias.corpora import of_all_targets
from studies.known_bias.results import MODEL, TRAINING, KnownBias, for_each, mean_over_truths
from studies.known_bias.running import vectors_of
from studies.known_bias.scenario import FREQUENCY, Reading

LEVEL = 0.05
ONE, SEVERAL = "one corpus", "corpora as replicates"

# From the outside in: each is drawn anew within the one before.
NESTED = ("truth", "corpus", "half", "seed")


def coverage(known: KnownBias) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the truth implies.

    Cosines have units of their own, so what a log odds implies is a line through the posterior means, fitted on the
    *other* truths:

        implied[i] = level + slope log_odds[i]

    A vector holds more than the line, and corpora of few sentences fill it with chance; an interval whose width is
    that of new attribute words need not cover what that adds.

    ``slope`` (cosine for each unit of log odds) and ``r2`` are of all truths together; ``excluded`` is the share of
    intervals without zero, ``right`` the share of those whose sign is that of the log odds.
    """
    words = known.words_with_truth
    return for_each(words[(words.measure == POSTERIOR) & words.ci95_lb.notna()], MODEL, _coverage)


def _coverage(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    shares = covered(rows).groupby([rows[name] for name in TRAINING]).mean().reset_index(name="share")
    clear = rows[excludes_zero(rows)]
    slope = np.polyfit(rows.log_odds, rows.value, 1)[0]
    yield {
        "estimand": "target_bias",
        "slope": float(slope),
        "r2": float(np.corrcoef(rows.log_odds, rows.value)[0, 1] ** 2),
        **mean_over_truths(shares.share, shares.truth),
        "excluded": len(clear) / len(rows),
        "right": _has_right_sign(clear).mean(),
    }


def replicates(known: KnownBias) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the *drawn* shares imply.

    A corpus says a target with one group more often than its share by chance, and training adds chance of its own. An
    interval from one model knows of neither. Those from the corpora of a truth as replicates (see
    `bayes_bias.combine_replicates`, scope "all") speak of new corpora, too. What is implied is a line through the
    posterior means of other truths.

    ``asked`` is `ONE` or `SEVERAL`, ``width`` the mean width of an interval.
    """
    words = known.words_with_truth
    single = words[(words.measure == POSTERIOR) & (words.seed == 0) & (words.half == "")]
    several = pd.concat(_posteriors(known))
    together = pd.concat([single.assign(asked=ONE), several.assign(asked=SEVERAL)], ignore_index=True)
    together = together.assign(log_odds=np.log(together.p / (1 - together.p)))
    return for_each(together, [*MODEL, "asked"], _coverage_of_drawn)


def _coverage_of_drawn(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    shares = covered(rows).groupby([rows.truth, rows.corpus]).mean().reset_index(name="share")
    yield {**mean_over_truths(shares.share, shares.truth), "width": (rows.ci95_ub - rows.ci95_lb).mean()}


def _posteriors(known: KnownBias) -> Iterator[pd.DataFrame]:
    """Posteriors of each truth and model with its corpora as replicates."""
    scenario = known.scenario
    drawn = known.truths.drop_duplicates(["truth", "attribute", "target"])[["truth", "attribute", "target", "p"]]
    corpora: dict[tuple[int, int, str], list[Reading]] = {}
    for reading in scenario.readings():
        if reading.seed == 0 and not reading.half:
            corpora.setdefault((reading.truth, reading.words, reading.model.name), []).append(reading)
    for (truth, words, model), readings in corpora.items():
        embeddings = [vectors_of(scenario, reading, known.models_folder) for reading in readings]
        for name, attribute in scenario.described.items():
            wordlist = of_all_targets(scenario, attribute, scenario.words)
            tables = {
                f"corpus {k}": cosines(wordlist, vectors, controls=()) for k, vectors in enumerate(embeddings, start=1)
            }
            rows = pd.DataFrame(target_biases(combine_replicates(tables, kind="corpus"), seed=scenario.seed))
            place = {"truth": truth, "words_per_sentence": words, "model": model, "attribute": name, "corpus": 0}
            yield rows.assign(**place).merge(drawn, on=["truth", "attribute", "target"]).dropna(subset="p")


def false_findings(known: KnownBias) -> pd.DataFrame:
    """Share of findings at the 5% level in corpora that have no bias.

    Lists of two groups drawn at random have a finding where p is below .05 (the posterior's p is twice the probability
    of the other sign); a single target has one where its posterior interval excludes zero. The latter are of *this*
    corpus: where groups are drawn sentence by sentence, a target is said more with one of them by chance, and its
    vector knows. ``right`` is the share of such findings whose sign is that of the log odds that came out; one half if
    they were nothing but noise.
    """
    lists = known.models[known.models.list.str.startswith("two groups") & known.models.p_value.notna()]
    lists = lists.assign(asked="two groups", finding=lists.p_value < LEVEL)
    words = known.words_with_truth
    targets = words[words.ci95_lb.notna()] if "ci95_lb" in words else words.iloc[:0]
    targets = targets.assign(asked="each target", finding=excludes_zero, right=_has_right_sign)
    return for_each(pd.concat([lists, targets]), [*MODEL, "asked", "measure"], _share_of_findings)


def _share_of_findings(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    yield {
        **mean_over_truths(rows.finding.astype(float), rows.truth),
        "tests": len(rows),
        "right": rows[rows.finding].right.astype(float).mean() if "right" in rows else np.nan,
    }


def findings(known: KnownBias) -> pd.DataFrame:
    """Share of lists of two groups with a finding at the 5% level, for each cell of the scheme.

    Beside it for the posteriors: ``bias``, its mean; ``width`` of the 95% interval; ``covered``, the share of intervals
    that hold the mean raw bias of the same shares among equally frequent words (frequency 1), where the scheme has
    them. Of those at equal frequency also ``called_frequency``, the share in which the verdict says that frequency
    accounts for the bias, and ``called_bias``, that in which it says that it does not.
    """
    rows = known.models[known.models.list.str.startswith("two groups") & known.models.p_value.notna()]
    cells = known.scenario.scheme.cells
    rows = rows.assign(cell=[_label(cells[truth]) for truth in rows.truth], finding=rows.p_value < LEVEL)
    same = [*MODEL, *(name for name in cells[0] if name != FREQUENCY)]
    even = rows[(rows.measure == POSTERIOR) & (rows[FREQUENCY] == 1)].groupby(same).value.mean()
    return for_each(rows.join(even.rename("implied"), on=same), [*MODEL, "cell", "measure"], _findings)


def _findings(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    row = dict(mean_over_truths(rows.finding.astype(float), rows.truth))
    if rows.measure.iloc[0] in (POSTERIOR, EQUAL_FREQUENCY):
        known = rows.implied.notna()
        holds = (rows.ci95_lb <= rows.implied) & (rows.implied <= rows.ci95_ub)
        row |= {
            "bias": rows.value.mean(),
            "width": (rows.ci95_ub - rows.ci95_lb).mean(),
            "covered": holds[known].mean() if known.any() else np.nan,
        }
    if rows.measure.iloc[0] == EQUAL_FREQUENCY:
        row |= {
            "called_frequency": (rows.answer == "covariates").mean(),
            "called_bias": (rows.answer == "not covariates").mean(),
        }
    yield row


def _label(cell: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in cell.items())


def robustness(known: KnownBias) -> pd.DataFrame:
    """Shares of the variance of a measure's value over trainings.

    Truths hold corpora, those hold halves of the templates, and those trainings by several seeds: components of a
    balanced nested design, from expected mean squares; negative ones are reported as zero. Halves count as random, as
    templates are; levels that the scenario has one of are left out.

    ``value`` is the share of a ``level``, ``difference`` the mean relative difference ``2 |a - b| / (|a| + |b|)`` of
    two trainings of one truth.
    """
    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], _shares)


def _shares(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    values = rows.dropna(subset="value")
    if values.value.nunique() < 2:
        return
    variances = components(values)
    total = sum(variances.values())
    for level, variance in variances.items():
        yield {"difference": _difference(values), "level": level, "value": variance / total}


def components(frame: pd.DataFrame) -> dict[str, float]:
    """Variance components of a balanced nested design, from the innermost mean of squares outwards.

    Examples
    --------
    >>> frame = pd.DataFrame({"truth": [0, 0, 1, 1], "corpus": 0, "half": "", "seed": [0, 1, 0, 1],
    ...     "value": [1.0, 3.0, 5.0, 7.0]})
    >>> components(frame)
    {'truth': 7.0, 'seed': 2.0}
    """
    levels = [
        level
        for k, level in enumerate(NESTED)
        if frame.groupby(list(NESTED[:k]) if k else (lambda _: 0))[level].nunique().max() > 1
    ]
    variances: dict[str, float] = {}
    values = frame.set_index(levels).value
    within = 0.0  # variance of a mean over what lies further in
    for k in range(len(levels), 0, -1):
        means = values.groupby(level=levels[:k]).mean()
        outer = means.groupby(level=levels[: k - 1]) if k > 1 else means.groupby(lambda _: 0)
        spread = float(outer.var(ddof=1).mean())
        variances[levels[k - 1]] = max(spread - within, 0.0)
        within = spread / float(outer.size().mean())
    return dict(reversed(variances.items()))


def _difference(frame: pd.DataFrame) -> float:
    differences: list[float] = []
    for _, values in frame.groupby("truth").value:
        first, second = (values.to_numpy(float)[side] for side in np.triu_indices(len(values), 1))
        size = np.abs(first) + np.abs(second)
        differences += (2 * np.abs(first - second)[size > 0] / size[size > 0]).tolist()
    return float(np.mean(differences)) if differences else float("nan")


def parts(known: KnownBias) -> pd.DataFrame:
    """Mean absolute change of a score when a random part of the targets stands for all, over the score's own range.

    Measures without a finite range have none; ``in_sds`` is the change in standard deviations of the score over
    trainings, which says whether a part of the targets still tells models apart. ``share`` is that of the targets.
    """
    reach = known.retests.high - known.retests.low
    relative = known.retests.assign(relative=known.retests.change / reach)[np.isfinite(reach)]
    table = for_each(relative, [*MODEL, "measure", "share"], _changed)
    return table.assign(share=table.share.map("{:.0%}".format))


def _changed(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    in_sds = rows.change.mean() / rows.value.std() if len(rows) > 1 else np.nan
    yield {**mean_over_truths(rows.relative, rows.truth), "in_sds": in_sds}


def covered(rows: pd.DataFrame) -> pd.Series:
    """Whether each interval covers what a line through the other truths' values implies for its log odds."""
    covers = pd.Series(np.nan, index=rows.index)
    for truth in rows.truth.unique():
        here, others = rows[rows.truth == truth], rows[rows.truth != truth]
        if len(others):
            slope, level = np.polyfit(others.log_odds, others.value, 1)
            implied = level + slope * here.log_odds
            covers[here.index] = ((here.ci95_lb <= implied) & (implied <= here.ci95_ub)).astype(float)
    return covers


def excludes_zero(rows: pd.DataFrame) -> pd.Series:
    return (rows.ci95_lb > 0) | (rows.ci95_ub < 0)


def _has_right_sign(rows: pd.DataFrame) -> pd.Series:
    return np.sign(rows.value) == np.sign(rows.log_odds)
