"""The commands `criterion` and `tpr-gaps`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_layout, progress_bar, say, say_where
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    CiOption,
    IgnoreOption,
    OutputFolder,
    Sampler,
    ScopeOption,
    SeedOption,
    input_option,
    reject,
    split_names,
    with_options,
)
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import given_table
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName

if TYPE_CHECKING:
    from bayes_bias.analyses.criterion.criterion import BiasesLike


@app.command()
@with_options
def criterion(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv",
            help="Table with the columns label, criterion, and criterion_se (or criterion_n), and without"
            " --fit also bias and sd.",
        ),
    ],
    fit: Annotated[
        list[str] | None,
        input_option(
            metavar="[LABEL=]FIT.nc",
            help="A fit with the labels as targets, or one for each label, as LABEL=FIT.nc, repeated.",
        ),
    ] = None,
    toward: Annotated[str | None, input_option(help="For one fit: the class to which a positive bias points.")] = None,
    covariance: Annotated[
        Path | None, input_option(metavar="CSV", help="Covariance of the errors of biases, in place of the column sd.")
    ] = None,
    covariates: Annotated[str, input_option(help="Columns to hold constant, comma-separated.")] = "",
    family: Annotated[str | None, input_option(help="Column with families, such as those of languages.")] = None,
    name: Annotated[str | None, typer.Option(help="Title of page and figure. By default the name of the file.")] = None,
    bias_name: Annotated[
        str, typer.Option(help="Name of the bias, with its unit, for axes and text, such as 'gender bias (cosine)'.")
    ] = "bias",
    criterion_name: Annotated[
        str, typer.Option(help="Name of the criterion, with its unit, such as 'women in the job (%)'.")
    ] = "criterion",
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    output: OutputFolder,
    sampler: Sampler,
) -> None:
    """Correlate bias with an external measure, such as people's associations, with errors in both.

    Example: bayes-bias criterion languages.csv --covariates median_age --out validity
    """
    with progress_bar():
        result = bb.criterion(
            _biases(fit or [], file, covariance),
            file,
            toward=toward,
            scope=cast(ScopeName, scope),
            covariates=split_names(covariates),
            family=family,
            ci_prob=ci_prob,
            seed=seed,
            sampling=sampler.sampling,
            name=name or file.stem,
            bias_name=bias_name,
            criterion_name=criterion_name,
        )
        page = output.deliver(criterion=result)
    print_layout(result.layout)
    say(result.text)
    say_where("\nThe page is", page)


def _biases(fits: list[str], file: Path, covariance: Path | None) -> "BiasesLike":
    """Return the biases of the labels in one of the forms that `bayes_bias.criterion` accepts.

    Biases come from FILE itself, from FILE with a covariance matrix of their errors, from one fit whose targets are the
    labels, or from a fit for each label (LABEL=FIT.nc).
    """
    if covariance is None and not fits:
        return file
    if covariance is not None and not fits:
        from bayes_bias.analyses.criterion.data import Biases, read
        from bayes_bias.table.files import read_matrix

        biases = read(file, "biases")
        remedy = "Pass a spreadsheet with a row and column for each label."
        matrix = read_matrix(given_table(covariance, "--covariance", BayesBiasError, remedy))
        return Biases.from_frame(biases, matrix)
    reject("cannot be combined with fits, which have their own covariance. Omit it.", covariance=covariance)
    if len(fits) == 1 and "=" not in fits[0]:
        return bb.load_fit(fits[0])
    path_of_label = {label: path for label, _, path in (fit.partition("=") for fit in fits)}
    return {label: bb.load_fit(path) for label, path in path_of_label.items()}


@app.command()
@with_options
def tpr_gaps(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A row for each person (CSV, Excel, Parquet), or a built-in table (tpr-demo)."
        ),
    ],
    y: Annotated[str, typer.Option(help="Column with the true class.")] = "y",
    prediction: Annotated[str, typer.Option(help="Column with the predicted class.")] = "prediction",
    group: Annotated[str, typer.Option(help="Column with the group, such as gender.")] = "group",
    of: Annotated[
        str | None, typer.Option(help="Group whose gap to show. By default the first of two, or all of more than two.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Omit classes in which a group has no people.")
    ] = False,
    ignore: IgnoreOption = None,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    output: OutputFolder,
    sampler: Sampler,
) -> None:
    """Estimate gaps of a classifier's true-positive rates between groups, class by class.

    Example: bayes-bias tpr-gaps tpr-demo --of F --out gaps
    """
    with progress_bar():
        result = bb.tpr_gaps.estimate(
            y,
            prediction,
            group,
            data=file,
            of=of,
            leave_out=leave_out,
            ignore=ignore or [],
            ci_prob=ci_prob,
            seed=seed,
            sampling=sampler.sampling,
            name=Path(file).stem,
        )
        page = output.deliver(tpr_gaps=result)
    print_layout(result.classes_layout)
    print_layout(result.layout)
    say(
        "unbiased: root of an unbiased mean square. If there are few people, the posterior of a size is too"
        f" high.\n\n{result.text}"
    )
    say_where("\nThe gaps are in", page)
