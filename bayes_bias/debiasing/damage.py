"""Side effects of debiasing: lost neighbours, lost variance, and agreement with human similarity ratings."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.embeddings.format_base import is_number
from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.files import read_text
from bayes_bias.formatting import MINUS, percent, share_bounds, value_and_interval
from bayes_bias.posterior.estimate import tails

# Word pairs with human similarity ratings: SimLex-999, WordSim-353, MEN, and similar files.

_RESAMPLES = 1000  # number of bootstrap samples of words or of pairs
_FEWEST = 10  # smallest number of pairs for a correlation with ratings
_SEPARATORS = {"\t": r"\t", ";": ";", ",": ","}


@dataclass(frozen=True)
class RatedPairs:
    """Agreement of cosines with human ratings of word pairs, before and after debiasing.

    Attributes
    ----------
    name : str
        Name of the file.
    pairs, of : int
        Number of pairs whose words have vectors before and after debiasing, and number of all pairs in the file.
    before, after : float
        Spearman's correlation of cosines with ratings.
    change, lower, upper : float
        Difference of the correlations (after minus before), with a bootstrap interval over pairs.
    """

    name: str
    pairs: int
    of: int
    before: float
    after: float
    change: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """Return a sentence with both correlations, their change, and the numbers of used and of all pairs."""
        correlations = f"{self.before:.3f} and {self.after:.3f}".replace("-", MINUS)
        return (
            f"Spearman's correlation of cosines with the ratings of {self.name} ({self.pairs:,} of {self.of:,} pairs):"
            f" {correlations} before and after; change {value_and_interval(self.change, self.lower, self.upper)}."
        )


def read_ratings(source: str | os.PathLike[str]) -> pd.DataFrame:
    """Read word pairs and their ratings from a text file, as columns ``word``, ``other``, and ``rating``.

    A line begins with two words, and the first numeric column after them contains the rating. Columns are separated by
    tabs, semicolons, commas or blanks, and may have headings. Lines that begin with # are comments. SimLex-999,
    WordSim-353 and MEN have this format.

    Raises
    ------
    MeasureError
        If the file does not exist, if a line has fewer columns than the first line, if there is no numeric column, if a
        rating is not a number, or if the first column contains single letters or numbers instead of words.
    """
    path = Path(source)
    rows = _read_cells(path)
    # The first line may be a heading, so the second line shows which column contains the ratings: the first number.
    n_columns = min(len(rows[0]), len(rows[1])) if len(rows) > 1 else 0
    column = next((k for k in range(2, n_columns) if _is_number(rows[1][k])), None)
    if column is None:
        raise MeasureError(
            f"The file of ratings '{path}' must have a column of numbers after two words. Write lines such as: sun sky"
            " 6.5."
        )
    pairs = rows if _is_number(rows[0][column]) else rows[1:]
    for row in pairs:
        if len(row) <= column or not _is_number(row[column]):
            raise MeasureError(f"The line '{' '.join(row)}' of '{path}' has no rating. Correct or remove it.")
    if column > 2 and all(len(row[0]) == 1 or _is_number(row[0]) for row in pairs):
        raise MeasureError(
            f"Each line of '{path}' must begin with the first word of a pair, but begins with '{pairs[0][0]}'. Remove"
            " the first column."
        )
    return pd.DataFrame([(row[0], row[1], float(row[column])) for row in pairs], columns=["word", "other", "rating"])


def _read_cells(path: Path) -> list[list[str]]:
    """Read the cells of each line of a text file, without empty lines and comments.

    Cells are separated by the first of tab, semicolon, and comma that the first line contains (`_SEPARATORS` has a
    pattern for each), or by blanks. Lines at the beginning are comments if they start with "#". Below them, only "# "
    begins a comment, because the first word of a pair may be "#1".
    """
    text = read_text(path, f"ratings: '{path}' is", MeasureError)
    after_comments = dropwhile(lambda line: line.startswith("#"), filter(str.strip, text.splitlines()))
    lines = [line for line in after_comments if not line.startswith("# ")]
    patterns = [pattern for sign, pattern in _SEPARATORS.items() if lines and sign in lines[0]]
    separator = patterns[0] if patterns else r"\s+"
    return [[cell.strip() for cell in re.split(separator, line.strip())] for line in lines]


def rated_pairs(
    before: Mapping[str, NDArray[np.floating]],
    after: Mapping[str, NDArray[np.floating]],
    source: str | os.PathLike[str],
    *,
    ci_prob: float = 0.95,
    rng: np.random.Generator,
) -> RatedPairs:
    """Compute Spearman's correlation of cosines with the ratings in a file, before and after debiasing.

    Only pairs whose words have vectors in both mappings are used. The interval of the change is from bootstrap samples
    of the pairs, in which the same pairs are drawn before and after debiasing.

    Raises
    ------
    MeasureError
        If the file cannot be read, or if fewer than ten of its pairs have vectors before and after debiasing.
    """
    rated = read_ratings(source)
    has_vectors = rated[["word", "other"]].map(lambda word: word in before and word in after)
    pairs = rated[has_vectors.all(axis=1)]
    name = Path(source).name
    if len(pairs) < _FEWEST:
        raise MeasureError(
            f"At least ten rated pairs must have vectors, but only {len(pairs)} of {len(rated)} pairs of '{name}' do."
            " Use another file of ratings."
        )
    ratings = pairs.rating.to_numpy()
    # One cosine for each pair.
    cosines_before = _cosines(before, pairs)
    cosines_after = _cosines(after, pairs)
    spearman_before = float(_spearman(cosines_before, ratings))
    spearman_after = float(_spearman(cosines_after, ratings))
    change = spearman_after - spearman_before
    sample = rng.integers(len(pairs), size=(_RESAMPLES, len(pairs)))  # a bootstrap sample of pairs in each row
    changes = _spearman(cosines_after[sample], ratings[sample]) - _spearman(cosines_before[sample], ratings[sample])
    lower, upper = np.nanquantile(changes, tails(ci_prob)).tolist()
    return RatedPairs(name, len(pairs), len(rated), spearman_before, spearman_after, change, lower, upper)


def _cosines(vectors: Mapping[str, NDArray[np.floating]], pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Return the cosine of each pair, whose words are in the columns ``word`` and ``other``.

    The vector of each word is read and scaled to length one only once, because words occur in several pairs.
    """
    words = list({*pairs.word, *pairs.other})
    unit = pd.DataFrame(stack_unit(vectors, words, "ratings"), index=words)
    return np.asarray((unit.loc[pairs.word].to_numpy() * unit.loc[pairs.other].to_numpy()).sum(axis=1))


