"""Names of files, and what a killed run leaves."""

import os
import re
from pathlib import Path

import pytest

import bayes_bias as bb
from bayes_bias.analyses.criterion.data import outside_of
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.documents.folder import check_folder
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import UNFINISHED, file_names, read_json, read_toml, unfinished_name, whole_file
from tests.helpers import refused


def test_file_names_are_safe_and_differ():
    names = file_names(["weat6", "WEAT6", "../../etc/passwd", "中文", "<b>", "a/b"])
    assert len({name.lower() for name in names.values()}) == 6
    for name in names.values():
        assert re.fullmatch(r"[a-z0-9_-]+", name)


def test_read_toml_ignores_byte_order_mark(tmp_path):
    """As Notepad writes it."""
    (tmp_path / "mine.toml").write_text('title = "mine"', encoding="utf-8-sig")
    assert read_toml(tmp_path / "mine.toml", "mine.toml:", BayesBiasError) == {"title": "mine"}


def test_read_json_describes_files_of_another_kind_once(tmp_path):
    """The error about the kind of a file is a ValueError, like the errors of invalid JSON."""
    (tmp_path / "mine.json").write_bytes(b"PK\x03\x04half")
    with pytest.raises(BayesBiasError) as error:
        read_json(tmp_path / "mine.json", "mine.json is", BayesBiasError)
    assert str(error.value) == "mine.json is a damaged zip file. Copy or download it again."


def left_by_a_killed_run(folder: Path, path: Path) -> Path:
    left = unfinished_name(folder, path)
    if path.suffix:
        left.write_text("half")
    else:
        (left / "figures").mkdir(parents=True)
        (left / "figures" / "half.png").write_text("half")
    return left


@pytest.mark.parametrize("name", ["fit.nc", "中文.csv"])
def test_whole_file_removes_unfinished_file_of_killed_run(tmp_path, name):
    left_by_a_killed_run(tmp_path, tmp_path / name)
    second_file = left_by_a_killed_run(tmp_path, tmp_path / "other.nc")
    with whole_file(tmp_path / name) as unfinished:
        unfinished.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / name, second_file])


@pytest.mark.parametrize(("exists", "within"), [(False, False), (True, False), (True, True)])
def test_check_folder_removes_unfinished_folder_of_killed_run(tmp_path, monkeypatch, exists, within):
    out = tmp_path / "report"
    if exists:
        out.mkdir()
    if within:  # a working folder does not change places with another
        monkeypatch.chdir(out)
    folder = out if within else tmp_path
    left_by_a_killed_run(folder, out)
    second_file = left_by_a_killed_run(folder, tmp_path / "another")
    check_folder(out)
    assert list(tmp_path.rglob(f"{UNFINISHED}*")) == [second_file]


def test_whole_file_keeps_unfinished_file_of_running_process(tmp_path):
    mine = left_by_a_killed_run(tmp_path, tmp_path / "fit.nc")
    renamed = mine.rename(tmp_path / mine.name.replace(f"-{os.getpid()}.", f"-{os.getppid()}."))
    with whole_file(tmp_path / "fit.nc") as unfinished:
        unfinished.write_text("whole")
    assert renamed.exists()


READERS = {
    "answers": lambda source: bb.answers.estimate(source, "answers-demo"),
    "replies": lambda source: bb.answers.choices(source, source, "answers-demo"),
    "wordings": lambda source: bb.answers.prompts("answers-demo", wordings=source),
    "pairs": bb.sentence_pairs.estimate,
    "logs": lambda source: bb.sentence_pairs.lm_eval([source]),
    "stereoset": lambda source: bb.sentence_pairs.stereoset(source, source),
    "criterion": outside_of,
    "people": lambda source: bb.tpr_gaps.estimate("y", "prediction", "group", data=source),
    "model": bb.load_spec,
    "sweep": read_sweep,
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_raise_for_pipes_and_addresses(tmp_path, reader):
    os.mkfifo(tmp_path / "pipe")
    with refused(BayesBiasError, "pipe file first COMMAND > FILE"):
        READERS[reader](tmp_path / "pipe")
    for address in ("https://example.org/data.csv", Path("https://example.org/data.csv")):
        with refused(BayesBiasError, "address Download"):
            READERS[reader](address)


def test_sentence_pairs_command_rejects_shell_pipe(run):
    """Which `<(command)` names like this."""
    reading, writing = os.pipe()
    try:
        code, _, err = run("sentence-pairs", f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)
    assert (code, "is a pipe" in err) == (2, True), err
