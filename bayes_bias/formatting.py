"""Format numbers, and show results as sentences and small text tables."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import pandas as pd

MINUS, DASH = "−", "—"

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PLURALS = {"class": "classes", "corpus": "corpora"}
_MOST_FINER = 5
_SIGNED_ZERO = re.compile(r"[+-](0\.?0*)(?![\d.])")


# From this size on, numbers are in scientific notation. Below the noise, an interval is zero up to rounding errors.
_LARGE, _NOISE = 1e7, 1e-12
_SCIENTIFIC = ".2e"


def signed(value: float, decimals: int = 3) -> str:
    """Format a number with its sign, because biases are differences."""
    return DASH if math.isnan(value) else _minus(f"{value:+{_format(value, decimals)}}")


def value_and_interval(value: float, lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """Format a value with its interval, such as "+0.078 [+0.048, +0.108]", or alone if its bounds are NaN.

    Use ``sign=""`` for unsigned quantities.
    """
    interval = bounds(lower, upper, decimals, sign=sign)
    number = mean_of_interval(value, lower, upper, decimals, sign=sign)
    return number if interval == DASH else f"{number} {interval}"


def plain(value: float, decimals: int = 3) -> str:
    """Format a number without a plus sign, for scales, effect sizes, and R-hat."""
    return DASH if math.isnan(value) else _minus(f"{value:{_format(value, decimals).lstrip(',')}}")


def _format(value: float, decimals: int) -> str:
    """Return the format of a number: this many decimals, or scientific notation for very large numbers."""
    return _SCIENTIFIC if abs(value) >= _LARGE else f",.{decimals}f"


def bounds(lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """Format a credible interval. Use ``sign=""`` for unsigned quantities, such as a scale.

    The signs of the bounds show whether the interval excludes zero. A bound that would round to zero therefore gets
    enough digits to show its sign: "[−0.035, −0.0004]". If both bounds are tiny, or one is very large, both are in
    scientific notation: "[−9.18e−09, +1.19e−07]".
    """
    if math.isnan(lower) or math.isnan(upper):
        return DASH

    def text(bound: float) -> str:
        if _needs_exponent(lower, upper, decimals):
            return f"{bound:{sign}{_SCIENTIFIC}}" if bound else "0"
        digits = _decisive(bound, decimals) if sign else decimals
        return f"{bound:{sign}{',' if sign else ''}.{digits}f}"

    return _minus(f"[{text(lower)}, {text(upper)}]")


def range_in_words(lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """Format an interval for a sentence: "+0.048 to +0.108"."""
    interval = bounds(lower, upper, decimals, sign=sign)
    return interval if interval == DASH else interval[1:-1].replace(", ", " to ")


def mean_of_interval(value: float, lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """Format the mean of an interval, with `decimals` or in scientific notation like the interval.

    If the interval excludes zero and the mean would be rounded to zero, it would contradict the interval, so it gets
    more decimals.
    """
    if _needs_exponent(lower, upper, decimals):
        return _minus(f"{value:{sign}{_SCIENTIFIC}}") if value else "0"
    written = signed if sign else plain
    return written(value, _decisive(value, decimals) if lower * upper > 0 else decimals)


def _needs_exponent(lower: float, upper: float, decimals: int) -> bool:
    """Return True if a bound is very large, or if both would be zero even with one more decimal than `decimals`."""
    size = max(abs(lower), abs(upper))
    return size >= _LARGE or _NOISE < size < 0.05 * 10**-decimals


def _decisive(bound: float, decimals: int) -> int:
    """Return the smallest number of decimals, at least `decimals`, with which a bound is not rounded to zero.

    If five more decimals (`_MOST_FINER`) are not enough, the bound is zero up to rounding errors, and `decimals` is
    returned.
    """
    finer = range(decimals, decimals + _MOST_FINER + 1)
    return next((digits for digits in finer if round(bound, digits) != 0), decimals)


def probability(value: float) -> str:
    """Format a probability without the leading zero, as in journals: ".42", ".987", or "< .001".

    Probabilities below about .1 or above about .9 get three decimals.
    """
    if math.isnan(value):
        return DASH
    if value < 0.001:
        return "< .001"
    if value > 0.999:
        return "> .999"
    near_an_end = value < 0.0995 or value > 0.9005
    return f"{value:.3f}"[1:] if near_an_end else f"{value:.2f}"[1:]


def probability_in_words(value: float) -> str:
    """Format a probability for a sentence: ".02", but "below .001"."""
    return probability(value).replace("< ", "below ").replace("> ", "above ")


def equals(text: str) -> str:
    """Format a probability as ``= .02``, but ``< .001``."""
    return text if text[0] in "<>" else f"= {text}"


def percent(value: float) -> str:
    """Format a share as a percentage."""
    return DASH if math.isnan(value) else f"{value:.0%}"


def share_bounds(lower: float, upper: float) -> str:
    """Format the interval of a share in percent: "[12%, 15%]", or "[12.1%, 12.4%]" if both would be rounded to 12%."""
    form = share if percent(lower) == percent(upper) else percent
    return _minus(f"[{form(lower)}, {form(upper)}]")


def rank_interval(lower: float, upper: float) -> str:
    """Format an interval of ranks, from best to worst."""
    return f"{lower:.0f}" if lower == upper else f"{lower:.0f}–{upper:.0f}"


def share(value: float) -> str:
    """Format a share of cosines or draws, with one decimal."""
    return f"{value:.1%}"


def share_within(value: float, lower: float, upper: float) -> str:
    """Format a share with its interval."""
    return f"{share(value)} [{share(lower)}, {share(upper)}]"


def level(value: float) -> str:
    """Format the probability of an interval with the digits that the user chose."""
    return f"{100 * value:.4g}%"


def as_count(value: float) -> str:
    """Format a number of words or draws."""
    return DASH if math.isnan(value) else f"{value:,.0f}"


def in_words(number: int) -> str:
    """Format a whole number in a sentence: as a word up to ten."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Format a number of items, such as "one list" or "two lists"."""
    return f"{in_words(number)} {noun}{'' if number == 1 else 's'}"


