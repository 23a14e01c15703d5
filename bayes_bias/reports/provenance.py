"""Where the numbers of a report come from, for people and for machines."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bayes_bias.checks.stability import Stability
from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.formatting import plural
from bayes_bias.gaps.result import Gaps
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports.record import Report
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sweeps import Sweep
from bayes_bias.worlds.found import GroundTruth

FILE = "provenance.json"


def of(report: Report) -> dict[str, Any]:
    """Versions, model and priors once; hashes, names and settings for each list."""
    lists = {section.name: section.provenance for section in report.sections}
    return _asked(report, report.sections[0].fitted) | {"lists": lists}


def of_comparison(found: Comparison) -> dict[str, Any]:
    """Versions, model and priors once; where both tables come from; hashes and settings of what was sampled."""
    fits = {state: Fitted.of(fit) for state, fit in found.fits.items()}
    return _asked(found, fits["change"]) | {
        "before": dict(found.before.provenance),
        "after": dict(found.after.provenance),
        "fits": {state: fitted.provenance for state, fitted in fits.items()},
    }


def of_stability(found: Stability) -> dict[str, Any]:
    """Versions, model and priors; hashes and settings of the fit to all trainings."""
    fitted = Fitted.of(found.fit)
    return _asked(found, fitted) | {plural(found.kind): list(found.measures.index), "fit": fitted.provenance}


def of_sweep(found: Sweep) -> dict[str, Any]:
    """Versions, models, priors and settings, which all cells share."""
    asked = found.asked
    return {
        "scope": asked.scope,
        "ci_prob": asked.ci_prob,
        "seed": asked.seed,
        **asdict(asked.sampling),
        "models": {
            spec.name: {
                "sha256": spec.sha256,
                "priors": {name: str(prior) for name, prior in spec.priors.items()},
            }
            for spec in asked.specs
        },
        "versions": [dict(each) for each in found.versions],
        "sources": found.sources.to_dict("index"),
    }


def of_gaps(found: Gaps) -> dict[str, Any]:
    """Versions, priors and settings; a hash of the counts, which are all that the model sees of people."""
    about = found.fit.attrs
    return {
        "ci_prob": found.ci_prob,
        "model": about["model"],
        "priors": found.priors,
        "versions": json.loads(about["versions"]),
        "counts_sha256": found.counts.sha256,
        **{key: about[key] for key in ("seed", "draws", "tune", "chains", "target_accept")},
    }


def of_ground_truth(found: GroundTruth) -> dict[str, Any]:
    """Versions, the world's seed and hash, and how each model was trained."""
    return {
        "world": found.world.name,
        "sha256": found.world.sha256,
        "seed": found.world.seed,
        "models": {each.name: {"kind": each.kind, **each.settings} for each in found.world.models},
        "versions": dict(found.versions),
        "failed": dict(found.failed),
    }


def of_pairs(found: Pairs | PairsChange) -> dict[str, Any]:
    """Versions, model and priors; where the scores come from; hashes and settings of the fits."""
    fits = {name: Fitted.of(fit) for name, fit in found.fits.items()}
    sides = {"scores": found} if isinstance(found, Pairs) else {"before": found.before, "after": found.after}
    return (
        _asked(found, next(iter(fits.values())))
        | {
            side: dict(each.scores.provenance) | {"sha256": each.scores.sha256}
            for side, each in sides.items()
        }
        | {"fits": {name: fitted.provenance for name, fitted in fits.items()}}
    )


def _asked(found: Report | Comparison | Stability | Pairs | PairsChange, fitted: Fitted) -> dict[str, Any]:
    return {
        "scope": found.scope,
        "ci_prob": found.ci_prob,
        "model": found.spec.name,
        "priors": {name: str(prior) for name, prior in found.spec.priors.items()},
        "options": dict(found.spec.options),
        "versions": fitted.versions,
    }


def written_files(folder: Path) -> dict[str, str]:
    """Files that an earlier report wrote into a folder, with their hashes; none if there was no report."""
    file = folder / FILE
    if not file.is_file():
        return {}
    try:
        files = json.loads(file.read_text(encoding="utf-8")).get("files", {})
    except (ValueError, AttributeError):
        return {}  # a file of that name that is not ours: nothing in the folder is
    return {str(name): str(sha256) for name, sha256 in files.items()} if isinstance(files, dict) else {}
