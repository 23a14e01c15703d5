"""Versions stand in their embedding: what is pooled never hears of them, and what they changed is paired."""

import logging
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sweep.ranking import rank_versions
from bayes_bias.analyses.sweep.results import Sweep, sweep_document
from bayes_bias.debiasing import Debiasing, GivenVersion, HardDebias
from bayes_bias.errors import BayesBiasError
from tests.helpers import SHORT, numbered, refused, says

HARD = Debiasing(HardDebias(), "she:he,woman:man", "hard")
LISTS = ["weat6", "weat7"]


def noisy(share: float) -> dict[str, np.ndarray]:
    """The shipped vectors with noise."""
    rng, vectors = np.random.default_rng(1), bb.open_embedding("googlenews-demo").all()
    return {word: v + share * v.std() * rng.standard_normal(v.shape) for word, v in vectors.items()}


def swept(*lists: str, **options: Any) -> Sweep:
    embeddings = {"shipped": "googlenews-demo", "noisy": noisy(0.7)}
    return bb.sweep(bb.Grid(lists or LISTS, embeddings, controls=()), **{"jobs": 1, "sampling": SHORT, **options})


@pytest.fixture(scope="module")
def with_versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Sweep]:
    """A sweep of two embeddings, and the same with versions of them."""
    folder = tmp_path_factory.mktemp("versions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.getLogger("bayes_bias"), "disabled", True)
        alone = swept("weat6", folder=folder)
        versions = [replace(HARD, of="shipped"), GivenVersion(noisy(0.2), "theirs", of="shipped")]
        return alone, swept("weat6", folder=folder, versions=versions)


@pytest.mark.thorough
@pytest.mark.slow
def test_sweep_pooling_and_holm_ignore_versions(with_versions: tuple[Sweep, Sweep]) -> None:
    alone, beside = with_versions
    assert alone.pooled is not None
    assert beside.pooled is not None
    pd.testing.assert_frame_equal(beside.pooled.cells, alone.pooled.cells)
    pd.testing.assert_frame_equal(beside.pooled.embeddings, alone.pooled.embeddings)
    pd.testing.assert_frame_equal(beside.pooled.lists, alone.pooled.lists)
    originals = beside.cells[beside.cells.version_of == ""]
    pd.testing.assert_series_equal(originals.chance_holm, alone.cells.chance_holm)


@pytest.mark.thorough
@pytest.mark.slow
def test_sweep_change_equals_change_of_compare(with_versions: tuple[Sweep, Sweep]) -> None:
    _, beside = with_versions
    before = bb.open_embedding("googlenews-demo")
    tables = (bb.cosines("weat6", vectors, ()) for vectors in (before, HARD.applied(before)))
    changed = bb.compare(*tables, sampling=SHORT).bias.loc["change"]
    row = beside.changes.loc[("shipped", "hard", "weat6")]
    width = changed.eti95_ub - changed.eti95_lb
    assert (row.change, row.ci95_lb, row.ci95_ub) == pytest.approx(
        (changed["mean"], changed.eti95_lb, changed.eti95_ub), abs=0.01 * width
    )
    assert row.before == beside.cells.bias["shipped", "weat6"]
    assert (beside.changes.chance_holm >= beside.changes.chance).all()


def test_screening_has_paired_changes_and_ranks_versions() -> None:
    found = swept(versions=HARD, posteriors="none")
    assert found.changes.index.to_list() == list(product(("shipped", "noisy"), ("hard",), LISTS))
    change = found.changes.after - found.changes.before
    assert found.changes.change.to_numpy() == pytest.approx(change.to_numpy())
    assert (found.changes.sd < found.cells.sd.loc[["shipped", "noisy"]].to_numpy()).all()
    assert found.ranking is not None
    assert list(found.ranking.cells) == [("shipped", "weat6"), ("noisy", "weat6")]
    assert says(found.ranking.text, "'hard' %")
    assert says(found.text, "Two embeddings two lists 4 cells")
    assert found.changes.taught.to_list() == [0, 4, 0, 4]
    assert says(found.text, "2 changes learned words list")


@pytest.mark.parametrize(
    ("screened", "claims", "denied"),
    [
        (0, "same model paired differences adjusted 4 changes", "variance alone"),
        (1, "same model 1 of 4 changes analysis variance alone adjusted", ""),
        (4, "changes estimated analysis variance alone paired differences", "same model"),
    ],
)
def test_methods_count_changes_that_were_only_screened(screened: int, claims: str, denied: str) -> None:
    found = swept(versions=HARD, posteriors="all")
    source = ["quasi-F"] * screened + ["posterior"] * (4 - screened)
    methods = sweep_document(replace(found, changes=found.changes.assign(source=source))).methods.plain
    assert says(methods, claims)
    assert not denied or denied not in methods
    assert ("adjusted for all 4 changes" in methods) == (screened < 4)


@pytest.mark.parametrize("lacking", ["original", "version"])
def test_sweep_estimates_a_change_when_a_vector_is_missing_on_one_side(
    lacking: str, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = {"original": dict(bb.open_embedding("googlenews-demo").all()), "version": noisy(0.2)}
    vectors[lacking] |= {"John": np.zeros(300), "home": np.zeros(300)}  # words without a usable vector
    grid = bb.Grid("weat6", {"one": vectors["original"]}, controls=())
    found = bb.sweep(grid, versions=GivenVersion(vectors["version"], "theirs", of="one"), jobs=1)
    assert found.failures.empty
    name = {"original": "'one'", "version": "'one, theirs'"}[lacking]
    assert f"words without a vector of their own are omitted from lists in {name} (see" in caplog.text
    before, after = (bb.cosines("weat6", side, ()) for side in vectors.values())
    raw = bb.verdict(bb.combine({0: before, 1: after}, (-1, 1)), "none")
    row = found.changes.iloc[0]
    assert (row.source, row.change) == ("posterior", pytest.approx(raw.mean))


def test_damaged_version_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "damaged.txt").write_text("he 1 2 3\nshe 1 2\n")
    found = swept(versions=GivenVersion(tmp_path / "damaged.txt", "theirs", of="noisy"), posteriors="none")
    assert found.failures.embedding.tolist() == ["noisy, theirs"]
    assert found.changes.change.isna().all()
    assert found.ranking is None


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (lambda: GivenVersion("nowhere.txt", "theirs", of="noisy"), "nowhere.txt"),
        (lambda: GivenVersion("googlenews-demo", "theirs", of="glove"), "versions 'theirs' 'glove'"),
        (lambda: GivenVersion("googlenews-demo", "theirs", of=("shipped", "noisy")), "of embedding"),
    ],
)
def test_sweep_raises_for_wrong_version(version: Any, message: str) -> None:
    with refused(BayesBiasError, message):
        swept(versions=version(), posteriors="none")


