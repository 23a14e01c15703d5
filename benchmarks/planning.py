"""Does `plan` predict what shorter and longer lists show? `python -m benchmarks.planning`."""

import argparse
import logging

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.general_words import GeneralWords, general_words_of
from bayes_bias.associations.related import related_as_shown
from bayes_bias.checks.null_jobs import judge
from bayes_bias.models.spec import load_spec
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

# Lists that are long enough to be cut.
LISTS = ("weat1", "weat2", "weat3", "weat4")
# Targets in each group and attributes in each class: lists of like length, and one side short.
LENGTHS = ((6, 6), (8, 8), (12, 12), (5, 16), (16, 5))


def main() -> None:
    """Predict, then cut real lists at random and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subsets", type=int, default=50)
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rows = []
    embedding = bb.open_embedding("googlenews-demo")
    for name in LISTS:
        whole = bb.cosines(name, embedding, controls=())
        general = general_words_of(embedding).without(bb.load_wordlist(name))
        predicted = bb.plan(bb.fit(whole), 0.02, *(sorted(set(side)) for side in zip(*LENGTHS, strict=True)))
        for lengths in LENGTHS:
            sizes = dict(zip(("targets", "attributes"), lengths, strict=True))
            rows.append({"list": name, **sizes, **_check(whole, general, lengths, chosen.subsets, predicted)})
            print(rows[-1], flush=True)
    write("planning", provenance(), rows)


def _check(
    whole: bb.AssociationTable, general: GeneralWords, lengths: tuple[int, int], subsets: int, predicted: pd.DataFrame
) -> dict[str, float]:
    tables = [related_as_shown(_subset(whole, lengths, seed), general) for seed in range(subsets)]
    real = pd.DataFrame([record for table in tables for record in judge(table, load_spec("crossed"), scopes=["both"])])
    foreseen = predicted.loc[lengths]
    return {
        "subsets": subsets,
        "inflation": round(_inflation(whole), 2),
        "real inflation": round(float(np.mean([_inflation(table) for table in tables])), 2),
        "predicted width": round(foreseen.width, 4),
        "real width": round((real.ci95_ub - real.ci95_lb).mean(), 4),
        "predicted to exclude zero": round(foreseen.power, 3),
        "really": round((real.p_value < 0.05).mean(), 3),
    }


def _inflation(table: bb.AssociationTable) -> float:
    """How many times related words inflate the variance of a mean, averaged over groups and classes."""
    return float(np.mean([related.inflation for related in table.related_words.homes.values()]))


def _subset(table: bb.AssociationTable, lengths: tuple[int, int], seed: int) -> bb.AssociationTable:
    """So many random words of each group, and of each class."""
    rng = np.random.default_rng(seed)
    targets, attributes = (
        np.concatenate([rng.permutation(np.flatnonzero(homes == k))[:length] for k in np.unique(homes)])
        for homes, length in zip((table.group_index, table.class_index), lengths, strict=True)
    )
    return table.select(lambda values: values[targets, attributes])


def answer() -> str:
    """Say how real widths compare with planned ones."""
    rows = pd.DataFrame(read("planning")["rows"])
    ratio = rows["real width"] / rows["predicted width"]
    return f"Real intervals are {ratio.min():.2f} to {ratio.max():.2f} times as wide as planned."


def section() -> str:
    """Render predicted widths and real ones."""
    result = read("planning")
    rows = pd.DataFrame(result["rows"])
    ratio = rows["real width"] / rows["predicted width"]
    of_like, of_unlike = (
        ratio[chosen] for chosen in (rows.targets == rows.attributes, rows.targets != rows.attributes)
    )
    return f"""## Planned designs against real ones

From the fit of a whole list, without controls: the width that `plan` predicts for shorter lists, and the probability
of excluding zero; then the same of random sub-lists, fitted. (The whole list's contrast is the truth of its sub-lists,
while the prediction allows for the population's being another, and so is nearer to one half.)

{markdown_table(rows)}

Real intervals are {of_like.min():.2f} to {of_like.max():.2f} times as wide as predicted if both sides are of one
length, and {of_unlike.min():.2f} to {of_unlike.max():.2f} times if one is short. `plan` keeps the *inflation* of the
whole list, by which related words make the variance of its means larger (averaged over groups and classes). Fewer words
show less of it, so that it is {(rows["real inflation"] / rows.inflation).min():.2f} to
{(rows["real inflation"] / rows.inflation).max():.2f} times as large in sub-lists.

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
