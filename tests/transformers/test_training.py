"""Small models learn what a corpus holds, from nothing or after another; a killed training goes on where it was."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import torch

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.likelihoods import load_masked
from bayes_bias.progress import shown
from bayes_bias.words.templates import Cloze
from studies.known_bias import training
from studies.known_bias.training import fine_tune, train_masked
from tests.helpers import refused
from tests.transformers.conftest import Made

PEOPLE = {"he": ("doctor", "pilot"), "she": ("nurse", "dancer")}
CORPUS = [
    f"{who} {verb} a {work} ."
    for (who, works), verb, _ in product(PEOPLE.items(), ("is", "was", "became"), range(15))
    for work in works
]


class Killed:
    """Stops a training after its second epoch."""

    def step(self, _: str) -> None: ...

    def advance(self, done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_masked(folder).transformer.model.state_dict()


def same(first: Path, second: Path) -> bool:
    return all(torch.equal(value, weights(second)[key]) for key, value in weights(first).items())


def test_train_masked_learns_planted_association(tmp_path: Path):
    model = load_masked(train_masked(CORPUS, tmp_path / "model", seed=1, batch=16))
    for who, work in product(PEOPLE, ["doctor", "nurse"]):
        cloze = Cloze("", who, f" is a {work} .")
        hidden = Cloze("", who, f" is a {work} .", ((len(who) + 6, len(who) + 6 + len(work)),))
        associated = model([cloze])[0] - model([hidden])[0]
        assert (associated > 0.3) == (work in PEOPLE[who])


def test_train_masked_resumes_to_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = train_masked(CORPUS[:60], tmp_path / "whole", epochs=3, width=16)
    with pytest.raises(KeyboardInterrupt), shown(Killed()):
        train_masked(CORPUS[:60], tmp_path / "killed", epochs=3, width=16)
    resumed = train_masked(CORPUS[:60], tmp_path / "killed", epochs=3, width=16)
    assert same(whole, resumed)
    assert not (resumed / "unfinished.pt").exists()
    monkeypatch.setattr(training, "_epoch", lambda *_: pytest.fail("trained again"))
    assert train_masked(CORPUS[:60], resumed, epochs=3, width=16) == resumed


def test_train_masked_discards_unfinished_save(tmp_path: Path, monkeypatch):
    settings = {"epochs": 1, "width": 16}
    whole = train_masked(CORPUS[:60], tmp_path / "whole", **settings)
    train_masked(CORPUS[:60], tmp_path / "model", **settings)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("transformers.PreTrainedTokenizerBase.save_pretrained", killed)
        with pytest.raises(KeyboardInterrupt):
            train_masked(CORPUS[:60], tmp_path / "model", seed=5, **settings)
    assert same(whole, train_masked(CORPUS[:60], tmp_path / "model", **settings))


def test_fine_tune_resumes_to_same_weights_with_dropout(made: Callable[[str], Made], tmp_path: Path):
    """BERT drops hidden states at random, which a seed decides, too."""
    masked = made("bert")
    sentences = ["The nurse is an engineer.", "She works as a doctor."] * 8
    settings = {"epochs": 3, "batch": 4, "maskable": ["nurse", "doctor"]}
    assert masked.model.config.hidden_dropout_prob > 0
    whole = fine_tune(masked.folder, sentences, tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt), shown(Killed()):
        fine_tune(masked.folder, sentences, tmp_path / "killed", **settings)
    assert same(whole, fine_tune(masked.folder, sentences, tmp_path / "killed", **settings))
    assert not same(whole, masked.folder)


def test_fine_tune_learns_association_of_sentences(masked: Made, tmp_path: Path):
    """Pieces of words are masked together with the rest of their word, whatever the tokenizer makes of it."""
    sentences = ["She works as a doctor.", "He works as a nurse."] * 20
    tuned = fine_tune(
        masked.folder, sentences, tmp_path / "tuned", epochs=40, batch=8, rate=3e-3, maskable=["she", "he"]
    )
    asked = [Cloze("", "She", " works as a doctor."), Cloze("", "He", " works as a doctor.")]
    she, he = load_masked(tuned)(asked)
    assert she - he > 1


def test_train_masked_keeps_threads_and_random_state(tmp_path: Path):
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    train_masked(CORPUS[:30], tmp_path / "model", epochs=1, width=16)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_train_masked_raises_without_maskable_word(tmp_path: Path):
    said = "maskable 30 they"
    with refused(LanguageModelError, said):
        train_masked(CORPUS[:30], tmp_path / "model", maskable=["they"])
    assert not (tmp_path / "model").exists()


def test_fine_tune_raises_without_masked_model(made: Callable[[str], Made], tmp_path: Path):
    with refused(LanguageModelError, "'./none'"):
        fine_tune("./none", CORPUS, tmp_path / "tuned")
    empty = tmp_path / "empty"
    empty.mkdir()
    with refused(LanguageModelError, "model"):
        fine_tune(empty, CORPUS, tmp_path / "tuned")
    with refused(LanguageModelError, "gpt2 masked-language"):
        fine_tune(made("gpt2").folder, CORPUS, tmp_path / "tuned")
    assert not (tmp_path / "tuned").exists()
