"""`answers.compare`: one list in the answers of chat models, in embeddings, and in encoders."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.answers.cell import select_stereotype
from bayes_bias.analyses.answers.results import DECIMALS, ModelAnswers
from bayes_bias.analyses.headlines import Finding
from bayes_bias.arguments import check_kind
from bayes_bias.documents.document import Document, PageSection
from bayes_bias.errors import AnswersError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import versions
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.summary import chance, row_of_bias
from bayes_bias.table.columns import interval_names, interval_of


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Tabled):
    """A comparison of one list across several sources. Made by `bayes_bias.answers.compare`.

    Attributes
    ----------
    name, title : str
        The stereotype, and the words that it is about.
    ci_prob : float
        Probability of the equal-tailed intervals.
    table : pandas.DataFrame
        A row for each ``source``: its ``unit``, the ``mean`` and interval in this unit, ``prob_above``, and the
        ``verdict`` ("distinguishable", "not distinguishable", or "no verdict"), ``withheld``, the reason for no
        verdict or "", ``chance_holm``, the probability of an association this large if there were none, after Holm's
        adjustment for the number of sources, and ``survives``, True if a verdict remains after it.
    decimals : mapping of str to int
        Decimals to show for each source.
    """

    name: str
    title: str
    ci_prob: float
    table: pd.DataFrame
    decimals: Mapping[str, int]

    def document(self) -> Document:
        """Return the page that compares a list in the answers of chat models with the same list in vectors.

        It has one section with the table and the figure (`plots.plot_agreement`), below the sentences on the verdicts.
        """
        return Document(
            title=f"Who agrees: {self.title}",
            heading=f"Do answers and vectors agree about {self.title}?",
            opening={"answer": self.text},
            sections=(PageSection("sources", "Association in each source", "answers-agreement.html"),),
            facts={"agreement": self},
            figures={"agreement": partial(plots.plot_agreement, self)},
            tables={"agreement": self.table},
            provenance={"ci_prob": self.ci_prob, "versions": json.loads(versions())},
        )

    @property
    def text(self) -> str:
        """Describe in sentences which sources agree.

        Sources are grouped by their verdict: stereotypical, not distinguishable from zero, and anti-stereotypical.
        Sources without a verdict are grouped by the reason (``withheld``).
        """
        # 1 if stereotypical, 0 if not distinguishable after Holm's adjustment, and -1 if anti-stereotypical.
        sign = self.table.survives * np.sign(self.table["mean"])
        sentences = []
        for _, sources in self.table.assign(order=-sign).groupby(["withheld", "order"]):
            sentences.append(self._finding(sources).sentence("agreement"))
        if len(self.table) > 1:
            sentences.append(f"Holm's adjustment is for {fmt.in_words(len(self.table))} sources.")
        return " ".join(sentences)

    def _finding(self, sources: pd.DataFrame) -> Finding:
        """Return the common verdict of these sources, which are rows of the table, for the headline.

        All sources have the same direction and the same reason for no verdict. The sentence names all of them, but has
        no number, because their units differ.
        """
        names = fmt.joined(list(sources.index))
        first = sources.iloc[0]
        no_verdict = str(first.withheld)
        return Finding(
            title=f"{self.title} in {names}" if no_verdict else self.title,
            value=float(first["mean"]),
            size="",
            clear=bool(first.survives),
            has_stereotype=True,
            no_verdict=no_verdict,
            words={"sources": names},
        )

    @property
    def layout(self) -> Layout:
        """Show a row for each source: its association with the interval, its probabilities, and its verdict.

        The numbers of a row are in the unit of its source, and have the decimals of this unit.
        """
        rows = self.table
        means, intervals = [], []
        for source, row in rows.iterrows():
            decimals = self.decimals[str(source)]
            means.append(fmt.mean_of_interval(row["mean"], *interval_of(row), decimals))
            intervals.append(fmt.bounds(*interval_of(row), decimals))
        return Layout(
            list(map(str, rows.index)),
            [
                Column("association", means),
                Column(f"{fmt.level(self.ci_prob)} interval", intervals),
                Column("unit", rows.unit, words=True),
                Column("P(above 0)", rows.prob_above, fmt.probability),
                Column("after Holm", rows.chance_holm, fmt.probability),
                Column("verdict", rows.verdict, fmt.marked, words=True),
            ],
            heading="source",
        )


def compare(
    answers: ModelAnswers, fits: Mapping[str, Fit], stereotype: str | None = None, *, ci_prob: float = 0.95
) -> Agreement:
    """Compare the bias of a list in answers of chat models with its bias in vectors.

    D is based on counts of choices, whereas a bias of vectors is a difference of cosines, so you cannot compare their
    sizes. For each source, the table shows the sign of the bias, and whether the bias is distinguishable from zero.

    Parameters
    ----------
    answers : ModelAnswers
        From `bayes_bias.answers.estimate`. Each of its models is a source.
    fits : mapping of str to fit
        Fits of the same list, by name. `bayes_bias.fit` computes a fit from the cosines of an embedding or an encoder.
        See `bayes_bias.answers.wordlists`.
    stereotype : str, optional
        Stereotype to compare, if the answers are about several stereotypes.
    ci_prob : float

    Raises
    ------
    AnswersError
        If the stereotype is unknown, or if a fit was made from another word list.

    Examples
    --------
    >>> career = wordlists("answers-demo")["career"]                              # doctest: +SKIP
    >>> compare(found, {"GoogleNews": bb.fit(bb.cosines(career, "vectors.bin"))}, "career")   # doctest: +SKIP
    """
    problem = "not a result of `answers.estimate`. Pass such a result."
    check_kind("answers", answers, ModelAnswers, problem, AnswersError)
    name = select_stereotype([cell.stereotype for cell in answers.answers.cells], stereotype)
    rows: dict[str, dict[str, Any]] = {}
    for cell in answers.answers.cells:
        if cell.stereotype == name:
            source = cell.model or answers.name
            rows[source] = _row_of_answers(answers, (cell.model, name), ci_prob)
            groups = cell.questions.groups
    decimals = dict.fromkeys(rows, DECIMALS)
    for source, fit in fits.items():
        fitted = Fitted.of(fit)
        groups_of_fit = fitted.data["group"].to_numpy().tolist()
        if set(groups_of_fit) != set(groups):
            raise AnswersError(
                f"The fit '{source}' is of the groups {', '.join(map(str, groups_of_fit))}, but the answers are about"
                f" {', '.join(groups)}. Pass fits of the same list in `fits`."
            )
        rows[source] = _row_of_fit(fitted, ci_prob)
        decimals[source] = fitted.metric.decimals
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("source")
    first_row, *_ = [key for key in answers.table.index if key[1] == name]
    return Agreement(name, answers.title_of(first_row), ci_prob, _judged(table, ci_prob), decimals)


def _row_of_answers(answers: ModelAnswers, key: tuple[str, str], ci_prob: float) -> dict[str, Any]:
    """Return the row of a source that is a chat model: D in its answers about one stereotype.

    `key` has the names of the model and the stereotype. The row has the unit, the mean and the interval of the draws of
    D (mu), the probability that D is positive, and the reason if there is no verdict.
    """
    mu = answers.posteriors[key].draws.mu
    ends = mu.quantile(list(tails(ci_prob)))
    interval = dict(zip(interval_names(ci_prob), ends, strict=True))
    above = float((mu > 0).mean())
    no_verdict = answers.finding(key).no_verdict
    return {"unit": "D", "mean": float(mu.mean()), **interval, "prob_above": above, "withheld": no_verdict}


def _row_of_fit(fit: Fitted, ci_prob: float) -> dict[str, Any]:
    """Return the row of a source that is an embedding or an encoder: the bias in its vectors, in the unit of the fit.

    The row has the same columns as the row of a chat model. The probability of a positive bias is computed from the
    probability of the direction of its mean.
    """
    row = row_of_bias(fit, ci_prob=ci_prob)
    interval = dict(zip(interval_names(ci_prob), map(float, interval_of(row)), strict=True))
    above = float(row.prob_direction if row["mean"] > 0 else 1 - row.prob_direction)
    no_verdict = "" if Diagnostics.of(fit).converged else "the fit has not converged"
    unit = fit.metric.unit
    return {"unit": unit, "mean": float(row["mean"]), **interval, "prob_above": above, "withheld": no_verdict}


def _judged(table: pd.DataFrame, ci_prob: float) -> pd.DataFrame:
    """Return the table with the verdict on each source, before and after Holm's adjustment.

    A source is distinguishable if its interval excludes zero. The chance of a source is the probability of an
    association this large if there were none, computed from the probability of its direction. A source `survives` if
    its chance is below 1 - `ci_prob` after Holm's adjustment for the number of sources.
    """
    has_verdict = table.withheld == ""
    lower, upper = interval_of(table)
    excludes_zero = (lower > 0) | (upper < 0)
    verdict = excludes_zero.map({True: "distinguishable", False: "not distinguishable"})
    verdict = verdict.where(has_verdict, "no verdict")
    prob_direction = table.prob_above.clip(lower=1 - table.prob_above)
    adjusted = holm(chance(prob_direction).where(has_verdict).to_numpy())
    return table.assign(verdict=verdict, chance_holm=adjusted, survives=adjusted < 1 - ci_prob)
