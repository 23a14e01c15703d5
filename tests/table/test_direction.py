"""Larger values of a table mean closer, or the table says so and reverses them."""

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.errors import TableError
from bayes_bias.table.files import read_table
from bayes_bias.table.metric import direction_of
from bayes_bias.table.similarity import Similarity
from tests.helpers import refused, says

WEAT6 = {"male names": "career", "female names": "family"}
COLUMNS = {"target": "target", "group": "group", "attribute": "attribute", "attribute_class": "attribute_class"}
OPTIONS = ("--stereotype", "male names=career", "--stereotype", "female names=family")
D = 1.889868  # of the similarities
FARTHER = {"distance": 1.0, "cosine distance": 1.0, "surprisal": 20.0, "Perplexity": 90.0, "log_loss": 3.0, "RT": 700.0}


@pytest.fixture(scope="module")
def similarities() -> pd.DataFrame:
    return bb.cosines("weat6", "googlenews-demo", controls=()).to_frame()


def effect_size(table: bb.AssociationTable) -> float:
    return round(bb.measures.weat(table).effect_size, 6)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("cosine distance", "farther"),
        ("negative log likelihood", "farther"),
        ("-cosine", "farther"),
        ("1 - cosine", "farther"),
        ("euclideanDistance", "farther"),
        ("mean_dist", "farther"),
        ("Abstand", "farther"),
        ("negative distance", "closer"),
        ("1/distance", "closer"),
        ("minus Euclidean distance", "closer"),
        ("log-probability", "closer"),
        ("dot product", "closer"),
        ("closeness", "closer"),
        ("score", None),
        ("distant", None),
    ],
)
def test_direction_of_returns_meaning_of_larger_values(name, direction):
    assert direction_of(name) == direction


@pytest.mark.parametrize("name", FARTHER)
def test_from_frame_rejects_column_and_metric_named_farther_and_reverses_declared_metric(similarities, name):
    rows = similarities.rename(columns={"cosine": name})
    rows[name] = FARTHER[name] - rows[name]

    def table(metric: bb.Metric, value: str = name) -> bb.AssociationTable:
        frame = rows.rename(columns={name: value})
        return bb.AssociationTable.from_frame(frame, **COLUMNS, value=value, stereotypes=WEAT6, metric=metric)

    with refused(TableError, f"'{name}' farther reverse larger='farther' --larger"):
        table(bb.Metric("score", unit="points"))
    with refused(TableError, f"'{name}' farther reverse larger='farther' --larger"):
        table(bb.Metric(name, unit="points"), "value")
    declared = table(bb.Metric(name, unit="points", larger="farther"))
    original = bb.AssociationTable.from_frame(similarities, **COLUMNS, value="cosine", stereotypes=WEAT6)
    assert effect_size(declared) == effect_size(original) > 0
    assert declared.metric == bb.Metric(f"negative {name}", unit="points", larger="closer")


def test_from_frame_logs_direction_of_measure_without_one(similarities):
    def notices(metric: bb.Metric) -> tuple[str, ...]:
        rows = similarities.rename(columns={"cosine": "value"})
        return bb.AssociationTable.from_frame(rows, **COLUMNS, value="value", stereotypes=WEAT6, metric=metric).notices

    (notice,) = notices(bb.Metric("score", unit="points"))
    assert says(notice, "larger values of 'score' closer larger='farther' --larger")
    assert notices(bb.Metric("score", unit="points", larger="closer")) == notices(bb.Metric("nearness", "points")) == ()
    with refused(TableError, "larger 'further' closer farther"):
        notices(bb.Metric("score", unit="points", larger="further"))
    with refused(TableError, "'nearness' mean closer omit correct"):
        notices(bb.Metric("nearness", unit="points", larger="farther"))


@pytest.mark.parametrize("heading", ["distance", "surprisal"])
@pytest.mark.parametrize("metric", [(), ("--metric", "distance")])
def test_table_command_prints_option_that_reverses_distances(run, similarities, tmp_path, heading, metric):
    rows = similarities.assign(**{heading: 1 - similarities.cosine}).drop(columns="cosine")
    rows.to_csv(tmp_path / "far.csv", index=False, sep=";", decimal=",")
    command = ("table", tmp_path / "far.csv", "--value", heading, *OPTIONS, "--out", tmp_path / "t.csv")
    code, _, err = run(*command, *metric)
    assert code == 2
    assert says(err, "farther reverse --metric --larger farther")
    for printed in (("--metric", heading, "--larger", "farther"), (*metric, "--larger", "farther")):
        code, _, err = run(*command, *printed, "--overwrite")
        assert code == 0, err
        assert effect_size(read_table(tmp_path / "t.csv")) == pytest.approx(D, abs=1e-6)


def test_table_command_rejects_unknown_direction(run, similarities, tmp_path):
    similarities.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = run("table", tmp_path / "t.csv", *OPTIONS, "--larger", "more", "--out", tmp_path / "out.csv")
    assert code == 2
    assert says(err, "--larger 'more' closer farther")


def test_cosines_from_matrix_rejects_distances_of_words_to_themselves(similarities):
    matrix = 1 - similarities.pivot_table(index="target", columns="attribute", values="cosine")
    square = matrix.combine_first(matrix.T)
    for word in square:
        square.loc[word, word] = 0.0
    with refused(TableError, "32 words value 0 with itself larger='farther'"):
        cosines_from_matrix(square, "weat6")
    distances = bb.Metric("distance", unit="distance", larger="farther")
    assert effect_size(cosines_from_matrix(square, "weat6", metric=distances)) == pytest.approx(D, abs=1e-6)


def test_similarity_rejects_metric_of_distances():
    with refused(TableError, "'far' 'distance' farther minus 'negative distance'"):
        Similarity("far", bb.Metric("distance", "m", larger="farther"), lambda x, a: x @ a.T)
    with refused(TableError, "'distance' farther"):
        Similarity("far", bb.Metric("distance", "m"), lambda x, a: x @ a.T)
