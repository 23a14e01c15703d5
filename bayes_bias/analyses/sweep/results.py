"""The results of a sweep, as data, as sentences, and as the page of an atlas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.criterion.data import Biases, with_common_error
from bayes_bias.analyses.headlines import NO_VERDICT, Finding, called
from bayes_bias.analyses.over_time.results import OverTime
from bayes_bias.analyses.sweep.pooling import Crossed
from bayes_bias.analyses.sweep.ranking import VersionRanking
from bayes_bias.analyses.sweep.spec_file import SweepSettings
from bayes_bias.analyses.sweep.tables import FAILED, NOT_FITTED, POSTERIOR, SCREENED
from bayes_bias.arguments import check_kind
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.debiasing.damage import Damage
from bayes_bias.documents.document import Document, PageSection, methods_section, priors_of
from bayes_bias.documents.methods import Methods, cited_spec, sources_of
from bayes_bias.embeddings.opening import packaged_sources
from bayes_bias.errors import BayesBiasError, CriterionError, did_you_mean
from bayes_bias.files import file_names
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.posterior.quadrature import NEED_SAMPLER
from bayes_bias.posterior.verdict import OF_THESE_ATTRIBUTES, RANDOM_WORDS
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import estimate_columns, interval_columns, rank_column
from bayes_bias.table.metric import COSINE, LOG_PROBABILITIES, Metric
from bayes_bias.table.scopes import TARGETS, scope_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

type Side = Literal["embedding", "list"]

# The maximum number of rows in a table of the page. All rows are in cells.csv.
_MOST_ROWS = 500
# The maximum number of embeddings or lists for which the page shows a matrix of pairwise probabilities.
_MOST_BESIDE = 12

_SIDES = ("embedding", "list")
_NAMED = 2  # embeddings that the headline names


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Tabled):
    """Results of every list in every embedding.

    Attributes
    ----------
    settings : SweepSettings
        Models, measures and other settings.
    embeddings, lists : tuple of str
        Names of the embeddings, each followed by its versions, and of the lists.
    sources : pandas.DataFrame
        The ``source`` of the vectors of each embedding, their ``dimensions``, and the number of ``replicates``. For a
        version, ``version_of`` is the name of its embedding, and ``version`` its own name.
    cells : pandas.DataFrame
        A row for each ``(embedding, list)`` with the results of the first model. Columns: ``version_of``, the embedding
        of a version; ``source`` of the numbers, which is "posterior" or, for cells that were only screened, "quasi-F";
        ``bias``, ``sd``, interval (``ci95_lb``, ``ci95_ub``); ``chance``, the probability of a contrast this large if
        there were no bias; ``chance_holm``, the probability after Holm's adjustment for all cells of embeddings, or for
        all cells of versions; ``verdict``; and ``survives``, True if a bias is distinguishable after the adjustment.
        Cells with a posterior also have ``observed``, ``noise_sd``, the shares of the sampling variance of the bias,
        and ``sampled``, which is False if the posterior was computed by numerical integration. Only sampled cells have
        diagnostics. All numbers of failed cells are missing, as are the probabilities of cells that were only screened
        or have not converged.
    changes : pandas.DataFrame
        A row for each ``(embedding, version, list)``. Columns: ``before`` and ``after``, the biases of `cells`;
        ``change``, estimated from paired differences, with the other columns of `cells`, where Holm's adjustment is for
        all changes; ``column``, the name of the version in `cells`; ``taught``, the number of words in the list that
        the version learned from. Changes with a posterior also have ``control``, the group and control class with the
        largest change, and ``control_moved``, the size of this change, with its interval.
    posteriors : pandas.DataFrame
        The posteriors of every model, by ``(model, embedding, list)``.
    screening : pandas.DataFrame
        The quasi-F of each cell.
    measures : pandas.DataFrame
        The published measures, by ``(embedding, list, measure)``.
    coverage : pandas.DataFrame
        Groups and classes (without controls) with missing words, or with words that were replaced because of `match`.
    words : pandas.DataFrame
        The words of each list, by role and by group or class.
    failures : pandas.DataFrame
        Cells and series over time that could not be computed, with the reasons.
    software : tuple of mapping of str to str
        Versions of the packages that computed the posteriors, which may differ between stored results.
    metric : Metric
        The metric of the tables. A bias is a difference in this metric.
    pooled : Crossed or None
        The pooled model of all cells except cells of versions. It is None if there is only one cell, or if `posteriors`
        is "none".
    ranking : VersionRanking or None
        The share of the bias that each version removes. It is None without versions or without a clear bias.
    damage : mapping of str to Damage
        The collateral damage of each version, by name. It is empty unless `with_damage` was used.
    alike : MadeAlike or None
        The check that embeddings were similarly trained. It is None for one embedding, for language models, or if this
        is unknown.
    series : mapping of str to OverTime
        The analysis of each list over time. It is empty unless embeddings have times (see `Grid`).
    titles : mapping of str to str
        The title of each list, by its name.
    unit : str
        The noun for the units of the lists, such as "word" or "image".
    """

    settings: SweepSettings
    embeddings: tuple[str, ...]
    lists: tuple[str, ...]
    sources: pd.DataFrame
    cells: pd.DataFrame
    changes: pd.DataFrame
    posteriors: pd.DataFrame
    screening: pd.DataFrame
    measures: pd.DataFrame
    coverage: pd.DataFrame
    words: pd.DataFrame
    failures: pd.DataFrame
    software: tuple[Mapping[str, str], ...]
    metric: Metric = COSINE
    pooled: Crossed | None = None
    ranking: VersionRanking | None = None
    damage: Mapping[str, Damage] = field(default_factory=dict)
    alike: MadeAlike | None = None
    series: Mapping[str, OverTime] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    unit: str = fmt.WORD

    def document(self) -> Document:
        """Return the atlas and its files, which `bayes_bias.write` writes into a folder."""
        return sweep_document(self)

    @property
    def originals(self) -> tuple[str, ...]:
        """The embeddings that are not a version of another embedding."""
        return tuple(self.sources.index[self.sources.version_of == ""])

    @property
    def noun(self) -> str:
        """The noun for a column in sentences."""
        return "model" if self.metric.name in LOG_PROBABILITIES else "embedding"

    @property
    def unlike(self) -> str:
        """Sentences on embeddings that were not similarly trained, or "" if all were or if this is unknown."""
        if self.alike is None or not self.alike.unlike:
            return ""
        return f"{self.alike.differing} Differences between these embeddings may come from how they were made."

    @property
    def unconverged(self) -> pd.DataFrame:
        """Cells whose posterior must not be interpreted because it has not converged."""
        return self.cells[self.cells.verdict == "not converged"]

    @property
    def text(self) -> str:
        """The result in sentences: the headline, the cells of embeddings, and the changes by versions of embeddings.

        The sentences on cells and on changes have the numbers of those that are distinguishable from noise, before and
        after Holm's adjustment (`survives`), and of those without a result. Cells of versions are not counted as cells.
        """
        cells = self.cells[self.cells.version_of == ""]
        n_fitted = int((cells.source == POSTERIOR).sum())
        embeddings = fmt.counted(len(self.originals), self.noun).capitalize()
        sentences = [self.headline] if n_fitted else []
        sentences.append(
            f"{embeddings} and {fmt.counted(len(self.lists), 'list')}:"
            f" {fmt.numbered(len(cells), 'cell')}, {fmt.numbered(n_fitted, 'posterior')}."
        )
        if n_fitted and not _are_of_these_attributes(cells):
            sentences.append(
                f"Of these, {_how_many_are(cells.verdict == 'distinguishable')} distinguishable from noise, and"
                f" {_how_many_are(cells.survives)} after Holm's adjustment for all cells."
            )
        sentences += _sentences_on_unfinished(cells)
        if cells.sampled.any():
            reason = f"because of {NEED_SAMPLER}, or because the model is not the default one"
            sentences.append(f"{fmt.capitalized(_how_many_are(cells.sampled))} sampled and not integrated ({reason}).")
        if self.unlike:
            sentences.append(self.unlike)
        if len(self.embeddings) > len(self.originals):
            sentences += self._sentences_on_changes()
        return " ".join(sentences)

    def _sentences_on_changes(self) -> list[str]:
        """Return sentences on the changes by versions. A version may have learned from words of a list (`taught`)."""
        changes = self.changes
        versions = fmt.counted(len(self.embeddings) - len(self.originals), "version").capitalize()
        sentences = [f"{versions} made {fmt.counted(len(changes), 'change')}."]
        if _are_of_these_attributes(changes):
            clear = _how_many_are(changes.verdict == OF_THESE_ATTRIBUTES[0])
            sentences.append(f"Of these, {clear} larger than chance explains with these attributes.")
        elif (changes.source == POSTERIOR).any():
            sentences.append(
                f"Of these, {_how_many_are(changes.verdict == 'distinguishable')} larger than chance explains, and"
                f" {_how_many_are(changes.survives)} after Holm's adjustment for all changes."
            )
        sentences += _sentences_on_unfinished(changes)
        if n_taught := int(((changes.taught > 0) & (changes.verdict != FAILED)).sum()):
            units = fmt.plural(self.unit)
            sentences.append(
                f"In {n_taught:,} of these changes the version learned from {units} of the list, so their change tells"
                f" you little about other {units}."
            )
        return sentences

    @property
    def headline(self) -> str:
        """State on how many lists each embedding is biased after Holm's adjustment, and on which list most.

        Only cells with a posterior are used. An embedding is biased on a list if the cell `survives` the adjustment.
        At most _NAMED embeddings are named, those that are biased on the most lists. Equal numbers are sorted by the
        largest bias. Embeddings without a bias on any list are named at the end if there is only one, and otherwise
        counted. With fixed attributes, no bias can survive the adjustment, and cells in which words differ are counted.
        """
        cells = self.cells[(self.cells.version_of == "") & (self.cells.source == POSTERIOR)]
        biased_cells_of = dict(list(cells[cells.survives].groupby(level="embedding", sort=False)))
        on_lists = "the list" if len(self.lists) == 1 else f"any of {fmt.in_words(len(self.lists))} lists"
        if _are_of_these_attributes(cells):
            n_clear = int((cells.verdict == OF_THESE_ATTRIBUTES[0]).sum())
            where = f"{fmt.in_words(n_clear)} of {fmt.counted(len(cells), 'cell')}"
            is_known = n_clear > 0 and TARGETS in scope_of(self.settings.scope)  # the share for random words
            caution = f", but {RANDOM_WORDS}" if is_known else ""
            return fmt.with_unit(f"These words differ in {where}{caution}.", self.unit)
        if (cells.verdict == "not converged").all():
            return NO_VERDICT.format(title=on_lists, reason="no posterior has converged")
        if not biased_cells_of:
            return f"No {self.noun} shows a bias on {on_lists} that remains after Holm's adjustment."

        def number_and_size(name: str) -> tuple[int, float]:
            """Return the number of lists on which an embedding is biased, and its largest absolute bias."""
            return len(biased_cells_of[name]), biased_cells_of[name].bias.abs().max()

        most_biased_first = sorted(biased_cells_of, key=number_and_size, reverse=True)
        clauses = [self._finding(name, biased_cells_of[name]).sentence("sweep") for name in most_biased_first[:_NAMED]]
        if len(most_biased_first) > _NAMED:
            clauses.append(f"{fmt.counted(len(most_biased_first) - _NAMED, f'other {self.noun}')} on at least one list")
        unbiased = [name for name in cells.index.unique("embedding") if name not in biased_cells_of]
        if len(unbiased) == 1:
            was_distinguishable = (cells.loc[unbiased].verdict == "distinguishable").any()
            that_remains = " that remains after this adjustment" if was_distinguishable else ""
            clauses.append(f"{unbiased[0]} on none{that_remains}")
        elif unbiased:
            clauses.append(f"{fmt.in_words(len(unbiased))} {fmt.plural(self.noun)} on none")
        return f"After Holm's adjustment, {'; '.join(clauses)}."

    def _finding(self, name: str, biased_cells: pd.DataFrame) -> Finding:
        """Return the finding of the headline about one embedding, from the cells in which it is biased.

        The finding has the number of these cells, and the list with the largest absolute bias. This list is called by
        its title, if it has one.
        """
        largest = biased_cells.loc[biased_cells.bias.abs().idxmax()]
        _, list_name = largest.name  # cells are indexed by (embedding, list)
        title = self.titles.get(list_name, list_name)
        return Finding(
            title=name,
            value=float(largest.bias),
            size=fmt.signed(float(largest.bias), self.metric.decimals),
            clear=True,
            has_stereotype=True,
            words={
                "number": f"{fmt.in_words(len(biased_cells))} of {fmt.counted(len(self.lists), 'list')}",
                "most": called(title) if title in self.titles.values() else title,
            },
        )

    def with_damage(self, damage: Mapping[str, Damage]) -> "Sweep":
        """Return the sweep with the collateral damage of each version, by name, for the page and `plot_cost`.

        Raises
        ------
        BayesBiasError
            If a name is not the name of a version, or if a value is not a result of `bayes_bias.debiasing.damage`.
        """
        check_kind("damage", damage, Mapping, "not a mapping of versions to damage. Pass {'hard': damage(...)}.")
        versions = list(self.changes.index.unique("version"))
        for name, cost in damage.items():
            if name not in versions:
                raise BayesBiasError(f"`damage` contains '{name}', which is not a version.", name, versions)
            check_kind("damage", cost, Damage, "not a damage. Pass the result of `bayes_bias.debiasing.damage`.")
        return replace(self, damage=damage)

    def matrix(self, column: str = "bias") -> pd.DataFrame:
        """Return one column of `cells` as a table with embeddings in rows and lists in columns."""
        return wide_of(self.cells[column], self.embeddings, self.lists)

    def biases(self, of: str | None = None) -> Biases:
        """Return the biases of one list (`of`) in all embeddings except versions.

        Their errors are correlated, because embeddings share words. The pooled model has the share of error variance
        that the embeddings have in common. Without it, errors are treated as independent, and a notice is logged.

        Raises
        ------
        CriterionError
            If there are several lists and none is selected, or if the list does not exist.
        """
        name = of or (self.lists[0] if len(self.lists) == 1 else None)
        if name not in self.lists:
            raise CriterionError(f"`of` is {of!r}, which is not a list of this sweep. {did_you_mean(of, self.lists)}")
        cells = self.cells[self.cells.version_of == ""].xs(name, level="list")
        usable = cells[cells.bias.notna() & cells.sd.notna() & (cells.verdict != "not converged")]
        if self.pooled is None:
            announce((f"{name}: errors of biases are treated as independent, because this sweep was not pooled",))
        common_share = 0.0 if self.pooled is None else float(self.pooled.lists.shared_error.get(name, 0.0))
        covariance = with_common_error(usable.sd.to_numpy(dtype=float), common_share)
        return Biases.of(
            usable.bias.astype(float).rename_axis("embedding"), covariance, self.metric.unit, of_words=True
        )

    def _shown(self) -> pd.DataFrame:
        return self.cells[["bias", *interval_columns(self.cells), "chance_holm", "verdict"]]


def wide_of(column: "pd.Series[Any]", embeddings: Sequence[str], lists: Sequence[str]) -> pd.DataFrame:
    """Return a column as a table with embeddings in rows and lists in columns.

    `column` is indexed by (embedding, list). A cell that is missing in it becomes NaN.
    """
    cells = pd.MultiIndex.from_product([embeddings, lists])
    values = column.reindex(cells).to_numpy().reshape(len(embeddings), len(lists))
    return pd.DataFrame(values, index=pd.Index(embeddings), columns=pd.Index(lists))


def _sentences_on_unfinished(cells: pd.DataFrame) -> list[str]:
    """Return sentences on cells that were only screened, have not converged, or have no numbers.

    Each sentence has the number of cells with one of the verdicts NOT_FITTED, "not converged", and FAILED, and is
    omitted if there are none.
    """
    description_of_verdict = {
        NOT_FITTED: "screened by the quasi-F alone",
        "not converged": "not converged, but included in the adjustment",
        FAILED: "without numbers. The reasons are listed among the failures",
    }
    sentences = []
    for verdict, description in description_of_verdict.items():
        has_verdict = cells.verdict == verdict
        if has_verdict.any():
            sentences.append(f"{fmt.capitalized(_how_many_are(has_verdict))} {description}.")
    return sentences


def _are_of_these_attributes(cells: pd.DataFrame) -> bool:
    """Return True if verdicts do not generalise to new attributes, so that none is "distinguishable"."""
    return bool(cells.verdict.isin(OF_THESE_ATTRIBUTES).any())


def _how_many_are(rows: "pd.Series[bool]") -> str:
    """Return the number of true values with a verb, such as "three are"."""
    count = int(rows.sum())
    return f"{fmt.in_words(count)} {'is' if count == 1 else 'are'}"


# The layouts of tables for terminal, page, and LaTeX.


def ranking_layout(sweep: Sweep, side: str) -> Layout:
    """Lay out embeddings or lists, sorted by decreasing mean bias in the pooled model.

    `side` is "embedding" or "list". The mean bias of an embedding is over the lists of the sweep, and the mean bias of
    a list over its embeddings, which are called models in a sweep of language models.
    """
    assert sweep.pooled is not None
    is_embedding = side == "embedding"
    rows = sweep.pooled.embeddings if is_embedding else sweep.pooled.lists
    rows = rows.sort_values("mean", ascending=False)
    averaged_over = "lists" if is_embedding else f"{sweep.noun}s"
    return Layout(
        list(map(str, rows.index)),
        [
            *estimate_columns(rows, "mean bias", sweep.settings.ci_prob, sweep.metric.decimals),
            Column("probability\nof direction", rows.prob_direction, fmt.probability),
            *rank_column(rows),
        ],
        heading=sweep.noun if is_embedding else "list",
        caption=f"Mean bias over these {averaged_over}, in {sweep.metric.unit}, using information from all cells",
        sortable=True,
    )


def cells_layout(sweep: Sweep, rows: pd.DataFrame) -> Layout:
    """Lay out cells with verdict, bias, interval, probabilities and, if the sweep was pooled, the pooled bias.

    A `Column` has a heading, values, and a function that writes a value. Biases from the quasi-F, which screens cells
    before models are fitted, are in brackets. `estimate_columns` returns a column of means, which is not used because
    of the brackets, and a column of intervals. The pooled bias is the mean with its interval in the pooled model of all
    cells, and is missing for versions.
    """
    decimals = sweep.metric.decimals
    write_bias = partial(fmt.signed, decimals=decimals)
    # The bias of each cell, and True if it comes from the quasi-F.
    biases = list(rows.assign(screened=rows.source == SCREENED)[["bias", "screened"]].itertuples(index=False))
    _, interval = estimate_columns(rows.assign(mean=rows.bias), "bias", sweep.settings.ci_prob, decimals)
    columns = [
        Column("list", list(rows.index.get_level_values("list")), words=True),
        _verdicts(sweep, rows),
        Column("bias", biases, lambda cell: f"({write_bias(cell.bias)})" if cell.screened else write_bias(cell.bias)),
        interval,
        Column("chance", rows.chance, fmt.probability),
        _adjusted(rows),
    ]
    if sweep.pooled is not None:
        pooled = sweep.pooled.cells.reindex(rows.index)
        means = list(pooled[["mean", *interval_columns(pooled)]].itertuples(index=False, name=None))
        columns.append(Column("pooled", means, lambda row: fmt.value_and_interval(row[0], row[1], row[2], decimals)))
    return Layout(
        list(map(str, rows.index.get_level_values("embedding"))),
        columns,
        heading=sweep.noun,
        caption=f"Bias in {sweep.metric.unit}",
        sortable=True,
    )


def changes_layout(sweep: Sweep, rows: pd.DataFrame) -> Layout:
    """Lay out the change by each version: the biases before and after, and the change with its interval.

    `rows` are rows of `Sweep.changes`, indexed by (embedding, version, list). If there is only one embedding, its name
    is omitted. The last columns show the largest change of a control class, and the number of words of the list from
    which the version learned, if there are any. A `Column` has a heading, values, and a function that writes a value.
    Columns with ``spare=True`` are omitted if the table is too wide.
    """
    has_one_embedding = len(sweep.originals) == 1
    of_embedding = f" of {sweep.originals[0]}" if has_one_embedding else ""
    write_bias = partial(fmt.signed, decimals=sweep.metric.decimals)
    columns = [
        Column("list", list(rows.index.get_level_values("list")), words=True),
        _verdicts(sweep, rows, spare=True),
        Column("before", rows.before, write_bias, spare=True),
        Column("after", rows.after, write_bias, spare=True),
        *estimate_columns(rows.assign(mean=rows.change), "change", sweep.settings.ci_prob, sweep.metric.decimals),
        _adjusted(rows),
    ]
    if "control" in rows:
        columns.append(Column("control moved", rows.control_moved, write_bias, spare=True))
    if sweep.changes.taught.any():
        columns.append(Column(f"{fmt.plural(sweep.unit)} that\ntaught it", rows.taught))
    return Layout(
        [version if has_one_embedding else f"{embedding}, {version}" for embedding, version, _ in rows.index],
        columns,
        heading="version",
        caption=f"Changes from versions{of_embedding}, in {sweep.metric.unit}",
        sortable=True,
    )


def _verdicts(sweep: Sweep, rows: pd.DataFrame, spare: bool = False) -> Column:
    """Return a column of verdicts, in which the unit of the lists replaces "words", as in "these images differ".

    If `spare` is True, the column is omitted from tables that are too wide.
    """
    return Column("verdict", rows.verdict, lambda v: fmt.with_unit(fmt.marked(v), sweep.unit), words=True, spare=spare)


def _adjusted(rows: pd.DataFrame) -> Column:
    """Return a column of adjusted probabilities, with a mark for verdicts that survive Holm's adjustment."""
    chances = list(rows[["chance_holm", "survives"]].itertuples(index=False))
    return Column("after Holm", chances, lambda row: fmt.probability(row.chance_holm) + (" ✓" if row.survives else ""))