def numbered(number: int, noun: str) -> str:
    """Format a number of items in digits, such as "1 cell" or "1,200 cells"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def joined(names: Sequence[str]) -> str:
    """Join names for a sentence: "a and b", or "a, b, and c"."""
    *others, last = names
    if not others:
        return last
    comma = "," if len(others) > 1 else ""
    return f"{', '.join(others)}{comma} and {last}"


def in_quotes(words: Iterable[str]) -> str:
    """Join words for a message: 'he', 'she'."""
    return ", ".join(f"'{word}'" for word in words)


def shortened(names: Sequence[str], most: int = 10) -> str:
    """Join the first names, and state how many more there are."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def plural(noun: str) -> str:
    """Return the plural of a kind of replicate: templates, seeds, corpora."""
    return _PLURALS.get(noun, f"{noun}s")


# The usual noun for the units of lists.
WORD = "word"
# This noun, with its article. Names such as "word embedding" and file names such as "words.csv" do not contain it.
_WORD = re.compile(r"(?<![\w.:/#-])(?:(an?) )?(words?)(?![\w-]|\.\w| (?:embeddings?|vectors?)\b)", re.IGNORECASE)
# Parts of a page that are not text, and lists of references.
_NOT_TEXT = re.compile(r"(<(?:style|script|code|pre|ol class).*?</(?:style|script|code|pre|ol)>|<[^>]*>)", re.DOTALL)


def with_unit(text: str, unit: str) -> str:
    """Replace the noun "word" in a text by the noun for the units of a list.

    Examples
    --------
    >>> with_unit("A word of a word embedding is in words.csv. Words are related.", "image")
    'An image of a word embedding is in words.csv. Images are related.'
    """

    def replaced(found: re.Match[str]) -> str:
        """Return the noun of the unit, in the number and case of the noun that was found, and with its article.

        `unit` is a noun such as "image". The two parts that the pattern found are an article, if there is one, and
        "word" or "words".
        """
        article, word = found.groups()
        noun = plural(unit) if word.lower() == "words" else unit
        if not article:
            return capitalized(noun) if word[0].isupper() else noun
        new_article = f"{article[0]}n" if noun[0] in "aeiou" else article[0]  # "a" or "an", or with a capital
        return f"{new_article} {noun}"

    return text if unit == WORD else _WORD.sub(replaced, text)


