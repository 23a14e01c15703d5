"""`answers.estimate`: D in answers of chat models. Labels, wordings, and words are treated as samples."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_bias.analyses.answers.assignments import CHOSEN, OUTCOMES
from bayes_bias.analyses.answers.cell import UNKNOWN, Answers, Cell, select_stereotype
from bayes_bias.analyses.answers.lists import Lists
from bayes_bias.analyses.answers.log_odds import position_row
from bayes_bias.analyses.answers.losses import bounds_of, first_reason, reason_of_bounds
from bayes_bias.analyses.answers.model import (
    ANSWER,
    PAIR,
    SAMPLES,
    WORD,
    Density,
    Observed,
    Posterior,
    effects_of,
    loadings,
    names_of,
    observed,
    pairs_of,
    sample,
    written_out,
)
from bayes_bias.analyses.answers.pairing import half_change, paired
from bayes_bias.analyses.answers.published import published_row
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.answers.results import ONE_PAIR, SOURCES, THESE_LABELS, AnswersChange, ModelAnswers, reach_of
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import ScopeError
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import interval_of

if TYPE_CHECKING:
    import pymc as pm

type Source = Answers | pd.DataFrame | str | Path

# Intervals are too short if the share of variance from labels and D both exceed these values. See docs/evidence.
_MOSTLY_LABELS, _NEAR_THE_END = 0.5, 0.8
# An answer counts as decided if the absolute value of its D is larger.
_DECIDED = 0.9


def estimate(
    answers: Source,
    wordlist: Lists,
    after: Source | None = None,
    *,
    scope: str = "all",
    name: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    ignore: str | Sequence[str] = (),
    factors: str | Sequence[str] = (),
) -> ModelAnswers | AnswersChange:
    r"""Estimate the associations of a chat model from answers that assign words to one of two labels.

    Each answer has a

    .. math:: D = P(\textrm{label } a \mid \textrm{word of } a) - P(\textrm{label } a \mid \textrm{word of } b)

    "A word of a" is a word from the class that is stereotypical for the group of label a. "A word of b" is defined
    accordingly for label b. D is 1 if all choices are stereotypical, -1 if no choice is, and 0 if an answer contains
    only one label. The published analysis treats answers as independent [1]_, although labels and wordings largely
    determine the answers. The model therefore has effects of words, wording, label of each group, and pair of labels,

    .. math:: D_i = \mathrm{mu} + \mathrm{word}_i + \mathrm{wording}_i + \mathrm{label\_a}_i + \mathrm{label\_b}_i
              + \mathrm{pair}_i + e_i, \qquad \mathrm{mu} \sim \mathrm{Uniform}(-1, 1)

    Each kind of effect is normal with a standard deviation of its own. See Notes for the priors.

    Parameters
    ----------
    answers : pandas.DataFrame, str or Path
        A row for each word choice. See `bayes_bias.analyses.answers.reading.read_answers`.
    wordlist
        The list of the questions, with two groups of labels and two classes of words. If the list has three groups or
        more, each with its own class, each group is compared with all others. The answers then need a column ``labels``
        that contains one label of each group, such as "Ben | Mei | Juan". For several stereotypes, pass a mapping of
        lists by name, a TOML file with a table ``[lists.name]`` for each list, or the name of built-in answers
        ("answers-demo").
    after : the same as `answers`, optional
        Answers to the same questions by another model, or by the same model after tuning. The answers of both sides are
        paired by question.
    scope : {"all", "wordings", "words", "trials"}
        The population that D generalises to: new labels, wordings and words ("all"); new wordings and words for these
        labels ("wordings"); new words ("words"); or only repetitions of these questions ("trials").
    name : str, optional
        The name of the answers in tables and figures.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
        Seed of the random numbers. The same seed returns the same results.
    ignore : str or sequence of str
        Columns whose values may differ between answers of one model, such as a temperature. Answers are pooled over
        these columns. By default, answers of one model with different settings raise an error.
    factors : str or sequence of str
        Columns whose values are analysed separately, such as a temperature or a persona. Each combination of a model
        with these values has its own row. `compare_models` compares these combinations.

    Returns
    -------
    ModelAnswers, or with `after` AnswersChange
        ``table`` has a row for each model and stereotype. D is between -1 and 1, and its changes between -2 and 2. When
        printed, it shows sentences.

    Raises
    ------
    AnswersError
        If the answers cannot be read or do not belong to the list, if answers of one model were given under different
        settings, or if `after` contains answers to other questions.
    ScopeError, SpecError
        If `scope` or `seed` is invalid.

    Notes
    -----
    Results generalise to new labels only if there are five labels of each group and three wordings. If there are fewer,
    an interval is still reported, but the verdict contains a caution. If there is only one pair of labels, the results
    describe only this pair.

    The standard deviations ``sd_word``, ``sd_wording`` and so on have half-normal priors with scale .25 for words and
    wordings, .5 for labels and pairs of labels, and 1 for answers. The variance of an answer also has a known part,
    because shares of n and m words are rounded, (1/n² + 1/m²) / 12. With a single wording, the prior alone determines
    how much other wordings might differ. With one pair of labels, the effects of labels are omitted. All effects and mu
    are integrated out exactly, and the standard deviations are drawn by Pareto smoothed importance sampling. There is
    no verdict if the Pareto k of the weights is above .7. D is bounded, but modelled as normal, because only its mean
    is estimated. If labels determine nearly everything and D is close to -1 or 1, intervals are too short
    (docs/evidence/other-analyses.md).

    Refusals and invalid choices are omitted and never imputed. ``bounds_lb`` is the mean D of all answers if each of
    these choices had contradicted the stereotype, and ``bounds_ub`` is the mean D if each had agreed with it.

    References
    ----------
    .. [1] Bai, X., Wang, A., Sucholutsky, I., & Griffiths, T. L. (2025). Explicitly unbiased large language models
       still form biased associations. PNAS, 122(8). https://doi.org/10.1073/pnas.2416228122

    Examples
    --------
    >>> print(estimate("answers-demo", "answers-demo"))                           # doctest: +SKIP
    >>> estimate("answers.csv", "my-list.toml").ladder                            # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    seed = check_seed(seed)
    check_samples(scope)
    first = read_answers(answers, wordlist, name=name, ignore=ignore, factors=factors)
    if after is None:
        fields = _estimate([((cell,), observed(cell)) for cell in first.cells], scope, ci_prob, seed)
        return ModelAnswers(answers=first, published=_published(first, ci_prob), outcomes=_outcomes(first), **fields)
    second = read_answers(after, wordlist, name=name, ignore=ignore, factors=factors)
    pairs, notices = paired(first, second)
    notices_of_pairs = announce(tuple(notices))
    published_of_side = {"before": _published(first, ci_prob), "after": _published(second, ci_prob)}
    published = pd.concat(published_of_side, names=["state"])
    fields = _estimate([(cells, half_change(*cells)) for cells in pairs], scope, ci_prob, seed)
    return AnswersChange(before=first, after=second, notices=notices_of_pairs, published=published, **fields)


