"""What a release says of itself is said once: versions, oldest dependencies, and what the workflows call."""

import json
import re
import tomllib
from itertools import chain
from operator import itemgetter
from pathlib import Path

import pytest

from benchmarks.provenance import read

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What users install; the other extras are tools, whose newest versions are taken.
USED = ("arrow", "cluster", "excel", "gensim", "report", "sampling", "sklearn")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_and_date_agree_everywhere():
    version, date = re.findall(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", text_of("CHANGELOG.md"), re.MULTILINE)[0]
    assert version == PROJECT["version"]
    citation, meta = text_of("CITATION.cff"), json.loads(text_of("codemeta.json"))
    assert f"\nversion: {version}\n" in citation
    assert f'\ndate-released: "{date}"\n' in citation
    assert (meta["version"], meta["dateModified"]) == (version, date)
    own = tomllib.loads(text_of("bayes_bias/documents/references.toml"))["bayesbias"]
    assert f"({date[:4]})" in own["citation"]
    assert f"(Version {version})" in own["citation"]
    assert re.findall(r"(version|date) += \{(.*)\}", own["bibtex"]) == [("version", version), ("date", date)]
    assert meta["keywords"] == PROJECT["keywords"]
    assert meta["description"] == PROJECT["description"]


def test_authors_agree_everywhere():
    (author,) = PROJECT["authors"]
    own = tomllib.loads(text_of("bayes_bias/documents/references.toml"))["bayesbias"]
    assert own["citation"].strip().startswith(f"{author['name']}. (")
    assert author["name"].replace("_", r"\_") in own["bibtex"]
    for name in ("CITATION.cff", "codemeta.json", "LICENSE", "paper/paper.md", "docs/conf.py"):
        assert author["name"] in text_of(name), name


def test_python_versions_match_workflow():
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", text)]
    (tried,) = re.findall(r"system: .*\n\s+python: \[(.*)\]", text_of(".github/workflows/checks.yml"))
    assert re.findall(r"3\.\d+", tried) == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_oldest_constraints_match_dependencies():
    allowed = {}
    for requirement in chain(PROJECT["dependencies"], *map(PROJECT["optional-dependencies"].get, USED)):
        if requirement.startswith("bayes-bias["):
            continue
        name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<[\d.]+)?(?:;.*)?", requirement).groups()
        allowed[name] = version
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text_of("tests/constraints-oldest.txt"), re.MULTILINE))
    assert tested.keys() == allowed.keys()
    for name, version in tested.items():
        assert re.fullmatch(rf"{re.escape(allowed[name])}(\.0)*", version), name


def test_dependencies_page_matches_measurements():
    measured = read("dependencies")
    page = text_of("docs/reference/dependencies.md")
    for row in measured["rows"]:
        cells = f"{row['megabytes']:.1f} | {row['with what it alone brings']:.1f} | {row['seconds']:.1f}"
        assert f"| {row['dependency']} | {cells} |" in page
    about = measured["about"]
    assert f"All {about['distributions']} distributions together have {about['megabytes']:,} MB" in page


def test_security_page_matches_measured_settings():
    page = text_of("docs/security.md")
    measured = read("same-numbers")
    for row in measured["rows"]:
        versions = itemgetter("python", "numpy", "pymc", "pytensor")(row["python"])
        counted = itemgetter("core", "threads", "estimates that differ", "diagnostics that differ")(row)
        assert f"| {' | '.join(map(str, [*versions, *counted]))} |" in page
        assert f"each of the {row['numbers']:,} numbers" in page
    assert f"{measured['about']['seeds']} seeds" in page
    oldest = dict(re.findall(r"^(\w+)==(.*)$", text_of("tests/constraints-oldest.txt"), re.MULTILINE))
    versions_of = itemgetter("numpy", "pymc", "scipy")
    assert versions_of(measured["rows"][-1]["python"]) == versions_of(oldest)


@pytest.mark.parametrize("workflow", ["checks.yml", "release.yml"])
def test_workflows_call_existing_makefile_targets(workflow: str):
    targets = set(re.findall(r"^\.PHONY: (.*)$", text_of("Makefile"), re.MULTILINE)[0].split())
    steps = text_of(f".github/workflows/{workflow}")
    called = set(re.findall(r"run: make ([\w-]+)", steps))
    for names in re.findall(r"target: \[(.*)\]", steps):
        called.update(names.split(", "))
    assert called <= targets
    assert called


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="an sdist has no .ci")
def test_workflow_calls_all_own_checks():
    ours = set(re.findall(r"^make ([\w-]+)$", text_of(".ci/run"), re.MULTILINE))
    assert ours <= set(re.findall(r"[\w-]+", text_of(".github/workflows/checks.yml")))


def test_placeholders_are_marked_once_per_file():
    page = text_of("docs/contributing/release.md")
    for name in (".github/SECURITY.md", ".github/SUPPORT.md", "docs/conf.py"):
        assert text_of(name).count("OWNER:") == 1
        assert f"the line `OWNER:` in `{name}`" in page


def test_add_docs_version_writes_stable_and_version_list(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from add_docs_version import main

    (tmp_path / "html").mkdir()
    for page in ("index.html", "404.html"):
        (tmp_path / "html" / page).write_text("new", encoding="utf-8")
    for older in ("0.1.0", "0.0.10", "stable"):
        (tmp_path / "site" / older).mkdir(parents=True)
    main(tmp_path / "site", tmp_path / "html")
    assert (tmp_path / "site" / "stable" / "index.html").read_text(encoding="utf-8") == "new"
    listed = re.findall(r'href="([\d.]+)/"', (tmp_path / "site" / "versions.html").read_text(encoding="utf-8"))
    assert listed == [PROJECT["version"], "0.1.0", "0.0.10"]
    assert (tmp_path / "site" / "404.html").is_file()


def test_release_is_published_on_testpypi_before_pypi_without_stored_tokens():
    _, jobs = text_of(".github/workflows/release.yml").split("\njobs:\n")
    tried, published = jobs.split("\n  tried:\n")[1].split("\n  published:\n")
    assert "repository-url: https://test.pypi.org/legacy/" in tried
    assert "tried" in re.findall(r"needs: \[(.*)\]", published)[0].split(", ")
    for job in (tried, published):
        assert "id-token: write" in job
    assert "password:" not in jobs
    assert "secrets." not in jobs
