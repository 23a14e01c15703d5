"""What measures give for random words, and for the words of a list drawn again."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import MeasureError
from bayes_bias.files import CACHE_VARIABLE
from bayes_bias.measures import measure, measure_all, measure_table, weat
from bayes_bias.measures.other_words import fewest_words, random_tables, redrawn_tables
from bayes_bias.measures.registry import MEASURES
from tests.helpers import numbered, random_table, refused, says


@pytest.fixture(scope="module")
def weat7() -> bb.AssociationTable:
    return bb.cosines("weat7", "googlenews-demo", also=["she", "he"])


def test_random_tables_keep_design_with_other_words(weat7: bb.AssociationTable) -> None:
    own = weat7.without_controls()
    listed = {*own.values.target.to_numpy(), *own.values.attribute.to_numpy()}
    pool = set(bb.open_embedding("googlenews-demo").pool())
    for table in random_tables(weat7, 3, seed=1):
        words = {*table.values.target.to_numpy(), *table.values.attribute.to_numpy()}
        assert len(words) == 32
        assert words <= pool - listed
        assert table.values.group.to_numpy().tolist() == own.values.group.to_numpy().tolist()
        assert table.class_index.tolist() == own.class_index.tolist()
        vectors = table.vectors
        assert vectors is not None
        assert "she" in vectors  # for measures with defining sets
        first, second = table.values.target.to_numpy()[0], table.values.attribute.to_numpy()[3]
        assert table.values.to_numpy()[0, 3] == pytest.approx(vectors[first] @ vectors[second], abs=1e-7)


def test_random_tables_replace_one_side_for_random_targets(weat7: bb.AssociationTable) -> None:
    (table,) = random_tables(weat7, 1, seed=1, random="targets")
    assert table.values.attribute.to_numpy().tolist() == weat7.without_controls().values.attribute.to_numpy().tolist()
    assert not set(table.values.target.to_numpy()) & set(weat7.values.target.to_numpy())


def test_redrawn_tables_keep_rows_and_vectors_of_words(weat7: bb.AssociationTable) -> None:
    related = weat7.related_words
    for table in redrawn_tables(weat7, 3, seed=1):
        assert np.bincount(table.group_index).tolist() == [round(r.effective) - 1 for r in related.groups.values()]
        for target in table.values.target.to_numpy():
            word = target.rpartition(" (")[0]
            assert table.vectors is not None
            assert weat7.vectors is not None
            assert np.array_equal(table.vectors[target], weat7.vectors[word])
            for attribute in table.values.attribute.to_numpy():
                value = table.values.sel(target=target, attribute=attribute).item()
                expected = weat7.values.sel(target=word, attribute=attribute.rpartition(" (")[0]).item()
                assert value == expected


def test_redrawn_means_have_variance_of_independent_words() -> None:
    """Of n words n - 1 are drawn, so that the variance of a mean is that of the words, divided by n."""
    scores = np.random.default_rng(1).normal(size=12) / 10
    words = numbered("t", 12)
    table = bb.AssociationTable.from_arrays(
        np.column_stack([scores, np.zeros(12), np.zeros(12), np.zeros(12)]),
        targets=dict.fromkeys(words[:6], "men") | dict.fromkeys(words[6:], "women"),
        attributes={"a": "work", "b": "work", "c": "home", "d": "home"},
        stereotypes={"men": "work", "women": "home"},
    )
    redrawn = redrawn_tables(table, 1_500, seed=1)
    means = np.array([redrawn_table.values.to_numpy()[:5].mean(axis=0) for redrawn_table in redrawn])
    extremes = np.where(means.max(axis=1) > 0, means.max(axis=1), means.min(axis=1))
    assert extremes[extremes != 0].var() == pytest.approx(scores[:6].var(ddof=1) / 6, rel=0.15)


def test_redrawn_tables_keep_replicates_of_words() -> None:
    table = bb.cosines("weat7", "minilm-demo", ())
    labels = set()
    for drawn in redrawn_tables(table, 4, seed=1):
        assert drawn.replicates is not None
        assert len(drawn.replicates.tables) == 10
        vectors = drawn.vectors
        assert vectors is not None
        first_target, first_attribute = drawn.values.target.to_numpy()[0], drawn.values.attribute.to_numpy()[0]
        product = float((vectors[first_target] * vectors[first_attribute]).sum())
        assert drawn.values.to_numpy()[0, 0] == pytest.approx(product, abs=1e-6)
        labels.add(drawn.values.to_numpy().tobytes())
    assert len(labels) == 4


def test_redrawn_tables_keep_topics_whole() -> None:
    table = random_table(targets={"men": 6, "women": 6})
    topics = ["a", "a", "a", "b", "b", "b"] * 2
    named = table.select(lambda values: values.assign_coords(target_topic=("target", topics)))
    assert fewest_words(table) == 5
    assert fewest_words(named) == 2
    listed = table.values.target.to_numpy()
    for drawn in redrawn_tables(named, 5, seed=1):
        words = drawn.values.target.to_series().str.rpartition(" (")[0]
        assert words.isin(listed).all()
        is_drawn = np.isin(listed, words).reshape(2, 2, 3)  # group, topic, word
        assert is_drawn.any(axis=(1, 2)).all()
        assert (is_drawn.any(axis=2) == is_drawn.all(axis=2)).all()


def test_measure_all_matches_quantiles_of_random_and_redrawn_tables(weat7: bb.AssociationTable) -> None:
    settings: dict[str, Any] = {"only": ["WEAT", "quasi-F", "REML", "MAC", "SD-WEAT"], "seed": 1}
    measured = measure_all(weat7, chance_draws=20, redraws=20, **settings)
    table = measured.table
    values = [weat(random_table, permutations=1).value for random_table in random_tables(weat7, 20, seed=1)]
    assert table.chance["WEAT"] == pytest.approx(np.median(values))
    expected = np.quantile(values, [0.025, 0.975])
    assert table.loc["WEAT", ["chance_ci95_lb", "chance_ci95_ub"]].tolist() == pytest.approx(expected.tolist())
    assert table.chance["REML"] == table.chance["quasi-F"]
    assert abs(table.chance["quasi-F"]) < 0.01 < table.value["quasi-F"]
    redrawn = [weat(redrawn_table, permutations=1).value for redrawn_table in redrawn_tables(weat7, 20, seed=1)]
    assert table.redrawn["WEAT"] == pytest.approx(np.median(redrawn))
    assert np.isnan(table.redrawn["quasi-F"])  # which has an interval of its own
    assert measured.fewest_words == fewest_words(weat7) < 4
    again = measure_all(weat7, chance_draws=20, redraws=20, **settings).table
    pd.testing.assert_frame_equal(table, again)


def test_measure_all_marks_few_words(weat7: bb.AssociationTable, run: Any) -> None:
    measured = measure_all(weat7, only=["WEAT", "quasi-F"], redraws=5)
    cells = dict(zip(measured.layout.labels, measured.layout.columns[-1].cells, strict=True))
    assert cells["WEAT"].endswith("**")
    assert not cells["quasi-F"].endswith("*")
    assert any(says(remark, "** unreliable effective number 3.7 below 4") for remark in measured.remarks)
    many = measure_all(random_table(targets={"men": 9, "women": 9}, attributes={"work": 9, "home": 9}), redraws=5)
    assert many.layout.columns[-1].cells[0].endswith("]*")
    code, out, _ = run("measures", "weat7", "--no-posterior", "--word-draws", "2", "--controls", "none")
    assert code == 0
    assert says(out, "random words ** bootstrap unreliable")


def test_no_bootstrap_interval_excludes_the_value_of_its_measure(run: Any) -> None:
    """With related words, fewer words are drawn than a list has, and WEAT and RNSB depend on their number."""
    table = bb.cosines("weat6", "googlenews-demo")
    names = ["WEAT", "WEFAT", "RNSB"]
    values = [weat(drawn, permutations=1).value for drawn in redrawn_tables(table, 60, seed=0)]
    assert np.quantile(values, 0.975) < weat(table, permutations=1).value
    measured = measure_all(table, only=names, redraws=60)
    assert measured.biased == ("WEAT", "RNSB")
    shown = measured.table.dropna(subset=["redrawn"])
    assert list(shown.index) == ["WEFAT"]
    assert shown.value.between(shown.redrawn_ci95_lb, shown.redrawn_ci95_ub).all()
    assert any(says(remark, "No bootstrap interval WEAT RNSB biased") for remark in measured.remarks)
    _, out, _ = run("measures", "weat6", "--no-posterior", "--word-draws", "60")
    assert says(out, "No bootstrap interval of WEAT")


def test_registered_measure_has_chance_and_redrawn_columns(weat7: bb.AssociationTable) -> None:
    try:
        measure("average")(lambda table: float(table.values.mean()))
        row = measure_all(weat7, only=["average"], chance_draws=10, redraws=10).table.loc["average"]
        assert row.chance_ci95_lb < row.chance < row.chance_ci95_ub
        assert row.redrawn_ci95_lb < row.value < row.redrawn_ci95_ub
    finally:
        MEASURES.pop("average", None)


def test_cached_values_are_read_again_for_equal_settings_only(
    weat7: bb.AssociationTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    settings: dict[str, Any] = {"only": ["WEAT", "Direct Bias"], "chance_draws": 4, "redraws": 4}
    settings["defining_sets"] = "she:he"
    computed = measure_all(weat7, **settings).table
    pd.testing.assert_frame_equal(measure_all(weat7, cached=True, **settings).table, computed)
    assert len(list(tmp_path.glob("random-lists/*/????????????????????.json"))) == 2
    monkeypatch.setattr(measure_table, "values_of", lambda *_: {"WEAT": 0.0})
    pd.testing.assert_frame_equal(measure_all(weat7, cached=True, **settings).table, computed)
    others: list[dict[str, Any]] = [{"seed": 2}, {"chance_draws": 3}, {"only": ["WEAT"]}, {"defining_sets": "he:she"}]
    for other in others:
        assert measure_all(weat7, cached=True, **{**settings, **other}).table.chance["WEAT"] == 0


def test_values_of_own_measures_are_not_cached(weat7: bb.AssociationTable, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    medians = []
    for number in (1.0, 2.0):
        try:
            measure("constant")(lambda table, number=number: number)
            medians.append(measure_all(weat7, only=["constant"], chance_draws=2, cached=True).table.chance["constant"])
        finally:
            MEASURES.pop("constant", None)
    assert medians == [1.0, 2.0]


def test_chance_is_omitted_with_reason_without_embedding() -> None:
    measured = measure_all(random_table(), chance_draws=5)
    assert "chance" not in measured.table
    assert says(measured.left_out["chance"], "embedding bayes_bias.cosines")
    with refused(MeasureError, "chance_draws -1 lists"):
        measure_all(random_table(), chance_draws=-1)


def test_measure_table_has_short_repr_and_html_table(weat7: bb.AssociationTable) -> None:
    measured = measure_all(weat7, only=["WEAT", "Direct Bias"])
    assert repr(measured) == "<MeasureTable: 1 rows of measures; omitted: Direct Bias>"
    assert "<table" in measured._repr_html_()
