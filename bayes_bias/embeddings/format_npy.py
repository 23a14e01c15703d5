"""An array in a `.npy` file, with its words in another file next to it.

The words are in a Parquet or text file, or in HistWords' pickle: `1990-vocab.pkl` for `1990-w.npy`. A dict that np.save
wrote can be read as well. For other arrays, errors show how to convert them.
"""

import re
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np

from bayes_bias.arguments import all_are, kind_of
from bayes_bias.embeddings.format_base import PACKED, Format, is_packed
from bayes_bias.embeddings.format_gensim import check_trust, unpickled
from bayes_bias.embeddings.format_npz import ArrayHeader
from bayes_bias.embeddings.in_memory import MemoryReader, from_memory
from bayes_bias.embeddings.other_files import file_error, other_kind
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import read_parquet, read_text

_MAGIC = b"\x93NUMPY"
_ARRAY, _WORDS = "-w.npy", "-vocab.pkl"
# Extensions of files with words, and their names if they differ from the name of the array.
_INDEXES = (".parquet", ".txt", ".tsv", ".vocab")
_CALLED = re.compile(r"index|vocab|words|tokens|labels", re.IGNORECASE)


def open_npy(file: Traversable, trust: bool) -> MemoryReader:
    """Open an array with its words in a file next to it.

    In files of HistWords, this is a pickle whose name differs by its ending. For other arrays, it is a Parquet or text
    file (see `_index_beside`). An array of Python objects may contain words and vectors itself.

    Raises
    ------
    EmbeddingError
        If there is no file of words next to the array or more than one, if the file of words is not trusted, or if the
        array has the wrong shape.
    """
    path = Path(str(file))
    try:
        with path.open("rb") as stream:
            header = ArrayHeader.read(stream)
    except (OSError, ValueError) as error:
        raise file_error("damaged_array", path, ERROR=error) from error
    if header.dtype.hasobject:
        return _read_objects(path, trust)
    words_file = path.with_name(path.name.removesuffix(_ARRAY) + _WORDS)
    if path.name.endswith(_ARRAY) and words_file.is_file():
        return _read_histwords(path, words_file, trust)
    if len(header.shape) == 2 and (index := _index_beside(path, header.shape[0])):
        return read_pair(path, index)
    raise EmbeddingError(f"{path.name} is {_describe_array(path, header)}.")


def read_pair(path: Path, index: Path) -> MemoryReader:
    """Map an array into memory, with the words of an index in the same order.

    Raises
    ------
    EmbeddingError
        If a file is damaged, or if the numbers of words and rows differ.
    """
    vectors, words = _array(path), _read_words(index)
    if len(words) != len(vectors):
        count = f"{len(words):,}"
        raise file_error("array_of_other_length", path, ROWS=f"{len(vectors):,}", INDEX=index.name, COUNT=count)
    return MemoryReader(words, vectors, vectors.shape[1], frequent_first=True)


def _index_beside(path: Path, rows: int) -> Path | None:
    """Find the file of words for an array with this number of rows, or return None.

    It has the name of the array and an extension in `_INDEXES`. Without such a file, it is the only file in the folder
    with such an extension, a name such as "vocab" (`_CALLED`), and a word for each row.
    """
    fitting = [index for index in map(path.with_suffix, _INDEXES) if index.is_file()]
    if not fitting:
        for file in sorted(path.parent.iterdir()):
            is_index = file.suffix in _INDEXES and _CALLED.search(file.stem) and file.is_file()
            if is_index and len(_read_words(file)) == rows:
                fitting.append(file)
    if len(fitting) > 1:
        names = ", ".join(index.name for index in fitting)
        raise file_error("array_with_several_indexes", path, NAMES=names, BESIDE=path.with_suffix(".txt").name)
    return fitting[0] if fitting else None


