"""`bayes-bias measures`: every measure of the literature beside the posterior."""

from dataclasses import asdict
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.associations.cosine import cosines_with_vectors
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    DEMO,
    AllowLossOption,
    CiOption,
    ControlsOption,
    EmbeddingOption,
    ListArgument,
    ModelOption,
    ReplicatesOption,
    Sampler,
    SeedOption,
    SentenceModel,
    SetsOption,
    StereotypesOption,
    TrustOption,
    controls_of,
    embedding_of,
    holds_cosines,
    read_table,
    takes_sampling,
    takes_sentence_model,
)
from bayes_bias.estimands.facets import SHOWN, ScopeName, possible_scopes
from bayes_bias.formatting import level
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports.measures import rows as measure_rows
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.results.with_measures import with_posterior
from bayes_bias.words.defining_sets import read_debias_sets


@app.command()
@takes_sampling
@takes_sentence_model
def measures(
    source: ListArgument,
    embedding: EmbeddingOption = DEMO,
    replicates: ReplicatesOption = None,
    sets: SetsOption = None,
    controls: ControlsOption = "neutral,human",
    stereotypes: StereotypesOption = None,
    posterior: Annotated[
        bool, typer.Option(help="Sample the posterior for the last rows; it takes longest.")
    ] = True,
    model: ModelOption = "crossed",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    csv: Annotated[bool, typer.Option("--csv", help="As CSV, in full precision.")] = False,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    sampler: Sampler,
    reader: SentenceModel,
) -> None:
    """Every measure of the literature that applies to a list, with the posterior in the last rows.

    Example: bayes-bias measures weat7 --sets she:he,woman:man
    """
    told = None if sets is None else read_debias_sets(sets)
    summaries: dict[ScopeName, pd.DataFrame] = {}
    with progress_bar() as progress:
        progress.step(f"{source}: measuring cosines")
        if reader.masked is not None or (holds_cosines(source) and not reader.is_given):
            table, vectors = (
                read_table(
                    source, embedding, replicates, controls, stereotypes, allow_loss, trust, reader, progress
                ),
                None,
            )
        else:
            table, vectors = cosines_with_vectors(
                embedding_of(embedding, replicates, trust, reader, [source], controls, progress),
                source,
                controls_of(controls),
                also=told.words if told else (),
                allow_loss=allow_loss,
            )
        measured = bb.measures.measure_all(
            table, vectors, defining_sets=told.defining_sets if told else (), seed=seed, ci_prob=ci_prob
        )
        if posterior:
            fitted = Fitted.of(bb.fit(table, model, seed=seed, sampling=sampler.sampling, progress=progress))
            carried = possible_scopes(fitted.data)
            summaries = {s: bb.summarize(fitted, s, ci_prob=ci_prob) for s in SHOWN if s in carried}
    if csv:
        typer.echo(csv_text(with_posterior(measured.table, summaries, table.association)), nl=False)
        return
    rows = pd.DataFrame([asdict(row) for row in measure_rows(measured, summaries, table.association)])
    titles = {"no_bias": "no bias", "p_value": "p", "interval": f"{level(ci_prob)} interval"}
    print_frame(rows.rename(columns=titles))
    for reason in measured.left_out.values():
        say(f"left out: {reason}")