def page_with_unit(page: str, unit: str) -> str:
    """Replace the noun "word" in the text of a page, but not in its code and references. See `with_unit`.

    `_NOT_TEXT` matches tags, code, and references. The page is split there, so that parts alternate: every second part,
    beginning with the first, is text.
    """
    parts = [page] if unit == WORD else _NOT_TEXT.split(page)
    parts[::2] = [with_unit(text, unit) for text in parts[::2]]
    return "".join(parts)


def capitalized(text: str) -> str:
    """Capitalise the first letter. Names later in the text stay unchanged."""
    return text[:1].upper() + text[1:]


def _minus(text: str) -> str:
    """Replace hyphens in formatted numbers by minus signs, and remove the sign of numbers that are rounded to zero."""
    return _SIGNED_ZERO.sub(r"\1", text).replace("-", MINUS)


# Small text tables, which are laid out once for terminal, notebook, page, and LaTeX.

# A mark for each verdict, so that readers can distinguish verdicts without colour.
MARKS = {
    "distinguishable": "●",
    "borderline": "◐",
    "not distinguishable": "○",
    "these words differ": "●",
    "these words may differ": "◐",
    "these words do not clearly differ": "○",
    "not converged": "✕",
    "not made alike": "✕",
    "confounded with frequency": "✕",
    "screened only": "◇",
    "failed": "—",
}
_MARKED = re.compile(f"^([{''.join(MARKS.values())}]) (?=.)")
_WITH_INTERVAL = re.compile(r"^(\S+) (\[[^]]+\])$")
_LATEX_CHARACTERS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after a line break, this character would start an option
        "]": "{]}",
        "−": r"$-$",
        "✓": "*",
        "\n": " ",
    }
)


@dataclass(frozen=True, eq=False)
class Column:
    """A column of values and their format. Text after a line break, for example a unit, is shown as less important."""

    heading: str
    values: Collection[Any]
    written: Callable[[Any], str] = str
    words: bool = False  # left-aligned; numbers are right-aligned
    spare: bool = False  # omitted if the terminal is too narrow

    @cached_property
    def cells(self) -> list[str]:
        """The values as text."""
        return [self.written(value) for value in self.values]

    @cached_property
    def sort_keys(self) -> list[Any]:
        """The values by which a page sorts rows. Intervals are sorted by their lower bound."""
        return [value[0] if isinstance(value, tuple) else value for value in self.values]

    @property
    def name(self) -> str:
        """The heading in one line."""
        return self.heading.replace("\n", ", ")


