"""`bayes-bias debias`: from embedding to debiased embedding."""

from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.options import OverwriteOption, RatingsOption, SettingsOption, settings_of
from bayes_bias.cli.table_source import TrustOption
from bayes_bias.debiasing.debiaser import debiaser_names, make_debiaser
from bayes_bias.embeddings.saving import check_vectors_path, save_vectors

# Fewer words have no neighbours to speak of.
_FEW = 20


@app.command()
def debias(
    out_file: Annotated[
        Path, typer.Option("--out", "-o", help="File for the vectors: .npz, or .txt for word2vec's text format.")
    ],
    sets: Annotated[
        str,
        typer.Option(
            help="Words that differ in the protected attribute alone: she:he,woman:man, or a TOML file with"
            " defining_sets and what else the method takes: groups, independent, equalize_sets, specific."
        ),
    ],
    embedding: Annotated[
        str, typer.Option("--embedding", "-e", help="Shipped name, file, or gensim-downloader name.")
    ] = "googlenews-demo",
    method: Annotated[str, typer.Option(help=f"One of: {', '.join(debiaser_names())}.")] = "hard",
    settings: SettingsOption = None,
    ratings: RatingsOption = None,
    overwrite: OverwriteOption = False,
    trust: TrustOption = False,
) -> None:
    """Debias an embedding, by hard debiasing or another method.

    Example: bayes-bias debias --sets she:he,woman:man --out debiased.npz
    """
    check_vectors_path(out_file, overwrite, "--out")
    debiaser = make_debiaser(method, settings_of(settings), "--method")
    debiasing = bb.debiasing.Debiasing(debiaser, sets)
    with progress_bar() as progress:
        progress.step(f"{embedding}: reading vectors")
        opened = bb.open_embedding(embedding, trust=trust)
        progress.step(f"debiasing: {method}")
        debiased = debiasing.applied(opened)
        enough = len(debiased.vocabulary()) > _FEW
        cost = bb.debiasing.damage(opened.all(), debiased.all(), ratings=ratings or ()) if ratings or enough else None
        progress.step(f"writing {out_file}")
        save_vectors(debiased, out_file, overwrite=overwrite)
    say(f"{len(debiased.vocabulary()):,} debiased vectors are in {out_file}")
    if cost is not None:
        say(cost.text)
    say(f"What did it change? bayes-bias compare LIST --before {embedding} --after {out_file}")
