"""`answers.compare`: one list in the answers of chat models, in embeddings, and in encoders."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.answers.cell import select_stereotype
from bayes_bias.analyses.answers.results import DECIMALS, ModelAnswers
from bayes_bias.arguments import check_kind
from bayes_bias.documents.document import Document, PageSection
from bayes_bias.errors import AnswersError
from bayes_bias.fitting.fit_model import versions
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.table.columns import interval_names, interval_of


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Tabled):
    """A comparison of one list across several sources. Made by `bayes_bias.answers.compare`.

    Attributes
    ----------
    name : str
        The stereotype.
    ci_prob : float
        Probability of the equal-tailed intervals.
    table : pandas.DataFrame
        A row for each ``source``: its ``unit``, the ``mean`` and interval in this unit, ``prob_above``, and the
        ``verdict``, which is "distinguishable" or "not distinguishable".
    decimals : mapping of str to int
        Decimals to show for each source.
    """

    name: str
    ci_prob: float
    table: pd.DataFrame
    decimals: Mapping[str, int]

    def document(self) -> Document:
        """Return the page, for `bayes_bias.write`."""
        return agreement_document(self)

    @property
    def answer(self) -> str:
        """Return a sentence with the number of sources that show the stereotype."""
        found = int(((self.table.verdict == "distinguishable") & (self.table["mean"] > 0)).sum())
        return (
            f"{fmt.capitalized(fmt.in_words(found))} of {fmt.in_words(len(self.table))} sources"
            f" {'shows' if found == 1 else 'show'} an association in the direction of the stereotype."
        )

    @property
    def text(self) -> str:
        """Describe in sentences which sources agree."""
        clear = self.table.verdict == "distinguishable"
        parts = [
            (clear & (self.table["mean"] > 0), "In the direction of the stereotype"),
            (clear & (self.table["mean"] < 0), "Against the stereotype"),
            (~clear, "Not distinguishable from zero"),
        ]
        sentences = [f"{name}: {fmt.joined(list(self.table.index[where]))}." for where, name in parts if where.any()]
        return " ".join([self.answer, *sentences])

    @property
    def layout(self) -> Layout:
        """Show a row for each source. The numbers of a row are in the unit of its source."""
        rows, means, intervals = self.table, [], []
        for source, row in rows.iterrows():
            decimals = self.decimals[str(source)]
            means.append(fmt.signed(row["mean"], decimals))
            intervals.append(fmt.bounds(*interval_of(row), decimals))
        return Layout(
            list(map(str, rows.index)),
            [
                Column("association", means),
                Column(f"{fmt.level(self.ci_prob)} interval", intervals),
                Column("unit", rows.unit, words=True),
                Column("P(above 0)", rows.prob_above, fmt.probability),
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
    check_kind(
        "answers", answers, ModelAnswers, "not a result of `answers.estimate`. Pass such a result.", AnswersError
    )
    name = select_stereotype([cell.stereotype for cell in answers.answers.cells], stereotype)
    rows, decimals, lower_upper = {}, {}, interval_names(ci_prob)
    for cell in answers.answers.cells:
        if cell.stereotype == name:
            source, mu = cell.model or answers.name, answers.posteriors[cell.model, name].draws.mu
            rows[source] = ["D", float(mu.mean()), *mu.quantile(list(tails(ci_prob))), float((mu > 0).mean())]
            decimals[source], groups = DECIMALS, cell.questions.groups
    for source, fit in fits.items():
        fitted = Fitted.of(fit)
        others = fitted.data["group"].to_numpy().tolist()
        if set(others) != set(groups):
            raise AnswersError(
                f"The fit '{source}' is of the groups {', '.join(map(str, others))}, but the answers are about"
                f" {', '.join(groups)}. Pass fits of the same list in `fits`."
            )
        row = row_of_bias(fitted, ci_prob=ci_prob)
        above = float(row.prob_direction if row["mean"] > 0 else 1 - row.prob_direction)
        rows[source] = [fitted.metric.unit, float(row["mean"]), *map(float, interval_of(row)), above]
        decimals[source] = fitted.metric.decimals
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["unit", "mean", *lower_upper, "prob_above"])
    lower, upper = interval_of(table)
    verdict = ((lower > 0) | (upper < 0)).map({True: "distinguishable", False: "not distinguishable"})
    return Agreement(name, ci_prob, table.assign(verdict=verdict).rename_axis("source"), decimals)


def agreement_document(agreement: Agreement) -> Document:
    """Return the page that compares a list in the answers of chat models with the same list in vectors."""
    return Document(
        title=f"Who agrees: {agreement.name}",
        heading=f"Do answers and vectors agree about {agreement.name}?",
        opening={"answer": agreement.text},
        sections=(PageSection("sources", "Association in each source", "answers-agreement.html"),),
        facts={"agreement": agreement},
        figures={"agreement": partial(plots.plot_agreement, agreement)},
        tables={"agreement": agreement.table},
        provenance={"ci_prob": agreement.ci_prob, "versions": json.loads(versions())},
    )
