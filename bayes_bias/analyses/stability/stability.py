"""`stability`: measures in each of several training runs, and the posterior of all training runs together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding, called
from bayes_bias.arguments import check_ci_prob
from bayes_bias.associations.cosines import cosines
from bayes_bias.associations.lists import check_alone
from bayes_bias.documents.document import Document, PageSection, model_provenance, notices_section
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import Openable, open_embedding
from bayes_bias.errors import EmbeddingError, TableError
from bayes_bias.files import slug
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import (
    WORD,
    Column,
    Layout,
    Tabled,
    in_words,
    mean_of_interval,
    percent,
    plain,
    plural,
    value_and_interval,
    with_unit,
)
from bayes_bias.measures.measure_table import measure_all
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.posterior.planning import part_named, variance_shares
from bayes_bias.posterior.summary import row_of, summarize
from bayes_bias.progress import step
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_columns, interval_of, with_interval
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope
from bayes_bias.table.statistics import table_means
from bayes_bias.words.wordlist import ListLike

# The name of each method in the tables, its registered measure, and the number to use. All numbers are zero without
# bias, except SD-WEAT, whose expected value is unknown.
_METHODS = (
    ("WEAT d", "WEAT", attrgetter("effect_size")),
    ("WEAT difference", "WEAT", attrgetter("difference")),
    ("SD-WEAT", "SD-WEAT", attrgetter("value")),
    ("SAME", "SAME", attrgetter("value")),
    ("quasi-F t", "quasi-F", attrgetter("statistic")),
)
# The estimands that describe the variation between training runs.
OF_TRAININGS = ("replicate_sd", "same_sign", "reliability")


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Tabled):
    """The variation of a bias across training runs, by method and as variance components.

    Attributes
    ----------
    name, title : str
        The name of the list, and its title in headings.
    replicate_kind : str
        The kind of training run, such as "seed" or "corpus".
    measures : pandas.DataFrame
        A row for each training run and a column for each method: ``WEAT d``, ``WEAT difference``, ``SD-WEAT``,
        ``SAME``, ``quasi-F t``, ``raw bias``, ``posterior bias``.
    left_out : mapping of str to str
        Methods that cannot be applied to the list or the embedding, each with the reason.
    summary : pandas.DataFrame
        The summary of the fit to all training runs together, from `bayes_bias.summarize`.
    shares : pandas.DataFrame
        Shares of the variance of a single value and of the measured bias. See
        `bayes_bias.posterior.planning.variance_shares`.
    fit : xarray.DataTree
        The fit of the crossed model to all training runs together.
    scope : str
    ci_prob : float
    unit : str
        The noun for the units of the list, such as "word" or "image".
    """

    name: str
    title: str
    replicate_kind: str
    measures: pd.DataFrame
    left_out: Mapping[str, str]
    summary: pd.DataFrame
    shares: pd.DataFrame
    fit: xr.DataTree
    scope: ScopeName
    ci_prob: float
    unit: str = WORD

    def document(self) -> Document:
        """Return the page of the training runs and its files, which `bayes_bias.write` writes into a folder."""
        return stability_document(self)

    @property
    def spec(self) -> ModelSpec:
        """The spec of the model."""
        return Fitted.of(self.fit).spec

    @property
    def relative(self) -> pd.DataFrame:
        """`measures` divided by the average absolute value of each method, so that methods have comparable units.

        The sign is reversed if the mean of the method is negative. If all values of a method are 1, it does not depend
        on the training run. Negative values contradict the mean.
        """
        values = self.measures
        return values * np.sign(values.mean()) / values.abs().mean()

    @property
    def spread(self) -> pd.DataFrame:
        """The ``mean``, the ``sd``, and the ``relative_sd`` of each method over training runs.

        The ``relative_sd`` is the standard deviation of `relative`, which allows comparing methods with different
        units.
        """
        values = self.measures
        return pd.DataFrame({"mean": values.mean(), "sd": values.std(ddof=1), "relative_sd": self.relative.std(ddof=1)})

    @property
    def components(self) -> pd.DataFrame:
        """Rows of the summary on training runs: ``replicate_sd``, ``same_sign``, and ``reliability``."""
        columns = ["mean", *interval_columns(self.summary), "observed"]
        return self.summary.loc[list(OF_TRAININGS), columns]

    @property
    def layout(self) -> Layout:
        """Show the variation of each method over training runs."""
        spread = self.spread.rename_axis("method").rename(columns={"relative_sd": "relative sd"})
        return Layout.of(spread, plain, f"Over {plural(self.replicate_kind)}")

    @property
    def shares_layout(self) -> Layout:
        """Show the shares of words, training runs, and residuals in the variance of a single value and of the bias."""
        kinds = plural(self.replicate_kind)
        names = {"value": "of a single value", "bias": f"of the bias in {len(self.measures)} {kinds}"}
        return Layout(
            [part_named(str(part), self.replicate_kind) for part in self.shares.columns],
            [Column(names[str(name)], row, percent) for name, row in self.shares.iterrows()],
            heading="part",
            caption="Sources of variance",
        )

    @property
    def text(self) -> str:
        """The result in sentences: the bias, its reliability, and the methods that vary most and least.

        Reliability is the share of variance that is due to the choice of words. The summary has it for one training run
        and for the average of all training runs.
        """
        finding = self._finding()
        kinds = plural(self.replicate_kind)
        if finding.no_verdict:
            return finding.sentence("stability")
        spread = self.spread.relative_sd.dropna()
        rows = self.summary.loc["reliability"]
        one, average = (value_and_interval(row["mean"], *interval_of(row), 2, sign="") for _, row in rows.iterrows())
        return (
            f"{finding.sentence('stability')} With one {self.replicate_kind}, the reliability of the bias is {one},"
            f" and with the average of all {in_words(len(self.measures))} it is {average}. Reliability is the share of"
            f" variance that is due to the choice of {plural(self.unit)} rather than {kinds}. Relative to its average"
            f" size, {spread.idxmax()} varies most between {kinds} (sd {plain(spread.max(), 2)}) and {spread.idxmin()}"
            f" least ({plain(spread.min(), 2)}). SAME and SD-WEAT have no sign that could change."
        )

    def _finding(self) -> Finding:
        """Return the bias and its variation between training runs for the first sentence of the page.

        The variation is the standard deviation of the bias between replicates, which are training runs. A finding is
        clear if the interval of the bias excludes zero, and `words` are the other words of the sentence.
        """
        fitted = Fitted.of(self.fit)
        decimals = fitted.metric.decimals
        problems = Diagnostics.of(fitted).problems
        bias = row_of(self.summary, "bias")
        sd = row_of(self.summary, "replicate_sd")
        lower, upper = interval_of(bias)
        return Finding(
            title=called(self.title),
            value=float(bias["mean"]),
            size=with_interval(sd, self.ci_prob, decimals + 1, sign=""),
            clear=not lower <= 0 <= upper,
            no_verdict=f"the fit has not converged: {'; '.join(problems)}" if problems else "",
            words={
                "bias": mean_of_interval(bias["mean"], lower, upper, decimals),
                "number": in_words(len(self.measures)),
                "kinds": plural(self.replicate_kind),
            },
        )


def stability(
    wordlist: ListLike | AssociationTable,
    embeddings: Sequence[Openable] | Embedding | str | Path = (),
    *,
    model: str | Path | ModelSpec = "crossed",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> Stability:
    """Estimate the variation of a bias between training runs, such as different seeds or corpora.

    Published measures are computed separately in each training run, and their standard deviations over training runs
    are compared [1]_ [2]_. The model is fitted to all training runs together, and estimates the variation of the bias
    itself. Measured biases vary more than the bias itself, because words add noise.

    Parameters
    ----------
    wordlist : WordList, str, Path or AssociationTable
        A list, which is measured with the built-in control classes, or a table with replicates, which requires no
        embeddings: ``stability(cosines("weat7", open_embedding(files, kind="corpus"), ()))`` (see `similarities`).
    embeddings : sequence of anything that `open_embedding` opens, or one embedding with replicates
        Two or more training runs with the same dimensions and different names. A useful estimate of the variation
        requires five or more training runs. If you pass a sequence, the training runs are called seeds.
    model
        See `fit`.
    scope : str
        The words and training runs that the bias generalises to.
    ci_prob : float
        Probability of the intervals.
    seed, sampling
        See `fit`.

    Returns
    -------
    Stability
        ``measures`` in each training run, their ``spread``, and the posterior ``components`` and ``shares`` of
        variance. Use `bayes_bias.write` to create a folder, and `bayes_bias.plots.plot_stability` to plot the measures.

    Raises
    ------
    EmbeddingError
        If there are fewer than two training runs, or if they have the same name or different dimensions.
    TableError
        If a table has no replicates.
    WordListError, CoverageError, ScopeError
        See `cosines` and `fit`.

    Notes
    -----
    The posterior bias from a single training run is centred at its raw bias. The joint posterior of all training runs
    shrinks the bias of each run towards the mean, especially if the runs differ little. Therefore, ``posterior bias``
    varies less than ``raw bias``.

    References
    ----------
    .. [1] Gray, M., Milanova, M., & Wu, L. (2024). Enhancing bias assessment for complex term groups in language
       embedding models: Quantitative comparison of methods. JMIR Medical Informatics, 12, e60272, figure 4.
       https://doi.org/10.2196/60272
    .. [2] Borah, A., Barman, M. P., & Awekar, A. (2021). Are word embedding methods stable and should we care about
       it? https://doi.org/10.48550/arXiv.2104.08433

    Examples
    --------
    >>> stability("weat7", [f"word2vec-seed-{n}.txt" for n in range(5)]).spread           # doctest: +SKIP
    """
    spec = generalising_spec(model, "stability")
    sampling_scope(scope)  # raises an error for the scope without uncertainty
    check_ci_prob(ci_prob)
    table = _table_with_replicates(wordlist, embeddings)
    check_design(table_means(table), scope)
    measures, left_out = _measures_of_trainings(table, seed)
    fitted = fit_table(table, spec, seed=seed, sampling=sampling)
    summary = summarize(fitted, scope, ci_prob=ci_prob)
    measures["raw bias"] = summary.loc["replicate_bias"].observed.to_numpy()
    measures["posterior bias"] = summary.loc["replicate_bias"]["mean"].to_numpy()
    return Stability(
        name=table.name,
        title=table.title,
        replicate_kind=str(measures.index.name),
        measures=measures,
        left_out=left_out,
        summary=summary,
        shares=variance_shares(fitted),
        fit=fitted.tree,
        scope=scope,
        ci_prob=ci_prob,
        unit=table.unit,
    )


def _table_with_replicates(wordlist: ListLike | AssociationTable, embeddings: Any) -> AssociationTable:
    """Return a table with replicates, which are training runs. The user passed it, or it is measured in the embeddings.

    A single training run is an error, because it cannot show how training runs differ.
    """
    if isinstance(wordlist, AssociationTable):
        check_alone(wordlist.name, embeddings, ())
        if wordlist.replicates is None:
            raise TableError(
                f"'{wordlist.name}' was measured in a single training run, which cannot show how training runs differ."
                " Measure it in two or more: cosines(..., open_embedding([first, second], kind='seed'))."
            )
        return wordlist
    embedding = open_embedding(embeddings, kind="seed" if isinstance(embeddings, list | tuple) else None)
    if not embedding.replicates:
        raise EmbeddingError(
            f"`embeddings` contains a single training run, '{embedding.name}', which cannot show how"
            " training runs differ. Pass at least two."
        )
    step("measuring similarities")
    return cosines(wordlist, embedding)


def _measures_of_trainings(table: AssociationTable, seed: int) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return the published measures in each training run, and the reasons why other measures are omitted.

    Each entry of _METHODS is the name of a method, the measure to which it belongs, and a function that takes the
    number from its result. The table has a row for each training run and a column for each method.
    """
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for label, single in table.singles().items():
        step(f"{label}: published measures")
        measured = measure_all(single, seed=seed)
        rows[label] = {}
        for method, measure, number_of in _METHODS:
            if measure in measured.results:
                rows[label][method] = number_of(measured.results[measure])
            if measure in measured.left_out:
                left_out[measure] = with_unit(measured.left_out[measure], table.unit)
    kind = table.replicates.kind if table.replicates else None
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(kind), MappingProxyType(left_out)


