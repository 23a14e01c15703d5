"""A run that is stopped, or whose disk is full, says one line and leaves no process behind."""

import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from bayes_bias.errors import OutputError
from bayes_bias.jobs import Job, Store, open_store, run_jobs

# The command line with a command in place of its own, which sleeps in two processes.
SLEEPING = """
import time
from joblib.externals.loky.backend import resource_tracker
from bayes_bias.__main__ import process_settings
from bayes_bias.cli import main
from bayes_bias.progress import Quiet, shown
from bayes_bias.jobs import Job
from bayes_bias.jobs import run_jobs

class Told(Quiet):
    def advance(self, done, total):
        print("running", flush=True)

def command(arguments, standalone_mode):
    # As where the signal comes between the release of a lock and the word of it.
    resource_tracker.register("/released", "semlock")
    with shown(Told()):
        run_jobs([Job("", time.sleep, (0.2,), depends_on=n) for n in range(500)], jobs=2)

with process_settings():
    main([], command)
"""


@pytest.mark.slow
def test_terminated_run_ends_its_processes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGTERM)
        # Worker processes hold the same pipes: they have ended when this returns.
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert err.splitlines() == ["error: stopped"]


@pytest.mark.slow
def test_run_jobs_raises_for_full_disk_without_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "results")

    def full(*_: object) -> None:
        raise OutputError("folder: No space left on device")

    monkeypatch.setattr(Store, "keep", full)
    jobs = [Job("", time.sleep, (0.05,), depends_on=n) for n in range(20)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(OutputError, match="No space left"):
            run_jobs(jobs, store, jobs=2)
    assert not caught
