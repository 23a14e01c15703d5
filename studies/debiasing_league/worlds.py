"""Worlds whose bias is known: a corpus drawn from a truth, and vectors of all its words, trained once and kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

import bayes_bias as bb
from studies.known_bias import Corpus, ModelRecipe, Truth, draw_truth, load_scenario, make_corpus, train_static

SCENARIO = load_scenario(Path(__file__).with_name("league.toml"))
GENDER = SCENARIO.described["gender"]

# Religions are said with occupations whatever their gender; or mostly Christian where they are mostly men's, so that a
# religion is a proxy of gender.
APART, TIED = KINDS = "apart", "tied"

_TIE = 6  # a stream of random numbers of its own
_LOOSE = 0.2  # how far the order by religion is from that by gender, in shares of men


@dataclass(frozen=True)
class World:
    """A truth, one of its corpora, and the model that reads it."""

    kind: str
    truth: int
    corpus: int
    model: ModelRecipe

    @property
    def name(self) -> str:
        """As files have it."""
        return f"{self.kind}-{self.truth}-{self.corpus}-{self.model.name}"

    def made(self) -> tuple[Truth, Corpus]:
        """What is true, and what is read."""
        truth = draw_truth(SCENARIO, self.truth)
        if self.kind == TIED:
            truth = tied(truth, np.random.default_rng([SCENARIO.seed, _TIE, self.truth]))
        return truth, make_corpus(SCENARIO, truth, self.corpus, SCENARIO.words_per_sentence[0])


def worlds(kind: str, corpus: int) -> Iterator[World]:
    """All truths and models for one corpus of each truth."""
    truths = range(len(SCENARIO.scheme.cells))
    yield from (World(kind, truth, corpus, model) for truth, model in product(truths, SCENARIO.models))


def tied(truth: Truth, rng: np.random.Generator) -> Truth:
    """The same shares of religions, dealt to occupations nearly in the order of their shares of men."""
    gender, religion = truth.shares["gender"][:, 0], truth.shares["religion"]
    dealt = np.empty_like(religion)
    dealt[np.argsort(gender + rng.normal(0, _LOOSE, len(gender)))] = religion[np.argsort(religion[:, 0])]
    return replace(truth, shares={"gender": truth.shares["gender"], "religion": dealt})


def vectors_of(world: World, folder: Path) -> Mapping[str, np.ndarray]:
    """Vectors of all words of a world's corpus: those that the folder has, or trained now and kept there."""
    path = folder / f"{world.name}.npz"
    if not path.is_file():
        tokens = world.made()[1].tokens
        words = sorted({word for sentence in tokens for word in sentence})
        folder.mkdir(parents=True, exist_ok=True)
        bb.save_vectors(train_static(tokens, world.model, words, seed=0), path)
    return bb.open_embedding(path).all()
