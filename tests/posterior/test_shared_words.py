"""How much of their errors embeddings have in common: what words add tells what other words would do."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from bayes_bias import open_embedding
from bayes_bias.measures.crossed_tests import QuasiF, quasi_f
from bayes_bias.posterior.pooling import influence_of, shared_errors
from bayes_bias.table.association_table import assemble
from tests.helpers import numbered


def shares(first: QuasiF, second: QuasiF) -> float:
    return shared_errors({(str(k), "it"): influence_of(result) for k, result in enumerate((first, second))})["it"]


@pytest.mark.thorough
def test_shared_errors_match_correlation_over_random_words() -> None:
    """Real vectors, and a projection of them to fifty dimensions."""
    rng = np.random.default_rng(1)
    vectors = open_embedding("googlenews-demo").all()
    words, full = list(vectors), np.stack(list(vectors.values())).astype(float)
    projected = full @ rng.standard_normal((full.shape[1], 50))
    embeddings = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (full, projected)]
    biases, said = [], []
    for _ in range(120):
        drawn = rng.permutation(len(words))[:32]
        sides = [
            {words[i]: f"{side} {k // 8}" for k, i in enumerate(half)}
            for side, half in zip(("group", "class"), np.split(drawn, 2), strict=True)
        ]
        found = [
            quasi_f(
                assemble(rows[drawn[:16]] @ rows[drawn[16:]].T, *sides, {"group 0": "class 0", "group 1": "class 1"})
            )
            for rows in embeddings
        ]
        biases.append([result.value for result in found])
        said.append(shares(*found))
    assert np.corrcoef(np.array(biases).T)[0, 1] == pytest.approx(np.mean(said), abs=0.1)
    assert 0.4 < np.mean(said) < 0.9


def test_shared_errors_returns_share_per_list_or_nan() -> None:
    same = {"targets": {"he": 0.1, "she": -0.1}}
    opposite = {"targets": {"he": -0.1, "she": 0.1}}
    adds = {
        ("A", "same"): same,
        ("B", "same"): same,
        ("A", "opposite"): same,
        ("B", "opposite"): opposite,
        ("A", "alone"): same,
    }
    found = shared_errors(adds)
    pd.testing.assert_series_equal(found, pd.Series({"same": 0.99, "opposite": 0.0, "alone": np.nan}))
    assert shared_errors(adds, "attributes").isna().all()


def test_shared_errors_ignores_order_of_words_and_embeddings() -> None:
    """A result that was kept may have its words in another order than one that was just computed."""
    rng = np.random.default_rng(3)
    words = numbered("word", 40)
    adds = [dict(zip(words, rng.standard_normal(40).tolist(), strict=True)) for _ in range(5)]
    shares = set()
    for _ in range(20):
        rng.shuffle(words)
        rng.shuffle(adds)
        influence = {(str(k), "it"): {"targets": {word: z[word] for word in words}} for k, z in enumerate(adds)}
        shares.add(shared_errors(influence)["it"])
    assert len(shares) == 1


_MANY_EMBEDDINGS = """
import numpy as np
from bayes_bias.posterior.pooling import shared_errors

adds = np.random.default_rng(1).standard_normal((300, 1)) + np.random.default_rng(2).standard_normal((300, 400))
told = {(str(k), "it"): {"targets": dict(zip(map(str, range(400)), z))} for k, z in enumerate(adds.tolist())}
print(shared_errors(told)["it"].hex())
"""


def test_shared_errors_ignores_threads_and_kernels_of_blas() -> None:
    shares = {
        subprocess.run(
            [sys.executable, "-c", _MANY_EMBEDDINGS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OPENBLAS_CORETYPE": kernel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads, kernel in (("1", "Nehalem"), ("2", "Haswell"))
    }
    assert len(shares) == 1
