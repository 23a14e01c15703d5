"""The description of a file format."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from bayes_bias.embeddings.embedding import Reader


@dataclass(frozen=True)
class Format:
    """A format of embedding files."""

    name: str  # as in the argument ``format`` of `open_embedding`
    recognises: Callable[[bytes], bool]  # from a file's first bytes, unzipped
    open: Callable[[Traversable, bool], Reader]  # from a file, and whether it is trusted; reads only the beginning
