"""Evaluate many random lists on all cores or on a cluster, and store the results so that a stopped run can continue."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from math import comb
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.word_vectors import sha256_of_vectors
from bayes_bias.fitting.fit_model import fit_attributes
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling, sample
from bayes_bias.jobs import Job, open_store, run_jobs
from bayes_bias.measures.designs import two_by_two
from bayes_bias.measures.permutation import MOST_PARTITIONS, Alternative, permutation_tests
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import modelled, structure_of
from bayes_bias.posterior.estimate import Estimate
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.quadrature import (
    Integrand,
    chance,
    half_width,
    integrated,
    integrated_bias,
    is_integrated,
    suits_design,
)
from bayes_bias.posterior.variance_grids import Grid
from bayes_bias.progress import within
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import (
    DEFAULT_SCOPE,
    WEAT_SCOPE,
    WORDS,
    Scope,
    ScopeName,
    possible_scopes,
    sampling_scope,
    scope_of,
    widest_scope,
)

# The results of each method for a table whose true bias is known: a few numbers per method.

type Record = dict[str, Any]
# From a table, its true bias, and a seed.
type Method = Callable[[AssociationTable, float, int], list[Record]]

# Fewer draws than for a fit. Because intervals are quantiles of a mixture of normals over draws, the Monte Carlo error
# of the bounds of a 95% interval is a twentieth of the posterior standard deviation (compared with 6,000 draws: .05 on
# average, .17 at most). This changes the false positive rate by less than .1%.
NULL_SAMPLING = Sampling(draws=300, tune=300, chains=1, target_accept=0.8)

# Number of random partitions if there are too many to count all. The standard error of p = .05 is then .005. The error
# of a share of findings is only .001, because errors of single p-values cancel.
_PERMUTATIONS = 2_000
_INTERVAL = (0.025, 0.975)
# A coarse grid for random lists. The p-values differ by less than .003 from the p-values on the full grid.
_NULL_GRID = Grid(residuals=8, factors=32, coarse=48, fine=64)

# The two-sided test of WEAT is called WEAT, because all other tests are two-sided.
ONE_SIDED_WEAT = "WEAT, one-sided"


def judge(
    table: AssociationTable,
    spec: ModelSpec,
    *,
    truth: float = 0.0,
    seed: int = 1,
    sampling: Sampling = NULL_SAMPLING,
    scopes: Collection[ScopeName] | None = None,
) -> list[Record]:
    """Return the posterior of the bias under each scope, or under these scopes only, as records. A model without scopes
    has one record, with the widest scope.

    Returns
    -------
    list of dict
        ``method`` (the model's name), ``scope``, ``mean``, ``sd``, ``ci95_lb`` and ``ci95_ub`` (ends of the 95%
        interval, units of the table), ``p_value`` (twice the posterior probability of the less likely sign; if it is
        below .05, the interval excludes zero), ``rank`` (posterior probability of values below the truth), and
        ``divergences`` of the fit. Most posteriors are integrated numerically and have no divergences.
    """
    if (spec_and_statistics := integrated(table, spec)) is not None:
        spec, data = spec_and_statistics
        records = []
        for scope in carried_scopes(data, scopes):
            bias = describe(integrated_bias(spec, data, scope), truth)
            records.append({"method": spec.name, "scope": scope, **bias})
        return records
    fitted, divergences = posterior_of(table, spec, seed=seed, sampling=sampling)
    return [record | {"divergences": divergences} for record in judge_posterior(fitted, truth, scopes)]


def judge_posterior(fitted: Fitted, truth: float = 0.0, scopes: Collection[ScopeName] | None = None) -> list[Record]:
    """Return the records of `judge` for a posterior, without divergences: one record for each scope.

    If the model cannot generalise to new words, the only record is of the widest scope.
    """
    scopes_of_model = (
        carried_scopes(fitted.data, scopes) if fitted.structure.GENERALISES else [widest_scope(fitted.data)]
    )
    records = []
    for scope in scopes_of_model:
        bias = describe(bias_estimate(fitted, scope), truth)
        records.append({"method": fitted.spec.name, "scope": scope, **bias})
    return records


def carried_scopes(means: xr.Dataset, scopes: Collection[ScopeName] | None = None) -> list[ScopeName]:
    """Return the scopes under which the bias of a design is judged: all that it supports, or those in `scopes`.

    The scope that treats all words as fixed is excluded, because nothing is sampled under it. The default scope means
    the widest scope that the design supports, such as "all" with replicates.
    """
    supported = [name for name in possible_scopes(means) if not scope_of(name).samples_nothing]
    if scopes is None:
        return supported
    # A model may ignore the replicates of a table, so the widest scope depends on the model.
    requested = {widest_scope(means) if scope == DEFAULT_SCOPE else scope for scope in scopes}
    return [name for name in supported if name in requested]


def judge_integrand(integrand: Integrand, scope: Scope, truth: float = 0.0) -> list[Record]:
    """Return the posterior of the bias of each list under a scope, as a record with the columns of `judge`.

    An integrand is the posterior of many random lists before numerical integration. The posterior of a list is a
    mixture of normals around its raw bias, with one variance for each point of a grid, and all points have equal
    weights. Only the sides (targets, attributes) that the scope samples add to the variances.
    """
    is_sampled = [facet in scope for facet in WORDS]
    integrand = replace(integrand, sides=list(compress(integrand.sides, is_sampled)))
    mean = integrand.observed  # (list)
    variances = integrand.variances(_NULL_GRID)  # (list, point of the grid)
    half_length = half_width(variances)  # of the 95% interval
    sd = np.sqrt(variances.mean(axis=1))
    rank = ndtr((truth - mean[:, None]) / np.sqrt(variances)).mean(axis=1)  # posterior probability below the truth
    columns = {"mean": mean, "sd": sd, "ci95_lb": mean - half_length, "ci95_ub": mean + half_length}
    table = pd.DataFrame({**columns, "p_value": chance(variances, mean), "rank": rank})
    return [row._asdict() for row in table.itertuples(index=False)]


def posterior_of(
    table: AssociationTable, spec: ModelSpec, *, seed: int = 1, sampling: Sampling = NULL_SAMPLING
) -> tuple[Fitted, int]:
    """Sample the posterior of a table, and return it with the number of divergent transitions.

    Unlike `fit`, this function computes no diagnostics, which saves time if hundreds of tables are fitted. The table
    and the model are first adapted to each other, as in `fit`.
    """
    table, spec = modelled(table, spec)
    data = structure_of(spec).data(table)
    posterior, stats = sample(spec, data, seed=seed, sampling=sampling)
    tree = xr.DataTree.from_dict({"posterior": posterior, "constant_data": data})
    tree.attrs = fit_attributes(table, spec, seed)
    return Fitted(tree, spec), int(stats.diverging.sum())


def judge_by_weat(table: AssociationTable, *, seed: int = 1, alternative: Alternative = "two-sided") -> Record:
    """Return the record of WEAT's permutation test, which is exact if the partitions can be counted.

    Its test statistic is the difference between the scores of two groups, so control classes are not used. The
    alternative of the published test is "greater".
    """
    design = two_by_two(table.without_controls(), "WEAT", least_words=2)
    return _weat_records(design.scores[None], design.n_x, seed, alternative)[0]


def _weat_records(
    scores: NDArray[np.float64], n_first: int, seed: int, alternative: Alternative = "two-sided"
) -> list[Record]:
    """Return the record of WEAT's permutation test for each of many lists, whose bias is half a difference of means.

    `scores` is an array (list, target) of the score of each target, its mean similarity to the first class minus the
    second class. The first `n_first` targets belong to the first group. If targets can be divided into two groups in
    too many ways, random partitions are used.
    """
    permutations = None if comb(scores.shape[1], n_first) <= MOST_PARTITIONS else _PERMUTATIONS
    tests = permutation_tests(scores, n_first, alternative=alternative, permutations=permutations, seed=seed)
    differences = scores[:, :n_first].mean(axis=1) - scores[:, n_first:].mean(axis=1)
    method = "WEAT" if alternative == "two-sided" else ONE_SIDED_WEAT
    records: list[Record] = []
    for difference, test in zip(differences.tolist(), tests, strict=True):
        records.append({"method": method, "scope": WEAT_SCOPE, "mean": difference / 2, "p_value": test.p_value})
    return records


def describe(bias: Estimate, truth: float) -> Record:
    """Return the mean, standard deviation, 95% interval, p-value, and rank of a bias, with the columns of `judge`.

    The posterior of the bias is a mixture of normals or, if word effects were sampled, an array of draws. The p-value
    is twice the probability of the less likely sign, and the rank is the probability of values below the truth.
    """
    prob_positive = 1 - bias.below(0.0).item()
    p_value = 2 * min(prob_positive, 1 - prob_positive)
    interval = bias.quantiles(_INTERVAL).ravel().tolist()
    return interval_record(bias.mean.item(), bias.sd.item(), interval, p_value, bias.below(truth).item())


def interval_record(mean: float, sd: float, interval: Iterable[float], p_value: float, rank: float) -> Record:
    """Return a record with the columns of `judge`."""
    lower, upper = interval
    return {"mean": mean, "sd": sd, "ci95_lb": lower, "ci95_ub": upper, "p_value": p_value, "rank": rank}


# Draws per job: so many that the time for the transfer of vectors is negligible, and so few that a killed run loses
# only seconds.
_BATCH = 10
# Draws per job if posteriors are integrated together, which takes a few milliseconds each.
_BATCH_OF_ARRAYS = 100


@dataclass(frozen=True, eq=False)
class Cell:
    """One design, which corresponds to one row of a calibration table.

    It is evaluated with one or more models, under the named scopes or under all scopes, and with WEAT. A subclass may
    add other methods.
    """

    design: NullDesign
    specs: tuple[ModelSpec, ...]
    seed: int = 1
    sampling: Sampling = NULL_SAMPLING
    with_weat: bool = True
    scopes: tuple[ScopeName, ...] | None = None

    @property
    def other_methods(self) -> Mapping[str, Method]:
        """Further methods, by names that determine their results."""
        return {}

    @property
    def key(self) -> str:
        """Hash of everything that affects the results. Stored records are used only if they have the same key.

        It is computed from the words, vectors, and settings of the design, and from the models and other methods.
        """
        design = self.design
        drawing = [design.random_groups, design.planted, design.topics, design.group_topics]
        parts: list[Any] = [
            [dict(design.groups), dict(design.controls)],
            [dict(design.sizes), dict(design.stereotypes), design.pool],
            [*drawing, self.seed, vars(self.sampling), self.with_weat],
            None,  # the place of a setting that no longer exists
            [spec.sha256 for spec in self.specs],
            sha256_of_vectors(design.vectors),
        ]
        # Options that are not set are omitted, so that the keys of other cells do not change.
        if self.other_methods:
            parts.append(list(self.other_methods))
        if design.opposites:
            parts.append(design.opposites)
        if design.classes:
            parts.append(dict(design.classes))
        if design.exchanged:
            parts.append({"exchanged": design.exchanged, "strata": dict(design.strata)})
        if self.scopes:
            parts.append({"scopes": self.scopes})
        if design.vocabulary:
            parts += [design.vocabulary.sha256, design.independent]
        if self.is_plain:
            parts.append(vars(_NULL_GRID))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def judge(self, first: int, end: int) -> list[Record]:
        """Return the records of the random draws from `first` up to, but not including, `end`.

        If plain arrays suffice, all draws are evaluated at once, and otherwise table by table. Each record is a row
        with the number of the draw, the method, and the scope.
        """
        if self.is_plain:
            return self._judge_plain(range(first, end))
        records: list[Record] = []
        for number in range(first, end):
            records += [{"draw": number, **record} for record in self._judge_table(number)]
        return records

    def _judge_table(self, number: int) -> list[Record]:
        """Return the records of one random draw for all methods.

        The draw is a table with a known bias, `truth`. The permutation tests and the models get seeds that depend on
        its number, so each draw can be repeated alone. Records of models contain the computation time.
        """
        table = self.design.draw(self.seed, number)
        truth = self.design.planted
        records = [judge_by_weat(table, seed=number)] if self.with_weat else []
        for method in self.other_methods.values():
            records += method(table, truth, number)
        for spec in self.specs:
            start = perf_counter()
            seed = self.seed + number
            judged = judge(table, spec, truth=truth, seed=seed, sampling=self.sampling, scopes=self.scopes)
            records += [{**record, "seconds": perf_counter() - start} for record in judged]
        return records

    @cached_property
    def is_plain(self) -> bool:
        """Return True if plain arrays suffice, that is, if only WEAT and integrated models evaluate cosines.

        Then `_judge_plain` evaluates many draws at once, which is much faster than a table for each draw.
        """
        if not self.specs or self.other_methods:
            return False
        if not (self.design.has_plain_vectors and all(map(is_integrated, self.specs))):
            return False
        # For groups or classes with one word, the table raises an informative error.
        means = self.design.means
        return "both" in possible_scopes(means) and all(suits_design(spec, means) for spec in self.specs)

    def _judge_plain(self, numbers: Sequence[int]) -> list[Record]:
        """Evaluate the draws with these numbers as arrays, and integrate all their posteriors at once.

        Each method and scope has a list of records, one record for each draw. These lists are finally sorted by draw,
        so that the order is the same as from `_judge_table`. WEAT depends on no model, so it is computed only with the
        first one. Its score of a target is the difference between the means over the two classes.
        """
        records_of_methods: list[list[Record]] = []  # for each method and scope, the record of each draw
        for spec in self.specs:
            start = perf_counter()
            integrand, tables = self.design.draw_plain(self.seed, numbers, spec)
            if self.with_weat and not records_of_methods:
                first_class, second_class = np.moveaxis(tables.target_mean, -1, 0)  # each (draw, target)
                scores = first_class - second_class
                records_of_methods.append(_weat_records(scores, int(tables.groups[0]), self.seed))
            for scope in carried_scopes(self.design.means, self.scopes):
                posteriors = judge_integrand(integrand, sampling_scope(scope), self.design.planted)
                seconds = (perf_counter() - start) / len(numbers)
                method = {"method": spec.name, "scope": scope, "seconds": seconds}
                records_of_methods.append([method | posterior for posterior in posteriors])
        records: list[Record] = []
        for number, *records_of_draw in zip(numbers, *records_of_methods, strict=True):
            records += [{"draw": number, **record} for record in records_of_draw]
        return records


def run(cells: Sequence[Cell], draws: int, *, folder: str | Path | None = None, jobs: Any = -1) -> list[pd.DataFrame]:
    """Return the records of random draws for each cell, with one row for each draw, method, and scope (see `judge`).

    Records are stored in the folder, with ten draws per file (or a hundred, if posteriors are integrated), so that a
    stopped run, or a run with more draws, can continue after the last complete file. Such a batch of draws of one cell
    is a job, and `jobs` is the number of processes, or a Dask client (see `calibrate`).

    Raises
    ------
    BayesBiasError
        If a draw cannot be evaluated. The error is raised after all other draws.
    OutputError
        If the folder cannot be created or written to, or contains other files.
    """
    store = None if folder is None else open_store(folder)
    keys = [cell.key for cell in cells]
    # The first draws of every cell come first, so that a run that is stopped early has results for each cell.
    all_jobs: list[Job] = []
    cell_of_job: list[int] = []  # the index of the cell
    draws_per_job = [_BATCH_OF_ARRAYS if cell.is_plain else _BATCH for cell in cells]
    for first in range(0, draws, _BATCH):
        for index, cell in enumerate(cells):
            if first % draws_per_job[index]:  # an earlier job of the cell includes these draws
                continue
            end = min(first + draws_per_job[index], draws)
            name = f"{cell.design.name}, draws {first} to {end - 1}"
            all_jobs.append(Job(name, cell.judge, (first, end), [keys[index], first, end]))
            cell_of_job.append(index)
    with within("draws"):
        outcomes = run_jobs(all_jobs, store, jobs=jobs)
    records: list[list[Record]] = [[] for _ in cells]
    for index, outcome in zip(cell_of_job, outcomes, strict=True):
        records[index] += outcome.needed()
    return [pd.DataFrame(rows) for rows in records]
