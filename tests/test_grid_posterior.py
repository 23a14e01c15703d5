"""The posterior on a grid, by which thousands of lists are judged, is that of the sampler."""

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.models.spec import load_spec
from bayes_bias.table.labels import HOMES, SIDES
from benchmarks.grid_posterior import Split, Words, chance, half_width, variances_of_bias


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how"), [("weat6", None), ("weat7", None), ("weat7", "independent")])
def test_the_grid_and_the_sampler_agree(name, how):
    table = bb.cosines(name, "googlenews-demo", (), sub_topics=how)
    row = bb.summarize(bb.fit(table), words=False).loc["bias", "overall"]
    split = Split.of(table.values.to_numpy())
    variances = variances_of_bias(split, words_of(table), load_spec("crossed"))
    assert split.bias == pytest.approx(row["mean"])
    assert half_width(variances) == pytest.approx((row.eti95_ub - row.eti95_lb) / 2, rel=0.03)
    assert chance(variances, split.bias) == pytest.approx(2 * (1 - row.prob_direction), abs=0.01)
    found = bb.measures.quasi_f(table)
    assert split.quasi_f == pytest.approx((found.se, found.df))


def words_of(table: bb.AssociationTable) -> list[Words]:
    homes = []
    for side, names in zip(SIDES, (table.groups, table.classes), strict=True):
        of_words = table.values[HOMES[side]].to_numpy()
        for name in names:
            own = of_words == name
            if not table.has_related_words:
                homes.append(Words(np.arange(own.sum()), 0.0))
                continue
            cluster, share = (table.values[f"{side}_{what}"].to_numpy()[own] for what in ("related", "share"))
            homes.append(Words(np.unique(cluster, return_inverse=True)[1], float(share[0])))
    return homes
