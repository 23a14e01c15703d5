"""Log-likelihoods of sentences agree with a loop over tokens in plain torch."""

import json
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

from bayes_bias import Cloze, load_wordlist, log_probabilities
from bayes_bias.analyses.sentence_pairs.scoring import score as score_pairs
from bayes_bias.analyses.sweep.columns import LanguageModelColumn
from bayes_bias.cli.main import main
from bayes_bias.errors import LanguageModelError, TableError
from bayes_bias.jobs import open_store
from bayes_bias.language_models.likelihoods import load_causal
from tests.helpers import refused, says
from tests.transformers.conftest import SENTENCES, WINDOW, Made


def by_hand(made: Made, sentence: str) -> float:
    """Token by token, the first after the token that begins a text."""
    read, total = [made.tokenizer.bos_token_id], 0.0
    for token in made.tokenizer(sentence)["input_ids"]:
        with torch.no_grad():
            total += made.model(torch.tensor([read])).logits[0, -1].softmax(-1)[token].log().item()
        read.append(token)
    return total


def test_causal_log_likelihood_equals_sum_over_tokens(made: Callable[[str], Made]):
    own = made("gpt2")
    expected = np.array([by_hand(own, sentence) for sentence in SENTENCES])
    assert load_causal(own.folder).log_likelihood(SENTENCES) == pytest.approx(expected, abs=1e-4)
    alone = load_causal(own.folder, batch=1).log_likelihood(SENTENCES[::-1])[::-1]
    assert load_causal(own.folder).log_likelihood(SENTENCES) == pytest.approx(alone, abs=1e-5)


def test_score_pairs_changes_sign_for_swapped_sentences(made: Callable[[str], Made]):
    model = load_causal(made("gpt2").folder)
    frame = pd.DataFrame({"sentence_more": SENTENCES[:2], "sentence_less": SENTENCES[2:]})
    scored = score_pairs(model, frame, "likelihood")
    swapped = frame.rename(columns={"sentence_more": "sentence_less", "sentence_less": "sentence_more"})
    back = score_pairs(model, swapped, "likelihood")
    assert (scored.score_more - scored.score_less).to_numpy() == pytest.approx(
        (back.score_less - back.score_more).to_numpy(), abs=1e-5
    )


def test_causal_log_likelihood_counts_start_token_in_window(made: Callable[[str], Made]):
    model = load_causal(made("gpt2").folder)
    piece = "!" * (WINDOW - 1)
    assert np.isfinite(model.log_likelihood([piece])).all()
    with pytest.raises(LanguageModelError, match=f"at most {WINDOW} tokens, .* has {WINDOW + 1}"):
        model.log_likelihood([piece + "!"])


def test_load_causal_raises_for_masked_model(made: Callable[[str], Made]):
    with refused(LanguageModelError, "causal"):
        load_causal(made("bert").folder)


CLOZES = [
    Cloze("The nurse is ", "an engineer", "."),
    Cloze("She works as a doctor in the ", "old", " hospital."),
    Cloze("", "The", " poet sings of gardeners."),
    Cloze("He was an ", "unbelievably", " good programmer!", hidden=((0, 2),)),
]


def word_by_hand(made: Made, model: torch.nn.Module, cloze: Cloze) -> float:
    """What transformers itself gives: the log probabilities of the pieces of a word after the text before it."""
    read = made.tokenizer(cloze.text, return_offsets_mapping=True, add_special_tokens=False)
    first = next(k for k, (_, end) in enumerate(read["offset_mapping"]) if end > cloze.start)
    if not cloze.text[slice(*read["offset_mapping"][max(first - 1, 0)])].strip():  # a space by itself is the word's
        first -= 1
    last = max(k for k, (start, _) in enumerate(read["offset_mapping"]) if start < cloze.end)
    ids = [made.tokenizer.bos_token_id, *read["input_ids"]]
    with torch.no_grad():
        logs = model(torch.tensor([ids[: last + 1]])).logits[0].float().log_softmax(-1)
    return sum(logs[k, ids[k + 1]].item() for k in range(first, last + 1))


def test_causal_log_probability_matches_transformers(made: Callable[[str], Made]):
    own = made("gpt2")
    expected = [word_by_hand(own, own.model, cloze) for cloze in CLOZES]
    assert load_causal(own.folder)(CLOZES) == pytest.approx(expected, abs=1e-5)
    assert load_causal(own.folder, batch=1)(CLOZES) == pytest.approx(expected, abs=1e-5)


def test_causal_bfloat16_matches_transformers_in_bfloat16(made: Callable[[str], Made]):
    own = made("gpt2")
    half = type(own.model).from_pretrained(own.folder, dtype=torch.bfloat16)
    model = load_causal(own.folder, dtype="bfloat16", batch=1)
    assert model([CLOZES[0]]) == pytest.approx([word_by_hand(own, half, CLOZES[0])], abs=1e-3)
    exact = load_causal(own.folder)
    assert model(CLOZES) == pytest.approx(exact(CLOZES), rel=0.02)
    assert model(CLOZES) != pytest.approx(exact(CLOZES), abs=1e-6)
    assert "bfloat16" in model.text
    assert model.identity != exact.identity


def test_causal_log_probability_ignores_text_after_word(made: Callable[[str], Made]):
    model = load_causal(made("gpt2").folder)
    first, second = Cloze("The nurse is ", "good", " and old."), Cloze("The nurse is ", "good", "!")
    assert model([first]) == pytest.approx(model([second]), abs=1e-6)


