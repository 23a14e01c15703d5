"""Many embeddings: every list in every embedding."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.analyses.sweep.ranking import VersionRanking
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.analyses.sweep.sweep import is_sweep
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import estimates, print_frame
from bayes_bias.cli.main import app
from bayes_bias.cli.options import FIGURES, FiguresOption, JobsOption, OverwriteOption, SchedulerOption, formats_of
from bayes_bias.cli.table_source import TrustOption
from bayes_bias.documents.folder import check_folder
from bayes_bias.formatting import percent, probability, rank_interval, share_bounds
from bayes_bias.jobs import connected
from bayes_bias.progress import step
from bayes_bias.table.columns import interval_of


@app.command()
def sweep(
    spec_file: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            # Rich takes brackets for its own.
            help='What to measure: lists = ["weat*"], tables "embeddings" with files = "*.txt" (or encoder, or masked,'
            ' of language models), and perhaps "versions" with name, method and sets, "sampling", models, measures,'
            " posteriors.",
        ),
    ],
    out_folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results and atlas; a run that was interrupted is resumed.")
    ],
    posteriors: Annotated[
        str | None,
        typer.Option(
            help="Which cells a model is fitted to: all, none, or those in which the quasi-F's p is below this number;"
            " as the file has it by default."
        ),
    ] = None,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="What may replace a word that an embedding lacks: exact (nothing), case, accents, or subwords of"
            " fastText models; as the file has it by default.",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    trust: TrustOption = False,
) -> None:
    """Many embeddings at once: every list in every embedding, resumable, and an atlas of all of them.

    Example: bayes-bias sweep audit.toml --out audit
    """
    formats = formats_of(figures)
    again = is_sweep(out_folder)
    check_folder(out_folder, overwrite or again)
    arguments = read_sweep(spec_file).arguments(trust)
    if posteriors is not None:
        arguments["posteriors"] = _posteriors(posteriors)
    if match is not None:
        arguments["lists"] = replace(arguments["lists"], match=match)
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
    """Pooled biases, changes and the ranking of versions, as far as there are any."""
    if result.pooled is not None:
        rows = result.pooled.embeddings.sort_values("mean", ascending=False)
        means = estimates(rows, "mean bias", result.settings.ci_prob, result.metric.decimals)
        shown = pd.DataFrame(means | _ranks(rows), index=rows.index.rename(result.noun))
        print_frame(shown, title="Over these lists, using information from all cells")
        for notice in result.pooled.notices:
            say(f"note: {notice}")
    if len(result.changes):
        print_frame(_changes(result), title=f"What versions{_of_one(result)} changed, in {result.metric.unit}")
    if result.ranking is not None:
        print_frame(_removed(result.ranking), title=f"Share of the bias{_of_one(result)} removed, for new words")
    say(result.text)
    for series in result.series.values():
        say(series.text)
    if result.ranking is not None:
        say(result.ranking.text)
    for row in result.failures.itertuples():
        say(f"failed: {row.embedding}, {row.list}: {row.reason}")


def _of_one(result: "bb.Sweep") -> str:
    """The name of a single embedding or model, which then has no column of its own."""
    return f" of {result.originals[0]}" if len(result.originals) == 1 else ""


def _changes(result: "bb.Sweep") -> pd.DataFrame:
    rows = result.changes.rename(columns={"change": "mean"})
    shown = estimates(rows, "change", result.settings.ci_prob, result.metric.decimals)
    taught = {"words that taught it": rows.taught.to_list()} if rows.taught.any() else {}
    shown |= {"after Holm": rows.chance_holm.map(probability).to_list()} | taught
    index = rows.index.droplevel("embedding") if _of_one(result) else rows.index
    return pd.DataFrame(shown, index=index)


def _removed(ranking: VersionRanking) -> pd.DataFrame:
    rows = ranking.table.sort_values("rank")
    return pd.DataFrame(
        {
            "removed": rows["mean"].map(percent),
            "interval": [share_bounds(*ends) for ends in zip(*interval_of(rows), strict=True)],
            **_ranks(rows),
        }
    )


def _ranks(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The column of ranks; none for one row."""
    ends = zip(*interval_of(rows, "rank"), strict=True)
    return {"rank": [rank_interval(*each) for each in ends]} if len(rows) > 1 else {}
