"""What measures make of worlds whose bias is known: `python -m benchmarks.ground_truth WORLD... --folder FOLDER`.

Answers every question that a shipped world can, and keeps tables and figures in `benchmarks/results`; models and
answers stay in the folder, so that a run which was stopped
goes on. `python -m benchmarks.ground_truth_page` renders them.
"""

import argparse
from pathlib import Path
from time import perf_counter

import pandas as pd

import bayes_bias as bb
from bayes_bias.files import slug
from bayes_bias.reports import figures
from bayes_bias.reports.of_ground_truth import drawn_panel
from bayes_bias.worlds.asking import ANGLE
from bayes_bias.worlds.found import GroundTruth
from bayes_bias.worlds.questions.asked import answers
from bayes_bias.worlds.questions.clustered import for_each, mean_over_truths
from benchmarks.provenance import RESULTS, provenance, write

FOLDER = RESULTS / "ground-truth"
_DIGITS = 4

# The figures that the page shows.
SHOWN = frozenset(
    (
        "contextual-words-gender-log-odds",
        "majority-ranking-gender-targets",
        "majority-replicates-gender",
        "majority-words-gender-log-odds",
        "null-false-findings-gender-two-groups",
        "robustness-robustness-gender-targets-skip-gram",
        "sentences-orders-gender",
        "skew-following-gender-targets-skip-gram",
    )
)


class _Said:
    def step(self, text: str) -> None:
        print(text, flush=True)

    def advance(self, done: int, total: int) -> None:
        if done % 10 == 0 or done == total:
            print(f"{done} of {total}", flush=True)


def main() -> None:
    """Run the worlds, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    for name in asked.worlds:
        start = perf_counter()
        keep(
            bb.ground_truth(name, asked.folder / name, jobs=asked.jobs, progress=_Said()),
            perf_counter() - start,
        )


def keep(found: GroundTruth, seconds: float) -> None:
    """Tables of all questions as JSON, and a figure for each panel."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    world = found.world
    rows: list[dict[str, object]] = []
    for answer in answers(found):
        rows += [{"question": answer.question.name, **row} for row in _rounded(answer.table)]
        for panel in answer.panels:
            name = f"{world.name}-{answer.question.name}-{slug(panel)}"
            if name in SHOWN:
                figures.save(figures.laid_out(drawn_panel(answer, panel)), FOLDER / f"{name}.png")
    rows += [{"question": "angle", **row} for row in _rounded(_angles(found))]
    about = provenance() | {
        "title": world.title,
        "description": world.description,
        "world": world.text,
        "trainings": len(list(world.readings())) - len(found.failed),
        "failed": len(found.failed),
        "models": {each.name: {"kind": each.kind, **each.settings} for each in world.models},
        "sha256": world.sha256,
        "seconds of the last run": round(seconds),
    }
    write(f"ground-truth-{world.name}", about, rows)


def _angles(found: GroundTruth) -> pd.DataFrame:
    """Mean angle between the two bias directions of each attribute and model."""
    rows = found.models[found.models.measure == ANGLE]
    by = ["attribute", "model"]
    return for_each(rows, by, lambda own: [mean_over_truths(own.value, own.truth)])


def _rounded(table: pd.DataFrame) -> list[dict[str, object]]:
    complete = table.astype(object).where(table.notna(), None)
    return [
        {key: round(value, _DIGITS) if isinstance(value, float) else value for key, value in row.items()}
        for row in complete.to_dict("records")
    ]


if __name__ == "__main__":
    main()
