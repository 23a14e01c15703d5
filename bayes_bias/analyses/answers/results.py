"""Results for answers of chat models, as data, as sentences, and as a page."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pandas as pd

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.answers.assignments import OUTCOMES
from bayes_bias.analyses.answers.cell import Answers, Cell
from bayes_bias.analyses.answers.lists import words_of_class
from bayes_bias.analyses.answers.log_odds import LARGEST, LOG_ODDS, SHARE_FIRST
from bayes_bias.analyses.answers.logs import FINGERPRINT, READ_AS
from bayes_bias.analyses.answers.model import (
    DRAWS,
    MAX_PARETO_K,
    PRIOR_TEXTS,
    SAMPLES,
    Density,
    Posterior,
    effects_of,
    observed,
    sample,
)
from bayes_bias.analyses.answers.pairing import paired
from bayes_bias.analyses.headlines import Case, Finding, headline
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.errors import AnswersError
from bayes_bias.files import file_names
from bayes_bias.fitting.fit_model import software, versions
from bayes_bias.formatting import DASH, MARKS, Column, Layout, Tabled
from bayes_bias.posterior.estimate import BiasDraws, ChangedBias
from bayes_bias.table.columns import estimate_columns, interval_columns, interval_of, opposite, with_interval
from bayes_bias.table.metric import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The population that an estimate generalises to in each scope.
NEW_LABELS, FEW_LABELS, FEW_WORDINGS = "new labels", "few labels", "few wordings"
THESE_LABELS, ONE_PAIR = "these labels", "this pair only"
# The figures of a result.
type Kind = Literal["D", "ladder", "sources", "wordings"]
KINDS: tuple[Kind, ...] = ("D", "ladder", "sources", "wordings")

SOURCES = ("answers", "words", "wordings", "labels")
# The factors that are treated as samples in each step of the ladder.
STEPS = {"trials": "answers alone", "words": "and words", "wordings": "and wordings", "all": "and labels"}
# The numbers of labels per group and of wordings that a verdict for new labels requires.
ENOUGH_LABELS, ENOUGH_WORDINGS = 5, 3
DECIMALS = 2
_NAMED, _NAMED_IN_HEADING = 8, 3
_POPULATIONS: Mapping[str, str] = {
    "all": "new labels and wordings",
    "wordings": "these labels and new wordings",
    "words": "these labels and wordings and new words",
    "trials": "exactly these questions",
}
_OPTIMISTIC = (
    "Labels decide nearly all of it and D is near its end, so intervals are too short: of 95% intervals 79 to 82%"
    " held the truth in such simulations."
)
_D = Metric("D", unit="D (between −1 and 1)", range=(-1.0, 1.0))
_signed = partial(fmt.signed, decimals=DECIMALS)


def reach_of(labels: int, wordings: int) -> str:
    """Return the population that an estimate generalises to, given the labels of the smaller group and the wordings.

    The arguments are numbers. New labels require enough labels and enough wordings. With one label in a group, only
    this pair is described.
    """
    if labels == 1:
        return ONE_PAIR
    if labels < ENOUGH_LABELS:
        return FEW_LABELS
    return NEW_LABELS if wordings >= ENOUGH_WORDINGS else FEW_WORDINGS


def _too_few(row: "pd.Series[Any]") -> str:
    """Return a clause that cautions against generalising from few labels or wordings, or "" if there are enough.

    `row` is a row of the table of a result, with the population that it generalises to (``reach``) and the numbers of
    labels of both groups.
    """
    if row.reach == FEW_LABELS:
        a = fmt.in_words(int(row.labels_a))
        b = fmt.in_words(int(row.labels_b))
        labels = f"{a} labels of each group" if a == b else f"{a} and {b} labels"
        return f"{labels} are few to generalise from. Use five of each group or more"
    if row.reach == FEW_WORDINGS:
        return "generalising to new wordings requires three wordings or more"
    return ""


def _unreliable(pareto_k: float) -> str:
    """Return a clause on draws that are not reliable, because the tail of their weights is too heavy."""
    return f"its draws are not reliable (Pareto k {fmt.plain(pareto_k, 2)})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswersResult(Tabled):
    """Estimates of D, or of the change of D, for one or more models."""

    changed: ClassVar[bool] = False
    quantity: ClassVar[str] = "D"

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
        """Return the name of the answers in tables and figures."""
        return " to ".join(dict.fromkeys(side.name for side in self.sides))

    @property
    def sides(self) -> tuple[Answers, ...]:
        """Return the sets of answers. There is one set or, for a change, two sets."""
        raise NotImplementedError

    @property
    def all_notices(self) -> tuple[str, ...]:
        """Return the notices of the answers."""
        return tuple(notice for side in self.sides for notice in side.notices)

    @property
    def several_models(self) -> bool:
        """Return True if the rows come from more than one model."""
        return len(set(self.table.index.get_level_values("model"))) > 1

    @property
    def distinguishable(self) -> "pd.Series[bool]":
        """Return True for each row with a verdict whose interval excludes zero."""
        lower, upper = interval_of(self.table)
        return ((lower > 0) | (upper < 0)) & (self.table.pareto_k <= MAX_PARETO_K) & (self.table.withheld == "")

    def document(self) -> Document:
        """Return the page of answers, or of a change, and its files, for `bayes_bias.write`."""
        table, methods = self.table, _methods(self)
        with_pairs = table.index[table[["labels_a", "labels_b"]].min(axis=1) > 1]
        names = file_names(list(map(self.called, with_pairs)))
        images = []
        figures: dict[str, Callable[[], Axes]] = {kind: partial(plots.plot_answers, self, kind) for kind in KINDS}
        for model, stereotype in with_pairs:
            label = self.called((model, stereotype))
            images.append((label, f"pairs-{names[label]}"))
            figures[f"pairs-{names[label]}"] = partial(plots.plot_label_pairs, self, stereotype, model)
        means = self.sources.pivot_table("mean", ["model", "stereotype"], "source", dropna=False).loc[table.index]
        posteriors = {key: posterior.draws for key, posterior in self.posteriors.items()}
        sides = {"answers": self.sides[0]}
        if isinstance(self, AnswersChange):
            sides = {"before": self.before, "after": self.after}
        settings = {"scope": self.scope, "ci_prob": self.ci_prob, "seed": self.seed, "draws": DRAWS, "model": "answers"}
        priors = {"mu": "Uniform(-1, 1)"}
        for name, scale in PRIOR_TEXTS.items():
            priors[f"sd_{name}"] = f"HalfNormal({scale})"
        facts_of_sides = {state: side.facts for state, side in sides.items()}
        columns = [Column(source, means[source], partial(fmt.plain, decimals=DECIMALS)) for source in SOURCES]
        caption = f"Standard deviation of {self.quantity} by source, posterior mean."
        facts: dict[str, Any] = {"result": self, "what": self.quantity, "level": fmt.level(self.ci_prob)}
        facts |= {"answers": self.layout, "counts": None if self.changed else _counts(self), "ladder": _ladder(self)}
        facts["sources"] = Layout(list(map(self.called, means.index)), columns, caption=caption)
        facts["decided"] = fmt.percent(float((table.decided * table.answers).sum() / table.answers.sum()))
        facts["numbers"] = [(STEPS[str(name)], row) for name, row in self.counts().iterrows()]
        facts |= {"steps": list(STEPS.values()), "one_pair": ONE_PAIR, "reaches": set(table.reach)}
        return Document(
            title=f"Answers: {self.name}",
            heading="Did the associations of the model change?" if self.changed else _heading(self),
            opening={"answer": self.text},
            sections=(
                PageSection("D", "Changes of D" if self.changed else "Associations by stereotype", "answers-d.html"),
                PageSection("samples", "Intervals by what counts as a sample", "answers-ladder.html"),
                PageSection("sources", "Sources of variation", "answers-sources.html"),
                PageSection("labels", "D by pair of labels", "answers-pairs.html", {"pairs": images})
                if images
                else None,
                None if self.changed else PageSection("counts", "Answers and invalid choices", "answers-counts.html"),
                methods_section(methods),
                notices_section("Notes on the answers", self.all_notices),
            ),
            facts=facts,
            figures=figures,
            latex="answers.tex",
            tables={
                "summary": table,
                "ladder": self.ladder,
                "sources": self.sources,
                "levels": self.levels,
                "published": self.published,
                **({"outcomes": self.outcomes} if isinstance(self, ModelAnswers) else {}),
                "words": self.sides[0].words,
                **{f"replies-{side}" if self.changed else "replies": own.replies for side, own in sides.items()},
                "draws": pd.concat(posteriors, names=["model", "stereotype", "draw"]),
            },
            methods=methods,
            provenance={**settings, "priors": priors, "versions": json.loads(versions()), **facts_of_sides},
        )

    def steps(self, row: tuple[str, str]) -> pd.DataFrame:
        """Return the ladder (one estimate for each scope) of one model and stereotype. Missing steps are omitted."""
        return self.ladder.loc[row].dropna(subset="mean")

    def called(self, row: tuple[str, str]) -> str:
        """Return the label of a row in tables and figures."""
        model, stereotype = row
        return f"{stereotype} ({model})" if self.several_models else stereotype

    def row(self, stereotype: str | None = None, model: str | None = None) -> tuple[str, str]:
        """Find the model and stereotype of one row of the table. An argument that is None matches all rows.

        Raises
        ------
        AnswersError
            If no row or more than one row matches.
        """
        keys = [key for key in self.table.index if model in (None, key[0]) and stereotype in (None, key[1])]
        if len(keys) != 1:
            names = ", ".join(map(self.called, self.table.index[:_NAMED]))
            raise AnswersError(f"`stereotype` must select one row of the table, but is {stereotype!r}. Rows: {names}.")
        return keys[0]

    def verdict(self, stereotype: str | None = None, model: str | None = None) -> str:
        """State in sentences whether D is distinguishable from zero, and for which labels and words."""
        return " ".join(self._verdict(self.row(stereotype, model)))

    def counts(self) -> pd.DataFrame:
        """Return the numbers of distinguishable rows, and of distinguishable positive rows, in each step of the ladder.

        The ladder has one estimate for each scope and each row (a model and stereotype). A row is distinguishable if
        its interval excludes zero, and positive if the interval lies above zero. If a row has no last step, because it
        has only one pair of labels, its step "wordings" is used instead.
        """
        rows = []
        step_of_wordings = self.ladder.xs("wordings", level="samples")
        for name in SAMPLES:
            step = self.ladder.xs(name, level="samples")
            lower, upper = interval_of(step.where(step["mean"].notna(), step_of_wordings))
            rows.append({"distinguishable": int(((lower > 0) | (upper < 0)).sum()), "positive": int((lower > 0).sum())})
        return pd.DataFrame(rows, index=pd.Index(SAMPLES, name="samples"))

    @property
    def answer(self) -> str:
        """Return the main result in a sentence, which combines the findings of all rows."""
        findings = [self.finding(key) for key in self.table.index]
        if self.changed:
            return headline("answers change", findings, "For {titles} no change is distinguishable from zero.")
        return headline("answers", findings, "For {titles} there is no clear association.")

    def title_of(self, key: tuple[str, str]) -> str:
        """Return the words whose association a row is about, such as "career words".

        These are the words of the class that is stereotypical for the first group. `key` has the model and the
        stereotype of the row. The stereotype is added, as in "career words (gender)", if the model answered several
        lists.
        """
        model, stereotype = key
        (_, class_name), _ = self._classes(stereotype)
        words = words_of_class(class_name)
        has_lists = len(self.table.loc[[model]]) > 1
        return f"{words} ({stereotype})" if has_lists and class_name != stereotype else words

    def _classes(self, stereotype: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return both groups of a stereotype, each with its stereotypical class of words."""
        return next(cell.questions for cell in self.sides[0].cells if cell.stereotype == stereotype).classes

    def finding(self, key: tuple[str, str]) -> Finding:
        """Return the parts of the headline about one model and stereotype, from which sentences are composed.

        `key` contains the model and the stereotype. The words of the headline are those of the first group and of the
        class that is stereotypical for the second group. There is no verdict if the draws are not reliable, or if the
        row withholds it, with a reason. The sentence on a clear change names the direction ("decreased by"), so its
        number has no sign. The sentence on a clear D has a place for the name of the model. In all other sentences, the
        name is part of the title if there are several models.
        """
        row = self.table.loc[key]
        model, stereotype = key
        title = self.title_of(key)
        (group, _), (_, other_class) = self._classes(stereotype)
        no_verdict = _unreliable(row.pareto_k) if row.pareto_k > MAX_PARETO_K else str(row.withheld)
        clear = bool(self.distinguishable.loc[key])
        name = model if self.several_models else "the model"
        direction = "increased" if row["mean"] > 0 else "decreased"
        has_direction = self.changed and clear  # the sentence names the direction, so its number has no sign
        shown = opposite(row) if has_direction and row["mean"] < 0 else row
        return Finding(
            title=f"{title} in {model}" if self.several_models and (self.changed or not clear) else title,
            value=float(row["mean"]),
            size=with_interval(shown, self.ci_prob, DECIMALS, sign="" if has_direction else "+"),
            clear=clear,
            has_stereotype=not self.changed,
            no_verdict=no_verdict,
            too_few=_too_few(row),
            words={"model": name, "group": group, "others": words_of_class(other_class), "direction": direction},
        )

    @property
    def text(self) -> str:
        """Describe the result in sentences."""
        return " ".join(self._details_of_one() if len(self.table) == 1 else self._details_of_all())

    def _verdict(self, key: tuple[str, str]) -> list[str]:
        """Return sentences on one row: its finding, its population, and the probability of a positive D.

        Without a verdict, there is only the reason. The finding includes cautions about few labels or wordings.
        """
        row, finding = self.table.loc[key], self.finding(key)
        sentence = finding.sentence("answers change" if self.changed else "answers")
        if finding.case is Case.NO_VERDICT:
            return [sentence]
        judged = f"{'' if finding.clear else 'not '}distinguishable from zero"
        chance = fmt.probability_in_words(row.prob_above)
        return [
            sentence,
            f"{fmt.capitalized(self.quantity)} is {judged}, for {self._population(row)}. The probability that it"
            f" is positive is {chance}.",
        ]

    def _population(self, row: "pd.Series[Any]") -> str:
        """Return the population that one row generalises to, which depends on the scope and on the number of labels."""
        is_one_pair = self.scope == "all" and row.reach == ONE_PAIR
        return "this pair of labels and new wordings" if is_one_pair else _POPULATIONS[self.scope]

    def _problems(self, key: Any) -> tuple[str, ...]:
        """Return the reason for which there is no verdict on a row, if there is one."""
        return tuple(filter(None, [self.finding(key).no_verdict]))

    def _details_of_one(self) -> list[str]:
        """Return sentences on the only row of the table: verdict, mean of the answers, ladder, cautions, and position.

        The ladder has an interval for each scope, from answers alone as a sample to words, wordings, and labels. If
        there is no verdict, only the mean of the answers follows the reason.
        """
        (key,) = self.table.index
        row = self.table.loc[key]
        observed_mean = _signed(row.observed)
        n_answers = fmt.as_count(row.answers)
        model = f" of {key[0]}" if key[0] and not self.changed else ""
        if row.withheld:
            count = f"{n_answers} answers have a mean D of {observed_mean} ({self.name})."
            return [*self._verdict(key), count]
        count = f"{n_answers} answers{model} have a mean D of {observed_mean} ({self.name})."
        if self.changed:
            count = f"D changed by {observed_mean} on average between {n_answers} pairs of answers ({self.name})."
        intervals = []
        for name, step in self.steps(key).iterrows():
            samples = STEPS[str(name)].replace("and ", "with ")  # such as "with words"
            intervals.append(f"{samples} {fmt.bounds(*interval_of(step), DECIMALS)}")
        sentences = [
            *self._verdict(key),
            count,
            f"{fmt.level(self.ci_prob)} intervals by what counts as a sample: {fmt.joined(intervals)}.",
        ]
        if row.reach == ONE_PAIR:
            sentences.append("All answers chose between one pair of labels, so that other labels may differ.")
        if row.optimistic:
            sentences.append(_OPTIMISTIC)
        if not self.changed:
            raw = self.published.loc[key]
            sentences += [
                *self._position(key),
                f"A new answer is stereotypical on balance with probability {fmt.probability(row.prob_new_answer)}.",
                f"The published D is {_signed(raw.published_d)}, and a t test over answers gives p"
                f" {fmt.equals(fmt.probability(raw.p))}.",
            ]
        return sentences

    def _position(self, key: tuple[str, str]) -> list[str]:
        """Return sentences on the log odds, if they are bounded, and on the position of labels, if it is known.

        `key` is the row of the table. Its columns of log odds are missing if the log odds are unbounded, and
        ``first_share``, the share of choices for the label that was named first, is missing if no first label is known.
        """
        row = self.table.loc[key]
        sentences = []
        if pd.notna(row.log_odds_mean):
            log_odds = fmt.value_and_interval(row.log_odds_mean, *interval_of(row, LOG_ODDS), DECIMALS)
            sentences.append(f"Given labels and positions, the association of these words is {log_odds} in log odds.")
        if pd.notna(row.first_share):
            low, high = map(fmt.percent, interval_of(row, SHARE_FIRST))
            sentences.append(
                "On average over the orders of labels, the label that was named first has"
                f" {fmt.percent(row.first_share)} of choices [{low}, {high}]."
            )
        return sentences

    def _details_of_all(self) -> list[str]:
        """Return sentences on several rows: how many are distinguishable from zero, in which direction and scope.

        In the scope "all", the distinguishable rows are also counted by the population that they generalise to
        (``reach``). Further sentences compare these numbers with the numbers in narrower scopes and, except for
        changes, with the published t test.
        """
        sentences = [self.answer]
        clear = self.distinguishable
        reach = self.table.reach
        subject, direction = ("changes", "upwards") if self.changed else ("associations", "as the stereotype predicts")

        def count_clear(condition: "pd.Series[bool]") -> str:
            return fmt.in_words(int((clear & condition).sum()))

        if clear.any():
            n_clear = fmt.in_words(int(clear.sum()))
            sentences.append(
                f"{fmt.capitalized(n_clear)} of {fmt.in_words(len(clear))} {subject}"
                f" {'is' if clear.sum() == 1 else 'are'} distinguishable from zero,"
                f" {count_clear(self.table['mean'] > 0)} of them {direction}."
            )
        if self.scope == "all" and clear.any():
            sentences.append(
                f"These include {count_clear(reach == NEW_LABELS)} for new labels,"
                f" {count_clear(reach.isin((FEW_LABELS, FEW_WORDINGS)))} from few labels or wordings, and"
                f" {count_clear(reach == ONE_PAIR)} for the only pair of labels that was asked."
            )
        numbers = self.counts().distinguishable.tolist()
        # All numbers in the sentence are written in the same style, either as words or as digits.
        as_text = fmt.in_words if max(numbers) <= 10 else fmt.as_count
        alone, words, wordings, labels = map(as_text, numbers)
        sentences.append(
            f"If only answers counted as a sample, {alone} would be distinguishable, with words {words}, with wordings"
            f" {wordings}, and with labels {labels}."
        )
        if not self.changed:
            significant = fmt.in_words(int((self.published.p < 0.05).sum()))
            sentences.append(f"The published t test over answers finds {significant}.")
        return sentences

    @property
    def layout(self) -> Layout:
        """Show D of each stereotype with its interval, and the labels and words that it generalises to.

        The mark before a label shows whether D is distinguishable from zero, or that there is no verdict.
        """
        rows = self.table
        marks = self.distinguishable.map({True: MARKS["distinguishable"], False: MARKS["not distinguishable"]})
        marks = marks.mask((rows.withheld != "") | (rows.pareto_k > MAX_PARETO_K), MARKS["not converged"])
        return Layout(
            list(marks + " " + rows.index.map(self.called)),
            [
                Column("answers", rows.answers, fmt.as_count, spare=True),
                Column("observed", rows.observed, _signed, spare=True),
                *estimate_columns(rows, self.quantity, self.ci_prob, DECIMALS),
                Column("P(above 0)", rows.prob_above, fmt.probability),
                *self._position_columns(),
                Column("generalises to", rows.reach, words=True),
                *self._published_columns(),
            ],
            heading="stereotype",
            caption=f"{fmt.capitalized(self.quantity)}: {self.name}",
        )

    def _position_columns(self) -> list[Column]:
        """Return the columns of log odds and of the position, if there are any."""
        return []

    def _published_columns(self) -> list[Column]:
        """Return the columns of the published D, for comparison."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelAnswers(AnswersResult):
    """Estimates of the associations in chat models. Made by `bayes_bias.answers.estimate`.

    Attributes
    ----------
    answers : Answers
        The answers that were read.
    scope : {"all", "wordings", "words", "trials"}
        The factors that are treated as samples.
    ci_prob, seed
    table : pandas.DataFrame
        Index ``(model, stereotype)``. Columns: number of ``answers`` with a D, numbers of ``labels_a``, ``labels_b``,
        ``wordings`` and ``words``, ``observed`` mean D, posterior ``mean``, ``sd`` and interval of D, ``prob_above``,
        ``prob_direction``; ``prob_new_answer``, the probability that a new answer has a positive D; ``reach``, the
        labels and words that D generalises to; columns that begin with ``log_odds``, the association in log odds given
        the labels and their position, which is missing if it is unbounded; ``first_share`` and its interval, the share
        of choices for the label that was named first, averaged over both orders; ``withheld``, the reason if there is
        no verdict; ``decided``, the share of answers whose absolute D exceeds .9; ``invalid``, the share of invalid
        choices, and their numbers by outcome: ``refused``, ``contradictory``, ``not_understood``, ``left_out``,
        ``cut_off``, ``blocked`` and ``tool_call``; ``bounds_lb`` and ``bounds_ub``, the mean D of all answers if
        invalid choices had been against the stereotype or in line with it; ``one_label``, the number of answers that
        assign one label to all words; ``optimistic``, True if the interval may be too short; ``pareto_k`` and ``ess``
        of the draws.
    ladder : pandas.DataFrame
        Index ``(model, stereotype, samples)``: mean, sd, interval and probabilities if only answers are treated as a
        sample ("trials"), and if words, wordings, and labels are also treated as samples (up to "all"). If there is
        only one pair of labels, "all" is missing.
    sources : pandas.DataFrame
        Index ``(model, stereotype, source)``: standard deviations of D between answers to one question, and between
        words, wordings and labels.
    levels : pandas.DataFrame
        Index ``(model, stereotype, factor, level)``: number of ``answers`` and mean ``D`` by wording, label, pair of
        labels, and the group whose label was named first.
    published : pandas.DataFrame
        See `bayes_bias.analyses.answers.published.published_row`.
    outcomes : pandas.DataFrame
        Index ``(model, stereotype, factor, level)``: numbers and shares of choices by outcome for the model, each
        label, and each class, with ``picked_share``, the share of choices of the label.
    posteriors : mapping of (model, stereotype) to Posterior
        Draws of mu and of all standard deviations.
    """

    answers: Answers
    outcomes: pd.DataFrame

    @property
    def sides(self) -> tuple[Answers, ...]:
        return (self.answers,)

    def biases(self) -> tuple[BiasDraws, ...]:
        """Return the bias D of each model and stereotype with its posterior, for `bayes_bias.check`.

        D is the probability of label a for words that are stereotypical for group a, minus its probability for the
        other words. It is the mean (mu) in the model of answers. Each bias has a name, draws of mu, the observed mean
        D, the metric of D, the population that it generalises to, and the reason if there is no verdict.
        """
        biases = []
        for key, row in self.table.iterrows():
            name = self.called(key)
            draws = self.posteriors[key].draws.mu.to_numpy()
            biases.append(BiasDraws(name, draws, float(row.observed), _D, self._population(row), self._problems(key)))
        return tuple(biases)

    def _position_columns(self) -> list[Column]:
        """Return the columns of the association in log odds and, if it is known, of choices for the label named first.

        The table has a mean and an interval of log odds for each row, which become one text.
        """
        rows = self.table
        estimates = rows[[f"{LOG_ODDS}_mean", *interval_columns(rows, LOG_ODDS)]].to_numpy()
        log_odds = [fmt.value_and_interval(mean, low, high, DECIMALS) for mean, low, high in estimates]
        columns = [Column(f"log odds\n{fmt.level(self.ci_prob)} interval", log_odds)]
        if rows.first_share.notna().any():
            columns.append(Column("first\nlabel", rows.first_share, fmt.share))
        return columns

    def _published_columns(self) -> list[Column]:
        """Return a column with the published D of each row and the p-value of its t test."""
        rows = self.published.loc[self.table.index]
        texts = [f"{_signed(row.published_d)} [{fmt.probability(row.p)}]" for row in rows.itertuples()]
        return [Column("published\nD [p]", texts, spare=True)]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswersChange(AnswersResult):
    """The change of D between two sets of answers to the same questions. Made by `bayes_bias.answers.estimate`.

    Attributes
    ----------
    before, after : Answers
        The answers of both sides.
    notices : tuple of str
        Notices of answers without a partner on the other side.
    published : pandas.DataFrame
        Published statistics of both sides. See `ModelAnswers`.
    scope, ci_prob, seed, table, ladder, sources, levels, posteriors
        As in `ModelAnswers`, for changes of D between -2 and 2. The draws in `posteriors` are draws of half the change.
        ``answers`` counts pairs, ``invalid`` is the mean share of both sides, numbers by outcome and ``one_label`` are
        sums of both sides, and the bounds are of the change.
    """

    changed: ClassVar[bool] = True
    quantity: ClassVar[str] = "change of D"

    before: Answers
    after: Answers
    notices: tuple[str, ...]

    @property
    def sides(self) -> tuple[Answers, ...]:
        return (self.before, self.after)

    @property
    def all_notices(self) -> tuple[str, ...]:
        sides = {"before": self.before, "after": self.after}
        return (*self.notices, *(f"{state}, {notice}" for state, side in sides.items() for notice in side.notices))

    def biases(self) -> tuple[ChangedBias, ...]:
        """Return D of each model and stereotype after, and its change, with their posteriors, for `bayes_bias.check`.

        Raises
        ------
        AnswersError
            If `after` has a model or stereotype that the answers before lack.
        """
        pairs, _ = paired(self.before, self.after)
        with_partner = [(after.model, after.stereotype) for _, after in pairs]
        for cell in self.after.cells:
            if (cell.model, cell.stereotype) not in with_partner:
                model = f" of '{cell.model}'" if cell.model else ""
                raise AnswersError(
                    f"`after` has answers{model} about '{cell.stereotype}', but there are none before. Pass answers of"
                    " the same models to the same questions."
                )
        return tuple(self._change_of(before, after) for before, after in pairs)

    def _change_of(self, before: Cell, after: Cell) -> ChangedBias:
        """Return the bias D of the answers after, with the bias of the answers before and the draws of the change.

        `before` and `after` are the answers that have a partner on the other side. The posterior in the table is that
        of half the change, so its draws are doubled. A problem of any of the three posteriors is a problem of the
        change.
        """
        key = before.model, before.stereotype
        bias_before = self._side(before, key)
        bias = self._side(after, key)
        change = 2 * self.posteriors[key].draws.mu.to_numpy()
        problems = tuple(dict.fromkeys((*self._problems(key), *bias_before.problems, *bias.problems)))
        return ChangedBias(
            bias.name, bias.draws, bias.observed, _D, bias.population, problems, before=bias_before, change=change
        )

    def _side(self, cell: Cell, key: tuple[str, str]) -> BiasDraws:
        """Return the bias D of the answers on one side (before or after) that have a partner on the other side.

        `key` is the row of the table whose change the two sides describe. The model of D is fitted to the answers of
        this side. The bias has draws of the mean D (mu), the observed mean, the metric of D, the population that it
        generalises to, and a problem if the draws are not reliable.
        """
        data = observed(cell)
        posterior = sample(Density(data, effects_of(cell, self.scope)), self.seed)
        problems = (_unreliable(posterior.pareto_k),) if posterior.pareto_k > MAX_PARETO_K else ()
        draws = posterior.draws.mu.to_numpy()
        observed_mean = float(data.difference.mean())
        return BiasDraws(self.called(key), draws, observed_mean, _D, self._population(self.table.loc[key]), problems)

    def _published_columns(self) -> list[Column]:
        """Return a column with the published D before, and one with the published D after.

        `published` has a row for each state ("before" or "after"), model, and stereotype.
        """
        columns = []
        for state in ("before", "after"):
            cells = []
            for model, stereotype in self.table.index:
                # A single model may have another name on the other side.
                rows = self.published.loc[state].xs(stereotype, level="stereotype")
                row = rows.loc[model] if model in rows.index else rows.iloc[0]
                cells.append(_signed(row.published_d))
            columns.append(Column(f"published D\n{state}", cells, spare=True))
        return columns


def _heading(result: AnswersResult) -> str:
    """Return the question that the page answers. It names up to three models, or "the model" if it has no name."""
    models = list(filter(None, result.table.index.unique("model")))
    if len(models) > _NAMED_IN_HEADING:
        return f"Which associations do {len(models)} models show?"
    return f"Which associations {'do' if len(models) > 1 else 'does'} {fmt.joined(models or ['the model'])} show?"


def _counts(result: AnswersResult) -> Layout:
    """Lay out the numbers of answers, labels, wordings and words, and of choices by outcome, in each row.

    A row is a model and stereotype. The bounds of the mean D, with any choices in place of the invalid ones, are only
    shown if there are invalid choices. Outcomes that do not occur have no column. `OUTCOMES` begins with valid choices,
    which need none.
    """
    rows = result.table
    labels, bounds_of_mean = [], []
    for row in rows.itertuples():
        labels.append(f"{row.labels_a} × {row.labels_b}")
        bounds_of_mean.append(fmt.bounds(row.bounds_lb, row.bounds_ub, DECIMALS) if row.invalid else DASH)
    columns = [
        Column("answers", rows.answers, fmt.as_count),
        Column("labels", labels),
        Column("wordings", rows.wordings, fmt.as_count),
        Column("words", rows.words, fmt.as_count),
        Column("decided", rows.decided, fmt.percent),
        Column("invalid\nchoices", rows.invalid, fmt.share),
    ]
    for outcome in OUTCOMES[1:]:
        numbers = rows[outcome.replace(" ", "_")]
        if numbers.any():
            columns.append(Column(outcome, numbers, fmt.as_count))
    columns += [Column("bounds\nof the mean D", bounds_of_mean), Column("one label", rows.one_label, fmt.as_count)]
    return Layout(list(map(result.called, rows.index)), columns)


def _ladder(result: AnswersResult) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the label of each row, with a list of its estimates: a text and True if its interval excludes zero.

    The ladder has an estimate for each step (`STEPS`), in which the mean and the interval become one text. In each
    step, more factors are treated as samples, from answers alone to words, wordings, and labels.
    """
    rows = []
    for key in result.table.index:
        cells = []
        for name in STEPS:
            step = result.ladder.loc[(*key, name)]
            lower, upper = interval_of(step)
            estimate = fmt.value_and_interval(step["mean"], lower, upper, DECIMALS)
            cells.append((estimate, bool(lower > 0 or upper < 0)))
        rows.append((result.called(key), cells))
    return rows


