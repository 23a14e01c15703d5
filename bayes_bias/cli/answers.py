"""The commands for chat models: `prompts` and `answers`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_layout, progress_bar, say, say_where, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    AcceptOption,
    CiOption,
    DrawsOption,
    FactorsOption,
    IgnoreOption,
    OutputFolder,
    OverwriteOption,
    Sampler,
    SeedOption,
    input_option,
    model_option,
    reject,
    split_lists,
    with_options,
)
from bayes_bias.errors import AnswersError
from bayes_bias.files import check_output

if TYPE_CHECKING:
    import pandas as pd


CHOICES = "choices"
# The scale of ratings in prompts, and in replies to them.
RATINGS = (1, 7)
_OF_VALUES = "applies to other kinds of answers than choices. Set --likelihood, or omit it."


@dataclass(frozen=True)
class ValueSampler(Sampler):
    """The options of a sampler, with the defaults of `bayes_bias.answers.estimate_values`."""

    draws: DrawsOption = 2000
    target_accept: AcceptOption = 0.99


@app.command()
@with_options
def answers(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Table with a row for each choice of a word: answer, word, label_a, label_b, chosen, and optionally"
            " wording, stereotype, model (CSV, Excel, parquet, JSON, JSONL). Alternatively, a built-in table"
            " (answers-demo). With --prompts, the replies by id, or the output of a service's batch.",
        ),
    ],
    wordlist: Annotated[
        list[str],
        typer.Option(
            "--list",
            metavar="LIST",
            help="Word list of the questions: built-in name, file, or answers-demo. Repeat it for several"
            " stereotypes, one list for each.",
            callback=split_lists,
        ),
    ],
    output: OutputFolder,
    prompts: Annotated[
        Path | None,
        input_option(help="The questions, as `bayes-bias prompts` wrote them. FILE then has the columns id and reply."),
    ] = None,
    id_path: Annotated[
        str | None, input_option("--id", help="Column or dotted path of the id of the prompt in FILE.")
    ] = None,
    reply_path: Annotated[
        str | None,
        input_option("--reply", help="Column or dotted path of the reply in FILE, such as choices.0.message.content."),
    ] = None,
    model_path: Annotated[
        str | None, input_option("--model", help="Column or dotted path of the name of the model in FILE.")
    ] = None,
    after: Annotated[
        str | None, input_option(help="Answers of another model, or after tuning, to the same questions.")
    ] = None,
    ignore: IgnoreOption = None,
    factors: FactorsOption = None,
    compare_models: Annotated[
        bool,
        model_option(
            "--compare-models",
            help="Compare the models of FILE, or the values of --factors, with each other: differences from answers to"
            " the same questions, and the order of the models.",
        ),
    ] = False,
    likelihood: Annotated[
        str,
        model_option(
            help="Kind of answer: choices of labels (choices), whole ratings (ordinal), numbers (numeric), numbers with"
            " outliers (robust), yes and no (binary), label probabilities (probabilities), or refusals (refusals)."
        ),
    ] = CHOICES,
    ratings: Annotated[
        tuple[int, int] | None,
        input_option(metavar="LOW HIGH", help="Ends of the scale of ordinal answers, such as 1 7."),
    ] = None,
    unit: Annotated[str, input_option(help="Unit of numeric answers, such as dollars.")] = "",
    name: Annotated[str | None, input_option(help="Name of the answers in tables and figures.")] = None,
    scope: Annotated[
        str,
        model_option(
            help="Generalise intervals to new labels, wordings, and words (all), to new wordings and words with these"
            " labels (wordings), to new words with these labels and wordings (words), or to new answers alone (trials)."
        ),
    ] = "all",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    sampler: ValueSampler,
) -> None:
    """Estimate the associations of a chat model, with labels, wordings, and words as samples.

    Example: bayes-bias answers answers-demo --list answers-demo --out stereotypes
    """
    ignored = ignore or []
    paths = {"id": id_path, "reply": reply_path, "model": model_path}
    if prompts is None and any(paths.values()):
        raise AnswersError("--id, --reply, and --model require --prompts. Add the file of prompts.")

    if likelihood != CHOICES and (compare_models or after is not None):
        raise AnswersError(
            f"--likelihood: '{likelihood}' cannot be combined with --compare-models or --after. Omit them."
        )
    if likelihood == CHOICES and sampler != ValueSampler():
        raise AnswersError(
            "--draws has no effect on choices, which are not sampled in chains. Omit the options of the"
            " sampler, or set --likelihood."
        )
    if likelihood == CHOICES:
        reject(_OF_VALUES, ratings=ratings and "{} {}".format(*ratings), unit=unit or None)
    if compare_models and after is not None:
        raise AnswersError("--after: --compare-models compares the models of FILE. Omit one of the two.")

    def read(source: str) -> "str | pd.DataFrame":
        """Return the table of answers in a file of replies to prompts or, without prompts, the path of the file.

        Replies are matched with the file of `prompts` by their ids, and read as numbers or as choices of labels, which
        depends on the `likelihood`. `paths` has the places of the id, the reply, and the model in the file.
        """
        if prompts is None:
            return source
        if likelihood != CHOICES:
            ends = ratings or RATINGS
            return bb.answers.numbers(prompts, source, wordlist, likelihood, ratings=ends, **paths, ignore=ignored)
        return bb.answers.choices(prompts, source, wordlist, **paths, ignore=ignored)

    settings: dict[str, Any] = {
        "scope": scope,
        "name": name or Path(file.removesuffix(".gz")).stem,
        "ci_prob": ci_prob,
        "seed": seed,
        "ignore": ignored,
        "factors": factors or [],
    }
    with progress_bar():
        result: Any
        if likelihood != CHOICES:
            from bayes_bias.analyses.answers.value_estimates import SAMPLING

            settings |= {"ratings": ratings, "unit": unit, "sampling": sampler.with_tuning(SAMPLING)}
            result = bb.answers.estimate_values(read(file), wordlist, likelihood, **settings)
        elif compare_models:
            result = bb.answers.compare_models(read(file), wordlist, **settings)
        else:
            result = bb.answers.estimate(read(file), wordlist, None if after is None else read(after), **settings)
        page = output.deliver(answers=result)
    print_layout(result.layout)
    if isinstance(result, bb.answers.ModelContrasts):
        print_layout(result.ranks)
    say(f"\n{result.text}")
    say_where("\nThe report is in", page)


@app.command()
def prompts(
    wordlist: Annotated[
        list[str],
        typer.Argument(
            metavar="LIST...", help="Word lists of two groups (labels) and two classes (words).", callback=split_lists
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV file for the prompts.")],
    wordings: Annotated[
        str | None,
        typer.Option(
            metavar="SET",
            help="A built-in set of wordings (assign-3, rate-3, percent-3, yes-no-3), or a TOML file of wordings. The"
            " default is the set for the kind of answer.",
        ),
    ] = None,
    likelihood: Annotated[
        str,
        typer.Option(
            help="Kind of answer: choices of labels (choices), ratings (ordinal), numbers (numeric), or yes and no"
            " (binary)."
        ),
    ] = CHOICES,
    ratings: Annotated[
        tuple[int, int], typer.Option(metavar="LOW HIGH", help="Ends of the scale of ratings.")
    ] = RATINGS,
    each: Annotated[int, typer.Option(min=1, help="Number of times that each question is asked.")] = 1,
    seed: SeedOption = 1,
    overwrite: OverwriteOption = False,
) -> None:
    """Write balanced questions for a chat model, with ids by which its replies are matched.

    Example: bayes-bias prompts weat6 --out prompts.csv
    """
    check_output(out, overwrite, "--out")
    if likelihood == CHOICES and ratings != RATINGS:
        reject(_OF_VALUES, ratings="{} {}".format(*ratings))
    rows = bb.answers.prompts(wordlist, wordings, each=each, seed=seed, likelihood=likelihood, ratings=ratings)
    write_csv(rows, out, overwrite)
    options = " ".join(f"--list {name}" for name in wordlist)
    if likelihood != CHOICES:
        options += f" --likelihood {likelihood}"
    if likelihood == "ordinal":
        options += f" --ratings {ratings[0]} {ratings[1]}"
    say(
        f"{len(rows):,} prompts of {rows.wording.nunique()} wordings are in {out}. Send the column prompt to"
        " the model, and save each reply with its id, in a file with the columns id and reply. Then run\n\n"
        f"    bayes-bias answers replies.csv --prompts {out} {options} --out report"
    )
