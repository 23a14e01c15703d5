"""`bayes-bias table` makes of anything a file that all other commands take as it is."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.table.files import read_table
from bayes_bias.table.metric import LOG_PROBABILITY
from tests.helpers import says

WEAT6 = ("--stereotype", "male names=career", "--stereotype", "female names=family")


@pytest.fixture
def weat6() -> bb.AssociationTable:
    return bb.cosines("weat6", "googlenews-demo", controls=())


def effect_size(table: bb.AssociationTable) -> str:
    return f"{bb.measures.weat(table).effect_size:.4g}"


def test_table_command_writes_file_for_use_without_options(run, weat6, tmp_path):
    frame = weat6.to_frame().rename(columns={"target": "name", "attribute_class": "kind", "cosine": "score"})
    frame = frame.assign(score=frame.score - 20, notes="mine")
    frame.to_csv(tmp_path / "mine.csv", index=False, sep=";", decimal=",")
    headings = ("--target", "name", "--class", "kind", "--value", "score", "--metric", "log-probability")
    code, out, err = run("table", tmp_path / "mine.csv", *headings, *WEAT6, "--out", tmp_path / "made.csv")
    assert code == 0, err
    assert says(out, "16 targets log probabilities male names = career")
    made = read_table(tmp_path / "made.csv")
    assert made.metric == LOG_PROBABILITY
    np.testing.assert_allclose(made.values, weat6.values - 20)
    assert effect_size(weat6) in run("weat", tmp_path / "made.csv")[1]


def test_table_command_keeps_name_and_unit_of_metric(run, weat6, tmp_path):
    weat6.to_frame().rename(columns={"cosine": "nearness"}).to_csv(tmp_path / "mine.csv", index=False)
    metric = ("--metric", "nearness", "--unit", "minus metres")
    run("table", tmp_path / "mine.csv", *metric, *WEAT6, "--out", tmp_path / "made.csv")
    assert read_table(tmp_path / "made.csv").metric == bb.Metric("nearness", unit="minus metres")


@pytest.mark.parametrize("given", [(), ("--metric", "log-probability")])
def test_table_command_requires_metric_for_numbers_outside_range(run, weat6, tmp_path, given):
    frame = weat6.to_frame().rename(columns={"cosine": "score"}).assign(score=lambda rows: 8 * rows.score - 1)
    frame.to_csv(tmp_path / "mine.csv", index=False)
    command = ("table", tmp_path / "mine.csv", "--value", "score", *WEAT6, "--out", tmp_path / "made.csv")
    code, _, err = run(*command, *given)
    assert code == 2
    assert says(err, "value for John more rows --metric NAME")
    assert run(*command, "--metric", "association")[0] == 0
    np.testing.assert_allclose(read_table(tmp_path / "made.csv").values, 8 * weat6.values - 1)


def test_table_command_reads_matrix_of_list(run, weat6, tmp_path):
    weat6.values.to_pandas().to_csv(tmp_path / "matrix.csv")
    code, _, err = run("table", "weat6", "--matrix", tmp_path / "matrix.csv", "--out", tmp_path / "made.csv")
    assert code == 0, err
    np.testing.assert_allclose(read_table(tmp_path / "made.csv").values, weat6.values)
    code, _, err = run("weat", tmp_path / "matrix.csv")
    assert code == 2
    assert says(err, "--matrix matrix.csv")


@pytest.mark.parametrize(
    ("wordlist", "options", "measured"),
    [
        ("weat7", ("-e", "minilm-demo"), lambda: bb.cosines("weat7", "minilm-demo")),
        ("weat7", ("--metric", "dot"), lambda: bb.similarities("weat7", "googlenews-demo", similarity="dot")),
        ("gender", ("--controls", "none"), lambda: bb.cosines("gender", "googlenews-demo", ())),
        ("one.toml", ("--controls", "neutral"), lambda: bb.cosines("one.toml", "googlenews-demo", ["neutral"])),
    ],
    ids=["replicates", "dot product", "topics or pairs", "one group against opposites"],
)
def test_table_command_keeps_design_of_measured_list(run, tmp_path, monkeypatch, wordlist, options, measured):
    monkeypatch.chdir(tmp_path)
    Path("one.toml").write_text(
        'opposites = ["female"]\n[groups]\nmath = ["math", "algebra", "geometry"]\n[classes]\n'
        'male = ["he", "him", "man"]\nfemale = ["she", "her", "woman"]\n[stereotypes]\nmath = "male"\n'
    )
    code, _, err = run("table", wordlist, *options, "--out", "made.csv")
    assert code == 0, err
    made, expected = read_table(tmp_path / "made.csv"), measured()
    assert (made.design, made.labels, made.controls) == (expected.design, expected.labels, expected.controls)
    assert made.metric.name == expected.metric.name
    pd.testing.assert_frame_equal(made.to_frame(), expected.to_frame(), check_exact=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("weat", "mine.csv"), "mine.csv men 'men=work' bayes-bias table"),
        (("table", "mine.csv", "--value", "score"), "mine.csv 'score' --value"),
        (("table", "mine.csv", "--label", "topic=x"), "--label 'topic' target_topic"),
        (("table", "mine.csv", "--class", "kind"), "mine.csv 'kind' --class"),
        (("table", "mine.csv", "--label", "target_topic=x"), "mine.csv 'x' --label target_topic"),
        (("table", "mine.csv", "-e", "minilm-demo"), "--embedding 'mine.csv'"),
        (("table", "mine.csv", "--metric", "dot", "--unit", "m"), "--unit 'm' 'dot'"),
        (("table", "weat7", "--metric", "cos"), "--metric 'cos' 'cosine'"),
        (("table", "weat7", "--metric", "dot", "--masked", "bert"), "--metric 'dot' --masked"),
        (("table", "weat7", "--causal", "gpt", "--masked", "bert"), "--masked bert --causal gpt Use one"),
        (("table", "weat7", "--masked", "bert", "--dtype", "bfloat16"), "--dtype 'bfloat16' causal"),
        (("table", "weat7", "--dtype", "bfloat16"), "--dtype 'bfloat16' causal"),
        (("table", "weat7", "--device-map", "auto"), "--device-map 'auto' causal"),
        (("table", "weat7", "--target", "name"), "--target 'name' 'weat7'"),
        (("table", "weat7", "--stereotype", "math=male"), "--stereotype spreadsheets"),
        (("table", "weat7", "--pooling", "cls"), "--pooling 'cls' encoder"),
        (("table", "weat7", "--matrix", "m.csv", "--masked", "bert"), "--matrix --masked"),
        (("table", "weat7", "--matrix", "missing.csv"), "'missing.csv' --matrix targets attributes"),
        (("table", "weat7", "--out", "made.xlsx"), "--out 'made.xlsx' .csv"),
        (("calibrate", "mine.csv"), "'mine.csv' numbers words"),
    ],
)
def test_commands_write_no_file_for_invalid_table_options(run, small_table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    small_table.to_frame().to_csv("mine.csv", index=False)
    out = ("--out", "made.csv") if arguments[0] == "table" and "--out" not in arguments else ()
    code, _, err = run(*arguments, *out)
    assert code == 2
    assert says([line for line in err.splitlines() if line.startswith("error: ")][-1], message)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


def test_table_command_reads_parquet_with_named_columns(run, weat6, tmp_path):
    weat6.to_frame().rename(columns={"cosine": "score"}).to_parquet(tmp_path / "mine.parquet")
    code, _, err = run("table", tmp_path / "mine.parquet", "--value", "score", *WEAT6, "--out", tmp_path / "made.csv")
    assert code == 0, err
    assert effect_size(read_table(tmp_path / "made.csv")) == effect_size(weat6)


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("reverse", [False, True])
def test_table_command_reads_pairs_of_words_with_list(run, weat6, tmp_path, delimiter, reverse):
    rows = weat6.to_frame().rename(columns={"target": "term1", "attribute": "term2"})
    words = ["term2", "term1"] if reverse else ["term1", "term2"]
    rows[[*words, "cosine"]].to_csv(tmp_path / "pairs.csv", index=False, sep=delimiter)
    code, _, err = run("table", tmp_path / "pairs.csv", *WEAT6, "--out", tmp_path / "made.csv")
    assert code == 2
    assert says(err, "table of pairs --matrix pairs.csv")
    code, _, err = run("table", "weat6", "--matrix", tmp_path / "pairs.csv", "--out", tmp_path / "made.csv")
    assert code == 0, err
    assert effect_size(read_table(tmp_path / "made.csv")) == effect_size(weat6)


def test_table_command_rejects_contradictory_pairs_and_distances_of_pairs(run, weat6, tmp_path):
    rows = weat6.to_frame()[["target", "attribute", "cosine"]]
    twice = pd.concat([rows, rows.iloc[:1].assign(cosine=0.9)])
    twice.to_csv(tmp_path / "pairs.csv", index=False)
    command = ("table", "weat6", "--matrix", tmp_path / "pairs.csv", "--out", tmp_path / "made.csv")
    code, _, err = run(*command)
    assert code == 2
    assert says(err, "pairs.csv 0.9 'John' remove row")
    rows.assign(cosine=1 - rows.cosine).rename(columns={"cosine": "distance"}).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    code, _, err = run(*command)
    assert code == 2
    assert says(err, "'distance' farther --metric distance --larger farther")
    assert run(*command, "--metric", "distance", "--larger", "farther")[0] == 0
    assert effect_size(read_table(tmp_path / "made.csv")) == effect_size(weat6)
