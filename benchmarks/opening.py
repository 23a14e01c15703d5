"""Opening big files, beside gensim: `python -m benchmarks.opening word2vec --words 3000000`.

The file is generated (random vectors, the words of WEAT 6 spread over it), and each way of reading it runs in a
process of its own, so that its peak memory is its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.provenance import provenance, write

DIMENSIONS = 300
_CHUNK = 10_000


def main() -> None:
    """Generate a file, read it both ways, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=("word2vec", "glove"))
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--read", choices=("ours", "gensim"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read:
        print(json.dumps(_read(chosen.read, chosen.format, chosen.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("vectors.bin" if chosen.format == "word2vec" else "vectors.txt")
        _generate(path, chosen.format, chosen.words)
        size = path.stat().st_size / 1e9
        ours, theirs = (_in_own_process(how, chosen.format, path) for how in ("ours", "gensim"))
    row = {
        "format": chosen.format,
        "words": chosen.words,
        "gigabytes": round(size, 2),
        **{f"ours, {key}": value for key, value in ours.items()},
        **{f"gensim, {key}": value for key, value in theirs.items()},
        "times faster": round(theirs["seconds"] / ours["seconds"], 1),
        "share of memory": round(ours["gigabytes"] / theirs["gigabytes"], 3),
    }
    print(row)
    write(f"opening-{chosen.format}", provenance(), [row])


def _generate(path: Path, kind: str, n: int) -> None:
    """Words `w0`, `w1`, ...; those of WEAT 6 at regular places."""
    from bayes_bias import load_wordlist

    listed = load_wordlist("weat6")
    names = [f"w{i}" for i in range(n)]
    wanted = [*listed.targets, *listed.attributes]
    for place, word in zip(np.linspace(0, n - 1, len(wanted)).astype(int), wanted, strict=True):
        names[place] = word
    rng = np.random.default_rng(0)
    # The same numbers again and again: their values do not matter, and making them would take longest.
    block = rng.standard_normal((_CHUNK, DIMENSIONS), dtype=np.float32)
    rows = (
        [b" " + vector.tobytes() + b"\n" for vector in block]
        if kind == "word2vec"
        else [(" " + " ".join(f"{value:.5f}" for value in vector) + "\n").encode() for vector in block]
    )
    with path.open("wb") as file:
        if kind == "word2vec":
            file.write(f"{n} {DIMENSIONS}\n".encode())
        for start in range(0, n, _CHUNK):
            chunk = names[start : start + _CHUNK]
            file.write(b"".join(name.encode() + row for name, row in zip(chunk, rows, strict=False)))


def _in_own_process(how: str, kind: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.opening", kind, "--read", how, "--file", str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def _read(how: str, kind: str, path: Path) -> dict[str, float]:
    """Seconds to the cosines of WEAT 6, the vectors' file being opened, and memory beyond that of the imports."""
    from gensim.models import KeyedVectors

    from bayes_bias import cosines

    before = _forget_peak()
    start = perf_counter()
    if how == "ours":
        cosines(path, "weat6", controls=())
    else:
        no_header = kind == "glove"
        vectors = KeyedVectors.load_word2vec_format(path, binary=kind == "word2vec", no_header=no_header)
        cosines(vectors, "weat6", controls=())
    seconds = perf_counter() - start
    return {"seconds": round(seconds, 2), "gigabytes": round(_kilobytes("VmHWM") / 1e6 - before, 4)}


def _forget_peak() -> float:
    """Gigabytes in use now, from where the kernel is told to count the peak again (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _kilobytes("VmRSS") / 1e6


def _kilobytes(entry: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(entry)))


if __name__ == "__main__":
    main()
