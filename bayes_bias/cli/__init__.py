"""The command line: parse, call, print. One file for each command, which joins the application when it is imported."""

from bayes_bias.cli import (
    calibrate,
    check,
    compare,
    debias,
    fit,
    measures,
    models,
    plan,
    report,
    summarize,
    weat,
    wordlists,
)
from bayes_bias.cli.main import main

__all__ = [
    "calibrate",
    "check",
    "compare",
    "debias",
    "fit",
    "main",
    "measures",
    "models",
    "plan",
    "report",
    "summarize",
    "weat",
    "wordlists",
]
