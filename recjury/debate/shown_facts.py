"""What stored prompts show of a corpus, so that they can be rendered again: the facts of the items
in their lists, and the Domain Expert of the corpus's items.

A store has no catalogue, and the catalogue of today may know other things than that of the day.
"""

import html
import re
from collections.abc import Iterable
from contextlib import suppress

from recjury.errors import StoreError
from recjury.records import ConversationLog, DebateTranscript, Expert, ItemRef, Role
from recjury.store import Store

_SHOWN = "<facts>"
_ROW = re.compile(r"^([0-9]{1,9})\. [^<\n]* <facts>([^<\n]*)</facts>$", re.MULTILINE)
_EXPERT = re.compile(
    r"\A[^\n]*\n\n(?P<who>[^\n]+)\n\n.*?\n\nWhat you bring along:\n(?P<expertise>.+?)\n\n",
    re.DOTALL,
)


class ShownFacts:
    """The facts of a log's items, as prompts showed them.

    Items are told apart by their places in the lists, because two may have one name.
    """

    digest = ""

    def __init__(self, prompts: Iterable[str], log: ConversationLog):
        """Read the lists in `prompts`; texts of others in them cannot have tags."""
        lists = {"recommendation_list": log.session_list(), "target": log.scenario.targets}
        self._facts: dict[tuple[str | None, str], str] = {}
        for prompt in prompts:
            for tag, items in lists.items():
                rows = prompt.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]
                for number, facts in _ROW.findall(rows):
                    for item in items[int(number) - 1 : int(number)]:
                        self._facts[item.id, item.name] = html.unescape(facts)

    def __call__(self, item: ItemRef) -> str:
        """The facts of an item; empty if no prompt showed any."""
        return self._facts.get((item.id, item.name), "")


def shown_facts(
    store: Store, transcript: DebateTranscript, log: ConversationLog
) -> ShownFacts | None:
    """The facts that the prompts of a stored debate on `log` showed; None if they showed none.

    Altered calls are left out.
    """
    prompts: list[str] = []
    for identity in dict.fromkeys(call for said in transcript.statements for call in said.calls):
        with suppress(StoreError):
            prompts += [message.text for message in store.call(identity).request.messages]
    return ShownFacts(prompts, log) if any(_SHOWN in prompt for prompt in prompts) else None


def shown_expert(store: Store, transcript: DebateTranscript) -> Expert | None:
    """The Domain Expert as the first prompt of its role in a stored debate describes it.

    None if no call of the role is stored unaltered. Each prompt of the debate is compared with
    this one, and the version of the corpus's domain is part of the evaluation's data.
    """
    said = (each for each in transcript.statements if each.role is Role.DOMAIN_EXPERT)
    for identity in (call for each in said for call in each.calls):
        with suppress(StoreError):
            expert = expert_in(store.call(identity).request.messages[0].text)
            if expert is not None:
                return expert
    return None


def expert_in(prompt: str) -> Expert | None:
    """The role that a prompt describes; None if it has another form."""
    match = _EXPERT.search(prompt)
    if match is None:
        return None
    skills = (line.removeprefix("- ") for line in match["expertise"].strip().splitlines())
    return Expert(who=match["who"], expertise=tuple(skills))
