"""`bayes-bias weat`: the first row of `bayes-bias measures`, without what samples or tests."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import SeedOption, with_options
from bayes_bias.cli.table_source import ListArgument, TableSource


@dataclass(frozen=True, kw_only=True)
class WithoutControls(TableSource):
    """The same without control classes, which WEAT does not use."""

    controls: str = field(default="none", init=False)


@app.command()
@with_options
def weat(
    source: ListArgument,
    inputs: WithoutControls,
    alternative: Annotated[str, typer.Option(help="greater, less or two-sided.")] = "greater",
    ddof: Annotated[int, typer.Option(min=0, max=1, help="1 as published, 0 for the population formula.")] = 1,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Number of random partitions; by default all, unless there are too many.")
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """WEAT's effect size, statistic and permutation p-value.

    Example: bayes-bias weat weat7 --alternative two-sided
    """
    table = inputs.table(source)
    options: dict[str, Any] = {"alternative": alternative, "ddof": ddof, "permutations": permutations}
    result = bb.measures.weat(table, **options, seed=seed)
    partitions = f"{'all' if result.exact else 'random'} {result.partitions:,}"
    row = {"effect size d": result.effect_size, "statistic": result.statistic, "p": result.p_value}
    print_frame(pd.DataFrame([{"list": table.name, **row, "partitions": partitions}]))
