"""`bayes-bias compare`: did debiasing change anything?"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.associations.cosine import cosines_with_vectors
from bayes_bias.associations.table import Associations
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    FIGURES,
    AllowLossOption,
    CiOption,
    ControlsOption,
    FiguresOption,
    ModelOption,
    OverwriteOption,
    ReplicatesOption,
    RopeOption,
    Sampler,
    ScopeOption,
    SeedOption,
    SentenceModels,
    SetsOption,
    StereotypesOption,
    TrustOption,
    controls_of,
    embedding_of,
    formats_of,
    table_from_csv,
    takes_sampling,
    takes_sentence_model,
)
from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.errors import BayesBiasError
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.formatting import bounds, level, plain, probability, signed
from bayes_bias.reports import check_folder
from bayes_bias.results.summary import CHANCE, chance
from bayes_bias.words.defining_sets import read_debias_sets


@app.command()
@takes_sampling
@takes_sentence_model
def compare(
    before: Annotated[
        list[str],
        typer.Option(
            help="Embedding before, or a CSV file of cosines (then without LIST, with --stereotype); with --replicates"
            " several, each with its own --before."
        ),
    ],
    after: Annotated[list[str], typer.Option(help="Embedding after, or a CSV file of cosines.")],
    wordlist: Annotated[
        str | None, typer.Argument(metavar="[LIST]", help="Name of a shipped word list or a TOML file.")
    ] = None,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for page, tables, figures, methods text, posteriors."),
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    replicates: ReplicatesOption = None,
    sets: SetsOption = None,
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
    reader: SentenceModels,
) -> None:
    """Did debiasing change anything? Bias before and after, and its change with uncertainty.

    Example: bayes-bias compare weat6 --before googlenews-demo --after debiased.npz
    """
    models = [reader.of(before), reader.of(after)]
    formats = formats_of(figures)
    if out_folder is not None:
        check_folder(out_folder, overwrite)
    told = None if sets is None else read_debias_sets(sets)
    sides: list[tuple[Associations, Mapping[str, np.ndarray] | None]] = []
    with progress_bar() as progress:
        for each, one in zip((before, after), models, strict=True):
            progress.step(f"{', '.join(each)}: measuring")
            if wordlist is None:
                sides.append((_from_table(each, stereotypes, replicates), None))
            elif one.masked is not None:
                sides.append((one.table(wordlist, replicates, controls, trust, progress), None))
            else:
                sides.append(
                    cosines_with_vectors(
                        embedding_of(each, replicates, trust, one, [wordlist], controls, progress),
                        wordlist,
                        controls_of(controls),
                        also=told.words if told else (),
                        allow_loss=allow_loss,
                    )
                )
        (first, x), (second, y) = sides
        found = bb.compare(
            first,
            second,
            model,
            scope=cast(ScopeName, scope),
            ci_prob=ci_prob,
            rope=rope,
            vectors=None if x is None or y is None else (x, y),
            defining_sets=told.defining_sets if told else (),
            seed=seed,
            sampling=sampler.sampling,
            progress=progress,
        )
        if out_folder is not None:
            page = bb.write(found, out_folder, overwrite=overwrite, figures=formats)
    _show(found)
    if out_folder is not None:
        say(f"\nThe comparison is in {page}")


def _from_table(paths: list[str], stereotypes: list[str] | None, replicates: str | None) -> Associations:
    path, *more = paths
    if more or not path.endswith(".csv"):
        raise BayesBiasError(
            f"LIST: is missing; an embedding or a model such as '{path}' needs a word list, only CSV files of"
            " cosines do not"
        )
    return table_from_csv(Path(path), stereotypes, replicates)


def _show(found: Comparison) -> None:
    print_frame(_biases(found), title=f"Bias of {found.name}, in {found.before.association.unit}")
    say(f"chance if no bias: {CHANCE}; for the change, if nothing had changed")
    print_frame(_measures(found), title="Every measure before and after")
    for reason in found.left_out.values():
        say(f"left out: {reason}")
    say(f"\n{found.text}")


def _biases(found: Comparison) -> pd.DataFrame:
    rows, decimals = found.bias, found.before.association.decimals
    intervals = list(map(partial(bounds, decimals=decimals), rows.lower, rows.upper))
    asked = {} if found.verdict.rope is None else {"negligible": rows.prob_negligible.map(probability)}
    return pd.DataFrame(
        {
            "bias": rows.bias.map(partial(signed, decimals=decimals)),
            f"{level(found.ci_prob)} interval": [
                "by construction" if exact else interval
                for exact, interval in zip(rows.by_construction, intervals, strict=True)
            ],
            "chance if no bias": chance(rows.prob_direction).map(probability),
            **asked,
            "raw": rows.observed.map(partial(signed, decimals=decimals)),
        }
    )


def _measures(found: Comparison) -> pd.DataFrame:
    rows = found.measures
    return pd.DataFrame(
        {
            "before": rows.before.map(plain),
            "after": rows.after.map(plain),
            "no bias": rows.b0.map(plain),
            "p before": rows.p_before.map(probability),
            "p after": rows.p_after.map(probability),
        }
    )
