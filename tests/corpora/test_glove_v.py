"""Tables with the covariances of GloVe-V."""

import json

import numpy as np
import pytest

from bayes_bias.corpora.glove_v import from_glove_v
from bayes_bias.errors import CorpusError
from bayes_bias.table.statistics import table_means

WORDS = ["he", "him", "she", "her", "boss", "job", "home", "child"]
LIST = {"men=work": WORDS[:2], "women=family": WORDS[2:4], "work": WORDS[4:6], "family": WORDS[6:]}
D = 3


def save_file(arrays, path):
    """Write arrays as safetensors does."""
    header, data = {}, b""
    for name, array in arrays.items():
        content = np.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data)


@pytest.fixture
def folder(tmp_path):
    """Write the files of GloVe-V, with a diagonal, a low-rank, and a complete covariance."""
    rng = np.random.default_rng(0)
    (tmp_path / "vocab.txt").write_text("".join(f"{word} {100 - k}\n" for k, word in enumerate(WORDS)))
    save_file({"center_vectors": rng.normal(size=(8, D))}, tmp_path / "vectors.safetensors")
    covariances = {f"diag_{k}": np.full(D, 1e-4) for k in range(6)}
    left, sizes, right = np.linalg.svd(np.diag([1e-4, 2e-4, 0.0]))
    covariances |= {"U_6": left[:, :2].copy(), "s_6": sizes[:2].copy(), "Vt_6": right[:2].copy()}
    covariances["complete_7"] = np.eye(D) * 1e-4
    save_file(covariances, tmp_path / "ApproximationVariances.safetensors")
    return tmp_path


def test_covariance_equals_the_delta_method(folder):
    table = from_glove_v(folder, LIST, (), draws=4_000)
    vectors = np.random.default_rng(0).normal(size=(8, D))
    he, boss = vectors[0], vectors[4]

    def variance(one, other):
        unit = one / np.linalg.norm(one)
        gradient = (other / np.linalg.norm(other) - unit * (unit @ other) / np.linalg.norm(other)) / np.linalg.norm(one)
        return 1e-4 * gradient @ gradient

    expected = variance(he, boss) + variance(boss, he)
    drawn = sum(part.sel(target="he", attribute="boss").item() ** 2 for part in table.texts.deviations.values())
    assert drawn == pytest.approx(expected, rel=0.12)
    assert "text_covariance" in table_means(table)


def test_low_rank_and_complete_covariances_are_read(folder):
    table = from_glove_v(folder, LIST, ())
    spread = np.std([part.to_numpy() for part in table.texts.deviations.values()], axis=0)
    assert (spread > 0).all()


def test_from_glove_v_raises_for_missing_files_and_covariances(folder):
    with pytest.raises(CorpusError, match=r"has no file 'vocab.txt'"):
        from_glove_v(folder / "nowhere", LIST)
    save_file({"diag_0": np.ones(D)}, folder / "ApproximationVariances.safetensors")
    with pytest.raises(CorpusError, match="no covariance of him"):
        from_glove_v(folder, LIST, ())
    (folder / "vectors.safetensors").write_bytes(b"damaged")
    with pytest.raises(CorpusError, match="is damaged"):
        from_glove_v(folder, LIST, ())
