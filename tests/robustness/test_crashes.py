"""A kill and a full disk leave the old content or the new, and a full disk is one line."""

import subprocess
import sys

import pytest

from tests.helpers import says


@pytest.mark.thorough
@pytest.mark.slow
def test_every_writer_survives_kills_and_full_disks():
    # A process of its own: what is forked must have no threads, and a crash in C must not end the tests.
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.crashes", "--kills", "4"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert all("'refused': 0" not in line for line in done.stdout.splitlines())


SAVING_A_FIT = """
import resource, sys
import numpy as np, xarray as xr
from bayes_bias.errors import OutputError
from bayes_bias.fitting.storage import save_posterior

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, -1))
draws = xr.Dataset({f"x{k}": (("chain", "draw"), np.ones((4, 1000))) for k in range(20)})
try:
    save_posterior(xr.DataTree.from_dict({"posterior": draws}), "fit.nc")
except OutputError as error:
    sys.exit(f"error: {error}")
"""


def test_save_posterior_prints_one_line_on_full_disk(tmp_path):
    # HDF5 would crash when Python ends, long after the error.
    done = subprocess.run([sys.executable, "-c", SAVING_A_FIT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert says(done.stderr, "fit.nc")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
