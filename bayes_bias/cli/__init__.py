"""The command line. Each command is a function that parses arguments, calls the package, and prints the result."""

from bayes_bias.cli.main import main

__all__ = ["main"]
