"""`answers.compare_models`: differences in D between models, or settings of a model, for the same questions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.linalg import helmert
from scipy.special import ndtri

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.answers.cell import Answers, Cell, differences
from bayes_bias.analyses.answers.estimation import Source, check_samples
from bayes_bias.analyses.answers.lists import Lists, words_of_class
from bayes_bias.analyses.answers.log_odds import LARGEST, observed_log_odds, without_words
from bayes_bias.analyses.answers.losses import bounds_of, first_reason, reason_of_bounds, reason_of_models
from bayes_bias.analyses.answers.model import (
    MAX_PARETO_K,
    PAIR,
    PRIOR_TEXTS,
    Density,
    Observed,
    Together,
    draw,
    effects_of,
    observed,
)
from bayes_bias.analyses.answers.pairing import contrast_of, matched
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.answers.results import DECIMALS
from bayes_bias.analyses.headlines import Finding, headline
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.errors import AnswersError
from bayes_bias.fitting.fit_model import software, versions
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.ranks import ranked
from bayes_bias.progress import step
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import (
    Sign,
    estimate_columns,
    interval_columns,
    interval_of,
    opposite,
    rank_column,
    with_interval,
)

# Prefix of the columns of each model by itself.
OWN = "own"
# The smallest variance of a difference between models, relative to the largest one.
_LEAST_VARIANCE = 1e-9
# If the standard deviations of differences between models differ by a larger factor than this, and than chance
# explains, the models have no common ones.
_MOST_UNEQUAL = 1.5
_UNEQUAL = (
    "differences between some models vary more than others, beyond chance, so each pair of models is analysed by itself"
)


@dataclass(frozen=True)
class Quantity:
    """The quantity that is compared, and its display.

    A value is multiplied by `factor`. `null` is the value without any preference, and `axis` names the distance from
    it. Differences are in `unit`, and values in `own_unit`.
    """

    name: str
    factor: float = 1.0
    decimals: int = DECIMALS
    unit: str = ""
    null: float = 0.0
    own_unit: str = ""
    axis: str = "D (positive: stereotypical)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contrasts(Tabled):
    """Differences between models for one or more topics, the first index level of `table` and `ranking`."""

    asked: ClassVar[str] = "questions"
    data: ClassVar[str] = "answers"
    # The template of the methods text.
    methods: ClassVar[str] = ""

    scope: str
    ci_prob: float
    seed: int
    table: pd.DataFrame
    ranking: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the answers in tables and figures."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts of the methods text."""
        raise NotImplementedError

    @property
    def provenance(self) -> dict[str, Any]:
        """Return the provenance of the answers."""
        raise NotImplementedError

    @property
    def all_notices(self) -> tuple[str, ...]:
        """Return the notices of the data and of the comparison."""
        raise NotImplementedError

    @property
    def more_tables(self) -> Mapping[str, pd.DataFrame]:
        """Return further tables of the folder."""
        return {}

    def quantity(self, topic: str) -> Quantity:
        """Return the quantity that is compared for a topic."""
        raise NotImplementedError

    def row_name(self, topic: str, name: str) -> str:
        """Return the label of a row, which includes the topic if there are several topics."""
        return f"{topic}: {name}" if len(self.topics) > 1 else name

    def document(self) -> Document:
        """Return the page of differences between models, with a section for each quantity, for `bayes_bias.write`.

        A topic is a stereotype, for example. Topics with the same quantity, such as D, share a section and a figure.
        """
        topics_by_quantity: dict[str, list[str]] = {}
        for topic in self.topics:
            topics_by_quantity.setdefault(self.quantity(topic).name, []).append(topic)
        sections, figures = [], {}
        for quantity, topics in topics_by_quantity.items():
            name = "models" if len(topics_by_quantity) == 1 else topics[0]
            facts = {"name": name, "topics": topics}
            sections.append(PageSection(name, f"Models in order of {quantity}", "model-contrasts.html", facts))
            figures[name] = partial(plots.plot_model_contrasts, self, topics)
        pareto_k = fmt.plain(float(self.table.pareto_k.max()), 2)
        methods = Methods(self.methods, {**self.facts, "contrasts": self, "pareto_k": pareto_k, "software": software()})
        notices = notices_section(f"Notes on the {self.data}", self.all_notices)
        settings = {"scope": self.scope, "ci_prob": self.ci_prob, "seed": self.seed}
        return Document(
            title=f"Models: {self.name}",
            heading=f"Which models differ in {self.name}?",
            opening={"answer": self.text},
            sections=(*sections, methods_section(methods), notices),
            facts={"contrasts": self},
            figures=figures,
            tables={"differences": self.table, "ranking": self.ranking, **self.more_tables},
            methods=methods,
            provenance={**settings, "versions": json.loads(versions()), **self.provenance},
        )

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topics."""
        return tuple(self.ranking.index.unique(0))

    def title(self, topic: str) -> str:
        """Return the title of a topic in sentences."""
        raise NotImplementedError

    def _finding(self, key: tuple[str, str, str], row: "pd.Series[Any]") -> Finding:
        """Return the parts of a sentence on one difference, from the larger to the smaller value.

        `key` contains the topic and the two models, and `row` is the row of the table with this key. If the difference
        is negative, the models are exchanged, and the estimate changes its sign. A difference that is distinguishable
        after Holm's adjustment (``survives``) is described by its direction, so its number has no sign. There is no
        verdict if the draws are not reliable (Pareto k), or if the table withholds it, with a reason in its optional
        column ``withheld``.
        """
        topic, larger, smaller = key
        quantity = self.quantity(topic)
        estimate = row
        if row["mean"] < 0:  # the second model has the larger value
            larger, smaller, estimate = smaller, larger, opposite(row)
        sign: Sign = "" if row.survives else "+"
        no_verdict = _without_verdict(row)
        in_unit: dict[str, Any] = {"factor": quantity.factor, "unit": quantity.unit}
        words = {"larger": self._with_value(topic, larger), "smaller": self._with_value(topic, smaller)}
        words["adjusted"] = _adjusted(row, self.table)
        return Finding(
            title=f"{self.title(topic)} in {larger} and {smaller}" if no_verdict else self.title(topic),
            value=float(row["mean"]),
            size=with_interval(estimate, self.ci_prob, quantity.decimals, sign=sign, **in_unit),
            clear=bool(row.survives),
            no_verdict=no_verdict,
            words={"quantity": quantity.name, **words},
        )

    def _with_value(self, topic: str, model: str) -> str:
        """Return the name of a model for a sentence, such as "gpt-4 (D = +0.31)".

        The value of the model by itself is only added if the table has a single difference (two models and one topic).
        It has a sign unless its value without preference is other than zero, as one half for shares.
        """
        if len(self.table) > 1:
            return model
        quantity = self.quantity(topic)
        value = quantity.factor * float(self.ranking.loc[(topic, model), f"{OWN}_mean"])
        shown = fmt.plain(value, quantity.decimals) if quantity.null else fmt.signed(value, quantity.decimals)
        return f"{model} ({quantity.name} = {shown})"

    @property
    def text(self) -> str:
        """Describe the differences in sentences: first the differences in each quantity, then the first models.

        A difference is clear if it is distinguishable from zero. For each topic with a verdict and more than two
        models, a further sentence names the model whose value is the largest with the largest probability.
        """
        findings_by_quantity: dict[str, list[Finding]] = {}
        topics_with_verdict = set()
        for key, row in self.table.iterrows():
            topic, finding = key[0], self._finding(key, row)
            findings_by_quantity.setdefault(self.quantity(topic).name, []).append(finding)
            if not finding.no_verdict:
                topics_with_verdict.add(topic)
        sentences = []
        for quantity, findings in findings_by_quantity.items():
            other = " other" if any(finding.clear for finding in findings) else ""
            others = f"No{other} difference in {quantity} is distinguishable from zero after Holm's adjustment."
            sentences.append(headline("models", findings, others))
        for topic, rows in self.ranking.groupby(level=0, sort=False):
            if topic in topics_with_verdict and len(rows) > 2:
                _, first_model = rows.prob_first.idxmax()
                chance = fmt.probability_in_words(rows.prob_first.max())
                clause = f"the {self.quantity(topic).name} of {first_model} is the largest with probability {chance}."
                sentences.append(fmt.capitalized(self.row_name(topic, clause)))
        return " ".join(sentences)

    @property
    def layout(self) -> Layout:
        """Show each difference with its interval."""
        return self.differences(self.topics)

    def differences(self, topics: Sequence[str]) -> Layout:
        """Show the differences for all topics with the same quantity, with a row for each pair of models.

        The index of the table has the topic, the model, and the model that is subtracted from it (`reference`).
        ``chance`` is shown before and after Holm's adjustment for the number of rows. A dash stands for no verdict.
        """
        quantity = self.quantity(topics[0])
        rows = self._in_units(self.table, topics)
        unit = f", in {quantity.unit}" if quantity.unit else ""
        differ = [_differ(row) for _, row in rows.iterrows()]
        return Layout(
            [self.row_name(topic, f"{model} − {reference}") for topic, model, reference in rows.index],
            [
                Column("questions", rows.questions, fmt.as_count, spare=True),
                *estimate_columns(rows, f"difference of {quantity.name}", self.ci_prob, quantity.decimals),
                Column("chance", rows.chance, fmt.probability),
                Column("after Holm", rows.chance_holm, fmt.probability),
                Column("differ", differ, words=True),
            ],
            heading="models",
            caption=f"Differences between models{unit}: {self.name}",
        )

    @property
    def ranks(self) -> Layout:
        """Show the value of each model, its distance from the mean of all models, and its rank."""
        return self.order(self.topics)

    def order(self, topics: Sequence[str]) -> Layout:
        """Show the order of the models for all topics with the same quantity, such as D.

        Each row has the value of the model by itself (from the columns of the ranking that begin with "own"), its
        distance from the mean of all models, and its rank. Two models have only one difference, so their distances from
        the mean are omitted. Values have a plus sign if zero means no preference. A share, whose value without
        preference is one half, has none. The caption names the unit and, for D in the widest scope, the population that
        values generalise to.
        """
        quantity = self.quantity(topics[0])
        rows = self._in_units(self.ranking, topics)
        population = ", for new labels, wordings and words" if quantity.name == "D" and self.scope == "all" else ""
        unit = f", in {quantity.own_unit}" if quantity.own_unit else ""
        sign: Sign = "+" if quantity.null == 0 else ""
        columns = estimate_columns(rows, quantity.name, self.ci_prob, quantity.decimals, of=OWN, sign=sign)
        if _n_models(rows) > 2:
            columns += estimate_columns(rows, f"{quantity.name} less mean", self.ci_prob, quantity.decimals)
        columns += rank_column(rows)
        columns.append(Column("P(first)", rows.prob_first, fmt.probability))
        columns.append(Column("P(last)", rows.prob_last, fmt.probability))
        names = [self.row_name(topic, model) for topic, model in rows.index]
        caption = f"Models in order of {quantity.name}{unit}{population}"
        return Layout(names, columns, heading="model", caption=caption)

    def drawn(self, topics: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two tables for the figure: the models by themselves, and the contrasts between models.

        The first table has a row for each model, with its distance from the value without preference, such as a share
        minus one half. The contrasts are the difference between two models or, with more models, each model minus the
        mean of all. Both tables have the mean and the interval as columns, and are indexed by labels for the figure,
        which include the topic if there are several topics.
        """
        quantity = self.quantity(topics[0])
        ranking = self._in_units(self.ranking, topics)
        has_topics = len(topics) > 1
        labels = [f"{model}, {topic}" if has_topics else model for topic, model in ranking.index]
        columns = ["mean", *interval_columns(ranking)]
        values = ranking[[f"{OWN}_mean", *interval_columns(ranking, OWN)]].set_axis(columns, axis=1)
        by_itself = (values - quantity.factor * quantity.null).set_axis(labels)
        if _n_models(ranking) == 2:
            contrasts = self._in_units(self.table, topics)
            names = [f"{a} − {b}, {topic}" if has_topics else f"{a} − {b}" for topic, a, b in contrasts.index]
        else:
            contrasts = ranking
            names = [f"{label} − mean" for label in labels]
        return by_itself, contrasts[columns].set_axis(names)

    def _in_units(self, table: pd.DataFrame, topics: Sequence[str]) -> pd.DataFrame:
        """Return the rows of these topics, with all estimates in the unit of their quantity, such as percent.

        The topics have the same quantity, and are the first level of the index of the table.
        """
        return scaled(table[table.index.get_level_values(0).isin(topics)], self.quantity(topics[0]).factor)


