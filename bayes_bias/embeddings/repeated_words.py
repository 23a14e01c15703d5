"""Tables in which a word has several rows with different vectors."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.embeddings.format_npz import KINDS
from bayes_bias.errors import EmbeddingError
from bayes_bias.words.spelling import composed, visible

# The expression for a frame in memory.
FRAME = "frame"
# Ids chosen by the user come before ids added by a service.
IDS = ("custom_id", "key", "id")
# Preferred columns that distinguish the rows of a word.
_LIKELY = (*KINDS, "sentence", "text", "context", "index")


@dataclass(frozen=True)
class Rows:
    """The word, the vector, and the other columns of each row of a table.

    `heading` is the name of the column of vectors, which may be written as text.
    """

    words: "pd.Series[Any]"
    beside: pd.DataFrame
    vectors: NDArray[np.floating]
    heading: str
    as_text: bool = False

    def one_each(self, subject: str, reading: str) -> tuple[list[str], list[NDArray[np.floating]]]:
        """Return each word with its vector; `reading` is the code that reads the table as a frame, if one call does.

        Raises
        ------
        EmbeddingError
            If a word has several rows with different vectors.
        """
        row_of: dict[str, int] = {}
        for row, word in enumerate(self.words):
            first = row_of.setdefault(composed(word), row)
            if first != row and not np.array_equal(self.vectors[first], self.vectors[row], equal_nan=True):
                raise EmbeddingError(f"{subject}: {self._problem(word)} {self._remedies(reading)}")
        words = self.words.to_numpy()
        return [str(words[row]) for row in row_of.values()], [self.vectors[row] for row in row_of.values()]

    def _problem(self, word: str) -> str:
        count = sum(composed(row_word) == composed(word) for row_word in self.words)
        where = f"the column '{self.words.name}'" if self.words.name is not None else "the index"
        apart = self._apart()
        hint = f", which the column '{apart}' distinguishes" if apart is not None else ""
        return f"{where} contains '{visible(word)[:40]}' in {count} rows with different vectors{hint}."

    def _remedies(self, reading: str) -> str:
        """Return code that makes one vector of each word, or replicates of the rows."""
        if self.words.name in IDS:
            return "Repeat the request with one text for each id, so that each id has one vector."
        if not reading:
            return "Keep one vector for each word, for example the mean of its rows."
        is_file = reading != FRAME
        read = f"frame = {reading}; " if is_file else ""
        if self.as_text:
            cells = f"frame[{self.heading!r}]"
            read += f"{cells} = {cells}.map(lambda text: np.fromstring(text.strip('[]').replace(',', ' '), sep=' ')); "
        by = "level=0" if self.words.name is None else repr(self.words.name)
        means = f"frame.groupby({by})[{self.heading!r}].apply(lambda rows: np.mean(list(rows), axis=0)).reset_index()"
        write = ".to_parquet('means.parquet')" if is_file else ""
        imports = "import numpy as np, pandas as pd; " if is_file else ""
        average = f"Average the rows of each word: `{imports}{read}{means}{write}`"
        apart = self._apart()
        if apart is None or not self._is_crossed(apart):
            return f"{average}. If the rows are replicates, add a column with the template or seed of each row."
        kind = apart if apart in KINDS else "replicate"
        parts = f"[bb.open_embedding(rows, name=str(label)) for label, rows in frame.groupby({apart!r})]"
        imports = "import bayes_bias as bb, numpy as np, pandas as pd; " if is_file else ""
        replicates = f"replicates = bb.open_embedding({parts}, kind={kind!r})"
        write = "; bb.save_vectors(replicates, 'replicates.npz')" if is_file else ""
        return f"{average}. Alternatively, keep the rows as replicates: `{imports}{read}{replicates}{write}`."

    def _apart(self) -> Hashable | None:
        """Return a column that distinguishes the rows of each word, if possible one whose values have all words."""
        names = [name for name in self.beside if name != self.words.name and self._tells_apart(name)]
        crossed = [name for name in names if self._is_crossed(name)]
        likely = [name for name in _LIKELY if name in names]
        return next(iter([*crossed, *likely, *names]), None)

    def _tells_apart(self, name: Hashable) -> bool:
        return not self._pairs(name).duplicated().any()

    def _is_crossed(self, name: Hashable) -> bool:
        """Return True if each value of a column has a row of each word."""
        pairs = self._pairs(name)
        return self._tells_apart(name) and len(pairs) == pairs["word"].nunique() * pairs["value"].nunique()

    def _pairs(self, name: Hashable) -> pd.DataFrame:
        return pd.DataFrame({"word": self.words.to_numpy(), "value": self.beside[name].astype(str).to_numpy()})
