"""The tables of a sweep, from the outcomes of its cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.sweep.columns import Column
from bayes_bias.analyses.sweep.spec_file import SweepSettings
from bayes_bias.associations.coverage import words_by_part
from bayes_bias.debiasing.debiased_embedding import find_learned
from bayes_bias.jobs import Outcome
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.pooling import Influence
from bayes_bias.table.columns import interval_names
from bayes_bias.words.wordlist import WordList

type At = tuple[str, str]

POSTERIOR, SCREENED = "posterior", "quasi-F"
NOT_FITTED, FAILED = "screened only", "failed"

CELL = ["embedding", "list"]
_DIAGNOSTICS = ["r_hat", "ess_bulk", "ess_tail", "divergences", "prior_sensitivity"]
_OF_POSTERIOR = ["observed", "noise_sd", "sampled", "sampled_again", *_DIAGNOSTICS]
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
        return _frame({at: outcome.result for at, outcome in self.screened.items() if not outcome.failed}, CELL)

    @property
    def posteriors(self) -> pd.DataFrame:
        """A table with a row for each fit, indexed by (model, embedding, list).

        The nested parts of a record become columns: a column for each share of variance, the largest change of a
        control class, and a text with all problems of the fit.
        """
        rows = {}
        for at, outcome in self.fitted.items():
            if outcome.failed:
                continue
            row = dict(outcome.result)
            for part, share in row.pop("shares").items():
                row[f"{_SHARES}{part.replace(' ', '_')}"] = share
            controls = row.pop("controls", {})
            problems = "; ".join(row.pop("problems"))
            rows[at] = {**row, **controls, "problems": problems}
        return _frame(rows, ["model", *CELL])

    def failures(self, of: str) -> list[tuple[str, str, str, str]]:
        """Return embedding, list, method, and reason of each failure.

        The methods are the quasi-F and the models. `of` is appended to their names, such as ", change" for changes. The
        reason of an outcome (``failed``) is empty if it has a result.
        """
        rows = []
        for (embedding, list_name), outcome in self.screened.items():
            rows.append((embedding, list_name, f"{SCREENED}{of}", outcome.failed))
        for (model, embedding, list_name), outcome in self.fitted.items():
            rows.append((embedding, list_name, f"{model}{of}", outcome.failed))
        return [row for row in rows if row[-1]]  # without those that have no reason


def _frame(records: Mapping[Any, Mapping[str, Any]], names: list[str]) -> pd.DataFrame:
    """Return a frame with a row for each record, indexed by the keys of `records`, which are tuples.

    `names` are the names of the levels of the index. Without records, the frame has the index but no columns.
    """
    if not records:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[]] * len(names), names=names))
    return pd.DataFrame(list(records.values()), index=pd.MultiIndex.from_tuples(list(records), names=names))


def cells_table(
    settings: SweepSettings,
    index: pd.MultiIndex,
    screening: pd.DataFrame,
    posteriors: pd.DataFrame,
    version_of: "pd.Series[str]",
) -> pd.DataFrame:
    """Return a row for each cell with the results of the first model or, without a fit, of the quasi-F (screening).

    `index` contains all cells (embedding, list), and `version_of` the original of each embedding, or "". `screening`
    has the results of the quasi-F by cell, and `posteriors` the results of all models by (model, embedding, list).

    All cells first get the results of the quasi-F. The results of the first model then replace those of its cells, with
    the columns that only a posterior has. A cell without any result has the verdict FAILED, and a cell without a fit
    the verdict NOT_FITTED. Holm's adjustment is applied separately to the cells of embeddings and of versions, so that
    additional versions do not change the results of embeddings.
    """
    bounds = interval_names(settings.ci_prob, "ci")
    cells = screening.reindex(columns=["bias", "sd", *bounds, "chance", "within_sd"]).reindex(index).astype(float)
    cells.insert(0, "version_of", version_of.loc[index.get_level_values("embedding")].to_numpy())
    is_screened = cells.bias.notna()
    cells["source"] = np.where(is_screened, SCREENED, "")
    cells["verdict"] = np.where(is_screened, NOT_FITTED, FAILED)
    without_posterior = {"problems": "", "sampled": False, "sampled_again": False}
    for column in (*_OF_POSTERIOR, "problems"):
        cells[column] = without_posterior.get(column, np.nan)
    first_model = settings.specs[0].name
    if first_model in posteriors.index.get_level_values(0):
        fitted = posteriors.loc[[first_model]].droplevel("model")
        fitted = fitted.rename(columns=dict(zip(interval_names(settings.ci_prob), bounds, strict=True)))
        columns = ["bias", "sd", *bounds, "chance", "verdict", *_OF_POSTERIOR, "problems"]
        for prefix in (_SHARES, "control"):
            columns += fitted.columns[fitted.columns.str.startswith(prefix)].to_list()
        cells.loc[fitted.index, columns] = fitted.reindex(columns=columns)
        cells.loc[fitted.index, "source"] = POSTERIOR
    # The p-value of the quasi-F is stored separately, because it may determine the cells to which models are fitted.
    cells["chance_screened"] = screening.get("chance", pd.Series(dtype=float)).reindex(index)
    has_converged = (cells.source == POSTERIOR) & (cells.verdict != "not converged")
    cells["chance"] = cells.chance.where(has_converged)
    # Holm's adjustment counts all cells that were tested, including those whose probability is missing.
    tested = cells[cells.source != ""]
    is_version = tested.version_of != ""
    cells["chance_holm"] = tested.chance.groupby(is_version).transform(lambda family: holm(family.to_numpy()))
    cells["survives"] = (cells.verdict == "distinguishable") & (cells.chance_holm < 1 - settings.ci_prob)
    return cells


def changes_table(
    settings: SweepSettings, sources: pd.DataFrame, lists: Sequence[str], cells: pd.DataFrame, computed: Computed
) -> pd.DataFrame:
    """Return the change by each version with the biases before and after, indexed by (embedding, version, list).

    `sources` has a row for each embedding or version. `cells` are their biases, and `computed` has the results of the
    changes. Both are indexed by (name of the version in `sources`, list), because the name of a version alone may occur
    in several embeddings.
    """
    versions = sources[sources.version_of != ""]
    after_index = pd.MultiIndex.from_product([versions.index, lists], names=CELL)
    changes = cells_table(settings, after_index, computed.screening, computed.posteriors, versions.version_of)
    version_names = after_index.get_level_values("embedding")  # as in `sources`
    list_names = after_index.get_level_values("list")
    originals = changes.version_of
    before_index = pd.MultiIndex.from_arrays([originals, list_names])
    index = pd.MultiIndex.from_arrays([originals, versions.version.loc[version_names], list_names])
    changes = changes.rename(columns={"bias": "change"}).drop(columns="version_of")
    changes.insert(0, "before", cells.bias.reindex(before_index).to_numpy())
    changes.insert(1, "after", cells.bias.reindex(after_index).to_numpy())
    return changes.assign(column=version_names).set_axis(index.set_names(["embedding", "version", "list"]))


def count_learned(columns: Sequence[Column], lists: Sequence[WordList]) -> list[int]:
    """Return the number of words of each list that each version learned from, in the order of the table of changes.

    `columns` are embeddings and versions. A version has the name of its embedding (``version_of``) and the words from
    which its debiasing method learned.
    """
    counts = []
    for column in columns:
        if column.version_of:
            counts += [len(find_learned(column.learned, words.words, column.match)) for words in lists]
    return counts


def measures_table(measured: Mapping[At, Outcome]) -> pd.DataFrame:
    """Return a table of all published measures, indexed by embedding, list, and measure.

    `measured` has the outcome of each cell (embedding, list), with a row for each measure. If the measures of a cell
    could not be computed, it has no rows.
    """
    rows = []
    for (embedding, list_name), outcome in measured.items():
        if not outcome.failed:
            rows += [{"embedding": embedding, "list": list_name, **row} for row in outcome.result["rows"]]
    names = [*CELL, "measure"]
    return pd.DataFrame(rows).set_index(names) if rows else _frame({}, names)


def coverage_table(screening: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each group and class with missing or replaced words in a cell.

    The column ``coverage`` of `screening` has these rows for each cell (embedding, list). ``asked`` is the number of
    words in the list, and ``found`` the number of words with a vector. The last columns name the words that are
    missing, spelt differently, or computed from subwords.
    """
    rows = []
    for (embedding, list_name), parts in screening.get("coverage", pd.Series(dtype=object)).items():
        rows += [{"embedding": embedding, "list": list_name, **part} for part in parts]
    frame = pd.DataFrame(rows, columns=[*CELL, "name", "asked", "found", "lost", "respelt", "from_subwords"])
    return frame.fillna("")  # stored results of older releases have no columns for replaced words


