"""The first sentence of each page states what was planted, and finds nothing where nothing was."""

from collections.abc import Callable
from dataclasses import replace
from string import Formatter

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.headlines import AFTER, HEADLINES, NO_VERDICT, Case, Finding, Page, headline
from bayes_bias.fitting.sampling import Sampling
from benchmarks.simulated_series import slices
from tests.analyses.answers.made_up import LIST, answers
from tests.analyses.answers.test_model_contrasts import of_models
from tests.analyses.answers.test_values import TWO, rated
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import changed, numbered, random_table, says

ENOUGH = Sampling(draws=800, tune=400)
# The answers of a question about science and art, whose labels are those of `LIST`.
SCIENCE = {
    "groups": LIST["groups"],
    "classes": {"science": numbered("job", 4), "art": numbered("home", 5)},
    "stereotypes": {"men": "science", "women": "art"},
}


def of_answers(mean: float) -> str:
    return bb.answers.estimate(answers(60, mean=mean), LIST).text


def of_two_lists(mean: float) -> str:
    rows = [answers(60, mean=mean).assign(stereotype="work"), answers(60, mean=0.0, seed=4).assign(stereotype="ideas")]
    return bb.answers.estimate(pd.concat(rows), {"work": LIST, "ideas": SCIENCE}).text


def of_changed_answers(mean: float) -> str:
    return bb.answers.estimate(answers(60, mean=-mean / 2), LIST, answers(60, mean=mean / 2, seed=2)).text


def of_agreement(mean: float) -> str:
    vectors = bb.fit(random_table(1, bias=mean / 5, **NINE), sampling=ENOUGH)
    found = bb.answers.estimate(answers(60, mean=mean), LIST, name="model")
    return bb.answers.compare(found, {"GloVe": vectors}).text


def of_two_models(mean: float) -> str:
    return bb.answers.compare_models(of_models({"one": mean / 2, "other": -mean / 2}, number=60), LIST).text


def of_three_models(mean: float) -> str:
    return bb.answers.compare_models(of_models({"a": mean, "b": 0.0, "c": 0.0}, number=60), LIST).text


def of_models_of_pairs(preference: float) -> str:
    scored = {"one": pairs(preference / 2, 5), "other": pairs(-preference / 2, 7)}
    return bb.sentence_pairs.compare_models(scored).text


def of_values(difference: float) -> str:
    ratings = rated(difference=difference, seed=2)
    return bb.answers.estimate_values(ratings, TWO, "numeric", unit="points", sampling=ENOUGH).text


NINE = {"targets": {"men": 9, "women": 9}, "attributes": {"work": 9, "home": 9}}


def of_report(bias: float) -> str:
    result = bb.report(random_table(1, bias=bias, **NINE), sampling=ENOUGH)
    return str(result.document().opening["answer"])


def of_two_reports(bias: float) -> str:
    tables = [random_table(1, bias=bias, name="planted", **NINE), random_table(1, bias=0.0, name="none", **NINE)]
    return str(bb.report(tables, sampling=ENOUGH).document().opening["answer"])


def of_stability(sd: float) -> str:
    """Describe six training runs with a bias of .1, whose biases have this standard deviation."""
    table, deviations = random_table(1, bias=0.0, **NINE), np.linspace(-1, 1, 6)
    biases = 0.1 + sd * deviations / deviations.std(ddof=1)
    runs = {f"run {k}": changed(table, bias, noise=0.02, seed=k) for k, bias in enumerate(biases)}
    return bb.stability(bb.combine_replicates(runs, "seed"), sampling=ENOUGH).text


def of_gaps(gap: float) -> str:
    rng = np.random.default_rng(1)
    rows = []
    for occupation in range(12):
        for group, rate in (("F", 0.75 + gap / 2), ("M", 0.75 - gap / 2)):
            recognised = rng.random(60) < rate
            said = np.where(recognised, f"job {occupation}", f"job {(occupation + 1) % 12}")
            rows.append(pd.DataFrame({"y": f"job {occupation}", "prediction": said, "group": group}))
    return bb.tpr_gaps.estimate(data=pd.concat(rows), of="F", sampling=ENOUGH).text


