"""The command `check`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_layout, progress_bar, say
from bayes_bias.cli.main import app
from bayes_bias.cli.options import ListsArgument, Sampler, ScopeOption, SeedOption, with_options
from bayes_bias.cli.report import measured_tables
from bayes_bias.cli.table_source import TableSource
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


@app.command()
@with_options
def check(
    lists: ListsArgument,
    inputs: TableSource,
    rope: Annotated[
        float | None,
        typer.Option(
            "--rope",
            metavar="SIZE",
            help="Largest allowed bias, in the units of the numbers, or with --baseline its largest allowed increase.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Compare with an earlier check, the file of its --json.")
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
    with progress_bar():
        gate = bb.check(
            measured_tables(lists, inputs),
            rope=rope,
            baseline=baseline,
            scope=scope_of(scope).name,
            alpha=alpha,
            seed=seed,
            sampling=None if sampler == Sampler() else sampler.sampling,  # which imports the sampler
        )
    files.write(gate)
    deliver(gate=gate)
    say(gate.text)
    print_layout(gate.layout)
    raise typer.Exit(gate.exit_code)
