"""What a report of any kind consists of, as data: `document_writer` makes a folder of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.models.fitted import Fit
from bayes_bias.reports.methods_text import Methods

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PageSection:
    """One section of the page.

    Attributes
    ----------
    anchor, title : str
        Its address on the page, and its heading.
    template : str
        The file in ``templates/`` with its text, tables and figures.
    facts : mapping of str to object
        What the template fills in, besides the facts of the document.
    look : str
        Its class in the style sheet.
    """

    anchor: str
    title: str
    template: str
    facts: Mapping[str, Any] = _NOTHING
    look: str = ""


@dataclass(frozen=True, eq=False)
class Document:
    """A report of any kind: a page, and the files beside it.

    Attributes
    ----------
    title, heading : str
        Of the browser's window, and of the page.
    opening : mapping of str to str
        Paragraphs below the heading, by their classes in the style sheet.
    sections : sequence of PageSection or None
        In the order of the page; None is left out.
    facts : mapping of str to object
        What all templates may fill in, those of LaTeX too. Each section also has ``figures`` by their names.
    figures : mapping of str to callable
        How each figure is drawn, by its file name.
    tables : mapping of str to pandas.DataFrame
        CSV files by their names. An index without a name is not written.
    latex : str
        The template of ``tables.tex``; "" for none.
    methods : Methods or None
        ``methods.txt``, ``methods.tex`` and ``references.bib``.
    fits : mapping of str to fit
        Posteriors by name; one without a name is ``posterior.nc``.
    provenance : mapping of str to object
        Where the numbers come from. The writer adds a hash of every file.
    texts : mapping of str to str
        Other files of text, by their names.
    data : mapping of str to callable
        Other files, by their names: each is written by a function of its path.
    kicker, look : str
        The line above the heading, and the page's class in the style sheet.
    sortable : bool
        Whether readers can sort its tables; the page has a script then.
    """

    title: str
    heading: str
    sections: Sequence[PageSection | None]
    provenance: Mapping[str, Any]
    opening: Mapping[str, str] = _NOTHING
    facts: Mapping[str, Any] = _NOTHING
    figures: Mapping[str, Callable[[], Axes]] = _NOTHING
    tables: Mapping[str, pd.DataFrame] = _NOTHING
    latex: str = ""
    methods: Methods | None = None
    fits: Mapping[str, Fit] = _NOTHING
    texts: Mapping[str, str] = _NOTHING
    data: Mapping[str, Callable[[Path], object]] = _NOTHING
    kicker: str = "bayes_bias"
    look: str = ""
    sortable: bool = False


def methods_section(methods: Methods) -> PageSection:
    """The methods text with its references, to be taken over into a paper."""
    return PageSection("methods", "Methods", "methods.html", {"methods": methods})


def notices_section(title: str, notices: Sequence[str]) -> PageSection | None:
    """What a reader should know of the data; None where there is nothing."""
    return PageSection("notices", title, "notices.html", {"notices": notices}) if notices else None