@dataclass(frozen=True, eq=False)
class Layout:
    """A small text table.

    `heading` is the heading of the column of row labels, and `links` contains the address that each label links to on a
    page.
    """

    labels: Sequence[str]
    columns: Sequence[Column]
    heading: str = ""
    caption: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    sortable: bool = False

    @classmethod
    def of(cls, frame: "pd.DataFrame", number: Callable[[float], str], caption: str = "") -> Self:
        """Lay out a frame, with its index as the first column unless its rows are only numbered.

        `number` formats values that are not whole numbers. A missing number becomes an empty cell. Columns of numbers
        are right-aligned.
        """
        import pandas as pd

        def text(value: object) -> str:
            if isinstance(value, float):
                return "" if math.isnan(value) else number(value)
            return str(value)

        numbered = isinstance(frame.index, pd.RangeIndex)
        rows = frame if numbered else frame.reset_index(names=[name or "" for name in frame.index.names])
        labels, *columns = [
            Column(str(name), values, text, words=not pd.api.types.is_numeric_dtype(values))
            for name, values in rows.items()
        ]
        return cls(labels.cells, columns, labels.heading, caption)

    @property
    def frame(self) -> "pd.DataFrame":
        """The cells as they are shown, that is, as texts, in a frame with the labels of rows as its index."""
        import pandas as pd

        return pd.DataFrame(
            {column.name: list(column.cells) for column in self.columns},
            index=pd.Index(self.labels, name=self.heading or None),
        )

    def __html__(self) -> str:
        """Return HTML for a page or a notebook: a caption, a row of headings, and a row for each label.

        The style sheet of a page shows each row as a card on a phone (class "cards"). The script of a page sorts the
        rows of tables with the class "sortable".
        """
        head = "".join(f"<th{_class_attribute(column)}>{_small(column.heading)}</th>" for column in self.columns)
        body = "\n".join(self._row(row, label) for row, label in enumerate(self.labels))
        caption = f"<caption>{escape(self.caption)}</caption>\n" if self.caption else ""
        return (
            f'<div class="scroll">\n<table class="cards{" sortable" if self.sortable else ""}">\n{caption}'
            f"<thead><tr><th>{_small(self.heading)}</th>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
        )

    def _row(self, row: int, label: str) -> str:
        """Return the row with this number and label in HTML.

        If labels have links, the first line of the label is the link. The lines below it are shown in a smaller size.
        """
        name, line_break, more = label.partition("\n")
        link = f'<a href="{escape(self.links[label])}">{escape(name)}</a>' if self.links else ""
        heading = f"{link}{_small(line_break + more)}" if self.links else _small(label)
        cells = "".join(_cell(column, row, self.sortable) for column in self.columns)
        return f'<tr><th scope="row">{heading}</th>{cells}</tr>'

    def latex(self, environment: str = "tabular", caption: str = "") -> str:
        """Return the table in LaTeX, which needs ``\\usepackage{booktabs}``.

        `environment` is "tabular" or "longtable". A longtable, which may extend over several pages, contains its
        `caption` in LaTeX, and repeats its headings on each page.
        """
        alignments = "".join("l" if column.words else "r" for column in self.columns)
        rows = zip(self.labels, *(column.cells for column in self.columns), strict=True)
        headings = _latex_row([self.heading, *(column.heading for column in self.columns)])
        end = "\\endhead\n" if environment == "longtable" else ""
        return (
            f"\\begin{{{environment}}}{{l{alignments}}}\n{caption}\\toprule\n{headings}\\midrule\n{end}"
            f"{''.join(map(_latex_row, rows))}\\bottomrule\n\\end{{{environment}}}"
        )

    def markdown(self) -> str:
        """Return the table in Markdown, in which names cannot end a cell or begin an HTML tag."""
        sides = ["left" if column.words else "right" for column in self.columns]
        frame = self.frame.map(_escape_markdown).rename(index=_escape_markdown, columns=_escape_markdown)
        return frame.to_markdown(disable_numparse=True, colalign=["left", *sides])


def _escape_markdown(text: str) -> str:
    return re.sub(r"\||<(?=[A-Za-z/!])", r"\\\g<0>", text).replace("\n", "<br>")


def _latex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escape_latex, cells))} \\\\\n"


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, so that all characters print unchanged. Marks of verdicts are removed."""
    return _MARKED.sub("", text).translate(_LATEX_CHARACTERS)


def _class_attribute(column: Column, text: str = "") -> str:
    """Return the attribute of a cell in HTML with its classes: "n" for numbers, and "none" for a missing value.

    `text` is the text of the cell, and is "" for a heading. For text that is not missing, the attribute is "".
    """
    classes = [name for name, applies in (("n", not column.words), ("none", text == DASH)) if applies]
    return f' class="{" ".join(classes)}"' if classes else ""


def _cell(column: Column, row: int, sortable: bool) -> str:
    """Return the cell of a column in a row, in HTML.

    The attribute data-label has the heading of the column, which a phone shows beside the cell. In a sortable table,
    data-value has the value by which the page sorts rows. It is empty for a missing value (NaN).
    """
    sort_attribute = ""
    if sortable:
        key = column.sort_keys[row]
        sort_value = "" if key != key else escape(str(key))  # NaN differs from itself
        sort_attribute = f' data-value="{sort_value}"'
    text = column.cells[row]
    markup = _small(text)
    boxed = f"<span>{markup}</span>" if "<" in markup else markup  # otherwise, the row on a phone would be split
    return f'<td{_class_attribute(column, text)} data-label="{escape(column.name)}"{sort_attribute}>{boxed}</td>'


def _small(text: str) -> str:
    """Return the text of a cell in HTML, with markup for three kinds of text.

    An interval after an estimate gets the class "ci" (paler colour), and each line below the first gets the class "sub"
    (smaller size). The mark of a verdict is hidden from screen readers, because the verdict follows in words.
    """
    first, *more = text.split("\n")
    markup = _WITH_INTERVAL.sub(r'\1 <span class="ci">\2</span>', escape(first))
    markup = _MARKED.sub(r'<span aria-hidden="true">\1</span>&nbsp;', markup)
    return markup + "".join(f'<span class="sub">{escape(line)}</span>' for line in more)


def marked(verdict: str) -> str:
    """Return a verdict after the mark that distinguishes it without colour, such as "● distinguishable"."""
    return f"{MARKS[verdict]} {verdict}"


class Telling:
    """An object with a description in `text`. Dataclasses of this kind have ``repr=False``."""

    @property
    def text(self) -> str:
        """The description, in one or a few sentences."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.text}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p>"


