"""Nothing that a file can hold ends in a wrong number, a crash or a claim on all memory."""

import io
import tracemalloc
import zipfile
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from numpy.lib import format as npy

from bayes_bias import cosines, open_embedding
from bayes_bias.embeddings.embedding import near_spellings
from bayes_bias.errors import EmbeddingError
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from tests.helpers import as_lists, refused, says

WORDS = ["he", "she", "nurse"]
VECTORS = np.arange(1, 10, dtype=np.float32).reshape(3, 3)


def archive(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{"words": np.array(WORDS), "vectors": VECTORS, **arrays})
    return buffer.getvalue()


def claiming(shape: tuple[int, ...], data: bytes = b"", name: str = "vectors", dtype: str = "<f4") -> bytes:
    """An archive with an array whose header claims this shape."""
    header = io.BytesIO()
    npy.write_array_header_2_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    buffer = io.BytesIO(archive())
    whole = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            content = header.getvalue() + data if member == f"{name}.npy" else old.read(member)
            new.writestr(member, content)
    return whole.getvalue()


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def opened(tmp_path, content: bytes, name: str = "v.npz"):
    (tmp_path / name).write_bytes(content)
    return open_embedding(tmp_path / name)


def vectors_or_line(tmp_path, content: bytes) -> dict[str, np.ndarray] | str:
    try:
        return opened(tmp_path, content).all()
    except EmbeddingError as error:
        return str(error)


@pytest.mark.parametrize("at", range(0, len(archive()), 7))
def test_file_with_flipped_byte_is_read_or_raises_embedding_error(tmp_path, at):
    outcome = vectors_or_line(tmp_path, flipped(archive(), at))
    if isinstance(outcome, str):
        assert "v.npz" in outcome
    else:
        np.testing.assert_array_equal(list(outcome.values()), VECTORS)


CLAIMS = {
    "more floats than the member has": (claiming((3, 500_000_000)), "v.npz `vectors` 500000000"),
    "long words": (claiming((3,), name="words", dtype="<U500000000"), "v.npz `words` U500000000"),
    "words longer than any": (claiming((3,), name="words", dtype="<U2000000000"), "v.npz damaged"),
    "a negative shape": (claiming((3, -3)), "v.npz `vectors` -3"),
}


@pytest.mark.parametrize(("content", "message"), CLAIMS.values(), ids=CLAIMS)
def test_npz_raises_for_invalid_claimed_size(tmp_path, content, message):
    with refused(EmbeddingError, message):
        opened(tmp_path, content)


def test_npz_raises_for_archive_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("bayes_bias.embeddings.format_npz._LARGE", 1 << 20)
    bomb = claiming((3, 1_000_000), bytes(12_000_000))
    assert len(bomb) < 12_000_000 / 200
    with refused(EmbeddingError, "v.npz 12,000,316 trust=True"):
        opened(tmp_path, bomb)


def long_header(length: int, padding: bytes = b"") -> bytes:
    """An array whose header claims so many bytes."""
    return b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little") + b"{'descr': '<f4'" + padding


def archive_of(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def test_long_header_raises_without_allocating_memory(tmp_path):
    (tmp_path / "rows.npy").write_bytes(long_header(0x6000_0000))
    (tmp_path / "v.npz").write_bytes(archive_of(words=long_header(1 << 24, b" " * (1 << 24)), vectors=b""))
    rows = pd.DataFrame({"word": ["he"], "template": ["t"], "sentence": ["He."]})
    tracemalloc.start()
    with refused(EmbeddingError, "rows.npy NumPy"):
        save_sentence_vectors(rows, tmp_path / "rows.npy", tmp_path / "out.npz")
    with refused(EmbeddingError, "v.npz damaged"):
        open_embedding(tmp_path / "v.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 23


POOLS = {
    "pickled pool": ({"pool": np.array([True, 1, None], dtype=object)}, "`pool` object bool"),
    "short pool": ({"pool": np.array([True])}, "`pool` (1,) (3,)"),
    "pool of words": ({"pool": np.array(WORDS)}, "`pool` bool"),
    "pickled seeds": (
        {"vectors": np.ones((2, 3, 3)), "seeds": np.array(["a", "b"], dtype=object)},
        "`seeds` object text",
    ),
}


@pytest.mark.parametrize(("arrays", "message"), POOLS.values(), ids=POOLS)
def test_npz_raises_for_invalid_pool_or_seeds(tmp_path, arrays, message):
    with refused(EmbeddingError, message):
        opened(tmp_path, archive(**arrays))


HEADERS = {
    "400 digits, binary": (b"3 " + b"9" * 400 + b"\nhe \x00\x01", "v.bin 1,000,000"),
    "400 digits, text": (b"1 " + b"9" * 400 + b"\nhe 1 2\n", "v.bin 1,000,000"),
    "a billion, binary": (b"3 1000000000\nhe \x00\x01", "v.bin 1000000000"),
}


@pytest.mark.parametrize(("content", "message"), HEADERS.values(), ids=HEADERS)
def test_open_embedding_raises_for_excessive_dimensions_in_header(tmp_path, content, message):
    with refused(EmbeddingError, message):
        opened(tmp_path, content, "v.bin")


@pytest.mark.parametrize("header", ["", "2 3\n"])
def test_open_embedding_ignores_byte_order_mark(tmp_path, header):
    text = f"\ufeff{header}he 1 2 3\nshe 4 5 6\n".encode()
    assert as_lists(opened(tmp_path, text, "v.vec").all()) == {"he": [1, 2, 3], "she": [4, 5, 6]}


@pytest.mark.parametrize("header", ["", "2 3\n"])
def test_open_embedding_warns_about_cut_last_number(tmp_path, header, caplog):
    whole = f"{header}he 1 2 3.25\nshe 4 5 6.25\n"
    assert opened(tmp_path, whole.encode(), "whole.vec").all()["she"][-1] == 6.25
    assert not caplog.records
    assert opened(tmp_path, whole[:-3].encode(), "cut.vec").all()["she"][-1] == 6
    (record,) = caplog.records
    assert says(record.getMessage(), "cut.vec line last size")


def test_find_matches_composed_and_decomposed_accents():
    stored, wanted = normalize("NFD", "caf\u00e9"), normalize("NFC", "caf\u00e9")
    embedding = open_embedding({stored: [1.0, 2.0], "tea": [2.0, 1.0]})
    assert embedding.find([wanted])[wanted].tolist() == [1, 2]
    assert list(embedding.excerpt([wanted]).all()) == [wanted]


def test_coverage_contains_nearest_spellings_of_missing_words():
    vectors = {"he": [1, 0], "she": [0, 1], "competent": [1, 1], "nurse": [1, 2], "nurses": [2, 1]}
    words = {
        "groups": {"men": ["he"], "women": ["she"]},
        "classes": {"able": ["competant", "competent"], "care": ["Nurse", "nurses", "nurse"]},
        "stereotypes": {"men": "able", "women": "care"},
    }
    table = cosines(words, vectors, controls=(), allow_loss=True)
    assert table.coverage.set_index("name").variants.to_dict() == {
        "men": "",
        "women": "",
        "able": "competant: competent",
        "care": "Nurse: nurse",
    }
    assert "competant (but: competent)" in " ".join(table.notices)
    assert near_spellings(["axe"], ["are", "age"]) == {}
