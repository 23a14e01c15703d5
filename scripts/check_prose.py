"""Count patterns of odd English per 1,000 words, and fail if a kind of text has more, or less, than its limit.

Run `python scripts/check_prose.py`, or `--show PATTERN` to print the sentences. The limits are close to the rates in
the documentation of seaborn and scikit-learn. CONTRIBUTING.md describes the style.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PATTERNS = {
    "says": r"\b(says?|said)\b(?! that you)",
    "what-clause": r"\bwhat (is|are|it|they|a|an|the|was|were|words|each|both|one|others?|lists?|noise|random)\b",
    "that-of": r"\b(that|those) of\b",
    "give": r"; (give|say|mend|leave|use|ask)\b",
    "semicolons": r";",
    "you": r"\b[Yy]ours?\b|\b[Yy]ou\b",
    "can": r"\b(can|may)\b",
    "connectives": r"\b(however|therefore|instead|also|because|so that|for example|although|whereas|thus)\b",
}
_DOCS = {"says": 1.0, "what-clause": 1.0, "that-of": 0.5, "semicolons": 1.5}
MOST = {
    "README": _DOCS,
    "user docs": _DOCS,
    "docstrings": {"that-of": 0.85, "semicolons": 4.0},
    "messages": {"give": 2.0, "semicolons": 6.0},
}
LEAST = {
    "README": {"you": 8.0, "can": 7.0, "connectives": 4.5},
    "user docs": {"you": 8.0, "can": 7.0, "connectives": 4.5},
}
# Pages that are rendered from results, or are not for users.
_OTHER_DOCS = {"evidence", "contributing", "api", "commands"}
_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def prose_of(page: Path) -> str:
    """Return the prose of a Markdown file, without code, tables, and links."""
    text = re.sub(r"```.*?```", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\A---$.*?^---$", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$", " ", text, flags=re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]+>", " x ", text)


def texts_of(package: Path) -> tuple[str, str]:
    """Return all docstrings of a package, and all other texts of at least four words."""
    docstrings, messages = [], []
    for path in sorted(package.rglob("*.py")):
        tree, documented = ast.parse(path.read_text(encoding="utf-8")), set()
        for node in ast.walk(tree):
            if isinstance(node, _DEFINITIONS) and (text := ast.get_docstring(node)):
                docstrings.append(re.sub(r"^\s*(>>>|\.\.\.).*$", "", text, flags=re.MULTILINE))
                documented.add(id(node.body[0].value))
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
            if is_text and len(node.value.split()) >= 4:
                messages.append(node.value)
    return "\n\n".join(docstrings), "\n\n".join(messages)


def all_texts() -> dict[str, str]:
    """Return the text of each kind."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if not _OTHER_DOCS & set(page.parts)]
    docstrings, messages = texts_of(ROOT / "bayes_bias")
    user_docs = "\n".join(prose_of(page) for page in sorted(pages))
    return {
        "README": prose_of(ROOT / "README.md"),
        "user docs": user_docs,
        "docstrings": docstrings,
        "messages": messages,
    }


def show(pattern: str) -> None:
    """Print the sentences with a pattern."""
    for kind, text in all_texts().items():
        for sentence in re.split(r"(?<=[.!?])\s+|\n\n", text):
            if re.search(PATTERNS[pattern], sentence):
                print(f"{kind}: {' '.join(sentence.split())}")


def main() -> int:
    """Print the rates beyond their limits, and return how many there are."""
    beyond = 0
    for kind, text in all_texts().items():
        for name, pattern in PATTERNS.items():
            rate = 1000 * len(re.findall(pattern, text)) / len(text.split())
            most, least = MOST[kind].get(name, float("inf")), LEAST.get(kind, {}).get(name, 0.0)
            if not least <= rate <= most:
                limit = f"at most {most}" if rate > most else f"at least {least}"
                print(f"{kind}: {name} {rate:.2f} per 1,000 words, expected {limit}")
                beyond += 1
    return beyond


if __name__ == "__main__":
    if "--show" in sys.argv:
        show(sys.argv[-1])
        sys.exit()
    sys.exit(main())
