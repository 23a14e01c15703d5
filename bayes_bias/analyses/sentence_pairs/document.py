"""Sentence pairs, or the change of them, as a document: shares, differences, plan and checks."""

import json
from functools import partial
from typing import Any, Literal

import pandas as pd

from bayes_bias.analyses.answers.model import PRIORS
from bayes_bias.analyses.answers.plots import plot_model_contrasts
from bayes_bias.analyses.sentence_pairs.model_contrasts import PairContrasts
from bayes_bias.analyses.sentence_pairs.plots import plot_sentence_pairs
from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.analyses.sentence_pairs.scores import CLUSTERS, TYPE, clusters_of, has_types
from bayes_bias.analyses.sentence_pairs.units import described_unit
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits
from bayes_bias.fitting.fit_model import versions
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import joined, level, plain, plural
from bayes_bias.models.residuals import residual_of

type Estimand = Literal["share", "difference"]


def sentence_pairs_document(pairs: SentencePairs | SentencePairsChange) -> Document:
    """The document of sentence pairs."""
    sides, is_change = pairs.sides, pairs.changed
    one, *_ = sides.values()
    fits = {name: Fitted.of(fit) for name, fit in pairs.fits.items()}
    methods, metric = methods_of(pairs), pairs.metric
    estimands: tuple[Estimand, ...] = () if pairs.scope == "none" else ("share", "difference")
    how = "Change of how" if is_change else "How"
    notices = [notice for side in sides.values() for notice in side.scores.notices]
    return Document(
        title=f"Sentence pairs: {pairs.name}",
        heading=_question(pairs.name, is_change),
        opening={"answer": pairs.text},
        sections=(
            PageSection("share", f"{how} often the stereotypical sentence is ahead", "pairs-share.html"),
            PageSection("difference", f"{how} far it is ahead", "pairs-difference.html"),
            *([] if is_change else _plan_and_checks(one)),
            methods_section(methods),
            notices_section("What to know of the scores", notices),
        ),
        facts={
            "pairs": pairs,
            "changed": is_change,
            "ties": any(side.ties for side in sides.values()),
            "level": level(pairs.ci_prob),
            "reach": one.reach,
            "unit": metric.unit,
            "shares": pairs.layout,
            "differences": pairs.difference_layout,
        },
        figures={estimand: partial(plot_sentence_pairs, pairs, estimand) for estimand in estimands},
        latex="pairs.tex",
        tables={"summary": pairs.table, "published": pairs.published, **_tables(sides)},
        methods=methods,
        fits=fits,
        provenance=model_provenance(pairs, next(iter(fits.values())))
        | {state: dict(side.scores.provenance) | {"sha256": side.scores.sha256} for state, side in sides.items()}
        | {"fits": {name: fitted.provenance for name, fitted in fits.items()}},
    )


def _tables(sides: dict[str, SentencePairs]) -> dict[str, pd.DataFrame]:
    if len(sides) > 1:
        tables = {state: side.table for state, side in sides.items()}
        return {"before-and-after": pd.concat(tables, names=["state"])}
    return {"plan": sides["scores"].planned, "checks": sides["scores"].checks}


def _question(name: str, is_change: bool) -> str:
    if is_change:
        return f"Did the preference for stereotypical sentences change in {name}?"
    return f"How often is the stereotypical sentence preferred in {name}?"


def _plan_and_checks(pairs: SentencePairs) -> list[PageSection]:
    unit, columns, rows = _plan(pairs.planned)
    plan = {"counted": unit, "columns": columns, "rows": rows}
    return [
        PageSection("plan", "How many pairs would tell more", "pairs-plan.html", plan),
        PageSection("checks", "Can these numbers be believed?", "pairs-checks.html", {"checks": pairs.checks}),
    ]


