"""A report takes the place of an earlier one, in one step or file by file; what that one did not write stays."""

import errno
import json
import os
from pathlib import Path

import pytest

from bayes_bias.documents import folder
from bayes_bias.documents.folder import PROVENANCE, hashes, write_folder


def report(out: Path, *names: str) -> None:
    def render(folder: Path) -> None:
        (folder / "figures").mkdir()
        for name in names:
            (folder / name).write_text(f"{names}")
        (folder / PROVENANCE).write_text(json.dumps({"files": hashes(folder)}))

    write_folder(out, render, overwrite=True)


def no_exchange(*_: object) -> None:
    raise OSError(errno.EINVAL, "not on this disk")


@pytest.mark.parametrize("way", ["in one step", "file by file", "from within", "through a link"])
def test_write_folder_keeps_changed_and_added_files(tmp_path, monkeypatch, way):
    out = tmp_path / "report"
    report(out, "page", "old", "edited", "figures/old")
    out.chmod(0o750)
    if way == "file by file":
        monkeypatch.setattr(folder, "_exchange", no_exchange)
    if way == "from within":
        monkeypatch.chdir(out / "figures")
    if way == "through a link":
        out.rename(tmp_path / "elsewhere")
        out.symlink_to("elsewhere")
    inode = out.stat().st_ino
    (out / "edited").write_text("mine")
    (out / "mine" / "empty").mkdir(parents=True)
    (out / "mine" / "own").write_text("mine")
    (out / "link").symlink_to("nowhere")
    report(out, "page", "new", "figures/new")
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or not path.is_dir()}
    assert files == {"page", "new", "figures/new", PROVENANCE, "edited", "mine/own", "link"}
    assert (out / "page").read_text() == (out / "figures" / "new").read_text()
    assert (out / "edited").read_text() == (out / "mine" / "own").read_text() == "mine"
    assert (out / "mine" / "empty").is_dir()
    assert out.stat().st_mode & 0o777 == 0o750
    assert (out.stat().st_ino == inode) == (way in ("file by file", "from within"))
    assert not list(tmp_path.rglob(f"{folder.UNFINISHED}*"))


def test_write_folder_keeps_link_to_figures(tmp_path):
    out = tmp_path / "report"
    (tmp_path / "elsewhere").mkdir()
    out.mkdir()
    (out / "figures").symlink_to(tmp_path / "elsewhere")
    report(out, "figures/new")
    assert os.listdir(tmp_path / "elsewhere") == ["new"]
    assert (out / "figures").is_symlink()
