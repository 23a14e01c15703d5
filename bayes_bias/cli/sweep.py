"""The commands for many embeddings: `sweep` and `over-time`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from glob import glob
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_layout, progress_bar, say, say_where
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    FIGURES,
    FiguresOption,
    InferenceWithoutRope,
    JobsOption,
    OutputFolder,
    OverwriteOption,
    SchedulerOption,
    formats_of,
    model_option,
    with_options,
)
from bayes_bias.cli.table_source import AllowUnlikeOption, MeasuringOptions, TrustOption
from bayes_bias.documents.folder import check_folder
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import with_unit
from bayes_bias.progress import step
from bayes_bias.table.scopes import ScopeName

if TYPE_CHECKING:
    from bayes_bias.analyses.over_time.moments import SliceScope


@app.command()
def sweep(
    spec_file: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            # Double brackets are avoided, because Rich interprets brackets as markup.
            help='TOML file with the lists and embeddings to measure: lists = ["weat*"] and tables "embeddings" with'
            ' files = "*.txt" (for language models encoder, masked, or causal). Optional: "versions" with name, method,'
            ' and sets, "sampling", models, measures, posteriors.',
        ),
    ],
    out_folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results and atlas. An interrupted run is resumed.")
    ],
    posteriors: Annotated[
        str | None,
        typer.Option(
            help="Cells to fit a model to: all, none, or a number, to fit cells in which the p-value of the"
            " quasi-F is below it. By default as in the file."
        ),
    ] = None,
    jobs: JobsOption = -1,
    scheduler: SchedulerOption = None,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How to replace a word that an embedding lacks: exact (not at all), case, accents, or subwords"
            " of fastText models. By default as in the file.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Language of lists that do not state one, such as en or de, because the built-in control"
            " classes are English. By default as in the file.",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    trust: TrustOption = False,
) -> None:
    """Measure every list in many embeddings, and write an atlas of them. Can be resumed.

    Example: bayes-bias sweep audit.toml --out audit
    """
    from bayes_bias.analyses.sweep.spec_file import read_sweep
    from bayes_bias.analyses.sweep.sweep import is_sweep
    from bayes_bias.jobs import connected

    formats = formats_of(figures)
    # While Matplotlib is imported in the first call, another run may start the same sweep in the folder.
    check_folder(out_folder, overwrite=True)
    check_folder(out_folder, overwrite or is_sweep(out_folder))
    # The arguments of `bayes_bias.sweep` in the file, in which options replace some.
    arguments = read_sweep(spec_file).arguments(trust)
    if posteriors is not None:
        arguments["posteriors"] = _posteriors(posteriors)
    if match is not None:
        arguments["wordlists"] = replace(arguments["wordlists"], match=match)
    if language is not None:
        arguments["wordlists"] = replace(arguments["wordlists"], language=language)
    with progress_bar(), connected(scheduler) as client:
        result = bb.sweep(**arguments, folder=out_folder, jobs=jobs if client is None else client)
        step("writing the atlas")
        page = bb.write(result, out_folder, overwrite=True, figures=formats)
    show_sweep(result)
    say(f"\nThe atlas is {page}")


def _posteriors(text: str) -> str | float:
    """Return the value of --posteriors: a number, or a text such as "all"."""
    with suppress(ValueError):
        return float(text)
    return text


def show_sweep(result: "bb.Sweep") -> None:
    """Print the results of a sweep, and keep it for --json.

    The results are a table of pooled biases, the changes by versions with their ranking, and series over time, as far
    as the sweep has them. Measurements that failed are listed at the end.
    """
    from bayes_bias.analyses.sweep.results import changes_layout, ranking_layout

    deliver(sweep=result)
    if result.pooled is not None:
        print_layout(ranking_layout(result, "embedding"))
        for notice in result.pooled.notices:
            say(f"note: {notice}")
    if len(result.changes):
        print_layout(changes_layout(result, result.changes))
    if result.ranking is not None:
        print_layout(result.ranking.layout)
    say(result.text)
    for series in result.series.values():
        say(series.text)
    if result.ranking is not None:
        say(result.ranking.text)
    for row in result.failures.itertuples():
        say(f"failed: {row.embedding}, {row.list}: {with_unit(row.reason, result.unit)}")


_SCOPES: Mapping[str, "SliceScope"] = {"new": "new slices", "these": "these slices"}


@dataclass(frozen=True, kw_only=True)
class Slices(MeasuringOptions):
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
    minus: Annotated[
        list[str],
        typer.Option(
            metavar="TIME=FILE",
            help="A slice of a second series, which is subtracted, for example of another newspaper. It is repeated"
            " for each time of --at.",
        ),
    ] = field(default_factory=list)
    sides: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="With --minus: the names of both series, comma-separated.")
    ] = None
    controls: str = field(default="none", init=False)
    templates: None = field(default=None, init=False)
    allow_unlike: AllowUnlikeOption = False

    @property
    def names_of_series(self) -> tuple[str, str] | None:
        """The names of both series in --sides, separated by a comma, or None for the default names."""
        if self.sides is None:
            return None
        if not self.minus:
            raise BayesBiasError(f"--sides '{self.sides}' names two series. Give the second one by --minus TIME=FILE.")
        first, _, second = self.sides.partition(",")
        if not first or not second or first == second:
            raise BayesBiasError(f"--sides '{self.sides}' must be two different names, such as Times,Mirror.")
        return first, second

    @staticmethod
    def files_by_time(option: str, values: list[str]) -> dict[float, list[str]]:
        """Return the files of each slice by its time, from the values of an option in the form TIME=FILE.

        FILE may be several files, separated by commas, or a pattern. `option` is the name of the option, for messages.
        """
        from bayes_bias.analyses.over_time.over_time import tidy_time  # which imports pandas

        files: dict[float, list[str]] = {}
        for value in values:
            time_text, _, pattern = value.partition("=")
            try:
                time = tidy_time(float(time_text))
            except ValueError:
                time = float("nan")
            if not pattern or isnan(time):
                raise BayesBiasError(
                    f"{option} '{value}' is not TIME=FILE with a number for the time, such as 1900=a.txt."
                )
            if time in files:
                raise BayesBiasError(
                    f"{option} {time_text} is given twice. Name the files of one slice together, {time_text}=one,other."
                )
            files[time] = []
            for part in pattern.split(","):
                files[time] += _matching_files(part, f"{option} '{value}'")
        return files

    def table(self, time: float, files: list[str], wordlist: str | None) -> "bb.AssociationTable":
        """Return the table of the slice with this time: a word list measured in its files.

        Several files are replicates, seeds by default. Without a word list, the only file must be a table.
        """
        step(f"{time}: measuring")
        replicates = (self.replicates or "seed") if len(files) > 1 else None
        source = replace(self, replicates=replicates).source(embedding=files)
        if wordlist is not None:
            return source.table(wordlist)
        return source.read_alone(files, "an embedding")


def _matching_files(pattern: str, option: str) -> list[str]:
    """Return the files that match a pattern, or the pattern itself if it is the name of a file."""
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    files = sorted(glob(pattern))
    if not files:
        raise BayesBiasError(f"{option} matches no file. Check the pattern.")
    return files


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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the words that each slice lacks, without fitting a model.")
    ] = False,
) -> None:
    """Estimate how a bias changed over time: its trend, and its changes from slice to slice.

    Example: bayes-bias over-time weat7 --at 1900='vec/1900-*.txt' --at 1910='vec/1910-*.txt' --out decades
    """
    if speak_of not in _SCOPES:
        raise BayesBiasError(f"--slices '{speak_of}' is not a choice. The choices are {', '.join(_SCOPES)}.")
    names_of_series = slices.names_of_series
    first_files = slices.files_by_time("--at", slices.at)
    second_files = slices.files_by_time("--minus", slices.minus)
    if second_files and dry_run:
        raise BayesBiasError("--dry-run shows the words of one series. Omit --minus, and run it again for the other.")
    if second_files and second_files.keys() != first_files.keys():
        times_of_at = ", ".join(map(str, first_files))
        raise BayesBiasError(f"--minus must have the times of --at, {times_of_at}. Give a slice for each of them.")
    if dry_run:  # missing words raise no error, because they are listed
        _show_words(replace(slices, allow_loss=True), first_files, wordlist)
        return

    def series_of(files: dict[float, list[str]]) -> bb.OverTime:
        """Fit the series whose slices, by their times, are in these files.

        The slices, the word list, and the settings of the model are those of the command.
        """
        return bb.over_time(
            {time: slices.table(time, files_of_slice, wordlist) for time, files_of_slice in files.items()},
            scope=_SCOPES[speak_of],
            words=cast(ScopeName, inference.scope),
            allow_loss=slices.allow_loss,
            allow_unlike=slices.allow_unlike,
            ci_prob=inference.ci_prob,
            **inference.fitting,
        )

    with progress_bar():
        series = series_of(first_files)
        if second_files:
            series = series.minus(series_of(second_files), sides=names_of_series)
        page = output.deliver(over_time=series)
    print_layout(series.layout)
    print_layout(series.changes_layout)
    say(f"\n{series.text}")
    say(series.moved_most)
    say_where("\nThe series is in", page)


def _show_words(slices: Slices, files_by_time: dict[float, list[str]], wordlist: str | None) -> None:
    """Print the words that each slice lacks, and the slice and words that cost most.

    A series compares the same words in all slices, so a word that one slice lacks is lost for all of them.
    """
    from bayes_bias.table.words_by_slice import words_by_slice

    with progress_bar():
        tables = {str(time): slices.table(time, files, wordlist) for time, files in files_by_time.items()}
        words = words_by_slice(tables)
    deliver(words_by_slice=words)
    print_layout(words.layout)
    say(words.text)
