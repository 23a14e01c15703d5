"""The pages of evidence say what the results say, and the simulations that they rest on are the model."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_bias as bb
from bayes_bias import open_embedding
from bayes_bias.analyses.published.published import VarianceRatios
from bayes_bias.analyses.report.check_clusters import _CONSEQUENCE
from bayes_bias.models.components import REPLICATES
from bayes_bias.models.patterns import Patterns
from bayes_bias.posterior.verdict import ARBITRARY_TOPICS
from bayes_bias.table.association_table import _OF_UNEVEN
from benchmarks import known_bias, page, published, sbc
from benchmarks.cells import planted
from benchmarks.effects import of_replicate
from benchmarks.provenance import PAGES, measured, read
from benchmarks.shares import CBN, from_to, of_default_model, shares_by
from benchmarks.topical_words import topical_cells
from studies.known_bias.scenario import load_scenario

_OURS = ("bayes_bias", "benchmarks", "studies")
_PROMISES = ("promises", "promises-sub-topics")

ROOT = Path(__file__).parents[1]


@pytest.mark.thorough
def test_pages_are_rendered_from_their_results():
    written = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    rendered = page.pages()
    stale = sorted({*written.items()} ^ {*rendered.items()})
    assert not stale, f"run `python -m benchmarks.page`: {[name for name, _ in stale]}"
    figures = re.findall(r"!\[[^]]*\]\((.*?)\)", "".join(rendered.values()))
    assert len(figures) > 10
    assert all((PAGES / figure).is_file() for figure in figures)


@pytest.mark.parametrize("folder", ["benchmarks", "scripts", "studies"])
def test_what_programs_import_exists(folder):
    """Evidence is measured seldom, and a name that has moved would be noticed then."""
    for file in (ROOT / folder).rglob("*.py"):
        if "kept" in file.parts:  # results of joblib, in a working folder
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
                "bayes_bias",
                "benchmarks",
                "studies",
            ):
                module = importlib.import_module(node.module)
                for name in node.names:
                    there = hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}")
                    assert there, f"{file.relative_to(ROOT)} imports {name.name} from {node.module}"


def test_every_result_is_on_one_page():
    shown = [name for each in page.EVIDENCE for name in each.sections]
    assert len(shown) == len(set(shown))
    assert all(measured(name.split(":")[0]) for name in shown)


def test_docs_quote_frequency_against_bias():
    rows = pd.DataFrame(read("ground-truth-frequency")["rows"]).query("question == 'frequency'").set_index("measure")
    raw, equal = "posterior", "posterior at equal frequency"

    def times(cell, measure, column="value"):
        own = rows.loc[measure].query(f"cell == 'mu 0.9, {cell}, frequency 8'")
        return round((own[column] * own.trainings).sum())

    sides = pd.DataFrame(read("equal-frequency")["rows"]).query("frequency == 8").set_index(["adjusted", "model"])
    found = (sides.found * sides.worlds).round().astype(int)
    text = prose("docs/how-to/covariates.md")
    alone, biased = "sigma 0", "sigma 0.2"
    assert f"finds a bias in {times(alone, 'WEAT')} and this model in {times(alone, raw)}. At equal" in text
    assert f"finds one in {times(alone, equal)}, and {times(alone, equal, 'covered')} of its intervals" in text
    assert (times(alone, equal, "called_frequency"), times(alone, equal, "called_bias")) == (10, 0)
    assert f"both sides adjusted {found['both'][['skip-gram', 'cbow']].sum()} trainings" in text
    of_fasttext = [found[each, "fasttext"] for each in ("nothing", "targets", "both")]
    assert (
        "corpora {} has a finding without adjustment, {} at equal frequency of targets, and {} with".format(
            *of_fasttext
        )
        in text
    )
    assert f"a bias in {times(biased, raw)} of 38 trainings, and in {times(biased, equal)} at equal" in text
    assert f"says {times(biased, equal, 'called_bias')} times that frequency does not account" in text
    assert f"bias, and {times(biased, equal, 'called_frequency')} times that it does" in text


def test_docs_quote_bias_at_equal_frequency():
    rows = pd.DataFrame(read("many-words")["rows"])
    alone = rows.query("sigma == 0 and frequency == 8")

    def ends(shares):
        return f"{shares.min():.1%} to {shares.max():.1%}"

    text = prose("docs/how-to/covariates.md")
    assert f"intervals {rows.covered.mean():.0%} hold this bias, by cell {ends(rows.covered)}." in text
    assert f"{ends(alone.raw_found)} of lists show one unadjusted, and {ends(alone.found)} at equal" in text
    assert (
        f"For at most {alone['called not covariates'].max():.1%} the verdict says that frequency does not account"
        in text
    )


def test_shipped_predictions_are_of_left_out_studies():
    cells, rows = (pd.DataFrame(read(name)["rows"]) for name in ("published-cells", "published"))
    learnt_from = VarianceRatios.shipped().learnt_from
    assert (learnt_from["tables"], learnt_from["studies"]) == (len(cells), cells.study.nunique())
    assert learnt_from["reliability"] == published.reliability(rows).round(3).to_dict("records")
    assert ((rows.predicted - (rows.verdict == "distinguishable")) ** 2).mean() < 0.06
    agree = ((cells.chance < 0.05) == (cells["quasi-F p"] < 0.05)).mean()
    assert f"agree in {agree:.0%} of cases" in " ".join((bb.published.__doc__ or "").split())


def test_notices_quote_unevenness_and_clusters():
    rows = pd.DataFrame(read("simulated")["rows"]).set_index("part")
    uneven = pd.DataFrame(read("group-scales")["rows"]).set_index(["side", "first", "other", "times"])
    for kind, side in {"group": "targets", "class": "attributes"}.items():
        row = uneven.loc[side, 3, 30, 3]
        assert _OF_UNEVEN[kind] == (f"{row['for each group']:.0%}", f"{row['quasi-F']:.0%}")
    topics = rows.loc["sub-topics, not named"].query("words == 8")["share"]
    assert f"correlation of .1 to .5 gave {from_to(topics)} false findings" in _CONSEQUENCE


def test_the_readme_quotes_the_evidence():
    text = prose("README.md")
    found = shares_by("nulls", ["method", "scope", "controls", "size"])
    rows = {"quasi-F, Clark 1973": ("quasi-F", "both"), "mixed model, REML and Satterthwaite": ("REML", "both")}
    for label, cell in rows.items():
        shares = " | ".join(f"{100 * share:.1f}%" for share in found[*cell, False].round(4))
        assert f"| {label} | {shares} |" in text
    published = " | ".join(f"{share:.0%}" for share in found["hierarchical", "both", False])
    assert f"| published Bayesian model | {published} |" in text
    both = zip(found["WEAT", "targets", False], found["WEAT, one-sided", "targets", False], strict=True)
    assert " | ".join(f"{two:.0%} ({one:.0%})" for two, one in both) in text
    cbn = " | ".join(f"{share:.1%}" for share in found[CBN, "both", False].round(4))
    assert f"| bootstrap of both lists (R package cbn) | {cbn} |" in text
    assert f"| this model | {' | '.join(f'{share:.1%}' for share in of_default_model())} |" in text
    assert f"{from_to(topical_cells()['independent'])} of lists without bias" in text
    for names, claim in (
        (("topical-words-glove",), "its rate is at most {}"),
        (("topical-words", "topical-words-loose"), "it is at most {}"),
    ):
        of_cells = topical_cells(*names)
        assert claim.format(f"{of_cells['from vectors'].max():.1%}") in text
        assert f"{len(of_cells)} designs" in text


@pytest.mark.parametrize(
    ("page_name", "of_weat", "of_model"),
    [
        ("docs/index.md", "two-sided test finds one in {} of cases", "this model in {}."),
        ("docs/evidence/index.md", "finds a bias in {} of cases two-sided", "this model in {}."),
        ("docs/evidence/false-findings.md", "finds a bias in {} of cases two-sided", "this model in {}."),
        ("paper/paper.md", "at the 5% level in {} of such cases", "finds one in {}."),
    ],
)
def test_pages_quote_one_rate_for_one_claim(page_name, of_weat, of_model):
    """Each page rounds the shares of README's table, which are those of the results, to whole percent."""
    text = prose(page_name)
    assert of_weat.format(from_to(shares_by("nulls", ["method", "scope", "size"])["WEAT", "targets"])) in text
    assert of_model.format(from_to(of_default_model())) in text


