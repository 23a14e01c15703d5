"""Answers of chat models whose truth is known.

- flips: of real answers to the 13 stereotypes with several labels, the signs of D are flipped at random, so that there
  is no association: one sign for each answer, pair of labels, label (of the first group, or of the second) or wording.
- held-out: of real answers, half of the labels of both groups are left out. Does the predictive interval of their mean
  D hold it?
- planted: answers with effects of labels, pairs, wordings and of themselves, cut off at -1 and 1 as D is; the truth is
  the mean of D over new ones of all of them.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from bayes_bias.analyses.answers import model
from bayes_bias.analyses.answers.cell import Cell
from bayes_bias.analyses.answers.model import Density, Observed, observed, sample
from bayes_bias.analyses.answers.published import t_test, two_way
from bayes_bias.analyses.answers.reading import read_answers
from benchmarks.harness import Result, Row

_SEED = 20261125
FLIPPED = ("answer", "pair", "label of the first group", "label of the second group", "wording")


def real() -> list[Cell]:
    """The published answers to stereotypes with several labels."""
    return [cell for cell in read_answers("answers-demo", "answers-demo").cells if not cell.is_one_pair]


# Signs of real answers flipped: there is nothing to find.


def flips(draws: int) -> Iterator[Row]:
    """Shares of findings by what was flipped, for the model and three tests."""
    cells = [(cell, observed(cell)) for cell in real()]
    for flipped in FLIPPED:
        rng = np.random.default_rng([_SEED, FLIPPED.index(flipped)])
        records = []
        for seed in range(draws):
            for cell, data in cells:
                records.append(tests(cell, data, signs(cell, flipped, rng), seed))
        rows = pd.DataFrame(records)
        few = rows.pop("few")
        yield {
            "flipped": flipped,
            "draws": len(rows),
            **rows.mean().to_dict(),
            "five labels, draws": int((~few).sum()),
            "five labels, this model": float(rows["this model"][~few].mean()),
        }


def signs(cell: Cell, flipped: str, rng: np.random.Generator) -> np.ndarray:
    """A sign for each answer, the same for all that have in common what is flipped."""
    replies = cell.counted
    if flipped == "answer":
        return rng.choice([-1, 1], len(replies))
    keys = {
        "pair": replies.label_a.astype(str) + "/" + replies.label_b.astype(str),
        "label of the first group": replies.label_a,
        "label of the second group": replies.label_b,
        "wording": replies.wording,
    }
    codes, names = pd.factorize(keys[flipped])
    return rng.choice([-1, 1], len(names))[codes]


def tests(cell: Cell, data: Observed, sign: np.ndarray, seed: int) -> dict[str, bool]:
    """What the model and the tests find at the 5% level."""
    replies, d = cell.counted, data.difference * sign
    hits, valid = replies.hits_a + replies.hits_b, replies.valid_a + replies.valid_b
    stereotypical = int(np.where(sign > 0, hits, valid - hits).sum())
    posterior = sample(Density(replace(data, difference=d), model.SAMPLES["all"]), seed)
    _, _, robust = two_way(d, replies.label_a.to_numpy(), replies.label_b.to_numpy(), 0.95)
    return {
        "binomial": stats.binomtest(stereotypical, int(valid.sum())).pvalue < 0.05,
        "t test": t_test(d)[1] < 0.05,
        "robust t": robust < 0.05,
        "this model": found(posterior),
        "few": min(len(cell.labels("a")), len(cell.labels("b"))) < 5,
        "unreliable": posterior.pareto_k > model.MAX_PARETO_K,
    }


def found(posterior: model.Posterior) -> bool:
    """Whether the 95% interval excludes zero."""
    lower, upper = posterior.draws.mu.quantile([0.025, 0.975])
    return bool(lower > 0 or upper < 0)


# Labels of real answers held out.


def held_out(draws: int) -> Iterator[Row]:
    """Coverage of the mean D of labels that were left out, by stereotype."""
    for cell in real():
        if min(len(cell.labels("a")), len(cell.labels("b"))) < 4:
            continue
        rng = np.random.default_rng([_SEED, len(cell.stereotype)])
        rows = pd.DataFrame([held_out_once(cell, rng, seed) for seed in range(draws)])
        labels = (len(cell.labels("a")), len(cell.labels("b")))
        yield {
            "stereotype": cell.stereotype,
            "labels": "{} × {}".format(*labels),
            "splits": draws,
        } | rows.mean().to_dict()


def held_out_once(cell: Cell, rng: np.random.Generator, seed: int) -> dict[str, float]:
    """Whether predictive intervals from half of the labels hold the mean D of the other half.

    Wordings are the same in both halves, and have no effect in either model.
    """
    data, replies = observed(cell), cell.counted
    kept = np.ones(len(replies), bool)
    out = np.ones(len(replies), bool)
    for side in "ab":
        names = cell.labels(side)
        chosen = rng.permutation(names)[: len(names) // 2]
        labels = replies[f"label_{side}"]
        kept &= labels.isin(chosen).to_numpy()
        out &= labels.isin(set(names) - set(chosen)).to_numpy()
    fitted = replace(data, difference=data.difference[kept], keys=model.keys_of(replies[kept]))
    left, truth = model.keys_of(replies[out]), data.difference[out].mean()
    row: dict[str, float] = {}
    for name, effects in {"labels": ("word", "label_a", "label_b", "pair"), "trials alone": ()}.items():
        draws = sample(Density(fitted, effects), seed).draws
        variance = draws[f"sd_{model.ANSWER}"] ** 2 / len(left)
        for effect in effects:
            share = model.loadings(left, effect, data.words).mean(axis=0)
            if effect != "word":  # the same words
                variance = variance + draws[f"sd_{effect}"] ** 2 * (share @ share)
        predicted = draws.mu + rng.standard_normal(len(draws)) * np.sqrt(variance)
        lower, upper = predicted.quantile([0.025, 0.975])
        row |= {f"{name}: covers": lower <= truth <= upper, f"{name}: width": upper - lower}
    return row


# Planted differences.

NEARLY = "nearly all labels"
# Standard deviations of labels of either group, of pairs, and of answers.
SPREADS = {
    "answers alone": (0.0, 0.0, 0.0, 0.8),
    "answers and labels": (0.3, 0.3, 0.2, 0.6),
    NEARLY: (0.7, 0.7, 0.4, 0.2),
}


def planted(draws: int) -> Iterator[Row]:
    """Coverage of the mean of D over new labels, wordings and answers."""
    for labels in (5, 8):
        for name, spread in SPREADS.items():
            for latent in (0.0, 0.4, 0.8, 1.2, *((2.0,) if name == NEARLY else ())):
                rng = np.random.default_rng([_SEED, labels, list(SPREADS).index(name), round(10 * latent)])
                yield planted_cell(labels, name, spread, latent, rng, draws)


def planted_cell(
    labels: int, name: str, spread: tuple[float, ...], latent: float, rng: np.random.Generator, draws: int
) -> Row:
    """One design, so many times."""
    wordings_sd = 0.1
    total = np.sqrt(sum(sd**2 for sd in spread) + wordings_sd**2)
    grid = stats.norm(latent, total).ppf((np.arange(20_000) + 0.5) / 20_000)
    truth = float(np.clip(grid, -1, 1).mean())
    rows = []
    for seed in range(draws):
        data = simulated(labels, 200, (wordings_sd, *spread), latent, rng)
        d = np.round(np.clip(data.difference, -1, 1) * 8) / 8
        posterior = sample(Density(replace(data, difference=d), model.SAMPLES["all"]), seed, draws=2000)
        lower, upper = posterior.draws.mu.quantile([0.025, 0.975])
        error = d.std(ddof=1) / np.sqrt(len(d)) * stats.t.ppf(0.975, len(d) - 1)
        label_a, label_b = data.keys.label_a.to_numpy().astype(object), data.keys.label_b.to_numpy().astype(object)
        low, high, robust = two_way(d, label_a, label_b, 0.95)
        rows.append(
            {
                "covers": lower <= truth <= upper,
                "width": upper - lower,
                "error": posterior.draws.mu.mean() - truth,
                "found": lower > 0 or upper < 0,
                "t covers": abs(d.mean() - truth) <= error,
                "robust covers": low <= truth <= high,
                "robust found": robust < 0.05,
            }
        )
    about = {"varies": name, "labels": labels, "truth": truth, "simulations": draws}
    return about | pd.DataFrame(rows).mean().to_dict()


def simulated(
    labels: int, number: int, sds: tuple[float, ...], mean: float, rng: np.random.Generator, wordings: int = 3
) -> Observed:
    """Answers of the model with standard deviations of wordings, labels of both groups, pairs and answers."""
    a, b, v = rng.integers(labels, size=number), rng.integers(labels, size=number), rng.integers(wordings, size=number)
    pair = a * labels + b
    wording_sd, a_sd, b_sd, pair_sd, answer_sd = sds
    difference = (
        mean
        + wording_sd * rng.standard_normal(wordings)[v]
        + a_sd * rng.standard_normal(labels)[a]
        + b_sd * rng.standard_normal(labels)[b]
        + pair_sd * rng.standard_normal(labels**2)[pair]
        + answer_sd * rng.standard_normal(number)
    )
    keys = pd.DataFrame({"word_set": np.zeros(number, int), "wording": v, "label_a": a, "label_b": b, "pair": pair})
    keys = keys.apply(lambda codes: pd.factorize(codes, sort=True)[0])
    words = np.repeat([[1 / 8, -1 / 8]], 8, axis=1).reshape(1, 16)
    noise = np.full(14, 0.02)
    return Observed(difference, keys, words, rng.standard_normal(14) * noise, noise, (1 / 64 + 1 / 64) / 12)


# Of each stereotype with several labels, 41 flips make 533.
RESULTS = (
    Result("answers-flips", flips, 41, model=None),
    Result("answers-held-out", held_out, 40, model=None),
    Result("answers-planted", planted, 80, model=None),
)
