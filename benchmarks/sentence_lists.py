"""False findings of lists of sentences without bias: `python -m benchmarks.sentence_lists --draws 100`.

32 words are drawn at random, 8 for each group and class, and each stands in up to 8 templates. The vector of a sentence
is the word's, a direction of its template of length .4, and noise of length .15.
"""

import argparse
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import bayes_bias as bb
from bayes_bias.errors import WordListError
from benchmarks.markdown import markdown_table

WORDS = 8
HOMES = ("targ1", "targ2", "attr1", "attr2")
TEMPLATES = (
    *("This is {}.", "That is {}.", "There is {}.", "Here is {}."),
    *("{} is here.", "{} is there.", "The talk was about {}.", "We spoke of {}."),
)
# Sentences as units, as a list of them counted before; words in the same templates; and each without two or three.
MODES = ("as units", "same templates", "different templates")

type Numbers = NDArray[np.float64]


def main() -> None:
    """Draw lists, fit each, and print the share with a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    draws = parser.parse_args().draws
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    vocabulary = bb.open_embedding("googlenews-demo").all()
    print(markdown_table(pd.DataFrame([_row(mode, vocabulary, draws) for mode in MODES])))


def _row(mode: str, vocabulary: Mapping[str, Any], draws: int) -> dict[str, object]:
    found, widths, refused = [], [], 0
    for seed in range(draws):
        content, vectors = _drawn(mode, vocabulary, np.random.default_rng(seed))
        try:
            words = bb.WordList.from_mapping(content)
        except WordListError:  # a random word is one of a template: "That is here."
            refused += 1
            continue
        bias = bb.summarize(bb.fit(bb.cosines(words, vectors, controls=()), seed=seed)).loc["bias"].squeeze()
        found.append(bias.eti95_lb > 0 or bias.eti95_ub < 0)
        widths.append(bias.eti95_ub - bias.eti95_lb)
    share = float(np.mean(found))
    error = (share * (1 - share) / len(found)) ** 0.5
    return {"lists": mode, "fitted": len(found), "refused": refused, "found": share, "mcse": error,
            "width": np.mean(widths)}  # fmt: skip


def _drawn(
    mode: str, vocabulary: Mapping[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Numbers]]:
    """A list of sentences and their vectors."""
    words = rng.choice(sorted(vocabulary), WORDS * len(HOMES), replace=False).tolist()
    directions = {template: 0.4 * _unit(rng.normal(size=300)) for template in TEMPLATES}
    sentences: dict[str, list[str]] = {home: [] for home in HOMES}
    vectors = {}
    for number, word in enumerate(words):
        for k, (template, direction) in enumerate(directions.items()):
            if mode == "different templates" and (number + k) % 3 == 0:
                continue
            noise = 0.15 * _unit(rng.normal(size=300))
            vectors[template.format(word)] = _unit(np.asarray(vocabulary[word], float)) + direction + noise
            sentences[HOMES[number // WORDS]].append(template.format(word))
    content = {
        "groups": {home: sentences[home] for home in HOMES[:2]},
        "classes": {home: sentences[home] for home in HOMES[2:]},
        "stereotypes": {"targ1": "attr1", "targ2": "attr2"},
    }
    return content | ({"sentences": mode} if mode == "as units" else {}), vectors


def _unit(vector: Numbers) -> Numbers:
    return np.asarray(vector / np.linalg.norm(vector))


if __name__ == "__main__":
    main()