# The page of an atlas, and its files.


def sweep_document(sweep: Sweep) -> Document:
    """Return the document of a sweep, from which its page, LaTeX, CSV, and NetCDF files are written.

    ``sections`` are the parts of the page, and ``facts`` the values that their templates use. If the sweep is mainly
    about versions, the document begins with their ranking.
    """
    methods = _methods(sweep)
    heading = f"Which {sweep.noun}s are biased, on which lists, and how sure can you be?"
    if len(sweep.originals) == 1 and len(sweep.changes):
        heading = f"Changes from each version of {sweep.originals[0]}"
    opening = {"answer": sweep.text}
    if sweep.ranking is not None and _is_about_versions(sweep):
        opening = {"answer": sweep.ranking.text, "lede": sweep.text}
    return Document(
        title=f"Atlas: {fmt.counted(len(sweep.originals), sweep.noun)}, {fmt.counted(len(sweep.lists), 'list')}",
        kicker="Atlas",
        heading=heading,
        opening=opening,
        sections=_sections(sweep, methods),
        facts={
            "sweep": sweep,
            "pooled": sweep.pooled,
            "cells": cells_layout(sweep, sweep.cells),
            "changes": changes_layout(sweep, sweep.changes) if len(sweep.changes) else None,
            "ranking_of": partial(ranking_layout, sweep),
            "level": fmt.level(sweep.settings.ci_prob),
            "alpha": fmt.level(1 - sweep.settings.ci_prob),
            "decimals": sweep.metric.decimals,
        },
        figures=_figures(sweep),
        latex="atlas.tex",
        tables=_tables(sweep),
        data={"atlas.nc": partial(_save_arrays, sweep)},
        methods=methods,
        provenance={
            "scope": sweep.settings.scope,
            "ci_prob": sweep.settings.ci_prob,
            "seed": sweep.settings.seed,
            **vars(sweep.settings.sampling),
            "models": {spec.name: {"sha256": spec.sha256, "priors": priors_of(spec)} for spec in sweep.settings.specs},
            "versions": list(map(dict, sweep.software)),
            "sources": sweep.sources.to_dict("index"),
        },
        look="atlas",
        sortable=True,
        unit=sweep.unit,
    )