class Tabled(Telling):
    """An object with a small table, which notebooks, terminals, and pages show below the sentences."""

    @property
    def layout(self) -> Layout:
        """Return the small text table."""
        return Layout.of(self._shown(), "{:.3f}".format)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as text, numbers, lists, and dicts, which `json.dumps` accepts.

        `schema`, `kind` (the name of the class), and `text` are followed by the attributes of the result. A frame is a
        list of rows. Numbers that are missing or infinite are None. Fits, draws, and vectors are omitted, and a word
        list, a table, or an embedding is replaced by its name.
        """
        return {"schema": SCHEMA, "kind": type(self).__name__, "text": self.text, **_attributes(self)}

    def to_latex(self) -> str:
        """Return the small table in LaTeX for a paper. It needs ``\\usepackage{booktabs}``."""
        return self.layout.latex()

    def to_markdown(self) -> str:
        """Return the small table in Markdown."""
        return self.layout.markdown()

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}{self.layout.__html__()}"

    def _shown(self) -> "pd.DataFrame":
        """The frame with the numbers of the table, unless the class defines another layout."""
        raise NotImplementedError


# Results as JSON.

# The number increases if a key is removed or changes its meaning.
SCHEMA = "bayes-bias/1"

_OMITTED = object()


def as_json(value: Any) -> Any:
    """Return a value as `json.dumps` accepts it, in the form that `Tabled.to_dict` describes.

    Text and numbers remain, and a number that is not finite becomes None. A result of this package becomes a dict of
    its public attributes, or only its name if it is a model or an embedding (`Telling`). A frame becomes a list of
    rows. Mappings and lists are converted with all of their elements.

    The result of a value that is left out of JSON, such as a function or a set of draws, is `_OMITTED`. The caller then
    omits the key or the element.

    Examples
    --------
    >>> as_json({"sizes": (1, 2), "missing": math.nan})
    {'sizes': [1, 2], 'missing': None}
    """
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()  # a single number of NumPy becomes a number of Python
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Tabled):
        return value.to_dict()
    if isinstance(value, Telling) and hasattr(value, "name"):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return _attributes(value)
    if type(value).__module__.startswith("pandas"):
        return _rows(value)
    if type(value).__module__.startswith("xarray") or callable(value):
        return _OMITTED
    if isinstance(value, Mapping):
        pairs = {_key(name): as_json(item) for name, item in value.items()}
        return {name: item for name, item in pairs.items() if item is not _OMITTED}
    if isinstance(value, Set | Sequence):
        items = map(as_json, sorted(value) if isinstance(value, Set) else value)
        return [item for item in items if item is not _OMITTED]
    return str(value) if isinstance(value, PathLike) else _OMITTED


def _attributes(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON by name, without fields that are private or have ``repr=False``."""
    shown = [field.name for field in fields(record) if field.repr and not field.name.startswith("_")]
    return dict(as_json({name: getattr(record, name) for name in shown}))


def _rows(values: Any) -> Any:
    """Return a frame, or a series, as a list of rows, each a dict by column. The levels of its index are columns.

    An index without a name that only numbers the rows is omitted. Any other object of pandas is omitted from JSON.
    """
    import pandas as pd

    if isinstance(values, pd.Series):
        values = values.to_frame("value" if values.name is None else values.name)
    if not isinstance(values, pd.DataFrame):
        return _OMITTED
    if values.index.name is not None or not isinstance(values.index, pd.RangeIndex):
        values = values.reset_index(names=[name or "label" for name in values.index.names])
    return [as_json(dict(zip(values.columns, row, strict=True))) for row in values.itertuples(index=False, name=None)]


def _key(name: Any) -> str:
    """Return a key of a mapping, or the heading of a column, as text."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
