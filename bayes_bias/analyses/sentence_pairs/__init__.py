"""Benchmarks of sentence pairs: scores of a language model, shares and differences with their uncertainty."""

import lazy_loader

# `__init__.pyi` names what is public; each is imported when it is first asked for.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
