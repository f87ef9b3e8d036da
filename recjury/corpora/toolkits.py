"""Forms of other people's tools: ShareGPT, DialogueKit, and CRSArena's data."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recjury.corpora.messages import turns_of

_CALLS, _RESULTS = frozenset({"function_call", "tool_call"}), frozenset({"observation", "tool"})
_ARENA_ID = re.compile(r"(?P<system>.+_(?P<data>[a-z]+))_[0-9a-f-]{36}")


def is_sharegpt(value: Any) -> bool:
    """Whether it is an object with `conversations` of `from` and `value`."""
    return _has_list(value, "conversations", "from")


def read_sharegpt(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The conversation; its `system` is a prompt, and no name. Raises ValueError."""
    said = list(map(_message, value["conversations"]))
    return {**value, "system": value.get("model"), "interaction": turns_of(said)}


def _message(said: Any) -> Any:
    if not isinstance(said, Mapping):
        return said
    role, text = str(said.get("from")).lower(), said.get("value")
    if role in _CALLS:
        call = {"name": "", "arguments": text}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "tool" if role in _RESULTS else role, "content": text}


def is_dialoguekit(value: Any) -> bool:
    """Whether it is an object with a `conversation` of `participant` and `utterance`."""
    return _has_list(value, "conversation", "participant")


def read_dialoguekit(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The conversation; the agent's id is the system's name. Raises ValueError."""
    agent = value.get("agent")
    system = agent.get("id") if isinstance(agent, Mapping) else agent
    id_ = value.get("conversation ID") or value.get("conversation_id")
    said = list(_utterances(value["conversation"], "participant"))
    return {"id": id_, "system": system, "interaction": turns_of(said)}


def is_crsarena(value: Any) -> bool:
    """Whether it is an object with a `dialogue` of `role` and `utterance`."""
    return _has_list(value, "dialogue", "utterance")


def read_crsarena(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The dialogue; its system and its data set stand in its id. Raises ValueError."""
    id_ = str(value.get("conv_id") or "")
    named = _ARENA_ID.fullmatch(id_)
    about = {"system": named["system"], "corpus": f"crsarena-{named['data']}"} if named else {}
    return {"id": id_, **about, "interaction": turns_of(_utterances(value["dialogue"], "role"))}


def _utterances(turns: list[Any], speaker: str) -> Iterator[Any]:
    for turn in turns:
        is_object = isinstance(turn, Mapping)
        yield {"speaker": turn.get(speaker), "text": turn.get("utterance")} if is_object else turn


def _has_list(value: Any, key: str, mark: str) -> bool:
    """Whether an object has a list of objects with a key, or an empty list."""
    listed = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        return False
    return not listed or (isinstance(listed[0], Mapping) and mark in listed[0])
