"""Numeric tables for other programs."""

import pandas as pd

from bayes_bias.reports.record import Report
from bayes_bias.results.spreadsheets import csv_text


def summary_csv(report: Report) -> str:
    """All estimands of all lists, under each scope that was computed; full precision."""
    return csv_text(report.summary())


def coverage_csv(report: Report) -> str:
    """What each embedding has of each list, with every word that was left out."""
    tables = {section.name: section.coverage for section in report.sections}
    return csv_text(pd.concat(tables, names=["list"]).reset_index("list"), index=False)


def weat_csv(report: Report) -> str:
    """WEAT of each list on which it is defined; empty cells where it is not."""
    columns = (
        "effect_size",
        "statistic",
        "difference",
        "p_value",
        "exact",
        "partitions",
        "alternative",
        "ddof",
    )
    rows = {
        section.name: {column: getattr(section.weat, column, None) for column in columns}
        for section in report.sections
    }
    return csv_text(pd.DataFrame.from_dict(rows, orient="index").rename_axis("list"))


def left_out_csv(report: Report) -> str:
    """The observed bias of each list without each of its words, and without each cluster."""
    tables = {section.name: section.checks["clusters"].found[1] for section in report.sections}
    return csv_text(pd.concat(tables, names=["list"]).reset_index("list").set_index("list"))
