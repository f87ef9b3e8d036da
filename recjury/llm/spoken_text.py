"""Separate what a model says from what it thinks; no other module does this.

Endpoints send thoughts in a separate field, in typed parts, between tags, before a closing tag
whose opening tag is in the prompt, or in channels. `openai_format` separates the first two when a
reply is received. The others are marks in the text, and are read here.

A text under test may contain such marks, and a reply may quote it. So only the beginning of a reply
can be thoughts, in one block or in several, and its end, if its blocks are closed. A mark between
quotation marks or inside an answer is a quotation. Thoughts end at the last mark that ends them; if
something was said between two such marks, what was said is in doubt.
"""

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote

from recjury.errors import ParseError
from recjury.records import Message, Reply

Span = tuple[int, int]

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
_HEADER = r"(?:<\|start\|>assistant\s{0,4})?<\|channel\|>"  # of gpt-oss
_FORMS = {  # what opens thoughts, and what ends them
    "tag": (rf"<{_TAG}(?:\s[^<>\n]{{0,80}})?>", rf"</{_TAG}\s{{0,4}}>"),
    "channel": (
        rf"{_HEADER}(?!final)[a-z]{{1,20}}[^<\n]{{0,60}}<\|message\|>",
        rf"(?:<\|end\|>\s{{0,4}})?{_HEADER}final[^<\n]{{0,20}}"
        r"(?:<\|constrain\|>[^<\n]{0,20})?<\|message\|>",
    ),
    "token": (  # of Magistral, Kimi, OpenThinker, Command A, MedGemma, Gemma
        r"\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>"
        r"|<unused94>(?:thought)?|<\|channel>thought",
        r"\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>|<channel\|>",
    ),
    "heading": (  # of Granite
        r"Here(?: is|['’]s) my (?:thought|thinking) process:",
        r"Here(?: is|['’]s) my (?:response|answer):",
    ),
    "details": (  # of Open WebUI
        r"<details\b(?=[^<>\n]{0,200}\btype\s?=\s?[\"']?reasoning)[^<>\n]{0,300}>",
        r"</details\s{0,4}>",
    ),
    "analysis": (r"<analysis>", r"</analysis\s{0,4}>"),
    "dots": (  # of Ollama
        r"Thinking(?:\.\.\.|…)[ \t]{0,4}\r?\n",
        r"(?:\.\.\.|…)done thinking\.",
    ),
    "word": (  # channels of gpt-oss, without their marks
        r"(?-i:analysis(?=[A-Z\s]))",
        r"assistantfinal|assistant\s{1,4}final(?![ \t]{0,4}(?-i:[a-z]))",
    ),
}
_OPENED = re.compile(
    r"\s*(?:" + "|".join(f"(?P<{form}>{opens})" for form, (opens, _) in _FORMS.items()) + ")",
    re.IGNORECASE,
)
_ENDED = {form: re.compile(ends, re.IGNORECASE) for form, (_, ends) in _FORMS.items()}
_MARKS = [_FORMS[form] for form in ("tag", "channel", "token")]
"""Those that may stand elsewhere than at the beginning of a reply."""
_OPENED_LATER = re.compile("|".join(opens for opens, _ in _MARKS), re.IGNORECASE)
_ENDED_LATER = re.compile("|".join(ends for _, ends in _MARKS), re.IGNORECASE)

_SIGN = re.compile(
    r"<(?:[|｜]|/?(?:think|thought|reasoning|scratchpad|seed:|s>)|unused9|channel|"
    r"(?:start|end)_of_turn)|◁|\[/?think\]",
    re.IGNORECASE,
)
"""What each mark that may stand elsewhere than at the beginning begins with."""

_ENDS_TURN = (
    r"<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>"
)
_BEGINS_TURN = (
    r"<\|(?:im_start|start_header_id|user|assistant|system|begin_of_text|START_OF_TURN_TOKEN)\|>"
    r"|<\|start\|>(?!assistant)|<start_of_turn>|<｜[A-Za-z▁]{1,30}｜>|<s>|\[INST\]|<think>"
)
_END_OF_TURN = re.compile(_ENDS_TURN)
_NEXT_TURN = re.compile(rf"(?:{_ENDS_TURN}|</s>)\s{{0,8}}(?:{_BEGINS_TURN})")
_EVERY_MARK = re.compile(
    "|".join(
        [
            _ENDS_TURN,
            _BEGINS_TURN,
            *(mark for name, both in _FORMS.items() if name != "word" for mark in both),
        ]
    ),
    re.IGNORECASE,
)
_FIRST_MARKS = ("<|START_RESPONSE|>", "<|begin_of_solution|>")
_LAST_MARK = re.compile(rf"(?:{_ENDS_TURN}|</s>|<\|(?:END_RESPONSE|end_of_solution)\|>)\Z")
_LONGEST_MARK, _MOST_LAST_MARKS, _MOST_TURNS = 40, 3, 4
_WRAPPED = re.compile(r"<(answer|response|output)>(.*)</\1>", re.IGNORECASE | re.DOTALL)
_INVISIBLE = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})  # a zero-width space is, too
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}

