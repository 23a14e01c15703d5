"""Published bias measures.

Each measure has its own file, and all measures are computed from the same tables or vectors.
"""

from bayes_bias.embeddings.word_vectors import defining_subspace, pair_direction
from bayes_bias.measures.ceat import Ceat, ceat
from bayes_bias.measures.crossed_test import CrossedTest, StudentTest
from bayes_bias.measures.direct_bias import direct_bias
from bayes_bias.measures.ect import ect
from bayes_bias.measures.gonen_goldberg import bias_towards, classification, clustering, most_biased, neighbours
from bayes_bias.measures.gweat import gweat
from bayes_bias.measures.lpbs import lpbs
from bayes_bias.measures.mac import MacChange, mac, mac_change
from bayes_bias.measures.measure_table import MeasureTable, measure_all
from bayes_bias.measures.ml_eat import MlEat, ml_eat
from bayes_bias.measures.pair_dir import PairDir, pair_dir
from bayes_bias.measures.permutation import Separation
from bayes_bias.measures.pigeonhole import Pigeonhole, pigeonhole
from bayes_bias.measures.quasi_f import MinF, QuasiF, min_f, quasi_f
from bayes_bias.measures.registry import Occasion, Result, WordResult, measure
from bayes_bias.measures.relative_norm import relative_norm
from bayes_bias.measures.reml import Reml, reml
from bayes_bias.measures.ripa import ripa
from bayes_bias.measures.rnsb import rnsb
from bayes_bias.measures.robustness import Robustness, chance_effect_sizes, half_lists, robustness
from bayes_bias.measures.same import Same, same
from bayes_bias.measures.sd_weat import SdWeat, sd_weat
from bayes_bias.measures.seat import Seat, seat
from bayes_bias.measures.semaxis import semaxis
from bayes_bias.measures.unmasking import unmasking
from bayes_bias.measures.weat import Weat, weat
from bayes_bias.measures.wefat import wefat

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
