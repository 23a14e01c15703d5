"""Figures as files: what a font cannot show is told, once for each file."""

from matplotlib.figure import Figure
from PIL import Image

from bayes_bias.documents.figures import render_in_background, write_figures
from tests.helpers import says


def test_missing_letters_of_fonts_are_reported(tmp_path, caplog):
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
