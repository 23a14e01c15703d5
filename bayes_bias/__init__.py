"""Is a word embedding biased, how sure can one be, and did debiasing change anything?"""

from importlib.metadata import version

import lazy_loader

# `__init__.pyi` names what is public; each is imported when it is first asked for.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = version("bayes-bias")
__all__ = sorted([*__all__, "__version__"])