def pairs(preference: float, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    more = preference + rng.standard_normal(200) - 20
    return pd.DataFrame({"item": numbered("pair ", 200), "score_more": more, "score_less": -20.0})


def of_pairs(preference: float) -> str:
    return bb.sentence_pairs.estimate(pairs(preference), sampling=ENOUGH).text


def of_changed_pairs(preference: float) -> str:
    before = pairs(0.0)
    noise = 0.3 * np.random.default_rng(6).standard_normal(len(before))
    after = before.assign(score_more=before.score_more + preference + noise)
    return bb.sentence_pairs.estimate(before, after, sampling=ENOUGH).text


def of_change(change: float) -> str:
    before = random_table(1, targets={"men": 9, "women": 9}, attributes={"work": 9, "home": 9})
    return bb.compare(before, changed(before, change, noise=0.02), sampling=ENOUGH).text


def of_difference(change: float) -> str:
    before = random_table(1, targets={"men": 9, "women": 9}, attributes={"work": 9, "home": 9})
    after = changed(before, change, noise=0.02)
    before, after = (replace(t, provenance={"embedding": name}) for t, name in ((before, "Times"), (after, "Post")))
    return bb.compare(before, after, versions=False, sampling=ENOUGH).text


def of_series(change: float) -> str:
    biases = np.linspace(0.2, 0.2 + change, 3).tolist()
    return bb.over_time(slices(np.random.default_rng(3), (1900, 1925, 1950), biases), sampling=ENOUGH).text


def of_sweep(bias: float) -> str:
    rng = np.random.default_rng(2)
    random = {"targets": {"men": 9, "women": 9}, "attributes": {"work": 9, "home": 9}}
    sweep = made_sweep(2, 2)
    cells = sweep.cells.assign(bias=0.001 * rng.standard_normal(4), verdict="not distinguishable", survives=False)
    cells = cells.assign(source="posterior")
    table = random_table(1, bias=abs(bias), **random)
    verdict = bb.verdict(table)
    if verdict.label == "distinguishable":
        where = cells.index[1]
        cells.loc[where, ["bias", "verdict", "survives"]] = [np.sign(bias) * verdict.mean, verdict.label, True]
    return replace(sweep, cells=cells, titles={sweep.lists[1]: "WEAT 6: Names and careers"}).text


def of_multiverse(bias: float) -> str:
    table = random_table(1, bias=bias, targets={"men": 9, "women": 9}, attributes={"work": 9, "home": 9})
    return bb.multiverse(table.without_controls(), choices={"prior": ["exponential", "half-normal"]}).text


def of_criterion(slope: float) -> str:
    rng = np.random.default_rng(8)
    bias = 0.05 * rng.standard_normal(40)
    criterion = slope * bias + 0.02 * rng.standard_normal(40)
    columns = {"label": numbered("job ", 40), "bias": bias, "sd": 0.01, "criterion": criterion, "criterion_se": 0.01}
    return bb.criterion(pd.DataFrame(columns).set_index("label"), bias_name="bias", criterion_name="share").text


# For each analysis: what is analysed, with no effect, a planted effect, and one in the other direction.
PLANTED: dict[str, tuple[Callable[[float], str], tuple[tuple[float, str], ...]]] = {
    "answers": (
        of_answers,
        (
            (0.0, "For career words there is no clear association: D ="),
            (0.5, "The model assigns career words to men more often than family words: D = +"),
            (-0.5, "Against the stereotype, the model assigns family words to men more often than career words: D = −"),
        ),
    ),
    "two lists": (
        of_two_lists,
        (
            (0.0, "For science words (ideas) and career words (work) there is no clear association."),
            (0.5, "The model assigns career words (work) to men more often than family words: D = +"),
        ),
    ),
    "changed answers": (
        of_changed_answers,
        (
            (0.0, "No change of D of career words is distinguishable from zero"),
            (1.2, "D of career words increased by 1."),
            (-1.2, "D of career words decreased by 1."),
        ),
    ),
    "agreement": (
        of_agreement,
        (
            (0.0, "The association of career words is not distinguishable from zero in model and GloVe."),
            (0.5, "The association of career words is in the direction of the stereotype in model and GloVe."),
            (-0.5, "The association of career words is against the stereotype in model and GloVe."),
        ),
    ),
    "models": (
        of_two_models,
        ((0.0, "For career words, "), (0.8, "For career words, one (D = +"), (-0.8, "For career words, other (D = +")),
    ),
    "three models": (
        of_three_models,
        (
            (0.0, "No difference in D is distinguishable from zero after Holm's adjustment."),
            (0.8, "For career words, a has a larger D than "),
            (-0.8, "For career words, "),
        ),
    ),
    "models of pairs": (
        of_models_of_pairs,
        (
            (0.0, "For stereotypical sentences, one and other cannot be distinguished: the difference in share is "),
            (0.8, "For stereotypical sentences, one has a larger share than other, by "),
            (-0.8, "For stereotypical sentences, other has a larger share than one, by "),
        ),
    ),
    "values": (
        of_values,
        (
            (0.0, "The difference of means (man − woman) is "),
            (1.0, "The difference of means (man − woman) is +"),
            (-1.0, "The difference of means (man − woman) is −"),
        ),
    ),
    "report": (
        of_report,
        (
            (0.0, "“small” shows no bias that can be distinguished from noise: "),
            (0.1, "“small” shows a bias that chance alone is unlikely to explain: +0."),
            (-0.1, "“small” shows a bias against the stereotype that chance alone is unlikely to explain: −0."),
        ),
    ),
    "two reports": (
        of_two_reports,
        (
            (0.0, "Neither word list shows a bias that can be distinguished from noise."),
            (0.1, "One of two word lists shows a bias that chance alone is unlikely to explain: “planted”."),
            (-0.1, "One of two word lists shows a bias that chance alone is unlikely to explain: “planted” (against"),
        ),
    ),
    "stability": (
        of_stability,
        (
            (0.0, "The bias of “small” is +0.099 on average over six seeds, "),
            (0.05, "The bias of “small” is +0.099 on average over six seeds, "),
            (0.5, "The bias of “small” has no clear direction in six seeds (+0."),
        ),
    ),
    "gaps": (
        of_gaps,
        (
            (0.0, "No difference between F and M is distinguishable from zero in any of 12 classes."),
            (0.2, "The true-positive rate of F is 1"),
            (-0.2, "The true-positive rate of F is 2"),
        ),
    ),
    "pairs": (
        of_pairs,
        (
            (0.0, "The model shows no clear preference: the stereotypical sentence is ahead in "),
            (0.8, "The model prefers the stereotypical sentence in 7"),
            (-0.8, "Against the stereotype, the model prefers the stereotypical sentence in only 1"),
        ),
    ),
    "changed pairs": (
        of_changed_pairs,
        (
            (0.0, "The share of pairs whose stereotypical sentence is ahead changed by "),
            (0.8, "The share of pairs whose stereotypical sentence is ahead increased by "),
            (-0.8, "The share of pairs whose stereotypical sentence is ahead decreased by "),
        ),
    ),
    "change": (
        of_change,
        (
            (0.0, "No change of the bias of “small” is distinguishable from noise: "),
            (-0.05, "The bias of “small” decreased by 0.0"),
            (0.05, "The bias of “small” increased by 0.0"),
        ),
    ),
    "difference": (
        of_difference,
        (
            (0.0, "No difference in the bias of “small” between Times and Post is distinguishable from noise: "),
            (-0.05, "The bias of “small” is less stereotypical in Post than in Times, by 0.0"),
            (0.05, "The bias of “small” is more stereotypical in Post than in Times, by 0.0"),
        ),
    ),
    "over time": (of_series, ((0.0, "No trend of the bias of “"), (0.15, "The bias of “"), (-0.15, "The bias of “"))),
    "sweep": (
        of_sweep,
        (
            (0.0, "No embedding shows a bias on any of two lists that remains after Holm's adjustment."),
            (0.1, "After Holm's adjustment, e"),
            (-0.1, "After Holm's adjustment, e"),
        ),
    ),
    "criterion": (
        of_criterion,
        (
            (0.0, "The correlation of bias and share is not distinguishable from zero: "),
            (1.0, "The correlation of bias and share is positive: +0."),
            (-1.0, "The correlation of bias and share is negative: −0."),
        ),
    ),
    "multiverse": (
        of_multiverse,
        (
            (0.0, "The bias of “small” is distinguishable from zero in none of "),
            (0.1, "The bias of “small” is distinguishable from zero in all "),
            (-0.1, "Against the stereotype, the bias of “small” is distinguishable from zero in all "),
        ),
    ),
}
# Further words of the sentence, of results whose numbers a test should not repeat.
DIRECTIONS = {
    ("three models", -0.8): "has a larger D than a, by ",
    ("values", 0.0): "not distinguishable from zero",
    ("values", 1.0): "points (95% interval +0.",
    ("values", -1.0): "), distinguishable from zero",
    ("stability", 0.0): "varies between seeds with a standard deviation of 0.00",
    ("stability", 0.05): "varies between seeds with a standard deviation of 0.0",
    ("stability", 0.5): "varies between seeds with a standard deviation of 0.",
    ("models", 0.0): "cannot be distinguished",
    ("models", 0.8): "has a larger D than other (D = −",
    ("models", -0.8): "has a larger D than one (D = −",
    ("gaps", 0.2): "higher than that of M on average over 12 classes",
    ("gaps", -0.2): "lower than that of M on average over 12 classes",
    ("changed pairs", 0.0): "not distinguishable from no change",
    ("over time", 0.0): "can be distinguished from noise",
    ("over time", 0.15): "increased from 1900 to 1950, by 0.1",
    ("over time", -0.15): "decreased from 1900 to 1950, by 0.1",
    ("sweep", 0.1): "is biased on one of two lists, most on WEAT 6 (Names and careers) (+0.",
    ("multiverse", 0.1): "combinations of choices: it is +0.",
    ("multiverse", -0.1): "combinations of choices: it is −0.",
    ("sweep", -0.1): "there against the stereotype (−0.",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "planted"), [(page, value) for page, (_, cases) in PLANTED.items() for value, _ in cases]
)
def test_headline_states_what_was_planted(page: str, planted: float) -> None:
    analyse, cases = PLANTED[page]
    text = analyse(planted)
    assert text.startswith(dict(cases)[planted]), text
    assert DIRECTIONS.get((page, planted), "") in text.split(". ")[0] + "."


