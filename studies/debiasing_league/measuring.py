"""What is left of a bias that is known, what else has changed, and what a classifier still finds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import linregress
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bayes_bias as bb
from bayes_bias.measures import clustering
from studies.debiasing_league.methods import Split, Vectors, split_of, versions
from studies.debiasing_league.worlds import GENDER, SCENARIO, World
from studies.known_bias import truth_table

RELIGION = SCENARIO.described["religion"]
# Occupations said most with men, and as many said most with women, that k-means is to tell apart.
_CLUSTERED = 15
# Beyond this a slope is larger than its error explains: 2.5% of slopes that are zero are, to either side.
_CLEAR = 1.96


def measured(world: World, folder: Path) -> pd.DataFrame:
    """A row for each version of a world's vectors; see the README for the columns."""
    truth, corpus = world.made()
    known = truth_table(SCENARIO, truth, corpus).pivot_table(index="target", columns="attribute", values="log_odds")
    split, rows = split_of(world), []
    before: Vectors = {}
    for name, vectors in versions(world, folder):
        before = before or vectors
        rows.append({"version": name, **_of_vectors(vectors, before, known, split)})
    frame = pd.DataFrame(rows).assign(kind=world.kind, truth=world.truth, corpus=world.corpus, model=world.model.name)
    for slope in [column for column in frame if column.endswith("_slope")]:
        frame[slope.replace("_slope", "_left")] = frame[slope] / frame[slope][0]
    return frame.assign(clear=(frame.new_z.abs() > _CLEAR).astype(int), turned=(frame.new_z < -_CLEAR).astype(int))


def _of_vectors(vectors: Vectors, before: Vectors, known: pd.DataFrame, split: Split) -> dict[str, float]:
    new, row = list(split.new_occupations), {}
    scores = _scores(vectors, split)
    for name, truth in {"new": known.gender, "taught": known.gender, "religion": known.religion}.items():
        line = linregress(truth[new], scores[name][new])
        row |= {f"{name}_slope": line.slope, f"{name}_z": line.slope / line.stderr, f"{name}_r": line.rvalue}
    both = np.column_stack([known.religion[new], known.gender[new], np.ones(len(new))])
    row["religion_alone_slope"] = np.linalg.lstsq(both, scores.religion[new])[0][0]
    others = [word for word in before if word not in {*SCENARIO.words, *GENDER.classes["male"], *GENDER.others}]
    cost = bb.debiasing.damage(*({word: version[word] for word in others} for version in (before, vectors)))
    order = known.gender[new].sort_values().index
    groups = {"female": list(order[:_CLUSTERED]), "male": list(order[-_CLUSTERED:])}
    return row | {
        "neighbours_kept": cost.neighbours_kept,
        "variance_gone": cost.variance_gone,
        "clustering": clustering(vectors, groups).value,
        "classifier": _classified(vectors, known.gender > 0, list(split.occupations), new),
    }


def _scores(vectors: Vectors, split: Split) -> pd.DataFrame:
    """WEAT's association of each new occupation: its mean cosine with some words minus that with others."""
    sides = {
        "new": zip(*split.new_pairs, strict=True),
        "taught": zip(*split.pairs, strict=True),
        "religion": (RELIGION.classes[RELIGION.first_group], RELIGION.others),
    }
    classes = {(name, side): words for name, both in sides.items() for side, words in zip("+-", both, strict=True)}
    wordlist = bb.wordlist(
        {"occupations": split.new_occupations},
        {" ".join(key): words for key, words in classes.items()},
        {"occupations": "new +"},
        opposites=["new -"],
    )
    means = bb.cosines(wordlist, vectors, controls=()).values.groupby("attribute_class").mean("attribute").to_pandas()
    return pd.DataFrame({name: means[f"{name} +"] - means[f"{name} -"] for name in sides})


def _classified(vectors: Vectors, male: pd.Series, seen: Sequence[str], new: Sequence[str]) -> float:
    """Share of new occupations whose majority a support vector machine knows, from the vectors of others."""
    rows, new_rows = (np.stack([vectors[word] for word in words]) for words in (seen, new))
    return float(make_pipeline(StandardScaler(), SVC()).fit(rows, male[seen]).score(new_rows, male[new]))
