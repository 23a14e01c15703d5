"""Every writer, killed and on a full disk: what is there afterwards is the old content or the new, never a third.

    python -m tests.robustness.crashes --kills 200

forks a process for each trial, which writes old and new content in turn until it is killed at a random moment, or
writes with a limit on the size of files, at which the kernel refuses as a full disk does.
"""

import argparse
import errno
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd
import xarray as xr

import bayes_bias as bb
from bayes_bias import open_embedding, save_vectors
from bayes_bias.cli.console import write_csv
from bayes_bias.documents.folder import PROVENANCE, hashes, write_folder
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import UNFINISHED, copy_shipped
from bayes_bias.fitting.storage import save_posterior
from bayes_bias.jobs import Job, Outcome, open_store
from bayes_bias.language_models.sentence_cache import Cache
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from tests.helpers import numbered

# Contents, by the number that all their values have.
OLD, NEW = 1, 2
KEYS = [bytes([k]) * 32 for k in range(64)]


@dataclass(frozen=True)
class Writer:
    """How something is written into a folder, and the number that is found there afterwards."""

    write: Callable[[Path, int], object]
    read: Callable[[Path], int]


def only(values: object) -> int:
    """The number that all values have.

    Raises
    ------
    AssertionError
        They differ: part is old, part is new.
    """
    numbers = np.unique(np.asarray(values)).tolist()
    assert len(numbers) == 1, f"old and new are mixed: {numbers}"
    return int(numbers[0])


def write_fit(folder: Path, content: int) -> None:
    draws = xr.Dataset(dict.fromkeys(numbered("x", 8), (("chain", "draw"), np.full((4, 500), float(content)))))
    save_posterior(xr.DataTree.from_dict({"posterior": draws}), folder / "fit.nc", overwrite=True)


def read_fit(folder: Path) -> int:
    tree = xr.load_datatree(folder / "fit.nc", engine="h5netcdf")
    return only(tree["posterior"].to_dataset().to_array())


def write_vectors(name: str) -> Callable[[Path, int], object]:
    def write(folder: Path, content: int) -> object:
        vectors = dict.fromkeys(numbered("word", 300), np.full(20, float(content)))
        return save_vectors(vectors, folder / name, overwrite=True)

    return write


def read_vectors(name: str) -> Callable[[Path], int]:
    return lambda folder: only(list(open_embedding(folder / name).all().values()))


def write_sentence_vectors(folder: Path, content: int) -> None:
    rows = pd.DataFrame({"word": numbered("word", 300), "template": "t", "sentence": "s"})
    save_sentence_vectors(rows, np.full((300, 20), float(content)), folder / "s.npz", overwrite=True)


def write_list(folder: Path, content: int) -> None:
    copy_shipped("wordlists", f"weat{content}", folder / "list.toml", overwrite=True)


def read_list(folder: Path) -> int:
    return int(bb.load_wordlist(folder / "list.toml").title.split()[1].rstrip(":"))


def write_frame(folder: Path, content: int) -> None:
    write_csv(pd.DataFrame({"x": np.full(5000, content)}), folder / "rows.csv", overwrite=True)


def read_frame(folder: Path) -> int:
    rows = pd.read_csv(folder / "rows.csv")
    assert len(rows) == 5000
    return only(rows)


def write_report(folder: Path, content: int) -> None:
    def render(folder: Path) -> None:
        (folder / "figures").mkdir()
        for k in range(20):
            (folder / f"figures/{k}-{content}.svg").write_text(f"{content}" * 2000)
            (folder / f"{k}.csv").write_text(f"{content}" * 2000)
        (folder / PROVENANCE).write_text(json.dumps({"content": content, "files": hashes(folder)}))

    write_folder(folder / "report", render, overwrite=True)


def read_report(folder: Path) -> int:
    out = folder / "report"
    provenance = json.loads((out / PROVENANCE).read_text())
    assert {**provenance["files"], PROVENANCE: hashes(out)[PROVENANCE]} == hashes(out)
    return int(provenance["content"])


def job(number: int) -> Job:
    return Job(f"job {number}", only, ([number],), depends_on=number)


