"""`bayes-bias models`: which models are shipped."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import check_output, copy_shipped
from bayes_bias.models.model_spec import load_spec, spec_names


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Show one model.")] = None,
    copy: Annotated[Path | None, typer.Option(help="Write the model's TOML here, to be edited.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what --copy names already.")] = False,
) -> None:
    """The shipped models, or one of them with its priors; a copy of one to change the priors in.

    Example: bayes-bias models crossed --copy my-model.toml
    """
    if copy is not None:
        check_output(copy, overwrite, "--copy")
        if name is None:
            raise BayesBiasError(f"--copy: needs the name of a model, such as `models crossed --copy {copy}`")
    if name is None:
        print_frame(pd.DataFrame([{"model": n, "title": load_spec(n).title} for n in spec_names()]))
        return
    spec = load_spec(name)
    say(f"{spec.title}\n{spec.description}\n")
    print_frame(pd.DataFrame([{"parameter": p, "prior": str(prior)} for p, prior in spec.priors.items()]))
    if copy is not None:
        copy_shipped("models", name, copy, overwrite)
        say(f"Copied to {copy}; use it with --model {copy}")
