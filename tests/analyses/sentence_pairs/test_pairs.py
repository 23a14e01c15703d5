"""What `pairs` says of scores: closed forms where there are some, laws where there are none."""

from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import beta, expon, logistic, norm

import bayes_bias as bb
from bayes_bias import Sampling
from bayes_bias.analyses.sentence_pairs.estimands import differences, shares
from bayes_bias.analyses.sentence_pairs.models import difference_inputs, share_inputs
from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.errors import ScopeError, SentencePairsError, SpecError
from bayes_bias.plots import plot_sentence_pairs
from tests.analyses.sentence_pairs.tables import simulated
from tests.helpers import priors_for_posteriors, refused, says, states, unlisted_columns

ENOUGH = Sampling(draws=1000, tune=500, chains=2, target_accept=0.9)
TABLE = simulated()
ALONE = TABLE[["item", "score_more", "score_less"]]
CLUSTERED = TABLE.drop(columns="bias_type")


def ask(frame, after=None, **options):
    return bb.sentence_pairs.estimate(frame, after, sampling=ENOUGH, **options)


@pytest.fixture(scope="module")
def alone(sampled: None) -> SentencePairs:
    return ask(ALONE)


@pytest.fixture(scope="module")
def clustered(sampled: None) -> SentencePairs:
    return bb.sentence_pairs.estimate(CLUSTERED)


@pytest.fixture(scope="module")
def typed() -> SentencePairs:
    """With types, whose model takes longest to compile."""
    with priors_for_posteriors():
        return bb.sentence_pairs.estimate(TABLE)


@pytest.fixture(scope="module")
def whole(sampled: None) -> SentencePairs:
    return bb.sentence_pairs.estimate(TABLE)


def other_scores() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    return ALONE.assign(score_more=ALONE.score_more - 0.4 + 0.6 * rng.standard_normal(len(ALONE)))


