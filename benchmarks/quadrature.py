"""Posteriors by numerical integration beside a sampler's: `python -m benchmarks.quadrature --designs 150`.

Built-in lists, and designs of random words: 2 to 5 groups of 4 to 60 words each, of equal or unequal lengths, with and
without control classes, of words in topics, of single words, and without vectors that tell the scales.
"""

import argparse
import logging
from dataclasses import replace
from time import process_time
from types import MappingProxyType

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.quadrature import Integrand, chance, half_width, integrated
from bayes_bias.table.scopes import check_design
from bayes_bias.words.list_files import wordlist_names
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write

_SAMPLING, _TIMES = bb.Sampling(draws=5000, tune=500, chains=4), 10
# Of the differences of p and of the ends of an interval, by its width, and of milliseconds.
WANTED = {"p": 0.003, "ends": 0.01, "ms": 20.0}
_NUMBERS = ("p differs", "p, Monte Carlo error", "ends differ", "ends, Monte Carlo error", "ms")
_KINDS = ("words in topics", "random words", "without vectors")


def main() -> None:
    """Compare the posteriors of each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=150)
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rows = [{"kind": "built-in lists", **compared(bb.cosines(name, "googlenews-demo"))} for name in wordlist_names()]
    listed = bb.load_wordlist("weat7").with_controls(CONTROLS)
    design = NullDesign.of(listed, bb.open_embedding("googlenews-demo"))
    for seed in range(chosen.designs):
        kind = _KINDS[seed % len(_KINDS)]
        rows.append({"kind": kind, **compared(drawn(design, kind, seed))})
        print(rows[-1], flush=True)
        write("quadrature", provenance() | {"sampling": vars(_SAMPLING)}, rows_of(pd.DataFrame(rows)))


def drawn(design: NullDesign, kind: str, seed: int) -> bb.AssociationTable:
    """Random words in a random number of groups and classes."""
    rng = np.random.default_rng(seed)
    groups, equal, controls = rng.integers(2, 6), rng.random() < 0.5, rng.random() < 0.5
    of_groups, of_classes = (np.exp(rng.uniform(np.log(4), np.log(60), groups)).round().astype(int) for _ in range(2))
    if equal:
        of_groups[:], of_classes[:] = of_groups[0], of_classes[0]
    topics = 2 if kind == "words in topics" else 0
    design = replace(
        design if controls else design.without_controls(),
        groups=MappingProxyType({f"group {k}": design.pool[:n] for k, n in enumerate(of_groups)}),
        sizes=MappingProxyType({f"class {k}": int(n) for k, n in enumerate(of_classes)}),
        stereotypes=MappingProxyType({f"group {k}": f"class {k}" for k in range(groups)}),
        random_groups=True,
        topics=topics,
        group_topics=topics,
        vocabulary=None if kind == "without vectors" else design.vocabulary,
    )
    return design.draw(seed, 0)


def compared(table: bb.AssociationTable) -> dict[str, object]:
    """Differences of p and of intervals, their Monte Carlo errors by chain, and the time that one posterior takes."""
    fit = bb.fit(table, sampling=_SAMPLING)
    ours, sampled = bb.verdict(table), bb.verdict(fit)
    width = sampled.upper - sampled.lower
    mixture = bias_estimate(Fitted.of(fit)).mixture
    assert mixture is not None
    by_chain = mixture.sd.isel(contrast=0).transpose("chain", "draw").to_numpy() ** 2
    errors = pd.DataFrame([{"p": chance(v, ours.mean), "ends": half_width(v) / width} for v in by_chain]).std() / 2
    known = integrated(table, load_spec("crossed"))
    assert known is not None
    scope = check_design(known[1], "all")
    start = process_time()
    for _ in range(_TIMES):
        Integrand.of(*known, scope).variances()
    return {
        "table": table.name,
        "groups": len(table.groups),
        "words": f"{np.bincount(table.group_index).tolist()} x {np.bincount(table.class_index).tolist()}",
        "controls": bool(table.controls),
        "p": ours.chance,
        "p differs": abs(ours.chance - sampled.chance),
        "ends differ": max(abs(ours.lower - sampled.lower), abs(ours.upper - sampled.upper)) / width,
        "p, Monte Carlo error": float(errors["p"]),
        "ends, Monte Carlo error": float(errors["ends"]),
        "converged": sampled.label != "not converged",
        "ms": 1000 * (process_time() - start) / _TIMES,
    }


def _missed(rows: pd.DataFrame) -> str:
    """The tables that miss what was wanted, and why."""
    if rows.empty:
        return "No table misses it."
    shown = rows[["kind", "words", "controls", "p", *_NUMBERS]]
    return f"""These tables miss it. If classes or groups differ in length, residuals make levels and preferences
correlate, and the integral leaves out what levels tell of preferences (`bayes_bias.posterior.quadrature`).

{markdown_table(shown)}"""


def section() -> str:
    """Render how far both posteriors agree, and where they do not."""
    result = read("quadrature")
    rows = pd.DataFrame(result["rows"])
    most = rows.groupby("kind", sort=False).agg({"table": "size", **dict.fromkeys(_NUMBERS, "max")}).reset_index()
    missed = (rows[["p differs", "ends differ", "ms"]] > list(WANTED.values())).any(axis=1)
    return f"""## Integration beside the sampler

`bb.verdict(table)` integrates the posterior numerically, `bb.fit` samples it, here {_SAMPLING.draws * _SAMPLING.chains:,} times. Largest difference
of the chance of a difference as large (*p*) and of the ends of the 95% interval relative to its width, with Monte Carlo
errors of the sampler by chain, and milliseconds of processor time for the variances of one posterior. Random designs
have 2 to 5 groups and classes of 4 to 60 words, of equal or unequal lengths, with or without control classes. Wanted:
p within {WANTED["p"]}, ends within {WANTED["ends"]:.0%} of the width, at most {WANTED["ms"]:.0f} ms.

{markdown_table(most.rename(columns={"table": "tables"}))}

{_missed(rows[missed])}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
