"""`bayes-bias plan`: what would longer lists show, and more replicates?"""

from pathlib import Path
from typing import Annotated, cast

import typer
from matplotlib.figure import Figure

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import InferenceWithoutRope, OverwriteOption, numbers_of, with_options
from bayes_bias.cli.table_source import ListArgument, TableSource
from bayes_bias.errors import OutputError
from bayes_bias.files import FORMATS, check_output, whole_file
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import plural
from bayes_bias.models.structures import generalising_spec
from bayes_bias.plots import plot_plan
from bayes_bias.posterior.planning import COUNTS, LENGTHS, by_words
from bayes_bias.table.scopes import check_design, sampling_scope
from bayes_bias.table.statistics import table_means


@app.command()
@with_options
def plan(
    source: ListArgument,
    inputs: TableSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Figure: .png, .pdf or .svg.")] = None,
    overwrite: OverwriteOption = False,
    n_targets: Annotated[
        list[str] | None,
        typer.Option("--n-targets", metavar="N,N", help="Numbers of targets in each group to plan for."),
    ] = None,
    n_attributes: Annotated[
        list[str] | None,
        typer.Option("--n-attributes", metavar="N,N", help="Numbers of attributes in each class to plan for."),
    ] = None,
    n_replicates: Annotated[
        list[str] | None,
        typer.Option(
            "--n-replicates", metavar="N,N", help="Numbers of replicates to plan for; as many as there are by default."
        ),
    ] = None,
    *,
    inference: InferenceWithoutRope,
) -> None:
    """How narrow would the interval be with longer lists, and how likely to exclude zero?

    Example: bayes-bias plan weat7 --n-targets 20,40 --n-attributes 20,40
    """
    targets = numbers_of("--n-targets", n_targets)
    attributes = numbers_of("--n-attributes", n_attributes)
    replicates = numbers_of("--n-replicates", n_replicates)
    if out_file is not None:
        check_output(out_file, overwrite, "--out")
        if out_file.suffix.lower().removeprefix(".") not in FORMATS:
            raise OutputError(f"--out: '{out_file}' is not a figure; name a file in .png, .pdf or .svg")
        if any(len(set(given)) == 1 for given in (targets, attributes) if given):
            raise OutputError(
                "--out: a figure needs two numbers of targets and of attributes or more; write --n-targets 20,40"
                " --n-attributes 20,40, or leave both out"
            )
    sampling_scope(inference.scope)
    spec = generalising_spec(inference.model, "a plan")
    with progress_bar() as progress:
        table = inputs.table(source, progress)
        check_design(table_means(table), inference.scope)
        posterior = bb.fit(table, **inference.fitting | {"model": spec})
    kind = Fitted.of(posterior).replicate_kind
    planned = bb.plan(
        posterior,
        targets or LENGTHS,
        attributes or LENGTHS,
        replicates or (COUNTS if kind else None),
        **inference.reading,
    )
    along_words = kind and set(targets or LENGTHS) & set(attributes or LENGTHS)
    power = by_words(planned).power.to_pandas() if along_words else planned.power.unstack("attributes")
    by = f"{plural(kind)} and words" if kind else "words"
    print_frame(
        power.map("{:.2f}".format),
        title=f"Probability of excluding zero ({inference.ci_prob:.0%}), by {by} per group and class",
    )
    say(bb.verdict(posterior, **inference.reading).text)
    if out_file is not None:
        figure = plot_plan(posterior, planned=planned, ci_prob=inference.ci_prob).get_figure(root=True)
        with whole_file(out_file, overwrite) as unfinished:
            cast(Figure, figure).savefig(unfinished, dpi=200)
        say(f"The figure is in {out_file}")
