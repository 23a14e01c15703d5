"""How data and results show themselves: as a line at the prompt, as a paragraph in a notebook."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class Telling:
    """Whatever says of itself in `text` what it is; dataclasses of this kind have ``repr=False``."""

    @property
    def text(self) -> str:
        """What it is, or says, in a sentence or a few."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.text}>"

    def _repr_html_(self) -> str:
        shown = self._shown()
        table = "" if shown is None else shown.to_html(float_format="%.3f", na_rep="", border=0)
        return f"<p>{escape(self.text)}</p>{table}"

    def _shown(self) -> "pd.DataFrame | None":
        """The table that a notebook has below it."""
        return None
