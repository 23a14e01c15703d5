"""What several tests need: tables of known bias, designs made up of vectors or scores, the model as it is written."""

import html
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.mode import Mode
from scipy.stats import multivariate_normal

from bayes_bias import AssociationTable, Sampling
from bayes_bias.analyses.report.results import Report, report_document
from bayes_bias.documents.document import Documented
from bayes_bias.documents.writer import page, tables_tex
from bayes_bias.fitting.sampling import PyMCModel, ToSample, sample_model
from bayes_bias.posterior.estimates import _Blocks
from bayes_bias.posterior.summary import tabulate
from bayes_bias.table.association_table import assemble
from bayes_bias.table.scopes import ScopeName

type Vectors = dict[str, np.ndarray]
type WordSets = dict[str, list[str]]

WEATS = tuple(f"weat{number}" for number in range(1, 11))

REFERENCE = Path(__file__).parent / "reference"

# A graph of PyTensor as it is written: nothing is compiled, and nothing rewritten.
PLAIN = Mode(linker="py", optimizer=None)

_COLUMNS = Path(__file__).parents[1] / "docs" / "reference" / "columns.md"


def random_table(
    seed: int = 0,
    *,
    targets: dict[str, int] | None = None,
    attributes: dict[str, int] | None = None,
    bias: float = 0.1,
    **about: Any,
) -> AssociationTable:
    """A table from the crossed model: groups 'men', 'women'; classes 'work', 'home', control 'neutral'."""
    rng = np.random.default_rng(seed)
    targets = targets or {"men": 5, "women": 6}
    attributes = attributes or {"work": 6, "home": 5, "neutral": 8}
    group_index = np.repeat(np.arange(len(targets)), [*targets.values()])
    class_index = np.repeat(np.arange(len(attributes)), [*attributes.values()])
    stereotypical = group_index[:, None] == class_index  # the first group with the first class, and so on
    class_indicators = np.eye(len(attributes))[class_index]
    group_indicators = np.eye(len(targets))[group_index]
    n, m = stereotypical.shape
    y = 0.2 + bias * stereotypical
    y = y + 0.04 * rng.standard_normal((n, 1)) + 0.02 * rng.standard_normal((n, len(attributes))) @ class_indicators.T
    y = y + 0.05 * rng.standard_normal((1, m)) + group_indicators @ (0.02 * rng.standard_normal((len(targets), m)))
    y = y + 0.03 * rng.standard_normal((n, m))
    group, attribute_class = np.array([*targets])[group_index], np.array([*attributes])[class_index]
    return assemble(
        y,
        {f"{g} {i}": g for i, g in enumerate(group.tolist())},
        {f"{c} {j}": c for j, c in enumerate(attribute_class.tolist())},
        dict(zip(targets, attributes, strict=False)),
        **{"name": "small"} | about,
    )


def integrated_density(model: pm.Model, scales: Sequence[str]) -> Callable[..., float]:
    """The log likelihood of a collapsed model, of values of these scales; no machine code is made for it."""
    parts = [pm.logp(part, model.rvs_to_values[part]) for part in model.observed_RVs]
    parts_density = model.compile_fn(
        parts, inputs=[model[name] for name in scales], on_unused_input="ignore", point_fn=False, mode="FAST_COMPILE"
    )
    return lambda *values: sum(map(float, parts_density(*values)))


def untransformed_density(model: pm.Model, *, without: Collection[str] = ()) -> Callable[[dict[str, Any]], float]:
    """The log density of a model's variables themselves, whatever the sampler moves in, but for those `without`."""
    bare = remove_value_transforms(model)
    variables = [variable for variable in bare.basic_RVs if variable.name not in without]
    # PyTensor adds up to 32 numbers in Python.
    densities = bare.compile_logp(variables, sum=False, mode=PLAIN)
    return lambda point: sum(map(np.sum, densities(point)))


def changed(
    before: AssociationTable, by: np.ndarray | float, *, noise: float = 0.01, seed: int = 7
) -> AssociationTable:
    """The same table after debiasing: the stereotypical blocks shifted, with some noise."""
    y = before.values.to_numpy()
    own = np.array([before.stereotypes[g] for g in before.values.group.to_numpy()])
    stereotypical = own[:, None] == before.values.attribute_class.to_numpy()[None, :]
    moved = y + by * stereotypical + noise * np.random.default_rng(seed).standard_normal(y.shape)
    return replace(before, values=before.values.copy(data=moved))


def equalised(before: AssociationTable) -> AssociationTable:
    """Every attribute of an associated class equally close to all groups; controls as they were."""
    y = before.values.copy()
    near = np.isin(y.attribute_class.to_numpy(), before.associated_classes)
    y[:, near] = y[:, near].to_numpy().mean(axis=0, keepdims=True)
    return replace(before, values=y)


