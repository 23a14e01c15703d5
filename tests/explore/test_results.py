"""The page has the numbers and sentences of a report."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bayes_bias import calibrate, load_wordlist, open_embedding, report, save_vectors, verdict, wordlist
from bayes_bias.associations.lists import measure_lists
from bayes_bias.errors import IN_TERMINAL, BayesBiasError, CoverageError, EmbeddingError, ScopeError
from bayes_bias.explore import server
from bayes_bias.explore.fields import Fields
from bayes_bias.explore.page import page, part_of, script, style_sheet
from bayes_bias.explore.results import FILES, analyse, check
from bayes_bias.explore.server import _error_response
from bayes_bias.explore.session import Session, Vectors, open_vectors
from tests.helpers import refused, says

DEMO = "googlenews-demo"
WEAT6 = Fields.of_list(load_wordlist("weat6"), DEMO)
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def demo() -> Vectors:
    return open_vectors([DEMO])[DEMO]


@pytest.fixture(scope="module")
def session(demo: Vectors) -> Session:
    return Session({DEMO: demo})


def random_vectors(n_words: int = 3000) -> dict[str, np.ndarray]:
    """Return vectors of words without a marked pool, as in a file that lists frequent words first."""
    letters = "abcdefghijklmnopqrst"
    words = [letters[k // 400] + letters[k // 20 % 20] + letters[k % 20] for k in range(n_words)]
    return dict(zip(words, np.random.default_rng(1).normal(size=(n_words, 20)), strict=True))


@pytest.mark.parametrize("name", ["weat6", "weat7"])
def test_vectors_measure_the_table_of_a_report(demo, name):
    (expected,) = measure_lists(load_wordlist(name), open_embedding(DEMO, match="case"))
    measured = demo.measure(load_wordlist(name))
    assert measured.values.identical(expected.values)
    assert (measured.notices, measured.provenance) == (expected.notices, expected.provenance)


def test_vectors_of_file_measure_the_table_of_a_report(tmp_path):
    vectors = random_vectors()
    save_vectors(vectors, tmp_path / "v.txt")
    words = [*vectors][100:124]
    parts = {"groups": {"a": words[:6], "b": words[6:12]}, "classes": {"c": words[12:18], "d": [*words[18:], "absent"]}}
    listed = wordlist(**parts, stereotypes={"a": "c", "b": "d"})
    opened = open_vectors([str(tmp_path / "v.txt")])["v"]
    for _ in range(2):  # from the file, and from memory
        (expected,) = measure_lists(listed, open_embedding(tmp_path / "v.txt", match="case"))
        measured = opened.measure(listed)
        assert measured.values.identical(expected.values)
        assert measured.notices == expected.notices
        assert str(verdict(measured)) == str(verdict(expected))
    draws = [calibrate(table, drawn="own words", draws=5, jobs=1).records for table in (measured, expected)]
    pd.testing.assert_frame_equal(*[records.drop(columns="seconds") for records in draws])


def test_open_vectors_rejects_equal_names(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save_vectors({"he": [1.0, 0.0]}, tmp_path / folder / "v.txt")
    with refused(EmbeddingError, "two 'v' rename"):
        open_vectors([str(tmp_path / folder / "v.txt") for folder in ("one", "two")])


def test_open_vectors_rejects_pickle(tmp_path):
    (tmp_path / "v.pkl").write_bytes(b"\x80\x04N.")
    with pytest.raises(EmbeddingError):
        open_vectors([str(tmp_path / "v.pkl")])


def test_results_have_verdict_of_package(demo):
    results = analyse(demo.measure(load_wordlist("weat7")))
    assert str(results.verdict) == str(verdict(results.table))
    assert results.fitted is None


def test_words_begin_with_largest_change(demo):
    frame = analyse(demo.measure(load_wordlist("weat6"))).words().frame
    assert len(frame) == 32
    changes = [abs(float(change.replace("−", "-"))) for change in frame.change]
    assert changes == sorted(changes, reverse=True)


def test_notices_name_no_option_of_another_command(demo):
    token = IN_TERMINAL.set(True)
    notices = analyse(demo.measure(WEAT6.wordlist())).notices
    IN_TERMINAL.reset(token)
    (about_language,) = [notice for notice in notices if "--language" in notice]
    assert says(about_language, "make a report of the saved list with --language de")


def test_categories_list_omitted_words(demo):
    names = {group: (*words, f"zzz{group[0]}") for group, words in load_wordlist("weat6").groups.items()}
    listed = replace(load_wordlist("weat6"), groups=names)
    frame = analyse(demo.measure(listed)).categories.frame
    assert list(frame.index) == ["male names", "female names", "career", "family"]
    assert list(frame["omitted"]) == ["zzzm", "zzzf", "—", "—"]
    assert list(frame["requested"]) == ["9", "9", "8", "8"]


@pytest.mark.slow
def test_checks_have_sentences_and_caveats_of_report(demo):
    table = demo.measure(load_wordlist("weat7"))
    checked = check(analyse(table))
    (section,) = report(table).sections
    exchanged, frequency = checked.sentences
    assert section.checks["nulls"].text.startswith(f"{exchanged} ")
    assert frequency == section.checks["frequency"].text
    assert checked.verdict.label == section.verdict.label
    assert [caveat.split(" (p")[0] for caveat in checked.verdict.caveats] == [
        caveat.split(" (p")[0] for caveat in section.verdict.caveats
    ]


@pytest.mark.slow
def test_results_of_uneven_list_are_sampled(demo):
    listed = load_wordlist("weat6")
    uneven = replace(listed, groups={**listed.groups, "male names": listed.groups["male names"][:4]})
    results = check(analyse(demo.measure(uneven)))
    assert results.fitted is not None
    assert "sampled" in part_of("checks", results)
    assert results.image.startswith("data:image/svg+xml;base64,")


def test_session_returns_parts_by_id(session):
    assert session.parts("verdict", WEAT6).keys() == {"verdict"}
    parts = session.parts("figure", WEAT6)
    assert parts.keys() == {"figure", "words"}
    assert says(parts["figure"], "alt= Density posterior bias")
    assert parts["words"].count('scope="row"') == 36


def test_session_skips_outdated_requests(session):
    session.parts("verdict", WEAT6)
    assert session.parts("figure", replace(WEAT6, name="other")) == {}


def test_session_escapes_typed_text(session):
    groups = f"John, Paul, Mike, Kevin, Steve, Greg, Jeff, {SCRIPT}"
    form = WEAT6.form | {"name": SCRIPT, "group-1": SCRIPT, "group-1-words": groups, "class-1": "<b>'\"&"}
    fields = Fields.of_form(form)
    shown = {**session.parts("verdict", fields), **session.parts("figure", fields)}
    text = " ".join(shown.values())
    assert "<script" not in text
    assert "<b>'" not in text
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in page(fields, [SCRIPT], 1)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"embedding": "/etc/passwd"}, EmbeddingError, "'/etc/passwd' googlenews-demo"),
        ({"group-1-words": "John"}, ScopeError, "single word male names"),
        ({"group-1-words": "zzzy, zzzx, zzzw, John"}, CoverageError, "3 of the 4 words male names zzzy"),
    ],
)
def test_session_raises_message_of_package(session, change, kind, message):
    with refused(kind, message):
        session.parts("verdict", Fields.of_form(WEAT6.form | change))


@pytest.mark.parametrize(
    ("message", "ending"),
    [
        ("Use --scope attributes instead.", "instead. The option is for `bayes-bias report` with the saved word list."),
        ("Pass your own vectors as --embedding.", "as --embedding."),
    ],
)
def test_error_states_where_option_of_another_command_is_used(message, ending):
    pytest.importorskip("starlette")
    response = _error_response(None, BayesBiasError(message))
    assert response.status_code == 422
    assert json.loads(response.body)["error"].endswith(ending)


def test_session_saves_list_numbers_and_plan_under_safe_names(session, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    fields = replace(WEAT6, name="../../etc/passwd")
    saved = {kind: session.file(kind, fields) for kind in ("list", "numbers", "plan")}
    assert [name for name, _ in saved.values()] == ["etc-passwd.csv", "etc-passwd-numbers.csv", "etc-passwd-plan.json"]
    assert saved["list"][1].startswith(b"male names=career,")
    assert saved["numbers"][1].startswith(b"what,side,category,left_out")
    assert b"bayes_bias_registration" in saved["plan"][1]
    assert not list(tmp_path.iterdir())


def test_session_rejects_unknown_file(session):
    with refused(BayesBiasError, "'vectors' list numbers plan report"):
        session.file("vectors", WEAT6)


def test_page_has_every_field_label_and_example():
    html = page(WEAT6, [DEMO], 1)
    for field in WEAT6.form:
        assert f'for="{field}"' in html
    assert html.count("<option") == 1 + 11
    assert all(label in html for label, _, _ in FILES.values())
    assert "style=" not in html  # the policy of the page forbids styles and scripts inside it
    assert "onclick" not in html


def test_style_and_script_are_files_of_package():
    assert "--ink" in style_sheet()
    assert ".explore" in style_sheet()
    assert "fetch(" in script()


def test_explore_command_names_missing_dependency(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, out, err = run("explore")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: uvicorn is required for the page, but is not installed.")
    assert err.endswith("pip install 'bayes-bias[explore]'.\n")


def test_explore_command_serves_named_embeddings_on_port(run, monkeypatch):
    served = []

    def serve(session, port, ready, stopped):
        ready("http://127.0.0.1:1/token/")
        stopped()
        served.append((list(session.embeddings), port))

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    for name in ("starlette", "uvicorn"):  # which the tests need not install
        monkeypatch.setitem(sys.modules, name, SimpleNamespace())
    monkeypatch.setattr(server, "serve", serve)
    code, out, _ = run("explore", "--embedding", DEMO, "--port", 8000)
    assert code == 0
    assert served == [([DEMO], 8000)]
    assert opened == ["http://127.0.0.1:1/token/"]
    assert says(out, "http://127.0.0.1:1/token/ Ctrl-C Stopped")
    run("explore", "--embedding", DEMO, "--no-browser")
    assert len(opened) == 1
