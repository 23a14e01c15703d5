"""The page of sentence pairs, or of their change: shares, differences, plan and checks."""

from functools import partial
from itertools import chain
from typing import Any, Literal

import pandas as pd

from bayes_bias.analyses.sentence_pairs.plots import plot_sentence_pairs
from bayes_bias.analyses.sentence_pairs.results import PairsResult
from bayes_bias.analyses.sentence_pairs.scores import TYPE, clusters_of, has_types
from bayes_bias.analyses.sentence_pairs.units import described_unit
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import joined, level, plain, plural
from bayes_bias.models.residuals import residual_of

type Estimand = Literal["share", "difference"]


def sentence_pairs_document(pairs: PairsResult) -> Document:
    """Return the page of sentence pairs."""
    sides, changed, first = pairs.sides, pairs.changed, pairs.first
    fits = {name: Fitted.of(fit) for name, fit in pairs.fits.items()}
    methods = methods_of(pairs)
    estimands: tuple[Estimand, ...] = () if pairs.scope == "none" else ("share", "difference")
    notices = list(chain.from_iterable(side.scores.notices for side in sides.values()))
    if changed:
        heading = f"Did the preference for stereotypical sentences change in {pairs.name}?"
        both_sides = pd.concat({state: side.table for state, side in sides.items()}, names=["state"])
        more, tables = [], {"before-and-after": both_sides}
    else:
        heading = f"How often is the stereotypical sentence preferred in {pairs.name}?"
        checks = PageSection("checks", "Model checks", "pairs-checks.html", {"checks": first.checks})
        more, tables = [_plan(first.planned), checks], {"plan": first.planned, "checks": first.checks}
    return Document(
        title=f"Sentence pairs: {pairs.name}",
        heading=heading,
        opening={"answer": pairs.text},
        sections=(
            PageSection("share", f"{pairs.how} often the stereotypical sentence is ahead", "pairs-share.html"),
            PageSection("difference", f"{pairs.how} far it is ahead", "pairs-difference.html"),
            *more,
            methods_section(methods),
            notices_section("Notes on the scores", notices),
        ),
        facts={
            "pairs": pairs,
            "changed": changed,
            "ties": any(side.ties for side in sides.values()),
            "level": level(pairs.ci_prob),
            "reach": pairs.reach,
            "unit": pairs.metric.unit,
            "shares": pairs.layout,
            "differences": pairs.difference_layout,
        },
        figures={estimand: partial(plot_sentence_pairs, pairs, estimand) for estimand in estimands},
        latex="pairs.tex",
        tables={"summary": pairs.table, "published": pairs.published, **tables},
        methods=methods,
        fits=fits,
        provenance={
            **model_provenance(pairs, next(iter(fits.values()))),
            **{state: {**side.scores.provenance, "sha256": side.scores.sha256} for state, side in sides.items()},
            "fits": {name: fitted.provenance for name, fitted in fits.items()},
        },
    )


def _plan(planned: pd.DataFrame) -> PageSection:
    """Lay out half of the interval's width in percentage points, with writers in rows and pairs of each in columns."""
    widths = (50 * planned).pivot_table("width", planned.index.names[0], "each")
    texts = widths.map(partial(plain, decimals=1))
    rows = [(int(number), row.tolist()) for number, row in texts.iterrows()]
    facts = {"counted": str(widths.index.name), "columns": list(map(int, widths.columns)), "rows": rows}
    return PageSection("plan", "Number of pairs for a narrower interval", "pairs-plan.html", facts)


def methods_of(pairs: PairsResult) -> Methods:
    """Return the methods text: the pairs, both models, and the population that the shares generalise to."""
    first, data, spec = pairs.first, pairs.first.data, pairs.spec
    all_fits, tied = dict(pairs.fits), []
    for state, side in pairs.sides.items():
        if pairs.changed:
            all_fits |= {f"{state}, {name}": fit for name, fit in side.fits.items()}
        if side.ties:
            tied.append(f"{side.ties:,} pairs tie{f' {state}' if pairs.changed else ''}")
    fits = {name: Fitted.of(fit) for name, fit in all_fits.items()}
    clusters, sampled = clusters_of(data), set[str]()
    for fitted in fits.values():
        sampled |= set(map(str, fitted.posterior.data_vars))
    facts: dict[str, Any] = {
        "pairs": pairs,
        "changed": pairs.changed,
        "scores": first.scores,
        "score_unit": described_unit(first.scores.unit),
        "tied": joined(tied) if tied else "",
        "types": data.sizes[TYPE] if has_types(data) else 0,
        "clusters": [f"{data.sizes[dim]:,} {plural(dim)}" for dim in clusters],
        "effects": [*(["bias type"] if has_types(data) else []), *clusters],
        "residual": residual_of(spec.priors),
        "priors": "; ".join(f"{prior} for {name}" for name, prior in spec.priors.items() if name in sampled),
        "unit": f"{first.fits['difference']['constant_data'].unit.item():.4g}",
        "reach": pairs.reach,
        "ci_prob": pairs.ci_prob,
    }
    return methods_of_fits("methods-of-pairs.txt", fits, spec, facts)
