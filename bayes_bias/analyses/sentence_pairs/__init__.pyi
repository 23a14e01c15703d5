"""Benchmarks of sentence pairs: scores of a model, shares and differences with their uncertainty."""

from .estimation import estimate as estimate
from .estimation import pymc_model as pymc_model
from .lm_eval import lm_eval as lm_eval
from .model_contrasts import PairContrasts as PairContrasts
from .model_contrasts import compare_models as compare_models
from .results import SentencePairs as SentencePairs
from .results import SentencePairsChange as SentencePairsChange
from .scores import PairScores as PairScores
from .scoring import score as score
from .stereoset import stereoset as stereoset
from .stereoset import stereotype_pairs as stereotype_pairs
