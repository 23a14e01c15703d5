"""The command line: what a user sees, and one line for what goes wrong."""

import dataclasses
import functools
import gc
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

import bayes_bias
from bayes_bias import load_wordlist, save_fit
from bayes_bias.__main__ import process_settings
from bayes_bias.cli import main
from bayes_bias.cli.main import _GROUPS, COMMANDS, command_called
from bayes_bias.errors import WordListError
from bayes_bias.fitting.diagnostics import Diagnostics
from tests.helpers import says
from tests.robustness.readers import seed_of

ROOT = Path(__file__).parents[2]


def test_weat_command_prints_published_number(run):
    code, out, _ = run("weat", "weat7")
    assert code == 0
    assert "0.97" in out  # Caliskan et al. 2017, Table S1: 0.97
    assert "all 12,870" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_command_help_has_example_and_summary(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    said = " ".join(out.split())
    assert f"Example: bayes-bias {command}" in said
    assert COMMANDS[command] in said, "the line in the list of commands is the first one of its docstring"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_have_at_most_32_ordered_options(command):
    parameters = [parameter for parameter in command_called(command).params if parameter.param_type_name == "option"]
    flags = [parameter.opts[0] for parameter in parameters if parameter.expose_value]  # without those of all commands
    assert len(flags) <= 32
    rare = [flags.index(flag) for flag in ("--trust", "--allow-loss", "--target-accept") if flag in flags]
    first = [flags.index(flag) for flag in ("--embedding", "--before", "--out", "--scope", "--seed") if flag in flags]
    assert max(first, default=-1) < min(rare, default=len(flags))


def test_every_command_is_in_one_group():
    assert [command for names in _GROUPS.values() for command in names] == list(COMMANDS)


def test_page_on_command_line_links_commands_of_each_group():
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+)\n\n```{toctree}\n:maxdepth: 1\n\n([^`]+)```$", page, re.MULTILINE))
    linked = {group: tuple(Path(line).name for line in lines.split()) for group, lines in sections.items()}
    assert linked == dict(_GROUPS)


def printed_without(modules: set[str], program: str) -> str:
    """What a program prints in a process of its own, which imports none of these modules."""
    code = f"import sys\ntry: {program}\nfinally: sys.exit(' '.join({modules} & sys.modules.keys()) or 0)"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not [line for line in asked.stderr.splitlines() if "Error" in line or "Warning" in line]
    assert asked.returncode == 0, asked.stderr
    return asked.stdout


def command_line(*arguments: str) -> str:
    return f"from bayes_bias.cli import main; main({list(arguments)})"


def test_main_without_command_prints_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert all(name in out for name in COMMANDS)


def test_report_command_reads_lists_separated_by_commas(run):
    code, _, err = run("report", "weat6,weat77", "--out", "made")
    assert code == 2
    assert "'weat77'" in err


def test_main_help_imports_no_scientific_packages():
    printed = printed_without({"numpy", "pandas", "pymc", "scipy", "gensim"}, command_line("-h"))
    assert all(name in printed for name in COMMANDS)


def test_weat_command_imports_no_sampling_or_testing_packages():
    modules = {"scipy.stats", "scipy.optimize", "numba", "arviz_stats", "matplotlib", "pymc"}
    assert "0.97" in printed_without(modules, command_line("weat", "weat7"))


def test_help_of_every_command_imports_no_pandas():
    helps = f"[command_called(name).get_help(Context(command_called(name))) for name in {sorted(COMMANDS)}]"
    program = f"from bayes_bias.cli.main import command_called; from typer import Context; {helps}"
    printed_without({"pandas", "xarray", "scipy", "numba", "joblib", "sqlite3"}, program)


def test_module_prints_version():
    asked = [sys.executable, "-m", "bayes_bias", "--version"]
    assert subprocess.check_output(asked, text=True) == f"bayes-bias {bayes_bias.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "weat6", "--out"],
        ["table", "weat6", "--out"],
        ["plan", "weat6", "--bias", "0.02", "--out"],
        ["calibrate", "weat6", "--out"],
        ["debias", "--sets", "she:he", "--out"],
        ["report", "weat6", "--out"],
        ["compare", "weat6", "--before", "googlenews-demo", "--after", "googlenews-demo", "--out"],
        ["models", "crossed", "--copy"],
    ],
    ids=lambda command: command[0],
)
def test_commands_keep_existing_files_without_overwrite(run, command, tmp_path):
    existing = tmp_path / "report" / "there.npz"
    existing.parent.mkdir()
    existing.write_text("mine")
    folder = command[0] in ("report", "compare")
    code, _, err = run(*command, existing.parent if folder else existing)
    assert code == 2
    assert "already" in err or "is not empty" in err
    assert "--overwrite" in err
    assert existing.read_text() == "mine"
    assert [path.name for path in tmp_path.rglob("*")] == ["report", "there.npz"]
    assert "--overwrite" in run(command[0], "--help")[1]


def test_fit_command_keeps_device_with_overwrite(run):
    code, _, err = run("fit", "weat6", "--out", "/dev/null", "--overwrite")
    assert (code, err) == (2, "error: `--out` '/dev/null' is a device, not a file. Name a file.\n")
    assert Path("/dev/null").is_char_device()


def test_plan_and_models_commands_reject_missing_format_or_model(run, tmp_path):
    assert says(run("plan", "weat6", "--bias", "0.02", "--out", tmp_path / "plan.doc")[2], "file .png .pdf .svg")
    assert says(run("models", "--copy", tmp_path / "mine.toml")[2], "--copy model")


def test_error_message_names_options_instead_of_arguments(run, tmp_path):
    code, _, err = run("report", "weat6", "--embedding", "googlenews-demo", "--rope", -1, "--out", tmp_path / "out")
    assert code == 2
    error = err.splitlines()[-1]
    assert says(error, "--rope positive number -1.0 0.01")
    assert "`" not in error


