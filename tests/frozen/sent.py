"""What was sent to a model's endpoint, by the purpose of the calls."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.answers import without_code
from tests.frozen import adapter
from tests.scripted_server import Body

_SHOWN = 60  # characters of a paragraph that stands further up


def _messages(body: Body) -> tuple[tuple[str, str], ...]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return tuple((each["role"], without_code(each["content"])) for each in messages)


def by_purpose(store: str, bodies: Iterable[Body]) -> dict[str, list[str]]:
    """The different requests for each purpose, as sorted JSON; `store` has the calls."""
    purposes = {
        tuple((role, without_code(text)) for role, text in messages): purpose
        for purpose, messages in adapter.stored_calls(store)
    }
    found: dict[str, set[str]] = defaultdict(set)
    for body in bodies:
        sent = {name: value for name, value in body.items() if name != "model"}
        plain = without_code(json.dumps(sent, sort_keys=True))
        found[purposes[_messages(body)]].add(plain)
    return {purpose: sorted(found[purpose]) for purpose in sorted(found)}


def shown(requests: dict[str, list[str]], seen: set[str]) -> str:
    """The shortest request for each purpose, to be read, without the paragraphs `seen` before."""
    lines: list[str] = []
    for purpose, bodies in requests.items():
        body = json.loads(min(bodies, key=lambda each: (len(each), each)))
        settings = {name: value for name, value in sorted(body.items()) if name != "messages"}
        lines.append(f"########## {purpose} {json.dumps(settings)}")
        for role, text in _messages(body):
            lines.append(f"===== {role}")
            lines.extend(_cut(text, seen))
    return "\n\n".join(lines) + "\n"


def _cut(text: str, seen: set[str]) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph in seen and len(paragraph) > _SHOWN:
            yield f"[{paragraph[:_SHOWN]}...]".replace("\n", " ")
        else:
            yield paragraph
        seen.add(paragraph)


def digests(requests: dict[str, list[str]]) -> dict[str, str]:
    """How many different requests there are for each purpose, and their digest."""
    return {
        purpose: f"{len(bodies)} x {hashlib.sha256(json.dumps(bodies).encode()).hexdigest()[:16]}"
        for purpose, bodies in requests.items()
    }
