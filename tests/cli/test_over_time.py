"""Slices on the command line: files by pattern, one time each, and a refusal in one line."""

from pathlib import Path

import numpy as np
import pytest

from bayes_bias import cosines, load_wordlist, open_embedding, save_vectors
from bayes_bias.cli.sweep import Slices
from tests.helpers import says

YEARS = (1900, 1910)


@pytest.fixture
def decades(tmp_path: Path) -> list[str]:
    """Two seeds of the words of WEAT 7 in each of two decades, of which the second has drifted."""
    return drifting(tmp_path, seed=0)


def drifting(folder: Path, seed: int) -> list[str]:
    rng, demo = np.random.default_rng(seed), open_embedding("googlenews-demo")
    values = cosines("weat7", demo, ()).values
    vectors = demo.find([*values.target.values, *values.attribute.values])
    for year in YEARS:
        for seed in (1, 2):
            noise = 0.05 if year == 1900 else 0.2
            moved = {word: vector + noise * rng.normal(size=vector.shape) for word, vector in vectors.items()}
            save_vectors(moved, folder / f"{year}-{seed}.npz")
    return [argument for year in YEARS for argument in ("--at", f"{year}={folder}/{year}-*.npz")]


def test_slices_match_words_by_case(tmp_path):
    demo = open_embedding("googlenews-demo")
    words = load_wordlist("weat7")
    vectors = demo.find([*words.targets, *words.attributes])
    save_vectors({word.upper(): vector for word, vector in vectors.items()}, tmp_path / "1900.npz")
    slices = Slices(at=[f"1900={tmp_path}/1900.npz"], match="case")
    table = slices.table(1900, [f"{tmp_path}/1900.npz"], "weat7")
    assert table.values.sizes["target"] == len(words.targets)


@pytest.mark.slow
def test_over_time_command_reports_two_decades_with_seeds(run, decades, sketched, tmp_path):
    short = "--draws", "500"
    code, out, err = run("over-time", "weat7", *decades, *short, "--out", "made", "--figures", "none")
    assert code == 0, err
    assert "control" not in err
    assert says(out, "1900 to 1910 change along the line")
    assert (tmp_path / "made" / "index.html").is_file()


@pytest.mark.slow
def test_over_time_command_subtracts_a_second_series(run, decades, sketched, tmp_path):
    (tmp_path / "mirror").mkdir()
    second = ["--minus" if part == "--at" else part for part in drifting(tmp_path / "mirror", seed=1)]
    short = "--draws", "500", "--out", "made", "--figures", "none"
    code, _, err = run("over-time", "weat7", *decades, *second, "--sides", "Times,Mirror", *short)
    assert code == 0, err
    assert "Times minus Mirror" in (tmp_path / "made" / "index.html").read_text(encoding="utf-8")


def test_dry_run_prints_the_words_that_each_slice_lacks(run, decades, tmp_path):
    words = load_wordlist("weat7")
    vectors = open_embedding("googlenews-demo").find([*words.targets, *words.attributes])
    del vectors["algebra"]
    save_vectors(vectors, tmp_path / "1920.npz")
    code, out, err = run("over-time", "weat7", *decades, "--at", f"1920={tmp_path}/1920.npz", "--dry-run")
    assert code == 0, err
    assert says(out, "All 3 slices have 31 of 32 words 1920 costs most: 32 words remain algebra (one slice)")
    assert "change along the line" not in out


def test_dry_run_keeps_slices_whose_times_differ_in_the_last_of_eight_digits(run):
    slices = "--at", "20240101=googlenews-demo", "--at", "20240102=googlenews-demo"
    code, out, err = run("over-time", "weat7", *slices, "--dry-run")
    assert code == 0, err
    assert says(out, "20240101 20240102")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("weat7", "--at", "1900"), "--at '1900' TIME=FILE"),
        (("weat7", "--at", "early=a.npz"), "--at 'early=a.npz' number"),
        (("weat7", "--at", "1900=*.nothing"), "--at no file pattern"),
        (("weat7", "--at", "1900=a.npz", "--at", "1900.0=b.npz"), "--at 1900.0 twice 1900.0=one,other"),
        (("--at", "1900=googlenews-demo"), "LIST missing 'googlenews-demo'"),
        (("weat7", "--at", "1900=googlenews-demo"), "tables one slice two"),
        (("weat7", "--at", "1900=googlenews-demo", "--slices", "all"), "--slices 'all' new, these"),
        (("weat7", "--at", "1900=a.npz", "--sides", "Times,Mirror"), "--sides 'Times,Mirror' --minus TIME=FILE"),
        (("weat7", "--at", "1900=a.npz", "--minus", "1900=b.npz", "--sides", "Times"), "--sides 'Times' two names"),
        (("weat7", "--at", "1900=googlenews-demo", "--minus", "early=b.npz"), "--minus 'early=b.npz' number"),
        (("weat7", "--at", "1900=a.npz", "--minus", "1950=b.npz"), "--minus times --at, 1900"),
        (("weat7", "--at", "1900=a.npz", "--minus", "1900=b.npz", "--dry-run"), "--dry-run one series --minus"),
    ],
)
def test_over_time_command_rejects_invalid_slices(run, arguments, said):
    code, _, err = run("over-time", *arguments)
    assert code == 2
    assert says(err.splitlines()[-1], said)
