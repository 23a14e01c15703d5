"""The analyses of one server, without the server: what to compute, and what to keep."""

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock

from bayes_bias.errors import BayesBiasError, EmbeddingError
from bayes_bias.explore.fields import Fields
from bayes_bias.explore.page import part_of
from bayes_bias.explore.results import Results, analyse, check
from bayes_bias.explore.saved import FILES
from bayes_bias.explore.vectors import Vectors
from bayes_bias.files import slug

# Recent lists whose results are kept, because the figure, checks, and files of a list are requested one by one.
_RECENT = 4


class Session:
    """The embeddings that the page offers, by name, and the results of recent lists."""

    def __init__(self, embeddings: Mapping[str, Vectors]) -> None:
        self.embeddings = embeddings
        self.results = lru_cache(_RECENT)(self._results)
        self.checked = lru_cache(_RECENT)(lambda fields: check(self.results(fields)))
        # Settings of Matplotlib are global, so that only one thread draws.
        self._computing, self._checking = Lock(), Lock()
        self._latest: Fields | None = None

    def _results(self, fields: Fields) -> Results:
        """Return the results for a list. A name that is typed is never opened as a path."""
        if fields.embedding not in self.embeddings:
            raise EmbeddingError(f"No embedding is named '{fields.embedding}'.", fields.embedding, self.embeddings)
        return analyse(self.embeddings[fields.embedding].measure(fields.wordlist()))

    def parts(self, name: str, fields: Fields) -> dict[str, str]:
        """Return the parts of the page that a request concerns, as HTML by their ids.

        Requests are "verdict", "figure", and "checks", in this order. There are no parts if more was typed meanwhile.
        """
        if name == "verdict":
            self._latest = fields
        with self._checking if name == "checks" else self._computing:
            if fields != self._latest:
                return {}
            results = (self.checked if name == "checks" else self.results)(fields)
            shown = {"verdict": ("verdict",), "figure": ("figure", "words"), "checks": ("verdict", "checks")}[name]
            return {part: part_of(part, results) for part in shown}

    def file(self, kind: str, fields: Fields) -> tuple[str, bytes]:
        """Return the name and the content of a file to be saved.

        Raises
        ------
        BayesBiasError
            If there is no such kind of file, or the fields contain no list.
        """
        if kind not in FILES:
            raise BayesBiasError(f"There is no file '{kind}'.", kind, FILES)
        _, ending, make = FILES[kind]
        with self._computing:
            return slug(fields.name or "wordlist") + ending, make(fields, self.results)
