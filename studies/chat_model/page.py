"""What the text on a chat model says, from its results."""

from typing import Any

import pandas as pd

from studies.study import Results, interval, p_value, signed

_STEPS = ("trials", "words", "wordings", "all")


def facts(results: Results) -> dict[str, Any]:
    """Counts and tables of the text."""
    rows, gpt4 = results["stereotypes"], results["gpt4"]
    found = distinguishable(rows)
    several = rows.labels_a > 1
    pairs = results["pairs"]
    islam = pairs[(pairs.stereotype == "islam") & (pairs.factor == "label_a")].set_index("level")
    return {
        "rows": rows.set_index("stereotype"),
        "counts": counts(results),
        "table": _table(results),
        "found": int(found.sum()),
        "forward": int((found & (rows["mean"] > 0)).sum()),
        "one_pair": int((found & ~several).sum()),
        "several": int(several.sum()),
        "several_t": int((several & (rows.p < 0.05)).sum()),
        "survivors": rows[found & several].stereotype.tolist(),
        "robust": int((rows.robust_p < 0.05).sum()),
        "choices": results["choices"].iloc[0],
        "one_label": int(rows.one_label.sum()),
        "decided": float((rows.decided * rows.answers).sum() / rows.answers.sum()),
        "most_of_words": float(results["sources"].query("source == 'words'")["mean"].max()),
        "sources": _sources(results),
        "islam": islam,
        "gpt4": gpt4,
        "gpt4_answers": int(gpt4.answers.sum()),
        "gpt4_mean": [
            float((gpt4[name] * gpt4.answers).sum() / gpt4.answers.sum()) for name in ("in_file", "recomputed")
        ],
        "gpt4_close": int(((gpt4.in_file - gpt4.recomputed).abs() <= 0.01).sum()),
        "gpt4_most": float((gpt4.in_file - gpt4.recomputed).abs().max()),
        "moved": _moved(rows),
    }


def distinguishable(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether intervals exclude zero."""
    return (rows.eti95_lb > 0) | (rows.eti95_ub < 0)


def counts(results: Results) -> pd.DataFrame:
    """How many stereotypes are distinguishable, by what counts as a sample."""
    rows, steps = results["stereotypes"], results["counts"].set_index("samples")
    of_t = rows.p < 0.05
    lines = [
        ("word choices (binomial test)", int((rows.binomial_p < 0.05).sum()), ""),
        ("answers (the published t test)", int(of_t.sum()), str(int((of_t & (rows.published_d > 0)).sum()))),
        *(
            (name, int(steps.distinguishable[step]), str(int(steps.positive[step])))
            for step, name in zip(_STEPS, ("answers", "and words", "and wordings", "**and labels**"), strict=True)
        ),
    ]
    table = pd.DataFrame(
        lines, columns=["counted as samples", "distinguishable of 21", "in the stereotype's direction"]
    )
    return table.astype(str)


def _table(results: Results) -> pd.DataFrame:
    rows = results["stereotypes"]
    trials = results["ladder"].query("samples == 'trials'").set_index("stereotype").loc[rows.stereotype]
    return pd.DataFrame(
        {
            "stereotype": rows.stereotype,
            "labels": [f"{a} × {b}" for a, b in zip(rows.labels_a, rows.labels_b, strict=True)],
            "published D": rows.published_d.map(lambda d: signed(d, 2)),
            "its p": rows.p.map(p_value),
            "answers alone": [interval(ends, 2) for ends in zip(trials.eti95_lb, trials.eti95_ub, strict=True)],
            "D": rows["mean"].map(lambda d: signed(d, 2)),
            "with labels": [interval(ends, 2) for ends in zip(rows.eti95_lb, rows.eti95_ub, strict=True)],
            "generalises to": rows.reach,
        }
    )


def _sources(results: Results) -> pd.DataFrame:
    """Median standard deviation of D by source."""
    by_source = results["sources"].groupby("source", sort=False)["mean"]
    return pd.DataFrame(
        {
            "source": list(by_source.median().index),
            "median": by_source.median().map("{:.2f}".format).to_numpy(),
            "largest": by_source.max().map("{:.2f}".format).to_numpy(),
        }
    )


def _moved(rows: pd.DataFrame) -> pd.DataFrame:
    """Stereotypes whose published D the eight words move most."""
    change = (rows.d_with_misplaced_words - rows.published_d).abs()
    most = rows[change > 0.05]
    return pd.DataFrame(
        {
            "stereotype": most.stereotype,
            "words by their meaning": most.published_d.map(lambda d: signed(d, 2)),
            "as the repository has them": most.d_with_misplaced_words.map(lambda d: signed(d, 2)),
        }
    )


def headlines(results: Results) -> list[tuple[str, str, str]]:
    """The study in a line."""
    rows = results["stereotypes"]
    found = distinguishable(rows)
    one_pair = int((found & (rows.labels_a == 1)).sum())
    return [
        (
            "A chat model has 21 stereotypes (Bai et al. 2025)",
            f"t test over answers p < .05 in {int((rows.p < 0.05).sum())}",
            f"with words, wordings and labels distinguishable in {int(found.sum())}, of which {one_pair} for their only"
            " pair of labels",
        )
    ]
