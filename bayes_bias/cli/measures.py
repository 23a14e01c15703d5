"""Published measures of a list, beside the posterior."""

from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_layout
from bayes_bias.cli.main import app
from bayes_bias.cli.options import CiOption, ModelOption, Sampler, SeedOption, SetsOption, with_options
from bayes_bias.cli.table_source import ListArgument, TableSource
from bayes_bias.files import csv_text
from bayes_bias.progress import step
from bayes_bias.table.scopes import SHOWN, ScopeName, possible_scopes
from bayes_bias.words.defining_sets import read_debias_sets

if TYPE_CHECKING:
    import pandas as pd


@app.command()
@with_options
def measures(
    source: ListArgument,
    inputs: TableSource,
    sets: SetsOption = None,
    posterior: Annotated[
        bool, typer.Option(help="Sample the posterior for the last rows, which takes longest.")
    ] = True,
    model: ModelOption = "crossed",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    word_draws: Annotated[
        int, typer.Option(min=0, help="Number of lists of random words, and of redrawn words, for each measure.")
    ] = 100,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, in full precision.")] = False,
    *,
    sampler: Sampler,
) -> None:
    """Compute every published measure that applies to a list, with the posterior in the last rows.

    Example: bayes-bias measures weat7 --sets she:he,woman:man
    """
    from bayes_bias.fitting.fitted import Fitted
    from bayes_bias.measures.other_words import random_pool
    from bayes_bias.posterior.summary import with_posterior

    words = None if sets is None else read_debias_sets(sets)
    summaries: dict[ScopeName, pd.DataFrame] = {}
    with progress_bar():
        step(f"{source}: measuring")
        table = inputs.table(source, also=words.words if words else ())
        measured = bb.measures.measure_all(
            table,
            defining_sets=words.defining_sets if words else (),
            seed=seed,
            ci_prob=ci_prob,
            chance_draws=word_draws,
            redraws=word_draws,
        )
        if posterior:
            fitted = Fitted.of(bb.fit(table, model, seed=seed, sampling=sampler.sampling))
            carried = possible_scopes(fitted.data)
            summaries = {s: bb.summarize(fitted, s, ci_prob=ci_prob) for s in SHOWN if s in carried}
    rows = with_posterior(measured.table, summaries, table.metric)
    if csv:
        typer.echo(csv_text(rows), nl=False)
        return
    print_layout(measured.laid_out(rows))
    say("p is one-sided for WEAT and its family (SEAT, ML-EAT, WEFAT, gWEAT, SD-WEAT), two-sided for the others.")
    pairs, vectors = words.defining_sets if words else (), table.vectors
    pair_words = list(chain(*pairs))
    if len(pairs) > 1 and table.origin and vectors is not None and all(word in vectors for word in pair_words):
        pool = random_pool(table.origin)
        with_pool = pool | {word: vectors[word] for word in pair_words}
        say(bb.measures.pair_dir(with_pool, pairs, random=list(pool), seed=seed).text)
    for remark in measured.remarks:
        say(remark)
