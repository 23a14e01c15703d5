"""The tiny models of the benchmarks learn what their corpus holds, and a killed training goes on where it was."""

from itertools import product
from pathlib import Path

import pytest
import torch

from bayes_bias.language_models.masked import load_masked
from bayes_bias.sentences.cloze import Cloze
from benchmarks import tiny_masked

PEOPLE = {"he": ("doctor", "pilot"), "she": ("nurse", "dancer")}
CORPUS = [
    f"{who} {verb} a {work} ."
    for (who, works), verb, _ in product(PEOPLE.items(), ("is", "was", "became"), range(15))
    for work in works
]


def test_a_planted_association_is_learned(tmp_path: Path):
    model = load_masked(tiny_masked.train(CORPUS, tmp_path / "model", seed=1, batch=16))
    for who, work in product(PEOPLE, ["doctor", "nurse"]):
        cloze = Cloze("", who, f" is a {work} .")
        hidden = Cloze("", who, f" is a {work} .", ((len(who) + 6, len(who) + 6 + len(work)),))
        associated = model([cloze])[0] - model([hidden])[0]
        assert (associated > 0.3) == (work in PEOPLE[who])


def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = tiny_masked.train(CORPUS[:60], tmp_path / "whole", epochs=3, width=16)

    class Killed:
        def step(self, _: str) -> None: ...

        def advance(self, done: int, _: int) -> None:
            if done == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny_masked.train(CORPUS[:60], tmp_path / "killed", epochs=3, width=16, progress=Killed())
    resumed = tiny_masked.train(CORPUS[:60], tmp_path / "killed", epochs=3, width=16)
    one, other = (load_masked(folder).opened.model.state_dict() for folder in (whole, resumed))
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert not (resumed / "unfinished.pt").exists()
    monkeypatch.setattr(tiny_masked, "_epoch", lambda *_: pytest.fail("trained again"))
    assert tiny_masked.train(CORPUS[:60], resumed, epochs=3, width=16) == resumed
