"""`bayes-bias ground-truth`: what do measures say where the bias is known?"""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import complain, progress_bar, say
from bayes_bias.cli.options import FIGURES, FiguresOption, SchedulerOption, formats_of
from bayes_bias.files import check_home
from bayes_bias.reports import check_folder
from bayes_bias.tasks import connected
from bayes_bias.worlds.world import load_world

PAGE = "page"


@app.command()
def ground_truth(
    world: Annotated[str, typer.Argument(metavar="WORLD", help="Name of a shipped world or a TOML file.")],
    out_folder: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for models, answers and page; a run that was stopped goes on."
        ),
    ],
    figures: FiguresOption = FIGURES,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """Worlds whose bias is known: corpora, models, and what every measure makes of them.

    Example: bayes-bias ground-truth sentences --out sentences
    """
    formats = formats_of(figures)
    read = load_world(world)
    check_home(out_folder, "out")
    check_folder(out_folder / PAGE, overwrite=True)
    say(read.text)
    with progress_bar() as progress, connected(scheduler) as client:
        found = bb.ground_truth(read, out_folder, jobs=jobs, client=client, progress=progress)
        progress.step("questions, figures and page")
        page = bb.write(found, out_folder / PAGE, overwrite=True, figures=formats)
    for name, why in found.failed.items():
        complain(f"{name}: {why}")
    say(f"\n{found.text}\nThe page is {page}")
    if found.failed:
        raise typer.Exit(1)
