"""Criterion validity of known truth: `python -m benchmarks.criterion --draws 400`.

Bias and criterion of so many labels have the correlation that a cell says; both are seen with errors. How many 95%
intervals of the measurement-error model hold it, and how many exclude zero, beside those of Fisher's transformation of
Pearson's r? Nulls are of real words: the 50 occupations of Caliskan et al. with women's share permuted, and random
common words with the same shares.

The posterior is integrated on a grid, in milliseconds; `agreement` says how far `bayes_bias.criterion`, which samples
it, is from the grid.
"""

import argparse
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import pearsonr

import bayes_bias as bb
from bayes_bias.analyses.criterion.biases import Biases
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import from_to, share_of

# Of the correlation, and of each of the two scales up to where nothing is left of them.
_CORRELATIONS, _SCALES, _LARGEST = 60, 24, 3.0
_FEMALE = ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")
_MALE = ("male", "man", "boy", "brother", "he", "him", "his", "son")
_REFERENCE = Path(__file__).parent.parent / "tests" / "reference"
_TAILS = 5  # degrees of freedom, where they are heavy
_ENDS = (0.025, 0.975)

type Numbers = NDArray[np.float64]


@cache
def _nodes() -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Correlations, scales, and the logarithm of the prior weight, flat; and the correlations by themselves."""
    rho, of_rho = np.polynomial.legendre.leggauss(_CORRELATIONS)
    sd, of_sd = np.polynomial.legendre.leggauss(_SCALES)
    sd, of_sd = (sd + 1) * _LARGEST / 2, np.log(of_sd) - ((sd + 1) * _LARGEST / 2) ** 2 / 2
    grid = np.meshgrid(rho, sd, sd, indexing="ij")
    weight = np.log(of_rho)[:, None, None] + of_sd[:, None] + of_sd[None, :]
    return grid[0].ravel(), np.stack([each.ravel() for each in grid[1:]]), weight.ravel(), rho


@dataclass(frozen=True)
class Posterior:
    """Of the correlation, as weights of correlations in increasing order; and of the slope, as weights of slopes."""

    rho: Numbers
    weight: Numbers
    slope: Numbers
    of_slope: Numbers

    @classmethod
    def of(cls, seen: Numbers, errors: Numbers, shared: float = 0.0) -> "Posterior":
        """By the model of `bayes_bias.criterion`, whose means are integrated out as well.

        `seen` and the variances of `errors` are (labels, 2); all biases have one more error of the variance `shared`.
        """
        unit = seen.std(axis=0, ddof=1)
        seen, errors = (seen - seen.mean(axis=0)) / unit, errors / unit**2
        rho, (sd_bias, sd_criterion), log_weight, ordered = _nodes()
        spread = np.array([1 + shared / unit[0] ** 2, 1.0])  # the prior variance of the means
        precision, told, deviance = np.zeros((3, len(rho))), np.zeros((2, len(rho))), np.zeros(len(rho))
        kinds, which = np.unique(errors, axis=0, return_inverse=True)
        for k, (of_bias, of_criterion) in enumerate(kinds):
            y = seen[which.ravel() == k]
            a, b, c = sd_bias**2 + of_bias, sd_criterion**2 + of_criterion, rho * sd_bias * sd_criterion
            determinant = a * b - c**2
            inverse = np.stack([b, a, -c]) / determinant
            sums, squares = y.sum(axis=0), y.T @ y
            precision += len(y) * inverse
            told[0] += inverse[0] * sums[0] + inverse[2] * sums[1]
            told[1] += inverse[2] * sums[0] + inverse[1] * sums[1]
            deviance += len(y) * np.log(determinant) + inverse[0] * squares[0, 0]
            deviance += inverse[1] * squares[1, 1] + 2 * inverse[2] * squares[0, 1]
        first, second, both = precision[0] + 1 / spread[0], precision[1] + 1 / spread[1], precision[2]
        determinant = first * second - both**2
        deviance += np.log(determinant)
        deviance -= (second * told[0] ** 2 - 2 * both * told[0] * told[1] + first * told[1] ** 2) / determinant
        log_density = log_weight - deviance / 2
        joint = np.exp(log_density - log_density.max())
        joint /= joint.sum()
        slope = rho * sd_criterion / sd_bias * unit[1] / unit[0]
        return cls(ordered, joint.reshape(len(ordered), -1).sum(axis=1), slope, joint)

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.rho @ self.weight)

    def quantiles(self, probs: tuple[float, ...]) -> Numbers:
        """Quantiles, to a small part of the distance between correlations."""
        below = np.cumsum(self.weight) - self.weight / 2
        return np.interp(probs, below, self.rho)

    def slope_quantiles(self, probs: tuple[float, ...]) -> Numbers:
        """Quantiles of the slope of the criterion on the bias."""
        order = np.argsort(self.slope)
        below = np.cumsum(self.of_slope[order]) - self.of_slope[order] / 2
        return np.interp(probs, below, self.slope[order])


@dataclass(frozen=True)
class Cell:
    """A design and its truth."""

    rho: float
    labels: int
    reliability: float  # of biases
    of_criterion: float = 0.8
    heavy: bool = False
    share: float = 0.0  # of the variance of errors of biases, what all labels have in common

    def drawn(self, seed: int) -> tuple[Numbers, Numbers, float]:
        """What is seen, the variances of errors, and that of the one that all biases share."""
        design = [round(100 * x) for x in (self.rho, self.reliability, self.share)]
        rng = np.random.default_rng([seed, self.labels, self.heavy, *design])
        true = rng.multivariate_normal([0, 0], [[1, self.rho], [self.rho, 1]], size=self.labels)
        if self.heavy:  # scaled to a variance of one
            true *= np.sqrt((_TAILS - 2) / rng.chisquare(_TAILS, size=(self.labels, 1)))
        total = np.array([1 / self.reliability - 1, 1 / self.of_criterion - 1])
        own = total * [1 - self.share, 1]
        seen = true + np.sqrt(own) * rng.standard_normal(true.shape)
        shared = total[0] * self.share
        seen[:, 0] += np.sqrt(shared) * rng.standard_normal()
        return seen, np.tile(own, (self.labels, 1)), float(shared)


CELLS = (
    *(Cell(*design) for design in product((0.0, 0.3, 0.6, 0.9), (8, 20, 50), (0.3, 0.6, 0.9))),
    *(Cell(0.6, n, 0.6, share=0.5) for n in (20, 50)),
    *(Cell(0.6, n, 0.6, heavy=True) for n in (20, 50)),
)


def judged(seen: Numbers, errors: Numbers, shared: float, truth: float) -> dict[str, float]:
    """What the model and Fisher's interval say of one draw."""
    posterior = Posterior.of(seen, errors, shared)
    lower, upper = posterior.quantiles(_ENDS)
    naive = pearsonr(seen[:, 0], seen[:, 1])
    ends = naive.confidence_interval()
    return {
        "posterior mean": posterior.mean,
        "covered": float(lower <= truth <= upper),
        "excludes zero": float(not lower <= 0 <= upper),
        "width": float(upper - lower),
        "naive": float(naive.statistic),
        "naive covered": float(ends.low <= truth <= ends.high),
        "naive width": float(ends.high - ends.low),
        "naive excludes zero": float(not ends.low <= 0 <= ends.high),
    }


