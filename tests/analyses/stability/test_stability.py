"""Stability of training: each method in each training, and what the posterior says of all of them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.lines import Line2D

from bayes_bias import cosines, fit, load_fit, open_embedding, stability, write
from bayes_bias.analyses.stability.stability import Stability
from bayes_bias.checks.predictive import predictive_coverage
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import EmbeddingError, ScopeError
from bayes_bias.formatting import in_words
from bayes_bias.measures import weat
from bayes_bias.plots import plot_stability
from bayes_bias.words.wordlist import WordList
from tests.helpers import SHORT, numbered, random_vectors, refused, says, unlisted_columns

LIST = WordList.from_mapping(
    {
        "groups": {"men": numbered("m", 6), "women": numbered("w", 6)},
        "classes": {"work": numbered("j", 6), "home": numbered("h", 6)},
        "stereotypes": {"men": "work", "women": "home"},
    },
    name="planted",
)


def training(seed: int) -> Embedding:
    """Vectors that all trainings have in common, with a bias in the first dimension, and some of its own."""
    words = [*LIST.targets, *LIST.attributes]
    common, own = random_vectors(0, words, 20), random_vectors(1 + seed, words, 20)
    lean = {"m": 1.0, "j": 1.0, "w": -1.0, "h": -1.0}
    shift = np.eye(20)[0]
    return open_embedding({w: common[w] + 0.5 * own[w] + 1.2 * lean[w[0]] * shift for w in words}, name=f"seed {seed}")


@pytest.fixture(scope="module")
def trainings() -> list[Embedding]:
    return [training(seed) for seed in range(4)]


@pytest.fixture(scope="module")
def found(sampled: None, trainings: list[Embedding]) -> Stability:
    return stability(cosines(LIST, open_embedding(trainings, kind="seed"), ()), sampling=SHORT)


def test_stability_measures_match_each_training(found, trainings):
    of_words = found.shares.rename_axis("of").reset_index().filter(regex=r"^\w+$")
    assert unlisted_columns(found.spread.rename_axis("method").reset_index(), of_words) == set()
    assert found.replicate_kind == found.measures.index.name == "seed"
    assert found.measures.index.tolist() == [training.name for training in trainings]
    for training in trainings:
        alone, row = weat(cosines(LIST, training, ())), found.measures.loc[training.name]
        assert row["WEAT d"] == pytest.approx(alone.effect_size)
        assert row["WEAT difference"] == pytest.approx(alone.difference)
        assert row["raw bias"] == pytest.approx(alone.difference / 2)
    assert not found.left_out


def test_stability_posterior_varies_less_than_raw_bias(found):
    spread = found.spread
    assert spread.sd["posterior bias"] < spread.sd["raw bias"]
    assert spread["mean"]["posterior bias"] == pytest.approx(spread["mean"]["raw bias"], abs=1e-6)
    assert (found.components.eti95_lb < found.components["mean"]).all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    single, several = found.components.xs("reliability")["mean"]
    assert single < several < 1
    for _, row in found.components.xs("reliability").iterrows():
        assert f"{row['mean']:.2f} [{row.eti95_lb:.2f}, {row.eti95_ub:.2f}]" in found.text
    assert says(found.text, f"With one seed with the average of all {in_words(len(found.measures))} it is")


def test_relative_measures_ignore_unit_and_sign(found):
    measures = pd.DataFrame({"up": [1.0, 2, 3], "down": [-10.0, -20, -30], "mixed": [1.0, -1, 4]})
    relative = replace(found, measures=measures).relative
    np.testing.assert_allclose(relative.up, [0.5, 1, 1.5])
    np.testing.assert_allclose(relative.down, relative.up)
    np.testing.assert_allclose(relative.mixed, [0.5, -0.5, 2])


def test_stability_folder_has_tables_figure_text_and_posterior(found, tmp_path):
    page = write(found, tmp_path / "out", figures=("png",))
    assert (page.parent / "stability.txt").read_text() == f"{found.text}\n"
    assert all(method in page.read_text() for method in found.measures)
    read = pd.read_csv(page.parent / "measures.csv", index_col="seed")
    np.testing.assert_allclose(read, found.measures)
    assert (page.parent / "figures" / "stability.png").is_file()
    assert json.loads((page.parent / "provenance.json").read_text())["seeds"] == list(found.measures.index)
    assert load_fit(page.parent / "posterior-planted.nc").attrs["name"] == "planted"


def test_plot_stability_has_rows_of_methods_and_trainings(found):
    ax = plot_stability(found)
    order = found.spread.relative_sd.sort_values(ascending=False).index
    assert [label.get_text() for label in ax.get_yticklabels()] == list(order)
    points = [line for line in ax.lines if isinstance(line, Line2D) and line.get_marker() != "None"]
    assert len(points) == found.measures.size
    last = [line.get_xdata()[0] for line in points[-len(found.measures) :]]
    np.testing.assert_allclose(last, found.relative[order[-1]])


def test_predictive_coverage_matches_fit_without_replicates(found, trainings):
    table = cosines(LIST, open_embedding(trainings, kind="seed"), ())
    alone: xr.DataTree = fit(replace(table, replicates=None), sampling=SHORT)
    np.testing.assert_allclose(predictive_coverage(found.fit), predictive_coverage(alone), atol=0.08)


def test_stability_raises_for_bad_embeddings_and_scope(trainings):
    for given, said in (
        (trainings[0], "embeddings 'seed 0' training"),
        (trainings[:1], "1 embeddings"),
        ([trainings[0], trainings[0]], "2 seeds 'seed 0'"),
    ):
        with refused(EmbeddingError, said):
            stability(LIST, given)
    with refused(ScopeError, "'none'"):
        stability(LIST, trainings, scope="none")
