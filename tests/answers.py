"""Answers of scripted models, which take the answer's code from the prompt as a model would.

Scripts say `<rating>3</rating>` or a JSON object without a code; `in_form` adds the code that the
prompt asks for last. A prompt that asks for none gets the answer as it is.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Sequence

from recjury.llm import Completion
from recjury.llm.scripted import Line
from recjury.records import ChatRequest, Message

_CODE = re.compile(r'(?:<rating code=|"code": )"([a-z0-9]{8})"')
_ANY_CODE = re.compile(r'(?<=")(?:([a-z][0-9]){4}|\x1fcode\x1f)(?=\\*")')
_LISTS = {"particles", "replies"}
_OURS = {"statement", *_LISTS}


def code_in(prompt: str) -> str:
    """The code that a prompt asks for; empty for none."""
    return next(reversed(_CODE.findall(prompt)), "")


def without_code(text: str) -> str:
    """A text with CODE for its answer codes, or for their mark: they differ from store to store."""
    return _ANY_CODE.sub("CODE", text)


def in_form(text: str, prompt: str) -> str:
    """`text` with the code of `prompt` in its ratings, and in its JSON object, where it belongs."""
    code = code_in(prompt)
    if not code:
        return text
    text = text.replace("<rating>", f'<rating code="{code}">')
    start = text.find("{")
    try:
        found, end = json.JSONDecoder().raw_decode(text, max(start, 0))
    except json.JSONDecodeError:
        return text
    if not isinstance(found, dict) or not _OURS & found.keys() or "code" in found:
        return text
    if _LISTS & found.keys():
        return (
            f'{text[:start]}{{"code": "{code}", {text[start + 1 : end - 1]}, "end": "{code}"}}'
            f"{text[end:]}"
        )
    return f'{text[: end - 1]}, "code": "{code}"}}{text[end:]}'


def prompt_of(messages: Sequence[Message]) -> str:
    """All texts of a request, one after the other."""
    return "\n".join(message.text for message in messages)


def in_the_form_asked(
    script: Iterable[Line] | Callable[[ChatRequest], Line],
) -> Callable[[ChatRequest], Line]:
    """A script for `ScriptedModel` whose answers have the code that each request asks for."""
    if callable(script):
        say = script
    else:
        lines = iter(script)

        def say(request: ChatRequest) -> Line:
            try:
                return next(lines)
            except StopIteration:
                raise LookupError(f"no line is left for {request.purpose}") from None

    return functools.partial(_answered, say)


def _answered(say: Callable[[ChatRequest], Line], request: ChatRequest) -> Line:
    line, prompt = say(request), prompt_of(request.messages)
    if isinstance(line, str):
        return in_form(line, prompt)
    if isinstance(line, Completion):
        further = tuple(each._replace(text=in_form(each.text, prompt)) for each in line.further)
        return line._replace(text=in_form(line.text, prompt), further=further)
    return line
