"""A large vocabulary is debiased in little memory."""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from bayes_bias.debiasing import debiaser_names, make_debiaser
from tests.helpers import numbered

PAIRS = [(f"she{i}", f"he{i}") for i in range(200)]
# INLP's own 35 iterations need more labelled words than the pairs have.
SETTINGS = {"inlp": {"iterations": 5, "most_biased": 1000}, "leace": {"most_biased": 1000}}

STATUS = Path("/proc/self/status")


@pytest.mark.thorough
@pytest.mark.parametrize("name", debiaser_names())
def test_debiasing_of_million_words_requires_below_two_gigabytes(name: str) -> None:
    if not STATUS.exists():
        pytest.skip("only Linux tells the memory of a process without that of its parent")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as own_process:
        assert own_process.submit(peak_memory, name).result() < 2e9


def peak_memory(name: str) -> float:
    """The most bytes that this process has held, once it has debiased a million words of 50 dimensions.

    RAN compares each neutral word with all others, and has a hundred neutral ones.
    """
    words = [*numbered("w", 10**6 - 2 * len(PAIRS)), *chain(*PAIRS)]
    rows = np.random.default_rng(1).normal(size=(len(words), 50)).astype(np.float32)
    vectors = dict(zip(words, rows, strict=True))
    sets = {"defining_sets": PAIRS, "independent": words[:100], "specific": words[100:] if name == "ran" else ()}
    debiased = make_debiaser(name, SETTINGS.get(name, {})).fit_transform(vectors, sets)
    assert len(debiased) == len(vectors)
    # `resource.getrusage` would include the process that started this one, which has run other tests.
    (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB$", STATUS.read_text(), re.MULTILINE)
    return 1024 * float(kilobytes)