def pymc_model(
    answers: Source,
    wordlist: Lists,
    stereotype: str | None = None,
    *,
    scope: str = "all",
    ignore: str | Sequence[str] = (),
) -> "pm.Model":
    """Return the model of `estimate` as a PyMC model in which every effect is a variable.

    Parameters
    ----------
    answers, wordlist, scope, ignore
        As in `estimate`.
    stereotype : str, optional
        The stereotype, which is required if there are several. If the answers come from several language models, the
        first model is used.

    Returns
    -------
    pymc.Model
        Variables are ``mu``, ``sd_word``, ``sd_wording``, ``sd_label_a``, ``sd_label_b``, ``sd_pair``, ``sd_answer``,
        and effects such as ``word_effect``, each a standard deviation times a standard normal variable. The observed
        variables are ``D`` of each answer, and ``word_contrast``, the differences between words within answers.
        `estimate` integrates the effects out. The posterior of the other variables is the same.

    Raises
    ------
    AnswersError, ScopeError
        As in `estimate`, or if the stereotype is unknown.

    Examples
    --------
    >>> model = pymc_model("answers-demo", "answers-demo", "power")               # doctest: +SKIP
    """
    check_samples(scope)
    cells = read_answers(answers, wordlist, ignore=ignore).cells
    selected = select_stereotype([cell.stereotype for cell in cells], stereotype)
    cell = next(cell for cell in cells if cell.stereotype == selected)
    return written_out(observed(cell), effects_of(cell, scope), names_of(cell))


def check_samples(scope: str) -> None:
    """Raise an error if `scope` is not a scope of answers."""
    if scope not in SAMPLES:
        raise ScopeError(f"`scope` is {scope!r}, which is not a scope of answers.", scope, SAMPLES)