def _plan(planned: pd.DataFrame) -> tuple[str, list[int], list[tuple[int, list[str]]]]:
    """Half of the interval's width in percentage points, writers in rows, pairs of each in columns."""
    wide = (50 * planned).pivot_table("width", planned.index.names[0], "each")
    rows = [
        (int(count), [plain(half, 1) for half in row]) for count, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return str(wide.index.name), [int(pairs) for pairs in wide.columns], rows


# The methods text of sentence pairs: the pairs, both models, and what their shares generalise to.


def methods_of(pairs: SentencePairs | SentencePairsChange) -> Methods:
    """The methods text, written from the scores, the spec and the fits themselves."""
    one, *_ = pairs.sides.values()
    all_fits = dict(pairs.fits)
    if pairs.changed:
        all_fits |= {f"{state}, {name}": fit for state, side in pairs.sides.items() for name, fit in side.fits.items()}
    fits = {name: Fitted.of(fit) for name, fit in all_fits.items()}
    data, spec = one.data, pairs.spec
    clusters = clusters_of(data)
    sampled = {str(name) for fitted in fits.values() for name in fitted.posterior.data_vars}
    tied = [
        f"{side.ties:,} pairs tie{f' {state}' if pairs.changed else ''}"
        for state, side in pairs.sides.items()
        if side.ties
    ]
    facts: dict[str, Any] = {
        "pairs": pairs,
        "changed": pairs.changed,
        "scores": one.scores,
        "score_unit": described_unit(one.scores.unit),
        "tied": joined(tied) if tied else "",
        "types": data.sizes[TYPE] if has_types(data) else 0,
        "clusters": [f"{data.sizes[dim]:,} {plural(dim)}" for dim in clusters],
        "effects": [*(["bias type"] if has_types(data) else []), *clusters],
        "residual": residual_of(spec.priors),
        "priors": "; ".join(f"{prior} for {name}" for name, prior in spec.priors.items() if name in sampled),
        "unit": f"{one.fits['difference']['constant_data'].unit.item():.4g}",
        "reach": one.reach,
        "ci_prob": pairs.ci_prob,
    }
    return methods_of_fits("methods-of-pairs.txt", fits, spec, facts)


def contrasts_document(contrasts: PairContrasts) -> Document:
    """Differences between models that scored the same pairs, as a document."""
    methods = _methods_of_contrasts(contrasts)
    scores = contrasts.scores
    notices = [notice for each in scores.values() for notice in each.notices]
    return Document(
        title=f"Models: {contrasts.name}",
        heading=f"Which models differ in {contrasts.name}?",
        opening={"answer": contrasts.text},
        sections=(
            *(
                PageSection(
                    topic, f"Models in order of the {contrasts.quantity(topic)}", "pairs-models.html", {"topic": topic}
                )
                for topic in contrasts.topics
            ),
            methods_section(methods),
            notices_section("What to know of the scores", (*contrasts.notices, *notices)),
        ),
        facts={"contrasts": contrasts},
        figures={topic: partial(plot_model_contrasts, contrasts, [topic]) for topic in contrasts.topics},
        tables={"differences": contrasts.table, "ranking": contrasts.ranking},
        methods=methods,
        provenance={
            "scope": contrasts.scope,
            "ci_prob": contrasts.ci_prob,
            "seed": contrasts.seed,
            "versions": json.loads(versions()),
            "scores": {model: dict(each.provenance) | {"sha256": each.sha256} for model, each in scores.items()},
        },
    )


def _methods_of_contrasts(contrasts: PairContrasts) -> Methods:
    one = next(iter(contrasts.scores.values()))
    facts = {
        "contrasts": contrasts,
        "models": list(contrasts.scores),
        "pairs": f"{len(one):,}",
        "unit": one.metric.unit,
        "clusters": [plural(name) for name in CLUSTERS if name in one.rows] if contrasts.scope == "all" else [],
        "prior": f"{PRIORS['pair']:g}",
        "pareto_k": plain(float(contrasts.table.pareto_k.max()), 2),
        "software": ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items()),
    }
    return Methods("methods-of-pair-models.txt", facts)
