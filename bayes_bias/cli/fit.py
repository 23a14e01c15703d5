"""`bayes-bias fit`: one fit, kept."""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.options import ContrastOption, Inference, OverwriteOption, with_options
from bayes_bias.cli.summarize import print_answers
from bayes_bias.cli.table_source import Covariates, ListArgument, TableSource
from bayes_bias.files import check_output
from bayes_bias.posterior.contrast_weights import weights_of_formulas
from bayes_bias.table.scopes import check_design
from bayes_bias.table.statistics import table_means


@app.command()
@with_options
def fit(
    source: ListArgument,
    inputs: TableSource,
    given: Covariates,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="netCDF file for the fit.")] = None,
    overwrite: OverwriteOption = False,
    contrast: ContrastOption = None,
    *,
    inference: Inference,
) -> None:
    """Fit a model to one list, print the main estimands, and keep the posterior.

    Example: bayes-bias fit weat7 --out weat7.nc
    """
    if out_file is not None:
        check_output(out_file, overwrite, "--out")
    with progress_bar() as progress:
        progress.step(f"{source}: measuring")
        table = inputs.table(source, progress, covariates=given.sources)
        means = table_means(table)
        check_design(means, inference.scope)
        if contrast:
            weights_of_formulas(means, contrast)
        posterior = bb.fit(table, **inference.fitting)
        if out_file is not None:
            bb.save_fit(posterior, out_file, overwrite=overwrite)
    print_answers(posterior, contrast or [], **inference.reading)
    if out_file is not None:
        say(f"The fit is in {out_file}")
