"""Cosines that are not formed: the same numbers as with a matrix, wherever a matrix is not needed."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable, Metric, cosines, fit, summarize, verdict
from bayes_bias.checks.predictive import predictive_coverage
from bayes_bias.errors import TableError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import collapsed_log_likelihood
from bayes_bias.measures import quasi_f, weat
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.summary import tabulate
from bayes_bias.table.association_table import assemble
from bayes_bias.table.related_words import Products
from bayes_bias.table.statistics import sufficient_statistics
from bayes_bias.words.wordlist import WordList
from tests.helpers import SHORT, numbered, refused

STEREOTYPES = {"men": "work", "women": "home"}
GROUPS, CLASSES = ("men", "women"), ("work", "home", "other")


def unit_vectors(n: int, seed: int, d: int = 12) -> np.ndarray:
    # A common direction, as real embeddings have: the sums of squares are then large and the scatter small.
    vectors = np.random.default_rng(seed).standard_normal((n, d)) + 3
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


X, A = unit_vectors(31, seed=1), unit_vectors(45, seed=2)


def table(values: np.ndarray | Products) -> AssociationTable:
    return assemble(
        values,
        {f"t{i}": GROUPS[i % 2] for i in range(len(X))},
        {f"a{j}": CLASSES[j % 3] for j in range(len(A))},
        STEREOTYPES,
    )


@pytest.fixture
def unformed(monkeypatch) -> AssociationTable:
    """A table of more pairs than are formed at once."""
    monkeypatch.setattr("bayes_bias.table.related_words.MOST_PAIRS", 100)
    return table(Products(X, A))


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_sufficient_statistics_of_vectors_match_matrix(dtype, rtol, monkeypatch):
    monkeypatch.setattr("bayes_bias.table.related_words._CHUNK", 7)
    from_matrix = sufficient_statistics(table(X @ A.T))
    from_vectors = sufficient_statistics(table(Products(X.astype(dtype), A.astype(dtype))))
    assert set(from_vectors.variables) == set(from_matrix.variables)
    for name, values in from_matrix.drop_vars(["target", "attribute"]).data_vars.items():
        assert from_vectors[name].dims == values.dims
        scale = np.abs(values).max().item()
        np.testing.assert_allclose(from_vectors[name], values, rtol=rtol, atol=rtol * scale, err_msg=str(name))


@pytest.mark.slow
def test_fit_of_unformed_table_matches_fit_of_matrix(monkeypatch):
    words = WordList.from_mapping(
        {
            "groups": {group: numbered(f"{group} ", 15) for group in GROUPS},
            "classes": {name: numbered(f"{name} ", 15) for name in CLASSES},
            "stereotypes": STEREOTYPES,
        }
    )
    everybody = [*words.targets, *words.attributes]
    vectors = dict(zip(everybody, unit_vectors(len(everybody), seed=3), strict=True))
    formed = cosines(words, vectors, controls=())
    monkeypatch.setattr("bayes_bias.table.related_words.MOST_PAIRS", 100)
    unformed = cosines(words, vectors, controls=())
    assert (formed.is_formed, unformed.is_formed) == (True, False)

    with_matrix, without = fit(formed, sampling=SHORT), fit(unformed, sampling=SHORT)
    densities = [
        collapsed_log_likelihood(without["posterior"].to_dataset(), Fitted.of(tree).data).to_array().sum("variable")
        for tree in (with_matrix, without)
    ]
    np.testing.assert_allclose(*densities, atol=1e-6)
    for scope in ("both", "targets", "attributes"):
        # Rounding of 1e-17 sends the chains elsewhere in the same posterior.
        stored = tabulate(bias_estimate(with_matrix, scope), 0.95, "eti").loc["overall"]
        lazily = tabulate(bias_estimate(without, scope), 0.95, "eti").loc["overall"]
        assert stored["mean"] == pytest.approx(lazily["mean"], abs=5 * (stored.mcse_mean + lazily.mcse_mean))
    assert summarize(without).index.equals(summarize(with_matrix).index)
    assert verdict(with_matrix).label == verdict(without).label == "not distinguishable"
    with refused(TableError, "many"):
        predictive_coverage(without)


@pytest.mark.parametrize(
    "ask",
    [
        weat,
        AssociationTable.to_frame,
        lambda table: table.block("men", "work"),
        lambda table: table.values + 1,
        lambda table: fit(table, "hierarchical"),
        lambda table: fit(table, "crossed-long"),
    ],
    ids=["weat", "to_frame", "block", "arithmetic", "hierarchical", "long"],
)
def test_unformed_table_raises_if_every_cosine_is_needed(unformed, ask):
    with refused(TableError, "31 many"):
        ask(unformed)


def test_unformed_table_returns_small_selections(unformed):
    y = table(X @ A.T).values
    for select in (
        lambda values: values[3],
        lambda values: values[3, 4],
        lambda values: values[[2, 0], 4:6],
        lambda values: values[np.arange(31) == 5, np.arange(45) % 9 == 1],
        lambda values: values.sel(target=["t7", "t1"], attribute=["a2", "a44"]),
    ):
        np.testing.assert_allclose(select(unformed.values), select(y), atol=1e-15)
    few = unformed.values[::4, ::5]
    assert few.notnull().all()
    assert not unformed.without_controls().is_formed


def test_unformed_table_hash_differs_for_other_vectors_or_words(unformed):
    moved = table(Products(X, A[::-1]))
    assert len({unformed.sha256, moved.sha256, table(Products(X, A)).without_controls().sha256}) == 3
    assert unformed.sha256 == table(Products(X, A)).sha256


def test_quasi_f_of_products_needs_no_matrix(monkeypatch):
    """The size of rounding errors comes from the lengths of vectors."""
    monkeypatch.setattr("bayes_bias.table.related_words.MOST_PAIRS", 100)
    products = replace(table(Products(3 * X, 2 * A)), metric=Metric("product", unit="points"))
    cosine = quasi_f(table(Products(X, A)))
    assert quasi_f(products).value == pytest.approx(6 * cosine.value)
    assert quasi_f(products).p_value == pytest.approx(cosine.p_value)
