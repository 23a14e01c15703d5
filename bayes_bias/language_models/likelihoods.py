"""Masked and causal language models: the probability of a word in a context, and the likelihood of a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import Dtype, LanguageModel, Transformer, check_batch, open_model, tolerance
from bayes_bias.language_models.tokens import (
    Blank,
    Tokens,
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

# Likelihoods of whole sentences in a masked language model: pseudo-log-likelihood of pairs, AUL, and AULA.


def pair_scores(transformer: Transformer, pairs: Sequence[tuple[str, str]], batch: int) -> NDArray[np.float64]:
    r"""Compute the pseudo-log-likelihood of both sentences of each pair, as in CrowS-Pairs (Nangia et al. 2020).

    .. math:: \sum_{i \in U} \log p(u_i \mid \text{sentence without } u_i)

    where `U` are the unmodified tokens, that is, the tokens that `difflib.SequenceMatcher` matches between both
    sentences, except the first and the last token, which are special. Each unmodified token is masked in turn, while
    the modified tokens stay visible. Both sentences of a pair have the same number of terms. The result has the shape
    (n, 2), in nats.

    Raises
    ------
    LanguageModelError
        If a pair shares no token, or a sentence cannot be read.

    References
    ----------
    Nangia, Vania, Bhalerao & Bowman (2020), doi:10.18653/v1/2020.emnlp-main.154.
    """
    # Each blank is a sentence in which one unmodified token is masked. Its owner is the sentence, as 2 * pair + side.
    first_sentences = _read_enclosed(transformer, [first for first, _ in pairs])
    second_sentences = _read_enclosed(transformer, [second for _, second in pairs])
    owners, blanks = [], []
    for k, pair in enumerate(zip(first_sentences, second_sentences, strict=True)):
        unmodified = _unmodified_positions(*pair)
        for side, tokens in enumerate(pair):
            for position in unmodified[side]:
                ids = list(tokens.ids)
                ids[position] = transformer.tokenizer.mask_token_id
                blanks.append(Blank(tuple(ids), position, tokens.ids[position]))
                owners.append(2 * k + side)
    logs = log_probabilities(transformer, blanks, batch)
    return np.bincount(owners, logs, minlength=2 * len(pairs)).reshape(-1, 2)


def all_unmasked(transformer: Transformer, sentences: Sequence[str], weighted: bool, batch: int) -> NDArray[np.float64]:
    r"""Compute the all-unmasked likelihood of each sentence (Kaneko & Bollegala 2022).

    .. math:: \mathrm{AUL} = \frac{1}{n} \sum_i \log p(w_i \mid \text{the whole sentence}), \qquad
              \mathrm{AULA} = \frac{1}{n} \sum_i \alpha_i \log p(w_i \mid \text{the whole sentence})

    over all tokens except the first and the last. No token is masked. AULA (``weighted=True``) weights them by the
    attention :math:`\alpha_i` that token `i` receives, averaged over layers, heads and all tokens of the sentence. As
    published, the weights do not sum to one, so AULA approaches zero in longer sentences. The result has the shape
    (n,), in nats.

    Raises
    ------
    LanguageModelError
        If a sentence cannot be read, or with weights if the model does not return attentions.

    References
    ----------
    Kaneko & Bollegala (2022), doi:10.1609/aaai.v36i11.21453.
    """
    import torch

    tokens = _read_enclosed(transformer, sentences)
    means = np.empty(len(tokens))
    with torch.inference_mode():
        for batch_rows in batches(sort_by_length(tokens), batch):
            inputs = padded(transformer, [tokens[k].ids for k in batch_rows])
            output = transformer.model(**inputs, output_attentions=weighted)
            # The log probability of each token at its own position (sentence, token): its logit, minus the log of the
            # sum of the exponentials of all logits.
            ids = inputs["input_ids"].unsqueeze(-1)
            logs = output.logits.gather(-1, ids).squeeze(-1) - output.logits.logsumexp(-1)
            if weighted:
                logs = logs * _attention_received(transformer, output.attentions, inputs["attention_mask"])
            for row, k in enumerate(batch_rows):
                # The mean without the first and the last token, which are special, and without padding after them.
                means[k] = logs[row, 1 : len(tokens[k]) - 1].double().mean().item()
    return means


def _attention_received(transformer: Transformer, attentions: Sequence[Any] | None, mask: Any) -> Any:
    r"""Return the attention that each token receives (sentence, token), averaged over layers, heads, and tokens.

    `attentions` has the attention of each layer (sentence, head, attending token, attended token), and `mask` is 1 for
    tokens and 0 for padding, which is excluded from the mean over attending tokens. With the mean attention
    :math:`A_{ij}` of token i to token j over layers and heads, and the mask m, token j receives :math:`\sum_i m_i
    A_{ij} / \sum_i m_i`.
    """
    length = mask.shape[1]
    if not attentions or any(layer.shape[-2:] != (length, length) for layer in attentions):
        raise LanguageModelError(
            f"AULA requires the attention of each token to all others, which '{transformer.name}'"
            f" ({type(transformer.model).__name__}) does not return. Use AUL instead, without weights."
        )
    mean_attention = sum(layer.mean(1) for layer in attentions) / len(attentions)  # (sentence, attending, attended)
    attending = mask.to(mean_attention.dtype)  # m
    return (mean_attention * attending.unsqueeze(-1)).sum(1) / attending.sum(1, keepdim=True)


def _read_enclosed(transformer: Transformer, sentences: Sequence[str]) -> list[Tokens]:
    """Read sentences, and check that each begins and ends with a special token, such as [CLS] and [SEP].

    `special` is True for these tokens, which the likelihoods skip.
    """
    tokens = read(transformer, sentences)
    for sentence in tokens:
        if not (sentence.special[0] and sentence.special[-1]):
            raise LanguageModelError(
                f"The tokenizer of '{transformer.name}' puts no special tokens around '{sentence.text}', but the first"
                " and last token are skipped. Use the tokenizer that the model was trained with."
            )
    return tokens


def _unmodified_positions(first: Tokens, second: Tokens) -> tuple[list[int], list[int]]:
    """Return the positions of the tokens that both sentences share, in the first and in the second sentence.

    The first and the last shared token are omitted, because they are the special tokens around each sentence.
    """
    in_first: list[int] = []
    in_second: list[int] = []
    for block in SequenceMatcher(None, first.ids, second.ids).get_matching_blocks():
        in_first += range(block.a, block.a + block.size)
        in_second += range(block.b, block.b + block.size)
    if len(in_first) <= 2:  # only the two special tokens are shared
        raise LanguageModelError(
            f"'{first.text}' and '{second.text}' have no token in common. Pass pairs of sentences that differ in few"
            " words."
        )
    return in_first[1:-1], in_second[1:-1]


@dataclass(frozen=True, repr=False, eq=False)
class MaskedModel(LanguageModel):
    """A masked language model. Calling it with clozes returns their log probabilities.

    Attributes
    ----------
    batch : int
        Number of sentences that it reads at a time. This does not affect the results.
    """

    batch: int = 32

    @property
    def identity(self) -> str:
        """A hash of the model files. Models with the same hash return the same results."""
        return self.transformer.identity(kind="masked")

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        r"""Return the natural-log probability of each word in its blank.

        If a word has several pieces :math:`w_1 \ldots w_k`, its blank contains one mask for each piece. The masks are
        filled from left to right:

        .. math:: \log p(w) = \sum_i \log p(w_i \mid w_1 \ldots w_{i-1}, \text{rest})

        which is the joint probability of the pieces of the word in this sentence, given the number of pieces. Hidden
        spans are always masked, with one mask for each piece.

        Raises
        ------
        LanguageModelError
            If the tokenizer has no token for a word, a word or span does not end where a piece ends, or a sentence is
            longer than the model's window.
        """
        spans = [cloze.hidden for cloze in clozes]
        sentences = read(self.transformer, [cloze.text for cloze in clozes], unseen=spans)
        blanks: list[Blank] = []
        ends = []  # of the blanks of each word
        for cloze, tokens in zip(clozes, sentences, strict=True):
            blanks += self._blanks(cloze, tokens)
            ends.append(len(blanks))
        logs = log_probabilities(self.transformer, blanks, self.batch)
        return [float(logs_of_word.sum()) for logs_of_word in np.split(logs, ends)[:-1]]

    def _blanks(self, cloze: Cloze, tokens: Tokens) -> list[Blank]:
        """Create a blank for each piece of the word. Earlier pieces are filled in, and later pieces are masked.

        The pieces of hidden spans are masked in all blanks. A blank is a row of tokens, the position of its mask, and
        the token whose probability is computed there.
        """
        positions = pieces(self.transformer, tokens, cloze.start, cloze.end)  # of the pieces of the word
        masked = set(positions)
        for span in cloze.hidden:
            masked.update(pieces(self.transformer, tokens, *span))
        check_known(self.transformer, tokens, positions, cloze.word)
        mask = self.transformer.tokenizer.mask_token_id
        ids = [mask if k in masked else piece for k, piece in enumerate(tokens.ids)]
        blanks = []
        for k in positions:
            blanks.append(Blank(tuple(ids), k, tokens.ids[k]))
            ids[k] = tokens.ids[k]  # filled in for the next pieces
        return blanks

    def pseudo_log_likelihood(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Score both sentences of each pair, (n, 2), as in CrowS-Pairs. See `pair_scores`."""
        return pair_scores(self.transformer, pairs, self.batch)

    def all_unmasked(self, sentences: Sequence[str], weighted: bool = False) -> NDArray[np.float64]:
        """Return AUL (or with weights, AULA) of each sentence, (n,). See `all_unmasked`."""
        return all_unmasked(self.transformer, sentences, weighted, self.batch)


