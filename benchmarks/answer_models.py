"""Several chat models with the same questions: `python -m benchmarks.answer_models contrasts speed`.

A run goes on where an earlier one stopped.

- contrasts: simulated answers of two, five and ten models that differ by a planted amount, or do not. How often do the
  intervals of differences hold the truth, how often is a difference found, and in how many families of comparisons is
  one false?
- speed: 100,000 answers of ten models.
"""

import argparse
import logging
import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.analyses.answers.model import SAMPLES, Density, Observed
from bayes_bias.analyses.answers.model_contrasts import compared, joined_tables
from bayes_bias.analyses.answers.posterior import sample
from bayes_bias.table.columns import interval_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import share_of
from benchmarks.simulating import simulated

_SEED = 20261127
# Simulated families of each design, by the number of models.
FAMILIES = {2: 200, 5: 60, 10: 40}
ANSWERS, LABELS, WORDINGS, WORDS = 160, 6, 4, 6
PLANTED = 0.35
# Standard deviations of what a model adds to D: words, wordings, labels of both groups, pairs, answers; and of what a
# question adds to all models.
_OF_MODEL = {"word": 0.1, "wording": 0.1, "label_a": 0.15, "label_b": 0.15, "pair": 0.1, "answer": 0.35}
_OF_QUESTION = 0.3


def main() -> None:
    """Measure the parts that are named, and keep each result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(_PARTS))
    for part in parser.parse_args().parts:
        table = pd.DataFrame(list(_PARTS[part]()))
        print(table.to_string(), flush=True)
        write(f"answer-models-{part}", provenance() | {"seed": _SEED}, table.to_dict("records"))


def made_up(means: tuple[float, ...], rng: np.random.Generator) -> list[Observed]:
    """Answers of models to the same questions, of which labels, wordings and the questions themselves decide more."""
    sizes = {"wording": WORDINGS, "label_a": LABELS, "label_b": LABELS}
    codes = {name: rng.integers(size, size=ANSWERS) for name, size in sizes.items()}
    codes["pair"] = pd.factorize(codes["label_a"] * LABELS + codes["label_b"], sort=True)[0]
    words = np.concatenate([np.full(WORDS, 1 / WORDS), np.full(WORDS, -1 / WORDS)])[None]
    shared = _OF_QUESTION * rng.standard_normal(ANSWERS)
    for name in sizes:
        shared = shared + _OF_QUESTION / 2 * rng.standard_normal(codes[name].max() + 1)[codes[name]]
    keys = pd.DataFrame({"word_set": np.zeros(ANSWERS, int), **codes})
    return [_of_model(mean + shared, keys, words, rng) for mean in means]


def _of_model(expected: np.ndarray, keys: pd.DataFrame, words: np.ndarray, rng: np.random.Generator) -> Observed:
    sd = _OF_MODEL
    difference = expected + sd["word"] * (words[0] @ rng.standard_normal(2 * WORDS))
    for name in ("wording", "label_a", "label_b", "pair"):
        difference = difference + sd[name] * rng.standard_normal(keys[name].max() + 1)[keys[name]]
    difference = difference + sd["answer"] * rng.standard_normal(ANSWERS)
    noise = np.full(2 * (WORDS - 1), 0.03)
    contrasts = np.hypot(sd["word"], noise) * rng.standard_normal(len(noise))
    return Observed(difference, keys, words, contrasts, noise, 0.005)


@dataclass(frozen=True)
class Cell:
    """So many models, of which the first differs from the others, or none."""

    models: int
    is_different: bool

    @property
    def means(self) -> tuple[float, ...]:
        """The D of each."""
        return (PLANTED * self.is_different, *([0.0] * (self.models - 1)))


def contrasts() -> Iterator[dict[str, object]]:
    """Coverage and findings, by the number of models and whether one differs from the others."""
    for models, families in FAMILIES.items():
        cells = [Cell(models, is_different) for is_different in (False, True)]
        found = simulated(family, cells, families, "answer-models", jobs=1)
        for cell in cells:
            rows = pd.DataFrame([record for each, record in found if each == cell])
            yield asdict(cell) | {"families": len(rows)} | rows.mean().to_dict()


def family(cell: Cell, seed: int) -> dict[str, float]:
    """One set of models: shares of covered differences, of found ones, and whether one is false."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    means = cell.means
    rng = np.random.default_rng([_SEED, seed, len(means), round(100 * sum(means))])
    sides, names = made_up(means, rng), [f"{k:02d}" for k in range(len(means))]
    table, ranking = compared(names, sides, SAMPLES["all"], seed, 0.95)
    table = joined_tables({"": table}, {"": ranking}, "stereotype", 0.95)["table"]
    truth = np.array([means[int(model)] - means[int(other)] for _, model, other in table.index])
    lower, upper = (ends.to_numpy() for ends in interval_of(table))
    found = table.survives.to_numpy()
    apart = separate(sides, seed)
    result = {"covers": float(((lower <= truth) & (truth <= upper)).mean()), "false": float(found[truth == 0].any())}
    if (truth != 0).any():
        two = np.array([apart[int(model), int(other)] for _, model, other in table.index])
        result |= {
            "found": float(((lower > 0) | (upper < 0))[truth != 0].mean()),
            "found after Holm": float(found[truth != 0].mean()),
            "intervals apart": float(two[truth != 0].mean()),
        }
    return result | {"pareto": float(table.pareto_k.max())}


