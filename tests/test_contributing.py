"""The code of the guides for contributors does what the guides claim."""

import doctest
import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest

from bayes_bias import cosines, load_wordlist, measures, open_embedding, sweep
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.associations.similarity import SIMILARITIES
from bayes_bias.debiasing.debiaser import DEBIASERS
from bayes_bias.embeddings import opening
from bayes_bias.measures.registry import MEASURES
from bayes_bias.models import families

GUIDES = Path(__file__).parents[1] / "docs" / "contributing"


@pytest.fixture
def made_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """The file that a guide asks for."""

    def make(guide: str) -> ModuleType:
        text = (GUIDES / guide).read_text(encoding="utf-8")
        file, code = re.findall(r"Make\s`(\S+)\.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[0]
        module = ModuleType(file.replace("/", "."))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(code, guide, "exec"), vars(module))
        return module

    return make


def test_measure_guide_adds_row_to_measure_all(made_in, monkeypatch):
    # At the end, the measure of a contributor who followed the guide is there again.
    monkeypatch.setitem(MEASURES, "ECT, Kendall", None)
    del MEASURES["ECT, Kendall"]
    made_in("add-a-measure.md")
    vectors = open_embedding("googlenews-demo").all()
    table = measures.measure_all(cosines("weat6", vectors)).table
    assert table.index[-1] == "ECT, Kendall"
    assert table.b0["ECT, Kendall"] == 1
    assert 0 < abs(table.value["ECT, Kendall"]) < abs(table.value["ECT"])


def test_format_guide_opens_equal_vectors(made_in, tmp_path, monkeypatch):
    text = (GUIDES / "add-a-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^[ +]    (\w+)\.FORMAT,$", text, re.MULTILINE)
    monkeypatch.setattr(opening, "format_csv", made_in("add-a-format.md"), raising=False)
    formats = tuple(getattr(opening, row).FORMAT for row in rows)
    assert set(opening.FORMATS) < set(formats)
    monkeypatch.setattr(opening, "FORMATS", formats)
    vectors = opening.open_embedding("googlenews-demo").all()
    lines = (";".join([word, *map(str, row)]) + "\n" for word, row in vectors.items())
    (tmp_path / "vectors.csv").write_text("".join(lines), encoding="utf-8")
    opened = opening.open_embedding(tmp_path / "vectors.csv")
    assert opened.source == "vectors.csv (csv)"
    assert cosines("weat6", opened).values.equals(cosines("weat6", vectors).values)


