"""The pooled model against a dense normal, and rankings that hold the truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import bayes_bias as bb
from bayes_bias.analyses.sweep import pooling
from bayes_bias.analyses.sweep.pooling import _Cells, _grid, _inputs, _Noise, _notices, pool_cells
from bayes_bias.posterior.pooling import RandomEffects
from bayes_bias.posterior.ranks import ranked
from benchmarks.atlases import made_cells, truth
from tests.helpers import says

SDS = {"embedding": 0.7, "list": 1.1, "interaction": 0.4}


SHARED = pd.Series({"list 0": 0.6, "list 1": 0.0, "list 2": 0.9})


@pytest.fixture
def cells() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    made, _ = made_cells(rng, truth(rng, 4, 3))
    made.loc[made.index[5], "bias"] = np.nan
    return made


def dense(cells: pd.DataFrame, sds: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Covariances of the cells with numbers, and of the truths of all with them; no mean."""
    e, k = (cells.index.codes[side] for side in (0, 1))
    truths = (
        sds["embedding"] ** 2 * (e[:, None] == e)
        + sds["list"] ** 2 * (k[:, None] == k)
        + sds["interaction"] ** 2 * np.eye(len(e))
    )
    s = cells.sd.to_numpy() / 0.025
    common = SHARED.to_numpy()[k]
    errors = common * np.outer(s, s) * (k[:, None] == k) + np.diag((1 - common) * s**2)
    observed = cells.bias.notna().to_numpy()
    return (truths + errors)[np.ix_(observed, observed)], truths[:, observed]


def test_pooling_likelihood_matches_dense_normal(cells: pd.DataFrame) -> None:
    """But for a constant: a flat mean is a normal one with a standard deviation far beyond everything."""
    inputs = _inputs(_grid(cells, SHARED), 0.025)
    y = cells.bias.dropna().to_numpy() / 0.025

    def exactly(sds: dict[str, float]) -> float:
        return float(multivariate_normal(cov=dense(cells, sds)[0] + 1e5).logpdf(y))

    def ours(sds: dict[str, float]) -> float:
        return float(_Cells.given(sds | inputs).log_likelihood())

    others = {"embedding": 0.2, "list": 0.5, "interaction": 1.3}
    assert ours(SDS) - ours(others) == pytest.approx(exactly(SDS) - exactly(others), abs=1e-3)


def test_pooling_draws_match_dense_normal(cells: pd.DataFrame) -> None:
    """Means and variances of every cell, that without numbers among them, given the scales."""
    inputs = _inputs(_grid(cells, SHARED), 0.025)
    rng = np.random.default_rng(2)
    noise = _Noise.drawn(rng, 8_000, inputs["bias"].shape, interactions=True)
    draws = _Cells.given(SDS | inputs).draw(noise)[1].reshape(8_000, -1)
    covariance, with_data = dense(cells, SDS)
    wide = 1e6
    weight = np.linalg.solve(covariance + wide, (with_data + wide).T).T
    mean = weight @ (cells.bias.dropna().to_numpy() / 0.025)
    truths = dense(cells.assign(bias=0.0), SDS)[1] + wide
    variance = np.diag(truths - weight @ (with_data + wide).T)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=4 * np.sqrt(variance.max() / 8_000))
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.08)


def test_pooling_of_one_embedding_matches_random_effects() -> None:
    """The model of one embedding, whose posterior `bayes_bias.pool` integrates by other code."""
    rng = np.random.default_rng(3)
    cells, _ = made_cells(rng, truth(rng, 1, 6))
    pooled = pool_cells(cells, pd.Series(0.0, index=cells.index.unique("list")))
    assert pooled is not None
    effects = RandomEffects(cells.bias.to_numpy(), cells.sd.to_numpy()[:, None], pooled.scale)
    tau, mu = pooled.effects.loc["sd_list"], pooled.effects.loc["mu"]
    assert tau["mean"] == pytest.approx(effects.tau_mean, abs=4 * effects.tau_sd / np.sqrt(4_000))
    assert tau.sd == pytest.approx(effects.tau_sd, rel=0.05)
    assert mu["mean"] == pytest.approx(effects.mu.mean, abs=4 * effects.mu.total_sd / np.sqrt(4_000))
    assert mu.sd == pytest.approx(effects.mu.total_sd, rel=0.05)


