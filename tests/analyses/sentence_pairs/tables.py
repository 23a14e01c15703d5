"""Simulated scores of sentence pairs, for tests alone."""

import numpy as np
import pandas as pd

from tests.helpers import numbered


def simulated(pairs: int = 240, writers: int = 16, sd: float = 0.7, seed: int = 3) -> pd.DataFrame:
    """Pairs of three types by writers who write ever more, and differ by `sd`."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, writers + 1) ** 1.5
    writer = np.sort(rng.choice(writers, size=pairs, p=share / share.sum()))
    difference = 0.4 + sd * rng.standard_normal(writers)[writer] + rng.standard_t(4, pairs)
    less = -20 + 3 * rng.standard_normal(pairs)
    frame = pd.DataFrame({"item": numbered("pair ", pairs), "score_more": less + difference, "score_less": less})
    frame["bias_type"] = np.array(["age", "gender", "religion"])[rng.integers(3, size=pairs)]
    return frame.assign(writer=[f"w{k}" for k in writer])
