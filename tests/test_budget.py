"""The budget of code counts lines of code alone, and names each subpackage that is above its limit."""

from collections import Counter

from scripts.check_budget import code_lines, excesses

SOURCE = '''"""Page."""

import math
from collections import (
    Counter,
)


def root(x: float) -> float:
    """Return a root.

    A second paragraph.
    """
    # A comment.
    text = """two
lines"""
    return math.sqrt(x) if text else 0.0
'''


def test_code_lines_omit_docstrings_comments_and_imports() -> None:
    assert code_lines(SOURCE) == 4


def test_excesses_name_subpackages_above_their_limit() -> None:
    counts = Counter({"words": 12, "table": 5, "new": 1})
    found = excesses(counts, {"words": 11, "table": 5})
    assert found == [
        "new: has 1 lines of code, and no limit in pyproject.toml",
        "words: has 12 lines of code, and its limit is 11. Delete, or raise the limit",
    ]
