"""The one writer: a `Document` as a folder with page, LaTeX, CSV, figures, methods, posteriors and provenance."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from bayes_bias.files import csv_text
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.storage import save_posterior
from bayes_bias.reports.document import Document, PageSection
from bayes_bias.reports.figure_files import rendered_beside, write_figures
from bayes_bias.reports.report_folder import PROVENANCE, hashes, write_folder
from bayes_bias.reports.templating import render_html, render_latex, verbatim

PAGE = "index.html"


def write_document(document: Document, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render a document into a folder, whole or not at all; the path of the page."""
    write_folder(out, lambda folder: _render(document, folder, formats), overwrite)
    return out / PAGE


def _render(document: Document, folder: Path, formats: Sequence[str]) -> None:
    drawn = {name: draw() for name, draw in document.figures.items()}
    with rendered_beside(drawn, formats) as figures:
        for name, text in _texts(document):
            (folder / name).write_text(text, encoding="utf-8")
        for name, save in document.data.items():
            save(folder / name)
        for name, fit in document.fits.items():
            tree = fit.tree if isinstance(fit, Fitted) else fit
            save_posterior(tree, folder / (f"posterior-{name}.nc" if name else "posterior.nc"))
        svgs = write_figures(figures, folder / "figures", formats)
    (folder / PAGE).write_text(page(document, svgs), encoding="utf-8")
    # Last, since it has a hash of every other file.
    provenance = json.dumps({**document.provenance, "files": hashes(folder)}, indent=2, ensure_ascii=False)
    (folder / PROVENANCE).write_text(provenance, encoding="utf-8")


def _texts(document: Document) -> Iterator[tuple[str, str]]:
    yield from document.texts.items()
    if document.latex:
        yield "tables.tex", tables_tex(document)
    if document.methods:
        yield from document.methods.files.items()
    for name, table in document.tables.items():
        yield f"{name}.csv", csv_text(table, index=table.index.names != [None])


def page(document: Document, svgs: Mapping[str, bytes]) -> str:
    """The page: one file that needs nothing else, with its figures inside."""
    figures = {name: _data_uri(svg) for name, svg in svgs.items()}
    sections = [section for section in document.sections if section is not None]
    bodies = [Markup(_body(document, section, figures)) for section in sections]
    return render_html(
        "document.html",
        document=document,
        sections=list(zip(sections, bodies, strict=True)),
        css=verbatim("style.css"),
        script=verbatim("sort.js") if document.sortable else "",
    )


def _body(document: Document, section: PageSection, figures: Mapping[str, str]) -> str:
    facts = {**document.facts, **section.facts, "figures": figures}
    return render_html(section.template, document.templates, **facts)


def tables_tex(document: Document) -> str:
    """Tables for a paper, in LaTeX with booktabs."""
    return render_latex(document.latex, **document.facts)


def _data_uri(svg: bytes) -> str:
    # As an image, an SVG can neither run nor load anything.
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
