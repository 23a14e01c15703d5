"""One table of all measures: complete, quick, and open about what is missing."""

import ast
import re
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_bias import combine_replicates, cosines, load_wordlist, open_embedding, save_vectors, similarities
from bayes_bias.analyses.comparison.compare import _measures
from bayes_bias.debiasing import Debiaser, Debiasing, HardDebias, LinearProjection
from bayes_bias.measures import measure_all, pair_direction, ripa, weat
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import WEATS, Vectors, says, unit


def test_measure_all_of_ten_lists_is_fast_and_complete(
    study: Callable[[str], AssociationTable], glove: Vectors
) -> None:
    lists = dict(zip(WEATS, map(study, WEATS), strict=True))
    start = time.process_time()
    measured = {name: measure_all(table.with_vectors(glove)) for name, table in lists.items()}
    assert time.process_time() - start < 30
    for name, m in measured.items():
        assert list(m.left_out) == ["Direct Bias", "RIPA"]
        assert m.table.loc["WEAT", "value"] == weat(lists[name], permutations=1).value
        assert m.table.value.between(m.table.low, m.table.high).all()


def test_measure_all_omits_inapplicable_measures_with_reason() -> None:
    similarity = [[0.3, 0.1, 0.2], [0.1, 0.3, 0.2], [0.2, 0.2, 0.4]]
    three = assemble(
        similarity, {"a": "x", "b": "y", "c": "z"}, {"d": "X", "e": "Y", "f": "Z"}, {"x": "X", "y": "Y", "z": "Z"}
    )
    measured = measure_all(three)
    assert measured.table.index.tolist() == ["gWEAT", "MAC"]
    assert says(measured.left_out["WEAT"], "two groups two classes")
    assert "with_vectors" in measured.left_out["SAME"]


def test_measure_all_has_direct_bias_and_ripa_with_defining_sets(
    study: Callable[[str], AssociationTable], glove: Vectors
) -> None:
    given = study("weat6").with_vectors(glove)
    table = measure_all(given, defining_sets=[("female", "male"), ("she", "he")]).table
    assert table.loc["Direct Bias", "value"] == pytest.approx(0.2, abs=0.15)
    differences = [glove["female"] - glove["male"], glove["she"] - glove["he"]]
    (direction,) = np.linalg.svd(differences)[2][:1]  # the first component of their differences, as in the paper
    expected = np.abs([glove[word] @ direction for word in given.values.target.to_numpy()]).mean()
    assert table.loc["RIPA", "value"] == pytest.approx(expected)


# WEFE 1.0.1 on GloVe 6B 50d: RIPA(she, he) and RIPA(woman, man) of the targets of weat7, mean and mean magnitude.
WEFE = {"she:he": (-0.22424896, 0.78827226), "woman:man": (-0.24402265, 0.3907581)}


@pytest.mark.parametrize("pair", WEFE)
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_ripa_of_table_matches_wefe(glove_50d: Vectors, pair: str, similarity: str) -> None:
    first, second = pair.split(":")
    table = similarities("weat7", glove_50d, (), similarity=similarity, also=(first, second))
    measured = measure_all(table, defining_sets=pair)
    signed, magnitude = WEFE[pair]
    assert measured.table.loc["RIPA", "value"] == pytest.approx(magnitude, abs=1e-6)
    words = measured.results["RIPA"].word_values
    assert words is not None
    assert words.mean() == pytest.approx(signed, abs=1e-6)
    own = ripa(glove_50d, list(words.index), pair_direction(glove_50d, first, second, normalize=False))
    assert measured.table.loc["RIPA", "value"] == pytest.approx(own.value, rel=1e-12)


def test_ripa_of_debiased_table_uses_lengths_after_debiasing(glove_50d: Vectors) -> None:
    debiased = LinearProjection().fit_transform(glove_50d, "woman:man")
    table = cosines("weat7", debiased, (), also=("she", "he"))
    targets = table.values.target.to_numpy().tolist()
    own = ripa(debiased, targets, pair_direction(debiased, "she", "he", normalize=False))
    assert measure_all(table, defining_sets="she:he").table.loc["RIPA", "value"] == pytest.approx(own.value)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 1e200])
def test_ripa_of_table_scales_with_length_of_vectors(glove_50d: Vectors, factor: float) -> None:
    scaled = {word: vector.astype(float) * factor for word, vector in glove_50d.items()}
    expected = measure_all(cosines("weat7", glove_50d, ()), defining_sets="she:he").table.value
    found = measure_all(cosines("weat7", scaled, ()), defining_sets="she:he").table.value
    assert found["RIPA"] / factor == pytest.approx(expected["RIPA"])
    for name in ("WEAT", "SAME", "SemAxis", "Direct Bias"):
        assert found[name] == pytest.approx(expected[name], rel=1e-6)