# Conversion of observed answers to tables with a row for each model and stereotype.


def _estimate(
    data_of_cells: Sequence[tuple[Sequence[Cell], Observed]], scope: str, ci_prob: float, seed: int
) -> dict[str, Any]:
    """Return the fields of a result that are computed in the same way for D and for its changes.

    Each item of `data_of_cells` becomes a row of the table. It contains one cell (all answers of a model about one
    stereotype) with its values of D or, for a change, the cells before and after with half the change of D. Draws of
    half the change are therefore multiplied by two, the number of cells. The model is fitted in each scope, which
    determines the factors that are treated as samples (`SAMPLES`). These estimates are the ladder, and the table has
    the estimate in the requested scope. With one pair of labels, the scope "wordings" replaces the scope "all".
    """
    posteriors, rows, sources = {}, {}, {}
    ladder: dict[tuple[str, str, str], dict[str, Any]] = {}
    levels: list[pd.DataFrame] = []
    for number, (cells, data) in enumerate(data_of_cells, start=1):
        cell = cells[0]
        multiplier = len(cells)
        key = (cell.model, cell.stereotype)
        step(f"{cell.stereotype} ({number} of {len(data_of_cells)})")
        posterior_of_scope = {}
        for samples, effects in SAMPLES.items():
            ladder[*key, samples] = {}
            if samples != "all" or not cell.is_one_pair:
                posterior = sample(Density(data, effects), seed)
                posterior_of_scope[samples] = posterior
                ladder[*key, samples] = _summary(multiplier * posterior.draws.mu.to_numpy(), ci_prob)
        posteriors[key] = posterior_of_scope.get(scope, posterior_of_scope["wordings"])
        rows[key] = _row(cells, data, posteriors[key], scope, ci_prob)
        if len(cells) == 1:
            rows[key] |= position_row(cell, effects_of(cell, scope), seed, ci_prob)
        sds = _sds(data, posterior_of_scope.get("all", posterior_of_scope["wordings"]))
        for source in SOURCES:
            sources[*key, source] = summarize_draws(multiplier * sds[source], ci_prob) if source in sds else {}
        levels += _levels(cell, multiplier * data.difference)
    names = ["model", "stereotype"]
    tables = {"table": _frame(rows, names), "ladder": _frame(ladder, [*names, "samples"])}
    tables["sources"] = _frame(sources, [*names, "source"])
    tables["levels"] = pd.concat(levels).set_index([*names, "factor", "level"]).sort_index()
    return {"scope": scope, "ci_prob": ci_prob, "seed": seed, **tables, "posteriors": posteriors}


def _frame(rows: Mapping[Any, Mapping[str, Any]], names: list[str]) -> pd.DataFrame:
    """Return a frame with a row for each key, such as (model, stereotype).

    `names` are the names of the index levels, the parts of the key.
    """
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=names))


def _summary(mu: NDArray[np.float64], ci_prob: float) -> dict[str, Any]:
    """Return the mean, sd and interval of draws of mu, with the probabilities of a positive mu and of its direction."""
    above = float((mu > 0).mean())
    return summarize_draws(mu, ci_prob) | {"prob_above": above, "prob_direction": max(above, 1 - above)}


def _sds(data: Observed, posterior: Posterior) -> dict[str, NDArray[np.float64]]:
    """Return draws of the standard deviation that each source of variation contributes to D, by the name of the source.

    Sources that are not in the model are omitted. The sources of labels are both groups of labels and pairs of labels.
    """
    draws = posterior.draws
    sds = {"answers": draws[f"sd_{ANSWER}"].to_numpy()}
    if f"sd_{WORD}" in draws:
        # The variance of D from words is the variance of word effects times the sum of their squared weights, which is
        # averaged over the answers.
        squared_weights = (loadings(data.keys, WORD, data.words) ** 2).sum(axis=1)
        sds["words"] = draws[f"sd_{WORD}"].to_numpy() * squared_weights.mean() ** 0.5
    if "sd_wording" in draws:
        sds["wordings"] = draws["sd_wording"].to_numpy()
    if f"sd_{PAIR}" in draws:
        sds["labels"] = np.sqrt((draws[["sd_label_a", "sd_label_b", f"sd_{PAIR}"]].to_numpy() ** 2).sum(axis=1))
    return sds


