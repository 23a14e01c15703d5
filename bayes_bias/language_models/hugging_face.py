"""Sentence encoders in the format of Hugging Face. They pool the vectors of tokens in one layer."""

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

# Names of pooling modes in a folder of sentence-transformers.
_OWN_NAMES = {"mean": "mean", "cls": "cls", "last": "lasttoken"}

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True, repr=False, eq=False)
class SentenceEncoder(LanguageModel):
    """A sentence encoder. Calling it with sentences returns one vector per sentence.

    Attributes
    ----------
    pooling : str
        The tokens that are averaged (see `load_encoder`), or the model's own pooling with the modules after it.
    layer : int
        Index of the layer to read. Layer 0 contains the input embeddings.
    batch : int
        Number of sentences that it reads at a time, which does not affect the results.
    prompt : str
        Text before each sentence.
    modules : OwnModules, optional
        The model's own modules, if they are used.
    lower : bool
        True if sentences are read in lower case.
    """

    pooling: str
    layer: int
    batch: int = 32
    prompt: str = ""
    modules: OwnModules | None = None
    lower: bool = False

    @property
    def name(self) -> str:
        """The name of the folder or on the hub, with pooling, layer, and prompt."""
        return f"{self.transformer.name}, {self.how}"

    @property
    def identity(self) -> str:
        """A hash of files, pooling, layer, prompt, and modules after the pooling.

        Encoders with the same hash return the same vectors. Settings that have no effect are omitted from the hash.
        `lower` (sentences are read in lower case) is part of the identity of modules, or stands alone without modules.
        """
        settings: dict[str, Any] = {"pooling": self.pooling, "layer": self.layer}
        if self.prompt:
            settings["prompt"] = self.prompt
        without_modules = ["lower"] if self.lower else []
        modules = self.modules.identity if self.modules else without_modules
        if modules:
            settings["modules"] = modules
        return self.transformer.identity(kind="encoder", **settings)

    @property
    def text(self) -> str:
        return f"{self.transformer.text}, {self.how}"

    @property
    def how(self) -> str:
        """The pooling, the layer, the modules after the pooling, and the prompt."""
        after = [module.kind for module in self.modules.after] if self.modules else []
        prompt = [f"prompt {self.prompt!r}"] if self.prompt else []
        return ", ".join([f"{self.pooling} of layer {self.layer}", *after, *prompt])

    def __call__(self, texts: Sequence[str], spans: Spans | None = None) -> NDArray[np.float32]:
        """Return a vector for each sentence, (n, d).

        Parameters
        ----------
        texts : sequence of str
            Whole sentences.
        spans : sequence of (int, int), optional
            The characters of the word in each, for pooling "word".

        Raises
        ------
        LanguageModelError
            If a sentence is longer than the model's window, or spans are missing or end within a piece.
        """
        import torch

        check_texts(texts)
        tokens = read(self.transformer, list(map(self._prepared, texts)))
        positions = list(map(self._positions, tokens, self._spans(texts, spans)))
        vectors: list[Any] = [None] * len(tokens)
        with torch.inference_mode():
            for rows in batches(sort_by_length(tokens), self.batch):
                inputs = padded(self.transformer, [tokens[k].ids for k in rows])
                states = self.transformer.model(**inputs, output_hidden_states=True).hidden_states[self.layer]
                for row, k in enumerate(rows):
                    vectors[k] = self._vector(states[row], positions[k])
        return np.stack(vectors) if vectors else np.empty((0, self.transformer.model.config.hidden_size), np.float32)

    def _prepared(self, text: str) -> str:
        """Return a text with the prompt in front, in lower case if the model requires it."""
        prompted = f"{self.prompt}{text}"
        return prompted.lower() if self.lower else prompted

    def _positions(self, sentence: Tokens, span: tuple[int, int] | None) -> Sequence[int]:
        """Return positions of the tokens that are pooled, as the pooling or the model's own modules define.

        `span` is the start and end of the word in the sentence without the prompt, for pooling "word". The prompt is
        before the sentence, so the span is moved by its length. The model's own modules may pool all tokens, or only
        the tokens after the prompt.
        """
        if self.modules is None:
            shift = len(self.prompt)
            moved = None if span is None else (span[0] + shift, span[1] + shift)
            return averaged(self.transformer, sentence, self.pooling, moved)  # type: ignore[arg-type]
        first = 0 if self.modules.include_prompt or not self.prompt else self._prompt_length()
        return range(first, len(sentence))

    def _prompt_length(self) -> int:
        """Count the tokens of the prompt and the special tokens before it, as sentence-transformers does."""
        (alone,) = read(self.transformer, [self._prepared("")])
        return len(alone) - alone.special[-1]

    def _vector(self, states: Any, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Return the vector of a sentence from the `states` (tokens, d) at the positions `tokens`.

        It is their mean or, with the model's own modules, the concatenated poolings after all further modules.
        """
        if self.modules is None:
            return np.asarray(states[list(tokens)].mean(0).cpu().numpy())
        import torch

        vector = torch.cat([pooled(states, tokens, mode) for mode in self.modules.poolings]).cpu()[None]
        for module in self.modules.after:
            vector = module.run(vector)
        return np.asarray(vector[0].numpy())

    def _spans(self, texts: Sequence[str], spans: Spans | None) -> Sequence[tuple[int, int] | None]:
        """Return the start and end of the word in each sentence if the pooling needs them, or else None for each.

        Only the pooling "word", the mean vector of the tokens of a word, needs them. The number of `spans` must be the
        number of sentences.
        """
        if self.pooling != "word":
            return [None] * len(texts)
        if spans is None or len(spans) != len(texts):
            raise LanguageModelError(
                f"The pooling 'word' requires `spans` with (start, end) of the word in each of {len(texts)} sentences,"
                f" but there are {0 if spans is None else len(spans)}. Pass one for each sentence."
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
    """Open a sentence encoder in the format of Hugging Face, with ``bayes-bias[transformers]``.

    A folder of sentence-transformers defines a pooling, and sometimes a prompt and modules after the pooling, such as a
    normalisation. These settings are used by default, and the vectors then equal the output of
    ``SentenceTransformer(folder).encode``. If you choose another `pooling` or `layer`, the modules after the pooling
    are omitted, because they were trained for the original pooling and layer, and a notice is logged.

    Pooling and layer are part of the encoder's name, because results depend on them. For example, the SEAT effect size
    of a model may change its sign with another pooling (Delobelle et al. 2022).

    Parameters
    ----------
    pooling : {"mean", "mean-content", "cls", "word", "last"}, optional
        The tokens that are pooled: "mean" (all tokens), "mean-content" (all tokens except special tokens), "cls" (the
        first token, which must be a special token such as [CLS]), "word" (the pieces of the word in the template), or
        "last" (the last token, for decoders). The default is the model's own pooling, or "mean" if it has none.
    layer : {"last", "first"} or int, optional
        "first" is the output of the first layer, and 0 stands for the input embeddings. Negative numbers count
        backwards from the last layer, which is -1.
    prompt : str, optional
        The name of one of the model's prompts, which is put before each sentence, or "" for none. The default is the
        model's default prompt, if it has one.
    folder, batch, trust, device
        See `load_masked`.

    Raises
    ------
    LanguageModelError
        If torch is not installed, if there is no model, if the weights are pickled, if the pooling, layer, or prompt is
        unknown, or if this package cannot compute a module of the model.

    Examples
    --------
    >>> encoder = load_encoder("sentence-transformers/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> encoder(["This is a nurse."]).shape  # doctest: +SKIP
    (1, 384)
    """
    if pooling is not None:
        check_choice("pooling", pooling, POOLINGS)
    model_path = model_folder(folder, trust)
    own = read_modules(model_path, folder, trust)  # None if the folder contains only a transformer
    transformer_path = model_path / own.inner if own else model_path
    transformer = open_model(folder, "encoder", trust=trust, device=device, folder=transformer_path)
    layer_number = _layer_number(layer, transformer)
    if own is None:
        if prompt:
            raise LanguageModelError(
                f"'{folder}' has no prompts, so `prompt` cannot be set. Omit it, and write prompts into templates."
            )
        encoder = SentenceEncoder(transformer, pooling or "mean", layer_number)
    else:
        # The window is the largest number of tokens of a sentence. Both the model and its settings may limit it.
        limits = [limit for limit in (transformer.window, own.longest) if limit is not None]
        transformer = replace(transformer, window=min(limits, default=None))
        encoder = _with_modules(transformer, own, pooling, layer_number, own.prompt(prompt, str(folder)))
    _check_first_token(encoder)
    check_padding(transformer, check_batch(batch))
    return replace(encoder, batch=batch)


def _with_modules(
    transformer: Transformer, own: OwnModules, pooling: Pooling | None, layer: int, prompt: str
) -> SentenceEncoder:
    """Return an encoder with the model's own pooling and modules, unless you choose another pooling or layer.

    With another layer, the modules after the pooling are omitted, and with another pooling, all of the model's own
    modules. A notice states how vectors are made (`how`: pooling, layer, modules, and prompt). `_OWN_NAMES` has the
    names of poolings in the model's files, such as "lasttoken" for "last".
    """
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
        logger.warning(f"{transformer.name}: {encoder.how} is used as requested, instead of its own {by_default.how}")
    return encoder


def _check_first_token(encoder: SentenceEncoder) -> None:
    """Raise an error if pooling "cls" would use a word instead of a special token.

    The first token of a short sentence, "a", is checked. There is no error if the pooling is the model's own.
    """
    transformer = encoder.transformer
    if encoder.pooling == "cls" and encoder.modules is None and not read(transformer, ["a"])[0].special[0]:
        raise LanguageModelError(
            f"The pooling 'cls' cannot be used with '{transformer.name}', because its tokenizer puts no special token"
            " before a sentence. Use 'mean', or 'last' for a decoder."
        )


def _layer_number(layer: Layer, transformer: Transformer) -> int:
    """Return the index of a layer, where 0 stands for the input embeddings.

    A layer is "first", "last", or a number that may be negative, which counts backwards from the last layer (-1). For a
    model of 12 layers, numbers are from -13 to 12, and both -13 and 0 are the input embeddings.
    """
    n_layers = transformer.model.config.num_hidden_layers
    index_of = {str(k): k % (n_layers + 1) for k in range(-n_layers - 1, n_layers + 1)}
    index_of |= {"first": 1, "last": n_layers}
    if type(layer) not in (str, int) or str(layer) not in index_of:  # a truth value is no layer, although it is an int
        raise LanguageModelError(
            f"'{transformer.name}' has no `layer` {layer!r}. Use 'first', 'last', or a number from 0 (its embeddings)"
            f" to {n_layers}."
        )
    return index_of[str(layer)]
