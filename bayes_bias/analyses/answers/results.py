"""Results for answers of chat models, as data and as sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import Answers
from bayes_bias.analyses.answers.model import SAMPLES
from bayes_bias.analyses.answers.posterior import MAX_PARETO_K, Posterior
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import (
    MARKS,
    Column,
    Layout,
    Tabled,
    bounds,
    capitalized,
    count,
    equals,
    estimate,
    in_words,
    joined,
    level,
    percent,
    plain,
    probability,
    signed,
)
from bayes_bias.table.columns import estimates, interval_of

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

# What a number speaks of.
NEW_LABELS, FEW_LABELS, FEW_WORDINGS = "new labels", "few labels", "few wordings"
THESE_LABELS, ONE_PAIR = "these labels", "this pair only"
SOURCES = ("answers", "words", "wordings", "labels")
# What the steps of the ladder count as a sample.
STEPS: Mapping[str, str] = MappingProxyType(
    {"trials": "answers alone", "words": "and words", "wordings": "and wordings", "all": "and labels"}
)
DECIMALS = 2
_NAMED = 8


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _AnswersResult(Tabled):
    """Hold what results of answers and of a change have in common."""

    scope: str
    ci_prob: float
    seed: int
    table: pd.DataFrame
    ladder: pd.DataFrame
    sources: pd.DataFrame
    levels: pd.DataFrame
    published: pd.DataFrame
    posteriors: Mapping[tuple[str, str], Posterior]

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""
        raise NotImplementedError

    @property
    def changed(self) -> bool:
        """Whether it is a change between two models."""
        return False

    @property
    def sides(self) -> tuple[Answers, ...]:
        """Return the answers that the result rests on."""
        raise NotImplementedError

    @property
    def all_notices(self) -> tuple[str, ...]:
        """Return what a reader should know about the answers."""
        return tuple(notice for side in self.sides for notice in side.notices)

    @property
    def several_models(self) -> bool:
        """Whether rows come from more than one model."""
        return len(set(self.table.index.get_level_values("model"))) > 1

    @property
    def distinguishable(self) -> "pd.Series[bool]":
        """Whether the interval of each row excludes zero and its draws can be relied upon."""
        lower, upper = interval_of(self.table)
        return ((lower > 0) | (upper < 0)) & (self.table.pareto_k <= MAX_PARETO_K)

    def steps(self, row: tuple[str, str]) -> pd.DataFrame:
        """Return the ladder of one model and stereotype, without missing steps."""
        return self.ladder.loc[row].dropna(subset="mean")

    def called(self, row: tuple[str, str]) -> str:
        """Return the label of a row."""
        model, stereotype = row
        return f"{stereotype} ({model})" if self.several_models else stereotype

    def verdict(self, stereotype: str | None = None, model: str | None = None) -> str:
        """Say in a sentence whether D is distinguishable from zero, and for which labels and words."""
        return self._verdict(self.row(stereotype, model))

    @property
    def text(self) -> str:
        """Describe the result in sentences."""
        rows = list(self.table.index)
        sentences = self._sentences_on_one(rows[0]) if len(rows) == 1 else self._sentences_on_all()
        return " ".join(sentences)

    def row(self, stereotype: str | None = None, model: str | None = None) -> tuple[str, str]:
        """Find the model and stereotype of one row of the table.

        Raises
        ------
        AnswersError
            There is no such row, or there are several.
        """
        rows = [
            row
            for row in self.table.index
            if (model is None or row[0] == model) and (stereotype is None or row[1] == stereotype)
        ]
        if len(rows) != 1:
            names = ", ".join(self.called(row) for row in self.table.index[:_NAMED])
            raise AnswersError(f"stereotype: {stereotype!r} is not one row of the table; give one of {names}")
        return rows[0]

    def _verdict(self, key: tuple[str, str]) -> str:
        row, what = self.table.loc[key], "change of D" if self.changed else "D"
        if row.pareto_k > MAX_PARETO_K:
            return (
                f"{capitalized(self.called(key))}: no verdict, since the draws cannot be relied upon (Pareto k"
                f" {plain(row.pareto_k, 2)})."
            )
        clear = bool(self.distinguishable.loc[key])
        number = estimate(row["mean"], *interval_of(row), DECIMALS)
        chances = f"probability that it is positive {equals(probability(row.prob_above))}"
        judged = f"{'' if clear else 'not '}distinguishable from zero"
        caution = {
            FEW_LABELS: f", though {self._numbers(row)} are few to generalise from; five of each group would be enough",
            FEW_WORDINGS: ", though it takes three wordings or more to generalise to others",
        }.get(row.reach, "")
        return (
            f"{capitalized(self.called(key))}: for {self._whom(row)} the {what} is {number}, {judged}"
            f" ({chances}){caution}."
        )

    def _whom(self, row: "pd.Series[Any]") -> str:
        if self.scope == "all":
            return {ONE_PAIR: "this pair of labels and new wordings"}.get(row.reach, "new labels and wordings")
        return {
            "wordings": "these labels and new wordings",
            "words": "these labels and wordings and new words",
            "trials": "exactly these questions",
        }[self.scope]

    @staticmethod
    def _numbers(row: "pd.Series[Any]") -> str:
        a, b = int(row.labels_a), int(row.labels_b)
        return f"{in_words(a)} labels of each group" if a == b else f"{in_words(a)} and {in_words(b)} labels"

    def _sentences_on_one(self, key: tuple[str, str]) -> list[str]:
        row, steps = self.table.loc[key], self.steps(key)
        of = f" of {key[0]}" if key[0] and not self.changed else ""
        number = signed(row.observed, DECIMALS)
        ends = [
            f"{STEPS[str(name)].replace('and ', 'with ')} {bounds(*interval_of(step), DECIMALS)}"
            for name, step in steps.iterrows()
        ]
        sentences = [
            f"D changed by {number} on average between {count(row.answers)} pairs of answers ({self.name})."
            if self.changed
            else f"{count(row.answers)} answers{of} have a mean D of {number} ({self.name}).",
            self._verdict(key),
            f"{level(self.ci_prob)} intervals by what counts as a sample: {joined(ends)}.",
        ]
        if row.reach == ONE_PAIR:
            sentences.append("All answers chose between one pair of labels, so nothing can be said about others.")
        if row.optimistic:
            sentences.append(_OPTIMISTIC)
        return [*sentences, *self._more(key)]

    def _sentences_on_all(self) -> list[str]:
        table, clear = self.table, self.distinguishable
        what = "change" if self.changed else "association"
        one_pair = int((clear & (table.reach == ONE_PAIR)).sum())
        few = int((clear & table.reach.isin((FEW_LABELS, FEW_WORDINGS))).sum())
        stands = int((clear & (table.reach == NEW_LABELS)).sum())
        rows = f"{in_words(len(table))} {'rows (model and stereotype)' if self.several_models else 'stereotypes'}"
        forward = int((clear & (table["mean"] > 0)).sum())
        sentences = [
            f"Of {rows} {in_words(int(clear.sum()))} have {'a' if self.changed else 'an'} {what} distinguishable from"
            f" zero, {in_words(forward)} {'upwards' if self.changed else 'in the direction of the stereotype'}."
        ]
        if self.scope == "all" and clear.any():
            sentences.append(
                f"Of these {in_words(stands)} are for new labels, {in_words(few)} from too few labels or wordings to be"
                f" sure of others, and {in_words(one_pair)} for the only pair of labels that was asked."
            )
        return [*sentences, self._ladder_counts(), *self._more_of_all()]

    def _ladder_counts(self) -> str:
        """How many rows are distinguishable, step by step; a row without the last step stays at the one before."""
        numbers = [in_words(int(number)) for number in self.counts().distinguishable]
        return (
            f"If answers alone counted as a sample there would be {numbers[0]}, with words {numbers[1]}, with wordings"
            f" {numbers[2]}, and with labels {numbers[3]}."
        )

    def counts(self) -> pd.DataFrame:
        """Count the distinguishable rows in each step of the ladder, and the positive ones among them."""
        rows = []
        for name in SAMPLES:
            step = self.ladder.xs(name, level="samples")
            before = self.ladder.xs("wordings", level="samples")
            step = step.where(step["mean"].notna(), before)
            lower, upper = interval_of(step)
            rows.append({"distinguishable": int(((lower > 0) | (upper < 0)).sum()), "positive": int((lower > 0).sum())})
        return pd.DataFrame(rows, index=pd.Index(SAMPLES, name="samples"))

    def _more(self, key: tuple[str, str]) -> list[str]:
        return []

    def _more_of_all(self) -> list[str]:
        return []

    @property
    def layout(self) -> Layout:
        """Show D of each stereotype with its interval, and the labels and words that it holds for."""
        rows, what = self.table, "change of D" if self.changed else "D"
        verdicts = ["distinguishable" if clear else "not distinguishable" for clear in self.distinguishable]
        return Layout(
            [f"{MARKS[verdict]} {self.called(key)}" for key, verdict in zip(rows.index, verdicts, strict=True)],
            [
                Column("answers", rows.answers, count, spare=True),
                Column("observed", rows.observed, partial(signed, decimals=DECIMALS), spare=True),
                *estimates(rows, what, self.ci_prob, DECIMALS),
                Column("P(above 0)", rows.prob_above, probability),
                Column("speaks of", rows.reach, words=True),
                *self._published_columns(),
            ],
            heading="stereotype",
            caption=f"{capitalized(what)}: {self.name}",
        )

    def _published_columns(self) -> list[Column]:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelAnswers(_AnswersResult):
    """Estimates of how far chat models associate. Made by `bayes_bias.answers.estimate`.

    Attributes
    ----------
    answers : Answers
        The answers that were read.
    scope : {"all", "wordings", "words", "trials"}
        What counts as a sample.
    ci_prob, seed
    table : pandas.DataFrame
        Index ``(model, stereotype)``: ``answers`` with a D; numbers of ``labels_a``, ``labels_b``, ``wordings``,
        ``words``; ``observed`` mean D; posterior ``mean``, ``sd`` and interval of D; ``prob_above``,
        ``prob_direction``; ``prob_new_answer``, the probability that a new answer has a positive D; ``reach``, the
        labels and words that D holds for; ``decided``, the share of answers with a D above .9 in size; ``invalid``, the
        share of choices that are not valid, and their numbers: ``refused``, ``contradictory``, ``not_understood`` and
        ``left_out``; ``bounds_lb`` and ``bounds_ub``, the mean D of all answers if these choices had gone
        against or with the stereotype; ``one_label``, answers that give all words one label; ``optimistic``, whether
        the interval may be too short; ``pareto_k`` and ``ess`` of the draws.
    ladder : pandas.DataFrame
        Index ``(model, stereotype, samples)``: mean, sd, interval and probabilities if answers alone count as a sample
        ("trials"), or words, wordings and labels ("all") as well. Missing for labels if there is only one pair.
    sources : pandas.DataFrame
        Index ``(model, stereotype, source)``: the standard deviation of D between answers to one question, and by
        words, wordings and labels.
    levels : pandas.DataFrame
        Index ``(model, stereotype, factor, level)``: numbers of ``answers`` and mean ``D`` by wording, label, pair of
        labels, and the group whose label was named first.
    published : pandas.DataFrame
        See `bayes_bias.analyses.answers.published.published_row`.
    posteriors : mapping of (model, stereotype) to Posterior
        Draws of mu and of all standard deviations.
    """

    answers: Answers

    def document(self) -> "Document":
        """Return the page of the answers and the files next to it, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.answers.document import answers_document

        return answers_document(self)

    @property
    def name(self) -> str:
        return self.answers.name

    @property
    def sides(self) -> tuple[Answers, ...]:
        return (self.answers,)

    def _published_columns(self) -> list[Column]:
        rows = self.published.loc[self.table.index]
        return [
            Column("published D", rows.published_d, partial(signed, decimals=DECIMALS), spare=True),
            Column("its p", rows.p, probability, spare=True),
        ]

    def _more(self, key: tuple[str, str]) -> list[str]:
        row, raw = self.table.loc[key], self.published.loc[key]
        return [
            f"A new answer is stereotypical on balance with probability {probability(row.prob_new_answer)}.",
            f"The published D is {signed(raw.published_d, DECIMALS)}, and a t test over answers gives p"
            f" {equals(probability(raw.p))}.",
        ]

    def _more_of_all(self) -> list[str]:
        significant = int((self.published.p < 0.05).sum())
        return [f"The published t test over answers finds {in_words(significant)}."]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswersChange(_AnswersResult):
    """The change of D between two models that were asked the same. Made by `bayes_bias.answers.estimate`.

    Attributes
    ----------
    before, after : Answers
        Both sides.
    notices : tuple of str
        Which answers of one side have no partner on the other.
    published : pandas.DataFrame
        Published numbers of both sides; see `ModelAnswers`.
    scope, ci_prob, seed, table, ladder, sources, levels, posteriors
        As in `ModelAnswers`, for changes of D, which lie between -2 and 2. Draws are those of half the change.
    """

    before: Answers
    after: Answers
    notices: tuple[str, ...]

    def document(self) -> "Document":
        """Return the page of the change and the files next to it, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.answers.document import answers_document

        return answers_document(self)

    @property
    def name(self) -> str:
        before, after = self.before.name, self.after.name
        return before if before == after else f"{before} to {after}"

    @property
    def changed(self) -> bool:
        return True

    @property
    def sides(self) -> tuple[Answers, ...]:
        return (self.before, self.after)

    @property
    def all_notices(self) -> tuple[str, ...]:
        sides = {"before": self.before, "after": self.after}
        return (*self.notices, *(f"{state}, {notice}" for state, side in sides.items() for notice in side.notices))

    def _published_columns(self) -> list[Column]:
        return [
            Column(f"published D\n{state}", [self._published(state, *key) for key in self.table.index], spare=True)
            for state in ("before", "after")
        ]

    def _published(self, state: str, model: str, stereotype: str) -> str:
        """The published D of a side, whose model may have another name."""
        rows = self.published.loc[state].xs(stereotype, level="stereotype")
        row = rows.loc[model] if model in rows.index else rows.iloc[0]
        return signed(row.published_d, DECIMALS)


_OPTIMISTIC = (
    "Labels decide nearly all of it and D is near its end, so intervals are too short: of 95% intervals 79 to 82%"
    " held the truth in such simulations."
)


def share_decided(table: pd.DataFrame) -> str:
    """The share of all answers that are nearly all one way."""
    return percent(float(np.average(table.decided, weights=table.answers)))
