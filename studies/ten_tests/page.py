"""What the text of the ten tests says, from their results."""

from typing import Any

import pandas as pd

from studies.study import Results, interval, p_value, signed


def facts(results: Results) -> dict[str, Any]:
    """Counts and tables of the text."""
    cells = results["cells"]
    found = cells.verdict == "distinguishable"
    return {
        "cells": cells,
        "tables": {name: _table(rows) for name, rows in cells.groupby("embedding", sort=False)},
        "counts": _counts(cells),
        "apart": cells[(cells.d - cells.published_d).abs() > 0.05],
        "published": cells[cells.published_d.notna()],
        "eighteen": results["eighteen_names"].iloc[0],
        "widened": (cells.ci95_ub - cells.ci95_lb) / (cells.independent_ci95_ub - cells.independent_ci95_lb),
        "lost": cells[~found & (cells.independent_verdict == "distinguishable")],
        "fragile": cells[
            found & ((cells.half_verdict != "distinguishable") | (cells.double_verdict != "distinguishable"))
        ],
    }


def _table(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "list": rows["list"],
            "published d": rows.published_d.map(lambda d: "" if pd.isna(d) else f"{d:.2f}"),
            "d": rows.d.map("{:.2f}".format),
            "WEAT p": rows.weat_p.map(p_value),
            "quasi-F p": rows.quasi_f_p.map(p_value),
            "bias": [f"{signed(row.bias)} {interval([row.ci95_lb, row.ci95_ub])}" for row in rows.itertuples()],
            "if words are independent": [
                interval([row.independent_ci95_lb, row.independent_ci95_ub]) for row in rows.itertuples()
            ],
            "verdict": rows.verdict,
            "after Holm": rows.survives.map({True: "yes", False: "no"}),
        }
    )


def _counts(cells: pd.DataFrame) -> pd.DataFrame:
    """How many of ten each way of asking finds at the 5% level."""
    found = cells.verdict == "distinguishable"
    ways = {
        "WEAT p < .05": cells.weat_p < 0.05,
        "quasi-F": cells.quasi_f_p < 0.05,
        "posterior": found,
        "under all three priors": found
        & (cells.half_verdict == "distinguishable")
        & (cells.double_verdict == "distinguishable"),
        "if words are independent": cells.independent_verdict == "distinguishable",
        "after Holm": cells.survives,
    }
    counts = pd.DataFrame(ways).groupby(cells.embedding, sort=False).sum().astype(str)
    return counts.rename_axis(index="").reset_index()


def headlines(results: Results) -> list[tuple[str, str, str]]:
    """Each model in a line."""
    counts = _counts(results["cells"]).set_index("")
    return [
        (
            f"Ten association tests, {name}" + (" (Caliskan et al. 2017)" if name != "MiniLM" else ", ten templates"),
            f"WEAT p < .05 in {row['WEAT p < .05']} of 10",
            f"distinguishable in {row['posterior']}, after Holm's adjustment in {row['after Holm']}",
        )
        for name, row in counts.iterrows()
    ]
