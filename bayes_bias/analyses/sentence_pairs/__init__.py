"""Benchmarks of sentence pairs: scores of a language model, and shares and differences with their uncertainty."""

import lazy_loader

from bayes_bias.errors import optional

# `__init__.pyi` lists the public names. Each name is imported when it is first used.
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = optional()(_public)
