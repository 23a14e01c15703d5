"""Results as Markdown, for the pages of evidence."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

# What of a result's circumstances stands below its table, beside versions and cores.
_SHOWN = ("default model", "specs", "sampling", "seed", "load average at the start")


def markdown_table(frame: pd.DataFrame) -> str:
    """A Markdown table; numbers to three digits, nothing for those that are missing."""
    lines = [[*map(str, frame.columns)], ["---"] * len(frame.columns)]
    for row in frame.itertuples(index=False):
        lines.append([*map(_cell, row)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if isnan(value):
            return ""
        return f"{value:.0f}" if value == int(value) else f"{value:.3g}"
    return str(value)


def circumstances(about: Mapping[str, Any]) -> str:
    """What a result was measured with, as a line below its table."""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    more = "; ".join(f"{key}: {value}" for key, value in about.items() if key in _SHOWN)
    return f"*{versions}; {about['cores']} cores{'; ' + more if more else ''}.*"