def stability_document(stability: Stability) -> Document:
    """Return the document on the stability of a bias, from which its page, figure, and CSV files are written.

    The page has three sections, whose templates receive the `facts`. Figures are functions that draw them, `tables`
    become CSV files, and `provenance` becomes a JSON file.
    """
    fitted = Fitted.of(stability.fit)
    kinds = plural(stability.replicate_kind)
    left_out = [f"omitted: {reason}" for reason in stability.left_out.values()]
    return Document(
        title=f"Stability: {stability.name}",
        heading=f"Does the bias of {stability.title} depend on the {stability.replicate_kind}?",
        opening={"answer": stability.text},
        sections=(
            PageSection("methods-compared", f"Each method over {kinds}", "stability-methods.html"),
            PageSection("shares", "Sources of variance", "stability-shares.html"),
            notices_section("Notes on the words", left_out),
        ),
        facts={"stability": stability},
        figures={"stability": partial(plots.plot_stability, stability)},
        tables={
            "measures": stability.measures,
            "spread": stability.spread.rename_axis("method"),
            "shares": stability.shares.rename_axis("of"),
            "summary": stability.summary,
        },
        texts={"stability.txt": "\n".join([stability.text, *left_out, ""])},
        fits={slug(stability.name): fitted},
        provenance=model_provenance(stability, fitted)
        | {kinds: list(stability.measures.index), "fit": fitted.provenance},
        unit=stability.unit,
    )