def _is_about_versions(sweep: Sweep) -> bool:
    """Return True if the main result is the ranking of the versions of a single embedding."""
    return sweep.ranking is not None and len(sweep.originals) == 1


def _sections(sweep: Sweep, methods: Methods) -> tuple[PageSection | None, ...]:
    """Return the sections of the page, without those for which there are no results.

    If the sweep is mainly about versions, the section on their changes comes first, and otherwise after the rankings.
    """
    sections: list[PageSection] = []
    section_on_versions: list[PageSection] = []
    if len(sweep.changes):
        facts = {"changes": changes_layout(sweep, _shown_rows(sweep.changes)), "ranking": sweep.ranking}
        section_on_versions = [PageSection("versions", "Changes from each version", "atlas-versions.html", facts)]
    if _is_about_versions(sweep):
        sections += section_on_versions
    sections.append(PageSection("matrix", f"Every list in every {sweep.noun}", "atlas-matrix.html"))
    if _rankings(sweep):
        sections.append(PageSection("ranking", "Who is more biased", "atlas-ranking.html", _ranking_facts(sweep)))
    if sweep.series:
        files = {"file_of": file_names(list(sweep.series))}
        sections.append(PageSection("over-time", "Over time", "atlas-over-time.html", files))
    if not _is_about_versions(sweep):
        sections += section_on_versions
    cells = cells_layout(sweep, _shown_rows(sweep.cells))
    sections.append(PageSection("cells", "All cells", "atlas-cells.html", {"cells": cells}))
    if len(sweep.settings.specs) > 1:
        sections.append(PageSection("models", "Other models", "atlas-models.html", {"others": _other_models(sweep)}))
    if len(sweep.measures):
        measured = {"measured": _mean_measures(sweep)}
        sections.append(PageSection("measures", "Other measures", "atlas-measures.html", measured))
    sections.append(PageSection("coverage", "Missing results", "atlas-coverage.html"))
    return (*sections, methods_section(methods), PageSection("provenance", "Provenance", "atlas-provenance.html"))


