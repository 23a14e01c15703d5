"""GloVe-V: GloVe vectors with a covariance for each word, as a table with its covariance over texts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.associations.cosines import CONTROLS, cosines
from bayes_bias.corpora.deviations import deviations_of_cosines
from bayes_bias.embeddings.embedding import Embedding, found_as
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.errors import CorpusError
from bayes_bias.formatting import shortened
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import all_words
from bayes_bias.words.wordlist import ControlsLike, ListLike

_VOCABULARY, _VECTORS, _COVARIANCES = "vocab.txt", "vectors.safetensors", "ApproximationVariances.safetensors"
_TYPES = MappingProxyType({"F64": "<f8", "F32": "<f4", "F16": "<f2"})
_LONGEST_HEADER = 2**30


def from_glove_v(
    folder: str | Path,
    wordlist: ListLike,
    controls: ControlsLike | Iterable[ControlsLike] = CONTROLS,
    *,
    draws: int = 500,
    allow_loss: bool = False,
    seed: int = 1,
) -> AssociationTable:
    r"""Measure a word list in the vectors of GloVe-V [1]_, with their covariances.

    GloVe-V has a covariance for each vector, which shows how much the vector would vary if the co-occurrences of its
    word were drawn again. The covariance of the cosines is estimated from draws of the vectors.

    Parameters
    ----------
    folder : str or Path
        Folder with the files ``vocab.txt``, ``vectors.safetensors`` and ``ApproximationVariances.safetensors``.
    wordlist, controls, allow_loss
        As in `cosines`.
    draws : int
        Number of draws of all vectors.
    seed : int
        Seed of the draws.

    Returns
    -------
    AssociationTable
        As from `cosines`, with ``texts``.

    Raises
    ------
    CorpusError
        If a file is missing or damaged, or a word has no covariance.

    Notes
    -----
    GloVe-V treats co-occurrences as independent, and the noise of different words, too. If texts differ in topic or
    author, the covariance over texts is larger. For your own texts, `from_texts` samples whole texts.

    References
    ----------
    .. [1] Vallebueno, A., Handan-Nader, C., Manning, C. D., & Ho, D. E. (2024). Statistical uncertainty in word
       embeddings: GloVe-V. EMNLP. https://doi.org/10.18653/v1/2024.emnlp-main.510

    Examples
    --------
    >>> from_glove_v("COHA_1900-1999_300d", "weat7")                              # doctest: +SKIP
    """
    draws = check_count("draws", draws, "draws", least=2, refusal=CorpusError)
    path = Path(folder).expanduser()
    for name in (_VOCABULARY, _VECTORS, _COVARIANCES):
        if not (path / name).is_file():
            raise CorpusError(f"The folder '{folder}' has no file '{name}'. Pass a folder of GloVe-V.")
    lines = (path / _VOCABULARY).read_text(encoding="utf-8").splitlines()
    row_of = {line.split(" ")[0]: row for row, line in enumerate(lines)}
    vectors = _Arrays.of(path / _VECTORS).array("center_vectors")
    if len(vectors) != len(row_of):
        raise CorpusError(
            f"'{folder}' has {len(row_of):,} words in {_VOCABULARY}, but {len(vectors):,} vectors. Download it again."
        )
    reader = MemoryReader(list(row_of), vectors, vectors.shape[1], frequent_first=True)
    table = cosines(wordlist, Embedding(path.name, "GloVe-V", reader), controls, allow_loss=allow_loss)
    rng = np.random.default_rng(check_seed(seed))
    drawn = _draw_vectors(all_words(table.values), row_of, vectors, _Arrays.of(path / _COVARIANCES), draws, rng)
    labels = [f"{table.name} {k}" for k in range(draws)]
    factor = 1 / np.sqrt(draws - 1)  # so that the sum of squared deviations is the variance over draws
    texts = deviations_of_cosines(table, drawn, labels, factor, "texts, by the covariances of GloVe-V")
    return replace(table, texts=texts)


@dataclass(frozen=True)
class _Arrays:
    """A file of arrays in the format safetensors: the length of a header, the header in JSON, and numbers."""

    path: Path
    header: Mapping[str, Any]
    start: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read the length of the header (8 bytes, little-endian) and the header, after which the numbers start.

        The header is JSON, and describes the arrays by their names. A length above `_LONGEST_HEADER` is an error.
        """
        try:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(min(length, _LONGEST_HEADER)))  # a shortened header is no valid JSON
            return cls(path, dict(header), 8 + length)
        except (ValueError, TypeError) as error:
            raise cls._damaged(path) from error

    def array(self, name: str) -> Numbers:
        """Read an array by its name.

        The entry of an array in the header states its type, its shape, and the positions of its first byte and of the
        byte after its last one, counted from the end of the header (`start`).
        """
        entry = self.header.get(name, {})
        try:
            first, last = entry["data_offsets"]
            with self.path.open("rb") as file:
                file.seek(self.start + first)
                numbers = np.frombuffer(file.read(last - first), _TYPES[entry["dtype"]])
            return numbers.reshape(entry["shape"]).astype(np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(self.path) from error

    @staticmethod
    def _damaged(path: Path) -> CorpusError:
        return CorpusError(
            f"'{path}' is damaged, or has other arrays than the files of GloVe-V in the format safetensors. Download it"
            " again."
        )


def _draw_vectors(
    words: list[str], row_of: Mapping[str, int], vectors: Numbers, file: _Arrays, draws: int, rng: np.random.Generator
) -> dict[str, Numbers]:
    """Return draws (draws, d) of the vector of each word, from a normal with the covariance of the word.

    With a square root R of the covariance and standard normal numbers z (d,), a draw is the vector plus R z. `row_of`
    has the row of each word in `vectors`, and the `file` contains the covariances. An error names words without a
    covariance.
    """
    spelling_of = found_as(words, row_of, "exact")
    drawn, missing = {}, []
    for word in words:
        row = row_of[spelling_of[word]]
        root = _root_of_covariance(row, file)
        if root is None:
            missing.append(word)
        else:
            z = rng.standard_normal((draws, root.shape[1]))
            drawn[word] = vectors[row] + z @ root.T  # (draws, d)
    if missing:
        raise CorpusError(f"GloVe-V has no covariance of {shortened(missing)}. Remove these words from the list.")
    return drawn


def _root_of_covariance(row: int, file: _Arrays) -> Numbers | None:
    """Return a square root R (d, d) of the covariance of a word, ``R R' = covariance``, or None if it has none.

    Depending on the word, which the file identifies by its `row`, the file contains the variances alone ("diag"), a
    singular value decomposition of the covariance ("U", "s", and "Vt"), or the "complete" covariance. Negative
    variances and eigenvalues, which come from rounding, are replaced by zero.
    """
    if f"diag_{row}" in file.header:
        return np.diag(np.sqrt(np.maximum(file.array(f"diag_{row}"), 0.0)))
    if f"U_{row}" in file.header:
        u, s, vt = (file.array(f"{name}_{row}") for name in ("U", "s", "Vt"))
        covariance = u * s @ vt
    elif f"complete_{row}" in file.header:
        covariance = file.array(f"complete_{row}")
    else:
        return None
    eigenvalues, eigenvectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
