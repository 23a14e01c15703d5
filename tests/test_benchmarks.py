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
from scipy.stats import binomtest

import bayes_bias as bb
from bayes_bias.analyses.published.published import VarianceRatios
from bayes_bias.analyses.report.check_clusters import _CONSEQUENCE
from bayes_bias.models.components import REPLICATES
from bayes_bias.models.patterns import Patterns
from bayes_bias.posterior.verdict import ARBITRARY_TOPICS, RANDOM_WORDS
from bayes_bias.table.association_table import _OF_UNEVEN
from bayes_bias.table.replicates import _OF_FEW
from benchmarks import harness, lists, measure_intervals, page, published, sbc
from benchmarks.cells import RESULTS
from benchmarks.effects import of_replicate
from benchmarks.harness import Judged, Result, judged
from benchmarks.methods import OURS
from benchmarks.pairs import TRUTHS, independence
from benchmarks.provenance import PAGES, read
from benchmarks.shares import GLOVE, GOOGLENEWS, from_to, nulls_by_size, related, rows_of

ROOT = Path(__file__).parents[1]


def test_evidence_pages_match_rendered_results():
    written = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    rendered = page.pages()
    stale = [name for name in {**written, **rendered} if written.get(name) != rendered.get(name)]
    assert not stale, f"run `python -m benchmarks.page`: {stale}"
    figures = re.findall(r"!\[[^]]*\]\((.*?)\)", "".join(rendered.values()))
    assert len(figures) >= 3
    for figure in figures:
        assert (PAGES / figure).is_file()


@pytest.mark.parametrize("folder", ["benchmarks", "scripts", "studies"])
def test_programs_import_existing_names(folder):
    """Evidence is measured seldom, and a name that has moved would be noticed then."""
    for file in (ROOT / folder).rglob("*.py"):
        if "kept" in file.parts:  # results of joblib, in a working folder
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and re.match(r"(bayes_bias|benchmarks|studies)\b", node.module or ""):
                module = importlib.import_module(node.module)
                for name in node.names:
                    exists = hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}")
                    assert exists, f"{file.relative_to(ROOT)} imports {name.name} from {node.module}"


def test_evidence_names_every_result():
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    assert not [name for name in RESULTS if f"`{name}`" not in text and f"| {name} |" not in text]


