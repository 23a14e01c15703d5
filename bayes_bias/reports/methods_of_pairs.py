"""The methods text of sentence pairs: the pairs, both models, and what their shares generalise to."""

from typing import Any

from bayes_bias.formatting import joined, plural
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.residuals import residual_of
from bayes_bias.reports.methods_text import Methods, methods_of_fits
from bayes_bias.sentence_pairs.pair_design import clusters_of, has_types
from bayes_bias.sentence_pairs.pair_results import SentencePairs, SentencePairsChange
from bayes_bias.sentence_pairs.pair_scores import TYPE
from bayes_bias.sentence_pairs.score_units import described_unit


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
