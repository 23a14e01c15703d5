"""Render templates as web pages, LaTeX, or plain text, with the escaping of each language."""

import re
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from bayes_bias import formatting
from bayes_bias.formatting import MARKS, Layout, escape_latex
from bayes_bias.posterior.planning import part_named
from bayes_bias.posterior.summary import CHANCE, GROUP_BIAS_CAVEAT, chance
from bayes_bias.posterior.verdict import ARBITRARY_TOPICS, RANDOM_WORDS
from bayes_bias.table.columns import interval_of

# The package whose folder `templates/` is available to all pages.
TEMPLATES = "bayes_bias.documents"

# The end of a sentence, which precedes a capital letter, an opening bracket, or the name of a list with a colon.
# Abbreviations and initials do not end a sentence.
_SENTENCE_END = re.compile(
    r"(?<=[\w)\]%”’][.?]|[.?][)”’]) (?<!\bvs\. )(?<!\b[DMS][rst]\. )(?<!\bMrs\. )(?<!\b[A-Z]\. )(?=[A-Z(“]|\S+: )"
)

# Words in Hebrew, Arabic, and other scripts that are written from right to left, until the first other letter or mark.
_RIGHT_TO_LEFT = re.compile(
    "[RTL]+(?:(?:[ \u200c\u200d'’_-]|&#3[49];)[RTL]+)*".replace("RTL", "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc")
)


def left_to_right(html: str) -> str:
    """Return HTML in which numbers after right-to-left words keep their order, by marks (U+200E) after these words.

    Without the marks, a browser shows the interval "[0.1, 0.2]" after a Hebrew or Arabic name as "[0.2, 0.1]".
    """
    return _RIGHT_TO_LEFT.sub("\\g<0>\u200e", html)


def with_lead(text: str) -> Markup:
    """Return HTML of a text with its first sentence in bold type. The text itself is escaped."""
    lead, *rest = _SENTENCE_END.split(text, maxsplit=1)
    return Markup("<b>{}</b> {}").format(lead, " ".join(rest))


_FILTERS = {
    "signed": formatting.signed,
    "plain": formatting.plain,
    "probability": formatting.probability,
    "percent": formatting.percent,
    "level": formatting.level,
    "count": formatting.as_count,
    "in_words": formatting.in_words,
    "counted": formatting.counted,
    "plural": formatting.plural,
    "capitalized": formatting.capitalized,
    "chance": chance,
    "mark": MARKS.__getitem__,
    "lead": with_lead,
}
_GLOBALS = {
    "longtable": lambda layout, caption: Latex(layout.latex("longtable", f"\\caption{{{caption}}} \\\\\n")),
    "bounds": formatting.bounds,
    "mean_of_interval": formatting.mean_of_interval,
    "interval_of": interval_of,
    "part_named": part_named,
    "chance_name": CHANCE,
    "random_words": RANDOM_WORDS,
    "arbitrary_topics": ARBITRARY_TOPICS,
    "group_bias_caveat": GROUP_BIAS_CAVEAT,
    "none_given": formatting.DASH,
}


class Latex(str):
    """Text that is already in LaTeX."""


def latex(value: object) -> Latex:
    """Return any value as LaTeX that prints unchanged, with special characters escaped. A layout becomes a table."""
    if isinstance(value, Layout):
        return Latex(value.latex())
    return value if isinstance(value, Latex) else Latex(escape_latex(str(value)))


def render_html(template: str, package: str = TEMPLATES, /, **values: Any) -> str:
    """Render a template as HTML. Every value is escaped unless it is `Markup`.

    The template is searched in the folder `templates/` of `package`, and then among the templates for all pages.
    """
    return _environment("html", package).get_template(template).render(**values)


def render_latex(template: str, **values: Any) -> str:
    """Render LaTeX. Every value is escaped unless it is `Latex`."""
    return _environment("latex").get_template(template).render(**values)


def render_text(template: str, **values: Any) -> str:
    """Render plain text."""
    return _environment("text").get_template(template).render(**values)


def verbatim(name: str) -> Markup:
    """Return an unchanged file from the templates folder, such as the style sheet."""
    return Markup(_environment("text").get_template(name).render())


@cache
def _environment(language: str, package: str = TEMPLATES) -> jinja2.Environment:
    """Return the settings of Jinja for a language: "html", "latex", or "text".

    Templates are searched in the folder `templates/` of the package, and then in the folder of this package. Values are
    escaped for HTML and LaTeX, and a value that is missing raises an error.
    """
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
