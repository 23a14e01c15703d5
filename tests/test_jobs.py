"""Jobs: done once, kept whole, and what goes wrong in one stops no other."""

import json
import math
import operator
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from distributed import LocalCluster

from bayes_bias.arguments import check_seed
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.jobs import MARKER, Job, Outcome, Store, connected, open_store, run_jobs
from tests.helpers import refused, says


def root(number: float) -> Job:
    return Job(f"root of {number}", math.sqrt, (number,), depends_on=number)


def halves(divisor: float) -> Job:
    return Job("ratio", operator.truediv, (1.0, divisor), depends_on=["halves"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "results")


def test_run_jobs_returns_results_in_order_of_jobs(store: Store) -> None:
    jobs = [root(n) for n in (4.0, 9.0, 4.0, 1.0)]
    assert [run_job.result for run_job in run_jobs(jobs, store, jobs=2)] == [2, 3, 2, 1]


def test_run_jobs_reuses_kept_results(store: Store) -> None:
    run_jobs([halves(2.0)], store, jobs=1)
    assert run_jobs([halves(4.0)], store, jobs=1)[0].result == 0.5  # the key says that it is the same job
    written = store.path(halves(2.0)).stat().st_mtime_ns
    run_jobs([halves(2.0), root(4.0)], store, jobs=1)
    assert store.path(halves(2.0)).stat().st_mtime_ns == written


def test_run_jobs_reuses_result_of_renamed_job(store: Store) -> None:
    run_jobs([root(4.0)], store, jobs=1)
    renamed = Job("new", math.sqrt, (4.0,), depends_on=4.0)
    assert run_jobs([renamed], store)[0] == Outcome("new", renamed.key, 2.0)


def test_run_jobs_keeps_lasting_failures_and_retries_others(store: Store) -> None:
    wrong = Job("wrong", check_seed, (-1,), depends_on=-1)
    found = run_jobs([wrong, halves(0.0), root(4.0)], store, jobs=1)
    assert says(found[0].failed, "seed -1")
    assert says(found[1].failed, "unexpected ZeroDivisionError division by zero")
    assert [outcome.failed == "" for outcome in found] == [False, False, True]
    assert store.has(wrong)
    assert not store.has(halves(0.0))
    assert run_jobs([halves(2.0)], store)[0].result == 0.5


@pytest.mark.parametrize(
    "damaged",
    [
        lambda text: text[:30],
        lambda text: text.replace("2.0", "3.0"),
        lambda text: text.replace('"result": 2.0', '"result": {}'),
        lambda text: text.replace('"sha256"', '"sha"'),
        lambda text: json.dumps(json.loads(text)["outcome"]),
        lambda text: "[]",
    ],
    ids=["cut", "another number", "empty", "no hash", "of an older version", "a list"],
)
def test_run_jobs_repeats_and_reports_damaged_results(
    store: Store, damaged: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    run_jobs([root(4.0)], store, jobs=1)
    kept = store.path(root(4.0))
    kept.write_text(damaged(kept.read_text()))
    assert store.is_damaged(root(4.0))
    assert run_jobs([root(4.0)], store)[0].result == 2
    assert not store.is_damaged(root(4.0))
    assert "1 kept result" in caplog.text


def test_run_jobs_reuses_results_of_parallel_run(store: Store) -> None:
    """The first job of this run stands for another run that does all of them."""
    asked = [Job(f"{n}", open_and_do, (str(store.folder), n), depends_on=n) for n in range(3)]
    found = run_jobs(asked, store, jobs=1)
    assert sorted(str(outcome.result) for outcome in found) == ["0", "another's", "another's"]


def open_and_do(folder: str, _: int) -> int:
    store = open_store(folder)
    for n in range(3):
        second = Job("", open_and_do, (), depends_on=n)
        store.keep(Outcome("", second.key, "another's"))
    return 0


def test_open_store_removes_only_old_unfinished_files(store: Store) -> None:
    old, new = store.folder / ".unfinished-old.json", store.folder / ".unfinished-new.json"
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    open_store(store.folder)
    assert (old.exists(), new.exists()) == (False, True)


def test_open_store_raises_for_other_version(store: Store) -> None:
    (store.folder / MARKER).write_text('{"version": 99}')
    with refused(OutputError, "version format 99 2"):
        open_store(store.folder)


def test_open_store_raises_for_other_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with refused(OutputError, "files"):
        open_store(tmp_path)
    with refused(OutputError, "file"):
        open_store(tmp_path / "thesis.tex")


def test_run_jobs_keeps_earlier_results_when_disk_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_jobs([root(4.0)], store, jobs=1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with refused(OutputError, "No space left on device"):
        run_jobs([root(9.0)], store, jobs=1)
    monkeypatch.undo()
    assert store.has(root(4.0))
    assert not list(store.folder.glob(".unfinished*"))


def test_connected_raises_for_silent_scheduler() -> None:
    with refused(BayesBiasError, "1 second"):
        connected("tcp://127.0.0.1:9", seconds=1).__enter__()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own: ports that are taken, deprecations of its dependencies
def test_run_jobs_with_cluster_equals_single_process() -> None:
    jobs = [root(float(k)) for k in range(1, 9)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        connected(cluster.scheduler_address) as client,
    ):
        outcomes = run_jobs(jobs, jobs=client)
    assert outcomes == run_jobs(jobs, jobs=1)
