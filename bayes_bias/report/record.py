"""What a report consists of, as data; the renderers make pages and tables of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.baselines import MeasureTable, Weat
from bayes_bias.calibration import Calibration
from bayes_bias.cosines import Cosines
from bayes_bias.diagnostics import Diagnostics
from bayes_bias.estimands import OVERALL
from bayes_bias.measures import with_posterior
from bayes_bias.report.data_fit import DataFit
from bayes_bias.scopes import Scope
from bayes_bias.specs import ModelSpec, Reference
from bayes_bias.summary import interval_columns
from bayes_bias.verdict import Verdict

# What `Report.evidence` has of each list, in this order, whether any list has it or not.
EVIDENCE = [
    "prior_sensitivity",
    *("coverage_50", "coverage_89", "published_coverage_50", "published_coverage_89"),
    *("elpd_difference", "elpd_se", "bad_k"),
    *("nulls", "null_share", "null_share_lb", "null_share_ub"),
    *("weat_null_share", "weat_null_share_lb", "weat_null_share_ub"),
    *("no_data_fit", "no_comparison", "no_calibration"),
]


@dataclass(frozen=True, eq=False)
class Section:
    """Everything that the report says of one list.

    Attributes
    ----------
    title, description : str
        Of the word list; name and "" for a table of cosines.
    cosines : Cosines
    fit : xarray.DataTree
    summaries : mapping of scope to pandas.DataFrame
        `summarize` under the report's scope (the first one), "both" and "targets", as far as the design
        carries them.
    verdict : Verdict
    weat : Weat or None
    no_weat : str
        Why WEAT is not defined on this list; "" where it is.
    measures : MeasureTable
        Every measure of the literature that applies to the list, and why the others do not.
    coverage : pandas.DataFrame
        One row for each group and class: ``role``, ``name``, ``asked`` (missing where nobody knows),
        ``found``, ``lost`` (the words without a usable vector).
    variance_shares : pandas.DataFrame
    diagnostics : Diagnostics
    data_fit : DataFit or None
    no_data_fit : str
        Why the fit to the raw cosines was not checked; "" where it was.
    calibration : Calibration or None
        What the model and WEAT say of random nulls of the list's own design.
    no_calibration : str
        Why there is none; "" where there is.
    errata : tuple of str
        What is known to be wrong in the literature's copies of the list and its control classes.
    references : tuple of Reference
        Where the words come from.
    """

    title: str
    description: str
    cosines: Cosines
    fit: xr.DataTree
    summaries: Mapping[Scope, pd.DataFrame]
    verdict: Verdict
    weat: Weat | None
    no_weat: str
    measures: MeasureTable
    coverage: pd.DataFrame
    variance_shares: pd.DataFrame
    diagnostics: Diagnostics
    data_fit: DataFit | None
    no_data_fit: str
    calibration: Calibration | None
    no_calibration: str
    errata: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def name(self) -> str:
        """What tables and files call the list."""
        return self.cosines.name

    @property
    def summary(self) -> pd.DataFrame:
        """All estimands under the report's scope."""
        return next(iter(self.summaries.values()))

    @property
    def notices(self) -> tuple[str, ...]:
        """What was left out on the way to the cosines."""
        return self.cosines.notices

    @property
    def provenance(self) -> dict[str, str]:
        """Hashes, names and settings, as the fit carries them."""
        inside = ("diagnostics", "notices", "versions", "priors", "options", "name")
        return {str(key): str(value) for key, value in self.fit.attrs.items() if key not in inside}