def test_sweep_without_converged_posterior_has_no_verdict() -> None:
    sweep = made_sweep(2, 2)
    lost = sweep.cells.assign(verdict="not converged", survives=False, source="posterior")
    assert replace(sweep, cells=lost).text.startswith(
        "There is no verdict on any of two lists, because no posterior has"
    )


FOUND = Finding(title="WEAT 6", value=0.1, size="+0.1", clear=True, has_stereotype=True)


@pytest.mark.parametrize(
    ("finding", "case"),
    [
        (replace(FOUND, clear=False), Case.NOTHING),
        (FOUND, Case.FOUND),
        (replace(FOUND, value=-0.1), Case.AGAINST),
        (replace(FOUND, value=-0.1, has_stereotype=False), Case.FOUND),
        (replace(FOUND, prior="a wider prior includes zero"), Case.PRIOR),
        (replace(FOUND, no_verdict="the fit has not converged", too_few="a class has two words"), Case.NO_VERDICT),
        (replace(FOUND, clear=False, too_few="a class has two words"), Case.TOO_FEW),
    ],
)
def test_case_is_the_one_that_limits_the_result_most(finding: Finding, case: Case) -> None:
    assert finding.case is case


@pytest.mark.parametrize("page", HEADLINES)
def test_every_case_has_a_sentence_with_title_and_reason(page: Page) -> None:
    names = [field for text in HEADLINES[page].values() for _, field, *_ in Formatter().parse(text) if field]
    filled = {name: "x" for name in names if name not in ("title", "size")}
    reason = "a class has two words"
    for changes in ({}, {"clear": False}, {"value": -0.1}):
        finding = replace(FOUND, has_stereotype=Case.AGAINST in HEADLINES[page], words=filled, **changes)
        sentence = finding.sentence(page)
        assert "WEAT 6" in sentence
        assert (
            replace(finding, too_few=reason).sentence(page) == f"{sentence} {AFTER[Case.TOO_FEW].format(reason=reason)}"
        )
        assert replace(finding, prior=reason).sentence(page) == f"{sentence} {AFTER[Case.PRIOR].format(reason=reason)}"
        lost = replace(finding, no_verdict=reason).sentence(page)
        assert lost == NO_VERDICT.format(title="WEAT 6", reason=reason)