def test_lists_that_differ_much_more_than_their_prior_are_not_cut_off() -> None:
    """Biases of 60 lists have a standard deviation of ten units of its prior; its posterior as a sum."""
    lists = [f"list {k}" for k in range(60)]
    y = 10 * np.random.default_rng(1).standard_normal(60)
    index = pd.MultiIndex.from_product([["one"], lists], names=["embedding", "list"])
    cells = pd.DataFrame({"bias": y, "sd": 0.3, "within_sd": 2.0}, index)  # a scale of 1
    pooled = pool_cells(cells, pd.Series(0.0, index=lists))
    assert pooled is not None
    sd_list = np.linspace(1, 20, 4_000)
    variance = sd_list**2 + 0.3**2
    log_density = -(sd_list**2) / 2 - 59 / 2 * np.log(variance) - ((y - y.mean()) ** 2).sum() / variance / 2
    weight = np.exp(log_density - log_density.max())
    mean = np.average(sd_list, weights=weight)
    sd = np.sqrt(np.average((sd_list - mean) ** 2, weights=weight))
    assert mean > 6
    assert pooled.effects.loc["sd_list", "mean"] == pytest.approx(mean, abs=4 * sd / np.sqrt(4_000))
    assert pooled.effects.loc["sd_list", "sd"] == pytest.approx(sd, rel=0.06)


def test_pooling_matches_sampler(cells: pd.DataFrame) -> None:
    """Means and standard deviations for the same cells by NUTS (PyMC 6.4, nutpie .16, 20,000 draws)."""
    by_nuts = pd.DataFrame(
        {"mean": [0.037206, 0.021833, 0.033011, 0.013583], "sd": [0.024521, 0.010538, 0.012268, 0.007459]},
        index=["mu", "sd_embedding", "sd_list", "sd_interaction"],
    )
    pooled = pool_cells(cells, SHARED)
    assert pooled is not None
    difference = (pooled.effects["mean"] - by_nuts["mean"]) / by_nuts.sd
    assert difference.abs().max() < 0.08  # 4 Monte Carlo errors of 4,000 draws, and 2 of NUTS
    np.testing.assert_allclose(pooled.effects.sd, by_nuts.sd, rtol=0.06)


def test_pool_cells_shrinks_means_and_fills_gaps(cells: pd.DataFrame) -> None:
    pooled = pool_cells(cells, SHARED)
    assert pooled is not None
    assert pooled.cells["mean"].std() < cells.bias.std()
    missing = cells.index[5]
    assert pooled.cells.sd[missing] == pooled.cells.sd.max()
    assert pooled.shares["mean"].sum() == pytest.approx(1)
    assert says(pooled.notices[-1], "cells without numbers are predicted from the other cells (1 of 12)")


def test_pool_cells_excludes_embedding_without_numbers(cells: pd.DataFrame) -> None:
    lost = cells.copy()
    lost.loc["embedding 2", "bias"] = np.nan
    pooled, alone = pool_cells(lost, SHARED), pool_cells(lost.drop(index="embedding 2"), SHARED)
    assert pooled is not None
    assert alone is not None
    pd.testing.assert_frame_equal(pooled.embeddings, alone.embeddings)
    assert says(pooled.notices, "embeddings excluded embedding 2")
    assert pool_cells(cells.assign(bias=np.nan), SHARED) is None


