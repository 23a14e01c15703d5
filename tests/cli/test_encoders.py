"""Encoders on the command line: one option for every command that measures, and the way over another machine."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from bayes_bias.language_models import opening
from tests.language_models.fakes import Counting, bag_of_words


class Otherwise(Counting):
    """Another model: half of each word's direction is that of its letters read backwards."""

    def __call__(self, sentences, spans=()):
        return super().__call__(sentences, spans) + bag_of_words([each[::-1] for each in sentences])


@pytest.fixture
def model(tmp_path: Path, monkeypatch) -> str:
    """A folder that loads as an encoder, as if torch were installed."""

    def load_encoder(folder: str, pooling: str, layer: str, trust: bool) -> Counting:
        kind = Otherwise if folder.endswith("after") else Counting
        return kind(Path(folder).name, f"{folder} {pooling} {layer}", pooling)

    loaded = SimpleNamespace(load_encoder=load_encoder)
    monkeypatch.setitem(sys.modules, "bayes_bias.language_models.hugging_face", loaded)
    monkeypatch.setenv("BAYES_BIAS_CACHE", str(tmp_path / "cache"))
    return str(tmp_path / "tiny")


def test_an_encoder_stands_where_an_embedding_does(run, model):
    code, out, _ = run("weat", "weat6", "--encoder", model, "--templates", "noun-10")
    table = bb.cosines(bag_of_words, "weat6", (), templates="noun-10")
    assert code == 0
    assert f"{bb.measures.weat(table).effect_size:.4g}" in out
    code, out, _ = run(
        "measures",
        "weat6",
        "--encoder",
        model,
        "--templates",
        "plain-10",
        "--controls",
        "none",
        "--no-posterior",
        "--csv",
    )
    assert code == 0
    assert {"WEAT", "SEAT", "CEAT"} <= {line.partition(",")[0] for line in out.splitlines()}


def test_two_encoders_are_measured_to_be_compared(run, model, monkeypatch):
    taken = []

    def compare(*tables, **_):
        taken.extend(tables[:2])
        raise BayesBiasError("enough: is known")

    monkeypatch.setattr(bb, "compare", compare)
    sides = ("--before", model, "--after", f"{model}-after", "--encoder", "--templates", "noun-10")
    _, _, err = run("compare", "weat6", *sides, "--controls", "none")
    assert "enough" in err
    kinds = (Counting("one", "one"), Otherwise("another", "another"))
    for table, encoder in zip(taken, kinds, strict=True):
        expected = bb.cosines(encoder, "weat6", (), templates="noun-10")
        np.testing.assert_allclose(table.values, expected.values, atol=1e-6)


def test_an_encoder_gives_stability_its_templates(run, model, monkeypatch):
    def stability(_, embedding, **others):
        raise BayesBiasError(f"templates: {len(embedding.replicates)} of {embedding.kind}")

    monkeypatch.setattr(bb, "stability", stability)
    _, _, err = run("stability", "weat6", "--encoder", model, "--templates", "noun-10", "--controls", "none")
    assert "10 of template" in err


def test_sentences_go_to_another_machine_and_come_back(run, tmp_path):
    sheet, vectors, archive = (tmp_path / name for name in ("w.csv", "w.npy", "w.npz"))
    code, out, _ = run("sentences", "weat6", "--templates", "noun-10", "--out", sheet)
    assert code == 0
    assert "119 words of the control classes" in " ".join(out.split())
    rows = pd.read_csv(sheet, keep_default_na=False)
    np.save(vectors, bag_of_words(list(rows.sentence)))
    code, out, _ = run("sentences", sheet, "--vectors", vectors, "--out", archive)
    assert code == 0
    assert "224 words in 10 templates, 32 dimensions" in out
    back, direct = bb.cosines(archive, "weat6"), bb.cosines(bag_of_words, "weat6", templates="noun-10")
    np.testing.assert_allclose(back.values, direct.values, atol=1e-6)
    assert back.replicates.labels == direct.replicates.labels


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "weat6", "--templates", "plain-10"), "--templates: 'plain-10' belongs to a model of sentences"),
        (("fit", "weat6", "--pooling", "cls"), "--pooling: 'cls' belongs to an encoder"),
        (("fit", "weat6", "--encoder", "{0}", "-e", "minilm-demo"), "--embedding minilm-demo are named together"),
        (("fit", "weat6", "--encoder", "{0}", "--templates", "plan-10"), "did you mean 'plain-10'"),
        (("fit", "weat6", "--encoder", "{0}", "--replicates", "seed"), "of a model of sentences are its --templates"),
        (("weat", "mine.csv", "--encoder", "{0}"), "'mine.csv' holds cosines already"),
        (("report", "weat7", "--encoder", "{0}", "--templates", "noun-10"), "'he' is of the class 'subject'"),
        (("compare", "weat6", "--before", "a", "--after", "b", "--templates", "noun-10"), "is named; add --encoder"),
        (("compare", "weat6", "--before", "a", "--before", "c", "--after", "b", "--encoder"), "--encoder: a, c are"),
        (("compare", "--before", "a", "--after", "b", "--encoder"), "such as 'a' needs a word list"),
        (("stability", "weat6", "--masked", "{0}"), "vectors are needed here; give --encoder"),
        (("stability", "weat6"), "'googlenews-demo' is one training"),
        (("sentences", "weat6", "--out", "w.txt"), "does not end in .csv"),
        (("sentences", "weat6", "--vectors", "w.npy", "--out", "w.npz"), "belong to the CSV file of sentences"),
        (("sentences", "no.csv", "--vectors", "w.npy", "--out", "w.npz"), "LIST: 'no.csv' cannot be read as CSV"),
    ],
)  # fmt: skip
def test_a_slip_is_one_line(run, model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*(each.format(model) for each in arguments))
    assert code == 2
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert not list(tmp_path.glob("w.*"))


def test_without_torch_the_extra_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda library: None)
    code, _, err = run("weat", "weat6", "--encoder", str(tmp_path), "--templates", "noun-10")
    assert code == 2
    assert "pip install 'bayes-bias[transformers]'" in err