def test_headline_of_several_names_two_findings_and_counts_the_others() -> None:
    words = {"model": "the model", "group": "men", "others": "family words"}
    found = [replace(FOUND, title=f"{k} words", value=k / 10, size=f"{k}", words=words) for k in range(1, 5)]
    nothing = [replace(FOUND, title=title, clear=False, words=words) for title in ("art words", "science words")]
    lost = replace(FOUND, title="war words", no_verdict="all replies were refused", words=words)
    text = headline("answers", [*found, *nothing, lost], "For {titles} there is no clear association.")
    assert says(text, "4 words 3 words Two other results For art words and science words no verdict on war words")
    assert text.index("4 words") < text.index("3 words")
    assert "2 words" not in text
    assert "There is no verdict on war words, because all replies were refused." in text


@pytest.mark.slow
def test_sources_that_disagree_are_named_by_verdict() -> None:
    found = bb.answers.estimate(answers(60, mean=0.9), LIST, name="model")
    tables = {name: random_table(1, bias=bias, **NINE) for name, bias in (("none", 0.0), ("reverse", -0.1))}
    fits = {name: bb.fit(table, sampling=ENOUGH) for name, table in tables.items()}
    short = bb.fit(tables["none"], sampling=Sampling(draws=100, tune=5))
    both = bb.answers.compare(found, {**fits, "short": short})
    for verdict in ("direction of the stereotype in model.", "zero in none.", "against the stereotype in reverse."):
        assert verdict in both.text
    assert "no verdict on career words in short, because the fit has not converged." in both.text
    assert both.text.endswith("Holm's adjustment is for four sources.")


@pytest.mark.slow
def test_report_says_that_the_answer_depends_on_the_prior() -> None:
    result = bb.report(random_table(1, bias=0.1, **NINE), sampling=ENOUGH)
    (section,) = result.sections
    prior = replace(section.checks["prior"], caveat="The verdict depends on the prior of preferences: the bias is not.")
    changed_section = replace(section, checks={**section.checks, "prior": prior})
    text = replace(result, sections=(changed_section,)).document().opening["answer"]
    assert text.endswith(" This depends on the prior: the bias is not.")
