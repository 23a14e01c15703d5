"""`priors`: a table of the priors of a fit."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.models.preferences import (
    PREFERENCE,
    factor_name,
    inflation_name,
    is_compared,
    related_sides,
    sides_from_vectors,
    variance_name,
)
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.scales import dims_of_scales, units_of_priors
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import resolved
from bayes_bias.table.labels import CATEGORY_COORD

type Row = tuple[str, str, str]


def priors(fit: Fit) -> pd.DataFrame:
    """Return the prior of each parameter of a fit, by group and class, in the units of the table.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit, from `fit`, `as_fit`, or `load_fit`.

    Returns
    -------
    pandas.DataFrame
        Table with the index ``parameter`` and ``label`` (the group or class, or "" if one prior applies to all), and
        the column ``prior``. Distributions have PyMC's names and parameters. A variance from vectors is written as
        ``factor * sd**2 * nu / ChiSquared(nu)``, where sd is the expected standard deviation of preferences and factor
        is ``target_preference_factor`` or ``attribute_preference_factor``. An inflation by related words is written as
        ``1 + (I - 1) * d / ChiSquared(d)``, where I is the estimated inflation and d its degrees of freedom (see
        `bayes_bias.models.preferences`).

    Examples
    --------
    >>> from bayes_bias import cosines, fit, priors
    >>> priors(fit(cosines("weat6", "googlenews-demo")))                          # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    if fitted.spec.structure == "crossed":
        # The prior of block means is wide in a model with explicit effects (see `bayes_bias.models.crossed_long`).
        wide = f"Normal(mu=the mean of values, sigma={10 * fitted.data.within_sd.item():.4g})"
        means = ("mean", "", "Flat()") if fitted.structure.COLLAPSED else ("block_mean", "", wide)
        rows = [means, *_of_scales(resolved(fitted.spec, fitted.data), fitted.data)]
    else:
        rows = [(name, "", text) for name, text in fitted.stored("priors").items()]
    return pd.DataFrame(rows, columns=["parameter", "label", "prior"]).set_index(["parameter", "label"])


def _of_scales(spec: ModelSpec, data: xr.Dataset) -> Iterator[Row]:
    """Yield the priors of scales, of variances with a prior from vectors, of inflations, and of shape parameters."""
    units = units_of_priors(spec, data)
    sides = sides_from_vectors(spec, data)
    from_vectors = {PREFERENCE[side] for side in sides}
    for name, along in dims_of_scales(spec, data).items():
        if name not in from_vectors:
            # One prior for all groups and classes, or one for each of their combinations.
            labels = product(*(data[dim].to_numpy().tolist() for dim in along)) if np.ndim(units[name]) else [("",)]
            for label, unit in zip(labels, np.ravel(units[name]), strict=True):
                yield name, ", ".join(label), str(spec.priors[name].with_unit(float(unit)))
    for side in sides:
        parameters = spec.priors[PREFERENCE[side]].parameters
        nu, nu_factor = parameters["nu"], parameters["nu_factor"]
        yield factor_name(side), "", f"{nu_factor:g} / ChiSquared({nu_factor:g})"
        for k, label in enumerate(data[CATEGORY_COORD[side]].to_numpy()):
            factor = f"{factor_name(side)} * " if is_compared(data, side)[k] else ""
            sd = data[f"{side}_preference_sd"].to_numpy()[k]
            yield variance_name(side), label, f"{factor}{sd:.4g}**2 * {nu:g} / ChiSquared({nu:g})"
    for side in related_sides(data):
        for k, label in enumerate(data[CATEGORY_COORD[side]].to_numpy()):
            inflation = data[f"{side}_inflation"].to_numpy()[k]
            df = data[f"{side}_directions"].to_numpy()[k] / 2
            factor = "" if np.isnan(df) else f" * {df:.4g} / ChiSquared({df:.4g})"
            yield inflation_name(side), label, f"1 + {inflation - 1:.4g}{factor}" if inflation > 1 else "1"
    for name in shape_parameters():
        if name in spec.priors:
            yield name, "", str(spec.priors[name])
