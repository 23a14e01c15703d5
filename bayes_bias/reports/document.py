"""What a report of any kind consists of, as data: `document_writer` makes a folder of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.models.fitted import Fit
from bayes_bias.reports.methods_text import Methods
from bayes_bias.reports.templating import TEMPLATES

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
    """A report of any kind: a page, and the files beside it, by their names."""

    title: str  # of the browser's window
    heading: str
    sections: Sequence[PageSection | None]  # None is left out
    provenance: Mapping[str, Any]  # where the numbers come from; the writer adds a hash of every file
    opening: Mapping[str, str] = _NOTHING  # paragraphs below the heading, by their classes in the style sheet
    facts: Mapping[str, Any] = _NOTHING  # what all templates may fill in; they also have ``figures``
    figures: Mapping[str, Callable[[], Axes]] = _NOTHING
    tables: Mapping[str, pd.DataFrame] = _NOTHING  # as CSV; an index without a name is not written
    latex: str = ""  # the template of ``tables.tex``
    methods: Methods | None = None
    fits: Mapping[str, Fit] = _NOTHING  # one without a name is ``posterior.nc``
    texts: Mapping[str, str] = _NOTHING
    data: Mapping[str, Callable[[Path], object]] = _NOTHING  # written by functions of their paths
    kicker: str = "bayes_bias"  # the line above the heading
    look: str = ""  # the page's class in the style sheet
    templates: str = TEMPLATES  # the package whose folder ``templates/`` the sections come from
    sortable: bool = False  # whether the page has a script with which readers sort its tables


class Documented(Protocol):
    """A result that says itself what its pages are."""

    def document(self) -> Document:
        """Its page, and the files beside it."""


def methods_section(methods: Methods) -> PageSection:
    """The methods text with its references, to be taken over into a paper."""
    return PageSection("methods", "Methods", "methods.html", {"methods": methods})


def notices_section(title: str, notices: Sequence[str]) -> PageSection | None:
    """What a reader should know of the data; None where there is nothing."""
    return PageSection("notices", title, "notices.html", {"notices": notices}) if notices else None
