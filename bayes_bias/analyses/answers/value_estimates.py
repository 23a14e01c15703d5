"""`answers.estimate_values`: differences between groups in ratings, numbers, refusals or label probabilities."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.answers.estimation import check_samples
from bayes_bias.analyses.answers.lists import Lists
from bayes_bias.analyses.answers.model import ANSWER, PAIR, SAMPLES
from bayes_bias.analyses.answers.results import FEW_LABELS, FEW_WORDINGS, NEW_LABELS, ONE_PAIR, STEPS
from bayes_bias.analyses.answers.value_models import (
    LABEL,
    LIKELIHOODS,
    Likelihood,
    Ordinal,
    ValueData,
    expected_values,
    value_model,
)
from bayes_bias.analyses.answers.values import LABEL_A, LABEL_B, ValueCell, Values, read_values
from bayes_bias.analyses.headlines import Finding, headline
from bayes_bias.arguments import check_ci_prob, check_seed
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.errors import AnswersError
from bayes_bias.files import file_names
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import NamedData, fit_model, software, versions
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.progress import step
from bayes_bias.table.columns import estimate_columns, interval_of, with_interval
from bayes_bias.table.metric import Metric

# At .95, transitions diverged in two of four simulated sets of ratings of ten labels in three wordings.
SAMPLING = Sampling(draws=2000, tune=1000, target_accept=0.99)
# The factors, besides answers, that are treated as samples in each step of the ladder.
_LABELS = (LABEL, LABEL_A, LABEL_B, PAIR)
_RANDOM = {name: (*effects, *(_LABELS if name == "all" else ()), ANSWER) for name, effects in SAMPLES.items()}
_POPULATIONS = {
    NEW_LABELS: "new labels and wordings",
    FEW_WORDINGS: "new labels and wordings, of which there are few",
    FEW_LABELS: "new labels and wordings, although labels are few",
    ONE_PAIR: "these labels and new wordings",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ValueEstimates(Tabled):
    """Differences between groups in the answers of models. Made by `bayes_bias.answers.estimate_values`.

    Attributes
    ----------
    answers : Values
        The values that were read.
    likelihood : str
        The kind of value.
    unit : str
        The unit of the estimands, empty for D.
    scope, ci_prob, seed
    table : pandas.DataFrame
        Index ``(model, stereotype, estimand)``. Columns: number of ``answers``, ``observed`` difference of the means,
        posterior ``mean``, ``sd``, interval, ``prob_above`` and ``prob_direction``, ``reach`` (the population that the
        estimate generalises to), ``converged``, and ``separated``, which is True if ratings or refusals of the compared
        groups hardly overlap.
    ladder : pandas.DataFrame
        The index of `table` and ``samples``: mean, sd and interval if only answers are treated as a sample ("trials"),
        or also words, wordings and labels ("all").
    expected : pandas.DataFrame
        Index ``(model, stereotype, corner)``: the expected answer about each group (and class) with its interval.
    sources : pandas.DataFrame
        Index ``(model, stereotype, source)``: standard deviations of effects, and of effects on the bias, in units of
        the predictor (the unit of the answers for numbers, log odds for all others).
    fits : mapping of (model, stereotype) to xarray.DataTree
        Posteriors, for ArviZ and `bayes_bias.save_fit`.
    """

    answers: Values
    likelihood: str
    unit: str
    scope: str
    ci_prob: float
    seed: int
    table: pd.DataFrame
    ladder: pd.DataFrame
    expected: pd.DataFrame
    sources: pd.DataFrame
    fits: Mapping[tuple[str, str], xr.DataTree]

    @property
    def quantity(self) -> str:
        """Return a description of the estimand in words."""
        return LIKELIHOODS[self.likelihood].quantity

    @property
    def decimals(self) -> int:
        """Return the number of decimals needed to show two digits of the smallest standard deviation."""
        smallest = float(self.table.sd[self.table.sd > 0].min())
        return max(0, 1 - math.floor(math.log10(smallest))) if math.isfinite(smallest) else 2

    @property
    def distinguishable(self) -> "pd.Series[bool]":
        """Return True for each row whose interval excludes zero and whose fit has converged."""
        lower, upper = interval_of(self.table)
        return ((lower > 0) | (upper < 0)) & self.table.converged

    def called(self, key: tuple[str, str, str]) -> str:
        """Return the label of a row, which consists of the parts of its key that differ between rows."""
        parts = [part for level, part in enumerate(key) if len(self.table.index.unique(level)) > 1]
        return ", ".join(parts or [key[2]])

    @property
    def text(self) -> str:
        """Describe the estimates in sentences.

        The headline combines the findings on all estimates. If there are few estimates, it is followed by details on
        each of them.
        """
        findings = {key: self._finding(key) for key in self.table.index}
        sentences = [headline("values", list(findings.values()), "Not distinguishable from zero: {titles}.")]
        if len(findings) <= len(STEPS):
            for key, finding in findings.items():
                sentences += self._details(key, finding)
        return " ".join(sentences)

    def _finding(self, key: tuple[str, str, str]) -> Finding:
        """Return the parts of the first sentence of the page for one estimate. `key` is its row in the table.

        The sentence names the estimand and has the mean with its interval. An estimate is clear if its interval
        excludes zero, and has no verdict if its fit has not converged.
        """
        row = self.table.loc[key]
        return Finding(
            title=f"the {self.quantity} ({self.called(key)})",
            value=float(row["mean"]),
            size=with_interval(row, self.ci_prob, self.decimals, unit=self.unit),
            clear=bool(self.distinguishable.loc[key]),
            no_verdict="" if row.converged else "the fit has not converged",
        )

    def _details(self, key: tuple[str, str, str], finding: Finding) -> list[str]:
        """Return sentences on the population and the probability of one estimate. `key` is its row in the table.

        The population that the estimate generalises to depends on the scope: in the scope "all", on the numbers of
        labels and wordings (``reach``), otherwise on the factors that are treated as samples. Without a verdict, there
        is only the sentence on groups that hardly overlap, if there is one.
        """
        row = self.table.loc[key]
        if finding.no_verdict:
            return self._separation(row)
        of_scope = STEPS[self.scope].replace("and ", "new answers and ")
        population = _POPULATIONS[row.reach] if self.scope == "all" else of_scope
        subject = "This" if len(self.table) == 1 else fmt.capitalized(self.called(key))
        above = fmt.probability_in_words(row.prob_above)
        return [
            f"{subject} applies to {population}. The probability that it is positive is {above}.",
            *self._separation(row),
        ]

    def _separation(self, row: "pd.Series[Any]") -> list[str]:
        """Return a sentence if the answers of the groups hardly overlap, because the prior then limits the estimate."""
        if not row.separated:
            return []
        observed = f"{fmt.signed(row.observed, self.decimals)} {self.unit}".strip()
        return [
            f"However, the answers about the groups hardly overlap (observed difference {observed}), so the direction"
            " is clear, but the prior determines the size of the estimate."
        ]

    @property
    def layout(self) -> Layout:
        """Show each estimate with its interval, the probability that it is positive, and its population."""
        rows = self.table
        unit = f", in {self.unit}" if self.unit else ""
        return Layout(
            list(map(self.called, rows.index)),
            [
                Column("answers", rows.answers, fmt.as_count, spare=True),
                *estimate_columns(rows, self.quantity, self.ci_prob, self.decimals),
                Column("P(above 0)", rows.prob_above, fmt.probability),
                Column("generalises to", rows.reach, words=True),
            ],
            heading="estimate",
            caption=f"{fmt.capitalized(self.quantity)}{unit}: {self.answers.name}",
        )

    @property
    def expected_layout(self) -> Layout:
        """Show the expected answer about each group."""
        return self._unsigned(self.expected, "expected", self.decimals, "about")

    @property
    def sources_layout(self) -> Layout:
        """Show the standard deviations by source."""
        return self._unsigned(self.sources, "sd", 2, "source")

    def _unsigned(self, rows: pd.DataFrame, name: str, decimals: int, heading: str) -> Layout:
        """Lay out estimates that have no direction, in the column `name`. `heading` is above the labels of rows.

        The index of the rows consists of the model, the stereotype, and a name, such as a group. The label of a row is
        only the name if all rows are from one fit (of one model and stereotype).
        """
        has_several_fits = len(rows.index.droplevel(2).unique()) > 1
        labels = [", ".join(key if has_several_fits else key[2:]).strip(", ") for key in rows.index]
        return Layout(labels, estimate_columns(rows, name, self.ci_prob, decimals, sign=""), heading=heading)

    def document(self) -> Document:
        """Return the page of ratings, numbers, refusals, or label probabilities, for `bayes_bias.write`."""
        names = file_names([" ".join(filter(None, key)) for key in self.fits])
        kind = LIKELIHOODS[self.likelihood]
        fits = list(self.fits.values())
        diagnostics = list(map(Diagnostics.of, fits))
        priors: dict[str, str] = {}
        for fit in fits:  # some of which may have no effects of words
            priors |= json.loads(fit.attrs["priors"])
        n_values = sum(len(cell.data.value) for cell in self.answers.cells)
        facts = {"estimates": self, "kind": kind, "total": fmt.as_count(n_values), "priors": priors}
        facts["r_hat"] = fmt.plain(max(diagnosed.r_hat for diagnosed in diagnostics))
        facts["ess"] = fmt.as_count(min(diagnosed.ess_bulk for diagnosed in diagnostics))
        facts["software"] = software()
        methods = Methods("methods-of-values.txt", facts)
        settings = {"likelihood": self.likelihood, "scope": self.scope, "ci_prob": self.ci_prob, "seed": self.seed}
        answers = {**self.answers.provenance, "sha256": self.answers.sha256}
        return Document(
            title=f"Answers: {self.answers.name}",
            heading=f"Do answers differ between groups in {self.answers.name}?",
            opening={"answer": self.text},
            sections=(
                PageSection("values", fmt.capitalized(kind.quantity), "answers-values.html"),
                methods_section(methods),
                notices_section("Notes on the answers", self.answers.notices),
            ),
            facts={"estimates": self, "log_odds": self.likelihood not in ("numeric", "robust")},
            figures={"values": partial(plots.plot_values, self)},
            tables={"summary": self.table, "ladder": self.ladder, "expected": self.expected, "sources": self.sources},
            methods=methods,
            fits=dict(zip(names.values(), fits, strict=True)),
            provenance={**settings, "priors": priors, "versions": json.loads(versions()), "answers": answers},
        )


def estimate_values(
    answers: pd.DataFrame | str | Path,
    wordlist: Lists,
    likelihood: str,
    *,
    ratings: tuple[int, int] | None = None,
    unit: str = "",
    scope: str = "all",
    name: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    ignore: str | Sequence[str] = (),
    factors: str | Sequence[str] = (),
) -> ValueEstimates:
    r"""Estimate differences between groups of labels in ratings, numbers, refusals, or label probabilities.

    One hierarchical model has a likelihood for each kind of answer. Its predictor is

    .. math:: \eta_i = \alpha + c_{g(i)} \beta + \sum_f (u^f_{l(i)} + c_{g(i)} v^f_{l(i)})

    where f are the factors: labels, wordings, words, and answers (if an answer has several values). Each level of a
    factor has a normal effect u. If the levels occur in all groups, each level also has an effect v on the bias. The
    estimand is the difference of expected answers for new labels, wordings, and words, in the unit of the answers.
    To compute the expected answers, the inverse logit (if the likelihood has one) is applied first, and its results are
    then averaged over all effects.

    Parameters
    ----------
    answers : pandas.DataFrame, str or Path
        A row for each answer: ``label`` and ``value``, or for refusals ``label`` and ``refused`` (true or false).
        Optional columns are ``word``, ``wording``, ``answer`` (the reply, if it has several values), ``stereotype``,
        and ``model``. For probabilities, the columns are ``word``, ``label_a``, ``label_b``, and ``logprob_a`` and
        ``logprob_b`` (or ``prob_a`` and ``prob_b``), as in `top_logprobs` of a service or in the scores of a causal
        model. Results of FMAT_run in R, which contain probabilities of masked words, need no conversion.
    wordlist
        A list with two groups of labels, each with its own class of words, as for `estimate`, or a mapping or TOML file
        that contains only ``groups`` (two or more). With classes, and a column ``word``, the estimand is the difference
        between stereotypical and other combinations of label and word. Without classes, the estimand is the difference
        between the two groups or, if there are more groups, between each group and the average of all others.
    likelihood : {"ordinal", "numeric", "robust", "binary", "probabilities", "refusals"}
        The kind of value: integer ratings (cumulative logit, difference of expected ratings in points), numbers
        (normal, difference of means), numbers with outliers (Student-t, difference of locations), yes or no (binomial,
        difference of shares in percentage points), probabilities of labels (logit-normal, D), or refusals (binomial,
        difference of rates in percentage points).
    ratings : tuple of int, optional
        The ends of the scale of ratings, such as ``(1, 7)``. The default is the lowest and the highest rating.
    unit : str, optional
        The unit of numbers, such as "dollars", for sentences and tables.
    scope : {"all", "wordings", "words", "trials"}
        As in `estimate`: the results generalise to new labels, wordings, and words, or some of these factors are fixed.
        The levels of fixed factors have equal weights.
    name, ci_prob, seed, ignore, factors
        As in `estimate`.
    sampling : Sampling

    Returns
    -------
    ValueEstimates
        ``table``, ``ladder``, ``expected``, ``sources``, and ``fits``. When printed, it shows sentences.

    Raises
    ------
    AnswersError
        If the answers cannot be read or do not belong to the list, if a group has no answers, if ratings are not
        integers, if probabilities are zero or have a sum above 1, or if the likelihood is unknown.
    ScopeError, SpecError
        If `scope`, `seed`, or `sampling` is invalid.

    Notes
    -----
    Answers without a value are omitted, and a notice is logged. If the share of these answers differs between groups,
    estimate refusals as well.

    Probabilities are modelled as logit-normal instead of beta, because a language model computes them from logits. The
    effects of label, wording, and word are then normal on the log odds, and probabilities may lie near 0 and 1.

    Examples
    --------
    >>> groups = {"groups": {"men": ["Ben", "Paul"], "women": ["Ann", "Eve"]}}
    >>> estimate_values("salaries.csv", groups, "numeric", unit="dollars")        # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    seed = check_seed(seed)
    check_samples(scope)
    check_sampling(sampling)
    if likelihood not in LIKELIHOODS:
        raise AnswersError(f"`likelihood` is '{likelihood}', which values do not have.", likelihood, LIKELIHOODS)
    kind = LIKELIHOODS[likelihood]
    read = read_values(answers, wordlist, kind, ratings=ratings, name=name, ignore=ignore, factors=factors)
    tables: dict[str, dict[tuple[str, str], pd.DataFrame]] = {}
    fits = {}
    for cell in read.cells:
        key = (cell.model, cell.stereotype)
        data = cell.data
        step(f"{cell.stereotype} {cell.model}".strip())
        content = xr.Dataset({"value": ("row", data.value), "corner_of": ("row", data.corner)})
        for factor in data.factors:
            content[f"{factor.name}_of"] = ("row", factor.codes)
        named = NamedData(f"{read.name}, {cell.stereotype}", Metric(kind.quantity, kind.unit), read.sha256)
        spec = kind.spec(data.factors)
        model = value_model(kind, data)
        fits[key] = fit_model(named, spec, model, content, seed=seed, sampling=sampling).tree
        for table, rows in _tables(cell, kind, fits[key], scope, ci_prob).items():
            tables.setdefault(table, {})[key] = rows
    fields = {name: pd.concat(rows, names=["model", "stereotype"]) for name, rows in tables.items()}
    unit = unit or kind.unit
    return ValueEstimates(
        answers=read, likelihood=likelihood, unit=unit, scope=scope, ci_prob=ci_prob, seed=seed, fits=fits, **fields
    )


