"""`answers.estimate`: from answers of chat models to D, with labels, wordings and words as samples."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_bias.analyses.answers.assignments import OUTCOMES
from bayes_bias.analyses.answers.cell import UNKNOWN, Answers, Cell, select_stereotype
from bayes_bias.analyses.answers.lists import Lists
from bayes_bias.analyses.answers.model import (
    ANSWER,
    PAIR,
    SAMPLES,
    WORD,
    Density,
    Observed,
    loadings,
    names_of,
    observed,
    pairs_of,
    written_out,
)
from bayes_bias.analyses.answers.pairing import half_change, paired
from bayes_bias.analyses.answers.posterior import Posterior, sample
from bayes_bias.analyses.answers.published import published_row
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.answers.results import (
    FEW_LABELS,
    FEW_WORDINGS,
    NEW_LABELS,
    ONE_PAIR,
    SOURCES,
    THESE_LABELS,
    AnswersChange,
    ModelAnswers,
)
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import ScopeError, did_you_mean
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce

if TYPE_CHECKING:
    import pymc as pm

type Source = Answers | pd.DataFrame | str | Path

# From so many labels of each group and wordings on, a verdict speaks of new ones.
ENOUGH_LABELS, ENOUGH_WORDINGS = 5, 3
# If labels account for so much of the variance and D is so large, intervals are too short; see docs/evidence.
_MOSTLY_LABELS, _NEAR_THE_END = 0.5, 0.8
# An answer whose D is larger in size is nearly all one way.
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
    r"""Estimate how far a chat model associates, from answers that assign words to one of two labels.

    Each answer has a

    .. math:: D = P(\textrm{label } a \mid \textrm{word of } a) - P(\textrm{label } a \mid \textrm{word of } b)

    A word of a belongs to the class that is stereotypical for the group of label a, a word of b to that of label b. D
    is 1 if all choices are stereotypical, -1 if none is, and 0 for an answer of one label. Answers are published as if
    they were independent [1]_. They are not: the labels and the wording decide most of what is answered. The model has
    effects

    .. math:: D_i = \mu + w_{s(i)} + v_{k(i)} + a_{l(i)} + b_{m(i)} + ab_{lm(i)} + e_i

    of words, wording, label of each group, and pair of labels, each normal with a standard deviation of its own.

    Parameters
    ----------
    answers : pandas.DataFrame, str or Path
        A row for each word choice; see `bayes_bias.analyses.answers.reading.read_answers`.
    wordlist
        The list of the questions: two groups of labels, two classes of words. Of three groups or more, each with its
        own class, each is compared with the others; answers then have a column ``labels`` with a label of each group,
        "Ben | Mei | Juan". For several stereotypes lists by name, or
        a TOML file with a table ``[lists.name]`` for each, or the name of shipped answers ("answers-demo").
    after : the same as `answers`, optional
        Answers to the same questions by another model, or by the same after tuning; paired by what was asked.
    scope : {"all", "wordings", "words", "trials"}
        What counts as a sample: new labels, wordings and words; new wordings and words for these labels; new words; or
        nothing but repetitions of these questions.
    name : str, optional
        What tables and figures call the answers.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
        The same seed gives the same numbers.
    ignore : str or sequence of str
        Columns whose values differ between answers of one model, such as a temperature, and over which these are pooled
        all the same. Without it they are rejected.
    factors : str or sequence of str
        Columns whose values are kept apart, such as a temperature or a persona: each combination with a model has a row
        of its own. `compare_models` compares them.

    Returns
    -------
    ModelAnswers, or with `after` AnswersChange
        Printed, its sentences; ``table`` has a row for each model and stereotype. D is between -1 and 1, changes of it
        between -2 and 2.

    Raises
    ------
    AnswersError
        The answers cannot be read, or do not belong to the list; answers of one model were given under different
        settings; those after are answers to other questions.
    ScopeError, SpecError
        An impossible scope or seed.

    Notes
    -----
    A verdict for new labels takes five labels of each group and three wordings. With fewer, the interval is there, and
    the verdict says so. With one pair of labels nothing can be said of others: numbers describe this pair only.

    Refusals and invalid choices are left out and never imputed; ``bounds_lb`` and ``bounds_ub`` are the mean D of all
    answers if every one of them had gone against the stereotype, or with it.

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
    check_seed(seed)
    check_samples(scope)
    first = read_answers(answers, wordlist, name=name, ignore=ignore, factors=factors)
    if after is None:
        return ModelAnswers(
            answers=first,
            published=_published(first, ci_prob),
            **_estimate([(cell, observed(cell)) for cell in first.cells], scope, ci_prob, seed, 1),
        )
    second = read_answers(after, wordlist, name=name, ignore=ignore, factors=factors)
    pairs, notices = paired(first, second)
    return AnswersChange(
        before=first,
        after=second,
        notices=announce(tuple(notices)),
        published=pd.concat(
            {"before": _published(first, ci_prob), "after": _published(second, ci_prob)}, names=["state"]
        ),
        **_estimate([(cells[0], half_change(*cells)) for cells in pairs], scope, ci_prob, seed, 2),
    )


