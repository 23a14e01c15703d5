"""The command `check`."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_layout, progress_bar, say
from bayes_bias.cli.main import app
from bayes_bias.cli.options import INPUT, Sampler, ScopeOption, SeedOption, known_lists, split_lists, with_options
from bayes_bias.cli.report import measured_tables
from bayes_bias.cli.table_source import TableSource
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import check_output, write_text
from bayes_bias.table.scopes import DEFAULT_SCOPE, scope_of


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
        for option in ("markdown", "junit", "card"):
            if (path := getattr(self, option)) is not None:
                check_output(path, self.overwrite, f"--{option}")

    def write(self, gate: "bb.Gate") -> None:
        """Write the files that were requested."""
        makers = {self.markdown: gate.to_markdown, self.junit: gate.to_junit, self.card: gate.to_model_card}
        for path, make in makers.items():
            if path is not None:
                write_text(make(), path, self.overwrite)


@dataclass(frozen=True, kw_only=True)
class OtherInputs:
    """The options for scores of sentence pairs and for answers, which replace tables."""

    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Check scores of sentence pairs, as for `sentence-pairs`, instead of LIST. SIZE is a share of pairs.",
            rich_help_panel=INPUT,
        ),
    ] = None
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Check answers of chat models, as for `answers`, to the questions of LIST. SIZE is a size of D.",
            rich_help_panel=INPUT,
        ),
    ] = None

    @property
    def has_file(self) -> bool:
        """Return True if there is a file of pairs or answers."""
        return self.pairs is not None or self.answers is not None

    def check_lists(self, lists: list[str]) -> None:
        """Raise an error if LIST is missing, or if it cannot be combined with the file."""
        if self.pairs is not None and (lists or self.answers is not None):
            raise BayesBiasError("--pairs cannot be combined with LIST or --answers. Omit them.")
        if self.pairs is None and not lists:
            raise BayesBiasError("LIST is missing. Name a word list, such as weat6, or pass --pairs FILE.")

    def decide(
        self, lists: list[str], baseline: Path | None, seed: int, sampler: Sampler, rope: float | None, alpha: float
    ) -> "bb.Gate":
        """Return the decision on the file. If the baseline has data, they are paired with the data of the file."""
        from bayes_bias.analyses.gate.baseline import is_data, origin_of, read_records
        from bayes_bias.analyses.gate.gate import check_allowed

        settings: dict[str, Any] = {"rope": check_allowed(rope, alpha), "alpha": alpha, "seed": seed}
        read, estimate = self._functions(lists, seed, sampler)
        file = self.pairs or self.answers
        if baseline is None or not is_data(baseline):
            if baseline is not None:
                read_records(baseline)  # before sampling
            with _about(f"'{file}'"):
                result = estimate(read(file))
            return bb.check(result, **settings, baseline=baseline)
        with _about(f"'{file}'"):
            now = read(file)
        with _about(f"--baseline '{baseline}'"):
            before = read(str(baseline))
        with _about(f"'{file}' after --baseline '{baseline}'"):
            if before.sha256 == now.sha256:
                result = estimate(now)
                gate = bb.check(result, **settings, baseline=bb.check(result, **settings))
            else:
                gate = bb.check(estimate(before, after=now), **settings)
        return replace(gate, baseline=origin_of(baseline))

    def _functions(self, lists: list[str], seed: int, sampler: Sampler) -> tuple[Callable[..., Any], ...]:
        """Return the function that reads the file, and the function that estimates its biases."""
        if self.answers is not None:
            from bayes_bias.analyses.answers.reading import read_answers

            estimate = bb.answers.estimate
            return partial(read_answers, wordlist=lists), partial(estimate, wordlist=lists, seed=seed)
        from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
        from bayes_bias.analyses.sentence_pairs.lm_eval import is_log, lm_eval
        from bayes_bias.analyses.sentence_pairs.scores import read_scores

        sampling = replace(sampler.sampling, tune=SAMPLING.tune)
        of_pairs = partial(bb.sentence_pairs.estimate, seed=seed, sampling=sampling)
        return (lambda file: (lm_eval if is_log(file) else read_scores)(file, name="pairs")), of_pairs


@contextmanager
def _about(files: str) -> Iterator[None]:
    """Name the files in errors about their data, and the way to options that only other commands have."""
    try:
        yield
    except BayesBiasError as error:
        lacking = re.search(r"--(?:of|unit|ignore|decimals)\b", str(error))
        advice = f" `check` has no {lacking[0]}. Pass a result of `estimate` to `bb.check`." if lacking else ""
        raise BayesBiasError(f"{files}: {error}{advice}") from error


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
            "--rope",
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
        if others.has_file:
            if inputs != TableSource() or scope != DEFAULT_SCOPE:
                raise BayesBiasError("--pairs and --answers have no embedding and no --scope. Omit their options.")
            gate = others.decide(names, baseline, seed, sampler, rope, alpha)
        else:
            sampling = None if sampler == Sampler() else sampler.sampling  # which imports the sampler
            tables = measured_tables(known_lists(names), inputs)
            settings: dict[str, Any] = {"rope": rope, "baseline": baseline, "alpha": alpha, "seed": seed}
            gate = bb.check(tables, **settings, scope=scope_of(scope).name, sampling=sampling)
    files.write(gate)
    deliver(gate=gate)
    say(gate.text)
    print_layout(gate.layout)
    raise typer.Exit(gate.exit_code)
