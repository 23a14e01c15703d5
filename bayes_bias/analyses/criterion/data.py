"""Biases and criterion by label, which are matched, checked, and standardised for the model."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import kind_of
from bayes_bias.errors import CriterionError, did_you_mean
from bayes_bias.files import given_table
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import counted, in_words
from bayes_bias.measures.crossed_tests import influence
from bayes_bias.posterior.estimates import bias_estimate, check_scope
from bayes_bias.posterior.pooling import shared_errors, split_sides
from bayes_bias.spreadsheets import NotNumbersError, as_numbers_of, read_frame
from bayes_bias.table.scopes import DEFAULT_SCOPE, TARGETS, Scope, ScopeName, is_noise
from bayes_bias.table.statistics import compared_classes

LABEL = "label"
# Negative eigenvalues up to this share of the largest eigenvalue are rounding errors.
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Biases:
    """Observed biases and the covariance of their errors.

    Attributes
    ----------
    values : pandas.Series
        The biases by label. The name of the index describes the labels, such as "language".
    covariance : pandas.DataFrame
        Covariance matrix of the errors, in squared units of the biases. It is zero for biases treated as exact.
    unit : str
        The unit of the biases, for axes and sentences.
    of_words : bool
        Whether the errors are known to come from the choice of words. Otherwise, their source is not known.
    """

    values: "pd.Series[float]"
    covariance: pd.DataFrame
    unit: str = "bias"
    of_words: bool = False

    @classmethod
    def of(cls, values: "pd.Series[float]", covariance: Any, unit: str = "bias", of_words: bool = False) -> Self:
        """Check that each label has one finite number and that the covariance is valid, and return the biases.

        Raises
        ------
        CriterionError
        """
        values = values.set_axis(values.index.astype(str).rename(values.index.name or LABEL))
        check_labels("biases", values.index)
        check_finite("biases", values)
        return cls(values.astype(float), _covariance(covariance, values.index), unit, of_words)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, covariance: Any = None) -> Self:
        """Return biases from the columns ``bias`` and ``sd`` (standard error) of a frame with labels.

        If the `covariance` of the errors is passed, ``sd`` is not needed. Otherwise, errors are independent.
        """
        frame = labelled("biases", frame)
        values = column_of("biases", frame, "bias")
        if covariance is not None:
            return cls.of(values, covariance)
        sd = column_of("biases", frame, "sd")
        check_not_negative("biases", sd)
        return cls.of(values, np.diag(sd**2))

    @classmethod
    def from_draws(cls, draws: xr.DataArray) -> Self:
        """Compute the mean and covariance of posterior draws with the dimensions ``(chain, draw, label)``.

        The last dimension may have any name, but its coordinates must be the labels.
        """
        label_dims = [dim for dim in draws.dims if dim not in ("chain", "draw")]
        if len(label_dims) != 1 or "draw" not in draws.dims or label_dims[0] not in draws.coords:
            raise CriterionError(
                "`biases` must have the dimensions chain, draw, and one with labels, but has"
                f" {', '.join(map(str, draws.dims))}. Pass `posterior_draws`, or name its labels."
            )
        (dim,) = label_dims
        sample = draws.transpose(..., dim).to_numpy().reshape(-1, draws.sizes[dim])  # (draw, label)
        index = pd.Index(draws[dim].to_numpy().astype(str), name=LABEL)
        return cls.of(pd.Series(sample.mean(axis=0), index), np.cov(sample, rowvar=False))

    @property
    def sd(self) -> "pd.Series[float]":
        """Standard errors of the biases."""
        return pd.Series(np.sqrt(np.diag(self.covariance)), self.values.index)

    @property
    def exact(self) -> bool:
        """Return True if no bias has an error."""
        return not self.covariance.to_numpy().any()

    @property
    def independent(self) -> bool:
        """Return True if all errors are independent."""
        covariance = self.covariance.to_numpy()
        return not (covariance - np.diag(np.diag(covariance))).any()

    def select(self, labels: Iterable[str]) -> Self:
        """Return the biases of the selected labels."""
        rows = list(labels)
        return replace(self, values=self.values.loc[rows], covariance=self.covariance.loc[rows, rows])


def labelled(argument: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame indexed by its column ``label`` or, if its index contains names, by the index.

    Labels are converted to text. Raise an error if there are no labels, no rows, or if a label occurs twice. The
    message names the `argument`.
    """
    if LABEL in frame:
        frame = frame.set_index(LABEL)
    if isinstance(frame.index, pd.RangeIndex):
        raise CriterionError(
            f"The rows of `{argument}` have no labels. Name the column with each row's embedding, word, or"
            f" class '{LABEL}', or make it the index. The columns are {', '.join(map(str, frame.columns))}."
        )
    if not len(frame):
        raise CriterionError(f"`{argument}` has no rows. Pass one row for each embedding, word, or class.")
    frame = frame.set_axis(frame.index.astype(str).rename(frame.index.name or LABEL))
    check_labels(argument, frame.index)
    return frame


