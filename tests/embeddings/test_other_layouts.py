"""Files in another layout than a reader expects are named, with a line that works; no numbers are read from them."""

import gzip
import json
import os
import pickle
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import bayes_bias as bb
from bayes_bias.errors import EmbeddingError, LanguageModelError, MeasureError, WordListError
from tests.embeddings.test_vectors_as_people_have_them import TRUE, VECTORS, WORDS, biases
from tests.helpers import as_lines, as_lists, refused

MATRIX = np.stack(list(VECTORS.values()))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Lines of messages name files as they were given, and write into the working folder."""
    monkeypatch.chdir(tmp_path)


def followed(error: pytest.ExceptionInfo[Exception], written: str = "vectors.npz", **names) -> None:
    """Run the line that a message gives, and compare what it writes with the vectors."""
    exec(str(error.value).split("`")[1], names)
    assert np.allclose(biases(written), TRUE, atol=2e-3)


def binary(kind: str, end: bytes = b"", vectors=VECTORS) -> bytes:
    """word2vec's binary layout with numbers of any kind."""
    rows = [word.encode() + b" " + vector.astype(kind).tobytes() + end for word, vector in vectors.items()]
    return f"{len(vectors)} {len(next(iter(vectors.values())))}\n".encode() + b"".join(rows)


NAMES = {">f4": "big-endian", "<f8": "float64", ">f8": "float64 big-endian", "<f2": "float16", ">f2": "float16 big"}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.filterwarnings("ignore:unclosed file")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_word2vec_of_other_dtype_raises_with_working_code(kind, end, zipped):
    content = binary(kind, end)
    Path("v.bin").write_bytes(gzip.compress(content) if zipped else content)
    with refused(EmbeddingError, f"v.bin {NAMES[kind]}") as caught:
        bb.open_embedding("v.bin")
    followed(caught)


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_word2vec_of_float32_is_read_at_any_scale(end, scale):
    Path("v.bin").write_bytes(binary("<f4", end, {word: vector * scale for word, vector in VECTORS.items()}))
    assert np.allclose(biases("v.bin"), TRUE, atol=1e-5)


def test_open_embedding_recognises_dtype_of_large_word2vec_file():
    rng = np.random.default_rng(1)
    vectors = {f"word{k}": rng.normal(size=300) * 0.1 for k in range(500)}
    Path("v.bin").write_bytes(binary("<f4", vectors=vectors))
    assert len(bb.open_embedding("v.bin").all()) == 500
    for kind in NAMES:
        Path("v.bin").write_bytes(binary(kind, vectors=vectors))
        with refused(EmbeddingError, NAMES[kind]):
            bb.open_embedding("v.bin")


def test_open_embedding_raises_for_quantised_word2vec():
    Path("v.bin").write_bytes(binary("i1", vectors={word: vector * 100 for word, vector in VECTORS.items()}))
    with refused(EmbeddingError, "8-bit quantised"):
        bb.open_embedding("v.bin")


@pytest.mark.parametrize("header", [b"8 4\n", b"8 6\n", b"8 50\n"])
def test_word2vec_raises_for_header_of_other_dimensions(header):
    Path("v.bin").write_bytes(header + binary("<f4").partition(b"\n")[2])
    with refused(EmbeddingError, "v.bin words Copy"):
        bb.open_embedding("v.bin").all()


def test_word2vec_raises_for_words_beyond_header_count():
    vectors = {f"w{k}": np.ones(5) + k for k in range(50)}
    Path("v.bin").write_bytes(b"30 5\n" + binary("<f4", vectors=vectors).partition(b"\n")[2])
    with refused(EmbeddingError, "header states 30 more bytes"):
        bb.open_embedding("v.bin").all()


# Numbers without words.


@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", ">f8", "<f2"])
def test_raw_numbers_raise_with_working_code(kind):
    rng = np.random.default_rng(2)
    more = rng.normal(size=(200, 5))
    np.vstack([MATRIX, more]).astype(kind).tofile("v.bin")
    with refused(EmbeddingError, "v.bin numbers without words np.fromfile") as caught:
        bb.open_embedding("v.bin")
    followed(caught, words=[*VECTORS, *map(str, range(200))])


