"""`bayes-bias calibrate`: how often would this design find a bias where none is?."""

from math import isnan
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.associations.lists import measure_lists
from bayes_bias.checks.calibration import Calibration
from bayes_bias.checks.null_lists import Random
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame, write_csv
from bayes_bias.cli.options import MODEL, JobsOption, OverwriteOption, SchedulerOption, SeedOption, with_options
from bayes_bias.cli.table_source import WordListArgument, WordListSource
from bayes_bias.files import check_output
from bayes_bias.formatting import DASH, count, plain, share, share_within
from bayes_bias.jobs import connected
from bayes_bias.table.columns import interval_of


@app.command()
@with_options
def calibrate(
    wordlist: WordListArgument,
    inputs: WordListSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file for the records of all draws.")] = None,
    overwrite: OverwriteOption = False,
    folder: Annotated[Path | None, typer.Option(help="Keep records here: a run that was stopped goes on.")] = None,
    draws: Annotated[int, typer.Option(min=1, help="Random draws.")] = 100,
    random: Annotated[str, typer.Option(help="Which words are drawn: attributes, targets, or both.")] = "attributes",
    size: Annotated[
        int | None,
        typer.Option(min=2, help="Random words in each class, or group; as many as the list has by default."),
    ] = None,
    planted: Annotated[
        float, typer.Option(min=0, max=0.5, help="Plant a bias of this size: how often is it found?")
    ] = 0.0,
    model: Annotated[
        list[str] | None, typer.Option(help="Shipped model or TOML file; may be repeated.", rich_help_panel=MODEL)
    ] = None,
    seed: SeedOption = 1,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """How often would this design find a bias where none is? Words are drawn at random.

    Example: bayes-bias calibrate weat7 --draws 200
    """
    if out_file is not None:
        check_output(out_file, overwrite, "--out")
    with progress_bar() as progress, connected(scheduler) as client:
        made = bb.calibrate(
            measure_lists(inputs.words(wordlist), inputs.opened([wordlist], progress), **inputs.settings)[0],
            draws=draws,
            random=cast(Random, random),
            size=size,
            planted=planted,
            models=model or ["crossed"],
            seed=seed,
            folder=folder,
            jobs=jobs if client is None else client,
        )
    print_frame(_rates(made), title=f"Findings at the 5% level, true bias {made.truth:g}")
    say(made.text)
    if out_file is not None:
        write_csv(made.records, out_file, overwrite)
        say(f"The records of all draws are in {out_file}")


def _rates(made: Calibration) -> pd.DataFrame:
    rows = made.table
    return pd.DataFrame(
        {
            "draws": rows.draws.map(count),
            "found": list(map(share_within, rows["share"], *interval_of(rows, "share"))),
            "width": rows.width.map(plain),
            "hold the truth": [DASH if isnan(covered) else share(covered) for covered in rows.coverage_95],
        },
        index=rows.index,
    )
