"""The settings of a sweep, checked before anything is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from bayes_bias.analyses.sweep.cells import Fitting
from bayes_bias.arguments import check_ci_prob, check_different, check_seed, is_between, listed
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.jobs import Outcome
from bayes_bias.measures.measure_table import check_measures
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.table.scopes import ScopeName, sampling_scope

type Posteriors = Literal["all", "none"] | float | frozenset[tuple[str, str]]


@dataclass(frozen=True)
class SweepSettings:
    """Settings that all cells share.

    `measures` are names of further measures; None means all of them. A number as `posteriors` chooses the cells whose
    quasi-F has a p-value below it.
    """

    specs: tuple[ModelSpec, ...]
    measures: tuple[str, ...] | None
    posteriors: Posteriors
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling

    @classmethod
    def checked(
        cls,
        models: Iterable[str | Path | ModelSpec],
        measures: Iterable[str] | Literal["all"],
        posteriors: Any,
        scope: ScopeName,
        ci_prob: float,
        seed: int,
        sampling: Sampling,
    ) -> Self:
        """Settings from the arguments of `sweep`, checked."""
        sampling_scope(scope)
        check_ci_prob(ci_prob)
        check_sampling(sampling)
        names = None if measures == "all" else check_measures("measures", measures)
        sources = listed("models", models, str | Path | ModelSpec, "['crossed']")
        if not sources:
            raise BayesBiasError("`models` is empty. Name one or more, such as ['crossed'].")
        specs = tuple(generalising_spec(model, "an atlas") for model in sources)
        check_different("models", [spec.name for spec in specs], "Use a different name for each.")
        return cls(specs, names, _posteriors(posteriors), scope, ci_prob, check_seed(seed), sampling)

    def fits(self, embedding: str, words: str, screened: Outcome) -> bool:
        """Return True if a model is fitted to a cell: if a p-value decides, also if the quasi-F is not defined."""
        if isinstance(self.posteriors, str):
            return self.posteriors == "all"
        if isinstance(self.posteriors, frozenset):
            return (embedding, words) in self.posteriors
        return bool(screened.failed) or screened.result["chance"] < self.posteriors

    @property
    def fittings(self) -> tuple[Fitting, ...]:
        """How each model is fitted."""
        return tuple(Fitting(spec, self.scope, self.ci_prob, self.seed, self.sampling) for spec in self.specs)


def check_chosen(posteriors: Posteriors, embeddings: Sequence[str], lists: Sequence[str]) -> None:
    """Raise an error for the choice of a cell that does not exist."""
    if not isinstance(posteriors, frozenset):
        return
    for embedding, words in sorted(posteriors):
        for name, names in ((embedding, embeddings), (words, lists)):
            if name not in names:
                raise BayesBiasError(
                    f"`posteriors` contains {(embedding, words)}, but there is no '{name}'.", name, names
                )


def _posteriors(choice: Any) -> Posteriors:
    """Return the choice of cells that a model is fitted to, checked."""
    if is_between(choice, 0, 1):
        return float(choice)
    if isinstance(choice, str) and choice in ("all", "none"):
        return "all" if choice == "all" else "none"
    if isinstance(choice, Iterable) and not isinstance(choice, str):
        pairs = [tuple(pair) if isinstance(pair, Iterable) else () for pair in choice]
        if pairs and all(len(pair) == 2 and all(isinstance(name, str) for name in pair) for pair in pairs):
            return frozenset(pairs)
    raise BayesBiasError(
        f"`posteriors` is {choice!r}, which does not define the cells to fit. Use 'all', 'none', the p-value"
        " of the quasi-F below which cells are fitted, such as 0.1, or pairs of an embedding and a list."
    )
