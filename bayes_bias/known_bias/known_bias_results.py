"""What a scenario's models answered, beside what is true."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import jensenshannon

from bayes_bias.formatting import Telling
from bayes_bias.known_bias.scenario import Scenario

# A training is one model of one corpus; a corpus is one truth's, with so many words of a group in a sentence.
MODEL = ["attribute", "model", "words_per_sentence"]
CORPUS = ["truth", "words_per_sentence", "corpus", "half"]
TRAINING = [*CORPUS, "model", "seed"]
MODELS = "models"


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
