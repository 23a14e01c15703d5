"""The command-line application, and the function that runs a command and prints errors in one line.

Each command is imported when it is called, so that `--help` is fast.
"""

import errno
import re
import shlex
import sys
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_command_from_info

from bayes_bias.cli.console import STDOUT, complain, delivering, notices_shown
from bayes_bias.errors import COMMAND, IN_TERMINAL, BayesBiasError, optional

# The commands of each group in `--help`.
_GROUPS = MappingProxyType(
    {
        "Measure": ("report", "register", "from-texts", "fit", "summarize", "pool", "weat", "measures", "tpr-gaps"),
        "Compare": ("compare", "over-time", "debias", "sweep", "stability", "criterion"),
        "Check": ("check", "calibrate", "multiverse", "plan", "published"),
        "Language models": ("sentence-pairs", "sentences", "prompts", "answers"),
        "Data": ("table", "wordlists", "models"),
        "Without code": ("explore",),
    }
)
# The commands in each file. A command is the function with the same name.
_FILES = MappingProxyType(
    {
        "answers": ("answers", "prompts"),
        "checks": ("calibrate", "check", "multiverse", "stability"),
        "debiasing": ("debias", "compare"),
        "explore": ("explore",),
        "fits": ("fit", "summarize", "pool", "plan"),
        "outside": ("criterion", "tpr-gaps"),
        "report": ("report", "register"),
        "sentence_pairs": ("sentence-pairs",),
        "shipped": ("wordlists", "models", "sentences"),
        "sweep": ("sweep", "over-time"),
        "tables": ("table", "weat", "measures", "published"),
        "texts": ("from-texts",),
    }
)
# The first line of the docstring of each command.
COMMANDS = MappingProxyType(
    {
        "report": "Write a bias report for a paper: page, tables, figures, and methods text.",
        "register": "Fix an analysis before its results are known, for `report --registered`.",
        "from-texts": "Measure a list in your own texts, with the texts as a sample.",
        "fit": "Fit a model to one list, print the main estimates, and save the posterior.",
        "summarize": "Summarise a fit: every estimate with its interval and noise floor, and the verdict.",
        "pool": "Pool several lists: their mean bias, and the bias of each list given the others.",
        "weat": "Compute WEAT's effect size, statistic, and permutation p-value.",
        "measures": "Compute every published measure that applies to a list, with the posterior in the last rows.",
        "tpr-gaps": "Estimate gaps of a classifier's true-positive rates between groups, class by class.",
        "compare": "Compare two embeddings, such as before and after debiasing: both biases and their difference.",
        "over-time": "Estimate how a bias changed over time: its trend, and its changes from slice to slice.",
        "debias": "Debias an embedding, by hard debiasing or another method.",
        "sweep": "Measure every list in many embeddings, and write an atlas of them. Can be resumed.",
        "stability": "Estimate how much the bias of a list depends on the training run (seed or corpus).",
        "criterion": "Correlate bias with an external measure, such as people's associations, with errors in both.",
        "check": "Decide whether biases stay within what you allow, or have grown: pass, fail, or cannot tell.",
        "calibrate": "Estimate how often this design finds a bias if there is none, with words drawn at random.",
        "multiverse": "Estimate the bias under each combination of choices of the analysis.",
        "plan": "Estimate the width of the interval and the power with longer lists.",
        "published": "Estimate whether a published d would be distinguishable if attributes were a sample as well.",
        "sentence-pairs": "Estimate how often a model prefers the stereotypical sentence of a pair, with uncertainty.",
        "sentences": "Write the sentences of a list to encode elsewhere, or turn their vectors into an embedding.",
        "prompts": "Write balanced questions for a chat model, with ids by which its replies are matched.",
        "answers": "Estimate the associations of a chat model, with labels, wordings, and words as samples.",
        "table": "Write a file that other commands accept instead of a list: own or measured numbers.",
        "wordlists": "Show the built-in word lists, or one with its words. Copy one to edit, or make one from files.",
        "models": "Show the built-in models, or one with its priors. Copy one to edit, or draw its graph.",
        "explore": "Type words in the browser, and see the verdict of a report while you type.",
    }
)


