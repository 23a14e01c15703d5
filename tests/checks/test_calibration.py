"""Nulls drawn from vectors: what is drawn, what is said of it, and that a stopped run goes on."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from bayes_bias import cosines, open_embedding
from bayes_bias.checks.calibration import Calibration, calibrate, rates
from bayes_bias.checks.null_jobs import NULL_SAMPLING, Cell, judge, run
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.errors import BayesBiasError, WordListError
from bayes_bias.formatting import DASH
from bayes_bias.jobs import MARKER
from bayes_bias.measures import quasi_f
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import estimates
from bayes_bias.table.replicates import Replicates
from bayes_bias.words.wordlist import WordList, load_wordlist
from benchmarks.competitors import ComparedCell
from benchmarks.lists import halves_of
from tests.helpers import letters, random_vectors, refused, says, stacked

QUICK = replace(NULL_SAMPLING, draws=200, tune=200)


@pytest.fixture(scope="module")
def words() -> WordList:
    return WordList.from_mapping(
        {
            "groups": {"men": ["he", "him", "his"], "women": ["she", "her", "hers"]},
            "classes": {
                "work": ["boss", "job", "firm"],
                "home": ["maid", "cook", "crib"],
                "other": ["tree", "rock", "cloud", "river"],
            },
            "stereotypes": {"men": "work", "women": "home"},
        },
        name="tiny",
    )


@pytest.fixture(scope="module")
def embedding(words):
    return open_embedding(random_vectors(0, [*words.targets, *words.attributes, *letters(60)], 20))


@pytest.fixture(scope="module")
def design(words, embedding) -> NullDesign:
    return NullDesign.of(words, embedding)


def test_null_design_draws_attributes_and_keeps_targets(design, words):
    first, again, second = design.draw(1, 0), design.draw(1, 0), design.draw(1, 1)
    assert first.sha256 == again.sha256 != second.sha256
    assert first.values.target.to_numpy().tolist() == list(words.targets)
    words_of_class = first.values.attribute_class.to_series().value_counts()
    assert words_of_class.to_dict() == {"work": 3, "home": 3, "other": 4}
    listed = {*words.targets, *words.attributes}
    drawn = first.without_controls().values.attribute.to_numpy().tolist()
    assert not listed & set(drawn)
    assert len(set(drawn)) == 6


def test_null_design_draws_targets_and_keeps_attributes(words, embedding):
    design = NullDesign.of(words, embedding, random="targets")
    table = design.draw(1, 0)
    assert table.values.attribute.to_numpy().tolist() == list(words.attributes)
    drawn = table.values.target.to_numpy().tolist()
    assert len(set(drawn)) == 6
    assert not set(drawn) & {*words.targets, *words.attributes}
    assert len(design.with_sizes(5).draw(1, 0).values.target) == 10
    both = NullDesign.of(words, embedding, random="both").draw(1, 0).without_controls()
    assert not {*words.targets, *words.attributes} & {*both.values.target.data, *both.values.attribute.data}
    with refused(WordListError, "66 random words 60"):
        NullDesign.of(words, embedding, random="both").with_random_groups(30).draw(1, 0)


def test_calibrate_has_no_weat_if_groups_share_class(words, embedding):
    shared = replace(words, stereotypes=dict.fromkeys(words.groups, "work"), opposites=("home",))
    for wordlist, has_weat in ((words, True), (shared, False)):
        assert ("WEAT" in set(calibrate(wordlist, embedding, draws=3).records.method)) == has_weat


def test_null_design_raises_for_random_targets_of_one_group(words, embedding):
    alone = replace(words, groups={"men": words.groups["men"]}, stereotypes={"men": "work"}, opposites=("home",))
    with refused(WordListError, "attributes random='attributes' both"):
        NullDesign.of(alone, embedding, random="targets")
    assert NullDesign.of(alone, embedding, random="both").draw(1, 0).groups == ("men",)


def test_null_design_draws_random_groups_and_control_halves(design, words):
    random = design.with_random_groups().draw(1, 0)
    assert not set(words.targets) & set(random.values.target.to_numpy())
    halves = halves_of("other", design).draw(1, 0)
    assert set(halves.values.attribute.to_numpy()) == {"tree", "rock", "cloud", "river"}
    assert halves.controls == ()


def test_with_planted_adds_bias_along_new_direction(design):
    planted = design.without_controls().with_planted(0.08)
    table = planted.draw(1, 0)
    s = np.sqrt(0.04)
    sign_x = np.where(table.group_index == 0, s, -s)[:, None]
    sign_a = np.where(table.class_index == 0, s, -s)[:, None]
    x = np.hstack([np.sqrt(1 - s**2) * stacked(planted.vectors, table.values.target.to_numpy()), sign_x])
    a = np.hstack([np.sqrt(1 - s**2) * stacked(planted.vectors, table.values.attribute.to_numpy()), sign_a])
    np.testing.assert_allclose(table.values, x @ a.T, atol=1e-12)


def test_judge_matches_posterior_of_whole_fit(small_table, small_fit):
    records = pd.DataFrame(judge(small_table, load_spec("crossed"), seed=1)).set_index("scope")
    for scope in ("both", "targets", "attributes"):
        draws = estimates(small_fit, scope)["bias"].draws
        assert records.loc[scope, "mean"] == pytest.approx(draws.mean().item(), abs=0.15 * draws.std().item())
        assert records.loc[scope, "sd"] == pytest.approx(draws.std().item(), rel=0.15)


@pytest.mark.slow
def test_judge_returns_scope_both_when_model_ignores_replicates(small_table):
    values = small_table.values
    same = replace(small_table, replicates=Replicates("template", MappingProxyType({"a": values, "b": values})))
    (record,) = judge(same, load_spec("crossed"), sampling=QUICK, scopes=["all"])
    assert record["scope"] == "both"


def written_at(paths: list[Path]) -> list[int]:
    return [path.stat().st_mtime_ns for path in paths]


def test_run_resumes_and_extends_kept_records(design, tmp_path):
    cell = ComparedCell(design, (), with_quasi_f=True)
    whole = run([cell], 30, folder=tmp_path, jobs=1)[0]
    written = {path: path.read_bytes() for path in tmp_path.glob("*.json") if path.name != MARKER}
    assert len(written) == 3
    cut, *kept = written
    cut.write_bytes(written[cut][:50])
    before = written_at(kept)
    pd.testing.assert_frame_equal(run([cell], 30, folder=tmp_path, jobs=1)[0], whole)
    assert cut.read_bytes() == written[cut]
    assert written_at(kept) == before
    more = run([cell], 40, folder=tmp_path, jobs=1)[0]
    pd.testing.assert_frame_equal(more[more.draw < 30], whole)
    assert written_at(kept) == before


def test_quasi_f_cell_has_own_key_and_rates(design, tmp_path):
    without = ComparedCell(design.with_planted(0.08), (), with_weat=False)
    cell = replace(without, with_quasi_f=True)
    assert cell.key != without.key
    records = run([cell], 20, folder=tmp_path, jobs=1)[0]
    first = records[(records.draw == 0) & (records.scope == "both")].iloc[0]
    found = quasi_f(cell.design.draw(1, 0))
    assert (first.p_value, first.ci95_lb, first.ci95_ub) == (found.p_value, *found.interval)
    table = rates(records)
    assert table.index.tolist() == [("quasi-F", scope) for scope in ("attributes", "both", "targets")]
    assert table[["width", "coverage_95"]].notna().all(axis=None)
    assert table.divergences.isna().all()
    inside = (records.ci95_lb < 0.08) & (records.ci95_ub > 0.08)
    assert table.coverage_95.to_list() == inside.groupby(records.scope).mean().to_list()


@pytest.mark.slow
def test_run_in_threads_equals_sequential_run(design):
    cell = Cell(design, (load_spec("crossed"),), sampling=QUICK)
    alone = run([cell], 12, jobs=1)[0]
    with joblib.parallel_config(backend="threading"):
        together = run([cell], 12, jobs=4)[0]
    order = ["draw", "method", "scope"]
    pd.testing.assert_frame_equal(
        alone.drop(columns="seconds").sort_values(order, ignore_index=True),
        together.drop(columns="seconds").sort_values(order, ignore_index=True),
    )


def test_rates_count_findings_and_coverage():
    records = pd.DataFrame(
        {
            "method": "crossed",
            "scope": "both",
            "p_value": [0.01, 0.2, 0.5, 0.9],
            "rank": [0.005, 0.1, 0.25, 0.45],
            "mean": 0.0,
            "ci95_lb": -1.0,
            "ci95_ub": 1.0,
            "divergences": [0, 0, 0, 3],
        }
    )
    row = rates(records).loc[("crossed", "both")]
    assert (row.findings, row["share"], row.width, row.divergences) == (1, 0.25, 2, 0.25)
    assert (row.coverage_50, row.coverage_80, row.coverage_95) == (0.25, 0.5, 0.75)
    # Clopper and Pearson (1934): 1 of 4.
    assert (row.share_ci95_lb, row.share_ci95_ub) == pytest.approx((0.00631, 0.80588), abs=1e-5)


@pytest.mark.slow
def test_calibrate_returns_row_per_method_and_scope(words, embedding):
    made = calibrate(cosines(words, embedding, ()), draws=3, sampling=QUICK, jobs=1)
    assert set(made.table.index) == {
        ("WEAT", "targets"),
        *(("crossed", scope) for scope in ("both", "targets", "attributes")),
    }
    assert (made.table.draws == 3).all()
    assert says(made, "tiny attributes drawn random findings 5% WEAT")


@pytest.mark.slow
def test_calibrate_returns_same_numbers_for_single_scope(words, embedding):
    settings = {"draws": 2, "sampling": QUICK, "jobs": 1}
    every = calibrate(cosines(words, embedding, ()), **settings)
    widest = calibrate(cosines(words, embedding, ()), **settings, scopes="all")
    assert widest.table.index.tolist() == [("WEAT", "targets"), ("crossed", "both")]
    assert widest.text == every.text
    pd.testing.assert_frame_equal(widest.table, every.table.loc[widest.table.index])


def test_calibration_text_marks_scope_unlike_random_words():
    records = pd.DataFrame({"draw": 0, "method": "crossed", "scope": "attributes", "mean": [0.1], "p_value": 0.01})
    assert says(Calibration("tiny", 0.0, records).text, "crossed 'attributes' 100.0%")
    fitting = Calibration("tiny", 0.0, records.assign(scope="targets"), random="targets")
    assert "level are crossed 100.0%" in fitting.text


def test_null_design_raises_without_other_words(words):
    bare = open_embedding({word: [1.0, k] for k, word in enumerate((*words.targets, *words.attributes))})
    with refused(WordListError, "no words 'tiny'"):
        NullDesign.of(words, bare)


def test_null_design_draws_sub_topics_as_close_words(design):
    drawn = design.drawn_as("sub-topics")
    _, classes = drawn.draw_words(1, 0)
    groups, single = design.draw_words(1, 0)
    pd.testing.assert_series_equal(pd.Series(classes).map(len), pd.Series(single).map(len))
    assert not set(next(iter(classes.values()))) & set(list(classes.values())[1])

    def mean_cosine(words: tuple[str, ...]) -> float:
        rows = stacked(design.vectors, words)
        return float((rows @ rows.T).mean())

    for name, in_neighbourhoods in classes.items():
        assert mean_cosine(in_neighbourhoods) > mean_cosine(single[name])
    assert drawn.draw_words(1, 0)[0] == groups


@pytest.mark.parametrize("drawn", ["words", "sub-topics"])
def test_null_design_draws_tables_with_ten_templates(drawn):
    """Its general words come from one template, and its own words from ten."""
    design = NullDesign.of(load_wordlist("weat6"), open_embedding("minilm-demo")).drawn_as(drawn)
    assert design.vocabulary.in_first
    table = design.draw(1, 0)
    assert len(table.replicates.tables) == 10
    assert table.has_related_words


@pytest.mark.slow
def test_calibrate_draws_topics_for_targets_and_attributes(words, embedding):
    result = calibrate(words, embedding, draws=3, drawn="topics", sampling=QUICK, jobs=1)
    assert result.random == "both"
    assert "targets and attributes of topics drawn at random" in result.text
    assert "true biases unknown" in str(result.layout.caption)
    assert result.table.coverage_95.isna().all()
    assert (result.layout.frame["hold the truth"] == DASH).all()
    with refused(BayesBiasError, "`random` 'targets' topics Omit"):
        calibrate(words, embedding, drawn="topics", random="targets")


@pytest.mark.parametrize("settings", [{"random": "both"}, {"drawn": "topics"}])
def test_calibrate_size_applies_to_groups_and_classes_if_both_are_random(words, embedding, settings):
    with refused(WordListError, "64 random words 60"):
        calibrate(words, embedding, draws=3, size=16, **settings)


def uneven(words: WordList) -> WordList:
    return replace(words, groups={"men": ("he", "him"), "women": ("she", "her", "hers")})


@pytest.mark.parametrize("random", ["targets", "attributes", "both"])
def test_own_words_are_exchanged_with_sizes_of_list(words, embedding, random):
    design = NullDesign.of(uneven(words), embedding, random=random, own_words=True)
    drawn = [design.draw_words(1, number) for number in range(20)]
    assert drawn == [design.draw_words(1, number) for number in range(20)]
    for groups, classes in drawn:
        assert {name: len(own) for name, own in groups.items()} == {"men": 2, "women": 3}
        assert {name: len(own) for name, own in classes.items()} == {"work": 3, "home": 3}
        assert sorted(groups["men"] + groups["women"]) == sorted(uneven(words).targets)
        assert sorted(classes["work"] + classes["home"]) == ["boss", "cook", "crib", "firm", "job", "maid"]
    different = {side: {tuple(map(frozenset, one[k].values())) for one in drawn} for k, side in enumerate(("t", "a"))}
    assert (len(different["t"]) > 1) == (random != "attributes")
    assert (len(different["a"]) > 1) == (random != "targets")
    table = design.draw(1, 0)
    assert set(table.values.attribute.data) == set(words.attributes)  # with the control class
    assert table.controls == ("other",)


def test_exchanged_words_have_zero_bias_on_average(words, embedding):
    """Every split of the five words is equally probable, and the biases of all splits add up to zero."""
    design = NullDesign.of(uneven(words), embedding, random="targets", own_words=True)
    rows = dict(design.vectors)
    work, home = (stacked(rows, words.classes[name]).mean(axis=0) for name in ("work", "home"))

    def bias(groups: dict[str, tuple[str, ...]]) -> float:
        men, women = (stacked(rows, groups[name]).mean(axis=0) for name in ("men", "women"))
        return float((men - women) @ (work - home) / 2)

    draws, bias_of = 2000, {}
    number_of = dict.fromkeys(map(frozenset, combinations(uneven(words).targets, 2)), 0)
    for number in range(draws):
        groups, _ = design.draw_words(1, number)
        split = frozenset(groups["men"])
        bias_of[split] = bias(groups)
        number_of[split] += 1
    assert len(number_of) == len(bias_of) == 10
    assert sum(bias_of.values()) == pytest.approx(0, abs=1e-12)
    assert max(map(abs, bias_of.values())) > 0.01
    assert chisquare(list(number_of.values())).pvalue > 0.001


def test_own_words_are_exchanged_within_sub_topics_that_all_groups_have(words, embedding):
    topics = {
        "men": {"pronouns": ("he", "him"), "possessives": ("his",)},
        "women": {"pronouns": ("she",)},  # "hers" and "her" have no topic that men share
        "work": {"people": ("boss",)},
    }
    design = NullDesign.of(replace(words, topics=topics), embedding, random="both", own_words=True)
    men = [design.draw_words(1, number)[0]["men"] for number in range(200)]
    assert {frozenset(own) & {"he", "him", "she"} for own in men} == {
        frozenset({"he", "him"}),
        frozenset({"he", "she"}),
        frozenset({"him", "she"}),
    }
    assert {frozenset(own) - {"he", "him", "she"} for own in men} == {
        frozenset({"his"}),
        frozenset({"her"}),
        frozenset({"hers"}),
    }
    boss = [set(design.draw_words(1, number)[1]["work"]) >= {"boss"} for number in range(50)]
    assert len(set(boss)) == 2  # no topic of the other class


@pytest.mark.parametrize(
    ("random", "changes", "text"),
    [
        (
            "targets",
            {"groups": {"men": ("he", "him")}, "stereotypes": {"men": "work"}, "opposites": ("home",)},
            "'tiny' zero random='attributes'",
        ),
        (
            "attributes",
            {"groups": {"men": ("he", "him")}, "classes": {"work": ("boss", "job")}, "stereotypes": {"men": "work"}},
            "'tiny' single class attributes random 'targets'",
        ),
    ],
)
def test_own_words_raise_for_single_group_or_class(words, embedding, random, changes, text):
    with refused(WordListError, text):
        NullDesign.of(replace(words, **changes), embedding, random=random, own_words=True)


def test_own_words_have_own_key_and_no_pool(words, embedding):
    design = NullDesign.of(words, embedding, random="targets", own_words=True)
    assert design.pool == ()
    attributes = NullDesign.of(words, embedding, random="attributes", own_words=True)
    fixed = NullDesign.of(words, embedding, random="targets")
    assert len({Cell(each, ()).key for each in (design, attributes, fixed)}) == 3


def test_calibrate_exchanges_targets_of_own_words_by_default():
    result = calibrate("weat7", draws=20, drawn="own words", jobs=1)
    assert result.random == "targets"
    assert says(result, "weat7 targets of the list exchanged at random between groups findings 5% crossed")
    assert result.records.draw.nunique() == 20
    both = calibrate("weat7", draws=20, drawn="own words", random="both", jobs=1)
    assert "targets and attributes of the list exchanged at random between groups and classes" in both.text


@pytest.mark.parametrize("words", [4, 8])
def test_calibrate_finds_few_biases_between_random_halves_of_first_names(words: int) -> None:
    """With a prior that the words cannot overrule, 55% of halves with four names and 40% with eight were false."""
    names, terms = load_wordlist("weat6").groups, load_wordlist("weat7").groups
    halves = {
        "groups": {group: own[:words] for group, own in names.items()},
        "classes": dict(terms),
        "stereotypes": dict(zip(names, terms, strict=True)),
    }
    table = calibrate(halves, drawn="own words", scopes="both", draws=200, jobs=1).table
    assert table.loc[("crossed", "both"), "share"] < 0.08


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"drawn": "topic"}, "drawn 'topic' topics"),
        ({"drawn": "topics", "planted": 0.1}, "planted topics 0"),
        ({"drawn": "own words", "planted": 0.1}, "`planted` 0.1 Omit"),
        ({"drawn": "own words", "size": 4}, "`size` 4 Omit"),
    ],
)
def test_calibrate_raises_for_invalid_drawn_or_planted_topics(words, embedding, wrong, text):
    with refused(BayesBiasError, text):
        calibrate(words, embedding, draws=3, **wrong)
