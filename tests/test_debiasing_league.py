"""The study of debiasing methods says what its results say, and judges a made-up league as it should."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias.posterior.holm import holm
from studies.debiasing_league.methods import METHODS, ORIGINAL, SHAM
from studies.debiasing_league.page import HERE, page
from studies.debiasing_league.results import LEAGUE, NUMBERS, by_truth, over_truths, removers, winners
from studies.debiasing_league.worlds import worlds


@pytest.fixture(scope="module")
def worlds_read() -> pd.DataFrame:
    return pd.read_csv(LEAGUE)


@pytest.fixture(scope="module")
def league(worlds_read: pd.DataFrame) -> pd.DataFrame:
    return by_truth(worlds_read)


def test_league_readme_matches_rendered_results(worlds_read: pd.DataFrame) -> None:
    assert (HERE / "README.md").read_text(encoding="utf-8") == page(worlds_read)
    assert (HERE / "figures" / "bias-and-damage.png").is_file()


def test_league_has_all_methods_and_models_per_truth(league: pd.DataFrame, worlds_read: pd.DataFrame) -> None:
    models = {world.model.name for world in worlds("apart", 0)}
    assert (worlds_read.groupby(["kind", "corpus"]).truth.nunique() == 16).all()
    for _, rows in league.groupby(["kind", "truth"]):
        assert set(rows.model) == models
        assert (rows.groupby("model").version.agg(set) == {*METHODS, ORIGINAL, SHAM}).all()


def test_debiasing_methods_keep_bias_with_rare_reversals(league: pd.DataFrame) -> None:
    methods = over_truths(league).drop(index=[ORIGINAL, SHAM], level="version")
    assert (methods.new_left_lb > 0).all()
    assert methods.turned.max() < 0.05


def test_winners_match_paired_differences_in_made_up_league() -> None:
    """Half-sibling leaves twice as much as hard in each truth; RAN half of both genders and religions."""
    rng = np.random.default_rng(1)
    left = rng.uniform(0.1, 0.2, 12)
    rows = [
        {"kind": "apart", "truth": truth, "model": "cbow", "version": name, **dict.fromkeys(NUMBERS, kept)}
        | {"new_left": share * left[truth] * (1 + noise * rng.normal()), "religion_left": kept}
        for truth in range(12)
        for name, share, kept, noise in (("hard", 1, 1, 0), ("RAN", 0.5, 0.5, 1e-3), ("half-sibling", 2, 1, 1e-3))
    ]
    table = removers(pd.DataFrame(rows))
    assert table.left["hard"] == pytest.approx(left.mean())
    assert table.more["half-sibling"] == pytest.approx(left.mean(), rel=0.01)
    assert set(winners(pd.DataFrame(rows))) == {"hard", "RAN"}
    tested = table.dropna()
    assert tested.p_holm.to_numpy() == pytest.approx(holm(tested.p.to_numpy()))
