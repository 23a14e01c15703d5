"""A page for each command, made from the command itself: options of first use first, as in `--help`."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from bayes_bias.cli.main import COMMANDS, command_called

# An option within a sentence, outside of code; typography would make a dash of its hyphens.
_OPTION = re.compile(r"(?<![`\w-])--[a-z-]+(?=[^`]*(?:`[^`]*`[^`]*)*$)")


def page(name: str) -> str:
    """What a command does, an example, and its arguments and options, group by group."""
    command = command_called(name)
    what, _, example = command.help.partition("Example:")
    shown = [each for each in command.params if not each.hidden]
    panels = {panel: list(group) for panel, group in groupby(sorted(shown, key=_panel), _panel)}
    order = dict.fromkeys(map(_panel, shown))
    parts = [f"# {name}", what.strip(), f"```console\n$ {' '.join(example.split())}\n```" if example else ""]
    for panel in sorted(order, key=("Arguments", "Options").count, reverse=True):
        parts += [f"**{panel}**", *map(_entry, panels[panel])]
    return "\n\n".join(parts) + "\n"


def _panel(parameter: Any) -> str:
    kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
    return parameter.rich_help_panel or kind


def _entry(parameter: Any) -> str:
    """A term and its definition."""
    names = [parameter.metavar or parameter.name] if parameter.param_type_name == "argument" else parameter.opts
    value = f" {parameter.metavar}" if parameter.param_type_name == "option" and parameter.metavar else ""
    default = parameter.default if isinstance(parameter.default, list | tuple) else [parameter.default]
    shown = ", ".join(str(each) for each in default if each is not None and each is not False)
    said = "required" if parameter.required else f"default: {shown}" if shown else ""
    text = _OPTION.sub(r"`\g<0>`", " ".join((parameter.help or "").split()))
    return f"`{', '.join(names)}{value}`\n: {text}{f' ({said})' if said else ''}"


def write_pages(app: Sphinx) -> None:
    """Write the pages next to the reference, where git ignores them."""
    folder = Path(app.srcdir) / "reference" / "commands"
    folder.mkdir(exist_ok=True)
    for name in COMMANDS:
        file, text = folder / f"{name}.md", page(name)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before any is read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