def _without_verdict(row: "pd.Series[Any]") -> str:
    """Return the reason, as a clause, for which there is no verdict on a difference, or "" if there is one."""
    return "the draws are not reliable" if row.pareto_k > MAX_PARETO_K else str(row.get("withheld", ""))


def _differ(row: "pd.Series[Any]") -> str:
    """Return "yes" if two models differ after Holm's adjustment, "no" if not, and a dash without a verdict."""
    if _without_verdict(row):
        return fmt.DASH
    return "yes" if row.survives else "no"


def _adjusted(row: "pd.Series[Any]", table: pd.DataFrame) -> str:
    """Return words on Holm's adjustment for all rows of a table if the interval alone would exclude zero, or else "".

    The `row` is not distinguishable from zero.
    """
    lower, upper = interval_of(row)
    if len(table) == 1 or lower <= 0 <= upper:
        return ""
    return f" after Holm's adjustment for {fmt.in_words(len(table))} differences"


def _n_models(ranking: pd.DataFrame) -> int:
    """Return the number of models in the first topic of a ranking, whose index levels are the topic and the model."""
    first_topic, _ = ranking.index[0]
    return len(ranking.loc[first_topic])


def scaled(table: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Return a table of differences or a ranking in another unit: all estimates are multiplied by the factor.

    Estimates are means, standard deviations, and ends of intervals. Probabilities and ranks have no unit. A ranking
    also has estimates of each model by itself, in columns that begin with "own".
    """
    columns = ["mean", "sd", *interval_columns(table)]
    if f"{OWN}_mean" in table:
        columns += [f"{OWN}_mean", *interval_columns(table, OWN)]
    return table.assign(**(factor * table[columns]))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelContrasts(Contrasts):
    """Differences in D between models for the same questions. Made by `bayes_bias.answers.compare_models`.

    Attributes
    ----------
    answers : Answers
        The answers that were read.
    scope, ci_prob, seed
    table : pandas.DataFrame
        Index ``(stereotype, model, other)``. Columns: number of ``questions``, posterior ``mean``, ``sd``, interval and
        ``prob_direction`` of the difference, which is the D of the model minus the D of the other model and lies
        between -2 and 2; ``chance``, the probability of observing a difference this large if there were no true
        difference; ``chance_holm``, this probability after Holm's adjustment for the number of rows; ``survives``, True
        if the difference is distinguishable after the adjustment; and ``pareto_k`` of the draws.
    ranking : pandas.DataFrame
        Index ``(stereotype, model)``, sorted by decreasing D. Columns: ``own_mean`` and its interval, the D of the
        model by itself; ``mean``, ``sd``, and interval of D minus the mean of all models, mean ``rank`` (1 for the
        largest D) with its interval, ``prob_first`` and ``prob_last``.
    notices : tuple of str
        Notices of answers to questions that not all models answered.
    log_odds : pandas.DataFrame
        The differences in log odds, given the labels and their position, with the columns of `table`. Stereotypes for
        which the log odds of a model are unbounded are omitted.
    own : pandas.DataFrame
        Index ``(stereotype, model)``: the mean ``D`` of each model in these questions, and ``first_share``, the share
        of its choices for the label that was named first.
    """

    methods: ClassVar[str] = "methods-of-models.txt"

    answers: Answers
    log_odds: pd.DataFrame
    own: pd.DataFrame

    @property
    def name(self) -> str:
        return self.answers.name

    @property
    def facts(self) -> dict[str, Any]:
        questions = self.table.groupby(level=0).questions.first()
        n_answers = sum(n * len(self.ranking.loc[topic]) for topic, n in questions.items())
        return {"models": self.answers.models, "total": fmt.as_count(n_answers), "priors": PRIOR_TEXTS}

    @property
    def provenance(self) -> dict[str, Any]:
        return {"answers": self.answers.facts}

    @property
    def all_notices(self) -> tuple[str, ...]:
        return (*self.answers.notices, *self.notices)

    @property
    def more_tables(self) -> Mapping[str, pd.DataFrame]:
        tables = {"log-odds": self.log_odds, "own": self.own}
        return {**tables, "replies": self.answers.replies, "words": self.answers.words}

    def quantity(self, topic: str) -> Quantity:
        return Quantity("D")

    def title(self, topic: str) -> str:
        cells = (cell for cell in self.answers.cells if cell.stereotype == topic)
        words = words_of_class(next(cells).questions.classes[0][1])
        return f"{words} ({topic})" if len(self.topics) > 1 else words

    @property
    def text(self) -> str:
        return " ".join([super().text, *self._sentences_on_position()])

    def _sentences_on_position(self) -> Iterator[str]:
        """Yield a sentence for each difference in D that may come from a preference for a position or a label.

        Such a preference affects D, but not log odds. The table of differences in log odds has the same index as the
        table of differences in D. There is a sentence if only one of both differences is distinguishable from zero
        (``survives``), or if the log odds are unbounded and therefore missing. The sentence has the share of choices of
        both models for the label that was named first.
        """
        for key, row in self.table.iterrows():
            stereotype, model, other = key
            if key not in self.log_odds.index:
                yield (
                    f"In log odds, {model} and {other} cannot be compared in {stereotype}, because the choices of one"
                    " of them are all, or none, in line with the stereotype."
                )
                continue
            in_log_odds = self.log_odds.loc[key]
            if bool(row.survives) == bool(in_log_odds.survives):
                continue
            models = f"between {model} and {other} in {stereotype}"
            difference = with_interval(in_log_odds, self.ci_prob, DECIMALS)
            first_shares = self.own.loc[stereotype].first_share[[model, other]]
            shares = [f"{name} {fmt.percent(share)}" for name, share in first_shares.items()]
            position = f" (share of the label that was named first: {', '.join(shares)})"
            if row.survives:
                yield (
                    f"The difference in D {models} can come from a preference for a position or a label{position},"
                    f" because in log odds it is {difference}, not distinguishable from"
                    f" zero{_adjusted(in_log_odds, self.log_odds)}."
                )
            else:
                yield (
                    f"In log odds, given the labels and their position, the difference {models} is {difference},"
                    f" distinguishable from zero{position}."
                )


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
    r"""Compare D between models that answered the same questions.

    In one crossed model, answer i of model m has

    .. math:: D_{im} = \mu_m + u_i + w_{s(i)m} + v_{k(i)m} + a_{l(i)m} + b_{n(i)m} + ab_{ln(i)m} + e_{im}

    The effects u, which are the same for all models, cancel in differences between models. The model-specific effects
    of words, wordings, and labels have standard deviations that all models share. They are integrated out exactly,
    because orthonormal (Helmert) contrasts of models have the density of `estimate` with shared standard deviations.
    All differences and the order of the models are computed from the same draws of the contrasts.

    Parameters
    ----------
    answers, wordlist, scope, name, ci_prob, seed, ignore
        As in `estimate`, with answers of two models or more, or of one model and `factors`.
    factors : str or sequence of str
        Columns whose values are compared like models, such as ``["temperature", "persona"]``. Each combination of a
        model with these values counts as a model.

    Returns
    -------
    ModelContrasts
        ``table`` of differences and ``ranking``. When printed, it shows sentences.

    Raises
    ------
    AnswersError
        As in `estimate`, or if there is only one model, or if two models have no question in common.
    ScopeError, SpecError
        If `scope` or `seed` is invalid.

    Notes
    -----
    Only questions that all models answered are used. A notice contains the number of other answers.

    All models have the same standard deviations of effects and of answers. If the differences between some models vary
    more than the differences between others, such as versions of one model, by more than a factor of 1.5 (in standard
    deviations) and more than chance explains, each pair of models is analysed by itself, and a notice says so.

    Examples
    --------
    >>> compare_models("answers.csv", "my-list.toml", factors="temperature")      # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    seed = check_seed(seed)
    check_samples(scope)
    read = read_answers(answers, wordlist, name=name, ignore=ignore, factors=factors)
    if len(read.models) < 2:
        raise AnswersError(
            f"The answers are all of one model{f', {read.models[0]}' if read.models[0] else ''}. Add a column 'model',"
            " or name the columns whose values to compare (factors=['temperature'], --factors temperature)."
        )
    cells_of_stereotype: dict[str, list[Cell]] = {}
    for cell in read.cells:
        cells_of_stereotype.setdefault(cell.stereotype, []).append(cell)
    tables, rankings, log_odds, own = {}, {}, {}, {}
    notices: list[str] = []
    for stereotype, cells in cells_of_stereotype.items():
        if lacking := [model for model in read.models if model not in {cell.model for cell in cells}]:
            omitted = "omitted" if len(cells) == 1 else "compared without some models"
            notices.append(f"{stereotype}: {omitted}, because no answers of {fmt.joined(lacking)} are about it")
        if len(cells) == 1:
            continue
        step(stereotype)
        same_questions, notices_of_omitted = matched(cells, "answers")
        notices += [f"{stereotype}: {notice}" for notice in notices_of_omitted]
        models = [cell.model for cell in cells]
        effects = effects_of(same_questions[0], scope)
        sides = list(map(observed, same_questions))
        in_pairs = are_unequal(sides, effects)
        if in_pairs:
            notices.append(f"{stereotype}: {_UNEQUAL}")
        table, rankings[stereotype] = compared(models, sides, effects, seed, ci_prob, in_pairs=in_pairs)
        withheld = _reasons_of_differences(table, same_questions)
        tables[stereotype] = table.assign(withheld=withheld)
        own[stereotype] = _own_values(same_questions)
        table_in_log_odds = _in_log_odds(same_questions, effects, seed, ci_prob, in_pairs=in_pairs)
        if table_in_log_odds is not None:
            log_odds[stereotype] = table_in_log_odds.assign(withheld=withheld)
    if not tables:
        raise AnswersError("No two models answered about the same stereotype. Pass answers to the same questions.")
    joined = joined_tables(tables, rankings, "stereotype", ci_prob)
    in_log_odds = joined["table"].iloc[:0]  # no rows
    if log_odds:
        in_log_odds = joined_tables(log_odds, rankings, "stereotype", ci_prob)["table"]
    fields = {**joined, "log_odds": in_log_odds, "own": pd.concat(own, names=["stereotype", "model"])}
    all_notices = announce(tuple(notices))
    return ModelContrasts(answers=read, scope=scope, ci_prob=ci_prob, seed=seed, notices=all_notices, **fields)


def _reasons_of_differences(table: pd.DataFrame, cells: Sequence[Cell]) -> list[str]:
    """Return the reason for which each difference between models has no verdict, or an empty text.

    Either some models have lost too many choices, or the choices that are missing could change the verdict on the
    difference, because its mean could lie anywhere between its bounds. The cells are the answers of each model to the
    same questions.
    """
    if of_all := reason_of_models(cells) or first_reason(cells):
        return [of_all] * len(table)
    cell_of_model = {cell.model: cell for cell in cells}
    reasons = []
    for (model, other), row in table.iterrows():
        sides = cell_of_model[other], cell_of_model[model]
        mean_of_other, mean_of_model = (float(differences(side.counted).mean()) for side in sides)
        reasons.append(reason_of_bounds(bounds_of(sides), mean_of_model - mean_of_other, interval_of(row)))
    return reasons


def _own_values(cells: Sequence[Cell]) -> pd.DataFrame:
    """Return the mean D of each model, and the share of its choices for the label that was named first.

    The cells are the answers of each model to the same questions.
    """
    rows = {}
    for cell in cells:
        share_of_answer, _ = cell.named_first
        first_share = pd.Series(share_of_answer).mean()  # missing if no first label is known
        rows[cell.model] = {"D": float(differences(cell.counted).mean()), "first_share": first_share}
    return pd.DataFrame.from_dict(rows, orient="index")


def _in_log_odds(
    cells: Sequence[Cell], effects: tuple[str, ...], seed: int, ci_prob: float, *, in_pairs: bool
) -> pd.DataFrame | None:
    """Return the differences between models in log odds, with the columns of `compared`.

    The cells are the answers of each model to the same questions. The log odds of each cell are divided by `LARGEST`,
    as data for the model of D, and the differences are multiplied by it. The result is None if the log odds of a model
    are unbounded, because its choices are all, or none, stereotypical.
    """
    data_of_models = []
    for cell in cells:
        data = observed_log_odds(cell)
        if data is None:
            return None
        data_of_models.append(data)
    models = [cell.model for cell in cells]
    table, _ = compared(models, data_of_models, without_words(effects), seed, ci_prob, in_pairs=in_pairs)
    return scaled(table, LARGEST)


def compared(
    models: Sequence[str],
    sides: Sequence[Observed],
    effects: tuple[str, ...],
    seed: int,
    ci_prob: float,
    null: float = 0.0,
    *,
    in_pairs: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the differences between models and their ranking from answers of each model to the same questions.

    `sides` has the values D of each model, as distances from the value without preference, `null`. `effects` are the
    effects that are treated as samples, such as "word". All models have the same standard deviations or, with
    `in_pairs`, each pair of models is analysed by itself.

    The first result has a row for each pair of models, with their difference, its probability of direction, and its
    chance (the probability of a difference this large without a true difference). The second result is the ranking.
    """
    estimated = _with_own_sds if in_pairs and len(models) > 2 else _with_common_sds
    contrasts = estimated(sides, effects, seed)
    rows = {}
    for pair, difference, pareto_k in zip(
        combinations(models, 2), contrasts.differences, contrasts.pareto_k, strict=True
    ):
        above = float((difference > 0).mean())
        probabilities = {"prob_direction": max(above, 1 - above), "chance": 2 * min(above, 1 - above)}
        rows[pair] = summarize_draws(difference, ci_prob) | probabilities
        rows[pair] |= {"questions": len(sides[0].difference), "pareto_k": pareto_k}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "other"])
    by_itself = [null + draw(Density(side, effects), seed).mu for side in sides]
    return table, _ranking(models, contrasts.from_mean, by_itself, ci_prob)


def are_unequal(sides: Sequence[Observed], effects: tuple[str, ...]) -> bool:
    """Return True if differences between some models vary so much more than others that chance does not explain it.

    The logarithm of a standard deviation from n independent values has the standard error sqrt(1 / (2 (n - 1))). The
    labels or pairs of labels, whichever are fewer, are taken as independent if they are samples, and otherwise all
    answers. The largest and smallest standard deviations of m differences are within the normal quantile for 2.5% / m.
    """
    sds = [float((first.difference - second.difference).std()) for first, second in combinations(sides, 2)]
    counts = [sides[0].keys[effect].nunique() for effect in effects if effect in ("label_a", "label_b", PAIR)]
    independent = min([count for count in counts if count > 1], default=len(sides[0].difference))
    by_chance = np.exp(2 * ndtri(1 - 0.025 / len(sds)) / np.sqrt(2 * max(independent - 1, 1)))
    return max(sds) > max(_MOST_UNEQUAL, by_chance) * min(sds)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Draws of the difference of each pair of models (pair, draw), and of each model minus the mean of all (model,
    draw), and the Pareto k of each difference."""

    differences: Numbers
    from_mean: Numbers
    pareto_k: Sequence[float]


def _with_common_sds(sides: Sequence[Observed], effects: tuple[str, ...], seed: int) -> _Drawn:
    """Return draws of differences between models with equal standard deviations.

    The values D of the models in a question are combined to contrasts c = H D, where the rows of H (contrast, model)
    are orthonormal and sum to zero. Each contrast has its own mu in the model of D, and all share the standard
    deviations. The values of the models minus the mean of all models are then H' c.
    """
    contrasts = helmert(len(sides))
    # With weights that are divided by this number, contrasts of D lie between -1 and 1.
    largest = np.abs(contrasts).sum(axis=1).max()
    densities = [Density(contrast_of(sides, weights / largest), effects) for weights in contrasts]
    drawn = draw(Together(densities), seed)
    from_mean = largest * contrasts.T @ drawn.mu.T  # (model, draw)
    differences = np.stack([first - second for first, second in combinations(from_mean, 2)])
    return _Drawn(differences, from_mean, [drawn.pareto_k] * len(differences))


def _with_own_sds(sides: Sequence[Observed], effects: tuple[str, ...], seed: int) -> _Drawn:
    """Return draws of differences between models, each with its own standard deviations, as if there were no others.

    The models minus their mean are drawn from a normal distribution with the means and variances of all differences.
    If V (model, model) has the variances of the differences, their covariance is -JVJ / 2, where J subtracts the mean.
    """
    half = np.array([0.5, -0.5])  # half a difference of D lies between -1 and 1
    drawn = [draw(Density(contrast_of(pair, half), effects), seed) for pair in combinations(sides, 2)]
    differences = np.stack([2 * pair.mu for pair in drawn])
    n_models = len(sides)
    above_diagonal = np.triu_indices(n_models, 1)
    mean, variance = np.zeros((2, n_models, n_models))
    mean[above_diagonal] = differences.mean(axis=1)
    variance[above_diagonal] = differences.var(axis=1)
    centring = np.eye(n_models) - 1 / n_models  # J
    covariance = -centring @ (variance + variance.T) @ centring / 2
    eigenvalues, vectors = np.linalg.eigh(covariance)
    scores = np.random.default_rng(seed).standard_normal((n_models, differences.shape[1]))
    scores -= scores.mean(axis=1, keepdims=True)  # so that draws have the means of the differences
    deviations = vectors * np.sqrt(np.maximum(eigenvalues, 0.0)) @ scores
    centre = centre_of_models(mean - mean.T, variance + variance.T)
    return _Drawn(differences, centre[:, None] + deviations, [pair.pareto_k for pair in drawn])


def centre_of_models(difference: Numbers, variance: Numbers) -> Numbers:
    """Return the position (model,) of each model that fits the differences between models best, with a mean of zero.

    `difference` and `variance` are the means and variances of the differences between all pairs, (model, model). They
    contradict each other by their Monte Carlo errors, so the positions b minimise the sum over pairs of
    ``(b_i - b_j - difference_ij)^2 / variance_ij``. A small difference is then not lost in the errors of larger ones.
    """
    others = ~np.eye(len(variance), dtype=bool)
    # Copies of a model differ by exactly zero, and with larger ratios of variances all other differences would be lost.
    least = max(_LEAST_VARIANCE * variance.max(), np.finfo(float).tiny ** 0.5)
    precision = others / np.maximum(variance, least)
    laplacian = np.diag(precision.sum(axis=1)) - precision
    return np.asarray(np.linalg.pinv(laplacian) @ (precision * difference).sum(axis=1))


def _ranking(models: Sequence[str], from_mean: Numbers, by_itself: Sequence[Numbers], ci_prob: float) -> pd.DataFrame:
    """Return the models in decreasing order, with their estimates, ranks, and probabilities to be first or last.

    `from_mean` has draws of each model minus the mean of all, (model, draw), and `by_itself` draws of each model alone.
    A row has the mean and interval of the model alone (in columns that begin with "own"), the mean, sd and interval of
    its distance from the mean, its rank, and the shares of draws in which it is the largest or the smallest.
    """
    own = pd.DataFrame([summarize_draws(draws, ci_prob) for draws in by_itself], index=pd.Index(models))
    ranking = own.drop(columns="sd").add_prefix(f"{OWN}_")
    ranking = ranking.join(pd.DataFrame([summarize_draws(draws, ci_prob) for draws in from_mean], index=own.index))
    ranking = ranking.join(ranked(from_mean, models, ci_prob).table)
    n_models, n_draws = from_mean.shape
    ranking["prob_first"] = np.bincount(from_mean.argmax(axis=0), minlength=n_models) / n_draws
    ranking["prob_last"] = np.bincount(from_mean.argmin(axis=0), minlength=n_models) / n_draws
    return ranking.sort_values("mean", ascending=False, kind="stable")


def joined_tables(
    tables: Mapping[str, pd.DataFrame], rankings: Mapping[str, pd.DataFrame], topic: str, ci_prob: float
) -> dict[str, pd.DataFrame]:
    """Join the tables of all topics to the fields ``table`` and ``ranking`` of a result.

    `topic` is the name of the first index level, such as "stereotype", and `tables` and `rankings` have an entry for
    each topic. The chance of a difference is its p-value, and a difference `survives` if it is distinguishable from
    zero after Holm's adjustment. Holm's adjustment is for all differences of all topics. A difference with unreliable
    draws has no adjusted probability, but Holm's adjustment includes it in the number of tests.
    """
    table = pd.concat(tables, names=[topic, "model", "other"])
    has_verdict = table.pareto_k <= MAX_PARETO_K
    if "withheld" in table:
        has_verdict &= table.withheld == ""
    adjusted = holm(table.chance.where(has_verdict).to_numpy())
    return {
        "table": table.assign(chance_holm=adjusted, survives=adjusted < 1 - ci_prob),
        "ranking": pd.concat(rankings, names=[topic, "model"]),
    }
