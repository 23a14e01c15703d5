"""Is a word embedding biased, how sure can one be, and did debiasing change anything?"""

from importlib.metadata import version

from bayes_bias import measures, plots
from bayes_bias.associations.association import Association
from bayes_bias.associations.cosine import cosines
from bayes_bias.associations.table import Associations
from bayes_bias.checks.calibration import calibrate
from bayes_bias.debiasing.compare import compare
from bayes_bias.debiasing.hard import hard_debias
from bayes_bias.embeddings import open_embedding, save_vectors
from bayes_bias.inference.sampling import Sampling, fit
from bayes_bias.inference.storage import load_fit, save_fit
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.word_effects import word_effects
from bayes_bias.reports import report, write
from bayes_bias.results.design import plan
from bayes_bias.results.summary import summarize
from bayes_bias.results.verdict import verdict
from bayes_bias.words.wordlist import WordList, load_wordlist

__version__ = version("bayes-bias")

__all__ = [
    "Association",
    "Associations",
    "ModelSpec",
    "Sampling",
    "WordList",
    "__version__",
    "calibrate",
    "compare",
    "cosines",
    "fit",
    "hard_debias",
    "load_fit",
    "load_spec",
    "load_wordlist",
    "measures",
    "open_embedding",
    "plan",
    "plots",
    "report",
    "save_fit",
    "save_vectors",
    "summarize",
    "verdict",
    "word_effects",
    "write",
]
