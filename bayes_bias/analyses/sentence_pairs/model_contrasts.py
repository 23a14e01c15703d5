"""`sentence_pairs.compare_models`: which models differ in their preference for stereotypical sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.model import PAIR, Observed
from bayes_bias.analyses.answers.model_contrasts import Contrasts, compared, joined_tables
from bayes_bias.analyses.answers.reading import with_factors
from bayes_bias.analyses.sentence_pairs.estimands import check_pair_scope
from bayes_bias.analyses.sentence_pairs.estimation import Scores, check_same_labels
from bayes_bias.analyses.sentence_pairs.published import ties_as_half
from bayes_bias.analyses.sentence_pairs.scores import CLUSTERS, READ, PairScores, read_frame_of_scores, read_scores
from bayes_bias.analyses.sentence_pairs.units import DECIMALS, ScoreUnit
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import ScopeError, SentencePairsError
from bayes_bias.formatting import count
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

SHARE, DIFFERENCE = "share", "difference"
# Kinds of clusters take the places of effects whose priors are alike; the one with most levels that of pairs of labels,
# which the density eliminates first.
_PLACES = (PAIR, "label_a", "label_b")
# Differences are in units of so many standard deviations, so that those of any two models lie between -1 and 1.
_SDS = 4.0
# Of a pair, so that no density is infinite.
_LEAST_VARIANCE = 1e-6


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
        ties as half) and "difference" (of scores, in their units). Columns as in
        `bayes_bias.answers.ModelContrasts`; ``questions`` is the number of pairs.
    ranking : pandas.DataFrame
        Index ``(estimand, model)``, the largest first: each model less the mean of all, with interval and ranks.
    notices : tuple of str
        Which pairs were not scored by all models.
    """

    scores: Mapping[str, PairScores]

    @property
    def name(self) -> str:
        return next(iter(self.scores.values())).name

    def quantity(self, topic: str) -> str:
        return "mean difference" if topic == DIFFERENCE else "share"

    def written(self, topic: str) -> tuple[float, int, str]:
        metric = next(iter(self.scores.values())).metric
        return (1.0, metric.decimals, metric.unit) if topic == DIFFERENCE else (100.0, 1, "percentage points")

    def _named(self, topic: str, name: str) -> str:
        return name

    def document(self) -> "Document":
        """Return the page of the comparison and the files next to it, for `bayes_bias.write`."""
        from bayes_bias.analyses.sentence_pairs.document import contrasts_document

        return contrasts_document(self)


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
    r"""Compare language models that scored the same sentence pairs: which differ, and in which order are they?

    The value of pair i for model m, once whether the stereotypical sentence is ahead (a tie counts as half) and once by
    how much, has

    .. math:: y_{im} = \mu_m + u_i + w_{c(i)m} + e_{im}

    What a pair adds for all models, u, cancels in differences between models. Effects of clusters (writers, templates,
    terms) are normal, with the same standard deviations for all models. They are integrated out exactly, as in
    `bayes_bias.answers.compare_models`, whose model this is.

    Parameters
    ----------
    scores : pandas.DataFrame, str, Path, or mapping of str to these
        A table as for `estimate` with a column ``model``, or the scores of each model by its name, such as what
        `lm_eval` returns.
    factors : str or sequence of str
        Columns whose values are compared as models are, such as ``["layer"]``.
    name, decimals, unit, ignore, seed, ci_prob
        As in `estimate`.
    scope : {"all", "pairs"}
        Whether numbers generalise to new pairs of new writers (templates, terms), or of the same writers.

    Returns
    -------
    PairContrasts
        ``table`` of differences, ``ranking``; printed, its sentences.

    Raises
    ------
    SentencePairsError
        As in `estimate`; there is one model; models have no pair in common, or the same pair with other labels.
    ScopeError, SpecError
        An impossible scope or seed.

    Notes
    -----
    Pairs that some model did not score are omitted, with a notice. Effects and residuals of a share are normal as well,
    an approximation of a mean over many pairs: use 50 or more. Differences are of all pairs: types such as gender
    and religion have no estimates of their own, and what they add is a part of the residual.

    Examples
    --------
    >>> compare_models("crows-of-three-models.csv")                               # doctest: +SKIP
    >>> compare_models({"gpt2": lm_eval("gpt2.jsonl"), "opt": lm_eval("opt.jsonl")})   # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    check_seed(seed)
    check_pair_scope(scope)
    if scope == "none":
        raise ScopeError(
            "scope: 'none' describes exactly these pairs, of which differences are counted. Use all or pairs."
        )
    read = partial(read_scores, name=name, decimals=decimals, unit=unit, ignore=ignore)
    by_model = dict(_of_mapping(scores, read) if isinstance(scores, Mapping) else _of_models(scores, factors, read))
    if len(by_model) < 2:
        raise SentencePairsError(
            "scores: all are of one model. Add a column 'model', or name the columns whose values are to be compared"
            " (factors=['layer'], --factors layer)."
        )
    by_model, notices = _same_pairs(by_model)
    step("comparing models")
    keys, effects = _keys(next(iter(by_model.values())).rows, scope)
    tables, rankings = {}, {}
    for estimand, (values, size) in _values(by_model).items():
        sides = [_observed(each / size, keys) for each in values]
        table, ranking = compared(list(by_model), sides, effects, seed, ci_prob)
        tables[estimand], rankings[estimand] = _times(table, size), _times(ranking, size)
    return PairContrasts(
        scores=by_model,
        scope=scope,
        ci_prob=ci_prob,
        seed=seed,
        **joined_tables(tables, rankings, "estimand", ci_prob),
        notices=announce(notices),
    )


def _of_models(source: Any, factors: str | Sequence[str], read: Any) -> Iterator[tuple[str, PairScores]]:
    """The scores of each model in a table."""
    frame, name = read_frame_of_scores(source)
    frame = with_factors(frame, factors, READ, SentencePairsError)
    if "model" not in frame:
        return
    for model in sorted(map(str, frame["model"].dropna().unique())):
        scores = read(frame, model=model)
        yield model, scores if read.keywords["name"] else replace(scores, name=name)


def _of_mapping(scores: Mapping[str, Scores], read: Any) -> Iterator[tuple[str, PairScores]]:
    for model, source in scores.items():
        yield str(model), read(source)


def _same_pairs(by_model: Mapping[str, PairScores]) -> tuple[dict[str, PairScores], tuple[str, ...]]:
    """The pairs that all models scored, and a notice of others."""
    first, *others = by_model.values()
    items = first.rows.index
    for other in others:
        items = items.intersection(other.rows.index)
    if len(items) < 2:
        raise SentencePairsError(
            f"scores: the models {', '.join(by_model)} have no two pairs in common. Score the same"
            " items with all models."
        )
    every = {item for scores in by_model.values() for item in scores.rows.index}
    kept = {model: scores.with_items(items) for model, scores in by_model.items()}
    one, *rest = kept.values()
    for scores in rest:
        check_same_labels(one, scores, "scores", "for another model")
    if len(items) == len(every):
        return kept, ()
    omitted = len(every) - len(items)
    return kept, (f"{count(omitted)} of {count(len(every))} pairs were not scored by all models, and are omitted",)


def _values(by_model: Mapping[str, PairScores]) -> dict[str, tuple[list[np.ndarray], float]]:
    """The values of each model, and the unit in which their differences lie between -1 and 1."""
    shares = [ties_as_half(scores.rows).to_numpy(float) for scores in by_model.values()]
    differences = [scores.rows.difference.to_numpy(float) for scores in by_model.values()]
    size = _SDS * float(np.sqrt(np.mean([values.var() for values in differences])))
    metrics = {scores.metric.unit for scores in by_model.values()}
    if len(metrics) > 1:
        raise SentencePairsError(f"scores: they are in {' and in '.join(sorted(metrics))}. Give all in one unit.")
    found = {SHARE: (shares, 1.0), DIFFERENCE: (differences, size)}
    for estimand, (values, _) in found.items():
        if all(np.array_equal(values[0], other) for other in values[1:]):
            raise SentencePairsError(
                f"scores: all models have the same {estimand} in every pair. Give the scores of different models."
            )
    return found


def _keys(rows: pd.DataFrame, scope: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The clusters of each pair as codes, and the effects that they have."""
    codes = {name: pd.factorize(rows[name], sort=True)[0] for name in CLUSTERS if name in rows}
    sizes = {name: int(code.max()) + 1 for name, code in codes.items()}
    used = sorted((name for name, size in sizes.items() if 1 < size < len(rows)), key=lambda name: -sizes[name])
    placed = dict(zip(_PLACES, (codes[name] for name in used), strict=False)) if scope == "all" else {}
    effects = tuple(place for place in ("label_a", "label_b", PAIR) if place in placed)
    return pd.DataFrame({"word_set": np.zeros(len(rows), int), **placed}), effects


def _observed(values: np.ndarray, keys: pd.DataFrame) -> Observed:
    nothing = np.zeros(0)
    return Observed(values, keys, np.zeros((1, 1)), nothing, nothing, _LEAST_VARIANCE)


def _times(table: pd.DataFrame, size: float) -> pd.DataFrame:
    """Estimates in the unit of the scores."""
    columns = [name for name in table if name in ("mean", "sd") or str(name).startswith("eti")]
    return table.assign(**{str(name): size * table[name] for name in columns})