# Commands that write files and have no result.
_WITHOUT_RESULT = frozenset({"debias", "table", "sentences", "prompts", "register", "wordlists", "models", "explore"})
# The word for a value of an option in `--help`.
_METAVARS = MappingProxyType({"int": "N", "float": "X", "Path": "PATH", "str": "TEXT", "bool": ""})

# The exit code after Ctrl-C.
_STOPPED = 130
# The name of a Python argument in a message.
_ARGUMENT = re.compile(r"`(\w+)`")


class Commands(TyperGroup):
    """A group that lists all commands by name, and imports a command when it is called."""

    def __init__(self, **settings: Any) -> None:
        """Add all commands with their help texts but without their functions, so that --help imports no command.

        `_GROUPS` has the names of the commands by the panel of --help in which they are listed.
        """
        super().__init__(**settings)
        self.commands = {}
        for panel, names in _GROUPS.items():
            for name in names:
                self.commands[name] = TyperCommand(name, help=COMMANDS[name], rich_help_panel=panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that is called, and return it."""
        if args[0] in COMMANDS:
            self.add_command(command_called(args[0]))
        return super().resolve_command(ctx, args)


def command_called(name: str) -> Any:
    """Import a command, and return it with its own options and the options that `main` handles for all commands.

    `_FILES` contains the names of commands by module. Importing the module registers its functions as commands of
    `app`, so a command is imported only when it is called. The shared options, such as --quiet and --json, are shown by
    --help. `main` has read them already, so they are not passed to the function of the command, which does not have
    them as arguments. Commands without a result (`_WITHOUT_RESULT`) have no --json. All options get a short metavar,
    the name of their value in --help.
    """
    (module,) = (module for module, names in _FILES.items() if name in names)
    import_module(f"bayes_bias.cli.{module}")
    function = name.replace("-", "_")
    info = next(command for command in app.registered_commands if getattr(command.callback, "__name__", "") == function)
    info.cls = Command
    command = get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=app.rich_markup_mode)
    own_options = {option for param in command.params for option in param.opts}
    # Typer makes the parameters of the shared options from the signature of a function that only declares them.
    shared = typer.Typer(add_completion=False)
    shared.command()(_files_alone if name in _WITHOUT_RESULT else _with_result)
    added = [param for param in get_command(shared).params if own_options.isdisjoint(param.opts)]
    command.params += added
    for param in command.params:
        param.expose_value = param not in added  # a value that is not exposed is not passed to the function
        param.metavar = param.metavar or _metavar(param)
    return command


class Command(TyperCommand):
    """A command whose --help shows no type for a switch."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.metavar = ""
        return option


def _metavar(param: Any) -> str | None:
    """Return a short word for the value of an option in --help, such as N for a number, or "" for a switch.

    For an option that can be repeated, the type of one value counts. An argument, or an option with several values, has
    None, for which typer makes a word up.
    """
    if param.param_type_name != "option" or param.nargs != 1:
        return None
    return _METAVARS.get(re.sub(r"list\[(.*)\]", r"\1", param.bare_type()))


# The options that `main` handles for all commands.
_Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no notices.")]


def _files_alone(quiet: _Quiet = False) -> None: ...


def _with_result(
    json: Annotated[
        str,
        typer.Option(
            metavar="[FILE.json]",
            show_default=False,
            help="Write the result as JSON to this file or, without a file, to standard output instead of text.",
        ),
    ] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file of --json.")] = False,
    quiet: _Quiet = False,
) -> None: ...


app = typer.Typer(
    name="bayes-bias",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How sure can you be that a word embedding is biased, and did debiasing change anything?",
)


def _show_version(requested: bool) -> None:
    """Print the version and end the process if --version is on. Typer calls this function before any command."""
    if requested:
        from bayes_bias import __version__

        typer.echo(f"bayes-bias {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Define the options of all commands. `main` handles --debug, which may be anywhere on the command line."""


def main(arguments: list[str] | None = None, commands: typer.Typer = app) -> NoReturn:
    """Run a command. An error is printed in one line, with exit code 2. With --debug, the traceback is shown.

    A missing optional dependency is an error as well, whose message names the command that installs it. The settings of
    the package's logger, which are its only global state, are restored afterwards. `IN_TERMINAL` and `COMMAND` are
    context variables, from which the package reads that a command runs, and its words.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    in_terminal_before = IN_TERMINAL.set(True)
    command_before = COMMAND.set(shlex.join(["bayes-bias", *words]))
    json = _target_of_json(words)
    try:
        with notices_shown("--quiet" in words), delivering(json, _name_of_command(words), "--overwrite" in words):
            without_debug = [word for word in words if word != "--debug"]
            # `optional` converts the error for a missing optional dependency.
            status = optional()(commands)(without_debug or ["--help"], standalone_mode=False)
            if status == _STOPPED:  # typer returns the exit code of Ctrl-C, after which no JSON may be written
                raise KeyboardInterrupt
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped", _STOPPED)
    except Exception as error:
        if "--debug" in words:
            raise
        _fail(_name_options(_one_line(error), words), 2)
    finally:
        IN_TERMINAL.reset(in_terminal_before)
        COMMAND.reset(command_before)
    sys.exit(status if isinstance(status, int) else 0)


def _target_of_json(words: list[str]) -> str | None:
    """Return the value of --json: a file, "-" for standard output, or None without this option.

    The value may be omitted, which typer does not support. If the next word is not the name of a JSON file, "-" is
    therefore inserted into the words of the command line after --json.
    """
    for position, word in enumerate(words):
        if word.startswith("--json="):
            return word.removeprefix("--json=")
        if word == "--json":
            next_word = words[position + 1] if position + 1 < len(words) else ""
            if not next_word.endswith(".json"):
                words.insert(position + 1, STDOUT)
            return words[position + 1]
    return None


def _name_of_command(words: list[str]) -> str:
    """Return the name of the command that is called, or ""."""
    return next((word for word in words if word in COMMANDS), "")


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line.

    Messages of typer about the command line lack advice, which is added. Messages of this package are complete. A name
    of a file that is too long is a mistake of the user. All other errors are unexpected.
    """
    if isinstance(error, typer.TyperException):
        message = " ".join(error.format_message().split())
        return f"{message}{'' if message.endswith(('.', '?')) else '.'}{_advice_for(error)}"
    if isinstance(error, BayesBiasError):
        return str(error)
    if isinstance(error, OSError) and error.filename and error.errno == errno.ENAMETOOLONG:
        return f"'{str(error.filename)[:60]}...' is too long for the name of a file. Use a shorter name."
    text = " ".join(str(error).split())
    return f"unexpected {type(error).__name__}: {text}. Run again with --debug to see where it occurred."


def _name_options(message: str, words: list[str]) -> str:
    """Replace the names of Python arguments in a message by the options of the command that was called.

    For example, `ci_prob` in backticks becomes --ci. If an option has several names, the longest one is used.
    The argument `scores` is not replaced. In Python it is a table, but on the command line --scores is an output file.
    """
    name = _name_of_command(words)
    option_of: dict[str, str] = {}  # by the name of the argument
    for param in command_called(name).params if name else ():
        if param.param_type_name == "option" and param.name != "scores":
            option_of[param.name] = max(param.opts, key=len)
    # In a match, [1] is the name, and [0] the name in backticks, which is kept if there is no such option.
    return _ARGUMENT.sub(lambda match: option_of.get(match[1], match[0]), message)


def _advice_for(error: typer.TyperException) -> str:
    """Return the advice that a message of typer lacks, as the end of the message.

    Extra arguments are usually values of switches, or embeddings without their option. For a value with the wrong type,
    the message of typer does not contain the value. It is in the error that caused it, whose method `errors` returns
    the problems with their inputs.
    """
    if re.search(r"extra argument.*\b(true|false|yes|no)\b", error.format_message(), re.IGNORECASE):
        return " Options that are on or off, such as --overwrite, take no value."
    if "extra argument" in error.format_message():
        return " Use --embedding for vectors, and --help to see all options."
    problems: list[dict[str, object]] = getattr(error.__cause__, "errors", list)()  # other causes have no problems
    values = [str(problem["input"]) for problem in problems if "input" in problem]
    verb = "The value is" if len(values) == 1 else "The values are"
    n_values = getattr(getattr(error, "param", None), "nargs", 1)
    count = f" The option takes {n_values} values." if n_values > 1 else ""
    return f" {verb} '{' '.join(values)}'.{count} Use --help to see all options." if values else ""


def _fail(message: str, status: int) -> NoReturn:
    """Print an error, and end the process with an exit code."""
    complain(f"error: {message}")
    sys.exit(status)
