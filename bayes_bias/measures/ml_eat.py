"""ML-EAT, the multilevel embedding association test (Wolfe, Hiniker & Howe 2024)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.measures.designs import two_by_two
from bayes_bias.measures.permutation import separated
from bayes_bias.measures.registry import Occasion, Result, measure
from bayes_bias.measures.weat import weat
from bayes_bias.table.association_table import AssociationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class MlEat(Result):
    """Result of ML-EAT. `value` and `p_value` belong to level 1, which is WEAT.

    Attributes
    ----------
    groups : pandas.DataFrame
        Level 2: the `effect_size` of each single group, its `p_value`, and its `largest` possible value. The effect
        size is positive if the group is closer to its own class.
    cells : pandas.DataFrame
        Level 3: the `mean` and `sd` of the cosines of each group with each class.
    """

    measure: str = "ML-EAT"

    groups: pd.DataFrame
    cells: pd.DataFrame


def ml_eat(table: AssociationTable, *, permutations: int | None = None, seed: int = 0) -> MlEat:
    r"""Compute which group and which class contribute to the effect size of WEAT.

    Level 1 is WEAT. Level 2 measures each group separately, with the mean cosine of each attribute with the targets of
    the group:

    .. math:: s(a, X) = \mathrm{mean}_{x \in X} \cos(x, a), \qquad
              d(X) = \frac{\mathrm{mean}_{a \in A} s(a, X) - \mathrm{mean}_{b \in B} s(b, X)}
                          {\mathrm{sd}_{c \in A \cup B} s(c, X)}

    where A is the class of the group, and B is the other class. In contrast, A is the first class for both groups in
    the paper, so d(Y) has the opposite sign there. Level 3 is the mean and standard deviation of the cosines in each
    cell.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes, with two words or more in each. The table must be complete, without
        repeats.
    permutations, seed
        See `weat`.

    Raises
    ------
    MeasureError
        If `weat` raises an error, or if all attributes have equal scores.

    Notes
    -----
    p-values come from permutations, of the targets in level 1 and of the attributes in level 2. The authors' code uses
    a normal approximation instead, and reports the smaller tail. Level 2 misleads in the same way as WEAT, because d is
    in units of the spread between *these* attributes. The estimand `group_bias` of the posterior is the same contrast,
    with an interval.

    References
    ----------
    Wolfe, R., Hiniker, A. & Howe, B. (2024). ML-EAT: A multilevel embedding association test for interpretable and
    transparent social science. AIES. https://doi.org/10.48550/arXiv.2408.01966

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = ml_eat(cosines("weat7", "googlenews-demo", controls=()))
    >>> result.groups.effect_size.round(2).to_dict(), result.cells.shape
    ({'math': -0.48, 'arts': 1.22}, (4, 2))
    """
    level_1 = weat(table, permutations=permutations, seed=seed)
    table = table.without_controls()
    design = two_by_two(table, "ML-EAT", least_words=2)
    rows, cells = {}, {}
    for k, name in enumerate(table.groups):
        members = slice(design.n_x) if k == 0 else slice(design.n_x, None)
        to_class = [design.to_a[members], design.to_b[members]]
        test = separated(
            to_class[k].mean(axis=0),
            to_class[1 - k].mean(axis=0),
            f"ML-EAT is not defined, because all attributes have the same mean cosine with {name}",
            alternative="greater",
            permutations=permutations,
            seed=seed,
        )
        rows[name] = {"effect_size": test["value"], "p_value": test["p_value"], "largest": test["range"][1]}
        for class_name, block in zip(table.associated_classes, to_class, strict=True):
            cells[name, class_name] = {"mean": float(block.mean()), "sd": float(np.std(block, ddof=1))}
    return MlEat(
        value=level_1.value,
        range=level_1.range,
        p_value=level_1.p_value,
        groups=pd.DataFrame.from_dict(rows, orient="index").rename_axis("group"),
        cells=pd.DataFrame.from_dict(cells, orient="index").rename_axis(["group", "attribute_class"]),
    )


@measure("ML-EAT", rank=18)
def _on(occasion: Occasion) -> pd.DataFrame:
    """Return one row for each group. The row of WEAT contains level 1."""
    result = ml_eat(occasion.table, permutations=occasion.permutations, seed=occasion.seed)
    rows = []
    for name, effect_size, p_value, largest in result.groups.itertuples():
        level_2 = Result(measure=f"ML-EAT: {name}", value=effect_size, range=(-largest, largest), p_value=p_value)
        rows.append(level_2.to_frame(occasion.ci_prob))
    return pd.concat(rows)
