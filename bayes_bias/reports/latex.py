"""Tables for a paper, in LaTeX with booktabs."""

from typing import Any

import pandas as pd

from bayes_bias.estimands.facets import scope_of
from bayes_bias.files import file_names
from bayes_bias.formatting import bounds, plain, probability, signed
from bayes_bias.reports.record import Report, Section
from bayes_bias.reports.templating import Latex, render_latex
from bayes_bias.results.summary import CHANCE, chance, interval_of

_TITLES = {
    "bias": "Bias",
    "group_bias": "Group bias",
    "excess": "Excess over control",
    "repulsion": "Repulsion from others' stereotypes",
}


def tables(report: Report) -> str:
    """One table of all lists, then one of each list's contrasts."""
    names = file_names([section.name for section in report.sections])
    return render_latex(
        "tables.tex",
        report=report,
        reach=scope_of(report.scope).told_of(report.replicate_kind).reach,
        unit=report.association.unit,
        decimals=report.association.decimals,
        bounds=bounds,
        chance=chance,
        chance_name=CHANCE,
        # A label has a file name's letters as they are: an escaped underscore would be no letter.
        sections=[(section, Latex(names[section.name]), _parts(section)) for section in report.sections],
    )


def _parts(section: Section) -> list[tuple[str, list[dict[str, Any]]]]:
    present = section.summary.index.get_level_values("estimand")
    return [
        (
            title,
            [
                _cells(label, row, section.table.association.decimals)
                for label, row in section.summary.loc[name].iterrows()
            ],
        )
        for name, title in _TITLES.items()
        if name in present
    ]


def _cells(label: Any, row: pd.Series, decimals: int) -> dict[str, Any]:
    return {
        "label": label,
        "mean": signed(row["mean"], decimals),
        "interval": bounds(*interval_of(row), decimals),
        "noise_sd": plain(row.noise_sd, decimals),
        "chance": probability(chance(row.prob_direction)),
    }