@pytest.mark.parametrize("delimiter", [" ", "\t", ","])
def test_text_without_words_raises_with_working_code(delimiter):
    np.savetxt("v.tsv", MATRIX, fmt="%.3f", delimiter=delimiter)
    with refused(EmbeddingError, "v.tsv numbers without words np.loadtxt") as caught:
        bb.open_embedding("v.tsv")
    followed(caught, words=list(VECTORS))


def test_open_embedding_keeps_numeric_words_in_text():
    Path("v.txt").write_text("0.5 0.1 0.2\nhe 0.3 0.4\n0.25 1 2\nshe 2 3\n")
    assert bb.open_embedding("v.txt").vocabulary() == ["0.5", "he", "0.25", "she"]


def test_fvecs_and_fbin_raise_with_working_code():
    lengths = np.full((len(MATRIX), 1), 5, "<i4").view("<f4")
    np.hstack([lengths, MATRIX.astype("<f4")]).tofile("v.fvecs")
    with refused(EmbeddingError, "v.fvecs fvecs") as caught:
        bb.open_embedding("v.fvecs")
    followed(caught, words=list(VECTORS))
    Path("v.fbin").write_bytes(np.array(MATRIX.shape, "<i4").tobytes() + MATRIX.astype("<f4").tobytes())
    with refused(EmbeddingError, "v.fbin fbin") as caught:
        bb.open_embedding("v.fbin")
    followed(caught, words=list(VECTORS))


def test_open_embedding_raises_for_random_bytes():
    Path("v").write_bytes(b"\0" + np.random.default_rng(3).bytes(5000))
    with refused(EmbeddingError, "unknown format"):
        bb.open_embedding("v")


# Arrays of NumPy.


@pytest.mark.parametrize("content", [VECTORS, as_lists(VECTORS)])
def test_npy_of_dict_is_read_only_with_trust(content):
    np.save("v.npy", content, allow_pickle=True)
    with refused(EmbeddingError, "v.npy Python objects trust=True"):
        bb.open_embedding("v.npy")
    assert np.array_equal(biases("v.npy", trust=True), TRUE)


def test_npy_of_pairs_is_read_with_trust():
    pairs = np.empty((len(VECTORS), 2), dtype=object)
    for row, pair in zip(pairs, VECTORS.items(), strict=True):
        row[:] = pair
    np.save("v.npy", pairs, allow_pickle=True)
    assert np.array_equal(biases("v.npy", trust=True), TRUE)
    np.save("v.npy", np.array([None, 3], dtype=object), allow_pickle=True)
    with refused(EmbeddingError, "v.npy a list Python objects"):
        bb.open_embedding("v.npy", trust=True)


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f4", "<f8", ">f8", "<i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_without_words_raises_with_working_code(kind, order):
    matrix = MATRIX if kind != "<i4" else (MATRIX * 1000).round()
    np.save("v.npy", np.asarray(matrix.astype(kind), order=order))
    with refused(EmbeddingError, "v.npy array without words np.savez") as caught:
        bb.open_embedding("v.npy")
    followed(caught, words=list(VECTORS))


def test_npy_raises_for_structured_and_other_arrays():
    fields = np.zeros(len(VECTORS), dtype=[("token", "U9"), ("count", "i8"), ("vec", "<f4", (5,))])
    fields["token"], fields["vec"] = list(VECTORS), MATRIX
    np.save("fields.npy", fields)
    with refused(EmbeddingError, "fields.npy structured array") as caught:
        bb.open_embedding("fields.npy")
    followed(caught)
    np.save("seeds.npy", np.stack([MATRIX, MATRIX]))
    with refused(EmbeddingError, "seeds.npy (2, 8, 5)") as caught:
        bb.open_embedding("seeds.npy")
    followed(caught, words=list(VECTORS))
    for array in (np.ones(3), np.array(["a"]), np.ones((2, 2), complex), np.ones((2, 2), np.int8)):
        np.save("other.npy", array)
        with refused(EmbeddingError, "other.npy an array"):
            bb.open_embedding("other.npy")


