"""Corpora whose bias is known, models trained on them, and what every measure says."""

import lazy_loader

# `__init__.pyi` names what is public; each is imported when it is first asked for.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
