"""Masked language models: the probability of a word in a blank, and the likelihood of a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models import pseudo_likelihood
from bayes_bias.language_models.blanks import Blank, log_probabilities
from bayes_bias.language_models.opening_models import Opened, OpenedModel, check_batch, open_model
from bayes_bias.language_models.tokens import Tokens, check_padding, pieces, read, unknown
from bayes_bias.words.cloze import Cloze


@dataclass(frozen=True, repr=False, eq=False)
class MaskedModel(OpenedModel):
    """A masked language model; called with clozes it gives their log probabilities.

    Attributes
    ----------
    batch : int
        How many sentences it reads at a time; numbers do not depend on it.
    """

    batch: int = 32

    @property
    def identity(self) -> str:
        """A hash of its files: the same for the same numbers."""
        return self.opened.identity(kind="masked")

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        r"""Natural-log probability of each word in its blank.

        A word of several pieces :math:`w_1 \ldots w_k` has as many masks as pieces, filled from left to right:

        .. math:: \log p(w) = \sum_i \log p(w_i \mid w_1 \ldots w_{i-1}, \text{rest})

        which is the joint probability of the pieces that the word has in its sentence, given their number. Hidden spans
        are masked throughout, a mask for each piece.

        Raises
        ------
        LanguageModelError
            A word that the tokenizer has no token for; a word or span that does not end where a piece does; a
            sentence longer than the model's window.
        """
        hidden = [cloze.hidden for cloze in clozes]
        sentences = read(self.opened, [cloze.text for cloze in clozes], unseen=hidden)
        steps = [_steps(self.opened, cloze, tokens) for cloze, tokens in zip(clozes, sentences, strict=True)]
        logs = log_probabilities(self.opened, [blank for word in steps for blank in word], self.batch)
        ends = np.cumsum([len(word) for word in steps], dtype=int)
        return [float(logs[end - len(word) : end].sum()) for word, end in zip(steps, ends, strict=True)]

    def pseudo_log_likelihood(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Of both sentences of each pair, (n, 2), as in CrowS-Pairs; see `pseudo_likelihood.of_pairs`."""
        return pseudo_likelihood.of_pairs(self.opened, pairs, self.batch)

    def all_unmasked(self, sentences: Sequence[str], weighted: bool = False) -> NDArray[np.float64]:
        """AUL (or weighted, AULA) of each sentence, (n,); see `pseudo_likelihood.all_unmasked`."""
        return pseudo_likelihood.all_unmasked(self.opened, sentences, weighted, self.batch)


def load_masked(folder: str | Path, *, batch: int = 32, trust: bool = False, device: str | None = None) -> MaskedModel:
    """Open a masked language model of Hugging Face's format (BERT, RoBERTa, ...); needs ``bayes-bias[transformers]``.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_pretrained` wrote, or a name on the hub.
    batch : int, optional
        How many sentences it reads at a time.
    trust : bool, optional
        Whether pickled weights may be opened, which can run code.
    device : str, optional
        Where torch computes: "cpu" (the default, with the same numbers everywhere), "cuda", "mps".

    Raises
    ------
    LanguageModelError
        torch is not installed; no model, no masked-language head, no mask token, pickled weights.

    Examples
    --------
    >>> model = load_masked("bert-base-uncased")  # doctest: +SKIP
    >>> model([Cloze("", "She", " is a nurse.")])  # doctest: +SKIP
    """
    opened = open_model(folder, "masked", trust=trust, device=device)
    if opened.tokenizer.mask_token_id is None:
        raise LanguageModelError(
            f"model: the tokenizer in '{folder}' has no mask token; set `mask_token` to that of the model's "
            "training, and save it again"
        )
    check_padding(opened, check_batch(batch))
    return MaskedModel(opened, batch)


def _steps(opened: Opened, cloze: Cloze, tokens: Tokens) -> list[Blank]:
    """A blank for each piece of the word, with the pieces before it filled in and those after it masked."""
    word = pieces(opened, tokens, cloze.start, cloze.end)
    hidden = {k for span in cloze.hidden for k in pieces(opened, tokens, *span)}
    if set(word) & set(unknown(opened, tokens)):
        raise LanguageModelError(
            f"word: the tokenizer of '{opened.name}' has no token for '{cloze.word}'; leave it out, or take another"
        )
    mask = opened.tokenizer.mask_token_id
    seen = [mask if k in hidden or k in word else piece for k, piece in enumerate(tokens.ids)]
    steps = []
    for k in word:
        steps.append(Blank(tuple(seen), k, tokens.ids[k]))
        seen[k] = tokens.ids[k]
    return steps
