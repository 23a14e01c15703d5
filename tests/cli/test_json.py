"""Results as JSON, which equal those of Python, and where a command prints its progress and notices."""

import inspect
import json
import math
import pkgutil
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.cli.main import _FILES, _WITHOUT_RESULT, COMMANDS, command_called
from bayes_bias.errors import TableError
from bayes_bias.formatting import SCHEMA, Tabled, as_json
from tests.helpers import says

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")


def test_as_json_returns_what_json_accepts():
    frame = pd.DataFrame({"mean": [1.5, math.nan], ("a", "b"): [np.int64(1), 2]}, pd.Index(["x", "y"], name="word"))
    value = {
        "frame": frame, "series": frame["mean"], "number": np.float32(0.5), "flag": np.bool_(True), "path": Path("a/b"),
        ("two", "keys"): {2, 1}, "infinite": -math.inf, "draws": frame.to_xarray(), "function": len, "none": None,
        "vector": np.ones(2),
    }  # fmt: skip
    assert json.loads(json.dumps(as_json(value), allow_nan=False)) == {
        "frame": [{"word": "x", "mean": 1.5, "a, b": 1}, {"word": "y", "mean": None, "a, b": 2}],
        "series": [{"word": "x", "mean": 1.5}, {"word": "y", "mean": None}],
        "number": 0.5, "flag": True, "path": "a/b", "two, keys": [1, 2], "infinite": None, "none": None,
    }  # fmt: skip


