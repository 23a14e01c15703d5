"""Log probabilities of words in blanks agree with a loop over single sentences in plain torch."""

import random
from collections.abc import Callable
from itertools import product

import pytest
import torch

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.likelihoods import load_masked
from bayes_bias.words.templates import Cloze
from tests.helpers import refused
from tests.transformers.conftest import SENTENCES, WINDOW, Made

WORDS = ["nurse", "engineer", "doctor", "hospital", "unbelievably", "programmer", "poet", "housekeepers", "He", "."]


def cloze(sentence: str, word: str, *hidden: str) -> Cloze:
    """The word of this sentence asked for, others hidden."""
    start = sentence.index(word)
    spans = tuple((sentence.index(name), sentence.index(name) + len(name)) for name in hidden)
    return Cloze(sentence[:start], word, sentence[start + len(word) :], spans)


CLOZES = []
for sentence, word, hidden in product(SENTENCES, WORDS, [(), ("The",), ("was", "good")]):
    if word in sentence and all(name in sentence for name in hidden):
        CLOZES.append(cloze(sentence, word, *hidden))


def places(made: Made, ids: list[int], sentence: str, word: str) -> list[int]:
    """Where the pieces of a word are: those that it has on its own, looked for in the sentence."""
    alone = word if sentence.startswith(word) or word in ".!," else f" {word}"
    own = made.tokenizer(alone, add_special_tokens=False)["input_ids"]
    if made.kind == "xlm-roberta" and word in ".!,":
        own = own[1:]  # on its own, it begins a text
    (first,) = [k for k in range(len(ids)) if ids[k : k + len(own)] == own]
    return list(range(first, first + len(own)))


def by_hand(made: Made, asked: Cloze) -> float:
    """The chain rule, one sentence and one piece at a time."""
    ids = made.tokenizer(asked.text)["input_ids"]
    word = places(made, ids, asked.text, asked.word)
    seen = list(ids)
    for start, end in asked.hidden:
        for k in places(made, ids, asked.text, asked.text[start:end]):
            seen[k] = made.tokenizer.mask_token_id
    for k in word:
        seen[k] = made.tokenizer.mask_token_id
    total = 0.0
    for k in word:
        with torch.no_grad():
            distribution = made.model(torch.tensor([seen])).logits[0, k].softmax(-1)
        total += distribution[ids[k]].log().item()
        seen[k] = ids[k]
    return total


def test_masked_log_probability_equals_chain_rule_over_pieces(masked: Made):
    model = load_masked(masked.folder)
    expected = [by_hand(masked, asked) for asked in CLOZES]
    assert model(CLOZES) == pytest.approx(expected, abs=1e-5)
    assert len({round(value, 3) for value in expected}) > len(expected) / 2  # contexts matter


def test_clozes_contain_words_of_several_pieces(masked: Made):
    lengths = [len(places(masked, masked.tokenizer(c.text)["input_ids"], c.text, c.word)) for c in CLOZES]
    assert max(lengths) >= 3


def test_masked_log_probability_ignores_padding_and_order(masked: Made):
    shuffled = random.Random(1).sample(CLOZES, len(CLOZES))
    together = dict(zip(shuffled, load_masked(masked.folder)(shuffled), strict=True))
    one_by_one = load_masked(masked.folder, batch=1)
    assert list(map(together.get, CLOZES)) == pytest.approx(one_by_one(CLOZES), abs=1e-5)


def test_masked_probabilities_of_words_sum_below_one(made):
    model = load_masked(made("bert").folder)
    pieces = [word for word in made("bert").tokenizer.get_vocab() if word.isalpha()]
    total = sum(torch.tensor(model([Cloze("The ", word, " is good.") for word in pieces])).exp())
    assert 0.05 < total < 1  # the rest are suffixes and signs


def test_masked_log_probability_ignores_hidden_words_of_equal_length(masked: Made):
    model = load_masked(masked.folder)
    asked = [Cloze("The nurse is ", "good", " as an engineer.", ((0, 3),))]
    same_length = [Cloze("She nurse is ", "good", " as an engineer.", ((0, 3),))]
    lengths = {len(masked.tokenizer(first, add_special_tokens=False)["input_ids"]) for first in ("The", "She")}
    agree = model(asked) == pytest.approx(model(same_length), abs=1e-5)
    assert agree == (len(lengths) == 1)  # how many pieces were hidden shows


def test_masked_model_reads_equal_blanks_once(made: Callable[[str], Made]):
    model, read = load_masked(made("bert").folder), []
    model.transformer.model.register_forward_hook(lambda _module, _given, found: read.append(len(found.logits)))
    model([Cloze("", who, " is good.") for who in ("She", "He", "Nurse")] * 10)
    assert read == [1]


def test_masked_model_reads_up_to_window_and_raises_beyond(masked: Made):
    model = load_masked(masked.folder)
    window = {"xlm-roberta": 60}.get(masked.kind, WINDOW)
    after = {len(masked.tokenizer(f"The nurse{'.' * k}")["input_ids"]): "." * k for k in range(60)}
    assert model([Cloze("The ", "nurse", after[window])])[0] < 0
    with pytest.raises(LanguageModelError, match=f"at most {window} tokens, .* has {window + 1}. Shorten"):
        model([Cloze("The ", "nurse", after[window + 1])])


def test_masked_model_returns_empty_list_without_clozes(masked: Made):
    assert load_masked(masked.folder)([]) == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Cloze("The ", "nur", "se is good."), "'nur' 'The nurse is good.' 'nurse'"),
        (Cloze("The ", "zebra", " is good."), "'zebra' token"),
        (Cloze("The nurse is ", "good", " and" * 50), "56 tokens '{name}' 40"),
    ],
)
def test_masked_model_raises_for_invalid_clozes(made, asked: Cloze, message: str):
    folder = made("bert").folder
    with refused(LanguageModelError, message.format(name=folder.name)):
        load_masked(folder)([asked])
