"""Tokens of sentences: pieces of words, their positions, and padded rows."""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.opening import Transformer, tolerance

# Marks that byte-pair and SentencePiece tokenizers use for the space before a word.
_SPACES = ("Ġ", "▁")

UNKNOWN = "%d of %d sentences have a word or sign without a token in '%s', for example '%s'"

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True)
class Tokens:
    """A sentence split into pieces."""

    text: str
    ids: tuple[int, ...]  # including special tokens
    spans: tuple[tuple[int, int], ...]  # start and end of each piece; a leading space may belong to the piece
    special: tuple[bool, ...]  # whether the tokenizer added the piece, such as [CLS] and [SEP]

    def __len__(self) -> int:
        return len(self.ids)


def read(
    transformer: Transformer,
    texts: Sequence[str],
    *,
    special: bool = True,
    unseen: Sequence[Collection[tuple[int, int]]] = (),
) -> list[Tokens]:
    """Split each sentence into pieces, without truncating it.

    With `special` tokens, those that the tokenizer puts around a sentence are included. An error is raised if a
    sentence is longer than the model's window. A notice counts sentences with unknown words outside the `unseen` spans,
    the parts of each sentence (start, end) that are hidden from the model.
    """
    check_texts(texts)
    if not texts:
        return []
    encoding = transformer.tokenizer(
        list(texts),
        add_special_tokens=special,
        padding=False,
        truncation=False,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    tokens = []
    for k, text in enumerate(texts):
        ids = tuple(encoding["input_ids"][k])
        spans = tuple((start, end) for start, end in encoding["offset_mapping"][k])
        is_special = tuple(map(bool, encoding["special_tokens_mask"][k]))
        check_length(transformer, text, len(ids))
        tokens.append(Tokens(text, ids, spans, is_special))
    _notice_unknown(transformer, tokens, unseen or [()] * len(tokens))
    return tokens


def check_texts(texts: Sequence[str]) -> None:
    """Raise an error unless all texts are sentences with words."""
    if isinstance(texts, str):
        raise LanguageModelError("`sentences` must be a list of sentences, but is a single text. Pass a list.")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str) or not text.strip():
            raise LanguageModelError(
                f"Sentence {number} must be a text with words, but is {text!r}. Correct or remove it."
            )


def check_length(transformer: Transformer, text: str, length: int) -> None:
    """Raise an error if a sentence has no token, or too many tokens for the model. `length` is their number."""
    if length == 0:
        raise LanguageModelError(
            f"The tokenizer of '{transformer.name}' has no token for the sentence '{text}'. Remove it."
        )
    if transformer.window is not None and length > transformer.window:
        raise LanguageModelError(
            f"'{transformer.name}' can read at most {transformer.window} tokens, but '{_short(text)}' has {length}."
            " Shorten the sentence, because sentences are not cut."
        )


def pieces(transformer: Transformer, tokens: Tokens, start: int, end: int) -> list[int]:
    """Return the positions of the pieces of a word, given its start and end in the text.

    A piece belongs to the word if its span of characters overlaps the word. Raise an error if the word has no piece, or
    if a piece contains letters outside the word. Some tokenizers make the space before a word a piece of its own, which
    is then the first piece of the word. `_SPACES` are the signs by which pieces mark a space.
    """
    text = tokens.text
    if not 0 <= start < end <= len(text):
        raise LanguageModelError(
            f"The span ({start}, {end}) is outside the {len(text)} characters of '{text}'. Pass (start, end) of a word."
        )
    positions = []
    for index, (first, last) in enumerate(tokens.spans):
        if first < end and start < last and not tokens.special[index]:
            positions.append(index)
    word = text[start:end]
    if not positions:
        raise LanguageModelError(
            f"The tokenizer of '{transformer.name}' has no piece for '{word}' in '{text}'. Remove the word."
        )
    for index in positions:
        first, last = tokens.spans[index]
        if text[first:start].strip() or text[end : max(last, end)].strip():
            raise LanguageModelError(
                f"'{word}' in '{text}' begins or ends within the piece '{text[first:last]}' of the tokenizer of"
                f" '{transformer.name}'. Use whole words."
            )
    # The piece before the word may contain only the space before the word. In most words, this space is part of the
    # first piece.
    before = max(positions[0] - 1, 0)
    piece, following = transformer.tokenizer.convert_ids_to_tokens([tokens.ids[before], tokens.ids[positions[0]]])
    is_lone_space = piece in _SPACES and not following.startswith(_SPACES)
    return [before, *positions] if is_lone_space else positions


def unknown(transformer: Transformer, tokens: Tokens) -> list[int]:
    """Return the positions of pieces that the tokenizer replaced by its token for unknown pieces."""
    unknown_id = transformer.tokenizer.unk_token_id
    return [k for k, piece in enumerate(tokens.ids) if piece == unknown_id and not tokens.special[k]]


def check_known(transformer: Transformer, tokens: Tokens, positions: Collection[int], word: str) -> None:
    """Raise an error if a piece of a word has no token."""
    if set(positions) & set(unknown(transformer, tokens)):
        raise LanguageModelError(
            f"The tokenizer of '{transformer.name}' has no token for '{word}'. Remove the word, or use another one."
        )


