"""The command `over-time`."""

from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_layout, progress_bar, say
from bayes_bias.cli.main import app
from bayes_bias.cli.options import InferenceWithoutRope, OutputFolder, model_option, with_options
from bayes_bias.cli.table_source import (
    AllowLossOption,
    LanguageOption,
    MatchOption,
    ReplicatesOption,
    SubTopicsOption,
    TableSource,
    TrustOption,
)
from bayes_bias.errors import BayesBiasError
from bayes_bias.progress import step
from bayes_bias.spreadsheets import is_spreadsheet
from bayes_bias.table.scopes import ScopeName

if TYPE_CHECKING:
    from bayes_bias.analyses.over_time.slice_contrast import SliceScope

_SCOPES: Mapping[str, "SliceScope"] = {"new": "new slices", "these": "these slices"}


@dataclass(frozen=True, kw_only=True)
class Slices:
    """The options for the source of each slice, and for measuring. Control classes are not used."""

    at: Annotated[
        list[str],
        typer.Option(
            metavar="TIME=FILE",
            help="A slice of the corpus, repeated for each slice. TIME is a number. FILE is an embedding,"
            " or a table that `bayes-bias table` wrote (then without LIST). Several files"
            " (1900=one.txt,two.txt) or a pattern (1900='vec/1900-*.txt') are seeds of the same slice.",
        ),
    ]
    replicates: ReplicatesOption = None
    sub_topics: SubTopicsOption = None
    match: MatchOption = "exact"
    language: LanguageOption = None
    allow_loss: AllowLossOption = False
    trust: TrustOption = False

    @property
    def files(self) -> dict[float, list[str]]:
        """The files of each slice."""
        files: dict[float, list[str]] = {}
        for option in self.at:
            text, _, pattern = option.partition("=")
            try:
                time = float(text)
            except ValueError:
                time = float("nan")
            if not pattern or time != time:
                raise BayesBiasError(
                    f"--at '{option}' is not TIME=FILE with a number for the time, such as 1900=a.txt."
                )
            if time in files:
                raise BayesBiasError(
                    f"--at {text} is given twice. Name the files of one slice together, {text}=one,other."
                )
            files[time] = [file for part in pattern.split(",") for file in self._matching(part, option)]
        return files

    def _matching(self, pattern: str, option: str) -> list[str]:
        if not any(sign in pattern for sign in "*?["):
            return [pattern]
        files = sorted(glob(pattern))
        if not files:
            raise BayesBiasError(f"--at '{option}' matches no file. Check the pattern.")
        return files

    def table(self, time: float, names: list[str], wordlist: str | None) -> "bb.AssociationTable":
        """Return the table of one slice."""
        step(f"{time:g}: measuring")
        several = len(names) > 1
        source = TableSource(
            embedding=names,
            controls="none",
            replicates=(self.replicates or "seed") if several else None,
            sub_topics=self.sub_topics,
            match=self.match,
            language=self.language,
            allow_loss=self.allow_loss,
            trust=self.trust,
        )
        if wordlist is not None:
            return source.table(wordlist)
        if several or not is_spreadsheet(names[0]):
            raise BayesBiasError(
                f"LIST is missing. '{names[0]}' is an embedding, which needs a word list. Only files of"
                " `bayes-bias table` do not."
            )
        return source.read(names[0])


@app.command()
@with_options
def over_time(
    slices: Slices,
    output: OutputFolder,
    inference: InferenceWithoutRope,
    wordlist: Annotated[
        str | None, typer.Argument(metavar="[LIST]", help="Word list. Omit it if --at names tables.")
    ] = None,
    speak_of: Annotated[
        str,
        model_option(
            "--slices", help="Apply the verdict to new slices of these times (new), or to these slices (these)."
        ),
    ] = "new",
) -> None:
    """Estimate how a bias changed over time: its trend, and its changes from slice to slice.

    Example: bayes-bias over-time weat7 --at 1900='vec/1900-*.txt' --at 1910='vec/1910-*.txt' --out decades
    """
    if speak_of not in _SCOPES:
        raise BayesBiasError(f"--slices '{speak_of}' is not a choice. The choices are {', '.join(_SCOPES)}.")
    with progress_bar():
        tables = {time: slices.table(time, names, wordlist) for time, names in slices.files.items()}
        settings = inference.fitting
        series = bb.over_time(
            tables,
            scope=_SCOPES[speak_of],
            words=cast(ScopeName, inference.scope),
            ci_prob=inference.ci_prob,
            **settings,
        )
        page = output.write(series)
    print_layout(series.layout)
    print_layout(series.changes_layout)
    say(f"\n{series.text}")
    say(series.moved_most)
    if page is not None:
        say(f"\nThe series is in {page}")
