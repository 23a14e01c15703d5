"""The content of a report of any kind, as data from which `writer` creates a folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from bayes_bias.documents.methods import Methods
from bayes_bias.documents.templating import TEMPLATES
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import WORD
from bayes_bias.models.spec import ModelSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PageSection:
    """One section of the page."""

    anchor: str
    title: str
    template: str  # file in ``templates/`` with the text, tables, and figures
    facts: Mapping[str, Any] = _NOTHING  # values for the template, in addition to the facts of the document
    look: str = ""  # class in the style sheet


@dataclass(frozen=True, eq=False)
class Document:
    """A report of any kind, which consists of a page and other files."""

    title: str  # title of the browser window
    heading: str
    sections: Sequence[PageSection | None]  # None is skipped
    provenance: Mapping[str, Any]  # origin of the numbers; the writer adds a hash of every file
    opening: Mapping[str, str] = _NOTHING  # paragraphs below the heading, by their class in the style sheet
    facts: Mapping[str, Any] = _NOTHING  # values for all templates, which also receive ``figures``
    figures: Mapping[str, Callable[[], "Axes"]] = _NOTHING
    tables: Mapping[str, pd.DataFrame] = _NOTHING  # written as CSV; an index without a name is omitted
    latex: str = ""  # template of ``tables.tex``
    methods: Methods | None = None
    fits: Mapping[str, Fit] = _NOTHING  # a fit with an empty name is saved as ``posterior.nc``
    texts: Mapping[str, str] = _NOTHING
    data: Mapping[str, Callable[[Path], object]] = _NOTHING  # written by functions that receive a path
    kicker: str = ""  # beginning of the line above the heading
    look: str = ""  # class of the page in the style sheet
    templates: str = TEMPLATES  # package with the folder ``templates/`` of the sections
    sortable: bool = False  # whether the page has a script that lets readers sort its tables
    unit: str = WORD  # noun for the units of the lists


class Documented(Protocol):
    """A result that defines its own page and files."""

    def document(self) -> Document:
        """Return the page and the other files."""


def methods_section(methods: Methods) -> PageSection:
    """Return the section with the methods text and its references, for use in a paper."""
    return PageSection("methods", "Methods", "methods.html", {"methods": methods})


def notices_section(title: str, notices: Sequence[str]) -> PageSection | None:
    """Return the notes on the data for the reader, or None if there are none."""
    return PageSection("notices", title, "notices.html", {"notices": notices}) if notices else None


# The origin of the numbers in a report, which every report with a model describes.


class Modelled(Protocol):
    """A result of one model, summarised under one scope."""

    @property
    def spec(self) -> ModelSpec: ...
    @property
    def scope(self) -> str: ...
    @property
    def ci_prob(self) -> float: ...


def model_provenance(result: Modelled, fitted: Fitted) -> dict[str, Any]:
    """Return the scope, the model with its priors and options, and the versions of packages, for `Document.provenance`.

    `fitted` is any fit of the result, because all of its fits have the same versions.
    """
    return {
        "scope": result.scope,
        "ci_prob": result.ci_prob,
        "model": result.spec.name,
        "priors": priors_of(result.spec),
        "options": dict(result.spec.options),
        "versions": fitted.versions,
    }


def priors_of(spec: ModelSpec) -> dict[str, str]:
    """Return the priors of a model as text."""
    return {name: str(prior) for name, prior in spec.priors.items()}
