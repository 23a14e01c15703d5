"""The description of a file format."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from bayes_bias.embeddings.embedding import Reader


@dataclass(frozen=True)
class Format:
    """A format of embedding files.

    Attributes
    ----------
    name : str
        Its name in the argument ``format`` of `open_embedding`.
    recognises : callable
        Whether a file is of this format, from its first bytes (unzipped).
    open : callable
        From a file, and whether it is trusted, to a `Reader`; reads only the beginning.
    """

    name: str
    recognises: Callable[[bytes], bool]
    open: Callable[[Traversable, bool], Reader]