def _read_words(index: Path) -> list[str]:
    """Read the words in a Parquet file with one text column, or in a text file with one word per line.

    Numbers after words, such as the counts in vocabulary files of GloVe, are ignored.
    """
    if index.suffix != ".parquet":
        lines = read_text(index, f"{index.name}:", EmbeddingError).removesuffix("\n").split("\n")
        cells_of_lines = [line.removesuffix("\r").split() for line in lines]
        if all(len(cells) == 2 and cells[1].isdecimal() for cells in cells_of_lines):
            return [word for word, _ in cells_of_lines]
        return list(map(str.strip, lines))
    table = read_parquet(index, index.name, EmbeddingError, lambda table: table)
    texts = [name for name in table.column_names if str(table.schema.field(name).type) in ("string", "large_string")]
    if len(texts) != 1:
        raise file_error("index_of_other_columns", index, COUNT=len(texts))
    return list(map(str, table[texts[0]].to_pylist()))


def _read_histwords(path: Path, words_file: Path, trust: bool) -> MemoryReader:
    """Open words and vectors from HistWords, without the zero vectors that HistWords writes for missing words."""
    vectors = _array(path)
    words = unpickled(words_file, trust)
    if not isinstance(words, list) or not all_are(str, words) or len(words) != len(vectors):
        raise file_error("histwords_of_other_length", words_file, COUNT=len(vectors), ARRAY=path.name)
    nonzero = np.flatnonzero(vectors.any(axis=1))
    return MemoryReader([words[row] for row in nonzero], list(vectors[nonzero]), vectors.shape[1])


def _array(path: Path) -> np.ndarray:
    """Map the array in a file into memory, and check that it has a row of numbers for each word.

    An error is raised for a damaged file, for vectors that are quantised to 8 bits, and for any other shape or type.
    """
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise file_error("damaged_array", path, ERROR=error) from error
    if is_packed(vectors.dtype):
        raise file_error("packed_array", path, DTYPE=vectors.dtype, PACKED=PACKED)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":  # floating-point numbers or integers
        raise file_error("array_without_rows", path, SHAPE=vectors.shape, DTYPE=vectors.dtype)
    return np.asarray(vectors)


# Arrays of other kinds.


def _read_objects(path: Path, trust: bool) -> MemoryReader:
    """Open an array of Python objects, such as a dict of words and vectors that np.save wrote as a pickle."""
    check_trust(path, "a NumPy file of Python objects", trust, "save words and vectors with np.savez")
    try:
        content = np.load(path, allow_pickle=True).tolist()
    except Exception as error:  # the code in a pickle may raise any error
        raise file_error("damaged_array", path, ERROR=error) from error
    if (reader := from_memory(content)) is None:
        raise file_error("objects_of_others", path, KIND=kind_of(content))
    return reader


def _describe_array(path: Path, header: ArrayHeader) -> str:
    """Describe an array without words, and show the code that saves it with words.

    The description depends on the header alone: a structured array may have a field of words beside its vectors, and
    other arrays are described by their shape.
    """
    shape, dtype = header.shape, header.dtype
    fields = dtype.names or ()
    texts = [name for name in fields if dtype[name].kind in "US"]  # text or bytes
    arrays = [name for name in fields if dtype[name].shape]
    if len(texts) == len(arrays) == 1:
        return other_kind("structured_array", path, WORDS=texts[0], VECTORS=arrays[0])
    if fields:
        return other_kind("structured_array_of_others", path, NAMES=", ".join(fields))
    if dtype.kind not in "fiu" or is_packed(dtype):
        return other_kind("array_without_numbers", path, DTYPE=dtype)
    kind = {2: "array", 3: "array_of_replicates"}.get(len(shape), "array_of_other_shape")
    return other_kind(kind, path, SHAPE=shape, COUNT=shape[0] if shape else 0, BESIDE=path.with_suffix(".txt").name)


FORMAT = Format("npy", lambda sample: sample.startswith(_MAGIC), open_npy)
