"""What docs/security.md says: no file runs code unasked, and nothing leaves the machine."""

import ast
import socket
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import bayes_bias as bb
from benchmarks.provenance import read
from tests.robustness.fuzzing import line
from tests.robustness.readers import READERS

PACKAGE = Path(bb.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")

# What runs code that it reads, or talks to other machines, and the only modules that may use it.
USED_BY = {
    "pickle": {"embeddings/format_gensim.py"},
    "marshal": set(),
    "shelve": set(),
    "dill": set(),
    "cloudpickle": set(),
    "subprocess": set(),
    "eval": set(),
    "exec": set(),
    "socket": {"explore/server.py"},  # listens on 127.0.0.1
    "http": set(),
    "urllib.request": set(),
    "requests": set(),
    "httpx": set(),
    "smtplib": set(),
    "ftplib": set(),
    "huggingface_hub": {"language_models/opening.py"},
    "distributed": {"jobs.py"},
}


def used_in(file: Path) -> Iterator[str]:
    """Modules that a file imports and built-in functions that it calls."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield from (name.name, name.name.partition(".")[0])
            case ast.ImportFrom(module=str(module), level=0):
                yield from (module, module.partition(".")[0])
            case ast.Call(func=ast.Name(id=name)):
                yield name


def test_only_listed_modules_run_code_or_use_network():
    found: dict[str, set[str]] = {name: set() for name in USED_BY}
    for file in PACKAGE.rglob("*.py"):
        for name in found.keys() & set(used_in(file)):
            found[name].add(file.relative_to(PACKAGE).as_posix())
    assert found == USED_BY


@pytest.fixture
def offline(monkeypatch):
    """A machine whose every connection fails the test."""

    def connect(*address: object) -> None:
        pytest.fail(f"a connection to {address}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)


@pytest.mark.parametrize(
    "command",
    ["weat weat6", "measures weat6 --no-posterior", "wordlists weat7", "models crossed", "sentences weat6 --out s.csv"],
)
def test_commands_open_no_connection(run, offline, command):
    assert run(*command.split())[0] == 0


@pytest.mark.slow
def test_fit_opens_no_connection(offline, small_table):
    assert bb.fit(small_table, seed=1, sampling=bb.Sampling(draws=50, tune=50, chains=1)) is not None


def test_security_page_matches_last_fuzzing_run():
    result = read("fuzzing")
    lines, rows = list(map(line, result["rows"])), pd.DataFrame(result["rows"])
    assert [text for text in PAGE.splitlines() if text in lines] == lines
    assert result["about"]["commit"] in PAGE
    assert f"{rows.files.sum():,} files" in PAGE
    assert set(rows.reader) <= set(READERS)  # newer readers are in the next run of `make fuzz`