def test_pages_quote_how_often_arbitrary_topics_are_distinguishable():
    rows = {name: pd.DataFrame(read(name)["rows"]).query("what == 'topics on both sides'").found for name in _PROMISES}
    counted, (independent, trained) = rows["promises-sub-topics"].item(), rows["promises"]
    assert f"topics {counted:.0%} are" in ARBITRARY_TOPICS
    assert f"independent draws, {independent:.0%}, and {trained:.0%} in" in ARBITRARY_TOPICS


def test_docs_quote_the_model_against_classics():
    text = prose("docs/statistics.md")
    rows = pd.DataFrame(read("competitors")["rows"]).set_index(["lists", "method"])
    found, width = rows.findings / rows.draws, rows.width
    power = rows.found / rows.draws
    eight, uneven, alike = "8 words", "4 against 25 targets, the 4 3 times as variable", "4 against 25 targets"
    assert f"REML and the quasi-F find {power[eight, 'REML']:.0%}, and this" in text
    assert f"this model {power[eight, 'crossed']:.0%}" in text
    assert found[eight].max() <= 0.05
    assert f"REML has {found[uneven, 'REML']:.0%} false findings" in text
    assert f"This model has {found[uneven, 'crossed']:.0%}, the quasi-F {found[uneven, 'quasi-F']:.0%}" in text
    assert f"intervals {width[uneven, 'quasi-F'] / width[uneven, 'crossed'] - 1:.0%} longer" in text
    assert f"intervals are {width[alike, 'crossed'] / width[alike, 'REML'] - 1:.0%} longer than REML's" in text
    assert power["4 words", "quasi-F"] > power["4 words", "crossed"]


