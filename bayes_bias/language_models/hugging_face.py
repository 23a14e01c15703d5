"""Sentence encoders of Hugging Face's format: the vector of a sentence from those of its tokens in one layer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import (
    LanguageModel,
    Transformer,
    check_batch,
    check_choice,
    model_folder,
    open_model,
)
from bayes_bias.language_models.own_modules import OwnModules, pooled, read_modules
from bayes_bias.language_models.tokens import (
    POOLINGS,
    Pooling,
    Tokens,
    averaged,
    batches,
    check_padding,
    check_texts,
    padded,
    read,
    sort_by_length,
)

type Layer = Literal["first", "last"] | int
type Spans = Sequence[tuple[int, int]]

# What modes of pooling that `pooling` may name are called in a folder of sentence-transformers.
_OWN_NAMES = {"mean": "mean", "cls": "cls", "last": "lasttoken"}

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True, repr=False, eq=False)
class SentenceEncoder(LanguageModel):
    """A sentence encoder; called with sentences it gives a vector for each.

    Attributes
    ----------
    pooling : str
        Tokens that are averaged, see `load_encoder`; or the model's own pooling, and the modules after it.
    layer : int
        Layer that is read; 0 are the embeddings that the first layer reads.
    batch : int
        How many sentences it reads at a time; numbers do not depend on it.
    prompt : str
        Text before each sentence.
    modules : OwnModules, optional
        The model's own modules, if they are used.
    lower : bool
        Whether sentences are read in lower case.
    """

    pooling: str
    layer: int
    batch: int = 32
    prompt: str = ""
    modules: OwnModules | None = None
    lower: bool = False

    @property
    def name(self) -> str:
        """Name of its folder or on the hub, with pooling, layer, and prompt."""
        return f"{self.transformer.name}, {self.how}"

    @property
    def identity(self) -> str:
        """A hash of files, pooling, layer, and prompt: the same for the same vectors."""
        settings: dict[str, Any] = {"pooling": self.pooling, "layer": self.layer}
        if self.prompt:
            settings["prompt"] = self.prompt
        if own := (self.modules.identity if self.modules else ["lower"] if self.lower else []):
            settings["modules"] = own
        return self.transformer.identity(kind="encoder", **settings)

    @property
    def text(self) -> str:
        return f"{self.transformer.text}, {self.how}"

    @property
    def how(self) -> str:
        """Pooling, layer, the modules after them, and the prompt."""
        after = [module.kind for module in self.modules.after] if self.modules else []
        prompt = [f"prompt {self.prompt!r}"] if self.prompt else []
        return ", ".join([f"{self.pooling} of layer {self.layer}", *after, *prompt])

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

        check_texts(texts)
        tokens = read(self.transformer, [self._prepared(text) for text in texts])
        positions = [
            self._positions(sentence, span) for sentence, span in zip(tokens, self._spans(texts, spans), strict=True)
        ]
        vectors: list[Any] = [None] * len(tokens)
        with torch.inference_mode():
            for rows in batches(sort_by_length(tokens), self.batch):
                inputs = padded(self.transformer, [tokens[k].ids for k in rows])
                states = self.transformer.model(**inputs, output_hidden_states=True).hidden_states[self.layer]
                for row, k in enumerate(rows):
                    vectors[k] = self._vector(states[row], positions[k])
        return np.stack(vectors) if vectors else np.empty((0, self.transformer.model.config.hidden_size), np.float32)

    def _prepared(self, text: str) -> str:
        prompted = f"{self.prompt}{text}"
        return prompted.lower() if self.lower else prompted

    def _positions(self, sentence: Tokens, span: tuple[int, int] | None) -> Sequence[int]:
        """The tokens that the vector is made of."""
        if self.modules is None:
            shift = len(self.prompt)
            moved = None if span is None else (span[0] + shift, span[1] + shift)
            return averaged(self.transformer, sentence, self.pooling, moved)  # type: ignore[arg-type]
        first = 0 if self.modules.include_prompt or not self.prompt else self._prompt_length()
        return range(first, len(sentence))

    def _prompt_length(self) -> int:
        """The tokens of the prompt with the special ones before it, as sentence-transformers counts them."""
        (alone,) = read(self.transformer, [self._prepared("")])
        return len(alone) - alone.special[-1]

    def _vector(self, states: Any, tokens: Sequence[int]) -> NDArray[np.float32]:
        if self.modules is None:
            return np.asarray(states[list(tokens)].mean(0).cpu().numpy())
        import torch

        vector = torch.cat([pooled(states, tokens, mode) for mode in self.modules.poolings]).cpu()[None]
        for module in self.modules.after:
            vector = module.run(vector)
        return np.asarray(vector[0].numpy())

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
    pooling: Pooling | None = None,
    layer: Layer = "last",
    prompt: str | None = None,
    batch: int = 32,
    trust: bool = False,
    device: str | None = None,
) -> SentenceEncoder:
    """Open a sentence encoder of Hugging Face's format; needs ``bayes-bias[transformers]``.

    A folder that sentence-transformers wrote has a pooling, and perhaps a prompt and modules after the pooling, such as
    a normalisation. They are used unless you choose otherwise, and vectors are equal to those of
    ``SentenceTransformer(folder).encode``. If `pooling` or `layer` differ, the modules after the pooling are left out,
    since they were trained for it, and a notice is logged.

    Pooling and layer are part of the encoder's name, since results depend on them: the SEAT effect size of one model
    may have either sign with another pooling (Delobelle et al. 2022).

    Parameters
    ----------
    pooling : {"mean", "mean-content", "cls", "word", "last"}, optional
        The mean of all tokens, special ones included; the mean of all but the special ones; the first token, which
        must be special, such as [CLS]; the mean of the pieces of the word that the sentence is about; the last token,
        for decoders. By default the model's own, or "mean" if it has none.
    layer : {"last", "first"} or int, optional
        "first" is the output of the first layer, 0 are the embeddings that it reads; negative numbers count
        from the last, -1.
    prompt : str, optional
        The name of one of the model's prompts, which is put before each sentence; "" for none. By default the one that
        the model uses by default, if it has one.
    folder, batch, trust, device
        See `load_masked`.

    Raises
    ------
    LanguageModelError
        torch is not installed; there is no model, or its weights are pickled; pooling, layer or prompt is unknown; the
        model has modules that cannot be computed here.

    Examples
    --------
    >>> encoder = load_encoder("sentence-transformers/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> encoder(["This is a nurse."]).shape  # doctest: +SKIP
    (1, 384)
    """
    if pooling is not None:
        check_choice("pooling", pooling, POOLINGS)
    home = model_folder(folder, trust)
    own = read_modules(home, folder, trust)
    transformer = open_model(folder, "encoder", trust=trust, device=device, folder=home / own.inner if own else home)
    number = _number(layer, transformer)
    if own is None:
        if prompt:
            raise LanguageModelError(f"prompt: '{folder}' has no prompts; leave it out, and write them into templates")
        encoder = SentenceEncoder(transformer, pooling or "mean", number)
    else:
        transformer = replace(transformer, window=_least(transformer.window, own.longest))
        encoder = _with_modules(transformer, own, pooling, number, own.prompt(prompt, str(folder)))
    _check_first_token(encoder)
    check_padding(transformer, check_batch(batch))
    return replace(encoder, batch=batch)


def _with_modules(
    transformer: Transformer, own: OwnModules, pooling: Pooling | None, layer: int, prompt: str
) -> SentenceEncoder:
    """An encoder with the model's own pooling and modules, unless pooling or layer are others."""
    last = transformer.model.config.num_hidden_layers
    by_default = SentenceEncoder(
        transformer, own.pooling, last, prompt=own.default_prompt, modules=own, lower=own.lower
    )
    encoder = replace(by_default, layer=layer, prompt=prompt)
    if layer != last:
        encoder = replace(encoder, modules=replace(own, after=()))
    if pooling is not None and own.poolings != (_OWN_NAMES.get(pooling, pooling),):
        encoder = replace(encoder, pooling=pooling, modules=None)
    if encoder.how == by_default.how:
        logger.info(f"{transformer.name}: vectors are made by its own {by_default.how}")
    else:
        logger.warning(f"{transformer.name}: {encoder.how} is used as asked, and not its own {by_default.how}")
    return encoder


def _check_first_token(encoder: SentenceEncoder) -> None:
    """Refuse the first token as the vector of a sentence if it is a word, unless the model was trained so."""
    transformer = encoder.transformer
    if encoder.pooling == "cls" and encoder.modules is None and not read(transformer, ["a"])[0].special[0]:
        raise LanguageModelError(
            f"pooling: the tokenizer of '{transformer.name}' puts no token before a sentence for 'cls'; "
            "take 'mean', or 'last' for a decoder"
        )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _number(layer: Layer, transformer: Transformer) -> int:
    layers = transformer.model.config.num_hidden_layers
    numbers = {"first": 1, "last": layers} | {str(k): k % (layers + 1) for k in range(-layers - 1, layers + 1)}
    if type(layer) not in (str, int) or str(layer) not in numbers:
        raise LanguageModelError(
            f"layer: '{transformer.name}' does not have {layer!r}; give 'first', 'last', or a number from 0 (its"
            f" embeddings) to {layers}"
        )
    return numbers[str(layer)]