@pytest.mark.parametrize("kind", [np.int8, np.uint8, bool])
def test_quantised_vectors_raise_in_files_memory_and_encoders(kind):
    matrix = np.arange(8 * len(MATRIX)).reshape(len(MATRIX), 8).astype(kind)
    np.savez("v.npz", words=list(VECTORS), vectors=matrix)
    with refused(EmbeddingError, "v.npz quantised 8 bits"):
        bb.open_embedding("v.npz")
    with refused(EmbeddingError, "'oak' quantised 8 bits"):
        bb.open_embedding(dict(zip(VECTORS, matrix, strict=True)))
    with refused(EmbeddingError, "encoder quantised precision='float32'"):
        bb.language_models.encode(WORDS, lambda texts: np.ones((len(texts), 8), kind), None)


@pytest.mark.filterwarnings("error")
def test_complex_vectors_raise_error():
    complex_vectors = {word: row + 1j for word, row in VECTORS.items()}
    for source in (complex_vectors, pd.DataFrame(complex_vectors).T):
        with refused(EmbeddingError, "numbers"):
            bb.open_embedding(source)
    with refused(MeasureError, "'oak' complex"):
        bb.measures.semaxis(complex_vectors, ["oak"], {"a": ["oak"], "b": ["oak"]})


@pytest.mark.parametrize("kind", ["<f2", ">f4", ">f8", "<f8"])
def test_npz_of_other_dtype_is_read(kind):
    np.savez("v.npz", words=list(VECTORS), vectors=MATRIX.astype(kind))
    assert np.allclose(biases("v.npz"), TRUE, atol=2e-3)


# Files of other programs.


def torch_archive() -> bytes:
    """What torch.save writes of a dict of NumPy arrays."""
    with zipfile.ZipFile("v.pt", "w") as archive:
        archive.writestr("v/data.pkl", pickle.dumps(VECTORS, 2))
        archive.writestr("v/version", "3\n")
    return Path("v.pt").read_bytes()


def hdf5() -> bytes:
    with h5py.File("v.h5", "w") as file:
        file["vectors"] = MATRIX
    return Path("v.h5").read_bytes()


def safetensors() -> bytes:
    matrix = MATRIX.astype("<f4")
    header = json.dumps({"v": {"dtype": "F32", "shape": matrix.shape, "data_offsets": [0, matrix.nbytes]}}).encode()
    return len(header).to_bytes(8, "little") + header + matrix.tobytes()


def workbook() -> bytes:
    pd.DataFrame(VECTORS).T.to_excel("v.xlsx")
    return Path("v.xlsx").read_bytes()


OTHERS = {
    "torch": (torch_archive, "torch.save torch.load"),
    "torch before 1.6": (lambda: b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.rest", "torch.save torch.load"),
    "HDF5": (hdf5, "HDF5 pd.read_hdf"),
    "safetensors": (safetensors, "safetensors.numpy"),
    "workbook": (workbook, "Excel CSV"),
    "SQLite": (lambda: b"SQLite format 3\x00" + bytes(50), "SQLite"),
    "R": (lambda: gzip.compress(b"X\n\x00\x00\x00\x03\x00\x04"), "R (.rds) arrow::write_parquet"),
    "RData": (lambda: gzip.compress(b"RDX3\nX\n\x00\x00\x00\x03"), "R (.RData) arrow::write_parquet"),
    "MATLAB": (lambda: b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(90), "MATLAB scipy.io.loadmat"),
    "GGUF": (lambda: b"GGUF\x03\x00\x00\x00", "language model"),
    "web page": (lambda: b"<!DOCTYPE html><html><body>Download anyway</body></html>", "web page"),
    "web page in lower case": (lambda: b"\n<html lang='en'>a 1 2</html>", "web page"),
    "Git LFS": (lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "git lfs pull"),
    "PDF": (lambda: b"%PDF-1.7\nx 1 2", "PDF"),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("trust", [True, False])
def test_open_embedding_raises_for_file_of_another_program(name, trust):
    content, words = OTHERS[name]
    Path("v").write_bytes(content())
    with refused(EmbeddingError, f"v {words}"):
        bb.open_embedding("v", trust=trust)


def test_errors_for_feather_javascript_and_utf16_print_working_code():
    pa.feather.write_feather(pd.DataFrame({"word": list(VECTORS), "vector": MATRIX.tolist()}), "v.feather")
    with refused(EmbeddingError, "Arrow Parquet") as caught:
        bb.open_embedding("v.feather")
    followed(caught, "vectors.parquet")
    Path("v.js").write_text("var wordVecs = " + json.dumps(as_lists(VECTORS)) + ";\n")
    with refused(EmbeddingError, "JavaScript sed") as caught:
        bb.open_embedding("v.js")
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)
    assert np.array_equal(biases("vectors.json"), TRUE)
    Path("v.txt").write_bytes(as_lines(VECTORS).encode("utf-16"))
    with refused(EmbeddingError, "UTF-16 iconv") as caught:
        bb.open_embedding("v.txt")
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)
    assert np.array_equal(biases("utf8.txt"), TRUE)


