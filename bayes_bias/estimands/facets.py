"""Over which words a reader may generalise: facets of a table, and scopes as sets of them."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import xarray as xr

from bayes_bias.associations.labels import Side
from bayes_bias.errors import ScopeError, did_you_mean
from bayes_bias.models.components import Part


@dataclass(frozen=True)
class Facet:
    """One side of a table, whose words may count as a sample.

    Attributes
    ----------
    name : str
        In the plural; also the part of a contrast's variance that it contributes.
    dim : str
        The dimension of the table that its words lie along.
    count : str
        What the design calls its numbers of words: one for each group, or for each class.
    """

    name: Part
    dim: Side
    count: str


TARGETS = Facet("targets", dim="target", count="n_targets")
ATTRIBUTES = Facet("attributes", dim="attribute", count="n_attributes")
FACETS = (TARGETS, ATTRIBUTES)

ScopeName = Literal["both", "targets", "attributes", "none"]


@dataclass(frozen=True)
class Scope:
    """The facets whose words count as samples; words of the others are exactly the ones that matter.

    Attributes
    ----------
    name : str
        What arguments and files call it.
    facets : frozenset of Facet
    condition : str
        What a statement under it presupposes.
    reach : str
        What it generalises to.
    reason : str
        Why one would choose it, in a clause.
    words : str
        What grows when a list is made longer.
    """

    name: ScopeName
    facets: frozenset[Facet]
    condition: str
    reach: str
    reason: str
    words: str

    def __contains__(self, facet: Facet) -> bool:
        return facet in self.facets

    @property
    def samples_nothing(self) -> bool:
        """Whether there is no uncertainty left: the raw contrast of exactly these words."""
        return not self.facets

    @property
    def samples_attributes(self) -> bool:
        """Whether it speaks of new attributes: any two handfuls of words differ, so that these alone show little."""
        return ATTRIBUTES in self.facets

    @property
    def samples_all(self) -> bool:
        """Whether every word list counts as a sample."""
        return self.facets == frozenset(FACETS)


SCOPES = MappingProxyType(
    {
        scope.name: scope
        for scope in (
            Scope(
                "both",
                frozenset(FACETS),
                condition="if both word lists are samples",
                reach="new targets and new attributes",
                reason="both word lists count as samples of the words that could have stood there. WEAT’s p-value"
                " answers a narrower question, for new targets and these attributes alone",
                words="words in each list",
            ),
            Scope(
                "targets",
                frozenset({TARGETS}),
                condition="for these attributes alone, if the targets are a sample",
                reach="new targets, these attributes",
                reason="the attributes count as exactly the words that matter, as in WEAT’s permutation test",
                words="targets in each group",
            ),
            Scope(
                "attributes",
                frozenset({ATTRIBUTES}),
                condition="for these targets alone, if the attributes are a sample",
                reach="these targets, new attributes",
                reason="the targets count as exactly the words that matter",
                words="attributes in each class",
            ),
            Scope(
                "none",
                frozenset(),
                condition="for exactly these words, without generalising to any other",
                reach="these targets, these attributes",
                reason="nothing but these words matters",
                words="words",
            ),
        )
    }
)
DEFAULT_SCOPE: ScopeName = "both"
# The question that WEAT's permutation test answers, and the one that SD-WEAT's does.
WEAT_SCOPE: ScopeName = "targets"
SD_WEAT_SCOPE: ScopeName = "attributes"
# What a reader is shown whatever else was asked for: everything sampled, and WEAT's question.
SHOWN: tuple[ScopeName, ...] = (DEFAULT_SCOPE, WEAT_SCOPE)


def scope_of(name: str) -> Scope:
    """The scope of a name.

    Raises
    ------
    ScopeError
        There is no such scope.
    """
    for known in get_args(ScopeName):
        if name == known:
            return SCOPES[known]
    raise ScopeError(f"scope: '{name}' is not a scope; {did_you_mean(str(name), SCOPES)}")


def sampling_scope(name: str) -> Scope:
    """A scope under which something is uncertain; refused otherwise.

    Raises
    ------
    ScopeError
    """
    found = scope_of(name)
    if found.samples_nothing:
        valid = [each.name for each in SCOPES.values() if not each.samples_nothing]
        raise ScopeError(
            f"scope: '{name}' generalises to no other words, so it has no interval, no density and no number of words"
            f" that matters; valid: {', '.join(valid)}"
        )
    return found


def possible_scopes(data: xr.Dataset) -> tuple[ScopeName, ...]:
    """The scopes that a design can carry: nothing generalises from a single word."""
    single = {facet for facet in FACETS if _of_one_word(data, facet)}
    return tuple(name for name, scope in SCOPES.items() if not scope.facets & single)


def check_design(data: xr.Dataset, scope: str) -> Scope:
    """The scope of a name, refused where a design cannot carry it, as `table_means` describes the design.

    Raises
    ------
    ScopeError
        The message names the group or class of one word and the scopes that remain.
    """
    found, remaining = scope_of(scope), possible_scopes(data)
    if found.name not in remaining:
        single = [name for facet in FACETS for name in _of_one_word(data, facet)]
        raise ScopeError(
            f"scope: '{scope}' generalises from a group or class of one word ({', '.join(single)});"
            f" add words to it, or use scope {' or '.join(map(repr, remaining))}"
        )
    return found


def _of_one_word(data: xr.Dataset, facet: Facet) -> list[str]:
    """Groups or classes with a single word of a facet."""
    sizes = data[facet.count]
    return sizes[sizes.dims[0]].to_numpy()[sizes.to_numpy() == 1].tolist()
