"""Word lists in spreadsheets: a column for each group and class, or a whole list in each row."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, compress, zip_longest
from operator import itemgetter
from pathlib import Path
from shlex import quote
from typing import Any

from bayes_bias.arguments import all_are
from bayes_bias.errors import WordListError
from bayes_bias.formatting import counted, in_quotes, joined
from bayes_bias.spreadsheets import Hidden, is_spreadsheet, read_sheet, stripped
from bayes_bias.words.content import Content, check_text, first_text
from bayes_bias.words.spelling import grouped, plain_word

# Sign between a group and the class that is stereotypical for it, as in --stereotype.
_IS = "="
# Columns of a table with a row for each word.
_WORDS, _LABELS = ("word", "words", "term", "token"), ("group", "class", "category")
# The heading of labels in experiments, if there is none of the others.
_CONDITION = "condition"
# Optional column with the part of speech of the word, for templates.
_WORD_CLASS = "word_class"
# Columns of a table of cosines. Its other columns may contain numbers with decimals as well.
_OF_COSINES = {"target", "attribute", "cosine"}
_DECIMAL = re.compile(r"[-+\u2212]?\d*[.,]\d+([eE][-+]?\d+)?")

# Fillers that R, pandas, SQL, SAS, and Excel write into the empty cells below the last word of a column.
_PADDING = frozenset({"na", "n/a", "<na>", "#n/a", "nan", "none", "null", "nil", "."})

# Marks of a word in the column of its category, and cells of other categories.
_MARKS, _NO_MARKS = frozenset({"X", "1", "TRUE"}), frozenset({"", "0", "FALSE"})

_EMPTY = ("", None)
# Number of letters of a name in a message.
_LETTERS = 100
# Minimal number of words between two commas of a sentence, as opposed to the phrases in a cell of several.
_FEWEST_IN_SENTENCE = 6
# A filler that may be the name of a control class.
_A_NAME = "none"

type Cells = tuple[str, Sequence[Any]]
type Columns = list[tuple[str, list[Any]]]


@dataclass(frozen=True)
class Reading:
    """How to read columns of words: the stereotypical class of groups, the classes to compare with, the columns to
    ignore, what to do with hidden cells (see `load_wordlist`), and whether the list states that its entries are
    sentences."""

    stereotypes: Mapping[str, str] | None = None
    opposites: Sequence[str] | None = None
    ignore_columns: Sequence[str] = ()
    hidden: Hidden = "drop"
    has_sentences: bool = False

    def refuse(self, label: str) -> None:
        """Raise an error if an argument is passed with a list that has no columns, because it defines its own parts.

        These arguments are only for columns of words, of which the list does not state which are groups. `label` is the
        name or the kind of the list, for the message.
        """
        for argument in ("stereotypes", "opposites", "ignore_columns"):
            if getattr(self, argument):
                raise WordListError(
                    f"`{argument}` cannot be combined with {label}, which defines its own groups, classes, and"
                    " stereotypes. Change these in the list, or omit the argument."
                )


READING = Reading()


def list_of_columns(
    columns: Iterable[Cells], where: str, reading: Reading = READING, *, padded: bool = True
) -> Content:
    """Convert columns to the content of a word list.

    ``flowers=pleasant`` is the heading of a group with its stereotypical class, and ``pleasant`` the heading of a
    class. Alternatively, `stereotypes` of `reading` define the groups. Without either, all columns are classes. If all
    groups have the same class and there are several other classes, `opposites` defines which of the others to compare.
    If columns are `padded`, as in a file or frame, shorter columns may end with fillers, such as the NA of R. `where`
    is the name of the source in messages.

    Raises
    ------
    WordListError
        If two columns have the same name, words have no heading, a stereotype is for a group without a column or
        differs from its heading, opposites are unknown, or a cell of an Excel workbook contains no text.

    Examples
    --------
    >>> rich = [("rich=able", ["banker", ""]), ("able", ["smart", "wise"]), ("poor", ["weak", None])]
    >>> list_of_columns(rich, "mine").values["classes"]
    {'able': ['smart', 'wise'], 'poor': ['weak']}
    """
    sheet = read_columns(columns, where, reading, padded)
    words_of: dict[str, list[Any]] = {}
    stereotype_of: dict[str, str] = {}
    for heading, words in sheet.columns:
        name, class_name = _name_and_class(heading, words, where)
        if name in words_of:
            raise WordListError(f"{where} has two columns with the heading '{name}'. Join them, or rename one.")
        words_of[name] = words
        if class_name:
            stereotype_of[name] = class_name
    for group, class_name in (reading.stereotypes or {}).items():
        if stereotype_of.setdefault(group, class_name) != class_name:
            raise WordListError(
                f"{where}: the class of '{group}' is '{stereotype_of[group]}' in its heading, but '{class_name}' in"
                " `stereotypes`. Omit one of them."
            )
    groups = {name: words for name, words in words_of.items() if name in stereotype_of}
    classes = {name: words for name, words in words_of.items() if name not in stereotype_of}
    for group in stereotype_of.keys() - groups.keys():
        raise WordListError(f"{where} has no column '{group}', which is in `stereotypes`.", group, list(words_of))
    values: dict[str, Any] = {"classes": classes}
    if stereotype_of:
        values |= {"groups": groups, "stereotypes": stereotype_of}
    if sheet.word_classes:
        values["word_classes"] = sheet.word_classes
    if reading.opposites is not None:
        values["opposites"] = tuple(reading.opposites)
    elif stereotype_of:
        _check_opposites(set(stereotype_of.values()), list(classes), where)
    return Content(values, where, notices=tuple(sheet.notices))


def check_stereotypes(content: Content) -> None:
    """Raise an error if no column is a group with its stereotypical class.

    If columns of words do not define their groups, all of them are classes in the content of the list. The error shows
    three ways to define the groups of this file, with an example made from its headings.
    """
    if "groups" in content.values:
        return
    names = [name[:_LETTERS] for name in content.values["classes"] if name]
    if not names:
        raise WordListError(f"{content.where} contains no words. Write a word and its group or class in each row.")
    # In the example, the first half of the columns are groups, and the others their classes.
    n_groups = max(len(names) // 2, 1)
    classes = names[n_groups:] if len(names) > 2 else ["CLASS"]
    stereotypes = dict(zip(names[:n_groups], classes, strict=False))
    # The example has no quotes, because `for_reader` would read them as the value of an argument.
    example = f"{names[0]}={stereotypes[names[0]]}"
    files = quote(content.where) if len(names) > 2 else f"{quote(content.where)} OTHER-FILES"
    options = " ".join(f"--groups '{group}={name}'" for group, name in stereotypes.items())
    raise WordListError(
        f"{content.where} does not define which of {joined(names)} are groups. Rename each group to GROUP=CLASS, where"
        f" CLASS is its stereotypical class, for example {example}. Alternatively, use `stereotypes={stereotypes}`"
        f" (`bayes-bias wordlists {files} {options} --out new-list.csv`). If the first row contains words instead of"
        " names, add a row of names above it. If it is a title, remove it."
    )


def _check_opposites(associated: set[str], classes: list[str], where: str) -> None:
    """Raise an error if it is unclear which columns to compare with.

    `associated` are the stereotypical classes of groups, and `classes` the columns that are no groups. If all groups
    have one class, it is compared with all other columns. This is unclear if there are several others, because some of
    them may contain notes.
    """
    other_columns = [name for name in classes if name not in associated]
    if len(associated) == 1 and associated <= {*classes} and len(other_columns) > 1:
        (class_name,) = associated
        raise WordListError(
            f"{where} does not define which of {joined(other_columns)} to compare '{class_name}' with. {about_notes()}"
            " If several remain, name the classes to compare with"
            " `opposites=['CLASS', ...]` (--opposites CLASS of `bayes-bias table`). All others become control classes."
        )


def about_notes(heading: str = "HEADING") -> str:
    """Return the advice for a column that has something other than words."""
    call = f"`load_wordlist(..., ignore_columns=['{heading}'])`"
    return f"If a column has notes, remove it, or omit it with {call} (--ignore-column {quote(heading)})."


def holds_words(path: Path, ignore_columns: Collection[str] = ()) -> bool:
    """Return True if a spreadsheet is a word list rather than a table of cosines.

    A table of cosines is recognised by a known heading (`_OF_COSINES`), or by a column whose cells are all decimal
    numbers. Columns that the user ignores are skipped.
    """
    if not is_spreadsheet(path.name):
        return False
    try:
        columns = read_sheet(path, str(path), WordListError).columns
    except WordListError:
        return True  # reading it as a list raises the error
    for heading, cells in columns:
        if heading in ignore_columns:
            continue
        filled = list(filter(None, cells))
        are_decimals = bool(filled) and all(map(_DECIMAL.fullmatch, filled))
        if heading.lower() in _OF_COSINES or are_decimals:
            return False
    return True


@dataclass
class _Sheet:
    """Headings and words of a spreadsheet in either layout, notices of omissions, and words by word class."""

    columns: Columns
    notices: list[str] = field(default_factory=list)
    word_classes: dict[str, list[str]] = field(default_factory=dict)


def read_columns(columns: Iterable[Cells], where: str, reading: Reading, padded: bool) -> _Sheet:
    """Read the words of a spreadsheet under the name of each group or class, without blanks and fillers.

    A spreadsheet has one of four layouts: a column for each group and class; names in the first column, with the words
    beside them (`_upright`); a row for each word with its group or class in another column (`is_long`); or a row for
    each word with marks in columns of categories. The other layouts are converted to the first one. `where` begins the
    messages, and shorter columns may end with fillers, such as NA, if columns are `padded`. If the list states its
    sentences, a cell with several words is no mistake.
    """
    sheet = _Sheet([])
    stripped_columns: Columns = []
    for heading, cells in columns:
        stripped_cells = [stripped(cell) if isinstance(cell, str) else cell for cell in cells]
        stripped_columns.append((plain_word(heading.strip()), stripped_cells))
    upright = _upright(stripped_columns, sheet, where)
    used = _without_columns(upright, reading.ignore_columns, sheet, where)
    headings = {heading.lower() for heading, _ in used}
    is_long = not headings.isdisjoint(_WORDS) and not headings.isdisjoint((*_LABELS, _CONDITION))
    by_category = _words_by_label(used, sheet, where) if is_long else _words_by_mark(used, sheet, where)
    is_filler = may_pad if padded else _EMPTY.__contains__  # for the cells that may be dropped at the end of a column
    for heading, cells in _without_padding(by_category, sheet, where, is_filler):
        words = _filled(cells)
        if words and not reading.has_sentences and all(map(_lists_words, words)):
            raise WordListError(
                f"{where}: the cell '{words[0]}' of '{heading}' has several words. Write one word in each cell."
            )
        for word in words:
            check_text(word, where)
            if padded and is_long and may_pad(word):  # no cell needs a filler in a table with a row for each word
                notice = f"{where}: '{word}' of '{heading}' is read as a word. If it is not a word, remove the row"
                sheet.notices.append(notice)
        if heading or words:
            sheet.columns.append((heading, words))
    return sheet


def _lists_words(cell: Any) -> bool:
    """Return True if a cell consists of several words with commas between them, unlike a sentence with commas."""
    text = str(cell)
    parts = text.split(",")
    is_sentence = text[-1] in ".!?" or max(len(part.split()) for part in parts) >= _FEWEST_IN_SENTENCE
    return len(parts) > 2 and not is_sentence


def _upright(columns: Columns, sheet: _Sheet, where: str) -> Columns:
    """Turn a table with the names in its first column into columns with the names as headings.

    Such a table is recognised by a first heading such as ``flowers=pleasant`` whose class is in the first column but is
    not a heading. The headings are then the first row of the table. A notice is added to the `sheet`. Other tables are
    returned unchanged, and so are columns of different lengths.
    """
    if len(columns) < 2 or len({len(cells) for _, cells in columns}) > 1:
        return columns
    headings = [heading for heading, _ in columns]
    (first_heading, first_cells), *other_columns = columns
    names = [first_heading, *first_cells]
    class_name = first_heading.partition(_IS)[2].strip()
    if not class_name or class_name in headings or class_name not in names:
        return columns
    sheet.notices.append(f"{where}: the names are read from the first column, and their words from the rows")
    # The rows without the first column: each column is its heading and the cells below it.
    rows = zip(*([heading, *cells] for heading, cells in other_columns), strict=True)
    return [(str(name), list(row)) for name, row in zip(names, rows, strict=True) if name not in _EMPTY]


def _words_by_mark(columns: Columns, sheet: _Sheet, where: str) -> Columns:
    """Convert a table with a row for each word and a column for each category to columns with the words.

    In such a table, a mark such as LIWC-22's X shows the categories of each word, which is in the first column. All
    other cells are empty or a sign for no mark (`_NO_MARKS`). Every word has at least one mark, and all marks are
    equal. Other tables are returned unchanged.
    """
    if len(columns) < 3:
        return columns
    (_, words), *categories = columns  # a heading and its cells each
    texts_of = {name: [str(cell).upper() for cell in cells] for name, cells in categories}
    is_marked = {name: [text in _MARKS for text in texts] for name, texts in texts_of.items()}
    texts_used = set(chain.from_iterable(texts_of.values()))
    marks_used = texts_used & _MARKS
    has_only_marks = texts_used <= _MARKS | _NO_MARKS
    every_word_has_category = all(any(row) for row in zip(*is_marked.values(), strict=False))
    if len(marks_used) != 1 or not has_only_marks or not every_word_has_category:
        return columns
    sheet.notices.append(f"{where}: the words of each category are those with the mark {min(marks_used)}")
    return [(name, list(compress(words, marks))) for name, marks in is_marked.items()]


def _without_columns(columns: Columns, ignored: Sequence[str], sheet: _Sheet, where: str) -> Columns:
    """Drop the columns with the `ignored` headings, as the user requested, and add a notice to the sheet.

    `where` is the name of the source, for the notice and for the error about a heading that it lacks.
    """
    headings = [heading for heading, _ in columns]
    for heading in ignored:
        if heading not in headings:
            raise WordListError(f"`ignore_columns`: {where} has no column '{heading}'.", heading, headings)
    if ignored:
        sheet.notices.append(f"{where}: ignored {counted(len(ignored), 'column')}, as requested: {in_quotes(ignored)}")
    return [(heading, cells) for heading, cells in columns if heading not in ignored]


def _words_by_label(columns: Columns, sheet: _Sheet, where: str) -> Columns:
    """Convert a table with a row for each word to one column for each group and class.

    One column has the words (with a heading in `_WORDS`), another column the group or class of each word, that is, its
    label (`_LABELS` or `_CONDITION`), and an optional column the word class (`_WORD_CLASS`). Word classes and a notice
    of unused columns are added to the sheet. A word without a label is an error. A filler such as NA is no label,
    except "none" (`_A_NAME`), which may be the name of a class.
    """
    cells_of = {heading.lower(): cells for heading, cells in columns}
    label_columns = [name for name in _LABELS if name in cells_of] or [_CONDITION]
    if len(label_columns) > 1:
        raise WordListError(
            f"{where} has the columns '{label_columns[0]}' and '{label_columns[1]}', but only one of them is allowed."
            " Write the group or class of each word in one of them, and remove the other."
        )
    label_column = label_columns[0]
    word_column = next(name for name in _WORDS if name in cells_of)
    unused = []
    for heading, cells in columns:
        if heading.lower() not in (word_column, label_column, _WORD_CLASS) and any(cells):
            unused.append(heading or "a column without a heading")
    if unused:
        notice = f"{where}: only the columns '{word_column}' and '{label_column}' are used, not {', '.join(unused)}"
        sheet.notices.append(notice)
    words, labels = cells_of[word_column], cells_of[label_column]
    word_classes = cells_of.get(_WORD_CLASS, [])
    if len(words) != len(labels):
        raise WordListError(
            f"{where}: the columns '{word_column}' and '{label_column}' have different lengths ({len(words)} and"
            f" {len(labels)}). Write the group or class of each word beside it."
        )
    words_of: dict[str, list[Any]] = {}
    for word, label, word_class in zip_longest(words, labels, word_classes):
        has_label = not may_pad(label) or (label and label.casefold() == _A_NAME)
        if word not in _EMPTY and not has_label:
            raise WordListError(
                f"{where}: {label_column} of '{word}' is {repr(label) if label else 'missing'}. Write its group or"
                " class there, or remove the row."
            )
        if word not in _EMPTY or label not in _EMPTY:
            words_of.setdefault("" if label is None else str(label), []).append(word)
        if word not in _EMPTY and word_class not in _EMPTY:
            sheet.word_classes.setdefault(word_class, []).append(word)
    return list(words_of.items())


def _filled(cells: Iterable[Any]) -> list[Any]:
    """Return the cells that are not empty."""
    return [cell for cell in cells if cell not in _EMPTY]


def _without_padding(columns: Columns, sheet: _Sheet, where: str, is_filler: Callable[[Any], bool]) -> Columns:
    """Drop fillers such as NA below the last word of each column, with notices in the `sheet`.

    Programs fill the end of a shorter column, up to the end of the longest column. A filler is therefore dropped only
    if another column has a word or filler in the same row (`n_filled`), because "NA" in the longest column may be a
    word. Empty cells at the end are dropped as well. A notice counts missing cells above a word, which are kept here.
    `is_filler` returns True for the cells that may be dropped, including empty ones.
    """
    n_filled = Counter[int]()  # the number of columns with a word or filler in each row
    for _, cells in columns:
        n_filled.update(row for row, cell in enumerate(cells) if cell not in _EMPTY)
    shortened, notices_of_fillers, notices_of_missing = [], [], []
    for heading, cells in columns:
        n_kept = len(cells)
        while n_kept and is_filler(cells[n_kept - 1]) and (cells[n_kept - 1] in _EMPTY or n_filled[n_kept - 1] > 1):
            n_kept -= 1
        kept_cells = cells[:n_kept]
        shortened.append((heading, kept_cells))
        if fillers := _filled(cells[n_kept:]):
            notices_of_fillers.append(
                f"{where}: omitted {counted(len(fillers), 'filler')} '{fillers[0]}' at the end of the column"
                f" '{heading}'. If it is a word, move it further up in its column"
            )
        if n_missing := kept_cells.count(None):
            notices_of_missing.append(
                f"{where}: omitted {counted(n_missing, 'missing cell')} above a word of '{heading}'. To keep words such"
                " as NA and null, write them in quotes, and read files with pandas.read_csv(..., keep_default_na=False)"
            )
    sheet.notices += notices_of_fillers + notices_of_missing
    return shortened


def may_pad(cell: Any) -> bool:
    """Return True for an empty cell or a filler."""
    return cell in _EMPTY or (isinstance(cell, str) and cell.casefold() in _PADDING)


def _name_and_class(heading: str, words: list[Any], where: str) -> tuple[str, str]:
    """Split a heading such as "flowers=pleasant" into a name and its stereotypical class, or "" without a class.

    Raise an error for a heading that is empty or lacks a name before or after "=". If all `words` below the heading are
    numbers, the message suggests that these are row numbers.
    """
    name, equals, class_name = map(str.strip, heading.partition(_IS))
    if not name or (equals and not class_name):
        remedy = "Write the name of a class, or GROUP=CLASS, in the first row. If this row is a title, remove it."
        if words and all(map(str.isdecimal, map(str, words))):
            remedy = "Remove it, because row numbers are not words (row.names=FALSE in R, index=False in pandas)."
        raise WordListError(
            f"{where}: the column with the words {', '.join(map(str, words[:3]))} has the heading '{heading}', which is"
            f" not a name. {remedy}"
        )
    return name, class_name


# A row has two targets and two attributes, each with a category and examples.
PARTS = ("targ1", "targ2", "attr1", "attr2")
_CATEGORY, _EXAMPLES = "category", "examples"
# Columns that name the words of a row. Other columns distinguish lists.
_NAMES = ("name", _CATEGORY)
# Number of rows that a message names.
_NAMED = 5
# Separator between a file and the name of a row.
ROW = "#"


def chosen_row(content: Any, label: str, chosen: str) -> Any:
    """Return the content of a file or, if each of its rows is a list, the content of its only or chosen row.

    A row is `chosen` by its name, which consists of the cells in the columns that distinguish the rows (`columns`),
    such as "gender" or "gender de". The only row of a file has the name "", as has `chosen` if no row is chosen.
    `label` is the name of the file, with the row if one is chosen.

    Raises
    ------
    WordListError
        If there are several rows, each with a list, and none of them is chosen.
    """
    rows = _rows(content)
    columns = _distinguishing_columns(rows) if len(rows) > 1 else ()
    rows_by_name = grouped(rows, lambda row: " ".join(str(row[column]) for column in columns))
    chosen_rows = rows_by_name.get(chosen, [])
    if len(chosen_rows) == 1:
        return _in_parts(chosen_rows[0])
    if columns:
        names = list(rows_by_name)
        shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        file = label.rpartition(ROW)[0] or label
        example = f"{file}{ROW}{names[0]}"
        raise WordListError(
            f"{label} has {len(rows)} rows with a list each, distinguished by {' and '.join(columns)}: {shown}. Add the"
            f" row to the name of the file, for example '{example}'."
        )
    if chosen:
        raise WordListError(
            f"{label}: the file does not have a list in each row, so there is no row '{chosen}'. Omit '{ROW}{chosen}'."
        )
    return content


def _rows(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a table in which each row is a list, or none for other content.

    `content` is parsed JSON or YAML: one row (a mapping), or a list of rows.
    """
    if isinstance(content, Mapping) and _is_row(content):
        return [content]
    if not isinstance(content, list) or not content or not all_are(Mapping, content):
        return []
    return content if all(map(_is_row, content)) or _repeats_names(content) else []


