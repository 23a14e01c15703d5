"""`bayes-bias fit`: one fit, kept."""

from pathlib import Path
from typing import Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.associations.statistics import table_means
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.options import (
    DEMO,
    AllowLossOption,
    CiOption,
    ControlsOption,
    EmbeddingOption,
    ListArgument,
    ModelOption,
    OverwriteOption,
    ReplicatesOption,
    RopeOption,
    Sampler,
    ScopeOption,
    SeedOption,
    SentenceModel,
    StereotypesOption,
    TrustOption,
    read_table,
    takes_sampling,
    takes_sentence_model,
)
from bayes_bias.cli.summarize import print_summary
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName, check_design
from bayes_bias.files import check_output
from bayes_bias.models.fitted import Fitted


@app.command()
@takes_sampling
@takes_sentence_model
def fit(
    source: ListArgument,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="netCDF file for the fit.")] = None,
    overwrite: OverwriteOption = False,
    embedding: EmbeddingOption = DEMO,
    replicates: ReplicatesOption = None,
    controls: ControlsOption = "neutral,human",
    stereotypes: StereotypesOption = None,
    model: ModelOption = "crossed",
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    rope: RopeOption = None,
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    sampler: Sampler,
    reader: SentenceModel,
) -> None:
    """Fit a model to one list, print the main estimands, and keep the posterior.

    Example: bayes-bias fit weat7 --out weat7.nc
    """
    if out_file is not None:
        check_output(out_file, overwrite, "--out")
    with progress_bar() as progress:
        progress.step(f"{source}: measuring")
        table = read_table(
            source, embedding, replicates, controls, stereotypes, allow_loss, trust, reader, progress
        )
        check_design(table_means(table), scope)
        posterior = bb.fit(table, model, seed=seed, sampling=sampler.sampling, progress=progress)
        if out_file is not None:
            bb.save_fit(posterior, out_file, overwrite=overwrite)
    summary = bb.summarize(posterior, cast(ScopeName, scope), ci_prob=ci_prob, rope=rope, words=False)
    print_summary(summary, posterior, ci_prob)
    if Fitted.of(posterior).structure.GENERALISES:
        say(bb.verdict(posterior, cast(ScopeName, scope), ci_prob=ci_prob, rope=rope).text)
    if out_file is not None:
        say(f"The fit is in {out_file}")