def test_ripa_of_replicates_equals_mean_for_equally_long_directions(glove_50d: Vectors) -> None:
    """Seeds whose vectors are the same, those of the second turned: RIPA of either is the same number."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(50, 50)))[0]
    turned = {word: vector @ turn for word, vector in glove_50d.items()}
    seeds = [open_embedding(glove_50d, name="one"), open_embedding(turned, name="two")]
    table = cosines("weat7", open_embedding(seeds, kind="seed"), ())
    singles = combine_replicates(table.singles(), kind="seed")
    for measured in (table, singles, *table.singles().values()):
        value = measure_all(measured, defining_sets="she:he", only=["RIPA"]).table.loc["RIPA", "value"]
        assert value == pytest.approx(WEFE["she:he"][1], abs=1e-6)


@pytest.mark.parametrize("length", [1.0, 7.0])
def test_ripa_is_omitted_with_reason_for_equal_vector_lengths(glove_50d: Vectors, length: float) -> None:
    equally_long = {word: length * vector for word, vector in unit(glove_50d).items()}
    for vectors in (equally_long, {word: vector.astype(np.float16) for word, vector in equally_long.items()}):
        for table in (cosines("weat7", vectors, ()), cosines("weat7", glove_50d, ()).with_vectors(vectors)):
            measured = measure_all(table, defining_sets="she:he")
            assert says(measured.left_out["RIPA"], "vectors of embedding have the same length")
            assert "Direct Bias" in measured.table.index
    # The remedy of the message:
    table = cosines("weat7", equally_long, ()).with_vectors(glove_50d)
    assert measure_all(table, defining_sets="she:he").table.loc["RIPA", "value"] == pytest.approx(0.78827226, abs=1e-6)


def test_ripa_is_omitted_with_reason_when_lengths_are_unknown(glove_50d: Vectors) -> None:
    table = cosines("weat7", glove_50d, ())
    unknown = replace(table, lengths=MappingProxyType({}))
    measured = measure_all(unknown, defining_sets="she:he")
    for name in ("RIPA", "SemAxis"):
        assert says(measured.left_out[name], f"{name} original lengths table")
    given = unknown.with_vectors(glove_50d)  # the remedy of the message
    assert {"RIPA", "SemAxis"} <= {*measure_all(given, defining_sets="she:he").table.index}


@pytest.mark.parametrize(("name", "sets"), [("weat1", "she:he"), ("weat6", "woman:man,she:he")])
def test_direct_bias_is_omitted_with_remedy_for_missing_defining_words(name: str, sets: str) -> None:
    lacking = [word for word in re.split("[,:]", sets) if word not in load_wordlist(name).attributes]
    reason = measure_all(cosines(name, "googlenews-demo", ()), defining_sets=sets).left_out["Direct Bias"]
    assert reason.startswith(f"Direct Bias: this table has no vector of {', '.join(lacking)}. Make it with also=(")
    remedy = ast.literal_eval(reason[reason.index("also=") + len("also=") : reason.index(")") + 1])
    assert remedy == tuple(lacking)
    repaired = measure_all(cosines(name, "googlenews-demo", (), also=remedy), defining_sets=sets)
    assert "Direct Bias" in repaired.table.index


def test_cosines_warns_about_defining_words_without_vector(caplog: pytest.LogCaptureFixture) -> None:
    table = cosines("weat1", "googlenews-demo", (), also=("she", "heeee"))
    assert any(says(notice, "also googlenews-demo heeee") for notice in table.notices)
    assert "heeee" in caplog.text
    assert "heeee" in measure_all(table, defining_sets="she:heeee").left_out["Direct Bias"]


def test_ripa_is_omitted_with_remedy_when_vectors_lack_defining_words(glove_50d: Vectors) -> None:
    numbers = cosines("weat7", glove_50d, ()).to_frame()
    table = AssociationTable.from_frame(
        numbers,
        target="target",
        group="group",
        attribute="attribute",
        attribute_class="attribute_class",
        value="cosine",
        stereotypes={"math": "male terms", "arts": "female terms"},
    )
    without = {word: vector for word, vector in glove_50d.items() if word != "woman"}
    left_out = measure_all(table.with_vectors(without), defining_sets="woman:man").left_out
    assert says(left_out["RIPA"], "no vector of woman them vectors")
    assert "with_vectors" in left_out["RIPA"]
    assert "RIPA" in measure_all(table.with_vectors(glove_50d), defining_sets="woman:man").table.index


def test_measures_command_prints_ripa_of_file(run: Any, glove_50d: Vectors, tmp_path: Path) -> None:
    path = save_vectors(glove_50d, tmp_path / "glove.txt")
    options = "--controls none --no-posterior --word-draws 0 --csv --sets she:he"
    code, out, _ = run("measures", "weat7", "--embedding", path, *options.split())
    assert code == 0
    rows = pd.read_csv(StringIO(out), index_col="measure")
    assert rows.value["RIPA"] == pytest.approx(WEFE["she:he"][1], abs=1e-5)
    assert rows.value["Direct Bias"] == pytest.approx(0.14243, abs=1e-4)


@pytest.mark.parametrize(("method", "has_row"), [(LinearProjection(), True), (HardDebias(), False)])
def test_comparison_has_ripa_only_with_lengths_on_both_sides(
    glove_50d: Vectors, method: Debiaser[Any], has_row: bool
) -> None:
    """Hard debiasing normalises vectors, so that RIPA before and after would be in different units."""
    embedding = open_embedding(glove_50d, name="glove")
    before = cosines("weat7", embedding, ())
    after = cosines("weat7", Debiasing(method, "woman:man").applied(embedding), ())
    table, left_out = _measures(before, after, "she:he", seed=1)
    assert ("RIPA" in table.index) == has_row
    if has_row:
        vectors = method.fit_transform(glove_50d, "woman:man")
        targets = before.values.target.to_numpy().tolist()
        own = ripa(vectors, targets, pair_direction(vectors, "she", "he", normalize=False))
        expected = [WEFE["she:he"][1], own.value]
        assert table.loc["RIPA", ["before", "after"]].tolist() == pytest.approx(expected, abs=1e-6)
    else:
        assert says(left_out["RIPA"], "glove, debiased same length")
