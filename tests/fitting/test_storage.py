"""Fits on disk, whole or not at all."""

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from bayes_bias import load_fit, save_fit, summarize, verdict
from bayes_bias.errors import OutputError
from bayes_bias.fitting import storage
from bayes_bias.fitting.diagnostics import Diagnostics
from tests.helpers import refused, says
from tests.robustness.readers import seed_of


@pytest.fixture
def drawn() -> xr.DataTree:
    """What netCDF may change: missing values, whole numbers, truth values, text of all kinds, lists and no rows."""
    draws = xr.Dataset(
        {
            "bias": (("chain", "draw"), np.array([[0.1, -0.0, np.nan], [-np.nan, np.inf, 0.2]])),
            "small": ("draw", np.float32([1, np.nan, 3])),
            "whole": ("draw", np.uint64([1, 2, 2**63])),
            "diverging": ("draw", np.array([True, False, True])),
            "message": ("draw", np.array(["", "á", "c"], dtype=object)),
            "nothing": ("none", np.zeros(0)),
            "no words": ("none", np.array([], dtype=str)),
            "single": ((), 0.5, {"unit": "cosine"}),
        },
        {"draw": np.arange(3), "chain": [0, 1], "word": ("draw", ["he", "she", "雪"])},
        {
            "sample_dims": ["draw"],
            "two": ["chain", "draw"],
            "seed": 1,
            "scale": np.float32(0.1),
            "empty": [],
            "blank": "",
        },
    )
    tree = xr.DataTree.from_dict({"posterior": draws, "posterior/inner": draws[["bias"]], "empty": xr.Dataset()})
    tree.attrs = {"metric": "{}", "diagnostics": "{}", "name": "weat7", "seed": 1}
    return tree


def change(path: Path, name: str, value: object) -> None:
    """What another program does that knows nothing of the hash."""
    with h5py.File(path, "r+") as file:
        file[name][0] = value


def test_load_fit_and_save_fit_return_identical_file(drawn, tmp_path):
    first = save_fit(drawn, tmp_path / "first.nc")
    again = save_fit(load_fit(first), tmp_path / "again.nc")
    with xr.open_datatree(again, engine="h5netcdf") as lazy:
        third = save_fit(lazy, tmp_path / "third.nc")
    assert again.read_bytes() == third.read_bytes()
    xr.testing.assert_identical(load_fit(first), load_fit(again))
    xr.testing.assert_equal(load_fit(first), drawn)
    assert load_fit(first).attrs == drawn.attrs


@pytest.mark.parametrize(
    ("name", "value"),
    [("posterior/bias", 0), ("posterior/diverging", 0), ("posterior/whole", 3), ("posterior/word", "her")],
)
def test_load_fit_raises_for_changed_values(drawn, tmp_path, name, value):
    change(path := save_fit(drawn, tmp_path / "fit.nc"), name, value)
    with refused(OutputError, "fit.nc damaged changed copy fit again bayes_bias.save_fit"):
        load_fit(path)


@pytest.mark.parametrize("group", ["/", "posterior", "posterior/bias"])
def test_load_fit_raises_for_changed_attributes(drawn, tmp_path, group):
    path = save_fit(drawn, tmp_path / "fit.nc")
    with h5py.File(path, "r+") as file:
        file[group].attrs["unit"] = "log odds"
    with refused(OutputError, "fit.nc damaged changed"):
        load_fit(path)


def test_load_fit_reads_xarray_copies_and_rejects_changes(drawn, tmp_path):
    reopened = xr.load_datatree(save_fit(drawn, tmp_path / "fit.nc"), engine="h5netcdf")
    reopened.to_netcdf(tmp_path / "same.nc", engine="h5netcdf")
    xr.testing.assert_identical(load_fit(tmp_path / "same.nc"), load_fit(tmp_path / "fit.nc"))
    reopened["posterior"]["bias"] = reopened["posterior"].bias + 1
    reopened.to_netcdf(tmp_path / "changed.nc", engine="h5netcdf")
    with refused(OutputError, "changed.nc bayes_bias.save_fit"):
        load_fit(tmp_path / "changed.nc")
    xr.testing.assert_equal(load_fit(save_fit(reopened, tmp_path / "saved.nc"))["posterior"], reopened["posterior"])


def test_load_fit_reads_copies_of_programs_that_write_text_as_bytes(drawn, tmp_path):
    """As netCDF4 does, which xarray prefers to h5netcdf where it is installed."""
    path = save_fit(drawn, tmp_path / "fit.nc")
    with h5py.File(path, "r+") as file:
        nodes = [file, *map(file.get, ("posterior", "posterior/single", "posterior/diverging"))]
        for node in nodes:
            for name, value in node.attrs.items():
                if isinstance(value, str):
                    node.attrs[name] = np.bytes_(value.encode()) if value else h5py.Empty("S1")
                elif np.size(value) == 0:
                    node.attrs[name] = h5py.Empty(value.dtype)
    xr.testing.assert_equal(load_fit(path), drawn)


