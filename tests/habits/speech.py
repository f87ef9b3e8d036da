"""Replies of simulated users and of systems that are models."""

from tests.habits.habit import SPEAKERS, habit
from tests.habits.meaning import Meaning, message, said
from tests.scripted_server import Answer

USER = frozenset({"user"})
SYSTEM = frozenset({"system"})


@habit("speech", "failed", on=SPEAKERS)
def no_text_in_the_conversation(meant: Meaning) -> Answer:
    """an empty text"""
    return said("")


@habit("speech", "failed", on=SPEAKERS)
def null_text_in_the_conversation(meant: Meaning) -> Answer:
    """`content: null`"""
    return said(None)


@habit("speech", "failed", on=SPEAKERS)
def blank_text_in_the_conversation(meant: Meaning) -> Answer:
    """spaces, line breaks and zero-width characters"""
    return said(" \n\u200b\u00a0\n ")


@habit("speech", "failed", on=SPEAKERS)
def cut_off_in_the_conversation(meant: Meaning) -> Answer:
    """`finish_reason: length`"""
    return said(meant.words[:20], "length")


@habit("speech", "failed", on=SPEAKERS)
def filtered_in_the_conversation(meant: Meaning) -> Answer:
    """`finish_reason: content_filter`"""
    return said(meant.words[:20], "content_filter")


@habit("speech", "read", on=USER)
def own_name_before_the_words(meant: Meaning) -> Answer:
    """`User: ...`"""
    return said(f"**User:** {meant.words}")


@habit("speech", "read", on=USER)
def quotation_marks_around(meant: Meaning) -> Answer:
    """the whole utterance in quotation marks"""
    return said(f"“{meant.words}”")


@habit("speech", "failed", on=USER)
def plays_both_sides(meant: Meaning) -> Answer:
    """the user's turn, and the system's next one"""
    return said(f"{meant.words}\nSystem: Then try Alien (1979).\nUser: Fine.")


@habit("speech", "failed", on=USER)
def refusal_of_the_user(meant: Meaning) -> Answer:
    """a refusal in words"""
    return said("I'm sorry, but I can't assist with that request.")


@habit("speech", "failed", on=USER)
def json_of_the_user(meant: Meaning) -> Answer:
    """a JSON object instead of an utterance"""
    return said(f'{{"utterance": "{meant.words}"}}')


@habit("speech", "failed", on=SYSTEM)
def tool_call_of_the_system(meant: Meaning) -> Answer:
    """a call of a function instead of a text"""
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    return message(content=None, tool_calls=[call], finish_reason="tool_calls")
