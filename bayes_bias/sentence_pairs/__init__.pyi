"""Benchmarks of sentence pairs: scores of a model, shares and differences with their uncertainty."""

from .estimating import estimate as estimate
from .estimating import pymc_model as pymc_model
from .pair_results import SentencePairs as SentencePairs
from .pair_results import SentencePairsChange as SentencePairsChange
from .pair_scores import PairScores as PairScores
from .scoring import score as score
from .stereoset_scores import stereoset as stereoset
