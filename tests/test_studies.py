"""The texts of the studies say what their results say, and these agree with what others published."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import bayes_bias as bb
from studies.index import INDEX, STUDIES, page
from studies.languages import data
from studies.people.computing import PEOPLE
from studies.study import HERE, read_results
from tests.helpers import REFERENCE, unit

LARGEST = 200_000  # bytes


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_study_readme_matches_results_and_has_figures(study):
    text = (study.home / "README.md").read_text(encoding="utf-8")
    assert text == study.page(study.home), "run `python -m studies`"
    figures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert figures
    for figure in figures:
        assert (study.home / figure).is_file()


def test_studies_index_matches_rendered_page_with_existing_links():
    text = INDEX.read_text(encoding="utf-8")
    assert text == page(), "run `python -m studies`"
    for link in re.findall(r"\]\((.*?)\)", text):
        assert (HERE / link.partition("#")[0]).is_file()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_study_results_are_small_and_have_provenance(study):
    about = json.loads((study.home / "results" / "provenance.json").read_text(encoding="utf-8"))
    assert set(about["sha256"]) == set(study.files)
    assert {"bayes-bias", "pymc", "nutpie"} <= set(about["versions"])
    assert {path.suffix for path in (study.home / "results").iterdir()} == {".csv", ".json"}
    for table in (study.home / "results").glob("*.csv"):
        assert table.stat().st_size < LARGEST


def test_criterion_page_matches_correlations_of_languages():
    rows = read_results(HERE / "languages" / "results")["criterion"].query("corpus == 'subtitles' and at_equal.isna()")
    text = " ".join((HERE.parent / "docs" / "how-to" / "criterion.md").read_text(encoding="utf-8").split())
    for row in rows[rows.quantity.isin(["correlation", "reliability of bias"])].itertuples():
        numbers = "{:.2f} [{:.2f}, {:.2f}]".format(*row[5:8])
        assert numbers.replace("0.", ".").replace("-", "−") in text


def test_career_d_matches_published_values():
    career = read_results(HERE / "languages" / "results")["career"].query("d_published.notna()")
    assert len(career) == 88
    assert np.allclose(career.d_as_published, career.d_published, atol=1e-5)
    alike = career[~career.gendered]
    assert np.allclose(alike.d, alike.d_published, atol=1e-5)


def test_ten_tests_d_matches_published_d_with_known_exceptions():
    cells = read_results(HERE / "ten_tests" / "results")["cells"].set_index(["embedding", "list"])
    published = pd.read_csv(REFERENCE / "published_numbers.csv").astype(str)
    for name, source in {"GoogleNews": "WEAT GoogleNews", "GloVe": "WEAT GloVe840B"}.items():
        known = published[(published.iloc[:, 0] == source) & published.iloc[:, 1].str.fullmatch(r"WEAT\d+ d")]
        d = pd.Series(known.iloc[:, 2].astype(float).to_numpy(), known.iloc[:, 1].str.split().str[0].str.lower())
        assert len(d) == 10
        ours = cells.loc[name].loc[d.index]
        assert ours.published_d.tolist() == d.tolist()
        apart = set(d.index[(ours.d - d).abs() > 0.0101])
        assert apart == ({"weat5", "weat9", "weat10"} if name == "GoogleNews" else set())


def test_people_study_uses_current_cells_of_ten_tests():
    now = read_results(HERE / "ten_tests" / "results")["cells"].set_index(["embedding", "list"])
    used = read_results(HERE / "people" / "results")["tests"].set_index(["embedding", "list"])
    columns = ["d", "bias", "sd", "ci95_lb", "ci95_ub", "verdict"]
    same = now.loc[used.index, columns].equals(used[columns])
    assert same, "run `python -m studies.people --data studies/ten_tests/results`"


def test_d_of_people_matches_published_p():
    for name, published in {"weat1": 1e-8, "weat2": 1e-10, "weat3": 1e-5, "weat8": 1e-24}.items():
        n, d = PEOPLE[name]
        assert published / 5 < 2 * t.sf(d * np.sqrt(n), n - 1) < published * 5


def test_people_results_match_readme_statements():
    results = read_results(HERE / "people" / "results")
    assert (results["correlations"].label == "not distinguishable").all()
    assert (results["ranks"].lb < 0).all()
    assert (results["ranks"].ub > 0).all()
    google = results["tests"].query("embedding == 'GoogleNews'").set_index("list")
    assert (google.bias.idxmax(), google.people_d.idxmin()) == ("weat6", "weat6")


def test_agreeing_returns_forms_of_matching_gender():
    rng = np.random.default_rng(1)
    words = {(word, "N"): rng.normal(size=6) for word in (*data.MALE, *data.FEMALE)}
    words |= {(word, form): rng.normal(size=6) for word in data.CAREER.attributes for form in "MF"}
    forms = data.Forms(unit(words))
    table = bb.similarities(data.CAREER, data.agreeing(forms), (), similarity="dot").values
    for word, form in (("he", "M"), ("she", "F")):
        expected = forms.vectors[word, "N"] @ forms.vectors["career", form]
        assert float(table.sel(target=word, attribute="career")) == pytest.approx(expected)


def test_published_d_equals_weat_without_grammatical_gender():
    rng = np.random.default_rng(2)
    words = {word: rng.normal(size=6) for word in (*data.CAREER.targets, *data.CAREER.attributes)}
    forms = data.Forms({(word, "N"): vector for word, vector in unit(words).items()})
    assert data.published_d(forms) == pytest.approx(bb.measures.weat(bb.cosines(data.CAREER, words, ())).value)


def test_studies_use_public_names_only():
    for folder in (HERE, *(study.home for study in STUDIES)):
        for path in folder.glob("*.py"):
            assert not re.search(r"^(from|import) bayes_bias\.", path.read_text(), re.M), path.name
    for path in Path(bb.__file__).parent.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) studies", path.read_text(), re.M), path.name


def test_languages_results_match_readme_statements():
    results = read_results(HERE / "languages" / "results")
    borderline = results["career"].query("verdict == 'borderline'")
    assert not borderline[["half_verdict", "double_verdict"]].eq("distinguishable").any(axis=None)
    found = results["career"].query("verdict == 'distinguishable'")
    assert found[["half_verdict", "double_verdict"]].eq("distinguishable").all(axis=None)
    same = results["replicates"].set_index("part").verdict
    assert (same[same.index.str.startswith("career")] == "not distinguishable").all()
    assert (same[~same.index.str.startswith("career")] == "distinguishable").all()
    japanese = results["career"].set_index(["corpus", "code"]).within_sd
    assert japanese["wiki", "ja"] < 0.02 * japanese["wiki"].drop(index=["ja", "zh"]).min()
