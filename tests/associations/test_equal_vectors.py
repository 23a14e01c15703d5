"""Words that share one vector, as in pruned files: named, counted once, and refused across groups and classes."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.associations.copies import equal_vectors, without_copies
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.general_words import general_words_of as vocabulary_of
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.debiasing import Debiasing, HardDebias
from bayes_bias.errors import CoverageError
from tests.helpers import Vectors, refused, says

LIST = {
    "flowers=pleasant": ["rose", "tulip", "daisy", "lily", "orchid", "violet"],
    "insects=unpleasant": ["ant", "spider", "bee", "beetle", "wasp", "moth"],
    "pleasant": ["love", "peace", "joy", "happy", "gift", "honest"],
    "unpleasant": ["agony", "awful", "evil", "grief", "filth", "murder"],
}
CONTROLS = {"things": ["table", "chair", "stone"], "places": ["street", "house", "field"]}
EVERY = [word for words in (*LIST.values(), *CONTROLS.values()) for word in words]


def pruned(*clusters: Sequence[str], dimensions: int = 20) -> Vectors:
    """Own vectors, but one for the words of each cluster, that of the first."""
    rng = np.random.default_rng(1)
    rows = {word: rng.standard_normal(dimensions) for word in EVERY}
    return {**rows, **{word: rows[cluster[0]] for cluster in clusters for word in cluster}}


def without(*words: str) -> dict[str, list[str]]:
    return {category: [word for word in members if word not in words] for category, members in LIST.items()}


@pytest.mark.parametrize(
    "cluster",
    [
        ("spider", "joy"),  # a target and an attribute, as tarantula and rainbow in spaCy's en_core_web_md
        ("rose", "ant"),  # two groups
        ("love", "agony"),  # two classes
        ("rose", "tulip", "bee", "gift", "filth"),
    ],
)
def test_words_of_different_groups_or_classes_with_one_vector_are_rejected_by_name(cluster: tuple[str, ...]) -> None:
    category_of = {word: category.split("=")[0] for category, words in LIST.items() for word in words}
    with refused(CoverageError, "same vector embedding Omit allow_loss=True --allow-loss") as caught:
        bb.cosines(LIST, pruned(cluster), ())
    assert all(f"'{word}' ({category_of[word]})" in str(caught.value) for word in cluster)
    # The remedies of the message: without the words, or with other vectors, the table is that of the same list.
    fewer = without(*cluster)
    assert bb.cosines(fewer, pruned(cluster), ()).values.equals(bb.cosines(fewer, pruned(), ()).values)
    allowed = bb.cosines(LIST, pruned(cluster), (), allow_loss=True)
    assert any(all(word in notice for word in cluster) for notice in allowed.notices)
    assert allowed.values.size <= bb.cosines(LIST, pruned(), ()).values.size


@pytest.mark.parametrize("home", LIST)
@pytest.mark.parametrize("number", [2, 3])
def test_words_of_one_group_or_class_with_one_vector_count_once(home: str, number: int) -> None:
    cluster = LIST[home][:number]
    table = bb.cosines(LIST, pruned(cluster), ())
    expected = bb.cosines(without(*cluster[1:]), pruned(cluster), ())
    assert table.values.equals(expected.values)
    (notice,) = [notice for notice in table.notices if "same vector" in notice]
    assert f"'{home.split('=')[0]}': {number - 1} of 6 words" in notice
    assert all(f"'{word}' (as '{cluster[0]}')" in notice for word in cluster[1:])
    coverage = table.coverage.set_index("name").loc[home.split("=")[0]]
    assert coverage["copies"] == ", ".join(cluster[1:])
    assert coverage.found == 6 - number + 1


def test_a_group_of_which_half_share_a_vector_is_rejected() -> None:
    cluster = LIST["flowers=pleasant"][:4]
    with refused(CoverageError, "flowers 3 6 vector of their own tulip, daisy, lily allow_loss=True --allow-loss"):
        bb.cosines(LIST, pruned(cluster), ())
    assert bb.cosines(LIST, pruned(cluster), (), allow_loss=True).values.sizes["target"] == 9


@pytest.mark.parametrize(
    ("cluster", "home", "lost"),
    [
        (("rose", "stone"), "things", "stone"),
        (("love", "stone"), "things", "stone"),
        (("stone", "street"), "places", "street"),
        (("chair", "stone"), "things", "stone"),
    ],
)
def test_a_control_word_with_the_vector_of_another_word_is_omitted(
    cluster: tuple[str, ...], home: str, lost: str
) -> None:
    table = bb.cosines(LIST, pruned(cluster), CONTROLS)
    fewer = {name: [word for word in words if word != lost] for name, words in CONTROLS.items()}
    assert table.values.equals(bb.cosines(LIST, pruned(), fewer).values)
    assert any(says(notice, f"'{home}' 1 3 '{lost}' '{cluster[0]}'") for notice in table.notices)


def test_a_shipped_control_word_with_the_vector_of_a_target_is_named_and_stops_nothing() -> None:
    vectors = dict(bb.open_embedding("googlenews-demo").all())
    vectors["breakfast"] = vectors["algebra"]
    table = bb.cosines("weat7", vectors)
    assert "breakfast" not in table.values.attribute
    assert any(says(notice, "'human' 'breakfast' 'algebra'") for notice in table.notices)


def test_one_vector_for_three_eighths_of_all_words_is_rejected_by_every_command(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = [word for words in LIST.values() for word in words[:2]]
    bb.save_vectors(pruned(unknown), tmp_path / "unk.txt")
    rows = zip(*LIST.values(), strict=True)
    Path("list.csv").write_text("\n".join([",".join(LIST), *(",".join(row) for row in rows)]))
    for command in (["fit", "list.csv", "--out", "f.nc"], ["report", "list.csv"], ["measures", "list.csv"]):
        code, _, err = run(*command, "--embedding", "unk.txt", "--controls", "none")
        assert code == 2
        assert says(err, "same vector unk 'rose' (flowers) 'awful' (unpleasant) --allow-loss")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv", "unk.txt"]
    command = (
        "measures",
        "list.csv",
        "--no-posterior",
        "--word-draws",
        "0",
        "--controls",
        "none",
        "--embedding",
        "unk.txt",
    )
    assert run(*command, "--allow-loss")[0] == 0


def test_vectors_of_replicates_are_equal_if_they_are_in_every_replicate() -> None:
    with_copies, without_copies = pruned(("rose", "ant")), pruned()
    seeds = [
        bb.open_embedding(vectors, name=name) for name, vectors in {"one": with_copies, "two": without_copies}.items()
    ]
    assert bb.cosines(LIST, bb.open_embedding(seeds), ()).values.sizes["target"] == 12
    seeds = [
        bb.open_embedding(vectors, name=name) for name, vectors in {"one": with_copies, "two": with_copies}.items()
    ]
    with refused(CoverageError, "'rose' 'ant' same vector"):
        bb.cosines(LIST, bb.open_embedding(seeds), ())


def test_an_encoder_with_one_vector_for_unknown_words_is_rejected() -> None:
    """Up to rounding errors, which depend on the other sentences of a batch."""
    vectors, rng = pruned(), np.random.default_rng(2)

    def encoder(sentences: list[str]) -> list[np.ndarray]:
        known = [vectors.get(text, vectors["rose"]) if text != "ant" else vectors["rose"] for text in sentences]
        return [vector * (1 + 1e-8 * rng.standard_normal(vector.size)) for vector in known]

    with refused(CoverageError, "'rose' (flowers) 'ant' (insects)"):
        bb.cosines(LIST, encoder, ())


def test_spellings_of_one_word_never_share_its_vector() -> None:
    """'Paris' and 'PARIS' would both be found as 'paris'; the second is reported as missing."""
    words = {**LIST, "flowers=pleasant": [*LIST["flowers=pleasant"], "Paris"]}
    words["insects=unpleasant"] = [*LIST["insects=unpleasant"], "PARIS"]
    vectors = bb.open_embedding(pruned() | {"paris": np.arange(20.0)}, match="case")
    table = bb.cosines(words, vectors, ())
    assert "Paris" in table.values.target
    assert any(says(notice, "insects 1 7 PARIS") for notice in table.notices)
    # In a file that has both spellings with one vector, they are words of two groups like any others.
    both = bb.open_embedding(pruned() | dict.fromkeys(("Paris", "PARIS"), np.arange(20.0)))
    with refused(CoverageError, "'Paris' (flowers) 'PARIS' (insects)"):
        bb.cosines(words, both, ())


def test_words_that_debiasing_made_equal_are_named_and_kept() -> None:
    """Equalising three words along one direction leaves two of them with the same vector."""
    sets = [("rose", "ant", "love")]
    embedding = bb.open_embedding(pruned())
    debiased = Debiasing(HardDebias(equalize=True), sets).applied(embedding)
    equal = equal_vectors(debiased.all())
    assert equal
    table = bb.cosines(LIST, debiased, ())
    assert table.values.shape == bb.cosines(LIST, embedding, ()).values.shape
    assert any(all(word in notice for word in equal[0]) for notice in table.notices)


def test_a_sweep_names_words_with_one_vector_among_its_failures() -> None:
    vectors = {"own": pruned(), "pruned": pruned(("rose", "joy"))}
    found = bb.sweep(bb.Grid([bb.load_wordlist(LIST)], vectors, controls=()), posteriors="none", jobs=1)
    assert says(found.failures.reason.item(), "'rose' 'joy' same vector")
    allowed = bb.Grid([bb.load_wordlist(LIST)], vectors, controls=(), allow_loss=True)
    assert bb.sweep(allowed, posteriors="none", jobs=1).failures.empty


def test_random_words_that_share_a_vector_are_drawn_once() -> None:
    rng = np.random.default_rng(3)
    general = [f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(650)]
    vectors = pruned() | {word: rng.standard_normal(20) for word in general}
    copied = vectors | dict.fromkeys(general[600:], vectors["waa"])
    embedding = bb.open_embedding(copied)
    words = bb.load_wordlist(LIST)
    assert set(NullDesign.of(words, embedding).pool) == {*NullDesign.of(words, bb.open_embedding(vectors)).pool} - {
        *general[600:]
    }
    assert not {*general[600:]} & {*vocabulary_of(embedding).without(words).words}


def test_equal_vectors_are_found_whatever_their_number_and_size() -> None:
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((3_000, 30))
    vectors = {f"w{k}": rows[k] for k in range(3_000)} | {f"unknown{k}": rows[7] for k in range(10_000)}
    start = time.process_time()
    (cluster,) = equal_vectors(vectors)
    assert time.process_time() - start < 5
    assert cluster == ["w7", *(f"unknown{k}" for k in range(10_000))]
    assert len(without_copies(vectors)) == 3_000
    for factor in (1e-200, 1e200):
        scaled = {word: factor * vectors[word] for word in ("w1", "w7", "unknown1", "w2")}
        assert equal_vectors(scaled) == [["w7", "unknown1"]]
    assert equal_vectors({}) == []


def test_vectors_that_are_close_or_parallel_are_not_equal() -> None:
    rng = np.random.default_rng(5)
    vector = rng.standard_normal(50)
    near = {f"w{k}": vector + 1e-4 * rng.standard_normal(50) for k in range(20)}
    assert equal_vectors({"word": vector, "longer": 2 * vector, "opposite": -vector, **near}) == []


def test_words_whose_vectors_are_multiples_are_named() -> None:
    vectors = pruned()
    scaled = vectors | {"rose": 3 * vectors["love"], "bee": 0.1 * vectors["love"]}
    (notice,) = [notice for notice in bb.cosines(LIST, scaled, ()).notices if "direction" in notice]
    assert says(notice, "'rose', 'bee', 'love' cosine of 1")
    assert bb.cosines(LIST, scaled, ()).values.sel(target="rose", attribute="love") == pytest.approx(1)
    assert not any("direction" in notice for notice in bb.cosines(LIST, vectors, ()).notices)


@pytest.mark.parametrize("place", [0, 20])
@pytest.mark.parametrize("count", [lambda k: 1000 * k, lambda k: k, lambda k: 400 + 0.5 * k])
def test_a_frequency_or_rank_among_the_numbers_of_vectors_is_named(tmp_path: Path, place: int, count: Any) -> None:
    vectors = {word: np.insert(vector, place, count(k)) for k, (word, vector) in enumerate(pruned().items())}
    (tmp_path / "v.txt").write_text("".join(f"{word} {' '.join(map(str, v))}\n" for word, v in vectors.items()))
    for source in (vectors, tmp_path / "v.txt", pd.DataFrame(vectors).T):
        notices = bb.cosines(LIST, source, ()).notices
        assert any(says(notice, f"number {place + 1} of 21 frequency remove") for notice in notices)
    without = {word: np.delete(vector, place) for word, vector in vectors.items()}  # as the notice says
    assert not any("frequency" in notice for notice in bb.cosines(LIST, without, ()).notices)


def test_whole_numbers_and_real_vectors_have_no_odd_number() -> None:
    whole = {word: np.round(10 * vector) for word, vector in pruned().items()}
    for words, source in ((LIST, whole), ("weat7", "googlenews-demo"), ("weat7", "minilm-demo")):
        assert not any("frequency" in notice for notice in bb.cosines(words, source, ()).notices)


@pytest.mark.parametrize("value", [1.0, 1.0 - 1e-12])
def test_a_cosine_of_one_from_elsewhere_is_named(value: float) -> None:
    table = bb.cosines(LIST, pruned(), ())
    matrix = table.values.to_pandas()
    matrix.loc["rose", "grief"] = value
    (notice,) = [n for n in cosines_from_matrix(matrix, LIST).notices if "cosine of" in n]
    assert says(notice, "'rose' and 'grief' 1 same vector")
    matrix.loc["rose", "grief"] = 0.9999
    assert not any("cosine of" in notice for notice in cosines_from_matrix(matrix, LIST).notices)
    score_metric = bb.Metric("score", unit="points", range=(-10.0, 10.0))
    matrix.loc["rose", "grief"] = 1.0
    assert not any("cosine of" in n for n in cosines_from_matrix(matrix, LIST, metric=score_metric).notices)
