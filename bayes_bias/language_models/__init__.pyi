"""Models that read sentences: vectors, probabilities, scores. torch is imported when a model is opened."""

from .encoders import Encoder as Encoder
from .encoding import encode as encode
from .encoding import sentences_to_encode as sentences_to_encode
from .hugging_face import SentenceEncoder as SentenceEncoder
from .hugging_face import load_encoder as load_encoder
from .likelihoods import CausalModel as CausalModel
from .likelihoods import MaskedModel as MaskedModel
from .likelihoods import load_causal as load_causal
from .likelihoods import load_masked as load_masked
from .vectors_from_elsewhere import embedding_from_sentences as embedding_from_sentences
