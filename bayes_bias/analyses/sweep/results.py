"""The results of a sweep: tables of cells, coverage, and failures, and the pooled estimates."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.criterion.data import Biases, with_common_error
from bayes_bias.analyses.over_time.results import OverTime
from bayes_bias.analyses.sweep.columns import Column
from bayes_bias.analyses.sweep.pooling import Crossed
from bayes_bias.analyses.sweep.ranking import VersionRanking
from bayes_bias.analyses.sweep.spec_file import SweepSettings
from bayes_bias.arguments import check_kind
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.debiasing.damage import Damage
from bayes_bias.debiasing.debiased_embedding import find_learned
from bayes_bias.errors import BayesBiasError, CriterionError, did_you_mean
from bayes_bias.formatting import Tabled, capitalized, counted, in_words
from bayes_bias.jobs import Outcome
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.shared_words import Influence
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import interval_columns, interval_names
from bayes_bias.table.metric import COSINE, LOG_PROBABILITIES, Metric
from bayes_bias.words.wordlist import WordList

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

type At = tuple[str, str]

POSTERIOR, SCREENED = "posterior", "quasi-F"
NOT_FITTED, FAILED = "screened only", "failed"

_CELL = ["embedding", "list"]
_OF_POSTERIOR = [
    "observed",
    "noise_sd",
    "r_hat",
    "ess_bulk",
    "ess_tail",
    "divergences",
    "prior_sensitivity",
    "sampled_again",
]
_SHARES = "share_of_"


@dataclass(frozen=True)
class Computed:
    """Outcomes of the quasi-F and of the fit of each model, for cells or for changes."""

    screened: Mapping[At, Outcome]
    fitted: Mapping[tuple[str, str, str], Outcome]

    @property
    def influence(self) -> dict[At, Influence]:
        """Contributions of each word to a bias or a change."""
        return {at: outcome.result["influence"] for at, outcome in self.screened.items() if not outcome.failed}

    @property
    def screening(self) -> pd.DataFrame:
        """A table with a row for each quasi-F."""
        return _frame({at: outcome.result for at, outcome in self.screened.items() if not outcome.failed}, _CELL)

    @property
    def posteriors(self) -> pd.DataFrame:
        """A table with a row for each fit. Nested parts of a record become columns."""
        rows = {}
        for at, outcome in self.fitted.items():
            if outcome.failed:
                continue
            row = dict(outcome.result)
            diagnostics, shares, problems = row.pop("diagnostics"), row.pop("shares"), row.pop("problems")
            controls = row.pop("controls", {})
            row |= diagnostics
            for part, share in shares.items():
                row[f"{_SHARES}{part.replace(' ', '_')}"] = share
            rows[at] = row | controls | {"problems": "; ".join(problems)}
        return _frame(rows, ["model", *_CELL])

    def failures(self, of: str) -> list[tuple[str, str, str, str]]:
        """Return embedding, list, method, and reason of each failure. `of` is appended to the names of methods."""
        rows = []
        for (embedding, words), outcome in self.screened.items():
            rows.append((embedding, words, f"{SCREENED}{of}", outcome.failed))
        for (model, embedding, words), outcome in self.fitted.items():
            rows.append((embedding, words, f"{model}{of}", outcome.failed))
        return [row for row in rows if row[-1]]


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
        Cells with a posterior also have ``observed``, ``noise_sd``, diagnostics, and the shares of the sampling
        variance of the bias. All numbers of failed cells are missing, as are the probabilities of cells that were only
        screened or have not converged.
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
    failures : pandas.DataFrame
        Cells that could not be computed, with the reasons.
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
    failures: pd.DataFrame
    software: tuple[Mapping[str, str], ...]
    metric: Metric = COSINE
    pooled: Crossed | None = None
    ranking: VersionRanking | None = None
    damage: Mapping[str, Damage] = field(default_factory=dict)
    alike: MadeAlike | None = None
    series: Mapping[str, OverTime] = field(default_factory=dict)

    def document(self) -> "Document":
        """Return the atlas and its files, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.sweep.document import sweep_document

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
        """The numbers of distinguishable cells and changes before and after adjustment, and of missing cells."""
        cells = self.cells[self.cells.version_of == ""]
        n_fitted = int((cells.source == POSTERIOR).sum())
        sentences = [
            f"{counted(len(self.originals), self.noun).capitalize()} and {counted(len(self.lists), 'list')}:"
            f" {len(cells):,} cell{_s(len(cells))}, {n_fitted:,} posterior{_s(n_fitted)}."
        ]
        if n_fitted:
            sentences.append(
                f"Of these, {_are(cells.verdict == 'distinguishable')} distinguishable from noise, and"
                f" {_are(cells.survives)} after Holm's adjustment for all cells."
            )
        sentences += _unfinished(cells)
        if self.unlike:
            sentences.append(self.unlike)
        if versions := len(self.embeddings) - len(self.originals):
            sentences.append(
                f"{counted(versions, 'version').capitalize()} made {counted(len(self.changes), 'change')}."
                f" Of these, {_are(self.changes.verdict == 'distinguishable')} larger than chance explains, and"
                f" {_are(self.changes.survives)} after Holm's adjustment for all changes."
            )
            sentences += _unfinished(self.changes)
            if taught := int((self.changes.taught > 0).sum()):
                sentences.append(
                    f"In {taught:,} of these changes the version learned from words of the list, so their change"
                    " tells you little about other words."
                )
        return " ".join(sentences)

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
        """Return the biases of one list in all embeddings except versions.

        Errors are correlated, because embeddings share words.

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
            announce(((f"{name}: errors of biases are treated as independent, because this sweep was not pooled"),))
        share = 0.0 if self.pooled is None else float(self.pooled.lists.shared_error.get(name, 0.0))
        covariance = with_common_error(usable.sd.to_numpy(dtype=float), share)
        return Biases.of(usable.bias.astype(float).rename_axis("embedding"), covariance, self.metric.unit)

    def _shown(self) -> pd.DataFrame:
        return self.cells[["bias", *interval_columns(self.cells), "chance_holm", "verdict"]]


def wide_of(column: "pd.Series[Any]", embeddings: Sequence[str], lists: Sequence[str]) -> pd.DataFrame:
    """Return a column by (embedding, list) as a table with embeddings in rows and lists in columns."""
    cells = pd.MultiIndex.from_product([embeddings, lists])
    values = column.reindex(cells).to_numpy().reshape(len(embeddings), len(lists))
    return pd.DataFrame(values, index=pd.Index(embeddings), columns=pd.Index(lists))


def assembled(
    settings: SweepSettings,
    columns: Sequence[Column],
    lists: Sequence[WordList],
    biases: Computed,
    changes: Computed,
    measured: Mapping[At, Outcome],
) -> Sweep:
    """Return a sweep with the tables of all outcomes, before pooling."""
    sources = pd.DataFrame([vars(column) for column in columns]).set_index("name").rename_axis("embedding")
    sources = sources[["version_of", "version", "source", "dimensions", "replicates"]]
    embeddings, list_names = tuple(sources.index), tuple(words.name for words in lists)
    screening, posteriors = biases.screening, biases.posteriors
    every = pd.MultiIndex.from_product([embeddings, list_names], names=_CELL)
    cells = _cells(settings, every, screening, posteriors, sources.version_of)
    return Sweep(
        settings=settings,
        embeddings=embeddings,
        lists=list_names,
        sources=sources,
        cells=cells,
        changes=_changes(settings, sources, list_names, cells, changes).assign(taught=_taught(columns, lists)),
        posteriors=posteriors.drop(columns=["versions"], errors="ignore"),
        screening=screening.drop(columns=["coverage", "influence"], errors="ignore"),
        measures=_measures(measured),
        coverage=_coverage(screening),
        failures=_failures(columns, biases, changes, measured),
        software=tuple(json.loads(text) for text in sorted({*posteriors.get("versions", ())})),
        metric=next((column.metric for column in columns if column.metric != COSINE), COSINE),
    )


def _frame(records: Mapping[Any, Mapping[str, Any]], names: list[str]) -> pd.DataFrame:
    """Return a frame with a row for each record. `names` are the names of the index."""
    if not records:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[]] * len(names), names=names))
    return pd.DataFrame(list(records.values()), index=pd.MultiIndex.from_tuples(list(records), names=names))


def _cells(
    settings: SweepSettings,
    every: pd.MultiIndex,
    screening: pd.DataFrame,
    posteriors: pd.DataFrame,
    version_of: "pd.Series[str]",
) -> pd.DataFrame:
    """Return the results of the first model or, for cells to which it was not fitted, of the quasi-F.

    Holm's adjustment is applied separately to the cells of embeddings and of versions, so that additional versions do
    not change the results of embeddings.
    """
    bounds = interval_names(settings.ci_prob, "ci")
    cells = screening.reindex(columns=["bias", "sd", *bounds, "chance", "within_sd"]).reindex(every).astype(float)
    cells.insert(0, "version_of", version_of.loc[every.get_level_values("embedding")].to_numpy())
    cells["source"] = np.where(cells.bias.notna(), SCREENED, "")
    cells["verdict"] = np.where(cells.bias.notna(), NOT_FITTED, FAILED)
    for column in (*_OF_POSTERIOR, "problems"):
        cells[column] = {"problems": "", "sampled_again": False}.get(column, np.nan)
    if settings.specs[0].name in posteriors.index.get_level_values(0):
        fitted = posteriors.loc[[settings.specs[0].name]].droplevel("model")
        lower, upper = interval_names(settings.ci_prob)
        fitted = fitted.rename(columns={lower: bounds[0], upper: bounds[1]})
        columns = ["bias", "sd", *bounds, "chance", "verdict", *_OF_POSTERIOR, "problems"]
        for prefix in (_SHARES, "control"):
            columns += fitted.columns[fitted.columns.str.startswith(prefix)].to_list()
        for column in columns:
            cells.loc[fitted.index, column] = fitted[column]
        cells.loc[fitted.index, "source"] = POSTERIOR
    # The p-value of the quasi-F is stored separately, because it may determine the cells to which models are fitted.
    cells["chance_screened"] = screening.get("chance", pd.Series(dtype=float)).reindex(every)
    usable = (cells.source == POSTERIOR) & (cells.verdict != "not converged")
    cells["chance"] = cells.chance.where(usable)
    chances = cells.chance[cells.source != ""]
    families = cells.version_of[chances.index] != ""
    cells["chance_holm"] = chances.groupby(families).transform(lambda family: holm(family.to_numpy()))
    cells["survives"] = (cells.verdict == "distinguishable") & (cells.chance_holm < 1 - settings.ci_prob)
    return cells


def _changes(
    settings: SweepSettings, sources: pd.DataFrame, lists: Sequence[str], cells: pd.DataFrame, computed: Computed
) -> pd.DataFrame:
    """Return the change by each version with the biases before and after."""
    versions = sources[sources.version_of != ""]
    every = pd.MultiIndex.from_product([versions.index, lists], names=_CELL)
    changes = _cells(settings, every, computed.screening, computed.posteriors, versions.version_of)
    column, words = every.get_level_values("embedding"), every.get_level_values("list")
    before = cells.bias.reindex(pd.MultiIndex.from_arrays([changes.version_of, words]))
    names = ["embedding", "version", "list"]
    index = pd.MultiIndex.from_arrays([changes.version_of, versions.version.loc[column], words], names=names)
    changes = changes.rename(columns={"bias": "change"}).drop(columns="version_of")
    changes.insert(0, "before", before.to_numpy())
    changes.insert(1, "after", cells.bias.reindex(every).to_numpy())
    return changes.assign(column=column).set_axis(index)


def _taught(columns: Sequence[Column], lists: Sequence[WordList]) -> list[int]:
    """Return the number of words in each list that the version learned from, in the order of changes."""
    taught = []
    for column in columns:
        if column.version_of:
            for words in lists:
                taught.append(len(find_learned(column.learned, [*words.targets, *words.attributes], column.match)))
    return taught


def _measures(measured: Mapping[At, Outcome]) -> pd.DataFrame:
    """Return a table of all measures by cell and measure."""
    rows = []
    for (embedding, words), outcome in measured.items():
        if not outcome.failed:
            rows += [{"embedding": embedding, "list": words} | row for row in outcome.result["rows"]]
    names = [*_CELL, "measure"]
    return pd.DataFrame(rows).set_index(names) if rows else _frame({}, names)


def _coverage(screening: pd.DataFrame) -> pd.DataFrame:
    """Return the groups and classes of each cell with missing or replaced words."""
    rows = []
    for (embedding, words), parts in screening.get("coverage", pd.Series(dtype=object)).items():
        rows += [{"embedding": embedding, "list": words} | part for part in parts]
    frame = pd.DataFrame(rows, columns=[*_CELL, "name", "asked", "found", "lost", "respelt", "from_subwords"])
    return frame.fillna("")  # stored results of older releases have no columns for replaced words


def _failures(
    columns: Sequence[Column], biases: Computed, changes: Computed, measured: Mapping[At, Outcome]
) -> pd.DataFrame:
    """Return all failures. A reason that all methods share, such as a lack of coverage, is included once."""
    rows = [(column.name, "all", "reading", column.failed) for column in columns if column.failed]
    rows += biases.failures("") + changes.failures(", change")
    for (embedding, words), outcome in measured.items():
        reasons = [outcome.failed] if outcome.failed else outcome.result["missing"]
        rows += [(embedding, words, "measures", reason) for reason in reasons]
    frame = pd.DataFrame(rows, columns=[*_CELL, "what", "reason"])
    return frame.drop_duplicates([*_CELL, "reason"], ignore_index=True)


def _unfinished(cells: pd.DataFrame) -> list[str]:
    """Return sentences on cells that were only screened, have not converged, or have no numbers."""
    sentences = []
    for verdict, description in (
        (NOT_FITTED, "screened by the quasi-F alone"),
        ("not converged", "not converged, but included in the adjustment"),
        (FAILED, "without numbers. The reasons are listed among the failures"),
    ):
        if (cells.verdict == verdict).any():
            sentences.append(f"{capitalized(_are(cells.verdict == verdict))} {description}.")
    return sentences


def _s(count: int) -> str:
    """Return the ending of a plural."""
    return "" if count == 1 else "s"


def _are(rows: "pd.Series[bool]") -> str:
    """Return the number of true values with a verb, such as "three are"."""
    count = int(rows.sum())
    return f"{in_words(count)} {'is' if count == 1 else 'are'}"
