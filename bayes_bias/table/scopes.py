"""Scopes of generalisation, as sets of the facets of a table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast

from bayes_bias.errors import ScopeError
from bayes_bias.formatting import joined, plural
from bayes_bias.table.labels import Side

if TYPE_CHECKING:
    import xarray as xr

# A part of a contrast's variance.
type Part = Literal[
    "targets",
    "attributes",
    "residual",
    "replicates",
    "targets by replicate",
    "attributes by replicate",
    "residual by replicate",
]


@dataclass(frozen=True)
class Facet:
    """One side of a table, or its replicates, which may be treated as a sample."""

    name: Part  # in the plural, as the part of a contrast's variance that it contributes
    dim: Side | Literal["replicate"]  # the dimension of the table that contains its words


TARGETS = Facet("targets", dim="target")
ATTRIBUTES = Facet("attributes", dim="attribute")
REPLICATES = Facet("replicates", dim="replicate")
# Facets of every table, and of a table with replicates.
WORDS = (TARGETS, ATTRIBUTES)
FACETS = (*WORDS, REPLICATES)

PART_OF_SIDE: Mapping[Side, Part] = MappingProxyType({"target": "targets", "attribute": "attributes"})

# The facets with which each part of a contrast's variance differs. A part is noise if one of its facets is sampled.
PARTS: Mapping[Part, frozenset[Facet]] = MappingProxyType(
    {
        "targets": frozenset({TARGETS}),
        "attributes": frozenset({ATTRIBUTES}),
        "residual": frozenset(WORDS),
        "replicates": frozenset({REPLICATES}),
        "targets by replicate": frozenset({TARGETS, REPLICATES}),
        "attributes by replicate": frozenset({ATTRIBUTES, REPLICATES}),
        "residual by replicate": frozenset(FACETS),
    }
)

ScopeName = Literal[
    "all", "both", "targets", "attributes", "replicates", "targets+replicates", "attributes+replicates", "none"
]


@dataclass(frozen=True)
class Scope:
    """The facets that are treated as samples. All other words are treated as fixed."""

    name: ScopeName
    facets: frozenset[Facet]
    assumption: str  # clause that names the samples and the fixed words
    reach: str  # the words that it generalises to
    reason: str  # the reason to choose it, in a clause
    words: str  # the words whose number grows when a list is extended
    texts: bool = False  # whether the texts behind the vectors are a sample, which no facet of the table shows

    def __contains__(self, facet: Facet) -> bool:
        return facet in self.facets

    @property
    def samples_nothing(self) -> bool:
        """True if nothing is sampled, so that the result is the raw contrast of exactly these words."""
        return not self.facets

    @property
    def samples_attributes(self) -> bool:
        """True if the scope generalises to new attributes."""
        return ATTRIBUTES in self.facets

    @property
    def samples_all(self) -> bool:
        """True if both word lists are treated as samples."""
        return self.facets >= frozenset(WORDS)

    @property
    def samples_replicates(self) -> bool:
        """True if the scope generalises to new replicates."""
        return REPLICATES in self.facets

    def with_replicates_called(self, kind: str) -> "Scope":
        """Return the scope with texts for a table whose replicates are of a `kind`, such as "template".

        If the scope samples replicates, the noun "replicates" is replaced in its texts. Otherwise, its texts add that
        "these templates" are fixed. For example, the assumption "targets are treated as a sample and attributes as
        fixed" becomes "targets are treated as a sample, and attributes and these templates as fixed". A table without
        replicates has the kind "", and the scope is returned unchanged.
        """
        if not kind:
            return self
        if self.samples_replicates:
            texts = {}
            for name in ("assumption", "reach", "reason", "words"):
                texts[name] = getattr(self, name).replace(REPLICATES.name, plural(kind))
            return replace(self, **texts)
        these = f"these {plural(kind)}"
        if self.samples_nothing:
            assumption = f"words and {these} are treated as fixed"
        elif self.assumption.endswith(" as fixed"):
            sampled, _, fixed = self.assumption.removesuffix(" as fixed").rpartition(" and ")
            assumption = f"{sampled}, and {fixed} and {these} as fixed"
        else:
            assumption = f"{self.assumption}, and {these} as fixed"
        link = "and" if " with " in self.reach else "with"
        return replace(self, assumption=assumption, reach=f"{self.reach} {link} {these}")

    def with_texts(self, sampled: bool = True) -> "Scope":
        """Return the scope of a table whose texts are a sample, so that every scope generalises to new texts.

        Two sentences of the scope, the assumption and the reach, then mention the texts. If the texts are not
        `sampled`, the scope is returned unchanged.
        """
        if not sampled:
            return self
        return replace(
            self,
            assumption=f"{self.assumption}, and texts are treated as a sample",
            reach=f"{self.reach}, in new texts",
            texts=True,
        )


SCOPES = MappingProxyType(
    {
        scope.name: scope
        for scope in (
            Scope(
                "all",
                frozenset(FACETS),
                assumption="targets, attributes, and replicates are treated as samples",
                reach="new targets, new attributes, and new replicates",
                reason="word lists and replicates are samples of those that could have been chosen. WEAT’s p-value"
                " is narrower: it applies to new targets, but only with these attributes and replicates",
                words="words in each list",
            ),
            Scope(
                "both",
                frozenset(WORDS),
                assumption="targets and attributes are treated as samples",
                reach="new targets and new attributes",
                reason="both word lists are samples of the words that could have been chosen. WEAT’s p-value is"
                " narrower: it applies to new targets, but only with these attributes",
                words="words in each list",
            ),
            Scope(
                "targets",
                frozenset({TARGETS}),
                assumption="targets are treated as a sample and attributes as fixed",
                reach="new targets with these attributes",
                reason="the attributes are treated as fixed, as in WEAT’s permutation test",
                words="targets in each group",
            ),
            Scope(
                "attributes",
                frozenset({ATTRIBUTES}),
                assumption="attributes are treated as a sample and targets as fixed",
                reach="these targets with new attributes",
                reason="the targets are treated as fixed",
                words="attributes in each class",
            ),
            Scope(
                "replicates",
                frozenset({REPLICATES}),
                assumption="replicates are treated as a sample and words as fixed",
                reach="these targets and attributes with new replicates",
                reason="the words are treated as fixed",
                words="replicates",
            ),
            Scope(
                "targets+replicates",
                frozenset({TARGETS, REPLICATES}),
                assumption="targets and replicates are treated as samples and attributes as fixed",
                reach="new targets and new replicates with these attributes",
                reason="the attributes are treated as fixed",
                words="targets in each group",
            ),
            Scope(
                "attributes+replicates",
                frozenset({ATTRIBUTES, REPLICATES}),
                assumption="attributes and replicates are treated as samples and targets as fixed",
                reach="new attributes and new replicates with these targets",
                reason="the targets are treated as fixed",
                words="attributes in each class",
            ),
            Scope(
                "none",
                frozenset(),
                assumption="words are treated as fixed",
                reach="these targets and attributes",
                reason="all words are treated as fixed",
                words="words",
            ),
        )
    }
)
# All facets of a table, which is the same as "both" without replicates.
DEFAULT_SCOPE: ScopeName = "all"
# The scope that WEAT's permutation test addresses.
WEAT_SCOPE: ScopeName = "targets"
# Scopes that are always shown if a table supports them: everything sampled, both word lists with the given
# replicates, and WEAT's question.
SHOWN: tuple[ScopeName, ...] = ("all", "both", WEAT_SCOPE)


def scope_of(name: str, valid: Iterable[str] = SCOPES) -> Scope:
    """Return the scope with a name. An error names the `valid` ones."""
    if isinstance(name, str) and name in SCOPES:
        return SCOPES[cast(ScopeName, name)]
    raise ScopeError(f"There is no `scope` '{name}'.", name, valid)


def is_effect_of(part: Part, facet: Facet | None) -> bool:
    """Return True if a part consists of effects of a facet's words, or of replicates, and not of the residual."""
    return facet is not None and facet in PARTS[part] and not part.startswith("residual")


