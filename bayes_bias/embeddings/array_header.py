"""What an array in a NumPy file says that it is, read without taking memory for what it claims."""

import io
import math
from dataclasses import dataclass
from typing import IO, Any, Self

import numpy as np
from numpy.lib import format as npy

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# NumPy refuses headers of more than 10,000 bytes, but first takes as much memory as a header says that it needs.
_LONGEST = 10_100


@dataclass(frozen=True)
class ArrayHeader:
    """Shape and type of an array, and where its values begin."""

    shape: tuple[int, ...]
    in_rows: bool
    dtype: np.dtype[Any]
    begins: int

    def __str__(self) -> str:
        return f"{self.shape} of {self.dtype}"

    @classmethod
    def read(cls, stream: IO[bytes]) -> Self:
        """The header at the beginning of a stream.

        Raises
        ------
        ValueError
            There is none.
        """
        begin = io.BytesIO(stream.read(_LONGEST))
        try:
            shape, fortran, dtype = _HEADERS[npy.read_magic(begin)](begin)
        except Exception as error:  # NumPy has Python's parser and tokenizer read it, which raise errors of many kinds
            raise ValueError(f"not the header of an array: {error}") from error
        return cls(shape, not fortran, dtype, begin.tell())

    @property
    def claimed(self) -> int:
        """Bytes that header and values take."""
        return self.begins + math.prod(self.shape) * self.dtype.itemsize
