"""`write`: a result as pages, tables and figures in a folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayes_bias.arguments import check_path, described
from bayes_bias.checks.stability import Stability
from bayes_bias.criterion_validity.criterion_results import CriterionValidity
from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.errors import OutputError
from bayes_bias.files import WRITTEN, check_formats
from bayes_bias.reports.comparison_document import comparison_document
from bayes_bias.reports.criterion_document import criterion_document
from bayes_bias.reports.document import Document, Documented
from bayes_bias.reports.document_writer import write_document
from bayes_bias.reports.report_document import report_document
from bayes_bias.reports.report_folder import check_folder
from bayes_bias.reports.report_record import Report
from bayes_bias.reports.sentence_pairs_document import sentence_pairs_document
from bayes_bias.reports.stability_document import stability_document
from bayes_bias.reports.sweep_document import sweep_document
from bayes_bias.reports.tpr_gaps_document import tpr_gaps_document
from bayes_bias.sentence_pairs.pair_results import SentencePairs, SentencePairsChange
from bayes_bias.sweeps.sweep_results import Sweep
from bayes_bias.tpr_gaps.gap_results import TprGaps

# A kind of result, and how it becomes a document.
_DOCUMENTS: Mapping[type, Callable[[Any], Document]] = {
    Report: report_document,
    Comparison: comparison_document,
    Stability: stability_document,
    TprGaps: tpr_gaps_document,
    CriterionValidity: criterion_document,
    SentencePairs: sentence_pairs_document,
    SentencePairsChange: sentence_pairs_document,
    Sweep: sweep_document,
}

type Result = (
    Report
    | Comparison
    | Stability
    | TprGaps
    | CriterionValidity
    | SentencePairs
    | SentencePairsChange
    | Sweep
    | Documented
)


def write(result: Result, out: str | Path, *, overwrite: bool = False, figures: Sequence[str] = WRITTEN) -> Path:
    """Write a report, a comparison, a sweep or another result into a folder, whole or not at all.

    Every folder has the page ``index.html``, ``figures/``, CSV files, and ``provenance.json`` with a hash of every
    file. All but those of stability have the methods text (``methods.txt``, ``methods.tex``,
    ``references.bib``).

    Parameters
    ----------
    result : Report, Comparison, Stability, SentencePairs, TprGaps, CriterionValidity, Sweep or a change
        From `bayes_bias.report`, `bayes_bias.compare`, `bayes_bias.stability`, `bayes_bias.sentence_pairs.estimate`,
        `bayes_bias.tpr_gaps.estimate`, `bayes_bias.criterion` or `bayes_bias.sweep`; or any other result with a method
        ``document()``.
    out : str or Path
        The folder, which is made if need be; empty, or not yet there.
    overwrite : bool
        Replace the files of an earlier report in it. Any other file stays.
    figures : sequence of {"png", "pdf", "svg"}
        The formats of the files in ``figures/``; ``()`` for none. The page has its figures inside. A PDF, which LaTeX
        takes, needs half a second of each figure.

    Returns
    -------
    pathlib.Path
        The page. Beside it are:

        - of a report ``summary.csv``, ``weat.csv``, ``measures.csv``, ``evidence.csv``, ``left-out.csv``,
          ``coverage.csv``, ``tables.tex`` and ``posterior-<list>.nc``;
        - of a comparison ``change.csv`` (the change of every estimand and word), ``before-and-after.csv``,
          ``controls.csv``, ``tables.tex``, ``posterior-change.nc``, and ``posterior-before.nc`` and
          ``posterior-after.nc`` of the sides that were sampled;
        - of stability ``stability.txt``, ``measures.csv``, ``spread.csv``, ``shares.csv``, ``summary.csv`` and the
          posterior;
        - of sentence pairs ``summary.csv``, ``published.csv``, ``plan.csv`` and ``checks.csv`` (of a change
          ``before-and-after.csv`` instead), ``tables.tex`` and the posteriors;
        - of gaps ``gaps.csv``, ``aggregate.csv``, ``variances.csv``, ``counts.csv`` and ``posterior.nc``;
        - of criterion validity ``summary.csv``, ``labels.csv`` and the posteriors;
        - of a sweep ``cells.csv`` and ``cells.parquet`` (a row for each cell), ``atlas.nc`` (the same and the pooled
          model, embeddings x lists), ``embeddings.csv`` and ``lists.csv`` (rankings), ``more-biased.csv``,
          ``effects.csv``, ``posteriors.csv``, ``screening.csv``, ``measures.csv``, ``coverage.csv``, ``failures.csv``
          and ``tables.tex``.

        In CSV files a text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a return has a single quote before
        it, so that no spreadsheet reads it as a formula.

    Raises
    ------
    OutputError
        There are no pages of such a thing, figures are not written in such a format, the folder cannot be written,
        or it holds files and is not to be overwritten. Then nothing in it has changed.

    Examples
    --------
    >>> write(report(["weat6", "weat7"]), "report")                               # doctest: +SKIP
    """
    own = getattr(type(result), "document", None)  # of a result that is not of this package
    document = next((make for kind, make in _DOCUMENTS.items() if isinstance(result, kind)), own)
    if document is None:
        raise OutputError(
            f"result: there are no pages of {described(result)}; give what `report`, `compare`, `stability`,"
            " `sentence_pairs.estimate`, `tpr_gaps.estimate`, `criterion` or `sweep` returned"
        )
    check_formats(figures)
    folder = check_path("out", out, OutputError)
    check_folder(folder, overwrite)
    return write_document(document(result), folder, overwrite, figures)
