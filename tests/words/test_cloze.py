"""A cloze is a sentence with one word asked for and perhaps others hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.errors import LanguageModelError
from bayes_bias.words.templates import Cloze
from tests.helpers import says

WORDS = st.text(min_size=1).filter(str.strip)


@given(st.text(), WORDS, st.text())
def test_cloze_text_contains_word_at_its_span(before: str, word: str, after: str):
    cloze = Cloze(before, word, after)
    assert cloze.text[cloze.start : cloze.end] == word
    assert cloze.seen == f"{before}___{after}"


def test_cloze_seen_omits_hidden_words():
    assert Cloze("A ", "nurse", " helps him.", ((14, 17), (0, 1))).seen == "___ ___ helps ___."


@pytest.mark.parametrize(
    ("parts", "hidden", "message"),
    [
        (("She is a ", " ", "."), (), "word ' 'She"),
        (("", "She", " is"), ((3, 9),), "hidden (3, 9) 6 'She is'"),
        (("", "She", " is"), ((4, 4),), "hidden (4, 4)"),
        (("", "She", " is"), ((2, 6),), "hidden 'e is' 'She' 'She is'"),
    ],
)
def test_cloze_raises_for_invalid_parts(parts: tuple[str, str, str], hidden: tuple, message: str):
    with pytest.raises(LanguageModelError) as caught:
        Cloze(*parts, hidden)
    assert says(caught.value, message)
