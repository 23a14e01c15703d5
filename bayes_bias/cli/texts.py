"""The command `from-texts`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, progress_bar, say, say_where
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    CiOption,
    ControlsOption,
    OutputFolder,
    SeedOption,
    input_option,
    split_names,
    with_options,
)
from bayes_bias.cli.table_source import AllowLossOption, ListOptions, TrustOption, WordListArgument
from bayes_bias.embeddings.saving import check_vectors_path
from bayes_bias.errors import CorpusError
from bayes_bias.progress import step

if TYPE_CHECKING:
    from bayes_bias.corpora.from_texts import Measured


@app.command()
@with_options
def from_texts(
    texts: Annotated[
        Path,
        typer.Argument(
            metavar="TEXTS",
            help="Folder with one .txt file for each text, a .txt file with a text on each line, or a .csv, .tsv, or"
            " .jsonl file with a text in each row.",
        ),
    ],
    wordlist: WordListArgument,
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            "-e",
            help="Pretrained vectors of the words around those of the list: glove-6b-50d (needs the optional dependency"
            " 'glove'), a built-in name, or a file. Omit it with --measure pmi.",
        ),
    ] = None,
    measure: Annotated[
        str,
        input_option(
            help="Association of two words: cosine (of vectors built from their contexts) or pmi (pointwise mutual"
            " information, from their co-occurrences, for short texts)."
        ),
    ] = "cosine",
    column: Annotated[str, input_option(help="Column of TEXTS (.csv, .tsv, or .jsonl) with the text.")] = "text",
    cluster_column: Annotated[
        str,
        input_option(
            help="Column of TEXTS (.csv, .tsv, or .jsonl) with labels, such as authors, whose texts are sampled"
            " together."
        ),
    ] = "",
    window: Annotated[int, input_option(min=1, help="Number of words on each side of a word.")] = 6,
    groups: Annotated[int, input_option(min=2, help="Largest number of groups of texts for the jackknife.")] = 50,
    controls: ControlsOption = "neutral,human",
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    vectors: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the vectors of words in the texts, as .npz or .txt.")
    ] = None,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    reading: ListOptions,
    output: OutputFolder,
) -> None:
    """Measure a list in your own texts, with the texts as a sample.

    Example: bayes-bias from-texts speeches weat7 --embedding glove-6b-50d; or bayes-bias from-texts speeches weat7
    --measure pmi
    """
    if vectors is not None:
        check_vectors_path(vectors, output.overwrite, "--vectors")
        if measure != "cosine":
            raise CorpusError("--vectors cannot be combined with --measure pmi, which uses no vectors. Omit --vectors.")
    page = None
    with progress_bar():
        table = bb.from_texts(
            texts,
            reading.words(wordlist),
            bb.open_embedding(embedding, trust=True) if embedding and trust else embedding,
            split_names(controls),
            measure=cast("Measured", measure),
            column=column,
            cluster_column=cluster_column,
            window=window,
            groups=groups,
            allow_loss=allow_loss,
            seed=seed,
        )
        if vectors is not None:
            assert table.origin is not None
            bb.save_vectors(table.origin.embedding, vectors, overwrite=output.overwrite)
        if output.out is not None:
            step(f"writing {output.out}")
            page = output.write(bb.report(table, ci_prob=ci_prob, seed=seed))
    verdict = bb.verdict(table, ci_prob=ci_prob)
    of_these_words = bb.verdict(table, "none", ci_prob=ci_prob)
    deliver(verdict=verdict, of_these_words=of_these_words)
    say(f"{table}\n")
    say(f"New words and new texts: {verdict}\n")
    say(f"These words, new texts: {of_these_words}")
    say_where("\nThe report is in", page)
