"""Embeddings with times: every list of a sweep is a series, and what was not made alike is said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.errors import EmbeddingError
from tests.helpers import letters, priors_for_posteriors, refused, says

BRIEF = bb.Sampling(draws=600, tune=400, chains=2)
WORDS = bb.load_wordlist("weat7").words


def decade(seed: int, shared: float = 0.3) -> dict[str, np.ndarray]:
    """Random vectors, the nearer to each other the more they share."""
    rng = np.random.default_rng(seed)
    return {word: rng.standard_normal(30) + shared for word in [*WORDS, *letters(200)]}


def grid(times: dict[str, float]) -> bb.Grid:
    vectors = {"later": decade(1), "first": decade(2), "short": decade(3, 1.0)}
    return bb.Grid(["weat7"], vectors, controls=(), times=times)


@pytest.fixture(scope="module")
def swept(sampled: None) -> Sweep:
    with priors_for_posteriors():  # of the atlas alone
        return bb.sweep(grid({"later": 1950, "first": 1900}), sampling=BRIEF, jobs=1)


def test_sweep_with_times_returns_series_of_each_list(swept: Sweep) -> None:
    series = swept.series["weat7"]
    assert [*series.tables] == [1900, 1950]
    cells = swept.cells.xs("weat7", level="list").observed
    assert series.table.bias.to_numpy() == pytest.approx([cells["first"], cells["later"]])
    assert says(series.text, "WEAT 7 1900 to 1950 comparable")


def test_sweep_document_has_a_figure_for_each_series_in_any_script(swept: Sweep) -> None:
    (series,) = swept.series.values()
    document = replace(swept, series={"性别": series, "种族": series}).document()
    assert {"over-time-list", "over-time-list-2"} < {*document.figures}


def test_sweep_with_times_names_differently_trained_embedding(swept: Sweep, tmp_path: Path) -> None:
    assert says(swept.text, "Not similarly trained short Differences")
    page = bb.write(swept, tmp_path / "atlas", figures=("png",)).read_text()
    assert "Over time" in page
    assert says(page, "WEAT 7 from 1900 to 1950")
    assert (tmp_path / "atlas" / "over-time.csv").is_file()


def test_sweep_raises_for_wrong_times() -> None:
    for times, message in (
        ({"never": 1900.0}, "times 'never' later"),
        ({"first": "early"}, "times 'first' 'early' number"),
        ({"first": 1900.0, "later": 1900.0}, "times 'first' 'later' 1900"),
    ):
        with refused(EmbeddingError, message):
            bb.sweep(grid(times))


def test_sweep_warns_once_about_omitted_control_classes(caplog: pytest.LogCaptureFixture) -> None:
    given = bb.Grid(["weat7"], {"one": decade(1), "other": decade(2)})
    found = bb.sweep(given, posteriors="none", jobs=1)
    assert found.failures.empty
    said = [record.message for record in caplog.records if "control classes omitted" in record.message]
    assert len(said) == 1
    assert says(said[0], "one other neutral human")


def test_sweep_omits_pooling_and_ranking_when_all_cells_fail() -> None:
    bare = {word: np.ones(3) + k for k, word in enumerate(letters(60))}
    found = bb.sweep(bb.Grid(["weat6", "weat7"], {"one": bare, "other": bare}), jobs=1)
    assert found.pooled is None
    assert (found.cells.verdict == "failed").all()
    assert "Who is more biased" not in [part.title for part in found.document().sections if part is not None]


def test_sweep_omits_a_series_that_lost_half_of_its_words_unless_loss_is_allowed(sampled, caplog):
    words = bb.load_wordlist("weat7")
    first, second = decade(1), decade(2)
    for lost, vectors in ((words.targets[:2], first), (words.targets[2:4], second)):
        for word in lost:
            del vectors[word]
    vectors = {"first": first, "second": second}
    times = {"first": 1900, "second": 1950}
    with priors_for_posteriors():
        found = bb.sweep(bb.Grid(["weat7"], vectors, controls=(), times=times), sampling=BRIEF, jobs=1)
        allowed = bb.sweep(
            bb.Grid(["weat7"], vectors, controls=(), times=times, allow_loss=True), sampling=BRIEF, jobs=1
        )
    assert not found.series
    assert says(caplog.text, "weat7 over time is omitted `failures`")
    (failure,) = found.failures.itertuples(index=False)
    assert (failure.embedding, failure.list, failure.what) == ("all", "weat7", "over time")
    assert says(failure.reason, "all slices 4 of the 8 words")
    assert [*allowed.series] == ["weat7"]
    assert allowed.failures.empty


def test_sweep_omits_a_series_whose_slices_have_equal_values() -> None:
    second = decade(1) | {WORDS[0]: np.zeros(30)}  # equal but for one word
    given = bb.Grid(["weat7"], {"first": decade(1), "second": second}, controls=(), times={"first": 0, "second": 1})
    found = bb.sweep(given, posteriors="none", jobs=1)
    assert not found.series
    assert says(found.failures.reason.item(), "same values slices 0 1 omit")
