"""Estimate the false positive rate of a design, and the coverage of its intervals."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, get_args

import joblib
import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import binomtest, kstest

from bayes_bias.arguments import as_tuple, check_count, check_jobs, check_seed, is_between
from bayes_bias.associations.cosines import cosines
from bayes_bias.associations.lists import DEMO, origin_of
from bayes_bias.associations.similarity import COSINES
from bayes_bias.checks.null_jobs import NULL_SAMPLING, Cell, run
from bayes_bias.checks.null_lists import Drawn, NullDesign
from bayes_bias.checks.simulation import judge_simulations
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import BayesBiasError, ScopeError, WordListError, did_you_mean
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.formatting import (
    DASH,
    Column,
    Layout,
    Tabled,
    as_count,
    equals,
    joined,
    plain,
    probability,
    share,
    share_within,
)
from bayes_bias.jobs import from_cache, run_in_background
from bayes_bias.measures.other_words import Random
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.structures import structure_of
from bayes_bias.posterior.quadrature import integrated
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.scopes import WEAT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.words.wordlist import ListLike

# Sources of tables: random words of the embedding, or simulations from the model.
By = Literal["random words", "simulation"]
# Default numbers of draws: for integrated posteriors, for sampled posteriors, and for lists of sub-topics or of topics
# in a report.
DRAWS, DRAWS_SAMPLED, _DRAWS_OF_TOPICS = 400, 50, 200
# The words that are drawn by default in some ways, and the attributes in all others.
_RANDOM: Mapping[Drawn, Random] = {"own words": "targets", "topics": "both"}
# Where own words are exchanged.
_BETWEEN: Mapping[Random, str] = {"targets": "groups", "attributes": "classes", "both": "groups and classes"}
# If there are fewer lists, drawing them takes less time than starting another process.
_WORTH_A_PROCESS = 5_000
# Upper limit of a planted bias, above which vectors could not keep unit length. Much smaller biases are already
# detected.
MOST_PLANTED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Tabled):
    """Calibration results for a design whose true bias is known, or for topics, whose biases are unknown.

    Attributes
    ----------
    name : str
        The word list.
    truth : float
        The true bias: zero, or the planted bias. For topics, it has no meaning.
    records : pandas.DataFrame
        One row for each draw, method, and scope.
    random : {"attributes", "targets", "both"}
        The words that were drawn at random.
    drawn : {"words", "own words", "sub-topics", "topics"}
        How the words were drawn.
    by : {"random words", "simulation"}
        Source of the tables.
    """

    name: str
    truth: float
    records: pd.DataFrame
    random: Random = "attributes"
    drawn: Drawn = "words"
    by: By = "random words"

    @cached_property
    def table(self) -> pd.DataFrame:
        """Share of findings, and width and coverage of intervals, by method and scope (see `rates`).

        Topics differ by an unknown bias, so their coverage is missing.
        """
        table = rates(self.records)
        if self.drawn == "topics":
            table[[column for column in table if column.startswith("coverage")]] = np.nan
        return table

    @cached_property
    def uniformity(self) -> pd.DataFrame:
        """Test of uniform ranks of the truth in the posteriors, by method and scope (see `uniformity_of`)."""
        return uniformity_of(self.records)

    @property
    def text(self) -> str:
        """Describe the shares of findings in a sentence or, for simulated tables, the ranks and intervals.

        The sentence begins with the design: which words (`random`) were drawn in which way (`drawn`), and the bias that
        was added (`truth`, zero for no bias).
        """
        if self.by == "simulation":
            return " ".join(map(self._of_ranks, self.uniformity.reset_index().to_dict("records")))
        words: str = "targets and attributes" if self.random == "both" else self.random
        design = f"with {words} drawn at random"
        if self.drawn == "own words":
            design = f"with the {words} of the list exchanged at random between {_BETWEEN[self.random]}"
        elif self.drawn != "words":
            design = f"with {words} of {self.drawn} drawn at random"
        planted = f" and a bias of {self.truth:g} planted" if self.truth else ""
        shares = "; ".join(self._shares())
        return f"{self.name}: {design}{planted}, the shares of findings at the 5% level are {shares}."

    @property
    def layout(self) -> Layout:
        """Show a row for each method and scope: the share of findings, and the width and coverage of 95% intervals.

        WEAT has no intervals, and the true bias of topics is unknown, so their coverage is a dash.
        """
        truth = "true biases unknown" if self.drawn == "topics" else f"true bias {self.truth:g}"
        rows = self.table.reset_index()
        coverage = [DASH if np.isnan(covered) else share(covered) for covered in rows.coverage_95]
        return Layout(
            list(map(str, rows.method)),
            [
                Column("scope", list(map(str, rows.scope)), words=True),
                Column("draws", rows.draws, as_count),
                Column("found", list(map(share_within, rows["share"], *interval_of(rows, "share")))),
                Column("width", rows.width, plain),
                Column("hold the truth", coverage),
            ],
            heading="method",
            caption=f"Findings at the 5% level, {truth}",
        )

    def _of_ranks(self, row: Mapping[Any, Any]) -> str:
        """Describe the ranks and intervals of one model in sentences, given its row in `uniformity`.

        If the model is correct, ranks of the true bias in the posterior have a uniform distribution, which a
        Kolmogorov-Smirnov test examines at the level ALPHA. The intervals have the probabilities in _SHOWN.
        """
        p_value, draws = row["p_value"], int(row["draws"])
        compared = "are compatible with" if p_value >= ALPHA else "deviate from"
        levels = joined([f"{100 * prob:.0f}%" for prob in _SHOWN])
        shares = []
        for prob in _SHOWN:
            name, lower, upper = _coverage_names(prob)
            shares.append(share_within(row[name], row[lower], row[upper]))
        return (
            f"{self.name}: in {draws} tables that the model '{row['method']}' simulated with a bias of {self.truth:g},"
            f" ranks of the true bias {compared} a uniform distribution (Kolmogorov-Smirnov p"
            f" {equals(probability(p_value))}). Intervals of {levels} contain it in {joined(shares)} of the tables."
        )

    def _shares(self) -> Iterable[str]:
        """Yield the name of each method with its share of findings under the scope that matches the random words.

        A scope names the words to which a result generalises, so it matches if it includes the words that were drawn at
        random. WEAT has only one scope, new targets. If a method was not evaluated under the matching scope, yield its
        shares under all scopes under which it was evaluated.
        """
        for (method, scope), row in self.table.iterrows():
            share_of_findings = share_within(row["share"], *row[list(SHARE_BOUNDS)])
            evaluated_scopes = self.table.loc[method].index
            matching_scope = "all" if "all" in evaluated_scopes else "both"
            if method == "WEAT" or self.random == "targets":
                matching_scope = WEAT_SCOPE
            if scope == matching_scope:
                yield f"{method} {share_of_findings}"
            elif matching_scope not in evaluated_scopes:
                yield f"{method} under scope '{scope}' {share_of_findings}"


def calibrate(
    wordlist: ListLike | AssociationTable,
    embedding: Embedding | str | Path | Mapping[str, Any] | Any = DEMO,
    *,
    by: By = "random words",
    models: Iterable[ModelSpec | str | Path] = ("crossed",),
    scopes: ScopeName | Iterable[ScopeName] | None = None,
    draws: int | None = None,
    random: Random | None = None,
    drawn: Drawn = "words",
    size: int | None = None,
    planted: float = 0.0,
    seed: int = 1,
    sampling: Sampling = NULL_SAMPLING,
    folder: str | Path | None = None,
    jobs: Any = -1,
) -> Calibration:
    """Estimate how often a design finds a bias if there is none, and how often its intervals contain the truth.

    By default, the tables come from your embedding. The targets are the targets of the list. The attributes of each
    class are drawn at random from the embedding, from the same words for all classes, so that the population bias is
    zero. If the 95% interval of a method excludes zero (or its p is below .05) in more than 5% of the draws, the method
    has too many false positives.

    With ``by="simulation"``, the model simulates tables of your words, with standard deviations from the prior
    (simulation-based calibration [1]_). If the computation is correct, the rank of the true bias in its posterior is
    uniform, and intervals have their nominal coverage. This checks the computation for your design, but not whether the
    model describes your embedding.

    Parameters
    ----------
    wordlist : WordList, str, Path or AssociationTable
        A list, which is used with the built-in control classes, or a table, which records its embedding. For other
        control classes, another similarity, or lists with missing words, pass a table: ``calibrate(cosines("weat7",
        embedding, ()))``, see `similarities`.
    embedding : Embedding, str, Path, dict, DataFrame or gensim KeyedVectors
        Source of random words. They are drawn from the pool that is marked in the embedding or, without such a pool,
        from the lower-case words among its first 30,000 words.
    by : {"random words", "simulation"}
        Source of the tables. Simulations need no embedding if you pass a table. Simulations use the widest scope,
        ignore `jobs`, and cannot be combined with `random`, `drawn`, `size`, `scopes`, and `folder`.
    models : iterable of ModelSpec, str or Path
        Models to evaluate, in addition to WEAT's permutation test.
    scopes : {"both", "targets", "attributes", ...} or an iterable of them, optional
        Scopes under which the models are evaluated. The default is all scopes, which takes longer.
    draws : int, optional
        Number of random draws. The Monte Carlo error of a share is ``sqrt(share (1 - share) / draws)``. The default is
        400, or 50 if each posterior must be sampled.
    random : {"attributes", "targets", "both"}, optional
        Which words are drawn at random. The default is "attributes", "targets" for ``drawn="own words"``, and "both"
        for ``drawn="topics"``, for which there is no other choice.
    drawn : {"words", "own words", "sub-topics", "topics"}
        How words are drawn. "words" draws them one by one. "own words" exchanges the targets of the list between its
        groups (or the attributes between its classes), so that the true bias is zero for *your* words. Words of a sub-
        topic that all groups have are only exchanged with one another. "sub-topics" draws each class (or group) from
        the neighbourhoods of three random words, as in a list with sub-topics. "topics" draws the targets of each group
        and the attributes of each class from the neighbourhood of one random word. Because topics do differ, the share
        of findings is then not a false positive rate, but the share of *arbitrary* pairs of topics with a bias.
    size : int, optional
        Number of random words in each class or group. Defaults to the number in the list.
    planted : float
        A true bias to plant instead of zero, in the units of the table. The share of findings is then the power.
    seed : int
        Random seed. Equal seeds give equal draws.
    sampling : Sampling
        Sampler settings for each posterior.
    folder : str or Path, optional
        A folder in which to store records, with ten draws per file (or a hundred, if posteriors are integrated). A
        stopped run, or a run with more draws, continues after the last complete file.
    jobs : int or distributed.Client
        Number of processes: -1 for one on each core, 1 for this process alone. Alternatively, the client of a Dask
        cluster, on which the computation then runs. On the command line, connect to a cluster by `bayes-bias calibrate
        --scheduler ADDRESS`.

    Returns
    -------
    Calibration
        Results with ``table``, ``uniformity``, and ``text``.

    Raises
    ------
    BayesBiasError
        If the seed or number of processes is not valid, if there are too few words to draw from, or if a list or
        embedding cannot be read.
    TableError
        If a table does not come from an embedding.
    ScopeError
        If the data do not support a scope.
    OutputError
        If the folder cannot be created or written to, or contains other files.

    References
    ----------
    .. [1] Talts, S., Betancourt, M., Simpson, D., Vehtari, A., & Gelman, A. (2018). Validating Bayesian inference
       algorithms with simulation-based calibration. https://doi.org/10.48550/arXiv.1804.06788

    Examples
    --------
    >>> print(calibrate("weat7", "googlenews-demo").text)                         # doctest: +SKIP
    >>> print(calibrate("weat7", "googlenews-demo", by="simulation").text)        # doctest: +SKIP
    """
    if drawn == "topics" and random not in (None, "both"):
        raise BayesBiasError(f"`random` is '{random}', but topics are drawn for targets and attributes. Omit it.")
    if random is None:
        random = _RANDOM.get(drawn, "attributes")
    seed = check_seed(seed)
    jobs = check_jobs(jobs)
    draws = None if draws is None else check_count("draws", draws, "draws")
    size = None if size is None else check_count("size", size, "words in a class", least=2)
    _check_settings(random, drawn, size, planted, sampling)
    if by not in get_args(By):
        raise BayesBiasError(f"`by` '{by}' is not a source of tables. {did_you_mean(by, get_args(By))}")
    specs = tuple(map(load_spec, as_tuple("models", models, str | Path | ModelSpec, "['crossed']")))
    if by == "simulation":
        is_changed = {"drawn": drawn != "words", "random": random != "attributes", "size": size, "scopes": scopes}
        for name, value in (is_changed | {"folder": folder}).items():
            if value not in (None, False):
                raise BayesBiasError(f"`{name}` cannot be combined with by='simulation'. Omit it.")
        table = wordlist if isinstance(wordlist, AssociationTable) else cosines(wordlist, embedding)
        records = _records_of_simulations(table, specs, planted, draws, seed, sampling)
        return Calibration(table.name, planted, records, by=by)
    origin = origin_of(wordlist, embedding)
    similarity = origin.similarity
    if planted and similarity != COSINES:
        raise BayesBiasError(
            f"`planted` is {planted:g}, a difference of cosines, which cannot be planted in"
            f" {similarity.metric.plural}. Use 0."
        )
    words = origin.words
    design = NullDesign.of(
        words,
        origin.read().embedding,
        random=random,
        own_words=drawn == "own words",
        allow_loss=origin.allow_loss,
        similarity=similarity,
    ).with_planted(planted)
    if size is not None:
        design = design.with_sizes(size)
        if random == "both":
            design = design.with_random_groups(size)
    design = design.drawn_as(drawn)
    design.check_pool()
    scope_names = None if scopes is None else _supported_scopes(scopes, design.means)
    cell = Cell(
        design=design,
        specs=specs,
        seed=seed,
        sampling=sampling,
        with_weat=len(words.groups) == len(words.classes) == len(set(words.stereotypes.values())) == 2,
        scopes=scope_names,
    )
    draws = draws or (DRAWS if cell.is_plain else DRAWS_SAMPLED)
    # Starting a process takes as long as hundreds of draws without a sampler.
    jobs = 1 if cell.is_plain and jobs == -1 and draws < _WORTH_A_PROCESS else jobs
    records = run([cell], draws, folder=folder, jobs=jobs)[0]
    return Calibration(words.name, planted, records, random, drawn)


def _records_of_simulations(
    table: AssociationTable, specs: Sequence[ModelSpec], truth: float, draws: int | None, seed: int, sampling: Sampling
) -> pd.DataFrame:
    """Return the records of simulations from each model, with one row for each draw.

    Posteriors that are integrated numerically are fast, so by default they get more draws than sampled ones.
    """
    records = []
    for spec in specs:
        default_draws = DRAWS_SAMPLED if integrated(table, spec) is None else DRAWS
        n_draws = draws or default_draws
        records.append(judge_simulations(table, spec, truth=truth, draws=n_draws, seed=seed, sampling=sampling))
    return pd.concat(records, ignore_index=True)


def _supported_scopes(scopes: ScopeName | Iterable[ScopeName], means: xr.Dataset) -> tuple[ScopeName, ...]:
    """Return the names of the scopes for the `means` of a design, or raise an error if it does not support a scope.

    Several names may mean the same scope: without replicates, "all" becomes "both". Each scope is returned once.
    """
    names = as_tuple("scopes", scopes, str, "['both']", ScopeError)
    if not names:
        raise BayesBiasError("`scopes` is empty. Name one or more, such as 'both', or pass None for all.")
    for scope in names:
        sampling_scope(scope)  # raises an error for the scope without uncertainty
    return tuple(dict.fromkeys(check_design(means, scope).name for scope in names))


def _check_settings(random: str, drawn: str, size: int | None, planted: float, sampling: Sampling) -> None:
    """Raise an error if a setting of `calibrate` is invalid, or if two settings cannot be combined.

    No bias can be planted in lists of topics, which differ anyway, or if the words of the list are exchanged. Exchanged
    words also keep their number.
    """
    check_sampling(sampling)
    if random not in get_args(Random):
        raise BayesBiasError(
            f"`random` '{random}' is not a choice of words to draw. {did_you_mean(random, get_args(Random))}"
        )
    if drawn not in get_args(Drawn):
        raise BayesBiasError(f"`drawn` '{drawn}' is not a way to draw words. {did_you_mean(drawn, get_args(Drawn))}")
    if drawn == "topics" and planted:
        raise BayesBiasError(
            f"`planted` is {planted:g}, but topics differ by an unknown bias to which no"
            " known bias can be added. Use 0."
        )
    if drawn == "own words" and (planted or size is not None):
        name, value = ("planted", f"{planted:g}") if planted else ("size", size)
        raise BayesBiasError(f"`{name}` is {value}, but the words of the list keep their vectors and number. Omit it.")
    if not is_between(planted, 0, MOST_PLANTED):
        raise BayesBiasError(f"`planted` must be a bias from 0 to {MOST_PLANTED}, but is {planted!r}.")


# Random lists for several word lists, which other processes draw in the background.

# A process needs half a gigabyte.
_MOST_PROCESSES = 4


# The random lists for each way of drawing words, or the reason why there are none.
type RandomLists = Mapping[Drawn, Calibration | str]


@dataclass
class BackgroundNulls:
    """Random lists for several designs, drawn by other processes, by the name of the word list."""

    _results: Iterator[tuple[str, RandomLists]]
    _drawn: dict[str, RandomLists] = field(default_factory=dict)

    def of_list(self, name: str) -> RandomLists:
        """Return the random lists of one word list, and wait for them if they are not finished.

        Other processes finish the word lists in any order. Those that are finished earlier are kept in `_drawn`.
        """
        while name not in self._drawn:
            finished_name, random_lists = next(self._results)
            self._drawn[finished_name] = random_lists
        return self._drawn[name]


@contextmanager
def draw_in_background(
    designs: Mapping[str, Callable[..., Calibration]], spec: ModelSpec, draws: int | None, seed: int, *, sampled: bool
) -> Generator[BackgroundNulls]:
    """Start drawing random lists for each design in other processes, and yield an object that waits for them.

    A design is a call of `calibrate` for a list and an embedding, stored under the name of the list. No lists are drawn
    if `draws` is 0, or if the model takes long to fit because it samples word effects (it is not COLLAPSED). By
    default, DRAWS lists are drawn in two ways, and _DRAWS_OF_TOPICS lists in two other ways.

    The work is distributed over several processes if there are thousands of lists or if posteriors are `sampled`. If
    posteriors are sampled, words are only drawn one by one.
    """
    if draws == 0 or not structure_of(spec).COLLAPSED:
        designs = {}
    ways: tuple[Drawn, ...] = ("own words", "words") if sampled else get_args(Drawn)
    lists_per_design = 2 * DRAWS + 2 * _DRAWS_OF_TOPICS if draws is None else draws * len(ways)
    n_processes = 1
    if sampled or len(designs) * lists_per_design >= _WORTH_A_PROCESS:
        n_processes = max(min(joblib.effective_n_jobs(-1), len(designs), _MOST_PROCESSES), 1)
    work = (joblib.delayed(_draw_all)(name, design, spec, draws, seed, ways) for name, design in designs.items())
    with run_in_background(work, n_processes) as results:
        yield BackgroundNulls(results)


def _draw_all(
    name: str, design: Callable[..., Calibration], spec: ModelSpec, draws: int | None, seed: int, ways: Sequence[Drawn]
) -> tuple[str, RandomLists]:
    """Return the name of a list, and its random lists for each of the `ways` of drawing words.

    If the words of the list cannot be drawn in one of the ways, the reason takes the place of these lists. Without
    `draws`, lists of topics and sub-topics get fewer draws than other lists. `design` calls `calibrate` for the list
    with settings that include the words that are random. These must be the targets if words of the list are exchanged,
    and both sides for topics.
    """
    lists: dict[Drawn, Calibration | str] = {}
    for drawn in ways:
        is_of_topics = drawn not in ("own words", "words")
        n_draws = _DRAWS_OF_TOPICS if is_of_topics and not draws else draws
        draw = partial(design, models=[spec], drawn=drawn, draws=n_draws, seed=seed, jobs=1)
        if drawn in _RANDOM:
            draw = partial(draw, random=None)
        try:
            lists[drawn] = from_cache(draw)
        except WordListError as error:
            lists[drawn] = str(error)
    return name, lists


# Summarise the records of single random lists as shares with Monte Carlo intervals.

ALPHA = 0.05
COVERAGES = (0.5, 0.8, 0.89, 0.95)
# The shares that sentences mention.
_SHOWN = (0.5, 0.8, 0.95)

# Columns with the exact interval of a share of findings.
SHARE_BOUNDS = interval_names(kind="ci", of="share")

_BY = ["method", "scope"]


def rates(records: pd.DataFrame) -> pd.DataFrame:
    """Compute the share of findings, and the width and coverage of intervals, for each method and scope in the records
    of `run`.

    A draw counts as a finding if the p-value is below .05, which means that the 95% interval excludes zero. The columns
    are ``draws``, ``findings``, their ``share`` with its exact 95% interval ``share_ci95_lb``, ``share_ci95_ub``
    (Clopper and Pearson), ``bias`` (mean estimate) and its ``spread`` over draws, mean ``width`` of the 95% interval,
    ``coverage_50`` to ``coverage_95`` (share of intervals that contain the truth), and the share of fits with
    ``divergences``. Values are NaN for methods without an interval or a fit.
    """
    lower, upper = SHARE_BOUNDS
    rows = {}
    for method_and_scope, group in records.groupby(_BY):
        draws = len(group)
        findings = int((group.p_value < ALPHA).sum())
        interval = binomtest(findings, draws).proportion_ci(method="exact")
        row = {"draws": draws, "findings": findings, "share": findings / draws}
        row |= {lower: interval.low, upper: interval.high, "bias": group["mean"].mean(), "spread": group["mean"].std()}
        row["width"] = (group.ci95_ub - group.ci95_lb).mean() if "ci95_ub" in group else np.nan
        has_ranks = "rank" in group and group["rank"].notna().all()
        for prob in COVERAGES:
            # An equal-tailed interval contains the truth if the rank of the truth is within prob / 2 of the median.
            coverage = float(((group["rank"] - 0.5).abs() < prob / 2).mean()) if has_ranks else np.nan
            row[f"coverage_{100 * prob:.0f}"] = coverage
        has_fits = "divergences" in group and group.divergences.notna().all()
        row["divergences"] = float((group.divergences > 0).mean()) if has_fits else np.nan
        rows[method_and_scope] = pd.Series(row)
    return pd.DataFrame(rows).T.rename_axis(_BY)


def uniformity_of(records: pd.DataFrame) -> pd.DataFrame:
    """Compute a Kolmogorov-Smirnov test of uniform ranks, and the coverage of intervals with its error.

    For each method and scope, the columns are ``draws``, the largest ``distance`` of the distribution of ranks from the
    uniform distribution, its ``p_value``, and ``coverage_50`` to ``coverage_95``, each with its exact 95% interval
    (Clopper and Pearson). Methods without ranks are omitted.
    """
    ranked = records.dropna(subset="rank") if "rank" in records else records.iloc[:0]
    rows = {}
    for method_and_scope, group in ranked.groupby(_BY):
        ranks, draws = group["rank"], len(group)
        test = kstest(ranks, "uniform")
        row = {"draws": draws, "distance": float(test.statistic), "p_value": float(test.pvalue)}
        for prob in COVERAGES:
            covered = int(((ranks - 0.5).abs() < prob / 2).sum())  # see `rates`
            interval = binomtest(covered, draws).proportion_ci(method="exact")
            name, lower, upper = _coverage_names(prob)
            row |= {name: covered / draws, lower: interval.low, upper: interval.high}
        rows[method_and_scope] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(_BY) if rows else pd.DataFrame()


def _coverage_names(prob: float) -> tuple[str, str, str]:
    """Return the column names for the coverage of an interval and the bounds of its confidence interval."""
    name = f"coverage_{100 * prob:.0f}"
    return name, *interval_names(kind="ci", of=name)