def made_changes(removed: dict[str, float], rng: np.random.Generator, lists: int = 5) -> tuple[Any, ...]:
    """Cells, changes and influences, with a known share of the bias removed; the last list has no bias."""
    truth = np.array([*rng.normal(0.08, 0.02, lists - 1), 0.0])
    words, names = numbered("word", 16), numbered("list ", lists)
    z = 0.005 * rng.standard_normal((lists, 16))
    bias, sd = truth + z.sum(axis=1), np.sqrt((z**2).sum(axis=1))
    numbers = {"bias": bias, "sd": sd, "ci95_lb": bias - 2 * sd, "ci95_ub": bias + 2 * sd, "verdict": ""}
    cells = pd.DataFrame(numbers, index=pd.MultiIndex.from_product([["E"], names], names=["embedding", "list"]))
    adds = {("E", name): {"targets": row.to_dict()} for name, row in pd.DataFrame(z, names, words).iterrows()}
    rows, influence_on_changes = [], {}
    for version, share in removed.items():
        own = -share * z + 0.3 * 0.005 * rng.standard_normal(z.shape)
        for k, name in enumerate(names):
            sd_change = np.sqrt((own[k] ** 2).sum())
            change = -share * truth[k] + own[k].sum()
            rows.append(("E", version, name, f"E, {version}", change, sd_change, ""))
            influence_on_changes[f"E, {version}", name] = {"targets": pd.Series(own[k], words).to_dict()}
    columns = ["embedding", "version", "list", "column", "change", "sd", "verdict"]
    return cells, pd.DataFrame(rows, columns=columns).set_index(columns[:3]), adds, influence_on_changes


def test_rank_versions_intervals_cover_true_shares_removed() -> None:
    truth, rng = {"most": 0.9, "half": 0.5, "turns": 1.3}, np.random.default_rng(1)
    rankings = [rank_versions(*made_changes(truth, rng)) for _ in range(60)]
    tables = pd.concat(ranking.table for ranking in rankings if ranking)
    share = pd.Series(truth).loc[tables.index]
    held = ((tables.eti95_lb <= share) & (share <= tables.eti95_ub)).groupby(level=0).mean()
    assert held.between(0.88, 0.99).all(), held
    assert tables["rank"].groupby(level=0).mean().idxmin() == "most"
