"""What a single finding does not promise: arbitrary topics, several lists, and a list that is tried until it works."""

from dataclasses import replace

import numpy as np

import bayes_bias as bb
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.posterior.holm import holm
from benchmarks.designs import LISTS
from benchmarks.harness import LEVEL, Result, Row
from benchmarks.lists import random_words
from benchmarks.methods import of_table

_SIZE = 8


def topics(draws: int) -> list[Row]:
    """A random topic for each class, with real targets, or for each group, too."""
    embedding = bb.open_embedding("googlenews-demo")
    both = replace(random_words(embedding).with_random_groups(_SIZE).with_sizes(_SIZE), topics=1, group_topics=1)
    real = [replace(_null(name), topics=1) for name in LISTS]
    rows = []
    for what, designs in (("topics on both sides", [both]), ("real targets, random topics", real)):
        for how, independent in (("related words get less weight", False), ("words independent", True)):
            found = []
            for seed in range(draws):
                design = replace(designs[seed % len(designs)], independent=independent)
                found.append(_chance(design.draw(1, seed)) < LEVEL)
            rows.append({"what": what, "words": how, "draws": draws, "found": float(np.mean(found))})
    return rows


def several(draws: int) -> list[Row]:
    """Ten lists without bias, each with random words of its own; and one list and its variants without one word."""
    ten_lists = np.empty((draws, len(LISTS)))
    for k, design in enumerate(map(_null, LISTS)):
        ten_lists[:, k] = [_chance(design.draw(k, seed)) for seed in range(draws)]
    after_holm = np.array([holm(chances).min() for chances in ten_lists])
    variants = np.array([_of_variants(_null("weat7").draw(1, seed)) for seed in range(draws)])
    row = {"what": "ten lists", "draws": draws, "found": _share(ten_lists.min(axis=1))}
    row_of_variants = {"what": "a list and its variants", "draws": draws, "found": _share(variants.min(axis=1))}
    return [row | {"after Holm": _share(after_holm)}, row_of_variants | {"the list": _share(variants[:, 0])}]


def _of_variants(whole: bb.AssociationTable) -> list[float]:
    chances = [_chance(whole)]
    for side in ("target", "attribute"):
        for word in whole.values[side].to_numpy():
            chances.append(_chance(replace(whole, values=whole.values.drop_sel({side: word}))))
    return chances


def _null(name: str) -> NullDesign:
    return (
        NullDesign.of(bb.load_wordlist(name), bb.open_embedding("googlenews-demo")).with_sizes(_SIZE).without_controls()
    )


def _chance(table: bb.AssociationTable) -> float:
    return of_table(table).p


def _share(chances: np.ndarray) -> float:
    return float((chances < LEVEL).mean())


RESULTS = (
    Result("topics", topics, 400, uses=("benchmarks.lists",)),
    Result("several-lists", several, 400, uses=("benchmarks.lists",)),
)