def _figures(sweep: Sweep) -> "dict[str, Callable[[], Axes]]":
    """Return a function that draws each figure of the page, by name.

    The cost of versions is only drawn if the collateral damage of all ranked versions is known.
    """
    figures: dict[str, Callable[[], Axes]] = {"atlas": partial(plots.plot_atlas, sweep)}
    for side in _rankings(sweep):
        figures[f"ranking-{side}s"] = partial(plots.plot_ranking, sweep, side)
    for name, file in file_names(list(sweep.series)).items():
        figures[f"over-time-{file}"] = partial(plots.plot_over_time, sweep.series[name])
    if len(sweep.changes):
        figures["changes"] = partial(plots.plot_changes, sweep)
    if sweep.ranking:
        figures["removal"] = partial(plots.plot_removal, sweep)
        if set(sweep.ranking.table.index) <= set(sweep.damage):
            figures["cost"] = partial(plots.plot_cost, sweep)
    return figures


def _methods(sweep: Sweep) -> Methods:
    """Return the methods text, which describes the first model, and the facts that its template needs."""
    spec = sweep.settings.specs[0]
    facts = {
        "sweep": sweep,
        "pooled": sweep.pooled,
        "asked": sweep.settings,
        "need_sampler": NEED_SAMPLER,
        "packaged": packaged_sources(set(sweep.sources.source)),
        **cited_spec(spec),
    }
    return Methods("methods-of-sweep.txt", facts, sources_of(spec))


