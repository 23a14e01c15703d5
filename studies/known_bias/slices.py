"""Slices of a corpus over time, each with its own truth and its own number of tokens, in real text.

A scenario's corpora are made of templates, whose few hundred words are too few to see how vectors were made. Here the
sentences of a list stand among sentences that people wrote: the documentation of installed packages, which is there
wherever a study runs.
"""

import ast
import random
import re
import string
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bayes_bias.words.wordlist import WordList
from studies.known_bias.scenario import ModelRecipe
from studies.known_bias.training import train_static

type Sentence = tuple[str, ...]

_SPLIT = re.compile(r"[.!?;:]\s|\n\n")
_WORD = re.compile(r"[a-z]+")
_SHORTEST, _LONGEST = 6, 60
# Words of a sentence that carries words of the list, besides these.
_CARRIER = 14
# Rarer words have no vector, as is usual.
_FEWEST = 5
_PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "matplotlib",
    "xarray",
    "gensim",
    "statsmodels",
    "networkx",
    "pymc",
    "pytensor",
)


@dataclass(frozen=True)
class Slice:
    """One slice: its bias as a multiple of the world's, its size as a share of a whole one, how often it is read."""

    bias: float = 1.0
    share: float = 1.0
    epochs: int = 8


@dataclass(frozen=True)
class World:
    """Targets and attributes whose associations are known, and how often they are said.

    Targets of the first group are said with the first class with log odds of ``bias / 2``, those of the second of
    ``-bias / 2``, each with a preference of its own that lasts (`lasting`), and one that changes from slice to slice
    (`passing`). Attributes prefer targets of one group a little, for good.
    """

    seed: int | Sequence[int]
    targets: int = 24
    attributes: int = 12
    times: int = 40  # how often each target is said in a whole slice, on average
    tokens: int = 60_000  # of the text around it
    bias: float = 1.0
    lasting: float = 0.6
    passing: float = 0.3

    @property
    def groups(self) -> dict[str, list[str]]:
        """Words of each group."""
        return {name: [_word(f"{name}t{i}") for i in range(self.targets)] for name in ("one", "other")}

    @property
    def classes(self) -> dict[str, list[str]]:
        """Words of each class."""
        return {name: [_word(f"{name}a{j}") for j in range(self.attributes)] for name in ("this", "that")}

    def wordlist(self, of_each: int = 0, rng: np.random.Generator | None = None) -> WordList:
        """The list that asks; of so many words a group and class, drawn by the generator, or of all."""
        groups, classes = (
            {
                name: words if rng is None else sorted(rng.choice(words, of_each, replace=False).tolist())
                for name, words in side.items()
            }
            for side in (self.groups, self.classes)
        )
        content = {"groups": groups, "classes": classes, "stereotypes": {"one": "this", "other": "that"}}
        return WordList.from_mapping(content, name="drawn").with_sub_topics("independent")  # drawn one by one

    def written(self, slices: Sequence[Slice]) -> list[list[list[str]]]:
        """The sentences of each slice, of text that no other has."""
        rng = np.random.default_rng(self.seed)
        text = documentation()
        order = iter(rng.permutation(len(text)))
        own = rng.normal(0, self.lasting, 2 * self.targets)
        towards = np.exp(rng.normal(0, 0.3, (2, 2, self.attributes)))
        towards /= towards.sum(axis=-1, keepdims=True)
        side = np.repeat([0.5, -0.5], self.targets) * self.bias
        words = [word for group in self.groups.values() for word in group]
        return [self._slice(rng, each, side * each.bias + own, words, towards, text, order) for each in slices]

    def _slice(
        self,
        rng: np.random.Generator,
        each: Slice,
        log_odds: np.ndarray,
        words: Sequence[str],
        towards: np.ndarray,
        text: Sequence[Sentence],
        order: Iterator[int],
    ) -> list[list[str]]:
        log_odds = log_odds + rng.normal(0, self.passing, len(log_odds))
        around: list[list[str]] = []
        left = self.tokens * each.share
        while left > 0:
            around.append([*text[next(order)]])
            left -= len(around[-1])
        said: list[list[str]] = []
        classes = list(self.classes.values())
        for position, (word, odds) in enumerate(zip(words, log_odds, strict=True)):
            group = position // self.targets
            for _ in range(rng.poisson(self.times * each.share)):
                of_class = int(rng.random() > 1 / (1 + np.exp(-odds)))
                chosen = rng.choice(self.attributes, rng.integers(1, 4), replace=False, p=towards[group, of_class])
                sentence = around[rng.integers(len(around))][:_CARRIER]
                for more in [word, *(classes[of_class][k] for k in chosen)]:
                    sentence.insert(int(rng.integers(len(sentence) + 1)), more)
                said.append(sentence)
        both = [*around, *said]
        return [both[k] for k in rng.permutation(len(both))]


def _word(name: str) -> str:
    """A word without a meaning; words of one group share no subwords, by which fastText would know them."""
    return "".join(random.Random(name).choices(string.ascii_lowercase, k=8))


def trained(sentences: Sequence[Sequence[str]], recipe: ModelRecipe) -> dict[str, np.ndarray]:
    """Vectors of all words that a slice has five times or more."""
    settings = {**recipe.settings, "min_count": _FEWEST}
    words = dict.fromkeys(word for sentence in sentences for word in sentence)
    return train_static(sentences, replace(recipe, settings=settings), words, seed=1)


@cache
def documentation() -> tuple[Sentence, ...]:
    """Sentences of six words or more in docstrings of Python's library and of installed packages, each once."""
    paths = sysconfig.get_paths()
    folders = [Path(paths["stdlib"]), *(Path(paths["purelib"]) / name for name in _PACKAGES)]
    files = sorted(
        {
            file
            for folder in folders
            for file in folder.rglob("*.py")
            if "site-packages" not in str(file.relative_to(folder))
        }
    )
    found: dict[Sentence, None] = {}
    for file in files:
        if "test" in file.name or "tests" in file.parts:
            continue
        for text in _docstrings(file):
            found.update(dict.fromkeys(sentences(text)))
    return tuple(found)


def _docstrings(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):  # files that are there to be wrong
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def sentences(text: str) -> Iterator[Sentence]:
    """The words of each sentence of a text that is neither too short, nor too long, nor code."""
    for sentence in _SPLIT.split(text):
        words = tuple(_WORD.findall(sentence.lower()))
        if _SHORTEST <= len(words) <= _LONGEST and ">>>" not in sentence:
            yield words
