"""One reader of tables: numbers of a criterion as other programs write them."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias.analyses.criterion.data import Biases, CriterionData, outside_of, read
from bayes_bias.errors import CriterionError, TableError
from bayes_bias.spreadsheets import as_numbers_of, read_frame
from tests.helpers import says

LABELS = ["nurse", "clerk", "judge", "pilot", "NA"]
NUMBERS = [[0.0173, 0.01, 54.5], [-0.0411, 0.02, 73.3], [0.0165, 0.01, 7.0], [0.5, 0.01, 15.7], [0.1, 0.03, 1234.5]]
HEADINGS = ["label", "bias", "sd", "criterion"]


def written(between: str = ",", decimal: str = ".", headings: list[str] = HEADINGS, quote: str = "", end="") -> str:
    lines = [between.join(headings)]
    for label, row in zip(LABELS, NUMBERS, strict=True):
        numbers = [f"{quote}{number:g}{end}{quote}".replace(".", decimal) for number in row]
        lines.append(between.join([label, *numbers]))
    return "\n".join(lines)


def data_of(path) -> CriterionData:
    return CriterionData.of(Biases.from_frame(read(path, "biases")), outside_of(path))


@pytest.mark.parametrize(
    "text",
    [
        written(),
        written(";"),
        written(";", ","),
        written("\t", ","),
        written(",", ",", quote='"'),
        written(headings=["label ", " bias", "sd", " criterion "]),
        written(headings=["", *HEADINGS[1:]]),  # names of rows, as R writes them
        "\n".join(f"{k or ''},{line}" for k, line in enumerate(written().splitlines())),  # numbers of rows
        written(" ,"),
    ],
)
def test_criterion_tables_are_read_in_every_layout(tmp_path, text):
    (tmp_path / "c.csv").write_text(text)
    read_in = data_of(tmp_path / "c.csv")
    assert read_in.labels == LABELS
    assert np.array_equal(np.c_[read_in.biases.values, read_in.biases.sd, read_in.criterion].round(9), NUMBERS)


def test_as_numbers_of_reads_percentages_as_hundredths(tmp_path):
    assert as_numbers_of(["54.5%", "", "7 %"])[0] == 0.545
    (tmp_path / "c.csv").write_text("label,criterion\n" + "\n".join(f"l{k},{k}0%" for k in range(1, 6)))
    assert outside_of(tmp_path / "c.csv").criterion.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("cells", "position", "words"),
    [
        (["54,475", "73,345"], 0, "54475 or 54.475 write"),
        (["12", "1,234,567"], 1, "1234567"),
        (["12%", "12"], 1, "write all in one unit"),
        (["12", "12 kg"], 1, "not number"),
    ],
)
def test_as_numbers_of_raises_for_ambiguous_numbers(tmp_path, cells, position, words):
    with pytest.raises(ValueError, match=r".") as error:
        as_numbers_of(cells)
    assert error.value.position == position
    assert says(error.value, words)
    path = tmp_path / "c.csv"
    path.write_text("label,criterion\n" + "\n".join(f'l{k},"{cell}"' for k, cell in enumerate(cells * 2)))
    with pytest.raises(CriterionError) as error:
        CriterionData.of(Biases.of(pd.Series({f"l{k}": float(k) for k in range(4)}), np.eye(4)), outside_of(path))
    assert says(error.value, words)


def test_as_numbers_of_reads_decimal_commas_from_other_cells():
    assert as_numbers_of(["0,345", "12,125"]) == [0.345, 12.125]
    assert as_numbers_of(["54,475", "73,34"]) == [54.475, 73.34]


def test_read_frame_keeps_labels_nan_and_leading_zeros(tmp_path):
    (tmp_path / "p.csv").write_text("item,word,zip,x\n1,nan,007,\n2,inf,008,3\n")
    read_in = read_frame(tmp_path / "p.csv", "p", TableError)
    assert read_in.item.tolist() == [1, 2]
    assert read_in.word.tolist() == ["nan", "inf"]
    assert read_in["x"].isna().tolist() == [True, False]
    assert read_in["zip"].tolist() == ["007", "008"]


def test_criterion_data_warns_about_errors_in_other_unit(tmp_path):
    path = tmp_path / "c.csv"
    heading = "label,bias,sd,criterion,criterion_se"
    for se, is_noticed in (("1.2", True), ("0.012", False)):
        path.write_text("\n".join([heading, *(f"l{k},0.{k},0.01,0.{k}5,{se}" for k in range(1, 7))]))
        notices = data_of(path).notices
        assert bool(notices) == is_noticed
        assert not is_noticed or says(notices[0], "standard error criterion 6.4 times same unit")


def test_outside_of_raises_for_duplicate_headings(tmp_path):
    (tmp_path / "c.csv").write_text("label,criterion,criterion \na,1,2\n")
    with pytest.raises(CriterionError, match="two columns with the heading 'criterion'"):
        outside_of(tmp_path / "c.csv")
