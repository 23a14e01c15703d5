"""The measurement-error model against closed forms, published findings, and what errors must and must not do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import multivariate_normal

import bayes_bias as bb
from bayes_bias.analyses.criterion.criterion import model_of
from bayes_bias.analyses.criterion.data import (
    Biases,
    CriterionData,
    biases_of_fits,
    biases_of_words,
    outside_of,
    with_common_error,
)
from bayes_bias.errors import CriterionError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.priors import FoldedScale
from bayes_bias.posterior.estimates import bias_estimate, contrast_estimate
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.bias_weights import target_weights
from benchmarks.criterion import Cell, Posterior
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import REFERENCE, refused, says, unlisted_columns

BRIEF = bb.Sampling(draws=500, tune=400, chains=2)
NAMES = [f"language {k:02d}" for k in range(30)]
FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]


def simulated(n: int = 30, rho: float = 0.6, error: float = 0.6, seed: int = 1) -> pd.DataFrame:
    """Biases and criterion of known correlation; both are seen with errors."""
    rng = np.random.default_rng(seed)
    true = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=n)
    seen = true + error * rng.standard_normal((n, 2))
    columns = {"bias": 0.05 * seen[:, 0], "sd": 0.05 * error, "criterion": 10 + 3 * seen[:, 1]}
    labels = pd.Index([f"language {k:02d}" for k in range(n)], name="language")
    return pd.DataFrame(columns | {"criterion_se": 3 * error}, labels)


def test_criterion_density_matches_dense_normal() -> None:
    """With errors that go together, and a covariate; at several points, up to nothing."""
    rng, frame = np.random.default_rng(2), simulated(6).assign(age=[30.0, 42, 28, 35, 47, 31])
    root = rng.standard_normal((6, 6))
    covariance = 0.0004 * root @ root.T
    data = CriterionData.of(Biases.from_frame(frame, covariance), outside_of(frame), ["age"])
    made = model_of(data)
    model = made.build()
    density = model.compile_logp(vars=model.observed_RVs, mode="FAST_COMPILE")
    unit = data.units.to_numpy()
    seen = ((frame[["bias", "criterion"]] - frame[["bias", "criterion"]].mean()) / unit).to_numpy()
    age = ((frame.age - frame.age.mean()) / frame.age.std()).to_numpy()
    for _ in range(5):
        rho, mean, sd = rng.uniform(-0.9, 0.9), rng.standard_normal(2), rng.uniform(0.2, 2, 2)
        coefficient = rng.standard_normal((1, 2))
        true_covariance = np.outer(sd, sd) * np.array([[1, rho], [rho, 1]])
        whole = np.kron(true_covariance, np.eye(6))
        whole[:6, :6] += covariance / unit[0] ** 2
        whole[6:, 6:] += np.diag((data.criterion_se / unit[1]) ** 2)
        expected = (mean + np.outer(age, coefficient)).T.ravel()
        point = {
            "correlation_interval__": np.log((1 + rho) / (1 - rho)),
            "mean": mean,
            "sd_folded__": FoldedScale().forward(sd).eval(mode="FAST_COMPILE"),
        }
        found = density(point | {"coefficient": coefficient})
        assert found == pytest.approx(multivariate_normal.logpdf(seen.T.ravel(), expected, whole), abs=1e-8)


@pytest.mark.thorough
@pytest.mark.slow
def test_correlation_matches_spearman_correction_for_many_labels() -> None:
    frame = simulated(1000, error=0.8)
    found = bb.criterion(frame, sampling=BRIEF)
    r, reliability = found.correlation("as observed")["median"], 1 / (1 + 0.8**2)
    assert r == pytest.approx(np.corrcoef(frame.bias, frame.criterion)[0, 1])
    assert r == pytest.approx(0.6 * reliability, abs=0.05)
    assert found.correlation("new words")["median"] == pytest.approx(r / reliability, abs=0.03)
    assert found.numbers.loc[("slope", "new words"), "median"] == pytest.approx(0.6 * 3 / 0.05, rel=0.06)
    for name in ("bias", "criterion"):
        assert found.numbers.loc[(f"reliability of {name}", "new words"), "median"] == pytest.approx(
            reliability, abs=0.03
        )


@pytest.mark.thorough
@pytest.mark.slow
def test_criterion_posterior_matches_grid() -> None:
    """On which docs/evidence/other-analyses.md rests."""
    for cell in (Cell(0.6, 20, 0.6), Cell(0.9, 50, 0.9), Cell(0.0, 8, 0.3)):
        seen, errors, shared = cell.drawn(3)
        columns = {"bias": seen[:, 0], "sd": errors[:, 0] ** 0.5, "criterion": seen[:, 1]}
        frame = pd.DataFrame(
            columns | {"criterion_se": errors[:, 1] ** 0.5}, index=[f"label {k}" for k in range(len(seen))]
        )
        found = bb.criterion(frame, sampling=bb.Sampling(draws=1500, tune=500))
        grid = Posterior.of(seen, errors, shared)
        assert float(found.fit["posterior"].correlation.mean()) == pytest.approx(grid.mean, abs=0.03)
        ends = found.fit["posterior"].correlation.quantile([0.025, 0.975])
        assert np.allclose(ends, grid.quantiles((0.025, 0.975)), atol=0.05)


@pytest.mark.thorough
@pytest.mark.slow
def test_correlation_ignores_error_shared_by_all_biases() -> None:
    """One that each has by itself does: the common part of a covariance shifts all biases alike."""
    frame = simulated(error=0.5)
    sd = np.full(30, 0.05)
    alone, shared, large = (
        bb.criterion(Biases.from_frame(frame, covariance), frame, sampling=BRIEF).correlation("new words")["median"]
        for covariance in (
            0.25 * with_common_error(sd, 0.0),
            0.25 * with_common_error(sd, 0.0) + 0.04 * np.ones((30, 30)),
            with_common_error(sd, 0.0),
        )
    )
    assert shared == pytest.approx(alone, abs=0.02)
    assert large > alone + 0.03


@pytest.mark.thorough
@pytest.mark.slow
def test_criterion_adjusts_for_covariates_and_families() -> None:
    rng, frame = np.random.default_rng(4), simulated(30, rho=0.0, error=0.3)
    age = rng.standard_normal(30)
    family = np.repeat(np.arange(6), 5)
    effect = np.array([-2.0, -1, -0.5, 0.5, 1, 2])[family]
    for name, common in (("age", 2 * age), ("family", 1.5 * effect)):
        moved = frame.assign(
            bias=frame.bias + 0.05 * common, criterion=frame.criterion + 3 * common, age=age, family=family.astype(str)
        )
        asked = {"covariates": "age"} if name == "age" else {"family": "family"}
        assert bb.criterion(moved, sampling=BRIEF).excludes_zero("new words")
        assert not bb.criterion(moved, **asked, sampling=BRIEF).excludes_zero("new words")


@pytest.mark.thorough
@pytest.mark.slow
def test_true_bias_matches_shrinkage_of_bivariate_normal() -> None:
    """Towards what bias and criterion together let expect, at the posterior means of the parameters."""
    frame = simulated()
    found = bb.criterion(frame, sampling=BRIEF)
    seen = frame[["bias", "criterion"]]
    away = (seen - seen.mean()) / seen.std()
    true = (found.table.true_bias - frame.bias.mean()) / frame.bias.std()
    means = found.fit["posterior"].to_dataset().mean(["chain", "draw"])
    rho, sd, mean = float(means.correlation), means.sd.to_numpy(), means["mean"].to_numpy()
    covariance = np.outer(sd, sd) * np.array([[1, rho], [rho, 1]])
    errors = np.diag((frame[["sd", "criterion_se"]].iloc[0].to_numpy() / seen.std()) ** 2)
    expected = mean[0] + (away - mean) @ np.linalg.solve(covariance + errors, covariance[:, 0])
    assert np.allclose(true, expected, atol=0.1)
    assert true.std() < 0.8
    assert unlisted_columns(found.summary().reset_index(), found.table) == set()
    exact = bb.criterion(frame.assign(sd=0.0), sampling=BRIEF)
    assert list(exact.fits) == ["these words"]
    assert np.allclose(exact.table.true_bias, exact.table.bias)


@pytest.fixture(scope="module")
def occupations() -> AssociationTable:
    """The 50 occupations of Caliskan et al. (2017) in GloVe, with their female and male words."""
    stored = np.load(REFERENCE / "glove840b_weat_items.npz")
    vectors = dict(zip(stored["words"].tolist(), stored["vectors"].astype(float), strict=True))
    jobs = pd.read_csv(REFERENCE / "womens_share.csv").label

    def unit(words: list[str]) -> np.ndarray:
        chosen = np.stack([vectors[word] for word in words])
        return chosen / np.linalg.norm(chosen, axis=1, keepdims=True)

    classes = {word: "female" if word in FEMALE else "male" for word in FEMALE + MALE}
    return assemble(
        unit(list(jobs)) @ unit(FEMALE + MALE).T,
        dict.fromkeys(jobs, "occupations"),
        classes,
        {"occupations": "female"},
        opposites=("male",),
        name="occupations",
    )


@pytest.mark.thorough
@pytest.mark.slow
def test_criterion_matches_correlation_of_caliskan_occupations(occupations: AssociationTable) -> None:
    share = pd.read_csv(REFERENCE / "womens_share.csv", index_col="label").women_pct / 100
    published = bb.measures.wefat(occupations).words.effect_size
    assert np.corrcoef(published, share.loc[published.index])[0, 1] == pytest.approx(0.90, abs=0.005)
    fit = bb.fit(occupations, sampling=bb.Sampling(draws=600, tune=500))
    found = bb.criterion(fit, share, toward="female", sampling=bb.Sampling(draws=600, tune=500))
    assert found.correlation("as observed")["median"] == pytest.approx(0.883, abs=0.001)
    assert found.correlation("new words")["median"] == pytest.approx(0.93, abs=0.01)
    assert found.verdict().label == "distinguishable"
    assert says(found.text, "50 words exact")


def test_biases_of_words_match_variance_of_group_bias(small_fit: xr.DataTree) -> None:
    """The average of a group's words has the error that the design's own variance of the group's bias has."""
    biases = biases_of_words(small_fit, "home", "both")
    data = Fitted.of(small_fit).data
    men = (data.group_of == 0).to_numpy()
    average = np.where(men, 1 / men.sum(), 0.0)
    weights = target_weights(data).isel(contrast=[0]).assign_coords(contrast=["men"])
    noise = contrast_estimate(small_fit, weights, "attributes").noise_sd
    assert average @ biases.covariance.to_numpy() @ average == pytest.approx(float((noise**2).mean()))
    # With these attributes only residuals are left, those of six and of five of them.
    these = biases_of_words(small_fit, "home", "targets")
    sd = float((small_fit["posterior"].sd_residual ** 2).mean() * (1 / 6 + 1 / 5)) ** 0.5
    assert these.independent
    assert np.allclose(these.sd, sd)
    observed = small_fit["observed_data"].association.to_dataframe()
    by_class = observed.pivot_table("association", "target", "attribute_class")
    assert np.allclose(these.values, (by_class["home"] - by_class["work"])[these.values.index])
    assert biases_of_words(small_fit, "home", "none").exact


