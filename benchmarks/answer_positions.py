"""Two chat models with different effects of position: how often is a difference found in D, and in log odds?

The models have the same association in log odds or, in the last rows, associations that differ by 2. Both models answer
the prompts of `bb.answers.prompts` for five labels of each group, three wordings, and either label first: 150 answers
to five words of each class. The log odds of the label of the first group are the sum of

- the association, plus or minus one half of it by the class of the word, with effects of both labels, the wording, and
  the answer that a model adds to it, and of the labels that are the same in both models;
- the preference for the label that is named first, which is the effect of position;
- preferences for labels, and for one of them in an answer.

The share of choices for the label that is named first is .5 in the first model, and .5, .75, or .9 in the second.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import differences
from bayes_bias.analyses.answers.log_odds import LARGEST, pseudo_values, without_words
from bayes_bias.analyses.answers.model import SAMPLES, Observed
from bayes_bias.analyses.answers.model_contrasts import compared
from bayes_bias.table.columns import interval_of
from benchmarks.harness import Result, Row

_SEED = 20261128
_LABELS, _WORDINGS, _WORDS = 5, 3, 5
# Effects of position in log odds, which give these shares of choices for the label that is named first.
POSITIONS = {0.5: 0.0, 0.75: 1.55, 0.9: 3.1}
ASSOCIATIONS = (0.0, 1.5, 3.0)
DIFFERENCE = 2.0
# Standard deviations in log odds of what a model adds to the association, of what labels add in both models, and of
# preferences.
_OF_MODEL = {"label_a": 0.3, "label_b": 0.3, "wording": 0.3, "answer": 0.8}
_OF_LABELS, _PREFERENCE, _OF_ANSWER = 0.5, 0.7, 0.7


def equal_models(draws: int) -> Iterator[Row]:
    """Shares of families in which a difference is found in D and in log odds."""
    equal = [(association, 0.0, share) for association, share in product(ASSOCIATIONS, POSITIONS)]
    different = [(ASSOCIATIONS[0], DIFFERENCE, share) for share in POSITIONS]
    for association, difference, share in (*equal, *different):
        rows = pd.DataFrame([family(association, difference, POSITIONS[share], seed) for seed in range(draws)])
        cell = {"association": association, "difference": difference, "position": share, "families": draws}
        yield cell | rows.mean().to_dict()


def family(association: float, difference: float, position: float, seed: int) -> dict[str, float]:
    """Two models whose associations differ by an amount: is a difference found in D, and in log odds?"""
    rng = np.random.default_rng([_SEED, seed, *(round(10 * number) for number in (association, difference, position))])
    keys, is_a_first = _questions()
    shared = _of_labels(keys, _OF_LABELS, rng)
    preference = _of_labels(keys, _PREFERENCE, rng)
    sides = []
    for effect, more in ((0.0, 0.0), (position, difference)):
        slope = association + more + shared + _own(keys, rng)
        sides.append(_replies(slope, preference + effect * np.where(is_a_first, 1, -1), rng))
    result = {"share first": float(_share_first(sides[1], is_a_first))}
    d = [_observed(differences(side), keys) for side in sides]
    log_odds = [pseudo_values(side) for side in sides]
    result["D differs"] = _is_found(d, SAMPLES["all"], seed)
    if any(values is None for values in log_odds):
        return result | {"log odds differ": 0.0, "unbounded": 1.0}
    data = [_observed(values / LARGEST, keys, 1e-6) for values in log_odds]
    found = _is_found(data, without_words(SAMPLES["all"]), seed)
    return result | {"log odds differ": found, "unbounded": 0.0}


def _questions() -> tuple[pd.DataFrame, np.ndarray]:
    """The codes of all questions, and True if the label of the first group is named first."""
    rows = list(product(range(_LABELS), range(_LABELS), range(_WORDINGS), (True, False)))
    keys = pd.DataFrame(rows, columns=["label_a", "label_b", "wording", "first"])
    is_a_first = keys.pop("first").to_numpy(bool)
    return keys.assign(word_set=0, pair=keys.label_a * _LABELS + keys.label_b), is_a_first


def _of_labels(keys: pd.DataFrame, sd: float, rng: np.random.Generator) -> np.ndarray:
    a, b = sd * rng.standard_normal((2, _LABELS))
    return a[keys.label_a] + b[keys.label_b]


def _own(keys: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    own = _OF_MODEL["answer"] * rng.standard_normal(len(keys))
    for name in ("label_a", "label_b", "wording"):
        own = own + _OF_MODEL[name] * rng.standard_normal(keys[name].max() + 1)[keys[name]]
    return own


def _replies(slope: np.ndarray, preference: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers of stereotypical choices of five words of each class."""
    preference = preference + _OF_ANSWER * rng.standard_normal(len(slope))
    chance_a = 1 / (1 + np.exp(-(preference + slope / 2)))
    chance_b = 1 / (1 + np.exp(preference - slope / 2))
    hits = {"hits_a": rng.binomial(_WORDS, chance_a), "hits_b": rng.binomial(_WORDS, chance_b)}
    return pd.DataFrame({**hits, "valid_a": _WORDS, "valid_b": _WORDS})


def _share_first(side: pd.DataFrame, is_a_first: np.ndarray) -> float:
    to_a = (side.hits_a + _WORDS - side.hits_b) / (2 * _WORDS)
    return float(np.where(is_a_first, to_a, 1 - to_a).mean())


def _observed(values: np.ndarray, keys: pd.DataFrame, rounding: float = 2 / _WORDS**2 / 12) -> Observed:
    weights = np.repeat([[1 / _WORDS, -1 / _WORDS]], _WORDS, axis=1)
    return Observed(values, keys, weights, np.zeros(0), np.zeros(0), rounding)


def _is_found(sides: list[Observed], effects: tuple[str, ...], seed: int) -> float:
    table, _ = compared(["first", "second"], sides, without_words(effects), seed, 0.95)
    lower, upper = interval_of(table)
    return float(((lower > 0) | (upper < 0)).iloc[0])


RESULTS = (Result("answer-positions", equal_models, 200, model=None),)
