"""What a list or model is cited by."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """Where words or a model come from: citation, DOI, and BibTeX entry if there is one."""

    citation: str = ""
    doi: str = ""
    bibtex: str = ""
