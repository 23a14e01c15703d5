"""Answers of chat models, or the change of them, as a document."""

import json
from functools import partial
from typing import Any

import pandas as pd

from bayes_bias.analyses.answers.agreement import Agreement
from bayes_bias.analyses.answers.assignments import OUTCOMES
from bayes_bias.analyses.answers.cell import Answers
from bayes_bias.analyses.answers.model import PRIORS
from bayes_bias.analyses.answers.model_contrasts import ModelContrasts
from bayes_bias.analyses.answers.plots import (
    KINDS,
    plot_agreement,
    plot_answers,
    plot_label_pairs,
    plot_model_contrasts,
    plot_values,
)
from bayes_bias.analyses.answers.posterior import DRAWS
from bayes_bias.analyses.answers.results import (
    DECIMALS,
    ONE_PAIR,
    SOURCES,
    STEPS,
    AnswersChange,
    ModelAnswers,
    share_decided,
)
from bayes_bias.analyses.answers.value_estimates import ValueEstimates
from bayes_bias.analyses.answers.value_models import LIKELIHOODS
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import file_names
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import versions
from bayes_bias.formatting import DASH, Column, Layout, bounds, count, estimate, level, percent, plain, share
from bayes_bias.table.columns import interval_of

type Result = ModelAnswers | AnswersChange


def answers_document(result: Result) -> Document:
    """The document of answers, or of a change."""
    methods = _methods(result)
    names = file_names([result.called(key) for key in _with_pairs(result)])
    pairs = {key: f"pairs-{names[result.called(key)]}" for key in _with_pairs(result)}
    return Document(
        title=f"Answers: {result.name}",
        heading=f"{'Did stereotypes change' if result.changed else 'Which stereotypes are there'} in {result.name}?",
        opening={"answer": result.text},
        sections=(
            PageSection("D", "How far it changed" if result.changed else "How far it associates", "answers-d.html"),
            PageSection("samples", "What counts as a sample", "answers-ladder.html"),
            PageSection("sources", "Where the answers differ", "answers-sources.html"),
            PageSection("labels", "Label by label", "answers-pairs.html", {"pairs": _images(result, pairs)})
            if pairs
            else None,
            None if result.changed else PageSection("counts", "What was answered", "answers-counts.html"),
            methods_section(methods),
            notices_section("What to know of the answers", result.all_notices),
        ),
        facts={
            "result": result,
            "what": _what(result),
            "level": level(result.ci_prob),
            "answers": result.layout,
            "counts": None if result.changed else _counts(result),
            "decided": share_decided(result.table),
            "ladder": _ladder(result),
            "steps": list(STEPS.values()),
            "sources": _sources(result),
            "numbers": [(STEPS[str(name)], row) for name, row in result.counts().iterrows()],
            "one_pair": ONE_PAIR,
            "reaches": set(result.table.reach),
        },
        figures={
            **{kind: partial(plot_answers, result, kind) for kind in KINDS},
            **{name: partial(plot_label_pairs, result, key[1], key[0]) for key, name in pairs.items()},
        },
        latex="answers.tex",
        tables={
            "summary": result.table,
            "ladder": result.ladder,
            "sources": result.sources,
            "levels": result.levels,
            "published": result.published,
            "draws": _draws(result),
        },
        methods=methods,
        provenance={
            "scope": result.scope,
            "ci_prob": result.ci_prob,
            "seed": result.seed,
            "draws": DRAWS,
            "model": "answers",
            "priors": {
                "mu": "Uniform(-1, 1)",
                **{f"sd_{name}": f"HalfNormal({scale:g})" for name, scale in PRIORS.items()},
            },
            "versions": json.loads(versions()),
            **{state: _provenance(side) for state, side in _states(result).items()},
        },
    )


def _states(result: Result) -> dict[str, Answers]:
    if isinstance(result, AnswersChange):
        return {"before": result.before, "after": result.after}
    return {"answers": result.answers}


