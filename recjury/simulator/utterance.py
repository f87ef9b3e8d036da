"""From a model's reply to what a simulated user says. Raises Unreadable."""

import re

from recjury.errors import Unreadable
from recjury.records import Completion

LONGEST = 1000
"""Characters of an utterance."""

_OWN_LABEL = re.compile(
    r"\A\s*\**(?:user|seeker|me|utterance|your utterance)\**\s*:\**\s*", re.IGNORECASE
)
_OTHER_SPEAKER = re.compile(
    r"^\s*\**(?:system|recommender|assistant|user|seeker)\**\s*:", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(
    r"</?(?:user|system|item|target_items|interaction|history|utterance|think)\b|<\|",
    re.IGNORECASE,
)
_STRUCTURED = re.compile(r"\A\s*(?:```|[{\[]\s*(?:[\"{\[]|\Z))")
_REFUSAL = re.compile(
    r"\bas an? (?:ai|artificial intelligence)\b|\b(?:ai|large) language model\b"
    r"|\bi(?: am|['’]m) (?:sorry|afraid),? (?:but )?(?:i )?"
    r"(?:can(?:no|['’])t|am unable to|won['’]t) "
    r"(?:assist|help|comply|fulfil|continue|engage|participate|do that|provide)"
    r"|\bi can(?:no|['’])t (?:assist|comply|fulfil|continue|participate|role-?play)"
    r"|\bi(?: am|['’]m) unable to (?:assist|comply|fulfil|continue|participate|role-?play)",
    re.IGNORECASE,
)
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’"}
_SENTENCES = re.compile(r".*[.!?…][\"'”’)]*(?=\s|\Z)", re.DOTALL)


def read_utterance(reply: Completion) -> str:
    """The utterance of a reply: plain text of at most `LONGEST` characters.

    The user's own label and quotation marks around the whole are removed. A reply that the limit
    cut off ends with its last whole sentence. Raises Unreadable if the reply is empty, structured
    data, a refusal, or speaks for both sides.
    """
    text = _unwrapped(_whole(reply))
    if not any(sign.isalnum() for sign in text):
        raise Unreadable("it has no words")
    if len(text) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST} characters")
    if _STRUCTURED.match(text):
        raise Unreadable("it is structured data and not plain text")
    if _TAG.search(text) or _OTHER_SPEAKER.search(text):
        raise Unreadable("it is more than your own next utterance")
    if _REFUSAL.search(text):
        raise Unreadable("it does not stay in the role")
    return text


def _whole(reply: Completion) -> str:
    if reply.finish != "length":
        return reply.text
    if not (whole := _SENTENCES.match(reply.text)):
        raise Unreadable("it was cut off in its first sentence")
    return whole[0]


def _unwrapped(text: str) -> str:
    text = _OWN_LABEL.sub("", text, count=1).strip()
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text