def test_open_embedding_keeps_words_similar_to_file_signatures():
    Path("v.txt").write_text("BZh 0.1 0.2\nORC 0.3 0.4\n<html 0.5 0.6\nvar 0.1 0.2\n")
    assert bb.open_embedding("v.txt").vocabulary() == ["BZh", "ORC", "<html", "var"]
    Path("v.txt").write_text("<html 0.5 0.6\nvar 0.1 0.2\n")
    assert bb.open_embedding("v.txt").vocabulary() == ["<html", "var"]


# gensim's files beside one another.


@pytest.fixture
def kept():
    """A model of gensim whose array lies beside it."""
    models = pytest.importorskip("gensim.models")
    vectors = models.KeyedVectors(5)
    vectors.add_vectors(list(VECTORS), MATRIX.astype(np.float32))
    vectors.save("v.kv", separately=["vectors"])
    assert np.allclose(biases("v.kv", trust=True), TRUE, atol=1e-6)
    return Path("v.kv.vectors.npy")


@pytest.mark.gensim
def test_gensim_model_raises_for_cut_array(kept):
    whole = kept.read_bytes()
    for content in (whole[:-100], whole[:40], b""):
        kept.write_bytes(content)
        with refused(EmbeddingError, "v.kv 'v.kv.vectors.npy' Copy"):
            biases("v.kv", trust=True)
    kept.write_bytes(whole)
    assert np.allclose(biases("v.kv", trust=True), TRUE, atol=1e-6)


@pytest.mark.gensim
def test_renamed_gensim_model_raises_with_working_command(kept):
    Path("v.kv").rename("new name.kv")
    with refused(EmbeddingError, "'new name.kv.vectors.npy' 'v.kv.vectors.npy' mv") as caught:
        biases("new name.kv", trust=True)
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)
    assert np.allclose(biases("v.kv", trust=True), TRUE, atol=1e-6)


@pytest.mark.gensim
def test_gensim_model_raises_without_array(kept):
    kept.unlink()
    with refused(EmbeddingError, "v.kv 'v.kv.vectors.npy' not exist Copy same folder"):
        biases("v.kv", trust=True)


@pytest.mark.gensim
def test_gensim_model_raises_for_array_of_another_model(kept):
    np.save("other.npy", MATRIX[:3].astype(np.float32))
    Path("other.npy").rename(kept)
    with refused(EmbeddingError, "8 words 3 vectors do not belong together"):
        biases("v.kv", trust=True)