def _provenance(answers: Answers) -> dict[str, Any]:
    lists = {cell.stereotype: cell.questions.wordlist.sha256 for cell in answers.cells}
    read = {
        f"{cell.stereotype}{f' ({cell.model})' if cell.model else ''}": cell.reading.facts for cell in answers.cells
    }
    facts = {"name": answers.name, **answers.provenance, "sha256": answers.sha256, "lists_sha256": lists}
    return facts | {"replies": read}


def _with_pairs(result: Result) -> list[tuple[str, str]]:
    """The rows that have a table of labels: several of both groups."""
    return [key for key, row in result.table.iterrows() if min(row.labels_a, row.labels_b) > 1]


def _images(result: Result, pairs: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    return [(result.called(key), name) for key, name in pairs.items()]


def _counts(result: Result) -> Layout:
    """What the answers of each row are."""
    rows = result.table
    bounded = [bounds(row.bounds_lb, row.bounds_ub, DECIMALS) if row.invalid else DASH for row in rows.itertuples()]
    return Layout(
        [result.called(key) for key in rows.index],
        [
            Column("answers", rows.answers, count),
            Column("labels", [f"{one} × {other}" for one, other in zip(rows.labels_a, rows.labels_b, strict=True)]),
            Column("wordings", rows.wordings, count),
            Column("words", rows.words, count),
            Column("decided", rows.decided, percent),
            Column("invalid\nchoices", rows.invalid, share),
            *(
                Column(name, rows[name.replace(" ", "_")], count)
                for name in OUTCOMES[1:]
                if rows[name.replace(" ", "_")].any()
            ),
            Column("bounds\nof the mean D", bounded),
            Column("one label", rows.one_label, count),
        ],
    )


def _ladder(result: Result) -> list[tuple[str, list[tuple[str, bool]]]]:
    rows = []
    for key in result.table.index:
        steps = result.ladder.loc[key]
        cells = []
        for name in STEPS:
            step = steps.loc[name]
            lower, upper = interval_of(step)
            cells.append((estimate(step["mean"], lower, upper, DECIMALS), bool(lower > 0 or upper < 0)))
        rows.append((result.called(key), cells))
    return rows


def _sources(result: Result) -> Layout:
    def column(source: str) -> list[str]:
        return [plain(result.sources.loc[(*key, source), "mean"], DECIMALS) for key in result.table.index]

    return Layout(
        [result.called(key) for key in result.table.index],
        [Column(source, column(source)) for source in SOURCES],
        caption=f"Standard deviation of {_what(result)} by source, posterior mean.",
    )


def _what(result: Result) -> str:
    return "change of D" if result.changed else "D"


def _draws(result: Result) -> pd.DataFrame:
    """The posterior of each row, draw by draw."""
    frames = {key: posterior.draws for key, posterior in result.posteriors.items()}
    return pd.concat(frames, names=["model", "stereotype", "draw"])


def _methods(result: Result) -> Methods:
    sides, table = result.sides, result.table
    first = sides[0]
    settings = {name: value for side in sides for name, value in side.provenance.items() if value}
    labels = [(row.labels_a, row.labels_b) for _, row in table.iterrows()]
    facts: dict[str, Any] = {
        "result": result,
        "changed": result.changed,
        "total": count(sum(len(cell.counted) for cell in first.cells)),
        "stereotypes": len(set(table.index.get_level_values("stereotype"))),
        "models": list(dict.fromkeys(model for side in sides for model in side.models if model)),
        "asked": settings,
        "priors": {name: f"{scale:g}" for name, scale in PRIORS.items()},
        "labels": (min(map(min, labels)), max(map(max, labels))),
        "wordings": (int(table.wordings.min()), int(table.wordings.max())),
        "draws": count(DRAWS),
        "pareto_k": plain(float(table.pareto_k.max()), 2),
        "ess": count(float(table.ess.min())),
        "ci_prob": result.ci_prob,
        "software": ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items()),
        "one_pair": int((table.reach == ONE_PAIR).sum()),
    }
    return Methods("methods-of-answers.txt", facts)


