"""The ten lists in all templates of a real encoder, and whether fewer templates show what `plan` says they would."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

import bayes_bias as bb
from bayes_bias.checks.null_jobs import judge
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.measures.seat import seat
from bayes_bias.measures.weat import weat
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import bias_estimate, estimate_of
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.replicates import Replicates
from bayes_bias.table.scopes import possible_scopes
from benchmarks.cells import LISTS
from benchmarks.replicated_cells import LISTS as SHORT

FEWER = (3, 5, 7)
_PERMUTATIONS = 100_000


def of_lists(templates: Embedding) -> Iterator[dict[str, object]]:
    """Posterior, WEAT and SEAT (one-sided, as published), and single templates, list by list; without controls."""
    for name in LISTS:
        table = bb.cosines(name, templates, controls=())
        fit = bb.fit(table)
        yield {"list": name, **_posterior(fit), **_tests(table), **_singles(fit, table)} | _health(fit)


def _posterior(fit: xr.DataTree) -> dict[str, float]:
    bias, sd = bias_estimate(fit, "all"), estimate_of(fit, "replicate_sd").draws
    (lower,), (upper,) = bias.mixture.quantiles((0.025, 0.975))
    reliability = estimate_of(fit, "reliability").draws.mean(["chain", "draw"]).to_numpy()
    return {
        "bias": float(bias.mixture.mean.item()),
        "ci95_lb": float(lower),
        "ci95_ub": float(upper),
        "sd between templates": float(sd.mean()),
        "reliability of one": float(reliability[0]),
        "of all": float(reliability[1]),
    }


def _tests(table: AssociationTable) -> dict[str, float]:
    sentences = seat(table, alternative="greater", permutations=_PERMUTATIONS)
    found = weat(table)
    return {
        "WEAT d": found.effect_size,
        "WEAT p": found.p_value,
        "SEAT d": sentences.effect_size,
        "SEAT p": sentences.p_value,
    }


def _singles(fit: xr.DataTree, table: AssociationTable) -> dict[str, float]:
    """The raw bias in each template, and in how many of them, taken alone, the interval would exclude zero."""
    raw = estimate_of(fit, "replicate_bias", "none").observed
    assert table.replicates is not None
    alone = [
        judge(replace(table, values=values, replicates=None), load_spec("crossed"), scopes=("both",))[0]
        for values in table.replicates.tables.values()
    ]
    return {
        "least": float(raw.min()),
        "largest": float(raw.max()),
        "templates": len(alone),
        "alone": sum(record["p_value"] < 0.05 for record in alone),
    }


def _health(fit: xr.DataTree) -> dict[str, float]:
    """Divergent transitions, and the least bulk ESS of a parameter or of any quantity under a scope with
    uncertainty."""
    scopes = [scope for scope in possible_scopes(Fitted.of(fit).data) if scope != "none"]
    of_scopes = {scope: float(bb.summarize(fit, scope).ess_bulk.min()) for scope in scopes}
    diagnostics = Diagnostics.of(fit)
    return {
        "divergences": diagnostics.divergences,
        "least bulk ESS": round(min(diagnostics.ess_bulk, *of_scopes.values())),
        "least under all": round(of_scopes["all"]),
    }


def planned(templates: Embedding, subsets: int) -> Iterator[dict[str, object]]:
    """From the fit of all templates: the width that `plan` predicts for fewer, and that of random sub-sets."""
    for name in SHORT:
        whole = bb.cosines(name, templates, controls=())
        words = [int(np.bincount(index)[0]) for index in (whole.group_index, whole.class_index)]
        predicted = bb.plan(bb.fit(whole), 0.02, words[:1], words[1:], FEWER)
        for count in FEWER:
            real = pd.DataFrame(_of_subsets(whole, count, subsets))
            foreseen = predicted.loc[(*words, count)]
            yield {
                "list": name,
                "templates": count,
                "subsets": subsets,
                "predicted width": float(foreseen.width),
                "real width": float((real.ci95_ub - real.ci95_lb).mean()),
                "predicted to exclude zero": float(foreseen.power),
                "really": float((real.p_value < 0.05).mean()),
            }


def _of_subsets(whole: AssociationTable, count: int, subsets: int) -> Iterator[dict[str, object]]:
    assert whole.replicates is not None
    for seed in range(subsets):
        chosen = np.random.default_rng(seed).choice(whole.replicates.labels, count, replace=False)
        tables = {label: whole.replicates.tables[label] for label in chosen.tolist()}
        own = Replicates(whole.replicates.kind, tables)
        yield judge(
            replace(whole, values=own.mean(), replicates=own), load_spec("crossed"), seed=seed + 1, scopes=("all",)
        )[0]
