"""The commands `report` and `register`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_layout, progress_bar, say
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    ContrastOption,
    Inference,
    ListsArgument,
    OutputFolder,
    OverwriteOption,
    model_option,
    with_options,
)
from bayes_bias.cli.table_source import CovariatesOption, TableSource, covariates_of
from bayes_bias.files import check_output
from bayes_bias.progress import step


@dataclass(frozen=True, kw_only=True)
class ReportFolder(OutputFolder):
    """The options for an output folder that is always written."""

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
        model_option(
            min=0,
            help="Number of random lists with each list's design, to count false positives (0 for none). By"
            " default 400, or 50 if each must be sampled.",
        ),
    ] = None,
    against_published: Annotated[
        bool,
        model_option(
            "--against-published",
            help="Also fit the published model, and compare how well both predict. This doubles the time.",
        ),
    ] = False,
    registered: Annotated[
        Path | None,
        model_option(
            metavar="PLAN.json",
            help="Plan that `bayes-bias register` wrote. The report lists every setting that differs.",
        ),
    ] = None,
) -> None:
    """Write a bias report for a paper: page, tables, figures, and methods text.

    Example: bayes-bias report weat6 weat7 gender --out report
    """
    with progress_bar():
        tables = measured_tables(lists, inputs, covariates)
    _say_verdicts(tables, inference)
    with progress_bar():
        result = bb.report(
            tables,
            **inference.fitting,
            **inference.reading,
            contrasts=contrast or (),
            calibration_draws=calibration_draws,
            against_published=against_published,
            registered=registered,
        )
        step(f"writing {output.out}")
        page = output.deliver(report=result)
    print_layout(result.layout)
    if len(result.sections) > 1:
        print_layout(result.together.layout)
        say(f"{result.together}\n")
    for section in result.sections:
        say(f"{section.name}: {section.verdict.text}")
        for answer in section.contrasts:
            say(f"{section.name}, {answer.text}")
    say(f"\nThe report is in {page}")
    if result.deviations is not None:
        all_kept = result.deviations.empty
        say("All registered settings were kept." if all_kept else "The analysis differs from its registration:")
        for row in result.deviations.itertuples():
            say(f"{row.list or 'all lists'}, {row.setting}: registered {row.registered or 'nothing'}, used {row.used}")


def _say_verdicts(tables: "list[bb.AssociationTable]", inference: Inference) -> None:
    """Print the verdict of each table whose posterior needs no sampler, because a report takes much longer."""
    from bayes_bias.posterior.verdict import integrated_verdict

    for table in tables:
        if verdict := integrated_verdict(table, model=inference.model, **inference.reading):
            say(f"{table.name}, before sampling: {verdict.text}\n")


@app.command()
@with_options
def register(
    lists: ListsArgument,
    inputs: TableSource,
    inference: Inference,
    out_file: Annotated[Path, typer.Option("--out", "-o", metavar="PLAN.json", help="File for the plan.")],
    covariates: CovariatesOption = None,
    contrast: ContrastOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Fix an analysis before its results are known, for `report --registered`.

    Example: bayes-bias register weat6 weat7 --rope 0.01 --out plan.json
    """
    check_output(out_file, overwrite, "--out")
    with progress_bar():
        plan = bb.register(
            measured_tables(lists, inputs, covariates),
            **inference.fitting,
            **inference.reading,
            contrasts=contrast or (),
        )
    plan.save(out_file, overwrite=overwrite)
    say(f"{plan.text} It is in {out_file}, whose SHA-256 is {plan.sha256}. No bias was estimated.")


def measured_tables(
    lists: list[str], inputs: TableSource, covariates: list[str] | None = None
) -> "list[bb.AssociationTable]":
    """Return the tables of lists: each list in each embedding, and lists that are files of numbers as they are.

    Embeddings are separate sources unless they are replicates of one embedding, such as training runs or the templates
    of an encoder, which are opened together. A language model has no embedding, and its tables are measured first
    (`has_table`).
    """
    from bayes_bias.associations.lists import measure_lists

    sources = [inputs.table(name) if inputs.has_table(name) else inputs.words(name) for name in lists]
    are_separate = inputs.predicts_words or (inputs.replicates is None and inputs.encoder is None)
    embeddings = inputs.embeddings if are_separate else inputs.opened(lists)
    return measure_lists(sources, embeddings, covariates=covariates_of(covariates), **inputs.settings)
