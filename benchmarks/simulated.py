"""False findings in tables simulated from the model and beyond it: `python -m benchmarks.simulated --draws 400`.

Each cell has no bias. Preferences correlate between classes and between groups, negatively too; scales are those of
real cosines, a twentieth or three times of them; groups and classes are many, unequal in size, or with controls; words
come in sub-topics, which the list names or does not name, or in pairs.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import judge
from bayes_bias.measures import quasi_f
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable, assemble
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import WANTED, covering_findings, from_to
from benchmarks.simulating import Record, simulated

# Standard deviations of a target's and of an attribute's effects on one block, and of the residual: those of real
# cosines.
TARGET, ATTRIBUTE, RESIDUAL = 0.024, 0.038, 0.04

_KEPT = ("mean", "ci95_lb", "ci95_ub", "p_value", "rank", "divergences")


@dataclass(frozen=True)
class Row:
    """One cell: correlation of effects between classes (targets) and groups (attributes), words, groups, controls,
    scale; how many words the first group has, or the first class, and by how much more they vary; into how many
    sub-topics the attributes of each class fall, how strongly the words of one (or the two targets of a pair)
    correlate, and whether the list says so."""

    part: str
    correlation: float = 0.0
    words: int = 8
    groups: int = 2
    controls: int = 0
    scale: float = 1.0
    first_group: int | None = None
    first_class: int | None = None
    first_scale: float = 1.0
    topics: int = 0
    paired: bool = False
    within: float = 0.0
    named: bool = True

    def table(self, seed: int) -> AssociationTable:
        """One random table."""
        rng = np.random.default_rng([seed, self.words, self.groups, self.controls])
        sizes = [self.first_group or self.words, *[self.words] * (self.groups - 1)]
        n_classes = self.groups + self.controls
        counts = [self.first_class or self.words, *[self.words] * (self.groups - 1), *[60] * self.controls]
        g, c = np.repeat(np.arange(self.groups), sizes), np.repeat(np.arange(n_classes), counts)
        topic = c * self.words + np.concatenate([np.arange(n) * self.topics // n for n in counts])
        pair = np.concatenate([np.arange(n) for n in sizes]) if self.paired else np.arange(len(g))
        target = TARGET * self._effects(pair, n_classes, self.paired * self.within, rng)
        attribute = ATTRIBUTE * self._effects(topic, self.groups, (self.topics > 0) * self.within, rng)
        if self.first_class:
            attribute[c == 0] *= self.first_scale
        else:
            target[g == 0] *= self.first_scale
        y = target[:, c] + attribute[:, g].T + RESIDUAL * rng.standard_normal((len(g), len(c)))
        names = [f"g{k}" for k in range(self.groups)]
        return assemble(
            0.1 + self.scale * y,
            {f"t{i}": names[k] for i, k in enumerate(g)},
            {f"a{j}": f"c{k}" for j, k in enumerate(c)},
            {name: f"c{k}" for k, name in enumerate(names)},
            topics={f"a{j}": f"topic {k}" for j, k in enumerate(topic)} if self.topics and self.named else {},
            pairs={f"t{i}": f"pair {k}" for i, k in enumerate(pair)} if self.paired and self.named else {},
        )

    def _effects(self, cluster: np.ndarray, total: int, within: float, rng: np.random.Generator) -> np.ndarray:
        """Of single words and of what their clusters share, (words, total), of variance one."""
        own = _correlated(len(cluster), self.groups, total, self.correlation, rng)
        if not within:
            return own
        shared = _correlated(cluster.max() + 1, self.groups, total, self.correlation, rng)
        return np.sqrt(1 - within) * own + np.sqrt(within) * shared[cluster]


def _correlated(n: int, k: int, total: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Normal effects (n, total), of variance one; the first k correlate."""
    covariance = np.eye(total)
    covariance[:k, :k] = correlation + (1 - correlation) * np.eye(k)
    values, vectors = np.linalg.eigh(covariance)
    return rng.standard_normal((n, total)) @ (vectors * np.sqrt(np.maximum(values, 0))).T


