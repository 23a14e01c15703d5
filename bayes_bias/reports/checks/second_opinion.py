"""Does a method without priors, that shares no scale between groups, say the same?"""

from collections.abc import Mapping
from itertools import combinations
from typing import cast, get_args

import numpy as np
from scipy.stats import f

from bayes_bias.associations.labels import SIDES
from bayes_bias.associations.table import UNEVEN
from bayes_bias.errors import MeasureError
from bayes_bias.estimands.facets import TARGETS, scope_of
from bayes_bias.formatting import equals, estimate, plain, probability
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.quasi_f import QuasiF, Sampled, quasi_f
from bayes_bias.reports.check import Check, Checker, Sentence, Study
from bayes_bias.results.summary import chance, row_of_bias

_COLUMNS = ("quasi_f", "quasi_f_lb", "quasi_f_ub", "quasi_f_p")
# Of the F test of two groups' variances: one report in a hundred warns for nothing.
_VARY_UNLIKE = 0.01
_DIFFERENT = "A finding of only one of the two is none to rest on; more words would settle it."


def _run(study: Study) -> Check:
    if study.scope not in get_args(Sampled):
        return Check(f"None: the quasi-F knows no scope '{study.scope}'.")
    try:
        found = quasi_f(study.table, cast(Sampled, study.scope), ci_prob=study.ci_prob)
    except MeasureError as error:
        return Check(f"None: {error}.")
    alpha, row = 1 - study.ci_prob, row_of_bias(study.fitted, study.scope, study.ci_prob)
    agree = (found.p_value < alpha) == (chance(float(row.prob_direction)) < alpha)
    ignorant = any(study.fitted.data.sizes.get(f"{side}_clustering") for side in SIDES)
    decimals = study.table.association.decimals
    told = f"{estimate(found.value, *found.interval, decimals)}, p {equals(probability(found.p_value))}"
    text = [
        "The quasi-F, which has no prior and lets words of each group and class vary by their own, says"
        f" {'the same' if agree else 'otherwise'}: {told}.",
        *(["It knows nothing of the sub-topics or pairs that the list names."] if ignorant else []),
        *([] if agree or ignorant else [_DIFFERENT]),
        *(_unlike(found, decimals) if TARGETS in scope_of(study.scope) else []),
    ]
    numbers = dict(zip(_COLUMNS, (found.value, *found.interval, found.p_value), strict=True))
    return Check(" ".join(text), numbers, alarm=not (agree or ignorant), found=(told, agree))


def _unlike(found: QuasiF, decimals: int) -> list[str]:
    """Groups whose words vary so differently that they should not share their scales, and whether it matters."""
    groups = found.sources.query("source == 'targets' and df > 0").set_index("cell")
    variance, words = groups.variance * (groups.df + 1), groups.df + 1
    told = []
    for pair in combinations(groups.index, 2):
        less, more = sorted(pair, key=variance.__getitem__)
        ratio = variance[more] / max(variance[less], ROUNDING**2)
        if 2 * f.sf(ratio, groups.df[more], groups.df[less]) < _VARY_UNLIKE:
            sizes = " and ".join(plain(float(np.sqrt(variance[each])), decimals) for each in (more, less))
            told.append(
                f"Targets of '{more}' differ more among themselves than those of '{less}' (standard deviations of what"
                f" they add to the bias {sizes}), and in the posterior groups share their scales:"
                f" {_consequence(words[more], words[less])}."
            )
    return told


def _consequence(of_more: float, of_less: float) -> str:
    """CALIBRATION.md, "Simulated tables"."""
    if of_more * UNEVEN <= of_less:
        return "its interval is too short, since the group that varies more is the shorter one"
    if of_less * UNEVEN <= of_more:
        return "its interval is too long, since the group that varies more is the longer one"
    return "with lists of like length that matters little"


def _methods(checks: Mapping[str, Check]) -> Sentence:
    made = {name: check.found for name, check in checks.items() if check.found is not None}
    if not made:
        return ()
    other = [name for name, (_, agree) in made.items() if not agree]
    said = f"disagreed with the posterior about {', '.join(other)}" if other else "agreed with the posterior"
    found = "; ".join(f"{name}: {told}" for name, (told, _) in made.items())
    return (f"About what is distinguishable from zero the quasi-F, for which see below, {said} ({found}).",)


CHECKER = Checker("second-opinion", "Second opinion", _COLUMNS, _run, _methods)