def load_masked(folder: str | Path, *, batch: int = 32, trust: bool = False, device: str | None = None) -> MaskedModel:
    """Open a masked language model in the format of Hugging Face (BERT, ...), with ``bayes-bias[transformers]``.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_pretrained` wrote, or a name on the hub.
    batch : int, optional
        Number of sentences that it reads at a time.
    trust : bool, optional
        Open pickled weights, which can run code. Use this only for models that you trust.
    device : str, optional
        Device of torch: "cpu" (the default, with the same numbers everywhere), "cuda", or "mps".

    Raises
    ------
    LanguageModelError
        If torch is not installed, if the model does not exist, or if it has pickled weights, no masked-language head,
        or no mask token.

    Examples
    --------
    >>> model = load_masked("bert-base-uncased")  # doctest: +SKIP
    >>> model([Cloze("", "She", " is a nurse.")])  # doctest: +SKIP
    """
    transformer = open_model(folder, "masked", trust=trust, device=device)
    if transformer.tokenizer.mask_token_id is None:
        raise LanguageModelError(
            f"The tokenizer in '{folder}' has no mask token. Set `mask_token` to the token of the model's training, and"
            " save it again."
        )
    check_padding(transformer, check_batch(batch))
    return MaskedModel(transformer, batch)


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
            positions = pieces(transformer, sentence, cloze.start, cloze.end)  # of the pieces of the word
            check_known(transformer, sentence, positions, cloze.word)
            # With the token `before` the text, the output at position k predicts the piece at position k.
            seen = (self.before, *sentence.ids[: positions[-1]])
            blanks += [Blank(seen, k, sentence.ids[k]) for k in positions]
            owners += [owner] * len(positions)
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
                # The output at each token predicts the following one, so the output at the last token is not used.
                logits = self.transformer.model(**inputs).logits[:, :-1].float()
                following = inputs["input_ids"][:, 1:].unsqueeze(-1)
                logs = logits.gather(-1, following).squeeze(-1) - logits.logsumexp(-1)
                # The first tokens of a row are those of the sentence, and the others are padding.
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
    before = transformer.tokenizer.bos_token_id  # beginning of text
    before = transformer.tokenizer.eos_token_id if before is None else before  # end of text
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

    For example, transformers can open BERT as a causal model, although BERT sees the tokens that it predicts. Two rows
    of tokens are read that differ only in the second token. In a causal model, the output at the first token is equal
    in both rows, up to rounding errors (`tolerance`).
    """
    import torch

    with torch.inference_mode():
        rows = torch.tensor([[0, 1], [0, 2]], device=transformer.model.device) % len(transformer.tokenizer)
        first = transformer.model(input_ids=rows).logits[:, 0]
    if not torch.allclose(first[0], first[1], atol=tolerance(transformer.model)["atol"] / 10):
        raise LanguageModelError(
            f"'{transformer.name}' sees the tokens that follow, so it is not a causal model. Open it with"
            " `load_masked` (--masked)."
        )