def test_pool_cells_omits_list_that_compares_the_same_as_another(cells: pd.DataFrame) -> None:
    """A list that is pooled twice under two names would make the interval of the mean too narrow."""
    with_copy = pd.concat(
        [cells, cells.xs("list 0", level="list", drop_level=False).rename({"list 0": "copy"}, level="list")]
    )
    weat7, weat8, weat6 = map(bb.load_wordlist, ("weat7", "weat8", "weat6"))
    lists = [replace(weat7, name="list 0"), replace(weat8, name="copy"), replace(weat6, name="list 1")]
    pooled = pool_cells(with_copy, pd.Series(dtype=float), lists=lists)
    alone = pool_cells(cells, pd.Series(dtype=float))
    assert pooled.effects.equals(alone.effects)
    assert says(" ".join(pooled.notices), "copy compares the same as list 0 not pooled")
    assert "share words" not in " ".join(pooled.notices)


def test_pool_cells_keeps_other_topics_and_twins_of_lists_without_numbers(cells: pd.DataFrame) -> None:
    """weat5 and weat10 share attributes and the name Brad, but compare names by race and by age."""
    lists = [replace(bb.load_wordlist(name), name=cell) for name, cell in (("weat5", "list 0"), ("weat10", "list 1"))]
    assert len(pool_cells(cells, pd.Series(dtype=float), lists=lists).lists) == 3
    twins = [replace(bb.load_wordlist(name), name=cell) for name, cell in (("weat7", "list 0"), ("weat8", "list 1"))]
    lacking = cells.copy()
    lacking.loc[lacking.index.get_level_values("list") == "list 0", "bias"] = np.nan
    assert set(pool_cells(lacking, pd.Series(dtype=float), lists=twins).lists.index) == {"list 1", "list 2"}


def test_pool_cells_notice_names_lists_that_share_words(cells: pd.DataFrame) -> None:
    lists = [replace(bb.load_wordlist(name), name=cell) for name, cell in (("weat1", "list 0"), ("weat2", "list 1"))]
    notices = " ".join(pool_cells(cells, pd.Series(dtype=float), lists=lists).notices)
    assert says(notices, "share words not independent list 0 and list 1 50% too narrow")


def test_pooling_notice_names_unconverged_embedding(cells: pd.DataFrame) -> None:
    lost = cells.assign(verdict="distinguishable")
    lost.loc["embedding 2", "verdict"] = "not converged"
    grid = _grid(lost, SHARED)
    assert "embedding 2" not in grid.indexes["embedding"]
    assert says(_notices(lost, grid, "embedding"), "embedding 2")


def test_pooling_notice_names_embeddings_with_the_same_biases(cells: pd.DataFrame) -> None:
    first, second, *_ = cells.index.unique("embedding")
    repeated = cells.copy()
    repeated.loc[second, "bias"] = cells.loc[first].bias.to_numpy()
    said = {name: " ".join(_notices(of, _grid(of, SHARED), "model")) for name, of in {"": cells, "x": repeated}.items()}
    assert "same biases" not in said[""]
    assert says(said["x"], f"models same biases counts another model: {first}; {second}")


def test_pool_cells_returns_none_for_single_cell(cells: pd.DataFrame) -> None:
    assert pool_cells(cells.iloc[:1], SHARED) is None


def test_ranked_keeps_tied_items_undecided() -> None:
    rng = np.random.default_rng(1)
    draws = np.array([[3.0], [0.0], [0.0]]) + rng.standard_normal((3, 4000))
    ranking = ranked(draws, ["clear", "tied", "too"], 0.9)
    assert ranking.table.rank_eti90_lb.tolist() in ([1, 2, 2], [1, 1, 1])
    assert ranking.above.loc["clear", "tied"] > 0.97
    assert ranking.above.loc["tied", "too"] == pytest.approx(0.5, abs=0.03)
    assert ranking.above.loc["tied", "too"] + ranking.above.loc["too", "tied"] == 1


def test_pool_cells_does_not_depend_on_batches(cells: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of some points give the numbers of all points at once."""
    at_once = pool_cells(cells, SHARED)
    monkeypatch.setattr(pooling, "_AT_ONCE", 500)
    in_batches = pool_cells(cells, SHARED)
    pd.testing.assert_frame_equal(at_once.cells, in_batches.cells)
    pd.testing.assert_frame_equal(at_once.effects, in_batches.effects)
