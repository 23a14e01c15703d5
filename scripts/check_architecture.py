"""Does ARCHITECTURE.md name every module of the package, and none that is not there?

    python scripts/check_architecture.py

Prints each difference in one line and exits with 1 where there is one; part of `make lint`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "bayes_bias"
MOST_AT_THE_ROOT = 8

_ROW = re.compile(rf"^\| `({PACKAGE}[\w/]*)` \| ((?:`\w+` ?)+) \|", re.MULTILINE)


def told(page: str) -> dict[str, set[str]]:
    """The modules of each folder, as the page has them."""
    return {folder: set(re.findall(r"`(\w+)`", modules)) for folder, modules in _ROW.findall(page)}


def found(root: Path) -> dict[str, set[str]]:
    """The modules of each folder, as they are."""
    folders = {path.parent for path in (root / PACKAGE).rglob("*.py")}
    return {
        folder.relative_to(root).as_posix(): {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
        for folder in folders
    }


def differences(page: dict[str, set[str]], tree: dict[str, set[str]]) -> list[str]:
    """What one has and the other lacks, in sentences."""
    lines = [f"{folder}: is in the tree, and ARCHITECTURE.md has no row for it" for folder in tree.keys() - page.keys()]
    lines += [f"{folder}: has a row in ARCHITECTURE.md, and is not in the tree" for folder in page.keys() - tree.keys()]
    for folder in page.keys() & tree.keys():
        lines += [f"{folder}/{name}.py: is not in ARCHITECTURE.md" for name in tree[folder] - page[folder]]
        lines += [f"{folder}/{name}.py: is in ARCHITECTURE.md alone" for name in page[folder] - tree[folder]]
    if len(tree[PACKAGE]) >= MOST_AT_THE_ROOT:
        lines.append(
            f"{PACKAGE}: has {len(tree[PACKAGE]) + 1} modules at the root, at most {MOST_AT_THE_ROOT} are meant"
        )
    return sorted(lines)


def main() -> None:
    """Compare page and tree."""
    lines = differences(told((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")), found(ROOT))
    print("\n".join(lines) or "ARCHITECTURE.md names every module")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
