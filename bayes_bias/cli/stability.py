"""`bayes-bias stability`: how much does the answer depend on the training?."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.analyses.stability.stability import Stability
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import estimates, print_frame
from bayes_bias.cli.options import InferenceWithoutRope, OutputFolder, with_options
from bayes_bias.cli.table_source import WordListArgument, WordListSource
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import plain, plural
from bayes_bias.progress import Progress


@dataclass(frozen=True, kw_only=True)
class StabilityFolder(OutputFolder):
    """The same without a page."""

    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for tables, figure, text and posterior.")] = (
        None
    )


@app.command()
@with_options
def stability(
    wordlist: WordListArgument, inputs: WordListSource, output: StabilityFolder, inference: InferenceWithoutRope
) -> None:
    """How much does the bias of a list depend on the training: its seed, its corpus? Of an encoder: on the templates?

    Example: bayes-bias stability weat7 --embedding seed-1.txt --embedding seed-2.txt --embedding seed-3.txt
    """
    with progress_bar() as progress:
        progress.step(f"{wordlist}: measuring")
        result = bb.stability(
            inputs.measured(_trainings(inputs, wordlist, progress), wordlist), **inference.fitting, **inference.reading
        )
        text = output.write(result)
    _show(result)
    if text is not None:
        say(f"\nTables and figure are in {text.parent}")


def _trainings(inputs: WordListSource, wordlist: str, progress: Progress) -> Embedding:
    """What is trained several times: the templates of an encoder, one embedding with replicates, or several."""
    if inputs.reads_sentences:
        return inputs.opened([wordlist], progress)
    several = len(inputs.embedding) > 1
    given = inputs.embedding if several else inputs.embedding[0]
    opened = bb.open_embedding(given, trust=inputs.trust, kind=inputs.replicates or ("seed" if several else None))
    if not opened.replicates:
        raise BayesBiasError(
            f"--embedding: '{opened.name}' is one training, and nothing to say how trainings differ; give two"
            " embeddings or more, each with its --embedding"
        )
    return opened


def _show(result: Stability) -> None:
    # The raw bias is half of WEAT's difference, and would not fit.
    print_frame(result.measures.drop(columns="raw bias").map(plain), title=f"Each method in each {result.kind}")
    print_frame(result.spread.map(plain).rename_axis("method"), title=f"Over {plural(result.kind)}")
    for reason in result.left_out.values():
        say(f"left out: {reason}")
    print_frame(_components(result), title=f"How much {plural(result.kind)} differ: posterior of all together")
    print_frame(_shares(result), title="Where the variance comes from")
    say(result.text)


def _components(result: Stability) -> pd.DataFrame:
    rows, decimals = result.components, Fitted.of(result.fit).metric.decimals + 1
    return pd.DataFrame(
        {
            **estimates(rows, "mean", result.ci_prob, decimals, sign=""),
            "observed": rows.observed.map(partial(plain, decimals=decimals)),
        }
    )


def _shares(result: Stability) -> pd.DataFrame:
    names = {"value": "of a single value", "bias": f"of the bias in {len(result.measures)} {plural(result.kind)}"}
    return result.shares.rename(index=names).T.map("{:.0%}".format).rename_axis("part")