def _spearman(values: NDArray[np.float64], ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute Spearman's correlation of the values in each row with the ratings in the same row.

    It is Pearson's correlation of the ranks x and y. The last axis of both arrays contains the pairs of words. For a
    row with equal values, the result is missing (NaN).
    """
    from scipy.stats import rankdata

    x = rankdata(values, axis=-1)
    y = rankdata(ratings, axis=-1)
    x -= x.mean(axis=-1, keepdims=True)
    y -= y.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # of 0 / 0 in rows with equal values
        return np.asarray((x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1)))


def _is_number(text: str) -> bool:
    """Return True if a text is a finite number."""
    return is_number(text) and bool(np.isfinite(float(text)))


_MOST_WORDS = 1000  # number of words whose neighbours are compared


@dataclass(frozen=True)
class Damage:
    """Side effects of debiasing: changes in the vectors of the same words.

    Attributes
    ----------
    words : int
        Number of words that were compared.
    neighbours_kept, lower, upper : float
        Mean share of the nearest neighbours that a word has kept, with a bootstrap interval over words.
    variance_gone : float
        Share of the variance of the original unit vectors that rotating and scaling the new vectors cannot recover
        (Procrustes).
    ratings : tuple of RatedPairs
        Agreement of cosines with human ratings of word pairs, before and after debiasing, for each file.
    """

    words: int
    neighbours_kept: float
    lower: float
    upper: float
    variance_gone: float
    ratings: tuple[RatedPairs, ...] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """All side effects by name, as a row of a table.

        Each file of ratings, such as "simlex.txt", adds the change of its correlation and the ends of the interval:
        "simlex.txt_change", "simlex.txt_change_lower", and "simlex.txt_change_upper".
        """
        numbers = dict(vars(self))
        for rated in numbers.pop("ratings"):
            name = f"{rated.name}_change"
            numbers |= {name: rated.change, f"{name}_lower": rated.lower, f"{name}_upper": rated.upper}
        return numbers

    @property
    def text(self) -> str:
        """The side effects, in sentences."""
        share = f"{percent(self.neighbours_kept)} {share_bounds(self.lower, self.upper)}"
        neighbours = f"Of the nearest neighbours of words, {share} are kept (among {self.words:,} words)"
        variance = f"{percent(self.variance_gone)} of the variance of vectors was lost"
        return " ".join([f"{neighbours}, and {variance}.", *map(str, self.ratings)])


def damage(
    before: Mapping[str, NDArray[np.floating]],
    after: Mapping[str, NDArray[np.floating]],
    *,
    neighbours: int = 10,
    vocabulary: int = 20_000,
    ratings: Sequence[str | os.PathLike[str]] = (),
    ci_prob: float = 0.95,
    seed: int = 1,
) -> Damage:
    r"""Measure how much the vectors of the same words changed.

    For centred unit vectors :math:`X` before and :math:`Y` after debiasing, the lost variance is :math:`1 - \lVert
    X^\top Y \rVert_*^2 / (\lVert X \rVert^2 \lVert Y \rVert^2)`, with the nuclear norm [1]_.

    Parameters
    ----------
    before, after : mapping of str to array
        One vector for each word. Words in both mappings are compared. Pass the whole vocabulary, because neighbours are
        searched among these words. For more than 1,000 words, the neighbours of 1,000 random words are compared.
    neighbours : int
        Number of nearest neighbours, by cosine.
    vocabulary : int
        Largest number of words. If the vocabulary is larger, only its first words are used, which are usually the most
        frequent.
    ratings : sequence of paths
        Text files with human similarity ratings of word pairs, such as SimLex-999, WordSim-353 and MEN.
    ci_prob, seed
        Probability and seed of the bootstrap intervals, over words and over pairs.

    Raises
    ------
    MeasureError
        If the number of common words does not exceed the number of neighbours plus one; if a vector is zero; or if a
        file of ratings cannot be read, or has vectors for fewer than ten of its pairs.

    Notes
    -----
    Not every lost neighbour is damage, because debiasing is meant to move words away from gendered neighbours. However,
    words that are not associated with any group should keep their neighbours.

    References
    ----------
    .. [1] Gower, J. C. (1975). Generalized Procrustes analysis. Psychometrika, 40(1), 33-51.
       https://doi.org/10.1007/BF02291478

    Examples
    --------
    >>> vectors = {f"w{k}": v for k, v in enumerate(np.random.default_rng(1).standard_normal((50, 4)))}
    >>> damage(vectors, vectors).neighbours_kept
    1.0
    """
    neighbours = check_count("neighbours", neighbours, "neighbours", refusal=MeasureError)
    check_ci_prob(ci_prob)
    rng = np.random.default_rng(check_seed(seed))
    vocabulary = check_count("vocabulary", vocabulary, "words", least=3, refusal=MeasureError)
    words = [word for word in before if word in after][:vocabulary]
    if len(words) <= neighbours + 1:
        raise MeasureError(
            f"{len(words)} shared words are too few for {neighbours} neighbours. Pass vectors of the whole vocabulary."
        )
    unit_before = stack_unit(before, words, "damage")
    unit_after = stack_unit(after, words, "damage")
    # The positions of the words whose neighbours are compared: at most `_MOST_WORDS` random words.
    rows = np.sort(rng.permutation(len(words))[:_MOST_WORDS])
    # The positions of the nearest neighbours of these words, (words, neighbours).
    nearest_before = _nearest(unit_before, rows, neighbours)
    nearest_after = _nearest(unit_after, rows, neighbours)
    # The share of the neighbours before debiasing that each of these words still has.
    shares = np.array([np.isin(nearest_before[k], nearest_after[k]).mean() for k in range(len(rows))])
    resampled = rng.integers(len(shares), size=(_RESAMPLES, len(shares)))  # a bootstrap sample of words in each row
    lower, upper = np.quantile(shares[resampled].mean(axis=1), tails(ci_prob)).tolist()
    # The lost variance is the Procrustes disparity, 1 - `agreement`: the part of the variance of X that remains after
    # Y is rotated and scaled to match X. The nuclear norm is the sum of the singular values.
    x = unit_before - unit_before.mean(axis=0)
    y = unit_after - unit_after.mean(axis=0)
    agreement = np.linalg.svd(x.T @ y, compute_uv=False).sum() ** 2 / ((x**2).sum() * (y**2).sum())
    return Damage(
        words=len(words),
        neighbours_kept=float(shares.mean()),
        lower=lower,
        upper=upper,
        variance_gone=max(0.0, 1 - float(agreement)),
        ratings=tuple(rated_pairs(before, after, source, ci_prob=ci_prob, rng=rng) for source in ratings),
    )


def _nearest(unit: NDArray[np.float64], rows: NDArray[np.integer], neighbours: int) -> NDArray[np.integer]:
    """Return the positions of the nearest neighbours of some words, in no particular order (words, neighbours).

    `unit` has a vector of length one for each word, and `rows` contains the positions of the words whose neighbours are
    searched among all words.
    """
    similarity = unit[rows] @ unit.T
    similarity[np.arange(len(rows)), rows] = -np.inf  # a word is not its own neighbour
    return np.argpartition(-similarity, neighbours - 1, axis=1)[:, :neighbours]