def design(vectors: Vectors, groups: WordSets, classes: WordSets) -> AssociationTable:
    """Cosines of groups and classes, associated in the order in which they are given."""
    targets, attributes = label_of_words(groups), label_of_words(classes)
    rows = unit({word: vectors[word] for word in [*targets, *attributes]})
    values = np.stack([rows[word] for word in targets]) @ np.stack([rows[word] for word in attributes]).T
    return assemble(values, targets, attributes, dict(zip(groups, classes, strict=False)))


def label_of_words(sets: WordSets) -> dict[str, str]:
    """The group, or the class, of each word."""
    return {word: label for label, words in sets.items() for word in words}


def scores_design(x: Sequence[float], y: Sequence[float]) -> AssociationTable:
    """A design with one attribute in each class whose association scores are the given numbers."""
    scores = np.array([*x, *y], dtype=float)
    targets = dict.fromkeys(numbered("x", len(x)), "x") | dict.fromkeys(numbered("y", len(y)), "y")
    values = np.column_stack([scores / 2, -scores / 2])
    return assemble(values, targets, {"a": "A", "b": "B"}, {"x": "A", "y": "B"})


def random_vectors(seed: int, names: Iterable[str], dimensions: int = 6) -> Vectors:
    """A vector of random direction and length for each word."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=dimensions) for name in names}


def unit(vectors: Vectors) -> Vectors:
    """The same vectors at length one."""
    return {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}


def stacked(vectors: Vectors, words: Iterable[str]) -> np.ndarray:
    """The vectors of these words as rows."""
    return np.stack([vectors[word] for word in words])


def as_lists(vectors: Vectors) -> dict[str, list[float]]:
    """The vectors as lists of numbers."""
    return {word: vector.tolist() for word, vector in vectors.items()}


def as_lines(vectors: Mapping[str, Iterable[float]]) -> str:
    """A word and its numbers on each line."""
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items())


def labelled(labels: Iterable[str], n: int) -> dict[str, str]:
    """The label of each of n words that begin with it: {"x0": "x", "x1": "x", ..., "y0": "y", ...}."""
    return label_of_words({label: numbered(label, n) for label in labels})


def numbered(prefix: str, n: int) -> list[str]:
    """Words a0, a1, ..."""
    return [f"{prefix}{i}" for i in range(n)]


def letters(n: int) -> list[str]:
    """Lower-case words of letters alone, as random word lists are drawn from: wordaa, wordba, ..."""
    return [f"word{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(n)]


def word_rows(columns: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """A row for each word of a list, as in a long spreadsheet: the word and its heading."""
    rows = []
    for heading, words in columns.items():
        rows += [(word, heading) for word in words]
    return rows


def option(name: str, *values: str) -> list[str]:
    """An option of the command line that is repeated for each value."""
    arguments = []
    for value in values:
        arguments += [name, value]
    return arguments


SCALES = (
    "sd_target",
    "sd_target_associated",
    "sd_target_preference",
    "sd_target_control",
    "sd_attribute",
    "sd_attribute_preference",
    "sd_residual",
    "sd_residual_control",
)


def random_point(table: AssociationTable, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scales and block means of the crossed model, none near zero."""
    groups, classes = len(table.groups), len(table.classes)
    shapes = dict.fromkeys(SCALES, (groups,)) | {"sd_target_control": (groups, len(table.controls))}
    shapes |= dict.fromkeys(("sd_residual", "sd_residual_control"), ())
    shapes |= dict.fromkeys(("sd_attribute", "sd_attribute_preference"), (classes,))
    point = {name: rng.uniform(0.02, 0.2, size=shape) for name, shape in shapes.items()}
    return point | {"mean": rng.normal(0.1, 0.1, size=(groups, classes))}


def summing_to_zero(n: int) -> np.ndarray:
    """Covariance of n deviations of variance one that sum to zero."""
    return (n * np.eye(n) - 1) / max(n - 1, 1)


def target_covariance(table: AssociationTable, point: dict[str, np.ndarray]) -> np.ndarray:
    """Of the effects on the classes of a target of each group, (groups, classes, classes); groups may share scales."""
    groups, k, n = len(table.groups), len(table.associated_classes), len(table.classes)

    def variance(name: str) -> np.ndarray:
        return np.broadcast_to(point[name], groups)[:, None, None] ** 2

    control_variance = np.broadcast_to(point["sd_target_control"], (groups, n - k))[..., None] ** 2
    covariance = variance("sd_target") * np.ones((n, n))
    covariance[:, :k, :k] += variance("sd_target_associated") + variance("sd_target_preference") * summing_to_zero(k)
    covariance[:, k:, k:] += control_variance * np.eye(n - k)
    return covariance