@dataclass(frozen=True, eq=False)
class Report:
    """Sections for several lists, fitted with one model and read under one scope.

    Examples
    --------
    >>> report(["weat6", "weat7"]).write("report")                                # doctest: +SKIP
    """

    sections: tuple[Section, ...]
    spec: ModelSpec
    scope: Scope
    ci_prob: float

    @property
    def converged(self) -> bool:
        """Whether every fit has converged."""
        return all(section.diagnostics.converged for section in self.sections)

    def table(self) -> pd.DataFrame:
        """One row for each list: verdict, bias with its interval and probabilities, WEAT beside it.

        Columns ``verdict``; ``bias``, ``lower``, ``upper`` (cosine similarity); ``prob_direction``,
        ``prob_noise``; ``noise_sd`` (cosine similarity); ``weat_d`` (standard deviations) and ``weat_p``,
        missing where WEAT is not defined; ``words_needed``.
        """
        rows = {section.name: _row(section) for section in self.sections}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")

    def summary(self) -> pd.DataFrame:
        """All numbers of all lists, tidy: one row for each list, scope, estimand and label."""
        tables = {
            (section.name, scope): table
            for section in self.sections
            for scope, table in section.summaries.items()
        }
        return pd.concat(tables, names=["list", "scope"])

    def measures(self) -> pd.DataFrame:
        """Every measure of every list with the posterior in the last rows; see `with_posterior`."""
        tables = {s.name: with_posterior(s.measures.table, s.summaries) for s in self.sections}
        return pd.concat(tables, names=["list"])

    def evidence(self) -> pd.DataFrame:
        """One row for each list: what speaks for and against its numbers.

        Columns ``prior_sensitivity`` (above .05 the bias hangs on the prior); ``coverage_50``, ``coverage_89``, and the
        same of the published model (shares of raw cosines inside posterior predictive intervals); ``elpd_difference``
        to the published model, ``elpd_se``, ``bad_k`` (PSIS-LOO); ``nulls`` (random draws), ``null_share`` of them in
        which the model found a bias under the report's scope, with its exact 95% interval, and the same of WEAT;
        ``no_data_fit``, ``no_comparison``, ``no_calibration``: why numbers are missing.
        """
        rows = {section.name: _evidence(section, self.scope) for section in self.sections}
        return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=EVIDENCE).rename_axis("list")

    def write(self, out: str | Path) -> Path:
        """Render everything into a folder, whole or not at all.

        The folder is made if need be. Files of an earlier report are replaced; any other file in it stays.

        Returns
        -------
        pathlib.Path
            The page, ``index.html``; beside it ``summary.csv``, ``weat.csv``, ``measures.csv``, ``evidence.csv``,
            ``coverage.csv``, ``tables.tex``, ``methods.txt``, ``methods.tex``, ``references.bib``, ``provenance.json``,
            ``figures/`` and ``posterior-<list>.nc``.

        Raises
        ------
        OutputError
            The folder cannot be written; then nothing of it has changed.
        """
        from bayes_bias.report.folder import write_report  # the renderers read this record

        return write_report(self, Path(out))


def _row(section: Section) -> dict[str, object]:
    verdict, weat = section.verdict, section.weat
    return {
        "verdict": verdict.label,
        "bias": verdict.bias,
        "lower": verdict.lower,
        "upper": verdict.upper,
        "prob_direction": verdict.prob_direction,
        "prob_noise": verdict.prob_noise,
        "noise_sd": float(row_of(section.summary, "bias").noise_sd),
        "weat_d": float("nan") if weat is None else weat.effect_size,
        "weat_p": float("nan") if weat is None else weat.p_value,
        "words_needed": float("nan") if verdict.words_needed is None else verdict.words_needed,
    }


def _evidence(section: Section, scope: Scope) -> dict[str, object]:
    model = section.fit.attrs["model"]
    return {
        "prior_sensitivity": section.diagnostics.prior_sensitivity,
        **(_of_data_fit(section.data_fit) if section.data_fit else {}),
        **(_of_calibration(section.calibration, model, scope) if section.calibration else {}),
        "no_data_fit": section.no_data_fit,
        "no_calibration": section.no_calibration,
    }


def _of_data_fit(found: DataFit) -> dict[str, object]:
    prefixes = ("", "published_")
    shares = {
        f"{prefix}coverage_{100 * prob:.0f}": share
        for prefix, (_, row) in zip(prefixes, found.coverage.iterrows(), strict=False)
        for prob, share in row.items()
    }
    names = ("elpd_difference", "elpd_se", "bad_k", "no_comparison")
    return shares | {name: getattr(found, name) for name in names}


def _of_calibration(found: Calibration, model: str, scope: Scope) -> dict[str, object]:
    methods = {"null": (model, scope), "weat_null": ("WEAT", "targets")}
    shares = {
        f"{name}_{column}": found.table.loc[method, column]
        for name, method in methods.items()
        if method in found.table.index
        for column in ("share", "share_lb", "share_ub")
    }
    return {"nulls": found.records.draw.nunique(), **shares}


def row_of(summary: pd.DataFrame, estimand: str, label: str = OVERALL) -> "pd.Series[Any]":
    """One row of a summary."""
    return summary.xs((estimand, label))


def interval(row: "pd.Series[Any]") -> tuple[float, float]:
    """Lower and upper bound of one row of a summary."""
    lower, upper = interval_columns(row.to_frame().T)
    return float(row[lower]), float(row[upper])
