"""Templates as pages, LaTeX or plain text: the same numbers, each language with its escaping."""

from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from bayes_bias import formatting
from bayes_bias.plots.variance_shares import part_named
from bayes_bias.posterior.summary import CHANCE, GROUP_BIAS_CAVEAT, chance
from bayes_bias.posterior.verdict import RANDOM_WORDS
from bayes_bias.table.columns import interval_of

# The package whose folder `templates/` all pages may use.
TEMPLATES = "bayes_bias.documents"

# A mark beside each verdict, so that it does not rest on colour.
MARKS = {
    "distinguishable": "●",
    "borderline": "◐",
    "not distinguishable": "○",
    "these words differ": "●",
    "these words may differ": "◐",
    "these words do not clearly differ": "○",
    "not converged": "✕",
    "not made alike": "✕",
    "screened only": "◇",
    "failed": "—",
}
_FILTERS = {
    "signed": formatting.signed,
    "plain": formatting.plain,
    "probability": formatting.probability,
    "percent": formatting.percent,
    "level": formatting.level,
    "count": formatting.count,
    "in_words": formatting.in_words,
    "counted": formatting.counted,
    "plural": formatting.plural,
    "capitalized": formatting.capitalized,
    "chance": chance,
    "mark": MARKS.__getitem__,
}
_GLOBALS = {
    "bounds": formatting.bounds,
    "share_bounds": formatting.share_bounds,
    "interval_of": interval_of,
    "part_named": part_named,
    "rank_interval": formatting.rank_interval,
    "chance_name": CHANCE,
    "random_words": RANDOM_WORDS,
    "group_bias_caveat": GROUP_BIAS_CAVEAT,
    "none_given": formatting.DASH,
    "missing": float("nan"),
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


def render_html(template: str, package: str = TEMPLATES, /, **values: Any) -> str:
    """A page; every value is escaped unless it is `Markup`. The template is one of the package's, or of those here."""
    return _environment("html", package).get_template(template).render(**values)


def render_latex(template: str, **values: Any) -> str:
    """LaTeX; every value is escaped unless it is `Latex`."""
    return _environment("latex").get_template(template).render(**values)


def render_text(template: str, **values: Any) -> str:
    """Plain text."""
    return _environment("text").get_template(template).render(**values)


def verbatim(name: str) -> Markup:
    """A file of the templates folder as it stands, such as the style sheet."""
    return Markup(_environment("text").get_template(name).render())


@cache
def _environment(language: str, package: str = TEMPLATES) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in dict.fromkeys([package, TEMPLATES])]),
        undefined=jinja2.StrictUndefined,
        autoescape=language == "html",
        finalize=latex if language == "latex" else None,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment
