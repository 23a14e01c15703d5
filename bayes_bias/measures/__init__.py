"""Published bias measures.

Related measures are in one module, and all measures are computed from the same tables or vectors.
"""

from bayes_bias.embeddings.word_vectors import defining_subspace, pair_direction
from bayes_bias.measures.crossed_tests import (
    CrossedTest,
    MinF,
    Pigeonhole,
    QuasiF,
    Reml,
    StudentTest,
    min_f,
    pigeonhole,
    quasi_f,
    reml,
)
from bayes_bias.measures.directions import PairDir, direct_bias, pair_dir, relative_norm, ripa, semaxis
from bayes_bias.measures.ect import ect
from bayes_bias.measures.gonen_goldberg import bias_towards, classification, clustering, most_biased, neighbours
from bayes_bias.measures.mac import MacChange, mac, mac_change
from bayes_bias.measures.masked import lpbs, unmasking
from bayes_bias.measures.measure_table import MeasureTable, measure_all
from bayes_bias.measures.other_words import Robustness, chance_effect_sizes, half_lists, robustness
from bayes_bias.measures.permutation import Separation
from bayes_bias.measures.registry import Occasion, Result, WordResult, measure
from bayes_bias.measures.rnsb import rnsb
from bayes_bias.measures.same import Same, same
from bayes_bias.measures.seat import Ceat, Seat, ceat, seat
from bayes_bias.measures.weat import MlEat, SdWeat, Weat, gweat, ml_eat, sd_weat, weat, wefat

__all__ = [
    "Ceat",
    "CrossedTest",
    "MacChange",
    "MeasureTable",
    "MinF",
    "MlEat",
    "Occasion",
    "PairDir",
    "Pigeonhole",
    "QuasiF",
    "Reml",
    "Result",
    "Robustness",
    "Same",
    "SdWeat",
    "Seat",
    "Separation",
    "StudentTest",
    "Weat",
    "WordResult",
    "bias_towards",
    "ceat",
    "chance_effect_sizes",
    "classification",
    "clustering",
    "defining_subspace",
    "direct_bias",
    "ect",
    "gweat",
    "half_lists",
    "lpbs",
    "mac",
    "mac_change",
    "measure",
    "measure_all",
    "min_f",
    "ml_eat",
    "most_biased",
    "neighbours",
    "pair_dir",
    "pair_direction",
    "pigeonhole",
    "quasi_f",
    "relative_norm",
    "reml",
    "ripa",
    "rnsb",
    "robustness",
    "same",
    "sd_weat",
    "seat",
    "semaxis",
    "unmasking",
    "weat",
    "wefat",
]
