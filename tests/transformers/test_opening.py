"""What is no model of its kind is refused with one line, before anything is computed with random weights."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import BertForMaskedLM, BertModel, FNetConfig, FNetForMaskedLM, T5Config

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.hugging_face import load_encoder
from bayes_bias.language_models.likelihoods import load_causal, load_masked
from tests.helpers import refused
from tests.transformers.conftest import Made


@pytest.fixture
def folder(made: Callable[[str], Made], tmp_path: Path) -> Path:
    """A copy of a masked model, to be spoilt."""
    return Path(shutil.copytree(made("bert").folder, tmp_path / "model"))


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def without_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def without_head(folder: Path) -> None:
    BertModel.from_pretrained(folder).save_pretrained(folder)


def without_mask_token(folder: Path) -> None:
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"mask_token": None}))


def pickled(folder: Path) -> None:
    torch.save(BertForMaskedLM.from_pretrained(folder).state_dict(), folder / "pytorch_model.bin")
    without_weights(folder)


def damaged(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1000])


def damaged_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


def with_decoder(folder: Path) -> None:
    T5Config().save_pretrained(folder)


def with_code_of_its_own(folder: Path) -> None:
    config = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForMaskedLM": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("raise SystemExit('this ran')")


def larger_tokenizer(folder: Path) -> None:
    file = folder / "tokenizer.json"
    held = json.loads(file.read_text())
    held["model"]["vocab"] |= {"zebra": len(held["model"]["vocab"])}
    file.write_text(json.dumps(held))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (empty, "config.json save_pretrained"),
        (without_tokenizer, "tokenizer.json"),
        (without_weights, "*.safetensors"),
        (without_head, "masked-language head"),
        (without_mask_token, "`mask_token`"),
        (pickled, "pytorch_model.bin code safetensors"),
        (damaged, "opened"),
        (damaged_config, "config.json"),
        (damaged_tokenizer, "opened"),
        (with_decoder, "t5 encoder decoder"),
        (with_code_of_its_own, "code"),
        (larger_tokenizer, "41 tokens"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_load_masked_raises_for_unusable_folder(folder: Path, spoil: Callable, message: str):
    spoil(folder)
    with refused(LanguageModelError, message):
        load_masked(folder)


def test_load_masked_raises_for_causal_model(made: Callable[[str], Made]):
    with refused(LanguageModelError, "gpt2 masked-language"):
        load_masked(made("gpt2").folder)


def test_load_causal_raises_without_start_or_end_token(made: Callable[[str], Made], tmp_path: Path):
    folder = Path(shutil.copytree(made("gpt2").folder, tmp_path / "model"))
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"bos_token": None, "eos_token": None}))
    with refused(LanguageModelError, "token beginning end"):
        load_causal(folder)


def test_load_encoder_reads_pickled_weights_with_trust(folder: Path):
    before = load_encoder(folder)(["The nurse."])
    pickled(folder)
    assert load_encoder(folder, trust=True)(["The nurse."]) == pytest.approx(before)


def test_load_encoder_runs_no_pickled_code_with_trust(folder: Path, tmp_path: Path):
    class Evil:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "ran",))

    without_weights(folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": Evil()}))
    with refused(LanguageModelError, "opened"):
        load_encoder(folder, trust=True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("./nowhere", "'./nowhere' config.json"),
        (Path("nowhere"), "'nowhere'"),
        ("no-such-model", "hub"),
        ("no such name!", "hub"),
    ],
)
def test_load_encoder_raises_for_missing_model(source: str | Path, message: str):
    with refused(LanguageModelError, message):
        load_encoder(source)


def test_load_encoder_raises_for_file(folder: Path):
    with refused(LanguageModelError, "file folder"):
        load_encoder(folder / "config.json")


@pytest.fixture
def without_attention(made: Callable[[str], Made], tmp_path: Path) -> Path:
    """FNet mixes all positions of a batch, the filling among them."""
    tokenizer = made("bert").tokenizer
    size = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 16, "max_position_embeddings": 40}
    FNetForMaskedLM(FNetConfig(vocab_size=len(tokenizer), pad_token_id=0, **size)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("load", [load_masked, load_encoder])
def test_models_without_attention_require_batch_of_one(load: Callable, without_attention: Path):
    with refused(LanguageModelError, "batch=1"):
        load(without_attention)
    assert load(without_attention, batch=1).batch == 1


def test_all_unmasked_weighted_raises_without_attention(without_attention: Path):
    model = load_masked(without_attention, batch=1)
    assert model.all_unmasked(["The nurse."]) < 0
    with refused(LanguageModelError, "AULA AUL"):
        model.all_unmasked(["The nurse."], weighted=True)


def test_model_text_contains_class_of_model(folder: Path):
    assert load_encoder(folder).text.startswith("model: BertModel, ")
    assert str(load_masked(folder)).startswith("model: BertForMaskedLM, ")