@pytest.mark.gensim
@pytest.mark.parametrize("ending", [".wv.vectors.npy", ".syn1neg.npy"])
def test_whole_gensim_model_raises_for_cut_or_missing_array(ending):
    models = pytest.importorskip("gensim.models")
    model = models.Word2Vec(list(WORDS.values()), vector_size=5, min_count=1, seed=1, workers=1)
    model.save("m.model", separately=["syn1neg"])
    model.wv.save("m.model.wv", separately=["vectors"])
    model.save("m.model", sep_limit=0)
    array = Path(f"m.model{ending}")
    assert array.is_file()
    bb.open_embedding("m.model", trust=True)
    array.write_bytes(array.read_bytes()[:-30])
    with refused(EmbeddingError, f"m.model '{array.name}' Copy"):
        bb.open_embedding("m.model", trust=True)
    array.unlink()
    with refused(EmbeddingError, f"m.model '{array.name}' not exist"):
        bb.open_embedding("m.model", trust=True)


def test_gzipped_npz_and_pickle_raise_with_working_command():
    np.savez("v.npz", words=list(VECTORS), vectors=MATRIX)
    Path("v.pkl").write_bytes(pickle.dumps(VECTORS))
    for name in ("v.npz", "v.pkl"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
        Path(name).unlink()
        with refused(EmbeddingError, f"{name}.gz gzipped gunzip") as caught:
            bb.open_embedding(f"{name}.gz", trust=True)
        subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)
        assert np.array_equal(biases(name, trust=True), TRUE)


# Frames and tensors of other libraries.


class Tensor:
    """A tensor of torch that requires a gradient."""

    ndim = 1

    def __array__(self, *_args, **_more):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


class BareTensor(Tensor):
    """A tensor of another library, which has no axes to ask for."""

    ndim = None


@pytest.mark.parametrize("tensor", [Tensor(), BareTensor()])
def test_tensors_raise_with_advice_to_detach(tensor):
    with refused(EmbeddingError, "'he' Tensor vector.detach().cpu().double().numpy()"):
        bb.open_embedding({"he": tensor})
    with refused(MeasureError, "'he' vector.detach()"):
        bb.measures.pair_direction({"he": tensor, "she": tensor}, "he", "she")
    with refused(EmbeddingError, "encoder tensor.detach()"):
        bb.language_models.encode(WORDS, lambda _texts: tensor, None)


def test_open_embedding_raises_for_pairs_with_tensors():
    with refused(EmbeddingError, "'he' vector.detach()"):
        bb.open_embedding([("he", Tensor())])


def test_pyarrow_table_raises_with_advice_to_convert():
    table = pa.table({"word": list(VECTORS), "vector": MATRIX.tolist()})
    with refused(EmbeddingError, "Table of pyarrow frame.to_pandas()"):
        bb.open_embedding(table)
    with refused(WordListError, "Table of pyarrow frame.to_pandas()"):
        bb.load_wordlist(table)
    assert np.array_equal(biases(table.to_pandas()), TRUE)


# Pipes and addresses.


@pytest.mark.parametrize("address", ["https://nlp.example.org/glove.zip", "s3://bucket/v.vec", "hf://a/b"])
def test_address_raises_with_advice_to_download(address):
    with refused(EmbeddingError, f"'{address}' address Download"):
        bb.open_embedding(address)
    with refused(WordListError, f"'{address}' address Download"):
        bb.load_wordlist(address)
    with refused(EmbeddingError, "address Download"):
        bb.open_embedding(Path(address))


def test_pipe_raises_with_advice_to_use_file():
    os.mkfifo("pipe")
    for source in ("pipe", Path("pipe"), "-", "/dev/null"):
        with refused(EmbeddingError, f"'{source}' pipe file"):
            bb.open_embedding(source)
        with refused(WordListError, f"'{source}' pipe file"):
            bb.load_wordlist(source)


def test_weat_command_raises_for_shell_pipe():
    Path("v.txt").write_text(as_lines(VECTORS))
    command = f"{sys.executable} -m bayes_bias weat weat7 --embedding <(cat v.txt)"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert run.returncode == 2
    assert "is a pipe" in run.stderr
    assert "did you mean" not in run.stderr


def test_encode_raises_for_model_address():
    problem = "'https://hub.example.org/bert' address" if find_spec("torch") else "torch install"
    with refused(LanguageModelError, problem):
        bb.language_models.encode(WORDS, "https://hub.example.org/bert", None)
