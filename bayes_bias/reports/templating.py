"""Templates as pages, LaTeX or plain text: the same numbers, each language with its own escaping."""

from typing import Any

import jinja2
from markupsafe import Markup

from bayes_bias import formatting

_FILTERS = {
    "signed": formatting.signed,
    "plain": formatting.plain,
    "probability": formatting.probability,
    "percent": formatting.percent,
    "level": formatting.level,
    "count": formatting.count,
    "in_words": formatting.in_words,
}
_LATEX_CHARACTERS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after a line break it would open an option
        "]": "{]}",
        "−": r"$-$",
        "\n": " ",
    }
)


class Latex(str):
    """Text that is LaTeX already."""


def latex(value: object) -> Latex:
    """Any value as LaTeX that prints as it stands, whatever its characters mean to TeX."""
    return value if isinstance(value, Latex) else Latex(str(value).translate(_LATEX_CHARACTERS))


def render_html(template: str, **values: Any) -> str:
    """A page; every value is escaped unless it is `Markup`."""
    return _environment(autoescape=True).get_template(template).render(**values)


def render_latex(template: str, **values: Any) -> str:
    """LaTeX; every value is escaped unless it is `Latex`."""
    return _environment(finalize=latex).get_template(template).render(**values)


def render_text(template: str, **values: Any) -> str:
    """Plain text."""
    return _environment().get_template(template).render(**values)


def own_file(name: str) -> Markup:
    """A file of the templates folder as it stands, such as the style sheet."""
    return Markup(_environment().get_template(name).render())


def _environment(**options: Any) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bayes_bias.reports"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )
    environment.filters |= _FILTERS
    return environment