@pytest.mark.thorough
@pytest.mark.slow
def test_debiaser_guide_returns_equal_vectors_in_python_and_shell(made_in, run, tmp_path, monkeypatch):
    text = (GUIDES / "add-a-debiaser.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    try:
        made = made_in("add-a-debiaser.md")
        assert doctest.testmod(made) == (0, 3)
        (in_python,) = re.findall(r"```python\n(import bayes_bias.*?)```", text, re.DOTALL)
        said: dict[str, Any] = {}
        exec(in_python, said)
        cells = said["atlas"].cells
        names = ["googlenews-demo", "googlenews-demo, projected"]
        assert cells.index.get_level_values("embedding").tolist() == names

        (spec,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        Path("sweep.toml").write_text(spec, encoding="utf-8")
        swept = sweep(**read_sweep("sweep.toml").arguments()).cells
        assert swept.bias.tolist() == cells.bias.tolist()

        (commands,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for line in commands.splitlines():
            assert run(*shlex.split(line)[2:])[0] == 0
        written = open_embedding("projected.npz").all()
        np.testing.assert_allclose(written["nurse"], said["projected"]["nurse"], atol=1e-6)
    finally:
        DEBIASERS.pop("two-means", None)


def test_prior_family_guide_matches_pymc_density():
    """The entry has PyMC's density, in any unit."""
    text = (GUIDES / "add-a-prior-family.md").read_text(encoding="utf-8")
    (diff,) = re.findall(r"```diff\n(.*?)```", text, re.DOTALL)
    entry = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("+"))
    ((name, family),) = eval(f"{{{entry}}}", {**vars(families), "np": np}).items()
    values, parameters = np.array([0.1, 0.7, 3.0]), {"mu": 0.5, "lam": 1.3}
    for unit in (1.0, 0.06):
        own = family.in_unit(parameters, unit)
        expected = pm.logp(getattr(pm, name).dist(**own), values).eval(mode="FAST_COMPILE")
        np.testing.assert_allclose(families.log_density(family.terms(**own), values), expected, atol=1e-12)
        shifted = families.log_density(family.terms(**parameters), values) - np.log(unit)
        np.testing.assert_allclose(families.log_density(family.terms(**own), unit * values), shifted, atol=1e-12)
    assert family.size_of(parameters) == 0.5


@pytest.mark.slow
def test_similarity_guide_matches_euclidean_closeness(made_in):
    text = (GUIDES / "add-a-similarity.md").read_text(encoding="utf-8")
    try:
        made_in("add-a-similarity.md")
        (in_python,) = re.findall(r"```python\n(import bayes_bias.*?)```", text, re.DOTALL)
        said: dict[str, Any] = {}
        exec(in_python, said)
        table, templates = said["table"], said["templates"]
        vectors = open_embedding("googlenews-demo").all()
        distance = np.linalg.norm(vectors["John"].astype(float) - vectors["executive"])
        value = table.values.sel(target="John", attribute="executive").item()
        assert value == pytest.approx(1 / (1 + distance), abs=1e-6)
        singles = [single.values for single in templates.singles().values()]
        np.testing.assert_allclose(templates.values, np.mean(singles, axis=0))
        assert said["measured"].table.value["WEAT"] > 0
        (bias,) = said["atlas"].cells.bias
        assert bias == pytest.approx(said["measured"].table.value["quasi-F"])

        (line,) = re.findall(r"`(similarity = .*?)`", text)
        Path("sweep.toml").write_text(
            f"{line}\nlists = ['weat6']\nposteriors = 'none'\n[[embeddings]]\nfiles = 'googlenews-demo'\n",
            encoding="utf-8",
        )
        assert sweep(**read_sweep("sweep.toml").arguments()).metric.name == "closeness"
    finally:
        SIMILARITIES.pop("euclidean", None)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, to be changed as a guide describes."""
    root = GUIDES.parents[1]
    for folder in ("bayes_bias", "models", "wordlists"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.fixture
def followed(checkout: Path) -> Callable[[str], list[str]]:
    """Follow a guide in a copy of the checkout, and return the lines that its script prints."""

    def follow(guide: str) -> list[str]:
        text = (GUIDES / guide).read_text(encoding="utf-8")
        for file, diff in _diffs(text):
            _change(checkout / file, diff)
        copies = re.findall(r"Copy `(\S+)` to `(\S+)`.*?end:\n\n```toml\n(.*?)```", text, re.DOTALL)
        for source, target, end in copies:
            content = (checkout / source).read_text(encoding="utf-8")
            (checkout / target).write_text(f"{content}\n{end}", encoding="utf-8")
        script = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return follow


def _diffs(text: str) -> list[tuple[str, list[str]]]:
    """The diffs of a guide, each with the file that is named last before it."""
    diffs, file = [], ""
    for named, diff in re.findall(r"\b[Ii]n\s`(\S+)`|```diff\n(.*?)```", text, re.DOTALL):
        file = named or file
        if diff:
            diffs.append((file, diff.splitlines()))
    return diffs


def _change(file: Path, diff: list[str]) -> None:
    """Change a file as a diff without line numbers says; its old lines must be there once."""
    old = "".join(line[1:] + "\n" for line in diff if not line.startswith("+"))
    new = "".join(line[1:] + "\n" for line in diff if not line.startswith("-"))
    content = file.read_text(encoding="utf-8")
    assert content.count(old) == 1, f"{file.name} no longer has the lines of the guide: {old}"
    file.write_text(content.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("guide", ["add-a-likelihood.md", "add-a-section.md", "add-a-variance-component.md"])
def test_guide_changes_lines_that_files_have(guide, checkout):
    diffs = _diffs((GUIDES / guide).read_text(encoding="utf-8"))
    assert diffs
    for file, diff in diffs:
        _change(checkout / file, diff)


@pytest.mark.thorough
@pytest.mark.slow
def test_likelihood_guide_prints_skewness_and_density(followed):
    skewness, density = map(float, followed("add-a-likelihood.md"))
    assert skewness != 0
    assert density > 0  # residuals of cosines have standard deviations far below one


@pytest.mark.thorough
@pytest.mark.slow
def test_variance_component_guide_prints_scale_and_prior(followed):
    scale, log_prior = map(float, followed("add-a-variance-component.md"))
    assert scale > 0
    assert log_prior < 0


@pytest.mark.thorough
@pytest.mark.slow
def test_section_guide_adds_check_to_report(checkout):
    text = (GUIDES / "add-a-section.md").read_text(encoding="utf-8")
    file, code = re.findall(r"Make\s`(\S+)`:\n\n```python\n(.*?)```", text, re.DOTALL)[0]
    (checkout / file).write_text(code, encoding="utf-8")
    for changed, diff in _diffs(text):
        _change(checkout / changed, diff)
    (command,) = re.findall(r"^\$ bayes-bias (.*)$", text, re.MULTILINE)
    few = ["--draws", "100", "--figures", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "bayes_bias", *shlex.split(command), *few],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,  # too few draws to converge
    )
    assert (checkout / "report" / "index.html").is_file(), done.stderr
    page = html.unescape((checkout / "report" / "index.html").read_text(encoding="utf-8"))
    titles = re.findall(r"<p><b>([^<]*)\.</b> ", page.split("Checks in full")[1])
    assert titles == [*(checker.title for checker in CHECKERS), "Both ends"]
    evidence = pd.read_csv(checkout / "report" / "evidence.csv", index_col="list").loc["weat7"]
    assert f"'{evidence.most}' has the largest" in page
    assert evidence.least in load_wordlist("weat7").targets
