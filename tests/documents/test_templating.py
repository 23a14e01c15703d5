"""The first sentence of an answer is set in bold type."""

import pytest

from bayes_bias.documents.templating import with_lead


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
