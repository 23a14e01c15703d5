"""Models that read sentences: vectors, probabilities, scores. torch is imported when a model is opened."""

from .causal import CausalModel as CausalModel
from .causal import load_causal as load_causal
from .encoders import Encoder as Encoder
from .encoding import encode as encode
from .encoding import sentences_to_encode as sentences_to_encode
from .hugging_face import SentenceEncoder as SentenceEncoder
from .hugging_face import load_encoder as load_encoder
from .masked import MaskedModel as MaskedModel
from .masked import load_masked as load_masked
from .vectors_from_elsewhere import embedding_from_sentences as embedding_from_sentences