def test_result_is_outdated_when_model_code_or_draws_change(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.provenance.RESULTS", tmp_path)
    result = Result("example", lambda draws: [{"draws": draws}], 3)
    assert not result.is_up_to_date
    result.keep()
    assert result.is_up_to_date
    assert read("example")["rows"] == [{"draws": 3}]
    assert Result("example", result.draw, 4).key != result.key != Result("example", result.draw, 3, model="robust").key
    monkeypatch.setattr(harness, "_code_of", lambda module: "other code")
    assert not result.is_up_to_date
    result.keep(1)
    assert not result.is_up_to_date


class _Coin:
    """Estimates of plus or minus three."""

    @property
    def label(self) -> dict[str, object]:
        return {"kind": "coin"}

    def draw(self, seed: int) -> tuple[float, float]:
        return (-3.0 if seed % 2 else 3.0), 0.0


def test_judged_returns_rates_of_each_method():
    methods = {
        "short": lambda value: Judged(value, value - 2, value + 2, 0.04),
        "wide": lambda value: Judged(value, value - 4, value + 4, 0.15),
    }
    short, wide = judged(_Coin(), methods, range(10))
    assert (short["found"], short["covered"], short["width"], short["draws"]) == (1.0, 0.0, 4.0, 10)
    assert (wide["found"], wide["below 0.2"], wide["covered"], wide["relative width"]) == (0.0, 1.0, 1.0, 2.0)
    assert (short["power"], wide["power"]) == (1.0, 1.0)  # the planted bias is 2.8 times 3


def test_variance_ratios_match_evidence_of_published_studies():
    cells, rows = pd.DataFrame(read("published-cells")["rows"]), pd.DataFrame(read("published")["rows"])
    learnt_from = VarianceRatios.shipped().learnt_from
    assert (learnt_from["tables"], learnt_from["names"]) == (len(cells), list(cells.study.unique()))
    assert learnt_from["studies"] == cells.study.nunique()
    # Each of these tables is predicted once, from the other studies.
    key = ["study", "list", "vectors"]
    predicted, given = (frame.set_index(key).sort_index() for frame in (rows[cells.columns], cells))
    pd.testing.assert_frame_equal(predicted, given)
    assert learnt_from["reliability"] == published.reliability(rows).round(3).to_dict("records")
    assert ((rows.predicted - (rows.verdict == "distinguishable")) ** 2).mean() < 0.06
    agree = ((cells.chance < 0.05) == (cells["quasi-F p"] < 0.05)).mean()
    assert f"agree in {agree:.0%} of cases" in " ".join((bb.published.__doc__ or "").split())


def test_notices_match_evidence_results():
    rows = rows_of("uneven").set_index(["kind", "method"]).found
    for kind, side in {"group": "targets", "class": "attributes"}.items():
        own = rows[f"3 against 30 {side}, the 3 three times as variable"]
        assert _OF_UNEVEN[kind] == (f"{own[OURS]:.0%}", f"{own['quasi-F']:.0%}")
    topics = rows_of("simulated").query("words == 8 and method == @OURS")
    topics = topics[topics.kind.str.startswith("sub-topics")]
    assert f"correlation of .1 to .5 led to {from_to(topics.found)} false positives" in _CONSEQUENCE
    assert "a third of cases" in RANDOM_WORDS
    assert nulls_by_size().loc[OURS, "targets"].between(0.3, 0.37).all()
    few = rows_of("replicates-planted").query("times == 3 and replicates < 5 and method == @OURS")
    assert f"{from_to(few.found)} false positives" in _OF_FEW
    found = rows_of("topics").query("what == 'topics on both sides'").set_index("words").found
    assert f"{found['related words get less weight']:.0%} of arbitrary pairs of topics" in ARBITRARY_TOPICS
    assert f"({found['words independent']:.0%} if all words are treated as independent)" in ARBITRARY_TOPICS


def test_readme_matches_evidence_results():
    text = prose("README.md")
    found = nulls_by_size()
    rows = {
        "Quasi-F (Clark 1973)": "quasi-F",
        "Mixed model, REML with Satterthwaite df": "REML",
        "**`bayes_bias`**": OURS,
    }
    rows |= {"Bootstrap of both lists (R package cbn)": "bootstrap of cbn"}
    for label, method in rows.items():
        shares = found.loc[method, "both"].round(4)
        assert f"| {label} | {' | '.join((100 * shares).map('{:.1f}%'.format))} |" in text
    whole = " | ".join(found.loc["hierarchical", "both"].map("{:.0%}".format))
    assert f"| Published Bayesian model | {whole} |" in text
    two_sided = found.loc["WEAT", "targets"].map("{:.0%}".format)
    one_sided = found.loc["WEAT, one-sided", "targets"].map(" ({:.0%})".format)
    assert " | ".join(two_sided + one_sided) in text
    assert f"{from_to(related(method='quasi-F').found)} of lists without bias" in text
    in_glove, in_google_news = related(*GLOVE), related(*GOOGLENEWS)
    assert f"its rate is at most {in_glove.found.max():.1%}" in text
    assert f"it is at most {in_google_news.found.max():.1%}" in text
    assert f"{len(in_glove)} designs" in text
    assert f"{len(in_google_news)} designs" in text
    power_in_glove = f"{in_glove.power.mean():.0%}".removesuffix("%")
    assert f"finds {power_in_glove} and {in_google_news.power.mean():.0%} on average" in text


@pytest.mark.parametrize(
    ("page_name", "weat_claim", "model_claim"),
    [
        (
            "docs/index.md",
            "two-sided test nevertheless finds a bias in {} of cases",
            "`bayes_bias` finds a bias in {}.",
        ),
        ("paper/paper.md", "at the 5% level in {} of such cases", "finds one in {}."),
    ],
)
def test_page_claims_match_null_simulations(page_name, weat_claim, model_claim):
    """Each page rounds the shares of README's table, which are those of the results, to whole percent."""
    text, found = prose(page_name), nulls_by_size()
    assert weat_claim.format(from_to(found.loc["WEAT", "targets"])) in text
    assert model_claim.format(from_to(found.loc[OURS, "both"])) in text


def test_docs_match_evidence_on_classical_tests():
    text = prose("docs/classical-tests.md") + prose("docs/related-words.md")
    rows = rows_of("simulated").set_index(["kind", "words", "method"]).sort_index()
    eight = rows.loc["independent words", 8]
    uneven = rows.loc["3 against 30 targets, the 3 three times as variable", 30]
    alike = rows.loc["3 against 30 targets", 30]
    assert f"REML finds {eight.power['REML']:.0%}, the quasi-F {eight.power['quasi-F']:.0%}" in text
    assert f"this model {eight.power[OURS]:.0%}" in text
    assert f"REML has {uneven.found['REML']:.0%} false" in text
    assert f"This model has {uneven.found[OURS]:.0%}, the quasi-F {uneven.found['quasi-F']:.0%}" in text
    longer = uneven.width["quasi-F"] / uneven.width[OURS] - 1
    assert f"intervals {longer:.0%} longer" in text
    assert f"intervals are {alike.width[OURS] / alike.width['REML'] - 1:.0%} longer than REML's" in text
    by_method = rows_of("words-glove").query("kind != 'both groups of the same sub-topics'").groupby("method")
    worst, power = by_method.found.max(), by_method.power.mean()
    for label, method in {"this model": OURS, "moderated F": "moderated F", "quasi-F": "quasi-F"}.items():
        assert f"| {label} | {worst[method]:.1%} | {power[method]:.0%} |" in text


def test_gates_pass_and_fail_as_often_as_they_state():
    """Within three binomial standard errors, or at most so often for changes of sentence pairs, as `check` says."""
    rows = pd.concat([rows_of("gates"), rows_of("gates-answers"), rows_of("gates-pairs")])
    assert (rows.tables >= 200).all()
    of_changes = rows.gate.isin(["scores", "JSON"])
    for seen, stated in {"passed": "stated passes", "failed": "stated failures"}.items():
        error = np.sqrt((rows[stated] * (1 - rows[stated])).clip(lower=1e-3) / rows.tables)
        excess = (rows[seen] - rows[stated]) / error
        assert (excess <= 3).all()
        assert (excess[~of_changes] >= -3).all()
    (too_often,) = rows.failed[(rows.gate == "range") & (rows["size"] == 0.05)]
    assert f"the allowed size fails in {too_often:.1%} instead of 5%" in prose("docs/how-to/gate-a-release.md")


def test_guide_to_texts_states_rates_of_pmi():
    rows = rows_of("pmi").set_index(["co_occurrences", "bias", "frequency_ratio"])
    guide = prose("docs/how-to/from-texts.md")
    found, slope = (rows.xs((bias, 1), level=(1, 2))[column] for bias, column in ((0.0, "found"), (0.6, "slope")))
    assert (found < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)).all()
    three, twelve, many = (found * 100).round().astype(int)
    assert f"excluded zero in {three}, {twelve}, and {many}% of lists" in guide
    assert f"estimates were {slope[3]:.2f}, {slope[12]:.2f}, and {slope[48]:.2f} times a planted bias" in guide
    uneven = rows.loc[12, 0.6, 5]
    assert f"estimates were {uneven.slope:.2f} times the bias of the same words" in guide
    assert f"contained it in only {uneven['own covered']:.0%} of lists" in guide


