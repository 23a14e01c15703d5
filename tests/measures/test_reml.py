"""REML with Satterthwaite's degrees of freedom is lmerTest's t-test, and the dense restricted likelihood."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines
from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.measures import quasi_f, reml
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import REFERENCE, WEATS, random_table, refused

# Words that are kept of each group and class of a list: short ones beside long ones, on either side and on both.
UNEQUAL = {
    "weat1, 4 against 25": ("weat1", (4, 25), (25, 25)),
    "weat1, classes of 3 and 20": ("weat1", (25, 25), (3, 20)),
    "weat2, 3 against 20, classes of 15 and 4": ("weat2", (3, 20), (15, 4)),
    "weat7, 2 against 3, classes of 3 and 2": ("weat7", (2, 3), (3, 2)),
}
TABLES = (*WEATS, "gender", *UNEQUAL)


def reference_table(name: str) -> AssociationTable:
    """The table that lmerTest was given under this name."""
    if name not in UNEQUAL:
        return cosines(name, "googlenews-demo", controls=())
    wordlist, targets, attributes = UNEQUAL[name]
    table = cosines(wordlist, "googlenews-demo", controls=())
    rows = _first(table.group_index, targets)
    return replace(table, values=table.values[rows, _first(table.class_index, attributes)])


def _first(index: np.ndarray, kept: tuple[int, int]) -> np.ndarray:
    """So many words of the first and of the second category."""
    return np.concatenate([np.flatnonzero(index == 0)[: kept[0]], np.flatnonzero(index == 1)[: kept[1]]])


@pytest.mark.parametrize("name", TABLES)
def test_reml_matches_lmertest(name: str) -> None:
    """R 4.2.2, lme4 1.1.31, lmerTest 3.1-3, by tests/reference/lmertest.R; in two tables a variance is zero."""
    found, expected = reml(reference_table(name)), pd.read_csv(REFERENCE / "lmertest.csv", index_col="table").loc[name]
    assert (found.value, found.se, found.df, found.p_value) == pytest.approx(
        (expected.estimate, expected.se, expected.df, expected.p_value), rel=1e-5
    )
    assert (found.sd == 0).any() == expected.singular


def test_reml_standard_error_matches_quasi_f_in_balanced_designs() -> None:
    for seed in range(3):
        table = random_table(seed, targets={"men": 9, "women": 9}, attributes={"work": 7, "home": 7})
        assert reml(table).se == pytest.approx(quasi_f(table).se)


@pytest.mark.parametrize("seed", range(3))
def test_reml_variances_maximise_dense_likelihood(seed: int) -> None:
    table = random_table(seed, targets={"a": 3, "b": 4, "c": 5}, attributes={"A": 4, "B": 2, "C": 3, "other": 6})
    table = table.without_controls()
    sd = reml(table).sd
    best = _log_likelihood(table, sd.to_numpy())
    for effect in range(len(sd)):
        for factor in (0.97, 1.03):
            changed = sd.to_numpy().copy()
            changed[effect] = changed[effect] * factor or 0.03 * sd["residual"]
            assert _log_likelihood(table, changed) < best


def _log_likelihood(table: AssociationTable, sd: np.ndarray) -> float:
    """The restricted likelihood of all cosines with their whole covariance."""
    i, j = np.indices(table.values.shape).reshape(2, -1)
    g, c = table.group_index[i], table.class_index[j]
    same_g, same_c = np.equal.outer(g, g), np.equal.outer(c, c)
    same_i, same_j = np.equal.outer(i, i), np.equal.outer(j, j)
    groups, classes = len(table.groups), len(table.associated_classes)
    covariance = (
        sd[0] ** 2 * same_i
        + sd[1] ** 2 * same_i * (classes * same_c - 1) / (classes - 1)
        + sd[2] ** 2 * same_j
        + sd[3] ** 2 * same_j * (groups * same_g - 1) / (groups - 1)
        + sd[4] ** 2 * (same_i & same_j)
    )
    fixed = np.eye(groups * classes)[g * classes + c]
    precision = np.linalg.inv(covariance)
    information = fixed.T @ precision @ fixed
    y = table.values.to_numpy().ravel()
    residual = y - fixed @ np.linalg.solve(information, fixed.T @ precision @ y)
    return float(
        -0.5 * (np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1] + residual @ precision @ residual)
    )


def test_reml_of_one_group_omits_attribute_preference() -> None:
    found = reml(_one_group(random_table()))
    assert found.sd.index.tolist() == ["target", "target_preference", "attribute", "residual"]
    assert found.se > 0


def _one_group(table: AssociationTable) -> AssociationTable:
    rows = np.flatnonzero(table.group_index == 0)
    kept = table.values[rows, np.flatnonzero(table.class_index < 2)]
    return assemble(
        kept.to_numpy(),
        kept.group.to_series().to_dict(),
        kept.attribute_class.to_series().to_dict(),
        {"men": "work"},
        opposites=("home",),
    )


def test_reml_raises_for_invalid_options_and_tables() -> None:
    with refused(BayesBiasError, "ci_prob 95"):
        reml(random_table(), ci_prob=95)
    with refused(MeasureError, "REML 'men' 1 2"):
        reml(random_table(targets={"men": 1, "women": 5}))
    table = random_table()
    levels = table.values.mean("attribute") + table.values.mean("target")
    with refused(MeasureError, "REML residual"):
        reml(replace(table, values=levels.transpose(*table.values.dims)))


if __name__ == "__main__":  # what lmertest.R reads
    frames = (reference_table(name).to_frame().assign(table=name) for name in TABLES)
    pd.concat(frames).rename(columns={"attribute_class": "class"}).to_csv("lmertest-tables.csv", index=False)
