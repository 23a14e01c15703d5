"""Vectors as people have them: read as they are, or one line with a remedy that works."""

import gzip
import json
import pickle
import subprocess
import tarfile
import time
import zipfile
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines, load_wordlist, open_embedding
from bayes_bias.associations.lists import measure_lists
from bayes_bias.errors import CoverageError, EmbeddingError
from tests.helpers import as_lines, refused

WORDS = {
    "trees=soft": ["oak", "elm"],
    "rocks=hard": ["slate", "flint"],
    "soft": ["wool", "silk"],
    "hard": ["iron", "tin"],
}
VECTORS = {word: np.round(np.random.default_rng(k).normal(size=5), 3) for k, word in enumerate(chain(*WORDS.values()))}
RECORDS = [{"text": word, "embedding": vector.tolist()} for word, vector in VECTORS.items()]
FRAME = pd.DataFrame(RECORDS)


def biases(source, **options):
    return cosines(WORDS, source, controls=(), **options).values.to_numpy().round(6)


TRUE = biases(VECTORS)


def text(first: str = "", between: str = " ", after: str = " ", quote: str = "", number: bool = False) -> str:
    return "".join(
        f"{f'{k} ' if number else ''}{quote}{first}{word}{quote}{after}{between.join(map(str, vector))}\n"
        for k, (word, vector) in enumerate(VECTORS.items())
    )


def json_lines(rows) -> str:
    return "\n".join(map(json.dumps, rows))


def answers(rows=RECORDS) -> list[dict]:
    """As batches of an embedding service are answered, in another order."""
    made = []
    for row in rows[::-1]:
        vector = {"embedding": row["embedding"], "index": 0, "object": "embedding"}
        body = {"data": [vector], "model": "m"}
        made.append({"custom_id": row["text"], "response": {"status_code": 200, "body": body}})
    return made


READ = {
    "tab after the word.txt": text(after="\t"),
    "tabs.tsv": text(after="\t", between="\t"),
    "header and tabs.vec": "8 5\n" + text(after="\t", between="\t"),
    "texts.jsonl": json_lines(RECORDS),
    "texts in another order.jsonl": json_lines(RECORDS[::-1]),
    "array.json": json.dumps(RECORDS, indent=1),
    "object.json": json.dumps({"object": "list", "data": RECORDS}),
    "words and ids.jsonl": json_lines(
        [{"id": k, "word": r["text"], "vector": r["embedding"]} for k, r in enumerate(RECORDS)]
    ),
    "batch.jsonl": json_lines(answers()),
    "lists.csv": FRAME.to_csv(index=False),
    "lists with row numbers.csv": FRAME.to_csv(),
    "arrays of NumPy.csv": FRAME.assign(embedding=list(VECTORS.values())).to_csv(index=False),
    "lists of NumPy's numbers.csv": FRAME.assign(embedding=list(map(list, VECTORS.values()))).to_csv(index=False),
    "semicolons.csv": FRAME.to_csv(index=False, sep=";"),
}


@pytest.mark.parametrize("name", READ)
def test_open_embedding_reads_common_text_layouts(tmp_path, name):
    (tmp_path / name).write_text(READ[name])
    assert np.array_equal(biases(tmp_path / name), TRUE)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(READ[name].encode()))
    if not name.endswith(".csv"):
        assert np.array_equal(biases(tmp_path / f"{name}.gz"), TRUE)


def test_open_embedding_reads_parquet_frames_and_pairs(tmp_path):
    FRAME.to_parquet(tmp_path / "v.parquet")
    FRAME.set_index("text").to_parquet(tmp_path / "index.parquet")
    pairs = list(VECTORS.items())
    for source in (
        tmp_path / "v.parquet",
        tmp_path / "index.parquet",
        FRAME,
        FRAME.set_index("text"),
        FRAME.assign(embedding=list(VECTORS.values())),
        pairs,
        [*pairs, ("oak", VECTORS["oak"])],  # the same again
        tuple(map(list, pairs)),
    ):
        assert np.array_equal(biases(source), TRUE)


