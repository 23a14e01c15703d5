"""How much of their errors embeddings have in common: what words add tells what other words would do."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias import open_embedding
from bayes_bias.measures.quasi_f import QuasiF, quasi_f
from bayes_bias.sweeps.shared_words import influence_of, shared_errors
from bayes_bias.table.association_table import assemble


def shares(one: QuasiF, other: QuasiF) -> float:
    return shared_errors({(str(k), "it"): influence_of(each) for k, each in enumerate((one, other))})["it"]


def test_over_random_words_biases_of_two_embeddings_correlate_as_said() -> None:
    """Real vectors, and a projection of them to fifty dimensions."""
    rng = np.random.default_rng(1)
    vectors = open_embedding("googlenews-demo").all()
    words, full = list(vectors), np.stack(list(vectors.values())).astype(float)
    projected = full @ rng.standard_normal((full.shape[1], 50))
    embeddings = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (full, projected)]
    biases, said = [], []
    for _ in range(120):
        drawn = rng.permutation(len(words))[:32]
        sides = [
            {words[i]: f"{side} {k // 8}" for k, i in enumerate(half)}
            for side, half in zip(("group", "class"), np.split(drawn, 2), strict=True)
        ]
        found = [
            quasi_f(
                assemble(each[drawn[:16]] @ each[drawn[16:]].T, *sides, {"group 0": "class 0", "group 1": "class 1"})
            )
            for each in embeddings
        ]
        biases.append([each.value for each in found])
        said.append(shares(*found))
    assert np.corrcoef(np.array(biases).T)[0, 1] == pytest.approx(np.mean(said), abs=0.1)
    assert 0.4 < np.mean(said) < 0.9


def test_a_share_is_of_one_list_and_of_several_embeddings() -> None:
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
