"""Biases by label, with the covariance of their errors."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import as_numbers
from bayes_bias.errors import CriterionError, did_you_mean

LABEL = "label"
# Eigenvalues this much below zero, in the largest one, are rounding errors.
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Biases:
    """Observed biases and the covariance of their errors, from whatever has them.

    Attributes
    ----------
    values : pandas.Series
        The biases by label; the name of the index is what a label is, such as "language".
    covariance : pandas.DataFrame
        Labels by labels, in squared units of the biases. Zero for biases that count as exact.
    unit : str
        Of the biases, for axes and sentences.
    """

    values: "pd.Series[float]"
    covariance: pd.DataFrame
    unit: str = "bias"

    @classmethod
    def of(cls, values: "pd.Series[float]", covariance: Any, unit: str = "bias") -> Self:
        """Checked: one finite number a label, and a covariance that errors can have.

        Raises
        ------
        CriterionError
        """
        values = values.set_axis(values.index.astype(str).rename(values.index.name or LABEL))
        check_labels("biases", values.index)
        check_finite("biases", values)
        return cls(values.astype(float), _covariance(covariance, values.index), unit)

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, covariance: Any = None) -> Self:
        """From the columns ``bias`` and ``sd``; with a `covariance`, no ``sd`` is needed."""
        frame = labelled("biases", frame)
        values = column_of("biases", frame, "bias")
        if covariance is not None:
            return cls.of(values, covariance)
        sd = column_of("biases", frame, "sd")
        check_not_negative("biases", sd)
        return cls.of(values, np.diag(sd**2))

    @classmethod
    def of_draws(cls, draws: xr.DataArray) -> Self:
        """Mean and covariance of posterior draws, ``(chain, draw, label)``."""
        labels = [dim for dim in draws.dims if dim not in ("chain", "draw")]
        if len(labels) != 1 or "draw" not in draws.dims or labels[0] not in draws.coords:
            raise CriterionError(
                f"biases: draws must have the dims chain, draw and one with labels, got"
                f" {', '.join(map(str, draws.dims))}; give `posterior_draws`, or name its labels"
            )
        sample = draws.transpose(..., labels[0]).to_numpy().reshape(-1, draws.sizes[labels[0]])
        index = pd.Index(draws[labels[0]].to_numpy().astype(str), name=LABEL)
        return cls.of(pd.Series(sample.mean(axis=0), index), np.cov(sample, rowvar=False))

    @property
    def sd(self) -> "pd.Series[float]":
        """Standard errors."""
        return pd.Series(np.sqrt(np.diag(self.covariance)), self.values.index)

    @property
    def exact(self) -> bool:
        """Whether no bias has an error."""
        return not self.covariance.to_numpy().any()

    @property
    def independent(self) -> bool:
        """Whether no two errors go together."""
        covariance = self.covariance.to_numpy()
        return not (covariance - np.diag(np.diag(covariance))).any()

    def at(self, labels: Iterable[str]) -> Self:
        """Those of these labels."""
        kept = list(labels)
        return type(self)(self.values.loc[kept], self.covariance.loc[kept, kept], self.unit)


def labelled(argument: str, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame by its column ``label``, or by its index where that has names."""
    if LABEL in frame:
        frame = frame.set_index(LABEL)
    if isinstance(frame.index, pd.RangeIndex):
        raise CriterionError(
            f"{argument}: the rows have no labels; add a column 'label' with the name of each row's embedding, word or"
            " class, or set them as the index"
        )
    if not len(frame):
        raise CriterionError(f"{argument}: has no rows; give one for each embedding, word or class")
    frame = frame.set_axis(frame.index.astype(str).rename(frame.index.name or LABEL))
    check_labels(argument, frame.index)
    return frame


def column_of(argument: str, frame: pd.DataFrame, name: str) -> "pd.Series[float]":
    """A column of finite numbers."""
    if name not in frame:
        raise CriterionError(f"{argument}: there is no column '{name}'; {did_you_mean(name, map(str, frame.columns))}")
    check_finite(argument, frame[name])
    return frame[name].astype(float)


def check_labels(argument: str, labels: "pd.Index[Any]") -> None:
    """Refuse a label that is given twice."""
    if labels.has_duplicates:
        raise CriterionError(f"{argument}: '{labels[labels.duplicated()][0]}' is given twice; give each label once")


def check_finite(argument: str, values: "pd.Series[Any]") -> None:
    """Refuse what is not a finite number."""
    where = f"{argument}: " + (f"column '{values.name}' " if values.name is not None else "")
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        wrong = values[as_numbers(values).isna()]
        raise CriterionError(f"{where}must hold numbers, got {[*wrong, values.iloc[0]][0]!r}; give one for each label")
    wrong = values[~np.isfinite(values)]
    if len(wrong):
        raise CriterionError(
            f"{where}is {wrong.iloc[0]} for '{wrong.index[0]}'; fill in this number or leave out the row"
        )


def check_not_negative(argument: str, sd: "pd.Series[float]") -> None:
    """Refuse a negative standard error."""
    wrong = sd[sd < 0]
    if len(wrong):
        raise CriterionError(
            f"{argument}: {sd.name} of '{wrong.index[0]}' is {wrong.iloc[0]:g}; a standard error is 0 or more"
        )


def _covariance(given: Any, labels: "pd.Index[str]") -> pd.DataFrame:
    n = len(labels)
    if isinstance(given, pd.DataFrame):
        given = given.set_axis(given.index.astype(str)).set_axis(given.columns.astype(str), axis=1)
        if missing := [label for label in labels if label not in given.index or label not in given.columns]:
            raise CriterionError(f"covariance: '{missing[0]}' is missing; give a row and a column for each bias")
        given = given.loc[list(labels), list(labels)]
    matrix = np.asarray(given, dtype=float)
    if matrix.shape != (n, n):
        raise CriterionError(f"covariance: its shape is {matrix.shape}; give one row and column for each of {n} biases")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise CriterionError(
            "covariance: must be symmetric and finite; give the covariance of the errors of the biases"
        )
    diagonal = np.diag(matrix)
    alone = not (matrix - np.diag(diagonal)).any()
    eigenvalues = np.sort(diagonal) if alone else np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -_ROUNDING * max(eigenvalues[-1], 0.0) or eigenvalues[-1] < 0:
        raise CriterionError(
            f"covariance: is not positive semidefinite (least eigenvalue {eigenvalues[0]:.2g}), so that no errors can"
            " have it; give a covariance, not a matrix of distances or rounded correlations"
        )
    return pd.DataFrame((matrix + matrix.T) / 2, labels, list(labels))
