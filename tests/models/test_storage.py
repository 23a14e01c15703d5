"""Fits on disk, whole or not at all."""

import json

import pytest
import xarray as xr

from bayes_bias import load_fit, save_fit, summarize, verdict
from bayes_bias.errors import OutputError
from bayes_bias.models.diagnostics import Diagnostics
from tests.helpers import refused


def test_a_fit_survives_the_disk_and_needs_nothing_else(small_fit, tmp_path):
    saved = load_fit(save_fit(small_fit, tmp_path / "small.nc"))
    assert saved.attrs == small_fit.attrs
    xr.testing.assert_equal(saved["posterior"].to_dataset(), small_fit["posterior"].to_dataset())
    assert summarize(saved, "targets").equals(summarize(small_fit, "targets"))
    assert verdict(saved) == verdict(small_fit)


def test_a_fit_of_an_older_version_has_no_prior_sensitivity_and_loads(small_fit, tmp_path):
    older = small_fit.copy().drop_nodes(["log_prior", "joint_log_likelihood"])
    known = json.loads(small_fit.attrs["diagnostics"])
    assert 0 < known.pop("prior_sensitivity") < 0.05
    older.attrs = small_fit.attrs | {"diagnostics": json.dumps(known)}
    loaded = Diagnostics.of(load_fit(save_fit(older, tmp_path / "older.nc")))
    assert loaded.prior_sensitivity is None
    assert loaded.converged
    assert loaded.concern == ""


def test_a_bad_path_is_refused_and_nothing_half_written_remains(small_fit, tmp_path):
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


def test_a_file_is_replaced_only_when_asked(small_fit, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with refused(OutputError, "notes.txt overwrite=True --overwrite"):
        save_fit(small_fit, notes)
    assert notes.read_text() == "mine"
    assert load_fit(save_fit(small_fit, notes, overwrite=True)).attrs == small_fit.attrs


def test_other_files_are_no_fits(tmp_path):
    with refused(OutputError, "file bayes-bias fit"):
        load_fit(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("no netCDF")
    with refused(OutputError, "netCDF"):
        load_fit(tmp_path / "text.nc")
    xr.DataTree.from_dict({"other": xr.Dataset({"x": 1})}).to_netcdf(tmp_path / "o.nc", engine="h5netcdf")
    with refused(OutputError, "fit bayes_bias"):
        load_fit(tmp_path / "o.nc")


def test_a_fit_that_does_not_say_what_its_values_are_has_to_be_made_again(small_fit, tmp_path):
    older = small_fit.copy()
    older.attrs = {key: value for key, value in small_fit.attrs.items() if key != "metric"}
    older.to_netcdf(tmp_path / "older.nc", engine="h5netcdf")
    with refused(OutputError, "older.nc fit again"):
        load_fit(tmp_path / "older.nc")
