"""`bayes-bias calibrate`, `plan` and `check`: can this be believed, and what would settle it?"""

from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer
from matplotlib.figure import Figure

import bayes_bias as bb
from bayes_bias.calibration import calibrate as run_calibration
from bayes_bias.checks import compare_models, predictive_coverage
from bayes_bias.cli.app import app
from bayes_bias.cli.console import print_frame, progress_bar, say
from bayes_bias.cli.options import (
    MODEL,
    AllowLossOption,
    AssociateOption,
    CiOption,
    ControlsOption,
    EmbeddingOption,
    ModelOption,
    ScopeOption,
    SeedOption,
    Source,
    TrustOption,
    controls_of,
    read_cosines,
)
from bayes_bias.output import check_output
from bayes_bias.plan import plan as plan_designs
from bayes_bias.plots.plan import plot_plan
from bayes_bias.scopes import Scope
from bayes_bias.sensitivity import is_collapsed, prior_sensitivity


@app.command()
def calibrate(
    wordlist: Annotated[
        str, typer.Argument(metavar="LIST", help="Name of a shipped word list or a TOML file.")
    ],
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the records of all draws.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Keep records here: a run that was stopped goes on.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Random draws of attribute words.")] = 100,
    size: Annotated[
        int | None, typer.Option(min=2, help="Attributes in each class; as many as the list has by default.")
    ] = None,
    planted: Annotated[
        float, typer.Option(min=0, max=0.5, help="Plant a bias of this size: how often is it found?")
    ] = 0.0,
    embedding: EmbeddingOption = "googlenews-demo",
    controls: ControlsOption = "neutral,human",
    model: Annotated[
        list[str] | None,
        typer.Option(help="Shipped model or TOML file; may be repeated.", rich_help_panel=MODEL),
    ] = None,
    seed: SeedOption = 1,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = -1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """How often would this design find a bias where none is? Attribute words are drawn at random.

    Example: bayes-bias calibrate weat7 --draws 200
    """
    if out_file is not None:
        check_output(out_file)
    with progress_bar() as progress:
        made = run_calibration(
            wordlist,
            embedding,
            draws=draws,
            size=size,
            planted=planted,
            controls=controls_of(controls),
            models=model or ["crossed"],
            seed=seed,
            allow_loss=allow_loss,
            trust=trust,
            folder=folder,
            jobs=jobs,
            progress=progress,
        )
    print_frame(made.table[["draws", "share", "share_lb", "share_ub", "width", "coverage_50", "coverage_95"]])
    say(made.text)
    if out_file is not None:
        made.records.to_csv(out_file, index=False)
        say(f"The records of all draws are in {out_file}")


@app.command()
def plan(
    source: Source,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Figure, PNG or PDF.")] = None,
    embedding: EmbeddingOption = "googlenews-demo",
    controls: ControlsOption = "neutral,human",
    associate: AssociateOption = None,
    model: ModelOption = "crossed",
    scope: ScopeOption = "both",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """How narrow would the interval be, and how likely exclude zero, with longer lists?

    Example: bayes-bias plan weat7 --out plan.png
    """
    if out_file is not None:
        check_output(out_file)
    with progress_bar() as progress:
        cosines = read_cosines(source, embedding, controls, associate, allow_loss, trust)
        posterior = bb.fit(cosines, model, seed=seed, progress=progress)
    planned = plan_designs(posterior, scope=cast(Scope, scope), ci_prob=ci_prob)
    power = planned.power.to_xarray().to_pandas().map("{:.2f}".format)
    print_frame(power, title=f"Probability of excluding zero ({ci_prob:.0%}), by words per group and class")
    say(bb.verdict(posterior, cast(Scope, scope), ci_prob=ci_prob).text)
    if out_file is not None:
        figure = plot_plan(posterior, planned=planned, ci_prob=ci_prob).get_figure(root=True)
        cast(Figure, figure).savefig(out_file, dpi=200)
        say(f"The figure is in {out_file}")


@app.command()
def check(
    source: Source,
    embedding: EmbeddingOption = "googlenews-demo",
    controls: ControlsOption = "neutral,human",
    associate: AssociateOption = None,
    model: ModelOption = "crossed",
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """Does the model fit the raw cosines, better than the published one, and does the prior decide?

    Example: bayes-bias check weat7
    """
    with progress_bar() as progress:
        cosines = read_cosines(source, embedding, controls, associate, allow_loss, trust)
        fits = {name: bb.fit(cosines, name, seed=seed, progress=progress) for name in (model, "hierarchical")}
    coverage = pd.DataFrame({name: predictive_coverage(each) for name, each in fits.items()})
    coverage.index = [f"{prob:.0%} intervals" for prob in coverage.index]
    print_frame(coverage.T.rename_axis("model"), title="Raw cosines inside predictive intervals")
    compared = compare_models(fits)[["elpd", "elpd_diff", "dse", "p", "bad_k"]]
    print_frame(compared.rename_axis("model"), title="Leaving one cosine out (PSIS-LOO)")
    if is_collapsed(fits[model]["constant_data"].to_dataset()):
        shown = prior_sensitivity(fits[model]).loc[["bias", "group_bias"]]
        print_frame(shown, title="Sensitivity to prior and likelihood (prior above .05: it matters)")
