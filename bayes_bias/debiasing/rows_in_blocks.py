"""Process vectors in blocks of words, so that a large vocabulary needs little additional memory."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import batched

import numpy as np

from bayes_bias.embeddings.word_vectors import lengths, stack
from bayes_bias.errors import MeasureError

# 10,000 vectors of 300 dimensions take 24 MB as float64.
BLOCK = 10_000
# If less than this share of the length of a word remains, the remainder is a rounding error without a direction.
_NOTHING = 1e-9


def iterate_blocks(vectors: Mapping[str, np.ndarray], method: str) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield blocks of words and their vectors (words, dimensions) as float64."""
    for words in batched(vectors, BLOCK):
        yield list(words), stack(vectors, words, method)


def change_rows(
    vectors: Mapping[str, np.ndarray],
    change: Callable[[np.ndarray], np.ndarray],
    method: str,
    kept: Collection[str] = (),
) -> dict[str, np.ndarray]:
    """Apply `change`, a function of rows (words, dimensions), to the vectors of all words except the `kept` words.

    Changes are computed in float64 and returned in the precision of the vectors, or in float32 if that is higher.

    Raises
    ------
    MeasureError
        If a word has no usable vector, or if nothing remains of its vector.
    """
    kept = frozenset(kept)
    vectors_after: dict[str, np.ndarray] = {}
    for words, rows in iterate_blocks(vectors, method):
        is_free = [word not in kept for word in words]
        if any(is_free):
            before = lengths(rows)
            rows[is_free] = change(rows[is_free])
            after = lengths(rows)
            has_unit_length = np.isclose(after, 1)  # vectors that `change` has scaled to this length
            if (nothing := (after < _NOTHING * before) & ~has_unit_length).any():
                raise MeasureError(
                    f"{method}: nothing remains of '{words[int(nothing.argmax())]}' without these directions. Remove"
                    " fewer directions, or omit the word from the vectors."
                )
        precision = np.result_type(np.float32, *{np.asarray(vectors[word]).dtype for word in words})
        vectors_after.update(zip(words, rows.astype(precision), strict=True))
    return vectors_after
