"""Drafts of reasoning models: what a reply thinks aloud, between marks such as <think>, before it answers."""

import re
from dataclasses import dataclass

# Marks of DeepSeek, Qwen, Claude and others (tags), Magistral ([THINK]), Kimi, OpenThinker, Command A and gpt-oss; the
# last without its marks where a tokenizer dropped them. Many templates put the opening mark into the prompt. A prompt
# may ask for a mark of its own, in its own language, so that a part of the name is enough.
_STEMS = (
    "think|thought|reasoning|reflection|reflexion|réflexion|scratch|monologue|deliberat|brainstorm|denken|überleg"
    "|raisonnement|pensamiento|pensamento|razonamiento|ragionamento|raciocínio|思考|推理|рассужден"
)
_NAMES = rf"[\w:.-]{{0,20}}(?:{_STEMS})[\w:.-]{{0,20}}|analysis|cot"
_LESS, _MORE = "(?:<|＜|&lt;)", "(?:>|＞|&gt;)"
_OPENED = re.compile(
    rf"{_LESS}\s*(?:{_NAMES})(?:\s[^<>]*)?{_MORE}|\[think\]|◁think▷|<\|(?!/|end)(?:{_NAMES})\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)|<\|channel>\s*thought|(?-i:\A\s*analysis(?=[A-Z]))",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    rf"{_LESS}\s*/\s*(?:{_NAMES})\s*{_MORE}|\[/(?:{_NAMES})\]|◁/think▷|<\|(?:/|end)(?:{_NAMES})\|>"
    r"|<channel\|>|<\|channel\|>\s*final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
# What stands before an answer in marks of its own is a draft as well.
_ANSWER = re.compile(
    rf"{_LESS}(answer|final_answer|response|solution){_MORE}|<\|begin_of_solution\|>|<\|start_response\|>",
    re.IGNORECASE,
)
# So is what stands below a heading such as "Reasoning:", until one such as "Final answer:".
_THOUGHT_HEADING = re.compile(rf"^[^\w\n]*+(?:my )?(?:{_STEMS})\w*(?: process)?[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
_ANSWER_HEADING = re.compile(
    r"^[^\w\n]*+(?:my )?(?:final )?(?:answers?|response|assignments?)[^\w\n]*$", re.IGNORECASE | re.MULTILINE
)
_ANSWERED = re.compile(rf"{_LESS}/(answer|final_answer|response|solution){_MORE}", re.IGNORECASE)

# What is said of a reply that is nothing else.
DRAFT_ALONE = "(a draft without an answer)"


@dataclass(frozen=True)
class Reply:
    """A reply without its draft: the `answer`, and whether there was a draft before it."""

    answer: str
    has_draft: bool

    @property
    def is_draft_alone(self) -> bool:
        """Whether the reply ends in its draft, or with it."""
        return self.has_draft and not self.answer.strip()


def without_draft(text: str) -> Reply:
    """The text after the last draft; nothing if a draft is opened and never closed, as in a reply that was cut off.

    Examples
    --------
    >>> without_draft("<think>Ben suits salary. salary - Ben</think>salary - Anna")
    Reply(answer='salary - Anna', has_draft=True)
    >>> without_draft("<think>salary - Ben, since")
    Reply(answer='', has_draft=True)
    """
    closed = [match.end() for match in _CLOSED.finditer(text)]
    after = text[closed[-1] :] if closed else text
    if _OPENED.search(after):
        return Reply("", has_draft=True)
    marks = list(_ANSWER.finditer(after))
    if not marks and (heading := _THOUGHT_HEADING.search(after)):
        marks = list(_ANSWER_HEADING.finditer(after, heading.end()))
    if not marks:
        return Reply(after, bool(closed))
    answer = _ANSWERED.split(after[marks[-1].end() :], maxsplit=1)[0]
    return Reply(answer, has_draft=bool(closed) or bool(after[: marks[-1].start()].strip()))
