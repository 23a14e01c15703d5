"""The command `sweep`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_layout, progress_bar, say
from bayes_bias.cli.main import app
from bayes_bias.cli.options import FIGURES, FiguresOption, JobsOption, OverwriteOption, SchedulerOption, formats_of
from bayes_bias.cli.table_source import TrustOption
from bayes_bias.documents.folder import check_folder
from bayes_bias.progress import step


@app.command()
def sweep(
    spec_file: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            # Double brackets are avoided, because Rich interprets brackets as markup.
            help='TOML file with the lists and embeddings to measure: lists = ["weat*"] and tables "embeddings" with'
            ' files = "*.txt" (for language models encoder, masked, or causal). Optional: "versions" with name, method,'
            ' and sets, "sampling", models, measures, posteriors.',
        ),
    ],
    out_folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results and atlas. An interrupted run is resumed.")
    ],
    posteriors: Annotated[
        str | None,
        typer.Option(
            help="Cells to fit a model to: all, none, or a number, to fit cells in which the p-value of the"
            " quasi-F is below it. By default as in the file."
        ),
    ] = None,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How to replace a word that an embedding lacks: exact (not at all), case, accents, or subwords"
            " of fastText models. By default as in the file.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Language of lists that do not state one, such as en or de, because the built-in control"
            " classes are English. By default as in the file.",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    trust: TrustOption = False,
) -> None:
    """Measure every list in many embeddings, and write an atlas of them. Can be resumed.

    Example: bayes-bias sweep audit.toml --out audit
    """
    from bayes_bias.analyses.sweep.spec_file import read_sweep
    from bayes_bias.analyses.sweep.sweep import is_sweep
    from bayes_bias.jobs import connected

    formats = formats_of(figures)
    again = is_sweep(out_folder)
    check_folder(out_folder, overwrite or again)
    arguments = read_sweep(spec_file).arguments(trust)
    if posteriors is not None:
        arguments["posteriors"] = _posteriors(posteriors)
    if match is not None:
        arguments["wordlists"] = replace(arguments["wordlists"], match=match)
    if language is not None:
        arguments["wordlists"] = replace(arguments["wordlists"], language=language)
    with progress_bar(), connected(scheduler) as client:
        result = bb.sweep(**arguments, folder=out_folder, jobs=jobs if client is None else client)
        step("writing the atlas")
        page = bb.write(result, out_folder, overwrite=True, figures=formats)
    show_sweep(result)
    say(f"\nThe atlas is {page}")


def _posteriors(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def show_sweep(result: "bb.Sweep") -> None:
    """Print the pooled biases, the changes, and the ranking of versions, if available."""
    from bayes_bias.analyses.sweep.results import changes_layout, ranking_layout

    if result.pooled is not None:
        print_layout(ranking_layout(result, "embedding"))
        for notice in result.pooled.notices:
            say(f"note: {notice}")
    if len(result.changes):
        print_layout(changes_layout(result, result.changes))
    if result.ranking is not None:
        print_layout(result.ranking.layout)
    say(result.text)
    for series in result.series.values():
        say(series.text)
    if result.ranking is not None:
        say(result.ranking.text)
    for row in result.failures.itertuples():
        say(f"failed: {row.embedding}, {row.list}: {row.reason}")
