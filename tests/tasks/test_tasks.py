"""Tasks: done once, kept whole, and what goes wrong in one stops no other."""

import json
import math
import operator
import os
import time
from pathlib import Path

import pytest
from distributed import LocalCluster

from bayes_bias.arguments import check_seed
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.tasks import Outcome, Store, Task, connected, open_store, run_tasks
from bayes_bias.tasks.store import MARKER


def root(number: float) -> Task:
    return Task(f"root of {number}", math.sqrt, (number,), depends_on=number)


def halves(divisor: float) -> Task:
    return Task("ratio", operator.truediv, (1.0, divisor), depends_on=["halves"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "results")


def test_results_come_in_the_order_of_the_tasks_whoever_is_ready_first(store: Store) -> None:
    tasks = [root(n) for n in (4.0, 9.0, 4.0, 1.0)]
    assert [each.result for each in run_tasks(tasks, store, jobs=2)] == [2, 3, 2, 1]


def test_what_is_kept_is_not_done_again(store: Store) -> None:
    run_tasks([halves(2.0)], store, jobs=1)
    assert run_tasks([halves(4.0)], store, jobs=1)[0].result == 0.5  # the key says that it is the same task
    written = store.path(halves(2.0)).stat().st_mtime_ns
    run_tasks([halves(2.0), root(4.0)], store, jobs=1)
    assert store.path(halves(2.0)).stat().st_mtime_ns == written


def test_another_name_is_no_other_task(store: Store) -> None:
    run_tasks([root(4.0)], store, jobs=1)
    renamed = Task("new", math.sqrt, (4.0,), depends_on=4.0)
    assert run_tasks([renamed], store)[0] == Outcome("new", renamed.key, 2.0)


def test_a_failure_for_good_is_kept_and_one_by_chance_is_tried_again(store: Store) -> None:
    wrong = Task("wrong", check_seed, (-1,), depends_on=-1)
    found = run_tasks([wrong, halves(0.0), root(4.0)], store, jobs=1)
    assert [each.failed.split(";")[0] for each in found] == [
        "seed: -1 is no seed",
        "unexpected ZeroDivisionError: float division by zero",
        "",
    ]
    assert store.has(wrong)
    assert not store.has(halves(0.0))
    assert run_tasks([halves(2.0)], store)[0].result == 0.5


def test_a_damaged_file_is_done_again(store: Store) -> None:
    run_tasks([root(4.0)], store, jobs=1)
    store.path(root(4.0)).write_text('{"name": "root of 4')
    assert run_tasks([root(4.0)], store)[0].result == 2
    assert json.loads(store.path(root(4.0)).read_text())["result"] == 2


def test_what_another_run_does_meanwhile_is_not_done_twice(store: Store) -> None:
    """The first task of this run stands for another run that does all of them."""
    asked = [Task(f"{n}", open_and_do, (str(store.folder), n), depends_on=n) for n in range(3)]
    found = run_tasks(asked, store, jobs=1)
    assert sorted(str(each.result) for each in found) == ["0", "another's", "another's"]


def open_and_do(folder: str, _: int) -> int:
    store = open_store(folder)
    for n in range(3):
        other = Task("", open_and_do, (), depends_on=n)
        store.keep(Outcome("", other.key, "another's"))
    return 0


def test_what_a_killed_run_left_goes_and_what_another_run_is_writing_stays(store: Store) -> None:
    old, new = (store.folder / f".unfinished-{name}.json" for name in ("old", "new"))
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    open_store(store.folder)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_folder_of_another_version_is_refused(store: Store) -> None:
    (store.folder / MARKER).write_text('{"version": 99}')
    with pytest.raises(
        OutputError, match="another version of bayes_bias \\(their format is 99, this one's 1\\)"
    ):
        open_store(store.folder)


def test_a_folder_of_other_things_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(OutputError, match="holds other files"):
        open_store(tmp_path)
    with pytest.raises(OutputError, match="is a file"):
        open_store(tmp_path / "thesis.tex")


def test_a_full_disk_is_one_line_and_loses_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_tasks([root(4.0)], store, jobs=1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match="No space left on device; nothing that is there is lost"):
        run_tasks([root(9.0)], store, jobs=1)
    monkeypatch.undo()
    assert store.has(root(4.0))
    assert not list(store.folder.glob(".unfinished*"))


def test_a_scheduler_that_does_not_answer_is_not_waited_for() -> None:
    with pytest.raises(BayesBiasError, match="does not answer within 1 seconds"):
        connected("tcp://127.0.0.1:9", seconds=1).__enter__()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own: ports that are taken, deprecations of its dependencies
def test_a_cluster_of_two_processes_gives_what_this_one_gives() -> None:
    tasks = [root(float(k)) for k in range(1, 9)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        connected(cluster.scheduler_address) as client,
    ):
        there = run_tasks(tasks, client=client)
    assert there == run_tasks(tasks, jobs=1)
