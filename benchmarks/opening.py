"""Big files, beside gensim and for what needs their whole vocabulary.

python -m benchmarks.opening word2vec --words 3000000
python -m benchmarks.opening glove --words 2200000
python -m benchmarks.opening vocabulary --words 2000000      # random nulls, and neighbours that debiasing takes away

The file is generated (random vectors, the words of WEAT 6 spread over it), and each way of reading it runs in a
process of its own, so that its peak memory is its own.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.lists import measure_lists
from benchmarks.markdown import markdown_table
from benchmarks.provenance import measured, provenance, read, write

DIMENSIONS = 300
_OF_VOCABULARY = ("50 nulls", "neighbours of frequent words", "all vectors debiased")
_CHUNK = 10_000


def main() -> None:
    """Generate a file, read it both ways, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("word2vec", "glove", "vocabulary"))
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--read", choices=sorted(_WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read:
        print(json.dumps(_measured(chosen.read, chosen.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("vectors.txt" if chosen.what == "glove" else "vectors.bin")
        _generate(path, chosen.words)
        about = {"words": chosen.words, "gigabytes": round(path.stat().st_size / 1e9, 2)}
        if chosen.what == "vocabulary":
            rows = []
            for how in _OF_VOCABULARY:
                rows.append({"what": how, **about, **_in_own_process(how, path)})
        else:
            rows = [{"format": chosen.what, **about, **_beside_gensim(path)}]
    print(rows)
    write(f"opening-{chosen.what}", provenance(), rows)


def _beside_gensim(path: Path) -> dict[str, float]:
    ours, theirs = _in_own_process("ours", path), _in_own_process("gensim", path)
    row = pd.Series(ours).add_prefix("ours, ").to_dict() | pd.Series(theirs).add_prefix("gensim, ").to_dict()
    row["times faster"] = round(theirs["seconds"] / ours["seconds"], 1)
    return row | {"share of memory": round(ours["memory, GB"] / theirs["memory, GB"], 3)}


def _generate(path: Path, n: int) -> None:
    """Words of letters; those of WEAT 6 at regular places."""
    listed = bb.load_wordlist("weat6")
    names = [_name(i) for i in range(n)]
    wanted = [*listed.targets, *listed.attributes]
    for place, word in zip(np.linspace(0, n - 1, len(wanted)).astype(int), wanted, strict=True):
        names[place] = word
    rng = np.random.default_rng(0)
    # The same numbers again and again: their values do not matter, and making them would take longest.
    block = rng.standard_normal((_CHUNK, DIMENSIONS), dtype=np.float32)
    rows = []
    for vector in block:
        written = vector.tobytes() if path.suffix == ".bin" else " ".join(map("{:.5f}".format, vector)).encode()
        rows.append(b" " + written + b"\n")
    with path.open("wb") as file:
        if path.suffix == ".bin":
            file.write(f"{n} {DIMENSIONS}\n".encode())
        for start in range(0, n, _CHUNK):
            chunk = names[start : start + _CHUNK]
            file.write(b"".join(name.encode() + row for name, row in zip(chunk, rows, strict=False)))


def _name(number: int) -> str:
    """A word of letters alone, as those are that nulls are drawn from."""
    letters = "w"
    while number:
        number, place = divmod(number, 26)
        letters += chr(ord("a") + place)
    return letters


def _in_own_process(how: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.opening", "word2vec", "--read", how, "--file", str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def _measured(how: str, path: Path) -> dict[str, float]:
    """Seconds, the vectors' file being opened, and memory beyond that of the imports."""
    before = _forget_peak()
    start = perf_counter()
    _WAYS[how](path)
    seconds = perf_counter() - start
    return {"seconds": round(seconds, 2), "memory, GB": round(_kilobytes("VmHWM") / 1e6 - before, 4)}


def _ours(path: Path) -> None:
    """The cosines of WEAT 6."""
    bb.cosines("weat6", path, controls=())


def _by_gensim(path: Path) -> None:
    """The same, of all vectors in memory."""
    from gensim.models import KeyedVectors  # no wheel for Python 3.14, where the pages are rendered, too

    binary = path.suffix == ".bin"
    bb.cosines("weat6", KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary), controls=())


def _nulls(path: Path) -> None:
    """Fifty tables of WEAT 6's size with random attributes, judged in this process."""
    bb.calibrate(*measure_lists("weat6", path, ()), draws=50, jobs=1)


def _neighbours(path: Path) -> None:
    """The neighbours that frequent words lose where a direction is taken away, as `compare --damage` finds them."""
    _damage(bb.open_embedding(path).excerpt(_DEBIASED.learned_words, pool=True))


def _debiased(path: Path) -> None:
    """The same, every vector of the file being debiased in memory."""
    _damage(bb.open_embedding(path))


def _damage(embedding: bb.Embedding) -> None:
    bb.debiasing.damage(embedding.all(), _DEBIASED.applied(embedding).all())


_DEBIASED = bb.debiasing.Debiasing(bb.debiasing.HardDebias(), "executive:home,professional:family")

_WAYS: Mapping[str, Callable[[Path], None]] = {
    "ours": _ours,
    "gensim": _by_gensim,
    "50 nulls": _nulls,
    "neighbours of frequent words": _neighbours,
    "all vectors debiased": _debiased,
}


def _forget_peak() -> float:
    """Gigabytes in use now, from where the kernel is told to count the peak again (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _kilobytes("VmRSS") / 1e6


def _kilobytes(entry: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(re.search(rf"^{entry}:\s*(\d+)", status, re.MULTILINE)[1])


def section() -> str:
    """Render the opening of big files."""
    opened = [read(name)["rows"][0] for name in ("opening-word2vec", "opening-glove") if measured(name)]
    return f"""### Opening big files

The cosines of WEAT 6 are measured from a generated file, compared with gensim's full load. Memory is in addition to the
imports (wanted: at least 5 times faster, a tenth of the memory, at 3 million words of word2vec and 2.2 million of GloVe
text).

{markdown_table(pd.DataFrame(opened).drop(columns=["ours, memory, GB", "gensim, memory, GB"]))}
{_of_vocabulary()}"""


def _of_vocabulary() -> str:
    if not measured("opening-vocabulary"):
        return ""
    return f"""
Some analyses need more words than a list has. From a file of two million words, in one process:

{markdown_table(pd.DataFrame(read("opening-vocabulary")["rows"]))}
"""


if __name__ == "__main__":
    main()
