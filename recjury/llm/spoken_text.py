"""Separate what a model says from what it thinks; no other module does this.

Endpoints send thoughts in a separate field, in typed parts, between tags, before a closing tag
whose opening tag is in the prompt, or in channels. `openai_format` separates the first two when a
reply is received. The others are marks in the text, and are read here.

A text under test may contain such marks, and a reply may quote it. Therefore only the beginning of
a reply can be thoughts, in one block or in several, and its end, if its blocks are closed. A mark
that ends thoughts counts if the reply began with an opening mark. Without an opening mark, it
counts unless it is between quotation marks or inside an answer. If another such mark follows what
was said, the thoughts may have quoted the first one: what was said is in doubt then.
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from recjury.errors import ParseError
from recjury.llm.reply_marks import Span, end_of_turn, next_turns, unquoted, without_marks
from recjury.records import Reply

_NO_ROOM = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
"""Finish reasons of replies that met the limit of tokens, in lower case."""
_CUT_OFF = _NO_ROOM | frozenset(
    {
        "model_context_window_exceeded",
        "content_filter",
        "safety",
        "recitation",
        "prohibited_content",
        "blocklist",
        "refusal",
        "error",
        "abort",
        "insufficient_system_resource",
    }
)
"""Finish reasons of incomplete replies, in lower case."""

_TAG = r"(?:(?:seed:)?think|thinking|thoughts?|reasoning|scratchpad)"
_HEADER = r"(?:<\|start\|>assistant\s{0,4})?<\|channel\|>"
_FORMS = {  # what opens thoughts, and what ends them
    "tag": (rf"<{_TAG}(?:\s[^<>\n]{{0,80}})?>", rf"</{_TAG}\s{{0,4}}>"),
    "channel": (
        rf"{_HEADER}(?!final)[a-z]{{1,20}}[^<\n]{{0,60}}<\|message\|>",
        rf"(?:<\|end\|>\s{{0,4}})?{_HEADER}final[^<\n]{{0,20}}"
        r"(?:<\|constrain\|>[^<\n]{0,20})?<\|message\|>",
    ),
    "token": (
        r"\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>"
        r"|<unused94>(?:thought)?|<\|channel>thought",
        r"\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>|<channel\|>",
    ),
    "heading": (
        r"Here(?: is|['’]s) my (?:thought|thinking) process:",
        r"Here(?: is|['’]s) my (?:response|answer):",
    ),
    "details": (
        r"<details\b(?=[^<>\n]{0,200}\btype\s?=\s?[\"']?reasoning)[^<>\n]{0,300}>",
        r"</details\s{0,4}>",
    ),
    "analysis": (r"<analysis>", r"</analysis\s{0,4}>"),
    "dots": (r"Thinking(?:\.\.\.|…)[ \t]{0,4}\r?\n", r"(?:\.\.\.|…)done thinking\."),
    "word": (  # channels without marks
        r"(?-i:analysis(?=[A-Z\s]))",
        r"assistantfinal|assistant\s{1,4}final(?![ \t]{0,4}(?-i:[a-z]))",
    ),
}
_OPENED = re.compile(
    r"\s*(?:" + "|".join(f"(?P<{form}>{opens})" for form, (opens, _) in _FORMS.items()) + ")",
    re.IGNORECASE,
)
_OPENED_LATER = re.compile(
    "|".join(_FORMS[form][0] for form in ("tag", "channel", "token")), re.IGNORECASE
)
_ENDED = {form: re.compile(ends, re.IGNORECASE) for form, (_, ends) in _FORMS.items()}
_HINTS = {
    "tag": ("</think", "</seed", "</thought", "</reason", "</scratch"),
    "channel": ("<|channel|>final",),
    "token": ("[/think", "◁/think", "end_of_thought", "end_thinking", "<unused95", "<channel|>"),
}
"""The forms that may end in a reply that does not begin with what opens them, and what every end
of theirs holds, in lower case."""
_WRAPPED = re.compile(r"<(answer|response|output)>(.*)</\1>", re.IGNORECASE | re.DOTALL)
_SEVERAL = "the thoughts of the reply end in several places"
_EARLY = "the reply has another turn in it, and thoughts that end after that"
_LATE = "the thoughts at the end of the reply hold an answer"


class PartedText(NamedTuple):
    """The text of a reply in two parts: what was said, and the thoughts around it.

    `start` and `end` are the indexes in the text between which the said part stands. `endless` is
    True if the thoughts never end. `doubt` says why the said part may be another one, if it may.
    """

    spoken: str
    thought: str
    start: int
    end: int
    endless: bool = False
    doubt: str = ""


def is_cut_off(reply: Reply) -> bool:
    """Whether the endpoint says that the reply is incomplete: cut off, or withheld."""
    return reply.finish_reason.casefold() in _CUT_OFF


def lacks_room(reply: Reply) -> bool:
    """Whether the reply met the limit of tokens, so that a higher one may help."""
    return reply.finish_reason.casefold() in _NO_ROOM


def check_finished(reply: Reply) -> None:
    """Raise ParseError for a reply that was cut off or withheld."""
    if is_cut_off(reply):
        raise ParseError(f"the reply was cut off (finish reason {reply.finish_reason})")


def finished_text(reply: Reply) -> str:
    """The text of a reply without the thoughts around it.

    Raises ParseError if the reply was cut off or says nothing.
    """
    check_finished(reply)
    return said(part_text(reply.text), reply)


def said(parted: PartedText, reply: Reply) -> str:
    """The said part of `parted`, the text of `reply`.

    Raises ParseError if it is empty or in doubt.
    """
    if parted.doubt:
        raise ParseError(parted.doubt)
    if parted.spoken:
        return parted.spoken
    if parted.endless:
        raise ParseError("the reply is empty: its thoughts never end")
    if parted.thought or reply.reasoning.strip():
        raise ParseError("the reply is empty: it has thoughts alone")
    raise ParseError("the reply is empty")


def reasoning_of(reply: Reply) -> str:
    """The thoughts of a model before its reply: in a separate field, in the text, or both."""
    return "\n".join(filter(None, (reply.reasoning.strip(), part_text(reply.text).thought)))


def part_text(text: str, answers: Sequence[Span] = ()) -> PartedText:
    """Separate `text` into what was said and what was thought.

    `answers` are the places in `text`, in order, of answers in the requested form. A mark inside an
    answer is a quotation. After the last answer, a mark in the middle of a line is also a
    quotation, unless the text began with thoughts. Without `answers`, all that was said is one.

    What follows the turn was not said: another turn that the model made up, between the marks of
    its chat template, or without `answers` whatever stands after a mark that ends the turn.
    """
    for turn in next_turns(text, answers):
        head = _part_turn(text[:turn], [span for span in answers if span[1] <= turn])
        if not head.endless:  # otherwise thoughts speak of the mark
            return head._replace(doubt=_EARLY) if _end_later(text, turn, answers) else head
    return _part_turn(text, answers)


def _end_later(text: str, turn: int, answers: Sequence[Span]) -> bool:
    """Whether thoughts end after `turn` that do not begin there."""
    marks = unquoted(text, _marks(text, None), answers)
    ended = next((start for start, _ in marks if start >= turn), None)
    if ended is None:
        return False
    opened = _OPENED_LATER.search(text, turn)
    return opened is None or opened.start() > ended


def _thoughts_at_the_end(text: str, answers: Sequence[Span], ends: "_Ends") -> PartedText | None:
    """What was said before closed thoughts that end `text`; None if there are none.

    `ends` are the marks that may end them, and the text does not begin with what opens thoughts.
    """
    if ends.first is None or text.startswith("<|"):
        return None
    opened = unquoted(text, (each.span() for each in _OPENED_LATER.finditer(text)), answers)
    place = next((start for start, _ in opened), None)
    if place is None or ends.first < place:
        return None
    thoughts = _part_turn(text[place:], ())
    if thoughts.spoken or thoughts.endless:
        return None
    before = _part_turn(text[:place], [span for span in answers if span[1] <= place])
    has_answer = any(start >= place for start, _ in answers)
    return before._replace(thought=thoughts.thought, doubt=_LATE if has_answer else "")


def _part_turn(text: str, answers: Sequence[Span]) -> PartedText:
    ends: dict[str | None, _Ends] = {}
    if _OPENED.match(text) is None:
        ends[None] = _Ends(text, None, answers)
        parted = _thoughts_at_the_end(text, answers, ends[None])
        if parted is not None:
            return parted
    thoughts: list[str] = []
    place = 0
    while True:
        opened = _OPENED.match(text, place)
        if thoughts and opened is None:
            break
        form = None if opened is None else str(opened.lastgroup)
        if form not in ends:
            ends[form] = _Ends(text, opened, answers)
        begin = place if opened is None else opened.end()
        end = ends[form].after(begin, is_opened=opened is not None)
        if end is None and opened is not None and form != "word":
            thoughts.append(text[begin:].strip())
            whole = "\n".join(filter(None, thoughts))
            return PartedText("", whole, len(text), len(text), endless=True)
        if end is None:
            break
        last = ends[form]
        thoughts.append(text[begin : end[0]].strip())
        place = end[1]
    turn = end_of_turn(text, place, answers)
    spoken = without_marks(text[place:turn])
    if not thoughts:
        return PartedText(spoken, "", 0, turn)
    wrapped = _WRAPPED.fullmatch(spoken)
    if wrapped is not None:
        spoken = wrapped[2].strip()
    thought = "\n".join(filter(None, thoughts))
    doubt = _SEVERAL if last.follow_speech(place) else ""
    return PartedText(spoken, thought, place, turn, doubt=doubt)


class _Ends:
    """The marks in a text that may end thoughts: of the form that opened them, where one did."""

    def __init__(self, text: str, opened: re.Match[str] | None, answers: Sequence[Span]):
        self._text = text
        self._answers = answers
        self._marks = list(unquoted(text, _marks(text, opened), answers))
        length = len(text.rstrip())
        borders = (mark for mark in reversed(self._marks) if _is_at_border(text, mark, length))
        self._border = next(borders, None)
        self.first = self._marks[0][0] if self._marks else None

    def after(self, place: int, *, is_opened: bool) -> Span | None:
        """The mark that ends the thoughts which begin at `place`."""
        if self._border is not None and self._border[0] >= place:
            return self._border
        first = bisect_left(self._marks, (place, place))
        if is_opened:
            return self._last_of_row(first)
        last_answer = self._answers[-1][0] if self._answers else len(self._text)
        marks = itertools.islice(reversed(self._marks), len(self._marks) - first)
        return next((mark for mark in marks if mark[1] <= last_answer), None)

    def _last_of_row(self, number: int) -> Span | None:
        """The mark with that number, or the last of those that follow it with spaces between."""
        if number >= len(self._marks):
            return None
        while number + 1 < len(self._marks):
            between = self._text[self._marks[number][1] : self._marks[number + 1][0]]
            if between.strip():
                break
            number += 1
        return self._marks[number]

    def follow_speech(self, place: int) -> bool:
        """Whether a mark stands after an answer that begins at `place` or later."""
        if not self._marks or self._marks[-1][0] < place:
            return False
        last = self._marks[-1][0]
        if not self._answers:
            return bool(without_marks(self._text[place:last]))
        begins = [first for first, _ in self._answers]
        answer = bisect_left(begins, place)
        return answer < len(begins) and begins[answer] < last


def _marks(text: str, opened: re.Match[str] | None) -> list[Span]:
    if opened is not None:
        pattern = _ENDED[str(opened.lastgroup)]
        return [found.span() for found in pattern.finditer(text, opened.end())]
    holds = text.lower().__contains__
    forms = [form for form, hints in _HINTS.items() if any(map(holds, hints))]
    return sorted(found.span() for form in forms for found in _ENDED[form].finditer(text))


def _is_at_border(text: str, mark: Span, length: int) -> bool:
    """Whether a mark is at the beginning of a line, or at its end with text after it.

    `length` is the number of characters of the text.
    """
    start, end = mark
    if text[max(0, start - 80) : start].rstrip(" \t")[-1:] in ("", "\n"):
        return True
    return end < length and text[end : end + 80].lstrip(" \t\r")[:1] == "\n"
