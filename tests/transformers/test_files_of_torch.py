"""Tensors and files of torch are named, and the lines that messages give work."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import bayes_bias as bb
from bayes_bias.errors import EmbeddingError
from tests.helpers import as_lists, refused

WORDS = {"he": [1.0, 0.5], "she": [0.25, -1.0]}
TENSORS = {word: torch.tensor(vector) for word, vector in WORDS.items()}
SAVED = {
    "tensors": TENSORS,
    "parameters": {word: torch.nn.Parameter(vector) for word, vector in TENSORS.items()},
    "half precision": {word: vector.bfloat16() for word, vector in TENSORS.items()},
    "arrays": {word: np.array(vector) for word, vector in WORDS.items()},
    "lists": WORDS,
}


def read(path: str) -> dict[str, list[float]]:
    return as_lists(bb.open_embedding(path).all())


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("trust", [True, False])
def test_torch_file_raises_with_working_code(tmp_path, monkeypatch, name, zipped, trust):
    monkeypatch.chdir(tmp_path)
    torch.save(SAVED[name], "v.pt", _use_new_zipfile_serialization=zipped)
    with refused(EmbeddingError, "v.pt torch.save") as caught:
        bb.open_embedding("v.pt", trust=trust)
    exec(str(caught.value).split("`")[1])
    assert read("vectors.npz") == WORDS


def test_safetensors_file_raises_with_working_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_file({"embeddings": torch.stack(list(TENSORS.values()))}, "v.safetensors")
    with refused(EmbeddingError, "v.safetensors tensors") as caught:
        bb.open_embedding("v.safetensors")
    exec(str(caught.value).split("`")[1], {"words": list(WORDS)})
    assert read("vectors.npz") == WORDS


@pytest.mark.parametrize("name", ["parameters", "half precision"])
def test_tensors_raise_with_working_code_to_detach(name):
    vectors = SAVED[name]
    with refused(EmbeddingError, "'he' vector.detach().cpu().double().numpy()") as caught:
        bb.open_embedding(vectors)
    remedy = str(caught.value).split("`")[1]
    detached = {word: eval(remedy, {"vector": vector}) for word, vector in vectors.items()}
    assert as_lists(bb.open_embedding(detached).all()) == WORDS


def test_open_embedding_reads_tensors_without_gradients():
    assert as_lists(bb.open_embedding(TENSORS).all()) == WORDS
