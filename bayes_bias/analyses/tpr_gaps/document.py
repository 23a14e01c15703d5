"""The page of gaps of true-positive rates: class by class, and over all classes."""

from functools import partial

import pandas as pd

from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.documents.document import Document, PageSection, methods_section
from bayes_bias.documents.methods import Methods
from bayes_bias.files import file_names
from bayes_bias.plots import plot_tpr_gaps


def tpr_gaps_document(gaps: TprGaps) -> Document:
    """Return the page of the gaps of a classifier."""
    names = {group: f"gaps-{file}" for group, file in file_names(gaps.of).items()}
    people = gaps.counts.people.to_numpy()
    facts = {"gaps": gaps, "people": int(people.sum()), "fewest": people.min(), "most": people.max()}
    methods, fit = Methods("methods-of-gaps.txt", {**facts, "settings": gaps.fit.attrs}), gaps.fit.attrs
    # A row for each class and group, from which a reader can compute the gaps again.
    cells = pd.MultiIndex.from_product([gaps.counts.classes, gaps.counts.groups], names=["class", "group"])
    counts = {"hits": gaps.counts.hits.to_numpy().ravel(), "people": people.ravel()}
    return Document(
        title=f"Gaps: {gaps.name}",
        heading="How far do true-positive rates differ between groups?",
        opening={"answer": gaps.text},
        sections=(
            PageSection("classes", "Class by class", "gaps-classes.html", {"names": names}),
            PageSection("aggregate", "Over all classes", "gaps-aggregate.html"),
            methods_section(methods),
        ),
        facts={"gaps": gaps},
        figures={name: partial(plot_tpr_gaps, gaps, group) for group, name in names.items()},
        tables={
            "gaps": gaps.table,
            "aggregate": gaps.aggregate,
            "variances": gaps.variances,
            "counts": pd.DataFrame(counts, index=cells),
        },
        methods=methods,
        fits={"": gaps.fit},
        provenance={
            "ci_prob": gaps.ci_prob,
            "model": fit["model"],
            "priors": gaps.priors,
            "versions": gaps.versions,
            "counts_sha256": gaps.counts.sha256,
            **{key: fit[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
        },
    )
