"""Sentence encoders of Hugging Face's format: the vector of a sentence from those of its tokens in one layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import LanguageModel, Transformer, check_batch, check_choice, open_model
from bayes_bias.language_models.tokens import (
    POOLINGS,
    Pooling,
    averaged,
    batches,
    check_padding,
    padded,
    read,
    sort_by_length,
)

type Layer = Literal["first", "last"] | int
type Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, repr=False, eq=False)
class SentenceEncoder(LanguageModel):
    """A sentence encoder; called with sentences it gives a vector for each.

    Attributes
    ----------
    pooling : str
        Tokens that are averaged; see `load_encoder`.
    layer : int
        Layer that is read; 0 are the embeddings that the first layer reads.
    batch : int
        How many sentences it reads at a time; numbers do not depend on it.
    """

    pooling: Pooling
    layer: int
    batch: int = 32

    @property
    def name(self) -> str:
        """Name of its folder or on the hub, with pooling and layer."""
        return f"{self.transformer.name}, {self.pooling} of layer {self.layer}"

    @property
    def identity(self) -> str:
        """A hash of files, pooling and layer: the same for the same vectors."""
        return self.transformer.identity(kind="encoder", pooling=self.pooling, layer=self.layer)

    @property
    def text(self) -> str:
        return f"{self.transformer.text}, {self.pooling} of layer {self.layer}"

    def __call__(self, texts: Sequence[str], spans: Spans | None = None) -> NDArray[np.float32]:
        """A vector for each sentence, (n, d).

        Parameters
        ----------
        texts : sequence of str
            Whole sentences.
        spans : sequence of (int, int), optional
            The characters of the word in each, which pooling "word" needs.

        Raises
        ------
        LanguageModelError
            A sentence longer than the model's window; spans that are missing or end within a piece.
        """
        import torch

        tokens = read(self.transformer, texts)
        positions = [
            averaged(self.transformer, sentence, self.pooling, span)
            for sentence, span in zip(tokens, self._spans(texts, spans), strict=True)
        ]
        vectors = np.empty((len(tokens), self.transformer.model.config.hidden_size), dtype=np.float32)
        with torch.inference_mode():
            for rows in batches(sort_by_length(tokens), self.batch):
                inputs = padded(self.transformer, [tokens[k].ids for k in rows])
                states = self.transformer.model(**inputs, output_hidden_states=True).hidden_states[self.layer]
                for row, k in enumerate(rows):
                    vectors[k] = states[row, positions[k]].mean(0).cpu().numpy()
        return vectors

    def _spans(self, texts: Sequence[str], spans: Spans | None) -> Sequence[tuple[int, int] | None]:
        if self.pooling != "word":
            return [None] * len(texts)
        if spans is None or len(spans) != len(texts):
            raise LanguageModelError(
                f"spans: pooling 'word' needs (start, end) of the word in each of {len(texts)} sentences, "
                f"got {0 if spans is None else len(spans)}; give one for each"
            )
        return spans


def load_encoder(
    folder: str | Path,
    *,
    pooling: Pooling = "mean",
    layer: Layer = "last",
    batch: int = 32,
    trust: bool = False,
    device: str | None = None,
) -> SentenceEncoder:
    """Open a sentence encoder of Hugging Face's format; needs ``bayes-bias[transformers]``.

    Pooling and layer are part of the encoder's name, since results depend on them: the SEAT effect size of one model
    may have either sign with another pooling (Delobelle et al. 2022).

    Parameters
    ----------
    pooling : {"mean", "mean-content", "cls", "word", "last"}, optional
        The mean of all tokens, special ones included; the mean of all but the special ones; the first token, which
        must be special, such as [CLS]; the mean of the pieces of the word that the sentence is about; the last token,
        for decoders.
    layer : {"last", "first"} or int, optional
        "first" is the output of the first layer, 0 are the embeddings that it reads; negative numbers count
        from the last, -1.
    folder, batch, trust, device
        See `load_masked`.

    Raises
    ------
    LanguageModelError
        torch is not installed; there is no model, or its weights are pickled; pooling or layer is unknown.

    Examples
    --------
    >>> encoder = load_encoder("sentence-transformers/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> encoder(["This is a nurse."]).shape  # doctest: +SKIP
    (1, 384)
    """
    check_choice("pooling", pooling, POOLINGS)
    transformer = open_model(folder, "encoder", trust=trust, device=device)
    if pooling == "cls" and not read(transformer, ["a"])[0].special[0]:
        raise LanguageModelError(
            f"pooling: the tokenizer of '{transformer.name}' puts no token before a sentence for 'cls'; "
            "take 'mean', or 'last' for a decoder"
        )
    check_padding(transformer, check_batch(batch))
    return SentenceEncoder(transformer, pooling, _number(layer, transformer), batch)


def _number(layer: Layer, transformer: Transformer) -> int:
    layers = transformer.model.config.num_hidden_layers
    numbers = {"first": 1, "last": layers} | {str(k): k % (layers + 1) for k in range(-layers - 1, layers + 1)}
    if type(layer) not in (str, int) or str(layer) not in numbers:
        raise LanguageModelError(
            f"layer: '{transformer.name}' does not have {layer!r}; give 'first', 'last', or a number from 0 (its"
            f" embeddings) to {layers}"
        )
    return numbers[str(layer)]
