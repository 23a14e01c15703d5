"""Causal language models: the likelihood of a sentence, and the probability of a word given the text before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import Dtype, LanguageModel, Transformer, check_batch, open_model, tolerance
from bayes_bias.language_models.tokens import (
    Blank,
    batches,
    check_known,
    check_length,
    check_padding,
    log_probabilities,
    padded,
    pieces,
    read,
    sort_by_length,
)
from bayes_bias.words.templates import Cloze


@dataclass(frozen=True, repr=False, eq=False)
class CausalModel(LanguageModel):
    """A causal language model.

    Attributes
    ----------
    before : int
        The token that is inserted before each sentence, so that the first token of the sentence has a probability.
    batch : int
        Number of sentences that it reads at a time, which does not affect the results.
    """

    before: int
    batch: int = 32
    # A word is predicted only from the text before it.
    is_causal: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """A hash of the model files and of the token before each sentence."""
        return self.transformer.identity(kind="causal", before=self.before)

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        r"""Return the natural-log probability of each word after the text before it.

        If a word has several pieces :math:`w_1 \ldots w_k`, its probability is the joint probability of the pieces by
        the chain rule,

        .. math:: \log p(w) = \sum_i \log p(w_i \mid b, \text{text before}, w_1 \ldots w_{i-1})

        where the token `b` begins a text. The model does not read the text after the word. Hidden words, such as the
        "something" of a prior, stay unchanged, because a causal model has no mask.

        Raises
        ------
        LanguageModelError
            If a word comes before another word that it depends on, if the tokenizer has no token for a word, if a word
            does not end where a piece ends, or if a sentence is longer than the model's window.
        """
        transformer = self.transformer
        tokens = read(transformer, [cloze.text for cloze in clozes], special=False)
        blanks: list[Blank] = []
        owners: list[int] = []
        for owner, cloze in enumerate(clozes):
            sentence = tokens[owner]
            check_length(transformer, sentence.text, len(sentence) + 1)
            word = pieces(transformer, sentence, cloze.start, cloze.end)
            check_known(transformer, sentence, word, cloze.word)
            seen = (self.before, *sentence.ids[: word[-1]])
            blanks += [Blank(seen, k, sentence.ids[k]) for k in word]
            owners += [owner] * len(word)
        logs = log_probabilities(transformer, blanks, self.batch)
        return np.bincount(owners, logs, minlength=len(clozes)).tolist()

    def log_likelihood(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        r"""Return the natural-log likelihood of each sentence, (n,), the sum over its tokens of

        .. math:: \log p(w_i \mid b, w_1 \ldots w_{i-1})

        where the token `b` begins a text. Because the likelihood is a sum, the longer of two sentences tends to have
        the lower value. Use the signed difference within a pair to measure bias. The absolute difference, which is
        sometimes reported, has an expectation above zero even in a model without bias.

        Raises
        ------
        LanguageModelError
            If a sentence is empty, or longer than the model's window.
        """
        import torch

        tokens = read(self.transformer, sentences, special=False)
        for sentence in tokens:
            check_length(self.transformer, sentence.text, len(sentence) + 1)
        sums = np.empty(len(tokens))
        with torch.inference_mode():
            for rows in batches(sort_by_length(tokens), self.batch):
                inputs = padded(self.transformer, [[self.before, *tokens[k].ids] for k in rows])
                logits = self.transformer.model(**inputs).logits[:, :-1].float()
                following = inputs["input_ids"][:, 1:].unsqueeze(-1)
                logs = logits.gather(-1, following).squeeze(-1) - logits.logsumexp(-1)
                for row, k in enumerate(rows):
                    sums[k] = logs[row, : len(tokens[k])].double().sum().item()
        return sums


def load_causal(
    folder: str | Path,
    *,
    batch: int = 32,
    trust: bool = False,
    device: str | None = None,
    dtype: Dtype = "float32",
    device_map: str | None = None,
) -> CausalModel:
    """Open a causal language model in the format of Hugging Face (GPT-2, ...), with ``bayes-bias[transformers]``.

    The token before each sentence is the tokenizer's beginning-of-text token or, if there is none, its end-of-text
    token.

    Parameters
    ----------
    folder, batch, trust, device
        See `load_masked`.
    dtype : {"float32", "bfloat16", "float16"}
        Type of the weights. With two bytes for each weight, a model needs half the memory, but log probabilities are
        rounded to two or three digits. Sums over tokens always use more digits.
    device_map : str, optional
        How to distribute a model over devices, such as "auto". This requires the package accelerate, and cannot be
        combined with `device`.

    Raises
    ------
    LanguageModelError
        If torch is not installed, if there is no model, if the weights are pickled, if the model is not causal, or if
        the tokenizer has no token that begins or ends a text.
    """
    transformer = open_model(folder, "causal", trust=trust, device=device, dtype=dtype, device_map=device_map)
    before = transformer.tokenizer.bos_token_id
    before = transformer.tokenizer.eos_token_id if before is None else before
    _check_causal(transformer)
    if before is None:
        raise LanguageModelError(
            f"The tokenizer in '{folder}' has no token for the beginning or end of a text, so the first token of a"
            " sentence has no probability. Set its `bos_token`, and save it again."
        )
    check_padding(transformer, check_batch(batch))
    return CausalModel(transformer, int(before), batch)


def _check_causal(transformer: Transformer) -> None:
    """Raise an error if a model sees the tokens that it predicts.

    For example, transformers can open BERT as a causal model, although BERT sees the tokens that it predicts.
    """
    import torch

    with torch.inference_mode():
        rows = torch.tensor([[0, 1], [0, 2]], device=transformer.model.device) % len(transformer.tokenizer)
        first = transformer.model(input_ids=rows).logits[:, 0]
    if not torch.allclose(first[0], first[1], atol=tolerance(transformer.model)["atol"] / 10):
        raise LanguageModelError(
            f"'{transformer.name}' sees the tokens that follow, so it is not a causal model. Open it with"
            " `load_masked`."
        )
