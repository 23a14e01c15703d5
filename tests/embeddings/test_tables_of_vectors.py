"""Tables and JSON of vectors: each word is read with its own vector, or one line has a remedy that works."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.embeddings.embedding import near_spellings
from bayes_bias.errors import EmbeddingError
from bayes_bias.language_models.encoding import sentences_to_encode
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from tests.embeddings.test_vectors_as_people_have_them import TRUE, VECTORS, WORDS, biases, json_lines
from tests.helpers import as_lines, as_lists, refused, stacked

LISTS = as_lists(VECTORS)
FRAME = pd.DataFrame({"text": list(LISTS), "embedding": list(LISTS.values())})
WIDE = pd.DataFrame(VECTORS).T
RNG = np.random.default_rng(7)
# Five rows for each word; their means are `MEANS`.
OCCURRENCES = pd.DataFrame(
    [
        {"word": word, "sentence": f"{word} in sentence {k}", "vector": (vector + RNG.normal(size=5)).tolist()}
        for word, vector in VECTORS.items()
        for k in range(5)
    ]
)
MEANS = {word: np.mean(rows.vector.to_list(), axis=0) for word, rows in OCCURRENCES.groupby("word")}


JSON = {
    "pairs": [[word, vector] for word, vector in LISTS.items()],
    "flat pairs": [[word, *vector] for word, vector in LISTS.items()],
    "object": LISTS,
    "object under a key": {"model": "m", "size": 5, "vectors": LISTS},
    "parallel lists": {"words": list(LISTS), "vectors": list(LISTS.values()), "dimension": 5},
    "parallel lists of a service": {"texts": list(LISTS), "embeddings": {"float": list(LISTS.values())}},
    "columns of pandas": json.loads(FRAME.to_json(double_precision=15)),
    "index of pandas": json.loads(FRAME.set_index("text").to_json(double_precision=15)),
    "objects under words": {word: {"vector": vector, "count": 3} for word, vector in LISTS.items()},
    "values of pandas": json.loads(FRAME.to_json(orient="values", double_precision=15)),
    "rows of pandas": json.loads(FRAME.to_json(orient="index", double_precision=15)),
}


@pytest.mark.parametrize("layout", JSON)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_words_equals_vectors_in_memory(tmp_path, layout, indent):
    (tmp_path / "v.json").write_text(json.dumps(JSON[layout], indent=indent))
    assert np.array_equal(biases(tmp_path / "v.json"), TRUE)


@pytest.mark.parametrize("layout", ["pairs", "flat pairs"])
def test_json_lines_of_words_equal_vectors_in_memory(tmp_path, layout):
    (tmp_path / "v.jsonl").write_text(json_lines(JSON[layout]))
    assert np.array_equal(biases(tmp_path / "v.jsonl"), TRUE)


def test_open_embedding_keeps_brackets_as_words(tmp_path):
    (tmp_path / "v.txt").write_text('[ 0.1 0.2\n[" 0.3 0.4\n[["x 0.5 0.6\n')
    assert bb.open_embedding(tmp_path / "v.txt").vocabulary() == ["[", '["', '[["x']


def test_json_lines_keep_word_in_brackets(tmp_path):
    rows = [{"word": word, "vector": vector} for word, vector in {"[MASK]": [1.0, 2.0], **LISTS}.items()]
    rows[0]["vector"] = [0.5] * 5
    (tmp_path / "v.jsonl").write_text(json_lines(rows))
    assert np.array_equal(biases(tmp_path / "v.jsonl"), TRUE)


@pytest.mark.parametrize("rows", [list(LISTS.values()), LISTS["oak"]])
def test_json_without_words_raises_with_working_code(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    Path("v.json").write_text(json.dumps(rows))
    with refused(EmbeddingError, "v.json without words np.savez") as caught:
        bb.open_embedding("v.json")
    if isinstance(rows[0], list):
        exec(str(caught.value).split("`")[1], {"words": list(LISTS)})
        assert np.array_equal(biases("vectors.npz"), TRUE)


def test_json_raises_for_repeated_key(tmp_path):
    twice = json.dumps(LISTS)[:-1] + ', "oak": [1, 2, 3, 4, 5]}'
    (tmp_path / "v.json").write_text(twice)
    with refused(EmbeddingError, "v.json 'oak' twice different values"):
        bb.open_embedding(tmp_path / "v.json")


LIMITED = """
import resource, sys
import bayes_bias as bb
import pandas, scipy.spatial, sklearn.cluster
from bayes_bias.associations.lists import measure_lists
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + (300 << 20), resource.RLIM_INFINITY))
for path in sys.argv[1:]:
    try:
        bb.cosines("weat6", path, controls=())
    except ValueError as error:
        print(type(error).__name__, repr(str(error)[:300]))
