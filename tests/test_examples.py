"""Examples in docstrings give what they say; those of a fit, whose digits depend on the machine, at least run."""

import doctest
import pkgutil
from importlib import import_module

import pytest
import xarray as xr

import bayes_bias
from bayes_bias import cosines, fit
from studies import known_bias
from tests.helpers import SHORT

NAMES = [
    name
    for package in (bayes_bias, known_bias)
    for name in (package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")))
]
EXAMPLES = [test for name in NAMES for test in doctest.DocTestFinder().find(import_module(name), name) if test.examples]


def skipped(example: doctest.Example) -> bool:
    return bool(example.options.get(doctest.SKIP))


def of_a_fit(example: doctest.Example) -> bool:
    return skipped(example) and "(posterior" in example.source


@pytest.fixture(scope="module")
def posterior(sampled: None) -> xr.DataTree:
    """That of the example of `fit`."""
    return fit(cosines("weat6", "googlenews-demo"), seed=1, sampling=SHORT)


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if not all(map(skipped, e.examples))], ids=lambda example: example.name
)
def test_docstring_examples_return_documented_output(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    doctest.DocTestRunner().run(example, out=lines.append, clear_globs=False)
    assert not lines, "".join(lines)


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if any(map(of_a_fit, e.examples))], ids=lambda example: example.name
)
def test_docstring_examples_of_fit_run(example, posterior, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {**vars(bayes_bias), **example.globs, "posterior": posterior, "another_posterior": posterior}
    for line in example.examples:
        exec(line.source, names)