def pymc_model(
    answers: Source,
    wordlist: Lists,
    stereotype: str | None = None,
    *,
    scope: str = "all",
    ignore: str | Sequence[str] = (),
) -> "pm.Model":
    """Return the model of `estimate` with every effect written out, for PyMC and ArviZ.

    Parameters
    ----------
    answers, wordlist, scope, ignore
        As in `estimate`.
    stereotype : str, optional
        The stereotype; needed if there are several. If several language models were asked about it, the first is used.

    Returns
    -------
    pymc.Model
        ``mu``; ``sd_word``, ``sd_wording``, ``sd_label_a``, ``sd_label_b``, ``sd_pair`` and ``sd_answer``; the effects
        ``word_effect``, ``wording_effect`` and so on, each a standard deviation times a standard normal variable. The
        observed variables are ``D`` of each answer, and ``word_contrast``, by how much words differ within answers.
        `estimate` integrates the effects out; the other variables have the same posterior.

    Raises
    ------
    AnswersError, ScopeError
        As in `estimate`, or an unknown stereotype.

    Examples
    --------
    >>> model = pymc_model("answers-demo", "answers-demo", "power")               # doctest: +SKIP
    """
    check_samples(scope)
    cells = read_answers(answers, wordlist, ignore=ignore).cells
    stereotypes = [cell.stereotype for cell in cells]
    cell = cells[stereotypes.index(select_stereotype(stereotypes, stereotype))]
    return written_out(observed(cell), effects_of(cell, scope), names_of(cell))


def check_samples(scope: str) -> None:
    """Refuse a scope that answers do not have."""
    if scope not in SAMPLES:
        raise ScopeError(f"scope: {scope!r} is not what answers are a sample of; {did_you_mean(scope, SAMPLES)}")


def effects_of(cell: Cell, scope: str) -> tuple[str, ...]:
    """The effects that vary under a scope; of one pair of labels none can be told from mu."""
    return SAMPLES["wordings" if scope == "all" and cell.is_one_pair else scope]


# From what was observed to tables: a row for each model and stereotype.


def _estimate(cells: list[tuple[Cell, Observed]], scope: str, ci_prob: float, seed: int, unit: int) -> dict[str, Any]:
    keys = [(cell.model, cell.stereotype) for cell, _ in cells]
    posteriors, rows, steps, sources = {}, [], [], []
    for number, (cell, data) in enumerate(cells, start=1):
        step(f"{cell.stereotype} ({number} of {len(cells)})")
        by_scope = {
            samples: sample(Density(data, SAMPLES[samples]), seed)
            for samples in SAMPLES
            if not (samples == "all" and cell.is_one_pair)
        }
        posterior = by_scope.get(scope, by_scope["wordings"])
        posteriors[cell.model, cell.stereotype] = posterior
        spread = _sds(data, posterior)
        rows.append(_row(cell, data, posterior, spread, scope, ci_prob, unit))
        steps += [_summary(by_scope[s].draws.mu.to_numpy() * unit, ci_prob) if s in by_scope else {} for s in SAMPLES]
        widest = _sds(data, by_scope.get("all", by_scope["wordings"]))
        sources += [summarize_draws(unit * widest[name], ci_prob) if name in widest else {} for name in SOURCES]
    index = pd.MultiIndex.from_tuples(keys, names=["model", "stereotype"])
    return {
        "scope": scope,
        "ci_prob": ci_prob,
        "seed": seed,
        "table": pd.DataFrame(rows, index=index),
        "ladder": pd.DataFrame(steps, index=_append_level(keys, "samples", SAMPLES)),
        "sources": pd.DataFrame(sources, index=_append_level(keys, "source", SOURCES)),
        "levels": _levels(cells, unit),
        "posteriors": posteriors,
    }


def _append_level(keys: list[tuple[str, str]], name: str, values: Any) -> pd.MultiIndex:
    return pd.MultiIndex.from_tuples(
        [(*key, value) for key in keys for value in values], names=["model", "stereotype", name]
    )


