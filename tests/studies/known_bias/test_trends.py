"""Scenarios with slices: trends stand beside what was planted in each, and what no slice can be is refused."""

import random
from pathlib import Path
from typing import Any

import pytest

from bayes_bias import write
from studies.known_bias import slices
from studies.known_bias.toml_values import ScenarioError
from studies.known_bias.trends import SLICED, load_sliced, run_sliced, sliced_from
from tests.helpers import refused, says, states

SLICES = [{"at": 1900, "bias": -2.0}, {"at": 1910, "tokens": 24_000}, {"at": 1930, "bias": 2.0}]
CONTENT: dict[str, Any] = {
    "worlds": 1,
    "slices": SLICES,
    "models": {"skip-gram": {"dimensions": 20, "window": 5, "epochs": 5}},
}


@pytest.mark.gensim
@pytest.mark.slow
def test_run_sliced_reports_trend_beside_planted_trend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = random.Random(1)
    words = [f"w{k}" for k in range(200)]
    text = tuple(tuple(rng.choices(words, k=12)) for _ in range(12_000))
    monkeypatch.setattr(slices, "documentation", lambda: text)
    found = run_sliced(sliced_from(CONTENT, "short"), tmp_path, jobs=1)
    assert found.slices.planted.tolist() == [-2.0, 1.0, 2.0]
    assert found.slices.tokens[1] < 0.5 * found.slices.tokens[0]
    # The least-squares line through -2, 1, 2 at 0, 10, 30 rises by 1.21 in ten years.
    assert found.trends.planted.tolist() == [pytest.approx(3 * 170 / 140)]
    assert found.trends.verdict.tolist() == ["not made alike"]
    assert says(found.text, "1 world skip-gram not made alike in 1")
    page = write(found, tmp_path / "page", figures=("png",)).read_text()
    assert states(page, "planted (log odds)")
    assert states(page, "not made alike")
    assert run_sliced(sliced_from(CONTENT, "short"), tmp_path, jobs=1).trends.equals(found.trends)


def test_built_in_sliced_scenarios_load() -> None:
    names = [path.stem for path in SLICED.glob("*.toml")]
    assert names
    for name in names:
        scenario = load_sliced(name)
        assert scenario is not None
        assert name in scenario.text
    assert load_sliced("majority") is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"slices": SLICES[:1]}, "'slices' 1 two"),
        ({"slices": 3}, "'slices' 3 at = 1900"),
        ({"slices": [{"bias": 1}, *SLICES]}, "slice 1 at = 1900"),
        ({"slices": [*SLICES, {"at": 1900}]}, "slice 4 'at' 1900"),
        ({"slices": [{"at": 1890, "bais": 1}, *SLICES]}, "slice 1 'bais' bias"),
        ({"slices": [{"at": 1890, "tokens": 0.4}, *SLICES]}, "slice 1 'tokens' 0.4 whole"),
        ({"models": {"bert": {}}}, "'bert' vectors 'skip-gram'"),
        ({"truth": {}}, "'truth'"),
    ],
)
def test_sliced_from_raises_for_invalid_slices(changed: dict[str, Any], said: str) -> None:
    with refused(ScenarioError, said):
        sliced_from(CONTENT | changed, "short")
