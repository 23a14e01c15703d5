"""`answers.compare_models`: which models, or settings of a model, differ in D, from answers to the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayes_bias.analyses.answers.cell import Answers, Cell
from bayes_bias.analyses.answers.estimation import Source, check_samples, effects_of
from bayes_bias.analyses.answers.lists import Lists
from bayes_bias.analyses.answers.model import Density, Together, observed
from bayes_bias.analyses.answers.pairing import contrast_of, matched
from bayes_bias.analyses.answers.posterior import MAX_PARETO_K, draw
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.answers.results import DECIMALS
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import Column, Layout, Tabled, count, counted, estimate, in_words, probability
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.ranks import ranked
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import estimates, interval_of, rank_column

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

type Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelContrasts(Tabled):
    """Differences in D between models that were asked the same. Made by `bayes_bias.answers.compare_models`.

    Attributes
    ----------
    answers : Answers
        The answers that were read.
    scope, ci_prob, seed
    table : pandas.DataFrame
        Index ``(stereotype, model, other)``: numbers of ``questions``; posterior ``mean``, ``sd``, interval and
        ``prob_direction`` of the difference, the D of the model less that of the other, between -2 and 2; ``chance`` of
        a difference as large if there were none, ``chance_holm`` after Holm's adjustment for all rows, and whether the
        difference ``survives`` it; ``pareto_k`` of the draws.
    ranking : pandas.DataFrame
        Index ``(stereotype, model)``, the largest D first: ``mean`` D less the mean of all models, with ``sd`` and
        interval; mean ``rank``, 1 for the largest D, with its interval; ``prob_first`` and ``prob_last``.
    notices : tuple of str
        Which answers have no partner.
    """

    answers: Answers
    scope: str
    ci_prob: float
    seed: int
    table: pd.DataFrame
    ranking: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say which models differ, in sentences."""
        found = self.table[self.table.survives]
        sentences = [
            f"Of {counted(len(self.table), 'difference')} between models {in_words(len(found))}"
            f" {'is' if len(found) == 1 else 'are'} distinguishable from zero after Holm's adjustment."
        ]
        for (stereotype, model, other), row in found.iterrows():
            value, (lower, upper) = row["mean"], interval_of(row)
            larger, smaller = model, other
            if value < 0:
                larger, smaller, value, lower, upper = other, model, -value, -upper, -lower
            number = estimate(value, lower, upper, DECIMALS)
            sentences.append(f"{stereotype}: the D of {larger} is larger than that of {smaller} by {number}.")
        unreliable = self.table.pareto_k > MAX_PARETO_K
        reliable = self.table.index[~unreliable].unique("stereotype")
        for stereotype, rows in self.ranking.groupby(level="stereotype", sort=False):
            if stereotype not in reliable:
                continue
            first = rows.prob_first.idxmax()[1]
            chance = probability(rows.prob_first.max())
            sentences.append(f"{stereotype}: {first} has the largest D with probability {chance}.")
        if unreliable.any():
            number = in_words(int(unreliable.sum()))
            sentences.append(f"The draws of {number} cannot be relied upon, and these have no verdict.")
        return " ".join(sentences)

    @property
    def layout(self) -> Layout:
        """Show each difference with its interval."""
        rows = self.table
        return Layout(
            [f"{stereotype}: {model} − {other}" for stereotype, model, other in rows.index],
            [
                Column("questions", rows.questions, count, spare=True),
                *estimates(rows, "difference of D", self.ci_prob, DECIMALS),
                Column("chance", rows.chance, probability),
                Column("after Holm", rows.chance_holm, probability),
                Column("differ", ["yes" if each else "no" for each in rows.survives], words=True),
            ],
            heading="models",
            caption=f"Differences between models: {self.answers.name}",
        )

    @property
    def ranks(self) -> Layout:
        """Show D of each model relative to the mean of all, and its rank."""
        rows = self.ranking
        return Layout(
            [f"{stereotype}: {model}" for stereotype, model in rows.index],
            [
                *estimates(rows, "D less mean", self.ci_prob, DECIMALS),
                *rank_column(rows),
                Column("P(first)", rows.prob_first, probability),
                Column("P(last)", rows.prob_last, probability),
            ],
            heading="model",
            caption="Models in order of D, for new labels, wordings and words"
            if self.scope == "all"
            else "Models in order of D",
        )

    def document(self) -> "Document":
        """Return the page of the comparison and the files next to it, for `bayes_bias.write`."""
        from bayes_bias.analyses.answers.document import contrasts_document

        return contrasts_document(self)


