"""Several lists as a sample of lists: what they say together, and of each other."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, listed
from bayes_bias.associations.statistics import compared_classes
from bayes_bias.associations.table import announce
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.estimands.estimate import Estimate
from bayes_bias.estimands.estimates import bias_estimate
from bayes_bias.formatting import in_words, percent
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.results.pooled import Known, Pooled, tails
from bayes_bias.results.random_effects import RandomEffects
from bayes_bias.results.summary import row_of_bias

FEW_LISTS = 5
TAU_SCALE = 0.5  # within-block standard deviations
_COMPONENTS = 40


def pool(fits: Iterable[Fit] | Fit, *, ci_prob: float = 0.95, tau_scale: float | None = None) -> Pooled:
    """What several lists say together: the mean bias, how lists differ, and each list in the light of the others.

    Lists are taken as a sample of lists, their biases as normal random effects,

        theta[k] ~ Normal(mu, tau),    mu flat,    tau ~ HalfNormal(tau_scale)

    What a list says of its own ``theta``, over all that could be sampled, enters whole: block means have flat priors,
    so that the posterior of its bias, the mixture of normals that intervals come from, is proportional to the
    likelihood. Mean and standard deviation alone would forget its tails. The posterior of ``mu`` and ``tau`` is
    computed on a grid, and nothing is sampled.

    This is a tool for precision. It draws lists towards their mean, and thereby narrows their intervals as far as lists
    resemble each other. It does not control errors over lists: for that see Holm's adjustment in `bayes_bias.report`.

    Parameters
    ----------
    fits : iterable of xarray.DataTree
        Two or more, from `fit` or `load_fit`: different lists, in one embedding, by one crossed model with the
        collapsed likelihood. Fewer than five are pooled with a notice, because the prior then decides on ``tau``.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float, optional
        Scale of the prior of ``tau``, in the units of the tables; half the median over lists of the pooled standard
        deviation within blocks by default. The models' priors are in that unit, too; this one expects the biases of
        lists to differ by less than the associations of two words of the same block do.

    Returns
    -------
    Pooled
        ``mu``, ``tau``, ``new_list``, ``lists``, ``overlap``; printed, its sentences. Units: those of the tables.

    Raises
    ------
    BayesBiasError
        Fewer than two fits, two of the same name, different embeddings, associations or models, a fit that has not
        converged, an impossible probability or scale.
    ScopeError
        A fit of the hierarchical model, or of the long form, whose posterior is no mixture of normals.

    Notes
    -----
    Lists that share words are not independent. The intervals of ``mu`` and ``new_list`` do not know, and are then too
    narrow; ``overlap`` says by how much lists overlap.

    References
    ----------
    Rubin, D. B. (1981). Estimation in parallel randomized experiments. Journal of Educational Statistics, 6(4),
    377-401. https://doi.org/10.3102/10769986006004377

    Rover, C., Bender, R., Dias, S., Schmid, C. H., Schmidli, H., Sturtz, S., Weber, S., & Friede, T. (2021). On weakly
    informative prior distributions for the heterogeneity parameter in Bayesian random-effects meta-analysis. Research
    Synthesis Methods, 12(4), 448-474. https://doi.org/10.1002/jrsm.1475

    Examples
    --------
    >>> from bayes_bias import cosines, fit, pool
    >>> fits = [fit(cosines("googlenews-demo", name)) for name in ("weat6", "weat7", "weat8")]     # doctest: +SKIP
    >>> print(pool(fits))                                                                          # doctest: +SKIP
    """
    lists = _checked(listed("fits", fits, xr.DataTree | Fitted, "[fit(weat6), fit(weat7)]"))
    check_ci_prob(ci_prob)
    if tau_scale is None:
        tau_scale = TAU_SCALE * float(np.median([each.data.within_sd for each in lists]))
    if not 0 < tau_scale < np.inf:
        raise BayesBiasError(f"tau_scale: {tau_scale:g} is no scale; give a number above 0, or none")
    biases = [bias_estimate(each) for each in lists]
    effects = RandomEffects(
        np.array([each.observed.item() for each in biases]),
        np.array([_components(each) for each in biases]),
        tau_scale,
    )
    overlap = _overlap(lists)
    return Pooled(
        association=lists[0].association,
        ci_prob=ci_prob,
        tau_scale=tau_scale,
        mu=Known.of(effects.mu, ci_prob),
        tau=Known(effects.tau_mean, effects.tau_sd, *effects.tau_quantiles(tails(ci_prob)).tolist()),
        new_list=Known.of(effects.new, ci_prob),
        lists=pd.DataFrame(
            [_row(each, Known.of(effects.theta(k), ci_prob), ci_prob) for k, each in enumerate(lists)],
            index=overlap.index,
        ),
        overlap=overlap,
        notices=_announced(len(lists), overlap),
    )


def _checked(given: Iterable[Fit]) -> list[Fitted]:
    """Fits that can be pooled, all checked before anything is computed."""
    fits = [Fitted.of(each).generalising("pooling") for each in given]
    if len(fits) < 2:
        raise BayesBiasError(
            f"fits: {in_words(len(fits))} is too few to pool; give two fits or more, {in_words(FEW_LISTS)} to learn how"
            " lists differ"
        )
    names = [each.name for each in fits]
    for each in fits:
        _check_alone(each)
        _check_beside(each, fits[0])
        if names.count(each.name) > 1:
            raise BayesBiasError(
                f"fits: '{each.name}' is there {names.count(each.name)} times; pool different lists, by different names"
            )
    return fits


def _check_alone(fitted: Fitted) -> None:
    if not fitted.structure.COLLAPSED:
        raise ScopeError(
            f"fits: '{fitted.name}' is a fit of '{fitted.spec.name}', whose posterior is no mixture of normals;"
            " fit again with model='crossed'"
        )
    if problems := Diagnostics.of(fitted).problems:
        raise BayesBiasError(f"fits: '{fitted.name}' has not converged ({'; '.join(problems)})")


def _check_beside(one: Fitted, other: Fitted) -> None:
    """Numbers of another kind, of other vectors or under other priors are no draws from one population."""
    pair = f"'{one.name}' and '{other.name}'"
    if one.association != other.association:
        kinds = f"{one.association.plural} and {other.association.plural}"
        raise BayesBiasError(f"fits: {pair} hold {kinds}; pool biases of one kind")
    if _source(one) != _source(other):
        sources = f"'{_source(one)}' and '{_source(other)}'"
        raise BayesBiasError(f"fits: {pair} are of {sources}; pool lists of one embedding")
    if _settings(one) != _settings(other):
        models = f"'{one.spec.name}' and '{other.spec.name}'"
        raise BayesBiasError(
            f"fits: {pair} were fitted by {models}, whose priors or structure differ; fit all with one model"
        )


def _source(fitted: Fitted) -> str:
    return str(fitted.tree.attrs.get("embedding", "a table of numbers"))


def _settings(fitted: Fitted) -> tuple[object, ...]:
    return fitted.spec.structure, dict(fitted.spec.options), dict(fitted.spec.priors)


def _components(bias: Estimate) -> NDArray[np.float64]:
    """The standard deviations of the mixture, in as many equal parts, so that its variance remains what it is."""
    assert bias.mixture is not None
    variance = np.sort(bias.mixture.sd.to_numpy().ravel() ** 2)
    return np.sqrt([part.mean() for part in np.array_split(variance, _COMPONENTS)])


def _row(fitted: Fitted, pooled: Known, ci_prob: float) -> dict[str, float]:
    alone = row_of_bias(fitted, ci_prob=ci_prob)
    return {
        "bias": alone["mean"],
        **alone[["lower", "upper", "prob_direction"]],
        "pooled": pooled.mean,
        "pooled_lower": pooled.lower,
        "pooled_upper": pooled.upper,
        "pooled_prob_direction": pooled.prob_direction,
    }


def _overlap(fits: Sequence[Fitted]) -> pd.DataFrame:
    words = {each.name: _words(each) for each in fits}
    shared = [
        [len(own & others) / min(len(own), len(others)) for others in words.values()]
        for own in words.values()
    ]
    names = pd.Index(words, name="list")
    return pd.DataFrame(shared, index=names, columns=names.rename(None))


def _words(fitted: Fitted) -> set[str]:
    """All that a bias is a contrast of: control classes have no part in it."""
    data = fitted.data
    compared = np.isin(data.class_of.to_numpy(), compared_classes(data))
    return {*data.target.to_numpy().tolist(), *data.attribute.to_numpy()[compared].tolist()}


def _announced(count: int, overlap: pd.DataFrame) -> tuple[str, ...]:
    found = []
    if count < FEW_LISTS:
        found.append(
            f"{in_words(count)} lists say little of how much lists differ: the prior decides, and with it how far each"
            f" is drawn to the mean; {in_words(FEW_LISTS)} or more would tell"
        )
    one, other = max(combinations(overlap.index, 2), key=lambda pair: overlap.loc[pair])
    if most := overlap.loc[one, other]:
        found.append(
            f"lists share words, {one} and {other} {percent(most)} of those of the shorter one, and are not"
            " independent: the intervals of the mean and of a new list are too narrow"
        )
    announce(tuple(f"pool: {each}" for each in found))
    return tuple(found)
