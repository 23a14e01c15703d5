"""The result of the model of bias and criterion: tables, sentences, and a page."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import slug
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import Column, Layout, Tabled, Telling
from bayes_bias.table.columns import interval_names, interval_of

OBSERVED, THESE, NEW = "as observed", "these words", "new words"
CORRELATION, SLOPE, RELIABILITY = "correlation", "slope", "reliability"

Label = Literal["distinguishable", "for these words only", "not distinguishable", "not converged"]


@dataclass(frozen=True, repr=False)
class CriterionVerdict(Telling):
    """The verdict on the correlation of bias and criterion.

    Attributes
    ----------
    label : str
        "distinguishable" if the interval of the correlation excludes zero. (If biases have errors, the interval for new
        words is used.) "for these words only" if only the interval for exactly these words excludes zero. "not
        distinguishable" if neither interval excludes zero. "not converged" if a fit has not converged.
    sentences : str
        The reasons for the label.
    """

    label: Label
    sentences: str

    @property
    def text(self) -> str:
        """The verdict in sentences."""
        return self.sentences


@dataclass(frozen=True, eq=False, repr=False)
class CriterionValidity(Tabled):
    """The correlation of bias with an external criterion. Made by `bayes_bias.criterion`.

    Attributes
    ----------
    name : str
        The title of the page and the figure.
    bias_name, criterion_name : str
        Names of bias and criterion on axes and in sentences.
    noun : str
        The noun for a label, such as "language".
    ci_prob : float
        Probability of the intervals.
    table : pandas.DataFrame
        A row for each label: ``bias``, ``bias_sd``, ``criterion``, ``criterion_se``, the covariates and family, and the
        posterior means ``true_bias`` and ``true_criterion``.
    numbers : pandas.DataFrame
        See `summary`.
    fits : mapping of str to xarray.DataTree
        The posteriors for "new words" and "these words", for ArviZ. If biases are exact, only "these words".
    notices : tuple of str
        Notices of labels that were omitted.
    of_words : bool
        Whether the errors of biases are known to come from the choice of words, as for biases from fits.
    """

    name: str
    bias_name: str
    criterion_name: str
    noun: str
    ci_prob: float
    covariates: tuple[str, ...]
    table: pd.DataFrame
    numbers: pd.DataFrame
    fits: Mapping[str, xr.DataTree]
    notices: tuple[str, ...] = ()
    of_words: bool = False

    def document(self) -> Document:
        """Return the page of the correlation and its files, which `bayes_bias.write` writes into a folder."""
        return criterion_document(self)

    def summary(self) -> pd.DataFrame:
        """Return correlation, slope and reliability, indexed by ``quantity`` and ``words`` (the population of words).

        Rows "as observed" contain Pearson's r and the least-squares slope, which errors attenuate, with confidence
        intervals (Fisher's z, Student's t). Rows "these words" allow for errors of the criterion, and rows "new words"
        also for errors of the biases. Columns: ``median``, equal-tailed interval, and ``prob_direction``. A reliability
        is the share of the variance over labels that is not due to error. With covariates, all of these are for fixed
        covariate values.
        """
        return self.numbers.copy()

    def verdict(self) -> CriterionVerdict:
        """Return the verdict on the correlation, with its label and sentences.

        The first sentence states the result for the widest population of words whose correlation is clear: for new
        words or, if only the correlation for exactly these words is clear, for these words. The other sentences contain
        the correlation for each population, the correlation without correction for errors and, if biases have errors,
        the reliabilities. If a fit has not converged, the only sentence gives the reasons.
        """
        if not self.diagnostics.converged:
            problems = "; ".join(self.diagnostics.problems)
            return CriterionVerdict("not converged", f"No verdict, because the fit has not converged: {problems}.")
        label = self._label
        population = THESE if label == "for these words only" else self.widest
        median = self.correlation(population)["median"]
        main_result = Finding(
            title=f"{self.bias_name} and {self.criterion_name}",
            value=median,
            size=f"{self.written(CORRELATION, population)} for {population}",
            clear=label != "not distinguishable",
            too_few="other words might show none" if population != self.widest else "",
            words={"direction": "positive" if median > 0 else "negative"},
        )
        sentences = [main_result.sentence("criterion")]
        sentences += [self._correlation_text(words) for words in self.fits]
        sentences.append(self._uncorrected_text())
        if self.widest == NEW:
            sentences.append(self._reliability_text())
        return CriterionVerdict(label, " ".join(sentences))

    def _uncorrected_text(self) -> str:
        """Return a sentence on the correlation of the observed values, for fixed values of covariates if there are any.

        Errors of bias and criterion attenuate this correlation.
        """
        equal = f", at equal {' and '.join(self.covariates)}," if self.covariates else ""
        observed = self.written(CORRELATION, OBSERVED)
        return f"Without correction for measurement error, the correlation over {self.labels}{equal} is {observed}."

    def _reliability_text(self) -> str:
        """Return a sentence on the reliabilities of biases and criterion, from the fit for new words.

        A criterion without standard errors is exact, so it has no reliability.
        """
        bias = self.written(f"{RELIABILITY} of bias", NEW)
        criterion = "exact"
        if self.table.criterion_se.any():
            criterion = self.written(f"{RELIABILITY} of criterion", NEW)
        where = " in these vectors" if self.of_words else ""
        return f"The reliability{where} is {bias} for biases and {criterion} for the criterion."

    def _correlation_text(self, words: str) -> str:
        """Return a sentence on the correlation for a population of `words`, which is "these words" or "new words".

        The sentence names the errors that are corrected for. The result for these words allows for errors of the
        criterion, and the result for new words also for errors of the biases. An exact criterion has no errors.
        """
        is_exact = not self.table.criterion_se.any()
        if words == THESE:
            population = "for exactly these words" + ("" if is_exact else ", corrected for errors of the criterion,")
        else:
            population = f"for new words, corrected for errors {'of the biases' if is_exact else 'in both'},"
        size = self.written(CORRELATION, words)
        direction = fmt.probability_in_words(self.correlation(words)["prob_direction"])
        return f"The correlation {population} is {size}, with a probability of direction of {direction}."

    @property
    def fit(self) -> xr.DataTree:
        """The posterior for new words or, if biases are exact, for these words."""
        return self.fits[self.widest]

    @property
    def widest(self) -> str:
        """The widest population of words that has a posterior."""
        return NEW if NEW in self.fits else THESE

    @property
    def diagnostics(self) -> Diagnostics:
        """Convergence diagnostics of the fit with the most problems."""
        of_fits = [Diagnostics.of(fit) for fit in self.fits.values()]
        return max(of_fits, key=lambda diagnostics: len(diagnostics.shortfalls))

    @property
    def text(self) -> str:
        """The result in sentences, with notices of omitted labels."""
        return " ".join([self.verdict().text, *(f"{fmt.capitalized(notice)}." for notice in self.notices)])

    @property
    def priors(self) -> dict[str, str]:
        """Priors of the parameters, in standard deviations over labels."""
        return dict(json.loads(self.fit.attrs["priors"]))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the software."""
        return dict(json.loads(self.fit.attrs["versions"]))

    @property
    def labels(self) -> str:
        """The number of labels with their noun, in words."""
        return f"{fmt.in_words(len(self.table))} {fmt.plural(self.noun)}"

    def correlation(self, words: str) -> "pd.Series[float]":
        """Return the row of `summary` for the correlation: for these words, for new words, or as observed."""
        return self.numbers.loc[(CORRELATION, words)]

    def written(self, quantity: str, words: str) -> str:
        """Return the median and interval of a quantity for a population of `words`, such as "+0.52 [+0.31, +0.68]".

        Correlations and reliabilities have two decimals. A slope has at least two decimals and, if it is small, so many
        that its median has two significant digits. Reliabilities are never negative and have no sign.
        """
        row = self.numbers.loc[(quantity, words)]
        sign = "" if quantity.startswith(RELIABILITY) else "+"
        decimals = 2
        if quantity == SLOPE and abs(row["median"]) > 0:
            order_of_magnitude = math.floor(math.log10(abs(row["median"])))
            decimals = max(2, 1 - order_of_magnitude)
        return fmt.value_and_interval(row["median"], *interval_of(row), decimals, sign=sign)

    def excludes_zero(self, words: str) -> bool:
        """Return True if the interval of the correlation for these or new `words` excludes zero."""
        lower, upper = interval_of(self.correlation(words))
        return bool(lower > 0 or upper < 0)

    @property
    def methods(self) -> str:
        """Describe the methods in sentences that can be used in a paper."""
        fit, diagnostics = self.fit.attrs, self.diagnostics
        priors = ", ".join(f"{name} ~ {prior}" for name, prior in self.priors.items())
        effects = f" Both have linear effects of {', '.join(self.covariates)}." if self.covariates else ""
        if "family" in self.table:
            effects += f" The {fmt.plural(self.noun)} of a family share effects on both, which are partly pooled."
        # A frame or draws do not show where the errors of biases come from.
        source = ", whose covariance is the one between samples of words" if self.of_words else ""
        observed = f"observed with normal errors{source}" if self.widest == NEW else "treated as exact"
        criterion = "observed with its standard errors" if self.table.criterion_se.any() else "treated as exact"
        return (
            f"The correlation of {self.bias_name} and {self.criterion_name} over {self.labels} was estimated by a"
            f" measurement-error model. True values are bivariate normal over {fmt.plural(self.noun)}. Biases are"
            f" {observed}, and the criterion is {criterion}. The true values were integrated out analytically."
            f"{effects} Priors, in standard deviations over {fmt.plural(self.noun)}: {priors}. Posterior"
            f" medians and equal-tailed {fmt.level(self.ci_prob)} intervals are given. Sampled by NUTS (nutpie, PyMC):"
            f" {fit['chains']} chains of {fit['tune']} warm-up and {fit['draws']} kept draws, seed {fit['seed']},"
            f" R-hat at most {diagnostics.r_hat:.3f}, bulk and tail ESS at least {diagnostics.ess_bulk:.0f} and"
            f" {diagnostics.ess_tail:.0f}, {diagnostics.divergent}."
        )

    @property
    def _label(self) -> Label:
        """Return the label of the verdict, provided that the fits have converged. See `CriterionVerdict`."""
        if self.excludes_zero(self.widest):
            return "distinguishable"
        return "for these words only" if self.excludes_zero(THESE) else "not distinguishable"

    @property
    def layout(self) -> Layout:
        """Show correlation, slope and reliabilities, with a row for each quantity and population of words.

        The rows of a quantity begin with the observed value, which is not corrected for errors.
        """
        rows = self.numbers
        return Layout(
            [str(quantity) for quantity, _ in rows.index],
            [
                Column("words", [str(words) for _, words in rows.index], words=True),
                Column(f"median and {fmt.level(self.ci_prob)} interval", [self.written(*row) for row in rows.index]),
                Column("probability\nof direction", rows.prob_direction, fmt.probability),
            ],
            caption=f"{fmt.capitalized(self.bias_name)} and {self.criterion_name}",
        )


