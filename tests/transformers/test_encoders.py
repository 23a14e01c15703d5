"""Vectors of sentences are the means of those tokens' vectors that the pooling names."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models import hugging_face
from bayes_bias.language_models.hugging_face import load_encoder
from bayes_bias.language_models.tokens import POOLINGS, padded
from tests.helpers import refused, says
from tests.transformers.conftest import MASKED, SENTENCES, Made
from tests.transformers.test_masked import places

WORDS = ["engineer", "hospital", "programmer", "housekeepers"]
SPANS = [(s.index(word), s.index(word) + len(word)) for s, word in zip(SENTENCES, WORDS, strict=True)]


@cache
def opened(folder: Path) -> Any:
    return AutoModel.from_pretrained(folder).eval()


def by_hand(made: Made, sentence: str, word: str, pooling: str, layer: int) -> np.ndarray:
    ids = made.tokenizer(sentence)["input_ids"]
    model = opened(made.folder)
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
    special = [] if made.kind == "gpt2" else [0, len(ids) - 1]
    taken = {
        "cls": [0],
        "mean": range(len(ids)),
        "mean-content": [k for k in range(len(ids)) if k not in special],
        "word": places(made, ids, sentence, word),
        "last": [len(ids) - 1],
    }[pooling]
    return states[list(taken)].numpy().mean(axis=0)


@pytest.mark.parametrize(
    ("kind", "pooling"),
    [(kind, pooling) for kind in [*MASKED, "gpt2"] for pooling in POOLINGS if (kind, pooling) != ("gpt2", "cls")],
)
def test_encoder_vector_matches_pooling_and_layer(made: Callable[[str], Made], kind: str, pooling: str):
    own = made(kind)
    for layer, number in [("last", 2), ("first", 1), ("0", 0), (-2, 1)]:
        encoder = load_encoder(own.folder, pooling=pooling, layer=layer)
        expected = [by_hand(own, s, word, pooling, number) for s, word in zip(SENTENCES, WORDS, strict=True)]
        assert encoder(SENTENCES, SPANS) == pytest.approx(np.array(expected), abs=1e-5)


@pytest.mark.parametrize("kind", [*MASKED, "gpt2"])
@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_encoder_vectors_ignore_padding_and_order(made: Callable[[str], Made], kind: str, pooling: str):
    folder = made(kind).folder
    together, alone = load_encoder(folder, pooling=pooling, batch=32), load_encoder(folder, pooling=pooling, batch=1)
    assert together(SENTENCES[::-1])[::-1] == pytest.approx(alone(SENTENCES), abs=1e-5)


def test_encoder_batches_have_sentences_of_similar_length(made: Callable[[str], Made], monkeypatch: pytest.MonkeyPatch):
    """Memory and time go with the width of a batch."""
    widths = []

    def noted(opened: Any, rows: Any) -> Any:
        widths.append(max(map(len, rows)))
        return padded(opened, rows)

    monkeypatch.setattr(hugging_face, "padded", noted)
    short, long = min(SENTENCES, key=len), max(SENTENCES, key=len)
    load_encoder(made("bert").folder, batch=2)([short, long, short, short, long, short])
    assert widths[0] == widths[1] < widths[2]


def test_encoder_identity_depends_on_files_pooling_and_layer(made: Callable[[str], Made]):
    bert, roberta = made("bert").folder, made("roberta").folder
    encoder = load_encoder(bert)
    assert encoder.identity == load_encoder(str(bert), layer=2, batch=1).identity
    others = [load_encoder(roberta), load_encoder(bert, pooling="cls"), load_encoder(bert, layer="first")]
    assert len({encoder.identity, *(changed.identity for changed in others)}) == 4


def test_weights_are_read_as_float32(made: Callable[[str], Made], tmp_path):
    own = made("bert")
    own.tokenizer.save_pretrained(tmp_path)
    AutoModel.from_pretrained(own.folder, dtype=torch.bfloat16).save_pretrained(tmp_path)
    model = load_encoder(tmp_path).transformer.model
    assert {weights.dtype for weights in model.parameters()} == {torch.float32}
    assert not model.training


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bert", {"pooling": "max"}, "pooling 'max' cls, last, mean"),
        ("bert", {"layer": 3}, "layer 3 '{name}' 'first' 'last' 0"),
        ("bert", {"layer": "top"}, "layer 'top'"),
        ("bert", {"batch": 0}, "batch 0"),
        ("bert", {"device": "moon"}, "device 'moon'"),
        ("gpt2", {"pooling": "cls"}, "'cls' 'mean' 'last'"),
    ],
)
def test_load_encoder_raises_for_invalid_settings(made: Callable[[str], Made], kind: str, options: dict, message: str):
    folder = made(kind).folder
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        load_encoder(folder, **options)
    assert says(caught.value, message.format(name=folder.name))


@pytest.mark.parametrize(
    ("texts", "spans", "message"),
    [
        (["The nurse."], None, "pooling 'word' 1 0"),
        (["The nurse."], [(4, 30)], "(4, 30) 10 'The nurse.'"),
        (["The nurse."], [(3, 4)], "'The nurse.' piece"),
        (["The nurse."], [(4, 7)], "'nur' 'The nurse.' 'nurse'"),
        (["The nurse.", " "], [(4, 9), (0, 1)], "Sentence 2 ' '"),
        ([None], [(0, 1)], "Sentence 1 None"),
        ("The nurse.", [(4, 9)] * 10, "single list"),
        (["the " * 50], [(0, 3)], "52 tokens"),
    ],
)
def test_encoder_raises_for_invalid_sentences_and_spans(made: Callable[[str], Made], texts, spans, message: str):
    encoder = load_encoder(made("bert").folder, pooling="word")
    with refused(LanguageModelError, message):
        encoder(texts, spans)
