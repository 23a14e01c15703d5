"""The model of answers: words, wordings, and labels have effects on D, which are integrated out of the density.

    D[i] = mu + word + wording[v] + label_a[a] + label_b[b] + pair[a, b] + e[i],    mu ~ Uniform(-1, 1)

Effects of each kind are normal with mean zero and their own standard deviation, which has a half-normal prior in
`PRIORS`. D depends on the mean of the word effects in each class. If the standard deviation of word effects is s, and
the classes of a question contain n and m words, word effects contribute the variance s² (1/n + 1/m). The variance of e
has a known part, (1/n² + 1/m²) / 12, because D is computed from shares of n and m words.

Contrasts between words of one class within answers also contain information on the differences between words, because
all other effects cancel in these contrasts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.special import ndtr, ndtri, softmax
from scipy.stats import multivariate_t

from bayes_bias.analyses.answers.cell import UNKNOWN, Cell, differences
from bayes_bias.shared_types import Numbers

if TYPE_CHECKING:
    import pymc as pm


# The scales of the half-normal priors, in units of D.
PRIORS = MappingProxyType({"word": 0.25, "wording": 0.25, "label_a": 0.5, "label_b": 0.5, "pair": 0.5, "answer": 1.0})
PRIOR_TEXTS = {name: f"{scale:g}" for name, scale in PRIORS.items()}
ANSWER, WORD, PAIR = "answer", "word", "pair"
# The effects that are treated as samples in each scope. Scopes are sorted from these answers alone to new labels.
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "trials": (),
    "words": (WORD,),
    "wordings": (WORD, "wording"),
    "all": (WORD, "wording", "label_a", "label_b", PAIR),
}
# The maximum number of array elements that are processed at once.
_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Observed:
    """The answers about one stereotype as data for the model.

    Attributes
    ----------
    difference : array (answer,)
        D or, in comparisons, half the change of D, which has the same range.
    keys : pandas.DataFrame
        The codes of ``word_set``, ``wording``, ``label_a``, ``label_b`` (-1 if unknown) and ``pair`` of each answer.
    words : array (word_set, word)
        The weight of the effect of a word in D: 1/n, -1/m, or 0.
    contrasts, noise : array (contrast,)
        Contrasts of the shares of words within classes, and their standard errors.
    rounding : float
        The variance of D from the finite numbers of words.
    """

    difference: Numbers
    keys: pd.DataFrame
    words: Numbers
    contrasts: Numbers
    noise: Numbers
    rounding: float


def observed(cell: Cell) -> Observed:
    """Return the answers about one stereotype as data for the model: D of each answer with its codes and word weights.

    If a question has n words of class a and m words of class b, D has the weights 1/n and -1/m for the effects of these
    words. Because D is computed from shares of n and m words, it has the rounding variance (1/n² + 1/m²) / 12, with the
    median numbers n and m of words with a valid choice.
    """
    replies, questions = cell.counted, cell.questions
    words = pd.Index(questions.words)
    is_asked = np.array([words.isin(words_of_set) for words_of_set in cell.sets], float)  # (word_set, word)
    asked_a = is_asked * questions.is_word_a
    asked_b = is_asked * ~questions.is_word_a
    n = asked_a.sum(axis=1, keepdims=True)
    m = asked_b.sum(axis=1, keepdims=True)
    weights = np.asarray(asked_a / n - asked_b / m)
    contrasts, noise = word_contrasts(cell)
    rounding = (replies.valid_a.median() ** -2 + replies.valid_b.median() ** -2) / 12
    return Observed(differences(replies), keys_of(replies), weights, contrasts, noise, rounding)


def effects_of(cell: Cell, scope: str) -> tuple[str, ...]:
    """Return the effects that are treated as samples under a scope, such as words and wordings under "wordings".

    With one pair of labels, the effects of labels are confounded with mu and are omitted.
    """
    return SAMPLES["wordings" if scope == "all" and cell.is_one_pair else scope]


def keys_of(replies: pd.DataFrame) -> pd.DataFrame:
    """Return integer codes of the set of words, the wording, the pair of labels, and both labels of each answer.

    The result has a row for each answer. Equal codes in a column mean equal levels. The code of an unknown label is -1.
    """
    keys = {"word_set": replies.word_set.to_numpy()}
    keys["wording"], _ = pd.factorize(replies.wording, sort=True)
    keys[PAIR], _ = pd.factorize(pairs_of(replies), sort=True)
    for name in ("label_a", "label_b"):
        # `factorize` gives missing values the code -1.
        keys[name], _ = pd.factorize(replies[name].where(replies[name] != UNKNOWN), sort=True)
    return pd.DataFrame(keys)


def pairs_of(replies: pd.DataFrame) -> "pd.Series[str]":
    """Return the pair of labels of each answer as one text."""
    return replies.label_a.astype(str) + " / " + replies.label_b.astype(str)


def word_contrasts(cell: Cell) -> tuple[Numbers, Numbers]:
    """Return Helmert contrasts between words of a class in the same prompts, and the standard errors of the contrasts.

    A contrast c = H p is a weighted sum of the words' shares p of stereotypical choices, whose weights (a row of H) sum
    to zero. Effects of labels and wordings are the same for all words of a prompt, and cancel. If s² is the residual
    variance of choices, after answer means and word means are removed, a share of n choices has the variance s² / n.
    Contrasts are computed for words of one class (the side a or b) in one set of words, and joined. Sets with a single
    word, or with at most one choice of each word, have none.
    """
    values = [np.zeros(0)]
    errors = [np.zeros(0)]
    for (word_set, side), words in cell.shares[cell.shares.valid > 0].groupby(["word_set", "side"]):
        n_words = len(words)
        n_valid = words.valid.to_numpy(float)
        if n_words == 1 or n_valid.max() < 2:
            continue
        replies = cell.replies[(cell.replies.word_set == word_set) & (cell.replies[f"valid_{side}"] > 0)]
        share_of_word = (words.hits / words.valid).to_numpy()
        variance = _residual_variance(replies[f"hits_{side}"], replies[f"valid_{side}"], share_of_word)
        weights = helmert(n_words)  # (contrast, word)
        values.append(weights @ share_of_word)
        errors.append(np.sqrt(weights**2 @ (variance / n_valid)))
    return np.concatenate(values), np.concatenate(errors)


def _residual_variance(hits: "pd.Series[int]", choices: "pd.Series[int]", share_of_word: Numbers) -> float:
    """Return the variance of choices (1 if stereotypical) after the means of answers and of words are removed.

    `hits` and `choices` are the numbers of stereotypical and of all valid choices in each answer, and `share_of_word`
    is the share of stereotypical choices of each word. In a two-way layout of n answers and m words, the residual sum
    of squares is the sum within answers minus the sum between words, with (n - 1) (m - 1) degrees of freedom. Choices
    are 0 or 1, so h stereotypical choices among k have the sum of squares h - h² / k around their mean.
    """
    hits = hits.to_numpy(float)
    choices = choices.to_numpy(float)
    n_answers = len(hits)
    mean = hits.sum() / choices.sum()
    sum_within_answers = float((hits - hits**2 / choices).sum())
    sum_between_words = n_answers * float(((share_of_word - mean) ** 2).sum())
    freedom = (n_answers - 1) * (len(share_of_word) - 1)
    return max(sum_within_answers - sum_between_words, 1e-6) / max(freedom, 1)


@dataclass(frozen=True, eq=False)
class Density:
    """The exact density of answers given the standard deviations, with mu and all effects integrated out.

    Answers to the same question form a cell. The density depends on the cell means and the sum of squares within cells.
    If V is the covariance of the n answers y, the log density is

        -((n - 1) log 2π + log |V| + log i + y'V⁻¹y - c² i) / 2 + log (P(-1 < mu < 1) / 2)

    where mu, given y and V, is normal with mean c = 1'V⁻¹y / i and variance 1 / i, and i = 1'V⁻¹1.
    """

    data: Observed
    effects: tuple[str, ...]

    @property
    def scales(self) -> tuple[str, ...]:
        """Return the names of the standard deviations. The standard deviation of answers is last."""
        return (*self.effects, ANSWER)

    @cached_property
    def _cells(self) -> pd.DataFrame:
        """Return a row for each cell: its codes, the number of answers (``size``), and their mean D (``mean``)."""
        answers = self.data.keys.assign(y=self.data.difference)
        return answers.groupby(list(self.data.keys), sort=True).y.agg(["size", "mean"]).reset_index()

    @cached_property
    def _squares_within(self) -> float:
        """Return the sum of squared deviations of D from the mean of its cell, over all answers."""
        mean_of_cell = self.data.keys.merge(self._cells, how="left")["mean"].to_numpy()
        deviations = self.data.difference - mean_of_cell
        return float(deviations @ deviations)

    @cached_property
    def _design(self) -> tuple[Numbers, NDArray[np.int64]]:
        """Return the design matrix of all effects except pairs, and the scale of each of its columns.

        Rows are cells, the different questions. An effect has a column for each of its levels, with the weight of the
        level in D. The scale of a column, its standard deviation, is given as the position of its effect in `effects`.
        The last two columns, the ones of mu and the mean D of the cells, have no scale.
        """
        blocks, scale_of_column = [], []
        for position, effect in enumerate(self.effects):
            if effect == PAIR:
                continue
            words = self.data.words
            if effect == WORD:  # reduce the columns without changing the inner products of rows
                words = np.linalg.qr(words.T, mode="r").T
            block = loadings(self._cells, effect, words)
            blocks.append(block)
            scale_of_column += [position] * block.shape[1]
        design = np.column_stack([*blocks, np.ones(len(self._cells)), self._cells["mean"]])
        return design, np.array(scale_of_column, int)

    @cached_property
    def _products(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return sums over answers of products of the design with itself and with pairs, and sizes of pairs.

        Apart from the contrasts of words, the density depends on the answers only by these sums and by
        `_squares_within`. A cell contains all answers to
        the same question. The design X (`_design`) has a row for each cell, and Z is the design of pairs of labels,
        (cell, pair), which is 1 for the pair of a cell. With the diagonal matrix N of the numbers of answers in the
        cells, the sums are X'NX and X'NZ. The third result is the number of answers of each pair. If the model has no
        effects of pairs, Z has no columns.
        """
        design, _ = self._design
        size = self._cells["size"].to_numpy(float)
        pairs = loadings(self._cells, PAIR, self.data.words) if PAIR in self.effects else np.zeros((len(size), 0))
        weighted = design * size[:, None]
        return weighted.T @ design, weighted.T @ pairs, size @ pairs

    def log_density(self, scales: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the log density for each row of scales, and the mean and sd of mu before truncation.

        A row of `scales` has the standard deviation of each effect, and of answers in the last column. Effects of pairs
        are eliminated first, because each cell has only one pair. The other effects are integrated out with Woodbury's
        identity. Rows are processed in blocks that fit into the memory.
        """
        _, _, answers_of_pairs = self._products
        design, _ = self._design
        n_columns = design.shape[1]
        rows_at_once = max(1, _AT_ONCE // (n_columns * max(n_columns, len(answers_of_pairs))))
        log_density, centre, sd = np.empty((3, len(scales)))
        for start in range(0, len(scales), rows_at_once):
            block = slice(start, start + rows_at_once)
            log_density[block], centre[block], sd[block] = self._log_density_of_block(scales[block])
        return log_density, centre, sd

    def _log_density_of_block(self, scales: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the results of `log_density` for a block of rows that is small enough for the memory.

        With X the design of the other effects, and U = (1, y) the columns of mu and of the answers, all sums over
        answers have the form X'W⁻¹U, where W is the covariance of errors and pairs. If S contains the standard
        deviations of the columns of X, and L is the Cholesky factor of I + S X'W⁻¹X S, Woodbury's identity gives

            U'V⁻¹U = U'W⁻¹U - (L⁻¹ S X'W⁻¹U)' (L⁻¹ S X'W⁻¹U)

        and log |V| = log |W| + 2 log |L|. With the variance s² of errors, the variance t² of pairs, and the number n of
        answers of each pair,

            X'W⁻¹X = (X'NX - X'NZ diag(t² / (s² + t² n)) Z'NX) / s²

        where `_products` has X'NX and X'NZ. See `Density` for the log density. The first dimension of arrays are the
        rows of `scales`.
        """
        _, scale_of_column = self._design
        design_products, pair_products, answers_of_pairs = self._products
        variance = scales[:, -1] ** 2 + self.data.rounding
        pair_variance = scales[:, self.effects.index(PAIR)] ** 2 if PAIR in self.effects else np.zeros(len(scales))
        # [X U]' W⁻¹ [X U], (row, column, column), and log |W| less the part of the errors.
        ratio = pair_variance[:, None] / (variance[:, None] + pair_variance[:, None] * answers_of_pairs)
        explained_by_pairs = (pair_products * ratio[:, None, :]) @ pair_products.T
        products = (design_products - explained_by_pairs) / variance[:, None, None]
        log_determinant = np.log1p(pair_variance[:, None] * answers_of_pairs / variance[:, None]).sum(axis=1)
        # With S the standard deviations of the columns of X, I + S X'W⁻¹X S = L L'.
        n_effects = len(scale_of_column)
        sd = scales[:, scale_of_column]
        inner = np.eye(n_effects) + sd[:, :, None] * products[:, :n_effects, :n_effects] * sd[:, None, :]
        lower = np.linalg.cholesky(inner)
        log_determinant += 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        # U'V⁻¹U = U'W⁻¹U - (L⁻¹ S X'W⁻¹U)' (L⁻¹ S X'W⁻¹U)
        explained = np.linalg.solve(lower, sd[:, :, None] * products[:, :n_effects, n_effects:])
        u_v_u = products[:, n_effects:, n_effects:] - np.swapaxes(explained, 1, 2) @ explained
        information, score, square = u_v_u[:, 0, 0], u_v_u[:, 0, 1], u_v_u[:, 1, 1]
        centre = score / information
        sd_mu = information**-0.5
        n_answers = len(self.data.difference)
        log_density = -0.5 * (
            (n_answers - 1) * np.log(2 * np.pi)
            + n_answers * np.log(variance)
            + log_determinant
            + self._squares_within / variance
            + square
            - centre * score
        )
        # The prior is uniform on (-1, 1), with a density of one half.
        mass = np.maximum(ndtr((1 - centre) / sd_mu) - ndtr((-1 - centre) / sd_mu), np.finfo(float).tiny)
        log_density += np.log(sd_mu * mass / 2)
        if WORD in self.effects:  # the density of the word contrasts
            variance = scales[:, self.effects.index(WORD), None] ** 2 + self.data.noise**2
            log_density += -0.5 * (np.log(2 * np.pi * variance) + self.data.contrasts**2 / variance).sum(axis=1)
        return log_density, centre, sd_mu


@dataclass(frozen=True, eq=False)
class Together:
    """Several densities that share standard deviations. Each density has its own mu."""

    densities: Sequence[Density]

    @property
    def scales(self) -> tuple[str, ...]:
        """Return the names of the standard deviations."""
        return self.densities[0].scales

    def log_density(self, scales: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the log density of all answers for each row of scales, and mean and sd of each mu (row, density).

        Given the standard deviations, the densities are independent, so their logarithms are added.
        """
        sum_of_logs = np.zeros(len(scales))
        centre, sd = np.empty((2, len(scales), len(self.densities)))  # (row, density)
        for k, density in enumerate(self.densities):
            log_density, centre[:, k], sd[:, k] = density.log_density(scales)
            sum_of_logs += log_density
        return sum_of_logs, centre, sd


def loadings(replies: pd.DataFrame, effect: str, words: Numbers) -> Numbers:
    """Return the weights of the levels of an effect in the D of each question, (question, level).

    `replies` has the code of the level of each question in the column of the effect, such as "wording". The weight is 1
    for this level, and 0 for others. If the label of a question is unknown (code -1), all labels have equal weights.
    The effect of words has the weights in `words`, (word_set, word).
    """
    if effect == WORD:
        return words[replies.word_set.to_numpy()]
    codes = replies[effect].to_numpy()[:, None]
    n_levels = codes.max() + 1
    return np.where(codes < 0, 1 / n_levels, codes == np.arange(n_levels))


def written_out(data: Observed, effects: tuple[str, ...], names: Mapping[str, list[str]]) -> "pm.Model":
    """Return the model as a PyMC model in which every effect is a named variable.

    `effects` are the effects that are treated as samples, and `names` contains the names of their levels. The expected
    value of D is mu plus the weighted effects of the levels of each question. An effect is its standard deviation times
    a standard normal variable. The variance of D also includes the known variance from rounding.
    """
    import pymc as pm

    coords = {**{effect: names[effect] for effect in effects}, ANSWER: np.arange(len(data.difference))}
    with pm.Model(coords=coords) as model:
        expected = pm.Uniform("mu", -1, 1)
        for effect in effects:
            sd = pm.HalfNormal(f"sd_{effect}", PRIORS[effect])
            standard = pm.Normal(f"{effect}_standard", 0, 1, dims=effect)
            level_effects = pm.Deterministic(f"{effect}_effect", sd * standard, dims=effect)
            expected = expected + loadings(data.keys, effect, data.words) @ level_effects
            if effect == WORD:
                # Contrasts of words within answers have the sd of the word effects plus their own sampling error.
                pm.Normal("word_contrast", 0, pm.math.sqrt(sd**2 + data.noise**2), observed=data.contrasts)
        sd = pm.HalfNormal("sd_answer", PRIORS[ANSWER])
        pm.Normal("D", expected, pm.math.sqrt(sd**2 + data.rounding), observed=data.difference, dims=ANSWER)
    return model


def names_of(cell: Cell) -> dict[str, list[str]]:
    """Return the names of the levels of each effect: words, wordings, labels of both groups, and pairs of labels."""
    labels = {"label_a": cell.labels("a"), "label_b": cell.labels("b")}
    pairs = sorted(set(pairs_of(cell.counted)))
    return {WORD: list(cell.questions.words), "wording": cell.wordings, **labels, PAIR: pairs}


# The number of draws in each adaptation step, and in the last step.
_STEP, DRAWS = 600, 4000
_MOST_STEPS = 30
_FREEDOM = 5
# Powers to which importance weights are raised. Smaller powers are tried until the effective number of draws is large
# enough.
_POWERS = (1.0, 0.6, 0.3, 0.15, 0.07, 0.03, 0.01)
# Importance sampling is unreliable if Pareto k exceeds this value (Vehtari et al. 2024).
MAX_PARETO_K = 0.7


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of mu and of the standard deviations.

    Attributes
    ----------
    draws : pandas.DataFrame
        Columns ``mu``, ``sd_answer`` and one for each effect, such as ``sd_label_a``.
    pareto_k : float
        The shape of the tail of the importance weights. Draws are unreliable if it exceeds .7.
    ess : float
        The effective number of draws.
    """

    draws: pd.DataFrame = field(repr=False)  # and so not in JSON
    pareto_k: float
    ess: float


# A density of standard deviations. Given the standard deviations, each mu is normal and truncated to (-1, 1).
type Drawable = Density | Together


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of standard deviations (draw, scale) and of mu (draw,) or (draw, density). See `Posterior`."""

    scales: Numbers
    mu: Numbers
    pareto_k: float
    ess: float


def sample(density: Density, seed: int, draws: int = DRAWS) -> Posterior:
    """Draw mu and the standard deviations from the posterior of a density, as a table with a column for each.

    The standard deviation of answers includes the rounding variance of D. See `draw` for the method.
    """
    drawn = draw(density, seed, draws)
    columns = {f"sd_{name}": drawn.scales[:, k] for k, name in enumerate(density.scales)}
    columns[f"sd_{ANSWER}"] = np.sqrt(columns[f"sd_{ANSWER}"] ** 2 + density.data.rounding)
    return Posterior(pd.DataFrame({"mu": drawn.mu, **columns}), drawn.pareto_k, drawn.ess)


def draw(density: Drawable, seed: int, draws: int = DRAWS) -> Drawn:
    """Draw standard deviations by importance sampling, and mu from its conditional distribution.

    `density` is the density of the answers given the standard deviations (scales), with mu integrated out. Given the
    scales, mu is normal and truncated to (-1, 1). Each standard deviation is a function of a score that is standard
    normal under the prior. If the answers contain no information about a standard deviation, its posterior equals its
    prior. The scores are drawn from a Student-t distribution with five degrees of freedom. Its centre and covariance
    are estimated from the previous weighted draws, and these steps are repeated until the weights are no longer
    flattened. The last draws are weighted by Pareto smoothed importance sampling [1]_ and resampled. For each draw, mu
    is drawn from its truncated normal distribution.

    References
    ----------
    .. [1] Vehtari, A., Simpson, D., Gelman, A., Yao, Y., & Gabry, J. (2024). Pareto smoothed importance sampling.
       Journal of Machine Learning Research, 25(72), 1-58. https://jmlr.org/papers/v25/19-556.html
    """
    rng = np.random.default_rng(seed)
    n_scales = len(density.scales)
    centre = np.zeros(n_scales)
    covariance = np.eye(n_scales)
    power = 0.0
    for _ in range(_MOST_STEPS):
        scores, log_weights, *_ = _weighted(density, centre, covariance, _STEP, rng)
        was_full_power = power == 1
        # Use the largest power of the weights with which enough draws remain effective.
        sufficient = [power for power in _POWERS if _ess(softmax(power * log_weights)) > 10 * n_scales]
        power = sufficient[0] if sufficient else _POWERS[-1]
        weights = softmax(power * log_weights)
        centre = weights @ scores
        covariance = 1.3 * np.cov(scores.T, aweights=weights).reshape(n_scales, n_scales) + 1e-4 * np.eye(n_scales)
        if was_full_power and power == 1:
            break
    _, log_weights, scales, mean, sd = _weighted(density, centre, covariance, draws, rng)
    smoothed, pareto_k = array_stats.psislw(-log_weights)
    weights = softmax(smoothed)
    # Systematic resampling uses one random number for all draws.
    resampled = np.searchsorted(np.cumsum(weights), (np.arange(draws) + rng.random()) / draws).clip(max=draws - 1)
    scales, mean, sd = scales[resampled], mean[resampled], sd[resampled]
    # Draw mu by inversion of its distribution function between -1 and 1.
    low = ndtr((-1 - mean) / sd)
    high = ndtr((1 - mean) / sd)
    mu = mean + sd * ndtri(np.clip(low + rng.random(low.shape) * (high - low), 1e-300, 1 - 1e-16))
    return Drawn(scales, mu.clip(-1, 1), float(pareto_k), _ess(weights))


def _weighted(
    density: Drawable, centre: Numbers, covariance: Numbers, draws: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Return normal scores from a t distribution, their log weights, the scales, and the mean and sd of mu.

    A score is standard normal under the prior, and is converted to a scale, a standard deviation with a half-normal
    prior, by its quantile. The t distribution with this centre and covariance is the proposal of importance sampling.
    The weight of a draw is its posterior density, the density of the answers times the normal prior of the scores,
    divided by its proposal density.
    """
    proposal = multivariate_t(centre, covariance, df=_FREEDOM)
    scores = proposal.rvs(draws, random_state=rng).reshape(draws, len(centre))
    # A score with the distribution function p becomes the p-quantile of the half-normal prior, which is the
    # (1 + p) / 2-quantile of a normal distribution. Scores beyond 30 have no prior mass and cause overflow.
    clipped = np.clip(scores, -30, 30)
    scales = np.asarray(-ndtri(ndtr(-clipped) / 2) * [PRIORS[name] for name in density.scales])
    log_density, mean, sd = density.log_density(scales)
    log_weights = log_density - 0.5 * (scores**2).sum(axis=1) - proposal.logpdf(scores)
    return scores, log_weights, scales, mean, sd


def _ess(weights: Numbers) -> float:
    """Return the effective number of draws with these weights, the inverse of the sum of their squares."""
    return float(1 / (weights**2).sum())
