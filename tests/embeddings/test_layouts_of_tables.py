"""Tables of vectors in the layouts that other programs write."""

import re
from itertools import chain

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines, open_embedding
from bayes_bias.errors import EmbeddingError
from tests.helpers import refused

WORDS = {
    "trees=soft": ["oak", "elm", "prime tree"],
    "rocks=hard": ["slate", "flint", "null"],
    "soft": ["wool", "silk", "1984"],
    "hard": ["iron", "tin", "NA"],
}
SINGLE = {name: [word.replace(" ", "_") for word in words] for name, words in WORDS.items()}
D = 7


def vectors_of(words) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {word: rng.normal(size=D).round(6) for word in chain(*words.values())}


def biases(source, words=WORDS) -> np.ndarray:
    return cosines(words, source, controls=()).values.to_numpy().round(5)


FRAME = pd.DataFrame.from_dict(vectors_of(WORDS), orient="index")
TRUE = biases(vectors_of(WORDS))

CSV = {
    "as pandas writes it": {},
    "headings of columns": {"header": [f"v{k}" for k in range(D)], "index_label": "word"},
    "without headings": {"header": False},
    "semicolons and decimal commas": {"sep": ";", "decimal": ","},
    "tabs and decimal commas": {"sep": "\t", "decimal": ","},
    "tabs without headings": {"sep": "\t", "header": False},
    "all quoted": {"quoting": 1},
    "semicolons, quoted, with another name": {"sep": ";", "quoting": 1, "index_label": "Term"},
    "scientific numbers": {"float_format": "%.8e"},
    "Windows line ends": {"lineterminator": "\r\n"},
}


