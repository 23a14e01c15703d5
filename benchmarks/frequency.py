"""Groups and classes that differ in frequency, and in nothing else: false findings, with and without covariates.

``python -m benchmarks.frequency VECTORS --draws 1000 --adjusted 100``, frequent words first.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from bayes_bias import fit, open_embedding, verdict
from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import Home, related_as_shown
from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.quadrature import chance
from bayes_bias.posterior.vectors import integrand_of_vectors
from bayes_bias.table.association_table import assemble
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import share_of
from benchmarks.topical_words import WEIGHTS, quasi_f

_SHORT = Sampling(draws=500, tune=500, chains=2)


@dataclass(frozen=True)
class Cell:
    """Ranks of the words of the first group, or class, and of the second; whether classes differ, too."""

    first: tuple[int, int]
    second: tuple[int, int]
    classes: bool
    words: int

    @property
    def label(self) -> dict[str, object]:
        """The columns of a row."""
        ranks = [f"{low:,} to {high:,}" for low, high in (self.first, self.second)]
        return {"first": ranks[0], "second": ranks[1], "differ": self.differ, "words": self.words}

    @property
    def differ(self) -> str:
        """Which sides differ."""
        return "groups and classes" if self.classes else "groups"


_FAR, _NEAR = ((1, 1_500), (15_000, 26_000)), ((1, 4_000), (8_000, 16_000))
CELLS = [Cell(*ranks, classes, n) for ranks in (_FAR, _NEAR) for classes in (True, False) for n in (8, 25)]


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors")
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--adjusted", type=int, default=100, help="lists of each cell that are fitted with covariates")
    chosen = parser.parse_args()
    found = open_embedding(chosen.vectors)
    plain = [word for word in found.vocabulary()[:26_000] if word.isalpha() and word.islower() and len(word) > 2]
    rank = {word: k for k, word in enumerate(found.vocabulary(), 1)}
    vectors = found.find(plain)
    unit = dict(zip(vectors, unit_means(list(vectors.values())), strict=True))
    words = np.random.default_rng(1).permutation(plain)[:2_000].tolist()
    general = GeneralWords.of({word: unit[word] for word in words})
    rows = []
    for number, cell in enumerate(CELLS):
        judged = [
            _judged(
                cell,
                np.random.default_rng([seed, number]),
                plain,
                rank,
                unit,
                general,
                load_spec("crossed"),
                seed < chosen.adjusted,
            )
            for seed in range(chosen.draws)
        ]
        frame = pd.DataFrame(judged)
        adjusted = frame["adjusted"].dropna()
        shares = {method: float((frame[method] < 0.05).mean()) for method in ("this model", "quasi-F")}
        rows.append(
            {
                **cell.label,
                "draws": len(frame),
                **shares,
                "adjusted": float((adjusted < 0.05).mean()),
                "adjusted draws": len(adjusted),
            }
        )
        print(rows[-1], flush=True)
        write("frequency", provenance() | {"vectors": chosen.vectors.split("/")[-1]}, rows_of(pd.DataFrame(rows)))


def _judged(
    cell: Cell,
    rng: np.random.Generator,
    plain: list[str],
    rank: dict[str, int],
    unit: dict[str, np.ndarray],
    general: GeneralWords,
    spec: ModelSpec,
    adjusted: bool,
) -> dict[str, float]:
    """Chances of one list without meaning, by each method."""
    homes: list[list[str]] = []
    for differ in (True, cell.classes):
        limits = (cell.first, cell.second) if differ else ((1, 26_000), (1, 26_000))
        for low, high in limits:
            used = {word for words in homes for word in words}
            offered = [word for word in plain if low <= rank[word] <= high and word not in used]
            homes.append(rng.choice(offered, cell.words, replace=False).tolist())
    vectors = [np.stack([unit[word] for word in words]) for words in homes]
    of_homes = [Home(rows, general.profiles(rows)) for rows in vectors]
    integrand = integrand_of_vectors(of_homes[:2], of_homes[2:], WEIGHTS, general, spec)
    se, df = quasi_f(integrand)
    found = {
        "this model": chance(integrand.variances(), integrand.observed),
        "quasi-F": float(2 * t.sf(abs(integrand.observed) / se, df)),
    }
    if not adjusted:
        return {**found, "adjusted": float("nan")}
    targets = {word: f"g{k}" for k in range(2) for word in homes[k]}
    attributes = {word: f"c{k}" for k in range(2) for word in homes[2 + k]}
    y = np.concatenate(vectors[:2]) @ np.concatenate(vectors[2:]).T
    table = assemble(y, targets, attributes, {"g0": "c0", "g1": "c1"})
    own = {word: unit[word] for word in (*targets, *attributes)}
    table = related_as_shown(table, general, shown=table.with_vectors(own))
    table = table.with_covariates({"target": {word: float(np.log(rank[word])) for word in targets}})
    return {**found, "adjusted": verdict(fit(table, sampling=_SHORT)).chance}


def answer() -> str:
    """Say how often such lists are found to be biased."""
    rows = pd.DataFrame(read("frequency")["rows"])
    both, one = rows[rows.differ == "groups and classes"], rows[rows.differ == "groups"]
    return f"""If both differ, frequent words are nearer to frequent ones: {both["this model"].min():.0%} to
{both["this model"].max():.0%} of lists without meaning are found to be biased. If groups alone differ, it is
{one["this model"].min():.1%} to {one["this model"].max():.1%}. A report warns if both do."""


def section() -> str:
    """Render the cells."""
    result = read("frequency")
    rows = pd.DataFrame(result["rows"])
    shown = rows[["first", "second", "differ", "words"]].assign(
        **{
            name: [share_of(x, n) for x, n in zip(rows[name], rows.draws, strict=True)]
            for name in ("this model", "quasi-F")
        },
        adjusted=[share_of(x, n) for x, n in zip(rows["adjusted"], rows["adjusted draws"], strict=True)],
    )
    return f"""## Lists that differ in frequency

Words are drawn at random from these ranks of GoogleNews, the first group (and class) from frequent words, the second
from rare ones. *Adjusted*: with the log rank of targets as a covariate, `covariates="rank"`, of
{int(rows["adjusted draws"].iloc[0])} lists a cell, of {int(rows.draws.iloc[0]):,} otherwise. If all words of a
group are more frequent than those of the other, the bias at equal frequency is an extrapolation, as a notice says.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