def test_no_result_has_an_attribute_that_replaces_its_kind_or_text():
    for module in pkgutil.walk_packages(bb.__path__, "bayes_bias."):
        import_module(module.name)
    results, found = [*Tabled.__subclasses__()], set[type[Tabled]]()
    while results:
        found.add(result := results.pop())
        results += result.__subclasses__()
    assert {bb.analyses.stability.stability.Stability, bb.analyses.gate.results.Gate} < found
    for result in filter(is_dataclass, found):
        assert not {"schema", "kind", "text"} & {attribute.name for attribute in fields(result)}, result.__name__


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (
            ("weat", "weat7"),
            lambda: {
                "weat": bb.measures.weat(bb.cosines("weat7", "googlenews-demo", ()), seed=1),
                "verdict": bb.verdict(bb.cosines("weat7", "googlenews-demo", ())),
            },
        ),
        (
            ("published", "--d", "0.97", "--targets", "8", "8", "--attributes", "8", "8"),
            lambda: {"published": bb.published(0.97, (8, 8), (8, 8))},
        ),
        (("check", "weat7", "--rope", "0.1"), lambda: {"gate": bb.check("weat7", rope=0.1)}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_command_writes_result_of_python_as_json(run, tmp_path, arguments, results):
    expected = {name: result.to_dict() for name, result in results().items()}
    code, out, _ = run(*arguments, "--json")
    content = json.loads(out)
    assert content == {"schema": SCHEMA, "version": bb.__version__, "command": arguments[0], "results": expected}
    file = tmp_path / "result.json"
    again, text, _ = run(arguments[0], "--json", file, *arguments[1:])
    assert json.loads(file.read_text(encoding="utf-8")) == content
    assert (again, len(text) > 100) == (code, True)


def test_command_writes_no_json_after_ctrl_c(run, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bb, "published", interrupted)
    file = tmp_path / "result.json"
    sizes = "--d", "0.97", "--targets", "8", "8", "--attributes", "8", "8"
    code, _, printed = run("published", *sizes, "--json", file)
    assert (code, file.exists()) == (130, False)
    assert "error: stopped" in printed


@pytest.mark.slow
def test_summarize_command_writes_summary_and_verdict(run, small_fit, monkeypatch):
    monkeypatch.setattr(bb, "load_fit", lambda _: small_fit)
    results = json.loads(run("summarize", "small.nc", "--contrast", "men - women: work", "--json")[1])["results"]
    assert results["verdict"] == bb.verdict(small_fit).to_dict()
    assert results["contrasts"] == [bb.contrast(small_fit, "men - women: work").to_dict()]
    bias = next(row for row in results["summary"] if row["estimand"] == "bias")
    assert bias["mean"] == bb.summarize(small_fit, words=False).loc[("bias", "overall"), "mean"]


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - _WITHOUT_RESULT))
def test_every_command_with_a_result_delivers_the_names_on_the_page(command):
    """The names in the code of the command, or of the functions that it shares with another."""
    (row,) = re.findall(rf"^\| (?:`[a-z-]+`, )?`{command}`.*\| (.*) \|$", PAGE, re.MULTILINE)
    file = next(file for file, names in _FILES.items() if command in names)
    source = inspect.getsource(import_module(f"bayes_bias.cli.{file}"))
    names = re.findall(r"(\w+)=", " ".join(re.findall(r"\bdeliver\(([^()]*)\)", source)))
    mentioned = re.findall(r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", row))
    assert mentioned
    assert set(mentioned) <= {*names, "sweep"}
    assert "--json" in [option for param in command_called(command).params for option in param.opts]


@pytest.mark.parametrize("command", sorted(_WITHOUT_RESULT))
def test_command_without_result_has_no_json(command):
    options = [option for param in command_called(command).params for option in param.opts]
    assert ("--json" in options, "--quiet" in options) == (False, True)


def test_json_keeps_existing_file_without_overwrite(run, tmp_path):
    file = tmp_path / "result.json"
    file.write_text("mine", encoding="utf-8")
    code, out, err = run("weat", "weat7", "--json", file)
    assert (code, out, file.read_text(encoding="utf-8")) == (2, "", "mine")
    assert says(err, "--json result.json already exists --overwrite")
    assert run("weat", "weat7", f"--json={file}", "--overwrite")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8"))["command"] == "weat"


def test_failed_command_writes_no_json(run, tmp_path):
    assert run("weat", "wat7", "--json", tmp_path / "result.json")[0] == 2
    assert list(tmp_path.iterdir()) == []
    assert run("weat", "wat7", "--json")[1] == ""


def test_command_prints_notices_after_result_and_nothing_of_progress_to_pipe():
    command = [sys.executable, "-m", "bayes_bias", "check", "weat7", "--rope", "0.1"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    assert printed.startswith("weat7: pass")
    assert printed.index("probability") < printed.index("note: ")
    assert not re.search(r"[✓⠋━]|0:00", printed.partition("note: ")[2])
    assert not re.search(r"estimating|reading", printed)


def test_quiet_command_prints_result_and_error_alone(run):
    code, out, err = run("weat", "weat7", "--quiet")
    assert (code, err) == (0, "")
    assert "0.97" in out
    assert run("weat", "wat7", "--quiet")[2].startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "weat7", "--scope", "foo"), "scope 'foo' all both targets attributes replicates none"),
        (("report", "weat77"), "'weat77' 'weat7'"),
        (("calibrate", "weat77"), "'weat77' 'weat7'"),
        (("multiverse", "weat7", "--scope", "foo"), "scope 'foo'"),
    ],
)
def test_names_are_checked_before_anything_is_measured(run, monkeypatch, arguments, words):
    for name in ("cosines", "fit", "report", "calibrate", "multiverse", "open_embedding"):
        monkeypatch.setattr(bb, name, lambda *_, **__: pytest.fail("measured"))
    code, _, err = run(*arguments)
    assert code == 2
    assert says(err, words)


def test_switch_with_value_names_the_remedy(run):
    assert says(run("fit", "weat7", "--overwrite", "true")[2], "on or off --overwrite no value")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_types_and_fits_80_columns(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    out = run(command, "--help")[1]
    assert not re.search(r"<(bool|str|int|float|list|path)", out.partition("Options")[2])
    assert max(map(len, out.splitlines())) <= 80


def test_message_about_sampler_names_command_in_terminal_and_function_in_python(run, tmp_path):
    """Lists of very different lengths have WEAT's d, but their posterior needs a sampler."""
    file = tmp_path / "uneven.toml"
    file.write_text(
        'title = "Uneven"\n[groups]\nmath = ["math", "algebra", "geometry", "calculus", "equations"]\n'
        'arts = ["poetry", "art"]\n'
        '[classes]\nmale = ["male", "man", "boy", "brother"]\nfemale = ["female", "woman", "girl", "sister"]\n'
        '[stereotypes]\nmath = "male"\narts = "female"\n',
        encoding="utf-8",
    )
    code, out, _ = run("weat", file)
    assert code == 0
    assert says(out, "No posterior needs a sampler bayes-bias fit")
    assert "bayes_bias.fit" not in out
    with pytest.raises(TableError, match=r"bayes_bias\.fit\(table\)"):
        bb.verdict(bb.cosines(file, "googlenews-demo", ()))