def median_row(draws: xr.DataArray, ci_prob: float) -> dict[str, float]:
    """Return the median of draws, the interval, and the probability of the direction of the median, by column.

    The median is used instead of the mean, because a ratio of scales, such as a slope, may have no mean.
    """
    lower, median, upper = draws.quantile([(1 - ci_prob) / 2, 0.5, (1 + ci_prob) / 2]).to_numpy().tolist()
    prob_positive = float((draws > 0).mean())
    columns = ["median", *interval_names(ci_prob), "prob_direction"]
    return dict(zip(columns, [median, lower, upper, max(prob_positive, 1 - prob_positive)], strict=True))


def criterion_document(result: CriterionValidity) -> Document:
    """Return the page of a result and its files: sections, a figure, tables, fits, and their provenance.

    Each section names a template, which is filled with the `facts`. The provenance contains the settings of the fit,
    from which it can be reproduced.
    """
    methods = Methods("methods-of-criterion.txt", {"result": result})
    fit = result.fit.attrs
    # The criterion is written with three significant digits of its standard deviation over labels.
    decimals = max(0, 2 - math.floor(math.log10(result.table.criterion.std())))
    return Document(
        title=f"Criterion: {result.name}",
        heading=f"Does {result.bias_name} correlate with {result.criterion_name}?",
        opening={"answer": result.verdict().text},
        sections=(
            PageSection("correlation", "Correlation and slope", "criterion-summary.html"),
            PageSection("labels", f"Each {result.noun}", "criterion-labels.html"),
            notices_section("Omitted labels", result.notices),
            methods_section(methods),
        ),
        facts={"result": result, "level": fmt.level(result.ci_prob), "decimals": decimals},
        figures={"criterion": lambda: plots.plot_criterion(result)},
        tables={"summary": result.summary(), "labels": result.table},
        methods=methods,
        fits={slug(words): tree for words, tree in result.fits.items()},
        provenance={
            "ci_prob": result.ci_prob,
            "model": fit["model"],
            "priors": result.priors,
            "versions": result.versions,
            "data_sha256": fit["table_sha256"],
            "notices": list(result.notices),
            **{key: fit[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
        },
    )
