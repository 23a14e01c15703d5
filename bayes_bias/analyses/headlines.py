"""The first sentence of a page: one table of cases, in which each analysis states what it found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from bayes_bias.formatting import capitalized, in_words, joined

type _Change = Literal["answers change", "pairs change", "change", "difference", "over time"]
type _State = Literal["report", "answers", "models", "values", "gaps", "pairs", "sweep", "multiverse", "criterion"]
type Page = _State | Literal["stability", "agreement"] | _Change


class Case(StrEnum):
    """What a page can state about one result."""

    NOTHING = "nothing found"
    FOUND = "found"
    AGAINST = "found against the stereotype"
    PRIOR = "depends on the prior"
    NO_VERDICT = "no verdict"
    TOO_FEW = "too few words"


# The sentence of each case. `title` names the thing in words, and `size` is its mean with the interval.
HEADLINES: Mapping[Page, Mapping[Case, str]] = {
    "report": {
        Case.FOUND: "{title} shows a bias that chance alone is unlikely to explain: {size}.",
        Case.AGAINST: "{title} shows a bias against the stereotype that chance alone is unlikely to explain: {size}.",
        Case.NOTHING: "{title} shows no bias that can be distinguished from noise{borderline}: {size}.",
    },
    "stability": {
        Case.FOUND: (
            "The bias of {title} is {bias} on average over {number} {kinds}, and varies between {kinds} with a standard"
            " deviation of {size}."
        ),
        Case.NOTHING: (
            "The bias of {title} has no clear direction in {number} {kinds} ({bias}), and varies between {kinds} with a"
            " standard deviation of {size}."
        ),
    },
    "values": {
        Case.FOUND: "{title} is {size}, distinguishable from zero.",
        Case.NOTHING: "{title} is {size}, not distinguishable from zero.",
    },
    "answers": {
        Case.FOUND: "{model} assigns {title} to {group} more often than {others}: D = {size}.",
        Case.AGAINST: (
            "Against the stereotype, {model} assigns {others} to {group} more often than {title}: D = {size}."
        ),
        Case.NOTHING: "For {title} there is no clear association: D = {size}.",
    },
    "agreement": {
        Case.FOUND: "The association of {title} is in the direction of the stereotype in {sources}.",
        Case.AGAINST: "The association of {title} is against the stereotype in {sources}.",
        Case.NOTHING: "The association of {title} is not distinguishable from zero in {sources}.",
    },
    "answers change": {
        Case.FOUND: "D of {title} {direction} by {size}.",
        Case.NOTHING: "No change of D of {title} is distinguishable from zero: {size}.",
    },
    "models": {
        Case.FOUND: "For {title}, {larger} has a larger {quantity} than {smaller}, by {size}.",
        Case.NOTHING: (
            "For {title}, {larger} and {smaller} cannot be distinguished{adjusted}: the difference in {quantity} is"
            " {size}."
        ),
    },
    "gaps": {
        Case.FOUND: (
            "The true-positive rate of {group} is {size} {direction} than that of {rest} on average over {title}."
        ),
        Case.NOTHING: "No difference between {group} and {rest} is distinguishable from zero in any of {title}.",
    },
    "pairs": {
        Case.FOUND: "{title} prefers the stereotypical sentence in {size}, distinguishable from one half.",
        Case.AGAINST: (
            "Against the stereotype, {title} prefers the stereotypical sentence in only {size}, distinguishable from"
            " one half."
        ),
        Case.NOTHING: (
            "{title} shows no clear preference: the stereotypical sentence is ahead in {size}, {borderline}not"
            " distinguishable from one half."
        ),
    },
    "pairs change": {
        Case.FOUND: "The share of {title} {direction} by {size}, distinguishable from no change.",
        Case.NOTHING: "The share of {title} changed by {size}, {borderline}not distinguishable from no change.",
    },
    "change": {
        Case.FOUND: "The bias of {title} {direction} by {size}.",
        Case.NOTHING: "{none} of the bias of {title} {is_found}: {size}.",
    },
    "difference": {
        Case.FOUND: "The bias of {title} is {direction} in {second} than in {first}, by {size}.",
        Case.NOTHING: "{none} in the bias of {title} between {first} and {second} {is_found}: {size}.",
    },
    "over time": {
        Case.FOUND: "The bias of {title} {direction} {span}, by {size}.",
        Case.NOTHING: "No trend of the bias of {title} {span} can be distinguished from noise: {size}.",
    },
    "sweep": {
        Case.FOUND: "{title} is biased on {number}, most on {most} ({size})",
        Case.AGAINST: "{title} is biased on {number}, most on {most}, there against the stereotype ({size})",
        Case.NOTHING: "{title} is biased on none",
    },
    "criterion": {
        Case.FOUND: "The correlation of {title} is {direction}: {size}.",
        Case.NOTHING: "The correlation of {title} is not distinguishable from zero: {size}.",
    },
    "multiverse": {
        Case.FOUND: "The bias of {title} is distinguishable from zero in {number}: {size}.",
        Case.AGAINST: "Against the stereotype, the bias of {title} is distinguishable from zero in {number}: {size}.",
        Case.NOTHING: "The bias of {title} is distinguishable from zero in {number}: {size}.",
    },
}

# What follows, or replaces, the sentence in the other cases.
NO_VERDICT = "There is no verdict on {title}, because {reason}."
AFTER: Mapping[Case, str] = {Case.PRIOR: "This depends on the prior: {reason}.", Case.TOO_FEW: "However, {reason}."}
_MOST_FOUND, _MOST_NAMED = 2, 3


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A result of an analysis, as the headline of its page needs it.

    Attributes
    ----------
    title : str
        The thing in words, never a key or a file name.
    value : float
        Its mean, whose sign is the direction.
    size : str
        The mean with the interval as text.
    clear : bool
        True if the interval excludes zero, and the result survives adjustments.
    has_stereotype : bool
        True if a stereotype predicts a positive value.
    no_verdict, prior, too_few : str
        The reason for each of these cases as a clause, or "".
    words : mapping of str to str
        Further words of the sentence.
    """

    title: str
    value: float
    size: str
    clear: bool
    has_stereotype: bool = False
    no_verdict: str = ""
    prior: str = ""
    too_few: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        """Return the case, beginning with the cases that limit the others most.

        A missing verdict comes first, then a verdict that depends on the prior, then too few units. Otherwise, the case
        is the direction.
        """
        if self.no_verdict:
            return Case.NO_VERDICT
        if self.prior:
            return Case.PRIOR
        return Case.TOO_FEW if self.too_few else self.direction

    @property
    def direction(self) -> Case:
        """Return the case NOTHING without a clear result, AGAINST if it is against the stereotype, or else FOUND."""
        if not self.clear:
            return Case.NOTHING
        return Case.AGAINST if self.has_stereotype and self.value < 0 else Case.FOUND

    def sentence(self, page: Page) -> str:
        """Return the sentence on this result.

        Examples
        --------
        >>> lost = Finding(title="WEAT 7", value=0.1, size="+0.1", clear=True, no_verdict="the fit has not converged")
        >>> lost.sentence("change")
        'There is no verdict on WEAT 7, because the fit has not converged.'
        """
        if self.case is Case.NO_VERDICT:
            return NO_VERDICT.format(title=self.title, reason=self.no_verdict)
        found = HEADLINES[page][self.direction].format(title=self.title, size=self.size, **self.words)
        after = AFTER.get(self.case, "").format(reason=self.prior or self.too_few)
        # Names of models and embeddings keep their spelling.
        return f"{capitalized(found) if found.startswith('the ') else found} {after}".rstrip()


