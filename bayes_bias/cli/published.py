"""`bayes-bias published`: a published d without vectors."""

from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import SeedOption
from bayes_bias.formatting import DASH, estimate, percent, plain, probability, share_bounds


@app.command()
def published(
    d: Annotated[float, typer.Option("--d", help="WEAT's effect size, as published.")],
    targets: Annotated[tuple[int, int], typer.Option(metavar="N N", help="Words in each of the two groups.")],
    attributes: Annotated[tuple[int, int], typer.Option(metavar="N N", help="Words in each of the two classes.")],
    ddof: Annotated[int, typer.Option(help="1 as Caliskan et al. divide; 0 for the population formula.")] = 1,
    seed: SeedOption = 1,
) -> None:
    """Would a published d be distinguishable if attributes counted as a sample of words, too?

    Example: bayes-bias published --d 0.97 --targets 8 8 --attributes 8 8
    """
    found = bb.published(d, targets, attributes, ddof=ddof, seed=seed)
    row = {
        "d": plain(found.d, 2),
        "t": plain(found.t, 2),
        "p": probability(found.p_value),
        "probability": DASH if found.probability is None else percent(found.probability),
        "in 90% of studies": share_bounds(*found.studies),
        "bias, in units of d": estimate(found.d, found.lower, found.upper, 2),
    }
    print_frame(pd.DataFrame([row]))
    say(found.text)
