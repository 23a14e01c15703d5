"""What a published d leaves out, learnt from real tables, and how well that predicts the verdicts of other studies.

`python -m benchmarks.published cells --data FOLDER --seeds FILE` measures and fits every table of `published_tables`.
`validate` predicts each study from the others; `ship` fits all, and writes the file that `bayes_bias.published` reads.
The first two go on where an earlier run stopped.
"""

import argparse
import hashlib
import logging
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

import bayes_bias as bb
from bayes_bias.analyses.published.published import FILE, Design, VarianceRatios, simulate
from bayes_bias.files import shipped
from bayes_bias.posterior.estimate import tails
from benchmarks.provenance import RESULTS, provenance, read, write
from benchmarks.published_tables import Cell, cells

CELLS, PREDICTED = "published-cells", "published"
SIDES = ("targets", "attributes")
# Predicted probabilities that are alike.
BINS = (0.1, 0.3, 0.7, 0.9, 1.0)
PARAMETERS = ("mean", "slope", "sd_study", "sd_table")
# Draws that are kept.
DRAWS = 500

HEAD = """\
# Written by `python -m benchmarks.published ship`; do not edit.
title = "How much words vary in {tables} tables of {studies} studies"
description = \"\"\"
Posterior draws of a hierarchical model of the variances of target words and of attribute words, in units of the
residual variance, over tables of two groups and two classes (see bayes_bias/analyses/published/published.py). No words,
vectors or similarities of any source.\"\"\"
tables = {tables}
studies = {studies}
names = [
{names}
]
# The fewest and the most words of a list in these tables.
lengths = {{ {lengths} }}
sources = [
    "WEAT 1-10 (Caliskan et al. 2017, doi:10.1126/science.aal4230) in GoogleNews, GloVe-840B and all-MiniLM-L6-v2",
    "Manzini et al. 2019 (doi:10.18653/v1/N19-1062) in GoogleNews and MiniLM, and in GloVe and Reddit as published by \
Dobrzeniecka & Urbaniak 2024 (doi:10.1162/coli_a_00507)",
    "career and family where words have one gender, WEAT 1 and 2 in 32 languages: computed from the data of \
Lewis & Lupyan 2020 (doi:10.1038/s41562-020-0918-6), which have no licence",
    "lists of Garg et al. 2018, Knoche et al. 2019, Zhao et al. 2018, Kozlowski et al. 2019 and Rudinger et al. 2017, \
gathered by Antoniak & Mimno 2021 (doi:10.18653/v1/2021.acl-long.148), in GoogleNews",
    "two lists of Bai et al. 2025 (doi:10.1073/pnas.2416228122, MIT) in GoogleNews",
]
# Of predicted probabilities up to `to`, studies left out: their mean and the share that was distinguishable.
reliability = [
{reliability}
]
sha256 = "{sha256}"
licence = "MIT, as the package"
"""


def main() -> None:
    """One of the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["cells", "validate", "ship"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=Path)
    given = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    if given.part == "cells":
        measure(given.data, given.seeds)
    elif given.part == "validate":
        validate()
    else:
        ship()


def measure(data: Path, seeds: Path) -> None:
    """Keep a row for each table."""
    rows = read(CELLS)["rows"] if (RESULTS / f"{CELLS}.json").exists() else []
    done = {(row["study"], row["list"], row["vectors"]) for row in rows}
    for cell in cells(data, seeds):
        if (cell.study, cell.wordlist, cell.vectors) not in done:
            rows.append(measured(cell))
            write(CELLS, provenance(), rows)


def measured(cell: Cell) -> dict[str, Any]:
    """Lengths, d, the noise that each side gives the bias in units of the residual's, and the verdict."""
    weat = bb.measures.weat(cell.table, alternative="two-sided", permutations=2_000, seed=1)
    quasi_f = bb.measures.quasi_f(cell.table)
    noise = quasi_f.sources.groupby("source").variance.sum()
    verdict = _verdict(cell.table)
    return {
        "study": cell.study,
        "list": cell.wordlist,
        "vectors": cell.vectors,
        "targets": np.bincount(cell.table.group_index).tolist(),
        "attributes": np.bincount(cell.table.class_index).tolist(),
        "d": weat.effect_size,
        "p": weat.p_value,
        "noise of targets": noise["targets"] / noise["residual"],
        "noise of attributes": noise["attributes"] / noise["residual"],
        "quasi-F p": quasi_f.p_value,
        "chance": verdict.chance,
        "verdict": verdict.label,
    }


def _verdict(table: bb.AssociationTable) -> bb.Verdict:
    """A fit that has not converged is sampled again, four times as long."""
    verdict = bb.verdict(bb.fit(table, seed=1, sampling=bb.Sampling(draws=1000, tune=1000)))
    if verdict.problems:
        verdict = bb.verdict(bb.fit(table, seed=1, sampling=bb.Sampling(draws=4000, tune=4000)))
    return verdict


def learnt() -> pd.DataFrame:
    """The rows, with the design of each table."""
    rows = pd.DataFrame(read(CELLS)["rows"])
    designs = [Design(row.d, tuple(row.targets), tuple(row.attributes)) for row in rows.itertuples()]
    return rows.assign(design=designs)


