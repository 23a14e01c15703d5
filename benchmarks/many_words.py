"""Does an interval at equal frequency hold the bias of the words that a list was drawn from?

``python -m benchmarks.many_words --draws 50``: corpora of the scenario `frequency`, whose vocabulary is made up and so
large that the bias at equal frequency of all its words is known in each trained embedding. Lists are drawn from it.
"""

import argparse
from collections import Counter
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from joblib import Memory

from bayes_bias.associations.cosines import cosines
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.covariates import covariates_in
from benchmarks.covariates import judged_table
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import share_of
from benchmarks.simulating import RECORDS, Record, simulated
from studies.known_bias.corpora import lists_of
from studies.known_bias.running import corpus_of
from studies.known_bias.scenario import Reading, Scenario, load_scenario
from studies.known_bias.training import train_static
from studies.known_bias.vocabulary import Attribute, load_vocabulary

# Words of a group (or class) that a list is drawn from, and how many sentences a template has for the most frequent
# target: words must occur some times each.
POPULATION, REPEATS = 200, 40
SIZES, TRUTHS, SCENARIO = (8, 16), 3, "frequency"
KNOBS = ("sigma", "frequency")


@dataclass(frozen=True)
class Row:
    """An embedding, by its place among those of the scenario, and how many words each group and class has."""

    reading: int
    words: int


def large_world() -> Scenario:
    """The shipped scenario with 400 targets, and with 200 attributes of each group: 40 words for each role."""
    people = load_vocabulary("people")
    gender = people.attributes["gender"]
    targets = tuple(f"target{k}" for k in range(2 * POPULATION))
    vocabulary = replace(people, targets=targets, attributes={"gender": _with_many_words(gender)})
    shipped = load_scenario(SCENARIO)
    cells = shipped.scheme.cells
    few = tuple(cell for cell in dict.fromkeys(tuple(each.items()) for each in cells) for _ in range(TRUTHS))
    return replace(
        shipped,
        vocabulary=vocabulary,
        targets=len(targets),
        group_size=POPULATION,
        repeats=REPEATS,
        scheme=replace(shipped.scheme, cells=tuple(map(dict, few))),
    )


def _with_many_words(gender: Attribute) -> Attribute:
    each = POPULATION // len(gender.roles(0))
    groups = {
        group: {role: tuple(f"{group}_{role}{k}" for k in range(each)) for role in roles}
        for group, roles in gender.groups.items()
    }
    return replace(gender, groups=groups)


def _readings() -> tuple[Scenario, list[Reading]]:
    scenario = large_world()
    return scenario, list(scenario.readings())


@Memory(RECORDS / "many-words-populations", verbose=0).cache
def _population(number: int, world: str) -> AssociationTable:
    """All words of an embedding, with the logarithm of how frequent targets are; `world` is the scenario's hash."""
    scenario, readings = _readings()
    reading = readings[number]
    truth, corpus = corpus_of(scenario, reading)
    (attribute,) = scenario.described.values()
    wordlist = lists_of(scenario, truth, attribute)["two groups 1"]
    words = [*wordlist.targets, *wordlist.attributes]
    table = cosines(wordlist, train_static(corpus.tokens, reading.model, words, reading.seed), controls=())
    times = Counter(word for sentence in corpus.tokens for word in sentence)
    return table.with_covariates({word: float(np.log(times[word])) for word in table.values.target.to_numpy()})


def _biases(table: AssociationTable) -> tuple[float, float]:
    """Half of the coefficient of the group, by least squares over all targets: of how much closer each is to one class
    than to the other, as it is and beside the logarithm of its frequency."""
    first, other = (table.values.to_numpy()[:, table.class_index == k].mean(axis=1) for k in (0, 1))
    group, log = table.group_index, covariates_in(table.values, "target").to_numpy()
    designs = (np.c_[group, np.ones(len(group))], np.c_[group, np.ones(len(group)), log])
    raw, equal = (float(np.linalg.lstsq(design, other - first)[0][0]) / 2 for design in designs)
    return raw, equal


def judged(row: Row, seed: int) -> Record:
    """The bias and that at equal frequency of a list drawn at random, beside those of all words."""
    everything = _population(row.reading, large_world().sha256)  # of an embedding that was trained for an earlier draw
    raw, equal = _biases(everything)
    rng = np.random.default_rng([seed, row.reading, row.words])
    targets, attributes = (
        np.concatenate([rng.permutation(np.flatnonzero(homes == k))[: row.words] for k in (0, 1)])
        for homes in (everything.group_index, everything.class_index)
    )
    table = everything.select(lambda values: values[targets, attributes])
    return {"raw": raw, "equal": equal, **judged_table(table, truth=equal, raw=raw, seed=seed)}


def main() -> None:
    """Draw lists of all embeddings and write a row for each cell, model and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    scenario, readings = _readings()
    cells = [Row(number, words) for number in range(len(readings)) for words in SIZES]
    spec = load_spec("crossed")
    found = simulated(judged, cells, chosen.draws, "many-words", scenario.sha256, spec.sha256, jobs=chosen.jobs)
    frame = pd.DataFrame(
        [{**_place(scenario, readings[row.reading]), **asdict(row), **record} for row, record in found]
    )
    by = ["model", *KNOBS, "words"]
    numbers = frame.groupby(by, sort=False).mean(numeric_only=True).drop(columns="reading")
    rows = numbers.assign(embeddings=frame.groupby(by, sort=False).reading.nunique()).reset_index()
    print(rows.round(4).to_string(index=False))
    write("many-words", {**provenance(), "draws": chosen.draws}, rows_of(rows))


def _place(scenario: Scenario, reading: Reading) -> dict[str, object]:
    cell = scenario.scheme.cells[reading.truth]
    return {"model": reading.model.name, **{knob: cell[knob] for knob in KNOBS}}


def section() -> str:
    """Render lists from vocabularies whose bias at equal frequency is known."""
    result = read("many-words")
    rows, draws = pd.DataFrame(result["rows"]), int(result["about"]["draws"])
    columns = {
        "covered": "covered",
        "covered, unadjusted": "raw_covered",
        "found": "found",
        "found, unadjusted": "raw_found",
        "called frequency": "called covariates",
        "called bias": "called not covariates",
    }
    lists = (rows.embeddings * draws).astype(int)
    shares = {
        name: [share_of(share, n) for share, n in zip(rows[column], lists, strict=True)]
        for name, column in columns.items()
    }
    biases = {"bias": rows.raw.map("{:+.3f}".format), "at equal frequency": rows.equal.map("{:+.3f}".format)}
    width = (rows.width / rows.raw_width).map("{:.2f}".format)
    shown = rows[["model", "sigma", "frequency", "words"]].assign(**biases, **shares, width=width)
    return f"""### Lists drawn from the words of an embedding

Does the interval at equal frequency hold what it is about, in vectors that were trained? Corpora of the scenario
`frequency` (see [known bias](known-bias.md#bias-or-frequency)) with a made-up vocabulary of 400 targets and 200
words of each gender. Least squares over all of them give each embedding's *bias*, and its bias *at equal frequency* of
targets. Lists are drawn from them, with so many *words* in each group and class. *Covered*: the 95% interval of a list
holds the bias of all words of its embedding ({rows.covered.mean():.1%} over all cells at equal frequency,
{rows.raw_covered.mean():.1%} unadjusted; lists of 16 have a twelfth of all words, which alone makes 96% of 95%).
*Found*, *called* and *width* are as above. {draws} lists from each of {int(rows.embeddings.iloc[0])} embeddings of a
cell.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
