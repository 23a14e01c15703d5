"""The results of a sweep: a row for each cell, what was not covered, what failed, and the pooled estimates."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.formatting import Tabled, capitalized, in_words
from bayes_bias.posterior.holm import holm
from bayes_bias.sweeps.job import Outcome
from bayes_bias.sweeps.pooling_cells import Crossed
from bayes_bias.sweeps.sweep_columns import Column
from bayes_bias.sweeps.sweep_settings import SweepSettings
from bayes_bias.table.column_names import interval_columns, interval_names
from bayes_bias.table.metric import COSINE, LOG_PROBABILITIES, Metric
from bayes_bias.words.wordlist import WordList

type At = tuple[str, str]

POSTERIOR, SCREENED = "posterior", "quasi-F"
NOT_FITTED, FAILED = "screened only", "failed"

_CELL = ["embedding", "list"]
_OF_POSTERIOR = ["observed", "noise_sd", "r_hat", "ess_bulk", "ess_tail", "divergences", "prior_sensitivity"]
_SHARES = "share_of_"


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Tabled):
    """Every list in every embedding.

    Attributes
    ----------
    settings : SweepSettings
        Models, measures and settings.
    embeddings, lists : tuple of str
    sources : pandas.DataFrame
        Where the vectors of each embedding come from, their ``dimensions``, and how many ``replicates`` there are.
    cells : pandas.DataFrame
        A row for each ``(embedding, list)``, of the first model: ``source`` of its numbers, "posterior", or "quasi-F"
        for a cell that was only screened; ``bias``, ``sd``, interval (``ci95_lb``, ``ci95_ub``); ``chance`` of so large
        a contrast if there were no bias; ``chance_holm``, the same after Holm's adjustment for all cells; ``verdict``,
        and whether it ``survives`` the adjustment; of a posterior ``observed``, ``noise_sd``, diagnostics, and the
        shares of the bias's sampling variance. Numbers of a cell that failed are missing, and so are chances of one
        that has not converged.
    posteriors : pandas.DataFrame
        The same numbers by ``(model, embedding, list)``, of every model.
    screening : pandas.DataFrame
        The quasi-F of each cell.
    measures : pandas.DataFrame
        The literature's measures, by ``(embedding, list, measure)``.
    coverage : pandas.DataFrame
        Groups and classes that lost words, control classes aside.
    failures : pandas.DataFrame
        What could not be computed, and why.
    versions : tuple of mapping of str to str
        Versions of the packages that computed the posteriors; more than one where the folder is older than they are.
    metric : Metric
        What a bias is a difference of.
    pooled : Crossed or None
        All cells pooled; None where there is a single cell, or all were only screened.
    """

    settings: SweepSettings
    embeddings: tuple[str, ...]
    lists: tuple[str, ...]
    sources: pd.DataFrame
    cells: pd.DataFrame
    posteriors: pd.DataFrame
    screening: pd.DataFrame
    measures: pd.DataFrame
    coverage: pd.DataFrame
    failures: pd.DataFrame
    versions: tuple[Mapping[str, str], ...]
    metric: Metric = COSINE
    pooled: Crossed | None = None

    @property
    def noun(self) -> str:
        """What a column is called in sentences."""
        return "model" if self.metric.name in LOG_PROBABILITIES else "embedding"

    @property
    def unconverged(self) -> pd.DataFrame:
        """Cells whose posterior must not be interpreted."""
        return self.cells[self.cells.verdict == "not converged"]

    @property
    def text(self) -> str:
        """Counts of distinguishable cells, before and after the adjustment, and of missing ones."""
        cells = self.cells
        done = int((cells.source == POSTERIOR).sum())
        sentences = [
            f"{_counted(len(self.embeddings), self.noun).capitalize()} and {_counted(len(self.lists), 'list')}:"
            f" {len(cells):,} cell{_s(len(cells))}, {done:,} posterior{_s(done)}."
        ]
        if done:
            before, after = int((cells.verdict == "distinguishable").sum()), int(cells.survives.sum())
            sentences.append(
                f"Of these {_are(before)} distinguishable from noise; after Holm's adjustment for all cells"
                f" {_are(after)}."
            )
        for verdict, what in (
            (NOT_FITTED, "screened by the quasi-F alone"),
            ("not converged", "not converged, and counted in the adjustment all the same"),
            (FAILED, "without numbers; the reasons are among the failures"),
        ):
            if count := int((cells.verdict == verdict).sum()):
                sentences.append(f"{capitalized(_are(count))} {what}.")
        return " ".join(sentences)

    def matrix(self, column: str = "bias") -> pd.DataFrame:
        """One column of `cells` as embeddings x lists."""
        return wide_of(self.cells[column], self.embeddings, self.lists)

    def _shown(self) -> pd.DataFrame:
        return self.cells[["bias", *interval_columns(self.cells), "chance_holm", "verdict"]]


def wide_of(column: "pd.Series[Any]", embeddings: Sequence[str], lists: Sequence[str]) -> pd.DataFrame:
    """A column by (embedding, list) as a table of embeddings x lists."""
    cells = pd.MultiIndex.from_product([embeddings, lists])
    values = column.reindex(cells).to_numpy().reshape(len(embeddings), len(lists))
    return pd.DataFrame(values, index=pd.Index(embeddings), columns=pd.Index(lists))


def assembled(
    settings: SweepSettings,
    columns: Sequence[Column],
    lists: Sequence[WordList],
    screened: Mapping[At, Outcome],
    fitted: Mapping[tuple[str, str, str], Outcome],
    measured: Mapping[At, Outcome],
) -> Sweep:
    """Tables of the outcomes of all jobs; nothing is pooled yet."""
    embeddings, words = tuple(column.name for column in columns), tuple(table.name for table in lists)
    screening = _frame({at: outcome.result for at, outcome in screened.items() if not outcome.failed}, _CELL)
    posteriors = _frame(
        {at: _flat(outcome.result) for at, outcome in fitted.items() if not outcome.failed}, ["model", *_CELL]
    )
    return Sweep(
        settings=settings,
        embeddings=embeddings,
        lists=words,
        sources=pd.DataFrame(
            {name: [getattr(column, name) for column in columns] for name in ("source", "dimensions", "replicates")},
            index=pd.Index(embeddings, name="embedding"),
        ),
        cells=_cells(settings, embeddings, words, screening, posteriors),
        posteriors=posteriors.drop(columns=["versions"], errors="ignore"),
        screening=screening.drop(columns=["coverage", "influence", "notices"], errors="ignore"),
        measures=_measures(measured),
        coverage=_coverage(screening),
        failures=_failures(columns, screened, fitted, measured),
        versions=tuple(json.loads(text) for text in sorted({*posteriors.get("versions", ())})),
        metric=next((column.metric for column in columns if column.metric != COSINE), COSINE),
    )


def _frame(records: Mapping[Any, Mapping[str, Any]], names: list[str]) -> pd.DataFrame:
    if not records:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[] for _ in names], names=names))
    return pd.DataFrame(list(records.values()), index=pd.MultiIndex.from_tuples(list(records), names=names))


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in record.items() if name not in ("diagnostics", "shares", "problems")}
    shares = {f"{_SHARES}{part.replace(' ', '_')}": share for part, share in record["shares"].items()}
    return plain | record["diagnostics"] | shares | {"problems": "; ".join(record["problems"])}


def _cells(
    settings: SweepSettings,
    embeddings: Sequence[str],
    lists: Sequence[str],
    screening: pd.DataFrame,
    posteriors: pd.DataFrame,
) -> pd.DataFrame:
    """The first model's numbers, or the quasi-F's where it was not fitted, with Holm's adjustment for all cells."""
    every = pd.MultiIndex.from_product([embeddings, lists], names=_CELL)
    posterior_bounds, bounds = interval_names(settings.ci_prob), interval_names(settings.ci_prob, "ci")
    numbers = ["bias", "sd", *bounds, "chance", "within_sd"]
    cells = screening.reindex(columns=numbers).reindex(every).astype(float)
    model = settings.specs[0].name
    cells["source"] = np.where(cells.bias.notna(), SCREENED, "")
    cells["verdict"] = np.where(cells.bias.notna(), NOT_FITTED, FAILED)
    for column in (*_OF_POSTERIOR, "problems"):
        cells[column] = "" if column == "problems" else np.nan
    if model in posteriors.index.get_level_values(0):
        first = posteriors.loc[[model]].droplevel("model")
        first = first.rename(columns=dict(zip(posterior_bounds, bounds, strict=True)))
        shares = [column for column in first if column.startswith(_SHARES)]
        taken = ["bias", "sd", *bounds, "chance", "verdict", *_OF_POSTERIOR, "problems", *shares]
        for column in taken:
            cells.loc[first.index, column] = first[column]
        cells.loc[first.index, "source"] = POSTERIOR
    # The chance of the quasi-F chose which cells are fitted; it is not a posterior's.
    cells["chance_screened"] = screening.get("chance", pd.Series(dtype=float)).reindex(every)
    usable = (cells.source == POSTERIOR) & (cells.verdict != "not converged")
    cells["chance"] = cells.chance.where(usable)
    computed = cells.source != ""
    cells["chance_holm"] = np.nan
    cells.loc[computed, "chance_holm"] = holm(cells.chance[computed].to_numpy())
    cells["survives"] = (cells.verdict == "distinguishable") & (cells.chance_holm < 1 - settings.ci_prob)
    return cells


