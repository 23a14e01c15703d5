"""Formulas as MathML, which browsers draw without a script: no download, no bundle, and they print."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

# The converter sets \mathrm{mean} as four letters with a variable's space about each; as text it is a word.
_WORD = re.compile(r"\\(?:mathrm|operatorname)\{([A-Za-z ]+)\}")

# ... and "is distributed as" as a variable called ~, without the space that an operator has.
_SIM = ("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")


def mathml(node: nodes.Element, display: str) -> str:
    """The formula of a node; one that the converter does not understand is a warning."""
    latex = _WORD.sub(r"\\text{\1}", node.astext())
    markup = convert(latex, display=display).replace(*_SIM)
    if "\\" in markup:
        getLogger(__name__).warning("no MathML for %s", latex, location=node)
    return markup


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula within a sentence."""
    translator.body.append(f'<span class="math">{mathml(node, "inline")}</span>')
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on its own, in a box that scrolls where the page is narrower."""
    translator.body.append(f'<div class="math">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """The renderer that `html_math_renderer = "mathml"` names."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
