"""Four tiny models of the kinds that differ: in their pieces, their offsets, their padding, and in what they see."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported

import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaTokenizer,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaTokenizer,
)

HERE = Path(__file__).parent
SENTENCES = [
    "The nurse is an engineer.",
    "She works as a doctor in the old hospital, and he paints.",
    "He was an unbelievably good programmer!",
    "The poet sings of gardeners and housekeepers.",
]
MASKED = ["bert", "roberta", "xlm-roberta"]
WINDOW = 40

WORDPIECES = [
    *["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "nurse", "is", "an", "a", "she", "he", "works", "as"],
    *["in", "old", "hospital", "and", "was", "good", "poet", "of", "doc", "##tor", "en", "##gine", "##er", "paint"],
    *["##s", "un", "##believ", "##ably", "program", "##m", "sing", "garden", "house", "##keep", ".", ",", "!"],
]

# Models this small are slower on several cores than on one.
torch.set_num_threads(1)


@dataclass(frozen=True)
class Made:
    """A model as it was made, and the folder it was saved to."""

    kind: str
    folder: Path
    model: Any
    tokenizer: Any


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What opens a model takes seconds, and some of these sample.

    A notebook trains for as long as half of the other tests take, so one worker begins with it.
    """
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.path != HERE / "test_notebooks.py")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """A model of this kind, made once."""
    done: dict[str, Made] = {}

    def of(kind: str) -> Made:
        if kind not in done:
            done[kind] = _made(kind, tmp_path_factory.mktemp(kind))
        return done[kind]

    return of


@pytest.fixture(params=MASKED)
def masked(request: pytest.FixtureRequest, made: Callable[[str], Made]) -> Made:
    """Each kind of masked model in turn."""
    return made(request.param)


def _made(kind: str, folder: Path) -> Made:
    torch.manual_seed(MASKED.index(kind) if kind in MASKED else 9)
    tokenizer, model = _KINDS[kind](folder)
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Made(kind, folder, model, tokenizer)


def _bert(_: Path) -> tuple[Any, Any]:
    tokenizer = BertTokenizer(vocab={piece: k for k, piece in enumerate(WORDPIECES)})
    config = BertConfig(vocab_size=len(WORDPIECES), max_position_embeddings=WINDOW, **_size())
    return tokenizer, BertForMaskedLM(config)


def _roberta(folder: Path) -> tuple[Any, Any]:
    tokenizer = RobertaTokenizer(**_byte_pairs(folder))
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=WINDOW + 2, **_size())
    return tokenizer, RobertaForMaskedLM(config)


def _xlm_roberta(_: Path) -> tuple[Any, Any]:
    tokenizer = XLMRobertaTokenizer(vocab=_unigrams())
    config = XLMRobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=62, **_size())
    return tokenizer, XLMRobertaForMaskedLM(config)


def _unigrams() -> list[tuple[str, float]]:
    """Pieces with their log probabilities. Those that a `UnigramTrainer` finds are others each time."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    begins = [f"▁{piece}" for piece in (*WORDPIECES, "The", "She", "He") if piece.isalpha()]
    goes_on = [piece.removeprefix("##") for piece in WORDPIECES if piece.startswith("##")]
    letters = ["▁", *".,!", *string.ascii_letters]
    pieces = dict.fromkeys([*begins, *goes_on, *letters])
    return [(piece, 0.0) for piece in special] + [(piece, -3.0 if len(piece) > 1 else -6.0) for piece in pieces]


def _gpt2(folder: Path) -> tuple[Any, Any]:
    tokenizer = GPT2Tokenizer(**_byte_pairs(folder))
    special = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    size = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": WINDOW, "initializer_range": 0.2}
    return tokenizer, GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **size, **special))


def _byte_pairs(folder: Path) -> dict[str, Any]:
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(SENTENCES * 3, vocab_size=310, special_tokens=special, show_progress=False)
    trained.save_model(str(folder))
    merges = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return {"vocab": vocabulary, "merges": [tuple(merge.split()) for merge in merges]}


def _size() -> dict[str, Any]:
    # Large weights, so that what stands around a word matters to the third digit and not to the seventh.
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    return size | {"initializer_range": 0.2}


_KINDS = {"bert": _bert, "roberta": _roberta, "xlm-roberta": _xlm_roberta, "gpt2": _gpt2}
