"""`bayes-bias pool`: what several lists say together."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import estimates, print_frame
from bayes_bias.cli.options import CiOption
from bayes_bias.formatting import percent


@app.command()
def pool(
    fit_files: Annotated[
        list[Path], typer.Argument(metavar="FIT.nc...", help="Fits of different lists, in one embedding.")
    ],
    ci_prob: CiOption = 0.95,
) -> None:
    """What do several lists say together, and what does each say given the others?

    Example: bayes-bias pool report/posterior-*.nc
    """
    pooled = bb.pool([bb.load_fit(file) for file in fit_files], ci_prob=ci_prob)
    rows, written = pooled.lists, (pooled.ci_prob, pooled.metric.decimals)
    lists = estimates(rows, "by itself", *written) | estimates(rows, "pooled", *written, of="pooled")
    print_frame(pd.DataFrame(lists, index=rows.index), title=f"Bias of each list, in {pooled.metric.unit}")
    print_frame(pooled.overlap.map(percent), title="Words of the shorter list that are in the other one, too")
    say(pooled.text)