def simulated_cells(draws: int) -> pd.DataFrame:
    """A row for each cell."""
    rows = []
    for cell in CELLS:
        found = pd.DataFrame([judged(*cell.drawn(seed), cell.rho) for seed in range(draws)]).mean()
        rows.append({**vars(cell), **found, "draws": draws})
    return pd.DataFrame(rows)


def slopes(draws: int) -> pd.DataFrame:
    """The slope of the criterion on the bias, beside that of least squares, which errors of biases flatten."""
    rows = []
    for cell in (each for each in CELLS if each.rho > 0 and not each.heavy and not each.share):
        found = []
        for seed in range(draws):
            seen, errors, shared = cell.drawn(seed)
            lower, median, upper = Posterior.of(seen, errors, shared).slope_quantiles((_ENDS[0], 0.5, _ENDS[1]))
            found.append((median, np.polyfit(*seen.T, 1)[0], lower <= cell.rho <= upper))
        median, least_squares, covered = np.array(found).T
        shares = {"posterior": np.median(median) / cell.rho, "least squares": np.median(least_squares) / cell.rho}
        rows.append({**vars(cell), **shares, "covered": covered.mean(), "draws": draws})
    return pd.DataFrame(rows)


def real_nulls(draws: int) -> pd.DataFrame:
    """Women's share of occupations, permuted over these; and over as many random common words."""
    share = pd.read_csv(_REFERENCE / "womens_share.csv").women_pct.to_numpy() / 100
    stored = np.load(_REFERENCE / "glove840b_weat_items.npz")
    glove = dict(zip(stored["words"].tolist(), stored["vectors"].astype(float), strict=True))
    vectors = bb.open_embedding("googlenews-demo").all()
    common = sorted(word for word in vectors if word.islower() and word not in {*_FEMALE, *_MALE})
    jobs = pd.read_csv(_REFERENCE / "womens_share.csv").label.tolist()
    rows = []
    for name in ("criterion permuted", "random words"):
        found = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            words, known = (jobs, glove) if name == "criterion permuted" else (rng.choice(common, len(jobs)), vectors)
            bias, error = _contrasts(words, known)
            seen = np.column_stack([bias, rng.permutation(share)])
            found.append(judged(seen, np.tile([error, 0.0], (len(seen), 1)), 0.0, 0.0))
        rows.append({"null": name, **pd.DataFrame(found).mean(), "draws": draws})
    return pd.DataFrame(rows)


