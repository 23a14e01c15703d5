"""Stability of training as a document: each method in each training, and the posterior of all."""

from functools import partial

from bayes_bias.analyses.stability.stability import Stability
from bayes_bias.documents.document import Document, PageSection, model_provenance, notices_section
from bayes_bias.files import slug
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import plural
from bayes_bias.plots import plot_stability


def stability_document(stability: Stability) -> Document:
    """The document of the stability of a list's bias."""
    fitted, kinds = Fitted.of(stability.fit), plural(stability.kind)
    left_out = [f"omitted: {reason}" for reason in stability.left_out.values()]
    return Document(
        title=f"Stability: {stability.name}",
        heading=f"Does the bias of {stability.name} depend on the {stability.kind}?",
        opening={"answer": stability.text},
        sections=(
            PageSection("methods-compared", f"Each method over {kinds}", "stability-methods.html"),
            PageSection("shares", "Sources of variance", "stability-shares.html"),
            notices_section("Omitted words", left_out),
        ),
        facts={"stability": stability},
        figures={"stability": partial(plot_stability, stability)},
        tables={
            "measures": stability.measures,
            "spread": stability.spread.rename_axis("method"),
            "shares": stability.shares.rename_axis("of"),
            "summary": stability.summary,
        },
        texts={"stability.txt": "\n".join([stability.text, *left_out, ""])},
        fits={slug(stability.name): fitted},
        provenance=model_provenance(stability, fitted)
        | {kinds: list(stability.measures.index), "fit": fitted.provenance},
    )
