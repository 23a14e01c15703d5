"""`bayes-bias summarize`: what a fit says."""

from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import CiOption, RopeOption, ScopeOption
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.results.spreadsheets import csv_text


@app.command()
def summarize(
    fit_file: Annotated[
        Path, typer.Argument(metavar="FIT.nc", help="A fit that `bayes-bias fit --out` made.")
    ],
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    rope: RopeOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="All columns and rows, as CSV.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Rows of single words and replicates too.")] = False,
) -> None:
    """Summarise a fit: every estimand with its interval and noise floor, and the verdict.

    Example: bayes-bias summarize weat7.nc --scope targets --csv > weat7.csv
    """
    loaded = bb.load_fit(fit_file)
    summary = bb.summarize(loaded, cast(ScopeName, scope), ci_prob=ci_prob, rope=rope)
    if csv:
        typer.echo(csv_text(summary), nl=False)
        return
    print_summary(summary, loaded, words=words)
    if Fitted.of(loaded).structure.GENERALISES:
        say(bb.verdict(loaded, cast(ScopeName, scope), ci_prob=ci_prob).text)
    if concern := Diagnostics.of(loaded).concern:
        say(f"{loaded.attrs['name']}: {concern}")


_BY_WORD = ("target_bias", "attribute_bias", "target_connection_mean")


def shown(summary: pd.DataFrame) -> pd.DataFrame:
    interval = [c for c in summary.columns if str(c).endswith(("_lb", "_ub"))]
    negligible = [c for c in summary.columns if c == "prob_negligible"]
    return summary[
        [
            "mean",
            *interval,
            "prob_direction",
            *negligible,
            "observed",
            "noise_sd",
            "r_hat",
            "ess_bulk",
        ]
    ]


def print_summary(summary: pd.DataFrame, fit: Fit, *, words: bool = False) -> None:
    """The main estimands, or all of them; replicates, whose labels may be whole sentences, in a table of their own."""
    estimand = summary.index.get_level_values("estimand")
    left_out = ("replicate_bias",) if words else ("replicate_bias", *_BY_WORD)
    print_frame(shown(summary[~estimand.isin(left_out)]))
    if "replicate_bias" in estimand:
        rows = shown(summary.loc["replicate_bias"]).drop(columns=["r_hat", "ess_bulk"])
        kind = Fitted.of(fit).data.replication.item()
        print_frame(rows.rename_axis(kind), title=f"Bias in each {kind}, drawn towards that of all")
