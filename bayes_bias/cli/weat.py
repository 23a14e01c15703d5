"""`bayes-bias weat`: the published test."""

from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    DEMO,
    AllowLossOption,
    EmbeddingOption,
    ListArgument,
    ReplicatesOption,
    SeedOption,
    SentenceModel,
    StereotypesOption,
    TrustOption,
    read_table,
    takes_sentence_model,
)
from bayes_bias.measures.permutation import Alternative


@app.command()
@takes_sentence_model
def weat(
    source: ListArgument,
    embedding: EmbeddingOption = DEMO,
    replicates: ReplicatesOption = None,
    stereotypes: StereotypesOption = None,
    alternative: Annotated[str, typer.Option(help="greater, less or two-sided.")] = "greater",
    ddof: Annotated[
        int, typer.Option(min=0, max=1, help="1 as published, 0 for the population formula.")
    ] = 1,
    permutations: Annotated[
        int | None,
        typer.Option(min=1, help="Draw so many random partitions instead of deciding by their number."),
    ] = None,
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    reader: SentenceModel,
) -> None:
    """WEAT's effect size, statistic and permutation p-value.

    Example: bayes-bias weat weat7 --alternative two-sided
    """
    table = read_table(source, embedding, replicates, "none", stereotypes, allow_loss, trust, reader)
    result = bb.measures.weat(
        table, alternative=cast(Alternative, alternative), ddof=ddof, permutations=permutations, seed=seed
    )
    how = "all" if result.exact else "random"
    row = {"effect size d": result.effect_size, "statistic": result.statistic, "p": result.p_value}
    print_frame(pd.DataFrame([{"list": table.name, **row, "partitions": f"{how} {result.partitions:,}"}]))
