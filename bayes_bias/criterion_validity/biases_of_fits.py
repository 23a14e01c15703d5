"""Biases and the covariance of their errors, from fits: of words in one list, or of one list in several embeddings."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.criterion_validity.biases import Biases
from bayes_bias.errors import CriterionError, did_you_mean
from bayes_bias.measures.quasi_f import influence
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.posterior.estimates import bias_estimate, check_scope
from bayes_bias.posterior.shared_words import by_side, shared_errors
from bayes_bias.table.scopes import DEFAULT_SCOPE, TARGETS, Scope, ScopeName, is_noise
from bayes_bias.table.sufficient_statistics import compared_classes


def biases_of_fits(fits: Mapping[str, Fit], scope: ScopeName = DEFAULT_SCOPE) -> Biases:
    """The bias of one list in each embedding or language.

    Errors are those of other words that might have been chosen. Words that fits share, by their names, move the
    biases together: of the variance of each error, the share that all have in common is that of `shared_errors`.
    """
    fitted = {str(label): Fitted.of(fit).generalising("criterion validity") for label, fit in fits.items()}
    estimates = {label: bias_estimate(fit, scope) for label, fit in fitted.items()}
    values = pd.Series({label: each.observed.item() for label, each in estimates.items()}, dtype=float)
    variance = [
        0.0 if each.noise_sd is None else float((each.noise_sd**2).mean()) for each in estimates.values()
    ]  # none where the scope samples nothing
    share = 0.0
    if any(variance):
        name = check_scope(next(iter(fitted.values())), scope).name
        cells = {(label, ""): by_side(influence(fit.data)) for label, fit in fitted.items()}
        share = float(shared_errors(cells, name).fillna(0.0).iloc[0])
    return Biases.of(values, with_common_error(np.sqrt(variance), share), _unit(fitted))


def with_common_error(sd: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Covariance of errors with a part in common, which is this share of their variance."""
    return share * np.outer(sd, sd) + (1 - share) * np.diag(sd**2)


def biases_of_words(fit: Fit, toward: str | None = None, scope: ScopeName = DEFAULT_SCOPE) -> Biases:
    """The raw contrasts of the targets of a list, signed towards one class.

    Other attributes would move the biases of all targets of a group together, and those of two groups as far as
    attributes prefer neither. The residual moves each by itself.
    """
    fitted = Fitted.of(fit).generalising("the bias of words")
    data, checked = fitted.data, check_scope(fit, scope)
    names = data.attribute_class.to_numpy()[compared_classes(data)].tolist()
    if len(names) != 2:
        raise CriterionError(
            f"biases: the list compares {len(names)} classes of attributes; give one that compares two"
        )
    if toward not in names:
        raise CriterionError(
            f"toward: must be the class of attributes to which a positive bias is closer, got {toward!r};"
            f" {did_you_mean(toward, names)}"
        )
    weights = np.zeros(data.sizes["attribute_class"])
    for name in names:
        weights[data.attribute_class.to_numpy().tolist().index(name)] = 1 if name == toward else -1
    values = pd.Series(data.target_mean.to_numpy() @ weights, pd.Index(data.target.to_numpy(), name="word"))
    return Biases.of(values, _of_words(fitted, weights, checked), fitted.metric.unit)


def _of_words(fitted: Fitted, weights: NDArray[np.float64], scope: Scope) -> NDArray[np.float64]:
    """Covariance of the errors of the contrasts of all targets."""
    data, group_of = fitted.data, fitted.data.group_of.to_numpy()
    n_groups = data.sizes["group"]
    if scope.samples_nothing:
        return np.zeros((len(group_of), len(group_of)))
    # One contrast for each group, and one for each sum of two: covariances by polarisation.
    groups = np.eye(n_groups)
    blocks = (groups[:, None, :] + groups[None, :, :]).reshape(-1, n_groups)[:, :, None] * weights
    parts = fitted.variances.of_contrast(blocks, n_targets=1)
    shared, own = np.zeros((n_groups, n_groups)), np.zeros(n_groups)
    for part, draws in parts.items():
        if not is_noise(part, scope, TARGETS):
            continue
        variance = draws.mean(axis=(0, 1)).reshape(n_groups, n_groups)
        single = np.diag(variance) / 4  # of twice a group's contrast
        if part.startswith(("residual", TARGETS.name)):
            own += single
        else:
            shared += (variance - single[:, None] - single[None, :]) / 2
    return np.asarray(shared[np.ix_(group_of, group_of)] + np.diag(own[group_of]))


def _unit(fits: Mapping[str, Fitted]) -> str:
    units = {fit.metric.unit for fit in fits.values()}
    if len(units) > 1:
        raise CriterionError(f"biases: fits are in different units ({', '.join(sorted(units))}); give fits of one kind")
    return units.pop()
