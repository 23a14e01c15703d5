"""What the methods text of sentence pairs says: which pairs, both models, and what their shares generalise to."""

from typing import Any

from bayes_bias.formatting import plural
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports.checks import convergence
from bayes_bias.reports.methods import Methods
from bayes_bias.reports.references import key_of
from bayes_bias.sentence_pairs.design import clusters_of, has_types
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sentence_pairs.scores import TYPE


def methods_of(found: Pairs | PairsChange) -> Methods:
    """The methods text, written from the scores, the spec and the fits themselves."""
    one = found if isinstance(found, Pairs) else found.before
    fits = {name: Fitted.of(fit) for name, fit in _all_fits(found).items()}
    first, data, spec = next(iter(fits.values())), one.data, found.spec
    clusters = clusters_of(data)
    sampled = {str(name) for fitted in fits.values() for name in fitted.posterior.data_vars}
    facts: dict[str, Any] = {
        "found": found,
        "changed": isinstance(found, PairsChange),
        "scores": one.scores,
        "types": data.sizes[TYPE] if has_types(data) else 0,
        "clusters": [f"{data.sizes[each]:,} {plural(each)}" for each in clusters],
        "effects": [*(["bias type"] if has_types(data) else []), *clusters],
        "spec": spec,
        "model_key": key_of(spec.reference) if spec.reference else None,
        "student": "nu" in spec.priors,
        "priors": "; ".join(f"{prior} for {name}" for name, prior in spec.priors.items() if name in sampled),
        "unit": f"{one.fits['difference']['constant_data'].unit.item():.4g}",
        "reach": one.reach,
        "ci_prob": found.ci_prob,
        "settings": first.tree.attrs,
        "versions": first.versions,
    }
    said = convergence.sentence({name: Diagnostics.of(fitted) for name, fitted in fits.items()})
    return Methods(
        "methods-of-pairs.txt", facts, {"convergence": said}, (spec.reference,) if spec.reference else ()
    )


def _all_fits(found: Pairs | PairsChange) -> dict[str, Any]:
    if isinstance(found, Pairs):
        return dict(found.fits)
    sides = {"before": found.before, "after": found.after}
    return dict(found.fits) | {
        f"{state}, {name}": fit for state, side in sides.items() for name, fit in side.fits.items()
    }
