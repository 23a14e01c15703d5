"""How the site is built: `make docs`. Nothing here or in the pages asks for the network."""

import hashlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from numpydoc.xref import DEFAULT_LINKS
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger

import bayes_bias
from bayes_bias import errors, measures, plots
from bayes_bias.analyses.comparison.comparison import Comparison
from bayes_bias.analyses.criterion.results import CriterionValidity
from bayes_bias.analyses.published.published import PublishedFinding
from bayes_bias.analyses.report.results import Report
from bayes_bias.analyses.report.section import Section
from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.checks.calibration import Calibration
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.posterior.verdict import Verdict

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

# Kernels inherit these: all load `_ext/cells.py`, and call the `bayes-bias` that belongs to this Python.
for variable, folder in (("PYTHONPATH", HERE / "_ext"), ("PATH", Path(sys.executable).parent)):
    os.environ[variable] = os.pathsep.join([str(folder), os.environ.get(variable, "")])
os.environ["IPYTHONDIR"] = str(HERE / "_build" / ".ipython")
startup = HERE / "_build" / ".ipython" / "profile_default" / "startup"
startup.mkdir(parents=True, exist_ok=True)
(startup / "load-cells.py").write_text("get_ipython().run_line_magic('load_ext', 'cells')\n", encoding="utf-8")

# OWNER: where the site lies, with a slash at its end; its versions are folders there (`scripts/add_docs_version.py`).
ADDRESS = ""

project = "bayes_bias"
author = "The bayes_bias developers"
version = release = bayes_bias.__version__

extensions = [
    "mathml",
    "pictures",
    "commands",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring: a link where the name is documented, code elsewhere

html_theme = "furo"
html_title = f"bayes_bias {release}"
html_baseurl = ADDRESS and f"{ADDRESS}stable/"  # the canonical one of a page's versions
html_static_path = ["_static"]
html_css_files = ["site.css"]
copybutton_selector = "div:not(.cell_output) > div.highlight pre"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "  # left out, and with them the output below a prompt
copybutton_prompt_is_regexp = True
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"  # drawn by the browser itself
html_theme_options = {"top_of_page_buttons": []}
if ADDRESS:
    html_theme_options["announcement"] = f'Version {release}; <a href="{ADDRESS}versions.html">others</a>'

# Types of other packages are links where their inventories lie in this folder, as pymc.inv and so on.
if inventories := os.environ.get("DOCS_INVENTORIES"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        name: (address, str(Path(inventories).resolve() / f"{name}.inv"))
        for name, address in {
            "arviz": "https://python.arviz.org/en/stable/",
            "pymc": "https://www.pymc.io/projects/docs/en/stable/",
            "xarray": "https://docs.xarray.dev/en/stable/",
        }.items()
    }

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give types in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True  # a parameter's type is a link where it is one of these
numpydoc_xref_ignore = "all"
DEFAULT_LINKS.clear()  # they lead outside, where one cannot look without the network
RETURNED = (Calibration, Comparison, CriterionValidity, Embedding, PublishedFinding, TprGaps, Report, Section, Verdict)
numpydoc_xref_aliases = {each.__name__: f"{each.__module__}.{each.__name__}" for each in RETURNED} | {
    name: f"{module.__name__}.{name}"
    for module in (bayes_bias, measures, errors)
    for name in getattr(module, "__all__", dir(module))
    if name[0].isupper()
}
python_maximum_signature_line_length = 88


def sources() -> str:
    """A hash of what the numbers on the pages depend on beside the cells themselves."""
    digest = hashlib.sha256((ROOT / "constraints.txt").read_bytes())
    for folder in ("bayes_bias", "models", "wordlists", "vectors", "benchmarks/results", "docs/_ext"):
        for file in sorted((ROOT / folder).rglob("*.*")):
            if file.suffix in (".py", ".toml", ".npz", ".json"):
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


# A page's cells are run again when they, or the package, have changed.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".cells" / sources())
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove"  # progress, and which control words have no vector


def complete(app: Sphinx, env: BuildEnvironment) -> None:
    """A public name that the reference lacks is a warning, and so an error."""
    documented = env.get_domain("py").objects
    for module in (bayes_bias, measures, plots):
        for name in module.__all__:
            full = f"{module.__name__}.{name}"
            wanted = not (name.startswith("__") or isinstance(getattr(module, name), ModuleType))
            if wanted and full not in documented:
                getLogger(__name__).warning("%s is public and not in the reference", full)


def constructor(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str, returned: str
) -> tuple[str, None] | None:
    """Leave out signatures of records that are handed out and not made, and name no constants in others."""
    if what == "class" and "Parameters\n" not in obj.__doc__:
        return "", None
    known = getattr(obj, "__globals__", {})
    return (CONSTANT.sub(lambda found: repr(known.get(found[0], found[0])), signature), None) if signature else None


# A default such as DEFAULT_SCOPE, which says less than its value.
CONSTANT = re.compile(r"(?<==)[A-Z_]{3,}\b")


def at_any_depth(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """What a host shows for an address that does not exist is shown at any depth: its links start from the site's."""
    if page == "404" and ADDRESS:
        context["metatags"] += f'<base href="{html_baseurl}">'


def offline(app: Sphinx, error: Exception | None) -> None:
    """A page that loads something from elsewhere is a warning, and so an error."""
    tags = r"(?:script|img|iframe|source|link(?! rel=.canonical))"
    loaded = re.compile(rf"<{tags}\b[^>]*\b(?:src|href)=.(?:https?:)?//[^>]*")
    for page in Path(app.outdir).rglob("*.html"):
        for found in loaded.findall(page.read_text(encoding="utf-8")):
            getLogger(__name__).warning("%s loads what lies elsewhere: %s", page.name, found)


def setup(app: Sphinx) -> None:
    """Trim signatures, check the reference once all pages have been read, and the pages once they are written."""
    app.connect("autodoc-process-signature", constructor)
    app.connect("env-check-consistency", complete)
    app.connect("html-page-context", at_any_depth)
    app.connect("build-finished", offline)
