"""`bayes-bias calibrate`: how often would this design find a bias where none is?."""

from math import isnan
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.checks.calibration import Calibration, Random
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    DEMO,
    MODEL,
    AllowLossOption,
    ControlsOption,
    EmbeddingOption,
    OverwriteOption,
    ReplicatesOption,
    SchedulerOption,
    SeedOption,
    SentenceModel,
    TrustOption,
    controls_of,
    embedding_of,
    takes_sentence_model,
)
from bayes_bias.files import check_output, whole_file
from bayes_bias.formatting import DASH, count, plain, share, share_within
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.tasks import connected


@app.command()
@takes_sentence_model
def calibrate(
    wordlist: Annotated[
        str, typer.Argument(metavar="LIST", help="Name of a shipped word list or a TOML file.")
    ],
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the records of all draws.")
    ] = None,
    overwrite: OverwriteOption = False,
    folder: Annotated[
        Path | None, typer.Option(help="Keep records here: a run that was stopped goes on.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Random draws.")] = 100,
    random: Annotated[
        str, typer.Option(help="Which words are drawn: attributes, targets, or both.")
    ] = "attributes",
    size: Annotated[
        int | None,
        typer.Option(min=2, help="Random words in each class, or group; as many as the list has by default."),
    ] = None,
    planted: Annotated[
        float, typer.Option(min=0, max=0.5, help="Plant a bias of this size: how often is it found?")
    ] = 0.0,
    embedding: EmbeddingOption = DEMO,
    replicates: ReplicatesOption = None,
    controls: ControlsOption = "neutral,human",
    model: Annotated[
        list[str] | None,
        typer.Option(help="Shipped model or TOML file; may be repeated.", rich_help_panel=MODEL),
    ] = None,
    seed: SeedOption = 1,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = -1,
    scheduler: SchedulerOption = None,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    reader: SentenceModel,
) -> None:
    """How often would this design find a bias where none is? Words are drawn at random.

    Example: bayes-bias calibrate weat7 --draws 200
    """
    if out_file is not None:
        check_output(out_file, overwrite, "--out")
    with progress_bar() as progress, connected(scheduler) as client:
        made = bb.calibrate(
            wordlist,
            embedding_of(embedding, replicates, trust, reader, [wordlist], controls, progress),
            draws=draws,
            random=cast(Random, random),
            size=size,
            planted=planted,
            controls=controls_of(controls),
            models=model or ["crossed"],
            seed=seed,
            allow_loss=allow_loss,
            folder=folder,
            jobs=jobs,
            client=client,
            progress=progress,
        )
    print_frame(_rates(made), title=f"Findings at the 5% level, true bias {made.truth:g}")
    say(made.text)
    if out_file is not None:
        with whole_file(out_file, overwrite) as unfinished:
            unfinished.write_text(csv_text(made.records, index=False), encoding="utf-8")
        say(f"The records of all draws are in {out_file}")


def _rates(made: Calibration) -> pd.DataFrame:
    """Shares with their Monte Carlo intervals, and what the 95% intervals are like."""
    rows = made.table
    return pd.DataFrame(
        {
            "draws": rows.draws.map(count),
            "found": list(map(share_within, rows["share"], rows.share_lb, rows.share_ub)),
            "width": rows.width.map(plain),
            "hold the truth": [DASH if isnan(each) else share(each) for each in rows.coverage_95],
        },
        index=rows.index,
    )
