"""The atlas shows every cell, also those that failed, did not converge, or were only screened."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import bayes_bias as bb
from bayes_bias.analyses.sweep.plots import looks_of
from bayes_bias.analyses.sweep.pooling import Crossed
from bayes_bias.analyses.sweep.results import _long, cells_with_pooled, sweep_document
from bayes_bias.debiasing.damage import Damage
from bayes_bias.embeddings.opening import PACKAGED
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import in_words
from bayes_bias.plots import plot_atlas, plot_changes, plot_cost, plot_removal
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import refused, states


def test_looks_of_marks_cells_by_outcome() -> None:
    found = made_sweep()
    looks = looks_of(found.cells)
    assert looks.iloc[[1, 5, 7]].tolist() == ["no numbers", "not converged", "screened by the quasi-F alone"]
    assert set(looks[found.cells.survives]) == {"distinguishable after Holm"}


def test_page_lists_gaps_and_files_contain_all_cells(tmp_path: Path) -> None:
    found = made_sweep()
    page = bb.write(found, tmp_path / "atlas", figures=())
    text = page.read_text(encoding="utf-8")
    for claim in ("half words no vector", "R-hat 1.030", "geometry", "Maths: maths", "screened"):
        assert states(text, claim)
    assert states(text, "false positive 11 at most 5% only if each probability is correct by itself")
    assert len(pd.read_csv(page.parent / "cells.csv")) == len(found.cells) == 12
    assert (page.parent / "tables.tex").read_text(encoding="utf-8").count(r" \\") >= 12


def test_page_counts_tested_cells_and_changes_in_adjustment(tmp_path: Path, sketched: None) -> None:
    page = bb.write(made_sweep(versions=("hard",)), tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(page, "adjusted for all 11 cells Holm")
    assert states(page, "Probabilities were adjusted for all 11 changes")
    assert states(page, "a change this large adjusted for all 11 changes")
    assert states(page, "stereotypical bias has become smaller a bias against the stereotype has grown")


def test_sweep_without_posteriors_has_no_statement_on_probabilities(tmp_path: Path, sketched: None) -> None:
    found = made_sweep(versions=("hard",))
    cells, changes = (frame.assign(source="quasi-F", verdict="screened only") for frame in (found.cells, found.changes))
    found = replace(found, cells=cells, changes=changes, settings=replace(found.settings, posteriors="none"))
    assert not states(found.text, "larger than chance")
    methods = sweep_document(found).methods.plain
    for claim in ("analysis of variance", "No model was fitted", "confidence intervals 95%", "by the same analysis"):
        assert states(methods, claim)
    for claim in ("of the posterior", "the model", "adjusted"):
        assert claim not in methods
    page = bb.write(found, tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(page, "Intervals are confidence intervals with a level of 95%")
    for claim in ("Holm’s adjustment", "given the model", "✓ still", "larger than chance"):
        assert claim not in page


def test_sweep_with_fixed_attributes_counts_cells_in_which_words_differ(tmp_path: Path, sketched: None) -> None:
    found = made_sweep(versions=("hard",))
    label_of = {"distinguishable": "these words differ", "not distinguishable": "these words do not clearly differ"}
    frames = (found.cells, found.changes)
    cells, changes = (frame.assign(survives=False).replace({"verdict": label_of}) for frame in frames)
    number = int((cells.verdict[cells.version_of == ""] == "these words differ").sum())
    found = replace(found, cells=cells, changes=changes)
    assert states(found.text, f"These words differ in {in_words(number)} of even random words differ")
    assert states(found.text, "larger than chance explains with these attributes")
    for claim in ("No embedding", "none", "Holm"):
        assert claim not in found.text
    assert {look for look in looks_of(found.cells) if "disting" in look} == set()
    page = bb.write(found, tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(page, "At a half point, these words differ or may differ")
    assert not states(page, "full point is distinguishable")


def test_methods_cite_packaged_vectors() -> None:
    found = made_sweep(1, 1)
    row = PACKAGED["glove-6b-50d"]
    assert "kumo" not in sweep_document(found).methods.plain
    methods = sweep_document(replace(found, sources=found.sources.assign(source=row.source))).methods
    assert f"in the distribution {row.package} (licence of the vectors: PDDL-1.0)" in methods.plain
    assert "@inproceedings{pennington2014glove," in methods.bibliography


def test_long_accepts_embeddings_named_like_columns() -> None:
    names = ["more", "less", "probability"]
    square = pd.DataFrame(0.5, names, names).mask(pd.DataFrame(np.eye(3, dtype=bool), names, names))
    rows = _long(square)
    assert rows.columns.tolist() == names
    assert set(rows[["more", "less"]].itertuples(index=False, name=None)) == set(permutations(names, 2))


def test_page_of_single_cell_omits_false_positives(tmp_path: Path, sketched: None) -> None:
    text = bb.write(made_sweep(1, 1), tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(text, "One embedding one list 1 cell 1 posterior")
    assert not states(text, "false finding")


def test_atlas_has_paired_changes_of_versions(tmp_path: Path, sketched: None) -> None:
    found = made_sweep(versions=("hard", "theirs"))
    page = bb.write(found, tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(page, "Six versions 24 changes")
    assert states(page, "Version removed rank") or "<th>version</th>" in page
    changes = pd.read_csv(tmp_path / "atlas" / "changes.csv", index_col=["embedding", "version", "list"])
    assert len(changes) == 24
    assert {"before", "after", "change", "chance_holm", "control_moved"} <= set(changes)
    assert list(pd.read_csv(tmp_path / "atlas" / "removal.csv").version) == ["hard", "theirs"]


def test_cells_file_has_pooled_means_of_originals_only() -> None:
    made = made_sweep(versions=("hard",))
    originals = made.cells[made.cells.version_of == ""]
    pooled = SimpleNamespace(cells=originals[["bias"]].set_axis(["mean"], axis=1))
    cells = cells_with_pooled(replace(made, pooled=cast("Crossed", pooled)))
    assert cells.pooled_mean.dropna().tolist() == originals.bias.dropna().tolist()


def test_figures_have_rows_for_versions_and_changes() -> None:
    def rows(ax: Axes) -> list[str]:
        return [label.get_text() for label in ax.get_yticklabels()]

    made = made_sweep(2, 3, versions=("hard",))
    assert rows(plot_atlas(made)) == ["embedding 0", "↳ hard", "embedding 1", "↳ hard"]
    assert rows(plot_changes(made)) == ["embedding 0, hard", "embedding 1, hard"]
    (share,) = (line.get_xdata() for line in plot_removal(made).lines if line.get_marker() == "o")
    assert made.ranking is not None
    assert list(share) == made.ranking.table["mean"].tolist()
    with refused(BayesBiasError, "sweep versions"):
        plot_changes(made_sweep())


def test_with_damage_adds_cost_to_plot_page_and_file(tmp_path: Path, sketched: None) -> None:
    made = made_sweep(1, 5, versions=("hard", "theirs"))
    costs = {"hard": Damage(100, 0.9, 0.85, 0.94, 0.01), "theirs": Damage(100, 0.7, 0.6, 0.8, 0.02)}
    known = made.with_damage(costs)
    assert made.ranking is not None
    points = {bars.get_label(): bars[0].get_xydata()[0] for bars in plot_cost(known).containers}
    page = bb.write(known, tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    for name, cost in costs.items():
        assert points[name] == pytest.approx((1 - made.ranking.table["mean"][name], 1 - cost.neighbours_kept))
        assert cost.text in page
    assert pd.read_csv(tmp_path / "atlas" / "damage.csv").neighbours_kept.tolist() == [0.9, 0.7]
    for wrong, message in (({"soft": costs["hard"]}, "damage 'soft'"), ({"hard": 0.9}, "damage float")):
        with refused(BayesBiasError, message):
            made.with_damage(wrong)  # type: ignore[arg-type]
    with refused(BayesBiasError, "sweep 'theirs' with_damage"):
        plot_cost(made.with_damage({"hard": costs["hard"]}))