def test_main_suggests_command_for_misspelling(run):
    assert run("waet", "weat6") == (2, "", "error: No such command 'waet'. Did you mean 'weat'?\n")


def test_wordlists_command_prints_words_stereotypes_and_source(run):
    code, out, _ = run("wordlists", "weat7")
    assert code == 0
    assert says(out, "math (→ male terms) math, algebra")
    assert load_wordlist("weat7").source.doi in out


def test_wordlists_command_prints_control_class_with_source(run):
    code, out, _ = run("wordlists", "neutral")
    assert code == 0
    assert "neutral: " in out
    assert "doi:" in out


def test_weat_command_suggests_name_for_capitals(run):
    code, _, err = run("weat", "WEAT6")
    assert code == 2
    assert says(err, "'WEAT6' 'weat6'")


def test_wordlists_and_models_commands_print_lists_and_priors(run):
    assert "weat10" in run("wordlists")[1]
    assert "Exponential(lam=2.5)" in run("models", "crossed")[1]


def test_models_copy_keeps_existing_file(run, tmp_path):
    path = tmp_path / "mine.toml"
    assert run("models", "crossed", "--copy", path)[0] == 0
    assert says(path.read_text(), "[priors.sd_target]")
    code, _, err = run("models", "crossed", "--copy", path)
    assert code == 2
    assert "already exists" in err


def test_summarize_command_prints_table_or_csv(run, small_fit, tmp_path, monkeypatch):
    monkeypatch.setattr(bayes_bias, "load_fit", functools.cache(bayes_bias.load_fit))
    path = save_fit(small_fit, tmp_path / "small.nc")
    code, out, _ = run("summarize", path, "--scope", "targets")
    assert code == 0
    assert "group_bias" in out
    assert says(out, "Group bias not reported on its own")
    assert "target_bias" not in out
    assert says(out, "a third of cases")
    assert says(out, "Targets and attributes treated as samples")
    assert "target_bias" in run("summarize", path, "--words")[1]
    csv = run("summarize", path, "--csv")[1].splitlines()
    assert "prior-sensitive" not in out
    assert csv[0].startswith("estimand,label,mean,sd,eti95_lb,eti95_ub")


