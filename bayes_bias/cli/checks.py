"""The commands that check a design or an analysis: `calibrate`, `multiverse`, and `stability`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_frame, print_layout, progress_bar, say, say_where, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    InferenceWithoutRope,
    JobsOption,
    OutputFolder,
    OverwriteOption,
    SchedulerOption,
    SeedOption,
    check_outputs,
    model_option,
    with_options,
)
from bayes_bias.cli.table_source import ListArgument, TableSource, WordListArgument
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import Column, Layout, plain, plural
from bayes_bias.progress import step
from bayes_bias.table.columns import estimate_columns

if TYPE_CHECKING:
    from bayes_bias.checks.calibration import By
    from bayes_bias.checks.null_lists import Drawn
    from bayes_bias.embeddings.embedding import Embedding
    from bayes_bias.measures.other_words import Random


@app.command()
@with_options
def calibrate(
    wordlist: WordListArgument,
    inputs: TableSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file for the records of all draws.")] = None,
    overwrite: OverwriteOption = False,
    folder: Annotated[Path | None, typer.Option(help="Keep records here, so that a stopped run can go on.")] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Number of random draws. By default 400, or 50 if each must be sampled.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="Source of the tables: 'random words' of the embedding, or 'simulation' from the model. A"
            " simulation tests whether intervals contain the true bias as often as they should."
        ),
    ] = "random words",
    random: Annotated[str, typer.Option(help="Words to draw: attributes, targets, or both.")] = "attributes",
    drawn: Annotated[
        str,
        typer.Option(
            help="How to draw them: as single words, in sub-topics (three for each class), or in topics"
            " (targets and attributes of a random topic for each group and class, which do differ)."
        ),
    ] = "words",
    size: Annotated[
        int | None,
        typer.Option(min=2, help="Random words in each class or group. By default the same number as in the list."),
    ] = None,
    planted: Annotated[
        float, typer.Option(min=0, max=0.5, help="Plant a bias of this size, to estimate how often it is found.")
    ] = 0.0,
    model: Annotated[list[str] | None, model_option(help="Built-in model or TOML file. Can be repeated.")] = None,
    seed: SeedOption = 1,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """Estimate how often this design finds a bias if there is none, with words drawn at random.

    Example: bayes-bias calibrate weat7 --draws 200
    """
    from bayes_bias.associations.lists import measure_lists
    from bayes_bias.jobs import connected

    check_outputs(overwrite, out=out_file)
    with progress_bar(), connected(scheduler) as client:
        result = bb.calibrate(
            measure_lists(inputs.words(wordlist), inputs.opened([wordlist]), **inputs.settings)[0],
            by=cast("By", by),
            draws=draws,
            random=cast("Random", random),
            drawn=cast("Drawn", drawn),
            size=size,
            planted=planted,
            models=model or ["crossed"],
            seed=seed,
            folder=folder,
            jobs=jobs if client is None else client,
        )
    deliver(calibration=result)
    print_layout(result.layout)
    say(result.text)
    if out_file is not None:
        write_csv(result.records, out_file, overwrite)
    say_where("The records of all draws are in", out_file)


@app.command()
@with_options
def multiverse(
    source: ListArgument,
    inputs: TableSource,
    output: OutputFolder,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Add another model without variations, such as robust (half a minute or more). Can be repeated."
        ),
    ] = None,
    *,
    inference: InferenceWithoutRope,
) -> None:
    """Estimate the bias under each combination of choices of the analysis.

    Example: bayes-bias multiverse weat7 --out multiverse
    """
    with progress_bar():
        step(f"{source}: measuring")
        table = inputs.table(source)
        result = bb.multiverse(table, **inference.fitting, **inference.reading, also=also or [])
        output.deliver(multiverse=result)
    print_layout(result.layout)
    say(result.text)
    say_where("Table and figure are in", output.out)


@app.command()
@with_options
def stability(
    wordlist: WordListArgument, inputs: TableSource, output: OutputFolder, inference: InferenceWithoutRope
) -> None:
    """Estimate how much the bias of a list depends on the training run (seed or corpus).

    For an encoder, estimate how much the bias depends on the templates.

    Example: bayes-bias stability weat7 --embedding seed-1.txt --embedding seed-2.txt --embedding seed-3.txt
    """
    with progress_bar():
        step(f"{wordlist}: measuring")
        result = bb.stability(
            inputs.measured(_trainings(inputs, wordlist), wordlist), **inference.fitting, **inference.reading
        )
        output.deliver(stability=result)
    _show(result)
    say_where("\nTables and figure are in", output.out)


def _trainings(inputs: TableSource, wordlist: str) -> "Embedding":
    """Return an embedding with replicates: the templates of an encoder, one embedding with replicates, or several."""
    if len(inputs.embedding) > 1 and inputs.replicates is None:
        inputs = replace(inputs, replicates="seed")
    embedding = inputs.opened([wordlist])
    if not embedding.replicates:
        raise BayesBiasError(
            f"--embedding '{embedding.name}' is a single training run, which cannot show how training runs"
            " differ. Pass at least two embeddings, each with its --embedding."
        )
    return embedding


def _show(result: "bb.Stability") -> None:
    """Print the measures in each training run, the variance components, and the shares of the variance."""
    # The raw bias is half of WEAT's difference. It is omitted because it would not fit.
    print_frame(result.measures.drop(columns="raw bias").map(plain), title=f"Each method in each {result.kind}")
    print_layout(result.layout)
    for reason in result.left_out.values():
        say(f"omitted: {reason}")
    print_layout(_components(result))
    print_layout(result.shares_layout)
    say(result.text)


def _components(result: "bb.Stability") -> Layout:
    """Lay out the variance components of the joint posterior, with their observed values."""
    from bayes_bias.fitting.fitted import Fitted

    rows, decimals = result.components, Fitted.of(result.fit).metric.decimals + 1
    kinds = plural(result.kind)
    return Layout(
        [" ".join(filter(None, map(str, name))) for name in rows.index],
        [
            *estimate_columns(rows, "mean", result.ci_prob, decimals, sign=""),
            Column("observed", rows.observed, partial(plain, decimals=decimals)),
        ],
        caption=f"Variation between {kinds}: joint posterior",
    )
