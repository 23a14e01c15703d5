"""Log probabilities of tokens in masked positions, for clozes and pseudo-likelihoods."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.language_models.opening_models import Opened
from bayes_bias.language_models.tokens import batches, padded


@dataclass(frozen=True)
class Blank:
    """A sentence as the model sees it, the position of one of its masks, and the token that may stand there."""

    ids: tuple[int, ...]
    position: int
    token: int


def log_probabilities(opened: Opened, blanks: Sequence[Blank], batch: int) -> NDArray[np.float64]:
    """Natural-log probability of each token in its blank; a sentence that several blanks share is read once."""
    import torch

    sharing: dict[tuple[int, ...], list[int]] = {}
    for k, blank in enumerate(blanks):
        sharing.setdefault(blank.ids, []).append(k)
    values = np.empty(len(blanks))
    with torch.inference_mode():
        for rows in batches(sorted(sharing, key=len), batch):
            logits = opened.model(**padded(opened, rows)).logits
            of_row = [row for row, ids in enumerate(rows) for _ in sharing[ids]]
            chosen = [k for ids in rows for k in sharing[ids]]
            at = of_row, [blanks[k].position for k in chosen]
            logs = logits[*at, [blanks[k].token for k in chosen]] - logits.logsumexp(-1)[at]
            values[chosen] = logs.double().cpu().numpy()
    return values