def write_results(folder: Path, content: int) -> None:
    store = open_store(folder / "results")
    for number in range(10):
        store.keep(Outcome(f"job {number}", job(number).key, result=[content] * 500))


def read_results(folder: Path) -> int:
    """Each result is written for itself, so that some may be new."""
    store = open_store(folder / "results")
    kept = [only(outcome.result) for number in range(10) if (outcome := store.read(job(number)))]
    assert len(kept) == 10
    return kept[-1]


def write_cache(folder: Path, content: int) -> None:
    Cache(folder / "sentences.sqlite3").add(dict.fromkeys(KEYS, np.full(64, content, dtype=np.float32)))


def read_cache(folder: Path) -> int:
    vectors = Cache(folder / "sentences.sqlite3").find(KEYS)
    assert len(vectors) == len(KEYS)
    return only(list(vectors.values()))


WRITERS = {
    "fit": Writer(write_fit, read_fit),
    "vectors, .npz": Writer(write_vectors("v.npz"), read_vectors("v.npz")),
    "vectors, text": Writer(write_vectors("v.txt"), read_vectors("v.txt")),
    "vectors of sentences": Writer(write_sentence_vectors, read_vectors("s.npz")),
    "word list": Writer(write_list, read_list),
    "table": Writer(write_frame, read_frame),
    "report": Writer(write_report, read_report),
    "results of jobs": Writer(write_results, read_results),
    "sentence cache": Writer(write_cache, read_cache),
}


def forked(run: Callable[[], object]) -> int:
    """The number of a process that runs this: it exits with 0, with 2 after one line, or with 1 after any other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which a child might wait for
        process = os.fork()
    if process:
        return process
    signal.alarm(60)
    try:
        run()
    except BayesBiasError:
        os._exit(2)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def killed(writer: Writer, folder: Path, after: float) -> None:
    """Write in turn until the process is killed, these seconds after it began."""

    def for_ever() -> NoReturn:
        while True:
            writer.write(folder, NEW)
            writer.write(folder, OLD)

    process = forked(for_ever)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def full(writer: Writer, folder: Path, size: int) -> int:
    """Write where no file can have more bytes; the exit status."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        writer.write(folder, NEW)

    return os.waitstatus_to_exitcode(os.waitpid(forked(limited), 0)[1])


def broken(writer: Writer, folder: Path, call: str) -> int:
    """Write where a call of the operating system fails; the exit status."""

    def failing() -> None:
        def fail(*_: object, **__: object) -> NoReturn:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        setattr(os, call, fail)
        writer.write(folder, NEW)

    return os.waitstatus_to_exitcode(os.waitpid(forked(failing), 0)[1])


def check(writer: Writer, folder: Path) -> None:
    """What is there is whole, and the next run leaves its own content and nothing else.

    Raises
    ------
    AssertionError
    """
    assert writer.read(folder) in (OLD, NEW)
    writer.write(folder, OLD)
    assert writer.read(folder) == OLD
    left = [path for path in folder.rglob(f"{UNFINISHED}*") if path.parent.name != "results"]
    assert not left, f"left behind: {left}"


def tried(writer: Writer, folder: Path, kills: int, chance: random.Random) -> dict[str, int]:
    """How often the outcomes were what; raises where one is not allowed."""
    writer.write(folder, OLD)
    counts = {"killed": 0, "refused": 0, "written": 0}
    for _ in range(kills):
        killed(writer, folder, chance.uniform(0.0, 0.1))
        check(writer, folder)
        counts["killed"] += 1
    trials = [partial(full, writer, folder, size) for size in np.geomspace(1, 1 << 20, 3 + kills // 4, dtype=int)]
    trials += [partial(broken, writer, folder, call) for call in ("replace", "rename", "fsync", "mkdir")]
    for trial in trials:
        status = trial()
        assert status in (0, 2), f"exit status {status}"
        counts["refused" if status else "written"] += 1
        check(writer, folder)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    for name, writer in WRITERS.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name}: {tried(writer, Path(folder), given.kills, chance)}", flush=True)


if __name__ == "__main__":
    main()
