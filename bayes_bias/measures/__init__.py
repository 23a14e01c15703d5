"""The measures of the literature, each on the same table or vectors, each in one file."""

from bayes_bias.embeddings.subspace import defining_subspace, pair_direction
from bayes_bias.measures.biased_words import bias_towards, most_biased
from bayes_bias.measures.ceat import Ceat, ceat
from bayes_bias.measures.chance import chance_effect_sizes
from bayes_bias.measures.classification import Classification, classification
from bayes_bias.measures.clustering import Clustering, clustering
from bayes_bias.measures.direct_bias import DirectBias, direct_bias
from bayes_bias.measures.gweat import Gweat, gweat
from bayes_bias.measures.lpbs import Lpbs, lpbs
from bayes_bias.measures.mac import Mac, MacChange, mac, mac_change
from bayes_bias.measures.measure_result import Result
from bayes_bias.measures.measure_table import MeasureTable, measure_all
from bayes_bias.measures.neighbours import Neighbours, neighbours
from bayes_bias.measures.quasi_f import QuasiF, quasi_f
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.relative_norm import RelativeNorm, relative_norm
from bayes_bias.measures.ripa import Ripa, ripa
from bayes_bias.measures.robustness import Robustness, half_lists, robustness
from bayes_bias.measures.same import Same, same
from bayes_bias.measures.sd_weat import SdWeat, sd_weat
from bayes_bias.measures.seat import Seat, seat
from bayes_bias.measures.unmasking import Unmasking, unmasking
from bayes_bias.measures.weat import Weat, weat
from bayes_bias.measures.wefat import Wefat, wefat

__all__ = [
    "Ceat",
    "Classification",
    "Clustering",
    "DirectBias",
    "Gweat",
    "Lpbs",
    "Mac",
    "MacChange",
    "MeasureTable",
    "Neighbours",
    "Occasion",
    "QuasiF",
    "RelativeNorm",
    "Result",
    "Ripa",
    "Robustness",
    "Same",
    "SdWeat",
    "Seat",
    "Unmasking",
    "Weat",
    "Wefat",
    "bias_towards",
    "ceat",
    "chance_effect_sizes",
    "classification",
    "clustering",
    "defining_subspace",
    "direct_bias",
    "gweat",
    "half_lists",
    "lpbs",
    "mac",
    "mac_change",
    "measure",
    "measure_all",
    "most_biased",
    "neighbours",
    "pair_direction",
    "quasi_f",
    "relative_norm",
    "ripa",
    "robustness",
    "same",
    "sd_weat",
    "seat",
    "unmasking",
    "weat",
    "wefat",
]
