"""Each library that the package imports is required, or belongs to an optional dependency whose command errors name."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bayes_bias.errors import LIBRARIES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Libraries with a message of their own, which names another way on.
OWN_MESSAGE = {"gensim", "graphviz", "huggingface_hub", "safetensors", "torch", "transformers", "yaml"}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "bayes_bias").rglob("*.py")
}
# Called while a PyMC model is built, a fit is diagnosed, or a page is drawn or served, by what has imported the library
# before.
CALLED_LATER = {
    "bayes_bias.analyses.comparison.comparison",
    "bayes_bias.explore.server",
    "bayes_bias.fitting.diagnostics",
    "bayes_bias.models.crossed",
    "bayes_bias.models.residuals",
    "bayes_bias.models.structures",
}
# What Jinja and Matplotlib bring with them, and ArviZ and PyMC.
BROUGHT = {"arviz-base", "arviz-stats", "cycler", "markupsafe", "pytensor"}
EXTRA_OF = {library: extra for extra, libraries in LIBRARIES.items() for library in libraries}


def names_in(requirements: list[str]) -> set[str]:
    """The distributions that these require, with those of an extra of this package that they name."""
    parsed = list(map(Requirement, requirements))
    own = chain.from_iterable(EXTRAS[extra] for each in parsed if each.name == "bayes-bias" for extra in each.extras)
    names = {canonicalize_name(each.name) for each in parsed if each.name != "bayes-bias"}
    return names | (names_in(list(own)) if any(each.extras for each in parsed) else set())


def targets(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    deeper = [f"{node.module}.{alias.name}" for alias in node.names]
    return [str(node.module), *(name for name in deeper if name in MODULES)]


def imports(node: ast.AST, inside: tuple[ast.AST, ...] = ()) -> Iterator[tuple[list[str], tuple[ast.AST, ...]]]:
    """What each import below a node names, and the nodes around it; not what is for the type checker alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield targets(child), inside
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from imports(child, (*inside, child))


@cache
def imports_of(module: str) -> list[tuple[list[str], tuple[ast.AST, ...]]]:
    return list(imports(ast.parse(MODULES[module].read_text(encoding="utf-8"))))


def is_late(inside: tuple[ast.AST, ...]) -> bool:
    return any(isinstance(node, ast.FunctionDef) for node in inside)


def is_named(inside: tuple[ast.AST, ...]) -> bool:
    """Whether an import is in a `with optional(...)`."""
    contexts = chain.from_iterable(node.items for node in inside if isinstance(node, ast.With))
    return any(ast.unparse(item.context_expr).startswith("optional(") for item in contexts)


@cache
def extras_of(name: str) -> frozenset[str]:
    """The optional dependencies without which a module, of this package or of another, cannot be imported."""
    found: set[str] = set()
    seen: set[str] = set()
    left = [name]
    while left:
        module = left.pop()
        if module in seen:
            continue
        seen.add(module)
        if module in MODULES:
            left += [each for names, inside in imports_of(module) if not is_late(inside) for each in names]
        else:
            found |= {EXTRA_OF.get(module.partition(".")[0], "")} - {""}
    return frozenset(found)


def test_libraries_match_optional_dependencies():
    distributions = metadata.packages_distributions()
    for library, extra in EXTRA_OF.items():
        brought_by = set(map(canonicalize_name, distributions[library]))
        assert brought_by & (names_in(EXTRAS[extra]) | BROUGHT), library


def test_every_imported_library_is_declared():
    required, distributions = names_in(PROJECT["dependencies"]), metadata.packages_distributions()
    for module in MODULES:
        for name in chain.from_iterable(names for names, _ in imports_of(module)):
            library = name.partition(".")[0]
            if library not in {"bayes_bias", *sys.stdlib_module_names, *OWN_MESSAGE, *EXTRA_OF}:
                own = {*map(canonicalize_name, distributions[library]), library}
                assert own & (required | BROUGHT), f"{module} imports {library}"


def test_whole_installation_has_what_was_required_before():
    before = {"arviz", "gensim", "h5netcdf", "h5py", "matplotlib", "numba", "nutpie", "pyarrow", "pymc", "scikit-learn"}
    assert names_in(EXTRAS["all"]) >= before
    assert names_in(EXTRAS["report"]) >= names_in(EXTRAS["sampling"])


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith("bayes_bias.cli")])
def test_late_imports_name_command_of_optional_dependency(module: str):
    """The command line names the command for all of its imports, and `__getattr__` of a package for those of a name."""
    for names, inside in imports_of(module):
        if is_late(inside) and not is_named(inside) and module not in CALLED_LATER:
            lacking = frozenset().union(*map(extras_of, names)) - extras_of(module)
            assert not lacking, f"{module} imports {names}, which needs {set(lacking)}: put it in `with optional():`"
