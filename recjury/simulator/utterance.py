"""Reads the simulated user's utterance from a model's reply; rejects everything else."""

import re

from recjury.errors import ParseError
from recjury.llm import finished_text
from recjury.records import Reply

LONGEST = 1000

_OWN_LABEL = re.compile(r"\A\s*\**(?:user|seeker|me|utterance)\**\s*:\**\s*", re.IGNORECASE)
_OTHER_SPEAKER = re.compile(
    r"^\s*\**(?:system|recommender|assistant|user|seeker)\**\s*:", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(
    r"</?(?:user|system|item|target_items|interaction|history|utterance|think)\b", re.IGNORECASE
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


def read_utterance(reply: Reply) -> str:
    """The utterance in a reply: plain text of at most `LONGEST` characters.

    A leading "User:" and quotation marks around the whole text are removed. Raises ParseError if
    the reply is empty, cut off, structured data, a refusal, or a script for both speakers.
    """
    text = _OWN_LABEL.sub("", finished_text(reply), count=1).strip()
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    if not any(sign.isalnum() for sign in text):
        raise ParseError("the utterance holds no words")
    if len(text) > LONGEST:
        raise ParseError(f"the utterance is {len(text)} characters long, at most {LONGEST} wanted")
    if _STRUCTURED.match(text):
        raise ParseError("structured data came instead of plain text")
    if _TAG.search(text) or _OTHER_SPEAKER.search(text):
        raise ParseError("more than the user's own next utterance came")
    if _REFUSAL.search(text):
        raise ParseError("the model refused to play the user")
    return text