def _rankings(sweep: Sweep) -> dict[Side, pd.DataFrame]:
    """Return the ranking of embeddings and the ranking of lists, by decreasing mean bias.

    A ranking with fewer than two rows is omitted.
    """
    if sweep.pooled is None:
        return {}
    frames: dict[Side, pd.DataFrame] = {"embedding": sweep.pooled.embeddings, "list": sweep.pooled.lists}
    return {side: frame.sort_values("mean", ascending=False) for side, frame in frames.items() if len(frame) > 1}


def _ranking_facts(sweep: Sweep) -> dict[str, Any]:
    """Return the facts for the section on rankings: for embeddings and lists, the ranking and its noun.

    A ranking of at most _MOST_BESIDE rows also gets the matrix of probabilities that one row is more biased than
    another.
    """
    assert sweep.pooled is not None
    rankings = _rankings(sweep)  # by "embedding" and "list"
    probabilities = {}
    for side, frame in rankings.items():
        if len(frame) <= _MOST_BESIDE:
            probabilities[side] = sweep.pooled.more_biased[side].loc[frame.index, frame.index]
    return {"ranks": rankings, "beside": probabilities, "called": {"embedding": sweep.noun, "list": "list"}}


def _shown_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that the page shows (smallest adjusted probabilities), in the order of the figure."""
    rows = cells.sort_values("chance_holm", kind="stable").head(_MOST_ROWS)
    return cells[cells.index.isin(rows.index)]


def _other_models(sweep: Sweep) -> list[dict[str, Any]]:
    """Return how each further model differs from the first model, over the cells to which both were fitted.

    The differences are the number of cells with another verdict (``changed``), the largest difference of biases in
    standard deviations of the first model (``moved``), and the median ratio of standard deviations (``wider``).
    """
    first, *other_names = (spec.name for spec in sweep.settings.specs)
    fitted_models = set(sweep.posteriors.index.get_level_values("model"))
    differences: list[dict[str, Any]] = []
    for name in other_names:
        if not {first, name} <= fitted_models:
            differences.append({"name": name, "cells": 0})
            continue
        # The cells to which both models were fitted, in the same order.
        of_first, of_other = sweep.posteriors.xs(first).align(sweep.posteriors.xs(name), join="inner", axis=0)
        differences.append(
            {
                "name": name,
                "cells": len(of_first),
                "changed": int((of_first.verdict != of_other.verdict).sum()),
                "moved": float(((of_other.bias - of_first.bias).abs() / of_first.sd).max()),
                "wider": float((of_other.sd / of_first.sd).median()),
            }
        )
    return differences


def _mean_measures(sweep: Sweep) -> pd.DataFrame:
    """Return the mean of each published measure over cells, and the number of its significant tests.

    Measures without a test have no p-values, so the number of tested cells may be smaller than the number of cells.
    """
    by_measure = sweep.measures.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "cells": by_measure.value.count(),
            "mean": by_measure.value.mean(),
            "tested": by_measure.p_value.count(),
            "significant": by_measure.p_value.agg(lambda p: int((p < 1 - sweep.settings.ci_prob).sum())),
        }
    )


def _tables(sweep: Sweep) -> dict[str, pd.DataFrame]:
    """Return the tables that are saved as CSV files next to the page, by name.

    Tables of optional analyses, such as rankings of versions and pooled models, are omitted if they were not made.
    Matrices of probabilities, such as ``better``, become tables with a row for each pair (see `_long`).
    """
    names = ("posteriors", "screening", "measures", "coverage", "words", "failures")
    frames = {"cells": cells_with_pooled(sweep), **{name: getattr(sweep, name) for name in names}}
    if sweep.series:
        frames["over-time"] = pd.concat({name: series.table for name, series in sweep.series.items()}, names=["list"])
    if sweep.alike is not None:
        frames["alike"] = sweep.alike.table
    if len(sweep.changes):
        frames["changes"] = sweep.changes
    if sweep.ranking is not None:
        better = _long(sweep.ranking.better)
        frames |= {"removal": sweep.ranking.table, "better": better, "paired": sweep.ranking.paired}
    if sweep.damage:
        frames["damage"] = pd.DataFrame.from_dict({name: cost.numbers for name, cost in sweep.damage.items()}, "index")
    if sweep.pooled is not None:
        pairs = {side: _long(table) for side, table in sweep.pooled.more_biased.items()}
        effects = {"effect": sweep.pooled.effects, "share of variance": sweep.pooled.shares}
        frames["embeddings"] = sweep.pooled.embeddings.rename_axis("embedding")
        frames["lists"] = sweep.pooled.lists.rename_axis("list")
        frames["effects"] = pd.concat(effects, names=["what", "of"])
        frames["more-biased"] = pd.concat(pairs, names=["of"]).reset_index("of")
    return frames


def cells_with_pooled(sweep: Sweep) -> pd.DataFrame:
    """Return the cells with their pooled estimates, which are missing for versions."""
    return sweep.cells if sweep.pooled is None else sweep.cells.join(sweep.pooled.cells.add_prefix("pooled_"))


def _long(table: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix of probabilities as a table with a row for each pair, without missing probabilities.

    The matrix has the probability that the row (``more``) is more biased than the column (``less``). The function
    `melt` is not used, because it raises an error for an embedding with the name "more".
    """
    rows: list[tuple[Any, Any, float]] = []
    for less, column in table.items():
        rows += [(more, less, probability) for more, probability in column.items()]
    return pd.DataFrame(rows, columns=["more", "less", "probability"]).dropna()