def _is_row(row: Mapping[str, Any]) -> bool:
    """Return True if a row is a list of its own.

    It has the four `PARTS` of a list of sentences, possibly in columns such as ``targ1.examples``, or it has several
    lists of words beside a text that names the row.
    """
    if all(f"{part}.{_EXAMPLES}" in row or part in row for part in PARTS):
        return True
    has_name = any(isinstance(value, str) for value in row.values())
    return has_name and sum(map(_are_words, row.values())) > 1


def _repeats_names(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if two rows with the same name have different words, for example in two languages.

    The name is a text under one of the keys in `_NAMES`. Return False if a row has no name, or not exactly one list of
    words.
    """
    words_of: dict[str, Any] = {}
    for row in rows:
        name = first_text(row, _NAMES)
        words = list(filter(_are_words, row.values()))
        if name is None or len(words) != 1:
            return False
        if words_of.setdefault(name, words) != words:
            return True
    return False


def _are_words(value: Any) -> bool:
    """Return True for a list of words."""
    return isinstance(value, list) and bool(value) and all_are(str, value)


def _distinguishing_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fewest columns (up to three) whose cells distinguish all rows.

    If no columns do, return all columns that distinguish some rows. Only texts and whole numbers distinguish rows, and
    columns with the names of words (`_NAMES`) do not count.
    """
    varying = []
    for column in rows[0]:
        values = [row.get(column) for row in rows]
        is_label = all_are(str | int, values) and column.rpartition(".")[2] not in _NAMES
        if is_label and len(set(values)) > 1:
            varying.append(column)
    for n_columns in range(1, min(len(varying), 3) + 1):
        for columns in combinations(varying, n_columns):
            different_cells = set(map(itemgetter(*columns), rows))
            if len(different_cells) == len(rows):
                return columns
    return tuple(varying)


def _in_parts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert columns such as ``targ1.category`` to a mapping for each part. Other rows are returned unchanged.

    The four parts (`PARTS`) of a list of sentences are two targets and two attributes, each with a category, which is
    its name, and examples, which are its sentences.
    """
    if not all(f"{part}.{_EXAMPLES}" in row for part in PARTS):
        return row
    content = {"language": row["language"]} if "language" in row else {}
    for part in PARTS:
        content[part] = {_CATEGORY: row.get(f"{part}.{_CATEGORY}", part), _EXAMPLES: row[f"{part}.{_EXAMPLES}"]}
    return content