def test_biases_of_fits_share_error_for_same_words(small_fit: xr.DataTree) -> None:
    both = biases_of_fits({"one": small_fit, "other": small_fit})
    noise = bias_estimate(small_fit).noise_sd
    assert np.allclose(np.diag(both.covariance), float((noise**2).mean()))
    assert both.covariance.loc["one", "other"] == pytest.approx(0.99 * both.covariance.loc["one", "one"])
    assert biases_of_fits({"one": small_fit, "other": small_fit}, "none").exact


def test_sweep_biases_match_cells_of_embeddings(caplog: pytest.LogCaptureFixture) -> None:
    sweep = made_sweep(embeddings=6)
    name = sweep.lists[0]
    with refused(CriterionError, "of None list"):
        sweep.biases()
    alone = sweep.biases(name)
    assert says(caplog.text, f"{name} independent")
    cells = sweep.cells.xs(name, level="list").loc[alone.values.index]
    assert np.allclose(alone.values, cells.bias)
    assert np.allclose(alone.sd, cells.sd)
    lists = pd.DataFrame({"shared_error": 0.4}, [name])
    both = replace(sweep, pooled=SimpleNamespace(lists=lists)).biases(name).covariance.to_numpy()
    assert both[0, 1] == pytest.approx(0.4 * cells.sd.iloc[0] * cells.sd.iloc[1])


