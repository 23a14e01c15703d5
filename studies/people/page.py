"""What the text on people's effects says, from its results."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact, rankdata

from studies.study import HERE, Results, interval, p_value, signed

NAMES = {"bias": "bias", "standardised": "bias / sd of the cosines", "d": "WEAT's d", "evidence": "bias / its own sd"}
TITLES = {
    "weat1": "flowers, insects: pleasant",
    "weat2": "instruments, weapons: pleasant",
    "weat3": "European, African American names: pleasant",
    "weat6": "male, female names: career",
    "weat7": "math, arts: male",
    "weat8": "science, arts: male",
    "weat9": "mental, physical disease: temporary",
    "weat10": "young, old people's names: pleasant",
}
_EVIDENCE = Path("benchmarks", "results")


def facts(results: Results) -> dict[str, Any]:
    """Tables and counts of the text."""
    tests, topics = (
        results["tests"],
        _measured("topics", what="topics on both sides", words="related words get less weight"),
    )
    found = {name: int((rows.verdict == "distinguishable").sum()) for name, rows in tests.groupby("embedding")}
    of_topics = round(topics["found"] * topics["draws"])
    n = int(tests.embedding.value_counts().iloc[0])
    apart = results["topics"].set_index("list").as_far_apart
    few = [row for row in _rows("criterion") if row["labels"] == n and row["rho"] == 0.9 and not row["share"]]
    return {
        "tests": tests,
        "people": _people(tests),
        "correlations": _correlations(results),
        "ranks": results["ranks"],
        "verdicts": _verdicts(tests),
        "sizes": _sizes(results["topics"]),
        "found": found,
        "n": n,
        "of_topics": of_topics,
        "topics": topics,
        "fisher": fisher_exact(
            [[found["GoogleNews"], n - found["GoogleNews"]], [of_topics, topics["draws"] - of_topics]]
        ).pvalue,
        "apart": apart,
        "draws": int(results["topics"].draws.iloc[0]),
        "power": sorted(row["excludes zero"] for row in few),
    }


def _people(tests: pd.DataFrame) -> pd.DataFrame:
    """The published effects beside the biases of each model."""
    by_list = tests.drop_duplicates("list").set_index("list")
    table = pd.DataFrame(
        {
            "list": by_list.index,
            "asks": by_list.index.map(TITLES),
            "people": by_list.people_n.map("{:,.0f}".format),
            "their d": [f"{row.people_d:.2f} ± {row.people_se:.2f}" for row in by_list.itertuples()],
        }
    )
    for name, rows in tests.groupby("embedding", sort=False):
        bold = (rows.verdict == "distinguishable").map({True: "**", False: ""})
        table[name] = [f"{mark}{signed(row.bias)}{mark}" for mark, row in zip(bold, rows.itertuples(), strict=True)]
    return table


def _correlations(results: Results) -> pd.DataFrame:
    """Pearson's and the true correlation, and that of ranks, in a row for each model and measure."""
    ranks = results["ranks"].set_index(["embedding", "measure"])
    true = results["correlations"].set_index(["embedding", "measure"])
    rows = []
    for at, rank in ranks.iterrows():
        own = true.loc[at] if at in true.index else None
        rows.append(
            {
                "model": at[0],
                "of people's d with": NAMES[at[1]],
                "r": "" if own is None else signed(own.r, 2),
                "true correlation": "" if own is None else _estimate(own["median"], own.eti95_lb, own.eti95_ub),
                "of ranks": _estimate(rank.rho, rank.lb, rank.ub),
                "exact p": p_value(rank.p),
            }
        )
    return pd.DataFrame(rows)


def _estimate(middle: float, lower: float, upper: float) -> str:
    return f"{signed(middle, 2)} {interval([lower, upper], 2)}"


def _verdicts(tests: pd.DataFrame) -> pd.DataFrame:
    """Whether people's effects are larger in tests that are distinguishable, with p in all choices of so many tests."""
    rows = []
    for name, own in tests.groupby("embedding", sort=False):
        found, ranks = (own.verdict == "distinguishable").to_numpy(), rankdata(own.people_d)
        k, rest = int(found.sum()), int((~found).sum())
        sums = np.array([sum(chosen) for chosen in combinations(ranks, k)])
        larger = (ranks[found].sum() - k * (k + 1) / 2) / (k * rest)
        far = np.abs(sums - sums.mean()) >= abs(ranks[found].sum() - sums.mean()) - 1e-9
        rows.append(
            {
                "model": name,
                "distinguishable": f"{k} of {len(own)}",
                "people's d there": f"{own.people_d[found].mean():.2f}",
                "and elsewhere": f"{own.people_d[~found].mean():.2f}",
                "P(larger there)": f"{larger:.2f}",
                "exact p": p_value(far.mean()),
            }
        )
    return pd.DataFrame(rows)


def _sizes(topics: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "list": topics["list"],
            "bias": topics.bias.map(signed),
            "arbitrary topics as far apart": topics.as_far_apart.map("{:.0%}".format),
        }
    )


def _rows(name: str) -> list[dict[str, Any]]:
    """What a page of the evidence rests on."""
    return list(json.loads((HERE.parent / _EVIDENCE / f"{name}.json").read_text(encoding="utf-8"))["rows"])


def _measured(name: str, **where: str) -> dict[str, Any]:
    return next(row for row in _rows(name) if all(row[key] == value for key, value in where.items()))


def headlines(results: Results) -> list[tuple[str, str, str]]:
    """Whether vectors go with people."""
    said, ranks = facts(results), results["ranks"].query("measure == 'bias'").rho
    found = "".join(f", {k} in {name}" for name, k in said["found"].items()).removeprefix(", ")
    return [
        (
            "People have eight of these associations (Caliskan et al. 2017, table 1)",
            "people's d .72 to 1.66 in all eight",
            f"distinguishable: {found}; bias and people's d correlate at {signed(ranks.min(), 2)} to"
            f" {signed(ranks.max(), 2)} (ranks), no interval excludes zero",
        )
    ]
