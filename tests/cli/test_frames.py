"""Tables in a terminal: nothing is broken that a reader must read in one piece."""

import re

import pandas as pd
import pytest

import bayes_bias
from bayes_bias.cli import console
from bayes_bias.cli.console import print_frame
from tests.helpers import says

FRAME = pd.DataFrame(
    {
        "label": ["female names, neutral", "overall"],
        "95% interval": ["[−0.064, +0.006]", "[+0.053, +0.103]"],
        "share of everything": [0.123456, 1.0],
    }
)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_print_frame_keeps_numbers_and_words_whole(capsys, monkeypatch, width):
    monkeypatch.setattr(console.out, "width", width)
    print_frame(FRAME)
    printed = capsys.readouterr().out
    for whole in ("[−0.064, +0.006]", "[+0.053, +0.103]", "0.1235", "female", "neutral", "everything"):
        assert whole in printed


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--rope", ".01"), ("--scope", "targets"), ("--words",)])
def test_summarize_command_fits_80_columns(run, monkeypatch, small_fit, more):
    monkeypatch.setattr(bayes_bias, "load_fit", lambda _: small_fit)
    monkeypatch.setattr(console.out, "width", 80)
    code, out, _ = run("summarize", "small.nc", *more)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"│ bias +│ overall +│ [+−]\d\.\d{3} │ \[[+−]\d\.\d{3}, [+−]\d\.\d{3}\] │", out)
    assert says(out, "converged R-hat")
