"""Recognise files that cannot be opened by their first bytes, and suggest code that converts them."""

import re
import struct
from importlib.resources.abc import Traversable

import numpy as np

from bayes_bias.embeddings.format_base import WIDEST, described, is_zipped, spread_of
from bayes_bias.errors import EmbeddingError


def other_file(sample: bytes, file: Traversable) -> str:
    """Describe a file that cannot be opened, with a remedy. Return "" if it is not recognised.

    The file is recognised by a pattern of its first bytes (`sample`) or, without a pattern, by the numbers that they
    contain: in a format of search libraries, or without any header. A few bytes are not enough for this.
    """
    if description := matching("marks", sample, file):
        return description
    if is_zipped(file) or len(sample) < 64:
        return ""
    return _describe_search_format(sample, file) or _describe_bare_numbers(sample, file)


def matching(kinds: str, sample: bytes, file: Traversable) -> str:
    """Describe a file by the first pattern in `other_files.toml` that matches its first bytes, or return "".

    `kinds` is "marks" for files that are no text, or "texts" for texts without vectors in their lines. The TOML file
    lists patterns (`matches`) of each kind with the description of the file (`is`).
    """
    for other in described("other_files")[kinds]:
        if re.match(other["matches"].encode("latin-1"), sample):
            return _filled(other["is"], file)
    return ""


def other_kind(kind: str, file: Traversable, **values: object) -> str:
    """Describe a file of a kind in `other_files.toml`, with a remedy. Names in capitals are replaced by the values."""
    return _filled(described("other_files")["others"][kind], file, **values)


def file_error(kind: str, file: Traversable, **values: object) -> EmbeddingError:
    """Return the error for a file of a kind whose description in `other_files.toml` follows the name of the file."""
    return EmbeddingError(f"{file.name} {other_kind(kind, file, **values)}.")


def message_error(kind: str, file: Traversable, **values: object) -> EmbeddingError:
    """Return the error with a whole message from `other_files.toml`, in which NAME stands for the name of the file."""
    return EmbeddingError(_filled(described("other_files")["messages"][kind], file, NAME=file.name, **values))


def _filled(text: str, file: Traversable, **values: object) -> str:
    """Replace the name of each value in a text, and FILE by the path of the file. Names are whole words in capitals."""
    value_of_name = {"FILE": repr(str(file)), **values}
    return re.sub("|".join(value_of_name), lambda match: str(value_of_name[match[0]]), text)


# Numbers without words.

# The types of numbers that are tried, and their names.
_TYPES = {"<f4": "32-bit", ">f4": "32-bit big-endian", "<f8": "64-bit", ">f8": "64-bit big-endian", "<f2": "16-bit"}
_MOST_DIMENSIONS = 100_000


def _describe_search_format(sample: bytes, file: Traversable) -> str:
    """Describe vectors in a format of search libraries. Return "" for other files.

    In fvecs (4 bytes for each number) and bvecs (1 byte), the number of dimensions precedes each vector as an integer
    of 4 bytes, so the same integer precedes the second vector. In fbin, the numbers of vectors and of dimensions
    precede all vectors, and determine the size of the file.
    """
    first, second = struct.unpack_from("<ii", sample)
    for kind, bytes_per_number in (("fvecs", 4), ("bvecs", 1)):
        second_vector = 4 + bytes_per_number * first  # its position
        has_two_vectors = 0 < first < _MOST_DIMENSIONS and second_vector + 4 <= len(sample)
        if has_two_vectors and struct.unpack_from("<i", sample, second_vector) == (first,):
            return other_kind(kind, file, DIMENSIONS=f"{first:,}", WIDTH=first + 1)
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
    if first > 0 and 0 < second < _MOST_DIMENSIONS and size == 8 + 4 * first * second:
        counts = {"COUNT": f"{first:,}", "DIMENSIONS": f"{second:,}", "SHAPE": f"{first}, {second}"}
        return other_kind("fbin", file, **counts)
    return ""


def _describe_bare_numbers(sample: bytes, file: Traversable) -> str:
    """Describe a file that consists of numbers without words and without a header. Return "" for other files.

    The first bytes of the file are read as numbers of each type. The type whose numbers have the smallest spread of
    magnitudes is assumed, unless even this spread is larger than in vectors (`WIDEST`). `_TYPES` has the name of each
    type. GloVe writes its binary files with 64 bits.
    """
    spread_of_dtype = {dtype: spread_of(sample, np.dtype(dtype)) for dtype in _TYPES}
    dtype = min(spread_of_dtype, key=spread_of_dtype.__getitem__)
    if spread_of_dtype[dtype] >= WIDEST:
        return ""
    kind = "glove_binary" if dtype == "<f8" else "numbers"
    return other_kind(kind, file, KIND=_TYPES[dtype], DTYPE=dtype)
