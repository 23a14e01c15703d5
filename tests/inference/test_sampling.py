"""A fit is reproducible, keeps its provenance, and says when it has not converged."""

import dataclasses
import json

import numpy as np
import pytest
import xarray as xr

import bayes_bias
from bayes_bias import fit, load_fit, save_fit, summarize, verdict
from bayes_bias.models.compiling import _compiled
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.errors import OutputError
from tests.conftest import random_cosines


def test_the_same_seed_gives_the_same_numbers(small_cosines, small_fit):
    again = fit(small_cosines, seed=1)
    xr.testing.assert_equal(again["posterior"].to_dataset(), small_fit["posterior"].to_dataset())
    other = fit(small_cosines, seed=2)
    assert not np.array_equal(other["posterior"].sd_residual, small_fit["posterior"].sd_residual)


def test_one_compiled_model_serves_every_list_of_the_same_shape(small_fit):
    before = len(_compiled)
    table = random_cosines(
        7, targets={"men": 9, "women": 4}, attributes={"work": 3, "home": 9, "neutral": 4}
    )
    data = fit(table, seed=1, draws=200, tune=300)
    assert len(_compiled) == before
    mean, observed = data["posterior"]["mean"].mean(("chain", "draw")), data["constant_data"].block_mean
    assert abs(mean - observed).max() < 0.03


def test_a_fit_survives_the_disk_and_needs_nothing_else(small_fit, tmp_path):
    saved = load_fit(save_fit(small_fit, tmp_path / "small.nc"))
    assert saved.attrs == small_fit.attrs
    xr.testing.assert_equal(saved["posterior"].to_dataset(), small_fit["posterior"].to_dataset())
    assert summarize(saved, "targets").equals(summarize(small_fit, "targets"))
    assert verdict(saved) == verdict(small_fit)


def test_a_fit_of_an_older_version_has_no_prior_sensitivity_and_loads(small_fit, tmp_path):
    older = small_fit.copy().drop_nodes(["log_prior", "log_likelihood"])
    known = json.loads(small_fit.attrs["diagnostics"])
    assert 0 < known.pop("prior_sensitivity") < 0.05
    older.attrs = small_fit.attrs | {"diagnostics": json.dumps(known)}
    loaded = Diagnostics.of(load_fit(save_fit(older, tmp_path / "older.nc")))
    assert loaded.prior_sensitivity is None
    assert loaded.converged
    assert loaded.concern == ""


def test_a_bias_that_hangs_on_the_prior_is_told_and_is_no_failure_of_the_sampler(small_fit):
    hanging = dataclasses.replace(Diagnostics.of(small_fit), prior_sensitivity=0.083)
    assert hanging.converged
    assert hanging.concern.startswith(
        "the bias hangs on the prior: power-scaling sensitivity 0.083, above 0.05"
    )


def test_provenance_names_versions_seed_and_hashes(small_cosines, small_fit):
    attrs = small_fit.attrs
    assert attrs["seed"] == 1
    assert attrs["cosines_sha256"] == small_cosines.sha256
    assert len(attrs["spec_sha256"]) == 64
    assert {"pymc", "nutpie", "arviz", "bayes-bias"} <= set(json.loads(attrs["versions"]))


def test_a_fit_that_has_not_converged_is_marked(small_cosines, caplog):
    short = fit(small_cosines, seed=1, draws=50, tune=20)
    problems = Diagnostics.of(short).problems
    assert any("ESS" in problem for problem in problems)
    assert "has not converged" in caplog.text
    assert not summarize(short).converged.any()
    assert verdict(short).label == "not converged"
    assert verdict(short).text.startswith("No verdict: the fit has not converged")


def test_a_bad_path_is_refused_and_nothing_half_written_remains(small_fit, tmp_path):
    with pytest.raises(OutputError, match="is a folder; name a file"):
        save_fit(small_fit, tmp_path)
    with pytest.raises(OutputError, match=r"the folder of .* does not exist"):
        save_fit(small_fit, tmp_path / "no" / "fit.nc")
    broken = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": ("y", [object()])})})
    with pytest.raises(Exception):  # noqa: B017, PT011  # whatever the writer says of it
        save_fit(broken, tmp_path / "broken.nc")
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_no_fits(tmp_path):
    with pytest.raises(OutputError, match=r"no file .*bayes-bias fit"):
        load_fit(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("no netCDF")
    with pytest.raises(OutputError, match="is not a netCDF file"):
        load_fit(tmp_path / "text.nc")
    xr.DataTree.from_dict({"other": xr.Dataset({"x": 1})}).to_netcdf(tmp_path / "o.nc", engine="h5netcdf")
    with pytest.raises(OutputError, match="no fit of bayes_bias"):
        load_fit(tmp_path / "o.nc")


def test_the_public_surface():
    assert sorted(bayes_bias.__all__) == bayes_bias.__all__
    assert {
        "Cosines",
        "fit",
        "load_wordlist",
        "measure",
        "open_embedding",
        "report",
        "summarize",
        "weat",
    } <= set(bayes_bias.__all__)
    assert all(hasattr(bayes_bias, name) for name in bayes_bias.__all__)
