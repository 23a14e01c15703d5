"""True-positive-rate gaps of a classifier: size, uncertainty, and correlation with the bias of words."""

import lazy_loader

from bayes_bias.errors import optional

# `__init__.pyi` lists the public names. Each name is imported when it is first used.
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = optional()(_public)
