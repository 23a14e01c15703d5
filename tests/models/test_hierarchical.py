"""The published model agrees with the published posteriors."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias import AssociationTable, Sampling, fit, summarize
from bayes_bias.errors import ScopeError
from benchmarks.reference import TABLES
from tests.helpers import REFERENCE, refused
from tests.models.test_crossed import COLUMNS


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    """Means and 89% intervals of Dobrzeniecka & Urbaniak (2024), doi:10.1162/coli_a_00507: their stored tables."""
    table = pd.read_csv(REFERENCE / "posteriors.csv")
    return table.assign(connection=table.connection.replace("none", "neutral"))


# A table of each list and of each embedding is always compared; `make test-thorough` compares the others, too.
ALWAYS = ("gender_glove", "gender_reddit_debiased", "race_google", "religion_glove", "weat7_google")


@pytest.mark.slow
@pytest.mark.parametrize(
    "table", [pytest.param(name, marks=[] if name in ALWAYS else pytest.mark.thorough) for name in TABLES]
)
def test_hierarchical_matches_published_posterior(published_cosines, published, table):
    wordlist, embedding = table.split("_", 1)
    rows = published[(published.list == wordlist) & (published.embedding == embedding)]
    ours = summarize(
        fit(published_cosines(table, duplicates="keep"), "hierarchical", seed=1, sampling=Sampling(draws=1500)),
        ci_prob=0.89,
    )
    overall = rows[rows.level == "overall"].set_index("connection")
    words = rows[rows.level == "protected_word"]
    words = words.set_index(words.word + ", " + words.connection)
    assert len(overall) == 4
    assert len(words) == 0 or len(words) == len(ours.loc["target_connection_mean"])
    _assert_close(ours.loc["connection_mean"], overall, 0.003)
    _assert_close(ours.loc["target_connection_mean"], words, 0.007)


def _assert_close(ours: pd.DataFrame, theirs: pd.DataFrame, tolerance: float) -> None:
    for column, name in (("mean", "mean"), ("eti89_lb", "low"), ("eti89_ub", "high")):
        difference = ours.loc[theirs.index, column] - theirs[name]
        assert difference.abs().max() <= tolerance or theirs.empty


def test_hierarchical_connections_are_ordered_with_controls_last(hierarchical_fit):
    posterior = hierarchical_fit["posterior"]
    assert posterior.connection.to_numpy().tolist() == ["associated", "different", "neutral"]
    assert posterior.target_connection_mean.dims == ("chain", "draw", "connection", "target")


def test_hierarchical_bias_equals_different_minus_associated_distance(hierarchical_fit):
    summary = summarize(hierarchical_fit)
    mean = summary.loc["connection_mean", "mean"]
    bias = summary.loc[("bias", "overall"), "mean"]
    assert bias == pytest.approx(mean["different"] - mean["associated"])
    assert 0.05 < bias < 0.15  # planted: 0.1


def test_hierarchical_counts_repeated_rows(small_table, from_priors):
    """Counting one target's rows three times is not dropping the repeats."""
    frame = small_table.to_frame()
    tripled = pd.concat([frame, *[frame[frame.target == "men 0"]] * 2])
    table = AssociationTable.from_frame(tripled, stereotypes=small_table.stereotypes, duplicates="keep", **COLUMNS)
    data = fit(table, "hierarchical")["constant_data"]
    count = data.distance_count.sum("connection")
    assert np.array_equal(count, np.where(data.target == "men 0", 3 * 19, 19))


def test_summarize_raises_for_scope_of_hierarchical(hierarchical_fit):
    with refused(ScopeError, "hierarchical scopes"):
        summarize(hierarchical_fit, "targets")