def test_measure_lists_reads_pairs_of_word_and_vector():
    table = measure_lists(load_wordlist(WORDS), list(VECTORS.items()), controls=())[0]
    assert np.array_equal(table.values.to_numpy().round(6), TRUE)


@pytest.mark.parametrize("content", [VECTORS, list(VECTORS.items()), FRAME, pd.DataFrame(VECTORS).T])
@pytest.mark.parametrize("protocol", [2, 5])
def test_open_embedding_reads_pickle_only_with_trust(tmp_path, content, protocol):
    (tmp_path / "v.pkl").write_bytes(pickle.dumps(content, protocol))
    assert np.array_equal(biases(tmp_path / "v.pkl", trust=True), TRUE)
    with refused(EmbeddingError, "v.pkl trust=True --trust"):
        open_embedding(tmp_path / "v.pkl")


def histwords(folder: Path) -> Path:
    zeros = {"unseen": np.zeros(5)}
    np.save(folder / "1990-w.npy", np.stack([*zeros.values(), *VECTORS.values()]))
    (folder / "1990-vocab.pkl").write_bytes(pickle.dumps([*zeros, *VECTORS], 2))
    return folder / "1990-w.npy"


def test_histwords_files_omit_zero_words(tmp_path):
    path = histwords(tmp_path)
    assert np.array_equal(biases(path, trust=True), TRUE)
    assert open_embedding(path, trust=True).vocabulary() == list(VECTORS)
    with refused(EmbeddingError, "1990-vocab.pkl trust=True"):
        open_embedding(path)
    path.rename(tmp_path / "alone.npy")
    with refused(EmbeddingError, "alone.npy without words np.savez 1990-vocab.pkl"):
        open_embedding(tmp_path / "alone.npy")
    np.savez(tmp_path / "vectors.npz", words=["unseen", *VECTORS], vectors=np.load(tmp_path / "alone.npy"))
    assert np.array_equal(biases(tmp_path / "vectors.npz"), TRUE)


def packed(folder: Path, kind: str) -> Path:
    (folder / "glove.50d.txt").write_text(text())
    path = folder / f"glove.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(folder / "glove.50d.txt", "glove.50d.txt")
    else:
        with tarfile.open(path, f"w:{kind.partition('.')[2]}") as archive:
            archive.add(folder / "glove.50d.txt", "glove.50d.txt")
    (folder / "glove.50d.txt").unlink()
    return path


@pytest.mark.parametrize(
    ("kind", "unpack"),
    [
        ("zip", ["python", "-m", "zipfile", "-e"]),
        ("tar", ["tar", "-xf"]),
        ("tar.gz", ["tar", "-xf"]),
        ("tar.bz2", ["tar", "-xf"]),
    ],
)
def test_open_embedding_raises_for_packed_archive(tmp_path, kind, unpack):
    path = packed(tmp_path, kind)
    with refused(EmbeddingError, f"{path.name} Unpack first"):
        open_embedding(path)
    subprocess.run([*unpack, path, *(["."] if kind == "zip" else [])], cwd=tmp_path, check=True)
    assert np.array_equal(biases(tmp_path / "glove.50d.txt"), TRUE)


@pytest.mark.parametrize("promised", [9, 65])
def test_wrong_header_raises_with_working_command(tmp_path, promised):
    (tmp_path / "a.vec").write_text(f"{promised} 5\n{text()}")
    with refused(EmbeddingError, f"states {promised} contains 8 sed") as caught:
        biases(tmp_path / "a.vec")
    subprocess.run(str(caught.value).split("`")[1], shell=True, cwd=tmp_path, check=True)
    assert np.array_equal(biases(tmp_path / "a.vec"), TRUE)


