"""`sentence_pairs.compare_models`: differences between models in their preference for stereotypical sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.model import PAIR, PRIORS, Observed
from bayes_bias.analyses.answers.model_contrasts import Contrasts, Quantity, compared, joined_tables, scaled
from bayes_bias.analyses.answers.reading import with_factors
from bayes_bias.analyses.sentence_pairs.estimands import check_pair_scope
from bayes_bias.analyses.sentence_pairs.estimation import Scores, check_same_labels
from bayes_bias.analyses.sentence_pairs.published import ties_as_half
from bayes_bias.analyses.sentence_pairs.scores import CLUSTERS, READ, PairScores, read_frame_of_scores, read_scores
from bayes_bias.analyses.sentence_pairs.units import DECIMALS, ScoreUnit
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import ScopeError, SentencePairsError
from bayes_bias.formatting import joined, plural
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce

SHARE, DIFFERENCE = "share", "difference"
# The share without preference.
HALF = 0.5
# The density is the density of `answers`, so each kind of cluster is represented by an effect of that model. All these
# effects have the same prior. The effect of pairs of labels represents the kind with the most levels, because the
# density eliminates this effect first.
_PLACES = (PAIR, "label_a", "label_b")
# The unit of differences is this number of standard deviations, so that contrasts of two models lie between -1 and 1.
_SDS = 4.0
# A small known variance that is added to the value of each pair to prevent infinite densities.
_LEAST_VARIANCE = 1e-6
# With fewer pairs whose stereotypical (or other) sentence is ahead, a share is not approximately normal.
_FEWEST_PER_SIDE = 10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairContrasts(Contrasts):
    """Differences between models that scored the same pairs. Made by `bayes_bias.sentence_pairs.compare_models`.

    Attributes
    ----------
    scores : mapping of str to PairScores
        The scores of each model, with the pairs that all models scored.
    scope, ci_prob, seed
    table : pandas.DataFrame
        Index ``(estimand, model, other)``, with the estimands "share" (of pairs whose stereotypical sentence is ahead,
        where ties count as half) and "difference" (of scores, in their units). Columns are as in
        `bayes_bias.answers.ModelContrasts`, and ``questions`` is the number of pairs.
    ranking : pandas.DataFrame
        Index ``(estimand, model)``, sorted in decreasing order: the value of each model by itself, each model minus the
        mean of all, intervals and ranks.
    notices : tuple of str
        Notices of pairs that were not scored by all models.
    """

    asked: ClassVar[str] = "pairs"
    data: ClassVar[str] = "scores"
    methods: ClassVar[str] = "methods-of-pair-models.txt"

    scores: Mapping[str, PairScores]

    @property
    def first(self) -> PairScores:
        """Return the scores of the first model. All models have the same pairs and unit."""
        return next(iter(self.scores.values()))

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts of the methods text. Clusters are only mentioned if results generalise to new clusters."""
        clusters = [plural(name) for name in CLUSTERS if name in self.first.rows]
        return {
            "models": list(self.scores),
            "pairs": f"{len(self.first):,}",
            "unit": self.first.metric.unit,
            "clusters": clusters if self.scope == "all" else [],
            "prior": f"{PRIORS['pair']:g}",
        }

    @property
    def provenance(self) -> dict[str, Any]:
        return {
            "scores": {model: {**scores.provenance, "sha256": scores.sha256} for model, scores in self.scores.items()}
        }

    @property
    def more_tables(self) -> Mapping[str, pd.DataFrame]:
        return {"scores": pd.concat({name: scores.rows for name, scores in self.scores.items()}, names=["model"])}

    @property
    def all_notices(self) -> tuple[str, ...]:
        return (*self.notices, *chain.from_iterable(scores.notices for scores in self.scores.values()))

    def title(self, topic: str) -> str:
        return "stereotypical sentences" if topic == SHARE else "scores of stereotypical sentences"

    def quantity(self, topic: str) -> Quantity:
        """Return the display of an estimand: a share in percent, or a mean difference in the unit of the scores."""
        if topic == DIFFERENCE:
            unit = self.first.metric.unit
            axis = f"mean difference, {unit} (positive: stereotypical)"
            return Quantity("mean difference", 1.0, self.first.metric.decimals, unit, own_unit=unit, axis=axis)
        axis = "share minus one half, percentage points (positive: stereotypical)"
        return Quantity(SHARE, 100.0, 1, "percentage points", null=HALF, own_unit="% of pairs", axis=axis)

    def row_name(self, topic: str, name: str) -> str:
        return name


