"""Ten thousand sentences through an encoder with a cache: what a second run costs, what a kill loses, and memory.

    python -m benchmarks.encoding

The encoder costs next to nothing (a sentence is the sum of random directions of its words), so that what is measured
is the way there and back. Each run is a process of its own. Writes benchmarks/results/encoding.json.
"""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.language_models.encoders import Encoder
from bayes_bias.language_models.sentence_cache import BATCH, encoded, open_cache
from bayes_bias.words.templates import Sentence, load_templates
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

DIMENSIONS = 768
MANY, FEW = 10_000, 1_000
KILLED_AFTER = 4_000


class Counting:
    """Counts sentences, and says so as it goes for whoever wants to kill it."""

    def __init__(self, pause: float = 0.0) -> None:
        self.asked, self.pause = 0, pause

    def __call__(self, sentences: Sequence[Sentence]) -> NDArray[np.float32]:
        self.asked += len(sentences)
        time.sleep(self.pause)
        print(self.asked, flush=True)
        return np.stack([_vector(sentence.text) for sentence in sentences])


def run(count: int, folder: str, pause: float) -> dict[str, float]:
    """One pass over so many sentences; vectors are looked at one by one and not kept."""
    counting = Counting(pause)
    encoder = Encoder("bag of words", "bag of words, version 1", "", counting)
    digest, start = hashlib.sha256(), time.perf_counter()
    tracemalloc.start()
    for vector in encoded(encoder, sentences(count), open_cache(folder, encoder)):
        digest.update(vector.tobytes())
    _, most = tracemalloc.get_traced_memory()
    return {
        "sentences": count,
        "encoded": counting.asked,
        "seconds": round(time.perf_counter() - start, 2),
        "peak MiB": round(most / 2**20, 2),
        "resident MiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, 1),
        "sha256": digest.hexdigest(),
    }


def sentences(count: int) -> Iterator[Sentence]:
    """So many sentences, made as they are asked for."""
    templates = load_templates("plain-10")
    every = chain.from_iterable(templates.sentences(f"word{number}", "noun") for number in range(count))
    return islice(every, count)


def measure() -> None:
    """All runs, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        first = _process(FEW, f"{folder}/{FEW}")
        many, again = _process(MANY, f"{folder}/{MANY}"), _process(MANY, f"{folder}/{MANY}")
        lost = _killed(f"{folder}/killed")
        resumed = _process(MANY, f"{folder}/killed")
    runs = {"first": first, "first, ten times as many": many, "second": again, "after a kill": resumed}
    about = provenance() | {
        "dimensions": DIMENSIONS,
        "batch": BATCH,
        "encoded before the kill": lost,
        "encoded twice": lost + int(resumed["encoded"]) - MANY,
        "same vectors": many["sha256"] == again["sha256"] == resumed["sha256"],
    }
    write("encoding", about, [{"run": name} | run for name, run in runs.items()])


def _process(count: int, folder: str) -> dict[str, float]:
    lines = subprocess.run(_command(count, folder, 0.0), capture_output=True, text=True, check=True).stdout
    return dict(json.loads(lines.splitlines()[-1]))


def _killed(folder: str) -> int:
    """A run that is killed, without warning, when so many sentences are encoded; how many were."""
    with subprocess.Popen(_command(MANY, folder, 0.05), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        asked = 0
        for line in process.stdout:
            asked = int(line)
            if asked >= KILLED_AFTER:
                os.kill(process.pid, signal.SIGKILL)
                break
    return asked


def _command(count: int, folder: str, pause: float) -> list[str]:
    return [sys.executable, "-m", "benchmarks.encoding", str(count), folder, str(pause)]


def _vector(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32)


def section() -> str:
    """Render sentences through a cache."""
    result = read("encoding")
    about, rows = result["about"], pd.DataFrame(result["rows"]).drop(columns="sha256")
    same = "the same in all runs" if about["same vectors"] else "NOT the same in all runs"
    return f"""### Sentences of an encoder

Sentences pass through an encoder that takes almost no time ({about["dimensions"]} dimensions) and a cache on disk, each
run in a separate process. Memory is the most that Python and NumPy request (peak), and that the whole process uses
(resident). A run that was killed after {about["encoded before the kill"]:,} sentences encoded
{about["encoded twice"]} of them again when it continued. Vectors are {same}.

{markdown_table(rows)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))
    else:
        measure()
