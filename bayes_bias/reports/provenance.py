"""Where the numbers of a report come from, for people and for machines."""

import json
from pathlib import Path
from typing import Any

from bayes_bias.reports.record import Report

FILE = "provenance.json"


def of(report: Report) -> dict[str, Any]:
    """Versions, model and priors once; hashes, names and settings for each list."""
    return {
        "scope": report.scope,
        "ci_prob": report.ci_prob,
        "model": report.spec.name,
        "priors": {name: str(prior) for name, prior in report.spec.priors.items()},
        "options": dict(report.spec.options),
        "versions": report.sections[0].fitted.versions,
        "lists": {section.name: section.provenance for section in report.sections},
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
