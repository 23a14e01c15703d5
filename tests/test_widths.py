"""The check of widths that `make docs` runs finds what made pages of the site unreadable."""

import shutil
from pathlib import Path

import pytest

from scripts.check_widths import BROWSERS, faults

TEXT = "How often do measures find a bias in lists of random words, where there is none, in vectors of several kinds?"
ROW = f"<tr><td>Question</td><td>{TEXT}</td><td>{TEXT}</td></tr>"
TABLE = f"<table><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody>{3 * ROW}</tbody></table>"
STYLES = {
    "td {overflow-wrap: anywhere}": (),
    "#evidence td {white-space: nowrap}": ("px wide", "reaches to"),
    "table {display: grid; height: 90px} thead, tbody {grid-area: 1 / 1}": ("covers its rows",),
}


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="needs Chromium")
@pytest.mark.parametrize("style", STYLES)
def test_faults_reports_unreadable_tables_only(tmp_path: Path, style: str) -> None:
    page = f"<!doctype html><style>{style}</style><article id='evidence'>{TABLE}</article>"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    found = " ".join(fault for page_faults in faults(tmp_path).values() for fault in page_faults)
    assert [fault in found for fault in STYLES[style]] == [True] * len(STYLES[style])
    assert bool(found) == bool(STYLES[style])
