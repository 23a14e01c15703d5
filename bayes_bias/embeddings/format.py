"""What a file format has to say of itself."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from bayes_bias.embeddings.base import Reader


@dataclass(frozen=True)
class Format:
    """A format of embedding files.

    Attributes
    ----------
    name : str
        What the argument ``format`` of `open_embedding` calls it.
    recognises : callable
        Whether a file is of this format, from its first bytes (unzipped).
    open : callable
        From a file, and whether it is trusted, to a `Reader`; it reads no more than the beginning.
    """

    name: str
    recognises: Callable[[bytes], bool]
    open: Callable[[Traversable, bool], Reader]
