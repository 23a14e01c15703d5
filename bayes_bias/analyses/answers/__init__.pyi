"""Answers of chat models that assign words to labels: D, with labels, wordings and words as samples."""

from .agreement import Agreement as Agreement
from .agreement import compare as compare
from .asking import prompts as prompts
from .estimation import estimate as estimate
from .estimation import pymc_model as pymc_model
from .lists import wordlists as wordlists
from .model_contrasts import ModelContrasts as ModelContrasts
from .model_contrasts import compare_models as compare_models
from .replies import choices as choices
from .replies import published_answers as published_answers
from .results import AnswersChange as AnswersChange
from .results import ModelAnswers as ModelAnswers
from .value_estimates import ValueEstimates as ValueEstimates
from .value_estimates import estimate_values as estimate_values
from .value_replies import label_probabilities as label_probabilities
from .value_replies import numbers as numbers