def _row(cells: Sequence[Cell], data: Observed, posterior: Posterior, scope: str, ci_prob: float) -> dict[str, Any]:
    """Return the row of a model and stereotype in the table of a result. See `ModelAnswers` for the columns.

    There is one cell (all answers of a model about one stereotype) or, for a change, the cells before and after. Draws
    of half the change are multiplied by two, the number of cells.
    """
    cell = cells[0]
    multiplier = len(cells)
    mu = posterior.draws.mu.to_numpy()
    sds = _sds(data, posterior)
    sd_of_new_answer = np.sqrt(sum(sd**2 for sd in sds.values()))
    variance_of_labels = np.mean(sds.get("labels", np.zeros(1)) ** 2)
    is_mostly_labels = variance_of_labels > _MOSTLY_LABELS * np.mean(sd_of_new_answer**2)
    labels_a = len(cell.labels("a"))
    labels_b = len(cell.labels("b"))
    wordings = len(cell.wordings)
    # Answers with a single label in one group, and several in the other, have several pairs, but few labels.
    n_labels = 1 if cell.is_one_pair else max(2, min(labels_a, labels_b))
    reach = reach_of(n_labels, wordings)
    lower, upper = bounds_of(cells)
    choices_of_cells = [cell.reading.choices for cell in cells]
    observed_mean = multiplier * float(data.difference.mean())
    summary = _summary(multiplier * mu, ci_prob)
    return {
        "answers": len(data.difference),
        "labels_a": labels_a,
        "labels_b": labels_b,
        "wordings": wordings,
        "words": len(set(chain(*cell.sets))),
        "observed": observed_mean,
        **summary,
        "prob_new_answer": float(ndtr(mu / sd_of_new_answer).mean()),
        "reach": reach if scope == "all" or reach == ONE_PAIR else THESE_LABELS,
        "decided": float((np.abs(multiplier * data.difference) > _DECIDED).mean()),
        "invalid": float(np.mean([cell.invalid for cell in cells])),
        **{name.replace(" ", "_"): sum(choices[name] for choices in choices_of_cells) for name in OUTCOMES[1:]},
        "bounds_lb": lower,
        "bounds_ub": upper,
        "withheld": first_reason(cells)
        or reason_of_bounds((lower, upper), observed_mean, interval_of(pd.Series(summary))),
        "one_label": sum(cell.one_label for cell in cells),
        "optimistic": bool(abs(mu.mean()) > _NEAR_THE_END and is_mostly_labels),
        "pareto_k": posterior.pareto_k,
        "ess": posterior.ess,
    }


def _outcomes(answers: Answers) -> pd.DataFrame:
    """Return the numbers and shares of choices by outcome, for each model, label, and class. See `ModelAnswers`.

    ``picked_share`` is the share of choices of the label among all valid choices.
    """
    tables = {}
    for cell in answers.cells:
        counts = cell.reading.levels
        n_choices = counts[list(OUTCOMES)].sum(axis=1)
        shares = counts[list(OUTCOMES)].div(n_choices, axis=0).add_suffix(" share")
        picked_share = counts.picked / counts[CHOSEN].where(counts[CHOSEN] > 0)
        tables[cell.model, cell.stereotype] = counts.join(shares).assign(picked_share=picked_share)
    return pd.concat(tables, names=["model", "stereotype"])


def _levels(cell: Cell, difference: NDArray[np.float64]) -> Iterator[pd.DataFrame]:
    """Return the number of answers and mean D by wording, label, pair of labels, and group of the first label.

    `difference` is the D, or the change of D, of each answer of the cell. Yield a table for each of these factors, with
    a row for each level. Answers with an unknown level are omitted.
    """
    factors = cell.counted[["wording", "label_a", "label_b", "first"]].assign(**{PAIR: pairs_of(cell.counted)})
    for name, levels in factors.items():
        is_known = ((levels != "") & ~levels.str.contains(UNKNOWN, regex=False)).to_numpy()
        if is_known.any():
            by_level = pd.Series(difference[is_known]).groupby(levels.to_numpy()[is_known])
            table = by_level.agg(["size", "mean"]).set_axis(["answers", "D"], axis=1)
            table = table.rename_axis("level").reset_index()
            yield table.assign(model=cell.model, stereotype=cell.stereotype, factor=name)


def _published(answers: Answers, ci_prob: float) -> pd.DataFrame:
    """Return the published statistics (see `published_row`), with a row for each model and stereotype."""
    rows = {(cell.model, cell.stereotype): published_row(cell, ci_prob) for cell in answers.cells}
    return _frame(rows, ["model", "stereotype"])