"""


def test_long_words_raise_within_bounded_memory(tmp_path):
    contents = [
        '[["' + "x" * 250_000 + '", [0.5, 0.25]], ["he", [1, 0.5]]]',
        "x" * 9_000 + " 0.1 0.2\nhe 0.1 0.3\n",
        "[" + "0.123, " * 40_000 + "1]",
        "(" + "0.123, " * 40_000 + "1)",
    ]
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"v{number}")
        paths[-1].write_text(content)
    run = subprocess.run([sys.executable, "-c", LIMITED, *paths], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-500:]
    kinds = [line.split()[0] for line in run.stdout.splitlines()]
    assert len(kinds) == len(paths)
    assert set(kinds) <= {"CoverageError", "EmbeddingError"}


def test_near_spellings_ignore_long_words():
    assert near_spellings(["competant", "y" * 300], ["y" * 299, "competent"]) == {"competant": ("competent",)}


def test_open_embedding_reads_text_of_long_vectors(tmp_path):
    """A line of 12,288 numbers is longer than the bytes that tell the format."""
    vectors = {word: RNG.normal(size=12_288).round(6).astype(np.float32) for word in ("he", "she")}
    (tmp_path / "v.txt").write_text(as_lines(vectors))
    read = bb.open_embedding(tmp_path / "v.txt").all()
    np.testing.assert_array_equal(stacked(read, vectors), stacked(vectors, vectors))


# Several rows of a word.


def written(frame: pd.DataFrame, name: str) -> Path:
    path = Path(name)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False, sep=";" if "semicolons" in name else ",")
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl", double_precision=15)
    return path


FILES = ["v.jsonl", "v.json", "v.parquet", "v.csv", "semicolons.csv", "it's.jsonl"]


@pytest.mark.parametrize("name", FILES)
def test_row_per_occurrence_raises_with_working_mean(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = written(OCCURRENCES, name)
    with refused(EmbeddingError, f"{name} column 'word' 'oak' 5 rows different vectors 'sentence'") as caught:
        bb.open_embedding(path)
    exec(str(caught.value).split("`")[1])
    assert np.allclose(biases("means.parquet"), biases(MEANS), atol=1e-6)


@pytest.mark.parametrize("name", [*FILES, ""])
@pytest.mark.parametrize("column", ["template", "seed", "speaker"])
def test_rows_of_templates_raise_with_working_replicate_code(tmp_path, monkeypatch, name, column):
    monkeypatch.chdir(tmp_path)
    frame = OCCURRENCES.drop(columns="sentence").assign(**{column: [f"t{k % 5}" for k in range(len(OCCURRENCES))]})
    with refused(EmbeddingError, f"'oak' 5 rows '{column}' replicates") as caught:
        bb.open_embedding(written(frame, name) if name else frame)
    if not name:
        scope = {"bb": bb, "frame": frame}
        exec(str(caught.value).split("`")[3], scope)
    else:
        exec(str(caught.value).split("`")[3])
    replicated = bb.open_embedding("replicates.npz") if name else scope["replicates"]
    assert replicated.replicates == ("t0", "t1", "t2", "t3", "t4")
    expected = np.stack(OCCURRENCES[OCCURRENCES.word == "oak"].vector.to_list())
    assert np.allclose(replicated.find(["oak"])["oak"], expected, atol=1e-6)


def test_frame_with_occurrences_raises_with_working_mean():
    with refused(EmbeddingError, "column 'word' 'oak' 5 rows frame.groupby") as caught:
        bb.open_embedding(OCCURRENCES)
    means = eval(str(caught.value).split("`")[1], {"frame": OCCURRENCES, "np": np})
    assert np.allclose(biases(means), biases(MEANS), atol=1e-6)
    with refused(EmbeddingError, "index 'oak' 5 rows level=0"):
        bb.open_embedding(OCCURRENCES.set_index("word")[["vector"]].rename_axis(None))


def test_wide_frame_with_occurrences_raises_with_working_mean():
    frame = pd.DataFrame(OCCURRENCES.vector.to_list(), index=OCCURRENCES.word)
    with refused(EmbeddingError, "index 'oak' several rows frame.groupby") as caught:
        bb.open_embedding(frame)
    means = eval(str(caught.value).split("`")[1], {"frame": frame})
    assert np.allclose(biases(means), biases(MEANS), atol=1e-6)


def test_pairs_with_repeated_words_raise_with_working_mean():
    pairs = list(OCCURRENCES[["word", "vector"]].itertuples(index=False, name=None))
    with refused(EmbeddingError, "'oak' several pairs different vectors") as caught:
        bb.open_embedding(pairs)
    scope = {"pairs": pairs, "np": np, "pd": pd}
    first, second = str(caught.value).split("`")[1].split("; ")
    exec(first, scope)
    assert np.allclose(biases(eval(second, scope)), biases(MEANS), atol=1e-6)


def test_open_embedding_keeps_repeated_equal_vector_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for source in (written(pd.concat([FRAME, FRAME]), "v.jsonl"), pd.concat([FRAME, FRAME]), pd.concat([WIDE, WIDE])):
        assert np.array_equal(biases(source), TRUE)
        assert bb.open_embedding(source).vocabulary() == list(VECTORS)


def test_open_embedding_logs_column_of_words(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    written(OCCURRENCES.drop_duplicates("word"), "v.jsonl")
    bb.open_embedding("v.jsonl")
    assert "words are read from the column 'word', and not from 'sentence'" in caplog.text


@pytest.mark.parametrize(
    ("name", "content"),
    [("v.txt", f"{as_lines(LISTS)}oak 1 2 3 4 5\n"), ("v.vec", f"9 5\n{as_lines(LISTS)}oak 0 0 0 0 0\n")],
)
def test_open_embedding_warns_about_repeated_word_of_text(tmp_path, name, content, caplog):
    (tmp_path / name).write_text(content)
    table = bb.cosines(WORDS, tmp_path / name, controls=())
    assert np.array_equal(table.values.to_numpy().round(6), TRUE)
    assert any("'oak' has several rows" in notice and "first row" in notice for notice in table.notices)
    assert caplog.text.count("'oak' has several rows") == 1
    (tmp_path / name).write_text(content.replace("oak", "ash", 1).replace("oak", "ash"))
    caplog.clear()
    bb.open_embedding(tmp_path / name).find(["ash"])
    assert "'ash' has several rows" in caplog.text


def test_replicates_keep_first_vector_of_repeated_word(tmp_path, caplog):
    for name, more in (("a.txt", "he 9 9\n"), ("b.txt", "")):
        (tmp_path / name).write_text(f"he 1 0\nshe 0 1\n{more}")
    both = bb.open_embedding([tmp_path / "a.txt", tmp_path / "b.txt"], kind="seed")
    assert both.find(["he"])["he"].tolist() == [[1, 0], [1, 0]]
    assert "a: 'he' has several rows" in caplog.text


def test_open_embedding_omits_notice_for_repeated_equal_row(tmp_path, caplog):
    line = f"oak {' '.join(map(str, LISTS['oak']))}\n"
    (tmp_path / "v.txt").write_text(line + line)
    bb.open_embedding(tmp_path / "v.txt").all()
    assert "several rows" not in caplog.text


# Batches of embedding services.


def batch(vectors: dict[str, list[float]], **more) -> list[dict]:
    """As the batch interface of OpenAI writes them."""
    return [
        {
            "id": f"batch_req_{k:03d}",
            "custom_id": key,
            "response": {
                "status_code": 200,
                "request_id": "r",
                "body": {
                    "object": "list",
                    "data": [{"object": "embedding", "index": 0, "embedding": vector}],
                    "model": "m",
                    "usage": {"prompt_tokens": 2, "total_tokens": 2},
                },
            },
            "error": None,
            **more,
        }
        for k, (key, vector) in enumerate(vectors.items())
    ]


def failed(key: str) -> dict:
    body = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit"}}
    return {"id": "batch_req_x", "custom_id": key, "response": {"status_code": 429, "body": body}, "error": None}


EXPIRED = {"id": "y", "custom_id": "elm", "response": None, "error": {"code": "batch_expired", "message": "Too late"}}
SERVICES = {
    "OpenAI": batch(LISTS),
    "OpenAI without usage": [
        {**line, "response": {"body": {"data": line["response"]["body"]["data"]}}} for line in batch(LISTS)
    ],
    "OpenAI in another order": batch(LISTS)[::-1],
    "Gemini": [{"key": word, "response": {"embedding": {"values": vector}}} for word, vector in LISTS.items()],
    "a service that answers with the text": [
        {"id": k, "object": "embedding", "input": word, "embedding": vector, "usage": {"tokens": 1}}
        for k, (word, vector) in enumerate(LISTS.items())
    ],
}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("in_lines", [True, False])
def test_open_embedding_reads_batches_of_embedding_services(tmp_path, service, in_lines):
    content = SERVICES[service]
    (tmp_path / "b.jsonl").write_text(json_lines(content) if in_lines else json.dumps(content))
    assert np.array_equal(biases(tmp_path / "b.jsonl"), TRUE)


@pytest.mark.parametrize(("lost", "why"), [(failed("elm"), "Rate limit reached"), (EXPIRED, "Too late")])
def test_batch_with_failed_request_logs_word_and_reason(tmp_path, lost, why, caplog):
    answered = [line for line in batch(LISTS) if line["custom_id"] != "elm"]
    (tmp_path / "b.jsonl").write_text(json_lines([lost, *answered]))
    embedding = bb.open_embedding(tmp_path / "b.jsonl")
    assert embedding.vocabulary() == [word for word in LISTS if word != "elm"]
    assert f"1 of 8 objects have no vector: 'elm' ({why})" in caplog.text


def test_batch_raises_without_successful_requests(tmp_path):
    (tmp_path / "b.jsonl").write_text(json_lines([failed("oak"), failed("elm")]))
    with refused(EmbeddingError, "b.jsonl list none 2 objects Rate limit"):
        bb.open_embedding(tmp_path / "b.jsonl")


def test_json_lines_with_an_object_for_each_word_raise_with_one_object_as_remedy(tmp_path):
    (tmp_path / "v.jsonl").write_text(json_lines([{word: vector} for word, vector in LISTS.items()]))
    with refused(EmbeddingError, 'v.jsonl separate object {"he": [...], "she": [...]}'):
        bb.open_embedding(tmp_path / "v.jsonl")


def test_batch_raises_for_several_vectors_in_request(tmp_path):
    (first, *_), vectors = batch(LISTS), list(LISTS.values())
    first["response"]["body"]["data"] = [{"index": k, "embedding": vector} for k, vector in enumerate(vectors)]
    (tmp_path / "b.jsonl").write_text(json_lines([first]))
    with refused(EmbeddingError, "'custom_id' 'oak' 8 rows 'index' one text in each request"):
        bb.open_embedding(tmp_path / "b.jsonl")


def test_batch_raises_for_base64_vector(tmp_path):
    rows = [*batch(LISTS), *batch({"ash": "zczMPQ=="})]  # base64
    (tmp_path / "b.jsonl").write_text(json_lines(rows))
    with refused(EmbeddingError, "'ash' 'zczMPQ==' list of numbers encoding_format='float'"):
        bb.open_embedding(tmp_path / "b.jsonl")


@pytest.mark.parametrize("column", ["id", "sentence"])
def test_save_sentence_vectors_reads_batch_by_id_or_sentence(tmp_path, column):
    rows = sentences_to_encode("weat6", "noun-10")
    vectors = np.random.default_rng(3).normal(size=(len(rows), 4)).round(3)
    answered = dict(zip(rows[column], vectors.tolist(), strict=True))
    (tmp_path / "b.jsonl").write_text(json_lines(batch(answered)[::-1]))
    save_sentence_vectors(rows, tmp_path / "b.jsonl", tmp_path / "answered.npz")
    save_sentence_vectors(rows, vectors, tmp_path / "expected.npz")
    expected = bb.open_embedding(tmp_path / "expected.npz").find(["John"])["John"]
    assert np.array_equal(bb.open_embedding(tmp_path / "answered.npz").find(["John"])["John"], expected)


def test_save_sentence_vectors_raises_for_failed_request(tmp_path, caplog):
    rows = sentences_to_encode("weat6", "noun-10")
    answered = batch({key: [1.0, 2.0] for key in rows.id[1:]})
    (tmp_path / "b.jsonl").write_text(json_lines([failed(rows.id[0]), *answered]))
    with refused(EmbeddingError, "lacks 1 of 's00001'"):
        save_sentence_vectors(rows, tmp_path / "b.jsonl", tmp_path / "answered.npz")
    assert "'s00001' (Rate limit reached)" in caplog.text


def test_save_sentence_vectors_raises_for_repeated_sentence(tmp_path):
    rows = sentences_to_encode("weat6", "noun-10")
    answered = [{"text": text, "embedding": [1.0, k]} for k, text in enumerate([*rows.sentence, rows.sentence[0]])]
    (tmp_path / "b.jsonl").write_text(json_lines(answered))
    with refused(EmbeddingError, "sentence more than once"):
        save_sentence_vectors(rows, tmp_path / "b.jsonl", tmp_path / "answered.npz")
