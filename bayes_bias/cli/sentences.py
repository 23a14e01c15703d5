"""`bayes-bias sentences`: encode somewhere else."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import write_csv
from bayes_bias.cli.options import ControlsOption, OverwriteOption, listed
from bayes_bias.errors import EmbeddingError, TemplateError
from bayes_bias.files import check_output, read_csv
from bayes_bias.language_models.encoding import sentences_to_encode
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from bayes_bias.words.wordlist import load_wordlist


@app.command()
def sentences(
    source: Annotated[
        str,
        typer.Argument(
            metavar="LIST", help="A word list, as for `fit`; with --vectors, the CSV file that was written for it."
        ),
    ],
    out_file: Annotated[Path, typer.Option("--out", "-o", help="CSV file; with --vectors, the .npz file.")],
    templates: Annotated[str, typer.Option(help="The sentences: a shipped set or a TOML file.")] = "plain-10",
    controls: ControlsOption = "neutral,human",
    vectors: Annotated[
        Path | None, typer.Option(help="A NumPy file (.npy) with the vectors of the rows of LIST, in their order.")
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """The sentences of a list, to encode elsewhere; their vectors as a file that --embedding opens.

    Example: bayes-bias sentences weat6 --templates noun-10 --out weat6.csv; then, with an array of their vectors:
    bayes-bias sentences weat6.csv --vectors weat6.npy --out weat6.npz
    """
    check_output(out_file, overwrite, "--out")
    if vectors is not None:
        if not source.endswith(".csv"):
            raise EmbeddingError(
                f"--vectors: belong to the CSV file of sentences, and LIST is '{source}'; name the file"
            )
        saved = save_sentence_vectors(_rows(source), vectors, out_file, overwrite=overwrite)
        say(f"{saved}: use it with --embedding {out_file}")
        return
    if out_file.suffix != ".csv":
        raise TemplateError(f"--out: '{out_file}' does not end in .csv, which sentences are written as")
    rows = sentences_to_encode(source, templates, listed(controls))
    write_csv(rows, out_file, overwrite)
    say(f"{len(rows):,} sentences of {rows.word.nunique()} words are in {out_file}{_left_out(source, controls, rows)}")


def _left_out(source: str, controls: str, rows: pd.DataFrame) -> str:
    """Words of the shipped control classes that cannot stand in the templates; all others are refused."""
    words = load_wordlist(source).with_controls(listed(controls))
    lost = len({*words.targets, *words.attributes} - set(rows.word))
    return f"; {lost} words of the control classes cannot stand in these templates and are left out" if lost else ""


def _rows(file: str) -> pd.DataFrame:
    return read_csv(Path(file), f"LIST: '{file}' is", EmbeddingError, keep_default_na=False)
