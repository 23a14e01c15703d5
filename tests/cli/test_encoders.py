"""Encoders on the command line: one option for every command that measures, and the way over another machine."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import plain
from bayes_bias.language_models import opening
from tests.helpers import says
from tests.language_models.fakes import Counting, bag_of_words


class Otherwise(Counting):
    """Another model: half of each word's direction is that of its letters read backwards."""

    def __call__(self, sentences, spans=()):
        return super().__call__(sentences, spans) + bag_of_words([text[::-1] for text in sentences])


@pytest.fixture
def model(tmp_path: Path, monkeypatch) -> str:
    """A folder that loads as an encoder, as if torch were installed."""

    def load_encoder(folder: str, pooling: str, layer: str, prompt: str | None, trust: bool) -> Counting:
        kind = Otherwise if folder.endswith("after") else Counting
        return kind(Path(folder).name, f"{folder} {pooling} {layer}", pooling)

    monkeypatch.setattr("bayes_bias.language_models.hugging_face.load_encoder", load_encoder)
    monkeypatch.setenv("BAYES_BIAS_CACHE", str(tmp_path / "cache"))
    return str(tmp_path / "tiny")


def test_weat_and_measures_commands_accept_encoder(run, model):
    code, out, _ = run("weat", "weat6", "--encoder", model, "--templates", "noun-10")
    table = bb.cosines("weat6", bag_of_words, (), templates="noun-10")
    assert code == 0
    assert plain(bb.measures.weat(table).effect_size, 2) in out
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


def test_compare_command_measures_two_encoders(run, model, monkeypatch):
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
        expected = bb.cosines("weat6", encoder, (), templates="noun-10")
        np.testing.assert_allclose(table.values, expected.values, atol=1e-6)


def test_stability_command_uses_templates_of_encoder(run, model, monkeypatch):
    def stability(table, **others):
        raise BayesBiasError(f"templates: {len(table.replicates.tables)} of {table.replicates.kind}")

    monkeypatch.setattr(bb, "stability", stability)
    _, _, err = run("stability", "weat6", "--encoder", model, "--templates", "noun-10", "--controls", "none")
    assert "10 of template" in err


def test_sentences_command_matches_direct_encoding(run, tmp_path):
    sheet, vectors, archive = (tmp_path / name for name in ("w.csv", "w.npy", "w.npz"))
    code, out, _ = run("sentences", "weat6", "--templates", "noun-10", "--out", sheet)
    assert code == 0
    assert says(" ".join(out.split()), "119 words control")
    rows = pd.read_csv(sheet, keep_default_na=False)
    np.save(vectors, bag_of_words(list(rows.sentence)))
    code, out, _ = run("sentences", sheet, "--vectors", vectors, "--out", archive)
    assert code == 0
    assert says(out, "224 words 10 templates 32 dimensions")
    back, direct = bb.cosines("weat6", archive), bb.cosines("weat6", bag_of_words, templates="noun-10")
    np.testing.assert_allclose(back.values, direct.values, atol=1e-6)
    assert back.replicates.labels == direct.replicates.labels


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "weat6", "--templates", "plain-10"), "--templates 'plain-10' sentences"),
        (("fit", "weat6", "--encoder", "{0}", "-e", "minilm-demo"), '--encoder --embedding minilm-demo'),
        (("fit", "weat6", "--encoder", "{0}", "--templates", "plan-10"), "'plain-10'"),
        (("fit", "weat6", "--encoder", "{0}", "--replicates", "seed"), 'sentences --templates'),
        (("weat", "mine.csv", "--encoder", "{0}"), "'mine.csv' numbers"),
        (("report", "weat7", "--encoder", "{0}", "--templates", "noun-10"), "'he' 'subject'"),
        (("compare", "weat6", "--before", "a", "--after", "b", "--templates", "noun-10"), '--encoder'),
        (("compare", "weat6", "--before", "a", "--before", "c", "--after", "b", "--encoder"), '--encoder a c'),
        (("compare", "--before", "a", "--after", "b", "--encoder"), "'a' word list"),
        (("stability", "weat6", "--masked", "{0}"), '--encoder vectors'),
        (("stability", "weat6"), "'googlenews-demo' training"),
        (("sentences", "weat6", "--out", "w.txt"), '.csv'),
        (("sentences", "weat6", "--vectors", "w.npy", "--out", "w.npz"), 'CSV sentences'),
        (("sentences", "no.csv", "--vectors", "w.npy", "--out", "w.npz"), "LIST 'no.csv'"),
    ],
)  # fmt: skip
def test_encoder_commands_print_one_error_line_for_invalid_options(
    run, model, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("target,group,attribute,attribute_class,cosine\n")
    code, _, err = run(*(text.format(model) for text in arguments))
    assert code == 2
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert says(errors[0], message)
    assert not list(tmp_path.glob("w.*"))


def test_weat_command_names_optional_dependency_without_torch(run, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda library: None)
    code, _, err = run("weat", "weat6", "--encoder", str(tmp_path), "--templates", "noun-10")
    assert code == 2
    assert says(err, "pip install 'bayes-bias[transformers]'")
