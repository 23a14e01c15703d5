"""Biases of ten tests beside the implicit associations of people."""

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

import bayes_bias as bb
from studies.auditing import SEED
from studies.study import Results

FILES = ("cells.csv",)
# The original findings of table 1 of Caliskan, Bryson & Narayanan (2017): number of people, and their Cohen's d. Tests
# 4 and 5 have none, since theirs is an experiment with letters of application.
PEOPLE = {
    "weat1": (32, 1.35),
    "weat2": (32, 1.66),
    "weat3": (26, 1.17),
    "weat6": (39_000, 0.72),
    "weat7": (28_000, 0.82),
    "weat8": (91, 1.47),
    "weat9": (135, 1.01),
    "weat10": (43_000, 1.42),
}
# What of a test is set against people's d, with its error for new words, in columns of `tests`; d has none.
MEASURES = {"bias": "sd", "standardised": "standardised_sd", "d": None}
# The verdict rests on how many of its own standard deviations a bias is from zero.
EVIDENCE = "evidence"
TOPICS = 1000

type Numbers = NDArray[np.float64]


def compute(folder: Path, kept: Path, jobs: int) -> Results:
    """Do bias, d and verdict of the ten tests go with people's effects? The folder is `studies/ten_tests/results`."""
    tests = _tests(pd.read_csv(folder / FILES[0]))
    by_model = {str(name): rows.set_index("list") for name, rows in tests.groupby("embedding", sort=False)}
    return {
        "tests": tests.set_index(["embedding", "list"]),
        "correlations": _by_model({name: _correlations(rows) for name, rows in by_model.items()}),
        "ranks": _by_model({name: _ranks(rows) for name, rows in by_model.items()}),
        "topics": _topics(by_model["GoogleNews"].bias),
    }


def _tests(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with people's effect, and its standard error as that of one sample."""
    n, d = (cells["list"].map({name: known[k] for name, known in PEOPLE.items()}) for k in (0, 1))
    told = ["embedding", "list", "d", "bias", "sd", "ci95_lb", "ci95_ub", "verdict"]
    tests = cells[told].assign(
        standardised=cells.bias / cells.within_sd,
        standardised_sd=cells.sd / cells.within_sd,
        evidence=cells.bias / cells.sd,
        people_n=n,
        people_d=d,
        people_se=np.sqrt(1 / n + d**2 / (2 * n)),
    )
    return tests[tests.people_d.notna()]


def _by_model(found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(found, names=["embedding", "measure"])


def _correlations(tests: pd.DataFrame) -> pd.DataFrame:
    """Of true values over tests, with errors on both sides; WEAT's d is that of exactly these words."""
    of_people = tests[["people_d", "people_se"]].set_axis(["criterion", "criterion_se"], axis=1)
    rows = {}
    for measure, sd in MEASURES.items():
        biases = pd.DataFrame({"bias": tests[measure], "sd": tests[sd] if sd else 0.0})
        found = bb.criterion(biases, of_people, seed=SEED)
        summary = found.summary().loc["correlation"]
        rows[measure] = {"r": summary["median"]["as observed"], **summary.loc[found.widest]}
        rows[measure]["label"] = found.verdict().label
    return pd.DataFrame.from_dict(rows, orient="index")


def _ranks(tests: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation, its interval (Bonett & Wright 2000), and exact p in all orders of people's effects."""
    rows = {}
    orders = np.array(list(permutations(rankdata(tests.people_d))))
    for measure in (*MEASURES, EVIDENCE):
        own = rankdata(tests[measure])
        rho = np.corrcoef(own, orders[0])[0, 1]
        by_chance = (orders - orders.mean()) @ (own - own.mean()) / (len(own) * own.std() * orders[0].std())
        half = norm.ppf(0.975) * np.sqrt((1 + rho**2 / 2) / (len(own) - 3))
        lower, upper = np.tanh(np.arctanh(rho) + half * np.array([-1, 1]))
        p = (np.abs(by_chance) >= abs(rho) - 1e-9).mean()
        rows[measure] = {"rho": rho, "lb": lower, "ub": upper, "p": p}
    return pd.DataFrame.from_dict(rows, orient="index")


def _topics(biases: "pd.Series[float]") -> pd.DataFrame:
    """By list: how many arbitrary topics, of as many words, are as far apart either way, in the same vectors."""
    vectors = bb.open_embedding("googlenews-demo")
    near = _cosines(vectors)
    rows = {}
    for name, bias in biases.items():
        words = bb.cosines(str(name), vectors, (), allow_loss=True).values
        sizes = [np.unique(side, return_counts=True)[1] for side in (words.group, words.attribute_class)]
        drawn = np.abs([_apart(near, sizes, np.random.default_rng([SEED, k])) for k in range(TOPICS)])
        rows[name] = {"bias": bias, "as_far_apart": (drawn >= abs(bias)).mean(), "draws": TOPICS}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")


def _cosines(vectors: Any) -> Numbers:
    """Of all general words with each other."""
    words = vectors.pool()
    found = vectors.find(words)
    rows = np.stack([np.asarray(found[word], dtype=float) for word in words])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def _apart(near: Numbers, sizes: list[NDArray[np.int_]], rng: np.random.Generator) -> float:
    """The bias of arbitrary topics: of each a random word, with its nearest neighbours that are left."""
    left = np.ones(len(near), dtype=bool)

    def topic(size: int) -> NDArray[np.int_]:
        centre = rng.choice(np.flatnonzero(left))
        chosen = np.argsort(np.where(left, -near[centre], np.inf))[:size]
        left[chosen] = False
        return chosen

    groups, classes = ([topic(size) for size in side] for side in sizes)
    means = np.array([[near[np.ix_(group, of)].mean() for of in classes] for group in groups])
    return float(means[0, 0] - means[0, 1] - means[1, 0] + means[1, 1]) / 2
