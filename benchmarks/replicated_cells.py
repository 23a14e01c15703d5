"""Nulls of replicated designs: how the three facets fare, and what is reported where replicates are no facet."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bayes_bias.checks.null_jobs import Cell, Record, judge, judge_by_weat
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.measures.seat import seat
from bayes_bias.models.spec import ModelSpec, Prior, load_spec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.words.wordlist import load_wordlist
from benchmarks.cells import random_words
from benchmarks.null_designs import with_replicates

LISTS = ("weat1", "weat6", "weat7")
# If a prior of replicates is to be chosen, then on these, by other random draws.
TUNING, TUNING_SEED = ("weat1", "weat7"), 2
SIZES = (8, 25)
TEMPLATES = (2, 3, 5, 10)
SEEDS = (2, 3, 5)
# Of a replicate's own preference, in units of the table; the first is shipped.
PRIORS = (
    Prior("Exponential", {"lam": 10}),
    Prior("Exponential", {"lam": 5}),
    Prior("Exponential", {"lam": 20}),
    Prior("Exponential", {"lam": 40}),
    Prior("HalfCauchy", {"beta": 0.05}),
)
# More than these say enough themselves.
FEW_TEMPLATES = (2, 3)
_OF_WORDS = ("sd_target_preference_by_replicate", "sd_attribute_preference_by_replicate")
# p = .05 is then known to .005; SEAT's p is far from it on either side.
_PERMUTATIONS = 2_000
_TOLD = ("all", "both")


@dataclass(frozen=True, eq=False)
class ReplicatedCell(Cell):
    """A replicated design, judged by the crossed model with its replicates and on the mean table, by WEAT on the mean
    table and by SEAT on sentences.

    Attributes
    ----------
    across : bool
        Whether replicates have one space in common, so that sentences of different ones have a cosine.
    alone : bool
        Whether to judge by the crossed model with replicates and nothing else.
    """

    across: bool = True
    alone: bool = False

    @property
    def key(self) -> str:
        """Hash of all that determines the numbers."""
        told = f"{super().key} {self.design.replicates} {self.across} {self.alone} {_PERMUTATIONS}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def judge(self, number: int) -> list[Record]:
        """The records of one random draw."""
        table = self.design.draw(self.seed, number)
        (spec,) = self.specs
        records = self._fitted(table, spec, number)
        if not self.alone:
            on_mean = self._fitted(replace(table, replicates=None), spec, number)
            records += [record | {"method": "crossed on the mean table"} for record in on_mean]
            records += [judge_by_weat(table, seed=number), self._seat(table, number)]
        return [{"draw": number, **record} for record in records]

    def _fitted(self, table: AssociationTable, spec: ModelSpec, number: int) -> list[Record]:
        seed = self.seed + number
        return judge(table, spec, seed=seed, sampling=self.sampling, scopes=_TOLD)

    def _seat(self, table: AssociationTable, number: int) -> Record:
        found = seat(
            table.with_vectors(self.design.vectors) if self.across else table,
            alternative="two-sided",
            permutations=_PERMUTATIONS,
            seed=number,
        )
        return {"method": "SEAT", "scope": "targets", "mean": found.bias, "p_value": found.p_value}


@dataclass(frozen=True)
class Row:
    """One cell with what the table says of it."""

    part: str
    wordlist: str
    size: int
    replicates: int
    cell: ReplicatedCell


def nulls(templates: Embedding, seeds: Embedding | None) -> Iterator[Row]:
    """Real targets and random attributes in templates; random words on both sides in trainings, whose text has hardly
    any of the lists' words."""
    spec = load_spec("crossed")
    yield from of_templates(templates, LISTS, spec)
    if seeds is None:
        return
    random = random_words(seeds)
    for size in SIZES:
        design = random.with_random_groups(size).with_sizes(size)
        for count in SEEDS:
            cell = ReplicatedCell(with_replicates(design, count), (spec,), across=False)
            yield Row("word2vec seeds", design.name, size, count, cell)


def priors(templates: Embedding) -> Iterator[Row]:
    """Other priors of what replicates differ by, on one half of the lists and draws of their own."""
    for prior in PRIORS:
        rows = of_templates(templates, TUNING, under(prior), FEW_TEMPLATES, seed=TUNING_SEED, alone=True)
        for row in rows:
            yield replace(row, part=str(prior))


def under(prior: Prior) -> ModelSpec:
    """The crossed model with another prior of what a bias differs by between replicates."""
    return load_spec("crossed").with_prior("sd_replicate_preference", prior.distribution, **prior.parameters)


def of_templates(
    templates: Embedding,
    lists: Sequence[str],
    spec: ModelSpec,
    counts: Sequence[int] = TEMPLATES,
    *,
    seed: int = 1,
    alone: bool = False,
) -> Iterator[Row]:
    """Real targets and random attributes."""
    for name in lists:
        design = NullDesign.of(load_wordlist(name), templates)
        for size in SIZES:
            for count in counts:
                drawn = with_replicates(design.with_sizes(size), count)
                cell = ReplicatedCell(drawn, (spec,), seed=seed, alone=alone)
                yield Row("templates", name, size, count, cell)
