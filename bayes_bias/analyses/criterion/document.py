"""Criterion validity as a document: the correlation three ways, the figure, and each label."""

import json

from bayes_bias.analyses.criterion.results import CriterionValidity
from bayes_bias.documents.document import Document, PageSection, methods_section, notices_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import slug
from bayes_bias.formatting import level
from bayes_bias.plots import plot_criterion


def criterion_document(result: CriterionValidity) -> Document:
    """The document of a bias and something outside."""
    methods, fit = Methods("methods-of-criterion.txt", {"result": result}), result.fit.attrs
    return Document(
        title=f"Criterion: {result.name}",
        heading=f"Does {result.bias_name} correlate with {result.criterion_name}?",
        opening={"answer": result.verdict().text},
        sections=(
            PageSection("correlation", "Correlation and slope", "criterion-summary.html"),
            PageSection("labels", f"Each {result.noun}", "criterion-labels.html"),
            notices_section("Omitted labels", result.notices),
            methods_section(methods),
        ),
        facts={"result": result, "level": level(result.ci_prob)},
        figures={"criterion": lambda: plot_criterion(result)},
        tables={"summary": result.summary(), "labels": result.table},
        methods=methods,
        fits={slug(words): tree for words, tree in result.fits.items()},
        provenance={
            "ci_prob": result.ci_prob,
            "model": fit["model"],
            "priors": result.priors,
            "versions": json.loads(fit["versions"]),
            "data_sha256": fit["table_sha256"],
            "notices": list(result.notices),
            **{key: fit[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
        },
    )
