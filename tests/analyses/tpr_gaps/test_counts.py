"""What a user may get wrong about labels is answered in one line that names it and says what to do."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias.analyses.tpr_gaps.counts import count
from bayes_bias.errors import TprGapsError
from tests.helpers import refused, says

Y = ["nurse", "nurse", "poet", "poet"]
GROUP = ["F", "M", "F", "M"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((Y, Y[:3], GROUP), 'y 4 prediction 3 group 4'),
        ((Y, [*Y[:3], None], GROUP), 'prediction 1 of 4'),
        ((Y, Y, ["F", np.nan, "F", "M"]), 'group 1 of 4'),
        ((Y, Y, ["F"] * 4), "group 'F' two"),
        ((Y, Y, ["F", "F", "F", "M"]), '1 of 2 classes'),
        ((["a", "b"], ["a", "b"], ["F", "M"]), 'leave_out=True --leave-out'),
        (([1, 1, 0, 0], ["1", "1", "0", "0"], GROUP), 'prediction y'),
        (("y", Y, GROUP), "y 'y'"),
        (([], [], []), 'no rows person'),
        (([Y], [Y], [GROUP]), 'y 2 dimension'),
    ],
)  # fmt: skip
def test_count_raises_for_bad_labels(given: tuple, said: str):
    with refused(TprGapsError, said):
        count(*given)


def test_count_omits_class_with_leave_out(caplog: pytest.LogCaptureFixture):
    found = count([*Y, "pope"], [*Y, "pope"], [*GROUP, "M"], leave_out=True)
    assert found.classes == ["nurse", "poet"]
    (notice,) = found.notices
    assert says(notice, "'pope' 'F'")
    assert "pope" in caplog.text
    with refused(TprGapsError, "no class every group"):
        count(["a", "b"], ["a", "b"], ["F", "M"], leave_out=True)


def test_count_names_classes_that_are_never_predicted():
    y, groups = [*Y, "pope", "pope"], [*GROUP, "F", "M"]
    said = ["nurse ", "nurse ", "poet", "poet", "poet", "poet"]
    never, respelled = count(y, said, groups).notices
    assert never == "never predicted, so that the rate is 0 in every group: 'nurse', 'pope'"
    assert says(respelled, "2 predictions differ only in case or spaces 'nurse ' from 'nurse' count as wrong")
    (respelled,) = count(Y, [Y[0].upper(), *Y[1:]], GROUP).notices  # also if others are right
    assert says(respelled, "1 predictions differ 'NURSE' from 'nurse'")
    assert count(y, y[::-1], groups).notices == ()
    assert count(["A", "A", "a", "a"], ["A", "A", "a", "a"], GROUP).notices == ()
    assert count([0, 0, 1, 1], [0, 0, 0, 1], GROUP).notices == ()


def test_count_raises_for_blank_label():
    with refused(TprGapsError, "group missing for 1 of 4"):
        count(Y, Y, ["F", "", "F", "M"])


def test_count_reads_columns_of_frame_or_file(tmp_path: Path):
    frame = pd.DataFrame({"job": Y, "said": ["nurse", "poet", "poet", "poet"], "gender": GROUP})
    frame.to_csv(tmp_path / "people.csv", index=False)
    for data in (frame, tmp_path / "people.csv", str(tmp_path / "people.csv")):
        found = count("job", "said", "gender", data)
        assert found.hits.loc["nurse"].to_dict() == {"F": 1, "M": 0}
    with refused(TprGapsError, "y 'y' gender job said"):
        count("y", "said", "gender", frame)
    with refused(TprGapsError, "data file"):
        count("y", "said", "gender", "nowhere.csv")


def test_count_reads_na_as_label_and_rejects_empty(tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("y,prediction,group\nNA,NA,F\nNA,1,M\n1,1,F\n1,1,M\n", encoding="utf-8")
    assert count("y", "prediction", "group", path).classes == ["1", "NA"]
    path.write_text("y,prediction,group\nNA,,F\nNA,1,M\n", encoding="utf-8")
    with refused(TprGapsError, "prediction 1 of 2"):
        count("y", "prediction", "group", path)


@pytest.mark.parametrize(
    ("column", "first", "second"), [("model", "a", "b"), ("seed", 1, 2), ("prompt_version", "x", "y")]
)
def test_count_raises_for_several_classifiers_without_ignore(column, first, second):
    frame = pd.DataFrame({"y": ["c", "d"] * 8, "prediction": ["c", "c", "d", "d"] * 4, "group": ["F"] * 8 + ["M"] * 8})
    frame[column] = [first, second] * 8
    names = ("y", "prediction", "group")
    with refused(TprGapsError, f"data '{column}' 2 values predictions ignore=['{column}'] (--ignore"):
        count(*names, frame)
    assert count(*names, frame, ignore=column).people.equals(count(*names, frame.drop(columns=column)).people)
    assert says(" ".join(count(*names, frame, ignore=column).notices), f"predictions '{column}' pooled")
    assert count(*names, frame[frame[column] == first], leave_out=True).people.to_numpy().sum() == 8
    assert count(*names, frame.rename(columns={column: "language"})).notices == ()
