"""Damage: none where vectors are rotated, all where they are others, known where a direction goes."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.stats import spearmanr

from bayes_bias.debiasing import damage
from bayes_bias.debiasing.damage import read_ratings
from bayes_bias.errors import MeasureError
from tests.helpers import letters, random_vectors, refused, unit


def test_damage_is_zero_for_rotation_and_large_otherwise() -> None:
    words = letters(300)
    before = random_vectors(1, words)
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((6, 6)))[0]
    same = damage(before, {word: 3 * vector @ rotation for word, vector in before.items()})
    assert (same.neighbours_kept, same.lower) == (1.0, 1.0)
    assert same.variance_gone == pytest.approx(0, abs=1e-9)
    unrelated = damage(before, random_vectors(3, words))
    assert unrelated.neighbours_kept == pytest.approx(10 / 299, abs=0.02)
    assert unrelated.lower < unrelated.neighbours_kept < unrelated.upper


def test_damage_variance_gone_matches_scipy_procrustes() -> None:
    before = random_vectors(1, letters(100))
    after = {word: vector * [0.1, 1, 1, 1, 1, 1] for word, vector in before.items()}
    disparity = procrustes(list(unit(before).values()), list(unit(after).values()))[2]
    assert damage(before, after).variance_gone == pytest.approx(disparity)


def test_damage_raises_for_few_words() -> None:
    few = random_vectors(1, letters(5))
    with refused(MeasureError, "5 10 vocabulary"):
        damage(few, few)


@pytest.mark.parametrize(
    "text",
    [
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.58\t2.72\nsmart\tclever\tA\t9.2\t1.75\n",
        "Word 1,Word 2,Human (mean)\nold,new,1.58\nsmart,clever,9.2\n",
        "old new 1.580000\nsmart clever 9.200000\n",
        "# A collection of 2 pairs\n# Word 1\tWord 2\tHuman (mean)\nold\tnew\t1.58\nsmart\tclever\t9.20\n",
        "#pairs: 353\n\n# 13 raters, 1.0\nWord 1;Word 2;Mean\nold;new;1.58\n# 16 raters 2 3\nsmart;clever;9.2\n",
        "# Word 1,Word 2,1\nold,new,1.58\nsmart,clever,9.2\n",
    ],
    ids=["SimLex-999", "WordSim-353", "MEN", "WordSim-353 of gensim", "comments between", "a heading as a comment"],
)
def test_read_ratings_reads_formats_of_authors(text: str, tmp_path: Path) -> None:
    (tmp_path / "rated.txt").write_text(text)
    rows = read_ratings(tmp_path / "rated.txt").to_numpy().tolist()
    assert rows == [["old", "new", 1.58], ["smart", "clever", 9.2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column numbers"),
        ("a b c\nd e f\n", "column numbers"),
        ("a b 1\nd e 2\nc d\n", "c d"),
        ("a b 1\n" * 3, "0 3 ten"),
        ("t\told\tnew\t1.58\ns\tsmart\tclever\t9.2\n", "'t' first word remove column"),
        ("id,word1,word2,score\n1,old,new,1.58\n2,smart,clever,9.2\n", "'1' first word remove column"),
    ],
)
def test_damage_raises_for_invalid_ratings(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "rated.txt").write_text(text)
    vectors = random_vectors(1, letters(50))
    with refused(MeasureError, message):
        damage(vectors, vectors, ratings=[tmp_path / "rated.txt"])


def test_damage_rating_correlation_matches_scipy(tmp_path: Path) -> None:
    words, rng = letters(200), np.random.default_rng(5)
    before = random_vectors(1, words)
    pairs = rng.choice(words, size=(150, 2))
    unit_of = unit(before)
    cosines = [float(unit_of[first] @ unit_of[second]) for first, second in pairs]
    rated = cosines + rng.normal(0, 0.3, len(pairs))
    lines = [f"{first} {second} {value}" for (first, second), value in zip(pairs, rated, strict=True)]
    (tmp_path / "rated.txt").write_text("\n".join([*lines, "no vectors 1.0"]))
    same = damage(before, before, ratings=[tmp_path / "rated.txt"]).ratings[0]
    worse = damage(before, random_vectors(2, words), ratings=[tmp_path / "rated.txt"]).ratings[0]
    assert (same.pairs, same.of) == (150, 151)
    assert same.before == pytest.approx(spearmanr(cosines, rated).statistic)
    assert (same.change, same.lower, same.upper) == (0, 0, 0)
    assert worse.lower < worse.change < worse.upper < -0.3
