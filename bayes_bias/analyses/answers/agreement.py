"""The same list asked of chat models, and measured in embeddings and encoders: who agrees?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayes_bias.analyses.answers.cell import select_stereotype
from bayes_bias.analyses.answers.results import DECIMALS, ModelAnswers
from bayes_bias.arguments import check_kind
from bayes_bias.errors import AnswersError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Column, Layout, Tabled, bounds, in_words, joined, level, marked, probability, signed
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.table.columns import interval_names, interval_of

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Tabled):
    """One list in several sources. Made by `bayes_bias.answers.compare`.

    Attributes
    ----------
    name : str
        The stereotype.
    ci_prob : float
        Probability of the equal-tailed intervals.
    table : pandas.DataFrame
        A row for each ``source``: its ``unit``; ``mean`` and interval in this unit; ``prob_above``; and ``verdict``:
        distinguishable, or not.
    decimals : mapping of str to int
        How many decimals to show for each source.
    """

    name: str
    ci_prob: float
    table: pd.DataFrame
    decimals: Mapping[str, int]

    def document(self) -> "Document":
        """Return the page, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.answers.document import agreement_document

        return agreement_document(self)

    @property
    def text(self) -> str:
        """Say in sentences which sources agree."""
        clear = self.table.verdict == "distinguishable"
        with_it, against = clear & (self.table["mean"] > 0), clear & (self.table["mean"] < 0)
        parts = [
            (with_it, "associate in the direction of the stereotype"),
            (against, "associate against it"),
            (~clear, "are not distinguishable from zero"),
        ]
        sentences = [f"{joined(list(self.table.index[which]))}: {what}" for which, what in parts if which.any()]
        return f"{self.name[:1].upper()}{self.name[1:]} in {in_words(len(self.table))} sources. {'. '.join(sentences)}."

    @property
    def layout(self) -> Layout:
        """A row for each source, in its own unit."""
        rows, decimals = self.table, [self.decimals[str(source)] for source in self.table.index]
        ends = zip(*interval_of(rows), decimals, strict=True)
        return Layout(
            list(map(str, rows.index)),
            [
                Column("association", list(map(signed, rows["mean"], decimals))),
                Column(f"{level(self.ci_prob)} interval", [bounds(*each) for each in ends]),
                Column("unit", rows.unit, words=True),
                Column("P(above 0)", rows.prob_above, probability),
                Column("verdict", rows.verdict, marked, words=True),
            ],
            heading="source",
        )


def compare(
    answers: ModelAnswers, fits: Mapping[str, Fit], stereotype: str | None = None, *, ci_prob: float = 0.95
) -> Agreement:
    """Compare a list in answers of chat models and in vectors, each with its interval in its own unit.

    D counts choices, and a bias of vectors is a difference of cosines, so their sizes cannot be compared. What can be
    compared is whether each is distinguishable from zero, and on which side.

    Parameters
    ----------
    answers : ModelAnswers
        From `bayes_bias.answers.estimate`; each of its models is a source.
    fits : mapping of str to fit
        Fits of the same list by their names. `bayes_bias.fit` makes them from the cosines of an embedding or an
        encoder. See `bayes_bias.answers.wordlists`.
    stereotype : str, optional
        Stereotype to compare, if answers are about several.
    ci_prob : float

    Raises
    ------
    AnswersError
        There is no such stereotype, or the fit is of another word list.

    Examples
    --------
    >>> career = wordlists("answers-demo")["career"]                              # doctest: +SKIP
    >>> compare(found, {"GoogleNews": bb.fit(bb.cosines(career, "vectors.bin"))}, "career")   # doctest: +SKIP
    """
    check_kind("answers", answers, ModelAnswers, "not what `answers.estimate` returned; give that", AnswersError)
    stereotypes = answers.table.index.get_level_values("stereotype").unique().tolist()
    name = select_stereotype(stereotypes, stereotype)
    cells = {cell.model or answers.name: cell for cell in answers.answers.cells if cell.stereotype == name}
    rows = {source: _row_of_answers(answers, (cell.model, name), ci_prob) for source, cell in cells.items()}
    questions = next(iter(cells.values())).questions
    decimals = dict.fromkeys(rows, DECIMALS)
    for source, fit in fits.items():
        fitted = Fitted.of(fit)
        if set(fitted.data["group"].to_numpy().tolist()) != set(questions.groups):
            theirs, ours = ", ".join(map(str, fitted.data["group"].to_numpy())), ", ".join(questions.groups)
            raise AnswersError(
                f"fits: '{source}' is of the groups {theirs}, and the answers are about {ours}; fit the same list"
            )
        rows[source] = _row_of_vectors(fitted, ci_prob)
        decimals[source] = fitted.metric.decimals
    return Agreement(name, ci_prob, pd.DataFrame.from_dict(rows, orient="index").rename_axis("source"), decimals)


def _row_of_answers(answers: ModelAnswers, key: tuple[str, str], ci_prob: float) -> dict[str, Any]:
    mu = answers.posteriors[key].draws.mu
    ends = (float(mu.quantile((1 - ci_prob) / 2)), float(mu.quantile((1 + ci_prob) / 2)))
    return _row("D", float(mu.mean()), ends, float((mu > 0).mean()), ci_prob)


def _row_of_vectors(fitted: Fitted, ci_prob: float) -> dict[str, Any]:
    row = row_of_bias(fitted, ci_prob=ci_prob)
    above = row.prob_direction if row["mean"] > 0 else 1 - row.prob_direction
    return _row(fitted.metric.unit, float(row["mean"]), interval_of(row), float(above), ci_prob)


def _row(unit: str, mean: float, ends: tuple[float, float], above: float, ci_prob: float) -> dict[str, Any]:
    clear = ends[0] > 0 or ends[1] < 0
    interval = dict(zip(interval_names(ci_prob), map(float, ends), strict=True))
    verdict = "distinguishable" if clear else "not distinguishable"
    return {"unit": unit, "mean": mean, **interval, "prob_above": above, "verdict": verdict}
