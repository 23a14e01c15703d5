"""Is a word embedding biased, how sure can you be, and did debiasing change anything?"""

import copyreg
from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import lazy_loader

from bayes_bias.errors import optional

# `__init__.pyi` lists the public names. Each is imported when it is first accessed.
_public, _, _names = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = optional()(_public)

__version__ = version("bayes-bias")

# Types that functions return or that few users create. These types can be imported from here, but are not listed.
TYPES = frozenset(
    {
        "Calibration",
        "ChangeInSpread",
        "Cloze",
        "Comparison",
        "Contrast",
        "CriterionValidity",
        "Embedding",
        "Gate",
        "Grid",
        "LanguageModelColumn",
        "Metric",
        "ModelSpec",
        "Multiverse",
        "OverTime",
        "PooledLists",
        "PublishedFinding",
        "RelatedWords",
        "Registration",
        "Report",
        "ShareRemoved",
        "SliceContrast",
        "Stability",
        "Sweep",
        "Templates",
        "Verdict",
        "WordList",
    }
)
__all__ = sorted([*(name for name in _names if name not in TYPES), "__version__"])


def __dir__() -> list[str]:
    return list(__all__)


def _read_only(mapping: Mapping[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


# Records contain read-only mappings, which Python cannot pickle or copy by default. This registration lets records be
# passed to worker processes.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))