def _measures(measured: Mapping[At, Outcome]) -> pd.DataFrame:
    rows = [
        dict(zip(_CELL, at, strict=True)) | row
        for at, outcome in measured.items()
        if not outcome.failed
        for row in outcome.result["rows"]
    ]
    names = [*_CELL, "measure"]
    return pd.DataFrame(rows).set_index(names) if rows else _frame({}, names)


def _coverage(screening: pd.DataFrame) -> pd.DataFrame:
    rows = [
        dict(zip(_CELL, at, strict=True)) | part
        for at, parts in screening.get("coverage", pd.Series(dtype=object)).items()
        for part in parts
    ]
    return pd.DataFrame(rows, columns=[*_CELL, "name", "asked", "found", "lost"])


def _failures(
    columns: Sequence[Column],
    screened: Mapping[At, Outcome],
    fitted: Mapping[tuple[str, str, str], Outcome],
    measured: Mapping[At, Outcome],
) -> pd.DataFrame:
    """Each reason once: a list that an embedding does not cover fails by every method."""
    rows: list[tuple[str, ...]] = [(c.name, "all", "reading", c.failed) for c in columns if c.failed]
    rows += [(*at, SCREENED, o.failed) for at, o in screened.items() if o.failed]
    rows += [(*at, model, o.failed) for (model, *at), o in fitted.items() if o.failed]
    rows += [(*at, "measures", o.failed) for at, o in measured.items() if o.failed]
    frame = pd.DataFrame(rows, columns=[*_CELL, "what", "reason"])
    return frame.drop_duplicates([*_CELL, "reason"], ignore_index=True)


def _counted(number: int, noun: str) -> str:
    return f"{in_words(number)} {noun}{_s(number)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _are(count: int) -> str:
    return f"{in_words(count)} {'is' if count == 1 else 'are'}"
