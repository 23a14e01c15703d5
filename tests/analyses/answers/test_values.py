"""Answers that are ratings, numbers, label probabilities, or refusals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

import bayes_bias as bb
from bayes_bias.analyses.answers.value_estimates import SAMPLING
from bayes_bias.analyses.answers.value_models import LIKELIHOODS, Scale, averaged, build, expected_values
from bayes_bias.analyses.answers.value_models import _coords as coords_of
from bayes_bias.analyses.answers.value_models import _inputs as inputs_of
from bayes_bias.analyses.answers.values import read_values
from bayes_bias.cli.answers import ValueSampler
from bayes_bias.errors import AnswersError, ScopeError
from bayes_bias.plots import plot_values
from tests.analyses.answers.made_up import LIST, WORDS
from tests.helpers import numbered, refused, says, unlisted_columns

TWO = {"groups": {"man": numbered("man", 5), "woman": numbered("woman", 5)}}
GROUPS = {"groups": {**TWO["groups"], "other": numbered("other", 5)}}
QUICK = bb.Sampling(draws=300, tune=300, chains=2)


def rated(number: int = 240, difference: float = 1.0, seed: int = 1, groups: tuple[str, ...] = ("man", "woman")):
    """Numbers about labels of groups, of which the first is ahead."""
    rng = np.random.default_rng(seed)
    group = rng.integers(len(groups), size=number)
    label, wording = rng.integers(5, size=number), rng.integers(3, size=number)
    value = 4 + difference * (group == 0) + 0.3 * rng.normal(size=3)[wording] + rng.normal(size=number)
    frame = pd.DataFrame({"label": np.array(groups)[group], "wording": "wording ", "value": value})
    return frame.assign(label=frame.label + label.astype(str), wording=frame.wording + wording.astype(str))


def with_probabilities(number: int = 60, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for word in WORDS:
        for a, b, v in rng.integers((6, 6, 3), size=(number // len(WORDS) + 4, 3)):
            rows.append((word, f"man{a}", f"woman{b}", f"wording {v}"))
    frame = pd.DataFrame(rows, columns=["word", "label_a", "label_b", "wording"])
    log_odds = np.where(frame.word.str.startswith("job"), 1.0, -1.0) + 0.7 * rng.normal(size=len(frame))
    return frame.assign(prob_a=0.9 * expit(log_odds), prob_b=0.9 * expit(-log_odds))


def cell_of(frame, wordlist, likelihood, **options):
    (cell,) = read_values(frame, wordlist, LIKELIHOODS[likelihood], **options).cells
    return cell


@pytest.fixture(scope="module")
def numbers(sampled) -> bb.answers.ValueEstimates:
    return bb.answers.estimate_values(rated(), TWO, "numeric", unit="points")


def test_numeric_estimate_matches_difference_of_means(numbers):
    row, frame = numbers.table.iloc[0], rated()
    means = frame.groupby(frame.label.str[:-1]).value.mean()
    assert row.observed == pytest.approx(means["man"] - means["woman"])
    assert row["mean"] == pytest.approx(row.observed, abs=0.1)
    # If answers alone are a sample, the standard error is that of two means.
    ladder = numbers.ladder.droplevel(["model", "stereotype", "estimand"])
    residual = numbers.sources.droplevel(["model", "stereotype"]).loc["residual", "mean"]
    sizes = frame.label.str[:-1].value_counts()
    assert ladder.sd["trials"] == pytest.approx(residual * np.sqrt((1 / sizes).sum()), rel=0.1)
    assert ladder.sd["all"] > ladder.sd["wordings"] > ladder.sd["trials"]
    assert says(numbers.text, "Man − woman new labels wordings points distinguishable from zero")
    expected = numbers.expected.droplevel(["model", "stereotype"])["mean"]
    assert expected["man"] - expected["woman"] == pytest.approx(row["mean"])


@pytest.mark.slow
def test_estimate_values_scales_with_unit_of_numbers(numbers):
    frame = rated()
    thousands = bb.answers.estimate_values(frame.assign(value=1000 * frame.value), TWO, "numeric").table
    assert thousands["mean"].iloc[0] == pytest.approx(1000 * numbers.table["mean"].iloc[0], rel=1e-6)


@pytest.mark.slow
@pytest.mark.thorough
def test_predictive_intervals_contain_means_of_held_out_labels():
    """Models are fitted to eight labels of each group, and predict the mean values of twelve other labels."""
    rng, kind, covered = np.random.default_rng(1), LIKELIHOODS["numeric"], []
    wordlist = {"groups": {"man": numbered("man", 20), "woman": numbered("woman", 20)}}
    group, label = rng.integers((2, 20), size=(1600, 2)).T
    value = 4.0 + group + 0.8 * rng.normal(size=(2, 20))[group, label] + rng.normal(size=1600)
    names = np.array(["man", "woman"])[group].astype(object) + label.astype(str)
    frame = pd.DataFrame({"label": names, "value": value})
    (fit,) = bb.answers.estimate_values(frame[label < 8], wordlist, "numeric", sampling=QUICK).fits.values()
    data, posterior = cell_of(frame[label < 8], wordlist, "numeric").data, fit["posterior"].to_dataset()
    means = expected_values(kind, data, posterior, ("label",))
    sd_label = kind.scale(data).unit * posterior.sd_label.to_numpy().ravel()
    sd_residual = kind.scale(data).unit * posterior.scale_residual.to_numpy().ravel()
    for (g, _), held_out in pd.Series(value[label >= 8]).groupby([group[label >= 8], label[label >= 8]]):
        sd = np.hypot(sd_label, sd_residual / np.sqrt(len(held_out)))
        lower, upper = np.quantile(means[:, g] + sd * rng.standard_normal(len(means)), [0.025, 0.975])
        covered.append(lower < held_out.mean() < upper)
    assert len(covered) == 24
    assert np.mean(covered) >= 0.85


def test_averaged_matches_integral_of_inverse_logit():
    x = np.linspace(-12, 12, 20001)
    for mean, sd in ((0.5, 0.3), (-2.0, 3.0), (1.0, 6.0)):
        integral = np.trapezoid(expit(mean + sd * x) * norm.pdf(x), x)
        assert averaged(np.array([mean]), np.array([sd]))[0] == pytest.approx(integral, abs=2e-4)


@pytest.mark.slow
def test_expected_values_average_over_kept_levels():
    """Under scope "trials" the expected value is the average over these levels."""
    cell = cell_of(rated(), TWO, "numeric")
    posterior = bb.answers.estimate_values(rated(), TWO, "numeric", sampling=QUICK).fits["", "answers"]["posterior"]
    data, draws = cell.data, posterior.to_dataset().isel(chain=[0], draw=[0])
    kept = expected_values(LIKELIHOODS["numeric"], data, draws, (), Scale(0.0, 1.0))[0]
    labels = draws.label_effect.to_numpy().ravel()
    wordings, bias_effects = draws.wording_effect.to_numpy().ravel(), draws.wording_bias_effect.to_numpy().ravel()
    half = np.array([0.5, -0.5])
    by_hand = draws.intercept.item() + half * draws.coefficient.item() + wordings.mean() + half * bias_effects.mean()
    assert kept == pytest.approx(by_hand + np.array([labels[:5].mean(), labels[5:].mean()]))


def test_ordinal_density_matches_cumulative_logit():
    frame = rated(40).assign(value=lambda rows: rows.value.round().clip(2, 6))
    data, kind = cell_of(frame, TWO, "ordinal", ratings=(1, 7)).data, LIKELIHOODS["ordinal"]
    model = build(kind, data, inputs_of(kind, data, None), coords_of(data))
    assert list(model.coords["step"]) == [f"above {step}" for step in range(1, 7)]
    cutpoints, predictor = np.array([-2.0, -1, -0.5, 0.5, 1, 2.5]), data.corners.contrasts[data.corner, 0] * 0.8
    ends, rating = np.full((40, 1), np.inf), (data.value - 1).astype(int)
    below = expit(np.concatenate([-ends, cutpoints - predictor[:, None], ends], axis=1))
    by_hand = np.log(below[np.arange(40), rating + 1] - below[np.arange(40), rating])
    with pm.Model(coords={"step": list(model.coords["step"])}) as alone:
        kind.observe(kind.spec(()), pt.constant(predictor), pt.constant(data.value - 1))
    density = alone.compile_logp(vars=alone.observed_RVs, jacobian=False)
    steps = np.append(cutpoints[0], np.log(np.diff(cutpoints)))
    assert float(density({"cutpoint_ordered__": steps})) == pytest.approx(by_hand.sum(), abs=1e-6)


@pytest.mark.slow
@pytest.mark.thorough
def test_refusals_estimate_matches_difference_of_shares():
    rng = np.random.default_rng(2)
    frame = rated(300).drop(columns="value")
    rate = np.where(frame.label.str.startswith("man"), 0.3, 0.1)
    frame["refused"] = np.where(rng.random(300) < rate, "yes", "no")
    found = bb.answers.estimate_values(frame, TWO, "refusals", scope="trials", sampling=QUICK)
    share = (frame.refused == "yes").groupby(frame.label.str[:-1]).mean()
    row = found.table.iloc[0]
    assert row.observed == pytest.approx(100 * (share["man"] - share["woman"]))
    standard_error = 100 * np.sqrt((share * (1 - share) / frame.label.str[:-1].value_counts()).sum())
    assert row["mean"] == pytest.approx(row.observed, abs=standard_error)
    assert row.sd == pytest.approx(standard_error, rel=0.2)
    assert found.unit == "percentage points"


@pytest.mark.slow
@pytest.mark.thorough
def test_probabilities_estimate_matches_observed_d():
    frame = with_probabilities()
    found = bb.answers.estimate_values(frame, LIST, "probabilities", sampling=QUICK)
    row = found.table.iloc[0]
    share_a = frame.prob_a / (frame.prob_a + frame.prob_b)
    assert row.observed == pytest.approx(
        share_a[frame.word.str.startswith("job")].mean() - share_a[frame.word.str.startswith("home")].mean()
    )
    assert row["mean"] == pytest.approx(row.observed, abs=0.1)
    assert found.table.index.get_level_values("estimand")[0] == "D"


def test_read_values_reads_probabilities_in_any_form():
    frame = with_probabilities()
    value = cell_of(frame, LIST, "probabilities").data.value
    assert value == pytest.approx(logit(frame.prob_a / (frame.prob_a + frame.prob_b)).to_numpy())
    logs = frame.assign(logprob_a=np.log(frame.prob_a), logprob_b=np.log(frame.prob_b))
    assert cell_of(logs.drop(columns=["prob_a", "prob_b"]), LIST, "probabilities").data.value == pytest.approx(value)
    swapped = frame.rename(columns={"prob_a": "prob_b", "prob_b": "prob_a", "label_a": "label_b", "label_b": "label_a"})
    assert cell_of(swapped, LIST, "probabilities").data.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("frame", "wordlist", "likelihood"),
    [(rated(60), TWO, "numeric"), (with_probabilities().drop(columns="prob_b"), LIST, "probabilities")],
)
def test_read_values_reads_decimal_commas_of_files(frame, wordlist, likelihood, tmp_path):
    frame.to_csv(tmp_path / "points.csv", index=False)
    frame.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    points, commas = (cell_of(tmp_path / name, wordlist, likelihood) for name in ("points.csv", "commas.csv"))
    assert commas.data.value == pytest.approx(points.data.value)


def test_read_values_raises_for_log_probability_of_unlisted_token():
    frame = with_probabilities()
    logs = pd.DataFrame({f"logprob_{label}": np.log(frame[f"prob_{label}"]) for label in "ab"})
    logs.loc[1, "logprob_b"] = -9999
    with refused(AnswersError, "row 2 -9999 smallest log probability listed leave blank"):
        cell_of(frame.drop(columns=["prob_a", "prob_b"]).join(logs), LIST, "probabilities")


@pytest.mark.slow
@pytest.mark.thorough
def test_estimate_values_compares_each_group_with_others():
    frame = rated(200, 1.5, groups=("man", "woman", "other"))
    found = bb.answers.estimate_values(frame, GROUPS, "numeric", sampling=QUICK)
    means = frame.groupby(frame.label.str[:-1]).value.mean()
    table = found.table.droplevel(["model", "stereotype"])
    assert list(table.index) == ["man − others", "woman − others", "other − others"]
    assert table.observed["man − others"] == pytest.approx(means["man"] - (means["woman"] + means["other"]) / 2)
    assert table["mean"].sum() == pytest.approx(0, abs=1e-9)
    assert table.eti95_lb["man − others"] > 0
    assert table.eti95_ub["woman − others"] < 0


@pytest.mark.slow
@pytest.mark.thorough
def test_association_equals_stereotypical_minus_other_combinations():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"label": rng.choice(["man0", "man1", "woman0", "woman1"], 400), "word": rng.choice(WORDS, 400)}
    )
    man, job = frame.label.str.startswith("man"), frame.word.str.startswith("job")
    # Men and jobs are rated higher, which is no association.
    frame["value"] = 2 * man + 3 * job + 0.8 * (man == job) + rng.normal(size=400)
    cell = cell_of(frame, LIST, "numeric")
    assert cell.data.corners.names == ("men, career", "men, family", "women, career", "women, family")
    assert {factor.name: factor.has_bias for factor in cell.data.factors} == {"label": True, "word": True}
    row = bb.answers.estimate_values(frame, LIST, "numeric", scope="trials", sampling=QUICK).table.iloc[0]
    means = frame.value.groupby([man, job]).mean()
    by_hand = (means[True, True] + means[False, False] - means[True, False] - means[False, True]) / 2
    assert row.observed == pytest.approx(by_hand)
    assert row["mean"] == pytest.approx(0.8, abs=0.25)


@pytest.mark.slow
@pytest.mark.thorough
def test_robust_estimate_ignores_outliers():
    frame = rated(150).assign(value=lambda rows: rows.value.where(rows.index % 30 > 0, 60.0))
    numeric = bb.answers.estimate_values(frame, TWO, "numeric", sampling=QUICK).table.iloc[0]
    robust = bb.answers.estimate_values(frame, TWO, "robust", sampling=QUICK).table.iloc[0]
    assert robust["mean"] == pytest.approx(1, abs=0.4)
    assert robust.sd < numeric.sd / 2


def of_fmat(models: tuple[str, ...] = ("bert", "roberta")) -> pd.DataFrame:
    """Results of FMAT_run: a row for each word in place of the mask, as `data.table::fwrite` writes them."""
    rng, rows = np.random.default_rng(4), []
    for model, strength in zip(models, (1.0, 0.0), strict=False):
        for query in ("[MASK] works as {TARGET}.", "[MASK] is {TARGET}.", "Was [MASK] {TARGET}?"):
            for word in WORDS:
                log_odds = strength * (1 if word.startswith("job") else -1) + 0.3 * rng.normal(size=6)
                for pair, value in enumerate(log_odds):
                    for mask, label, sign in (("Male", f"man{pair}", 1), ("Female", f"woman{pair}", -1)):
                        prob = 0.2 * expit(sign * value)
                        rows.append((model, query, mask, pair + 1, label, "Job", "Job.1", word, prob))
    columns = ["model", "query", "MASK", "M_pair", "M_word", "TARGET", "T_pair", "T_word", "prob"]
    return pd.DataFrame(rows, columns=columns)


def test_read_values_reads_results_of_fmat(tmp_path):
    frame = of_fmat()
    frame.to_csv(tmp_path / "fmat.csv", index=False)
    values = read_values(tmp_path / "fmat.csv", LIST, LIKELIHOODS["probabilities"])
    assert [cell.model for cell in values.cells] == ["bert", "roberta"]
    for cell in values.cells:
        assert len(cell.data.value) == 3 * 6 * len(WORDS)
    own = frame[frame.model == "bert"].pivot_table("prob", ["query", "M_pair", "T_word"], "MASK")
    found = values.cells[0].data
    assert sorted(found.value) == pytest.approx(sorted(np.log(own.Male / own.Female)))
    assert found.averages(found.value)[0] == pytest.approx(1, abs=0.1)
    assert values.cells[1].data.averages(values.cells[1].data.value) == pytest.approx(0, abs=0.1)
    assert {"wording", "word", "label_a"} <= {factor.name for factor in found.factors}


def test_read_values_omits_missing_words_of_fmat():
    frame = of_fmat(("bert",))
    lacking = frame.assign(prob=frame.prob.where(frame.M_word != "man1"))
    values = read_values(lacking, LIST, LIKELIHOODS["probabilities"])
    assert says(" ".join(values.notices), f"{3 * len(WORDS)} of {18 * len(WORDS)} answers no value omitted")


def test_read_values_counts_rows_of_fmat_without_partner(caplog):
    frame = of_fmat(("bert",))
    read_values(frame[frame.M_word != "man1"], LIST, LIKELIHOODS["probabilities"])
    n_unpaired = 3 * len(WORDS)
    assert says(caplog.text, f"{n_unpaired} of {len(frame) - n_unpaired} rows FMAT omitted Male and Female")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda rows: rows.assign(MASK=rows.MASK.where(rows.M_pair != 2, "Other")), "two groups Male, Female, Other"),
        (lambda rows: pd.concat([rows, rows.iloc[:1]]), "several rows man0 job0 query"),
    ],
)
def test_read_values_raises_for_unpaired_results_of_fmat(change, text):
    with refused(AnswersError, text):
        read_values(change(of_fmat(("bert",))), LIST, LIKELIHOODS["probabilities"])


def test_read_values_separates_models_and_factors():
    first, second = rated(80, seed=0), rated(80, seed=1)
    frame = pd.concat([first.assign(model="one", temperature=0), second.assign(model="two", temperature=1)])
    values = read_values(frame, TWO, LIKELIHOODS["numeric"])
    assert [cell.model for cell in values.cells] == ["one", "two"]
    with refused(AnswersError, "temperature"):
        read_values(frame.assign(model="one"), TWO, LIKELIHOODS["numeric"])
    apart = read_values(frame.assign(model="one"), TWO, LIKELIHOODS["numeric"], factors="temperature")
    assert [cell.model for cell in apart.cells] == ["one, temperature 0", "one, temperature 1"]


def test_read_values_counts_answers_without_value():
    frame = rated(50).assign(value=lambda rows: rows.value.where(rows.index > 3))
    values = read_values(frame, TWO, LIKELIHOODS["numeric"])
    assert says(" ".join(values.notices), "4 of 50 answers no value omitted")
    assert len(values.cells[0].data.value) == 46


def test_read_values_names_models_without_values():
    frame = pd.concat([rated(50).assign(model="one"), rated(50).assign(model="two", value=np.nan)])
    values = read_values(frame, TWO, LIKELIHOODS["numeric"])
    assert [cell.model for cell in values.cells] == ["one"]
    assert says(" ".join(values.notices), "(two): omitted no answer has a value")
    frame = pd.concat([rated(50).assign(stereotype="first"), rated(50).assign(stereotype="second", value=np.nan)])
    values = read_values(frame, {"first": TWO, "second": TWO}, LIKELIHOODS["numeric"])
    assert says(" ".join(values.notices), "second: omitted no answer has a value")


def test_read_values_accepts_descriptions_of_labels_without_answer_column():
    frame = rated(50)
    described = frame.assign(gender=frame.label.str[:3])
    assert "answer" not in described
    assert (
        read_values(described, TWO, LIKELIHOODS["numeric"]).sha256
        == read_values(frame, TWO, LIKELIHOODS["numeric"]).sha256
    )


def test_read_values_raises_for_blank_models_and_half_a_scale():
    frame = rated(50).assign(model=["one", ""] * 25)
    with refused(AnswersError, "model row 2 of the answers 25 of 50 rows drop the column"):
        read_values(frame, TWO, LIKELIHOODS["numeric"])
    assert len(read_values(frame.assign(model=""), TWO, LIKELIHOODS["numeric"]).cells) == 1
    blocked = frame.assign(value=frame.value.where(frame.model != ""), refused=None)  # services name no model
    assert [cell.model for cell in read_values(blocked, TWO, LIKELIHOODS["numeric"]).cells] == ["one"]
    with refused(AnswersError, "model row 2"):
        varied = frame.assign(temperature=np.where(frame.index % 3 == 0, 0.2, 0.7))
        read_values(varied, TWO, LIKELIHOODS["numeric"], factors="temperature")
    with refused(AnswersError, "ratings (7,) both ends (1, 7)"):
        read_values(frame, TWO, LIKELIHOODS["ordinal"], ratings=(7,))


def test_read_values_omits_blank_refusals():
    """A blank cell is no answer: nobody knows if the model refused."""
    frame = rated(50).assign(refused=lambda rows: np.where(rows.index < 4, "", np.where(rows.index % 2, "yes", "no")))
    values = read_values(frame, TWO, LIKELIHOODS["refusals"])
    assert says(" ".join(values.notices), "4 of 50 answers no entry in 'refused' omitted")
    assert values.sha256 == read_values(frame[4:], TWO, LIKELIHOODS["refusals"]).sha256
    with refused(AnswersError, "refused blank in row 5 no row says that the model answered Write false"):
        read_values(frame.replace({"refused": {"": "yes", "no": ""}}), TWO, LIKELIHOODS["refusals"])
    # From `numbers`, which leaves only replies that were cut off blank.
    cut_off = frame.replace({"refused": {"no": "yes"}}).assign(outcome="refused")
    with refused(AnswersError, "same value"):
        read_values(cut_off, TWO, LIKELIHOODS["refusals"])


ROWS = rated(60)
PROBABILITIES = with_probabilities()


@pytest.mark.parametrize(
    ("frame", "wordlist", "likelihood", "text"),
    [
        (ROWS, TWO, "nominal", "likelihood nominal"),
        (ROWS.drop(columns="value"), TWO, "numeric", "no column value"),
        (ROWS.drop(columns="label"), TWO, "numeric", "no column label"),
        (ROWS.assign(label="nobody"), TWO, "numeric", "label nobody not in the list"),
        (ROWS.assign(label="Bob"), {"groups": {"men": ["Ben"], "women": ["Anna"]}}, "numeric", "Bob list Ben Anna"),
        (ROWS.assign(value="high"), TWO, "numeric", "value in row 1 high is not a number"),
        (ROWS.assign(value="80,500"), TWO, "numeric", "value in row 1 may be 80500 or 80.500"),
        (ROWS.assign(value="1e400"), TWO, "numeric", "value in row 1 1e400 is not a number"),
        (ROWS.assign(value=np.nan), TWO, "numeric", "answers no values likelihood='refusals'"),
        (ROWS.assign(value=3), TWO, "ordinal", "all 60 answers the same value"),
        (ROWS, TWO, "ordinal", "not a whole number numeric"),
        (ROWS.assign(value=ROWS.value.round() * 10), TWO, "ordinal", "ratings steps numeric"),
        (ROWS.assign(label="man1"), TWO, "numeric", "no answers about woman"),
        (ROWS.assign(refused="maybe"), TWO, "refusals", "refused in row 1 maybe yes or no"),
        (ROWS, {"groups": {"man": ["man1"]}}, "numeric", "no two groups"),
        (ROWS, {"groups": {"man": ["man1"], "woman": ["Man1"]}}, "numeric", "label man1 twice"),
        (PROBABILITIES.assign(prob_a=0.7, prob_b=0.6), LIST, "probabilities", "row 1 sum to 1.3"),
        (PROBABILITIES.assign(prob_a=0.0), LIST, "probabilities", "row 1 not above 0"),
        (PROBABILITIES, TWO, "probabilities", "no classes of words"),
        (PROBABILITIES.assign(label_b="man1", label_a="man2"), LIST, "probabilities", "labels of one group"),
        (PROBABILITIES.assign(word="sun"), LIST, "probabilities", "word sun not in the list"),
    ],
)
def test_estimate_values_raises_for_bad_input(frame, wordlist, likelihood, text):
    with refused(AnswersError, text):
        bb.answers.estimate_values(frame, wordlist, likelihood)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"persona": "nurse"}, "factors All rows persona nurse"),
        ({"model": ["a", "b"] * 30, "version": ["1", "2"] * 30}, "factors Each model one version"),
        ({}, "factors 'persona' no column"),
    ],
)
def test_estimate_values_raises_for_bad_factors(change, text):
    factor = "version" if "version" in change else "persona"
    with refused(AnswersError, text):
        bb.answers.estimate_values(ROWS.assign(**change), TWO, "numeric", factors=factor)


def test_estimate_values_raises_for_unknown_scope():
    with refused(ScopeError, "scope targets"):
        bb.answers.estimate_values(ROWS, TWO, "numeric", scope="targets")


def test_report_page_of_values_has_estimates_and_sources(numbers, tmp_path):
    page = bb.write(numbers, tmp_path / "values", figures=())
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/svg") == 1
    for name in ("man − woman", "wording bias", "hierarchical model", "residual"):
        assert name in text
    assert (page.parent / "summary.csv").is_file()
    assert not unlisted_columns(numbers.table, numbers.ladder, numbers.expected, numbers.sources)
    assert [label.get_text() for label in plot_values(numbers).get_yticklabels()] == ["man − woman"]


def test_answers_command_estimates_values(run, tmp_path, from_priors, sketched):
    rated(60).assign(value=lambda rows: rows.value.round().clip(1, 7)).to_csv(tmp_path / "ratings.csv", index=False)
    groups = [f"{name} = {labels}" for name, labels in TWO["groups"].items()]
    (tmp_path / "names.toml").write_text("\n".join(["[groups]", *groups]))
    arguments = ["answers", "ratings.csv", "--list", "names.toml", "--likelihood", "ordinal", "--ratings", "1", "7"]
    code, out, _ = run(*arguments, "--out", "rated")
    assert code == 0
    assert says(out, "Difference of expected ratings man − woman new labels")
    assert (tmp_path / "rated" / "index.html").is_file()
    code, _, error = run(*arguments, "--compare-models")
    assert code != 0
    assert says(error, "--likelihood ordinal --compare-models")
    code, _, error = run("answers", "ratings.csv", "--list", "names.toml", "--draws", "3000")
    assert code != 0
    assert says(error, "--draws choices --likelihood")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["answers", "answers-demo", "--list", "answers-demo", "--ratings", "1", "7"], "--ratings '1 7' --likelihood"),
        (["answers", "answers-demo", "--list", "answers-demo", "--unit", "dollars"], "--unit 'dollars' --likelihood"),
        (["prompts", "weat6", "--out", "p.csv", "--ratings", "1", "5"], "--ratings '1 5' --likelihood"),
    ],
)
def test_commands_of_choices_reject_options_of_values(run, arguments, message):
    code, _, error = run(*arguments)
    assert code == 2
    assert says(error, message)


def test_answers_command_keeps_default_draws_of_values_if_chains_change():
    sampling = ValueSampler(chains=8).with_tuning(SAMPLING)
    assert sampling == replace(SAMPLING, chains=8)
