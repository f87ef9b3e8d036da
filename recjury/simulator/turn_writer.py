"""Writes the sentences of one turn of the rule user, with the acts that they do."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from recjury.records import Act, Attribute, DeclaredAct, Item, Utterance
from recjury.simulator.templates import Speech, rules
from recjury.simulator.user_mind import UserMind
from recjury.simulator.wants import Want, a_noun, plural, thing


class Spoken(NamedTuple):
    """A sentence and what it does."""

    text: str
    acts: tuple[DeclaredAct, ...]


class TurnWriter:
    """Says sentences by rule, with their acts."""

    def __init__(self, mind: UserMind, draw: Random, *, nameless: bool = False):
        """`draw` chooses the words; a `nameless` turn says no titles."""
        self.mind = mind
        self.draw = draw
        self.nameless = nameless
        said = [turn.text for turn in mind.user_turns]
        self._speech = Speech(draw, said, mind.traits, mind.domain.name)
        self.happens = self._speech.happens

    def say(
        self,
        rule: str,
        item: Item | None = None,
        wants: Sequence[Want] = (),
        refused: Sequence[Attribute] = (),
        **slots: str,
    ) -> list[Spoken]:
        """A sentence of a rule, about an item, that says `wants`; [] if none is left to say."""
        domain = self.mind.domain
        words = {
            "noun": domain.item,
            "nouns": domain.items,
            "a_noun": a_noun(domain),
            "verb": domain.verb,
            "done": domain.done,
            "item": "" if item is None else self.name(item),
            **self._slots(wants),
            **slots,
        }
        text = self._speech.say(rule, words)
        acts = _acts(rule, None if item is None else item.id, wants, refused)
        return [Spoken(text, tuple(acts))] if text else []

    def name(self, item: Item) -> str:
        """The title, unless the turn says none."""
        return "that one" if self.nameless else item.title

    def _slots(self, wants: Sequence[Want]) -> dict[str, str]:
        if not wants:
            return {}
        first, domain = wants[0], self.mind.domain
        slots = {"thing": thing(wants, domain), "value": first.value, "words": first.words}
        if first.is_category:
            slots["kinds"] = plural(first, domain)
        else:
            slots["with"] = first.words.removesuffix(first.value).strip()
        return slots


def _acts(
    rule: str, item: str | None, wants: Sequence[Want], refused: Sequence[Attribute]
) -> Iterator[DeclaredAct]:
    """What a sentence of a rule does: its acts, of the item and the values that it says."""
    for act in rules()[rule].acts:
        if act is Act.WISH and wants:
            yield from (want.act for want in wants)
        elif act in (Act.THANK, Act.BYE, Act.CHAT, Act.WISH):
            yield DeclaredAct(act=act)
        elif act is not Act.REFUSE or item is not None or not refused:
            yield DeclaredAct(act=act, item=item)
        if act is Act.REFUSE:
            yield from (DeclaredAct(act=act, attribute=k, value=v) for k, v in refused)


def utterance(spoken: Sequence[Spoken]) -> Utterance:
    """The sentences as one turn; one that does nothing else is a chat."""
    acts = dict.fromkeys(act for each in spoken for act in each.acts)
    chat = DeclaredAct(act=Act.CHAT)
    declared = tuple(act for act in acts if act != chat) or (chat,)
    return Utterance(text=" ".join(each.text for each in spoken), acts=declared)
