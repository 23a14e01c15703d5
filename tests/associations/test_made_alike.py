"""Embeddings that were not made alike are found by words that nobody asked for."""

from pathlib import Path

import numpy as np
import pytest

from bayes_bias import AssociationTable, cosines, open_embedding
from bayes_bias.associations.made_alike import embeddings_alike, made_alike
from bayes_bias.errors import TableError
from tests.helpers import letters, refused, says

LIST = {"men=work": ["he", "him"], "women=home": ["she", "her"], "work": ["boss", "job"], "home": ["house", "tea"]}
WORDS = ["he", "him", "she", "her", "boss", "job", "house", "tea", *letters(200)]


def vectors(seed: int = 0, shared: float = 0.5) -> dict[str, np.ndarray]:
    """Words that have more or less in common: a mean cosine of about shared² / (1 + shared²)."""
    rng = np.random.default_rng(seed)
    common = np.ones(30) * shared
    return {word: common + rng.standard_normal(30) for word in WORDS}


def measured(given: object) -> AssociationTable:
    return cosines(LIST, given, ())


def test_made_alike_marks_closer_words_and_ignores_rotation() -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 30)))
    rotated = {word: 3 * vector @ turn for word, vector in vectors().items()}
    found = made_alike({1900: measured(vectors()), 1910: measured(rotated), 1920: measured(vectors(2, 1.0))})
    assert found.unlike == [1920]
    assert found.table.q[1910] == pytest.approx(found.table.q[1900])
    assert found.table.q[1920] / found.table.q[1900] == pytest.approx((1 / 2) / (1 / 1.25), rel=0.03)
    assert found.words == 200
    assert says(found.text, "Not similarly trained 1920 smaller fewer tokens")


def test_made_alike_q_is_ratio_of_mean_distances_over_pairs() -> None:
    first, second = vectors(), vectors(3, 0.8)
    found = made_alike({"a": measured(first), "b": measured(second)}, reference="a")
    rows = np.array([second[word] for word in letters(200)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = (rows @ rows.T)[np.triu_indices(200, 1)]
    assert found.table.mean_cosine["b"] == pytest.approx(pairs.mean())
    assert found.table.q["a"] == 1
    assert found.table.q["b"] == pytest.approx((1 - pairs.mean()) / (1 - found.table.mean_cosine["a"]))


def test_made_alike_accepts_changed_copies_of_one_embedding() -> None:
    before = vectors()
    after = {word: vector - 0.4 * np.ones(30) for word, vector in before.items()}
    tables = {"before": measured(before), "after": measured(after)}
    assert made_alike(tables).unlike
    found = made_alike(tables, copies=True)
    assert found.are_versions
    assert not found.unlike
    assert not made_alike({"one": measured(before), "other": measured(vectors(4))}).are_versions


def test_made_alike_q_of_pair_does_not_depend_on_other_embeddings() -> None:
    pair = {1890: measured(vectors(0)), 1970: measured(vectors(1, 0.8))}
    few = dict([*vectors(2, 0.6).items()][:100])
    among = made_alike({**pair, 1930: measured(few)}).among([1890, 1970])
    alone = made_alike(pair)
    assert among.table.equals(alone.table)
    assert (among.words, among.reference) == (alone.words, alone.reference) == (200, 1890)
    assert among.unlike == [1970]


def test_made_alike_is_unknown_for_vectors_without_mean() -> None:
    centred = dict(zip(WORDS, _centred(0), strict=True))
    other = dict(zip(WORDS, _centred(1), strict=True))
    assert says(made_alike({"a": measured(centred), "b": measured(other)}).text, "unknown a and b mean cosine zero")
    assert made_alike({"a": measured(centred), "b": measured(vectors(0, 1.0))}).unlike == ["b"]


def _centred(seed: int) -> np.ndarray:
    rows = np.stack([*vectors(seed).values()])
    return rows - rows.mean(axis=0)


def test_made_alike_q_equals_mean_over_seeds() -> None:
    seeds = open_embedding([open_embedding(vectors(k), name=f"s{k}") for k in (0, 1)], kind="seed")
    found = made_alike({1: measured(seeds), 2: measured(vectors(2))}, reference=2)
    alone = [made_alike({1: measured(vectors(k)), 2: measured(vectors(2))}, reference=2).table.q[1] for k in (0, 1)]
    assert found.table.q[1] == pytest.approx(np.mean(alone))


def test_embeddings_alike_reads_first_of_repeated_rows(tmp_path: Path) -> None:
    rows = [*vectors().items(), *vectors(5).items()]
    lines = (f"{word} {' '.join(map(repr, vector.tolist()))}\n" for word, vector in rows)
    (tmp_path / "twice.txt").write_text("".join(lines))
    embeddings = {"once": open_embedding(vectors()), "twice": open_embedding(tmp_path / "twice.txt")}
    assert embeddings_alike(embeddings, LIST).table.same_words.to_numpy() == pytest.approx(1)


def test_made_alike_text_contains_reason_if_unknown() -> None:
    few = dict(list(vectors().items())[:20])
    assert says(made_alike({1: measured(few), 2: measured(few)}).text, "unknown 12 words 50")
    one = measured(dict(list(vectors().items())[:9]))
    assert says(made_alike({1: measured(few), 2: measured(few), 3: one}).text, "unknown 1 word 50")
    unrelated = AssociationTable.from_frame(
        measured(few).to_frame(),
        target="target",
        group="group",
        attribute="attribute",
        attribute_class="attribute_class",
        value="cosine",
        stereotypes={"men": "work", "women": "home"},
    )
    found = made_alike({1: measured(few), 2: unrelated})
    assert says(found.text, "unknown 2 embedding")
    assert found.table.alike.all()
    with refused(TableError, "reference 3 1 2"):
        made_alike({1: measured(few), 2: unrelated}, reference=3)


def test_made_alike_is_unknown_when_other_words_share_one_vector() -> None:
    same = vectors() | dict.fromkeys(letters(200), np.ones(30))
    found = made_alike({"a": measured(same), "b": measured(same)}, copies=True)
    assert says(found.text, "unknown same vector a")
    assert found.table.q.isna().all()