def is_noise(part: Part, scope: Scope, by_word: Facet | None = None) -> bool:
    """Return True if a part of a contrast's variance is noise under a scope.

    A facet is targets, attributes, or replicates, and `PARTS` has the facets with which each part of the variance
    differs. A part is noise if it differs with a sampled facet. However, if there is a contrast for each word of a
    facet (`by_word`), the effects of these words are not noise.
    """
    sampled = PARTS[part] & scope.facets
    return bool(sampled - {by_word} if is_effect_of(part, by_word) else sampled)


def sampling_scope(name: str) -> Scope:
    """Return the scope with a name, and raise an error if it generalises to nothing.

    A scope defines which parts of the design are treated as samples, such as the targets. The scope "none" samples
    nothing, so it has no interval, and cannot be used for an analysis that needs one.
    """
    valid = [known.name for known in SCOPES.values() if not known.samples_nothing]
    scope = scope_of(name, valid)
    if scope.samples_nothing:
        raise ScopeError(
            f"`scope='{name}'` cannot be used here, because it generalises to no other words and has no interval.",
            name,
            valid,
        )
    return scope


def possible_scopes(data: "xr.Dataset") -> tuple[ScopeName, ...]:
    """Return the scopes that a design supports. A single word is not a sample, and neither are missing replicates."""
    cannot_be_sampled = {facet for facet in WORDS if _single_word_categories(data, facet)}
    if not data.replication.size:
        cannot_be_sampled.add(REPLICATES)
    return tuple(name for name, scope in SCOPES.items() if not scope.facets & cannot_be_sampled)