@pytest.mark.parametrize("kind", CSV)
@pytest.mark.parametrize("name", ["v.csv", "v.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_open_embedding_reads_table_with_column_for_each_number(tmp_path, kind, name, encoding):
    FRAME.to_csv(tmp_path / name, encoding=encoding, **CSV[kind])
    assert np.array_equal(biases(tmp_path / name), TRUE)
    assert open_embedding(tmp_path / name).vocabulary() == list(FRAME.index)


def blanks(rows, between=" ", quote="") -> str:
    lines = [between.join(f"{quote}{cell}{quote}" if is_text else str(cell) for cell, is_text in row) for row in rows]
    return "\n".join(lines) + "\n"


def r_rows(*, row_numbers=False, heading=(), quoted_numbers=False):
    rows = [[(name, True) for name in heading]] if heading else []
    for number, (word, vector) in enumerate(vectors_of(SINGLE).items(), 1):
        before = [(str(number), True)] if row_numbers else []
        rows.append([*before, (word, True), *((f"{value:.6f}", quoted_numbers) for value in vector)])
    return rows


NAMES = [f"V{k}" for k in range(1, D + 1)]
BLANKS = {
    "R's write.table": blanks(r_rows(heading=NAMES), quote='"'),
    "write.table without quotes": blanks(r_rows(heading=NAMES)),
    "write.table without names of columns": blanks(r_rows(), quote='"'),
    "write.table of cbind": blanks(
        r_rows(row_numbers=True, heading=["word", *[""] * D], quoted_numbers=True), quote='"'
    ),
    "write.table with row numbers": blanks(r_rows(row_numbers=True, heading=["word", *NAMES]), quote='"'),
    "id before the word": blanks(r_rows(row_numbers=True)),
    "id before the word, and a heading": blanks(r_rows(row_numbers=True, heading=["id", "word", *NAMES])),
    "two blanks": blanks(r_rows(), between="  "),
    "two blanks below a header": f"12 {D}\n" + blanks(r_rows(), between="  "),
    "tabs and blanks": blanks(r_rows(), between=" \t"),
    "headings": blanks(r_rows(heading=["word", *map(str, range(D))])),
}


@pytest.mark.parametrize("kind", BLANKS)
def test_open_embedding_reads_table_separated_by_blanks(tmp_path, kind):
    (tmp_path / "v.txt").write_text(BLANKS[kind])
    assert np.array_equal(biases(tmp_path / "v.txt", SINGLE), TRUE)
    assert open_embedding(tmp_path / "v.txt").dimensions == D


def test_open_embedding_reads_columns_of_other_numbers_beside_vectors(tmp_path):
    frame = FRAME.rename_axis("word").reset_index()
    frame.insert(1, "frequency", range(1000, 1012))
    frame.insert(0, "id", range(12))
    for name in ("v.csv", "v.parquet", "v.jsonl"):
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            write = frame.set_axis(list(map(str, frame)), axis=1)
            write.to_parquet(tmp_path / name) if "parquet" in name else write.to_json(
                tmp_path / name, orient="records", lines=True
            )
        embedding = open_embedding(tmp_path / name)
        assert embedding.dimensions == D
        assert np.array_equal(biases(embedding), TRUE)


@pytest.mark.parametrize("is_index", [True, False])
@pytest.mark.parametrize("name", ["v.parquet", "v.json", "v.jsonl"])
def test_open_embedding_reads_records_with_key_for_each_number(tmp_path, name, is_index):
    frame = FRAME.set_axis(list(map(str, FRAME)), axis=1)
    flat = frame.rename_axis("token").reset_index()
    if name == "v.parquet":
        (frame if is_index else flat).to_parquet(tmp_path / name)
    else:
        flat.to_json(tmp_path / name, orient="records", lines=name.endswith("l"))
    assert np.array_equal(biases(tmp_path / name), TRUE)
    assert np.array_equal(biases(flat), TRUE)


def two_texts(folder, **columns):
    frame = FRAME.rename_axis("title").reset_index()
    for position, (name, cells) in enumerate(columns.items()):
        frame.insert(position, name, cells)
    frame.to_csv(folder / "v.csv", index=False)
    return folder / "v.csv"


@pytest.mark.parametrize("columns", [{"heading": "Summary"}, {"language": "en", "source": "x"}, {"number": range(12)}])
def test_open_embedding_reads_only_varying_text_as_words(tmp_path, columns):
    assert np.array_equal(biases(two_texts(tmp_path, **columns)), TRUE)


@pytest.mark.parametrize("words_first", [True, False])
def test_open_embedding_prints_source_that_chooses_among_two_columns_of_text(tmp_path, words_first):
    path = two_texts(tmp_path, page=[f"page{k}" for k in range(12)])
    if words_first:
        frame = pd.read_csv(path, keep_default_na=False)
        frame[["title", "page", *frame.columns[2:]]].to_csv(path, index=False)
    with refused(EmbeddingError, "'title' 'page' 'oak' --embedding") as caught:
        open_embedding(path)
    (source,) = re.findall(r"embedding='(.*?)'", str(caught.value))
    assert source == f"{path}#{'title' if words_first else 'page'}"
    assert np.array_equal(biases(f"{path}#title"), TRUE)
    assert open_embedding(f"{path}#page").vocabulary()[:2] == ["page0", "page1"]


def test_open_embedding_reads_chosen_columns_of_files_of_every_kind(tmp_path):
    frame = FRAME.set_axis([f"v{k}" for k in range(D)], axis=1).rename_axis("lemma").reset_index()
    frame.insert(0, "word", [f"page{k}" for k in range(12)])
    frame.insert(1, "valence", np.linspace(0, 1, 12))
    frame["text"] = "x"
    lists = pd.DataFrame({"a": frame["word"], "b": frame["lemma"], "u": [[1.0, 2.0]] * 12, "v": [*FRAME.to_numpy()]})
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_csv(tmp_path / "v.txt", index=False, header=False, sep="\t")
    frame.to_parquet(tmp_path / "v.parquet")
    frame.to_json(tmp_path / "v.jsonl", orient="records", lines=True)
    lists.to_parquet(tmp_path / "lists.parquet")
    for chosen in (
        *(f"v.{kind}#lemma#v0..v6" for kind in ("csv", "parquet", "jsonl")),
        "v.txt#3#4..10",
        "lists.parquet#b#v",
    ):
        embedding = open_embedding(tmp_path / chosen)
        assert embedding.dimensions == D
        assert np.array_equal(biases(embedding), TRUE)
    assert np.array_equal(biases(tmp_path / "v.csv#lemma"), TRUE)
    (tmp_path / "v.csv").rename(tmp_path / "v#1.csv")
    assert np.array_equal(biases(tmp_path / "v#1.csv#lemma"), TRUE)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("v.csv#lema", "'lema' 'lemma'"),
        ("v.csv#lemma#v0..v9", "'v9' v6"),
        ("v.csv#lemma#v6..v0", "'v6..v0' first last"),
        ("v.csv#lemma#lemma..v3", "'lemma..v3' first last"),
        ("v.parquet#lemma#text..v3", "v.parquet row 1 list of numbers 'x'"),
        ("v.npz#lemma", "npz '#lemma'"),
    ],
)
def test_open_embedding_raises_for_columns_that_cannot_be_chosen(tmp_path, chosen, message):
    frame = FRAME.set_axis([f"v{k}" for k in range(D)], axis=1).rename_axis("lemma").reset_index()
    frame.insert(1, "text", "x")
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_parquet(tmp_path / "v.parquet")
    np.savez(tmp_path / "v.npz", words=np.array(["he", "she"]), vectors=np.eye(2))
    with refused(EmbeddingError, message):
        open_embedding(tmp_path / chosen).all()


