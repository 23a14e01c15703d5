"""What measures make of scenarios whose bias is known: `python -m benchmarks.known_bias WORLD... --folder FOLDER`.

Answers every question that a shipped scenario can, and keeps tables and figures in `benchmarks/results`; models and
answers stay in the folder, so that a run which was stopped goes on. `python -m benchmarks.page` renders them.
"""

import argparse
from pathlib import Path
from time import perf_counter

import pandas as pd

from bayes_bias.documents.figures import render_in_background, write_figures
from bayes_bias.files import slug
from bayes_bias.progress import shown
from benchmarks.provenance import RESULTS, provenance, write
from studies.known_bias.asking import ANGLE
from studies.known_bias.document import drawn_panel
from studies.known_bias.questions import answers
from studies.known_bias.results import KnownBias, for_each, mean_over_truths
from studies.known_bias.running import run
from studies.known_bias.trends import load_sliced, run_sliced

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
    """Run the scenarios, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="+")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    for name in asked.scenarios:
        if sliced := load_sliced(name):
            trends = run_sliced(sliced, asked.folder / name, jobs=asked.jobs)
            write(f"known-trends-{name}", provenance() | {"scenario": sliced.text}, _rounded(trends.trends))
            continue
        start = perf_counter()
        with shown(_Said()):
            result = run(name, asked.folder / name, jobs=asked.jobs)
        keep(result, perf_counter() - start)


def keep(found: KnownBias, seconds: float) -> None:
    """Tables of all questions as JSON, and a figure for each panel."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    scenario = found.scenario
    rows: list[dict[str, object]] = []
    for answer in answers(found):
        rows += [{"question": answer.question.name, **row} for row in _rounded(answer.table)]
        for panel in answer.panels:
            name = f"{scenario.name}-{answer.question.name}-{slug(panel)}"
            if name in SHOWN:
                with render_in_background({name: drawn_panel(answer, panel)}, ["png"]) as figures:
                    write_figures(figures, FOLDER, ["png"])
    rows += [{"question": "angle", **row} for row in _rounded(_angles(found))]
    about = provenance() | {
        "title": scenario.title,
        "description": scenario.description,
        "scenario": scenario.text,
        "trainings": len(list(scenario.readings())) - len(found.failed),
        "failed": len(found.failed),
        "models": {each.name: {"kind": each.kind, **each.settings} for each in scenario.models},
        "sha256": scenario.sha256,
        "seconds of the last run": round(seconds),
    }
    write(f"ground-truth-{scenario.name}", about, rows)


def _angles(found: KnownBias) -> pd.DataFrame:
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
