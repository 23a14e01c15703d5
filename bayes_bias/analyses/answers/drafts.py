"""Drafts of reasoning models: what a reply thinks aloud, between marks such as <think>, before it answers."""

import re
from dataclasses import dataclass

# Marks of DeepSeek, Qwen, Claude and others (tags), Magistral ([THINK]), Kimi, OpenThinker, Command A and gpt-oss; the
# last without its marks where a tokenizer dropped them. Many templates put the opening mark into the prompt.
_NAMES = "(?:seed:)?think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
_LESS, _MORE = "(?:<|＜|&lt;)", "(?:>|＞|&gt;)"
_OPENED = re.compile(
    rf"{_LESS}\s*(?:{_NAMES})(?:\s[^<>]*)?{_MORE}|\[think\]|◁think▷|<\|begin_of_thought\|>|<\|start_thinking\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)|(?-i:\A\s*analysis(?=[A-Z]))",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    rf"{_LESS}\s*/\s*(?:{_NAMES})\s*{_MORE}|\[/think\]|◁/think▷|<\|end_of_thought\|>|<\|end_thinking\|>"
    r"|<\|channel\|>\s*final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
# What stands before an answer in marks of its own is a draft as well.
_ANSWER = re.compile(
    rf"{_LESS}(answer|final_answer|response|solution){_MORE}|<\|begin_of_solution\|>|<\|start_response\|>",
    re.IGNORECASE,
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
    if not marks:
        return Reply(after, bool(closed))
    answer = _ANSWERED.split(after[marks[-1].end() :], maxsplit=1)[0]
    return Reply(answer, has_draft=bool(closed) or bool(after[: marks[-1].start()].strip()))
