"""``python -m studies.known_bias run SCENARIO --out FOLDER``: what do measures say where the bias is known?"""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli import main
from bayes_bias.cli.console import complain, progress_bar, say
from bayes_bias.cli.options import FIGURES, FiguresOption, JobsOption, SchedulerOption, formats_of
from bayes_bias.documents.folder import check_folder
from bayes_bias.files import check_home
from bayes_bias.jobs import connected
from studies.known_bias.results import KnownBias
from studies.known_bias.running import run as run_scenario
from studies.known_bias.scenario import load_scenario
from studies.known_bias.trends import KnownTrends, SlicedScenario, load_sliced, run_sliced

PAGE = "page"

app = typer.Typer(
    name="python -m studies.known_bias",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Corpora whose bias is known, models trained on them, and what every measure says about them.",
)


@app.callback()
def _common() -> None:
    """Commands have names, though there is only one."""


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Name of a shipped scenario or a TOML file.")],
    out_folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for models, answers and page; a run that was stopped goes on.")
    ],
    figures: FiguresOption = FIGURES,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """Train the models of a scenario, ask every measure, and write a page with the answers.

    Workers of a Dask scheduler need the checkout, and access to the folder.

    Example: python -m studies.known_bias run sentences --out sentences
    """
    formats = formats_of(figures)
    chosen = load_sliced(scenario) or load_scenario(scenario)
    check_home(out_folder, "out")
    check_folder(out_folder / PAGE, overwrite=True)
    say(chosen.text)
    with progress_bar() as progress, connected(scheduler) as client:
        workers = jobs if client is None else client
        results: KnownBias | KnownTrends
        if isinstance(chosen, SlicedScenario):
            results = run_sliced(chosen, out_folder, jobs=workers)
        else:
            results = run_scenario(chosen, out_folder, jobs=workers)
        progress.step("questions, figures and page")
        page = bb.write(results, out_folder / PAGE, overwrite=True, figures=formats)
    for name, why in results.failed.items():
        complain(f"{name}: {why}")
    say(f"\n{results.text}\nThe page is {page}")
    if results.failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    main(commands=app)