def _save_arrays(sweep: Sweep, path: Path) -> None:
    """Write the arrays as NetCDF."""
    from bayes_bias.fitting.storage import netcdf  # which imports h5py

    path.write_bytes(netcdf(xr.DataTree(arrays(sweep))))


def arrays(sweep: Sweep) -> xr.Dataset:
    """Return the cells and the pooled model as arrays (embedding, list), for xarray and R.

    Each column of the table of cells becomes a matrix of numbers or of texts. NetCDF has no Booleans, so these become 0
    and 1. The variables of the pooled model begin with ``pooled_`` for cells, and with ``embedding_`` and ``list_`` for
    the means of embeddings and of lists. An embedding or a list without a mean, such as a version, has missing values.
    """
    variables: dict[str, Any] = {}
    for name, column in sweep.cells.items():
        dtype: Any = float if pd.api.types.is_numeric_dtype(column) else str
        if column.dtype == bool:
            dtype = np.int8
        variables[str(name)] = (_SIDES, sweep.matrix(str(name)).to_numpy().astype(dtype))
    if (pooled := sweep.pooled) is not None:
        for name in ("mean", "sd", *interval_columns(pooled.cells)):
            frame = wide_of(pooled.cells[name], sweep.embeddings, sweep.lists)
            variables[f"pooled_{name}"] = (_SIDES, frame.to_numpy())
        for name, column in pooled.embeddings.reindex(sweep.embeddings).items():
            variables[f"embedding_{name}"] = ("embedding", column.to_numpy())
        for name, column in pooled.lists.reindex(sweep.lists).items():
            variables[f"list_{name}"] = ("list", column.to_numpy())
    dataset = xr.Dataset(variables, {"embedding": list(sweep.embeddings), "list": list(sweep.lists)})
    return dataset.assign_attrs(ci_prob=sweep.settings.ci_prob, scope=sweep.settings.scope, unit=sweep.metric.unit)