def prose(name: str) -> str:
    """A page of the project without its line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_simulated_cosines_have_the_bias_that_they_say():
    truths, raw = zip(*(sbc.simulate(np.random.default_rng(seed)) for seed in range(200)), strict=True)
    said = np.array([truth["bias, scope both"] for truth in truths])
    seen = np.array(
        [
            (
                c.block("men", "work").mean()
                - c.block("men", "home").mean()
                + c.block("women", "home").mean()
                - c.block("women", "work").mean()
            )
            / 2
            for c in raw
        ]
    )
    assert np.corrcoef(said, seen)[0, 1] > 0.95
    assert abs((seen - said).mean()) < 3 * (seen - said).std() / np.sqrt(len(said))


def test_memory_is_constant_in_sentences():
    result = read("encoding")
    rows = {row["run"]: row for row in result["rows"]}
    few, many = rows["first"], rows["first, ten times as many"]
    assert many["sentences"] == 10 * few["sentences"] == 10_000
    assert many["peak MiB"] < 1.1 * few["peak MiB"]
    assert rows["second"]["encoded"] == 0
    assert result["about"]["encoded twice"] <= result["about"]["batch"]
    assert result["about"]["same vectors"]


def test_planted_cells_carry_their_bias():
    rows = list(planted(open_embedding("googlenews-demo")))
    assert {row.planted for row in rows} == {row.cell.design.planted for row in rows}
    assert all(row.controls for row in rows)


def test_simulated_replicates_vary_as_the_model_says():
    rng = np.random.default_rng(1)
    data = xr.Dataset(
        {"n_targets": ("group", [2, 2]), "n_attributes": ("attribute_class", [2, 2, 2, 2])},
        coords={"group": list("gh"), "attribute_class": list("abcd"), "control": ["d"], "replicate": range(3)},
    )
    patterns = Patterns.of(dict.fromkeys(REPLICATES, ()), data).replicate
    for name, pattern in zip(REPLICATES, patterns, strict=True):
        theta = dict.fromkeys(REPLICATES, 0.0) | {name: 1.0}
        draws = np.stack([of_replicate(theta, 2, 4, 3, rng).ravel() for _ in range(4000)])
        assert np.abs(np.cov(draws.T) - pattern).max() < 0.1


def test_what_make_runs_is_there():
    modules = set(re.findall(r"-m (benchmarks\.\w+)", (page.RESULTS.parents[1] / "Makefile").read_text()))
    assert len(modules) > 30
    assert not [module for module in modules if importlib.util.find_spec(module) is None]


def test_figures_of_known_bias_are_drawn_from_the_rows_that_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(known_bias, "FOLDER", tmp_path)
    known_bias.draw(load_scenario("skew"))
    assert [path.stem for path in tmp_path.iterdir()] == ["skew-following-gender-targets-skip-gram"]
    assert {path.stem for path in (known_bias.RESULTS / "ground-truth").iterdir()} == known_bias.SHOWN
