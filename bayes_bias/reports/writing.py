"""`write`: what was found, as pages, tables and figures in a folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayes_bias.arguments import check_path, described
from bayes_bias.checks.stability import Stability
from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.errors import OutputError
from bayes_bias.files import WRITTEN, check_formats
from bayes_bias.gaps.result import Gaps
from bayes_bias.reports import before_after, folder
from bayes_bias.reports.of_gaps import write_gaps
from bayes_bias.reports.of_ground_truth import write_ground_truth
from bayes_bias.reports.of_pairs import write_pairs
from bayes_bias.reports.of_stability import write_stability
from bayes_bias.reports.of_sweep import write_sweep
from bayes_bias.reports.record import Report
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sweeps import Sweep
from bayes_bias.worlds.found import GroundTruth

# Each renders its own kind: what was found, the folder, whether to overwrite, formats of figures.
_WRITERS: Mapping[type, Callable[[Any, Path, bool, Sequence[str]], Path]] = {
    Report: folder.write_report,
    Comparison: before_after.write_comparison,
    Stability: write_stability,
    Gaps: write_gaps,
    Pairs: write_pairs,
    PairsChange: write_pairs,
    GroundTruth: write_ground_truth,
    Sweep: write_sweep,
}


def write(
    found: Report | Comparison | Stability | Gaps | Pairs | PairsChange | GroundTruth | Sweep,
    out: str | Path,
    *,
    overwrite: bool = False,
    figures: Sequence[str] = WRITTEN,
) -> Path:
    """Render what was found (a report, a comparison, pairs, ...) into a folder, whole or not at all.

    The folder is made if need be.

    Parameters
    ----------
    found : Report, Comparison, Stability, Pairs, PairsChange, Gaps, GroundTruth or Sweep
        From `bayes_bias.report`, `bayes_bias.compare`, `bayes_bias.stability`, `bayes_bias.pairs`,
        `bayes_bias.tpr_gaps`, `bayes_bias.ground_truth` or `bayes_bias.sweep`.
    out : str or Path
        The folder; empty, or not yet there.
    overwrite : bool
        Replace the files of an earlier report in it; any other file stays.
    figures : sequence of {"png", "pdf", "svg"}
        The formats of the files in ``figures/``; ``()`` for none. The page has its figures inside.

    Returns
    -------
    pathlib.Path
        The page, ``index.html``. Of a report there are beside it ``summary.csv``, ``weat.csv``, ``measures.csv``,
        ``evidence.csv``, ``left-out.csv``, ``coverage.csv``, ``tables.tex``, ``methods.txt``, ``methods.tex``,
        ``references.bib``, ``provenance.json``, ``figures/`` and ``posterior-<list>.nc``. Of a comparison
        the same without the CSV files, which are ``change.csv`` (the change of every estimand and word),
        ``before-and-after.csv`` and ``controls.csv``; posteriors are ``posterior-change.nc``, and
        ``posterior-before.nc`` and ``posterior-after.nc`` of the sides that were sampled. Of stability there is no
        page but ``stability.txt``, ``measures.csv``, ``spread.csv``, ``shares.csv``, ``summary.csv``, ``figures/``,
        ``provenance.json`` and the posterior. Of sentence pairs ``index.html``, ``summary.csv``, ``published.csv``,
        ``plan.csv`` and ``checks.csv`` (of a change ``before-and-after.csv`` instead), ``tables.tex``, the methods
        text, ``figures/``, ``provenance.json`` and the posteriors. Of gaps the page,
        ``gaps.csv``, ``aggregate.csv``, ``variances.csv``, ``counts.csv``, the methods text, ``figures/``,
        ``provenance.json`` and ``posterior.nc``. Of a ground truth the page, a CSV file for each question, all
        answers in ``truths.csv.gz``, ``words.csv.gz`` and ``models.csv.gz``, ``figures/`` and ``provenance.json``.
        Of a sweep the atlas, ``cells.csv`` and ``cells.parquet`` (a row for
        each cell), ``atlas.nc`` (the same and the pooled model, embeddings x lists), ``embeddings.csv`` and
        ``lists.csv`` (rankings), ``more-biased.csv``, ``effects.csv``, ``posteriors.csv``, ``screening.csv``,
        ``measures.csv``, ``coverage.csv``, ``failures.csv``, ``tables.tex``, the methods text, ``figures/`` and
        ``provenance.json``.
        In CSV files a text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a return has a single quote before
        it, so that no spreadsheet takes it for a formula.

    Raises
    ------
    OutputError
        There are no pages of such a thing, figures are not written in such a format, the folder cannot be written,
        or it holds files and is not to be overwritten; then nothing of it has changed.

    Examples
    --------
    >>> write(report(["weat6", "weat7"]), "report")                               # doctest: +SKIP
    """
    writer = next((each for kind, each in _WRITERS.items() if isinstance(found, kind)), None)
    if writer is None:
        raise OutputError(
            f"found: there are no pages of {described(found)}; give what `report`,"
            " `compare`, `stability`, `pairs`, `tpr_gaps`, `ground_truth` or `sweep` returned"
        )
    check_formats(figures)
    return writer(found, check_path("out", out, OutputError), overwrite, figures)