def _summary(mu: NDArray[np.float64], ci_prob: float) -> dict[str, float]:
    above = float((mu > 0).mean())
    numbers = {key: float(value) for key, value in summarize_draws(mu, ci_prob).items()}
    return numbers | {"prob_above": above, "prob_direction": max(above, 1 - above)}


def _sds(data: Observed, posterior: Posterior) -> dict[str, NDArray[np.float64]]:
    """Draws of the standard deviation that each source gives an answer's D."""
    draws = {name.removeprefix("sd_"): column.to_numpy() for name, column in posterior.draws.items() if name != "mu"}
    sds = {"answers": draws[ANSWER]}
    if WORD in draws:
        of_words = (loadings(data.keys, WORD, data.words) ** 2).sum(axis=1).mean() ** 0.5
        sds["words"] = draws[WORD] * of_words
    if "wording" in draws:
        sds["wordings"] = draws["wording"]
    if PAIR in draws:
        sds["labels"] = np.sqrt(draws["label_a"] ** 2 + draws["label_b"] ** 2 + draws[PAIR] ** 2)
    return sds


def _row(
    cell: Cell,
    data: Observed,
    posterior: Posterior,
    spread: dict[str, NDArray[np.float64]],
    scope: str,
    ci_prob: float,
    unit: int,
) -> dict[str, Any]:
    mu = posterior.draws.mu.to_numpy()
    total = np.sqrt(sum(sd**2 for sd in spread.values()))
    lower, upper = cell.bounds
    labels = spread.get("labels", np.zeros(1))
    optimistic = abs(mu.mean()) > _NEAR_THE_END and np.mean(labels**2) > _MOSTLY_LABELS * np.mean(total**2)
    return {
        "answers": len(data.difference),
        "labels_a": len(cell.labels("a")),
        "labels_b": len(cell.labels("b")),
        "wordings": len(cell.wordings),
        "words": len({word for words in cell.sets for word in words}),
        "observed": unit * float(data.difference.mean()),
        **_summary(unit * mu, ci_prob),
        "prob_new_answer": float(ndtr(mu / total).mean()),
        "reach": _reach(cell, scope),
        "decided": float((np.abs(unit * data.difference) > _DECIDED).mean()),
        "invalid": cell.invalid,
        **{name.replace(" ", "_"): cell.reading.choices[name] for name in OUTCOMES[1:]},
        "bounds_lb": lower,
        "bounds_ub": upper,
        "one_label": cell.one_label,
        "optimistic": bool(optimistic),
        "pareto_k": posterior.pareto_k,
        "ess": posterior.ess,
    }


def _reach(cell: Cell, scope: str) -> str:
    if cell.is_one_pair:
        return ONE_PAIR
    if scope != "all":
        return THESE_LABELS
    if min(len(cell.labels("a")), len(cell.labels("b"))) < ENOUGH_LABELS:
        return FEW_LABELS
    return NEW_LABELS if len(cell.wordings) >= ENOUGH_WORDINGS else FEW_WORDINGS


def _levels(cells: list[tuple[Cell, Observed]], unit: int) -> pd.DataFrame:
    """Numbers of answers and mean D by what was asked: wording, label, pair, and the group named first."""
    tables = [table for cell, data in cells for table in _levels_of(cell, unit * data.difference)]
    return pd.concat(tables).set_index(["model", "stereotype", "factor", "level"]).sort_index()


def _levels_of(cell: Cell, difference: NDArray[np.float64]) -> Iterator[pd.DataFrame]:
    replies = cell.counted
    factors = {name: replies[name] for name in ("wording", "label_a", "label_b", "first")}
    factors[PAIR] = pairs_of(replies)
    for name, levels in factors.items():
        is_level = ((levels != "") & ~levels.str.contains(UNKNOWN, regex=False)).to_numpy()
        if is_level.any():
            by_level = pd.Series(difference[is_level]).groupby(levels.to_numpy()[is_level]).agg(["size", "mean"])
            by_level = by_level.set_axis(["answers", "D"], axis=1).rename_axis("level").reset_index()
            yield by_level.assign(model=cell.model, stereotype=cell.stereotype, factor=name)


def _published(answers: Answers, ci_prob: float) -> pd.DataFrame:
    keys = [(cell.model, cell.stereotype) for cell in answers.cells]
    rows = [published_row(cell, ci_prob) for cell in answers.cells]
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(keys, names=["model", "stereotype"]))