def batches[T](rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split rows into batches of this size."""
    return (rows[first : first + size] for first in range(0, len(rows), size))


def sort_by_length(rows: Sequence[Tokens]) -> list[int]:
    """Return the order of rows that requires the least padding."""
    return sorted(range(len(rows)), key=lambda k: len(rows[k]))


def padded(transformer: Transformer, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Pad rows of tokens to equal length, and return the inputs of the model.

    The attention mask is 1 for tokens and 0 for padding.
    """
    import torch

    filler = transformer.tokenizer.pad_token_id or 0  # also without a token for padding
    longest = max(map(len, rows))
    ids, mask = [], []
    for row in rows:
        n_missing = longest - len(row)
        ids.append([*row, *[filler] * n_missing])
        mask.append([1] * len(row) + [0] * n_missing)
    device = transformer.model.device
    return {"input_ids": torch.tensor(ids, device=device), "attention_mask": torch.tensor(mask, device=device)}


def check_padding(transformer: Transformer, batch: int) -> None:
    """Raise an error if the padding affects a model, because its results would depend on the batch.

    The output for a short sentence alone is compared with its output beside a longer one, for which it is padded. The
    first output of a model has the shape (sentence, token, dimension), or (sentence, token, vocabulary) for logits.
    """
    import torch

    if batch == 1:
        return
    short = transformer.tokenizer("a")["input_ids"]
    with torch.inference_mode():
        alone = transformer.model(**padded(transformer, [short]))[0][0]
        beside = transformer.model(**padded(transformer, [short, [*short, *short]]))[0][0, : len(short)]
    if not torch.allclose(alone, beside, **tolerance(transformer.model)):
        raise LanguageModelError(
            f"'{transformer.name}' sees the padding of shorter sentences, so its numbers would depend on the batch."
            " Open it with batch=1."
        )


def _notice_unknown(
    transformer: Transformer, tokens: Sequence[Tokens], unseen: Sequence[Collection[tuple[int, int]]]
) -> None:
    """Log how many sentences contain an unknown word outside the unseen spans.

    `unseen` has the spans of each sentence that are hidden from the model, so that unknown words there do not matter.
    """
    if transformer.tokenizer.unk_token_id is None:
        return
    with_unknown = []  # sentences
    for sentence, unseen_spans in zip(tokens, unseen, strict=True):
        unknown_spans = {sentence.spans[k] for k in unknown(transformer, sentence)}
        if unknown_spans - set(unseen_spans):
            with_unknown.append(sentence.text)
    if with_unknown:
        logger.warning(UNKNOWN, len(with_unknown), len(tokens), transformer.name, _short(with_unknown[0]))


def _short(text: str) -> str:
    """Return the beginning of a text, for an error message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


# The tokens whose mean vector represents the sentence.

type Pooling = Literal["cls", "mean", "mean-content", "word", "last"]

POOLINGS = ("cls", "mean", "mean-content", "word", "last")


def averaged(transformer: Transformer, tokens: Tokens, pooling: Pooling, span: tuple[int, int] | None) -> list[int]:
    """Return the positions of the tokens to average, as described in `load_encoder`.

    `span` is the start and end of the word, for pooling "word". An error is raised if there are only special tokens.
    """
    if pooling == "word" and span is not None:
        return pieces(transformer, tokens, *span)
    if pooling == "cls":
        return [0]
    if pooling == "last":
        return [len(tokens) - 1]
    positions = [k for k in range(len(tokens)) if pooling == "mean" or not tokens.special[k]]
    if not positions:
        raise LanguageModelError(
            f"'{tokens.text}' has only special tokens in '{transformer.name}'. Remove the sentence."
        )
    return positions


# Log probabilities of single tokens.


@dataclass(frozen=True)
class Blank:
    """A row of tokens, the position at which the output is read, and the token whose probability is computed there.

    The token replaces a mask, or follows the last token.
    """

    ids: tuple[int, ...]
    position: int
    token: int


def log_probabilities(transformer: Transformer, blanks: Sequence[Blank], batch: int) -> NDArray[np.float64]:
    r"""Compute the natural-log probability of each token in its blank.

    With the logits :math:`z_v` of all tokens v of the vocabulary at the position of the blank, the log probability of
    the token w is :math:`z_w - \log \sum_v \exp z_v`. Blanks with the same row of tokens are read together, only once.
    """
    import torch

    blanks_with_ids: dict[tuple[int, ...], list[int]] = {}  # the indices of all blanks with the same row of tokens
    for k, blank in enumerate(blanks):
        blanks_with_ids.setdefault(blank.ids, []).append(k)
    values = np.empty(len(blanks))
    with torch.inference_mode():
        for rows in batches(sorted(blanks_with_ids, key=len), batch):
            # (row, position, vocabulary). The lists are parallel, and three of them select the logit of each blank.
            logits = transformer.model(**padded(transformer, rows)).logits.float()
            indices, at_row, at_position, tokens = [], [], [], []
            for row, ids in enumerate(rows):
                for k in blanks_with_ids[ids]:
                    indices.append(k)
                    at_row.append(row)
                    at_position.append(blanks[k].position)
                    tokens.append(blanks[k].token)
            logs = logits[at_row, at_position, tokens] - logits.logsumexp(-1)[at_row, at_position]
            values[indices] = logs.double().cpu().numpy()
    return values
