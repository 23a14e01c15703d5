"""Every reader on mutated files: the outcome is what the file holds, or one line that says what is wrong with it.

    python -m tests.robustness.fuzzing --files 100000 --reader "vectors, archive.npz"

Files are read in forked processes with little memory and little time, so that a file that claims too much, or that
takes for ever, is a finding like any other error. Outcomes are written down batch by batch, and a run that is started
again goes on where it was.
"""

import argparse
import gc
import json
import logging
import os
import random
import re
import resource
import shutil
import signal
import tempfile
import time
import traceback
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from bayes_bias.errors import BayesBiasError
from benchmarks.provenance import provenance, write
from tests.robustness.readers import READERS, Reader, seed_of

# Reading a mutated file may take twice the memory of reading the valid one, which is about as long.
# Python, glibc, HDF5 and SQLite take memory from the system in pieces of up to 1 MiB and keep them; some modules are
# imported for an error that is rare. That is what is allowed beyond.
GRANULARITY = 8 << 20
# Of processor time.
SECONDS = 20

# Files of a process, and those it reads first, so that what errors import and keep is there before memory is limited.
BATCH = 1000
WARM = 100
# One batch in so many is measured file by file, which takes three times as long, and memory for what is noted.
TRACED = 10
TRACES = 64 << 20

OUTCOMES = "outcomes.jsonl"

