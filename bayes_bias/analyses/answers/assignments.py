"""Parsing of replies: the label of each word, such as "salary - Ben", and the drafts of reasoning models."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from bayes_bias.analyses.answers.cues import cues, sentences
from bayes_bias.analyses.answers.json_replies import lines_of_json
from bayes_bias.analyses.answers.lists import AssociationList
from bayes_bias.errors import AnswersError

# Outcomes of a word: the model chose an offered label; a line names both labels, or two lines contradict each other;
# the model declined; the form of the answer is unknown, or the text around the answer withdraws it; or only other words
# have answers.
CHOSEN, CONTRADICTORY, REFUSED = "chosen", "contradictory", "refused"
NOT_UNDERSTOOD, LEFT_OUT = "not understood", "left out"
# Outcomes of a reply that ended before an answer: at a limit of tokens, by a filter, or with a call of a tool.
CUT_OFF, BLOCKED, TOOL_CALL = "cut off", "blocked", "tool call"
ENDINGS = (CUT_OFF, BLOCKED, TOOL_CALL)
OUTCOMES = (CHOSEN, REFUSED, CONTRADICTORY, NOT_UNDERSTOOD, LEFT_OUT, *ENDINGS)

# An operator separates a word from its label. A closing bracket may precede it, and an opening bracket may follow it.
# Lines do not contain consecutive blanks.
_OPERATOR = r"(?:[-:=|>~\t]|\.{2,})"
_STRONG = rf" ?[)\]}}]? ?{_OPERATOR}(?: ?{_OPERATOR})*+ ?[(\[{{<]? ?| ?[(\[{{] ?"
_PHRASE = (
    r" (?:is|goes (?:to|with)|(?:is |gets )?assigned to|belongs to|fits|geht an|gehört zu|passt zu|va (?:à|avec|a|con)"
    r"|appartient à|est attribuée? à|pertenece a|corresponde a|se asigna a|appartiene a|vai para|pertence a|hoort bij"
    r"|относится к|принадлежит) "
)
# Verbs between a label and its words, and adverbs and clauses before a label that do not change the choice.
_VERB = (
    r" (?:gets|takes|receives|goes with|is assigned|bekommt|erhält|reçoit|obtient|recibe|obtiene|riceve|ottiene|recebe"
    r"|krijgt|получает) "
)
_ADVERB = (
    r"(?:(?:probably|most likely|likely|definitely|clearly|i(?:d| would)? ?(?:say|choose|pick|go with)|wahrscheinlich"
    r"|vermutlich|eher|probablement|probablemente|probabilmente|provavelmente|waarschijnlijk|вероятно"
    r"|скорее всего),? )?"
)
_KEY = r" ?[,|;]? ?(?:label|choice|answer|assigned label|assignment|category|value) ?[:=] ?"
_IN_BRACKETS = r" ?, ?(?=[^,]*[)\]}])"  # "(salary, Ben)"
_BETWEEN_WORDS = r" ?(?:[-,;/|&+]|\b(?:and|or)\b)(?: ?(?:[-,;/|&+]|\b(?:and|or)\b))*+ ?"

_NO_WORDS = re.compile(r"[\W\d_]*+")
_NO_TEXT = re.compile(r"[\W\d_]*+(?:and)?[\W\d_]*+")
_ANSWERED = re.compile(rf" ?[)\]}}]? ?{_OPERATOR}+")
# If a line has no label for a word, this number of characters after the word is searched for another kind of answer.
_NEAR = 200
_BLANKS = re.compile(r" {2,}")
_OR = re.compile(r" ?(?:[/&+]|(?:or|oder|ou|или)\b) ?\w")
_BOTH = re.compile(
    r"\b(?:both|either|neither|beide[nrs]?|sowohl|weder|les deux|lun ou lautre|amb[oa]s|(?:los|las) dos|entramb[ie]"
    r"|tutti e due|os dois|as duas|allebei|båda|begge|оба|обе|обоим)\b|两者|兩者|両方|둘 ?다"
)
# Text that withdraws the label before it, as in "salary - Ben? No".
_TAKEN_BACK = re.compile(r"\W*(?:(?:no|nope|nein|non|not (?:really|necessarily|sure|certain))\b|0 ?%)\W*")
_DECLINED = re.compile(
    r"\W*(?:(?:neither|none|no ?one|nobody|n/?a|skip(?:ped)?|unknown|unsure|undecided|not applicable|cannot|cant|wont"
    r"|no (?:label|answer|choice)|refus\w*|declin\w*)\b.*|)"
)
_STRUCK_OUT = "~~"
_LETTER = re.compile(r"[^\W_]")
_ARROWS = (range(0x2190, 0x2200), range(0x2794, 0x27C0), range(0x27F0, 0x2980), range(0x2B00, 0x2B12))
_KEPT_LINES = 4096
_NUMBER = re.compile(r"\W*\d+[.)]")
# A heading above a final answer, after which the text before is a draft.
_FINAL_ANSWER = re.compile(
    r"[\W\d_]*(?:(?:my |the )?(?:own |real |actual |honest )?(?:final|definitive|revised|own)"
    r" (?:answers?|response|assignments?|list)"
    r"|(?:meine )?(?:endgültige|finale|eigene) (?:antwort(?:en)?|zuordnung(?:en)?)|(?:ma )?réponse finale"
    r"|(?:mi )?respuesta final|(?:la mia )?risposta finale|(?:minha )?resposta final"
    r"|итоговый ответ|最终答案|最終回答)[\W_]*"
)
_TICKS = frozenset(["✓", "✔", "✅", "☑", "x", "yes", "1", "●"])
_CROSSES = frozenset(["✗", "✘", "❌"])
_NO_TICKS = frozenset(["", "-", "no", "0", "☐", "○"]) | _CROSSES
# Words that do not identify a label.
_FUNCTION_WORDS = frozenset(["a", "an", "and", "for", "from", "in", "of", "or", "the", "to", "with"])
_MARKUP = re.compile(r"[*\"'`´]|(?<![^\W_])_+|_+(?![^\W_])")
_LINE_ENDS = re.compile(r"<br\s*/?>|</(?:tr|li|p|div)>", re.IGNORECASE)
_TAGS = re.compile(r"</?(?:b|i|u|em|strong|span|code|tr|li|p|div|table|tbody|thead|ul|ol)(?:\s[^<>]*)?>", re.IGNORECASE)
_CELLS = re.compile(r"</?t[dh](?:\s[^<>]*)?>", re.IGNORECASE)


@dataclass(frozen=True)
class Assignment:
    """The assignment of a word: its `label` if one was chosen, the `outcome`, and the `line` that it was read from."""

    outcome: str
    label: str = ""
    line: str = ""


class _Line(NamedTuple):
    """A line of a reply: its normalised text, and the line as it was written."""

    text: str
    written: str


class _Entry(NamedTuple):
    """A word and its label in a line. The label is None if the line names two labels or contradicts itself.

    A `doubt` is a text beside the label that withdraws it. If it is `about_all`, it withdraws all labels of the reply.
    """

    word: str
    label: str | None
    line: str
    doubt: str = ""
    about_all: bool = False


def assignments(
    reply: str,
    words: Sequence[str],
    questions: AssociationList,
    offered: Collection[str] | None = None,
    prompt: str = "",
) -> dict[str, Assignment]:
    """Return the assignment of each word in a reply from which the draft was removed.

    `words` are the words of the prompt, and `questions` is the list with all labels. An entry is one word with its
    label in a line of the reply. A word may have several entries, which are combined, or none. Only labels that were
    `offered` can be chosen. If the offered labels are unknown, any label of the list can be chosen. A part of a label
    is also accepted if no other label contains this part. If the text around the labels shows that they are a
    demonstration, the view of others, or withdrawn, they are not understood. Sentences of the prompt are ignored.
    """
    reader = _reader(tuple(sorted(words)), questions)
    lines = reader.lines(reply)
    entries_of: dict[str, list[_Entry]] = {word: [] for word in words}
    entries = list(reader.entries(lines))
    if not entries:
        return reader.without_entries(words, lines)
    for entry in entries:
        entries_of[entry.word].append(entry)
    valid_labels = set(chain(*questions.labels)) if offered is None else offered
    doubt = reader.doubt_about_all(lines, entries, prompt)
    assignment_of = {}
    for word, entries_of_word in entries_of.items():
        if not entries_of_word:
            assignment_of[word] = reader.unanswered(word, lines)
        elif doubt:
            assignment_of[word] = Assignment(NOT_UNDERSTOOD, line=doubt)
        else:
            assignment_of[word] = _assignment(entries_of_word, valid_labels)
    return assignment_of


def _assignment(entries: Sequence[_Entry], valid: Collection[str]) -> Assignment:
    """Return the assignment of a word from all of its entries in the lines of a reply.

    The label is chosen if all entries agree, none is in doubt, and it is one of the `valid` labels. The choice is
    contradictory if an entry has no label, because its line names two labels, or if the labels of two entries differ.
    """
    labels = []
    for entry in entries:
        if entry.label is None:
            return Assignment(CONTRADICTORY, line=entry.line)
        labels.append(entry.label)
    last_line = entries[-1].line
    if len(set(labels)) > 1:
        return Assignment(CONTRADICTORY, line=f"{entries[0].line} / {last_line}")
    for entry in entries:
        if entry.doubt:
            return Assignment(NOT_UNDERSTOOD, line=entry.line)
    if labels[0] in valid:
        return Assignment(CHOSEN, labels[0], last_line)
    return Assignment(NOT_UNDERSTOOD, line=last_line)


def _lines_of_text(text: str) -> list[_Line]:
    """Return the lines of a text that contain more than blanks.

    A text on one line may have escaped line ends, a backslash and an "n". Tags of HTML are removed, except that some of
    them end a line (`_LINE_ENDS`), and that cells of a table (`_CELLS`) are separated by bars.
    """
    if "\n" not in text.strip():
        text = text.replace("\\n", "\n")
    if "<" in text:
        text = _LINE_ENDS.sub("\n", text)
        text = _TAGS.sub("", text)
        text = _CELLS.sub(" | ", text)
    return [line for line in map(_line, text.splitlines()) if line.text]


# Most lines occur in many replies, so that lines and their entries are kept.
@lru_cache(maxsize=_KEPT_LINES)
def _line(written: str) -> _Line:
    """Return a line of a reply, whose normalised text may be empty."""
    return _Line(_BLANKS.sub(" ", plain(written)).strip(), written.strip())


def plain(text: str) -> str:
    """Normalise a text: NFKC, lower case, one kind of hyphen, "->" for arrows, and no quotes or emphasis.

    Examples
    --------
    >>> plain("**“Full‑time” job**： Ben ⇒ x")
    'full-time job: ben -> x'
    """
    text = unicodedata.normalize("NFKC", text)
    text = "".join(map(_plain_character, text))
    return unicodedata.normalize("NFKC", _MARKUP.sub("", text).casefold())


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    """Return the plain form of a character.

    It is "-" for dashes, "->" for arrows, and empty for quotes and invisible characters. Other characters are kept.
    """
    code = ord(character)
    if code < 128:
        return character
    category = unicodedata.category(character)
    if category == "Pd" or character == "\u2212":
        return "-"
    if category in ("Pi", "Pf", "Cf") or character in "‚„\ufe0e\ufe0f":  # quotes, invisible characters, emoji variants
        return ""
    is_arrow = any(code in block for block in _ARROWS)
    name = unicodedata.name(character, "") if is_arrow else ""
    if "ARROW" in name and "STROKE" not in name:  # a stroke negates the sign
        return "->"
    return character


class _Reader:
    """The patterns of the words and labels of a question, which read the lines of replies.

    In patterns, `term` is any word of the list, `terms` are one or more words such as "salary, office", and `label` is
    any label. An entry is a word with its label (see `_Entry`).
    """

    def __init__(self, words: tuple[str, ...], questions: AssociationList) -> None:
        """Compile the patterns of a list of words and labels. Groups in patterns are called "words" and "label".

        The comments show what each pattern finds, for the words "salary" and "office" and the labels "Ben" and "Julia".
        Words and labels are matched in their normalised form (see `plain`), and the mappings `_word_of` and `_label_of`
        return the form in the list.
        """
        self._word_of = _words(words)
        self._label_of = _labels(questions)
        term = _any_of(self._word_of)
        label = _any_of(self._label_of)
        # "salary, office". The text "ex-wife" does not contain the word "wife", but "best-superb" contains two words
        terms = rf"(?<![^\W\d_]-){term}(?:{_BETWEEN_WORDS}{term})*+"
        self._term = re.compile(term)
        self._label = re.compile(label)
        self._entries_of_known_line = lru_cache(maxsize=_KEPT_LINES)(self._entries_of_line)
        tight = label.removeprefix(r"(?<!\w)")  # "joy-abled" has no blanks around the hyphen
        self._terms = re.compile(terms)
        # " - Ben" after a word: an operator, a phrase such as "belongs to", or a key such as "label:", and a label
        between = rf"(?:(?P<between>{_STRONG}|{_PHRASE}|{_KEY})|{_IN_BRACKETS}){_ADVERB}"
        self._labelled = re.compile(rf"{between}(?P<label>{tight})")
        # "Ben: salary, office", "Ben gets salary", or "Bens words: salary"
        stem = label.removesuffix(r"(?!\w)")
        self._label_first = re.compile(
            rf"(?P<label>{stem})(?:s? (?:words|list|items)|(?!\w))(?:{_STRONG}|{_VERB})(?P<words>{terms})"
        )
        # "salary Ben" or "salary, Ben"
        self._pair = re.compile(rf"(?P<words>{term})(?: ?, ?| )(?P<label>{label})")
        # "Words for Ben:" on a line of its own
        self._heading = re.compile(
            rf"(?P<before>[\W\d_]*)(?:words? )?(?:(?:for|of|with|to|für|pour|para|per|voor|для) )?"
            rf"(?P<label>{stem})(?:s? (?:words|list|items|gets)|(?!\w))(?P<after>[\W_]*)"
        )
        # "(not Julia)" confirms the choice of the other label.
        self._other_denied = re.compile(
            rf" ?[(\[,;]? ?(?:and )?(?:not|rather than|nicht|pas|non|não|niet|не) (?P<label>{label})[)\]]?"
        )
        # "salary -", then "2. salary" and "- salary, office" (both on a line of their own), and "(Ben/Julia)" between a
        # word and an operator
        self._about_word = re.compile(rf"[\W\d_]*{terms} ?[)\]}}]? ?{_OPERATOR}")
        self._numbered_word = re.compile(rf"\d+[.)] ?{terms}\W*")
        self._words_alone = re.compile(rf"[\W\d_]*(?P<words>{terms})[\W_]*")
        self._both_offered = re.compile(
            rf"(?<=\w) ?[(\[{{]{label}(?: ?(?:[,/|]|or|and|vs\.?) ?{label})+[)\]}}](?= ?{_OPERATOR})"
        )

    def lines(self, reply: str) -> list[_Line]:
        """Return the lines of a reply, in which JSON is written as lines.

        If a heading such as "Final answer:" stands between labels, the text before it is a draft, and is omitted.
        """
        lines = _lines_of_text(lines_of_json(reply, self._is_word, self._is_label))
        for number in reversed(range(len(lines))):
            if _FINAL_ANSWER.fullmatch(lines[number].text):
                before, after = lines[:number], lines[number + 1 :]
                # Without labels before the heading, the text before it introduces the answer.
                if any(self.entries(after)) and any(self.entries(before)):
                    return after
        return lines

    def _is_word(self, text: str) -> bool:
        """Return True if a text is a word of the list."""
        return plain(text) in self._word_of

    def _is_label(self, text: str) -> bool:
        """Return True if a text is a label of the list."""
        return plain(text) in self._label_of

    def doubt_about_all(self, lines: Sequence[_Line], entries: Sequence[_Entry], prompt: str) -> str:
        """Return the first sentence that withdraws all labels of a reply, or an empty text.

        Sentences around the labels are searched for words that show a demonstration or the view of others (see `cues`).
        An unknown sentence, which is neither about words or labels nor an ordinary introduction, is also a doubt.
        Sentences of the prompt are ignored. If no sentence is in doubt, the text beside the labels (the doubt of an
        entry) withdraws them all if more than half of the entries are in doubt, or if one of these texts is about the
        whole reply.
        """
        lines_with_labels = {entry.line for entry in entries}
        other_lines = [line for line in lines if line.written not in lines_with_labels]
        other_lines = [line for line in other_lines if not self._about_word.match(line.text)]
        prompt = plain(prompt) if other_lines else ""
        for line in other_lines:
            for sentence in sentences(line.written):
                text = _BLANKS.sub(" ", plain(sentence)).strip()
                if text in prompt:
                    continue
                without_names = self._without_names(text)
                is_known = without_names != text or cues().is_ordinary(text)
                if cues().doubtful_sentence(without_names) or not is_known:
                    return sentence
        doubts = [entry.doubt for entry in entries if entry.doubt]
        if 2 * len(doubts) > len(entries):  # a reply that withdraws most of its labels is no answer
            return doubts[0]
        for entry in entries:
            if entry.about_all:
                return entry.doubt
        return ""

    def _without_names(self, text: str) -> str:
        """Return a text without the words and labels of the list, which may be among the cues."""
        return self._label.sub(" ", self._term.sub(" ", text))

    def entries(self, lines: Sequence[_Line]) -> Iterator[_Entry]:
        """Yield all assignments of words to labels in these lines.

        A line has words with their labels ("salary - Ben"), is a row of a table whose heading names the labels, or is a
        list of words below a heading with one label. While lines are read, `columns` are the labels in the heading of
        the present table, `heading` is the label of the last heading, which ends with the next line that has entries,
        and `text_before` is the text of the line before. A heading is ignored below another heading or a numbered word,
        because both are then items of a list of labels and words.
        """
        heading: str | None = None
        columns: list[str | None] = []
        text_before = ""
        for line in lines:
            text = self._both_offered.sub("", line.text)
            # A row with several labels is the heading of a table, which ends with the first line that is no row.
            label_of_cell = list(map(self._label_of.get, _cells(text)))  # None for other texts
            if len(set(label_of_cell) - {None}) > 1:
                columns = label_of_cell
            elif "|" not in text:
                columns = []
            entries = self._entries_of_known_line(text, line.written)
            entries = entries or self._entries_of_row(text, columns, line.written)
            yield from entries
            if entries:
                heading = None
            elif heading is not None and (words_alone := self._words_alone.fullmatch(text)):
                yield from self._entries_of(words_alone["words"], heading, line.written)
            else:
                is_listed = self._heading.fullmatch(text_before) or self._numbered_word.fullmatch(text_before)
                heading = None if is_listed else self._heading_of(text, line.written)
            text_before = text

    def _entries_of(
        self, text: str, label: str | None, line: str, doubt: str = "", about_all: bool = False
    ) -> list[_Entry]:
        """Return an entry with the label for each word in a text. The other arguments are fields of the entries."""
        return [_Entry(self._word_of[word], label, line, doubt, about_all) for word in self._term.findall(text)]

    def _entries_of_line(self, text: str, line: str) -> Sequence[_Entry]:
        """Return the entries of a line, in which each label precedes its words or each word precedes its label.

        `text` is the normalised text of the `line`. A line such as "Ben: salary, office; Anna: wedding" has groups of a
        label and its words (see `_groups`). A line without groups may be of the form "salary - Ben".
        """
        groups = self._groups(text)
        if not groups:
            return self._word_first_entries(text, line)
        entries = []
        for group in groups:
            entries += self._entries_of(group["words"], self._label_of[group["label"]], line)
        return entries

    def _entries_of_row(self, text: str, columns: Sequence[str | None], line: str) -> list[_Entry]:
        """Return the entries of a table row that contains words below their labels, or a word and a tick.

        `columns` are the labels in the heading of the table, or None for columns without a label. If several labels are
        ticked, the words of the row have no label.
        """
        cells = _cells(text)
        if not columns or len(cells) != len(columns):
            return []
        row = list(zip(cells, columns, strict=True))
        entries: list[_Entry] = []
        has_only_words = all(not cell or self._words_alone.fullmatch(cell) for cell in cells)
        if has_only_words:
            for cell, label in row:
                entries += [] if label is None else self._entries_of(cell, label, line)
            return entries
        mark_of_label = {label: cell for cell, label in row if label is not None}
        has_only_marks = set(mark_of_label.values()) <= _TICKS | _NO_TICKS
        ticked = [label for label, mark in mark_of_label.items() if mark in _TICKS]
        if ticked and has_only_marks:
            label_of_row = ticked[0] if len(ticked) == 1 else None
            for cell, label in row:
                if label is None:
                    entries += self._entries_of(cell, label_of_row, line)
        return entries

    def _groups(self, text: str) -> list[re.Match[str]]:
        """Return the groups of "Ben: salary, office; Anna: wedding", or of "salary Ben, wedding Anna".

        A group is a match with a label ("label") and one or more words ("words"). Groups are only returned if the gaps
        between them contain only punctuation or "and", because colons and commas are also common in prose.
        """
        for pattern in (self._label_first, self._pair):
            groups = list(pattern.finditer(text))
            # Gaps are before the first group, between groups, and after the last group.
            starts_of_gaps = [0, *(group.end() for group in groups)]
            ends_of_gaps = [*(group.start() for group in groups), len(text)]
            gaps = [text[start:end] for start, end in zip(starts_of_gaps, ends_of_gaps, strict=True)]
            if groups and all(map(_NO_TEXT.fullmatch, gaps)):
                return groups
        return []

    def _word_first_entries(self, text: str, line: str) -> list[_Entry]:
        """Return the entries of words that are followed by their labels, as in "salary - Ben, wedding - Anna".

        `text` is the normalised text of the `line`. A pair consists of two matches in the text: one or more words, and
        the operator and label directly after them. The text between a label and the next words (`after_label`) belongs
        to the label. The label is None if this text hedges, because it names another label, "both", or "no". Other text
        may cast doubt on the label. The text before the first word of the line (`before`) belongs to the first label
        only.
        """
        pairs = []
        for words in self._terms.finditer(text):
            if labelled := self._labelled.match(text, words.end()):
                pairs.append((words, labelled))
        if pairs and self._label.search(text, 0, pairs[0][0].start()):
            # In "label: Ben, word: salary, label: Ann", the second label belongs to the next word.
            pairs = [pair for pair in pairs if not re.fullmatch(_KEY, pair[1]["between"] or "")]
        # The text of a pair ends where the words of the next pair begin.
        ends = [words.start() for words, _ in pairs[1:]] + [len(text)]
        entries = []
        before = text[: pairs[0][0].start()] if pairs else ""
        for (words, labelled), end in zip(pairs, ends, strict=False):
            label = self._label_of[labelled["label"]]
            after_label = self._without_denial(text[labelled.end() : end], label)
            is_no_choice = _OR.match(after_label) or _BOTH.search(after_label) or _TAKEN_BACK.fullmatch(after_label)
            other_labels = self._labels_in(after_label) - {label}
            if other_labels or is_no_choice or self._ends_in_another(before, label):
                entries += self._entries_of(words[0], None, line)
            else:
                doubt, about_all = self._doubt(before, after_label, line)
                entries += self._entries_of(words[0], label, line, doubt, about_all)
            before = ""
        return entries

    def _without_denial(self, rest: str, label: str) -> str:
        """Return the text after a label without a denial of the other label, as in "Ben (not Julia)".

        The denial confirms the choice. A denial of the chosen label itself is kept, because it withdraws the choice.
        """
        denied = self._other_denied.match(rest)
        if denied is None or self._label_of[denied["label"]] == label:
            return rest
        return rest[denied.end() :]

    def _doubt(self, before: str, rest: str, line: str) -> tuple[str, bool]:
        """Return the line if the text beside a label withdraws it, and True if it withdraws all labels of the reply.

        `before` is the text before the word, and `rest` is the text after the label. In "salary - Ben, for example.",
        `rest` is ", for example.". The cues are lists of phrases in many languages.

        - A question mark after the label, or struck-out text in the line, withdraws this label.
        - A doubtful sentence before the word, or after the sentence of the label, withdraws all labels.
        - Words of doubt before the word or in the sentence of the label, or a cross in this sentence, withdraw this
          label. They withdraw all labels if the sentence contains a cue that it is about the whole reply.

        Without any of these, the result is an empty text and False.
        """
        # Most lines have only punctuation beside the label, and need no search.
        is_struck_out = _STRUCK_OUT in line
        has_letters = _LETTER.search(before + rest) is not None
        has_signs = not (_CROSSES | {"?"}).isdisjoint(rest)
        if not (has_letters or has_signs or is_struck_out):
            return "", False
        before = self._without_names(before)
        end_of_sentence, *later_sentences = sentences(self._without_names(rest)) or [""]
        if is_struck_out or end_of_sentence.lstrip().startswith("?"):
            return line, False
        if any(map(cues().doubtful_sentence, (before, *later_sentences))):
            return line, True
        has_cross = not _CROSSES.isdisjoint(end_of_sentence)
        if has_cross or cues().doubts(before) or cues().doubts(end_of_sentence):
            is_about_all = cues().whole.search(end_of_sentence) is not None
            return line, is_about_all
        return "", False

    def _ends_in_another(self, before: str, label: str | None) -> bool:
        """Return True if another label and an operator precede the word, as in "Ben - salary - Anna".

        `before` is the text before the word, and `label` is the label after the word. Such a line hedges, because it is
        not clear which of both labels the word has.
        """
        labels_before = list(self._label.finditer(before))
        if not labels_before or self._label_of[labels_before[-1][0]] == label:
            return False
        after_last_label = before[labels_before[-1].end() :]
        return re.fullmatch(_STRONG, after_last_label) is not None

    def _heading_of(self, text: str, line: str) -> str | None:
        """Return the label above a list of words, or None if the line is no heading.

        A heading is a label with "words" or "list", or a label that is marked as a heading, in bold, by a colon, or by
        a number. `text` is the normalised text of the `line`, in which marks such as "**" are removed.
        """
        heading = self._heading.fullmatch(text)
        if heading is None:
            return None
        is_named_list = heading["label"] != text and text.endswith((" words", " list", " items"))
        is_marked = line.startswith(("#", "**", "__")) or re.search(r"[:=>]", heading["after"]) or _NUMBER.match(line)
        return self._label_of[heading["label"]] if is_named_list or is_marked else None

    def _labels_in(self, text: str) -> set[str]:
        """Return the labels that a text contains."""
        return {self._label_of[found] for found in self._label.findall(text)}

    def without_entries(self, words: Sequence[str], lines: Sequence[_Line]) -> dict[str, Assignment]:
        """Return the outcomes of a reply in which no word has a label: mostly "refused" or "not understood".

        A reply without lines, or with words of a refusal, is refused, unless two lines have both a word and a label. In
        other replies, words that are not answered by any line are not understood, because the form of the reply is
        unknown. The line of these words is the first line with both a word and a label, or the first line.
        """
        if not lines:
            return dict.fromkeys(words, Assignment(REFUSED))
        lines_with_both = [line for line in lines if self._term.search(line.text) and self._label.search(line.text)]
        has_refusal = any(cues().refusals.search(line.text) for line in lines)
        if has_refusal and len(lines_with_both) < 2:
            return dict.fromkeys(words, Assignment(REFUSED, line=lines[0].written))
        example = lines_with_both[0] if lines_with_both else lines[0]
        assignment_of = {}
        for word in words:
            assignment_of[word] = self.unanswered(word, lines)
            if assignment_of[word].outcome == LEFT_OUT:
                assignment_of[word] = Assignment(NOT_UNDERSTOOD, line=example.written)
        return assignment_of

    def unanswered(self, word: str, lines: Sequence[_Line]) -> Assignment:
        """Return the outcome of a word without a label, from the first line that seems to answer it.

        A line seems to answer a word if a hyphen or another operator, or any label, follows the word (see
        `_outcome_of`). If no line seems to answer it, the word is left out.
        """
        for line in lines:
            for match in self._term.finditer(line.text):
                outcome = self._outcome_of(line.text, match) if self._word_of[match[0]] == word else None
                if outcome is not None:
                    return Assignment(outcome, line=line.written)
        return Assignment(LEFT_OUT)

    def _outcome_of(self, text: str, word: re.Match[str]) -> str | None:
        """Return the outcome of a word in a line without a label for it, or None if the line only mentions the word.

        `word` is the match of the word in the `text` of the line, and `_NEAR` characters after it are searched. A line
        answers the word if an operator, such as a hyphen, or any label follows it. The answer is refused if it
        declines, contradictory if it names two labels or "both" (and begins with the word or has an operator), and not
        understood otherwise.
        """
        after_word = text[word.end() : word.end() + _NEAR]
        operator = _ANSWERED.match(after_word)
        labels = self._labels_in(after_word)
        if operator is None and not labels:
            return None
        if operator is not None and _CROSSES & set(after_word):  # a table that marks only the other label
            return NOT_UNDERSTOOD
        if operator is not None and _DECLINED.fullmatch(after_word[operator.end() :]):
            return REFUSED
        begins_with_word = _NO_WORDS.fullmatch(text[: word.start()]) is not None
        names_both = len(labels) > 1 or _BOTH.search(after_word)
        is_answer = operator is not None or begins_with_word
        return CONTRADICTORY if is_answer and names_both else NOT_UNDERSTOOD


# The patterns of a list of words are compiled once.
_reader = lru_cache(maxsize=64)(_Reader)


def _any_of(names: Mapping[str, str]) -> str:
    """Return a pattern that matches any of these names as a whole word and prefers the longest match."""
    longest_first = sorted(names, key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"


def _cells(text: str) -> list[str]:
    """Return the cells of a row of a table, which are separated by bars. A text without bars is one cell."""
    text = text.strip()
    inner = text[1:].removesuffix("|") if text.startswith("|") else text
    return list(map(str.strip, inner.split("|")))


def _words(words: Sequence[str]) -> Mapping[str, str]:
    """Return a mapping from the normalised form of each word to the word.

    Raise an error if two words have the same form.
    """
    word_of_form: dict[str, str] = {}
    for word in words:
        form = plain(word)
        if form in word_of_form:
            raise AnswersError(
                f"`wordlist` has the words '{word_of_form[form]}' and '{word}', which cannot be told apart in"
                " replies. Remove one of them."
            )
        word_of_form[form] = word
    return MappingProxyType(word_of_form)


def _labels(questions: AssociationList) -> Mapping[str, str]:
    """Return a mapping from normalised texts to the labels that they name.

    The texts are the labels, their aliases, and those words of a label that no other label contains, such as "Khan" in
    "Aisha Khan".
    """
    label_of_text = {plain(label): label for label in chain(*questions.labels)}
    for label, aliases in questions.wordlist.aliases.items():
        label_of_text |= {plain(alias): label for alias in aliases}
    labels_of_part: dict[str, list[str]] = {}
    for text, label in label_of_text.items():
        for part in set(text.split()) - set(label_of_text) - _FUNCTION_WORDS:
            labels_of_part.setdefault(part, []).append(label)
    label_of_part = {part: labels[0] for part, labels in labels_of_part.items() if len(labels) == 1}
    return label_of_text | label_of_part


# Drafts of reasoning models: the text between marks such as <think>, before the answer.

# Marks of DeepSeek, Qwen, Claude and others (tags), Magistral ([THINK]), Kimi, OpenThinker, Command A, and gpt-oss. For
# gpt-oss, the form in which a tokenizer dropped the marks is included. Many templates put the opening mark into the
# prompt. Because a prompt may define its own mark in any language, a part of the name is enough.
_STEMS = (
    "think|thought|reasoning|reflection|reflexion|réflexion|scratch|monologue|deliberat|brainstorm|denken|überleg"
    "|raisonnement|pensamiento|pensamento|razonamiento|ragionamento|raciocínio|思考|推理|рассужден"
)
_NAMES = rf"[\w:.-]{{0,20}}(?:{_STEMS})[\w:.-]{{0,20}}|analysis|cot"
_LESS, _MORE = "(?:<|＜|&lt;)", "(?:>|＞|&gt;)"
_OPENED = re.compile(
    rf"(?i){_LESS}\s*(?:{_NAMES})(?:\s[^<>]*)?{_MORE}|\[think\]|◁think▷|<\|(?!/|end)(?:{_NAMES})\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)|<\|channel>\s*thought|(?-i:\A\s*analysis(?=[A-Z]))"
)
_CLOSED = re.compile(
    rf"(?i){_LESS}\s*/\s*(?:{_NAMES})\s*{_MORE}|\[/(?:{_NAMES})\]|◁/think▷|<\|(?:/|end)(?:{_NAMES})\|>"
    r"|<channel\|>|<\|channel\|>\s*final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|assistantfinal"
)
# Text before an answer that has its own marks is also a draft.
_ANSWER = re.compile(
    rf"(?i){_LESS}(answer|final_answer|response|solution){_MORE}|<\|begin_of_solution\|>|<\|start_response\|>"
)
# Text between a heading such as "Reasoning:" and a heading such as "Final answer:" is also a draft.
_THOUGHT_HEADING = re.compile(rf"^[^\w\n]*+(?:my )?(?:{_STEMS})\w*(?: process)?[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
_ANSWER_HEADING = re.compile(r"(?im)^[^\w\n]*+(?:my )?(?:final )?(?:answers?|response|assignments?)[^\w\n]*$")
_END_OF_ANSWER = re.compile(rf"{_LESS}/(answer|final_answer|response|solution){_MORE}", re.IGNORECASE)

# The text that is used as the line if a reply consists only of a draft.
DRAFT_ALONE = "(a draft without an answer)"


@dataclass(frozen=True)
class Reply:
    """A reply without its draft: the `answer`, and `has_draft`, which is True if a draft was removed."""

    answer: str
    has_draft: bool

    @property
    def is_draft_alone(self) -> bool:
        """Return True if the reply contains a draft but no answer after the draft."""
        return self.has_draft and not self.answer.strip()


def without_draft(text: str) -> Reply:
    """Return the text after the last draft. It is empty if a draft is not closed, for example in a truncated reply.

    The draft ends with a mark such as </think>, at a mark that begins the answer, or at a heading such as "Answer:"
    after a heading such as "Reasoning:".

    Examples
    --------
    >>> without_draft("<think>Ben suits salary. salary - Ben</think>salary - Anna")
    Reply(answer='salary - Anna', has_draft=True)
    >>> without_draft("<think>salary - Ben, since")
    Reply(answer='', has_draft=True)
    """
    ends_of_drafts = list(_CLOSED.finditer(text))
    has_closed_draft = len(ends_of_drafts) > 0
    rest = text[ends_of_drafts[-1].end() :] if has_closed_draft else text
    if _OPENED.search(rest):  # a draft that is not closed
        return Reply("", has_draft=True)
    beginnings_of_answers = list(_ANSWER.finditer(rest))
    if not beginnings_of_answers and (heading := _THOUGHT_HEADING.search(rest)):
        beginnings_of_answers = list(_ANSWER_HEADING.finditer(rest, heading.end()))
    if not beginnings_of_answers:
        return Reply(rest, has_closed_draft)
    beginning = beginnings_of_answers[-1]
    answer, *_ = _END_OF_ANSWER.split(rest[beginning.end() :], maxsplit=1)
    before_answer = rest[: beginning.start()].strip()
    return Reply(answer, has_draft=has_closed_draft or before_answer != "")
