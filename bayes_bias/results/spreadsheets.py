"""CSV whose words a spreadsheet shows as they are, and never runs as formulas."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

# What a spreadsheet takes for a formula (https://owasp.org/www-community/attacks/CSV_Injection), and what would be
# taken for such a word with its quote.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def csv_text(frame: pd.DataFrame, *, index: bool = True) -> str:
    """A frame as CSV, in full precision; a single quote before every text that begins with = + - @, a tab or a return.

    Examples
    --------
    >>> csv_text(pd.DataFrame({"word": ["=1+1", "rose"], "value": [-0.5, 1.0]}), index=False).splitlines()
    ['word,value', "'=1+1,-0.5", 'rose,1.0']
    """
    flat = frame.reset_index() if index else frame
    # Quoted is what ends a line: with this ending also a lone return, at which readers would begin a new one.
    text = flat.rename(columns=_quoted).map(_quoted).to_csv(index=False, lineterminator="\r\n")
    return str(text).replace("\r\n", "\n")


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file with its words as they were before `csv_text`."""
    return pd.read_csv(path, **options).rename(columns=_unquoted).map(_unquoted)


def _quoted(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _unquoted(value: Any) -> Any:
    quoted = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if quoted else value