def separate(sides: list[Observed], seed: int) -> np.ndarray:
    """Whether the 95% intervals of two models by themselves do not overlap, (model, other)."""
    ends = np.array(
        [sample(Density(side, SAMPLES["all"]), seed, 2000).draws.mu.quantile([0.025, 0.975]) for side in sides]
    )
    lower, upper = ends.T
    return (lower[:, None] > upper) | (upper[:, None] < lower)


def speed() -> Iterator[dict[str, object]]:
    """100,000 answers of 16 words by ten models to the same questions, compared."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    frame, wordlist = many(10_000, 8, 5)
    rng = np.random.default_rng(_SEED)
    swapped = frame.label_a.astype(str).to_numpy(), frame.label_b.astype(str).to_numpy()
    parts = []
    for model in range(10):
        other = rng.random(len(frame)) < 0.02 * model
        chosen = np.where(other, np.where(frame.chosen.astype(str) == swapped[0], swapped[1], swapped[0]), frame.chosen)
        parts.append(frame.assign(model=f"model {model}", chosen=pd.Categorical(chosen)))
    answers = pd.concat(parts, ignore_index=True)
    before = os.times()
    result = bb.answers.compare_models(answers, wordlist)
    after = os.times()
    yield {
        "answers": 100_000,
        "models": 10,
        "rows": len(answers),
        "differences": len(result.table),
        "processor seconds": after.user - before.user + after.system - before.system,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


_PARTS: dict[str, Callable[[], Iterator[dict[str, object]]]] = {"contrasts": contrasts, "speed": speed}


# The page of evidence.


def contrasts_section() -> str:
    """Render coverage and findings of comparisons."""
    rows, about = pd.DataFrame(read("answer-models-contrasts")["rows"]), read("answer-models-contrasts")["about"]
    shown = pd.DataFrame(
        {
            "models": rows.models,
            "one differs": rows.is_different.map({False: "no", True: f"by {PLANTED}"}),
            "families": rows.families,
            "covers": rows.covers.map("{:.1%}".format),
            "families with a false difference": [
                share_of(share, n) for share, n in zip(rows.false, rows.families, strict=True)
            ],
            **{
                heading: rows[name].map(lambda share: "" if pd.isna(share) else f"{share:.0%}")
                for heading, name in {
                    "finds": "found",
                    "finds after Holm": "found after Holm",
                    "two intervals apart": "intervals apart",
                }.items()
            },
        }
    )
    return f"""## Several models with the same questions

Simulated answers of two, five and ten models: {ANSWERS} questions, {LABELS} labels of each group, {WORDINGS} wordings,
{WORDS} words of each class. Questions, labels and wordings add to the D of all models (standard deviation
{_OF_QUESTION} and half of it), and to that of each model. Either all models have the same D, or the first one differs
from all others. "Covers" is of the 95% intervals of all differences, "finds" how often that of a true one excludes
zero, also after Holm's adjustment, and "two intervals apart" how often the intervals that two models have by themselves
do not overlap.

{markdown_table(shown)}

{circumstances(about)}
"""


def speed_section() -> str:
    """Render the time of a comparison."""
    rows, about = pd.DataFrame(read("answer-models-speed")["rows"]), read("answer-models-speed")["about"]
    return f"""## How long a comparison of ten models takes

A frame of 100,000 answers with 16 words each, 10,000 of each of ten models, read, checked and compared; the memory is
the largest of the process, in which the frame itself is made.

{markdown_table(rows)}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
