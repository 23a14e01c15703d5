"""Replicates on the command line: several embeddings that are one, and columns of CSV files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayes_bias import combine_replicates, cosines, open_embedding, save_vectors
from bayes_bias.cli.table_source import TableSource
from bayes_bias.table.files import read_table
from tests.helpers import says


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Two trainings of the words of WEAT 7."""
    rng = np.random.default_rng(0)
    demo = open_embedding("googlenews-demo")
    values = cosines("weat7", demo, ()).values
    vectors = demo.find([*values.target.values, *values.attribute.values])
    paths = [tmp_path / f"seed-{n}.npz" for n in (1, 2)]
    for path in paths:
        save_vectors({w: v + 0.02 * rng.normal(size=v.shape) for w, v in vectors.items()}, path)
    return [str(path) for path in paths]


def test_weat_command_joins_embeddings_as_replicates(run, two):
    opened = TableSource(embedding=two, replicates="seed").opened([])
    assert opened.text.startswith("2 seeds, 300 dimensions x 2 seeds")
    code, out, _ = run("weat", "weat7", "-e", two[0], "-e", two[1], "--replicates", "seed")
    assert code == 0
    assert "effect size d" in out


def test_read_table_reads_replicates_from_column(small_table, tmp_path):
    tables = {f"a{k}": replace(small_table, values=small_table.values + 0.01 * k) for k in range(2)}
    table = combine_replicates(tables, "template")
    table.to_frame().to_csv(tmp_path / "mine.csv", index=False)
    read = read_table(tmp_path / "mine.csv", {"men": "work", "women": "home"}, replicate="template")
    assert read.replicates.kind == "template"
    np.testing.assert_allclose(read.replicates.stacked(), table.replicates.stacked())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "weat7", "-e", "{0}", "-e", "{1}"), "--embedding 2"),
        (("fit", "weat7", "-e", "{0}", "--replicates", "seed"), "'seed-1' seed"),
        (("plan", "weat7", "--bias", "0.02", "-e", "{0}", "-e", "{0}", "--replicates", "seed"), "2 seeds 'seed-1'"),
        (("plan", "weat7", "--bias", "0.02", "--n-targets", "8", "--out", "plan.png"), "--n-targets 20,40"),
        (("stability", "weat7", "-e", "{0}"), "embeddings 'seed-1'"),
        (("stability", "weat7"), "'googlenews-demo' training"),
        (("stability", "weat7", "-e", "{0}", "-e", "minilm-demo"), "'minilm-demo' replicates"),
        (("report", "weat7", "-e", "{0}", "--replicates", "seed"), "'seed-1' seed"),
        (("compare", "weat7", "--before", "{0}", "--before", "{1}", "--after", "{0}"), "--embedding 2"),
    ],
)
def test_commands_reject_invalid_replicates(run, two, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*(argument.format(*two) for argument in arguments))
    assert code == 2
    assert says([line for line in err.splitlines() if line.startswith("error: ")][-1], message)
