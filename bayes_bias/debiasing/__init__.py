"""Debiasing methods, and comparisons of words before and after debiasing."""

import lazy_loader

# `__init__.pyi` lists the public names. Each is imported when it is first accessed.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