def agreement_document(agreement: Agreement) -> Document:
    """One list in answers and in vectors, as a document."""
    return Document(
        title=f"Who agrees: {agreement.name}",
        heading=f"Do answers and vectors agree about {agreement.name}?",
        opening={"answer": agreement.text},
        sections=(PageSection("sources", "Source by source", "answers-agreement.html"),),
        facts={"agreement": agreement},
        figures={"agreement": partial(plot_agreement, agreement)},
        tables={"agreement": agreement.table},
        provenance={"ci_prob": agreement.ci_prob, "versions": json.loads(versions())},
    )


def contrasts_document(contrasts: ModelContrasts) -> Document:
    """Differences between models that were asked the same, as a document."""
    methods = _methods_of_contrasts(contrasts)
    return Document(
        title=f"Models: {contrasts.answers.name}",
        heading=f"Which models differ in {contrasts.answers.name}?",
        opening={"answer": contrasts.text},
        sections=(
            PageSection("models", "Models in order", "answers-models.html"),
            PageSection("differences", "Differences between models", "answers-differences.html"),
            methods_section(methods),
            notices_section("What to know of the answers", (*contrasts.answers.notices, *contrasts.notices)),
        ),
        facts={"contrasts": contrasts},
        figures={"models": partial(plot_model_contrasts, contrasts)},
        tables={"differences": contrasts.table, "ranking": contrasts.ranking},
        methods=methods,
        provenance={
            "scope": contrasts.scope,
            "ci_prob": contrasts.ci_prob,
            "seed": contrasts.seed,
            "versions": json.loads(versions()),
            "answers": _provenance(contrasts.answers),
        },
    )


def _methods_of_contrasts(contrasts: ModelContrasts) -> Methods:
    facts = {
        "contrasts": contrasts,
        "models": contrasts.answers.models,
        "total": count(sum(len(cell.counted) for cell in contrasts.answers.cells)),
        "priors": {name: f"{scale:g}" for name, scale in PRIORS.items()},
        "pareto_k": plain(float(contrasts.table.pareto_k.max()), 2),
        "software": ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items()),
    }
    return Methods("methods-of-models.txt", facts)


def values_document(estimates: ValueEstimates) -> Document:
    """Ratings, numbers, refusals or label probabilities, as a document."""
    methods = _methods_of_values(estimates)
    names = file_names([" ".join(filter(None, key)) for key in estimates.fits])
    quantity = LIKELIHOODS[estimates.likelihood].quantity
    return Document(
        title=f"Answers: {estimates.answers.name}",
        heading=f"Do answers differ between groups in {estimates.answers.name}?",
        opening={"answer": estimates.text},
        sections=(
            PageSection("values", quantity[0].upper() + quantity[1:], "answers-values.html"),
            methods_section(methods),
            notices_section("What to know of the answers", estimates.answers.notices),
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
        fits=dict(zip(names.values(), estimates.fits.values(), strict=True)),
        provenance={
            "likelihood": estimates.likelihood,
            "scope": estimates.scope,
            "ci_prob": estimates.ci_prob,
            "seed": estimates.seed,
            "priors": _priors_of_values(estimates),
            "versions": json.loads(versions()),
            "answers": {**estimates.answers.provenance, "sha256": estimates.answers.sha256},
        },
    )


def _priors_of_values(estimates: ValueEstimates) -> dict[str, str]:
    """The priors of all fits, of which some may have no effects of words."""
    return {name: prior for fit in estimates.fits.values() for name, prior in json.loads(fit.attrs["priors"]).items()}


def _methods_of_values(estimates: ValueEstimates) -> Methods:
    diagnostics = [Diagnostics.of(fit) for fit in estimates.fits.values()]
    facts = {
        "estimates": estimates,
        "kind": LIKELIHOODS[estimates.likelihood],
        "total": count(sum(len(cell.data.value) for cell in estimates.answers.cells)),
        "priors": _priors_of_values(estimates),
        "r_hat": plain(max(each.r_hat for each in diagnostics)),
        "ess": count(min(each.ess_bulk for each in diagnostics)),
        "software": ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items()),
    }
    return Methods("methods-of-values.txt", facts)
