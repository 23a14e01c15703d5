"""The commands that check a design, an analysis, or a bias: `check`, `calibrate`, `multiverse`, and `stability`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_frame, print_layout, progress_bar, say, say_where, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    InferenceWithoutRope,
    JobsOption,
    OutputFolder,
    OverwriteOption,
    Sampler,
    SchedulerOption,
    ScopeOption,
    SeedOption,
    check_outputs,
    input_option,
    known_lists,
    model_option,
    split_lists,
    with_options,
)
from bayes_bias.cli.report import measured_tables
from bayes_bias.cli.table_source import ListArgument, TableSource, WordListArgument
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import table_file, write_text
from bayes_bias.formatting import Column, Layout, plain, plural
from bayes_bias.progress import step
from bayes_bias.table.columns import estimate_columns
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName

if TYPE_CHECKING:
    from bayes_bias.checks.calibration import By
    from bayes_bias.checks.null_lists import Drawn
    from bayes_bias.embeddings.embedding import Embedding
    from bayes_bias.measures.other_words import Random


@dataclass(frozen=True, kw_only=True)
class GateFiles:
    """The options for files of a decision, which are checked before measuring."""

    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Markdown file for a comment on a pull request.")
    ] = None
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE.xml", help="JUnit XML file, with a test for each list.")
    ] = None
    card: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Markdown file with a section for a model card.")
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False

    def __post_init__(self) -> None:
        """Raise an error if a file exists, or cannot be written."""
        check_outputs(self.overwrite, markdown=self.markdown, junit=self.junit, card=self.card)

    def write(self, gate: "bb.Gate") -> None:
        """Write the decision to the files that were requested, each in its own format."""
        makers = {self.markdown: gate.to_markdown, self.junit: gate.to_junit, self.card: gate.to_model_card}
        for path, make in makers.items():
            if path is not None:
                write_text(make(), path, self.overwrite)


@dataclass(frozen=True, kw_only=True)
class OtherInputs:
    """The options for scores of sentence pairs and for answers, which replace tables."""

    pairs: Annotated[
        str | None,
        input_option(
            metavar="FILE",
            help="Check scores of sentence pairs, as for `sentence-pairs`, instead of LIST. SIZE is a share of pairs.",
        ),
    ] = None
    answers: Annotated[
        str | None,
        input_option(
            metavar="FILE",
            help="Check answers of chat models, as for `answers`, to the questions of LIST. SIZE is a size of D.",
        ),
    ] = None

    @property
    def file(self) -> str | None:
        """The file of pairs or answers, or None if tables are checked."""
        return self.pairs if self.answers is None else self.answers

    def check_lists(self, lists: list[str]) -> None:
        """Raise an error if LIST is missing, or if it cannot be combined with the file."""
        if self.pairs is not None and (lists or self.answers is not None):
            raise BayesBiasError("--pairs cannot be combined with LIST or --answers. Omit them.")
        if self.pairs is None and not lists:
            raise BayesBiasError("LIST is missing. Name a word list, such as weat6, or pass --pairs FILE.")

    def decide(
        self, file: str, lists: list[str], sampler: Sampler, baseline: Path | None, settings: dict[str, Any]
    ) -> "bb.Gate":
        """Return the decision on the biases in a file of sentence pairs or answers.

        The baseline may be the JSON of an earlier check, whose records the decision reads, or a file of earlier data.
        Earlier data are paired with the data of the file, to estimate the change of the biases. `settings` are the
        arguments `rope`, `alpha`, and `seed` of `bayes_bias.check`. If reading or estimation raises an error, its
        message begins with the name of the file (`_errors_named_after`).
        """
        from bayes_bias.analyses.gate.biases import is_data, origin_of, read_records
        from bayes_bias.analyses.gate.gate import check_allowed

        check_allowed(settings["rope"], settings["alpha"])
        read, estimate = self._reader_and_estimator(lists, settings["seed"], sampler)
        if baseline is None or not is_data(baseline):
            if baseline is not None:
                read_records(baseline)  # so that a damaged file raises an error before sampling
            with _errors_named_after(f"'{file}'", file):
                result = estimate(read(file))
            return bb.check(result, **settings, baseline=baseline)
        with _errors_named_after(f"'{file}'", file):
            new_data = read(file)
        with _errors_named_after(f"--baseline '{baseline}'", baseline):
            old_data = read(str(baseline))
        with _errors_named_after(f"'{file}' after --baseline '{baseline}'", file):
            is_same = old_data.sha256 == new_data.sha256
            result = estimate(new_data) if is_same else estimate(old_data, after=new_data)
        # Without a change to estimate, the decision on the same data is its own baseline.
        unchanged = bb.check(result, **settings) if is_same else None
        return replace(bb.check(result, **settings, baseline=unchanged), baseline=origin_of(baseline))

    def _reader_and_estimator(self, lists: list[str], seed: int, sampler: Sampler) -> tuple[Callable[..., Any], ...]:
        """Return the function that reads a file, and the function that estimates the biases of its content.

        Both depend on the kind of the file: answers to the questions of word lists (`lists`), or scores of sentence
        pairs, which may be logs of lm-evaluation-harness. The first function then needs only the path of a file, and
        the second only what the first returned, because all other arguments are already filled in.
        """
        if self.answers is not None:
            from bayes_bias.analyses.answers.reading import read_answers

            return partial(read_answers, wordlist=lists), partial(bb.answers.estimate, wordlist=lists, seed=seed)
        from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
        from bayes_bias.analyses.sentence_pairs.lm_eval import is_log, lm_eval
        from bayes_bias.analyses.sentence_pairs.scores import read_scores

        def read_pairs(file: str) -> Any:
            return lm_eval(file, name="pairs") if is_log(file) else read_scores(file, name="pairs")

        return read_pairs, partial(bb.sentence_pairs.estimate, seed=seed, sampling=sampler.with_tuning(SAMPLING))


@contextmanager
def _errors_named_after(label: str, file: str | Path) -> Iterator[None]:
    """Begin the messages of errors in the `with` block with a label of the file that is read or estimated.

    If the file exists, the error is about its data. Other commands have options for such data, but `check` has none, so
    the message ends with an alternative.
    """
    try:
        yield
    except BayesBiasError as error:
        advice = " `check` has no options for the data, such as --of. Pass a result of `estimate` to `bb.check`."
        is_about_data = table_file(file).is_file()
        raise BayesBiasError(f"{label}: {error}{advice if is_about_data else ''}") from error


@app.command()
@with_options
def check(
    inputs: TableSource,
    others: OtherInputs,
    lists: Annotated[
        list[str] | None,
        typer.Argument(metavar="LIST...", help="Word lists, as for `fit`.", callback=split_lists, show_default=False),
    ] = None,
    rope: Annotated[
        float | None,
        typer.Option(
            metavar="SIZE",
            help="Largest allowed bias, in the units of the numbers, or with --baseline its largest allowed increase.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with an earlier check, the file of its --json, or, with --pairs or --answers, with earlier"
            " scores or answers, which are paired with the new ones.",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Largest allowed probability of a wrong decision, below 0.5.")] = 0.05,
    scope: ScopeOption = DEFAULT_SCOPE,
    seed: SeedOption = 1,
    *,
    files: GateFiles,
    sampler: Sampler,
) -> None:
    """Decide whether biases stay within what you allow, or have grown: pass, fail, or cannot tell.

    The exit code is 0 (pass), 1 (fail), 3 (cannot tell), or 2 (an error).

    Example: bayes-bias check weat6 weat7 --rope 0.05 --json baseline.json
    """
    names = lists or []
    others.check_lists(names)
    with progress_bar():
        settings: dict[str, Any] = {"rope": rope, "alpha": alpha, "seed": seed}
        if others.file is not None:
            if inputs != TableSource() or scope != DEFAULT_SCOPE:  # options of tables were used
                raise BayesBiasError("--pairs and --answers have no embedding and no --scope. Omit their options.")
            gate = others.decide(others.file, names, sampler, baseline, settings)
        else:
            # With default options, the sampler need not be imported, which the property `sampling` does.
            sampling = None if sampler == Sampler() else sampler.sampling
            tables = measured_tables(known_lists(names), inputs)
            gate = bb.check(tables, **settings, baseline=baseline, scope=cast(ScopeName, scope), sampling=sampling)
    files.write(gate)
    deliver(gate=gate)
    say(gate.text)
    print_layout(gate.layout)
    raise typer.Exit(gate.exit_code)


@app.command()
@with_options
def calibrate(
    wordlist: WordListArgument,
    inputs: TableSource,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file for the records of all draws.")] = None,
    overwrite: OverwriteOption = False,
    folder: Annotated[Path | None, typer.Option(help="Keep records here, so that a stopped run can go on.")] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Number of random draws. By default 400, or 50 if each must be sampled.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="Source of the tables: 'random words' of the embedding, or 'simulation' from the model. A"
            " simulation tests whether intervals contain the true bias as often as they should."
        ),
    ] = "random words",
    random: Annotated[
        str | None,
        typer.Option(
            help="Words to draw: attributes, targets, or both. By default attributes, targets for 'own words', or both"
            " for topics."
        ),
    ] = None,
    drawn: Annotated[
        str,
        typer.Option(
            help="How to draw them: as single words ('words'), by exchanging the list's between its classes or groups"
            " ('own words'), in 'sub-topics' (three for each class), or in 'topics' (targets and attributes of a random"
            " topic for each group and class, which do differ)."
        ),
    ] = "words",
    size: Annotated[
        int | None,
        typer.Option(min=2, help="Random words in each class or group. By default the same number as in the list."),
    ] = None,
    planted: Annotated[
        float, typer.Option(min=0, max=0.5, help="Plant a bias of this size, to estimate how often it is found.")
    ] = 0.0,
    model: Annotated[list[str] | None, model_option(help="Built-in model or TOML file. Can be repeated.")] = None,
    seed: SeedOption = 1,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
) -> None:
    """Estimate how often this design finds a bias if there is none, with words drawn at random.

    Example: bayes-bias calibrate weat7 --draws 200
    """
    from bayes_bias.associations.lists import measure_lists
    from bayes_bias.jobs import connected

    check_outputs(overwrite, out=out_file)
    with progress_bar(), connected(scheduler) as client:
        result = bb.calibrate(
            measure_lists(inputs.words(wordlist), inputs.opened([wordlist]), **inputs.settings)[0],
            by=cast("By", by),
            draws=draws,
            random=cast("Random | None", random),
            drawn=cast("Drawn", drawn),
            size=size,
            planted=planted,
            models=model or ["crossed"],
            seed=seed,
            folder=folder,
            jobs=jobs if client is None else client,
        )
    deliver(calibration=result)
    print_layout(result.layout)
    say(result.text)
    if out_file is not None:
        write_csv(result.records, out_file, overwrite)
    say_where("The records of all draws are in", out_file)


@app.command()
@with_options
def multiverse(
    source: ListArgument,
    inputs: TableSource,
    output: OutputFolder,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Add another model without variations, such as robust (half a minute or more). Can be repeated."
        ),
    ] = None,
    *,
    inference: InferenceWithoutRope,
) -> None:
    """Estimate the bias under each combination of choices of the analysis.

    Example: bayes-bias multiverse weat7 --out multiverse
    """
    with progress_bar():
        step(f"{source}: measuring")
        table = inputs.table(source)
        result = bb.multiverse(table, **inference.fitting, **inference.reading, also=also or [])
        output.deliver(multiverse=result)
    print_layout(result.layout)
    say(result.text)
    say_where("Table and figure are in", output.out)


@app.command()
@with_options
def stability(
    wordlist: WordListArgument, inputs: TableSource, output: OutputFolder, inference: InferenceWithoutRope
) -> None:
    """Estimate how much the bias of a list depends on the training run (seed or corpus).

    For an encoder, estimate how much the bias depends on the templates.

    Example: bayes-bias stability weat7 --embedding seed-1.txt --embedding seed-2.txt --embedding seed-3.txt
    """
    with progress_bar():
        step(f"{wordlist}: measuring")
        embedding = _embedding_with_replicates(inputs, wordlist)
        result = bb.stability(inputs.measured(embedding, wordlist), **inference.fitting, **inference.reading)
        output.deliver(stability=result)
    _show(result)
    say_where("\nTables and figure are in", output.out)


def _embedding_with_replicates(inputs: TableSource, wordlist: str) -> "Embedding":
    """Return an embedding whose replicates are compared: training runs, or the templates of an encoder.

    Training runs are several --embedding, which are seeds unless --replicates states another kind, or one embedding
    that contains replicates.
    """
    if len(inputs.embedding) > 1 and inputs.replicates is None:
        inputs = replace(inputs, replicates="seed")
    embedding = inputs.opened([wordlist])
    if not embedding.replicates:
        raise BayesBiasError(
            f"--embedding '{embedding.name}' is a single training run, which cannot show how training runs"
            " differ. Pass at least two embeddings, each with its --embedding."
        )
    return embedding


def _show(result: "bb.Stability") -> None:
    """Print the measures in each training run, the variance components, and the shares of the variance."""
    # The raw bias is half of WEAT's difference. It is omitted because it would not fit.
    measures = result.measures.drop(columns="raw bias").map(plain)
    print_frame(measures, title=f"Each method in each {result.replicate_kind}")
    print_layout(result.layout)
    for reason in result.left_out.values():
        say(f"omitted: {reason}")
    print_layout(_components_layout(result))
    print_layout(result.shares_layout)
    say(result.text)


def _components_layout(result: "bb.Stability") -> Layout:
    """Return a table of the variance components of the joint posterior, beside their observed values.

    Each label consists of the levels of the index that are not empty. Standard deviations have one decimal more than
    biases, because they are smaller.
    """
    from bayes_bias.fitting.fitted import Fitted

    rows = result.components
    decimals = Fitted.of(result.fit).metric.decimals + 1
    return Layout(
        [" ".join(filter(None, map(str, name))) for name in rows.index],
        [
            *estimate_columns(rows, "mean", result.ci_prob, decimals, sign=""),
            Column("observed", rows.observed, partial(plain, decimals=decimals)),
        ],
        caption=f"Variation between {plural(result.replicate_kind)}: joint posterior",
    )
