"""A debiasing method is one file: where it is defined it is registered, and sweeps and the command line have it."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias import arguments, open_embedding
from bayes_bias.debiasing import (
    Debiaser,
    Debiasing,
    HardDebias,
    LinearProjection,
    debiaser,
    debiaser_names,
    make_debiaser,
)
from bayes_bias.debiasing.debiaser import DEBIASERS, ENTRY_POINTS
from bayes_bias.errors import BayesBiasError, EmbeddingError, MeasureError, WordListError
from bayes_bias.words.defining_sets import DebiasSets, GivenSets
from tests.helpers import numbered, refused, stacked

FILE = '''
"""Vectors as they are, times a number."""

from dataclasses import dataclass, replace

from bayes_bias.debiasing import Debiaser, debiaser


@debiaser("toy")
@dataclass(frozen=True)
class Toy(Debiaser[int]):
    """Vectors times a number."""

    factor: float = 1.0

    def fit(self, vectors, sets):
        return replace(self, learned=len(vectors))

    def transform(self, vectors):
        return {word: self.factor * vector for word, vector in vectors.items()}
'''
VECTORS = {"she": np.array([1.0, 1.0]), "he": np.array([-1.0, 1.0]), "nurse": np.array([2.0, 3.0])}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module with a method, imported; the method is forgotten afterwards."""
    (tmp_path / "a_method_of_my_own.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(DEBIASERS)
    importlib.import_module("a_method_of_my_own")
    yield
    sys.modules.pop("a_method_of_my_own")
    DEBIASERS.pop("toy")
    assert before.items() <= DEBIASERS.items()


def test_registered_debiaser_has_name_and_settings(toy: None) -> None:
    assert "toy" in debiaser_names()
    method = make_debiaser("toy", {"factor": 2.0})
    assert method.provenance == {"method": "toy", "factor": 2.0}
    assert method.fit_transform(VECTORS, "she:he")["nurse"].tolist() == [4.0, 6.0]


def test_debiaser_names_contains_method_of_entry_point(toy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    DEBIASERS.pop("toy")
    del sys.modules["a_method_of_my_own"]
    installed = EntryPoint("mine", "a_method_of_my_own", ENTRY_POINTS)
    monkeypatch.setattr(arguments, "entry_points", lambda group: [installed] if group == ENTRY_POINTS else [])
    assert "toy" in debiaser_names()


def test_debiaser_raises_for_used_name(toy: None) -> None:
    with pytest.raises(MeasureError, match="'toy' of a debiasing method is already used by a_method_of_my_own"):

        @debiaser("toy")
        @dataclass(frozen=True)
        class _Other(HardDebias):
            pass


@pytest.mark.parametrize(
    ("name", "settings", "named"),
    [
        ("hrad", {}, ["'hrad'", "'hard'"]),
        ("hard", {"component": 2}, ["'component'", "'components'"]),
        ("hard", {"components": 0}, ["components", "0"]),
        ("hard", {"equalize": "yes"}, ["equalize", "'yes'"]),
    ],
)
def test_make_debiaser_raises_for_unknown_method_or_setting(
    name: str, settings: dict[str, object], named: list[str]
) -> None:
    with pytest.raises(BayesBiasError) as raised:
        make_debiaser(name, settings)
    for part in named:
        assert part in str(raised.value)


def test_debiaser_fit_keeps_settings_and_transform_raises_without_fit() -> None:
    method = HardDebias()
    assert method.fit(VECTORS, "she:he") == method  # what was learned is no setting
    with pytest.raises(MeasureError, match=r"hard is not fitted.*fit\(vectors, sets\)"):
        method.transform(VECTORS)


def test_debiasing_raises_for_invalid_method_or_sets() -> None:
    with pytest.raises(EmbeddingError, match=r"`method` is a str, .*HardDebias\(\)"):
        Debiasing("hard", "she:he")  # type: ignore[arg-type]
    with pytest.raises(WordListError, match=r"not found: 'nowhere\.toml'"):
        Debiasing(HardDebias(), "nowhere.toml")


def test_table_provenance_contains_debiasing_method_and_sets() -> None:
    debiased = Debiasing(HardDebias(components=2), "she:he,woman:man").applied(bb.open_embedding("googlenews-demo"))
    assert debiased.name == "googlenews-demo, debiased"
    provenance = bb.cosines("weat6", debiased).provenance
    assert provenance["debiasing"] == "method = hard, components = 2, equalize = False"
    assert len(provenance["debiasing_sets_sha256"]) == 64


def test_debiasing_omits_words_without_usable_vectors(caplog: pytest.LogCaptureFixture) -> None:
    vectors = VECTORS | {"zero": np.zeros(2), "broken": np.array([np.nan, 1.0])}
    applied = Debiasing(HardDebias(), "she:he").applied(bb.open_embedding(vectors))
    assert applied.vocabulary() == ["she", "he", "nurse"]
    assert "vector are omitted: 2" in caplog.text


def test_debiasing_module_has_public_names() -> None:
    assert issubclass(HardDebias, Debiaser)
    assert {"Debiasing", "HardDebias", "damage", "debiaser"} <= set(dir(bb.debiasing))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """The sets that the `fit` of a method of one's own, "curious", receives; the method is forgotten afterwards."""
    sets_seen: list[object] = []

    @debiaser("curious")
    @dataclass(frozen=True)
    class _Curious(Debiaser[int]):
        def fit(self, vectors, sets):  # type: ignore[no-untyped-def]
            sets_seen.append(sets)
            return replace(self, learned=1)

        def transform(self, vectors):  # type: ignore[no-untyped-def]
            return dict(vectors)

    yield sets_seen
    DEBIASERS.pop("curious")


@pytest.mark.parametrize(
    "sets", ["she:he", [("she", "he")], {"defining_sets": [["she", "he"]]}, DebiasSets(defining_sets=(("she", "he"),))]
)
def test_own_debiaser_fit_receives_debias_sets(seen: list[object], sets: GivenSets, tmp_path: Path) -> None:
    method = make_debiaser("curious", {})
    file = tmp_path / "sets.toml"
    file.write_text('defining_sets = [["she", "he"]]')
    method.fit(VECTORS, sets)
    method.fit(VECTORS, sets=file)
    method.fit_transform(VECTORS, sets)
    Debiasing(method, sets).applied(bb.open_embedding(VECTORS))
    assert seen == [DebiasSets(defining_sets=(("she", "he"),))] * 4


def test_own_debiaser_fit_receives_sets_in_every_replicate(seen: list[object]) -> None:
    seeds = bb.open_embedding([bb.open_embedding(VECTORS, name=name) for name in ("one", "two")], kind="seed")
    Debiasing(make_debiaser("curious", {}), "she:he").applied(seeds)
    assert seen == [DebiasSets(defining_sets=(("she", "he"),))] * 2


def test_subclass_fit_receives_debias_sets_and_calls_base() -> None:
    class _Stricter(HardDebias):
        def fit(self, vectors, sets):  # type: ignore[no-untyped-def]
            assert sets.defining_sets == (("she", "he"),)
            return super().fit(vectors, sets)

    ours, theirs = _Stricter().fit_transform(VECTORS, "she:he"), HardDebias().fit_transform(VECTORS, "she:he")
    np.testing.assert_array_equal(stacked(ours, VECTORS), stacked(theirs, VECTORS))


@pytest.mark.parametrize("method", [HardDebias(), LinearProjection()])
def test_debiaser_returns_same_vectors_for_arrays_and_frames(method):
    vectors = open_embedding("googlenews-demo").find(["she", "he", "woman", "man", "nurse", "boss"])
    words, rows = list(vectors), np.stack(list(vectors.values()))
    expected = np.stack(list(method.fit_transform(vectors, "she:he,woman:man").values()))
    for pair in ((rows, words), (words, rows), [rows, pd.Index(words)]):
        found = method.fit(pair, "she:he,woman:man").transform(pair)
        assert np.array_equal(found, expected)
    frame = pd.DataFrame(rows, index=words, columns=numbered("d", 300))
    debiased = method.fit_transform(frame, "she:he,woman:man")
    assert debiased.index.tolist() == words
    assert debiased.columns.tolist() == frame.columns.tolist()
    assert np.allclose(debiased.to_numpy(), expected, atol=1e-7)
    for repeated in ((rows, [*words[:-1], "she"]), pd.concat([frame, frame[:1]])):
        with refused(EmbeddingError, "several rows one row each word"):
            method.fit(repeated, "she:he")