def headline(page: Page, findings: Sequence[Finding], of_others: str) -> str:
    """Return the sentences on several results of one page: the largest findings, and the titles of the others.

    At most _MOST_FOUND findings have a sentence, and further ones are counted. `of_others` is the sentence on results
    without a finding, with a place for their `titles`. Results without a verdict are grouped by the reason.
    """
    if len(findings) == 1:
        return findings[0].sentence(page)
    judged = [finding for finding in findings if finding.case is not Case.NO_VERDICT]
    found = sorted((finding for finding in judged if finding.clear), key=lambda finding: -abs(finding.value))
    not_found = [finding for finding in judged if not finding.clear]
    sentences = [finding.sentence(page) for finding in found[:_MOST_FOUND]]
    n_more = len(found) - _MOST_FOUND
    if n_more > 0:
        results_are = "result is" if n_more == 1 else "results are"
        sentences.append(f"{capitalized(in_words(n_more))} other {results_are} distinguishable from zero.")
    if not_found:
        sentences.append(of_others.format(titles=_titles(not_found, of_all=len(not_found) == len(findings))))
    for reason in dict.fromkeys(finding.no_verdict for finding in findings if finding.no_verdict):
        concerned = [finding for finding in findings if finding.no_verdict == reason]
        titles = _titles(concerned, of_all=len(concerned) == len(findings))
        sentences.append(NO_VERDICT.format(title=titles, reason=reason))
    return " ".join(sentences)


def called(title: str) -> str:
    """Return the title of a list for a sentence: "WEAT 7 (Math and arts)" for the title "WEAT 7: Math and arts"."""
    short, _, topic = title.partition(": ")
    return f"{short} ({topic})" if topic else f"“{title}”"


def _titles(findings: Sequence[Finding], of_all: bool) -> str:
    """Return the titles of results, or their number if there are more than three."""
    if len(findings) <= _MOST_NAMED:
        return joined([finding.title for finding in findings])
    number = in_words(len(findings))
    return f"all {number} results" if of_all else f"{number} others"
