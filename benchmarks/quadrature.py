"""Posteriors by numerical integration beside a sampler's: `python -m benchmarks.quadrature`.

Built-in lists, and 2 to 5 random groups of 4 to 60 words, of equal or unequal lengths, with and without controls.
"""

import logging
from dataclasses import replace
from time import process_time
from timeit import timeit

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.posterior.estimates import _Blocks
from bayes_bias.posterior.quadrature import Integrand, chance, half_width, integrated
from bayes_bias.table.scopes import check_design
from bayes_bias.words.list_files import wordlist_names
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write

_SAMPLING, _DESIGNS, _TIMES = bb.Sampling(draws=5000), 60, 10
# Longer by more than half, lists are left to the sampler.
_LONGER = 1.45
_KINDS = ("words in topics", "random words", "without vectors")
WANTED = {"p differs": 0.003, "ends differ": 0.01, "ms": 20.0}


def main() -> None:
    """Compare the posteriors of each table."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rows = []
    for name in wordlist_names():
        rows.append({"kind": "built-in lists", **compared(bb.cosines(name, "googlenews-demo"))})
    listed = bb.load_wordlist("weat7").with_controls(("neutral", "human"))
    design = NullDesign.of(listed, bb.open_embedding("googlenews-demo"))
    for seed in range(_DESIGNS):
        kind = _KINDS[seed % len(_KINDS)]
        rows.append({"kind": kind, **compared(drawn(design, kind, seed))})
        write("quadrature", provenance(), rows_of(pd.DataFrame(rows)))


def drawn(design: NullDesign, kind: str, seed: int) -> bb.AssociationTable:
    """Draw random words in a random number of groups and classes."""
    rng = np.random.default_rng(seed)
    k, equal, controls = rng.integers(2, 6), rng.random() < 0.5, rng.random() < 0.5
    least = np.exp(rng.uniform(np.log(4), np.log(40), (2, 1)))
    targets, attributes = (least * rng.uniform(1, 1 if equal else _LONGER, (2, k))).astype(int).tolist()
    topics = dict.fromkeys(("topics", "group_topics"), 2 if kind == "words in topics" else 0)
    groups, sizes, stereotypes = {}, {}, {}
    for i in range(k):
        groups[f"group {i}"] = design.pool[: targets[i]]
        sizes[f"class {i}"] = attributes[i]
        stereotypes[f"group {i}"] = f"class {i}"
    return replace(
        design if controls else design.without_controls(),
        groups=groups,
        sizes=sizes,
        stereotypes=stereotypes,
        random_groups=True,
        vocabulary=None if kind == "without vectors" else design.vocabulary,
        **topics,
    ).draw(seed, 0)


def compared(table: bb.AssociationTable) -> dict[str, object]:
    """Compare p and ends; the sampler's Monte Carlo errors are by chain."""
    fit, known = bb.fit(table, sampling=_SAMPLING), integrated(table, bb.load_spec("crossed"))
    assert known is not None
    ours, blocks = bb.verdict(table), _Blocks.of(fit, "all")
    sampled = blocks.sampled(blocks.bias_weights)
    (lower, upper), p = sampled.quantiles((0.025, 0.975))[:, 0], 2 * (1 - sampled.prob_direction.item())
    width, chains = upper - lower, sampled.mixture.sd.isel(contrast=0).transpose("chain", "draw").to_numpy()
    errors = [{"p, error": chance(sd**2, ours.mean), "ends, error": half_width(sd**2) / width} for sd in chains]
    scope = check_design(known[1], "all")
    seconds = timeit(lambda: Integrand.of(*known, scope).variances(), timer=process_time, number=_TIMES)
    return {
        "words": f"{np.bincount(table.group_index).tolist()} x {np.bincount(table.class_index).tolist()}",
        "p": ours.chance,
        "p differs": abs(ours.chance - p),
        "ends differ": max(abs(ours.lower - lower), abs(ours.upper - upper)) / width,
        **(pd.DataFrame(errors).std() / len(chains) ** 0.5).to_dict(),
        "ms": 1000 * seconds / _TIMES,
    }


def section() -> str:
    """Render how far both agree, and the tables where they do not."""
    rows = pd.DataFrame(read("quadrature")["rows"])
    numbers = dict.fromkeys((*WANTED, "p, error", "ends, error"), "max")
    most = rows.groupby("kind", sort=False).agg({"words": "size", **numbers}).reset_index()
    missed = rows[(rows[list(WANTED)] > list(WANTED.values())).any(axis=1)]
    return f"""## Integration and sampling

If possible, the posterior of a bias is integrated, here compared with 20,000 draws of `bb.fit`. The table shows
the largest differences of *p*, the probability under no bias, and of the ends of the 95% interval relative to its
width, the Monte Carlo *errors* of the sampler, and milliseconds of processor time for the variances of one posterior.
Random designs have 2 to 5 groups and classes of 4 to 60 words. In half of them all lengths are equal, and in the
others the longest list is at most 1.5 times as long as the shortest. Lists that differ more are always sampled. The
aims are p within {WANTED["p differs"]}, ends within {WANTED["ends differ"]:.0%}, and at most {WANTED["ms"]:.0f} ms.

{markdown_table(most.rename(columns={"words": "tables"}))}

{len(missed)} of {len(rows)} tables miss an aim. Where groups or classes differ in length, residuals make levels and
preferences of a word correlate, which the integral omits.

{markdown_table(missed) if len(missed) else ""}

{circumstances(read("quadrature")["about"])}
"""


if __name__ == "__main__":
    main()
