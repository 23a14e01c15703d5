"""A sweep: each cell once, what goes wrong in one stops no other, and wrong input is one line."""

import logging
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_bias as bb
from bayes_bias.analyses.sweep.cells import Cell, Fitting, _sampled, fit_cell
from bayes_bias.analyses.sweep.columns import read_columns
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.analyses.sweep.sweep import CELLS
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.similarity import COSINES
from bayes_bias.debiasing import Debiasing, GivenVersion, HardDebias
from bayes_bias.documents.folder import check_folder
from bayes_bias.errors import BayesBiasError, EmbeddingError
from bayes_bias.jobs import MARKER, open_store
from bayes_bias.measures.registry import MEASURES, Registered
from bayes_bias.models.spec import load_spec
from tests.helpers import SHORT, in_ten_digits, refused, says

BRIEF = bb.Sampling(draws=150, tune=200, chains=2, target_accept=0.8)
DEBIASED = Debiasing(HardDebias(), "she:he,woman:man")


def toy(seed: int, missing: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Random vectors of the words of weat6 and weat7."""
    rng = np.random.default_rng(seed)
    words = (*bb.load_wordlist("weat6").words, *bb.load_wordlist("weat7").words)
    return {word: rng.standard_normal(20) for word in dict.fromkeys(words) if word not in missing}


def screened(embeddings: Any, lists: Any = ("weat6", "weat7"), **options: Any) -> Sweep:
    return bb.sweep(bb.Grid(lists, embeddings, controls=()), posteriors="none", jobs=1, **options)


def only_cell(name: str) -> Cell:
    """The cell of a built-in list with its control classes."""
    lists, sources, similarity = bb.Grid(name).opened()
    (column,) = read_columns(sources, (), lists, similarity, False, None)
    return column.cells[name]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    folder = tmp_path_factory.mktemp("sweep")
    vectors = {"shipped": "googlenews-demo", "noise": toy(1)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.getLogger("bayes_bias"), "disabled", True)  # so few draws do not converge
        found = bb.sweep(
            bb.Grid(["weat6", "weat7"], vectors, controls=()), sampling=BRIEF, measures=["WEAT"], folder=folder, jobs=1
        )
    return found, folder


def test_sweep_with_match_case_equals_exact_match(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    def made(vectors: dict[str, np.ndarray], pairs: str, match: Any) -> Sweep:
        grid = bb.Grid(["weat6", "weat7"], {"toy": vectors}, controls=(), match=match)
        versions = [Debiasing(HardDebias(), pairs), GivenVersion(vectors, "again", of="toy")]
        return bb.sweep(grid, versions=versions, posteriors="none", jobs=1, folder=tmp_path)

    lower = {word.lower(): vector for word, vector in toy(1).items()}
    exact, found = made(toy(1), "she:he,woman:man", "exact"), made(lower, "She:HE,woman:man", "case")
    pd.testing.assert_frame_equal(found.screening, exact.screening)
    assert list(found.changes.taught) == list(exact.changes.taught)
    row = found.coverage.set_index(["embedding", "name"]).loc[("toy, again", "male names")]
    assert "John: john" in row.respelt
    assert says(caplog.text, "toy 'she' for 'She' toy John: john match coverage")
    # A folder knows under which match a cell was computed.
    assert "weat6" in set(made(lower, "she:he,woman:man", "exact").failures["list"])


def test_sweep_raises_for_unknown_or_inapplicable_match() -> None:
    with refused(EmbeddingError, "match 'cases' 'case'"):
        bb.sweep(bb.Grid(["weat6"], {"toy": toy(1)}, match="cases"))  # type: ignore[arg-type]
    with refused(EmbeddingError, "match 'case' sentences omit"):
        bb.sweep(bb.Grid(["weat6"], [bb.LanguageModelColumn(lambda clozes: [0.0] * len(clozes))], match="case"))


def test_cell_equals_verdict_of_table_without_diagnostics() -> None:
    cell = bb.sweep(["weat7"], jobs=1).cells.iloc[0]
    said = bb.verdict(bb.cosines("weat7", "googlenews-demo"))
    numbers = in_ten_digits(said.mean, said.lower, said.upper, said.chance)
    assert (cell.bias, cell.ci95_lb, cell.ci95_ub, cell.chance, cell.verdict) == (*numbers, said.label)
    assert not cell.sampled
    assert cell[["r_hat", "ess_bulk", "ess_tail", "divergences", "prior_sensitivity"]].isna().all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weat7", "religion"])
def test_integrated_record_matches_sampled_record(name: str) -> None:
    """Within the aims of docs/evidence/speed.md: p within .003, and ends within 1% of the width."""
    cell, how = only_cell(name), Fitting(load_spec("crossed"), "all", 0.95, 1, SHORT)
    integrated = fit_cell(cell, how)
    sampled, _ = _sampled(cell.table(), how)
    assert (integrated["sampled"], sampled["sampled"]) == (False, True)
    width = sampled["eti95_ub"] - sampled["eti95_lb"]
    for number in ("bias", "observed", "eti95_lb", "eti95_ub", "sd", "noise_sd"):
        assert abs(integrated[number] - sampled[number]) < 0.01 * width, number
    assert integrated["chance"] == pytest.approx(sampled["chance"], abs=0.003)
    assert integrated["shares"] == pytest.approx(sampled["shares"], abs=0.02)
    assert sum(integrated["shares"].values()) == pytest.approx(1)


def test_posterior_has_other_key_than_sampled_posterior_of_earlier_release() -> None:
    cell, how = only_cell("weat7"), Fitting(load_spec("crossed"), "all", 0.95, 1, SHORT)
    earlier = [how.spec.sha256, how.scope, how.ci_prob, how.seed, asdict(how.sampling)]
    job = cell.fitting(how)
    assert replace(job, depends_on=[cell.depends_on, earlier]).key != job.key


@pytest.mark.slow
def test_sweep_samples_replicates_and_states_reason() -> None:
    seeds = bb.open_embedding([bb.open_embedding(toy(k), name=f"seed {k}") for k in (1, 2)], kind="seed")
    found = bb.sweep(bb.Grid(["weat7"], {"single": toy(1), "seeds": seeds}, controls=()), sampling=BRIEF, jobs=1)
    assert found.cells.sampled.tolist() == [False, True]
    assert found.cells.sampled_again.tolist() == [False, True]  # so few draws do not converge
    assert found.cells.r_hat.notna().tolist() == [False, True]
    assert found.cells.dtypes[["sampled", "sampled_again"]].eq(bool).all()
    assert says(found.text, "One is sampled and not integrated because replicates model")
    methods = found.document().methods.plain
    assert says(methods, "One posterior numerical integration One posterior sampled 2 chains replicates")


@pytest.mark.slow
def test_sweep_samples_only_changes_with_controls() -> None:
    options: dict[str, Any] = {"versions": [DEBIASED], "sampling": BRIEF, "jobs": 1}
    alone = bb.sweep(bb.Grid(["weat7"], controls=()), **options)
    beside = bb.sweep(bb.Grid(["weat7"]), **options)
    assert (alone.changes.sampled.item(), beside.changes.sampled.item()) == (False, True)
    assert not pd.concat([alone.cells, beside.cells]).sampled.any()
    assert beside.changes.change.item() == pytest.approx(alone.changes.change.item())
    assert beside.changes.control_moved.notna().all()


def test_sweep_quasi_f_ignores_controls(tmp_path: Path) -> None:
    """Even where they have sub-topics and pairs of their own, or an embedding has none of their words."""
    controls = tmp_path / "things.toml"
    controls.write_text(
        'pairs = [["table", "dog"]]\n[classes]\nthings = ["table", "chair"]\nanimals = ["dog", "cat"]\n'
        '[topics.things]\nfurniture = ["table", "chair"]\n'
    )
    vectors = {"shipped": "googlenews-demo", "noise": toy(1)}
    options: dict[str, Any] = {"versions": [DEBIASED], "posteriors": "none", "jobs": 1}
    alone = bb.sweep(bb.Grid(["weat6"], vectors, controls=()), **options)
    beside = bb.sweep(bb.Grid(["weat6"], vectors, controls=("neutral", controls)), **options)
    pd.testing.assert_frame_equal(alone.screening, beside.screening)
    pd.testing.assert_frame_equal(alone.changes, beside.changes)


@pytest.mark.slow
def test_sweep_computes_only_new_cells_in_existing_folder(swept: tuple[Sweep, Path]) -> None:
    def modified() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}

    found, folder = swept
    before = modified()
    renamed = {"first": "googlenews-demo", "second": toy(1), "third": toy(2)}
    grown = bb.sweep(
        bb.Grid(["weat6", "weat7"], renamed, controls=()), sampling=BRIEF, measures=["WEAT"], folder=folder, jobs=1
    )
    after = modified()
    assert before.items() < after.items()
    assert len(after) - len(before) == 6  # two lists: quasi-F, posterior, measures
    pd.testing.assert_frame_equal(
        grown.cells.loc[["first"], ["bias", "sd"]].droplevel(0),
        found.cells.loc[["shipped"], ["bias", "sd"]].droplevel(0),
    )


@pytest.mark.slow
def test_atlas_files_match_cells_when_read_by_other_packages(swept: tuple[Sweep, Path], tmp_path: Path) -> None:
    found, _ = swept
    page = bb.write(found, tmp_path / "atlas", figures=())
    csv, words = pd.read_csv(page.parent / "cells.csv"), pd.read_csv(page.parent / "words.csv", index_col="list")
    assert "poetry" in set(words.word["weat7"][words.role["weat7"] == "target"])
    with xr.open_dataset(page.parent / "atlas.nc", engine="h5netcdf") as data:
        for bias in (csv.bias, data.bias.to_numpy().ravel()):
            np.testing.assert_allclose(bias, found.cells.bias)
        assert data.sel(embedding="noise", list="weat7").verdict == found.cells.verdict["noise", "weat7"]
    assert found.text in re.sub("</?b>", "", unescape(page.read_text()))


def test_screening_has_quasi_f_of_every_cell_without_posteriors() -> None:
    found = screened({"shipped": "googlenews-demo", "noise": toy(1)})
    assert found.posteriors.empty
    assert (found.cells.source == "quasi-F").all()
    table = bb.cosines("weat7", "googlenews-demo", ())
    assert (found.cells.sd["shipped", "weat7"],) == in_ten_digits(bb.measures.quasi_f(table).se)


@pytest.mark.thorough
@pytest.mark.slow
def test_sweep_selects_cells_for_posteriors_by_p_or_name() -> None:
    """weat6 has p < .001 by the quasi-F, weat7 .14; Holm's adjustment counts both."""
    options: dict[str, Any] = {"jobs": 1, "sampling": SHORT}
    grid = bb.Grid(["weat6", "weat7"], controls=())
    by_chance = bb.sweep(grid, posteriors=0.05, **options).cells
    named = bb.sweep(grid, posteriors=[("googlenews-demo", "weat6")], **options).cells
    assert by_chance.source.tolist() == named.source.tolist() == ["posterior", "quasi-F"]
    assert by_chance.chance_holm.iloc[0] == 2 * by_chance.chance.iloc[0]


def test_sweep_records_uncovered_cell_and_computes_others(tmp_path: Path) -> None:
    math = bb.load_wordlist("weat7").groups["math"]
    found = screened({"whole": toy(1), "few": toy(2, math[:5]), "one less": toy(3, math[:1])}, folder=tmp_path)
    assert found.failures[["embedding", "list"]].to_numpy().tolist() == [["few", "weat7"]]
    assert says(found.failures.reason[0], "group 'math' 5 of 8 vector")
    assert found.coverage[["embedding", "name", "lost"]].to_numpy().tolist() == [["one less", "math", math[0]]]
    assert found.cells.verdict["few", "weat7"] == "failed"
    assert found.cells.bias.notna().sum() == 5


def test_damaged_file_and_impossible_debiasing_fail_alone(tmp_path: Path) -> None:
    (tmp_path / "damaged.txt").write_text("he 1 2 3\nshe 1 2\n")
    lost = Debiasing(HardDebias(), "kween:kwing", "lost", of=("good",))
    found = screened({"good": toy(1), "damaged": tmp_path / "damaged.txt"}, versions=[lost])
    assert found.failures.embedding.tolist() == ["good, lost", "damaged"]
    assert found.cells.loc["good"].bias.notna().all()


def test_debiased_cell_equals_list_under_debiasing_of_all_words() -> None:
    vectors = toy(1)
    whole = HardDebias().fit_transform(vectors, [("she", "he"), ("woman", "man")])
    found = screened({"own": vectors}, "weat7", versions=[DEBIASED])
    expected = bb.measures.quasi_f(bb.cosines("weat7", whole, ())).value
    assert found.cells.bias["own, debiased", "weat7"] == pytest.approx(expected)


def test_sweep_with_single_debiasing_equals_list_of_one() -> None:
    single = screened({"own": toy(1)}, "weat7", versions=DEBIASED)
    several = screened({"own": toy(1)}, "weat7", versions=[DEBIASED])
    pd.testing.assert_frame_equal(single.cells, several.cells)


def test_sweep_debiases_each_replicate_along_own_direction(tmp_path: Path) -> None:
    seeds, sets = [toy(1), toy(2)], [("she", "he"), ("woman", "man")]
    before, after = [], []
    for number, vectors in enumerate(seeds):
        before.append(tmp_path / f"seed-{number}.npz")
        after.append(tmp_path / f"debiased-{number}.npz")
        bb.save_vectors(vectors, before[-1])
        bb.save_vectors(HardDebias().fit_transform(vectors, sets), after[-1])
    found = screened({"seeds": bb.open_embedding(before, kind="seed")}, "weat7", versions=[DEBIASED])
    expected = bb.measures.quasi_f(bb.cosines("weat7", bb.open_embedding(after, kind="seed"), ()))
    cell = found.cells.loc[("seeds, debiased", "weat7")]
    assert (cell.bias, cell.sd) == pytest.approx((expected.value, expected.se), rel=1e-5)


def test_sweep_ignores_order_and_names_of_embeddings(tmp_path: Path) -> None:
    first = screened({"a": toy(1), "b": toy(2)}, folder=tmp_path)
    second = screened({"y": toy(2), "x": toy(1)}, folder=tmp_path)
    assert first.cells.bias["a"].tolist() == second.cells.bias["x"].tolist()
    assert len(list((tmp_path / "cells").iterdir())) == 4 + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"embeddings": []}, "embeddings empty"),
        ({"embeddings": ["googlenews-demo", "googlenews-demo"]}, "embeddings 'googlenews-demo' twice"),
        ({"wordlists": []}, "wordlists empty"),
        ({"wordlists": ["weat6", "weat6"]}, "wordlists 'weat6' twice"),
        ({"models": ["hierarchical"]}, "model 'hierarchical' scopes"),
        ({"measures": ["WAET"]}, "measures 'WAET' 'WEAT'"),
        ({"posteriors": "some"}, "posteriors 'some'"),
        ({"posteriors": [("googlenews-demo", "weat7")]}, "posteriors 'weat7'"),
        ({"jobs": 0}, "jobs 0"),
        ({"versions": [Debiasing(HardDebias(), "she:he", "x", of=("glove",))]}, "versions 'x' 'glove'"),
        ({"sampling": 100}, "sampling 100"),
    ],
)
def test_sweep_raises_for_wrong_input(arguments: dict[str, Any], message: str) -> None:
    with refused(BayesBiasError, message):
        bb.sweep(**{"embeddings": ["googlenews-demo"], "wordlists": ["weat6"], **arguments})


