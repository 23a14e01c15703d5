"""Groups and classes that differ in frequency, and in nothing else: false findings, with and without covariates.

``python -m benchmarks.frequency VECTORS --draws 1000 --adjusted 100``, frequent words first.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from bayes_bias import fit, open_embedding, verdict
from bayes_bias.analyses.report.check_frequency import LARGE
from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import Home, related_as_shown
from bayes_bias.associations.similarity_cosine import COSINES
from bayes_bias.checks.frequency import HARDLY, frequency_slope, overlap_of
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


type Ranks = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """Ranks of the words of the first and second group, and of the first and second class."""

    groups: tuple[Ranks, Ranks]
    classes: tuple[Ranks, Ranks]
    words: int

    @property
    def label(self) -> dict[str, object]:
        """The columns of a row."""
        groups, classes = (
            " / ".join(f"{low:,}–{high:,}" for low, high in side) for side in (self.groups, self.classes)
        )
        return {"groups": groups, "classes": classes, "words": self.words}


_LAST = 26_000
_ALL, _FAR, _NEAR = ((1, _LAST),) * 2, ((1, 1_500), (15_000, _LAST)), ((1, 4_000), (8_000, 16_000))
_OVERLAPPING, _TWOFOLD = ((1, 12_000), (3_000, 20_000)), ((1, 6_000), (3_000, 12_000))
_DESIGNS = ((_ALL, _ALL), (_FAR, _FAR), (_NEAR, _NEAR), (_OVERLAPPING, _OVERLAPPING), (_FAR, _TWOFOLD), (_FAR, _ALL))
CELLS = [Cell(*ranks, n) for ranks in _DESIGNS for n in (8, 25)]
_EMBEDDINGS = {"frequency": "GoogleNews", "frequency-glove": "GloVe 6B 50d"}


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors")
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--adjusted", type=int, default=100, help="lists of each cell that are fitted with covariates")
    parser.add_argument("--name", choices=list(_EMBEDDINGS), default="frequency")
    chosen = parser.parse_args()
    found = open_embedding(chosen.vectors)
    slope = frequency_slope(found, COSINES)
    plain = [word for word in found.vocabulary()[:_LAST] if word.isalpha() and word.islower() and len(word) > 2]
    rank = {word: k for k, word in enumerate(found.vocabulary(), 1)}
    stored = found.find(plain)
    plain = [word for word in plain if word in stored]
    vectors = {word: stored[word] for word in plain}
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
                slope,
                seed < chosen.adjusted,
            )
            for seed in range(chosen.draws)
        ]
        frame = pd.DataFrame(judged)
        adjusted = frame["adjusted"].dropna()
        found_there = frame["this model"] < 0.05
        rows.append(
            {
                **cell.label,
                "draws": len(frame),
                "bias": float(frame.bias.mean()),
                "predicted": float(frame.predicted.mean()),
                **{method: float((frame[method] < 0.05).mean()) for method in ("this model", "quasi-F")},
                "warned": float(frame.warned.mean()),
                "no verdict": float((frame.warned & frame.apart).mean()),
                "found, not warned": float((found_there & ~frame.warned).mean()),
                "adjusted": float((adjusted < 0.05).mean()),
                "adjusted draws": len(adjusted),
            }
        )
        print(rows[-1], flush=True)
        write(chosen.name, provenance() | {"vectors": chosen.vectors.split("/")[-1]}, rows_of(pd.DataFrame(rows)))


def _judged(
    cell: Cell,
    rng: np.random.Generator,
    plain: list[str],
    rank: dict[str, int],
    unit: dict[str, np.ndarray],
    general: GeneralWords,
    spec: ModelSpec,
    slope: float,
    adjusted: bool,
) -> dict[str, float | bool]:
    """Chances of one list without meaning, by each method, and what a report says of its frequency."""
    homes: list[list[str]] = []
    for low, high in (*cell.groups, *cell.classes):
        used = {word for words in homes for word in words}
        offered = [word for word in plain if low <= rank[word] <= high and word not in used]
        homes.append(rng.choice(offered, cell.words, replace=False).tolist())
    vectors = [np.stack([unit[word] for word in words]) for words in homes]
    of_homes = [Home(rows, general.profiles(rows)) for rows in vectors]
    integrand = integrand_of_vectors(of_homes[:2], of_homes[2:], WEIGHTS, general, spec)
    se, df = quasi_f(integrand)
    variances = integrand.variances()
    ranks = [np.array([rank[word] for word in words], dtype=float) for words in homes]
    groups, classes = (np.array([np.log(own).mean() for own in side]) for side in (ranks[:2], ranks[2:]))
    predicted = slope * float(groups @ WEIGHTS @ classes)
    found: dict[str, float | bool] = {
        "bias": integrand.observed,
        "predicted": predicted,
        "warned": abs(predicted) > LARGE * float(np.sqrt(variances.mean())),
        "apart": max(overlap_of(ranks[:2]), overlap_of(ranks[2:])) <= HARDLY,
        "this model": chance(variances, integrand.observed),
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
    """Say how often such lists are found to be biased, and how often without a warning."""
    rows = pd.concat([pd.DataFrame(read(name)["rows"]) for name in _EMBEDDINGS])
    alike = f"{_ALL[0][0]:,}–{_ALL[0][1]:,}"
    differ = rows[~rows.classes.str.startswith(alike)]
    return f"""If both differ, frequent words are nearer to frequent ones: {differ["this model"].min():.0%} to
{differ["this model"].max():.0%} of lists without meaning are found to be biased. A report predicts the bias that
frequency alone would give, and warns if it exceeds half a posterior standard deviation: at most
{rows["found, not warned"].max():.1%} of lists are found without a warning. If neither groups nor classes overlap in
frequency there is no verdict."""


def section(name: str = "frequency") -> str:
    """Render the cells of one embedding."""
    result = read(name)
    rows = pd.DataFrame(result["rows"])
    shares = ("this model", "quasi-F", "warned", "no verdict", "found, not warned")
    shown = rows[["groups", "classes", "words"]].assign(
        bias=rows.bias.map("{:+.3f}".format),
        predicted=rows.predicted.map("{:+.3f}".format),
        **{share: [share_of(x, n) for x, n in zip(rows[share], rows.draws, strict=True)] for share in shares},
        adjusted=[share_of(x, n) for x, n in zip(rows["adjusted"], rows["adjusted draws"], strict=True)],
    )
    return f"""## Lists that differ in frequency: {_EMBEDDINGS[name]}

Words are drawn at random from these ranks, the first group (and class) from frequent words, the second from rare ones.
*Bias* is the mean over {int(rows.draws.iloc[0]):,} lists, *predicted* what the frequency of their words predicts.
*Warned*: the prediction exceeds half a posterior standard deviation. *No verdict*: besides, a word of one group is more
frequent than a word of the other in 95% of pairs, and so for classes. *Adjusted*: with the log rank of targets as a
covariate, `covariates="rank"`, of {int(rows["adjusted draws"].iloc[0])} lists a cell. If all words of a group are more
frequent than those of the other, the bias at equal frequency is an extrapolation, as a notice says.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


def glove() -> str:
    """Render the cells of the embedding in which nothing was tuned."""
    return section("frequency-glove")


if __name__ == "__main__":
    main()