def column_of(argument: str, frame: pd.DataFrame, name: str) -> "pd.Series[float]":
    """Return a column as finite numbers. Raise an error if it is missing, or if a value is no finite number."""
    if name not in frame:
        raise CriterionError(
            f"`{argument}` has no column '{name}'. Rename the column that contains it."
            f" {did_you_mean(name, map(str, frame.columns))}"
        )
    check_finite(argument, frame[name])
    return frame[name].astype(float)


def check_labels(argument: str, labels: "pd.Index[Any]") -> None:
    """Raise an error if a label occurs twice. The message names the `argument` and the label."""
    if labels.has_duplicates:
        raise CriterionError(
            f"`{argument}` contains the label '{labels[labels.duplicated()][0]}' twice. Use each label once."
        )


def check_finite(argument: str, values: "pd.Series[Any]") -> None:
    """Raise an error if a value is not a finite number. The message names the argument, the column, and the value.

    If the column has another type, such as text, `as_numbers_of` finds the first cell that cannot be read as a number.
    If it can read all cells, as numbers stored as text, the message is about the first cell.
    """
    column = f"column '{values.name}' " if values.name is not None else ""
    where = f"{argument}: {column}"
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        cells = values.to_list()
        position, problem = 0, "is not a number"
        try:
            as_numbers_of(list(map(str, cells)))
        except NotNumbersError as error:
            position, problem = error.position, str(error)
        raise CriterionError(
            f"{where}must contain numbers, but {cells[position]!r} {problem}. Enter a number for each label, or remove"
            " its row."
        )
    wrong = values[~np.isfinite(values)]
    if len(wrong):
        raise CriterionError(f"{where}is {wrong.iloc[0]} for '{wrong.index[0]}'. Enter this number, or remove the row.")


def check_not_negative(argument: str, sd: "pd.Series[float]") -> None:
    """Raise an error if a standard error is negative."""
    negative = sd[sd < 0]
    if len(negative):
        raise CriterionError(
            f"`{argument}` must contain standard errors of 0 or more, but {sd.name} of '{negative.index[0]}' is"
            f" {negative.iloc[0]:g}."
        )