def test_sweep_raises_for_folder_of_other_version(tmp_path: Path) -> None:
    screened({"own": toy(1)}, "weat7", folder=tmp_path)
    (tmp_path / "cells" / MARKER).write_text('{"version": 99}')
    with refused(BayesBiasError, "version"):
        screened({"own": toy(1)}, "weat7", folder=tmp_path)


@pytest.mark.thorough
def test_sweep_command_writes_equal_bytes_for_other_blas_kernels(tmp_path: Path) -> None:
    """Kernels differ between processors of one architecture. Where neither is known, both runs use the same one."""
    spec = tmp_path / "audit.toml"
    spec.write_text(
        'lists = ["weat6", "weat7"]\nembeddings = [{ files = "googlenews-demo" }, { files = "minilm-demo" }]\n'
        "sampling = { draws = 100, tune = 100, chains = 2 }\n"
    )
    made = []
    # With "Haswell" forced, OpenBLAS of NumPy 2.5.5 crashes at the product of 1,800 x 3,840 numbers.
    for kernel in ("Nehalem", "Sandybridge"):
        folder, environment = tmp_path / kernel, os.environ | {"OPENBLAS_CORETYPE": kernel}
        folder.mkdir()
        out = folder / "out"
        # The provenance records the command, so both runs have the same.
        command = [sys.executable, "-m", "bayes_bias", "sweep", str(spec), "--out", "out", "--jobs", "1"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        made.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    first, second = made
    assert first.keys() == second.keys()
    assert not [str(path) for path in first if first[path] != second[path]]


def test_sweep_command_accepts_folder_in_which_other_run_has_just_started(run, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def check_slowly(*arguments, **settings):
        open_store(out / CELLS)  # by the other run
        check_folder(*arguments, **settings)

    monkeypatch.setattr("bayes_bias.cli.sweep.check_folder", check_slowly)
    assert "absent.toml" in run("sweep", tmp_path / "absent.toml", "--out", out)[2]


def test_cell_related_words_ignore_other_lists() -> None:
    lists = list(map(bb.load_wordlist, ("weat6", "weat7")))
    (column,) = read_columns([bb.open_embedding("googlenews-demo")], (), lists, COSINES, False, None)
    for words in lists:
        table = bb.cosines(words, "googlenews-demo", controls=())
        assert str(column.cells[words.name].table().related_words) == str(table.related_words)


def test_sweep_records_raising_measure_and_computes_corrected_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The remedy of the message, to correct the function, works in a folder that has the results of others."""

    def mine(table: bb.AssociationTable) -> float:
        return 1 / divisor

    monkeypatch.setitem(MEASURES, "mine", Registered(1000, mine))
    divisor = 0
    broken = screened({"noise": toy(1)}, ["weat7"], measures=["WEAT", "mine"], folder=tmp_path)
    assert broken.measures.index.get_level_values("measure").tolist() == ["WEAT"]
    assert says(broken.failures.reason.item(), "mine: raised ZeroDivisionError")
    divisor = 2
    corrected = screened({"noise": toy(1)}, ["weat7"], measures=["WEAT", "mine"], folder=tmp_path)
    assert corrected.measures.loc[("noise", "weat7", "mine"), "value"] == 0.5
    assert corrected.failures.empty


def test_sweep_records_reason_for_requested_inapplicable_measure() -> None:
    found = screened({"noise": toy(1)}, ["weat7"], measures=["WEAT", "RIPA"])
    assert says(found.failures.reason.item(), "RIPA defining sets")
    assert screened({"noise": toy(1)}, ["weat7"], measures="all").failures.empty


def test_sweep_recomputes_measures_for_vectors_of_other_lengths(tmp_path: Path) -> None:
    """Two trainings and the same at unit length: their cosines are equal, and so are their quasi-F, but not SemAxis."""
    seeds = [toy(1), toy(2)]
    longer = [{word: vector * len(word) for word, vector in seed.items()} for seed in seeds]

    def value(seeds: list[dict[str, np.ndarray]]) -> float:
        opened = [bb.open_embedding(seeds[0], name="a"), bb.open_embedding(seeds[1], name="b")]
        found = screened({"toy": bb.open_embedding(opened)}, ["weat7"], measures=["SemAxis"], folder=tmp_path)
        return float(found.measures.loc[("toy", "weat7", "SemAxis"), "value"])

    assert value(seeds) != value(longer)


def test_cell_omits_absent_control_class_like_cosines() -> None:
    words = bb.load_wordlist("weat7")
    every = words.with_controls(["neutral", "human"])
    few, rng = [*every.controls["neutral"], *every.controls["human"][:3]], np.random.default_rng(3)
    vectors = bb.open_embedding(toy(1) | {word: rng.standard_normal(20) for word in few})
    expected = bb.cosines(words, vectors)
    assert expected.controls == ("neutral",)
    (column,) = read_columns([vectors], (), [every], COSINES, False, None)
    cell = column.cells["weat7"]
    assert cell.absent_controls == ["human"]
    pd.testing.assert_frame_equal(cell.table().values.to_pandas(), expected.values.to_pandas())
    # So it is with a list that already has the classes, and with a matrix.
    assert bb.cosines(every, vectors, ()).values.equals(expected.values)
    matrix = pd.DataFrame(0.1, list(words.targets), [*words.attributes, *few])
    assert cosines_from_matrix(matrix, every, ()).controls == ("neutral",)