def compare_models(
    scores: pd.DataFrame | str | Path | Mapping[str, Scores],
    *,
    factors: str | Sequence[str] = (),
    name: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
    ignore: str | Sequence[str] = (),
    scope: str = "all",
    ci_prob: float = 0.95,
    seed: int = 1,
) -> PairContrasts:
    r"""Compare and rank language models that scored the same sentence pairs.

    Two values of pair i are analysed for each model m: the indicator that the stereotypical sentence is ahead (a tie
    counts as half), and the difference between the scores,

    .. math:: y_{im} = \mu_m + u_i + w_{c(i)m} + e_{im}

    Effects u of pairs are the same for all models and cancel in differences between models. Each difference between two
    models is analysed by itself, so it does not depend on other models. Effects of clusters (writers, templates, terms)
    are normal. They are integrated out exactly, as in `bayes_bias.answers.compare_models`, which uses the same model.

    Parameters
    ----------
    scores : pandas.DataFrame, str, Path, or mapping of str to these
        A table as for `estimate` with a column ``model``, or the scores of each model by its name, such as the results
        of `lm_eval`.
    factors : str or sequence of str
        Columns whose values are compared like models, such as ``["layer"]``.
    name, decimals, unit, ignore, seed, ci_prob
        As in `estimate`.
    scope : {"all", "pairs"}
        The population that results generalise to: new pairs of new writers, templates and terms, or of these writers.

    Returns
    -------
    PairContrasts
        ``table`` of differences and ``ranking``. When printed, it shows sentences.

    Raises
    ------
    SentencePairsError
        As in `estimate`, or if there is only one model, if models have no two pairs in common, or if a pair has
        different labels.
    ScopeError, SpecError
        If `scope` or `seed` is invalid.

    Notes
    -----
    Pairs that were not scored by all models are omitted, with a notice. Effects and residuals are modelled as normal
    even if the values are indicators (for shares). A notice names models with fewer than ten pairs on one side, for
    which this is a rough approximation. Ranks are from normal draws with the means and variances of all differences.
    Differences refer to all pairs. Types such as gender and religion have no separate estimates, and their effects are
    part of the residual.

    Examples
    --------
    >>> compare_models("crows-of-three-models.csv")                               # doctest: +SKIP
    >>> compare_models({"gpt2": lm_eval("gpt2.jsonl"), "opt": lm_eval("opt.jsonl")})   # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    seed = check_seed(seed)
    check_pair_scope(scope)
    if scope == "none":
        raise ScopeError("`scope='none'` describes exactly these pairs, whose differences are known. Use all or pairs.")
    reading: dict[str, Any] = {"name": name, "decimals": decimals, "unit": unit, "ignore": ignore}
    if isinstance(scores, Mapping):
        by_model = {str(model): read_scores(source, **reading) for model, source in scores.items()}
    else:
        frame, default_name = read_frame_of_scores(scores)
        frame = with_factors(frame, factors, READ, SentencePairsError)
        reading["name"] = name or default_name
        models = sorted(map(str, frame["model"].dropna().unique())) if "model" in frame else []
        by_model = {model: read_scores(frame, model=model, **reading) for model in models}
    if len(by_model) < 2:
        raise SentencePairsError(
            "The scores are all of one model. Add a column 'model', or name the columns whose values to compare"
            " (factors=['layer'], --factors layer)."
        )
    by_model, notices = _with_common_pairs(by_model)
    notices += _notices_of_rough_shares(by_model)
    step("comparing models")
    keys, effects = _clusters_as_effects(next(iter(by_model.values())).rows, scope)
    no_words = np.zeros((1, 1))
    no_contrasts = np.zeros(0)
    tables, rankings = {}, {}
    for estimand, (values_of_models, value_unit) in _values_of_pairs(by_model).items():
        null = HALF / value_unit if estimand == SHARE else 0.0
        data = []
        for values in values_of_models:
            in_units = values / value_unit - null
            data.append(Observed(in_units, keys, no_words, no_contrasts, no_contrasts, _LEAST_VARIANCE))
        table, ranking = compared(list(by_model), data, effects, seed, ci_prob, null, in_pairs=True)
        tables[estimand] = scaled(table, value_unit)
        rankings[estimand] = scaled(ranking, value_unit)
    frames = joined_tables(tables, rankings, "estimand", ci_prob)
    return PairContrasts(scores=by_model, scope=scope, ci_prob=ci_prob, seed=seed, **frames, notices=announce(notices))


def _with_common_pairs(by_model: Mapping[str, PairScores]) -> tuple[dict[str, PairScores], tuple[str, ...]]:
    """Return the scores of the pairs that all models scored, and a notice if other pairs are omitted.

    Raise an error if there are fewer than two common pairs, or if a pair has different labels or sentences.
    """
    first, *other_models = by_model.values()
    common_items = first.rows.index
    all_items = first.rows.index
    for scores in other_models:
        common_items = common_items.intersection(scores.rows.index)
        all_items = all_items.union(scores.rows.index)
    if len(common_items) < 2:
        raise SentencePairsError(
            f"The models {', '.join(by_model)} have no two pairs in common. Score the same items with all models."
        )
    common = {model: scores.with_items(common_items) for model, scores in by_model.items()}
    first, *other_models = common.values()
    for scores in other_models:
        check_same_labels(first, scores, "scores", "for another model")
    n_omitted = len(all_items) - len(common_items)
    notice = f"omitted: {n_omitted:,} of {len(all_items):,} pairs, which were not scored by all models"
    return common, (notice,) if n_omitted else ()


def _notices_of_rough_shares(by_model: Mapping[str, PairScores]) -> tuple[str, ...]:
    """Return a notice if a model has too few pairs on one side for a normal approximation to its share."""
    rough = []
    for model, scores in by_model.items():
        ahead = ties_as_half(scores.rows).sum()
        if min(ahead, len(scores) - ahead) < _FEWEST_PER_SIDE:
            rough.append(model)
    if not rough:
        return ()
    pairs = f"fewer than {_FEWEST_PER_SIDE} pairs on one side"
    return (f"{joined(rough)}: {pairs}, so intervals of the share are rough; see `sentence_pairs.estimate`",)


def _values_of_pairs(by_model: Mapping[str, PairScores]) -> dict[str, tuple[list[np.ndarray], float]]:
    """Return two values of each pair, by estimand: a list with an array for each model, and the unit of the values.

    The values are the indicator that the stereotypical sentence is ahead (a tie is one half), and the difference of the
    scores. With the unit HALF, a share lies between -1 and 1 as a distance from one half, as does half a difference of
    shares. The unit of differences is _SDS times their standard deviation, the root of the mean variance over models,
    so that contrasts between models lie between -1 and 1.
    """
    units = {scores.metric.unit for scores in by_model.values()}
    if len(units) > 1:
        raise SentencePairsError(f"The scores are in {' and in '.join(sorted(units))}. Pass all scores in one unit.")
    ahead = [ties_as_half(scores.rows).to_numpy(float) for scores in by_model.values()]
    differences = [scores.rows.difference.to_numpy(float) for scores in by_model.values()]
    for estimand, values in ((SHARE, ahead), (DIFFERENCE, differences)):
        if not np.ptp(values, axis=0).any():
            raise SentencePairsError(
                f"All models have the same {estimand} in every pair. Pass the scores of different models."
            )
    unit = _SDS * float(np.sqrt(np.mean([values.var() for values in differences])))
    return {SHARE: (ahead, HALF), DIFFERENCE: (differences, unit)}


def _clusters_as_effects(rows: pd.DataFrame, scope: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table with the number of the cluster of each pair, and the names of its columns with effects.

    The model of `answers`, which is used here, has effects of labels and of pairs of labels (`_PLACES`). Each kind of
    cluster (writers, templates, terms) takes the place of one of them, beginning with the kind with the most clusters:
    the column "pair", for example, contains the number of the writer of each pair. A kind has no effects if each pair
    has its own cluster, or if all pairs have the same. With the scope "pairs", there are no effects.
    """
    clusters = rows[[name for name in CLUSTERS if name in rows]] if scope == "all" else rows[[]]
    n_clusters = clusters.nunique()
    has_effects = (n_clusters > 1) & (n_clusters < len(rows))
    kinds = n_clusters[has_effects].sort_values(ascending=False, kind="stable").index
    codes = pd.DataFrame({"word_set": np.zeros(len(rows), int)})
    for place, kind in zip(_PLACES, kinds, strict=False):
        codes[place], _ = pd.factorize(clusters[kind], sort=True)
    return codes, tuple(place for place in ("label_a", "label_b", PAIR) if place in codes)