ROWS = (
    *(Row("correlated preferences", rho, words) for rho in (-1, -0.5, 0, 0.5) for words in (4, 8, 25)),
    *(Row("with two controls", rho, 8, controls=2) for rho in (-1, -0.5, 0, 0.5)),
    *(Row("more groups", rho, 8, groups) for groups in (3, 4, 5) for rho in (-0.2, 0.3)),
    *(Row("other scales", 0, words, scale=scale) for scale in (0.05, 0.3, 3) for words in (4, 8)),
    *(Row("3 against 30 targets", rho, 30, first_group=3) for rho in (-0.5, 0)),
    Row("3 against 30 targets, the 3 three times as variable", 0, 30, first_group=3, first_scale=3),
    *(Row("one group three times as variable", 0, words, first_scale=3) for words in (8, 25)),
    Row("3 against 30 attributes", 0, 30, first_class=3),
    Row("3 against 30 attributes, the 3 three times as variable", 0, 30, first_class=3, first_scale=3),
    *(
        Row(f"sub-topics, {'named' if named else 'not named'}", 0, words, topics=topics, within=within, named=named)
        for named in (False, True)
        for words, topics, within in ((8, 2, 0.1), (8, 2, 0.3), (8, 2, 0.5), (25, 5, 0.3))
    ),
    *(
        Row(f"pairs, {'named' if named else 'not named'}", 0, 8, paired=True, within=0.6, named=named)
        for named in (False, True)
    ),
)


def judged(row: Row, seed: int) -> Record:
    """What the crossed model and the quasi-F say of one random table, scope both."""
    table = row.table(seed)
    (record,) = judge(table, load_spec("crossed"), seed=seed + 1, scopes=["both"])
    said = {key: float(record.get(key, 0)) for key in _KEPT}  # nothing diverges where the posterior is integrated
    return said | {"quasi-F": float(quasi_f(table).p_value < 0.05)}


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    spec = load_spec("crossed")
    found = simulated(judged, ROWS, chosen.draws, "simulated", spec.sha256, jobs=chosen.jobs)
    rows = []
    for row in ROWS:
        records = pd.DataFrame([record for cell, record in found if cell is row])
        (own,) = rates(records.assign(method=spec.name, scope="both")).to_dict("records")
        rows.append({**vars(row), **own, "quasi-F": records["quasi-F"].mean()})
    columns = [
        "part",
        "correlation",
        "words",
        "groups",
        "controls",
        "scale",
        "topics",
        "within",
        "draws",
        "share",
        "share_ci95_lb",
        "share_ci95_ub",
        "quasi-F",
        "width",
        "coverage_50",
        "coverage_95",
        "divergences",
    ]
    table = pd.DataFrame(rows)[columns]
    print(table.to_string(float_format="{:.3f}".format))
    about = provenance() | {"spec": spec.sha256[:12], "draws": chosen.draws}
    write("simulated", about, rows_of(table))


_SIDES = ("targets", "attributes")


def answer() -> str:
    """Say where simulated tables have too many findings."""
    shares = pd.DataFrame(read("simulated")["rows"]).set_index("part")["share"]
    uneven = shares[shares.index.str.endswith("the 3 three times as variable")]
    return f"""Words are assumed to be independent draws from the population that they stand for. Those that come in
sub-topics are not, and make the interval too short ({from_to(shares["sub-topics, not named"])} false findings) unless
the list names the sub-topics ({from_to(shares["sub-topics, named"])}). Three words that vary three times as much as
thirty others give {from_to(uneven)}."""


def section() -> str:
    """Render tables that were simulated from the model and beyond it."""
    result = read("simulated")
    rows = pd.DataFrame(result["rows"])
    keys = ["correlation", "words", "groups", "controls", "scale", "topics", "within"]
    shown = covering_findings(rows, ["part", *keys], sort=False)
    shown.insert(shown.columns.get_loc("share") + 1, "quasi-F", rows["quasi-F"].map("{:.1%}".format))
    uneven = rows[rows.part.str.endswith("the 3 three times as variable")].set_index("part")
    of_targets, of_attributes = (uneven.loc[f"3 against 30 {side}, the 3 three times as variable"] for side in _SIDES)
    return f"""## Simulated tables

No bias; effects of words are as large as on real vectors (times *scale*). *correlation*: of a word's effects on two
classes, or groups. *topics*: into how many sub-topics the words of a class fall; *within*: how the words of a
sub-topic, or the two targets of a pair, correlate.

{markdown_table(shown)}

Outside 2 to 7% beyond their Monte Carlo interval: {_outside(rows)}. Sub-topics that are not named make the intervals
too short, as expected; named ones make them wide enough, and with two sub-topics a class too wide, since two say
little of how much they vary. Groups and classes have scales of their own, but three words say little of theirs, three
times as variable as those of thirty others: {of_targets["share"]:.0%} if they are targets (the quasi-F
{of_targets["quasi-F"]:.0%}), {of_attributes["share"]:.0%} if they are attributes ({of_attributes["quasi-F"]:.0%}).
A notice warns of lists of so different length.

{circumstances(result["about"])}
"""


def _outside(rows: pd.DataFrame) -> str:
    beyond = rows[(rows.share_ci95_ub < WANTED[0]) | (rows.share_ci95_lb > WANTED[1])]
    named = [f"{row.part} ({row.words} words, {row['share']:.1%})" for _, row in beyond.iterrows()]
    return "; ".join(named) if named else "none"


if __name__ == "__main__":
    main()
