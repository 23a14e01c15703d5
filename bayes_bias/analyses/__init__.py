"""Analyses: each a folder with its function, its result, its page and its plots."""

import lazy_loader

# `__init__.pyi` names the analyses whose functions have a namespace.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
