"""What a scripted model says: the same text for the same prompt, in the form that is asked for."""

import hashlib
import json
import re

from recjury.corpora import open_corpus

_RATING = re.compile(r'<rating code="([a-z0-9]{8})">')
_OBJECT = re.compile(r'"code": "([a-z0-9]{8})"')
_SCALE = re.compile(r"whole number from (\d+) to (\d+)")


def reply_to(prompt: str, *, salt: str = "") -> str:
    """A rating, a statement, or an utterance that names films of the sample."""
    number = _number(_RATING.sub("", _OBJECT.sub("", prompt)) + salt)
    if found := _RATING.findall(prompt):
        scale = _SCALE.search(prompt)
        low, high = (int(scale[1]), int(scale[2])) if scale else (0, 2)
        score = low + number % (high - low + 1)
        return f'Turn {number % 3} speaks for it. <rating code="{found[-1]}">{score}</rating>'
    if found := _OBJECT.findall(prompt):
        words = f"I weigh my factors, see {number % 89}."
        return json.dumps({"statement": words, "score": 40 + number % 5, "code": found[-1]})
    films = _films()
    first, second = films[number % len(films)], films[number // 7 % len(films)]
    return f"How about {first} or {second}? Number {number % 997}."


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8], 16)


def _films() -> list[str]:
    return [item.ref.name for item in open_corpus("sample").catalogue]
