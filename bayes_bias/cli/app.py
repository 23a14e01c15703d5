"""The one application that all commands belong to, each imported when it is called: `--help` waits for none of them."""

from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info

# Each command is a function of this name in a file of this name; the lines are the first ones of their docstrings.
COMMANDS = MappingProxyType(
    {
        "report": "A posterior bias report that a paper can cite: page, tables, figures, methods text.",
        "fit": "Fit a model to one list, print the main estimands, and keep the posterior.",
        "summarize": "Summarise a fit: every estimand with its interval and noise floor, and the verdict.",
        "pool": "What do several lists say together, and what does each say given the others?",
        "weat": "WEAT's effect size, statistic and permutation p-value.",
        "measures": "Every measure of the literature that applies to a list, with the posterior in the last rows.",
        "calibrate": "How often would this design find a bias where none is? Words are drawn at random.",
        "published": "Would a published d be distinguishable if attributes counted as a sample of words, too?",
        "plan": "How narrow would the interval be with longer lists, and how likely to exclude zero?",
        "check": "Does the model fit the raw cosines, better than the published one, and does the prior decide?",
        "sweep": "Many embeddings at once: every list in every embedding, resumable, and an atlas of all of them.",
        "stability": "How much does the bias of a list depend on the training: its seed, its corpus?",
        "criterion": "Does bias go with something outside, such as people's associations, allowing for errors in both?",
        "tpr-gaps": "Gaps of a classifier's true-positive rates between groups, class by class, with uncertainty.",
        "sentences": "The sentences of a list, to encode elsewhere; their vectors as a file that --embedding opens.",
        "sentence-pairs": "How often does a model prefer the stereotypical sentence of a pair, and how sure is that?",
        "wordlists": "The shipped word lists, or one of them with its words and source; a copy of one to edit.",
        "models": "The shipped models, or one of them with its priors; a copy of one to edit; its graph.",
        "debias": "Debias an embedding, by hard debiasing or another method.",
        "compare": "Did debiasing change anything? Bias before and after, and its change with uncertainty.",
    }
)
_PANELS = MappingProxyType({"debias": "Debiasing", "compare": "Debiasing"})


class Commands(TyperGroup):
    """Knows all commands by name, and imports the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, help=line, rich_help_panel=_PANELS.get(name)) for name, line in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, imported now and put in the place of its line."""
        if args[0] in COMMANDS:
            self.add_command(_imported(args[0]))
        return super().resolve_command(ctx, args)


def _imported(name: str) -> Any:
    function = name.replace("-", "_")
    import_module(f"bayes_bias.cli.{function}")
    info = next(command for command in app.registered_commands if getattr(command.callback, "__name__", "") == function)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=app.rich_markup_mode)


app = typer.Typer(
    name="bayes-bias",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Is a word embedding biased, how sure can one be, and did debiasing change anything?",
)


def _show_version(requested: bool) -> None:
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
    """Options of every command. `main` reads --debug itself, wherever it stands."""
