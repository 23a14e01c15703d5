"""Answers whose truth is known, as a row for each word choice."""

import numpy as np
import pandas as pd

from tests.helpers import numbered

LIST = {
    "groups": {"men": numbered("man", 6), "women": numbered("woman", 6)},
    "classes": {"career": numbered("job", 4), "family": numbered("home", 5)},
    "stereotypes": {"men": "career", "women": "family"},
}
WORDS = [*LIST["classes"]["career"], *LIST["classes"]["family"]]


def answers(
    number: int = 200, *, mean: float = 0.4, labels: int = 6, wordings: int = 3, sd_label: float = 0.2, seed: int = 1
) -> pd.DataFrame:
    """So many answers, with effects of labels on the share of stereotypical choices; questions are always the same."""
    asking, rng = np.random.default_rng(0), np.random.default_rng(seed)
    effects = rng.normal(0, sd_label, (2, labels))
    rows = []
    for answer in range(number):
        a, b, wording = asking.integers(labels), asking.integers(labels), asking.integers(wordings)
        share = (1 + np.clip(mean + effects[0, a] + effects[1, b], -0.98, 0.98)) / 2
        stereotypical = rng.random(len(WORDS)) < rng.beta(2 * share, 2 * (1 - share))
        first, second = f"man{a}", f"woman{b}"
        for word, hit in zip(WORDS, stereotypical, strict=True):
            chosen = first if hit == word.startswith("job") else second
            rows.append((answer, word, second, first, chosen, f"wording {wording}", (first, second)[answer % 2]))
    return pd.DataFrame(rows, columns=["answer", "word", "label_a", "label_b", "chosen", "wording", "first"])