@pytest.fixture(scope="module")
def change(sampled: None, alone: SentencePairs) -> SentencePairsChange:
    """Its sides are tested by themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayes_bias.analyses.sentence_pairs.estimation.estimate_one", lambda *_: alone)
        return ask(ALONE, other_scores())


def test_share_posterior_matches_beta_without_clusters(alone):
    """A uniform prior and independent pairs: Beta(1 + ahead, 1 + others)."""
    ahead = int(alone.published.ahead["all pairs"])
    exact, row = beta(1 + ahead, 1 + len(ALONE) - ahead), alone.row("share")
    assert row["mean"] == pytest.approx(exact.mean(), abs=4 * exact.std() / np.sqrt(400))
    assert row.sd == pytest.approx(exact.std(), rel=0.1)
    assert_allclose([row.eti95_lb, row.eti95_ub], exact.ppf([0.025, 0.975]), atol=0.3 * exact.std())
    assert_allclose(
        [row.eti95_lb, row.eti95_ub], [row.independent_ci95_lb, row.independent_ci95_ub], atol=0.3 * exact.std()
    )


def test_difference_posterior_matches_student_t_without_clusters(alone):
    """Normal residuals and nearly flat priors: the t interval of the textbook."""
    drawn = differences(alone.fits["difference"]["posterior"].to_dataset(), alone.data).values
    row = alone.published.loc["all pairs"]
    assert drawn.mean() == pytest.approx(row.difference, abs=0.2 * drawn.std())
    assert np.ptp(np.quantile(drawn, [0.025, 0.975])) == pytest.approx(
        row.student_ci95_ub - row.student_ci95_lb, rel=0.1
    )


def test_share_posterior_matches_grid_with_writers(clustered):
    """The posterior of level and scale on a grid, the effect of each writer integrated out by the trapezoid rule."""
    counts = clustered.scores.rows.groupby("writer").ahead.agg(["sum", "size"])
    level, scale, z = np.linspace(-2.5, 4, 66), np.linspace(0.01, 4, 80), np.linspace(-6, 6, 121)
    log_odds = level[:, None, None] + scale[:, None] * z
    log_of_failure = log_expit(-log_odds)
    log = logistic.logpdf(level)[:, None] + expon.logpdf(scale, scale=0.4)
    for (ahead, size), writers in counts.value_counts().items():  # writers with equal counts have equal likelihoods
        log_binomial = ahead * log_odds + size * log_of_failure
        log = log + writers * logsumexp(log_binomial + norm.logpdf(z), axis=-1)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    share = (expit(log_odds) * norm.pdf(z)).sum(axis=-1) * (z[1] - z[0])
    mean = (weight * share).sum()
    sd = np.sqrt((weight * (share - mean) ** 2).sum())
    drawn = shares(clustered.fits["share"]["posterior"].to_dataset(), clustered.data).values
    assert drawn.mean() == pytest.approx(mean, abs=0.2 * sd)
    assert drawn.std() == pytest.approx(sd, rel=0.12)


@pytest.mark.parametrize(("prob_direction", "planned"), [(0.63, False), (0.8, True), (0.99, False)])
def test_text_plans_pairs_only_for_uncertain_share(alone, prob_direction, planned):
    table = alone.table.copy()
    table.loc[("share", "all pairs"), "prob_direction"] = prob_direction
    assert ("Planning" in replace(alone, table=table).text) == planned


def test_writers_widen_interval_and_noise_floor(alone, clustered):
    known, blind = clustered.row("share"), alone.row("share")
    assert known.eti95_ub - known.eti95_lb > 1.5 * (blind.eti95_ub - blind.eti95_lb)
    assert known.noise_ci95_ub - known.noise_ci95_lb > 1.5 * (blind.noise_ci95_ub - blind.noise_ci95_lb)


@pytest.mark.slow
def test_noise_floor_of_two_pairs_contains_possible_shares():
    """The noise of few pairs is not normal: a normal interval was -21% to 121%."""
    scores = pd.DataFrame({"item": [1, 2], "score_more": [-19.0, -20.0], "score_less": [-20.0, -19.0]})
    found = bb.sentence_pairs.estimate(scores)
    assert (found.row("share").noise_ci95_lb, found.row("share").noise_ci95_ub) == (0, 1)
    assert "A model without preference would show 0.0% to 100.0% on as many pairs" in found.text
    change = bb.sentence_pairs.estimate(scores, scores.assign(score_more=-18.0))
    assert change.row("share").noise_ci95_lb >= -1


@pytest.mark.thorough
def test_estimate_narrows_interval_with_scope_pairs(whole):
    known = whole.row("share")
    same_writers = ask(TABLE, scope="pairs").row("share")
    assert same_writers.eti95_ub - same_writers.eti95_lb < 0.8 * (known.eti95_ub - known.eti95_lb)


def test_model_inputs_ignore_unit_and_order_of_scores():
    """The models get the same numbers, and differences are put into the units of the scores afterwards."""
    shuffled, scaled = TABLE.sample(frac=1, random_state=1), TABLE.copy()
    scaled[["score_more", "score_less"]] *= 8
    data, *others = (design(read_scores(frame))[0] for frame in (TABLE, shuffled, scaled))
    every = np.ones(len(TABLE), dtype=bool)
    for changed, times in zip(others, (1, 8), strict=True):
        assert changed.unit.item() == pytest.approx(times * data.unit.item(), rel=1e-12)
        for inputs in (difference_inputs, lambda dataset: share_inputs(dataset, dataset.ahead.to_numpy(), every)):
            for name, values in inputs(data).items():
                assert_allclose(inputs(changed)[name], values, rtol=1e-9, err_msg=name)


@pytest.mark.thorough
@pytest.mark.slow
def test_estimate_mirrors_results_for_exchanged_sentences(whole):
    swapped = ask(TABLE.rename(columns={"score_more": "score_less", "score_less": "score_more"}))
    for estimand, total in (("share", 1), ("difference", 0)):
        original, changed = whole.table.loc[estimand], swapped.table.loc[estimand]
        assert_allclose(original["mean"] + changed["mean"], total, atol=0.25 * original.sd.max())
        assert_allclose(original.eti95_lb + changed.eti95_ub, total, atol=0.5 * original.sd.max())
        assert_allclose(original.observed + changed.observed, total, atol=1e-12)


def test_change_posterior_matches_two_betas_without_clusters(change):
    """How often a pair changes, and in which direction then, each Beta and independent."""
    own = change.published.loc["all pairs"]
    moved = own.gained + own.lost
    q, r = beta(1 + moved, 1 + len(ALONE) - moved), beta(1 + own.gained, 1 + own.lost)
    drawn = q.rvs(100_000, random_state=1) * (2 * r.rvs(100_000, random_state=2) - 1)
    row = change.table.loc[("share", "all pairs")]
    assert row["mean"] == pytest.approx(drawn.mean(), abs=0.2 * drawn.std())
    assert row.sd == pytest.approx(drawn.std(), rel=0.1)
    assert says(change.verdict, "new pairs independent share decreased by")


def test_text_contains_published_share_population_and_writers(clustered):
    own = clustered.published.loc["all pairs"]
    assert f"{own.share:.1%} of 240 pairs" in clustered.text
    assert says(clustered.verdict, "new pairs new writers share")
    assert says(clustered.text, f"{clustered.data.sizes['writer']} writers 95%")
    assert clustered.checks.fits.all()
    assert not clustered.problems


def test_load_fit_returns_saved_posterior_of_sentence_pairs(typed, tmp_path):
    for name, fit in typed.fits.items():
        again = bb.load_fit(bb.save_fit(fit, tmp_path / f"{name}.nc"))
        assert again["posterior"].to_dataset().equals(fit["posterior"].to_dataset())


def test_report_has_page_tables_figures_and_posteriors(typed, tmp_path):
    page = bb.write(typed, tmp_path / "report", figures=("png",))
    written = {path.name for path in page.parent.rglob("*") if path.is_file()}
    assert written >= {"index.html", "summary.csv", "published.csv", "plan.csv", "checks.csv", "tables.tex"}
    assert written >= {"methods.txt", "share.png", "difference.png", "posterior-share.nc", "provenance.json"}
    text = unescape(page.read_text(encoding="utf-8"))
    assert f"<b>{typed.answer}</b>{typed.text.removeprefix(typed.answer)}" in text
    assert states(text, "new pairs new writers")
    assert "Miller, E. (2024)" in text
    assert "nan" not in (page.parent / "tables.tex").read_text(encoding="utf-8")


def test_report_of_change_has_both_sides(change, sketched, tmp_path):
    page = bb.write(change, tmp_path / "report", figures=())
    assert f"<b>{change.answer}</b>" in unescape(page.read_text(encoding="utf-8"))
    sides = pd.read_csv(page.parent / "before-and-after.csv")
    assert sides.state.unique().tolist() == ["before", "after"]


def test_documentation_lists_columns_of_sentence_pairs(typed):
    assert unlisted_columns(typed.table, typed.checks, typed.planned.reset_index()) == set()


def test_plot_sentence_pairs_has_row_for_each_type(typed):
    rows = [tick.get_text() for tick in plot_sentence_pairs(typed).get_yticklabels()]
    assert [row.split(" (")[0] for row in rows] == ["all pairs", "age", "gender", "religion"]


def test_change_sides_equal_separate_estimates(from_priors):
    found = ask(ALONE, other_scores())
    for side, scores in ((found.before, ALONE), (found.after, other_scores())):
        pd.testing.assert_frame_equal(side.table, ask(scores).table)


def test_estimate_returns_no_interval_with_scope_none(alone, from_priors):
    found = ask(ALONE, scope="none")
    assert found.row("share")["mean"] == alone.row("share").observed
    assert np.isnan(found.row("share").eti95_lb)
    assert says(found.verdict, f"exactly these pairs {found.row('share').observed:.1%}")


def test_estimate_raises_for_invalid_scope_model_or_pairs(small_table):
    with refused(ScopeError, "scope 'both' all, none, pairs"):
        bb.sentence_pairs.estimate(TABLE, scope="both")
    with refused(SpecError, "model 'crossed' 'pairs'"):
        bb.sentence_pairs.estimate(TABLE, model="crossed")
    with refused(SpecError, "'pairs' `bayes_bias.sentence_pairs.estimate`"):
        bb.fit(small_table, "pairs")
    with refused(SentencePairsError, "1 'pair 0'"):
        bb.sentence_pairs.estimate(TABLE, TABLE.iloc[1:])
    with refused(SentencePairsError, "writer 'pair 0' 'x' 'w"):
        bb.sentence_pairs.estimate(TABLE, TABLE.assign(writer=TABLE.writer.where(TABLE.index > 0, "x")))
    with refused(SentencePairsError, "same before"):
        bb.sentence_pairs.estimate(TABLE, TABLE)