def attribute_covariance(table: AssociationTable, point: dict[str, np.ndarray]) -> np.ndarray:
    """Of the effects on the groups of an attribute of each class, (classes, groups, groups)."""
    preference = point["sd_attribute_preference"][:, None, None] ** 2 * summing_to_zero(len(table.groups))
    return point["sd_attribute"][:, None, None] ** 2 + preference


def residual_variances(table: AssociationTable, point: dict[str, np.ndarray]) -> np.ndarray:
    """Of the values with the attributes of each class, (classes,)."""
    is_control = np.arange(len(table.classes)) >= len(table.associated_classes)
    return np.where(is_control, point.get("sd_residual_control", point["sd_residual"]), point["sd_residual"]) ** 2


def dense_covariance(table: AssociationTable, point: dict[str, np.ndarray]) -> np.ndarray:
    """Of all values of the crossed model as it is written, word effects integrated out."""
    g, c = table.group_index, table.class_index
    i, j = np.indices(table.values.shape).reshape(2, -1)
    same_target, same_attribute = i[:, None] == i, j[:, None] == j
    target_cov, attribute_cov = target_covariance(table, point), attribute_covariance(table, point)
    covariance = same_target * target_cov[g[i][:, None], c[j][:, None], c[j]]
    covariance = covariance + same_attribute * attribute_cov[c[j][:, None], g[i][:, None], g[i]]
    return covariance + np.diag(residual_variances(table, point)[c[j]])


def as_posterior(table: AssociationTable, point: dict[str, np.ndarray]) -> xr.Dataset:
    """One draw with these scales."""
    dims: dict[str, tuple[str, ...]] = {"sd_target_control": ("group", "control"), "mean": ("group", "attribute_class")}
    dims |= dict.fromkeys(("sd_target", "sd_target_associated", "sd_target_preference"), ("group",))
    dims |= dict.fromkeys(("sd_attribute", "sd_attribute_preference"), ("attribute_class",))
    labels: dict[str, Any] = {"group": list(table.groups), "attribute_class": list(table.classes)}
    return xr.Dataset(
        {
            name: (("chain", "draw", *dims.get(name, ())), np.asarray(value)[None, None])
            for name, value in point.items()
        },
        coords={"chain": [0], "draw": [0], "control": list(table.controls), **labels},
    )


def dense_log_likelihood(table: AssociationTable, point: dict[str, np.ndarray]) -> float:
    """One multivariate normal of all values."""
    g, c = table.group_index, table.class_index
    i, j = np.indices(table.values.shape).reshape(2, -1)
    mean, values = point["mean"][g[i], c[j]], table.values.to_numpy().ravel()
    return multivariate_normal(mean, dense_covariance(table, point)).logpdf(values)


def restricted_log_likelihood(table: AssociationTable, v: np.ndarray, regressors: Sequence[np.ndarray] = ()) -> float:
    """The textbook's, of values of all replicates with the covariance v: what no block mean explains, nor any of some
    regressors (targets, attributes) (Patterson and Thompson 1971)."""
    y = (table.values if table.replicates is None else table.replicates.stacked()).to_numpy().ravel()
    block = table.group_index[:, None] * len(table.classes) + table.class_index
    x = np.eye(len(table.groups) * len(table.classes))[np.resize(block, len(y))]
    x = np.column_stack([x, *(np.resize(regressor, len(y)) for regressor in regressors)])
    weighed = np.linalg.solve(v, np.column_stack([x, y]))
    information, explained = x.T @ weighed[:, :-1], x.T @ weighed[:, -1]
    left = y @ weighed[:, -1] - explained @ np.linalg.solve(information, explained)
    return -0.5 * (np.linalg.slogdet(v).logabsdet + np.linalg.slogdet(information).logabsdet + left)


# Far too few draws to converge, but enough to write about.
FEW = Sampling(draws=20, tune=50)
# Enough to converge on tables as small as those of tests.
SHORT = Sampling(draws=1500, tune=700, chains=2)

# What a debiasing of known effect does to the bias.
PLANTED = -0.06


