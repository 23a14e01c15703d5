"""Two corpora: both are named, nothing is removed, and there is no verdict unless they were made alike."""

import json
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias import Comparison, compare, compare_all, cosines, open_embedding
from bayes_bias.embeddings.embedding import Embedding
from tests.helpers import SHORT, letters, numbered, says, states

LIST = {
    "men=work": numbered("m", 6),
    "women=home": numbered("w", 6),
    "work": numbered("j", 6),
    "home": numbered("h", 6),
}
WORDS = [*chain(*LIST.values())]


def paper(name: str, seed: int, lean: float = 0.6, shared: float = 0.4) -> Embedding:
    """Vectors with a bias in the first dimension; the more all words share, the nearer they are to each other."""
    rng = np.random.default_rng(seed)
    sign = {"m": lean, "j": lean, "w": -lean, "h": -lean}
    vectors = {word: rng.standard_normal(30) + shared for word in [*WORDS, *letters(300)]}
    for word in WORDS:
        vectors[word] = vectors[word] + sign[word[0]] * 3 * np.eye(30)[0]
    return open_embedding(vectors, name=name)


@pytest.fixture(scope="module")
def found(sampled: None) -> Comparison:
    return compare(cosines(LIST, paper("Times", 1), ()), cosines(LIST, paper("Post", 2, 0.1), ()), sampling=SHORT)


def test_compare_names_both_corpora_and_their_difference(found: Comparison) -> None:
    assert found.corpora
    assert dict(found.names) == {"before": "Times", "after": "Post", "change": "difference"}
    assert found.verdict.quantity == "difference"
    assert says(found.text, "bias in Times in Post difference Post minus Times")
    assert not says(found.text, "removed")
    assert says(found.text, "spread cosines in Times in Post difference")


def test_page_of_corpora_names_both_without_removal(found: Comparison, tmp_path: Path, sketched: None) -> None:
    folder = bb.write(found, tmp_path / "out", figures=()).parent
    page = (folder / "index.html").read_text()
    texts = {name: (folder / name).read_text() for name in ("index.html", "methods.txt", "tables.tex")}
    for name, text in texts.items():
        assert "Times" in text, name
        assert "Post" in text, name
        for word in ("removed", "Before and after", "before and after", "against the stereotype", "debiased words"):
            assert word not in text, (name, word)
    assert "Times and Post" in page
    assert states(texts["methods.txt"], "Post minus Times")
    assert json.loads((folder / "provenance.json").read_text())["before"]["embedding"] == "Times"


@pytest.mark.slow
def test_differently_trained_corpora_have_no_verdict() -> None:
    first, second = cosines(LIST, paper("A", 1, shared=0.2), ()), cosines(LIST, paper("B", 2, shared=0.9), ())
    found = compare(first, second, sampling=SHORT)
    assert found.verdict.label == "not made alike"
    assert says(found.text, "Not similarly trained B no verdict tokens")
    assert not says(found.text, "larger than chance")
    assert compare(first, second, versions=True, sampling=SHORT).verdict.label != "not made alike"


@pytest.mark.slow
def test_allowed_corpora_have_a_verdict_with_a_warning(tmp_path: Path, sketched: None) -> None:
    first, second = cosines(LIST, paper("A", 1, shared=0.2), ()), cosines(LIST, paper("B", 2, shared=0.9), ())
    found = compare(first, second, allow_unlike=True, sampling=SHORT)
    assert found.verdict.label != "not made alike"
    assert says(found.text, "Not similarly trained B A verdict was requested allow_unlike=True")
    folder = bb.write(found, tmp_path / "out", figures=()).parent
    assert states((folder / "index.html").read_text(), "Not similarly trained")
    assert json.loads((folder / "provenance.json").read_text())["alike"]["allow_unlike"]
    named = [replace(table, name=name) for table, name in ((first, "A"), (second, "B"))]
    rows = compare_all(named, allow_unlike=True, sampling=SHORT)
    assert not rows.alike.any()
    assert rows.chance_holm.notna().all()


@pytest.mark.slow
def test_compare_recognises_debiased_vectors_as_version(caplog: pytest.LogCaptureFixture) -> None:
    before = paper("Times", 1)
    vectors = before.all()
    after = open_embedding({word: vector - 0.3 * np.eye(30)[0] for word, vector in vectors.items()}, name="mended")
    found = compare(cosines(LIST, before, ()), cosines(LIST, after, ()), sampling=SHORT)
    assert not found.corpora
    assert says(found.text, "bias before after share removed")


@pytest.mark.slow
def test_compare_all_omits_chance_of_differently_trained_pairs(caplog: pytest.LogCaptureFixture) -> None:
    papers = [paper("A", 1), paper("B", 2), paper("C", 3, shared=1.2)]
    tables = [replace(cosines(LIST, paper, ()), name=paper.name) for paper in papers]
    rows = compare_all(tables, sampling=SHORT)
    assert rows.alike.tolist() == [True, False, False]
    assert rows.chance_holm.isna().tolist() == [False, True, True]
    assert says(caplog.text, "Not similarly trained C")


@pytest.mark.slow
def test_compare_of_unlike_vectors_of_the_list_alone_reports_no_share_removed() -> None:
    sides = []
    for name, seed in (("Times", 1), ("Post", 2)):
        vectors = paper(name, seed).all()
        sides.append(open_embedding({word: vectors[word] for word in WORDS}, name=name))
    found = compare(*(cosines(LIST, side, ()) for side in sides), sampling=SHORT)
    assert found.corpora
    assert not says(found.text, "share removed")
    assert says(found.text, "unknown similarly trained share 0 words besides those of the list")
