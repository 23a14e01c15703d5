"""Options that several commands share, and a decorator for commands whose arguments are groups of options."""

import inspect
import os
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver
from bayes_bias.documents.folder import check_folder
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import FORMATS, WRITTEN, check_formats, check_output, expanded
from bayes_bias.table.scopes import DEFAULT_SCOPE, SCOPES, scope_of

INPUT = "Input"
MODEL = "Model"
SAMPLING = "Sampling"
HEADINGS = "Columns of FILE"
NUMBERS = "Numbers of FILE"
# The panels of `--help` below the most important options.
_PANELS = (HEADINGS, NUMBERS, MODEL, INPUT, SAMPLING)
# Options in the panels of `--help`.
input_option = partial(typer.Option, rich_help_panel=INPUT)
model_option = partial(typer.Option, rich_help_panel=MODEL)
sampling_option = partial(typer.Option, rich_help_panel=SAMPLING)
FIGURES = ",".join(WRITTEN)


def split_lists(values: list[str] | None) -> list[str]:
    """Return the names of lists in the values of an argument, which may contain several names, separated by commas.

    A value that is the name of a file is not split, even if it contains commas.
    """
    names = []
    for value in values or ():
        names += [value] if Path(value).is_file() else value.split(",")
    return [name for name in names if name.strip()]


def known_list(name: str) -> str:
    """Return the name of a list, or raise an error if there is no such list.

    Typer calls this function before the command, so that a wrong name is reported before the packages that measure
    lists are imported, which takes seconds. Files are only read later.
    """
    from bayes_bias.words.wordlist import load_wordlist  # imported here because --help needs no lists

    if name and not os.path.lexists(expanded(name)):
        load_wordlist(name)
    return name


def known_lists(values: list[str] | None) -> list[str]:
    """Return names of lists that exist (see `split_lists` and `known_list`)."""
    return [known_list(name) for name in split_lists(values)]


def check_outputs(overwrite: bool, **files: Path | None) -> None:
    """Raise an error if the file of an option exists or cannot be written, before anything is computed."""
    for option, path in files.items():
        if path is not None:
            check_output(path, overwrite, f"--{option}")


def reject(reason: str, **options: Any) -> None:
    """Raise an error for the first of these options that has a value, because it would have no effect.

    An option that the user omitted is None or an empty list. `reason` ends the sentence that begins with the option and
    its value.
    """
    for name, value in options.items():
        if value is not None and value != []:
            shown = value[0] if isinstance(value, list) else value
            raise BayesBiasError(f"--{name.replace('_', '-')} '{shown}' {reason}")


def known_scope(name: str) -> str:
    """Return the name of a scope, or raise an error for an unknown one, before anything is measured."""
    return scope_of(name).name


