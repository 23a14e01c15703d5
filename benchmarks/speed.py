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
    targets, attributes = _unit_vectors(n_targets, dimensions, 0), _unit_vectors(n_attributes, dimensions, 1)
    table = _assembled(Products(targets, attributes))
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
    targets, attributes = _unit_vectors(n, dimensions, 0).astype(float), _unit_vectors(n, dimensions, 1).astype(float)
    from_vectors = sufficient_statistics(_assembled(Products(targets, attributes))).drop_vars(["target", "attribute"])
    from_matrix = sufficient_statistics(_assembled(targets @ attributes.T)).drop_vars(["target", "attribute"])
    worst = 0.0
    for name, values in from_matrix.data_vars.items():
        largest = float(np.abs(values).max())
        if largest > 0:
            worst = max(worst, float(np.abs(from_vectors[name] - values).max()) / largest)
    print(f"{n:,} x {n:,} words: largest relative difference from the materialised matrix {worst:.1e}")
    write("scale-agreement", provenance(), [{"words": n, "largest_relative_difference": worst}])
    return int(worst > 1e-6)


def _path(n: int, dimensions: int) -> None:
    """Seconds of each step of a whole analysis of a long list, beside a short one."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    _steps(50, dimensions)  # compiles the model for both
    rows = [_steps(50, dimensions), _steps(n, dimensions)]
    print(*rows, sep="\n")
    write("path", provenance(), rows)


def _steps(n: int, dimensions: int) -> dict[str, float]:
    vectors = dict(zip(_names("t", n), _unit_vectors(n, dimensions, 0), strict=True))
    vectors |= zip(_names("a", n), _unit_vectors(n, dimensions, 1), strict=True)
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


def _list(n: int) -> bb.WordList:
    targets, attributes, half = _names("t", n), _names("a", n), n // 2
    groups = {"X": targets[:half], "Y": targets[half:]}
    classes = {"A": attributes[:half], "B": attributes[half:]}
    given = {"title": "long", "groups": groups, "classes": classes, "stereotypes": _STEREOTYPES}
    return bb.WordList.from_mapping(given, name=f"{n}-words")


def _names(prefix: str, n: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(n)]


def _assembled(values: Products | np.ndarray) -> AssociationTable:
    """Halves of the targets are X and Y, halves of the attributes A and B."""
    targets, attributes = _names("X", values.shape[0]), _names("A", values.shape[1])
    n, m = len(targets) // 2, len(attributes) // 2
    group_of_word = dict.fromkeys(targets[:n], "X") | dict.fromkeys(targets[n:], "Y")
    class_of_word = dict.fromkeys(attributes[:m], "A") | dict.fromkeys(attributes[m:], "B")
    return assemble(values, group_of_word, class_of_word, _STEREOTYPES)


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

Sufficient statistics of {row["targets"]:,} x {row["attributes"]:,} words in {row["dimensions"]} dimensions, without
forming a cosine, take {row["seconds"]} s, with a peak memory of {row["peak_gigabytes"]} GB, including the vectors
(wanted: 5 s, 1 GB). At {agreement["words"]:,} x {agreement["words"]:,} words they differ from the statistics of the
complete matrix by {agreement["largest_relative_difference"]:.0e} at most (wanted: 1e-6).
"""


def path_section() -> str:
    """Render the whole path through unit vectors."""
    return f"""### From vectors to the verdict

Seconds of each step, for short lists and for lists whose matrix of cosines would not fit.

{markdown_table(pd.DataFrame(read("path")["rows"]))}
"""


if __name__ == "__main__":
    main()