def test_open_embedding_names_line_of_table_with_missing_number(tmp_path):
    FRAME.to_csv(tmp_path / "v.csv")
    lines = (tmp_path / "v.csv").read_text().splitlines()
    lines[12] = lines[12].replace(",", ",x", 1)
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")
    with refused(EmbeddingError, "v.csv line 13 number x"):
        open_embedding(tmp_path / "v.csv").all()
    lines[12] = "NA,1,2"
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")
    with refused(EmbeddingError, "v.csv line 13 7 values"):
        open_embedding(tmp_path / "v.csv").all()


def lines(rows) -> str:
    return "".join(f"{row}\n" for row in rows)


def joined(vector, between=" ") -> str:
    return between.join(map(str, vector))


# Layouts in public reports, each written here anew.
SPELT = vectors_of(SINGLE)
OTHERS = {
    "word and list": lines(f"{word} [{joined(vector, ', ')}]" for word, vector in SPELT.items()),
    "word, tab, and list of NumPy": lines(f"{word}\t[{joined(vector)}]" for word, vector in SPELT.items()),
    "vertical bars": lines(f"{word}|{joined(vector, '|')}" for word, vector in SPELT.items()),
    "numbers before the word": lines(f"{joined(vector)} {word}" for word, vector in SPELT.items()),
    "frequency after the word": lines(f"{word} {k + 900} {joined(v)}" for k, (word, v) in enumerate(SPELT.items())),
    "frequency below a header": f"12 {D}\n"
    + lines(f"{word} {k + 900} {joined(v)}" for k, (word, v) in enumerate(SPELT.items())),
    "label after the numbers": "word,"
    + joined(NAMES, ",")
    + ",label\n"
    + lines(f"{word},{joined(v, ',')},{'ab'[k % 2]}" for k, (word, v) in enumerate(SPELT.items())),
    "comment": "# trained by me\n" + lines(f"{word} {joined(vector)}" for word, vector in SPELT.items()),
    "mathematical minus": lines(f"{word} {joined(v)}".replace("-", "\u2212") for word, v in SPELT.items()),
    "words of blanks": f"14 {D}\n"
    + lines(
        [f"  {joined(np.ones(D))}", f"\u00a0 {joined(np.ones(D))}"]
        + [f"{word} {joined(vector)}" for word, vector in SPELT.items()]
    ),
    "words with blanks": lines(
        [f". . . {joined(np.ones(D))}", f"at name@domain.com {joined(np.ones(D))}"]
        + [f"{word} {joined(vector)}" for word, vector in SPELT.items()]
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_open_embedding_reads_layouts_of_public_reports(tmp_path, kind):
    (tmp_path / "v.txt").write_text(OTHERS[kind])
    assert open_embedding(tmp_path / "v.txt").dimensions == D
    assert np.array_equal(biases(tmp_path / "v.txt", SINGLE), TRUE)


@pytest.mark.parametrize("heading", ["d", "", "vector_"])
def test_open_embedding_raises_if_text_separates_columns_of_vectors(tmp_path, heading):
    """A number with a comma of thousands in each row, as Excel writes it."""
    headings = ",".join(f"{heading}{k}" for k in range(D))
    rows = [",".join(['"1,028.5"' if k == 3 else str(x) for k, x in enumerate(v)]) for v in SPELT.values()]
    table = "".join(f"{word},{row}\n" for word, row in zip(SPELT, rows, strict=True))
    (tmp_path / "v.csv").write_text(f"word,{headings}\n{table}")
    with refused(EmbeddingError, f"the column '{heading}3' belongs to the vectors, but '1,028.5' is not a number"):
        open_embedding(tmp_path / "v.csv")
    (tmp_path / "v.csv").write_text(f"word,{headings}\n{table}".replace('"1,028.5"', "1028.5"))
    assert open_embedding(tmp_path / "v.csv").dimensions == D


def test_open_embedding_logs_columns_that_are_not_read(tmp_path, caplog):
    (tmp_path / "v.txt").write_text(OTHERS["frequency after the word"])
    open_embedding(tmp_path / "v.txt")
    assert "words are read from column 1, and the columns 2 are not read" in caplog.text


@pytest.mark.parametrize("orient", ["index", "columns", "split"])
def test_open_embedding_reads_json_of_pandas(tmp_path, orient):
    FRAME.to_json(tmp_path / "v.json", orient=orient)
    assert np.array_equal(biases(tmp_path / "v.json"), TRUE)


@pytest.mark.parametrize(
    "content",
    [
        lines(f"{word} {' '.join(f'{k}:{x}' for k, x in enumerate(v))}" for word, v in SPELT.items()),  # sparse
        joined(SPELT, ",") + "\n" + lines(joined(column, ",") for column in zip(*SPELT.values(), strict=True)),
    ],
)
def test_open_embedding_rejects_other_tables(tmp_path, content):
    (tmp_path / "v.txt").write_text(content)
    with refused(EmbeddingError, "v.txt word values"):
        open_embedding(tmp_path / "v.txt")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("title", ["page 0", '"page 0"', "page 0\n", "page 0{marks}"])
def test_open_embedding_reads_table_below_title(tmp_path, caplog, mark, title):
    table = FRAME.to_csv(sep=mark, index_label="word")
    (tmp_path / "v.csv").write_text(f"{title.format(marks=mark * D)}\n{table}")
    assert np.array_equal(biases(tmp_path / "v.csv"), TRUE)
    assert open_embedding(tmp_path / "v.csv").vocabulary() == list(FRAME.index)
    assert "the first row 'page 0' is read as a title, and the next row as the headings" in caplog.text


@pytest.mark.parametrize("first", ["page 0", "oak", "oak,0.5"])
def test_open_embedding_raises_for_short_first_row_without_headings(tmp_path, first):
    (tmp_path / "v.csv").write_text(f"{first}\n{FRAME.to_csv(header=False)}")
    with refused(EmbeddingError, "v.csv If the first line is a title, remove it: `sed 1d"):
        open_embedding(tmp_path / "v.csv").vocabulary()


def test_open_embedding_reads_headings_below_header_of_word2vec(tmp_path):
    (tmp_path / "v.txt").write_text(f"12 {D}\n{blanks(r_rows(heading=['word', *NAMES]))}")
    assert np.array_equal(biases(tmp_path / "v.txt", SINGLE), TRUE)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_open_embedding_reads_single_quotation_mark_as_word(tmp_path, mark):
    lines = FRAME.to_csv(sep=mark, header=False).splitlines()
    (tmp_path / "v.txt").write_text("\n".join([*lines[:3], mark.join(['"', *["0.5"] * D]), *lines[3:], ""]))
    assert np.array_equal(biases(tmp_path / "v.txt"), TRUE)
    assert '"' in open_embedding(tmp_path / "v.txt").vocabulary()


def test_sparse_vectors_raise_with_code_that_keeps_their_cosines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sparse = {word: np.where(np.arange(D) % 2, vector, 0) for word, vector in vectors_of(SINGLE).items()}
    rows = [f"{word} {' '.join(f'{k}:{v[k]}' for k in range(1, D, 2))}" for word, v in sparse.items()]
    (tmp_path / "v.txt").write_text("\n".join(["12 7", *rows, ""]))
    with refused(EmbeddingError, "v.txt sparse vectors `import numpy") as caught:
        open_embedding("v.txt")
    exec(str(caught.value).split("`")[1], {"words": list(sparse)})
    assert np.array_equal(biases("vectors.npz", SINGLE), biases(sparse, SINGLE))


@pytest.mark.parametrize("line", ["oak\ttensor([0.5, 0.25])", "oak: array([0.5, 0.25])"])
def test_open_embedding_names_text_of_arrays(tmp_path, line):
    (tmp_path / "v.txt").write_text(f"{line}\n" * 3)
    with refused(EmbeddingError, "v.txt text of vectors as Python prints them np.savez"):
        open_embedding(tmp_path / "v.txt")