ListsArgument = Annotated[
    list[str], typer.Argument(metavar="LIST...", help="Word lists, as for `fit`.", callback=known_lists)
]
ControlsOption = Annotated[str, input_option(help="Control classes, comma-separated names or TOML files, or 'none'.")]
ModelOption = Annotated[str, model_option(help="Built-in model or TOML file.")]
SeedOption = Annotated[int, model_option(help="The same seed gives the same numbers.")]
JobsOption = Annotated[int, typer.Option(help="Number of processes (-1: one for each core).")]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Dask scheduler that runs the work (needs the optional dependency 'cluster')."
    ),
]
ScopeOption = Annotated[
    str, model_option(help=f"Words a reader may generalise to: {', '.join(SCOPES)}.", callback=known_scope)
]
SetsOption = Annotated[
    str | None,
    typer.Option(
        help="For measures along a direction: pairs of words that differ only in the protected attribute,"
        " such as she:he,woman:man, or a TOML file with defining_sets."
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="NAME=VALUE",
        help="A setting of the debiasing method, such as equalize=true or components=2. Can be repeated.",
    ),
]
RatingsOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Pairs of words with human similarity ratings (SimLex-999, WordSim-353, MEN), to check that"
        " cosines still agree with them. Can be repeated.",
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    input_option(
        metavar="COLUMN", help="Pool rows that differ in this column of FILE, such as temperature. Can be repeated."
    ),
]
FactorsOption = Annotated[
    list[str] | None,
    input_option(
        metavar="COLUMN",
        help="Treat the values of this column of FILE separately, such as temperature, as if each were a"
        " model. Can be repeated.",
    ),
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace existing files of --out.")]
FiguresOption = Annotated[
    str,
    typer.Option(
        help=f"Formats of the files in figures/, comma-separated ({', '.join(FORMATS)}), or 'none'. LaTeX needs pdf,"
        " and slides often png."
    ),
]
CiOption = Annotated[float, model_option("--ci", min=0.01, max=0.999, help="Probability of the intervals.")]
RopeOption = Annotated[
    float | None,
    model_option(
        metavar="SIZE",
        help="Largest negligible bias, in the units of the numbers. Prints the probability of a smaller bias.",
    ),
]
ContrastOption = Annotated[
    list[str] | None,
    model_option(
        metavar="FORMULA", help="Another contrast, such as 'male names - female names: career'. Can be repeated."
    ),
]

DrawsOption = Annotated[int, sampling_option(min=100, help="Draws kept in each chain.")]
AcceptOption = Annotated[
    float,
    sampling_option(min=0.5, max=0.999, help="Target acceptance rate. Move it closer to 1 if transitions diverge."),
]


@dataclass(frozen=True)
class Sampler:
    """The options of `bayes_bias.Sampling`, except the warm-up, which depends on the model."""

    draws: DrawsOption = 1000
    chains: Annotated[int, sampling_option(min=2, help="Number of chains.")] = 4
    target_accept: AcceptOption = 0.95

    @property
    def sampling(self) -> "bb.Sampling":
        """The options as a `bayes_bias.Sampling`."""
        return bb.Sampling(draws=self.draws, chains=self.chains, target_accept=self.target_accept)

    def with_tuning(self, default: "bb.Sampling") -> "bb.Sampling":
        """Return these options with the number of warm-up draws of `default`, the default sampling of an analysis."""
        return replace(self.sampling, tune=default.tune)


@dataclass(frozen=True)
class ModelOptions:
    """The options for the model, and for the summary of its posterior."""

    model: ModelOption = "crossed"
    scope: ScopeOption = DEFAULT_SCOPE
    ci_prob: CiOption = 0.95
    rope: RopeOption = None
    seed: SeedOption = 1


@dataclass(frozen=True)
class Inference(Sampler, ModelOptions):
    """The options of a fit and of its summary."""

    @property
    def fitting(self) -> dict[str, Any]:
        """Arguments of `fit`."""
        return {"model": self.model, "seed": self.seed, "sampling": self.sampling}

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments of `summarize` and `verdict`."""
        return {"scope": self.scope, "ci_prob": self.ci_prob, "rope": self.rope}


@dataclass(frozen=True)
class InferenceWithoutRope(Inference):
    """The options of a fit and of its summary, except ``rope``."""

    rope: RopeOption = field(default=None, init=False)

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments of `summarize` and `verdict`, except ``rope``."""
        return {"scope": self.scope, "ci_prob": self.ci_prob}


@dataclass(frozen=True, kw_only=True)
class OutputFolder:
    """The options for a folder for pages, tables and figures. The folder is checked before sampling."""

    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for page, tables, figures, text, posteriors.")
    ] = None
    overwrite: OverwriteOption = False
    figures: FiguresOption = FIGURES

    def __post_init__(self) -> None:
        """Raise an error if a format is unknown, or if the folder contains other files."""
        formats_of(self.figures)
        if self.out is not None:
            check_folder(self.out, self.overwrite)

    def write(self, result: Any) -> Path | None:
        """Write a result and return the path of its page, or return None if there is no folder."""
        if self.out is None:
            return None
        return bb.write(result, self.out, overwrite=self.overwrite, figures=formats_of(self.figures))

    def deliver(self, **named: Any) -> Path | None:
        """Keep a result for `--json` under its name, and write it to the folder (see `write`).

        The result is the only argument, as in ``deliver(report=result)``. Return the path of its page, if any.
        """
        deliver(**named)
        (result,) = named.values()
        return self.write(result)