def compare_models(
    answers: Source,
    wordlist: Lists,
    *,
    factors: str | Sequence[str] = (),
    scope: str = "all",
    name: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    ignore: str | Sequence[str] = (),
) -> ModelContrasts:
    r"""Which models differ in D? Answers of all models to the same questions are compared.

    In one crossed model, answer i of model m has

    .. math:: D_{im} = \mu_m + u_i + w_{s(i)m} + v_{k(i)m} + a_{l(i)m} + b_{n(i)m} + ab_{ln(i)m} + e_{im}

    What is the same for all models, u, cancels in differences between models, whatever it is. Effects of words,
    wordings, and labels that are those of a model have the same standard deviations for all models. Effects are
    integrated out exactly: orthonormal (Helmert) contrasts of models have the density of `estimate` each, and share
    these standard deviations. Draws of them give all differences and the order of the models at once.

    Parameters
    ----------
    answers, wordlist, scope, name, ci_prob, seed, ignore
        As in `estimate`; answers of two models or more, or of one model and `factors`.
    factors : str or sequence of str
        Columns whose values are compared as models are, such as ``["temperature", "persona"]``: each combination with a
        model is one.

    Returns
    -------
    ModelContrasts
        ``table`` of differences, ``ranking``; printed, its sentences.

    Raises
    ------
    AnswersError
        As in `estimate`; there is one model; two models have no question in common.
    ScopeError, SpecError
        An impossible scope or seed.

    Notes
    -----
    Only questions that all models were asked are used, and a notice says how many answers are not.

    Examples
    --------
    >>> compare_models("answers.csv", "my-list.toml", factors="temperature")      # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    check_seed(seed)
    check_samples(scope)
    read = read_answers(answers, wordlist, name=name, ignore=ignore, factors=factors)
    if len(read.models) < 2:
        raise AnswersError(
            f"answers: all are of one model{f', {read.models[0]}' if read.models[0] else ''}; add a column 'model', or"
            " name the columns whose values are to be compared (factors=['temperature'], --factors temperature)"
        )
    tables, rankings, notices = {}, {}, list[str]()
    for stereotype, cells in _by_stereotype(read.cells).items():
        step(stereotype)
        same_questions, told = matched(cells, "answers")
        notices += [f"{stereotype}: {notice}" for notice in told]
        models = [cell.model for cell in cells]
        relative, pareto_k = _relative_to_mean(same_questions, scope, seed)
        number = len(same_questions[0].replies)
        tables[stereotype] = _differences(models, relative, ci_prob).assign(questions=number, pareto_k=pareto_k)
        rankings[stereotype] = _ranking(models, relative, ci_prob)
    return ModelContrasts(
        answers=read,
        scope=scope,
        ci_prob=ci_prob,
        seed=seed,
        table=_with_holm(pd.concat(tables, names=["stereotype", "model", "other"]), ci_prob),
        ranking=pd.concat(rankings, names=["stereotype", "model"]),
        notices=announce(tuple(notices)),
    )


def _by_stereotype(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of stereotypes about which two models or more were asked."""
    by_stereotype: dict[str, list[Cell]] = {}
    for cell in cells:
        by_stereotype.setdefault(cell.stereotype, []).append(cell)
    several = {stereotype: of_models for stereotype, of_models in by_stereotype.items() if len(of_models) > 1}
    if not several:
        raise AnswersError("answers: no two models were asked about one stereotype; give answers to the same questions")
    return several


def _relative_to_mean(cells: Sequence[Cell], scope: str, seed: int) -> tuple[Numbers, float]:
    """Draws of D of each model less the mean of all models, (models, draws), and their Pareto k."""
    contrasts = helmert(len(cells))
    # So that each contrast of D lies between -1 and 1.
    largest = np.abs(contrasts).sum(axis=1).max()
    sides, effects = [observed(cell) for cell in cells], effects_of(cells[0], scope)
    densities = [Density(contrast_of(sides, weights / largest), effects) for weights in contrasts]
    drawn = draw(Together(densities), seed)
    return largest * contrasts.T @ drawn.mu.T, drawn.pareto_k


def _differences(models: Sequence[str], relative: Numbers, ci_prob: float) -> pd.DataFrame:
    """The difference of any two models, a row each."""
    rows = {}
    for (one, model), (two, other) in combinations(enumerate(models), 2):
        difference = relative[one] - relative[two]
        above = float((difference > 0).mean())
        rows[model, other] = {
            **{key: float(value) for key, value in summarize_draws(difference, ci_prob).items()},
            "prob_direction": max(above, 1 - above),
            "chance": 2 * min(above, 1 - above),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "other"])


def _with_holm(rows: pd.DataFrame, ci_prob: float) -> pd.DataFrame:
    """Chances after Holm's adjustment; draws that cannot be relied upon have none, and count all the same."""
    adjusted = holm(rows.chance.where(rows.pareto_k <= MAX_PARETO_K).to_numpy())
    return rows.assign(chance_holm=adjusted, survives=adjusted < 1 - ci_prob)


def _ranking(models: Sequence[str], relative: Numbers, ci_prob: float) -> pd.DataFrame:
    """Models with their D less the mean of all, and their ranks."""
    first, last = (np.bincount(end(relative, axis=0), minlength=len(models)) for end in (np.argmax, np.argmin))
    summary = pd.DataFrame([summarize_draws(own, ci_prob) for own in relative], index=pd.Index(models))
    ranking = summary.join(ranked(relative, models, ci_prob).table)
    ranking = ranking.assign(prob_first=first / relative.shape[1], prob_last=last / relative.shape[1])
    return ranking.sort_values("mean", ascending=False, kind="stable")
