"""`bayes-bias debias`: from embedding to embedding."""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.options import OverwriteOption, TrustOption
from bayes_bias.embeddings import check_vectors_path, save_vectors
from bayes_bias.words.defining_sets import read_debias_sets


@app.command()
def debias(
    out_file: Annotated[
        Path,
        typer.Option("--out", "-o", help="File for the vectors: .npz, or .txt for word2vec's text format."),
    ],
    sets: Annotated[
        str,
        typer.Option(
            help="Words that differ in the protected attribute alone: she:he,woman:man, or a TOML file with"
            " defining_sets and perhaps equalize_sets and specific."
        ),
    ],
    embedding: Annotated[
        str, typer.Option("--embedding", "-e", help="Shipped name, file, or gensim-downloader name.")
    ] = "googlenews-demo",
    equalize: Annotated[
        bool, typer.Option("--equalize", help="Equalise the defining sets too, as Bolukbasi et al. do.")
    ] = False,
    components: Annotated[
        int, typer.Option(min=1, help="Dimensions of the bias subspace: 1 for two groups, more for several.")
    ] = 1,
    overwrite: OverwriteOption = False,
    trust: TrustOption = False,
) -> None:
    """Hard debiasing (Bolukbasi et al. 2016; Manzini et al. 2019): neutralise, and equalise if asked.

    Example: bayes-bias debias --sets she:he,woman:man --out debiased.npz
    """
    check_vectors_path(out_file, overwrite, "--out")
    told = read_debias_sets(sets)
    with progress_bar() as progress:
        progress.step(f"{embedding}: reading vectors")
        opened = bb.open_embedding(embedding, trust=trust)
        vectors = opened.all()
        progress.step("debiasing")
        debiased = bb.hard_debias(
            vectors,
            told.defining_sets,
            specific=told.specific,
            equalize_sets=(*told.equalize_sets, *(told.defining_sets if equalize else ())),
            components=components,
        )
        progress.step(f"writing {out_file}")
        save_vectors(debiased, out_file, overwrite=overwrite)
    say(f"{len(debiased):,} vectors of unit length are in {out_file}")
    say(f"What did it change? bayes-bias compare LIST --before {embedding} --after {out_file}")