@pytest.mark.thorough
@pytest.mark.slow
def test_criterion_returns_answer_for_six_labels_without_errors():
    """Gradients that are no number ended in a panic of the sampler."""
    decades = pd.Index([str(year) for year in range(1900, 1960, 10)], name="label")
    biases = pd.DataFrame({"bias": [0.0477, 0.0162, 0.0949, 0.0569, 0.0924, 0.081], "sd": 0.0}, decades)
    found = bb.criterion(biases, pd.Series(np.arange(6.0), decades), seed=1)
    assert not found.excludes_zero("these words")


def test_criterion_data_omits_labels_of_one_side() -> None:
    frame = simulated(8)
    outside = frame[["criterion"]].rename(index={"language 07": "no"})
    data = CriterionData.of(Biases.from_frame(frame), outside_of(outside))
    assert len(data.labels) == 7
    assert says(" ".join(data.notices), "07 no")


def test_criterion_se_is_computed_from_number_of_people() -> None:
    frame = simulated(6).drop(columns="criterion_se").assign(criterion_n=100)
    means = CriterionData.of(Biases.from_frame(frame), outside_of(frame.assign(criterion_sd=0.5)))
    assert np.allclose(means.criterion_se, 0.05)
    shares = frame.assign(criterion=[0.1, 0.2, 0.5, 0.6, 0.9, 1.0])
    found = CriterionData.of(Biases.from_frame(shares), outside_of(shares)).criterion_se
    assert found.iloc[2] == pytest.approx(0.05)
    assert found.iloc[5] > 0


