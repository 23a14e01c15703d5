"""The answer in words: is this bias distinguishable from noise?"""

from dataclasses import dataclass
from typing import Literal

from bayes_bias.associations.association import Association
from bayes_bias.estimands.estimates import check_scope
from bayes_bias.estimands.facets import (
    DEFAULT_SCOPE,
    FACETS,
    REPLICATES,
    TARGETS,
    Scope,
    ScopeName,
    possible_scopes,
    scope_of,
    widest_scope,
)
from bayes_bias.formatting import Telling, estimate, percent, plural, probability, signed
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.results.design import MOST_WORDS, WordsNeeded, replicates_needed, words_needed
from bayes_bias.results.negligible import check_rope
from bayes_bias.results.summary import CHANCE, chance, row_of_bias

Label = Literal[
    "distinguishable",
    "borderline",
    "not distinguishable",
    "these words differ",
    "these words may differ",
    "these words do not clearly differ",
    "raw contrast",
    "not converged",
]

# Clear, borderline, unclear.
_OF_NOISE: tuple[Label, ...] = ("distinguishable", "borderline", "not distinguishable")
_OF_THESE_WORDS: tuple[Label, ...] = (
    "these words differ",
    "these words may differ",
    "these words do not clearly differ",
)
_UNSETTLED = (*_OF_NOISE[1:], *_OF_THESE_WORDS[1:])

# CALIBRATION.md: with scope "targets" classes of random words differ in 35 to 41% of draws.
RANDOM_WORDS = "random words would in about 4 of 10 cases (CALIBRATION.md)"


@dataclass(frozen=True, repr=False)
class Verdict(Telling):
    """Whether the bias of a fit can be told from noise, and on which number that rests.

    A bias is "distinguishable" from noise if the chance of so large a contrast, were there no bias, is below ``1 -
    ci_prob``: exactly then the equal-tailed interval excludes zero. It is "borderline" between that and twice that.

    With scope "targets" the attributes count as these words alone, and any two handfuls of words differ. Its labels
    say so, and the verdict of the widest scope, "both" or with replicates "all", stands `beside` it. Scope "none" has
    the raw contrast and no verdict.

    Attributes
    ----------
    label : str
        "distinguishable", "borderline" or "not distinguishable"; with scope "targets" "these words differ", "these
        words may differ" or "these words do not clearly differ"; with scope "none" "raw contrast"; "not converged".
    bias, lower, upper : float
        Posterior mean and equal-tailed interval of ``bias``, in the units of the table.
    prob_direction : float
        See `bayes_bias.summarize`.
    scope : str
        That of the fit's table: "both" where "all" was asked of one without replicates.
    association : Association
        What the bias is a difference of, and in which units.
    words_needed : WordsNeeded or None
        See `bayes_bias.results.design.words_needed`; None also where the verdict needs no more words.
    replicates_needed : WordsNeeded or None
        See `bayes_bias.results.design.replicates_needed`; None also where the verdict needs no more of them.
    replicate_kind : str
        What a replicate of the table is, such as "template"; "" where it has none.
    beside : Verdict or None
        With scope "targets" the verdict of the widest scope; None where a class of one word cannot carry it.
    rope, prob_negligible : float or None
        Up to which size a bias was said to be negligible, and the posterior probability that it is.
    n_groups : int
        How many groups of targets there are.
    """

    label: Label
    bias: float
    lower: float
    upper: float
    ci_prob: float
    scope: ScopeName
    association: Association
    prob_direction: float
    words_needed: WordsNeeded | None = None
    replicates_needed: WordsNeeded | None = None
    replicate_kind: str = ""
    beside: "Verdict | None" = None
    problems: tuple[str, ...] = ()
    rope: float | None = None
    prob_negligible: float | None = None
    n_groups: int = 2

    @property
    def chance(self) -> float:
        """Chance of so large a contrast, of either sign, if there were no bias."""
        return chance(self.prob_direction)

    @property
    def planned(self) -> bool:
        """Whether the text names a number of words, or of replicates."""
        widest = self.beside or self
        return widest.words_needed is not None or widest.replicates_needed is not None

    @property
    def short(self) -> str:
        """The label, with that of the widest scope where it does not stand alone."""
        return self.label if self.beside is None else f"{self.label}; with {self.added} {self.beside.label}"

    @property
    def told_scope(self) -> Scope:
        """The scope in words, replicates by their name."""
        return scope_of(self.scope).told_of(self.replicate_kind)

    @property
    def added(self) -> str:
        """What the verdict `beside` generalises to that this one does not."""
        if self.beside is None:
            return ""
        more = [
            facet
            for facet in FACETS
            if facet in scope_of(self.beside.scope) and facet not in scope_of(self.scope)
        ]
        return " and ".join(
            f"new {plural(self.replicate_kind) if facet == REPLICATES else facet.name}" for facet in more
        )

    @property
    def text(self) -> str:
        """The verdict in sentences."""
        scope = self.told_scope
        if self.label == "not converged":
            return f"No verdict: the fit has not converged: {'; '.join(self.problems)}."
        if scope.samples_nothing:
            return f"Raw contrast: {signed(self.bias, self.association.decimals)}, {scope.condition}."
        return f"Posterior: {self._sentences()}"

    @property
    def posterior(self) -> str:
        """Posterior mean and interval."""
        return estimate(self.bias, self.lower, self.upper, self.association.decimals)

    @property
    def judgement(self) -> str:
        """The label in a clause, with what it presupposes."""
        scope = self.told_scope
        if scope.samples_nothing:
            return scope.condition
        if not scope.samples_attributes:
            cells = "groups" if self.n_groups > 1 else "classes"
            return f"{self.label.replace('these', 'these particular attribute')} between the {cells}"
        said = "borderline" if self.label == "borderline" else f"{self.label} from noise"
        return f"{said} {scope.condition}"

    def _sentences(self) -> str:
        found = f"{self.posterior}; {self.judgement} ({CHANCE}: {probability(self.chance)}){self.negligible}"
        if scope_of(self.scope).samples_attributes:
            return f"{found}.{self._more()}"
        wider = (
            f"With {self.added} as well: {self.beside._sentences()}"
            if self.beside
            else "Of new attributes nothing can be said, since a class has only one word."
        )
        by_chance = RANDOM_WORDS if TARGETS in self.told_scope else "any two handfuls of words differ"
        return f"{found}; {by_chance}. {wider}"

    def _more(self) -> str:
        """How many words would settle what is not, and how many replicates of the same lists."""
        if self.label == "distinguishable":
            return ""
        words, needed = self.told_scope.words, self.words_needed
        if needed is None:
            found = f"Even {MOST_WORDS:,} {words} would not tell it from zero if the bias is as large as estimated"
        else:
            found = (
                f"About {_round(needed.words):,} {words} would tell it from zero with probability"
                f" {percent(needed.power)} if the bias is as large as estimated; averaged over the posterior,"
                f" {percent(needed.averaged)}"
            )
        return f" {found}{self._more_replicates()}."

    def _more_replicates(self) -> str:
        if not self.told_scope.samples_replicates:
            return ""
        kinds, needed = plural(self.replicate_kind), self.replicates_needed
        if needed is None:
            return (
                f"; nor would more {kinds}, but only both together"
                if self.words_needed is None
                else f"; more {kinds} would not"
            )
        number = f"about {_round(needed.words):,} {kinds} of these lists"
        if self.words_needed is not None:
            return f"; so would {number}"
        return f"; {number} would, with probability {percent(needed.power)}"

    @property
    def negligible(self) -> str:
        """A clause on how probable it is that the bias is negligible; "" where no region was given for that."""
        if self.rope is None or self.prob_negligible is None or self.told_scope.samples_nothing:
            return ""
        return (
            f"; negligible, smaller than {self.rope:g}, with probability {probability(self.prob_negligible)}"
        )


