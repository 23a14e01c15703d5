"""Analyses: each a folder with its function, its result, its page and its plots."""

from . import answers as answers
from . import sentence_pairs as sentence_pairs
from . import tpr_gaps as tpr_gaps