_SEVERAL = "the thoughts of the reply end in several places"
_EARLY = "the reply has another turn in it, and thoughts that end after that"
_LATE = "the thoughts at the end of the reply hold an answer"


class PartedText(NamedTuple):
    """What was said in the text of a reply, without the thoughts around it.

    `start` and `end` are the indexes in the text between which the said part stands; `start` is 0
    if the text does not begin with thoughts. `endless` is True if the thoughts never end. `doubt`
    says why the said part may be another one, if it may.
    """

    spoken: str
    start: int
    end: int
    endless: bool = False
    doubt: str = ""


def lacks_room(reply: Reply) -> bool:
    """Whether the reply met the limit of tokens, so that a higher one may help."""
    return reply.finish_reason.casefold() in _NO_ROOM


def check_finished(reply: Reply) -> None:
    """Raise ParseError for a reply that was cut off or withheld."""
    if reply.finish_reason.casefold() in _CUT_OFF:
        raise ParseError("the reply was cut off", f"finish reason {reply.finish_reason}")


def finished_text(reply: Reply) -> str:
    """The text of a reply without the thoughts around it.

    Raises ParseError if the reply was cut off or says nothing.
    """
    check_finished(reply)
    return require_speech(part_text(reply.text), reply)


def require_speech(parted: PartedText, reply: Reply) -> str:
    """The said part of `parted`, the text of `reply`.

    Raises ParseError if it is empty or in doubt.
    """
    if parted.spoken and parted.doubt:
        raise ParseError(parted.doubt)
    if parted.spoken:
        return parted.spoken
    if parted.endless:
        raise ParseError("the reply is empty: its thoughts never end")
    if parted.start or reply.reasoning.strip():
        raise ParseError("the reply is empty: it has thoughts alone")
    raise ParseError("the reply is empty")


def quotes_mark(text: str, asked: Sequence[Message]) -> bool:
    """Whether `text`, a reply to `asked`, has a mark that the prompt shows, as it is or encoded.

    Then nothing tells quoted marks from those of the model.
    """
    if not _has_marks(text):
        return False
    shown = _bare(unquote(html.unescape("".join(message.text for message in asked))))
    return any(_bare(mark[0]) in shown for mark in _EVERY_MARK.finditer(text))


def _bare(text: str) -> str:
    """`text` in lower case, without white space."""
    return "".join(text.casefold().split())


def part_text(text: str, answers: Sequence[Span] = ()) -> PartedText:
    """Separate what was said in `text` from what was thought.

    `answers` are the places in `text`, in order, of answers in the requested form. A mark inside an
    answer is a quotation. After the last answer, a mark in the middle of a line is also a
    quotation, unless the text began with thoughts. Without `answers`, all that was said is one.

    What follows the turn was not said: another turn that the model made up, between the marks of
    its chat template, or without `answers` whatever stands after a mark that ends the turn.
    """
    if not _has_marks(text):
        return PartedText(_without_marks(text), 0, len(text))
    for turn, _ in islice(_unquoted(text, _NEXT_TURN, 0, answers), _MOST_TURNS):
        parted = _part_turn(text[:turn], [span for span in answers if span[1] <= turn])
        if not parted.endless:  # otherwise thoughts speak of the mark
            return parted._replace(doubt=_EARLY) if _end_later(text, turn, answers) else parted
    return _part_turn(text, answers)


def _has_marks(text: str) -> bool:
    """Whether a mark may be in the text; most replies have none."""
    return _SIGN.search(text) is not None or _OPENED.match(text) is not None


def _end_later(text: str, turn: int, answers: Sequence[Span]) -> bool:
    """Whether thoughts end after `turn` that do not begin there."""
    ended = next(_unquoted(text, _ENDED_LATER, turn, answers), None)
    opened = _OPENED_LATER.search(text, turn)
    return ended is not None and (opened is None or ended[0] < opened.start())


