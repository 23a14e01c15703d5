"""The lists that the field uses: words as their sources have them, with the tables that belong to them."""

import pandas as pd
import pytest

from bayes_bias import load_wordlist
from bayes_bias.files import shipped_names, table_file
from bayes_bias.words.list_files import control_names, field_names, shipped_path, wordlist_names

# The list, the column of labels of which table, and how many labels the list has beyond it.
CRITERIA = {
    "garg-occupations": ("garg-occupations", {"collector", "supervisor"}),
    "bolukbasi-professions": ("bolukbasi-professions", set()),
    "winogender-occupations": ("winogender-occupations", set()),
    "winobias-occupations": ("winobias-occupations", set()),
    "kozlowski-gender": ("kozlowski-gender", set()),
    "kozlowski-affluence": ("kozlowski-affluence", set()),
    "kozlowski-race": ("kozlowski-race", set()),
}


@pytest.mark.parametrize("name", field_names())
def test_field_list_has_source_and_question(name):
    words = load_wordlist(name)
    assert words.source.citation
    assert words.source.doi
    assert words.source.bibtex.startswith("@")
    assert words.question


def test_builtin_lists_have_unique_names_and_questions():
    names = [*wordlist_names(), *field_names(), *control_names()]
    assert len(set(names)) == len(names) == len(shipped_names("wordlists"))
    assert set(map(shipped_path, names)) == set(shipped_names("wordlists"))
    for name in wordlist_names():
        assert load_wordlist(name).question


@pytest.mark.parametrize("name", CRITERIA)
def test_field_list_targets_match_labels_of_table(name):
    table, without = CRITERIA[name]
    labels = set(pd.read_csv(table_file(table)).label)
    assert set(load_wordlist(name).targets) - labels == without
    assert labels <= set(load_wordlist(name).targets)


def test_field_tables_match_published_values():
    def rows(name, **which):
        frame = pd.read_csv(table_file(name)).set_index("label")
        for column, value in which.items():
            frame = frame[frame[column] == value]
        return frame

    winobias = rows("winobias-occupations").criterion  # Zhao et al. 2018, Table 1
    assert (winobias["carpenter"], winobias["secretary"], winobias["editor"]) == (0.02, 0.95, 0.52)
    assert (winobias > 0.5).sum() == 20
    assert rows("winogender-occupations").criterion["technician"] == pytest.approx(0.4034)
    professions = rows("bolukbasi-professions")
    assert professions.loc["actress", "definitional"] == -1
    assert len(professions) == 320  # Bolukbasi et al. 2016, Section 3
    assert rows("kozlowski-gender").criterion["basketball"] == pytest.approx(72.49233)
    assert rows("garg-occupations", year=2000).criterion["broker"] == pytest.approx(0.5688, abs=1e-4)


def test_field_list_sizes_match_publications():
    sizes = {name: list(map(len, load_wordlist(name).groups.values())) for name in field_names()}
    assert sizes["garg-occupations"] == [76]
    assert sizes["winobias-occupations"] == [20, 20]  # Zhao et al. 2018
    assert sizes["winogender-occupations"] == [60]  # Rudinger et al. 2018
    assert sizes["stereoset-professions"] == [89]  # of the 242 terms of Nadeem et al.'s test set
    assert sizes["kozlowski-race"] == [59]  # Kozlowski et al. 2019, Appendix A
    for name in ("ceat-i1", "ceat-i2", "ceat-i3", "ceat-i4"):
        assert sizes[name] == [12, 12]  # Guo & Caliskan 2021
    assert len(load_wordlist("garg-occupations").pairs) == 20
    for name in ("garg-asian", "garg-hispanic"):
        assert list(map(len, load_wordlist(name).classes.values())) == [20, 20]


def test_wordlists_command_groups_lists_and_prints_missing_words(run):
    code, out, _ = run("wordlists")
    assert code == 0
    assert out.index("Gender and work") < out.index("winobias-occupations") < out.index("Race and ethnicity")
    code, out, _ = run("wordlists", "ceat-i1")
    assert code == 0
    assert "not in googlenews-demo: " in out


def test_wordlists_command_copies_field_list_unchanged(run, tmp_path):
    assert run("wordlists", "garg-asian", "--copy", str(tmp_path / "mine.toml"))[0] == 0
    assert load_wordlist(tmp_path / "mine.toml").sha256 == load_wordlist("garg-asian").sha256
