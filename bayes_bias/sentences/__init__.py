"""From words to sentences: what a word is in a sentence, and the templates it stands in."""

from bayes_bias.sentences.cloze import Cloze
from bayes_bias.sentences.templates import Pair, Sentence, Templates, load_templates, template_names
from bayes_bias.sentences.word_classes import word_class, word_classes

__all__ = [
    "Cloze",
    "Pair",
    "Sentence",
    "Templates",
    "load_templates",
    "template_names",
    "word_class",
    "word_classes",
]
