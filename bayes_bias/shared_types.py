"""Types that several subpackages share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # because importing NumPy would slow down the help of commands
    import numpy as np
    from numpy.typing import NDArray

type Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Reference:
    """The source of words or a model: citation, DOI, and BibTeX entry if there is one."""

    citation: str = ""
    doi: str = ""
    bibtex: str = ""