def test_summarize_command_rejects_changed_fit(run, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_bytes(seed_of("fit.nc"))
    with h5py.File(path, "r+") as file:
        file["posterior/bias"][0, 0] += 1
    code, out, err = run("summarize", path)
    assert (code, out) == (2, "")
    assert says(err, "fit.nc damaged changed copy fit again bayes_bias.save_fit")


def test_summarize_command_prints_prior_dependence(run, small_fit, monkeypatch):
    sensitive = dataclasses.replace(Diagnostics.of(small_fit), prior_sensitivity=0.083)
    changed_fit = small_fit.copy()
    changed_fit.attrs = small_fit.attrs | {"diagnostics": sensitive.to_json()}
    monkeypatch.setattr(bayes_bias, "load_fit", lambda _: changed_fit)
    out = run("summarize", "small.nc")[1]
    assert says(out, "small prior moves bias")


def test_wordlists_copy_writes_editable_list_and_keeps_existing_file(run, tmp_path):
    copied, controls = tmp_path / "mine.toml", tmp_path / "food.toml"
    assert run("wordlists", "weat7", "--copy", copied)[0] == 0
    assert load_wordlist(copied).sha256 == load_wordlist("weat7").sha256
    assert run("wordlists", "neutral", "--copy", controls)[0] == 0
    assert load_wordlist("weat7").with_controls(controls).controls
    copied.write_text(copied.read_text(encoding="utf-8").replace('"algebra"', '"topology"'), encoding="utf-8")
    assert set(load_wordlist(copied).words) ^ set(load_wordlist("weat7").words) == {"algebra", "topology"}
    code, _, err = run("wordlists", "weat7", "--copy", copied)
    assert code == 2
    assert says(err, "--copy mine.toml --overwrite")
    assert "topology" in load_wordlist(copied).words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("weat", "wat7"), "'weat7'"),
        (("wordlists", "--copy", "mine.toml"), "--copy mine.toml weat7"),
        (("plan", "weat7", "--bias", "0.02", "--n-targets", "20,many"), "--n-targets 'many' 20,40"),
        (("plan", "weat7"), "bias smallest 0.02"),
        (("weat", "weat7", "--embedding", "googlenews-dem"), "'googlenews-demo'"),
        (("weat", "weat7", "--alternative", "bigger"), "bigger"),
        (("weat", "no.csv"), "'no.csv'"),
        (("weat", "weat7", "--value", "score"), "--value"),
        (("weat", "gender", "--foo"), "option --foo"),
        (("frobnicate",), "command 'frobnicate'"),
        (("fit", "weat7", "--model", "crosed"), "'crossed'"),
        (("fit", "weat7", "--controls", "neutal"), "'neutral'"),
        (("fit", "weat7", "--out", "no/such/folder/fit.nc"), "no/such/folder"),
        (("report", "weat7", "--calibration-draws", "-1"), "--calibration-draws"),
        (("report", "weat7", "--scope", "target"), "'targets'"),
        (("summarize", "no.nc"), "'no.nc'"),
        (("models", "crossd"), "'crossed'"),
    ],
)
def test_commands_print_one_error_line_and_exit_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert says(lines[0], message)
    assert "Traceback" not in err
    assert err.splitlines()[-1] == lines[0]


def test_main_raises_with_debug():
    with pytest.raises(WordListError):
        main(["weat", "wat7", "--debug"])


@pytest.mark.parametrize(("d", "targets", "named"), [("big", "8 8", "--d number 'big'"), ("1", "8", "--targets '--at")])
def test_published_command_names_unreadable_value(run, d, targets, named):
    code, _, err = run("published", "--d", d, "--targets", *targets.split(), "--attributes", "8", "8")
    assert code == 2
    assert says(err, named)
    assert ("The option takes 2 values" in err) == (targets == "8")


def state_of_process():
    logger = logging.getLogger("bayes_bias")
    logger_state = (tuple(logger.handlers), logger.level, logger.propagate)
    environment = [os.environ.get(name) for name in ("PYTHONWARNINGS", "OPENBLAS_THREAD_TIMEOUT")]
    return gc.get_threshold(), signal.getsignal(signal.SIGTERM), environment, logger_state


@pytest.mark.parametrize("arguments", [["weat", "weat7"], ["weat", "no such list"], ["--version"]])
def test_main_restores_state_of_calling_process(run, arguments):
    before = state_of_process()
    run(*arguments)
    assert state_of_process() == before


@pytest.mark.parametrize("filters", [None, "error::DeprecationWarning"])
def test_process_settings_are_restored(monkeypatch, filters):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if filters:
        monkeypatch.setenv("PYTHONWARNINGS", filters)
    before = state_of_process()
    with process_settings():
        assert all(now != then for now, then in zip(state_of_process()[2], before[2], strict=True))
    assert state_of_process() == before
