"""The first sentence of an answer is set in bold type, and numbers keep their order after right-to-left words."""

import pytest

from bayes_bias.documents.templating import left_to_right, with_lead


@pytest.mark.parametrize(
    ("lead", "rest"),
    [
        ("The list “Math vs. Arts” is biased.", "Words differ."),
        ("Dr. No is a man.", "(He is.)"),
        ("The U.S. Names differ.", "The rest does not."),
        ("Is it biased?", "Yes."),
        ("It is 0.1 [0.0, 0.2].", "It is large."),
        ("Two lists differ.", "weat6: it is large."),
        ("One sentence.", ""),
    ],
)
def test_with_lead_marks_first_sentence_as_bold(lead: str, rest: str) -> None:
    assert str(with_lead(f"{lead} {rest}".strip())) == f"<b>{lead}</b> {rest}"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<td>שמות: 0.1 [0.1, 0.2]</td>", "<td>שמות\u200e: 0.1 [0.1, 0.2]</td>"),
        ("8 שמות גברים, 9 אחר", "8 שמות גברים\u200e, 9 אחר\u200e"),
        ("صه&#34;ل −0.2", "صه&#34;ل\u200e −0.2"),
        ("Ärzte: 0.1", "Ärzte: 0.1"),
    ],
)
def test_left_to_right_marks_end_of_right_to_left_words(html: str, expected: str) -> None:
    assert left_to_right(html) == expected
