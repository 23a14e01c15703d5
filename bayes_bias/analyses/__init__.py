"""Analyses. Each folder contains the function of an analysis, its result class, its report page, and its plots."""

import lazy_loader

# `__init__.pyi` lists the analyses that are public subpackages.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