def _contrasts(words: "list[str] | NDArray[np.str_]", vectors: "dict[str, Numbers]") -> tuple[Numbers, float]:
    """How much closer words are to female than to male ones, and the variance of the error that each has by itself."""

    def unit(chosen: "tuple[str, ...]") -> Numbers:
        raw = np.stack([np.asarray(vectors[word], dtype=float) for word in chosen])
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)

    classes = [unit(tuple(words)) @ unit(named).T for named in (_FEMALE, _MALE)]
    left = [y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean() for y in classes]
    df = (len(words) - 1) * sum(y.shape[1] - 1 for y in classes)
    mean_square = sum(float((each**2).sum()) for each in left) / df
    return classes[0].mean(axis=1) - classes[1].mean(axis=1), mean_square * sum(1 / y.shape[1] for y in classes)


def agreement(fits: int = 8) -> float:
    """The largest distance of a bound of the sampled interval from that of the grid."""
    furthest = 0.0
    for cell in CELLS[:: len(CELLS) // fits][:fits]:
        seen, errors, shared = cell.drawn(0)
        labels = pd.Index([f"label {k}" for k in range(len(seen))], name="label")
        columns = {"bias": seen[:, 0], "criterion": seen[:, 1], "criterion_se": np.sqrt(errors[:, 1])}
        covariance = np.diag(errors[:, 0]) + shared
        frame = pd.DataFrame(columns, labels)
        found = bb.criterion(Biases.from_frame(frame, covariance), frame)
        sampled = found.fit["posterior"].correlation.quantile(_ENDS).to_numpy()
        grid = Posterior.of(seen, errors, shared).quantiles(_ENDS)
        furthest = max(furthest, float(np.abs(sampled - grid).max()))
    return furthest


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--slopes", action="store_true", help="slopes alone, without correlations")
    chosen = parser.parse_args()
    write("criterion-slopes", provenance(), rows_of(slopes(chosen.draws)))
    if chosen.slopes:
        return
    cells, nulls = simulated_cells(chosen.draws), real_nulls(chosen.draws)
    print(cells.to_string(float_format="{:.3f}".format))
    print(nulls.to_string(float_format="{:.3f}".format))
    about = provenance() | {"agreement": agreement()}
    print(about["agreement"])
    write("criterion", about, rows_of(cells))
    write("criterion-nulls", about, rows_of(nulls))


_MEANS = {"posterior mean": "posterior mean", "Pearson's r": "naive"}


def answer() -> str:
    """Say how many intervals hold the true correlation."""
    rows = pd.DataFrame(read("criterion")["rows"])
    usual = rows[~rows.heavy & (rows.share == 0)]
    return f"""{from_to(usual.covered)} of the 95% intervals hold the true correlation, by design, beside
{from_to(usual["naive covered"])} of those of Pearson's r, which ignore the errors of the biases."""


def section() -> str:
    """Render correlations of bias and something outside, with errors in both."""
    result, nulls = read("criterion"), pd.DataFrame(read("criterion-nulls")["rows"])
    rows = pd.DataFrame(result["rows"])
    usual, other = rows[~rows.heavy & (rows.share == 0)], rows[rows.heavy | (rows.share > 0)]
    inside = usual.covered.between(0.93, 0.98)
    false = usual[usual.rho == 0]["excludes zero"]
    shares = {"covers": "covered", "excludes zero": "excludes zero", "Fisher's covers": "naive covered"}

    def shown(table: pd.DataFrame, keys: list[str]) -> str:
        numbers = {
            name: [share_of(share, n) for share, n in zip(table[own], table.draws, strict=True)]
            for name, own in shares.items()
        }
        means = {name: table[own].map("{:+.2f}".format) for name, own in _MEANS.items()}
        return markdown_table(table[keys].assign(**means, **numbers, width=table.width.map("{:.2f}".format)))

    of_others = other.assign(
        what=other.heavy.map({True: "Student-t labels, 5 df", False: "half of each bias's error variance is shared"})
    )
    return f"""## Bias and something outside

`bb.criterion`: true biases and true criteria of so many *labels* have the correlation *rho*; biases are seen with the
*reliability* of the row, the criterion with .80. How many 95% intervals hold rho (wanted: 93% to 98%), how many exclude
zero (false findings if rho is 0), next to the interval of Fisher's transformation of Pearson's r; {rows.draws.max()}
draws a cell. {inside.sum()} of {len(usual)} cells are within, {(usual.covered > 0.98).sum()} above and
{(usual.covered < 0.93).sum()} below. False findings are {false.min():.1%} to {false.max():.1%}. With few labels or low
reliability the uniform prior of rho decides: intervals are wide, and their middle is drawn towards zero.

{shown(usual, ["rho", "labels", "reliability"])}

The normal model if labels have heavier tails than it allows for, and if the errors of biases go together:

{shown(of_others, ["what", "rho", "labels"])}

Nulls of real words: the women's shares of 50 occupations are permuted over the occupations in GloVe, and given to 50
random common words of GoogleNews; biases are closeness to 8 female less that to 8 male words.

{shown(nulls, ["null"])}

The posterior is integrated on a grid here. Bounds that `bb.criterion` samples are at most
{float(str(result["about"]["agreement"])):.3f} from the grid's in eight data sets.

{circumstances({name: value for name, value in result["about"].items() if name != "agreement"})}
"""


def section_of_slopes() -> str:
    """Render slopes."""
    result = read("criterion-slopes")
    rows = pd.DataFrame(result["rows"])
    shown = rows[["rho", "labels", "reliability"]].assign(
        **{name: rows[name].map("{:.0%}".format) for name in ("posterior", "least squares")},
        covers=[share_of(share, n) for share, n in zip(rows.covered, rows.draws, strict=True)],
    )
    many, few = rows[rows.labels == 50], rows[rows.labels == 8]
    return f"""## The slope

The slope of the criterion on the bias, as a share of the true one: the median, over {rows.draws.max()} draws, of
posterior medians, and of the slopes of least squares. Errors of the biases flatten least squares to about their
reliability. The model knows these errors, and what it still takes off is its prior's: {from_to(many.posterior)} of the
slope are left with 50 labels, {from_to(few.posterior)} with eight. Intervals hold the slope in {from_to(rows.covered)}.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