@contextmanager
def priors_for_posteriors() -> Iterator[None]:
    """While it is entered, fits of PyMC models have draws of their priors; compiling takes seconds.

    Pages and figures are tested with draws of the right names and shapes; a posterior is tested elsewhere.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayes_bias.fitting.fit_model.sample_model", _prior_draws)
        yield


def _prior_draws(model: ToSample, seed: int, sampling: Sampling) -> tuple[xr.Dataset, xr.Dataset]:
    """What `bayes_bias.fitting.sampling.sample_model` returns, of the prior."""
    if not isinstance(model, PyMCModel):  # whose density is compiled already
        return sample_model(model, seed, sampling)
    size = sampling.chains, min(sampling.draws, 500)
    sample = {"chain": np.arange(size[0]), "draw": np.arange(size[1])}
    built = model.build()
    variables = [variable for variable in (*built.free_RVs, *built.deterministics) if not variable.name.endswith("_z")]
    drawn = pm.draw(variables, draws=size[0] * size[1], random_seed=seed, mode="FAST_COMPILE")
    posterior, used = {}, set()
    for variable, values in zip(variables, drawn, strict=True):
        dims = built.named_vars_to_dims.get(variable.name) or numbered(f"{variable.name}_dim_", variable.ndim)
        posterior[variable.name] = (*sample, *dims), values.reshape(*size, *values.shape[1:])
        used.update(dims)
    own = {dim: labels for dim, labels in model.coords.items() if dim in used}
    stats = {"diverging": (tuple(sample), np.zeros(size, dtype=bool))}
    return xr.Dataset(posterior, coords=sample | own), xr.Dataset(stats, coords=sample)


def sampled_bias(fit: xr.DataTree, scope: ScopeName = "all") -> "pd.Series[float]":
    """The row of the bias from the draws of the scales. `summarize` has integrated numbers in this row."""
    blocks = _Blocks.of(fit, scope)
    return tabulate(blocks.sampled(blocks.bias_weights), 0.95, "eti", kind="stats").iloc[0]


def html_of(made: Documented) -> str:
    """The page of a result, without the time that its figures take."""
    document = made.document()
    return page(document, dict.fromkeys(document.figures, b"<svg/>"))


def latex_tables_of(made: Report) -> str:
    """The LaTeX tables of a report."""
    return tables_tex(report_document(made))


def says(text: object, words: str) -> bool:
    """Whether a text has each of these words, in any order and whatever stands between them.

    Tests name what a message is about (argument, value, remedy), so that its sentences can be written anew. A word may
    go on, as "pair" does in "pairs"; a number may not.
    """
    return not _unsaid(str(text), words)


def saying(notices: Iterable[str], words: str) -> list[str]:
    """The notices that have each of these words, as in `says`."""
    return [notice for notice in notices if says(notice, words)]


def containing(notices: Iterable[str], *texts: str) -> list[str]:
    """The notices that contain all of these texts."""
    return [notice for notice in notices if all(text in notice for text in texts)]


def states(page: str, words: str) -> bool:
    """Whether one sentence of a page or of a longer text has each of these words, as `says` of a message."""
    blocks = re.split(r"</?(?:p|li|td|th|tr|h\d|div|section|caption|figcaption|dt|dd)\b[^>]*>|\n\s*\n", page)
    for block in blocks:
        plain = " ".join(html.unescape(re.sub(r"<[^>]+>", "", block)).split())
        if any(says(sentence, words) for sentence in re.split(r"(?<=[.!?]) ", plain)):
            return True
    return False


@contextmanager
def refused(kind: type[Exception], words: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error of this kind, whose one line has each of these words."""
    with pytest.raises(kind) as caught:
        yield caught
    message = str(caught.value.args[0])  # with the remedies of Python and of the terminal
    assert "\n" not in message
    assert not _unsaid(message, words), f"{_unsaid(message, words)} not in: {message}"


def in_ten_digits(*numbers: float) -> tuple[float, ...]:
    """As sweeps keep them."""
    return tuple(float(f"{number:.10g}") for number in numbers)


def unlisted_columns(*tables: pd.DataFrame) -> set[str]:
    """Columns that their page does not list; of an interval it lists the lower bound, at 95%."""
    listed = set(re.findall(r"`(\w+)`", _COLUMNS.read_text(encoding="utf-8")))
    columns = set()
    for table in tables:
        columns.update(table.columns.astype(str).str.replace(r"(eti|hdi|ci)\d+_[lu]b$", r"\g<1>95_lb", regex=True))
    return columns - listed


def _unsaid(text: str, words: str) -> list[str]:
    return [word for word in words.split() if not re.search(_standing_alone(word), text, re.IGNORECASE)]


def _standing_alone(word: str) -> str:
    if re.fullmatch(r"[A-Za-z_]+:", word):  # the name of an argument or option
        return rf"(?<!\w){word}|`{word[:-1]}`|--{word[:-1].replace('_', '-')}\b"
    begins = r"(?<![\w.])" if word[0].isalnum() else ""
    ends = r"(?!\d|\.\d)" if word[-1].isdigit() else ""
    return begins + re.escape(word) + ends