def test_sandwich_of_writers_equals_that_of_errorbars():
    """The interval of errorbars 0.2.4, `cluster_robust_se`, with Student's t for 77 writers, and Wilson's of evalstats
    0.3.3, `mean_ci`."""
    frame = TRUTHS[3].draw(0)
    ahead = (frame.difference > 0).astype(float)
    writers = ahead.groupby(frame.writer)
    found = independence(writers.size().to_numpy(float), writers.sum().to_numpy())
    assert found == pytest.approx((0.5632622159076608, 0.6661807549146204), rel=1e-12)
    wilson = binomtest(int(ahead.sum()), len(ahead)).proportion_ci(method="wilson")
    assert tuple(wilson) == pytest.approx((0.5898969000524897, 0.638963075959741), rel=1e-12)


def test_docs_match_evidence_on_lists_changes_and_covariates():
    ten = rows_of("several-lists").set_index("what").loc["ten lists"]
    assert f"at least one is found to have a bias in {ten.found:.0%}" in prose("docs/estimands.md")
    assert f"After adjustment, {ten['after Holm']:.0%} of the same" in prose("docs/estimands.md")
    assert f"at least one is distinguishable in {ten.found:.0%} of cases" in prose("docs/how-to/read-a-report.md")
    checklist = prose("docs/how-to/paper-checklist.md")
    assert f"distinguishable in {ten.found:.0%} of comparisons" in checklist
    assert ARBITRARY_TOPICS.startswith("14%")  # one in seven
    assert "One in seven arbitrary pairs of topics" in checklist
    assert f"After Holm's adjustment, this share is {ten['after Holm']:.0%}" in checklist
    page_of_report = prose("bayes_bias/documents/templates/report-answers.html")
    assert f"at least one finding in {ten.found:.0%} of cases, and in {ten['after Holm']:.0%} after" in page_of_report
    shocks = rows_of("over-time").set_index(["kind", "slices"]).loc[("shocks of 1 sd", 8)]
    page_of_series = prose("bayes_bias/documents/templates/over-time-trend.html")
    assert f"{1 - shocks['new covers']:.0%} of 95% intervals missed the true value" in page_of_series
    changes = rows_of("comparisons").query("method == @OURS").set_index("words").covered
    held = f"contained a known change in {changes[4]:.0%} of cases with four words and in {changes[8]:.0%} with eight"
    assert held in prose("docs/how-to/before-and-after.md")
    covariates = rows_of("covariates").set_index(["sides", "truth"]).loc["targets"]
    text = prose("docs/how-to/covariates.md")
    assert f"contains the true bias in {from_to(covariates.covered)} of tables" in text
    unadjusted, adjusted = covariates["found unadjusted"][0.0], covariates.found[0.0]
    assert f"the unadjusted bias is distinguishable from noise in {unadjusted:.0%} of tables" in text
    assert f"and the adjusted bias in {adjusted:.0%}" in text


