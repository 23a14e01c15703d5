"""A list's citation is text in references.bib, whatever TeX or BibTeX would make of its characters."""

import pytest

from bayes_bias.documents.methods import Cited, key_of, shared_references
from bayes_bias.shared_types import Reference

ENTRY = "@article{key,\n  title = {Bias \\'and {\\ss}},\n  url = {https://x.org/a%20b},\n}"


def bibtex_of(reference: Reference) -> str:
    return Cited(1, key_of(reference), reference).bibtex


def balanced(text: str) -> bool:
    depths = [text[: k + 1].count("{") - text[: k + 1].count("}") for k in range(len(text))]
    return min(depths) >= 0 and depths[-1] == 0 and 0 not in depths[text.index("{") : -1]


@pytest.mark.parametrize("sign", "&%#$_")
def test_bibtex_escapes_special_characters_of_citation(sign):
    text = bibtex_of(Reference(f"Smith {sign} Jones, 5{sign}"))
    assert f"Smith \\{sign} Jones, 5\\{sign}" in text


@pytest.mark.parametrize("citation", ["}} \\input{/etc/passwd} @misc{x,", "a } b", "{", "\\write18{ls}"])
def test_bibtex_keeps_braces_balanced_and_omits_commands(citation):
    text = bibtex_of(Reference(citation))
    assert balanced(text)
    assert "\\input" not in text
    assert "\\write" not in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("张, 赵 (2021). 另一篇文章.", "Смит, И. (2021). Предвзятость."),
        (f"{'Caliskan, ' * 7}(2017). Semantics.", f"{'Caliskan, ' * 7}(2017). Stereotypes."),
    ],
)
def test_key_of_differs_for_citations_with_the_same_latin_letters(one, other):
    assert key_of(Reference(one)) != key_of(Reference(other))


def test_bibtex_keeps_entry_of_source():
    assert bibtex_of(Reference("Smith", bibtex=ENTRY)) == ENTRY
    for reference in shared_references().values():
        if reference.bibtex:
            assert bibtex_of(reference) == reference.bibtex.strip()


def test_bibtex_escapes_signs_except_in_addresses():
    text = bibtex_of(Reference("Smith", bibtex=ENTRY.replace("Bias", "R&D 5%")))
    assert "R\\&D 5\\%" in text
    assert "https://x.org/a%20b" in text


@pytest.mark.parametrize(
    "entry", ["@misc{x, note={\\input{secret}}}", "@misc{x, note={a}} @misc{y,}", "@misc{x, note={a}", "no entry"]
)
def test_bibtex_replaces_unsafe_entry_with_citation(entry):
    text = bibtex_of(Reference("Smith (2020)", bibtex=entry))
    assert "Smith (2020)" in text
    assert balanced(text)
    assert "\\input" not in text


def test_bibtex_keeps_doi_and_omits_commands():
    assert "doi  = {10.1000/a_b}" in bibtex_of(Reference("Smith", doi="10.1000/a_b"))
    assert balanced(bibtex_of(Reference("Smith", doi="10.1000/}}\\input{x")))
    assert "\\input" not in bibtex_of(Reference("Smith", doi="10.1000/}}\\input{x"))