def variance_model(rows: pd.DataFrame) -> pm.Model:
    """The model of `VarianceRatios`.

    Of the mean squares of a table, in units of what they would be without effects of words, those of targets and
    attributes are expected at 1 + ratio / h. They are independent and scaled chi-squared; the residual variance is
    integrated out under its flat prior on the log scale.
    """
    separation = rows.design.map(attrgetter("separation")).to_numpy()
    h = {"targets": rows.design.map(attrgetter("of_attributes"))}
    h["attributes"] = rows.design.map(attrgetter("of_targets"))
    df = {side: rows[side].map(sum).to_numpy() - 2.0 for side in SIDES}
    df_residual = df["targets"] * df["attributes"]
    study, names = pd.factorize(rows.study)
    with pm.Model(coords={"study": names, "table": np.arange(len(rows))}) as model:
        squares, log_expected = pt.as_tensor(df_residual), 0.0
        for side in SIDES:
            mean, slope = pm.Normal(f"{side}_mean", -1, 2), pm.Normal(f"{side}_slope", 0, 3)
            sd_study, sd_table = pm.HalfNormal(f"{side}_sd_study", 1.5), pm.HalfNormal(f"{side}_sd_table", 1.5)
            study_effect = pm.Normal(f"{side}_of_study", mean, sd_study, dims="study")
            table_effect = pm.Normal(f"{side}_of_table", 0, 1, dims="table")
            # About the mean separation, where slope and level say little of each other.
            log_ratio = study_effect[study] + slope * (separation - separation.mean()) + sd_table * table_effect
            expected = 1 + pt.exp(log_ratio) / h[side].to_numpy()
            squares += df[side] * rows[f"noise of {side}"].to_numpy() / expected
            log_expected += (df[side] * pt.log(expected)).sum()
        df_all = df_residual + df["targets"] + df["attributes"]
        pm.Potential("mean_squares", -(log_expected + (df_all * pt.log(squares)).sum()) / 2)
    return model


def fitted(rows: pd.DataFrame, draws: int) -> pd.DataFrame:
    """Draws of the model's levels, slopes and scales, a column each; the level is that of a d of zero."""
    with variance_model(rows):
        how = {"chains": 4, "cores": 1, "nuts_sampler": "nutpie", "random_seed": 1, "progressbar": False}
        tree = pm.sample(draws, tune=draws, target_accept=0.95, **how)
    posterior = tree.posterior.ds[list(map("_".join, product(SIDES, PARAMETERS)))]
    worst, least = float(az.rhat(posterior).to_array().max()), float(az.ess(posterior).to_array().min())
    print(f"R-hat {worst:.3f}, effective draws {least:.0f}, divergences {int(tree.sample_stats.diverging.sum())}")
    frame = posterior.to_dataframe().reset_index(drop=True)
    centre = rows.design.map(attrgetter("separation")).to_numpy().mean()
    for side in SIDES:
        frame[f"{side}_mean"] -= centre * frame[f"{side}_slope"]
    return frame.iloc[:: len(frame) // DRAWS].head(DRAWS).reset_index(drop=True)


def validate() -> None:
    """Predict each table from the other studies, and keep prediction and verdict."""
    rows, predicted = learnt(), read(PREDICTED)["rows"] if (RESULTS / f"{PREDICTED}.json").exists() else []
    done = {row["study"] for row in predicted}
    for name in rows[~rows.study.isin(done)].study.unique():
        ratios = VarianceRatios(fitted(rows[rows.study != name], draws=300), {})
        for _, row in rows[rows.study == name].iterrows():
            by_study, _ = simulate(row.design, ratios, seed=1)
            least, most = np.quantile(by_study, tails(0.9))
            facts = {"t": row.design.t, "predicted": float(by_study.mean()), "least": float(least), "most": float(most)}
            predicted.append(row.drop("design").to_dict() | facts)
        write(PREDICTED, provenance(), predicted)


def reliability(rows: pd.DataFrame) -> pd.DataFrame:
    """Share that came true among predictions that are alike; each study counts once in a bin."""
    to = pd.cut(rows.predicted, [-0.001, *BINS], labels=BINS).astype(float)
    true = rows.assign(to=to, true=rows.verdict == "distinguishable")
    by_study = true.groupby(["to", "study"])[["predicted", "true"]].mean().groupby("to").mean()
    counts = true.groupby("to").study.agg(tables="size", studies="nunique")
    return by_study.rename(columns={"true": "observed"}).join(counts).reset_index()


def ship() -> None:
    """Write the file of draws, and its provenance beside it."""
    rows = learnt()
    path = Path(str(shipped("tables"))) / f"{FILE}.csv"
    fitted(rows, draws=1000).to_csv(path, index=False, float_format="%.3f", lineterminator="\n")
    found = reliability(pd.DataFrame(read(PREDICTED)["rows"])).round(3).to_dict("records")
    lengths = []
    for side in SIDES:
        lengths.append(f"{side} = {[int(rows[side].map(min).min()), int(rows[side].map(max).max())]}")
    bins = []
    for row in found:
        bins.append(f"    {{ {', '.join(f'{key} = {value}' for key, value in row.items())} }},")
    text = HEAD.format(
        tables=len(rows),
        studies=rows.study.nunique(),
        names="\n".join(f'    "{name}",' for name in rows.study.unique()),
        lengths=", ".join(lengths),
        reliability="\n".join(bins),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    path.with_suffix(".toml").write_text(text, encoding="utf-8")
