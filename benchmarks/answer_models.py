"""Several chat models with the same questions: two, five, and ten simulated models that differ by a planted amount, or
do not, in a small and in a large design. How often do intervals of differences hold the truth, how often is a
difference found, and in how many families of comparisons is one false?
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.model import SAMPLES, Density, Observed, sample
from bayes_bias.analyses.answers.model_contrasts import are_unequal, compared, joined_tables
from bayes_bias.table.columns import interval_of
from benchmarks.answer_values import Design
from benchmarks.harness import Result, Row

_SEED = 20261127
# Simulated families of each number of models, for each of two models.
FAMILIES = {2: 1.0, 5: 0.3, 10: 0.2}
PLANTED = 0.35
# Standard deviations of what a model adds to D: words, wordings, labels of both groups, pairs, answers; and of what a
# question adds to all models.
_OF_MODEL = {"word": 0.1, "wording": 0.1, "label_a": 0.15, "label_b": 0.15, "pair": 0.1, "answer": 0.35}
_OF_QUESTION = 0.3


# Words are those of each of two classes. With four wordings the priors decide how much wordings differ.
DESIGNS = (Design(160, 6, 4, 6), Design(400, 10, 12, 12))


def made_up(design: Design, means: tuple[float, ...], scales: np.ndarray, rng: np.random.Generator) -> list[Observed]:
    """Answers of models to the same questions, of which labels, wordings and the questions themselves decide more.

    `scales` multiplies the standard deviations of what each model adds.
    """
    n, labels, words = design.answers, design.labels, design.words
    keys = pd.DataFrame({"word_set": np.zeros(n, int), "wording": rng.integers(design.wordings, size=n)})
    keys["label_a"], keys["label_b"] = rng.integers(labels, size=n), rng.integers(labels, size=n)
    keys["pair"] = pd.factorize(keys.label_a * labels + keys.label_b, sort=True)[0]
    weights = np.repeat([[1 / words, -1 / words]], words, axis=1)
    shared = _OF_QUESTION * rng.standard_normal(n)
    for name in ("wording", "label_a", "label_b"):
        shared = shared + _OF_QUESTION / 2 * rng.standard_normal(keys[name].max() + 1)[keys[name]]
    models = zip(means, scales, strict=True)
    return [_of_model(mean + shared, scale, keys, weights, rng) for mean, scale in models]


def _of_model(
    expected: np.ndarray, scale: float, keys: pd.DataFrame, weights: np.ndarray, rng: np.random.Generator
) -> Observed:
    sd, words = {name: scale * value for name, value in _OF_MODEL.items()}, weights.shape[1]
    difference = expected + sd["word"] * (weights[0] @ rng.standard_normal(words))
    for name in ("wording", "label_a", "label_b", "pair"):
        difference = difference + sd[name] * rng.standard_normal(keys[name].max() + 1)[keys[name]]
    difference = difference + sd["answer"] * rng.standard_normal(len(keys))
    noise = np.full(words - 2, 0.03)
    contrasts = np.hypot(sd["word"], noise) * rng.standard_normal(len(noise))
    return Observed(difference, keys, weights, contrasts, noise, 0.005)


@dataclass(frozen=True)
class Cell:
    """So many models in a design, of which the first differs from the others, or none."""

    design: Design
    models: int
    is_different: bool
    are_versions: bool = False

    @property
    def scales(self) -> np.ndarray:
        """What models add varies equally, or a tenth as much in all but the first two, which are versions of one."""
        return np.array([1.0, 1.0, *[0.1 if self.are_versions else 1.0] * (self.models - 2)])

    @property
    def means(self) -> tuple[float, ...]:
        """The D of each."""
        return (PLANTED * self.is_different, *([0.0] * (self.models - 1)))


def contrasts(draws: int) -> Iterator[Row]:
    """Coverage and findings, by design, the number of models, and whether one differs from the others."""
    for design, models, is_different in product(DESIGNS, FAMILIES, (False, True)):
        yield of_families(Cell(design, models, is_different), draws)


def versions(draws: int) -> Iterator[Row]:
    """The same for five models, of which three are versions of one."""
    for design, is_different in product(DESIGNS, (False, True)):
        yield of_families(Cell(design, 5, is_different, are_versions=True), draws)


def of_families(cell: Cell, draws: int) -> Row:
    """Means over simulated families."""
    rows = pd.DataFrame([family(cell, seed) for seed in range(round(FAMILIES[cell.models] * draws))])
    numbers = {"wordings": cell.design.wordings, "models": cell.models}
    numbers |= {"is_different": cell.is_different, "families": len(rows)}
    return numbers | rows.mean().to_dict()


def family(cell: Cell, seed: int) -> dict[str, float]:
    """One set of models: shares of covered differences, of found ones, and whether one is false."""
    means = cell.means
    rng = np.random.default_rng([_SEED, seed, len(means), round(100 * sum(means))])
    sides, names = made_up(cell.design, means, cell.scales, rng), [f"{k:02d}" for k in range(len(means))]
    in_pairs = are_unequal(sides, SAMPLES["all"])
    table, ranking = compared(names, sides, SAMPLES["all"], seed, 0.95, in_pairs=in_pairs)
    table = joined_tables({"": table}, {"": ranking}, "stereotype", 0.95)["table"]
    first, second = table.index.get_level_values(1).astype(int), table.index.get_level_values(2).astype(int)
    truth = np.array(means)[first] - np.array(means)[second]
    lower, upper = interval_of(table)
    found = table.survives.to_numpy()
    result = {"covers": float(((lower <= truth) & (truth <= upper)).mean()), "false": float(found[truth == 0].any())}
    if (truth != 0).any():
        apart = separate(sides, seed)[first, second]
        result |= {
            "found": float(((lower > 0) | (upper < 0))[truth != 0].mean()),
            "found after Holm": float(found[truth != 0].mean()),
            "intervals apart": float(apart[truth != 0].mean()),
        }
    return result | {"pareto": float(table.pareto_k.max())}


def separate(sides: list[Observed], seed: int) -> np.ndarray:
    """Whether the 95% intervals of two models by themselves do not overlap, (model, other)."""
    ends = []
    for side in sides:
        ends.append(sample(Density(side, SAMPLES["all"]), seed, 2000).draws.mu.quantile([0.025, 0.975]))
    lower, upper = np.transpose(ends)
    return (lower[:, None] > upper) | (upper[:, None] < lower)


RESULTS = (
    Result("answer-models-contrasts", contrasts, 200, model=None),
    Result("answer-models-versions", versions, 100, model=None),
)
