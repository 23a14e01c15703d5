"""Names of a module."""

import ast
from collections import Counter
from pathlib import Path

import bayes_bias

PACKAGE = Path(bayes_bias.__file__).parent


def test_no_module_assigns_a_constant_twice() -> None:
    """No linter finds two constants with one name, which happens if two modules become one."""
    repeated = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        statements = ast.parse(path.read_text(encoding="utf-8")).body
        assigned: Counter[str] = Counter()
        for statement in statements:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign) and statement.value is not None:
                targets = [statement.target]
            names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            all_names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            loaded = {node.id for node in all_names if isinstance(node.ctx, ast.Load)}
            # A statement may continue a constant by its earlier value, as in `A = A / A.sum()`.
            assigned.update({node.id for node in names} - loaded)
        if twice := [name for name, times in assigned.items() if times > 1]:
            repeated[str(path.relative_to(PACKAGE))] = twice
    assert repeated == {}
