"""`report` and `register`: analyse word lists in an embedding, or register the analysis in advance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import xarray as xr

from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.registration import Registration, as_registration, registration_of
from bayes_bias.analyses.report.results import Report
from bayes_bias.analyses.report.section import Section, short_titles
from bayes_bias.arguments import as_tuple, check_ci_prob, check_kind, keep_whole
from bayes_bias.associations.lists import DEMO, EmbeddingLike, measure_lists, with_random_words
from bayes_bias.checks.calibration import BackgroundNulls, Calibration, calibrate, draw_in_background
from bayes_bias.documents.word_tables import coverage_of
from bayes_bias.errors import BayesBiasError, TableError
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.measures.measure_table import measure_all
from bayes_bias.measures.other_words import Random
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.contrast import contrast
from bayes_bias.posterior.contrast_weights import weights_of_formulas
from bayes_bias.posterior.planning import variance_shares
from bayes_bias.posterior.quadrature import can_integrate
from bayes_bias.posterior.summary import check_rope, summarize
from bayes_bias.posterior.verdict import verdict
from bayes_bias.progress import step, within
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    SHOWN,
    TARGETS,
    ScopeName,
    check_design,
    possible_scopes,
    sampling_scope,
    scope_of,
)
from bayes_bias.table.statistics import table_means
from bayes_bias.words.wordlist import ListLike

# The number of random lists for the chance levels of measures. This number is small, because each list takes two
# seconds.
_WORD_DRAWS = 40
_A_CONTRAST = '["male names - female names: career"]'


def report(
    wordlists: ListLike | AssociationTable | Sequence[ListLike | AssociationTable],
    embedding: EmbeddingLike = DEMO,
    *,
    model: str | Path | ModelSpec = "crossed",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    rope: float | None = None,
    contrasts: Sequence[str] = (),
    calibration_draws: int | None = None,
    against_published: bool = False,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    registered: str | Path | Registration | None = None,
) -> Report:
    """Estimate the bias of each list in an embedding, and check the results.

    Parameters
    ----------
    wordlists : str, Path, WordList, AssociationTable, or a sequence of them
        Word lists, which are measured in the embedding together with the built-in control classes, or tables, which
        contain a reference to their embedding. Pass tables if you want to change the control classes, the similarity,
        the treatment of related words, or the covariates, or if an embedding lacks words of a list:
        ``report(cosines("weat6", embedding, covariates="rank"))`` (see `similarities`). To measure several lists while
        reading the vectors only once, see `bayes_bias.associations.lists.measure_lists`.
    embedding : str, Path, Embedding or anything that `open_embedding` opens, or a list of them
        Source of the vectors. If you pass several embeddings, each list is measured in each embedding, with names such
        as "gender (googlenews-demo)". Each embedding is read once.
    model : str, Path or ModelSpec
        A crossed model: the name of a built-in model, the path of a TOML file, or a specification.
    scope : {"all", "both", "targets", "attributes", ...}
        The words (and replicates) that the verdict generalises to. Without replicates, "all" is the same as "both".
    ci_prob : float
        Probability of the equal-tailed credible intervals.
    rope : float, optional
        Largest negligible bias, in the units of the tables (see `verdict`).
    contrasts : sequence of str
        Further contrasts, such as ``"male names - female names: career"`` (see `contrast`). Each contrast is estimated
        in every list that contains its groups and classes.
    calibration_draws : int, optional
        Number of random lists with the same design, which show how often the model finds a bias if there is none. If
        the number is 0, there are no random lists and no chance levels of measures. By default, 400 lists are drawn,
        which takes one or two seconds, or 50 lists if each posterior must be sampled (see `calibrate`). They are kept
        in the user's cache folder for later reports. Tables without an embedding have no random lists.
    against_published : bool
        Also fit the published hierarchical model, and compare the accuracy with which both models predict the raw
        values. This takes longer than the rest of the report.
    seed, sampling
        See `fit`. All lists are fitted with the same seed.
    registered : Registration, str or Path, optional
        A registration from `register`, or its file. The report then lists every setting that deviates from the plan.

    Returns
    -------
    Report
        Report with a ``table()`` of one row for each list. ``write(report(...), "report")`` creates a page that can be
        cited.

    Raises
    ------
    BayesBiasError
        If an input is invalid. The names, files, coverage, and model of every list are checked before any sampling. At
        least one list must contain the groups and classes of each contrast.

    Examples
    --------
    >>> print(report(["weat6", "weat7", "gender"]).table())                       # doctest: +SKIP
    """
    plan = as_registration(registered)
    contrasts = as_tuple("contrasts", contrasts, str, _A_CONTRAST)
    spec = generalising_spec(model, "a verdict")
    settings = _Settings(spec, scope, ci_prob, rope, seed, sampling, calibration_draws, against_published)
    settings.check()
    tables = with_random_words(measure_lists(wordlists, embedding))
    entries = _entries(tables, settings, contrasts)
    titles = short_titles({entry.table.name: entry.title for entry in entries})
    designs = {entry.table.name: entry.calibration for entry in entries if entry.table.origin}
    must_sample = not all(can_integrate(spec, entry.means) for entry in entries)
    with draw_in_background(designs, spec, settings.calibration_draws, settings.seed, sampled=must_sample) as nulls:
        studies, unchecked = [], []
        for entry in entries:
            studies.append(_study(entry, settings, nulls, titles[entry.table.name]))
            unchecked.append(_section(entry, studies[-1], settings))
        # Checks come last, because they wait for the random lists. Drawing these lists in other processes takes the
        # longest.
        sections = tuple(map(_checked, unchecked, studies))
    scopes_of_lists = {entry.scope for entry in entries}
    common_scope = scopes_of_lists.pop() if len(scopes_of_lists) == 1 else scope
    deviations = None if plan is None else plan.differences(_registration(entries, settings, contrasts))
    return Report(sections, spec, common_scope, ci_prob, rope, registration=plan, deviations=deviations)


def register(
    wordlists: ListLike | AssociationTable | Sequence[ListLike | AssociationTable],
    embedding: EmbeddingLike = DEMO,
    *,
    model: str | Path | ModelSpec = "crossed",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    rope: float | None = None,
    contrasts: Sequence[str] = (),
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> Registration:
    """Register an analysis before its results are known.

    The result contains all words, the hashes of lists and vectors, the model with its priors, and the decision rule,
    but no bias, because nothing is estimated. Save the registration, publish its hash, and later pass it to `report`,
    which lists every setting that differs.

    Parameters
    ----------
    wordlists, embedding, model, scope, ci_prob, rope, contrasts, seed, sampling
        As for `report`.

    Returns
    -------
    Registration

    Raises
    ------
    BayesBiasError
        As for `report`.

    Examples
    --------
    >>> plan = register(["weat6", "weat7"], rope=0.01)
    >>> plan.settings["ci_prob"], sorted(plan.lists)
    (0.95, ['weat6', 'weat7'])
    """
    contrasts = as_tuple("contrasts", contrasts, str, _A_CONTRAST)
    settings = _Settings(generalising_spec(model, "a verdict"), scope, ci_prob, rope, seed, sampling, 0, False)
    settings.check()
    tables = with_random_words(measure_lists(wordlists, embedding))
    entries = _entries(tables, settings, contrasts)
    return _registration(entries, settings, contrasts)


def _registration(entries: Sequence["_Entry"], settings: "_Settings", contrasts: Sequence[str]) -> Registration:
    """Return the registration of an analysis: the tables and scopes of its lists (`entries`), and all settings."""
    return registration_of(
        [entry.table for entry in entries],
        settings.spec,
        [entry.scope for entry in entries],
        ci_prob=settings.ci_prob,
        rope=settings.rope,
        contrasts=contrasts,
        seed=settings.seed,
        sampling=settings.sampling,
    )


@dataclass(frozen=True)
class _Settings:
    """The settings for the analysis of each list."""

    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    rope: float | None
    seed: int
    sampling: Sampling
    calibration_draws: int | None
    against_published: bool

    def check(self) -> None:
        """Raise an error if a setting is invalid. Whole numbers that were passed as floats become integers."""
        sampling_scope(self.scope)  # raises an error for an unknown scope, and for the scope without uncertainty
        check_ci_prob(self.ci_prob)
        check_rope(self.rope)
        keep_whole(self, "seed")
        check_sampling(self.sampling)
        if self.calibration_draws is not None:
            keep_whole(self, "calibration_draws", "random nulls", least=0)


@dataclass(frozen=True, eq=False)
class _Entry:
    """A list in a report: its title, table, table means, scope, and the contrasts whose words it contains."""

    title: str
    table: AssociationTable
    means: xr.Dataset
    scope: ScopeName
    contrasts: tuple[str, ...]

    @property
    def calibration(self) -> Callable[..., Calibration]:
        """Function that calls `calibrate` for this list, to draw random lists of its design.

        Attributes are random or, if the scope samples only targets, targets.
        """
        facets = scope_of(self.scope)
        random: Random = "targets" if TARGETS in facets and ATTRIBUTES not in facets else "attributes"
        return partial(calibrate, self.table, random=random, scopes=self.scope)


def _entries(tables: Sequence[AssociationTable], settings: _Settings, contrasts: Sequence[str]) -> list[_Entry]:
    """Check the lists of a report, and return them with their titles, scopes, and contrasts.

    If the tables come from several embeddings, a title names the embedding of its table. A list gets those contrasts
    whose groups and classes it has. A contrast that no list has raises an error.
    """
    embeddings = {table.origin.embedding.name for table in tables if table.origin}
    entries = []
    for table in tables:
        _check_table(table, tables[0])
        means = table_means(table)
        scope = check_design(means, settings.scope).name
        title = table.title
        if table.origin is not None and len(embeddings) > 1:
            title += f" in {table.origin.embedding.name}"
        possible_contrasts = tuple(formula for formula in contrasts if _has_words_of(means, formula))
        entries.append(_Entry(title, table, means, scope, possible_contrasts))
    for position, formula in enumerate(contrasts):
        check_kind(f"contrasts[{position}]", formula, str, f"not a contrast. Pass texts such as {_A_CONTRAST}.")
        if not any(formula in entry.contrasts for entry in entries):
            weights_of_formulas(entries[0].means, [formula])  # raises an error that names what is missing
    return entries


def _check_table(table: AssociationTable, first: AssociationTable) -> None:
    """Raise an error if a report cannot show a table together with the first table.

    A report shows every word, and all its tables must have the same metric, such as cosines.
    """
    if not table.is_formed:
        raise TableError(
            f"`wordlists` contains '{table.name}' with {table.values.size:,} cosines, too many for a report,"
            " which shows every word. Shorten the list, or use `fit`, `verdict`, and `summarize`."
        )
    if table.metric != first.metric:
        raise TableError(
            f"`wordlists` contains {table.metric.plural} ('{table.name}') and {first.metric.plural}"
            f" ('{first.name}'). Make a separate report for each kind."
        )


def _has_words_of(means: xr.Dataset, formula: str) -> bool:
    """Return True if a table has the groups and classes that a contrast (`formula`) names."""
    try:
        weights_of_formulas(means, [formula])
    except BayesBiasError:
        return False
    return True


def _study(entry: _Entry, settings: _Settings, nulls: BackgroundNulls, title: str) -> Study:
    """Fit a list, and return the input of its checks.

    Random lists (`nulls`) are drawn in the background, and only for tables that were measured in an embedding.
    """
    with within(entry.table.name):
        fitted = fit_table(entry.table, settings.spec, seed=settings.seed, sampling=settings.sampling)
    return Study(
        entry.table,
        settings.spec,
        entry.scope,
        settings.ci_prob,
        settings.seed,
        fitted,
        settings.sampling,
        nulls=partial(nulls.of_list, entry.table.name) if entry.table.origin else None,
        null_draws=settings.calibration_draws,
        against_published=settings.against_published,
        title=title,
    )


def _section(entry: _Entry, study: Study, settings: _Settings) -> Section:
    """Summarise a fit without checks, which are added by `_checked`.

    Estimands are summarised under the scope of the report, and under other common scopes that the design supports. The
    number of random draws for published measures (`word_draws`) is limited, because many measures are computed.
    """
    table, fitted, scope, origin = entry.table, study.fitted, entry.scope, entry.table.origin
    ci_prob, rope, contrasts = settings.ci_prob, settings.rope, entry.contrasts
    draws = _WORD_DRAWS if settings.calibration_draws is None else settings.calibration_draws
    word_draws = min(draws, _WORD_DRAWS) if origin else 0
    step("summarising")
    other_scopes = [name for name in SHOWN if name in possible_scopes(fitted.data)]
    summaries = {}
    for name in dict.fromkeys([scope, *other_scopes]):
        summaries[name] = summarize(fitted, name, ci_prob=ci_prob, ci_kind="eti", rope=rope, contrasts=contrasts)
    return Section(
        title=entry.title,
        description=origin.wordlist.description if origin else "",
        table=table,
        fitted=fitted,
        summaries=summaries,
        verdict=verdict(fitted, scope, ci_prob=ci_prob, rope=rope),
        contrasts=tuple(contrast(fitted, formula, scope, ci_prob=ci_prob) for formula in contrasts),
        measures=measure_all(table, seed=study.seed, ci_prob=ci_prob, chance_draws=word_draws, cached=True),
        coverage=coverage_of(table),
        variance_shares=variance_shares(fitted),
        checks={},
        errata=origin.errata if origin else (),
    )


def _checked(section: Section, study: Study) -> Section:
    """Return the section with its checks, each of which may affect the verdict.

    The verdict is withheld if the result of a check requires it (`no_verdict`). Otherwise, it gets the caveats of all
    checks.
    """
    checks = {checker.name: checker.check(study) for checker in CHECKERS}
    reasons = [check.no_verdict for check in checks.values() if check.no_verdict]
    caveats = tuple(check.caveat for check in checks.values() if check.caveat)
    verdict = section.verdict.withheld(reasons[0]) if reasons else replace(section.verdict, caveats=caveats)
    return replace(section, checks=checks, verdict=verdict)
