"""Known bias over time: worlds whose bias and tokens are known slice by slice, and what a trend says of them."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.analyses.over_time.moments import trend_weights
from bayes_bias.analyses.over_time.over_time import over_time
from bayes_bias.associations.cosines import cosines
from bayes_bias.documents.document import Document, PageSection
from bayes_bias.files import check_home
from bayes_bias.formatting import Telling, counted, signed
from bayes_bias.jobs import Job, open_store, run_jobs
from bayes_bias.table.columns import interval_names, interval_of
from studies.known_bias.plots import plot_answers
from studies.known_bias.scenario import ModelRecipe, recipes_from
from studies.known_bias.slices import Slice, World, trained
from studies.known_bias.toml_values import (
    SCENARIOS,
    ScenarioError,
    count,
    list_of_tables,
    names_in,
    number,
    read_source,
    read_values,
    tables,
    text,
)
from studies.known_bias.training import check_trainable

SLICED = SCENARIOS / "over-time"
_READERS = {
    **dict.fromkeys(("title", "description"), text),
    **dict.fromkeys(("worlds", "seed"), count(1)),
    "slices": list_of_tables,
    "models": tables,
}
_OF_SLICE = {"at": number, "bias": number, "tokens": count(1)}


@dataclass(frozen=True, repr=False)
class SlicedScenario(Telling):
    """Worlds in real text with a truth for each slice: planted log odds, and tokens."""

    name: str
    title: str
    description: str
    slices: Mapping[float, Slice]
    models: tuple[ModelRecipe, ...]
    worlds: int = 2
    seed: int = 1

    @property
    def text(self) -> str:
        """Name, slices, worlds, models."""
        models = ", ".join(model.name for model in self.models)
        return f"{self.name}, {len(self.slices)} slices of {counted(self.worlds, 'world')}, read by {models}"

    @property
    def planted(self) -> dict[float, float]:
        """The difference in log odds between the groups, slice by slice."""
        return {at: World.bias * each.bias for at, each in self.slices.items()}


@dataclass(frozen=True, eq=False, repr=False)
class KnownTrends(Telling):
    """What trends say, beside what was planted.

    `trends` has a row for each world and model: ``planted``, the change in log odds along the line; ``value``, the
    estimated change in cosine, with the interval for these slices and that for new ones (``new_``); ``verdict``.
    `slices` has the ``bias`` and ``q`` of each slice beside its ``planted`` log odds and its ``tokens``.
    """

    scenario: SlicedScenario
    trends: pd.DataFrame
    slices: pd.DataFrame
    failed: Mapping[str, str]

    @property
    def text(self) -> str:
        """What was planted, and the verdicts."""
        verdicts = self.trends.verdict.value_counts(sort=False)
        said = ", ".join(f"{verdict} in {times}" for verdict, times in verdicts.items())
        return f"{self.scenario.text}. Planted: {signed(self.trends.planted[0], 2)} log odds along the line; {said}"

    def document(self) -> Document:
        """The page: trends and slices beside the truth."""
        scenario = self.scenario
        shown = partial(plot_answers, self.trends, unit="change along the line (cosine)", rows="world")
        return Document(
            title=f"Known bias: {scenario.title}",
            heading=f"Known bias: {scenario.title}",
            opening={"answer": scenario.description, "note": f"{self.text}."},
            sections=(
                PageSection("failed", "Not answered", "failed.html") if self.failed else None,
                PageSection("trends", "Do trends show what was planted?", "trends.html"),
            ),
            templates=__package__,
            facts={"failed": self.failed, "trends": self.trends, "slices": self.slices},
            figures={"trends": shown},
            tables={"trends": self.trends, "slices": self.slices},
            provenance={"world": scenario.name, "seed": scenario.seed, "failed": dict(self.failed)},
        )


def load_sliced(name_or_path: str | Path) -> SlicedScenario | None:
    """Read a scenario that has slices, by its shipped name or from its file; None if it has none.

    Raises
    ------
    ScenarioError
        An unknown key; fewer than two slices, or two at one time; models without fixed vectors.
    """
    label = str(name_or_path)
    if label not in names_in(SLICED) and not os.path.isfile(label):
        return None
    content = read_source("scenario", label, SLICED)
    return sliced_from(content, Path(label).stem) if "slices" in content else None


def sliced_from(content: Mapping[str, Any], name: str) -> SlicedScenario:
    """A scenario with slices from a mapping of the shape of its TOML file."""
    values = read_values(content, _READERS, name)
    slices: dict[float, Slice] = {}
    for position, row in enumerate(values.pop("slices"), 1):
        where = f"{name}: slice {position}"
        given = {"bias": 1.0, "tokens": World.tokens, **read_values(row, _OF_SLICE, where)}
        if "at" not in given:
            raise ScenarioError(f"{where} has no time; add at = 1900")
        if given["at"] in slices:
            raise ScenarioError(f"{where}: 'at' is {given['at']:g}, as in another; give each a time of its own")
        slices[given["at"]] = Slice(given["bias"], given["tokens"] / World.tokens)
    if len(slices) < 2:
        raise ScenarioError(f"{name}: 'slices' has {len(slices)}; give two or more, five for new slices")
    values["models"] = recipes_from(values, name)
    for recipe in values["models"]:
        if recipe.contextual:
            raise ScenarioError(f"{name}: model '{recipe.name}' has no fixed vectors; take 'skip-gram' or 'cbow'")
    return SlicedScenario(**{"name": name, "title": name, "description": "", "slices": slices, **values})


def run_sliced(scenario: SlicedScenario, folder: str | Path, *, jobs: Any = -1) -> KnownTrends:
    """Train all slices and compute their trends; answers are kept in the folder, so that a killed run goes on."""
    check_home(Path(folder), "out")
    check_trainable(scenario.models)
    plan = [[at, asdict(each)] for at, each in scenario.slices.items()]
    places = [(world, recipe) for world in range(scenario.worlds) for recipe in scenario.models]
    todo = [
        Job(
            f"{scenario.name}: world {world + 1}, {recipe.name}",
            trend_of,
            (scenario, world, recipe),
            depends_on=[scenario.seed, world, recipe.kind, dict(recipe.settings), plan],
        )
        for world, recipe in places
    ]
    outcomes = run_jobs(todo, open_store(Path(folder) / "answers"), jobs=jobs)
    failed = {outcome.name: outcome.failed for outcome in outcomes if outcome.failed}
    if len(failed) == len(outcomes):
        name, why = next(iter(failed.items()))
        raise ScenarioError(f"{scenario.name}: no series gave an answer; of {name}: {why}")
    done = [
        ({"world": f"world {world + 1}", "model": recipe.name}, outcome.result)
        for (world, recipe), outcome in zip(places, outcomes, strict=True)
        if not outcome.failed
    ]
    trends = [place | result["trend"] for place, result in done]
    slices = [place | row for place, result in done for row in result["slices"]]
    return KnownTrends(scenario, pd.DataFrame(trends), pd.DataFrame(slices), failed)


def trend_of(scenario: SlicedScenario, world: int, recipe: ModelRecipe) -> dict[str, Any]:
    """One series: its trend, and its slices, beside what was planted."""
    known = World([scenario.seed, world])
    texts = known.written([*scenario.slices.values()])
    tables = {
        at: cosines(known.wordlist(), trained(sentences, recipe), (), allow_loss=True)
        for at, sentences in zip(scenario.slices, texts, strict=True)
    }
    found = over_time(tables, seed=scenario.seed)
    planted, of_trend = scenario.planted, found.trend.table
    these, new = (of_trend.loc[of_trend.index[k]] for k in (0, -1))  # of fewer than five slices the same
    trend = {
        "planted": float(trend_weights(found.times) @ [planted[at] for at in found.times]),
        "value": float(these["mean"]),
        **dict(zip(interval_names(kind="ci"), map(float, interval_of(these)), strict=True)),
        **dict(zip(interval_names(kind="ci", of="new"), map(float, interval_of(new)), strict=True)),
        "verdict": found.trend.verdict,
    }
    slices = [
        {
            "slice": at,
            "planted": planted[at],
            "tokens": sum(map(len, sentences)),
            "q": float(found.alike.table.q[at]),
            "bias": float(found.table.bias[at]),
        }
        for at, sentences in zip(scenario.slices, texts, strict=True)
    ]
    return {"trend": trend, "slices": slices}