FRAME = simulated(6).assign(family=list("aabbcc"), age=[1.0, 2, 3, 4, 5, 6])
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "criterion without the biases' labels": (
        lambda: bb.criterion(FRAME, FRAME.set_index(FRAME.age)),
        "criterion no label",
    ),
    "no labels at all": (lambda: bb.criterion(FRAME, FRAME.reset_index(drop=True)), "criterion labels 'label'"),
    "a class for numbers": (lambda: bb.criterion(FRAME, toward="female"), "toward 'female' fit"),
    "a scope for numbers": (lambda: bb.criterion(FRAME, scope="targets"), "scope 'targets' fits"),
    "an array": (lambda: bb.criterion(FRAME, [1.0, 2.0]), "criterion list labels"),
    "n of 1": (lambda: bb.criterion(FRAME, {"language 00": 0.4}), "criterion one four"),
    "no people": (
        lambda: bb.criterion(FRAME.drop(columns="criterion_se").assign(criterion_n=0)),
        "criterion criterion_n 'language 00'",
    ),
    "people of no share": (
        lambda: bb.criterion(FRAME.drop(columns="criterion_se").assign(criterion_n=9)),
        "criterion criterion_n criterion_sd",
    ),
    "sd without people": (
        lambda: bb.criterion(FRAME.drop(columns="criterion_se").assign(criterion_sd=0.5)),
        "criterion criterion_sd criterion_n criterion_se",
    ),
    "NaN": (lambda: bb.criterion(FRAME.assign(criterion=[np.nan, *range(5)])), "'criterion' nan 'language 00'"),
    "a bias that is NaN": (lambda: bb.criterion(FRAME.assign(bias=np.nan)), "biases 'bias' nan"),
    "text": (lambda: bb.criterion(FRAME.assign(criterion=[*range(5), "x"])), "'criterion' numbers 'x'"),
    "constant": (lambda: bb.criterion(FRAME.assign(criterion=1.0)), "criterion every"),
    "constant biases": (lambda: bb.criterion(FRAME.assign(bias=1.0)), "biases every"),
    "negative se": (lambda: bb.criterion(FRAME.assign(criterion_se=-1.0)), "criterion criterion_se 'language 00'"),
    "negative sd": (lambda: bb.criterion(FRAME.assign(sd=-1.0)), "biases sd 'language 00'"),
    "no sd": (lambda: bb.criterion(FRAME.drop(columns="sd")), "biases 'sd'"),
    "not semidefinite": (
        lambda: Biases.from_frame(FRAME, np.eye(6) - np.ones((6, 6))),
        "covariance positive semidefinite",
    ),
    "another shape": (lambda: Biases.from_frame(FRAME, np.eye(5)), "covariance 6"),
    "twice": (lambda: bb.criterion(pd.concat([FRAME, FRAME])), "biases 'language 00' twice"),
    "no criterion": (lambda: bb.criterion(FRAME.bias.to_xarray()), "criterion missing"),
    "unknown covariate": (lambda: bb.criterion(FRAME, covariates="ages"), "covariates 'ages' age"),
    "too many covariates": (lambda: bb.criterion(FRAME.iloc[:4], covariates="age"), "covariates one four"),
    "unknown family": (lambda: bb.criterion(FRAME, family="families"), "family 'families'"),
    "families of one": (lambda: bb.criterion(FRAME, family="age"), "family six"),
    "no biases": (lambda: bb.criterion(3, FRAME), "biases int labels"),
    "no file": (lambda: bb.criterion("no.csv"), "biases 'no.csv'"),
}


