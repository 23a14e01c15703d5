"""`write` knows the results of the package, and takes any other that says what its pages are."""

from pathlib import Path

from bayes_bias import write
from bayes_bias.documents.document import Document


class Own:
    """A result of somebody else's study."""

    def document(self) -> Document:
        return Document(title="Mine", heading="What I found", sections=(), provenance={"seed": 7}, texts={"a.txt": "b"})


def test_write_writes_page_and_texts_of_document(tmp_path: Path) -> None:
    page = write(Own(), tmp_path / "out")
    assert "What I found" in page.read_text(encoding="utf-8")
    assert (page.parent / "a.txt").read_text(encoding="utf-8") == "b"
