"""`bayes-bias known-bias`: what do measures say where the bias is known?"""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import complain, progress_bar, say
from bayes_bias.cli.options import FIGURES, FiguresOption, JobsOption, SchedulerOption, formats_of
from bayes_bias.files import check_home
from bayes_bias.reports.report_folder import check_folder
from bayes_bias.sweeps.dask_cluster import connected

PAGE = "page"


@app.command()
def known_bias(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Name of a shipped scenario or a TOML file.")],
    out_folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for models, answers and page; a run that was stopped goes on.")
    ],
    figures: FiguresOption = FIGURES,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """Corpora whose bias is known, models trained on them, and what every measure says about them.

    Workers of a Dask scheduler need access to the folder.

    Example: bayes-bias known-bias sentences --out sentences
    """
    formats = formats_of(figures)
    chosen = bb.known_bias.load_scenario(scenario)
    check_home(out_folder, "out")
    check_folder(out_folder / PAGE, overwrite=True)
    say(chosen.text)
    with progress_bar() as progress, connected(scheduler) as client:
        results = bb.known_bias.run(chosen, out_folder, jobs=jobs, client=client, progress=progress)
        progress.step("questions, figures and page")
        page = bb.write(results, out_folder / PAGE, overwrite=True, figures=formats)
    for name, why in results.failed.items():
        complain(f"{name}: {why}")
    say(f"\n{results.text}\nThe page is {page}")
    if results.failed:
        raise typer.Exit(1)
