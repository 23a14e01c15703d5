"""Masked language models: the probability of a word in a blank, and the likelihood of a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import LanguageModel, Transformer, check_batch, open_model
from bayes_bias.language_models.tokens import (
    Blank,
    Tokens,
    batches,
    check_known,
    check_padding,
    log_probabilities,
    padded,
    pieces,
    read,
    sort_by_length,
)
from bayes_bias.words.cloze import Cloze

# The likelihood of whole sentences in a masked language model: pseudo-log-likelihood of pairs, AUL and AULA.


def pair_scores(transformer: Transformer, pairs: Sequence[tuple[str, str]], batch: int) -> NDArray[np.float64]:
    r"""Pseudo-log-likelihood of both sentences of each pair, as in CrowS-Pairs (Nangia et al. 2020).

    .. math:: \sum_{i \in U} \log p(u_i \mid \text{sentence without } u_i)

    where `U` are the unmodified tokens: those that `difflib.SequenceMatcher` matches between both sentences, without
    the first and the last (the special ones). Each is masked in turn, while the modified tokens stay visible. Both
    sentences of a pair have the same number of terms. The result has the shape (n, 2), in nats.

    Raises
    ------
    LanguageModelError
        A pair that shares no token; a sentence that cannot be read.

    References
    ----------
    Nangia, Vania, Bhalerao & Bowman (2020), doi:10.18653/v1/2020.emnlp-main.154.
    """
    read_pairs = list(zip(*(_enclosed(transformer, [pair[side] for pair in pairs]) for side in (0, 1)), strict=True))
    owners, blanks = [], []
    for k, pair in enumerate(read_pairs):
        for side, common in enumerate(_unmodified(*pair)):
            masked = [_masked_at(transformer, pair[side], position) for position in common]
            blanks += masked
            owners += [2 * k + side] * len(masked)
    logs = log_probabilities(transformer, blanks, batch)
    return np.bincount(owners, logs, minlength=2 * len(read_pairs)).reshape(-1, 2)


def all_unmasked(transformer: Transformer, sentences: Sequence[str], weighted: bool, batch: int) -> NDArray[np.float64]:
    r"""All-unmasked likelihood of each sentence (Kaneko & Bollegala 2022).

    .. math:: \mathrm{AUL} = \frac{1}{n} \sum_i \log p(w_i \mid \text{the whole sentence}), \qquad
              \mathrm{AULA} = \frac{1}{n} \sum_i \alpha_i \log p(w_i \mid \text{the whole sentence})

    over all tokens but the first and the last, with nothing masked. AULA (``weighted=True``) weights them by the
    attention :math:`\alpha_i` that token `i` receives, averaged over layers, heads and all tokens of the sentence. As
    published, the weights do not sum to one, so AULA approaches zero in longer sentences. The result has the shape
    (n,), in nats.

    Raises
    ------
    LanguageModelError
        A sentence that cannot be read; weighted, a model that does not return attentions.

    References
    ----------
    Kaneko & Bollegala (2022), doi:10.1609/aaai.v36i11.21453.
    """
    import torch

    tokens = _enclosed(transformer, sentences)
    means = np.empty(len(tokens))
    with torch.inference_mode():
        for batch_rows in batches(sort_by_length(tokens), batch):
            inputs = padded(transformer, [tokens[k].ids for k in batch_rows])
            output = transformer.model(**inputs, output_attentions=weighted)
            ids = inputs["input_ids"].unsqueeze(-1)
            logs = output.logits.gather(-1, ids).squeeze(-1) - output.logits.logsumexp(-1)
            if weighted:
                _check_attentions(transformer, output.attentions, logs.shape[1])
                logs = logs * _received(output.attentions, inputs["attention_mask"])
            for row, k in enumerate(batch_rows):
                means[k] = logs[row, 1 : len(tokens[k]) - 1].double().mean().item()
    return means


def _check_attentions(transformer: Transformer, attentions: Sequence[Any] | None, length: int) -> None:
    if not attentions or any(layer.shape[-2:] != (length, length) for layer in attentions):
        raise LanguageModelError(
            f"weighted: '{transformer.name}' ({type(transformer.model).__name__}) does not return the attention of each"
            " token to each other one, which AULA needs; take AUL, without weights"
        )


def _received(attentions: Sequence[Any], mask: Any) -> Any:
    """The attention that each token receives, (sentence, token): mean over layers, heads, and tokens that attend."""
    over_heads = sum(layer.mean(1) for layer in attentions) / len(attentions)
    attending = mask.to(over_heads.dtype)
    return (over_heads * attending.unsqueeze(-1)).sum(1) / attending.sum(1, keepdim=True)


def _enclosed(transformer: Transformer, sentences: Sequence[str]) -> list[Tokens]:
    """Sentences between two special tokens."""
    tokens = read(transformer, sentences)
    for sentence in tokens:
        if not (sentence.special[0] and sentence.special[-1]):
            raise LanguageModelError(
                f"model: the tokenizer of '{transformer.name}' puts no special tokens around '{sentence.text}', and"
                " the first and last token are skipped; give the tokenizer that the model was trained with"
            )
    return tokens


def _unmodified(one: Tokens, other: Tokens) -> tuple[list[int], list[int]]:
    """Positions of the tokens that both sentences have, in each of them."""
    blocks = SequenceMatcher(None, one.ids, other.ids).get_matching_blocks()
    common = [(block.a + k, block.b + k) for block in blocks for k in range(block.size)][1:-1]
    if not common:
        raise LanguageModelError(
            f"pairs: '{one.text}' and '{other.text}' have no token in common; give sentences that differ in few words"
        )
    return [first for first, _ in common], [second for _, second in common]


def _masked_at(transformer: Transformer, tokens: Tokens, position: int) -> Blank:
    ids = list(tokens.ids)
    ids[position] = transformer.tokenizer.mask_token_id
    return Blank(tuple(ids), position, tokens.ids[position])


@dataclass(frozen=True, repr=False, eq=False)
class MaskedModel(LanguageModel):
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
        return self.transformer.identity(kind="masked")

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
        spans = [cloze.hidden for cloze in clozes]
        sentences = read(self.transformer, [cloze.text for cloze in clozes], unseen=spans)
        steps = [_steps(self.transformer, cloze, tokens) for cloze, tokens in zip(clozes, sentences, strict=True)]
        logs = log_probabilities(self.transformer, [blank for word in steps for blank in word], self.batch)
        ends = np.cumsum([len(word) for word in steps], dtype=int)
        return [float(logs[end - len(word) : end].sum()) for word, end in zip(steps, ends, strict=True)]

    def pseudo_log_likelihood(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Score both sentences of each pair, (n, 2), as in CrowS-Pairs; see `pair_scores`."""
        return pair_scores(self.transformer, pairs, self.batch)

    def all_unmasked(self, sentences: Sequence[str], weighted: bool = False) -> NDArray[np.float64]:
        """Return AUL (or weighted, AULA) of each sentence, (n,); see `all_unmasked`."""
        return all_unmasked(self.transformer, sentences, weighted, self.batch)


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
        torch is not installed; there is no model, or it has pickled weights, no masked-language head or no mask token.

    Examples
    --------
    >>> model = load_masked("bert-base-uncased")  # doctest: +SKIP
    >>> model([Cloze("", "She", " is a nurse.")])  # doctest: +SKIP
    """
    transformer = open_model(folder, "masked", trust=trust, device=device)
    if transformer.tokenizer.mask_token_id is None:
        raise LanguageModelError(
            f"model: the tokenizer in '{folder}' has no mask token; set `mask_token` to that of the model's "
            "training, and save it again"
        )
    check_padding(transformer, check_batch(batch))
    return MaskedModel(transformer, batch)


def _steps(transformer: Transformer, cloze: Cloze, tokens: Tokens) -> list[Blank]:
    """A blank for each piece of the word, with the pieces before it filled in and those after it masked."""
    word = pieces(transformer, tokens, cloze.start, cloze.end)
    mask_positions = {k for span in cloze.hidden for k in pieces(transformer, tokens, *span)}
    check_known(transformer, tokens, word, cloze.word)
    mask = transformer.tokenizer.mask_token_id
    ids = [mask if k in mask_positions or k in word else piece for k, piece in enumerate(tokens.ids)]
    steps = []
    for k in word:
        steps.append(Blank(tuple(ids), k, tokens.ids[k]))
        ids[k] = tokens.ids[k]
    return steps
