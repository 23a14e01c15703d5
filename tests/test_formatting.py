"""How numbers are written, and small tables."""

from xml.etree import ElementTree

import pytest

from bayes_bias.formatting import Column, Layout, bounds, in_words, plain, probability, signed, value_and_interval


def test_numbers_match_journal_style():
    assert signed(-0.0144) == "−0.014"
    assert signed(-0.0001) == "0.000"
    assert bounds(-0.0131, 0.0424) == "[−0.013, +0.042]"
    assert [probability(p) for p in (0.00004, 0.0227, 0.316, 0.9907, 0.9999, 1.0)] == [
        "< .001", ".023", ".32", ".991", "> .999", "> .999",
    ]  # fmt: skip
    assert signed(float("nan")) == "—"


def test_value_and_interval_are_readable_for_tiny_and_large_numbers():
    assert value_and_interval(5.5e-7, -9.18e-9, 1.19e-6) == "+5.50e−07 [−9.18e−09, +1.19e−06]"
    assert value_and_interval(0.0, 0.0, 2e-6) == "0 [0, +2.00e−06]"
    assert value_and_interval(5.5e11, -9.2e10, 1.2e12, 2) == "+5.50e+11 [−9.20e+10, +1.20e+12]"
    assert value_and_interval(5.5e-7, 1e-7, 1.1e-6, sign="") == "5.50e−07 [1.00e−07, 1.10e−06]"
    assert value_and_interval(1234.5, -1000.25, 3500.0, 1) == "+1,234.5 [−1,000.2, +3,500.0]"
    assert value_and_interval(0.00002, -0.0004, 0.0006) == "0.000 [−0.0004, +0.001]"
    assert (signed(-2.5e7), plain(2.5e7, 0), plain(1234.5, 1)) == ("−2.50e+07", "2.50e+07", "1234.5")


def test_bounds_keep_sign_when_interval_excludes_zero():
    assert bounds(-0.035, -0.0004) == "[−0.035, −0.0004]"
    assert bounds(0.00004, 0.025) == "[+0.00004, +0.025]"
    assert bounds(-0.0351, -0.004, 1) == "[−0.04, −0.004]"
    assert bounds(0.0, 1e-12) == "[0.000, 0.000]"
    assert bounds(0.0004, 0.025, sign="") == "[0.000, 0.025]"  # a scale is on no side of zero


def test_mean_is_not_written_as_zero_if_its_interval_excludes_zero():
    assert value_and_interval(0.00012, 0.00002, 0.00022) == "+0.0001 [+0.00002, +0.0002]"
    assert value_and_interval(0.0004, -0.0001, 0.0009) == "0.000 [−0.0001, +0.001]"


def test_in_words_returns_words_up_to_ten():
    assert [in_words(n) for n in (0, 1, 10, 11, 1200)] == ["none", "one", "ten", "11", "1,200"]


@pytest.mark.parametrize("text", ["● distinguishable", "+0.1 [+0.0, +0.2]", "● distinguishable\nin short", "plain"])
def test_layout_cell_has_one_box_for_split_text(text):
    shown = Layout(["row"], [Column("verdict", [text])]).__html__()
    (cell,) = ElementTree.fromstring(shown.replace("&nbsp;", " ")).iter("td")
    assert len(cell) == (text != "plain")
    assert "".join(cell.itertext()).replace("\n", "") == text.replace("\n", "")


def test_markdown_table_keeps_its_columns_whatever_names_contain():
    table = Layout(["men|women <b>\nTitle"], [Column("bias", ["< .001"])], heading="list").markdown()
    row = table.splitlines()[-1]
    assert row.replace(r"\|", "").count("|") == 3
    assert r"men\|women \<b><br>Title" in row
    assert "< .001" in row
    assert len(table.splitlines()) == 3
