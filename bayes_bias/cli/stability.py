"""`bayes-bias stability`: how much does the answer depend on the training?."""

from functools import partial
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.checks.stability import Stability
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    DEMO,
    FIGURES,
    AllowLossOption,
    CiOption,
    ControlsOption,
    EmbeddingOption,
    FiguresOption,
    ModelOption,
    OverwriteOption,
    ReplicatesOption,
    Sampler,
    ScopeOption,
    SeedOption,
    SentenceModel,
    TrustOption,
    controls_of,
    embedding_of,
    formats_of,
    takes_sampling,
    takes_sentence_model,
)
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.formatting import bounds, level, plain, plural
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports import check_folder


@app.command()
@takes_sampling
@takes_sentence_model
def stability(
    wordlist: Annotated[
        str, typer.Argument(metavar="LIST", help="Name of a shipped word list or a TOML file.")
    ],
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for tables, figure, text and posterior.")
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    embedding: EmbeddingOption = DEMO,
    replicates: ReplicatesOption = None,
    controls: ControlsOption = "neutral,human",
    model: ModelOption = "crossed",
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    sampler: Sampler,
    reader: SentenceModel,
) -> None:
    """How much does the bias of a list depend on the training: its seed, its corpus? Of an encoder: on the templates?

    Example: bayes-bias stability weat7 --embedding seed-1.txt --embedding seed-2.txt --embedding seed-3.txt
    """
    formats = formats_of(figures)
    if out_folder is not None:
        check_folder(out_folder, overwrite)
    with progress_bar() as progress:
        found = bb.stability(
            wordlist,
            embedding_of(embedding, replicates, trust, reader, [wordlist], controls, progress)
            if reader.is_given
            else embedding
            if len(embedding) > 1
            else embedding[0],
            kind=replicates,
            controls=controls_of(controls),
            model=model,
            scope=cast(ScopeName, scope),
            ci_prob=ci_prob,
            seed=seed,
            sampling=sampler.sampling,
            allow_loss=allow_loss,
            trust=trust,
            progress=progress,
        )
        if out_folder is not None:
            text = bb.write(found, out_folder, overwrite=overwrite, figures=formats)
    _show(found)
    if out_folder is not None:
        say(f"\nTables and figure are in {text.parent}")


def _show(found: Stability) -> None:
    # The raw bias is half of WEAT's difference, and would not fit.
    print_frame(found.measures.drop(columns="raw bias").map(plain), title=f"Each method in each {found.kind}")
    print_frame(found.spread.map(plain).rename_axis("method"), title=f"Over {plural(found.kind)}")
    for reason in found.left_out.values():
        say(f"left out: {reason}")
    print_frame(_components(found), title=f"How much {plural(found.kind)} differ: posterior of all together")
    print_frame(_shares(found), title="Where the variance comes from")
    say(found.text)


def _components(found: Stability) -> pd.DataFrame:
    rows, decimals = found.components, Fitted.of(found.fit).association.decimals + 1
    return pd.DataFrame(
        {
            "mean": rows["mean"].map(partial(plain, decimals=decimals)),
            f"{level(found.ci_prob)} interval": [
                bounds(*ends, decimals, sign="") for ends in zip(rows.lower, rows.upper, strict=True)
            ],
            "observed": rows.observed.map(partial(plain, decimals=decimals)),
        }
    )


def _shares(found: Stability) -> pd.DataFrame:
    names = {
        "value": "of a single value",
        "bias": f"of the bias in {len(found.measures)} {plural(found.kind)}",
    }
    return found.shares.rename(index=names).T.map("{:.0%}".format).rename_axis("part")
