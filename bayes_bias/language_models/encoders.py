"""Encoders: whatever turns sentences into vectors, behind one interface, and what comes back is checked.

A callable from a list of strings to an array (n, d); an object with a method `encode` (sentence-transformers); or the
folder or name of a model of Hugging Face, for which torch and transformers are imported when it is opened.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind, described
from bayes_bias.embeddings import Embedding, shipped_embeddings
from bayes_bias.errors import EmbeddingError
from bayes_bias.sentences import Sentence

# A callable, an object with `.encode`, the folder or name of a model.
type EncoderLike = str | os.PathLike[str] | Callable[[list[str]], Any] | Any

POOLING, LAYER = "mean", "last"

_MODEL_FILES = ("config.json", "modules.json")


@dataclass(frozen=True)
class Encoder:
    """Something that encodes sentences.

    Attributes
    ----------
    name : str
        What tables call it.
    identity : str
        What tells it from any other encoder, vectors of the same sentence included; "" where nobody says.
    pooling : str
        Which vector is a sentence's; "" where nobody says.
    run : callable
        From sentences to whatever it gives for them.
    """

    name: str
    identity: str
    pooling: str
    run: Callable[[Sequence[Sentence]], Any]

    def vectors(self, sentences: Sequence[Sentence]) -> NDArray[np.float32]:
        """Vectors of the sentences (n, d), checked.

        Raises
        ------
        EmbeddingError
            Another shape, or values that are no finite numbers.
        """
        given = self.run(sentences)
        try:
            found = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbeddingError(
                f"encoder: '{self.name}' gives {described(given)} that is no array of numbers ({error}); needed:"
                " a vector for each sentence"
            ) from error
        if found.ndim != 2 or len(found) != len(sentences) or not found.shape[1]:
            raise EmbeddingError(
                f"encoder: '{self.name}' gives an array of shape {found.shape} for {len(sentences)} sentence(s);"
                f" needed: ({len(sentences)}, d), a vector for each"
            )
        finite = np.isfinite(found).all(axis=1)
        if not finite.all():
            raise EmbeddingError(
                f"encoder: '{self.name}' gives values that are no finite numbers for"
                f" '{sentences[int(finite.argmin())].text}'; half precision overflows: encode with float32"
            )
        return found


def is_encoder(source: object) -> bool:
    """Whether this encodes sentences, as far as one can tell without opening it."""
    if isinstance(source, str | os.PathLike):
        return any((Path(source).expanduser() / file).is_file() for file in _MODEL_FILES)
    if isinstance(source, type | Embedding | Mapping | pd.DataFrame):
        return False
    return callable(source) or callable(getattr(source, "encode", None))


def as_encoder(
    source: EncoderLike | Encoder,
    *,
    name: str | None = None,
    identity: str | None = None,
    pooling: str = POOLING,
    layer: str | int = LAYER,
    trust: bool = False,
) -> Encoder:
    """The encoder that is meant.

    Parameters
    ----------
    source : str, path, callable or object with `encode`
    name : str, optional
        What tables call it; by default what it calls itself.
    identity : str, optional
        For an encoder of your own: what tells it from any other, such as model and version. Without one its vectors
        are not kept on disk, since nobody could say whose they are.
    pooling : str
    layer : str or int
        Of a model's folder or name: which vector is a sentence's. Other encoders decide for themselves.
    trust : bool
        Open a model whose weights are pickled, which can run code.

    Raises
    ------
    EmbeddingError
        It does not encode sentences.
    LanguageModelError
        It is a model that cannot be opened, or torch or transformers is not installed.

    Examples
    --------
    >>> as_encoder(lambda sentences: [[len(s), 1.0] for s in sentences], name="lengths").name
    'lengths'
    """
    if isinstance(source, Encoder):
        return source
    check_kind("identity", identity, str | None, "no text; give one, such as 'my-model 1.2'", EmbeddingError)
    if isinstance(source, str | os.PathLike):
        _refuse_words(source)
        source = _load(os.fspath(source), pooling, layer, trust)
    elif not is_encoder(source):
        known = (
            f"'{source.name}', which has vectors of words,"
            if isinstance(source, Embedding)
            else _type(source)
        )
        raise EmbeddingError(
            f"encoder: {known} encodes no sentences; give a callable from sentences to vectors, an object with .encode,"
            " or the folder of a model; vectors of words go without templates"
        )
    own = str(getattr(source, "pooling", ""))
    call = source if callable(source) and not hasattr(source, "encode") else source.encode
    return Encoder(
        name=name or str(getattr(source, "name", None) or getattr(source, "__name__", None) or _type(source)),
        identity=identity or str(getattr(source, "identity", "")),
        pooling=own,
        run=_at_words(call) if own == "word" else _whole(call),
    )


def _whole(call: Callable[..., Any]) -> Callable[[Sequence[Sentence]], Any]:
    return lambda sentences: call([each.text for each in sentences])


def _at_words(call: Callable[..., Any]) -> Callable[[Sequence[Sentence]], Any]:
    """With the characters where each word stands, for the vector of the word in its sentence."""
    return lambda sentences: call(
        [each.text for each in sentences], spans=[(each.start, each.end) for each in sentences]
    )


def _type(source: object) -> str:
    return source.__name__ if isinstance(source, type) else type(source).__name__


def _refuse_words(source: str | os.PathLike[str]) -> None:
    label = os.fspath(source)
    if label in shipped_embeddings() or Path(label).expanduser().is_file():
        raise EmbeddingError(
            f"encoder: '{label}' has vectors of words, and encodes no sentences; leave the templates out"
            " (--embedding without --templates)"
        )


def _load(model: str, pooling: str, layer: str | int, trust: bool) -> Any:
    hugging_face = import_module("bayes_bias.language_models.hugging_face")
    return hugging_face.load_encoder(model, pooling=pooling, layer=layer, trust=trust)