def test_load_fit_reads_fit_without_hash(drawn, tmp_path):
    opened = load_fit(save_fit(drawn, tmp_path / "fit.nc"))
    opened["posterior"]["bias"] = opened["posterior"].bias + 1
    opened.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    xr.testing.assert_identical(load_fit(tmp_path / "other.nc"), opened)


def test_loaded_fit_equals_saved_fit(small_fit, tmp_path):
    saved = load_fit(save_fit(small_fit, tmp_path / "small.nc"))
    assert saved.attrs == small_fit.attrs
    xr.testing.assert_equal(saved["posterior"].to_dataset(), small_fit["posterior"].to_dataset())
    assert summarize(saved, "targets", words=False).equals(summarize(small_fit, "targets", words=False))
    assert verdict(saved) == verdict(small_fit)


def test_load_fit_reads_older_fit_without_prior_sensitivity(small_fit, tmp_path):
    older = small_fit.copy().drop_nodes(["log_prior", "log_likelihood"])
    known = json.loads(small_fit.attrs["diagnostics"])
    assert 0 < known.pop("prior_sensitivity") < 0.05
    older.attrs = small_fit.attrs | {"diagnostics": json.dumps(known)}
    loaded = Diagnostics.of(load_fit(save_fit(older, tmp_path / "older.nc")))
    assert loaded.prior_sensitivity is None
    assert loaded.converged
    assert loaded.concern == ""


def test_save_fit_leaves_no_file_after_errors(small_fit, tmp_path):
    with refused(OutputError, "folder file"):
        save_fit(small_fit, tmp_path)
    with refused(OutputError, "folder"):
        save_fit(small_fit, tmp_path / "no" / "fit.nc")
    broken = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": ("y", [object()])})})
    broken.attrs = {"metric": small_fit.attrs["metric"]}
    with pytest.raises(ValueError, match="cannot serialize arbitrary Python objects"):
        broken.to_netcdf(tmp_path / "broken.nc", engine="h5netcdf")
    assert (tmp_path / "broken.nc").stat().st_size > 0  # what the writer leaves when it fails half-way
    (tmp_path / "broken.nc").unlink()
    with pytest.raises(ValueError, match="cannot serialize arbitrary Python objects"):
        save_fit(broken, tmp_path / "broken.nc")
    assert list(tmp_path.iterdir()) == []


def test_save_fit_replaces_file_only_with_overwrite(drawn, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with refused(OutputError, "notes.txt overwrite=True --overwrite"):
        save_fit(drawn, notes)
    assert notes.read_text() == "mine"
    assert load_fit(save_fit(drawn, notes, overwrite=True)).attrs == drawn.attrs


def test_load_fit_raises_for_other_files(tmp_path):
    with refused(OutputError, "file bayes-bias fit"):
        load_fit(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("no netCDF")
    with refused(OutputError, "netCDF"):
        load_fit(tmp_path / "text.nc")
    xr.DataTree.from_dict({"other": xr.Dataset({"x": 1})}).to_netcdf(tmp_path / "o.nc", engine="h5netcdf")
    with refused(OutputError, "fit bayes_bias"):
        load_fit(tmp_path / "o.nc")


def test_load_fit_raises_without_metric(small_fit, tmp_path):
    older = small_fit.copy()
    older.attrs = {key: value for key, value in small_fit.attrs.items() if key != "metric"}
    older.to_netcdf(tmp_path / "older.nc", engine="h5netcdf")
    with refused(OutputError, "older.nc fit again"):
        load_fit(tmp_path / "older.nc")


@contextmanager
def held(path: Path) -> Iterator[Path]:
    """A fit that another program has open."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield path


def test_summarize_command_explains_locked_fit(tmp_path, run):
    (tmp_path / "fit.nc").write_bytes(seed_of("fit.nc"))
    with held(tmp_path / "fit.nc") as path:
        code, _, refusal = run("summarize", path)
    assert code == 2
    assert "another program has opened it or its disk does not support locks" in refusal
    assert "HDF5_USE_FILE_LOCKING=FALSE bayes-bias summarize" in refusal
    assert "damaged" not in refusal


def test_summarize_command_prints_locked_fit_without_locking(small_fit, tmp_path, monkeypatch):
    """In a process of its own, because HDF5 reads the variable once."""
    monkeypatch.setenv("HDF5_USE_FILE_LOCKING", "FALSE")
    with held(save_fit(small_fit, tmp_path / "fit.nc")) as path:
        command = [sys.executable, "-m", "bayes_bias", "summarize", path]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert says(done.stdout, "bias overall mean")
    assert "lock" not in done.stderr


@pytest.mark.parametrize("number", [11, 37])
def test_load_fit_explains_disk_without_locks(tmp_path, monkeypatch, number):
    (tmp_path / "fit.nc").write_bytes(seed_of("fit.nc"))

    def without_locks(*_args, **_more):
        raise OSError(f"Unable to synchronously open file (unable to lock file, errno = {number})")

    monkeypatch.setattr(storage.h5py, "File", without_locks)
    with refused(OutputError, "cannot be locked no locks HDF5_USE_FILE_LOCKING=FALSE"):
        load_fit(tmp_path / "fit.nc")
