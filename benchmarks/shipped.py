"""The shipped lists: verdicts, how they vary with the random vocabulary, and whether planned intervals come true."""

import os
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.associations.coverage import random_words
from bayes_bias.associations.related import (
    GeneralWords,
    general_words_of,
    related_as_shown,
    related_words_of,
    with_related,
)
from benchmarks.designs import LISTS
from benchmarks.harness import LEVEL, Result, Row
from benchmarks.methods import of_table
from benchmarks.reference import REFERENCE

_EVERY = (*LISTS, "gender", "race", "religion")
_EMBEDDINGS = {"GloVe": (REFERENCE / "glove840b_weat_items.npz", ()), "GoogleNews": ("googlenews-demo", CONTROLS)}
# Targets in each group and attributes in each class: lists of like length, and one side short.
_LENGTHS = ((6, 6), (8, 8), (12, 12), (5, 16), (16, 5))


def verdicts(draws: int) -> list[Row]:
    """WEAT 1 to 10: the bias, its verdict, and the same if all words were independent draws."""
    rows = []
    for (name, (source, controls)), wordlist in product(_EMBEDDINGS.items(), LISTS[:draws]):
        related = bb.cosines(wordlist, source, controls, allow_loss=True)
        independent = bb.cosines(wordlist, source, controls, sub_topics="independent", allow_loss=True)
        now, alone = bb.verdict(related), bb.verdict(independent)
        counts = {}
        if related.has_related_words:
            for category, words in related.related_words.categories.items():
                counts[category] = [len(words.words), round(words.effective, 1)]
        row = {"embedding": name, "list": wordlist, "bias": _interval(now), "verdict": now.label}
        rows.append(row | {"if independent": _interval(alone), "verdict then": alone.label, "effective": counts})
    return rows


def _interval(found: bb.Verdict) -> str:
    return f"{found.mean:+.3f} [{found.lower:+.3f}, {found.upper:+.3f}]".replace("-", "−")


def vocabularies(draws: int) -> list[Row]:
    """How much effective numbers of words, and chances, vary over random vocabularies of 2,000 words."""
    embedding = bb.open_embedding(os.environ["VECTORS"])
    drawn = [GeneralWords.of(embedding.find(random_words(embedding, seed))) for seed in range(1, draws + 1)]
    rows = []
    for name in _EVERY:
        wordlist = bb.load_wordlist(name)
        table = bb.cosines(wordlist, embedding, CONTROLS, sub_topics="independent", allow_loss=True)
        counts, chances = list[dict[str, float]](), list[float]()
        for general in drawn:
            related = related_words_of(table, general.without(wordlist))
            categories = (*table.groups, *table.associated_classes)
            counts.append({category: related[category].effective for category in categories})
            chances.append(bb.verdict(with_related(replace(table, notices=()), related)).chance)
        spread = pd.DataFrame(counts).std() / pd.DataFrame(counts).mean()
        row = {"list": name, "vocabularies": draws, "mean sd": float(spread.mean()), "largest sd": float(spread.max())}
        rows.append(row | {"least chance": min(chances), "largest chance": max(chances)})
    return rows


def planning(draws: int) -> list[Row]:
    """The width that `plan` predicts for shorter lists, and that of random sub-lists of a long list."""
    rows = []
    embedding = bb.open_embedding("googlenews-demo")
    for name in ("weat1", "weat2", "weat3", "weat4"):
        whole = bb.cosines(name, embedding, controls=())
        general = general_words_of(embedding).without(bb.load_wordlist(name))
        n_targets, n_attributes = np.transpose(_LENGTHS)
        predicted = bb.plan(bb.fit(whole), 0.02, np.unique(n_targets).tolist(), np.unique(n_attributes).tolist())
        for lengths in _LENGTHS:
            tables = [related_as_shown(_sub_list(whole, lengths, seed), general) for seed in range(draws)]
            real = pd.DataFrame([of_table(table)._asdict() for table in tables])
            foreseen = predicted.loc[lengths]
            rows.append(
                {
                    "list": name,
                    "targets": lengths[0],
                    "attributes": lengths[1],
                    "draws": draws,
                    "inflation": _inflation(whole),
                    "real inflation": float(np.mean([_inflation(table) for table in tables])),
                    "predicted width": float(foreseen.width),
                    "real width": float((real.upper - real.lower).mean()),
                    "predicted to exclude zero": float(foreseen.power),
                    "really": float((real.p < LEVEL).mean()),
                }
            )
    return rows


def _inflation(table: bb.AssociationTable) -> float:
    """How many times related words inflate the variance of a mean, averaged over groups and classes."""
    return float(np.mean([related.inflation for related in table.related_words.categories.values()]))


def _sub_list(table: bb.AssociationTable, lengths: tuple[int, int], seed: int) -> bb.AssociationTable:
    """So many random words of each group, and of each class."""
    rng = np.random.default_rng(seed)

    def drawn(category: np.ndarray, length: int) -> np.ndarray:
        return np.concatenate([rng.permutation(np.flatnonzero(category == k))[:length] for k in np.unique(category)])

    targets, attributes = drawn(table.group_index, lengths[0]), drawn(table.class_index, lengths[1])
    return table.select(lambda values: values[targets, attributes])


RESULTS = (
    Result("verdicts", verdicts, 10, uses=("benchmarks.methods",)),
    Result("vocabularies", vocabularies, 10, needs="VECTORS"),
    Result("planning", planning, 50, uses=("benchmarks.methods",)),
)
