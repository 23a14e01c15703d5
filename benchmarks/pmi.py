"""Tables of PMI from texts whose words have a known bias: do intervals over texts contain it?

The log rate with which a target and an attribute co-occur in a text is the sum of their frequencies, the bias, random
preferences of words, and random deviations of the text, of which one is shared by all words. Each list has new words
and texts. The bias of a list's own words in infinitely many texts is computed from 3,000 further texts.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.errors import CorpusError, CoverageError
from benchmarks.harness import Numbers, Result, Row

_WORDS, _TEXTS, _INFINITE = 8, 50, 3000
_SIDE = np.repeat([1.0, -1.0], _WORDS)
_CONTRAST = np.outer(_SIDE, _SIDE)
_TARGETS, _ATTRIBUTES = ([f"{letter}{k}" for k in range(2 * _WORDS)] for letter in "ta")
_LIST = {
    "men=work": _TARGETS[:_WORDS],
    "women=home": _TARGETS[_WORDS:],
    "work": _ATTRIBUTES[:_WORDS],
    "home": _ATTRIBUTES[_WORDS:],
}
# Standard deviations of log frequencies, of preferences, and of deviations of texts (per word, and shared).
_FREQUENCY_SD, _PREFERENCE_SD, _TEXT_SD, _SHARED_SD = 0.7, 0.3, 1.0, 0.5


@dataclass(frozen=True)
class Corpora:
    """Corpora with this mean number of co-occurrences per pair of words, this bias of words in general, and this ratio
    of the frequencies of the first and the second group and class."""

    co_occurrences: int
    bias: float
    frequency_ratio: int

    def log_rates(self, rng: np.random.Generator) -> Numbers:
        """The log rates of the pairs of a list in a text without deviations."""
        shape = 2 * _WORDS
        frequency = [
            rng.normal(0, _FREQUENCY_SD, shape) + _SIDE * np.log(self.frequency_ratio) / 2
            for _ in (_TARGETS, _ATTRIBUTES)
        ]
        by_target, by_attribute = rng.normal(0, _PREFERENCE_SD, (2, shape))
        preferences = np.outer(by_target, _SIDE) + np.outer(_SIDE, by_attribute)
        interaction = rng.normal(0, _PREFERENCE_SD, (shape, shape))
        return np.add.outer(*frequency) + self.bias / 2 * _CONTRAST + preferences + interaction

    def texts(self, log_rates: Numbers, rng: np.random.Generator) -> list[list[str]]:
        """The texts, as lists of words of which only pairs are neighbours."""
        pairs = [word for pair in product(_TARGETS, _ATTRIBUTES) for word in pair]
        texts = []
        for rates in _shares(log_rates, _TEXTS, rng):
            number = rng.poisson(self.co_occurrences * log_rates.size / _TEXTS)
            drawn = rng.choice(log_rates.size, number, p=rates.ravel())
            texts.append([word for k in drawn for word in ("filler", pairs[2 * k], pairs[2 * k + 1], "filler")])
        return [text for text in texts if text]


def _shares(log_rates: Numbers, texts: int, rng: np.random.Generator) -> Numbers:
    """The shares of pairs in each text (text, target, attribute)."""
    by_word = rng.normal(0, _TEXT_SD, (2, texts, 2 * _WORDS))
    shared = rng.normal(0, _SHARED_SD, (texts, 1, 1))
    rates = np.exp(log_rates + by_word[0][:, :, None] + by_word[1][:, None, :] + shared * _CONTRAST)
    return np.asarray(rates / rates.sum(axis=(1, 2), keepdims=True))


def _record(corpora: Corpora, seed: int) -> Row | None:
    """Estimates and intervals of a list, or None if the texts lack words of it."""
    rng = np.random.default_rng([20261129, *map(int, asdict(corpora).values()), seed])
    log_rates = corpora.log_rates(rng)
    texts = corpora.texts(log_rates, rng)
    try:
        table = bb.from_texts(texts, _LIST, controls=(), measure="pmi", window=1)
    except (CorpusError, CoverageError):
        return None
    if table.values.shape != log_rates.shape:  # whose posterior needs a sampler
        return None
    infinite = np.log(_shares(log_rates, _INFINITE, rng).mean(axis=0))
    own_bias = 2 * float((infinite * _CONTRAST).mean())
    every, own = bb.verdict(table), bb.verdict(table, "none")
    return {
        "own bias": own_bias,
        "estimate": own.mean,
        "found": not every.lower <= 0 <= every.upper,
        "covered": every.lower <= corpora.bias <= every.upper,
        "own covered": own.lower <= own_bias <= own.upper,
    }


def simulated(draws: int) -> Iterator[Row]:
    """A row for each kind of corpora."""
    for cell in product((3, 12, 48), (0.0, 0.6), (1, 5)):
        corpora = Corpora(*cell)
        records = pd.DataFrame(filter(None, (_record(corpora, seed) for seed in range(draws))))
        slope = (records["estimate"] * records["own bias"]).sum() / (records["own bias"] ** 2).sum()
        yield asdict(corpora) | {"lists": len(records), **records.mean().to_dict(), "slope": slope}


RESULTS = (Result("pmi", simulated, 200, uses=("bayes_bias.corpora.pmi",)),)
