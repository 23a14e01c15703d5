"""What the text of the study of native writers says, from its results."""

from typing import Any

import numpy as np
import pandas as pd

from studies.study import Results, interval, signed

NAMES = {
    "de": "German",
    "es": "Spanish",
    "hr": "Croatian",
    "it": "Italian",
    "en": "English",
    "zh": "Chinese",
    "fr": "French",
}


def facts(results: Results) -> dict[str, Any]:
    """Ratios, needs and pooled numbers of the text."""
    published, pooled = results["published"], results["english_pooled"].set_index(["test", "what"])
    words = results["shared_words"]
    targets = words[~words["column"].isin(["pleasant", "unpleasant"]) & words.code.isin(published.code)]
    shared_targets = targets.shared_by_two.mean()
    return {
        "published": published,
        "ratios": _ratios(published),
        "english": results["english"],
        "by_writer": _by_writer(results["english"]),
        "pooled": pooled,
        "together": _together(pooled),
        "shared": _shared(results["shared_words"]),
        "shared_targets": shared_targets,
        "most_of_writers": published.ratio.median() ** 2 - (1 - shared_targets),
        "english_missed": int((results["english"].lb <= 0).sum()),
        "widest": published.loc[(published.largest - published.smallest).idxmax()],
    }


def _ratios(published: pd.DataFrame) -> pd.DataFrame:
    """By language and test, medians over models."""
    rows = []
    for (code, test), models in published.groupby(["code", "test"]):
        low, high = models.ratio.quantile([0.1, 0.9])
        needed = models.writers_needed.replace(np.inf, np.nan)
        rows.append(
            {
                "language": NAMES[code],
                "list": test,
                "writers": f"{models.writers.median():.0f}",
                "models": str(len(models)),
                "mean d": signed(models["mean"].median(), 2),
                "sd between writers": f"{models.between.median():.2f}",
                "bootstrap of words": f"{models.within.median():.2f}",
                "ratio (80% of models)": f"{models.ratio.median():.2f} ({low:.2f} to {high:.2f})",
                "writers needed": f"{needed.median():.0f}",
            }
        )
    return pd.DataFrame(rows)


def _by_writer(english: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for test, lists in english.groupby("test"):
        rows.append(
            {
                "list": test,
                "writers": str(len(lists)),
                "targets": f"{lists.targets.min()} to {lists.targets.max()}",
                "WEAT p < .05": str((lists.weat_p < 0.05).sum()),
                "quasi-F": str((lists.quasi_f_p < 0.05).sum()),
                "posterior": str((lists.lb > 0).sum()),
                "smallest bias": _written(lists.loc[lists.bias.idxmin()]),
                "largest bias": _written(lists.loc[lists.bias.idxmax()]),
            }
        )
    return pd.DataFrame(rows)


def _written(row: Any) -> str:
    return f"{signed(row.bias)} {interval([row.lb, row.ub])}"


def _together(pooled: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for test in pooled.index.unique("test"):
        mean, between, new = (pooled.loc[(test, what)] for what in ("mu", "tau", "new list"))
        rows.append(
            {
                "list": test,
                "mean of writers": f"{signed(mean['mean'])} {interval([mean.eti95_lb, mean.eti95_ub])}",
                "sd between writers": f"{between['mean']:.3f} [{between.eti95_lb:.3f}, {between.eti95_ub:.3f}]",
                "sd of one list's bias": f"{mean.typical_sd:.3f}",
                "a new writer": f"{signed(new['mean'])} {interval([new.eti95_lb, new.eti95_ub])}",
                "words two writers share": f"{100 * mean.overlap:.0f}%",
            }
        )
    return pd.DataFrame(rows)


def _shared(words: pd.DataFrame) -> pd.DataFrame:
    rows = words.assign(language=words.code.map(NAMES))
    return pd.DataFrame(
        {
            "language": [NAMES[code] for code in rows.code.unique()],
            **{
                column: [
                    f"{100 * cell.shared_by_two:.0f}% ({cell.distinct})"
                    for cell in rows[rows["column"] == column].itertuples()
                ]
                for column in rows["column"].unique()
            },
        }
    )


def headlines(results: Results) -> list[tuple[str, str, str]]:
    """Whether writers differ by more than their words."""
    said = facts(results)
    apart = (said["published"].largest - said["published"].smallest).median()
    return [
        (
            "Lists of different native writers (España-Bonet & Barrón-Cedeño 2022)",
            f"effect sizes of one language and model lie {apart:.2f} apart (median range)",
            f"{said['published'].ratio.median():.2f} times what samples of words predict; writers' own part of the"
            f" variance is 0 to {100 * said['most_of_writers']:.0f}% of the words'",
        )
    ]
