"""A multiverse as a document: the specification curve, each option, and each combination as a file."""

import json
from functools import partial

from bayes_bias.analyses.multiverse.multiverse import Multiverse
from bayes_bias.analyses.multiverse.plots import plot_multiverse
from bayes_bias.documents.document import Document, PageSection, notices_section, priors_of
from bayes_bias.fitting.fit_model import versions


def multiverse_document(multiverse: Multiverse) -> Document:
    """Return the document of a multiverse."""
    return Document(
        title=f"Multiverse: {multiverse.name}",
        heading=f"Does the bias of {multiverse.name} depend on choices of the analysis?",
        opening={"answer": multiverse.text},
        sections=(
            PageSection("choices", "The bias under each combination of choices", "multiverse.html"),
            notices_section("Omitted choices", multiverse.left_out),
        ),
        facts={"multiverse": multiverse},
        figures={"multiverse": partial(plot_multiverse, multiverse)},
        tables={
            "multiverse": multiverse.frame.rename_axis("combination"),
            "influence": multiverse.influence.to_frame(),
        },
        texts={"multiverse.txt": f"{multiverse.text}\n"},
        provenance={
            "scope": multiverse.scope,
            "ci_prob": multiverse.ci_prob,
            "model": multiverse.spec.name,
            "priors": priors_of(multiverse.spec),
            "options": dict(multiverse.spec.options),
            "versions": json.loads(versions()),
            "table_sha256": multiverse.table_sha256,
            "seed": multiverse.seed,
        },
    )
