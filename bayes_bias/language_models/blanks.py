"""Log probabilities of tokens in masked positions: what both clozes and pseudo-likelihoods are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.language_models.opening import Opened
from bayes_bias.language_models.tokens import batches, padded


@dataclass(frozen=True)
class Blank:
    """One token asked for in one masked position.

    Attributes
    ----------
    ids : tuple of int
        The sentence as the model sees it, with its masks.
    position : int
        Which of the masks is asked for.
    token : int
        The token whose probability there is wanted.
    """

    ids: tuple[int, ...]
    position: int
    token: int


def log_probabilities(opened: Opened, blanks: Sequence[Blank], batch: int) -> NDArray[np.float64]:
    """Natural-log probability of each token in its blank.

    A sentence that several blanks share is read once: all words of one piece in the same template, say.
    """
    import torch

    sharing: dict[tuple[int, ...], list[int]] = {}
    for k, blank in enumerate(blanks):
        sharing.setdefault(blank.ids, []).append(k)
    answers = np.empty(len(blanks))
    with torch.inference_mode():
        for rows in batches(sorted(sharing, key=len), batch):
            logits = opened.model(**padded(opened, rows)).logits
            asked = [(row, k) for row, ids in enumerate(rows) for k in sharing[ids]]
            at = [row for row, _ in asked], [blanks[k].position for _, k in asked]
            logs = logits[*at, [blanks[k].token for _, k in asked]] - logits.logsumexp(-1)[at]
            answers[[k for _, k in asked]] = logs.double().cpu().numpy()
    return answers
