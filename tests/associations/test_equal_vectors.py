"""Words that share one vector, as in pruned files: named, counted once, and refused across groups and classes."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.associations.copies import equal_vectors, without_copies
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.coverage import lookup
from bayes_bias.associations.related import general_words_of as vocabulary_of
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.debiasing import Debiasing, HardDebias
from bayes_bias.errors import CoverageError
from bayes_bias.words.list_rules import category_of
from tests.helpers import Vectors, containing, letters, numbered, random_vectors, refused, saying, says

LIST = {
    "flowers=pleasant": ["rose", "tulip", "daisy", "lily", "orchid", "violet"],
    "insects=unpleasant": ["ant", "spider", "bee", "beetle", "wasp", "moth"],
    "pleasant": ["love", "peace", "joy", "happy", "gift", "honest"],
    "unpleasant": ["agony", "awful", "evil", "grief", "filth", "murder"],
}
CONTROLS = {"things": ["table", "chair", "stone"], "places": ["street", "house", "field"]}
EVERY = list(chain.from_iterable([*LIST.values(), *CONTROLS.values()]))


def pruned(*clusters: Sequence[str], dimensions: int = 20) -> Vectors:
    """Own vectors, but one for the words of each cluster, that of the first."""
    vectors = random_vectors(1, EVERY, dimensions)
    for cluster in clusters:
        vectors |= dict.fromkeys(cluster, vectors[cluster[0]])
    return vectors


def without(*words: str, columns: dict[str, list[str]] = LIST) -> dict[str, list[str]]:
    fewer = {}
    for heading, members in columns.items():
        fewer[heading] = [word for word in members if word not in words]
    return fewer


@pytest.mark.parametrize(
    "cluster",
    [
        ("spider", "joy"),  # a target and an attribute, as tarantula and rainbow in spaCy's en_core_web_md
        ("rose", "ant"),  # two groups
        ("love", "agony"),  # two classes
        ("rose", "tulip", "bee", "gift", "filth"),
    ],
)
def test_cosines_raises_for_equal_vectors_across_groups_or_classes(cluster: tuple[str, ...]) -> None:
    with refused(CoverageError, "same vector embedding Omit allow_loss=True --allow-loss") as caught:
        bb.cosines(LIST, pruned(cluster), ())
    for word in cluster:
        assert f"'{word}' ({category_of(LIST)[word].partition('=')[0]})" in str(caught.value)
    # The remedies of the message: without the words, or with other vectors, the table is that of the same list.
    fewer = without(*cluster)
    assert bb.cosines(fewer, pruned(cluster), ()).values.equals(bb.cosines(fewer, pruned(), ()).values)
    allowed = bb.cosines(LIST, pruned(cluster), (), allow_loss=True)
    assert containing(allowed.notices, *cluster)
    assert allowed.values.size <= bb.cosines(LIST, pruned(), ()).values.size


@pytest.mark.parametrize("heading", LIST)
@pytest.mark.parametrize("number", [2, 3])
def test_cosines_keeps_one_word_per_vector_within_category(heading: str, number: int) -> None:
    category = heading.partition("=")[0]
    cluster = LIST[heading][:number]
    table = bb.cosines(LIST, pruned(cluster), ())
    expected = bb.cosines(without(*cluster[1:]), pruned(cluster), ())
    assert table.values.equals(expected.values)
    (notice,) = containing(table.notices, "same vector")
    assert f"'{category}': {number - 1} of 6 words" in notice
    for word in cluster[1:]:
        assert f"'{word}' (as '{cluster[0]}')" in notice
    coverage = table.coverage.set_index("name").loc[category]
    assert coverage["copies"] == ", ".join(cluster[1:])
    assert coverage.found == 6 - number + 1


def test_cosines_raises_when_half_of_group_shares_vector() -> None:
    cluster = LIST["flowers=pleasant"][:4]
    with refused(CoverageError, "flowers 3 6 vector of their own tulip, daisy, lily allow_loss=True --allow-loss"):
        bb.cosines(LIST, pruned(cluster), ())
    assert bb.cosines(LIST, pruned(cluster), (), allow_loss=True).values.sizes["target"] == 9


@pytest.mark.parametrize(
    ("cluster", "category", "lost"),
    [
        (("rose", "stone"), "things", "stone"),
        (("love", "stone"), "things", "stone"),
        (("stone", "street"), "places", "street"),
        (("chair", "stone"), "things", "stone"),
    ],
)
def test_cosines_omits_control_word_with_vector_of_another_word(
    cluster: tuple[str, ...], category: str, lost: str
) -> None:
    table = bb.cosines(LIST, pruned(cluster), CONTROLS)
    assert table.values.equals(bb.cosines(LIST, pruned(), without(lost, columns=CONTROLS)).values)
    assert saying(table.notices, f"'{category}' 1 3 '{lost}' '{cluster[0]}'")


def test_cosines_omits_builtin_control_with_vector_of_target() -> None:
    vectors = dict(bb.open_embedding("googlenews-demo").all())
    vectors["breakfast"] = vectors["algebra"]
    table = bb.cosines("weat7", vectors)
    assert "breakfast" not in table.values.attribute
    assert saying(table.notices, "'human' 'breakfast' 'algebra'")


def test_commands_raise_for_one_vector_in_all_categories(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = [word for words in LIST.values() for word in words[:2]]
    bb.save_vectors(pruned(unknown), tmp_path / "unk.txt")
    pd.DataFrame(LIST).to_csv("list.csv", index=False)
    for command in (["fit", "list.csv", "--out", "f.nc"], ["report", "list.csv"], ["measures", "list.csv"]):
        code, _, err = run(*command, "--embedding", "unk.txt", "--controls", "none")
        assert code == 2
        assert says(err, "same vector unk 'rose' (flowers) 'awful' (unpleasant) --allow-loss")
    assert sorted(os.listdir(tmp_path)) == ["list.csv", "unk.txt"]
    quick = ("--no-posterior", "--word-draws", "0", "--controls", "none")
    assert run("measures", "list.csv", *quick, "--embedding", "unk.txt", "--allow-loss")[0] == 0


def test_cosines_raises_for_vectors_equal_in_every_replicate() -> None:
    first = bb.open_embedding(pruned(("rose", "ant")), name="first")
    second = bb.open_embedding(pruned(), name="second")
    assert bb.cosines(LIST, bb.open_embedding([first, second]), ()).values.sizes["target"] == 12
    with refused(CoverageError, "'rose' 'ant' same vector"):
        bb.cosines(LIST, bb.open_embedding([first, replace(first, name="second")]), ())


def test_cosines_raises_for_encoder_with_one_unknown_vector() -> None:
    """Up to rounding errors, which depend on the other sentences of a batch."""
    vectors, rng = pruned(("rose", "ant")), np.random.default_rng(2)

    def encoder(sentences: list[str]) -> np.ndarray:
        rows = np.stack([vectors.get(text, vectors["rose"]) for text in sentences])
        return rows * (1 + 1e-8 * rng.standard_normal(rows.shape))

    with refused(CoverageError, "'rose' (flowers) 'ant' (insects)"):
        bb.cosines(LIST, encoder, ())


def test_cosines_matches_vector_to_only_one_spelling() -> None:
    """'Paris' and 'PARIS' would both be found as 'paris'; the second is reported as missing."""
    words = {**LIST, "flowers=pleasant": [*LIST["flowers=pleasant"], "Paris"]}
    words["insects=unpleasant"] = [*LIST["insects=unpleasant"], "PARIS"]
    vectors = bb.open_embedding(pruned() | {"paris": np.arange(20.0)}, match="case")
    table = bb.cosines(words, vectors, ())
    assert "Paris" in table.values.target
    assert saying(table.notices, "insects 1 7 PARIS")
    # In a file that has both spellings with one vector, they are words of two groups like any others.
    both = bb.open_embedding(pruned() | dict.fromkeys(("Paris", "PARIS"), np.arange(20.0)))
    with refused(CoverageError, "'Paris' (flowers) 'PARIS' (insects)"):
        bb.cosines(words, both, ())


def test_cosines_keeps_words_equalised_by_debiasing_with_notice() -> None:
    """Equalising three words along one direction leaves two of them with the same vector."""
    sets = [("rose", "ant", "love")]
    embedding = bb.open_embedding(pruned())
    debiased = Debiasing(HardDebias(equalize=True), sets).applied(embedding)
    equal = equal_vectors(debiased.all())
    assert equal
    table = bb.cosines(LIST, debiased, ())
    assert table.values.shape == bb.cosines(LIST, embedding, ()).values.shape
    assert containing(table.notices, *equal[0])


def test_sweep_failures_contain_words_with_equal_vectors() -> None:
    vectors = {"own": pruned(), "pruned": pruned(("rose", "joy"))}
    found = bb.sweep(bb.Grid([bb.load_wordlist(LIST)], vectors, controls=()), posteriors="none", jobs=1)
    assert says(found.failures.reason.item(), "'rose' 'joy' same vector")
    allowed = bb.Grid([bb.load_wordlist(LIST)], vectors, controls=(), allow_loss=True)
    assert bb.sweep(allowed, posteriors="none", jobs=1).failures.empty


def test_null_design_pool_omits_copies_of_vectors() -> None:
    general = letters(650)
    copies = set(general[600:])
    vectors = pruned() | random_vectors(3, general, 20)
    embedding = bb.open_embedding(vectors | dict.fromkeys(copies, vectors[general[0]]))
    words = bb.load_wordlist(LIST)
    pool = set(NullDesign.of(words, bb.open_embedding(vectors)).pool)
    assert set(NullDesign.of(words, embedding).pool) == pool - copies
    assert copies.isdisjoint(vocabulary_of(embedding).without(words).words)


def test_equal_vectors_finds_large_clusters_at_any_scale() -> None:
    vectors, unknown = random_vectors(4, numbered("w", 3_000), 30), numbered("unknown", 10_000)
    vectors |= dict.fromkeys(unknown, vectors["w7"])
    start = time.process_time()
    (cluster,) = equal_vectors(vectors)
    assert time.process_time() - start < 5
    assert cluster == ["w7", *unknown]
    assert len(without_copies(vectors)) == 3_000
    for factor in (1e-200, 1e200):
        scaled = {word: factor * vectors[word] for word in ("w1", "w7", "unknown1", "w2")}
        assert equal_vectors(scaled) == [["w7", "unknown1"]]
        # The length of this vector and its difference from others are too large for a number.
        overflowing = vectors["w3"] / np.abs(vectors["w3"]).max() * 1.7e308
        assert equal_vectors(scaled | {"long": overflowing}) == [["w7", "unknown1"]]
    twins = {"long": overflowing, "opposite": -overflowing, "copy": overflowing, **scaled}
    assert equal_vectors(twins) == [["long", "copy"], ["w7", "unknown1"]]
    assert equal_vectors({}) == []


def test_equal_vectors_omits_close_and_parallel_vectors() -> None:
    rng = np.random.default_rng(5)
    vector = rng.standard_normal(50)
    near = {f"w{k}": vector + 1e-4 * rng.standard_normal(50) for k in range(20)}
    assert equal_vectors({"word": vector, "longer": 2 * vector, "opposite": -vector, **near}) == []


def test_cosines_warns_about_multiples_of_one_vector() -> None:
    vectors = pruned()
    scaled = vectors | {"rose": 3 * vectors["love"], "bee": 0.1 * vectors["love"]}
    (notice,) = containing(bb.cosines(LIST, scaled, ()).notices, "direction")
    assert says(notice, "'rose', 'bee', 'love' cosine of 1")
    assert bb.cosines(LIST, scaled, ()).values.sel(target="rose", attribute="love") == pytest.approx(1)
    assert not containing(bb.cosines(LIST, vectors, ()).notices, "direction")


@pytest.mark.parametrize("place", [0, 20])
@pytest.mark.parametrize("count", [lambda k: 1000 * k, lambda k: k, lambda k: 400 + 0.5 * k])
def test_cosines_warns_about_frequency_among_vector_numbers(tmp_path: Path, place: int, count: Any) -> None:
    vectors = {word: np.insert(vector, place, count(k)) for k, (word, vector) in enumerate(pruned().items())}
    frame = pd.DataFrame(vectors).T
    frame.to_csv(tmp_path / "v.txt", sep=" ", header=False)
    for source in (vectors, tmp_path / "v.txt", frame):
        notices = bb.cosines(LIST, source, ()).notices
        assert saying(notices, f"number {place + 1} of 21 frequency remove")
    # The remedy of the notice:
    assert not containing(bb.cosines(LIST, frame.drop(columns=place), ()).notices, "frequency")


def test_cosines_omits_frequency_notice_for_integer_and_real_vectors() -> None:
    whole = {word: np.round(10 * vector) for word, vector in pruned().items()}
    for words, source in ((LIST, whole), ("weat7", "googlenews-demo"), ("weat7", "minilm-demo")):
        assert not containing(bb.cosines(words, source, ()).notices, "frequency")


@pytest.mark.parametrize("value", [1.0, 1.0 - 1e-12])
def test_cosines_from_matrix_warns_about_cosine_of_one(value: float) -> None:
    table = bb.cosines(LIST, pruned(), ())
    matrix = table.values.to_pandas()
    matrix.loc["rose", "grief"] = value
    (notice,) = containing(cosines_from_matrix(matrix, LIST).notices, "cosine of")
    assert says(notice, "'rose' and 'grief' 1 same vector")
    matrix.loc["rose", "grief"] = 0.9999
    assert not containing(cosines_from_matrix(matrix, LIST).notices, "cosine of")
    score_metric = bb.Metric("score", unit="points", range=(-10.0, 10.0))
    matrix.loc["rose", "grief"] = 1.0
    assert not containing(cosines_from_matrix(matrix, LIST, metric=score_metric).notices, "cosine of")


def test_lookup_finds_shared_vector_of_word_that_is_also_a_control() -> None:
    wordlist = replace(bb.load_wordlist(LIST), controls={"things": ("rose", "stone")})
    _, coverage = lookup(bb.open_embedding(pruned(["rose", "ant"])), wordlist)
    assert coverage.shared == ((("rose", "flowers"), ("ant", "insects")),)