def prose(name: str) -> str:
    """A page of the project without its line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_simulated_cosines_have_stated_bias():
    said, seen = np.empty(200), np.empty(200)
    for seed in range(200):
        truth, table = sbc.simulate(np.random.default_rng(seed))
        said[seed] = truth["bias, scope both"]
        men_differ = table.block("men", "work").mean() - table.block("men", "home").mean()
        women_differ = table.block("women", "home").mean() - table.block("women", "work").mean()
        seen[seed] = (men_differ + women_differ) / 2
    assert np.corrcoef(said, seen)[0, 1] > 0.95
    assert abs((seen - said).mean()) < 3 * (seen - said).std() / np.sqrt(len(said))


def test_encoding_evidence_has_constant_memory_and_equal_vectors():
    result = read("encoding")
    rows = pd.DataFrame(result["rows"]).set_index("run")
    few, many = rows.loc["first"], rows.loc["first, ten times as many"]
    assert many["sentences"] == 10 * few["sentences"] == 10_000
    assert many["peak MiB"] < 1.1 * few["peak MiB"]
    assert rows.encoded["second"] == 0
    assert result["about"]["encoded twice"] <= result["about"]["batch"]
    assert result["about"]["same vectors"]


def test_planted_cells_have_labelled_bias():
    for label, cell in lists._planted():
        assert label["planted"] == cell.design.planted
        assert label["controls"]


def test_simulated_replicates_match_model_covariance():
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


def test_makefile_runs_existing_modules():
    modules = set(re.findall(r"-m (benchmarks[\w.]*)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert modules
    assert not [module for module in modules if importlib.util.find_spec(module) is None]


def test_values_of_a_drawn_list_are_finite():
    """The evidence of measures takes a quarter of an hour, and was once left behind by a change of the package."""
    measured = measure_intervals.values(0, 4)
    assert {"WEAT", "SAME", "gWEAT"} <= set(measured.index)
    assert np.isfinite(measured).all()
