"""What a scenario's models answered, beside what is true, and means and correlations of it.

Their intervals take truths, and not trainings, as the sample: trainings of one truth tell much the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import jensenshannon

from bayes_bias.documents.document import Document
from bayes_bias.formatting import Telling
from bayes_bias.table.columns import interval_names
from studies.known_bias.scenario import Scenario

# A training is one model of one corpus; a corpus is one truth's, with so many words of a group in a sentence.
MODEL = ["attribute", "model", "words_per_sentence"]
CORPUS = ["truth", "words_per_sentence", "corpus", "half"]
TRAINING = [*CORPUS, "model", "seed"]
MODELS = "models"

INTERVAL = list(interval_names(kind="ci"))

FEWEST_TRUTHS = 5
_RESAMPLES = 2000
_SEED = 1


@dataclass(frozen=True, eq=False, repr=False)
class KnownBias(Telling):
    """Truths and answers of a scenario, in tidy frames.

    Attributes
    ----------
    scenario : Scenario
    folder : Path
        Where models and answers are kept.
    truths : pandas.DataFrame
        A row for each target, attribute and training: ``p``, ``share``, ``log_odds``, ``sentences``.
    words : pandas.DataFrame
        A row for each target, attribute, measure and training: ``value``; ``ci95_lb`` and ``ci95_ub`` of the posterior.
    models : pandas.DataFrame
        A row for each list, attribute, measure and training: ``value``, ``p_value``, ``ci95_lb``, ``ci95_ub``.
    retests : pandas.DataFrame
        A row for each share of the targets, attribute, measure and training: ``value``, ``change``, ``low``, ``high``;
        empty where the scenario does not ask for it.
    classes : pandas.DataFrame
        A row for each class of a classifier, attribute, classifier, number of components taken out, and training:
        ``gap``, ``bias``, ``accuracy``, ``mean_square``; empty where the scenario does not ask for it.
    failed : mapping of str to str
        Trainings that gave no answer, and why.
    versions : mapping of str to str
        Of the packages that it depends on.
    """

    scenario: Scenario
    folder: Path
    truths: pd.DataFrame
    words: pd.DataFrame
    models: pd.DataFrame
    retests: pd.DataFrame
    classes: pd.DataFrame
    failed: Mapping[str, str]
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        """What was trained and asked."""
        lost = f"; {len(self.failed)} failed" if self.failed else ""
        return f"{self.scenario.text}; {len(self.words):,} answers about words, {len(self.models):,} about models{lost}"

    @property
    def models_folder(self) -> Path:
        """Where the models are kept."""
        return self.folder / MODELS

    def document(self) -> Document:
        """The page that `bayes_bias.write` writes: every question that the scenario can answer."""
        from studies.known_bias.document import known_bias_document  # which asks, and so imports, this class

        return known_bias_document(self)

    @cached_property
    def words_with_truth(self) -> pd.DataFrame:
        """`words` with the columns of `truths`; targets that are never said with a group are left out."""
        merged = self.words.merge(self.truths, on=[*TRAINING, "attribute", "target"], suffixes=("", "_of_truth"))
        return merged.dropna(subset="log_odds")

    @cached_property
    def models_with_truth(self) -> pd.DataFrame:
        """`models` with what is true of each corpus.

        ``size``: mean absolute log odds. ``divergence``: mean Jensen-Shannon distance of the first group's share, and
        that of all others, from what equal shares of all groups would be (in bits; 0 to 1). ``skew``: mean log odds.
        ``stereotype``: their standard deviation. ``away``: mean distance of shares from .5.
        """
        return self.models.merge(self._of_corpora, on=[*TRAINING, "attribute"])

    @cached_property
    def _of_corpora(self) -> pd.DataFrame:
        said = self.truths.dropna(subset="log_odds")
        groups = said.attribute.map(
            {name: len(attribute.groups) for name, attribute in self.scenario.described.items()}
        )
        said = said.assign(divergence=_from_equal(said.share.to_numpy(float), groups.to_numpy(float)))
        by_corpus = said.groupby([*TRAINING, "attribute"])
        return pd.DataFrame(
            {
                "size": by_corpus.log_odds.apply(lambda odds: odds.abs().mean()),
                "divergence": by_corpus.divergence.mean(),
                "skew": by_corpus.log_odds.mean(),
                "stereotype": by_corpus.log_odds.std(),
                "away": by_corpus.share.apply(lambda share: (share - 0.5).abs().mean()),
            }
        ).reset_index()


def _from_equal(share: np.ndarray, groups: np.ndarray) -> np.ndarray:
    actual, equal = (np.stack([first, 1 - first]) for first in (share, 1 / groups))
    return np.asarray(jensenshannon(actual, equal, base=2, axis=0))


def for_each(
    frame: pd.DataFrame, by: Iterable[str], about: Callable[[pd.DataFrame], Iterable[Mapping[str, Any]]]
) -> pd.DataFrame:
    """Rows about each combination of these columns, in their order of appearance, beside the columns themselves."""
    names = list(by)
    return pd.DataFrame(
        [
            {**dict(zip(names, key, strict=True)), **row}
            for key, rows in frame.groupby(names, sort=False)
            for row in about(rows)
        ]
    )


def mean_over_truths(values: pd.Series, truths: pd.Series, *, fisher: bool = False) -> pd.Series:
    """The mean of truths' means, with Student's 95% interval over truths.

    `values` and `truths` have a row for each training. With `fisher`, values are correlations, and are averaged as
    inverse hyperbolic tangents. Returns ``value``, ``ci95_lb``, ``ci95_ub`` (missing for a single truth), ``truths``,
    ``trainings``.

    Examples
    --------
    >>> import pandas as pd
    >>> mean_over_truths(pd.Series([0.0, 2.0, 3.0, 5.0]), pd.Series([1, 1, 2, 2])).value.item()
    2.5
    """
    known = values.notna()
    scale = np.arctanh(values[known].clip(-1 + 1e-9, 1 - 1e-9)) if fisher else values[known]
    means = scale.groupby(truths[known]).mean().to_numpy(dtype=float)
    value = means.mean() if means.size else np.nan
    half = np.nan
    if means.size > 1:
        half = stats.t.ppf(0.975, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size)
    numbers = np.array([value, value - half, value + half])
    numbers = np.tanh(numbers) if fisher else numbers
    return pd.Series(
        dict(zip(["value", *INTERVAL], numbers.tolist(), strict=True))
        | {"truths": means.size, "trainings": int(known.sum())}
    )


def correlation_over_trainings(frame: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Pearson's correlation of two columns over all trainings, with a percentile interval from resampled truths.

    A truth that is drawn twice counts twice: sums over truths, weighted by how often each is drawn, are all that a
    correlation needs. Returns what `mean_over_truths` does; the interval is missing for fewer than five truths.

    Examples
    --------
    >>> frame = pd.DataFrame({"truth": [0, 0, 1, 1], "value": [1.0, 2.0, 3.0, 4.0], "size": [2.0, 4.0, 6.0, 8.0]})
    >>> round(float(correlation_over_trainings(frame, "value", "size").value), 6)
    1.0
    """
    complete = frame.dropna(subset=[first, second])
    x, y = (complete[name] - complete[name].mean() for name in (first, second))
    sums = pd.DataFrame({"n": 1.0, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y})
    by_truth = sums.groupby(complete.truth).sum().to_numpy()
    truths = len(by_truth)
    numbers = {"value": float(_correlation(by_truth.sum(axis=0))), **dict.fromkeys(INTERVAL, np.nan)}
    if truths >= FEWEST_TRUTHS:
        times = np.random.default_rng(_SEED).multinomial(truths, np.full(truths, 1 / truths), size=_RESAMPLES)
        numbers |= zip(INTERVAL, np.nanquantile(_correlation(times @ by_truth), (0.025, 0.975)), strict=True)
    return pd.Series(numbers | {"truths": truths, "trainings": len(complete)})


def correlation(pairs: np.ndarray) -> float:
    """Pearson's of two columns, missing where one is constant."""
    if len(pairs) < 3 or np.ptp(pairs, axis=0).min() == 0:
        return np.nan
    return float(np.corrcoef(pairs.T)[0, 1])


def _correlation(sums: np.ndarray) -> np.ndarray:
    """From counts, sums and sums of squares and products; missing where a column is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((xy - x * y / n) / np.sqrt((xx - x**2 / n) * (yy - y**2 / n)))
