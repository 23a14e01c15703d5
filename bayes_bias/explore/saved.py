"""The files that the page saves: a word list, its numbers, a registration, and a report."""

from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import make_archive
from tempfile import TemporaryDirectory

from bayes_bias.analyses.report.report import register, report
from bayes_bias.documents.writer import write
from bayes_bias.explore.fields import Fields
from bayes_bias.explore.results import Results
from bayes_bias.files import csv_text

type Analyse = Callable[[Fields], Results]


def _list(fields: Fields, results: Analyse) -> bytes:
    """Return the word list as a spreadsheet, whether or not an embedding contains its words."""
    return fields.csv().encode()


def _numbers(fields: Fields, results: Analyse) -> bytes:
    """Return the observed bias without each word and each cluster."""
    return csv_text(results(fields).left_out, index=False).encode()


def _plan(fields: Fields, results: Analyse) -> bytes:
    """Return the file that `bayes-bias register` writes."""
    with TemporaryDirectory(prefix="bayes_bias-") as folder:
        path = Path(folder, "plan.json")
        register(results(fields).table).save(path)
        return path.read_bytes()


def _report(fields: Fields, results: Analyse) -> bytes:
    """Return the folder that `bayes-bias report` writes, as an archive."""
    with TemporaryDirectory(prefix="bayes_bias-") as folder:
        write(report(results(fields).table), Path(folder, "report"), figures=())
        return Path(make_archive(str(Path(folder, "archive")), "zip", folder, "report")).read_bytes()


# For each kind of file, the label of its button, the end of its name, and a function that returns its content.
FILES: Mapping[str, tuple[str, str, Callable[[Fields, Analyse], bytes]]] = {
    "list": ("Word list (CSV)", ".csv", _list),
    "numbers": ("Numbers (CSV)", "-numbers.csv", _numbers),
    "plan": ("Registration (JSON)", "-plan.json", _plan),
    "report": ("Report (ZIP)", "-report.zip", _report),
}
