"""Figures as files: what a font cannot show is told, once for each file."""

import pytest
from matplotlib.figure import Figure
from PIL import Image

from bayes_bias.documents.writer import render_in_background, rendered, write_figures
from tests.helpers import says


def test_write_figures_warns_about_missing_letters_of_fonts(tmp_path, caplog):
    plain, odd = Figure().add_subplot(), Figure().add_subplot()
    plain.set_title("nurse")
    odd.set_title("\U00012000\U00012001")
    formats = ["svg", "png"]
    with render_in_background({"plain": plain, "odd": odd}, formats) as figures:
        svgs = write_figures(figures, tmp_path / "figures", formats)
    (message,) = caplog.messages
    assert says(message, "odd.png letters index.html")
    assert "nurse" in svgs["plain"].decode()
    assert (tmp_path / "figures" / "odd.svg").read_bytes() == svgs["odd"]
    with Image.open(tmp_path / "figures" / "plain.png") as image:
        assert min(image.info["dpi"]) >= 200


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_rendered_returns_requested_format(suffix, begins):
    assert rendered(Figure(), suffix).startswith(begins)
