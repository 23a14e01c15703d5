"""Single words in texts whose bias is known: do intervals over texts contain their values?

A truth of the scenario `majority` has a share of male words for each of 100 occupations. Texts are sentences: a corpus
of this truth, with each template once for each occupation, or random sentences of 20 further corpora. The value of an
occupation is its mean association with male words minus that with female words. It is compared with its value in all
20 corpora, and with the value that its share implies: a line in the log odds of shares through the values of the other
truths, as in `studies.known_bias`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

import bayes_bias as bb
from bayes_bias.table.association_table import AssociationTable
from benchmarks.harness import LEVEL, Numbers, Result, Row
from studies.known_bias.asking import target_biases
from studies.known_bias.corpora import Truth, draw_truth, make_corpus, of_all_targets
from studies.known_bias.scenario import Scenario, load_scenario

type Texts = Sequence[Sequence[str]]

_ATTRIBUTE = "gender"
_FURTHER = 20
# Random sentences, as multiples of those of a corpus.
_MULTIPLES = (1, 5)
# The window of PMI contains a sentence.
_SETTINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"cosine": {"embedding": "glove-6b-50d"}, "pmi": {"window": 20}}
)


def words_in_texts(draws: int) -> Iterator[Row]:
    """Rows for each measure, kind of texts, and kind of interval. A draw is a truth with 100 words."""
    scenario = load_scenario("majority")
    numbers = range(0, len(scenario.scheme.cells), max(1, len(scenario.scheme.cells) // draws))[:draws]
    for measure in _SETTINGS:
        records = pd.concat([_of_truth(scenario, number, measure) for number in numbers])
        for (texts, interval), rows in records.groupby(["texts", "interval"], sort=False):
            implied = _implied(rows)
            covered = pd.DataFrame(
                {
                    "larger": (rows.lower <= rows.larger) & (rows.larger <= rows.upper),
                    "implied": (rows.lower <= implied) & (implied <= rows.upper),
                }
            )
            shares = covered.groupby(rows.truth).mean()
            errors = shares.std(ddof=1) / np.sqrt(len(shares))
            yield {
                "measure": measure,
                "texts": texts,
                "sentences": int(rows.sentences.iloc[0]),
                "interval": interval,
                "truths": len(shares),
                "words a truth": len(rows) // len(shares),
                "larger covered": shares.larger.mean(),
                "larger mc error": errors.larger,
                "implied covered": shares.implied.mean(),
                "implied mc error": errors.implied,
                "width": (rows.upper - rows.lower).mean(),
                "sd of values": rows.larger.std(),
            }


def _of_truth(scenario: Scenario, number: int, measure: str) -> pd.DataFrame:
    """A row for each kind of texts and of interval, and each word."""
    truth, rng = draw_truth(scenario, number), np.random.default_rng([20261129, number])
    words = scenario.words_per_sentence[0]
    own = make_corpus(scenario, truth, 0, words).tokens
    further = chain.from_iterable(make_corpus(scenario, truth, k, words).tokens for k in range(1, _FURTHER + 1))
    pool = list(further)
    samples = {"each template once": own}
    for multiple in _MULTIPLES:
        drawn = rng.integers(len(pool), size=multiple * len(own))
        samples[f"random x {multiple}"] = [pool[k] for k in drawn]
    rows = {name: _intervals(_table(scenario, texts, measure), scenario.seed) for name, texts in samples.items()}
    frame = pd.concat(rows, names=["texts"]).reset_index()
    larger, log_odds = _values(_table(scenario, pool, measure)), _log_odds(scenario, truth)
    return frame.assign(
        truth=number,
        sentences=frame.texts.map({name: len(texts) for name, texts in samples.items()}),
        larger=frame.word.map(larger),
        log_odds=frame.word.map(log_odds),
    )


def _table(scenario: Scenario, texts: Texts, measure: str) -> AssociationTable:
    wordlist = of_all_targets(scenario, scenario.described[_ATTRIBUTE], scenario.words)
    return bb.from_texts(texts, wordlist, controls=(), measure=measure, **_SETTINGS[measure])  # type: ignore[arg-type]


def _log_odds(scenario: Scenario, truth: Truth) -> "pd.Series[float]":
    share = pd.Series(truth.shares[_ATTRIBUTE][:, 0], list(scenario.words))
    return np.log(share / (1 - share))


def _intervals(table: AssociationTable, seed: int) -> pd.DataFrame:
    """Values and intervals of each word: over texts, over attribute words, and over both."""
    assert table.texts is not None
    own = _values(table)
    deviations = [_values(replace(table, values=part, texts=None)) for part in table.texts.deviations.values()]
    reach = student.isf(LEVEL / 2, table.texts.df) * np.sqrt(np.square(deviations).sum(axis=0))
    frames = {"texts": pd.DataFrame({"value": own, "lower": own - reach, "upper": own + reach})}
    for name, asked in (("words", replace(table, texts=None)), ("words and texts", table)):
        posterior = pd.DataFrame(target_biases(asked, seed=seed)).set_index("target")
        frames[name] = posterior.rename(columns={"ci95_lb": "lower", "ci95_ub": "upper"})[["value", "lower", "upper"]]
    return pd.concat(frames, names=["interval", "word"])


def _values(table: AssociationTable) -> "pd.Series[float]":
    """The mean association of each target with the first class minus that with the second."""
    means = table.values.groupby("attribute_class").mean()
    first, second = (means.sel(attribute_class=name) for name in dict.fromkeys(table.values.attribute_class.to_numpy()))
    return (first - second).to_series()


def _implied(rows: pd.DataFrame) -> Numbers:
    """The value of each word on a line through the values of the other truths."""
    implied = np.full(len(rows), np.nan)
    for truth in rows.truth.unique():
        here = (rows.truth == truth).to_numpy()
        slope, level = np.polyfit(rows.log_odds[~here], rows.value[~here], 1)
        implied[here] = level + slope * rows.log_odds[here]
    return implied


_USES = ("bayes_bias.corpora.contexts", "bayes_bias.corpora.pmi", "studies.known_bias.corpora")
RESULTS = (Result("text-words", words_in_texts, 8, uses=_USES),)
