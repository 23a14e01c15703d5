"""Speed and memory: `python -m benchmarks.speed scale --targets 100000 --attributes 100000 --dimensions 300`."""

import argparse
import logging
import resource
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.related_words import Products
from bayes_bias.table.statistics import sufficient_statistics
from bayes_bias.words.wordlist import WordList
from benchmarks.markdown import markdown_table
from benchmarks.provenance import provenance, read, write

_STEREOTYPES = {"X": "A", "Y": "B"}
_MOST_SECONDS, _MOST_GIGABYTES = 8.0, 1.5


def main() -> None:
    """Run one benchmark; exit 1 where it misses its limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    scale = commands.add_parser("scale", help="sufficient statistics of very long lists")
    scale.add_argument("--targets", type=int, default=100_000)
    scale.add_argument("--attributes", type=int, default=100_000)
    scale.add_argument("--dimensions", type=int, default=300)
    commands.add_parser("agreement", help="... against the materialised matrix, 5,000 x 5,000")
    path = commands.add_parser("path", help="from an embedding to the verdict, long lists beside short ones")
    path.add_argument("--words", type=int, default=20_000, help="targets, and as many attributes")
    chosen = parser.parse_args()
    if chosen.command == "scale":
        sys.exit(_scale(chosen.targets, chosen.attributes, chosen.dimensions))
    if chosen.command == "agreement":
        sys.exit(_agreement(5_000, 300))
    _path(chosen.words, 300)


def _scale(n_targets: int, n_attributes: int, dimensions: int) -> int:
    sides = (_unit_vectors(n, dimensions, seed) for seed, n in enumerate((n_targets, n_attributes)))
    table = _assembled(Products(*sides))
    before = _peak_gigabytes()
    start = perf_counter()
    statistics = sufficient_statistics(table)
    seconds, peak = perf_counter() - start, _peak_gigabytes()
    print(
        f"{n_targets:,} x {n_attributes:,} words, {dimensions} dimensions: {seconds:.2f} s, peak {peak:.2f} GB"
        f" ({before:.2f} GB before, vectors included); interaction_ss {statistics.interaction_ss.item():.6g}"
    )
    measured = {"seconds": round(seconds, 2), "peak_gigabytes": round(peak, 2)}
    design = {"targets": n_targets, "attributes": n_attributes, "dimensions": dimensions}
    write("scale", provenance(), [design | measured])
    return int(seconds > _MOST_SECONDS or peak > _MOST_GIGABYTES)


def _agreement(n: int, dimensions: int) -> int:
    targets, attributes = (_unit_vectors(n, dimensions, seed).astype(float) for seed in (0, 1))
    from_vectors, from_matrix = (
        sufficient_statistics(_assembled(values)).drop_vars(["target", "attribute"])
        for values in (Products(targets, attributes), targets @ attributes.T)
    )
    worst = max(
        float(np.abs(from_vectors[name] - values).max() / np.abs(values).max())
        for name, values in from_matrix.data_vars.items()
        if np.abs(values).max() > 0
    )
    print(f"{n:,} x {n:,} words: largest relative difference from the materialised matrix {worst:.1e}")
    write("scale-agreement", provenance(), [{"words": n, "largest_relative_difference": worst}])
    return int(worst > 1e-6)


def _path(n: int, dimensions: int) -> None:
    """Seconds of each step of a whole analysis of a long list, beside a short one."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    _steps(50, dimensions)  # compiles the model for both
    rows = [_steps(words, dimensions) for words in (50, n)]
    for row in rows:
        print(row)
    write("path", provenance(), rows)


def _steps(n: int, dimensions: int) -> dict[str, float]:
    vectors = dict(_words("t", n, dimensions, 0)) | dict(_words("a", n, dimensions, 1))
    embedding, words = bb.open_embedding(vectors), _list(n)
    seconds: dict[str, float] = {}

    def timed[Result](step: str, run: Callable[[], Result]) -> Result:
        start = perf_counter()
        result = run()
        seconds[step] = round(perf_counter() - start, 2)
        return result

    table = timed("measure", lambda: bb.cosines(words, embedding, controls=()))
    timed("statistics", lambda: sufficient_statistics(table))
    posterior = timed("fit, statistics included", lambda: bb.fit(table))
    timed("summarize", lambda: bb.summarize(posterior))
    timed("verdict", lambda: bb.verdict(posterior))
    return {"targets": n, "attributes": n, **seconds, "peak_gigabytes": round(_peak_gigabytes(), 2)}


def _list(n: int) -> WordList:
    halves = {"XA": range(n // 2), "YB": range(n // 2, n)}
    return WordList.from_mapping(
        {
            "title": "long",
            "groups": {names[0]: [f"t{i}" for i in half] for names, half in halves.items()},
            "classes": {names[1]: [f"a{i}" for i in half] for names, half in halves.items()},
            "stereotypes": _STEREOTYPES,
        },
        name=f"{n}-words",
    )


def _words(prefix: str, n: int, dimensions: int, seed: int) -> list[tuple[str, np.ndarray]]:
    return [(f"{prefix}{i}", vector) for i, vector in enumerate(_unit_vectors(n, dimensions, seed))]


def _assembled(values: Products | np.ndarray) -> AssociationTable:
    """Halves of the targets are X and Y, halves of the attributes A and B."""
    words = [
        {f"{side}{i}": side if i < n // 2 else other_side for i in range(n)}
        for n, (side, other_side) in zip(values.shape, ("XY", "AB"), strict=True)
    ]
    return assemble(values, *words, _STEREOTYPES)


def _unit_vectors(n: int, dimensions: int, seed: int) -> np.ndarray:
    """Random vectors with a common direction, as embeddings have one, in the precision that they come in."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dimensions), dtype=np.float32)
    vectors += 0.3
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _peak_gigabytes() -> float:
    """Largest resident memory of this process so far (Linux counts in kilobytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def scale_section() -> str:
    """Render the statistics of very long lists."""
    row = read("scale")["rows"][0]
    agreement = read("scale-agreement")["rows"][0]
    return f"""## Scale

Sufficient statistics of {row["targets"]:,} x {row["attributes"]:,} words in {row["dimensions"]} dimensions,
without forming a cosine: {row["seconds"]} s, peak memory {row["peak_gigabytes"]} GB, vectors included (wanted: 5 s,
1 GB). At {agreement["words"]:,} x {agreement["words"]:,} words they differ from those of the materialised matrix by
{agreement["largest_relative_difference"]:.0e} at most (wanted: 1e-6).
"""


def path_section() -> str:
    """Render the whole path through unit vectors."""
    return f"""### From vectors to the verdict

Seconds of each step, short lists beside lists whose matrix of cosines would not fit.

{markdown_table(pd.DataFrame(read("path")["rows"]))}
"""


if __name__ == "__main__":
    main()
