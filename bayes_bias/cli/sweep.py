"""`bayes-bias sweep`: every list in every embedding."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    FIGURES,
    FiguresOption,
    OverwriteOption,
    SchedulerOption,
    TrustOption,
    formats_of,
)
from bayes_bias.formatting import bounds, level, signed
from bayes_bias.plots.ranking import rank_interval
from bayes_bias.reports import check_folder
from bayes_bias.sweeps import Sweep
from bayes_bias.sweeps.spec import read_sweep
from bayes_bias.sweeps.sweeping import is_sweep
from bayes_bias.tasks import connected


@app.command()
def sweep(
    spec_file: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            # Rich takes brackets for its own.
            help='What to measure: lists = ["weat*"], tables "embeddings" with files = "*.txt" (or encoder, or masked,'
            ' of language models), and perhaps "debiasing" with name and sets, "sampling", models, measures,'
            " posteriors.",
        ),
    ],
    out_folder: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for results and atlas; one that was begun is gone on with."),
    ],
    posteriors: Annotated[
        str | None,
        typer.Option(
            help="Which cells a model is fitted to: all, none, or the p-value of the quasi-F below which; as the file"
            " has it by default."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = -1,
    scheduler: SchedulerOption = None,
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
    with progress_bar() as progress, connected(scheduler) as client:
        found = bb.sweep(**arguments, folder=out_folder, jobs=jobs, client=client, progress=progress)
        progress.step("writing the atlas")
        page = bb.write(found, out_folder, overwrite=True, figures=formats)
    _show(found)
    say(f"\nThe atlas is {page}")


def _posteriors(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _show(found: Sweep) -> None:
    if found.pooled is not None:
        rows, decimals = (
            found.pooled.embeddings.sort_values("mean", ascending=False),
            found.association.decimals,
        )
        shown = pd.DataFrame(
            {
                "mean bias": [signed(each, decimals) for each in rows["mean"]],
                f"{level(found.asked.ci_prob)} interval": [
                    bounds(*ends, decimals) for ends in zip(rows.lower, rows.upper, strict=True)
                ],
                "rank": [rank_interval(*ends) for ends in zip(rows.rank_lower, rows.rank_upper, strict=True)],
            },
            index=rows.index.rename(found.noun),
        )
        print_frame(shown, title="Over these lists, in the light of all cells")
    say(found.text)
    for row in found.failures.itertuples():
        say(f"failed: {row.embedding}, {row.list}: {row.reason}")
