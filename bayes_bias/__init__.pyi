"""The public names and where they are: `__init__.py` loads each when it is asked for."""

from . import measures as measures
from . import plots as plots
from .associations.association import Association as Association
from .associations.combining import replicated as replicated
from .associations.cosine import cosines as cosines
from .associations.table import Associations as Associations
from .checks.calibration import calibrate as calibrate
from .checks.predictive import predictive as predictive
from .checks.prior_predictive import prior_predictive as prior_predictive
from .checks.stability import stability as stability
from .debiasing.compare import compare as compare
from .debiasing.hard import hard_debias as hard_debias
from .debiasing.pairwise import pairwise as pairwise
from .embeddings import open_embedding as open_embedding
from .embeddings import save_vectors as save_vectors
from .inference.sampling import Sampling as Sampling
from .inference.sampling import fit as fit
from .inference.storage import load_fit as load_fit
from .inference.storage import save_fit as save_fit
from .models.spec import ModelSpec as ModelSpec
from .models.spec import load_spec as load_spec
from .models.word_effects import word_effects as word_effects
from .reports import report as report
from .reports import write as write
from .results.contrast import contrast as contrast
from .results.design import plan as plan
from .results.draws import draws as draws
from .results.pooling import pool as pool
from .results.summary import summarize as summarize
from .results.verdict import verdict as verdict
from .sentence_pairs.asking import pairs as pairs
from .words.wordlist import WordList as WordList
from .words.wordlist import load_wordlist as load_wordlist

__version__: str
