"""The pages of answers of chat models: estimates, changes, comparisons, and values."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias import formatting as fmt
from bayes_bias.analyses.answers.agreement import Agreement
from bayes_bias.analyses.answers.assignments import OUTCOMES
from bayes_bias.analyses.answers.model import DRAWS, PRIOR_TEXTS
from bayes_bias.analyses.answers.model_contrasts import Contrasts
from bayes_bias.analyses.answers.plots import (
    KINDS,
    plot_agreement,
    plot_answers,
    plot_label_pairs,
    plot_model_contrasts,
    plot_values,
)
from bayes_bias.analyses.answers.results import DECIMALS, ONE_PAIR, SOURCES, STEPS, AnswersChange, AnswersResult
from bayes_bias.analyses.answers.value_estimates import ValueEstimates
from bayes_bias.analyses.answers.value_models import LIKELIHOODS
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import file_names
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import versions
from bayes_bias.formatting import DASH, Column, Layout
from bayes_bias.table.columns import interval_of

_NOTICES = "Notes on the answers"


def answers_document(result: AnswersResult) -> Document:
    """Return the page of answers, or of a change."""
    table, methods = result.table, _methods(result)
    with_pairs = table.index[table[["labels_a", "labels_b"]].min(axis=1) > 1]
    names = file_names(list(map(result.called, with_pairs)))
    images = []
    figures: dict[str, Callable[[], Axes]] = {kind: partial(plot_answers, result, kind) for kind in KINDS}
    for model, stereotype in with_pairs:
        label = result.called((model, stereotype))
        images.append((label, f"pairs-{names[label]}"))
        figures[f"pairs-{names[label]}"] = partial(plot_label_pairs, result, stereotype, model)
    means = result.sources.pivot_table("mean", ["model", "stereotype"], "source", dropna=False).loc[table.index]
    posteriors = {key: posterior.draws for key, posterior in result.posteriors.items()}
    sides = {"answers": result.sides[0]}
    if isinstance(result, AnswersChange):
        sides = {"before": result.before, "after": result.after}
    return Document(
        title=f"Answers: {result.name}",
        heading=f"{'Did stereotypes change' if result.changed else 'Which stereotypes are there'} in {result.name}?",
        opening={"answer": result.text},
        sections=(
            PageSection("D", "Changes of D" if result.changed else "Associations by stereotype", "answers-d.html"),
            PageSection("samples", "Intervals by what counts as a sample", "answers-ladder.html"),
            PageSection("sources", "Sources of variation", "answers-sources.html"),
            PageSection("labels", "D by pair of labels", "answers-pairs.html", {"pairs": images}) if images else None,
            None if result.changed else PageSection("counts", "Answers and invalid choices", "answers-counts.html"),
            methods_section(methods),
            notices_section(_NOTICES, result.all_notices),
        ),
        facts={
            "result": result,
            "what": result.quantity,
            "level": fmt.level(result.ci_prob),
            "answers": result.layout,
            "counts": None if result.changed else _counts(result),
            "decided": fmt.percent(float((table.decided * table.answers).sum() / table.answers.sum())),
            "ladder": _ladder(result),
            "steps": list(STEPS.values()),
            "sources": Layout(
                list(map(result.called, means.index)),
                [Column(source, means[source], partial(fmt.plain, decimals=DECIMALS)) for source in SOURCES],
                caption=f"Standard deviation of {result.quantity} by source, posterior mean.",
            ),
            "numbers": [(STEPS[str(name)], row) for name, row in result.counts().iterrows()],
            "one_pair": ONE_PAIR,
            "reaches": set(table.reach),
        },
        figures=figures,
        latex="answers.tex",
        tables={
            "summary": table,
            "ladder": result.ladder,
            "sources": result.sources,
            "levels": result.levels,
            "published": result.published,
            "draws": pd.concat(posteriors, names=["model", "stereotype", "draw"]),
        },
        methods=methods,
        provenance={
            **_settings(result),
            "draws": DRAWS,
            "model": "answers",
            "priors": {
                "mu": "Uniform(-1, 1)",
                **{f"sd_{name}": f"HalfNormal({scale})" for name, scale in PRIOR_TEXTS.items()},
            },
            "versions": json.loads(versions()),
            **{state: side.facts for state, side in sides.items()},
        },
    )


def _settings(result: Any) -> dict[str, Any]:
    """Return the settings that every result has, for a provenance."""
    return {"scope": result.scope, "ci_prob": result.ci_prob, "seed": result.seed}


def _counts(result: AnswersResult) -> Layout:
    """Lay out the numbers of answers, and of choices by outcome, in each row."""
    rows = result.table
    labels, bounded = [], []
    for row in rows.itertuples():
        labels.append(f"{row.labels_a} × {row.labels_b}")
        bounded.append(fmt.bounds(row.bounds_lb, row.bounds_ub, DECIMALS) if row.invalid else DASH)
    columns = [
        Column("answers", rows.answers, fmt.count),
        Column("labels", labels),
        Column("wordings", rows.wordings, fmt.count),
        Column("words", rows.words, fmt.count),
        Column("decided", rows.decided, fmt.percent),
        Column("invalid\nchoices", rows.invalid, fmt.share),
    ]
    for outcome in OUTCOMES[1:]:
        numbers = rows[outcome.replace(" ", "_")]
        columns += [Column(outcome, numbers, fmt.count)] if numbers.any() else []
    columns += [Column("bounds\nof the mean D", bounded), Column("one label", rows.one_label, fmt.count)]
    return Layout(list(map(result.called, rows.index)), columns)


def _ladder(result: AnswersResult) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the label of each row, with its estimate in each step and True if its interval excludes zero."""
    rows = []
    for key in result.table.index:
        cells = []
        for name in STEPS:
            step = result.ladder.loc[(*key, name)]
            lower, upper = interval_of(step)
            cells.append((fmt.estimate(step["mean"], lower, upper, DECIMALS), bool(lower > 0 or upper < 0)))
        rows.append((result.called(key), cells))
    return rows


