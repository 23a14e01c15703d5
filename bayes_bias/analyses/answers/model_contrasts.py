"""`answers.compare_models`: which models, or settings of a model, differ in D, from answers to the same questions."""

from collections.abc import Mapping, Sequence
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
from bayes_bias.analyses.answers.model import Density, Observed, Together, observed
from bayes_bias.analyses.answers.pairing import contrast_of, matched
from bayes_bias.analyses.answers.posterior import MAX_PARETO_K, draw
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.answers.results import DECIMALS
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import Column, Layout, Tabled, capitalized, count, counted, estimate, in_words, probability
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.ranks import ranked
from bayes_bias.progress import step
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import estimates, interval_columns, interval_of, rank_column

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

type Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contrasts(Tabled):
    """What comparisons of models have in common, for one topic or several; `table` and `ranking` begin with it."""

    scope: str
    ci_prob: float
    seed: int
    table: pd.DataFrame
    ranking: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""
        raise NotImplementedError

    def quantity(self, topic: str) -> str:
        """Return what is compared."""
        raise NotImplementedError

    def written(self, topic: str) -> tuple[float, int, str]:
        """Return the factor, the decimals and the unit with which numbers of a topic are written."""
        raise NotImplementedError

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topics."""
        return tuple(self.ranking.index.unique(0))

    @property
    def text(self) -> str:
        """Say which models differ, in sentences."""
        found, unreliable = self.table[self.table.survives], self.table.pareto_k > MAX_PARETO_K
        sentences = [
            f"Of {counted(len(self.table), 'difference')} between models {in_words(len(found))}"
            f" {'is' if len(found) == 1 else 'are'} distinguishable from zero after Holm's adjustment."
        ]
        for (topic, model, other), row in found.iterrows():
            times, decimals, unit = self.written(topic)
            value, (lower, upper) = row["mean"], interval_of(row)
            larger, smaller = model, other
            if value < 0:
                larger, smaller, value, lower, upper = other, model, -value, -upper, -lower
            number = f"{estimate(times * value, times * lower, times * upper, decimals)} {unit}".strip()
            sentences.append(self._told(topic, f"of {larger} is larger than that of {smaller} by {number}."))
        reliable = self.table.index[~unreliable].unique(0)
        for topic, rows in self.ranking.groupby(level=0, sort=False):
            if topic in reliable:
                first, chance = rows.prob_first.idxmax()[1], probability(rows.prob_first.max())
                sentences.append(self._told(str(topic), f"of {first} is the largest with probability {chance}."))
        if unreliable.any():
            number = in_words(int(unreliable.sum()))
            sentences.append(f"The draws of {number} cannot be relied upon, and these have no verdict.")
        return " ".join(sentences)

    @property
    def layout(self) -> Layout:
        """Show each difference with its interval."""
        return self.differences(self.topics)

    def differences(self, topics: Sequence[str]) -> Layout:
        """Show differences of some topics."""
        rows, (decimals, unit) = self.in_units(self.table, topics)
        return Layout(
            [self._named(topic, f"{model} − {other}") for topic, model, other in rows.index],
            [
                Column("questions", rows.questions, count, spare=True),
                *estimates(rows, f"difference of {self.quantity(topics[0])}", self.ci_prob, decimals),
                Column("chance", rows.chance, probability),
                Column("after Holm", rows.chance_holm, probability),
                Column("differ", ["yes" if each else "no" for each in rows.survives], words=True),
            ],
            heading="models",
            caption=f"Differences between models{unit}: {self.name}",
        )

    @property
    def ranks(self) -> Layout:
        """Show each model relative to the mean of all, and its rank."""
        return self.order(self.topics)

    def order(self, topics: Sequence[str]) -> Layout:
        """Show models in order in some topics."""
        rows, (decimals, unit) = self.in_units(self.ranking, topics)
        return Layout(
            [self._named(topic, model) for topic, model in rows.index],
            [
                *estimates(rows, f"{self.quantity(topics[0])} less mean", self.ci_prob, decimals),
                *rank_column(rows),
                Column("P(first)", rows.prob_first, probability),
                Column("P(last)", rows.prob_last, probability),
            ],
            heading="model",
            caption=f"Models in order of {self.quantity(topics[0])}{unit}{self.reach}",
        )

    @property
    def reach(self) -> str:
        """Return what it generalises to, after a comma."""
        return ""

    def _named(self, topic: str, name: str) -> str:
        """Of a row."""
        return f"{topic}: {name}"

    def _told(self, topic: str, clause: str) -> str:
        return capitalized(self._named(topic, f"the {self.quantity(topic)} {clause}"))

    def in_units(self, table: pd.DataFrame, topics: Sequence[str]) -> tuple[pd.DataFrame, tuple[int, str]]:
        """Return rows of topics that share a unit as they are written, with decimals and the unit."""
        times, decimals, unit = self.written(topics[0])
        rows = table[table.index.get_level_values(0).isin(topics)]
        columns = ["mean", *interval_columns(table)]
        return rows.assign(**{name: times * rows[name] for name in columns}), (decimals, f", in {unit}" if unit else "")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelContrasts(Contrasts):
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

    @property
    def name(self) -> str:
        return self.answers.name

    def quantity(self, topic: str) -> str:
        return "D"

    def written(self, topic: str) -> tuple[float, int, str]:
        return 1.0, DECIMALS, ""

    @property
    def reach(self) -> str:
        return ", for new labels, wordings and words" if self.scope == "all" else ""

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
        sides, effects = [observed(cell) for cell in same_questions], effects_of(same_questions[0], scope)
        tables[stereotype], rankings[stereotype] = compared(models, sides, effects, seed, ci_prob)
    return ModelContrasts(
        answers=read,
        scope=scope,
        ci_prob=ci_prob,
        seed=seed,
        **joined_tables(tables, rankings, "stereotype", ci_prob),
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


def compared(
    models: Sequence[str], sides: Sequence[Observed], effects: tuple[str, ...], seed: int, ci_prob: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Differences between models and their ranking, from what was observed of each for the same questions."""
    relative, pareto_k = _relative_to_mean(sides, effects, seed)
    number = len(sides[0].difference)
    table = _differences(models, relative, ci_prob).assign(questions=number, pareto_k=pareto_k)
    return table, _ranking(models, relative, ci_prob)


def joined_tables(
    tables: Mapping[str, pd.DataFrame], rankings: Mapping[str, pd.DataFrame], topic: str, ci_prob: float
) -> dict[str, pd.DataFrame]:
    """Those of all topics, with Holm's adjustment for all differences."""
    return {
        "table": _with_holm(pd.concat(tables, names=[topic, "model", "other"]), ci_prob),
        "ranking": pd.concat(rankings, names=[topic, "model"]),
    }


def _relative_to_mean(sides: Sequence[Observed], effects: tuple[str, ...], seed: int) -> tuple[Numbers, float]:
    """Draws of D of each model less the mean of all models, (models, draws), and their Pareto k."""
    contrasts = helmert(len(sides))
    # So that each contrast of D lies between -1 and 1.
    largest = np.abs(contrasts).sum(axis=1).max()
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