@pytest.mark.parametrize("prefix", ["/c/en/", "en:", "https://kb.example/"])
def test_word_prefix_raises_with_working_command(tmp_path, prefix):
    (tmp_path / "FILE").write_text(text(prefix))
    with refused(CoverageError, f"'{prefix}oak' 'oak' sed") as caught:
        biases(tmp_path / "FILE")
    command = str(caught.value).split("`")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert np.array_equal(biases(tmp_path / "plain.txt"), TRUE)


@pytest.mark.parametrize(
    ("content", "shown"), [(text(quote="'"), "''oak''"), (text().replace(" ", "\u200b ", 1), "oak<U+200B>")]
)
def test_coverage_error_shows_words_written_differently(tmp_path, content, shown):
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(CoverageError) as error:
        biases(tmp_path / "v.txt")
    assert shown in str(error.value)
    assert "'oak'" in str(error.value) or "oak (but" in str(error.value)


def test_gb18030_vectors_raise_with_working_command(tmp_path):
    chinese = dict(zip(VECTORS, ["木", "林", "石", "岩", "毛", "丝", "铁", "锡"], strict=True))
    lines = as_lines({chinese[word]: vector for word, vector in VECTORS.items()})
    (tmp_path / "FILE").write_bytes(lines.encode("gb18030"))
    words = {heading: list(map(chinese.get, english)) for heading, english in WORDS.items()}
    with refused(CoverageError, "not UTF-8 iconv GB18030") as caught:
        cosines(words, tmp_path / "FILE", controls=())
    command = str(caught.value).split("`")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert np.array_equal(cosines(words, tmp_path / "utf8.txt", controls=()).values.to_numpy().round(6), TRUE)


def test_open_embedding_keeps_words_such_as_nan_of_spreadsheet(tmp_path):
    frame = pd.DataFrame({**VECTORS, "nan": np.ones(5), "null": np.ones(5)}).T
    frame.to_csv(tmp_path / "v.csv")
    assert {"nan", "null"} <= set(open_embedding(tmp_path / "v.csv").vocabulary())
    with refused(EmbeddingError, "nan keep_default_na=False"):
        open_embedding(pd.read_csv(tmp_path / "v.csv", index_col=0))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json_lines([*RECORDS, {"text": "x", "embedding": [1.0]}]), "9 1 5 one model"),
        (json_lines([{"embedding": row["embedding"]} for row in RECORDS]), "no column word"),
        (json_lines([{"text": "a", "n": 1}]), "list numbers"),
        ('{"text": "a", "embedding": [1.0,', "neither valid JSON nor"),
        ('text,embedding\noak,"[0.1 ... 0.2]"\n', "row 1 list numbers"),
    ],
)
def test_open_embedding_raises_for_invalid_column_of_lists(tmp_path, content, words):
    (tmp_path / "v.csv").write_text(content)
    with refused(EmbeddingError, words):
        open_embedding(tmp_path / "v.csv")


def test_open_embedding_raises_for_language_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    for given in (str(tmp_path), "bert-base-uncased", "sentence-transformers/all-MiniLM-L6-v2"):
        with refused(EmbeddingError, "--encoder"):
            open_embedding(given)


@pytest.mark.parametrize(
    "content", ["a 0.1 0.2\n[ 0.3 0.4\n", "2 2\n[ 0.3 0.4\nb 1 2\n", "he " + "0.25 " * 10_000 + "1\n"]
)
def test_open_embedding_reads_unusual_text_within_second(tmp_path, content):
    (tmp_path / "v.txt").write_text(content)
    began = time.process_time()
    assert open_embedding(tmp_path / "v.txt").source == "v.txt (text)"
    assert time.process_time() - began < 1


def test_open_embedding_raises_for_one_long_word_within_second(tmp_path):
    (tmp_path / "v.txt").write_text("x" * 60_000)
    began = time.process_time()
    with refused(EmbeddingError, "v.txt"):
        open_embedding(tmp_path / "v.txt")
    assert time.process_time() - began < 1