def _covariance(covariance: Any, labels: "pd.Index[str]") -> pd.DataFrame:
    """Return the covariance of the errors as a frame with the labels in rows and columns.

    A frame is sorted by its own labels, and an array has the order of the labels. Raise an error if a label is missing,
    if the matrix is not square, symmetric, and finite, or if it is not positive semidefinite, because it has a negative
    eigenvalue. Negative eigenvalues that are tiny compared with the largest one are rounding errors, and are allowed.
    """
    n = len(labels)
    if isinstance(covariance, pd.DataFrame):
        covariance = covariance.set_axis(covariance.index.astype(str)).set_axis(covariance.columns.astype(str), axis=1)
        has_label = labels.isin(covariance.index) & labels.isin(covariance.columns)
        missing = labels[~has_label]
        if len(missing):
            raise CriterionError(f"`covariance` lacks '{missing[0]}'. Pass a row and a column for each bias.")
        covariance = covariance.loc[list(labels), list(labels)]
    matrix = np.asarray(covariance, dtype=float)
    if matrix.shape != (n, n):
        raise CriterionError(
            f"`covariance` must have one row and column for each of {n} biases, but its shape is {matrix.shape}."
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise CriterionError(
            "`covariance` must be symmetric and finite. Pass the covariance of the errors of the biases."
        )
    diagonal = np.diag(matrix)
    is_diagonal = not (matrix - np.diag(diagonal)).any()
    eigenvalues = np.sort(diagonal) if is_diagonal else np.linalg.eigvalsh(matrix)
    smallest, largest = eigenvalues[0], eigenvalues[-1]
    if smallest < -_ROUNDING * max(largest, 0.0):
        raise CriterionError(
            f"`covariance` is not positive semidefinite (least eigenvalue {smallest:.2g}), so it cannot be the"
            " covariance of errors. Check that it does not contain distances or rounded correlations."
        )
    return pd.DataFrame((matrix + matrix.T) / 2, labels, list(labels))


# Biases and the covariance of their errors from fits, for words in one list or for one list in several embeddings.


def biases_of_fits(fits: Mapping[str, Fit], scope: ScopeName = DEFAULT_SCOPE) -> Biases:
    """Return the biases of one list in several embeddings or languages, by the labels of the fits.

    The bias of a fit is its observed value, and its error variance, which is due to the choice of words, is the
    posterior mean of ``noise_sd`` squared. If fits contain the same words, the errors of their biases are correlated:
    `shared_errors` estimates the share of the error variance that is common to all biases, from the influence of each
    word on each bias. Without errors, the share is zero.
    """
    fitted = {str(label): Fitted.of(fit).generalising("criterion validity") for label, fit in fits.items()}
    values, variances = [], []
    for fit in fitted.values():
        estimate = bias_estimate(fit, scope)
        values.append(estimate.observed.item())
        # If the scope samples nothing, the error variance is zero.
        variances.append(0.0 if estimate.noise_sd is None else float((estimate.noise_sd**2).mean()))
    biases = pd.Series(values, list(fitted), dtype=float)
    shared_share = 0.0
    if any(variances):
        first_fit = next(iter(fitted.values()))
        scope_name = check_scope(first_fit, scope).name
        # By label and replicate (there is only one, with an empty name), and for targets and attributes separately.
        influences = {(label, ""): split_sides(influence(fit.data)) for label, fit in fitted.items()}
        shared_share = float(shared_errors(influences, scope_name).fillna(0.0).iloc[0])
    units = {fit.metric.unit for fit in fitted.values()}
    if len(units) > 1:
        raise CriterionError(
            f"`biases` contains fits in different units ({', '.join(sorted(units))}). Pass fits of one kind."
        )
    return Biases.of(biases, with_common_error(np.sqrt(variances), shared_share), units.pop(), of_words=True)


def with_common_error(sd: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the covariance of errors with a common component that accounts for `share` of their variance.

    The standard deviations of the errors are `sd`, so errors i and j have the covariance ``share * sd[i] * sd[j]``.
    """
    return share * np.outer(sd, sd) + (1 - share) * np.diag(sd**2)


def biases_of_words(fit: Fit, toward: str | None = None, scope: ScopeName = DEFAULT_SCOPE) -> Biases:
    """Return the raw contrast of each target of a list. It is positive if the target is closer to the class `toward`.

    A different choice of attributes would change the biases of all targets in a group by the same amount. To the extent
    that attributes have no preference for a group, it would also change the biases in other groups, so errors are
    correlated between groups as well. Residual errors are independent.
    """
    fitted = Fitted.of(fit).generalising("the bias of words")
    data, samples = fitted.data, check_scope(fit, scope)
    classes = data.attribute_class.to_numpy()
    names = classes[compared_classes(data)].tolist()
    if len(names) != 2:
        raise CriterionError(
            "`biases` must come from a list that compares two classes of attributes, but this list compares"
            f" {len(names)}."
        )
    if toward not in names:
        raise CriterionError(
            "`toward` must be the class of attributes to which a positive bias is closer, but is"
            f" {toward!r}. {did_you_mean(toward, names)}"
        )
    # The class `toward` has the weight 1, the other compared class -1, and control classes have a weight of zero.
    weights = np.select([classes == toward, np.isin(classes, names)], [1.0, -1.0], 0.0)
    values = pd.Series(data.target_mean.to_numpy() @ weights, pd.Index(data.target.to_numpy(), name="word"))
    return Biases.of(values, _covariance_of_words(fitted, weights, samples), fitted.metric.unit, of_words=True)


def _covariance_of_words(fitted: Fitted, weights: NDArray[np.float64], scope: Scope) -> NDArray[np.float64]:
    """Return the covariance of the errors of the contrasts of all targets, (target, target).

    `weights` are the weights of the attributes' classes in a contrast, and `scope` names the words that are samples.

    Errors from the choice of attributes are shared by the targets of a group, and partly by other groups. Errors from
    the residual belong to one target. The model provides variances of contrasts, so the covariance of the contrasts of
    the groups g and h is computed as ``(var(g + h) - var(g) - var(h)) / 2``, and ``var(g)`` as ``var(g + g) / 4``.
    """
    group_of_target = fitted.data.group_of.to_numpy()
    n_groups, n_targets = fitted.data.sizes["group"], len(group_of_target)
    if scope.samples_nothing:
        return np.zeros((n_targets, n_targets))
    single_groups = np.eye(n_groups)
    sums_of_two = (single_groups[:, None, :] + single_groups[None, :, :]).reshape(-1, n_groups)
    parts = fitted.variances.contrast_variances(sums_of_two[:, :, None] * weights, n_targets=1)
    covariance_of_groups = np.zeros((n_groups, n_groups))
    variance_of_target = np.zeros(n_groups)
    for part, draws in parts.items():
        if not is_noise(part, scope, TARGETS):
            continue
        variance_of_sum = draws.mean(axis=(0, 1)).reshape(n_groups, n_groups)
        variance = np.diag(variance_of_sum) / 4
        if part.startswith(("residual", TARGETS.name)):
            variance_of_target += variance
        else:
            covariance_of_groups += (variance_of_sum - variance[:, None] - variance[None, :]) / 2
    shared = covariance_of_groups[np.ix_(group_of_target, group_of_target)]  # (target, target)
    return np.asarray(shared + np.diag(variance_of_target[group_of_target]))


type CriterionLike = pd.DataFrame | pd.Series | Mapping[str, float] | str | Path

FEWEST = 4
# The name that pandas gives to a first column without a heading.
_UNNAMED = "Unnamed: 0"
OF = ("bias", "criterion")
_NAMED = 8
# Errors are implausible if they exceed the variation of the observed values by this factor.
_TOO_LARGE = 2


@dataclass(frozen=True, eq=False)
class CriterionData:
    """The data for all labels.

    Attributes
    ----------
    biases : Biases
    criterion, criterion_se : pandas.Series
        The criterion by label, and its standard errors, which are zero if it is exact.
    covariates : pandas.DataFrame
        A row for each label and a column for each covariate.
    family : pandas.Series or None
        The family of each label.
    notices : tuple of str
        Notices of labels without a bias or without a criterion.
    """

    biases: Biases
    criterion: "pd.Series[float]"
    criterion_se: "pd.Series[float]"
    covariates: pd.DataFrame
    family: "pd.Series[Any] | None" = None
    notices: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, biases: Biases, outside: pd.DataFrame, covariates: Sequence[str] = (), family: str | None = None
    ) -> Self:
        """Match biases by label with the columns of a frame (`outside`): the criterion, covariates, and a family.

        Labels that lack a bias or a criterion are omitted, with a notice. Standard errors of the criterion that are
        much larger than the spread of its values, as in another unit, also cause a notice.

        Raises
        ------
        CriterionError
        """
        labels, notices = _shared_labels(biases, outside)
        outside = outside.loc[labels]
        biases = biases.select(labels)
        values = column_of("criterion", outside, "criterion")
        _check_differ("criterion", values)
        _check_differ("biases", biases.values)
        covariate_of_name = {name: column_of("covariates", outside, name) for name in covariates}
        for name, covariate in covariate_of_name.items():
            _check_differ(f"covariates: '{name}'", covariate)
        if len(labels) < FEWEST + len(covariates):
            raise CriterionError(
                f"`covariates` contains {counted(len(covariates), 'variable')}, too many for"
                f" {in_words(len(labels))} labels. There must be at least {in_words(FEWEST)} more labels"
                " than covariates."
            )
        errors = _standard_errors(outside)
        relative_error = float(errors.median() / values.std())
        if not relative_error < _TOO_LARGE:
            notices.append(
                f"the median standard error of the criterion is {relative_error:.1f} times its standard deviation over"
                " labels. Check that both are in the same unit, such as per cent"
            )
        covariate_columns = pd.DataFrame(covariate_of_name, outside.index)
        return cls(biases, values, errors, covariate_columns, _families(outside, family), tuple(notices))

    @property
    def labels(self) -> list[str]:
        """The labels that have both a bias and a criterion."""
        return list(self.criterion.index)

    @property
    def noun(self) -> str:
        """The noun for a label, from the name of the first index that has a name."""
        for values in (self.biases.values, self.criterion):
            if values.index.name != LABEL:
                return str(values.index.name)
        return LABEL

    @property
    def units(self) -> xr.DataArray:
        """Standard deviations of biases and criterion over labels, which are the units of the model."""
        spread = [float(self.biases.values.std()), float(self.criterion.std())]
        return xr.DataArray(spread, dims="of", coords={"of": list(OF)})

    @property
    def means(self) -> xr.DataArray:
        """Means of biases and criterion over labels, which are subtracted from the data of the model."""
        centre = [float(self.biases.values.mean()), float(self.criterion.mean())]
        return xr.DataArray(centre, dims="of", coords={"of": list(OF)})

    @property
    def dataset(self) -> xr.Dataset:
        """Return the data in their original units, for the group ``constant_data`` of the fit.

        Covariates and families are included if there are any.
        """
        content: dict[str, Any] = {
            "bias_covariance": (("label", "label_too"), self.biases.covariance.to_numpy()),
            "criterion_se": ("label", self.criterion_se.to_numpy()),
            "unit": self.units,
            "centre": self.means,
        }
        coords: dict[str, Any] = {"label": self.labels, "label_too": self.labels, "of": list(OF)}
        if len(self.covariates.columns):
            content["covariates"] = ("label", "covariate"), self.covariates.to_numpy()
            coords["covariate"] = list(self.covariates.columns)
        if self.family is not None:
            content["family_of"] = "label", self.family.astype(str).to_numpy()
        return xr.Dataset(content, coords=coords)

    @property
    def observed(self) -> xr.Dataset:
        """Observed biases and criterion, for the group ``observed_data``."""
        columns = {"bias": ("label", self.biases.values.to_numpy()), "criterion": ("label", self.criterion.to_numpy())}
        return xr.Dataset(columns, coords={"label": self.labels})

    @property
    def sha256(self) -> str:
        """Hash of all labels and data."""
        frame = pd.concat([self.biases.values, self.criterion, self.criterion_se, self.covariates], axis=1)
        text = frame.to_csv(float_format="%.10g") + self.biases.covariance.to_csv(float_format="%.10g")
        if self.family is not None:
            text += self.family.to_csv()
        return hashlib.sha256(text.encode()).hexdigest()


def outside_of(criterion: Any) -> pd.DataFrame:
    """Return the criterion as a frame by label, from any type of input that `criterion` accepts.

    The frame has a column ``criterion`` and, if they are in the source, standard errors, covariates, and families.
    """
    if isinstance(criterion, pd.DataFrame):
        return labelled("criterion", criterion)
    if isinstance(criterion, str | Path):
        return labelled("criterion", read(criterion, "criterion"))
    if isinstance(criterion, Mapping):
        criterion = pd.Series(dict(criterion))
    if isinstance(criterion, pd.Series):
        return labelled("criterion", criterion.to_frame("criterion"))
    raise CriterionError(
        f"`criterion` is {kind_of(criterion)} without labels. Pass a frame or CSV file with the columns"
        " 'label' and 'criterion', or a mapping from labels to numbers."
    )


def read(path: str | Path, argument: str) -> pd.DataFrame:
    """Read a spreadsheet. Labels are read as text, so that languages such as 'no' or 'NA' are preserved.

    If there is no column ``label``, the first column contains the labels if it has no heading, as in files with row
    names from R and pandas.
    """
    path = given_table(path, argument, CriterionError, "Pass a spreadsheet with a row for each label.")
    frame = read_frame(path, f"{argument}: '{path}'", CriterionError, text=(LABEL, _UNNAMED))
    if LABEL not in frame:
        frame = frame.rename(columns={_UNNAMED: LABEL})
    return frame.assign(label=frame[LABEL].str.strip()) if LABEL in frame else frame


def _shared_labels(biases: Biases, outside: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the labels with both a bias and a criterion, and notices of all other labels.

    `outside` has the criterion of each label. Raise an error if fewer than `FEWEST` labels have both: its message names
    the labels that lack one of them.
    """
    bias_labels, criterion_labels = biases.values.index, outside.index
    has_criterion = bias_labels.isin(criterion_labels)
    both = bias_labels[has_criterion].to_list()
    omitted = {
        "without a criterion": bias_labels[~has_criterion].to_list(),
        "without a bias": criterion_labels[~criterion_labels.isin(both)].to_list(),
    }
    omitted = {reason: labels for reason, labels in omitted.items() if labels}
    if not both:
        raise CriterionError(
            f"`criterion` has no label in common with the biases: it contains {_some(list(criterion_labels))}, and the"
            f" biases {_some(list(bias_labels))}. Use the same name for each embedding, word, or class in both."
        )
    if len(both) < FEWEST:
        reasons = "; ".join(f"{reason}: {_some(labels)}" for reason, labels in omitted.items())
        in_brackets = f" ({reasons})" if reasons else ""
        raise CriterionError(
            f"`criterion` has {counted(len(both), 'label')} with both a bias and a criterion, too few to estimate a"
            f" correlation. Pass at least {in_words(FEWEST)}{in_brackets}."
        )
    return both, [f"omitted, {reason}: {', '.join(labels)}" for reason, labels in omitted.items()]


def _some(labels: Sequence[str]) -> str:
    """Return a text with the first labels and the number of further labels, such as "French, German and 12 more"."""
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return ", ".join(labels[:_NAMED]) + more


def _standard_errors(outside: pd.DataFrame) -> "pd.Series[float]":
    """Return the standard error of the criterion of each label.

    It is the column ``criterion_se`` or, with n people (``criterion_n``), the error of a mean, ``criterion_sd`` / √n,
    or of a share p, √(p (1 - p) / n). Without these columns, the criterion is exact, and the error is zero.
    """
    if "criterion_se" in outside:
        se = column_of("criterion", outside, "criterion_se")
        check_not_negative("criterion", se)
        return se
    if "criterion_n" not in outside:
        if "criterion_sd" in outside:
            raise CriterionError(
                "`criterion` has criterion_sd, but not the number of people. Add criterion_n, or pass standard errors"
                " as criterion_se."
            )
        return pd.Series(0.0, outside.index, name="criterion_se")
    people = column_of("criterion", outside, "criterion_n")
    values = outside.criterion.astype(float)
    if (people < 1).any():
        label = people.index[people < 1][0]
        raise CriterionError(
            f"`criterion` must have a criterion_n of 1 or more, but for '{label}' it is {people[label]:g}."
        )
    if "criterion_sd" in outside:
        sd = column_of("criterion", outside, "criterion_sd")
        check_not_negative("criterion", sd)
        return (sd / np.sqrt(people)).rename("criterion_se")
    if not values.between(0, 1).all():
        raise CriterionError(
            "criterion_n alone gives the error of a share between 0 and 1, but the values of `criterion`"
            " are not shares. Add criterion_sd, the standard deviation between people, or criterion_se."
        )
    share = (people * values + 1) / (people + 2)  # prevents a standard error of zero for a share of 0 or 1
    return np.sqrt(share * (1 - share) / people).rename("criterion_se")


def _families(outside: pd.DataFrame, family: str | None) -> "pd.Series[Any] | None":
    """Return the family of each label or, without families, None.

    Raise an error if a label has no family, if there is only one family, or if every family has a single label.
    """
    if family is None:
        return None
    if family not in outside:
        raise CriterionError(f"`family` '{family}' is not a column. {did_you_mean(family, map(str, outside.columns))}")
    families = outside[family]
    blank = families.isna() | (families.astype(str).str.strip() == "")
    if blank.any():
        raise CriterionError(f"`family` has no entry for '{families.index[blank][0]}'. Enter a family for each label.")
    counts = families.value_counts()
    if len(counts) < 2 or counts.max() < 2:
        raise CriterionError(
            f"`family` has {in_words(len(counts))} for {in_words(len(families))} labels. There must be at"
            " least two families, and one of them must have several labels."
        )
    return families.rename("family")


def _check_differ(what: str, values: "pd.Series[float]") -> None:
    """Raise an error if a value is no finite number, or if all values are equal.

    The message calls the values `what`, such as "biases".
    """
    check_finite(what, values)
    if np.ptp(values.to_numpy()) == 0:
        raise CriterionError(
            f"`{what}` is {values.iloc[0]:g} for every label, so it cannot correlate with anything. Pass"
            " values that vary."
        )
