"""Gaps of true-positive rates as a document: over all classes, and class by class."""

import json
from functools import partial

import pandas as pd

from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.documents.document import Document, PageSection, methods_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import file_names
from bayes_bias.plots import plot_tpr_gaps


def tpr_gaps_document(gaps: TprGaps) -> Document:
    """The document of the gaps of a classifier."""
    names = {group: f"gaps-{file}" for group, file in file_names(gaps.of).items()}
    methods, fit = Methods("methods-of-gaps.txt", {"gaps": gaps}), gaps.fit.attrs
    return Document(
        title=f"Gaps: {gaps.name}",
        heading="How far do true-positive rates differ between groups?",
        opening={"answer": gaps.text},
        sections=(
            PageSection("aggregate", "Over all classes", "gaps-aggregate.html"),
            PageSection("classes", "Class by class", "gaps-classes.html", {"names": names}),
            methods_section(methods),
        ),
        facts={"gaps": gaps},
        figures={name: partial(plot_tpr_gaps, gaps, group) for group, name in names.items()},
        tables={"gaps": gaps.table, "aggregate": gaps.aggregate, "variances": gaps.variances, "counts": _counts(gaps)},
        methods=methods,
        fits={"": gaps.fit},
        provenance={
            "ci_prob": gaps.ci_prob,
            "model": fit["model"],
            "priors": gaps.priors,
            "versions": json.loads(fit["versions"]),
            "counts_sha256": gaps.counts.sha256,
            **{key: fit[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
        },
    )


def _counts(gaps: TprGaps) -> pd.DataFrame:
    """A row for each class and group, from which a reader can compute the gaps again."""
    counts, cells = gaps.counts, pd.MultiIndex.from_product([gaps.counts.classes, gaps.counts.groups])
    both = {"hits": counts.hits.to_numpy().ravel(), "people": counts.people.to_numpy().ravel()}
    return pd.DataFrame(both, index=cells).rename_axis(["class", "group"])
