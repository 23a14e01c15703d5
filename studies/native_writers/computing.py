"""How the lists of different writers differ, beside how two samples of words would."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Memory, Parallel, delayed

import bayes_bias as bb
from studies.auditing import SEED
from studies.study import Results

FILES = ("caweat/CA-WEATv3.tsv", "caweat/collectedData.csv", "googlenews_31k.npz")
# Groups of both tests, by their columns; the first is stereotypically pleasant.
TESTS = {"weat1": ("FLOWERS", "INSECTS"), "weat2": ("INSTRUMENTS", "WEAPONS")}
_CLASSES = ("PLEASANT", "UNPLEASANT")
_COLUMNS = ("FLOWERS", "INSECTS", "INSTRUMENTS", "WEAPONS", *_CLASSES)
# With fewer writers there is little to learn about how they differ.
LEAST_WRITERS = 10
# A normal test at the 5% level then finds what is there in 80% of studies.
_REACH = 1.96 + 0.84


def compute(folder: Path, kept: Path, jobs: int) -> Results:
    """Lists of native writers: how published effect sizes differ, and English lists in GoogleNews vectors."""
    lists = pd.read_csv(folder / FILES[0], sep="\t").set_index("LANG")
    written = {writer: {column: _words(row[column]) for column in _COLUMNS} for writer, row in lists.iterrows()}
    english, pooled = _english(written, folder / FILES[2], kept, jobs)
    return {
        "published": _published(pd.read_csv(folder / FILES[1])),
        "shared_words": _shared_words(written),
        "english": english,
        "english_pooled": pooled,
    }


def _words(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for part in str(cell).split(",") if (word := part.strip().lower())))


def _published(effects: pd.DataFrame) -> pd.DataFrame:
    """By language, test and model: how d differs between writers, beside the bootstrap of words within a list.

    ``between`` is the standard deviation of d over writers, and ``within`` the root mean square of the standard errors
    that the intervals of the original's bootstrap imply. The first holds the second and what writers themselves add.
    """
    native = effects[effects.source == 1].assign(
        code=lambda rows: rows.language.str.extract("^([a-z]+)", expand=False),
        test=lambda rows: "weat" + rows.test.astype(str),
        se=lambda rows: (rows.DsizeEffectUP + rows.DsizeEffectLO) / (2 * 1.96),
    )
    by = native.groupby(["code", "test", "model"])
    found = pd.DataFrame(
        {
            "writers": by.size(),
            "mean": by.sizeEffect.mean(),
            "smallest": by.sizeEffect.min(),
            "largest": by.sizeEffect.max(),
            "between": by.sizeEffect.std(),
            "within": by.se.agg(lambda each: np.sqrt((each**2).mean())),
        }
    )
    found = found[found.writers >= LEAST_WRITERS]
    found["ratio"] = found.between / found.within
    found["writers_needed"] = np.ceil((_REACH * found.between / found["mean"]) ** 2)
    return found


def _shared_words(written: Mapping[str, Mapping[str, tuple[str, ...]]]) -> pd.DataFrame:
    """By language and column: distinct words, and the share of one writer's words that another has as well."""
    rows = []
    codes = pd.Series({writer: "".join(filter(str.islower, writer.split("_")[0])) for writer in written})
    for code, writers in codes.groupby(codes).groups.items():
        for column in _COLUMNS if len(writers) >= LEAST_WRITERS else ():
            sets = [set(written[writer][column]) for writer in writers]
            shares = [len(one & other) / min(len(one), len(other)) for one, other in combinations(sets, 2)]
            distinct = len(set.union(*sets))
            rows.append((code, column.lower(), len(sets), sum(map(len, sets)), distinct, np.mean(shares)))
    names = ["code", "column", "writers", "words", "distinct", "shared_by_two"]
    return pd.DataFrame(rows, columns=names).set_index(["code", "column"])


def _english(
    written: Mapping[str, Mapping[str, tuple[str, ...]]], vectors: Path, kept: Path, jobs: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The posterior of each English list, and all of them as a sample of lists."""
    known = set(bb.open_embedding(vectors).vocabulary())
    of = {writer: lists for writer, lists in written.items() if writer.startswith("en_")}
    asked = {(test, writer): _content(lists, test, known) for test in TESTS for writer, lists in of.items()}
    once = Memory(kept, verbose=0).cache(_fitted)
    done = Parallel(jobs)(delayed(once)(vectors, writer, words) for (_, writer), words in asked.items())
    fits = dict(zip(asked, done, strict=True))
    rows, pooled = {}, {}
    for at, fit in fits.items():
        row = bb.summarize(fit).loc["bias"].iloc[0]
        table = bb.cosines(asked[at], vectors, ())
        weat, both = bb.measures.weat(table), bb.measures.quasi_f(table)
        targets, attributes = table.values.shape
        rows[at] = {
            "targets": targets,
            "attributes": attributes,
            "bias": row["mean"],
            "sd": row["sd"],
            "lb": row["eti95_lb"],
            "ub": row["eti95_ub"],
            "weat_d": weat.value,
            "weat_p": weat.p_value,
            "quasi_f_p": both.p_value,
        }
    for test in TESTS:
        together = bb.pool([fit for (of_test, _), fit in fits.items() if of_test == test])
        typical = np.sqrt(np.mean([rows[at]["sd"] ** 2 for at in rows if at[0] == test]))
        overlap = together.overlap.to_numpy()[np.triu_indices(len(together.lists), 1)].mean()
        frame = together.table.assign(writers=len(together.lists), typical_sd=typical, overlap=overlap)
        pooled[test] = frame
    index = pd.MultiIndex.from_tuples(list(rows), names=["test", "writer"])
    return pd.DataFrame(list(rows.values()), index=index), pd.concat(pooled, names=["test", "what"])


def _content(lists: Mapping[str, tuple[str, ...]], test: str, known: set[str]) -> dict[str, dict[str, Any]]:
    """A writer's words that the vectors have; one in two columns stays in the first."""
    seen: set[str] = set()
    kept: dict[str, list[str]] = {}
    for column in (*TESTS[test], *_CLASSES):
        kept[column.lower()] = [word for word in lists[column] if word in known and word not in seen]
        seen |= set(lists[column])
    pleasant, unpleasant = (column.lower() for column in TESTS[test])
    return {
        "groups": {pleasant: kept[pleasant], unpleasant: kept[unpleasant]},
        "classes": {"pleasant": kept["pleasant"], "unpleasant": kept["unpleasant"]},
        "stereotypes": {pleasant: "pleasant", unpleasant: "unpleasant"},
    }


def _fitted(vectors: Path, name: str, words: Mapping[str, Any]) -> Any:
    return bb.fit(bb.cosines(bb.wordlist(**words, name=name), vectors, ()), seed=SEED)