def _methods(result: AnswersResult) -> Methods:
    """Return the methods text: the answers, the model, and its draws.

    Settings of the language models (`asked`), such as a temperature, come from the provenance of the answers.
    """
    table = result.table
    labels = table[["labels_a", "labels_b"]]
    models: dict[str, None] = {}
    asked: dict[str, Any] = {}
    for side in result.sides:
        models |= dict.fromkeys(filter(None, side.models))
        for name, value in side.provenance.items():
            if value and name not in (FINGERPRINT, READ_AS):
                asked[name] = value
    n_stereotypes = len(set(table.index.get_level_values("stereotype")))
    facts: dict[str, Any] = {"result": result, "changed": result.changed, "models": list(models), "asked": asked}
    facts |= {"total": fmt.as_count(int(table.answers.sum())), "stereotypes": n_stereotypes, "ci_prob": result.ci_prob}
    facts |= {"priors": PRIOR_TEXTS, "largest": f"{LARGEST:g}", "draws": fmt.as_count(DRAWS), "software": software()}
    facts["labels"] = (int(labels.min(axis=None)), int(labels.max(axis=None)))
    facts["wordings"] = (int(table.wordings.min()), int(table.wordings.max()))
    facts["pareto_k"] = fmt.plain(float(table.pareto_k.max()), 2)
    facts["ess"] = fmt.as_count(float(table.ess.min()))
    facts["one_pair"] = int((table.reach == ONE_PAIR).sum())
    return Methods("methods-of-answers.txt", facts)