def verdict(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, ci_prob: float = 0.95, rope: float | None = None
) -> Verdict:
    """Whether the bias of a fit can be told from noise.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        "all" is "both" where the table has no replicates.
    ci_prob : float
        Probability of the interval; ``1 - ci_prob`` is the threshold.
    rope : float, optional
        Up to which size, in the units of the table, a bias is negligible: the verdict then has the posterior
        probability that it is.

    Raises
    ------
    ScopeError
        The design cannot carry the scope, or the fit is not of a crossed model.
    BayesBiasError
        `rope` is no positive, finite number.

    Examples
    --------
    >>> print(verdict(posterior))                                                 # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("a verdict")
    check_rope(rope)
    scope = check_scope(fitted, scope).name
    row = row_of_bias(fitted, scope, ci_prob, rope)
    problems = Diagnostics.of(fitted).problems
    label = "not converged" if problems else _label(chance(row.prob_direction), 1 - ci_prob, scope)
    return Verdict(
        label=label,
        bias=float(row["mean"]),
        lower=float(row.lower),
        upper=float(row.upper),
        ci_prob=ci_prob,
        scope=scope,
        association=fitted.association,
        prob_direction=float(row.prob_direction),
        words_needed=words_needed(fitted, scope, ci_prob=ci_prob) if label in _UNSETTLED else None,
        replicates_needed=replicates_needed(fitted, scope, ci_prob=ci_prob) if label in _UNSETTLED else None,
        replicate_kind=fitted.replicate_kind,
        beside=_beside(fitted, ci_prob) if label in _OF_THESE_WORDS else None,
        problems=problems,
        rope=rope,
        prob_negligible=None if rope is None else float(row.prob_negligible),
        n_groups=fitted.data.sizes["group"],
    )


def _label(found: float, threshold: float, scope: ScopeName) -> Label:
    if scope_of(scope).samples_nothing:
        return "raw contrast"
    labels = _OF_NOISE if scope_of(scope).samples_attributes else _OF_THESE_WORDS
    return labels[int(found >= threshold) + int(found >= 2 * threshold)]


def _beside(fitted: Fitted, ci_prob: float) -> Verdict | None:
    widest = widest_scope(fitted.data)
    return verdict(fitted, widest, ci_prob=ci_prob) if widest in possible_scopes(fitted.data) else None


def _round(n: int) -> int:
    """Two significant digits: the number rests on estimates."""
    digits = max(len(str(n)) - 2, 0)
    return round(n, -digits)