def _methods(result: AnswersResult) -> Methods:
    """Return the methods text: the answers, the model, and its draws."""
    table = result.table
    labels = table[["labels_a", "labels_b"]]
    models: dict[str, None] = {}
    asked: dict[str, Any] = {}
    for side in result.sides:
        models |= dict.fromkeys(filter(None, side.models))
        asked |= {name: value for name, value in side.provenance.items() if value}
    facts: dict[str, Any] = {
        "result": result,
        "changed": result.changed,
        "total": fmt.count(sum(len(cell.counted) for cell in result.sides[0].cells)),
        "stereotypes": len(set(table.index.get_level_values("stereotype"))),
        "models": list(models),
        "asked": asked,
        "priors": PRIOR_TEXTS,
        "labels": (int(labels.min(axis=None)), int(labels.max(axis=None))),
        "wordings": (int(table.wordings.min()), int(table.wordings.max())),
        "draws": fmt.count(DRAWS),
        "pareto_k": fmt.plain(float(table.pareto_k.max()), 2),
        "ess": fmt.count(float(table.ess.min())),
        "ci_prob": result.ci_prob,
        "software": _software(),
        "one_pair": int((table.reach == ONE_PAIR).sum()),
    }
    return Methods("methods-of-answers.txt", facts)


def _software() -> str:
    """Return the names and versions of the software, for a methods text."""
    return ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items())


def agreement_document(agreement: Agreement) -> Document:
    """Return the page of one list in answers and in vectors."""
    return Document(
        title=f"Who agrees: {agreement.name}",
        heading=f"Do answers and vectors agree about {agreement.name}?",
        opening={"answer": agreement.text},
        sections=(PageSection("sources", "Association in each source", "answers-agreement.html"),),
        facts={"agreement": agreement},
        figures={"agreement": partial(plot_agreement, agreement)},
        tables={"agreement": agreement.table},
        provenance={"ci_prob": agreement.ci_prob, "versions": json.loads(versions())},
    )


def contrasts_document(contrasts: Contrasts) -> Document:
    """Return the page of differences between models, with a section for each quantity."""
    topics_by_quantity: dict[str, list[str]] = {}
    for topic in contrasts.topics:
        topics_by_quantity.setdefault(contrasts.quantity(topic).name, []).append(topic)
    sections, figures = [], {}
    for quantity, topics in topics_by_quantity.items():
        name = "models" if len(topics_by_quantity) == 1 else topics[0]
        facts = {"name": name, "topics": topics}
        sections.append(PageSection(name, f"Models in order of {quantity}", "model-contrasts.html", facts))
        figures[name] = partial(plot_model_contrasts, contrasts, topics)
    methods = Methods(
        contrasts.methods,
        {
            **contrasts.facts,
            "contrasts": contrasts,
            "pareto_k": fmt.plain(float(contrasts.table.pareto_k.max()), 2),
            "software": _software(),
        },
    )
    return Document(
        title=f"Models: {contrasts.name}",
        heading=f"Which models differ in {contrasts.name}?",
        opening={"answer": contrasts.text},
        sections=(
            *sections,
            methods_section(methods),
            notices_section(f"Notes on the {contrasts.data}", contrasts.all_notices),
        ),
        facts={"contrasts": contrasts},
        figures=figures,
        tables={"differences": contrasts.table, "ranking": contrasts.ranking},
        methods=methods,
        provenance={**_settings(contrasts), "versions": json.loads(versions()), **contrasts.provenance},
    )


def values_document(estimates: ValueEstimates) -> Document:
    """Return the page of ratings, numbers, refusals, or label probabilities."""
    names = file_names([" ".join(filter(None, key)) for key in estimates.fits])
    kind, fits = LIKELIHOODS[estimates.likelihood], list(estimates.fits.values())
    diagnostics = list(map(Diagnostics.of, fits))
    priors: dict[str, str] = {}
    for fit in fits:  # some of which may have no effects of words
        priors |= json.loads(fit.attrs["priors"])
    facts = {
        "estimates": estimates,
        "kind": kind,
        "total": fmt.count(sum(len(cell.data.value) for cell in estimates.answers.cells)),
        "priors": priors,
        "r_hat": fmt.plain(max(diagnosed.r_hat for diagnosed in diagnostics)),
        "ess": fmt.count(min(diagnosed.ess_bulk for diagnosed in diagnostics)),
        "software": _software(),
    }
    methods = Methods("methods-of-values.txt", facts)
    return Document(
        title=f"Answers: {estimates.answers.name}",
        heading=f"Do answers differ between groups in {estimates.answers.name}?",
        opening={"answer": estimates.text},
        sections=(
            PageSection("values", fmt.capitalized(kind.quantity), "answers-values.html"),
            methods_section(methods),
            notices_section(_NOTICES, estimates.answers.notices),
        ),
        facts={"estimates": estimates, "log_odds": estimates.likelihood not in ("numeric", "robust")},
        figures={"values": partial(plot_values, estimates)},
        tables={
            "summary": estimates.table,
            "ladder": estimates.ladder,
            "expected": estimates.expected,
            "sources": estimates.sources,
        },
        methods=methods,
        fits=dict(zip(names.values(), fits, strict=True)),
        provenance={
            "likelihood": estimates.likelihood,
            **_settings(estimates),
            "priors": priors,
            "versions": json.loads(versions()),
            "answers": {**estimates.answers.provenance, "sha256": estimates.answers.sha256},
        },
    )