WORDS = {
    "groups": {"people": ["nurse", "doctor"], "others": ["poet", "engineer"]},
    "classes": {"skill": ["programmer", "gardener"], "place": ["hospital", "house"]},
    "stereotypes": {"people": "place", "others": "skill"},
}
SHORT = """
classes = ["noun", "name"]
[[sentences]]
text = "We saw {target} and {attribute}."
[[sentences]]
text = "{target} is in {attribute}."
"""
NOUNS = {
    "noun": [*WORDS["groups"]["people"], *WORDS["groups"]["others"], "programmer", "gardener", "hospital", "house"]
}


@pytest.fixture
def templates(tmp_path) -> str:
    """Short ones, since the tiny model reads 40 tokens."""
    (tmp_path / "short.toml").write_text(SHORT)
    return str(tmp_path / "short.toml")


def test_log_probabilities_of_causal_model_predict_attributes(made: Callable[[str], Made], templates):
    own, words = made("gpt2"), {**WORDS, "word_classes": NOUNS}
    table = log_probabilities(words, own.folder, (), templates=templates)
    assert table.provenance["predicted"] == "attributes"
    single = table.singles()["We saw {target} and {attribute}."]
    together = Cloze("We saw a nurse and a ", "hospital", ".")
    alone = Cloze("We saw something and a ", "hospital", ".")
    expected = word_by_hand(own, own.model, together) - word_by_hand(own, own.model, alone)
    assert single.values.sel(target="nurse", attribute="hospital").item() == pytest.approx(expected, abs=1e-5)


def test_causal_bias_is_equal_with_and_without_correction(made: Callable[[str], Made], templates):
    """A sum over tokens, and the prior of a word, are levels of attributes."""
    words, model = {**WORDS, "word_classes": NOUNS}, load_causal(made("gpt2").folder)
    biases = []
    for corrected in (True, False):
        table = log_probabilities(words, model, (), templates=templates, corrected=corrected)
        means = {key: table.block(*key).mean().item() for key in product(WORDS["groups"], WORDS["classes"])}
        people, others = (means[group, "place"] - means[group, "skill"] for group in ("people", "others"))
        biases.append(people - others)
    assert biases[0] == pytest.approx(biases[1], abs=1e-5)


def test_causal_model_predicts_targets_only_at_end(made: Callable[[str], Made], tmp_path):
    words, model = {**WORDS, "word_classes": NOUNS}, load_causal(made("gpt2").folder)
    with refused(TableError, "left to right cannot predict targets Predict attributes"):
        log_probabilities(words, model, (), predict="targets")
    (tmp_path / "last.toml").write_text(
        SHORT.replace("target", "X").replace("attribute", "target").replace("X", "attribute")
    )
    table = log_probabilities(words, model, (), templates=str(tmp_path / "last.toml"), predict="targets")
    together = Cloze("We saw a hospital and a ", "nurse", ".")
    alone = Cloze("We saw something and a ", "nurse", ".")
    (expected,) = np.diff(model([alone, together]))
    single = table.singles()["We saw {attribute} and {target}."]
    assert single.values.sel(target="nurse", attribute="hospital").item() == pytest.approx(expected, abs=1e-5)


def test_language_model_column_matches_causal_log_probabilities(made: Callable[[str], Made], templates, tmp_path):
    column = LanguageModelColumn(made("gpt2").folder, templates=templates, name="tiny").opened()
    words = load_wordlist({**WORDS, "word_classes": NOUNS})
    table = column.table(words, open_store(tmp_path / "kept"))
    assert table.provenance["predicted"] == "attributes"
    expected = log_probabilities(words, made("gpt2").folder, (), templates=templates).values
    assert table.values.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-5)


def test_table_command_reads_dtype_of_causal_model(made: Callable[[str], Made], templates, tmp_path, capsys):
    lists, text = tmp_path / "words.toml", ""
    for table, content in {**WORDS, "word_classes": NOUNS}.items():
        text += "\n".join([f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in content.items()), ""])
    lists.write_text(text)
    arguments = ["table", str(lists), "--causal", str(made("gpt2").folder), "--templates", templates]
    arguments += ["--controls", "none"]
    numbers = {}
    for dtype in ("float32", "bfloat16"):
        out = tmp_path / f"{dtype}.csv"
        with pytest.raises(SystemExit) as left:
            main([*arguments, "--dtype", dtype, "--out", str(out)])
        assert not left.value.code, capsys.readouterr().err
        numbers[dtype] = pd.read_csv(out).iloc[:, -1].to_numpy(float)
    assert numbers["bfloat16"] == pytest.approx(numbers["float32"], abs=0.2)
    assert not np.array_equal(numbers["bfloat16"], numbers["float32"])


@pytest.mark.parametrize(
    ("option", "model", "text"),
    [("--causal", "bert", "not a causal model --masked"), ("--masked", "gpt2", "no masked-language head")],
)
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_commands_raise_for_model_of_other_kind(
    command, option, model, text, made: Callable[[str], Made], templates, capsys
):
    folder = str(made(model).folder)
    sides = [option, folder] if command == "fit" else [option, "--before", folder, "--after", folder]
    with pytest.raises(SystemExit) as left:
        main([command, "weat6", *sides, "--templates", templates, "--controls", "none"])
    assert left.value.code == 2
    assert says(capsys.readouterr().err, text)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"dtype": "int8"}, "dtype int8"), ({"device_map": "auto", "device": "cpu"}, "device_map auto one device")],
)
def test_load_causal_raises_for_invalid_settings(made: Callable[[str], Made], options, text):
    with refused(LanguageModelError, text):
        load_causal(made("gpt2").folder, **options)


def test_device_map_raises_without_accelerate(made: Callable[[str], Made], monkeypatch):
    monkeypatch.setattr(
        "bayes_bias.language_models.opening.find_spec", lambda name: None if name == "accelerate" else 1
    )
    with refused(LanguageModelError, "device_map requires accelerate"):
        load_causal(made("gpt2").folder, device_map="auto")