# What damage and malice put where a number or a word is expected.
HOSTILE = [
    *(b"0", b"-1", b"1e999", b"nan", b"inf", b"9" * 30, b"9" * 400, b"9" * 5000, b"2147483648", b"1_000", b"true"),
    *(b"null", b"", b" ", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80"),
    *(b'"', b"'", b",", b"=", b"[", b"]", b"{", b"}", b"[[", b"#", b"[]", b"{}", b"[" * 300, b"[" * 20_000),
    *(b"/", b".", b"*", b"~nobody", b"a" * 300, b"=1+1", b"../../etc/passwd"),
]
KINDS = ("flip", "cut", "repeat", "replace", "insert", "number", "end")

# Kind, place, width and other bytes.
type Change = tuple[str, int, int, bytes]

READ, REFUSED = ALLOWED = ("read", "refused")


def drawn_changes(chance: random.Random, length: int) -> list[Change]:
    """What happens to a file: bytes are flipped, cut, repeated, moved, or replaced by something hostile."""
    drawn = []
    for _ in range(chance.randint(1, 4)):
        kind, at, width = chance.choice(KINDS), chance.randrange(max(length, 1)), chance.randint(1, 64)
        hostile = chance.choice(HOSTILE) if chance.random() < 0.5 else chance.randbytes(chance.randrange(5))
        drawn.append((kind, at, width, hostile))
    return drawn


def changes(length: int) -> st.SearchStrategy[list[Change]]:
    """The same as Hypothesis draws and shrinks them, which takes longer than most readers do."""
    return st.randoms(use_true_random=False).map(lambda chance: drawn_changes(chance, length))


def changed(content: bytes, what: list[Change]) -> bytes:
    """The file after the changes."""
    for kind, at, width, hostile in what:
        part = content[at : at + width]
        match kind:
            case "flip":
                content = content[:at] + bytes(byte ^ width for byte in part[:1]) + content[at + 1 :]
            case "cut":
                content = content[:at] + content[at + width :]
            case "repeat":
                content = content[:at] + part * 3 + content[at + width :]
            case "replace":
                content = content[:at] + hostile + content[at + width :]
            case "insert":
                content = content[:at] + hostile + content[at:]
            case "number":  # the next digits
                if digits := _DIGITS.search(content, at):
                    content = content[: digits.start()] + hostile + content[digits.end() :]
            case "end":
                content = content[:at]
    return content


_DIGITS = re.compile(rb"\d+")


def mutated(reader: Reader, numbers: range) -> Iterator[bytes]:
    """The mutated files with these numbers: the same in every run."""
    content = seed_of(reader.name)
    for number in numbers:
        yield changed(content, drawn_changes(random.Random(number), len(content)))


def outcome(reader: Reader, content: bytes, folder: Path) -> str:
    """How reading ends: "read", "refused", or what must not happen."""
    path = reader.path(folder)
    path.write_bytes(content)
    try:
        reader.read(path)
    except BayesBiasError as error:
        return REFUSED if len(str(error).splitlines()) == 1 else f"several lines: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {str(error)[:100]}"
    return READ


def taken(reader: Reader, content: bytes, folder: Path) -> tuple[str, int]:
    """The outcome, and the most bytes that Python and NumPy held meanwhile."""
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    ended = outcome(reader, content, folder)
    return ended, tracemalloc.get_traced_memory()[1] - before


def needed(reader: Reader, folder: Path) -> int:
    """The bytes that reading the valid file takes.

    Measured in a process of its own: before Python 3.12.9 a thread of Arrow crashes if tracing stops while it frees a
    buffer (https://github.com/python/cpython/issues/128679).
    """

    def traced() -> int:
        tracemalloc.start()
        return taken(reader, seed_of(reader.name), folder)[1]

    bytes_taken, _ = in_a_fork(traced)
    assert bytes_taken, f"{reader.name}: the valid file is not read"
    return bytes_taken


def fuzz(reader: Reader, numbers: range, folder: Path, traced: bool = False) -> dict[str, Any]:
    """Outcomes of the mutated files with these numbers; what must not happen keeps its file in `folder`."""
    _end_after(WARM)
    for content in (*islice(mutated(reader, numbers), WARM), *(begin + b"[" * 20_000 for begin in (b"", b"x = "))):
        outcome(reader, content, folder)
    valid = needed(reader, folder)
    allowed = 2 * valid + GRANULARITY
    if traced:
        tracemalloc.start()
    resource.setrlimit(resource.RLIMIT_AS, (_size() + allowed + traced * TRACES, resource.RLIM_INFINITY))
    counts, most, began = Counter[str](), 0, time.process_time()
    for number, content in zip(numbers, mutated(reader, numbers), strict=True):
        _end_after(SECONDS)
        ended, bytes_taken = taken(reader, content, folder) if traced else (outcome(reader, content, folder), 0)
        _end_after(0)
        most = max(most, bytes_taken)
        if bytes_taken > allowed:
            ended = f"took {bytes_taken:,} bytes, the valid file {valid:,}"
        counts[ended] += 1
        if ended not in ALLOWED and counts[ended] == 1:
            (folder / f"finding-{number}").write_bytes(f"{ended}\n".encode() + content)
    return {"outcomes": counts, "valid": valid, "most": most, "seconds": time.process_time() - began}


def forked(reader: Reader, numbers: range, folder: Path, traced: bool = False) -> dict[str, Any]:
    """The same in a process of its own."""
    result, status = in_a_fork(lambda: fuzz(reader, numbers, folder, traced))
    if result:
        return result
    if reader.path(folder).exists():
        shutil.copy(reader.path(folder), folder / f"finding-among-{numbers.start}")
    return {"outcomes": {f"ended with {status}": 1}, "valid": 0, "most": 0, "seconds": 0.0}


def in_a_fork(work: Callable[[], Any]) -> tuple[Any, int]:
    """What `work` returns in a forked process, None if it did not get so far, and the exit code."""
    read, write = os.pipe()
    if not (process := os.fork()):
        os.write(write, json.dumps(work()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as result:
        text = result.read()
    return json.loads(text) if text else None, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _end_after(seconds: int) -> None:
    """End this process after so much processor time, however busy the machine is; 0 lifts the limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _size() -> int:
    """Bytes that this process has from the system."""
    pages, *_ = Path("/proc/self/statm").read_text().split()
    return int(pages) * resource.getpagesize()


def run(readers: list[str], files: range, folder: Path) -> None:
    """Fuzz readers in turn, batch by batch, but for the batches that are in the folder's `OUTCOMES`."""
    done = {(row["reader"], row["first"], row["files"]) for row in outcomes(folder)}
    gc.freeze()
    for first in range(files.start, files.stop, BATCH):
        for name in readers:
            numbers = range(first, min(first + BATCH, files.stop))
            if (name, first, len(numbers)) in done:
                continue
            with tempfile.TemporaryDirectory() as beside:  # where reports are made before they take their place
                scratch = Path(beside) / "files"
                scratch.mkdir()
                row = forked(READERS[name], numbers, scratch, traced=first % (TRACED * BATCH) == 0)
                for finding in scratch.glob("finding-*"):
                    shutil.move(finding, folder / f"{finding.name}-{READERS[name].path(Path()).name}")
            with (folder / OUTCOMES).open("a", encoding="utf-8") as file:
                print(json.dumps({"reader": name, "first": first, "files": len(numbers)} | row), file=file)


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """What is known of each batch."""
    file = folder / OUTCOMES
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []


def table(batches: list[dict[str, Any]]) -> pd.DataFrame:
    """A row for each reader, in the order of `READERS`."""
    rows = []
    for name in READERS:
        counts, valid, most, seconds = Counter[str](), 0, 0, 0.0
        for batch in batches:
            if batch["reader"] == name:
                counts.update(batch["outcomes"])
                valid, most = max(valid, batch["valid"]), max(most, batch["most"])
                seconds += batch["seconds"]
        row = {"reader": name, "files": counts.total(), READ: counts.pop(READ, 0), REFUSED: counts.pop(REFUSED, 0)}
        row |= {"findings": counts.total(), "valid KiB": valid / 1024, "most KiB": most / 1024, "seconds": seconds}
        rows.append(row)
    return pd.DataFrame(rows)


def line(row: Mapping[str, Any]) -> str:
    """A row as the page on security has it."""
    counts = f"{row['files']:,} | {row[READ]:,} | {row[REFUSED]:,} | {row['findings']:,}"
    return f"| {row['reader']} | {counts} | {row['valid KiB']:,.0f} | {row['most KiB']:,.0f} |"


def main() -> None:
    """Fuzz all readers, or some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="mutated files of each reader")
    parser.add_argument("--after", type=int, default=0, help="leave out so many files, which an earlier run has read")
    parser.add_argument("--reader", nargs="+", choices=READERS, default=list(READERS), help="some of them")
    parser.add_argument("--folder", type=Path, default=Path("fuzz-findings"), help="of outcomes, and files that fail")
    parser.add_argument("--publish", metavar="COMMIT", help="keep the table as a result of benchmarks, of this commit")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    run(chosen.reader, range(chosen.after, chosen.files), chosen.folder)
    found = table(outcomes(chosen.folder))
    print(found.round(1).to_string(index=False))
    if chosen.publish:
        write("fuzzing", provenance() | {"commit": chosen.publish}, found.round(3).to_dict("records"))
        print(*map(line, found.to_dict("records")), sep="\n")


if __name__ == "__main__":
    main()
