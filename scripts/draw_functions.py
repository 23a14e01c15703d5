"""Draw random functions of several packages for blind readers: `python scripts/draw_functions.py SEED PATH=NUMBER ...`.

CONTRIBUTING.md contains the instructions for readers. Each path is the folder of a package. The functions have 5 to 45
lines without their docstring, and their names of packages are removed. `functions.md` is for the readers, and
`functions.json` contains the origin of each function.
"""

import ast
import json
import random
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

_SHORTEST, _LONGEST = 5, 45
_NAMES = re.compile(r"bayes[_-]bias|arviz[_-]\w+|arviz|causalpy|\b(bb|az|cp)\.", re.IGNORECASE)


def functions_of(package: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the source of each function of a package, with its docstring and without indentation."""
    for path in sorted(package.rglob("*.py")):
        if "tests" in path.parts:
            continue
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body and _SHORTEST <= body[-1].end_lineno - body[0].lineno + 1 <= _LONGEST:
                start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                lines = source.splitlines()[start - 1 : node.end_lineno]
                yield f"{path}:{start} {node.name}", textwrap.dedent("\n".join(lines))


def main(seed: str, *samples: str) -> None:
    """Write both files into the current folder."""
    rng = random.Random(int(seed))
    drawn = []
    for sample in samples:
        folder, _, number = sample.partition("=")
        drawn += rng.sample(list(functions_of(Path(folder))), int(number))
    rng.shuffle(drawn)
    blocks = [f"## {k}\n\n```python\n{_NAMES.sub('pkg', source)}\n```\n" for k, (_, source) in enumerate(drawn, 1)]
    Path("functions.md").write_text("\n".join(blocks), encoding="utf-8")
    origins = {k: place for k, (place, _) in enumerate(drawn, 1)}
    Path("functions.json").write_text(json.dumps(origins, indent=0), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
