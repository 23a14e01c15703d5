"""Replicates as data: from frames and from tables, complete, over the words that all have, each kept by its label."""

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import AssociationTable, combine_replicates
from bayes_bias.errors import TableError
from bayes_bias.table.labels import belongs
from tests.helpers import random_table, refused, says

DESIGN = {"men": "work", "women": "home"}
COLUMNS = {
    "target": "target",
    "group": "group",
    "attribute": "attribute",
    "attribute_class": "attribute_class",
    "value": "cosine",
}


def tables(n: int = 3) -> dict[str, AssociationTable]:
    """The same words measured n times."""
    first = random_table()
    return {f"seed {seed}": replace(first, values=random_table(seed).values, notices=()) for seed in range(n)}


def read(frame: pd.DataFrame, **options: object) -> AssociationTable:
    given: dict[str, object] = {"stereotypes": DESIGN, "replicate": "seed", **COLUMNS, **options}
    return AssociationTable.from_frame(frame, **given)  # type: ignore[arg-type]


def without(table: AssociationTable, word: str, dim: str = "target") -> AssociationTable:
    return table.select(lambda values: values.drop_sel({dim: word}))


def regrouped(values: xr.DataArray) -> xr.DataArray:
    """The same words in each other's groups."""
    return values.assign_coords(group=("target", values.group.to_numpy()[::-1]))


def test_from_frame_keeps_replicates_from_to_frame():
    table = combine_replicates(tables(), "seed")
    again = read(table.to_frame())
    assert again.replicates.kind == "seed"
    assert again.replicates.labels == ("seed 0", "seed 1", "seed 2")
    assert again.replicates.stacked().identical(table.replicates.stacked())
    assert again.sha256 == table.sha256


def test_combine_replicates_values_equal_means_of_singles():
    given = tables()
    table = combine_replicates(given, "seed", name="both")
    assert table.name == "both"
    np.testing.assert_allclose(table.values, np.mean([table_given.values for table_given in given.values()], axis=0))
    for label, single in table.singles().items():
        assert single.values.identical(given[label].values)
        assert single.replicates is None


def test_combine_replicates_warns_about_words_missing_once(caplog):
    given = tables()
    given["seed 1"] = without(given["seed 1"], "men 0")
    given["seed 2"] = without(given["seed 2"], "neutral 12", "attribute")
    with caplog.at_level(logging.WARNING, "bayes_bias"):
        table = combine_replicates(given, "seed")
    assert table.values.shape == (10, 18)
    for notices in (table.notices, caplog.messages):
        for words in ("one target men 0", "one attribute neutral 12"):
            assert any(says(notice, words) for notice in notices)


def test_combine_replicates_warns_about_fewer_than_five():
    for number, is_reported in ((4, True), (5, False)):
        notices = combine_replicates(tables(number), "seed").notices
        assert any(says(notice, "depend prior") for notice in notices) == is_reported


def test_without_controls_selects_values_and_replicates():
    table = combine_replicates(tables(), "seed").without_controls()
    assert {single.shape for single in table.replicates.tables.values()} == {table.values.shape} == {(11, 11)}


def test_hash_depends_on_values_and_labels_of_replicates():
    given = tables(2)
    table = combine_replicates(given, "seed")
    swapped = combine_replicates(dict(zip(given, reversed(given.values()), strict=True)), "seed")
    renamed = combine_replicates({f"{label}!": table_given for label, table_given in given.items()}, "seed")
    np.testing.assert_allclose(swapped.values, table.values)
    alone = replace(table, replicates=None)
    assert len({table.sha256, swapped.sha256, renamed.sha256, alone.sha256}) == 4


def test_from_frame_raises_for_missing_cell_of_replicate():
    frame = combine_replicates(tables(), "seed").to_frame()
    hole = (frame.seed == "seed 1") & (frame.target == "men 1") & (frame.attribute == "work 2")
    with refused(TableError, "'seed 1' 'men 1' 'work 2'"):
        read(frame[~hole])


def test_from_frame_raises_for_repeated_replicate():
    frame = combine_replicates(tables(), "seed").to_frame()
    with refused(TableError, "one value"):
        read(frame.assign(seed=frame.seed.replace("seed 2", "seed 1")))


def test_from_frame_raises_for_rows_without_replicate():
    frame = combine_replicates(tables(), "seed").to_frame()
    with refused(TableError, "seed 209 627"):
        read(frame.assign(seed=frame.seed.where(frame.seed != "seed 1")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: dict([*given.items()][:1]), "two only 'seed 0'"),
        (lambda given: {}, "replicates seed two"),
        (lambda given: given | {"seed 1": combine_replicates(given, "seed")}, "replicates"),
        (
            lambda given: given | {"seed 1": replace(given["seed 1"], stereotypes={"women": "work"})},
            "stereotypes 'seed 0'",
        ),
        (lambda given: given | {"seed 1": given["seed 1"].select(regrouped)}, "'men 0' 'women' 'seed 1' 'men'"),
        (
            lambda given: given | {"seed 1": given["seed 1"].select(lambda values: values[:, np.arange(19) < 11])},
            "'neutral' seed",
        ),
    ],
)
def test_combine_replicates_raises_for_unsuitable_tables(change, said):
    with refused(TableError, said):
        combine_replicates(change(tables()), "seed")


def test_from_arrays_reads_replicates_like_combine_replicates():
    expected = combine_replicates(tables(), "seed", name="table")
    first = next(iter(tables().values())).values
    words = {"targets": belongs(first, "target"), "attributes": belongs(first, "attribute")}
    stacked = expected.replicates.stacked().to_numpy()
    labels = expected.replicates.labels
    found = AssociationTable.from_arrays(stacked, **words, stereotypes=DESIGN, replicates=labels, kind="seed")
    assert found.sha256 == expected.sha256
    assert found.replicates.kind == "seed"
    with refused(TableError, "(3, 11, 19) (11, 19)"):
        AssociationTable.from_arrays(stacked, **words, stereotypes=DESIGN)
    with refused(TableError, "'seed 0' more than once"):
        AssociationTable.from_arrays(stacked, **words, stereotypes=DESIGN, replicates=["seed 0"] * 3)


def test_from_frame_raises_for_kept_duplicates_with_replicates():
    frame = combine_replicates(tables(), "seed").to_frame()
    with refused(TableError, "duplicates 'keep'"):
        read(frame, duplicates="keep")


def test_combine_replicates_warns_about_bootstrapped_corpora(caplog):
    found = combine_replicates(tables(5), "bootstrap")
    assert says(found.notices, "5 bootstraps sentences halves separate corpora")
    assert not says(combine_replicates(tables(5), "corpus").notices, "sentences")
