"""The result of a gate, as sentences, a table, and files for other programs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd

from bayes_bias.analyses.gate.biases import MEASURED, record_of, record_of_bias
from bayes_bias.analyses.gate.decision import EXIT_CODES, Decision, Outcome, mean_of, overall
from bayes_bias.formatting import (
    DASH,
    MINUS,
    Column,
    Layout,
    Tabled,
    as_json,
    bounds,
    counted,
    in_words,
    joined,
    level,
    mean_of_interval,
    percent,
    plural,
    probability,
    probability_in_words,
    range_in_words,
    signed,
)
from bayes_bias.posterior.estimate import BiasDraws, ChangedBias
from bayes_bias.posterior.planning import MOST_WORDS
from bayes_bias.table.association_table import AssociationTable, unit_of
from bayes_bias.table.columns import interval_names
from bayes_bias.table.scopes import WORDS, ScopeName, scope_of

_MARKS: Mapping[Outcome, str] = {"pass": "✓", "fail": "✕", "cannot tell": "?"}


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Tabled):
    """The decisions of `bayes_bias.check`.

    Attributes
    ----------
    decisions : mapping of str to Decision
        The decision on each list.
    measured : mapping of str to AssociationTable or BiasDraws
        The table of each list, or the posterior of each bias of sentence pairs or answers. A later check uses it as its
        baseline.
    rope, alpha, scope
        See `bayes_bias.check`.
    has_baseline : bool
        Whether biases were compared with a baseline.
    baseline : mapping of str to str
        The file of the baseline and its SHA-256 hash. Empty without a file.
    """

    decisions: Mapping[str, Decision]
    measured: Mapping[str, AssociationTable | BiasDraws]
    rope: float
    alpha: float
    scope: ScopeName
    has_baseline: bool = False
    baseline: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """The outcome: "fail" if a list fails, "pass" if all pass, and "cannot tell" otherwise."""
        return overall([decision.outcome for decision in self.decisions.values()])

    @property
    def exit_code(self) -> int:
        """The exit code of `bayes-bias check`: 0 (pass), 1 (fail), or 3 (cannot tell)."""
        return EXIT_CODES[self.outcome]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each list.

        Columns: ``outcome``; ``mean``, ``eti90_lb``, and ``eti90_ub`` (the bias, or its change, with the interval of
        probability ``1 - 2 alpha``); ``observed`` and ``before`` (raw biases); ``prob_within``, ``prob_beyond``, and
        ``prob_beyond_holm``; ``passes_at_zero``, ``fails_at_allowed``, and ``fails_at_twice`` (shares of passes and
        failures for a bias, or an increase, of zero, `rope`, and twice `rope`, or missing if all values are the same as
        in the baseline, or if no bias has this size; upper bounds for changes of sentence pairs and answers); and
        ``words_needed``.
        """
        rows = {}
        for name, decision in self.decisions.items():
            at_zero, at_allowed, at_twice = decision.rates
            rows[name] = {
                "outcome": decision.outcome,
                "mean": mean_of(decision.excess.contrasts[0]),
                **dict(zip(interval_names(1 - 2 * self.alpha), decision.interval, strict=True)),
                "observed": decision.observed,
                "before": decision.before,
                "prob_within": decision.excess.prob_within,
                "prob_beyond": decision.excess.prob_beyond,
                "prob_beyond_holm": decision.prob_beyond_holm,
                "passes_at_zero": at_zero.passes,
                "fails_at_allowed": at_allowed.fails,
                "fails_at_twice": at_twice.fails,
                "words_needed": None if math.isnan(at_twice.fails) else decision.words_needed,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")

    @property
    def text(self) -> str:
        """A sentence on each list, the outcome of several lists, and the sizes of biases that the gate can detect."""
        sentences = [f"{name}: {self._sentence(decision)}" for name, decision in self.decisions.items()]
        if len(self.decisions) > 1:
            sentences.append(self.summary)
        return "\n".join([*sentences, *self.sight, *self._independence])

    @property
    def summary(self) -> str:
        """The outcome of all lists, in a sentence that names the lists with each outcome.

        If not all lists pass, the sentence mentions that failures are adjusted for the number of lists.
        """
        names_by_outcome: dict[Outcome, list[str]] = {}
        for name, decision in self.decisions.items():
            names_by_outcome.setdefault(decision.outcome, []).append(name)
        parts = [f"{joined(names)} {_VERBS[outcome]}" for outcome, names in names_by_outcome.items()]
        adjusted = ""
        if len(self.decisions) > 1 and self.outcome != "pass":
            number = in_words(len(self.decisions))
            adjusted = f" (failures are adjusted for {number} {self._noun}s by Holm's procedure)"
        return f"{self.outcome.capitalize()}: {joined(parts)}{adjusted}."

    @property
    def sight(self) -> list[str]:
        """Sentences on each list about how often this gate passes and fails biases of known size.

        Lists whose values are the same as in the baseline have none, because their posterior is not known.
        """
        changed = {name: decision for name, decision in self.decisions.items() if not decision.unchanged}
        return [f"{name}: {self._sight(decision)}" for name, decision in changed.items()]

    @property
    def layout(self) -> Layout:
        """Show the decision on each list, the bias (or its change) with its interval, and its probabilities.

        These are the probabilities that the bias is within and beyond the allowed size, and the share of failures if
        the true bias were twice the allowed size (``fails_at_twice``), if a bias can be as large.
        """
        rows, decimals = self.table, self._decimals
        rates = []
        if any(2 * self.rope < decision.largest for decision in self.decisions.values()):
            rates.append(Column(f"fails at {2 * self.rope:g}", rows.fails_at_twice, self._rate, spare=True))
        decisions = [f"{_MARKS[outcome]} {outcome}" for outcome in rows.outcome]
        ends = [decision.interval for decision in self.decisions.values()]
        means = [mean_of_interval(mean, *interval, decimals) for mean, interval in zip(rows["mean"], ends, strict=True)]
        intervals = [bounds(*interval, decimals) for interval in ends]
        return Layout(
            list(map(str, rows.index)),
            [
                Column("decision", decisions, words=True),
                Column("change" if self.has_baseline else "bias", means),
                Column(f"{level(1 - 2 * self.alpha)} interval", intervals),
                Column("probability\nwithin", rows.prob_within, probability),
                Column("probability\nbeyond", rows.prob_beyond, probability),
                *rates,
            ],
            heading=self._noun,
            caption=self._allowed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `Tabled.to_dict` does, with the numbers of its lists.

        The entry ``measured`` contains the tables or posteriors, which a later check can use as its baseline.
        """
        record = super().to_dict()
        del record["decisions"]
        measured = {}
        for name, item in self.measured.items():
            measured[name] = record_of_bias(item) if isinstance(item, BiasDraws) else record_of(item)
        decided = {"outcome": self.outcome, "exit_code": self.exit_code, "summary": self.summary}
        return record | decided | {"table": as_json(self.table), MEASURED: measured}

    def to_markdown(self) -> str:
        """Return the decisions in Markdown, for a comment on a pull request."""
        sentences = "\n".join(f"- {line}" for line in self.text.split("\n"))
        return f"### Bias check: {self.outcome}\n\n{super().to_markdown()}\n\n{self._allowed}.\n\n{sentences}\n"

    def to_model_card(self) -> str:
        """Return a section for a model card, in Markdown.

        It contains the allowed size, the population, the table, and the outcome.
        """
        allowed = f"{self._allowed[0].lower()}{self._allowed[1:]}"
        return (
            f"## Bias\n\nChecked with `bayes-bias` ({allowed}; error probability {self.alpha:g};"
            f" {self._assumption}).\n\n{super().to_markdown()}\n\n{self.summary}\n"
        )

    def to_junit(self) -> str:
        """Return the decisions as JUnit XML, for programs that show results of tests.

        There is a test case for each list, with the sentence on the list as its output. A list that fails the check is
        a failure, and a list without a decision ("cannot tell") is skipped.
        """
        outcomes = [decision.outcome for decision in self.decisions.values()]
        counts = {"tests": len(outcomes), "failures": outcomes.count("fail"), "skipped": outcomes.count("cannot tell")}
        suite = ET.Element("testsuite", {"name": "bayes-bias check"} | {key: str(n) for key, n in counts.items()})
        for name, decision in self.decisions.items():
            case = ET.SubElement(suite, "testcase", {"classname": "bayes_bias.check", "name": name})
            sentence = self._sentence(decision)
            if decision.outcome == "fail":
                ET.SubElement(case, "failure", {"message": sentence, "type": "bias"})
            elif decision.outcome == "cannot tell":
                ET.SubElement(case, "skipped", {"message": sentence})
            ET.SubElement(case, "system-out").text = sentence
        return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"

    @property
    def _populations(self) -> list[str]:
        """The populations of sentence pairs or answers, such as "new pairs of new writers". Word lists have none."""
        return list(dict.fromkeys(item.population for item in self.measured.values() if isinstance(item, BiasDraws)))

    @property
    def _assumption(self) -> str:
        """A clause on the population that the decisions generalise to, which begins with "for"."""
        populations = self._populations
        return f"for {joined(populations)}" if populations else scope_of(self.scope).assumption

    @property
    def _noun(self) -> str:
        """The noun for what is decided: a list of words, or a result of sentence pairs or answers."""
        return "result" if self._populations else "list"

    @property
    def _independence(self) -> list[str]:
        """A sentence on how the change of sentence pairs or answers was estimated: from pairs, or as if independent.

        There is no such sentence without a baseline, for word lists (which have no populations), or if nothing changed.
        A `ChangedBias` was estimated from pairs of answers before and after.
        """
        all_unchanged = all(decision.unchanged for decision in self.decisions.values())
        if not self.has_baseline or not self._populations or all_unchanged:
            return []
        if any(isinstance(item, ChangedBias) for item in self.measured.values()):
            return ["The change is estimated from the same pairs or questions, each of which is compared with itself."]
        return [
            "The change is estimated as if both results were independent. If they are for the same pairs or questions,"
            " its interval is wider than necessary."
        ]

    @property
    def _has_bounds(self) -> bool:
        """Return True for changes of sentence pairs and answers, whose rates of passes and failures are upper bounds.

        See `gates-pairs` in benchmarks.
        """
        return self.has_baseline and bool(self._populations)

    def _rate(self, share: float) -> str:
        """Format a rate of failures for the table, with a sign if it is an upper bound."""
        rate = percent(share)
        return f"≤ {rate}" if self._has_bounds and rate != DASH else rate

    @property
    def _decimals(self) -> int:
        """The number of decimals of biases. All lists of a gate have the same metric."""
        return next(iter(self.measured.values())).metric.decimals

    @property
    def _allowed(self) -> str:
        """The allowed size of a bias, or of its increase, in a sentence without a full stop."""
        unit = next(iter(self.measured.values())).metric.unit
        if self.has_baseline:
            return f"Allowed: a bias that is at most {self.rope:g} larger than in the baseline, in {unit}"
        return f"Allowed: a bias between {MINUS}{self.rope:g} and +{self.rope:g}, in {unit}"

    def _sentence(self, decision: Decision) -> str:
        """Return the decision on a list, with the estimate and the probability on which it is based.

        Without a reliable posterior, there is only the reason. With a baseline, the sentence has the raw biases before
        and after, and the estimate of their change.
        """
        if decision.problems:
            return f"cannot tell, because {'; '.join(decision.problems)}."
        if decision.unchanged:
            raw = signed(decision.before, self._decimals)
            return f"pass. All values are the same as in the baseline (raw bias {raw})."
        lower, upper = decision.interval
        interval = range_in_words(lower, upper, self._decimals)
        estimate = mean_of_interval(mean_of(decision.excess.contrasts[0]), lower, upper, self._decimals)
        subject = "The bias"
        if self.has_baseline:
            before = signed(decision.before, self._decimals)
            after = signed(decision.observed, self._decimals)
            subject = f"The raw bias was {before} and is {after}. The estimated change"
        return (
            f"{decision.outcome}. {subject} is {estimate} ({level(1 - 2 * self.alpha)} credible interval {interval})."
            f" {self._reason(decision)}"
        )

    def _reason(self, decision: Decision) -> str:
        """The probabilities on which the decision is based, in a sentence.

        A pass is based on the probability that the bias is within the allowed range (at most `rope` in size), a failure
        on the probability that it is beyond, and no decision on both. With a baseline, both are about the increase of
        the size of the bias since the baseline. If several lists are checked, the probability of a failure is also
        stated after Holm's adjustment for their number.
        """
        excess = decision.excess
        size = f"{self.rope:g}"
        if self.has_baseline:
            within = f"the size of the bias has grown by at most {size}"
            beyond = f"the size of the bias has grown by more than {size}"
        else:
            within = f"the bias is between {MINUS}{size} and +{size}"
            beyond = f"it is beyond {'+' if excess.prob_above > excess.prob_below else MINUS}{size}"
        adjusted = ""
        if decision.lists > 1:
            adjusted = f" ({probability_in_words(decision.prob_beyond_holm)} after Holm's adjustment)"
        clause_of_pass = f"{within} is {probability_in_words(excess.prob_within)}"
        clause_of_failure = f"{beyond} is {probability_in_words(excess.prob_beyond)}{adjusted}"
        if decision.outcome == "cannot tell":
            return f"The probability that {clause_of_pass}, and that {clause_of_failure}."
        return f"The probability that {clause_of_pass if decision.outcome == 'pass' else clause_of_failure}."

    def _sight(self, decision: Decision) -> str:
        """How often the gate passes and fails for biases of known size, in sentences.

        The rates of a decision are the shares of passes and failures, in repeated checks like this one, if the true
        bias (or its increase since the baseline) is zero, the allowed size, or twice the allowed size. Sizes that no
        bias can have are omitted. The second sentence is about the number of words with which the gate detects a bias
        of twice the allowed size. It is omitted for sentence pairs, for answers, and if the scope does not generalise
        to new words.
        """
        at_zero, at_allowed, at_twice = decision.rates
        bias, no_bias = "a bias", f"a {self._noun} without a bias"
        if self.has_baseline:
            bias, no_bias = "an increase", "an unchanged bias"
        bound = "at most " if self._has_bounds else ""
        failures = []
        for exactly, rates in (("exactly ", at_allowed), ("", at_twice)):
            if not math.isnan(rates.fails):
                failures.append(f"{bias} of {exactly}{rates.size:g} in {bound}{percent(rates.fails)}")
        fails = f", and fails {' and '.join(failures)}" if failures else ""
        sentence = f"this gate passes {no_bias} in {bound}{percent(at_zero.passes)}{fails} of checks."
        if len(failures) < 2 or self._populations or scope_of(self.scope).facets.isdisjoint(WORDS):
            return sentence
        unit = unit_of(item for item in self.measured.values() if isinstance(item, AssociationTable))
        needed = f"more than {MOST_WORDS:,} {plural(unit)}"
        if decision.words_needed is not None:
            needed = f"about {counted(decision.words_needed, unit)}"
        return (
            f"{sentence} To fail the latter in 80%, {needed} would be needed in each group and each class that is a"
            " sample."
        )


_VERBS: Mapping[Outcome, str] = {"pass": "passed", "fail": "failed", "cannot tell": "could not be decided"}
