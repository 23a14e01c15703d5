"""Add the documentation that `make docs` built to the site of all versions: `python scripts/add_docs_version.py SITE`.

The site is a folder of plain files for any host: a folder for each version, the newest one also as `stable`, a list of
all (`versions.html`), a start page that leads to `stable`, and a `404.html`.
"""

import re
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>bayes_bias</title>\n{}\n</html>\n'


def main(site: Path, built: Path = ROOT / "docs" / "_build" / "html") -> None:
    """Copy the pages, and write what is around them."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    _copy(built, site / version)
    versions = sorted((each.name for each in site.iterdir() if re.fullmatch(r"\d+(\.\d+)*", each.name)), key=_order)
    if version == versions[-1]:
        _copy(built, site / "stable")
        shutil.copy(built / "404.html", site / "404.html")
    lines = "\n".join(f'<li><a href="{each}/">{each}</a></li>' for each in reversed(versions))
    (site / "versions.html").write_text(PAGE.format(f"<h1>Versions</h1>\n<ul>\n{lines}\n</ul>"), encoding="utf-8")
    (site / "index.html").write_text(
        PAGE.format('<meta http-equiv="refresh" content="0; url=stable/">\n<a href="stable/">bayes_bias</a>'),
        encoding="utf-8",
    )


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _copy(built: Path, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(built, to)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
