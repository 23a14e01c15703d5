"""Causal language models: the likelihood of a sentence, from its first token to its last."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import LanguageModel, Transformer, check_batch, open_model
from bayes_bias.language_models.tokens import batches, check_length, check_padding, padded, read, sort_by_length


@dataclass(frozen=True, repr=False, eq=False)
class CausalModel(LanguageModel):
    """A causal language model.

    Attributes
    ----------
    before : int
        The token before each sentence, which gives the first one a probability.
    batch : int
        How many sentences it reads at a time; numbers do not depend on it.
    """

    before: int
    batch: int = 32

    @property
    def identity(self) -> str:
        """A hash of its files and of the token before each sentence."""
        return self.transformer.identity(kind="causal", before=self.before)

    def log_likelihood(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        r"""Natural-log likelihood of each sentence, (n,): the sum over its tokens of

        .. math:: \log p(w_i \mid b, w_1 \ldots w_{i-1})

        where the token `b` begins a text. It is a sum, so the longer of two sentences tends to have the lower value.
        The signed difference within a pair measures bias. Its absolute value, which is sometimes reported, has an
        expectation above zero in a model without bias.

        Raises
        ------
        LanguageModelError
            A sentence is empty, or longer than the model's window.
        """
        import torch

        tokens = read(self.transformer, sentences, special=False)
        for sentence in tokens:
            check_length(self.transformer, sentence.text, len(sentence) + 1)
        sums = np.empty(len(tokens))
        with torch.inference_mode():
            for rows in batches(sort_by_length(tokens), self.batch):
                inputs = padded(self.transformer, [[self.before, *tokens[k].ids] for k in rows])
                logits = self.transformer.model(**inputs).logits[:, :-1]
                following = inputs["input_ids"][:, 1:].unsqueeze(-1)
                logs = logits.gather(-1, following).squeeze(-1) - logits.logsumexp(-1)
                for row, k in enumerate(rows):
                    sums[k] = logs[row, : len(tokens[k])].double().sum().item()
        return sums


def load_causal(folder: str | Path, *, batch: int = 32, trust: bool = False, device: str | None = None) -> CausalModel:
    """Open a causal language model of Hugging Face's format (GPT-2, ...); needs ``bayes-bias[transformers]``.

    The token before each sentence is the tokenizer's for the beginning of a text, or else for the end of one.

    Parameters
    ----------
    folder, batch, trust, device
        See `load_masked`.

    Raises
    ------
    LanguageModelError
        torch is not installed; there is no model, its weights are pickled, or it sees the tokens that follow; its
        tokenizer has no token that begins or ends a text.
    """
    transformer = open_model(folder, "causal", trust=trust, device=device)
    before = transformer.tokenizer.bos_token_id
    before = transformer.tokenizer.eos_token_id if before is None else before
    _check_causal(transformer)
    if before is None:
        raise LanguageModelError(
            f"model: the tokenizer in '{folder}' has no token for the beginning or end of a text, so a sentence's "
            "first token has no probability; set its `bos_token`, and save it again"
        )
    check_padding(transformer, check_batch(batch))
    return CausalModel(transformer, int(before), batch)


def _check_causal(transformer: Transformer) -> None:
    """BERT opens as a causal model too, and then sees each token that it predicts."""
    import torch

    with torch.inference_mode():
        rows = torch.tensor([[0, 1], [0, 2]], device=transformer.model.device) % len(transformer.tokenizer)
        first = transformer.model(input_ids=rows).logits[:, 0]
    if not torch.allclose(first[0], first[1], atol=1e-5):
        raise LanguageModelError(
            f"model: '{transformer.name}' sees the tokens that follow, so it is not causal; open it with load_masked"
        )
