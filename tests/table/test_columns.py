"""One name for one thing in every table: the page lists the names, and no module spells bounds of its own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_bias as bb
from bayes_bias.analyses.comparison.comparison import Comparison
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.results import _WEAT
from bayes_bias.analyses.sentence_pairs.published import paired, published
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.analyses.sweep.results import _tables
from bayes_bias.checks.calibration import rates
from bayes_bias.checks.clusters import leave_out
from bayes_bias.debiasing.damage import Damage
from bayes_bias.table.columns import interval_columns, interval_names, interval_of
from bayes_bias.table.files import table_rows
from bayes_bias.table.related_words import COLUMNS
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import unlisted_columns

ROOT = Path(__file__).parents[2]


def test_interval_columns_returns_bounds_of_named_quantity():
    row = pd.Series({"mean": 1.0, "rank_eti95_lb": 3, "rank_eti95_ub": 4, "eti95_lb": 0.5, "eti95_ub": 1.5})
    assert interval_of(row) == (0.5, 1.5)
    assert interval_of(row.to_frame().T, "rank")[1].item() == 4
    assert interval_columns(row, "rank") == interval_names(of="rank")
    with pytest.raises(StopIteration):
        interval_columns(row, "pooled")


@pytest.mark.parametrize("ci_prob", [0.5, 0.89, 0.29, 0.945, 0.999])
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_interval_names_match_columns_of_arviz(ci_prob, kind):
    import arviz_stats

    draws = xr.Dataset({"x": (("chain", "draw"), np.random.default_rng(1).normal(size=(4, 50)))})
    summary = arviz_stats.summary(draws, ci_prob=ci_prob, ci_kind=kind)
    assert interval_columns(summary) == interval_names(ci_prob, kind)


def test_package_contains_no_literal_bound_columns():
    for path in (ROOT / "bayes_bias").rglob("*.py"):
        for text in _keys(ast.parse(path.read_text(encoding="utf-8"))):
            assert not re.fullmatch(r"(\w+_)?(lower|upper)", text), f"{path.name}: {text}"


def _keys(tree: ast.AST) -> Iterator[str]:
    """Strings that are keys of dictionaries, or name columns."""
    for node in ast.walk(tree):
        keys = node.keys if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.Subscript):
            keys = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
        yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def test_columns_page_contains_columns_of_tables(small_table):
    measured = bb.measures.measure_all(small_table).table
    before, after = read_scores("pairs-demo"), read_scores("pairs-demo-even")
    shares = (published(before, 0.95), paired(before, after, 0.95))
    assert unlisted_columns(measured, made_sweep().cells, *shares) == set()


def test_columns_page_contains_columns_of_nulls():
    record = {"method": "WEAT", "scope": "targets", "mean": 0.1, "p_value": 0.5}
    assert unlisted_columns(rates(pd.DataFrame([record, record])).reset_index()) == set()


def test_columns_page_contains_columns_of_files_of_a_report(small_table):
    names = [name for checker in CHECKERS for name in checker.columns if "ci95" not in name]
    likewise = {"weat_|published_": "", "attributes": "targets", "cluster": "word"}  # as the page says
    checks = pd.Series(names).replace(likewise, regex=True)
    files = [pd.DataFrame(columns=checks), pd.DataFrame(columns=_WEAT), leave_out(small_table)]
    assert unlisted_columns(*files) == set()


def test_columns_page_contains_columns_of_files_of_a_sweep():
    damage = {name: Damage(100, 0.9, 0.85, 0.94, 0.01) for name in ("hard", "theirs")}
    sweep = made_sweep(versions=("hard", "theirs")).with_damage(damage)
    pooled_files = pd.DataFrame(columns=["of", "more", "less", "probability", "df"])
    frames = [frame.reset_index(drop=frame.index.names == [None]) for frame in _tables(sweep).values()]
    assert unlisted_columns(*(frame.drop(columns="index", errors="ignore") for frame in frames), pooled_files) == set()


def test_columns_page_contains_columns_of_table_files_and_random_lists():
    table = bb.cosines("weat7", "googlenews-demo", ())
    of_attributes = {f"attribute_{name}": f"target_{name}" for name in COLUMNS}  # as the page says
    rows = table_rows(table).drop(columns="cosine").rename(columns=of_attributes)
    assert unlisted_columns(rows, bb.calibrate(table, draws=3).records) == set()


@pytest.mark.slow
def test_columns_page_contains_columns_of_posteriors(small_fit: xr.DataTree, planted: Comparison):
    """Those of gaps, pairs and criteria are looked for where these are sampled."""
    missing = unlisted_columns(
        bb.summarize(small_fit, rope=0.01),
        bb.summarize(small_fit, ci_prob=0.89),
        bb.summarize(small_fit, ci_kind="hdi"),
        planted.bias,
        planted.measures,
        planted.to_frame().drop(columns="quantity"),
    )
    assert missing == set()
