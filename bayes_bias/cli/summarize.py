"""`bayes-bias summarize`: what a fit says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import CiOption, ContrastOption, RopeOption, ScopeOption
from bayes_bias.files import csv_text
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import DASH, bounds, level, plain, probability, signed
from bayes_bias.posterior.summary import GROUP_BIAS_CAVEAT
from bayes_bias.table.columns import interval_columns
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


@app.command()
def summarize(
    fit_file: Annotated[Path, typer.Argument(metavar="FIT.nc", help="A fit that `bayes-bias fit --out` made.")],
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    rope: RopeOption = None,
    contrast: ContrastOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="All columns and rows, as CSV.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Rows of single words too.")] = False,
) -> None:
    """Summarise a fit: every estimand with its interval and noise floor, and the verdict.

    Example: bayes-bias summarize weat7.nc --scope targets --csv > weat7.csv
    """
    loaded = bb.load_fit(fit_file)
    reading: dict[str, Any] = {"scope": scope, "ci_prob": ci_prob, "rope": rope}
    if csv:
        typer.echo(csv_text(bb.summarize(loaded, **reading, contrasts=contrast or [])), nl=False)
        return
    print_answers(loaded, contrast or [], **reading, words=words)
    if concern := Diagnostics.of(loaded).concern:
        say(f"{loaded.attrs['name']}: {concern}")


def print_answers(
    fit: Fit, contrasts: Sequence[str], *, scope: ScopeName, ci_prob: float, rope: float | None, words: bool = False
) -> None:
    """Print the summary of a fit, the verdict on its bias, and that on each contrast."""
    summary = bb.summarize(fit, scope, ci_prob=ci_prob, rope=rope, words=words, contrasts=contrasts)
    print_summary(summary, fit, ci_prob)
    if Fitted.of(fit).structure.GENERALISES:
        say(bb.verdict(fit, scope, ci_prob=ci_prob, rope=rope).text)
    for formula in contrasts:
        say(bb.contrast(fit, formula, scope, ci_prob=ci_prob).text)


# What has no sign, and no sign that could be the other one.
_UNSIGNED = ("replicate_sd", "same_sign", "reliability", "connection_mean", "target_connection_mean")


def print_summary(summary: pd.DataFrame, fit: Fit, ci_prob: float) -> None:
    """Print a summary; replicates, whose labels may be whole sentences, are in a second table."""
    fitted = Fitted.of(fit)
    estimand = summary.index.get_level_values("estimand")
    print_frame(
        _written(summary[estimand != "replicate_bias"], fitted, ci_prob),
        title=f"{fitted.name}, in {fitted.metric.unit}",
    )
    if "replicate_bias" in estimand:
        kind = fitted.replicate_kind
        rows = _written(summary.loc[["replicate_bias"]], fitted, ci_prob).droplevel("estimand")
        print_frame(rows.rename_axis(kind), title=f"Bias in each {kind}, drawn towards that of all")
    if "group_bias" in estimand and fitted.data.sizes["group"] > 1:
        say(GROUP_BIAS_CAVEAT)
    say(Diagnostics.of(fitted).text)


def _written(summary: pd.DataFrame, fitted: Fitted, ci_prob: float) -> pd.DataFrame:
    """What a terminal of 80 columns holds; `--csv` has the rest."""
    decimals, (lower, upper) = fitted.metric.decimals, interval_columns(summary)
    signs = ["" if name in _UNSIGNED else "+" for name in summary.index.get_level_values("estimand")]
    written = {
        "mean": [
            (signed if sign else plain)(mean, decimals) for mean, sign in zip(summary["mean"], signs, strict=True)
        ],
        f"{level(ci_prob)} interval": [
            bounds(low, high, decimals, sign=sign)
            for low, high, sign in zip(summary[lower], summary[upper], signs, strict=True)
        ],
        "P(sign)": [
            probability(chance) if sign else DASH for chance, sign in zip(summary.prob_direction, signs, strict=True)
        ],
        **_beside(summary, decimals),
    }
    return pd.DataFrame(written, index=summary.index)


def _beside(summary: pd.DataFrame, decimals: int) -> dict[str, list[str]]:
    """The last column: --rope's probability, or the noise floor, or the raw number of a model without noise."""
    if "prob_negligible" in summary:
        return {"negligible": list(map(probability, summary.prob_negligible))}
    name, column = ("raw", "observed") if summary.noise_sd.isna().all() else ("noise sd", "noise_sd")
    return {name: [plain(value, decimals) for value in summary[column]]}
