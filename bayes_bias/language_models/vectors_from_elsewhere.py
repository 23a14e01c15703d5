"""Import vectors of sentences that were encoded on another machine, as an array with one row per sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings import format_records
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.format_base import PACKED, is_packed
from bayes_bias.embeddings.format_npz import ArrayHeader
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.embeddings.opening import sniff
from bayes_bias.embeddings.records import IDS, TEXTS
from bayes_bias.embeddings.saving import check_vectors_path
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import refuse_pipe_or_address, whole_file
from bayes_bias.language_models.encoding import KIND
from bayes_bias.spreadsheets import is_spreadsheet

_COLUMNS = ("word", "template", "sentence")


def embedding_from_sentences(rows: pd.DataFrame, vectors: ArrayLike, *, name: str = "sentences") -> Embedding:
    """Create an embedding from vectors of sentences that were encoded on another machine.

    Parameters
    ----------
    rows : pandas.DataFrame
        Output of `bayes-bias sentences` (or `sentences_to_encode`), with a word, a template and a sentence in each row.
    vectors : array (rows, dimensions)
        The vector of each row, in the order of the rows.
    name : str
        The name of the embedding in tables. Its `replicates` are the templates.

    Raises
    ------
    EmbeddingError
        If the numbers of vectors and rows differ, if values are not finite, or if a word is missing in a template.

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_bias.language_models.encoding import sentences_to_encode
    >>> rows = sentences_to_encode("weat6", "noun-10")
    >>> embedding_from_sentences(rows, np.random.default_rng(1).normal(size=(len(rows), 8)), name="mine").text
    'mine, 8 dimensions x 10 templates, vectors of 320 sentences'
    """
    words, labels, array = _arrange_by_template(rows, vectors)
    has_replicates = len(labels) > 1
    vectors_of_words = list(np.moveaxis(array, 0, 1) if has_replicates else array[0])
    reader = MemoryReader(words, vectors_of_words, array.shape[2])
    return Embedding(name, f"vectors of {len(rows)} sentences", reader, tuple(labels) if has_replicates else (), KIND)


def save_sentence_vectors(
    rows: pd.DataFrame, vectors: ArrayLike | str | Path, path: str | Path, *, overwrite: bool = False
) -> str:
    """Write the vectors of sentences as an ``.npz`` for `open_embedding`, and return a description.

    `vectors` is an array, or the path of a NumPy file (``.npy``) or of a JSON, JSON lines, Parquet, or CSV file. In
    these files, each vector has an ``id`` or its sentence, as in the output of embedding services, so the order does
    not matter.

    Raises
    ------
    EmbeddingError
        If a sentence has no vector, or two. See also `embedding_from_sentences`.
    """
    path = check_vectors_path(path, overwrite)
    if path.suffix != ".npz":
        raise EmbeddingError(f"`path` must end in .npz for vectors of sentences, but is '{path}'. Change its ending.")
    array = _read(rows, Path(vectors)) if isinstance(vectors, str | Path) else vectors
    words, labels, arranged = _arrange_by_template(rows, array)
    with whole_file(path, overwrite) as unfinished:
        np.savez_compressed(
            unfinished, words=np.array(words, dtype=str), templates=np.array(labels, dtype=str), vectors=arranged
        )
    return f"{len(words)} words in {len(labels)} templates, {arranged.shape[2]} dimensions, are in {path}"


def _read(rows: pd.DataFrame, file: Path) -> ArrayLike:
    """Read the vectors of a file in the order of the rows, which are the sentences.

    An array must already have this order. In JSON, Parquet, or CSV (`read_records`), each vector has an id or its
    sentence, by which it is found. An error is raised if a row has no vector, if an id has several vectors, or if a
    sentence has several different ones.
    """
    refuse_pipe_or_address(file, "vectors", EmbeddingError)
    if not file.is_file():
        raise EmbeddingError(f"File not found: '{file}'. Pass the file with the vectors of the sentences.")
    if sniff(file) is not format_records.FORMAT and not is_spreadsheet(file.name):
        return _load(file)
    _check_rows(rows)
    records = format_records.read_records(file)
    column, keys_of_vectors = _matching_columns(rows, records.beside, file)
    keys_of_rows = rows[column].astype(str)
    if (lacking := keys_of_rows[~keys_of_rows.isin(keys_of_vectors)]).size:
        raise EmbeddingError(
            f"'{file}' lacks the vectors of {len(lacking)} of {len(rows)} sentences, for example {column}"
            f" '{lacking.iloc[0]}'. Request them again."
        )
    first_position: dict[str, int] = {}
    for position, key in enumerate(keys_of_vectors):
        first = first_position.setdefault(key, position)
        is_same = np.array_equal(records.vectors[first], records.vectors[position], equal_nan=True)
        if first != position and (column == "id" or not is_same):
            raise EmbeddingError(f"'{file}' contains the {column} '{key}' more than once. Keep it once.")
    return records.vectors[[first_position[key] for key in keys_of_rows]]


def _matching_columns(rows: pd.DataFrame, beside: pd.DataFrame, file: Path) -> tuple[str, "pd.Series[str]"]:
    """Return the name of a column of the rows, "id" or "sentence", and the matching column of a file.

    `beside` has the columns of the file beside the vectors. Every column with a known name (`IDS`, `TEXTS`) is compared
    with the ids and with the sentences of the rows, and the pair of columns with which most rows are found is used.
    """
    pairs = []
    for column in ("id", "sentence"):
        for name in (*IDS, *TEXTS):
            if name in beside and column in rows:
                pairs.append((column, beside[name].astype(str)))
    if not pairs:
        raise EmbeddingError(
            f"'{file}' must contain the id of each sentence ({', '.join(IDS)}) or its text ({', '.join(TEXTS)}), but"
            f" its other columns are {', '.join(map(str, beside)) or 'none'}. Rename a column, or add one."
        )
    return max(pairs, key=lambda pair: rows[pair[0]].astype(str).isin(pair[1]).sum())


def _load(file: Path) -> NDArray[Any]:
    """Return the array in a NumPy file, which is mapped into memory after its header was checked."""
    try:
        with file.open("rb") as stream:
            ArrayHeader.read(stream)
        # Map the file into memory, so that the size in its header is compared with the file before memory is allocated.
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise EmbeddingError(f"'{file}' is not a NumPy file of numbers: {error}. Write it with np.save.") from error


def _arrange_by_template(rows: pd.DataFrame, vectors: ArrayLike) -> tuple[list[str], list[str], NDArray[np.float32]]:
    """Return words, templates, and the vectors (template, word, dimension).

    `vectors` has a row for each of the `rows`, which are the sentences with their word and template, in any order. They
    are brought into the order of all words in the first template, all words in the second, and so on (`required`). An
    error is raised unless every word occurs once in each template.
    """
    _check_rows(rows)
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != len(rows) or array.dtype.kind not in "fiu":
        raise EmbeddingError(
            f"`vectors` must contain numbers of the shape ({len(rows)}, d), with a row for each sentence in order, but"
            f" has the shape {array.shape} of {array.dtype}. Encode all sentences."
        )
    if is_packed(array.dtype):
        raise EmbeddingError(f"`vectors` ({array.dtype}) are {PACKED}. Encode with precision='float32'.")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise EmbeddingError(
            f"`vectors` must contain finite numbers, but row {int(finite.argmin()) + 1},"
            f" '{rows.sentence.iloc[int(finite.argmin())]}', has other values. Encode it again with float32."
        )
    texts = rows[["template", "word"]].astype(str)
    words = texts["word"].unique().tolist()
    labels = texts["template"].unique().tolist()
    present = pd.MultiIndex.from_frame(texts)  # (template, word) of each row
    required = pd.MultiIndex.from_product([labels, words])
    if present.has_duplicates or len(present) != len(required):
        repeated_or_missing = [*present[present.duplicated()], *required.difference(present, sort=False)]
        _, odd_word = repeated_or_missing[0]
        raise EmbeddingError(
            f"`sentences` must contain every word once in each template, but '{odd_word}' is missing or"
            f" repeated ({len(rows)} rows of {len(words)} words in {len(labels)} templates). Correct the rows."
        )
    arranged = array[present.get_indexer(required)].reshape(len(labels), len(words), -1)
    return words, labels, arranged.astype(np.float32)


def _check_rows(rows: pd.DataFrame) -> None:
    """Raise an error unless `rows` is a frame with the columns of sentences: word, template, and sentence."""
    problem = "not a DataFrame. Read the output of `bayes-bias sentences` with pandas.read_csv."
    check_kind("sentences", rows, pd.DataFrame, problem, EmbeddingError)
    missing = [column for column in _COLUMNS if column not in rows]
    if missing:
        raise EmbeddingError(
            f"`sentences` has no column {', '.join(missing)}. Pass the output of `bayes-bias sentences`."
        )
