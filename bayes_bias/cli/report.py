"""The main job."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_layout
from bayes_bias.cli.main import app
from bayes_bias.cli.options import MODEL, ContrastOption, Inference, ListsArgument, OutputFolder, with_options
from bayes_bias.cli.table_source import CovariatesOption, TableSource, covariates_of
from bayes_bias.progress import step


@dataclass(frozen=True, kw_only=True)
class ReportFolder(OutputFolder):
    """The same with a folder that is always written."""

    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path("report")


@app.command()
@with_options
def report(
    lists: ListsArgument,
    inputs: TableSource,
    output: ReportFolder,
    inference: Inference,
    covariates: CovariatesOption = None,
    contrast: ContrastOption = None,
    calibration_draws: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of random lists with each list's design, to count false positives (0 for none). By"
            " default 400, or 50 if each must be sampled.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    against_published: Annotated[
        bool,
        typer.Option(
            "--against-published",
            help="Also fit the published model, and compare how well both predict. This doubles the time.",
            rich_help_panel=MODEL,
        ),
    ] = False,
) -> None:
    """Write a bias report for a paper: page, tables, figures, and methods text.

    Example: bayes-bias report weat6 weat7 gender --out report
    """
    from bayes_bias.associations.lists import measure_lists

    with progress_bar():
        side_by_side = inputs.masked is not None or (inputs.replicates is None and inputs.encoder is None)
        tables = measure_lists(
            [inputs.table(name) if inputs.has_table(name) else inputs.words(name) for name in lists],
            inputs.embeddings if side_by_side else inputs.opened(lists),
            covariates=covariates_of(covariates),
            **inputs.settings,
        )
        result = bb.report(
            tables,
            **inference.fitting,
            **inference.reading,
            contrasts=contrast or (),
            calibration_draws=calibration_draws,
            against_published=against_published,
        )
        step(f"writing {output.out}")
        page = output.write(result)
    print_layout(result.layout)
    if len(result.sections) > 1:
        print_layout(result.together.layout)
        say(f"{result.together}\n")
    for section in result.sections:
        say(f"{section.name}: {section.verdict.text}")
        for answer in section.contrasts:
            say(f"{section.name}, {answer.text}")
    say(f"\nThe report is in {page}")
