"""Every notebook runs from its first cell to its last, and shows what it has stored; so does the README."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from bayes_bias import cosines, fit, verdict
from bayes_bias.formatting import bounds, signed
from bayes_bias.measures import weat

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Those that need torch run in `make test-transformers`.
OF_MODELS = [path for path in NOTEBOOKS if "load_masked" in path.read_text()]
NUMBER = re.compile(r"[-+−]?\d*\.?\d+(?:e[-+]\d+)?")
# Hashes, versions and seconds are those of a machine.
OF_A_MACHINE = re.compile(r"versions|sha256|seconds|<Figure|0x")


@pytest.mark.slow
@pytest.mark.thorough
# The kernel's own start-up: pyzmq and ipykernel warn of their defaults, which no user of ours can change.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p not in OF_MODELS], ids=lambda path: path.stem)
def test_notebook_output_matches_stored_output(path):
    stored, notebook = nbformat.read(path, as_version=4), executed(path)
    for was, now in zip(texts(stored), texts(notebook), strict=True):
        assert_same_but_for_the_last_digit(was, now)


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook as it runs now: without an error, and with a figure."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(path.parent)}}).execute()
    kinds = set()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            kinds.update(output.get("data", {}))
    assert "image/png" in kinds
    return notebook


def texts(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """What cells print and show as text, line by line; notices of other processes come when they like."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                continue
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            yield from (line for line in text.splitlines() if not OF_A_MACHINE.search(line))


def assert_same_but_for_the_last_digit(was: str, now: str) -> None:
    """The same words, and numbers within two units of their last digit, as on another processor they may be."""
    assert NUMBER.sub("#", was).split() == NUMBER.sub("#", now).split()
    for before, after in zip(NUMBER.findall(was), NUMBER.findall(now), strict=True):
        step = 10.0 ** -len(before.partition(".")[2]) if "e" not in before else abs(float(before)) / 50
        assert abs(number(before) - number(after)) <= 2.01 * step, f"{was}\n{now}"


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.slow
def test_readme_screen_matches_computed_numbers():
    rows = re.findall(
        r"^│ (\w+) +│ . (\w+) +│ +(\S+) │ (\[.*?\]) │ +([\d.]+) │ [^│]+│$", (ROOT / "README.md").read_text(), re.M
    )
    assert [row[0] for row in rows] == ["weat6", "weat7", "gender"]
    for name, label, bias, interval, d in rows:
        table = cosines(name, "googlenews-demo")
        found = verdict(fit(table, seed=1))
        assert f"{weat(table.without_controls()).effect_size:.2f}" == d
        assert signed(found.mean) == bias
        assert found.label.split()[0] == label  # the rest is in the next line
        assert_same_but_for_the_last_digit(interval, bounds(found.lower, found.upper))
