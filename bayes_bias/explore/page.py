"""The HTML of the page. Jinja escapes everything that was typed."""

import json
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version

from bayes_bias.documents.templating import left_to_right, render_html, verbatim
from bayes_bias.explore.fields import Fields, examples
from bayes_bias.explore.results import FILES, Results
from bayes_bias.spreadsheets import SUFFIXES

_PACKAGE = "bayes_bias.explore"


def page(fields: Fields, embeddings: Iterable[str], most_bytes: int) -> str:
    """Return the page with these texts in its fields.

    The page offers these embeddings by name, the built-in lists as examples (whose fields are written into the page as
    JSON), and files to save. It sends at most `most_bytes` to the server.
    """
    return render_html(
        "page.html",
        _PACKAGE,
        values=fields.form,
        embeddings=list(embeddings),
        examples=[(title, example.name, json.dumps(example.form)) for title, example in examples().items()],
        files=FILES,
        suffixes=SUFFIXES,
        most_bytes=most_bytes,
        version=version("bayes-bias"),
    )


def part_of(name: str, results: Results) -> str:
    """Return a part of the page that shows results: "verdict", "figure", "checks", or "words"."""
    return left_to_right(render_html(f"{name}.html", _PACKAGE, results=results))


@cache
def style_sheet() -> str:
    """Return the style of reports, followed by the style of the fields."""
    return f"{verbatim('style.css')}\n{render_html('explore.css', _PACKAGE)}"


@cache
def script() -> str:
    """Return the script, which sends the fields when they change and shows what comes back."""
    return render_html("explore.js", _PACKAGE)
