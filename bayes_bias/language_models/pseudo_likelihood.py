"""The likelihood of whole sentences in a masked language model: pseudo-log-likelihood of pairs, AUL and AULA."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_bias.citation import Reference
from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.blanks import Blank, log_probabilities
from bayes_bias.language_models.opening_models import Opened
from bayes_bias.language_models.tokens import Tokens, batches, by_length, padded, read

CROWS_PAIRS = Reference(
    "Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring "
    "social biases in masked language models. EMNLP 2020, 1953-1967.",
    "10.18653/v1/2020.emnlp-main.154",
)
ALL_UNMASKED = Reference(
    "Kaneko, M., & Bollegala, D. (2022). Unmasking the mask: Evaluating social biases in masked language models. "
    "AAAI 2022, 36(11), 11954-11962.",
    "10.1609/aaai.v36i11.21453",
)


def of_pairs(opened: Opened, pairs: Sequence[tuple[str, str]], batch: int) -> NDArray[np.float64]:
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
    read_pairs = list(zip(*(_enclosed(opened, [pair[side] for pair in pairs]) for side in (0, 1)), strict=True))
    owners, blanks = [], []
    for k, pair in enumerate(read_pairs):
        for side, common in enumerate(_unmodified(*pair)):
            masked = [_masked_at(opened, pair[side], position) for position in common]
            blanks += masked
            owners += [2 * k + side] * len(masked)
    logs = log_probabilities(opened, blanks, batch)
    return np.bincount(owners, logs, minlength=2 * len(read_pairs)).reshape(-1, 2)


def all_unmasked(opened: Opened, sentences: Sequence[str], weighted: bool, batch: int) -> NDArray[np.float64]:
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

    tokens = _enclosed(opened, sentences)
    means = np.empty(len(tokens))
    with torch.inference_mode():
        for chosen in batches(by_length(tokens), batch):
            given = padded(opened, [tokens[k].ids for k in chosen])
            output = opened.model(**given, output_attentions=weighted)
            ids = given["input_ids"].unsqueeze(-1)
            logs = output.logits.gather(-1, ids).squeeze(-1) - output.logits.logsumexp(-1)
            if weighted:
                _check_attentions(opened, output.attentions, logs.shape[1])
                logs = logs * _received(output.attentions, given["attention_mask"])
            for row, k in enumerate(chosen):
                means[k] = logs[row, 1 : len(tokens[k]) - 1].double().mean().item()
    return means


def _check_attentions(opened: Opened, attentions: Sequence[Any] | None, length: int) -> None:
    if not attentions or any(layer.shape[-2:] != (length, length) for layer in attentions):
        raise LanguageModelError(
            f"weighted: '{opened.name}' ({type(opened.model).__name__}) does not return the attention of each token to "
            "each other one, which AULA needs; take AUL, without weights"
        )


def _received(attentions: Sequence[Any], mask: Any) -> Any:
    """The attention that each token receives, (sentence, token): mean over layers, heads, and tokens that attend."""
    over_heads = sum(layer.mean(1) for layer in attentions) / len(attentions)
    attending = mask.to(over_heads.dtype)
    return (over_heads * attending.unsqueeze(-1)).sum(1) / attending.sum(1, keepdim=True)


def _enclosed(opened: Opened, sentences: Sequence[str]) -> list[Tokens]:
    """Sentences between two special tokens."""
    tokens = read(opened, sentences)
    for sentence in tokens:
        if not (sentence.special[0] and sentence.special[-1]):
            raise LanguageModelError(
                f"model: the tokenizer of '{opened.name}' puts no special tokens around '{sentence.text}', and the "
                "first and last token are skipped; give the tokenizer that the model was trained with"
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


def _masked_at(opened: Opened, tokens: Tokens, position: int) -> Blank:
    seen = list(tokens.ids)
    seen[position] = opened.tokenizer.mask_token_id
    return Blank(tuple(seen), position, tokens.ids[position])
