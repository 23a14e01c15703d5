"""What a report of any kind consists of, as data: `writer` makes a folder of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from bayes_bias.documents.methods import Methods
from bayes_bias.documents.templating import TEMPLATES
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.models.spec import ModelSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PageSection:
    """One section of the page."""

    anchor: str
    title: str
    template: str  # the file in ``templates/`` with its text, tables and figures
    facts: Mapping[str, Any] = _NOTHING  # what the template fills in, besides the facts of the document
    look: str = ""  # its class in the style sheet


@dataclass(frozen=True, eq=False)
class Document:
    """A report of any kind: a page, and its other files, by their names."""

    title: str  # of the browser's window
    heading: str
    sections: Sequence[PageSection | None]  # None is left out
    provenance: Mapping[str, Any]  # where the numbers come from; the writer adds a hash of every file
    opening: Mapping[str, str] = _NOTHING  # paragraphs below the heading, by their classes in the style sheet
    facts: Mapping[str, Any] = _NOTHING  # what all templates may fill in; they also have ``figures``
    figures: Mapping[str, Callable[[], "Axes"]] = _NOTHING
    tables: Mapping[str, pd.DataFrame] = _NOTHING  # as CSV; an index without a name is not written
    latex: str = ""  # the template of ``tables.tex``
    methods: Methods | None = None
    fits: Mapping[str, Fit] = _NOTHING  # one without a name is ``posterior.nc``
    texts: Mapping[str, str] = _NOTHING
    data: Mapping[str, Callable[[Path], object]] = _NOTHING  # written by functions of their paths
    kicker: str = ""  # begins the line above the heading
    look: str = ""  # the page's class in the style sheet
    templates: str = TEMPLATES  # the package whose folder ``templates/`` the sections come from
    sortable: bool = False  # whether the page has a script with which readers sort its tables


class Documented(Protocol):
    """A result that defines its own page and files."""

    def document(self) -> Document:
        """Its page, and its other files."""


def methods_section(methods: Methods) -> PageSection:
    """The methods text with its references, to be taken over into a paper."""
    return PageSection("methods", "Methods", "methods.html", {"methods": methods})


def notices_section(title: str, notices: Sequence[str]) -> PageSection | None:
    """Notes on the data for the reader, or None if there are none."""
    return PageSection("notices", title, "notices.html", {"notices": notices}) if notices else None


# Where the numbers of a report come from: what every kind of report says of its model.


class Modelled(Protocol):
    """A result of one model, read under one scope."""

    @property
    def spec(self) -> ModelSpec: ...
    @property
    def scope(self) -> str: ...
    @property
    def ci_prob(self) -> float: ...


def model_provenance(result: Modelled, fitted: Fitted) -> dict[str, Any]:
    """Scope, model, priors and package versions."""
    return {
        "scope": result.scope,
        "ci_prob": result.ci_prob,
        "model": result.spec.name,
        "priors": priors_of(result.spec),
        "options": dict(result.spec.options),
        "versions": fitted.versions,
    }


def priors_of(spec: ModelSpec) -> dict[str, str]:
    """The priors of a model, as they are written."""
    return {name: str(prior) for name, prior in spec.priors.items()}
