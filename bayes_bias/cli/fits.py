"""The commands for a fit of one list: `fit`, `summarize`, `pool`, and `plan`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_frame, print_layout, progress_bar, say, say_where
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    CiOption,
    ContrastOption,
    Inference,
    InferenceWithoutRope,
    OverwriteOption,
    RopeOption,
    ScopeOption,
    check_outputs,
    numbers_of,
    with_options,
)
from bayes_bias.cli.table_source import CovariatesOption, ListArgument, TableSource, covariates_of
from bayes_bias.errors import OutputError
from bayes_bias.files import FORMATS, csv_text, whole_file
from bayes_bias.formatting import DASH, bounds, level, mean_of_interval, percent, plain, plural, probability
from bayes_bias.progress import step
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, check_design, sampling_scope

if TYPE_CHECKING:
    import pandas as pd

    from bayes_bias.fitting.fitted import Fit, Fitted


@app.command()
@with_options
def fit(
    source: ListArgument,
    inputs: TableSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="netCDF file for the fit.")] = None,
    overwrite: OverwriteOption = False,
    contrast: ContrastOption = None,
    covariates: CovariatesOption = None,
    *,
    inference: Inference,
) -> None:
    """Fit a model to one list, print the main estimates, and save the posterior.

    Example: bayes-bias fit weat7 --out weat7.nc
    """
    from bayes_bias.posterior.contrast_weights import weights_of_formulas
    from bayes_bias.posterior.summary import check_rope
    from bayes_bias.table.statistics import table_means

    check_outputs(overwrite, out=out_file)
    with progress_bar():
        # Errors in the options are raised before the model is fitted.
        check_rope(inference.rope)
        step(f"{source}: measuring")
        table = inputs.table(source, covariates=covariates_of(covariates))
        means = table_means(table)
        check_design(means, inference.scope)
        if contrast:
            weights_of_formulas(means, contrast)  # raises an error for a formula with an unknown word or group
        posterior = bb.fit(table, **inference.fitting)
        if out_file is not None:
            bb.save_fit(posterior, out_file, overwrite=overwrite)
    print_answers(posterior, contrast or [], **inference.reading)
    say_where("The fit is in", out_file)


@app.command()
def summarize(
    fit_file: Annotated[Path, typer.Argument(metavar="FIT.nc", help="A fit that `bayes-bias fit --out` made.")],
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    rope: RopeOption = None,
    contrast: ContrastOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print all columns and rows, as CSV.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Also show rows of single words.")] = False,
) -> None:
    """Summarise a fit: every estimate with its interval and noise floor, and the verdict.

    Example: bayes-bias summarize weat7.nc --scope targets --csv > weat7.csv
    """
    from bayes_bias.fitting.diagnostics import Diagnostics

    posterior = bb.load_fit(fit_file)
    reading: dict[str, Any] = {"scope": scope, "ci_prob": ci_prob, "rope": rope}
    if csv:
        typer.echo(csv_text(bb.summarize(posterior, **reading, contrasts=contrast or [])), nl=False)
        return
    print_answers(posterior, contrast or [], **reading, words=words)
    if concern := Diagnostics.of(posterior).concern:
        say(f"{posterior.attrs['name']}: {concern}")


def print_answers(
    fit: "Fit", contrasts: Sequence[str], *, scope: ScopeName, ci_prob: float, rope: float | None, words: bool = False
) -> None:
    """Print the summary of a fit, the verdict on the bias, and the verdict on each contrast, and keep them for --json.

    There is no verdict on a model whose estimates do not generalise to other words.
    """
    from bayes_bias.fitting.fitted import Fitted

    summary = bb.summarize(fit, scope, ci_prob=ci_prob, rope=rope, words=words, contrasts=contrasts)
    print_summary(summary, fit, ci_prob)
    deliver(summary=summary)
    if Fitted.of(fit).structure.GENERALISES:
        verdict = bb.verdict(fit, scope, ci_prob=ci_prob, rope=rope)
        deliver(verdict=verdict)
        say(verdict.text)
    answers = [bb.contrast(fit, formula, scope, ci_prob=ci_prob) for formula in contrasts]
    deliver(contrasts=answers)
    for answer in answers:
        say(answer.text)


# Estimands that have no sign, and therefore no probability of direction.
_UNSIGNED = ("replicate_sd", "same_sign", "reliability", "connection_mean", "target_connection_mean")


def print_summary(summary: "pd.DataFrame", fit: "Fit", ci_prob: float) -> None:
    """Print a summary, a caveat about biases of groups, and the diagnostics of the fit.

    Biases of replicates are in a second table, because the labels of replicates may be whole sentences.
    """
    from bayes_bias.fitting.diagnostics import Diagnostics
    from bayes_bias.fitting.fitted import Fitted
    from bayes_bias.posterior.summary import GROUP_BIAS_CAVEAT

    fitted = Fitted.of(fit)
    estimand = summary.index.get_level_values("estimand")
    print_frame(
        _summary_as_text(summary[estimand != "replicate_bias"], fitted, ci_prob),
        title=f"{fitted.name}, in {fitted.metric.unit} (pd: probability of direction)",
    )
    if "replicate_bias" in estimand:
        kind = fitted.replicate_kind
        rows = _summary_as_text(summary.loc[["replicate_bias"]], fitted, ci_prob).droplevel("estimand")
        print_frame(rows.rename_axis(kind), title=f"Bias in each {kind}, shrunk towards the bias of all")
    if "group_bias" in estimand and fitted.data.sizes["group"] > 1:
        say(GROUP_BIAS_CAVEAT)
    say(Diagnostics.of(fitted).text)


def _summary_as_text(summary: "pd.DataFrame", fitted: "Fitted", ci_prob: float) -> "pd.DataFrame":
    """Return a summary as text, with only the columns that fit into a terminal of 80 characters.

    The columns are the mean, the interval, the probability of direction (pd), and one more: the probability of a
    negligible bias if the user set a range for it, or else the noise floor or, without noise floor, the raw value.
    Estimands in `_UNSIGNED`, such as standard deviations, are never negative. They are written without a plus sign, and
    have no probability of direction.
    """
    import pandas as pd

    decimals = fitted.metric.decimals
    estimands = summary.index.get_level_values("estimand")
    rows = []
    for estimand, (_, row) in zip(estimands, summary.iterrows(), strict=True):
        sign = "" if estimand in _UNSIGNED else "+"
        mean = mean_of_interval(row["mean"], *interval_of(row), decimals, sign=sign)
        interval = bounds(*interval_of(row), decimals, sign=sign)
        chance = probability(row.prob_direction) if sign else DASH
        rows.append((mean, interval, chance))
    cells = pd.DataFrame(rows, summary.index, ["mean", f"{level(ci_prob)} interval", "pd"])
    if "prob_negligible" in summary:
        return cells.assign(negligible=summary.prob_negligible.map(probability))
    has_noise_floor = summary.noise_sd.notna().any()
    heading, column = ("noise sd", "noise_sd") if has_noise_floor else ("raw", "observed")
    return cells.assign(**{heading: summary[column].map(partial(plain, decimals=decimals))})


@app.command()
def pool(
    fit_files: Annotated[
        list[Path], typer.Argument(metavar="FIT.nc...", help="Fits of different lists, in one embedding.")
    ],
    ci_prob: CiOption = 0.95,
) -> None:
    """Pool several lists: their mean bias, and the bias of each list given the others.

    Example: bayes-bias pool report/posterior-*.nc
    """
    pooled = bb.pool([bb.load_fit(file) for file in fit_files], ci_prob=ci_prob)
    deliver(pooled=pooled)
    print_layout(pooled.layout)
    print_frame(pooled.overlap.map(percent), title="Words of the shorter list that are also in the longer one")
    say(pooled.text)


@app.command()
@with_options
def plan(
    source: ListArgument,
    inputs: TableSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Figure: .png, .pdf or .svg.")] = None,
    overwrite: OverwriteOption = False,
    bias: Annotated[
        float | None, typer.Option(metavar="SIZE", help="The smallest bias of interest, in the units of the numbers.")
    ] = None,
    n_targets: Annotated[
        list[str] | None, typer.Option(metavar="N,N", help="Numbers of targets in each group to plan for.")
    ] = None,
    n_attributes: Annotated[
        list[str] | None, typer.Option(metavar="N,N", help="Numbers of attributes in each class to plan for.")
    ] = None,
    n_replicates: Annotated[
        list[str] | None,
        typer.Option(metavar="N,N", help="Numbers of replicates to plan for. By default the existing number."),
    ] = None,
    *,
    inference: InferenceWithoutRope,
) -> None:
    """Estimate the width of the interval and the power with longer lists.

    Example: bayes-bias plan weat7 --bias 0.02 --n-targets 20,40 --n-attributes 20,40
    """
    from bayes_bias.fitting.fitted import Fitted
    from bayes_bias.models.structures import generalising_spec
    from bayes_bias.posterior.planning import COUNTS, LENGTHS, MOST_WORDS, by_words, checked_bias, words_needed
    from bayes_bias.table.statistics import table_means

    size = checked_bias(bias)
    targets = numbers_of("--n-targets", n_targets)
    attributes = numbers_of("--n-attributes", n_attributes)
    replicates = numbers_of("--n-replicates", n_replicates)
    check_outputs(overwrite, out=out_file)
    if out_file is not None:
        if out_file.suffix.lower().removeprefix(".") not in FORMATS:
            raise OutputError(
                f"--out '{out_file}' is not the name of a figure. Use a file name that ends in .png, .pdf, or .svg."
            )
        if any(len(set(lengths)) == 1 for lengths in (targets, attributes) if lengths):
            raise OutputError(
                "--out needs at least two numbers of targets and of attributes. Write --n-targets 20,40"
                " --n-attributes 20,40, or omit both."
            )
    sampling_scope(inference.scope)  # raises an error if the scope generalises to nothing
    spec = generalising_spec(inference.model, "a plan")
    with progress_bar():
        table = inputs.table(source)
        check_design(table_means(table), inference.scope)
        posterior = bb.fit(table, **inference.fitting | {"model": spec})
    fitted = Fitted.of(posterior)
    kind, units = fitted.replicate_kind, plural(fitted.unit)
    planned = bb.plan(
        posterior,
        size,
        targets or LENGTHS,
        attributes or LENGTHS,
        replicates or (COUNTS if kind else None),
        **inference.reading,
    )
    # With replicates, power is shown by their number and the number of words, which both sides then share.
    has_shared_lengths = kind and set(targets or LENGTHS) & set(attributes or LENGTHS)
    power = by_words(planned).power.to_pandas() if has_shared_lengths else planned.power.unstack("attributes")  # noqa: PD010
    by = f"{plural(kind)} and {units}" if kind else units
    print_frame(
        power.map("{:.2f}".format),
        title=f"Probability of detecting a bias of {size:g} ({inference.ci_prob:.0%}), by {by} per group and class",
    )
    number = words_needed(posterior, size, **inference.reading)
    deliver(plan=planned, words_needed=number)
    words = f"about {number:,} {units}" if number else f"more than {MOST_WORDS:,} {units}"
    where = "in each group and each class that is a sample"
    say(f"A bias of {size:g} would be detected 80% of the time with {words} {where}.")
    if out_file is not None:
        figure = bb.plots.plot_plan(posterior, size, planned=planned, ci_prob=inference.ci_prob).get_figure(root=True)
        with whole_file(out_file, overwrite) as unfinished:
            cast(Any, figure).savefig(unfinished, dpi=200)
    say_where("The figure is in", out_file)