def with_options[**P](command: Callable[P, None]) -> Callable[..., None]:
    """Decorate a command so that each field of its dataclass arguments, such as a `Sampler`, becomes an option.

    Typer reads the options of a command from its signature. The decorated function has a signature with the fields
    instead of the dataclasses, sorted by the panels of --help (`_panel`). When it is called, it creates the dataclasses
    from the values of the options, and passes them to the command. Its other arguments are options as they are.
    """
    signature = inspect.signature(command, eval_str=True)
    # The dataclass and its options, by the name of the argument.
    classes: dict[str, Any] = {}
    options: dict[str, list[inspect.Parameter]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(parameter.annotation):
            classes[name] = parameter.annotation
            options[name] = _options_of(parameter.annotation)
        for option in options.get(name, [parameter]):
            parameters.append(option.replace(kind=option.KEYWORD_ONLY))
    parameters.sort(key=_panel)

    @wraps(command)
    def run(**values: Any) -> None:
        instances = {}  # of the dataclasses
        for name, group in classes.items():
            instances[name] = group(**{option.name: values.pop(option.name) for option in options[name]})
        command(**values, **instances)  # type: ignore[call-arg]

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _panel(option: inspect.Parameter) -> int:
    """Return the position of the panel of an option in `--help`. Options without a panel are first.

    The panel is an attribute of `typer.Option`, which is in the metadata of the annotation of the option.
    """
    panels = [getattr(metadata, "rich_help_panel", None) for metadata in option.annotation.__metadata__]
    return next((_PANELS.index(panel) + 1 for panel in panels if panel), 0)


def _options_of(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a dataclass, a group of options, as parameters with their defaults.

    They are the parameters of the function that creates an instance. This signature does not show the default of a
    field with a default factory, such as a list, so the default is made here. Fields that are not set when an instance
    is created (`init` is False) are no options.
    """
    parameters = dict(inspect.signature(group).parameters)
    for option in fields(group):
        if option.init and option.default_factory is not MISSING:
            parameters[option.name] = parameters[option.name].replace(default=option.default_factory())
    return list(parameters.values())


def formats_of(figures: str) -> tuple[str, ...]:
    """Check the formats of figures in an option, and return them."""
    formats = split_names(figures)
    check_formats(formats)
    return formats


def split_names(text: str) -> tuple[str, ...]:
    """Return the parts of an option that are separated by commas. For "none", there are no parts."""
    return () if text == "none" else tuple(part.strip() for part in text.split(",") if part.strip())


def pairs_of(option: str, texts: list[str] | None, example: str) -> dict[str, str]:
    """Return the values of an option in the form NAME=VALUE as a mapping from names to values.

    If a part is missing, the error message shows the `example`.
    """
    pairs = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        if not (name and value):
            raise BayesBiasError(f"{option} '{text}' must have two parts, such as '{example}'.")
        pairs[name] = value
    return pairs


def numbers_of(option: str, values: list[str] | None) -> list[int]:
    """Return the different integers in an option, which are separated by commas or passed by repeating the option."""
    numbers = []
    for value in values or ():
        for number in split_names(value):
            if not number.isdecimal():
                raise BayesBiasError(f"{option} '{number}' is not a whole number. Use one or more, such as 20,40.")
            numbers.append(int(number))
    return list(dict.fromkeys(numbers))


def settings_of(texts: list[str] | None) -> dict[str, Any]:
    """Return the settings of a debiasing method from the values of `--setting`, in the form NAME=VALUE.

    A value has the syntax of TOML, so that true, 2, and [1, 2] have their types. Any other value is a text, which needs
    no quotes.
    """
    settings = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        if not name or not value:
            raise BayesBiasError(f"--setting '{text}' has no value. Write NAME=VALUE, such as equalize=true.")
        try:
            settings[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:  # a text without quotes
            settings[name.strip()] = value
    return settings
