"""Each plot's picture, taken from the gallery: as thumbnails on top of it, and on the plot's page of the reference."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

GALLERY = "gallery"
_CALL = re.compile(r"\bplots\.(plot_\w+)\(")
# What a cell prints for a figure that is not shown.
_NOT_SHOWN = re.compile(r"&lt;(?:Figure size|Axes:)")


class picture(nodes.General, nodes.Element):  # noqa: N801
    """Where the picture of the plot `name` comes; of all plots without one."""


class Picture(SphinxDirective):
    """``.. picture:: plot_posterior``, or without a name for all of them."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for the picture, which is known once the gallery has been read."""
        return [picture(name=self.arguments[0] if self.arguments else "")]


def pictures(gallery: nodes.document) -> Iterator[tuple[str, nodes.image, str]]:
    """Each plot with its first picture in the gallery, and the anchor of its section."""
    for cell in gallery.findall(nodes.container):
        call, image = _CALL.findall(cell.astext()), next(cell.findall(nodes.image), None)
        if "cell" in cell["classes"] and call and image is not None:
            section = cell.parent
            while not isinstance(section, nodes.section):
                section = section.parent
            yield call[-1], image, section["ids"][0]


def put_in(app: Sphinx, page: nodes.document, name: str) -> None:
    """Put pictures into the places that a page left for them."""
    for place in list(page.findall(picture)):
        known: dict[str, tuple[nodes.image, str]] = {}
        for plot, *each in pictures(app.env.get_doctree(GALLERY)):
            known.setdefault(plot, (each[0], each[1]))
        if not place["name"]:
            place.replace_self(_thumbnails(known))
        elif place["name"] in known:
            place.replace_self(known[place["name"]][0].deepcopy())
        else:
            getLogger(__name__).warning("%s has no picture in the gallery", place["name"])
            place.replace_self([])


def _thumbnails(known: dict[str, tuple[nodes.image, str]]) -> nodes.container:
    grid = nodes.container(classes=["thumbnails"])
    for plot, (image, anchor) in known.items():
        name = nodes.inline("", plot.removeprefix("plot_").replace("_", " "))
        thumbnail = nodes.reference("", "", image.deepcopy(), name, internal=True, refuri=f"#{anchor}")
        grid += nodes.paragraph("", "", thumbnail)
    return grid


def shown(app: Sphinx, error: Exception | None) -> None:
    """A page that names a figure in place of showing it is a warning, and so an error."""
    for page in Path(app.outdir).rglob("*.html"):
        if _NOT_SHOWN.search(page.read_text(encoding="utf-8")):
            getLogger(__name__).warning("%s prints a figure's name in place of its picture", page.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """The directive, its places, and the check."""
    app.add_node(picture)
    app.add_directive("picture", Picture)
    app.connect("doctree-resolved", put_in)
    app.connect("build-finished", shown)
    return {"parallel_read_safe": True}
