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
from bayes_bias.models.spec import ModelSpec, load_spec, spec_names


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Show one model.")] = None,
    copy: Annotated[Path | None, typer.Option(help="Write the model's TOML here, to be edited.")] = None,
    graph: Annotated[
        Path | None,
        typer.Option(help="Write the model's graph here: .mmd (Mermaid) or .dot; .svg, .png, .pdf by Graphviz."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what --copy or --graph names already.")
    ] = False,
) -> None:
    """The shipped models, or one of them with its priors; a copy of one to edit; its graph.

    Example: bayes-bias models crossed --copy my-model.toml
    """
    if graph is not None:
        check_output(graph, overwrite, "--graph")
        if name is None:
            raise BayesBiasError(f"--graph: needs the name of a model, such as `models crossed --graph {graph}`")
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
    if graph is not None:
        _write_graph(spec, graph, overwrite)


def _write_graph(spec: ModelSpec, graph: Path, overwrite: bool) -> None:
    """Of a shipped list, since plates need words."""
    from bayes_bias.associations.cosines import cosines  # the list of models needs no PyMC
    from bayes_bias.models.pymc_model import pymc_model, write_graph

    table = cosines("googlenews-demo", "weat7", controls=())
    say(f"Graph of '{spec.name}' for weat7 in {write_graph(pymc_model(table, spec), graph, overwrite=overwrite)}")
