"""Recognise files that cannot be opened by their first bytes, and suggest code that converts them."""

import re
import struct
from importlib.resources.abc import Traversable

import numpy as np

from bayes_bias.embeddings.format_base import WIDEST, described, is_zipped, spread_of
from bayes_bias.errors import EmbeddingError


def other_file(sample: bytes, file: Traversable) -> str:
    """Describe a file that cannot be opened, with a remedy. Return "" if it is not recognised."""
    if what := matching("marks", sample, file):
        return what
    if is_zipped(file) or len(sample) < 64:
        return ""
    return _of_search_libraries(sample, file) or _one_after_the_other(sample, file)


def matching(kinds: str, sample: bytes, file: Traversable) -> str:
    """Describe a file by the first pattern in `other_files.toml` that matches its first bytes, or return "".

    `kinds` is "marks" for files that are no text, or "texts" for texts without vectors in their lines.
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


def _filled(text: str, file: Traversable, **values: object) -> str:
    """Replace the name of each value in a text, and FILE by the path of the file."""
    text_of = {"FILE": repr(str(file)), **values}
    return re.sub("|".join(text_of), lambda name: str(text_of[name[0]]), text)


# Numbers without words.

_RAW = {"<f4": "32-bit", ">f4": "32-bit big-endian", "<f8": "64-bit", ">f8": "64-bit big-endian", "<f2": "16-bit"}
_MOST_DIMENSIONS = 100_000


def _of_search_libraries(sample: bytes, file: Traversable) -> str:
    """Describe vectors in a format of search libraries. Return "" for other files.

    In fvecs and bvecs, the length precedes each vector. In fbin, two numbers precede all vectors.
    """
    first, second = struct.unpack_from("<ii", sample)
    for name, begin in (("fvecs", 4 + 4 * first), ("bvecs", 4 + first)):
        has_two_vectors = 0 < first < _MOST_DIMENSIONS and begin + 4 <= len(sample)
        if has_two_vectors and struct.unpack_from("<i", sample, begin) == (first,):
            return other_kind(name, file, DIMENSIONS=f"{first:,}", WIDTH=first + 1)
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
    if first > 0 and 0 < second < _MOST_DIMENSIONS and size == 8 + 4 * first * second:
        counts = {"COUNT": f"{first:,}", "DIMENSIONS": f"{second:,}", "SHAPE": f"{first}, {second}"}
        return other_kind("fbin", file, **counts)
    return ""


def _one_after_the_other(sample: bytes, file: Traversable) -> str:
    """Describe a file that consists of numbers without words, or return "" for other files.

    The bytes are read as numbers of each type. The type with the smallest spread of magnitudes is assumed, if the
    numbers vary like those in vectors.
    """
    spread = {kind: spread_of(sample, np.dtype(kind)) for kind in _RAW}
    kind = min(spread, key=spread.__getitem__)
    if spread[kind] >= WIDEST:
        return ""
    return other_kind("glove_binary" if kind == "<f8" else "numbers", file, KIND=_RAW[kind], DTYPE=kind)