def _part_turn(text: str, answers: Sequence[Span]) -> PartedText:
    parted = _before_last_thoughts(text, answers)
    if parted is not None:
        return parted
    place, doubt = 0, ""
    while (opened := _OPENED.match(text, place)) is not None or place == 0:
        begin = place if opened is None else opened.end()
        ends = _ends_of_thoughts(text, begin, opened, answers)
        if not ends and opened is not None and opened.lastgroup != "word":
            return PartedText("", len(text), len(text), endless=True)
        if not ends:
            break
        between = zip((end for _, end in ends), (start for start, _ in ends[1:]), strict=False)
        if any(_has_speech(text, span, answers) for span in between):
            doubt = _SEVERAL
        place = ends[-1][1]
    spoken, end = _spoken(text, place, answers)
    wrapped = _WRAPPED.fullmatch(spoken) if place else None
    spoken = spoken if wrapped is None else wrapped[2].strip()
    return PartedText(spoken, place, end, doubt=doubt)


def _before_last_thoughts(text: str, answers: Sequence[Span]) -> PartedText | None:
    """What was said before closed thoughts that end `text`; None if there are none."""
    opened = next(_unquoted(text, _OPENED_LATER, 0, answers), None)
    if opened is None or _OPENED.match(text) is not None or text.startswith("<|"):
        return None
    ended = next(_unquoted(text, _ENDED_LATER, 0, answers), None)
    if ended is None or ended[0] < opened[0]:
        return None
    thoughts = _part_turn(text[opened[0] :], ())
    if thoughts.spoken or thoughts.endless or thoughts.doubt:
        return None
    spoken, end = _spoken(text[: opened[0]], 0, answers)
    has_answer = any(start >= opened[0] for start, _ in answers)
    return PartedText(spoken, 0, end, doubt=_LATE if has_answer else "")


def _ends_of_thoughts(
    text: str, begin: int, opened: re.Match[str] | None, answers: Sequence[Span]
) -> list[Span]:
    """The marks that may end thoughts from `begin` on; none if no thoughts begin there."""
    marks = _ENDED_LATER if opened is None else _ENDED[str(opened.lastgroup)]
    ends = list(_unquoted(text, marks, begin, answers))
    if opened is not None or not answers:
        return ends
    length = len(text.rstrip())
    last_answer = answers[-1][0]
    has_thoughts = any(end[1] <= last_answer or _is_at_border(text, end, length) for end in ends)
    return ends if has_thoughts else []


def _is_at_border(text: str, mark: Span, length: int) -> bool:
    """Whether a mark is at the beginning of a line, or at its end with text after it.

    `length` is the number of characters of the text.
    """
    start, end = mark
    if text[max(0, start - 80) : start].rstrip(" \t")[-1:] in ("", "\n"):
        return True
    return end < length and text[end : end + 80].lstrip(" \t\r")[:1] == "\n"


def _has_speech(text: str, span: Span, answers: Sequence[Span]) -> bool:
    """Whether something was said between two marks: an answer or, without `answers`, anything."""
    if _OPENED.match(text, *span) is not None:
        return False
    if not answers:
        return bool(_without_marks(text[slice(*span)]))
    first = bisect_left(answers, span[0], key=itemgetter(0))
    return first < len(answers) and answers[first][0] < span[1]


def _unquoted(
    text: str, mark: re.Pattern[str], begin: int, answers: Sequence[Span]
) -> Iterator[Span]:
    """The marks from `begin` on that stand neither between quotation marks nor inside an answer."""
    for found in mark.finditer(text, begin):
        start, end = found.span()
        if _QUOTES.get(text[start - 1 : start], "none") == text[end : end + 1]:
            continue
        before = bisect_right(answers, start, key=itemgetter(0)) - 1
        if before < 0 or answers[before][1] <= start:
            yield start, end


def _spoken(text: str, begin: int, answers: Sequence[Span]) -> tuple[str, int]:
    """What is said from `begin` on, without marks, and where the turn ends.

    A text with `answers` only ends where another turn begins: it may speak of such marks.
    """
    marks = _NEXT_TURN if answers else _END_OF_TURN
    end = next((start for start, _ in _unquoted(text, marks, begin, answers)), len(text))
    return _without_marks(text[begin:end]), end


def _without_marks(text: str) -> str:
    """`text` without the marks that a chat template puts around the said part."""
    text = text.strip()
    if all(unicodedata.category(sign) in _INVISIBLE for sign in text):
        return ""
    for mark in _FIRST_MARKS:
        text = text.removeprefix(mark)
    for _ in range(_MOST_LAST_MARKS):
        found = _LAST_MARK.search(text, max(0, len(text) - _LONGEST_MARK))
        if found is None:
            break
        text = text[: found.start()].rstrip()
    return text.lstrip()