def words_table(lists: Sequence[WordList]) -> pd.DataFrame:
    """Return a row for each word of each list, with its role (such as "target") and the name of its group or class."""
    rows = []
    for wordlist in lists:
        for role, name, words in words_by_part(wordlist):
            rows += [(wordlist.name, role, name, word) for word in words]
    return pd.DataFrame(rows, columns=["list", "role", "name", "word"]).set_index("list")


def failures_table(
    columns: Sequence[Column], biases: Computed, changes: Computed, measured: Mapping[At, Outcome]
) -> pd.DataFrame:
    """Return all failures with their reasons, from reading embeddings to measures.

    `columns` are the embeddings, whose cells are missing if they could not be read. `biases` and `changes` are the
    outcomes of the quasi-F and of all fits, and `measured` the outcomes of published measures, some of which may be
    missing. A reason that all methods share, such as a lack of coverage, is included once.
    """
    rows = [(column.name, "all", "reading", column.failed) for column in columns if column.failed]
    rows += biases.failures(of="") + changes.failures(of=", change")
    for (embedding, list_name), outcome in measured.items():
        reasons = [outcome.failed] if outcome.failed else outcome.result["missing"]
        rows += [(embedding, list_name, "measures", reason) for reason in reasons]
    frame = pd.DataFrame(rows, columns=[*CELL, "what", "reason"])
    return frame.drop_duplicates([*CELL, "reason"], ignore_index=True)
