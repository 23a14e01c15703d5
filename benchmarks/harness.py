"""Draw lists or tables whose truth is known, have methods judge them, and keep one row for each cell and method.

A `Design` draws, a method judges what was drawn, and a `Result` is a table of the evidence: some cells, the methods,
and the number of draws. `benchmarks.cells` has all results.
"""

import ast
import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from bayes_bias.models.components import BY_REPLICATE, REPLICATES
from bayes_bias.models.spec import ModelSpec, load_spec
from benchmarks.provenance import measured, provenance, read, rows_of, write

type Row = dict[str, Any]
type Numbers = NDArray[np.float64]

LEVEL = 0.05
# A test that knew the standard deviation of a bias would find this many of them with a power of 80%.
POWER_80 = float(norm.isf(LEVEL / 2) + norm.ppf(0.8))
# Where the chance that a verdict prints is compared with its realised rate.
LEVELS = (0.10, 0.20)


class Judged(NamedTuple):
    """An estimate, its 95% interval, and the two-sided p (for a posterior, twice the probability of the other sign)."""

    estimate: float
    lower: float
    upper: float
    p: float


class Design(Protocol):
    """Lists or tables of one kind."""

    @property
    def label(self) -> Row:
        """The columns that name the cell."""

    def draw(self, seed: int) -> tuple[Any, float]:
        """What a method judges, and the true value."""


type Method = Callable[[Any], Judged]


def judged(
    design: Design, methods: Mapping[str, Method], seeds: Iterable[int], **more: Callable[[Any], float]
) -> list[Row]:
    """A row for each method: shares of findings, coverage, width, and power.

    `more` are further numbers of what was drawn, averaged over draws.
    """
    records: list[Row] = []
    for seed in seeds:
        drawn, truth = design.draw(seed)
        common = {"seed": seed, "truth": truth, **{name: number(drawn) for name, number in more.items()}}
        for name, judge in methods.items():
            records.append({**common, "method": name, **judge(drawn)._asdict()})
    frame = pd.DataFrame(records).set_index("seed")
    first = frame[frame.method == next(iter(methods))]
    planted = POWER_80 * float(np.sqrt(((first.estimate - first.truth) ** 2).mean()))
    averages = {name: float(first[name].mean()) for name in more}
    rows = []
    for name in methods:
        rows.append({**design.label, "method": name, **averages, **_rates(frame[frame.method == name], planted, first)})
    return rows


def _rates(own: pd.DataFrame, planted: float, first: pd.DataFrame) -> Row:
    """Shares over draws; power is that of the bias that an oracle would find with a power of 80%."""
    width = own.upper - own.lower
    covered = (own.lower <= own.truth) & (own.truth <= own.upper)
    moved = planted - own.truth
    return {
        "draws": len(own),
        "found": float((own.p < LEVEL).mean()),
        **{f"below {level:g}": float((own.p < level).mean()) for level in LEVELS},
        "covered": float(covered.mean()),
        "width": float(width.mean()),
        "relative width": float((width / (first.upper - first.lower)).mean()),
        "power": float(((own.lower + moved > 0) | (own.upper + moved < 0)).mean()),
    }


@dataclass(frozen=True)
class Result:
    """A table of the evidence.

    Attributes
    ----------
    name : str
        Of the file in `benchmarks/results`.
    draw : callable
        Returns the rows, given the number of draws.
    draws : int
        As many as the evidence has.
    model : str, optional
        The model on which the numbers depend; None if they do not depend on a model of the package.
    needs : str, optional
        An environment variable with the path of vectors that are too large for the project.
    uses : sequence of str
        Further modules whose code decides the numbers.
    replicates : bool
        Whether its tables have replicates, so that it depends on their priors.
    """

    name: str
    draw: Callable[[int], Iterable[Mapping[str, Any]]]
    draws: int
    model: str | None = "crossed"
    needs: str | None = None
    uses: Sequence[str] = ()
    replicates: bool = False

    @property
    def key(self) -> str:
        """Hash of all that decides the numbers but the installed versions: code, model, and number of draws."""
        modules = dict.fromkeys((self.draw.__module__, *self.uses))
        parts = [self.name, str(self.draws), self._spec.sha256 if self._spec else ""]
        return hashlib.sha256("\n".join([*parts, *map(_code_of, modules)]).encode()).hexdigest()[:12]

    @property
    def _spec(self) -> ModelSpec | None:
        """The model, without priors that its tables do not use."""
        if self.model is None:
            return None
        spec = load_spec(self.model)
        if self.replicates:
            return spec
        unused = [name for name in spec.priors if name in REPLICATES or name.endswith(BY_REPLICATE)]
        return replace(spec, priors={name: prior for name, prior in spec.priors.items() if name not in unused})

    @property
    def is_up_to_date(self) -> bool:
        """Whether the kept table was drawn by today's code and with today's model."""
        return measured(self.name) and read(self.name)["about"].get("key") == self.key

    def keep(self, draws: int | None = None) -> None:
        """Draw, and keep the table. A shorter run than that of the evidence is not up to date."""
        draws = draws or self.draws
        rows = pd.DataFrame(self.draw(draws))
        print(rows.to_string(float_format="{:.3f}".format), flush=True)
        about = {"draws": draws, "model": load_spec(self.model).sha256[:12] if self.model else "none"}
        write(self.name, provenance() | about | {"key": self.key if draws == self.draws else "short"}, rows_of(rows))


@cache
def _code_of(module: str) -> str:
    """A module without comments, docstrings, and imports: only what decides the numbers makes a result stale."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    # The numbers of draws are not those of one result alone.
    tree.body = [node for node in tree.body if not ast.unparse(node).startswith("RESULTS = ")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            code = [part for part in node.body if not isinstance(part, ast.Import | ast.ImportFrom)]
            node.body = code or [ast.Pass()]
    return ast.dump(tree)
