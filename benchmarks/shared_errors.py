"""How much of their errors embeddings have in common: `python -m benchmarks.shared_errors`.

Words are drawn at random, as groups and classes of two sizes, again and again. The biases that two embeddings show of
the same random words correlate: that is what their errors have in common, for the choice of words is all there is.
`shared_errors` knows one draw at a time, and says the same of it.
"""

import argparse
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import bayes_bias as bb
from bayes_bias.embeddings.word_vectors import unit
from bayes_bias.measures.quasi_f import QuasiF, quasi_f
from bayes_bias.posterior.shared_words import influence_of, shared_errors
from bayes_bias.table.association_table import assemble
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.reference import REFERENCE
from benchmarks.sweep import DEBIASED

SIZES = (8, 16)


def main() -> None:
    """Draw words, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    chosen = parser.parse_args()
    vectors = _vectors()
    rows = [row for size in SIZES for row in _rows(vectors, size, chosen.draws)]
    print(pd.DataFrame(rows).to_string(index=False))
    write("shared-errors", provenance() | {"words": len(next(iter(vectors.values()))), "draws": chosen.draws}, rows)


def _vectors() -> dict[str, NDArray[np.float64]]:
    """Unit vectors of the words that all embeddings have."""
    shipped, minilm = (bb.open_embedding(name) for name in ("googlenews-demo", "minilm-demo"))
    glove = bb.open_embedding(REFERENCE / "glove840b_weat_items.npz")
    found = {"GoogleNews": shipped, "debiased": DEBIASED.applied(shipped), "MiniLM": minilm, "GloVe": glove}
    every = {name: each.all() for name, each in found.items()}
    words = sorted(set.intersection(*(set(each) for each in every.values())))
    matrices = {name: np.stack([unit(each[word]).ravel() for word in words]) for name, each in every.items()}
    full = matrices["GoogleNews"]
    matrices["projected to 50"] = full @ np.random.default_rng(1).standard_normal((full.shape[1], 50))
    return {name: each / np.linalg.norm(each, axis=1, keepdims=True) for name, each in matrices.items()}


def _rows(vectors: dict[str, NDArray[np.float64]], size: int, draws: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(1)
    pairs = list(combinations(vectors, 2))
    found = [_drawn(vectors, size, rng) for _ in range(draws)]
    bias = pd.DataFrame([{name: each.value for name, each in draw.items()} for draw in found]).corr()
    said = pd.DataFrame([[_share(draw[one], draw[other]) for one, other in pairs] for draw in found])
    return [
        {
            "embeddings": f"{one}, {other}",
            "words": size,
            "correlation of biases": round(float(bias.loc[one, other]), 3),
            "said, on average": round(float(said[k].mean()), 3),
            "sd": round(float(said[k].std()), 3),
        }
        for k, (one, other) in enumerate(pairs)
    ]


def _drawn(vectors: dict[str, NDArray[np.float64]], size: int, rng: np.random.Generator) -> dict[str, QuasiF]:
    """Two groups and two classes of random words, the same in all embeddings."""
    count = len(next(iter(vectors.values())))
    targets, attributes = np.split(rng.permutation(count)[: 4 * size], 2)
    sides = [
        {f"word {k}": f"{side} {place // size}" for place, k in enumerate(drawn)}
        for side, drawn in (("group", targets), ("class", attributes))
    ]
    stereotypes = {"group 0": "class 0", "group 1": "class 1"}
    return {
        name: quasi_f(assemble(each[targets] @ each[attributes].T, *sides, stereotypes))
        for name, each in vectors.items()
    }


def _share(one: QuasiF, other: QuasiF) -> float:
    influence = {(str(k), "drawn"): influence_of(each) for k, each in enumerate((one, other))}
    return float(shared_errors(influence)["drawn"])


def section() -> str:
    """Render the errors that embeddings have in common, as words show them and as they are."""
    result = read("shared-errors")
    about = result["about"]
    rows = pd.DataFrame(result["rows"])
    sizes = " or ".join(map(str, rows.words.unique()))
    farthest = (rows["said, on average"] - rows["correlation of biases"]).abs().max()
    return f"""## Errors that embeddings have in common

Two groups and two classes of {sizes} random words each, drawn {about["draws"]} times from the {about["words"]} words
that all of these embeddings have: how the biases of two embeddings correlate over draws, which is what their errors
have in common, and what is said of it from the words of one draw (mean and standard deviation over draws). The two
differ by {farthest:.3f} at most; the standard error of these correlations is {1 / about["draws"] ** 0.5:.2g} or less.

{markdown_table(rows)}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
