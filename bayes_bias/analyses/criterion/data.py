"""Biases and criterion by label: matched, checked, and in the units of the model."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.criterion.biases import LABEL, Biases, check_finite, check_not_negative, column_of, labelled
from bayes_bias.arguments import described
from bayes_bias.errors import CriterionError, did_you_mean
from bayes_bias.files import given_table
from bayes_bias.formatting import in_words
from bayes_bias.spreadsheets import read_frame

type CriterionLike = pd.DataFrame | pd.Series | Mapping[str, float] | str | Path

FEWEST = 4
# How a frame calls a first column without a heading.
_UNNAMED = "Unnamed: 0"
OF = ("bias", "criterion")
_NAMED = 8
# Observed values vary at least by their errors.
_TOO_LARGE = 2


@dataclass(frozen=True, eq=False)
class CriterionData:
    """The data of each label.

    Attributes
    ----------
    biases : Biases
    criterion, criterion_se : pandas.Series
        The criterion by label, and its standard errors. Zero if it is exact.
    covariates : pandas.DataFrame
        Labels by covariates. No columns if there are none.
    family : pandas.Series or None
        The family of each label.
    notices : tuple of str
        Labels that only one side has.
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
        """Biases matched by label with the columns of a frame.

        Raises
        ------
        CriterionError
        """
        labels, notices = _matched(biases, outside)
        outside = outside.loc[labels]
        values = column_of("criterion", outside, "criterion")
        _check_differ("criterion", values)
        _check_differ("biases", biases.select(labels).values)
        beside = pd.DataFrame({name: column_of("covariates", outside, name) for name in covariates}, outside.index)
        for name in covariates:
            _check_differ(f"covariates: '{name}'", beside[name])
        if len(labels) < FEWEST + len(covariates):
            raise CriterionError(
                f"`covariates` contains {in_words(len(covariates))} variables, too many for"
                f" {in_words(len(labels))} labels. There must be at least {in_words(FEWEST)} more labels"
                " than covariates."
            )
        errors = _errors(outside)
        times = float(errors.median() / values.std())
        if not times < _TOO_LARGE:
            notices.append(
                f"the median standard error of the criterion is {times:.1f} times its standard deviation over"
                " labels. Check that both are in the same unit, such as per cent."
            )
        return cls(biases.select(labels), values, errors, beside, _families(outside, family), tuple(notices))

    @property
    def labels(self) -> list[str]:
        """The labels that have both."""
        return list(self.criterion.index)

    @property
    def noun(self) -> str:
        """Name of the labels, by the first index that has one."""
        for values in self._both:
            if values.index.name != LABEL:
                return str(values.index.name)
        return LABEL

    @property
    def units(self) -> xr.DataArray:
        """Standard deviations of biases and criterion over labels, in which the model has them."""
        spread = [float(self.biases.values.std()), float(self.criterion.std())]
        return xr.DataArray(spread, dims="of", coords={"of": list(OF)})

    @property
    def means(self) -> xr.DataArray:
        """Means of biases and criterion, from which the model counts them."""
        centre = [float(self.biases.values.mean()), float(self.criterion.mean())]
        return xr.DataArray(centre, dims="of", coords={"of": list(OF)})

    @property
    def dataset(self) -> xr.Dataset:
        """The data in their own units: the group ``constant_data``."""
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
        """Biases and criterion as they were observed: the group ``observed_data``."""
        columns = {"bias": ("label", self.biases.values.to_numpy()), "criterion": ("label", self.criterion.to_numpy())}
        return xr.Dataset(columns, coords={"label": self.labels})

    @property
    def sha256(self) -> str:
        """Hash of labels and numbers."""
        frame = pd.concat([*self._both, self.criterion_se, self.covariates], axis=1)
        text = frame.to_csv(float_format="%.10g") + self.biases.covariance.to_csv(float_format="%.10g")
        return hashlib.sha256((text + ("" if self.family is None else self.family.to_csv())).encode()).hexdigest()

    @property
    def _both(self) -> "tuple[pd.Series[float], pd.Series[float]]":
        """Biases and criterion."""
        return self.biases.values, self.criterion


