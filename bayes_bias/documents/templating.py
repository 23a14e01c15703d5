"""Templates as pages, LaTeX or plain text: the same numbers, each language with its escaping."""

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

# The package whose folder `templates/` all pages may use.
TEMPLATES = "bayes_bias.documents"

# The end of a sentence: before a capital letter, an opening bracket or the name of a list and a colon. Abbreviations
# and initials end none.
_SENTENCE_END = re.compile(
    r"(?<=[\w)\]%”’][.?]|[.?][)”’]) (?<!\bvs\. )(?<!\b[DMS][rst]\. )(?<!\bMrs\. )(?<!\b[A-Z]\. )(?=[A-Z(“]|\S+: )"
)


def with_lead(text: str) -> Markup:
    """Set the first sentence in bold type."""
    lead, *rest = _SENTENCE_END.split(text, maxsplit=1)
    return Markup("<b>{}</b> {}").format(lead, " ".join(rest))


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
    "lead": with_lead,
}
_GLOBALS = {
    "longtable": lambda layout, caption: Latex(layout.latex("longtable", f"\\caption{{{caption}}} \\\\\n")),
    "bounds": formatting.bounds,
    "interval_of": interval_of,
    "part_named": part_named,
    "chance_name": CHANCE,
    "random_words": RANDOM_WORDS,
    "arbitrary_topics": ARBITRARY_TOPICS,
    "group_bias_caveat": GROUP_BIAS_CAVEAT,
    "none_given": formatting.DASH,
}


class Latex(str):
    """Text that is LaTeX already."""


def latex(value: object) -> Latex:
    """Any value as LaTeX that prints unchanged, whatever its characters mean to TeX. A layout is a table."""
    if isinstance(value, Layout):
        return Latex(value.latex())
    return value if isinstance(value, Latex) else Latex(escape_latex(str(value)))


def render_html(template: str, package: str = TEMPLATES, /, **values: Any) -> str:
    """A page. Every value is escaped unless it is `Markup`. The template is one of the package's, or of those here."""
    return _environment("html", package).get_template(template).render(**values)


def render_latex(template: str, **values: Any) -> str:
    """LaTeX; every value is escaped unless it is `Latex`."""
    return _environment("latex").get_template(template).render(**values)


def render_text(template: str, **values: Any) -> str:
    """Plain text."""
    return _environment("text").get_template(template).render(**values)


def verbatim(name: str) -> Markup:
    """A file of the templates folder unchanged, such as the style sheet."""
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
