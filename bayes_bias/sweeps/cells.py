"""What a cell is, one list in one embedding, and what is asked of it: functions that any process can call."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from bayes_bias.associations.cosine import cosines_with_vectors
from bayes_bias.associations.statistics import sufficient_statistics
from bayes_bias.associations.table import Associations
from bayes_bias.embeddings import Embedding
from bayes_bias.embeddings.vectors import Vectors, sha256_of_vectors
from bayes_bias.errors import AssociationsError
from bayes_bias.estimands.estimates import bias_estimate
from bayes_bias.estimands.facets import ScopeName
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.inference.sampling import Sampling, fit, versions
from bayes_bias.measures.quasi_f import quasi_f
from bayes_bias.measures.table import measure_all
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.results.design import variance_shares
from bayes_bias.results.summary import row_of_bias
from bayes_bias.results.verdict import verdict
from bayes_bias.sweeps.shared_words import influence_of
from bayes_bias.tasks import Task
from bayes_bias.words.wordlist import WordList

type Record = dict[str, Any]

# No more of the words that an embedding lacks are named in a line.
_NAMED = 8


class Cell(ABC):
    """A list, with its control classes, in an embedding or by a language model."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What people call it."""

    @property
    @abstractmethod
    def depends_on(self) -> list[Any]:
        """All that makes the table; neither names nor where files lie."""

    @abstractmethod
    def table(self) -> tuple[Associations, Vectors | None]:
        """The numbers, and the vectors that they are made of.

        Raises
        ------
        BayesBiasError
            There are none.
        """

    def screened(self, ci_prob: float) -> Task:
        """The task of asking mean squares alone."""
        return Task(self.name, screen_cell, (self, ci_prob), [self.depends_on, ci_prob])

    def fitted(self, how: "Fitting") -> Task:
        """The task of fitting a model."""
        return Task(self.name, fit_cell, (self, how), [self.depends_on, how.depends_on])

    def measured(self, names: Sequence[str] | None, seed: int, ci_prob: float) -> Task:
        """The task of computing the literature's measures; None means all of them."""
        asked = None if names is None else list(names)
        settings = (asked, seed, ci_prob)
        return Task(self.name, measure_cell, (self, *settings), [self.depends_on, *settings])


@dataclass(frozen=True, eq=False)
class CosineCell(Cell):
    """A list in an embedding, of which no more than its words are in memory."""

    words: WordList
    embedding: Embedding
    allow_loss: bool

    @property
    def name(self) -> str:
        return f"{self.words.name} in {self.embedding.name}"

    @cached_property
    def depends_on(self) -> list[Any]:
        """Hashes of list and vectors, and what else makes the table."""
        vectors = sha256_of_vectors(self.embedding.all())
        of_replicates = [list(self.embedding.replicates), self.embedding.kind]
        return [self.words.sha256, vectors, of_replicates, self.allow_loss]

    def table(self) -> tuple[Associations, Vectors | None]:
        return cosines_with_vectors(self.embedding, self.words, (), allow_loss=self.allow_loss)


@dataclass(frozen=True, eq=False)
class ScoredCell(Cell):
    """A list's log probabilities, or in a line why there are none."""

    words: str
    model: str
    scored: Associations | str

    @property
    def name(self) -> str:
        return f"{self.words} by {self.model}"

    @cached_property
    def depends_on(self) -> list[Any]:
        """The hash of the numbers themselves."""
        return [self.scored if isinstance(self.scored, str) else self.scored.sha256]

    def table(self) -> tuple[Associations, Vectors | None]:
        if isinstance(self.scored, str):
            raise AssociationsError(self.scored)
        return self.scored, None


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted, and what is then asked of it."""

    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling

    @property
    def depends_on(self) -> list[Any]:
        """All that decides the numbers, given a table."""
        return [self.spec.sha256, self.scope, self.ci_prob, self.seed, asdict(self.sampling)]


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the notices of each cell: there are hundreds, and the atlas tells what was left out or failed."""
    logger = logging.getLogger("bayes_bias")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


@_quietly()
def screen_cell(cell: Cell, ci_prob: float) -> Record:
    """The quasi-F: bias, standard error, interval and p-value without priors; what each word adds to the bias; and
    which words were found."""
    table, _ = cell.table()
    found = quasi_f(table, ci_prob=ci_prob)
    lower, upper = found.interval
    return {
        "bias": found.value,
        "sd": found.se,
        "df": found.df,
        "lower": lower,
        "upper": upper,
        "chance": found.p_value,
        "influence": influence_of(found),
        "coverage": _coverage(table),
        "within_sd": float(sufficient_statistics(table).within_sd),
        "notices": list(table.notices),
    }


@_quietly()
def fit_cell(cell: Cell, how: Fitting) -> Record:
    """The posterior of the bias in a few numbers, the verdict, and whether it can be believed."""
    table, _ = cell.table()
    fitted = Fitted.of(fit(table, how.spec, seed=how.seed, sampling=how.sampling))
    said = verdict(fitted, how.scope, ci_prob=how.ci_prob)
    row = row_of_bias(fitted, said.scope, how.ci_prob)
    return {
        "bias": said.bias,
        "sd": float(row.sd),
        "lower": said.lower,
        "upper": said.upper,
        "chance": said.chance,
        "observed": float(bias_estimate(fitted, said.scope).observed.item()),
        "noise_sd": float(row.noise_sd),
        "verdict": said.label,
        "scope": said.scope,
        "problems": list(said.problems),
        "diagnostics": asdict(Diagnostics.of(fitted)),
        "shares": variance_shares(fitted).loc["bias"].to_dict(),
        "versions": versions(),
    }


@_quietly()
def measure_cell(cell: Cell, names: Sequence[str] | None, seed: int, ci_prob: float) -> Record:
    """The rows of the table of measures, and why others are not in it."""
    table, vectors = cell.table()
    found = measure_all(table, vectors, seed=seed, ci_prob=ci_prob, only=names)
    return {"rows": found.table.reset_index().to_dict("records"), "left_out": dict(found.left_out)}


def _coverage(table: Associations) -> list[Record]:
    """Groups and classes that lost words, control classes aside."""
    if (frame := table.coverage) is None:
        return []
    lost = frame[(frame.found < frame.asked) & (frame.role != "control")]
    return [
        {"name": row.name, "asked": int(row.asked), "found": int(row.found), "lost": _named(row)}
        for row in lost.itertuples(index=False)
    ]


def _named(row: Any) -> str:
    words = [word for part in (row.missing, row.zero, row.non_finite) if part for word in part.split(", ")]
    more = f", and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
