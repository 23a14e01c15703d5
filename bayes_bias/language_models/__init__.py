"""Language models that return vectors, probabilities, or scores of sentences. torch is imported only when needed."""

import lazy_loader

# `__init__.pyi` lists the public names. Each is imported when it is first accessed.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
