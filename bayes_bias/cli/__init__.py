"""The command line: parse, call, print. A command is one function, and its file is imported when it is called."""

from bayes_bias.cli.main import main

__all__ = ["main"]