def outside_of(criterion: Any) -> pd.DataFrame:
    """The criterion as a frame by label, from each kind that `criterion` takes."""
    if isinstance(criterion, pd.DataFrame):
        return labelled("criterion", criterion)
    if isinstance(criterion, str | Path):
        return labelled("criterion", read(criterion, "criterion"))
    if isinstance(criterion, Mapping):
        criterion = pd.Series(dict(criterion))
    if isinstance(criterion, pd.Series):
        return labelled("criterion", criterion.to_frame("criterion"))
    raise CriterionError(
        f"`criterion` is {described(criterion)} without labels. Pass a frame or CSV file with the columns"
        " 'label' and 'criterion', or a mapping from labels to numbers."
    )


def read(path: str | Path, argument: str) -> pd.DataFrame:
    """A spreadsheet of this kind. Labels are text, so that the language 'no' or 'NA' stays one.

    Without a column `label`, the first one has the labels if nothing heads it, as R and pandas write names of rows.
    """
    path = given_table(path, argument, CriterionError, "Pass a spreadsheet with a row for each label.")
    frame = read_frame(path, f"{argument}: '{path}'", CriterionError, text=(LABEL, _UNNAMED))
    if LABEL not in frame:
        frame = frame.rename(columns={_UNNAMED: LABEL})
    return frame.assign(label=frame[LABEL].str.strip()) if LABEL in frame else frame


def _matched(biases: Biases, outside: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the labels that have both, and notices of the others."""
    bias_labels, criterion_labels = biases.values.index, outside.index
    has_criterion = bias_labels.isin(criterion_labels)
    both = bias_labels[has_criterion].to_list()
    omitted = []
    for reason, labels in (
        ("without a criterion", bias_labels[~has_criterion]),
        ("without a bias", criterion_labels[~criterion_labels.isin(both)]),
    ):
        if len(labels):
            omitted.append((reason, list(labels)))
    if not both:
        raise CriterionError(
            f"`criterion` has no label in common with the biases: it contains {_some(list(criterion_labels))}, and the"
            f" biases {_some(list(bias_labels))}. Use the same name for each embedding, word, or class in both."
        )
    if len(both) < FEWEST:
        without = "; ".join(f"{reason}: {_some(labels)}" for reason, labels in omitted)
        raise CriterionError(
            f"`criterion` has {in_words(len(both))} label{'s' if len(both) > 1 else ''} with both a bias and"
            " a criterion, too few to estimate a correlation. Pass at least"
            f" {in_words(FEWEST)}{f' ({without})' if without else ''}."
        )
    return both, [f"omitted, {reason}: {', '.join(labels)}" for reason, labels in omitted]


def _some(labels: Sequence[str]) -> str:
    """Return the first labels, and how many more there are."""
    return ", ".join(labels[:_NAMED]) + (f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else "")


def _errors(outside: pd.DataFrame) -> "pd.Series[float]":
    """Return standard errors: given, or those of means or shares of so many people."""
    if "criterion_se" in outside:
        se = column_of("criterion", outside, "criterion_se")
        check_not_negative("criterion", se)
        return se
    if "criterion_n" not in outside:
        return pd.Series(0.0, outside.index, name="criterion_se")
    people, values = column_of("criterion", outside, "criterion_n"), outside.criterion.astype(float)
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
    share = (people * values + 1) / (people + 2)  # of none or all, the error is not zero
    return np.sqrt(share * (1 - share) / people).rename("criterion_se")


def _families(outside: pd.DataFrame, family: str | None) -> "pd.Series[Any] | None":
    """Return the family of each label, checked, or None without families."""
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
    """Raise an error for numbers that are not finite, or that are all the same."""
    check_finite(what, values)
    if np.ptp(values.to_numpy()) == 0:
        raise CriterionError(
            f"`{what}` is {values.iloc[0]:g} for every label, so it cannot correlate with anything. Pass"
            " values that vary."
        )
