"""`bayes-bias pool`: what several lists say together."""

from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import CiOption
from bayes_bias.formatting import bounds, level, percent, signed
from bayes_bias.results.pooled import Pooled


@app.command()
def pool(
    fit_files: Annotated[
        list[Path], typer.Argument(metavar="FIT.nc...", help="Fits of different lists, in one embedding.")
    ],
    ci_prob: CiOption = 0.95,
) -> None:
    """What do several lists say together, and each of them in the light of the others?

    Example: bayes-bias pool report/posterior-*.nc
    """
    found = bb.pool([bb.load_fit(each) for each in fit_files], ci_prob=ci_prob)
    print_frame(_lists(found), title=f"Bias of each list, in {found.association.unit}")
    print_frame(found.overlap.map(percent), title="Words of the shorter list that are in the other one, too")
    say(found.text)


def _lists(found: Pooled) -> pd.DataFrame:
    rows, decimals = found.lists, found.association.decimals
    number, interval = partial(signed, decimals=decimals), partial(bounds, decimals=decimals)
    width = level(found.ci_prob)
    return pd.DataFrame(
        {
            "by itself": rows.bias.map(number),
            f"{width} interval": list(map(interval, rows.lower, rows.upper)),
            "pooled": rows.pooled.map(number),
            f"{width} interval, pooled": list(map(interval, rows.pooled_lower, rows.pooled_upper)),
        }
    )
