"""Count the lines of code of each subpackage, and fail above a limit in pyproject.toml.

    python scripts/check_budget.py

A line of code has a token that belongs to no docstring, comment, or import. If you raise a limit, the message of the
commit says why the code is needed, and what was deleted for it. Part of `make lint`.
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bayes_bias"

_NO_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def code_lines(source: str) -> int:
    """Return the number of lines of code.

    Examples
    --------
    >>> code_lines('import math\\n\\n\\ndef root(x):\\n    "Return a root."\\n    return math.sqrt(x)  # of x\\n')
    2
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            lines -= _lines_of(node.body[0])
        if isinstance(node, _IMPORTS):
            lines -= _lines_of(node)
    return len(lines)


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def lines_by_subpackage(package: Path) -> Counter[str]:
    """Return the lines of code of each subpackage. Analyses are counted one by one, and modules at the root as "."."""
    counts: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        *folders, _ = path.relative_to(package).parts
        name = "/".join(folders[:2] if folders[:1] == ["analyses"] else folders[:1]) or "."
        counts[name] += code_lines(path.read_text(encoding="utf-8"))
    return counts


def excesses(counts: Counter[str], limits: dict[str, int]) -> list[str]:
    """Return a sentence for each subpackage that is above its limit or has none."""
    lines = []
    for name, count in sorted(counts.items()):
        if name not in limits:
            lines.append(f"{name}: has {count} lines of code, and no limit in pyproject.toml")
        elif count > limits[name]:
            lines.append(
                f"{name}: has {count} lines of code, and its limit is {limits[name]}. Delete, or raise the limit"
            )
    return lines


def main() -> None:
    """Compare the package with its limits."""
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["bayes-bias"]["most-lines"]
    counts = lines_by_subpackage(PACKAGE)
    for name, count in counts.most_common():
        print(f"{count:6,} of {limits.get(name, 0):6,}  {name}")
    print(f"{counts.total():6,} of {sum(limits.values()):6,}  lines of code in all")
    lines = excesses(counts, limits)
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
