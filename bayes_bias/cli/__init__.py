"""The command line: parse, call, print. One file for each command, which is imported when it is called."""

from bayes_bias.cli.main import main

__all__ = ["main"]