def widest_scope(data: "xr.Dataset") -> ScopeName:
    """Return "all", or "both" if a table has no replicates."""
    return "all" if data.replication.size else "both"


def check_design(data: "xr.Dataset", scope: str) -> Scope:
    """Return the scope with a name, and raise an error if the design in `table_means` does not support it.

    The scope "both" generalises to new targets and attributes, and "all" also to new replicates, such as templates.
    Without replicates, "all" (`DEFAULT_SCOPE`) is the same as "both".
    """
    requested = scope_of(scope)
    if requested.name == DEFAULT_SCOPE:
        requested = SCOPES[widest_scope(data)]
    possible = possible_scopes(data)
    if requested.samples_replicates and not data.replication.size:
        raise ScopeError(
            f"{_setting(scope)} requires two or more replicates, but this table has none, or only one. Use"
            f" {_alternatives(possible)} instead."
        )
    if requested.name not in possible:
        single = _single_word_categories(data, TARGETS) + _single_word_categories(data, ATTRIBUTES)
        raise ScopeError(
            f"{_setting(requested.name)} cannot generalise from a group or class with a single word"
            f" ({', '.join(single)}). Add words to it, or use {_alternatives(possible)} instead."
        )
    return requested


def _alternatives(names: tuple[ScopeName, ...]) -> str:
    """Return the scopes to choose from, such as "scope='both' (--scope both)", joined by "or".

    Scope "none", which has no intervals, is included only if there is no other scope.
    """
    with_interval = [name for name in names if not SCOPES[name].samples_nothing]
    return joined(list(map(_setting, with_interval or names))).replace(" and ", " or ")


def _setting(scope: str) -> str:
    """Return a setting of the scope in Python and on the command line, of which an error shows one."""
    return f"scope='{scope}' (--scope {scope})"


def _single_word_categories(data: "xr.Dataset", facet: Facet) -> list[str]:
    """Return groups or classes with a single word of a facet."""
    sizes = data[f"n_{facet.name}"].to_series()
    return list(sizes.index[sizes == 1])