def _tables(cell: ValueCell, kind: Likelihood, fit: xr.DataTree, scope: str, ci_prob: float) -> dict[str, pd.DataFrame]:
    """Return the rows of one model and stereotype in each table of `ValueEstimates`, by the name of the table.

    An estimand is a weighted sum of the expected values of the corners, such as the groups of labels. The ladder has an
    estimate for each scope. In wider scopes, more factors are treated as samples (`_RANDOM`). The table has the
    estimate in the requested scope, with the probability that it is positive, and the observed value of the estimand.
    """
    data = cell.data
    posterior = fit["posterior"].to_dataset()
    weights = np.stack(list(data.corners.estimands.values()))  # (estimand, corner)
    estimands = pd.Index(data.corners.estimands, name="estimand")
    corners = pd.Index(data.corners.names, name="corner")
    expected, ladder = {}, {}
    for samples in SAMPLES:
        expected[samples] = expected_values(kind, data, posterior, _RANDOM[samples])  # (draw, corner)
        ladder[samples] = pd.DataFrame(summarize_draws(expected[samples] @ weights.T, ci_prob), index=estimands)
    above = (expected[scope] @ weights.T > 0).mean(axis=0)  # (estimand,)
    table = {
        "answers": len(data.value),
        "observed": weights @ data.averages(kind.as_answered(data.value)),
        **ladder[scope],
        "prob_above": above,
        "prob_direction": np.maximum(above, 1 - above),
        "reach": cell.reach,
        "converged": Diagnostics.of(fit).converged,
        "separated": [isinstance(kind, Ordinal) and data.is_separated(row) for row in weights],
    }
    return {
        "table": pd.DataFrame(table, index=estimands),
        "ladder": pd.concat(ladder, names=["samples"]).swaplevel().loc[list(estimands)],
        "expected": pd.DataFrame(summarize_draws(expected[scope], ci_prob), index=corners),
        "sources": _sources(data, posterior, kind.scale(data).unit, ci_prob),
    }


def _sources(data: ValueData, posterior: xr.Dataset, unit: float, ci_prob: float) -> pd.DataFrame:
    """Return the standard deviations of effects and residuals in units of the predictor, with a row for each source.

    A row has the mean, sd and interval of a standard deviation. The posterior is in standardised units, and `unit` is
    the standard deviation of the values by which it is multiplied. Variables that the model does not have are omitted.
    """
    source_of_variable: dict[str, str] = {}
    for factor in data.factors:
        source_of_variable |= {f"sd_{factor.name}": factor.name, f"sd_{factor.name}_bias": f"{factor.name} bias"}
    source_of_variable["scale_residual"] = "residual"
    sources = {}
    for variable, source in source_of_variable.items():
        if variable in posterior:
            sources[source] = summarize_draws(unit * posterior[variable].to_numpy().ravel(), ci_prob)
    return pd.DataFrame(sources).T.astype(float).rename_axis("source")
