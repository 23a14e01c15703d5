"""Does `plan` predict what shorter and longer lists show? `python -m benchmarks.planning`."""

import argparse
import logging

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.calibration import judge
from bayes_bias.models.spec import load_spec
from benchmarks.provenance import provenance, write

# Lists that are long enough to be cut.
LISTS = ("weat1", "weat2", "weat3", "weat4")
LENGTHS = (6, 8, 12)


def main() -> None:
    """Predict, then cut real lists at random and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subsets", type=int, default=20)
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rows = []
    for name in LISTS:
        whole = bb.cosines("googlenews-demo", name, controls=())
        predicted = bb.plan(bb.fit(whole), LENGTHS, LENGTHS)
        for length in LENGTHS:
            rows.append({"list": name, "words": length, **_check(whole, length, chosen.subsets, predicted)})
            print(rows[-1], flush=True)
    write("planning", provenance(), rows)


def _check(whole: bb.Associations, length: int, subsets: int, predicted: pd.DataFrame) -> dict[str, float]:
    real = pd.DataFrame(
        [judge(_subset(whole, length, seed), load_spec("crossed"), seed=seed)[0] for seed in range(subsets)]
    )
    foreseen = predicted.loc[(length, length)]
    return {
        "subsets": subsets,
        "predicted width": round(foreseen.width, 4),
        "real width": round((real.upper - real.lower).mean(), 4),
        "predicted to exclude zero": round(foreseen.power, 3),
        "really": round((real.p_value < 0.05).mean(), 3),
    }


def _subset(table: bb.Associations, length: int, seed: int) -> bb.Associations:
    """As many random words of each group and class."""
    rng = np.random.default_rng(seed)
    frame = table.to_frame()
    for word, label in (("target", "group"), ("attribute", "attribute_class")):
        listed = frame[[word, label]].drop_duplicates()
        kept = listed.groupby(label)[word].apply(lambda words: words.sample(length, random_state=rng))
        frame = frame[frame[word].isin(kept)]
    return bb.Associations.from_frame(
        frame,
        target="target",
        group="group",
        attribute="attribute",
        attribute_class="attribute_class",
        value="cosine",
        stereotypes=table.stereotypes,
        name=table.name,
    )


if __name__ == "__main__":
    main()