@pytest.mark.parametrize("asked", WRONG)
def test_criterion_raises_for_bad_input(asked: str) -> None:
    ask, words = WRONG[asked]
    with refused(CriterionError, words):
        ask()


def test_criterion_raises_without_toward(small_fit: xr.DataTree) -> None:
    with refused(CriterionError, "toward None home work"):
        bb.criterion(small_fit, FRAME)


def test_criterion_command_prints_and_writes_results(run: Callable, from_priors: None, tmp_path: Path) -> None:
    simulated(12).rename_axis("label").to_csv(tmp_path / "languages.csv")
    asked = ["criterion", tmp_path / "languages.csv", "--draws", 500, "--out", tmp_path / "out"]
    named = ["--bias-name", "gender bias (cosine)", "--criterion-name", "women in the job (%)", "--name", "jobs"]
    code, out, err = run(*asked, *named)
    assert code == 0, err
    assert says(out, "correlation gender bias (cosine) women in the job (%)")
    assert says(out, "correlation slope reliability")
    names = {path.name for path in (tmp_path / "out").rglob("*")}
    assert names >= {
        "index.html",
        "summary.csv",
        "labels.csv",
        "posterior-new-words.nc",
        "criterion.svg",
        "methods.tex",
    }
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "10.2307/1412159" in page
    code, _, err = run("criterion", tmp_path / "none.csv")
    assert code == 2
    assert says(err, "biases none.csv")


def test_texts_name_words_only_as_known_source_of_errors(from_priors: None) -> None:
    frame = simulated(12)
    of_words = Biases.of(frame.bias, np.diag(frame.sd**2), of_words=True)
    unknown, known = bb.criterion(frame), bb.criterion(of_words, frame)
    for found in (unknown, known):
        texts = (found.methods, found._reliability_text())
        for text, claim in zip(texts, ("between samples of words", "in these vectors"), strict=True):
            assert (claim in text) == (found is known)
    exact = bb.criterion(frame.assign(sd=0.0, criterion_se=0.0))
    assert says(exact.methods, "Biases treated as exact criterion treated as exact")


@pytest.mark.slow
def test_page_shows_errors_below_the_decimals_of_the_criterion(tmp_path: Path) -> None:
    table = simulated(12)
    found = bb.criterion(table.assign(criterion=25 * table.criterion, criterion_se=0.03))
    assert ">0.03<" in bb.write(found, tmp_path / "page", figures=()).read_text(encoding="utf-8")
