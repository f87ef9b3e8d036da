"""What the rule user says once it was told of an item that it is content with."""

from collections.abc import Sequence

from recjury.language.tokens import sentence_texts
from recjury.records import Act, ItemRef, Speaker, Turn
from recjury.simulator.turn_facts import makes_no_sense, words
from recjury.simulator.turn_writer import Spoken, TurnWriter
from recjury.simulator.wants import Want


class AboutHit:
    """Asks about the item, listens, and takes it once something was said about it."""

    def __init__(self, writer: TurnWriter, hit: ItemRef):
        """`writer` knows the mind of the user, who is content with `hit`."""
        self._writer = writer
        self._mind = writer.mind
        known = hit.id is not None and hit.id in writer.mind.catalogue
        self._item = writer.mind.catalogue.item(str(hit.id)) if known else None
        self._id = hit.id
        title = writer.name(self._item) if self._item else hit.name
        self._title = "that one" if writer.nameless else title

    def introduce(self) -> list[Spoken]:
        """Ask about it; then for more, or again for an answer."""
        confused = self._say("garbled") if self._mind.last_turn.broken else []
        if not self._asked:
            return [*confused, *self._welcome(), *self._say("ask_about")]
        *before, last = self._mind.context.interaction
        if self._tells(last, before):
            return [*self._say("told_enough"), *self._say("more")]
        return [*confused, *self._say("back")]

    def close(self) -> list[Spoken]:
        """Take it. What only a list has is not taken before a word was said about it."""
        if self._id in self._mind.past.items(Act.SEEN):
            return self._say("accept_seen")
        if self._was_told():
            return self._say("accept")
        if self._asked:
            return self._say("accept_blind" if self._is_named else "not_told")
        if self._is_named:
            return self._say("accept")
        # It sees it in the list only now: a question would stay open, and nothing was said of it.
        return self._say("leave" if self._mind.traits.mood == "low" else "leave_thanks")

    def _say(self, rule: str, wants: Sequence[Want] = ()) -> list[Spoken]:
        return self._writer.say(rule, self._item, wants, hit=self._title)

    def _welcome(self) -> list[Spoken]:
        """What it says of the item first, by what it knows of it and where it found it."""
        mind = self._mind
        if self._id in mind.past.items(Act.SEEN):
            return self._say("likes_seen")
        named = self._id in mind.last_turn.named
        if named and self._id in mind.named_in_history:
            return self._say("likes_mentioned")
        if not named:
            return self._say("likes_listed")
        wants = mind.wished_before[:1] if not mind.user_turns else ()
        return (self._say("likes_wish", wants) if wants else []) or self._say("likes")

    @property
    def _asked(self) -> bool:
        """Whether the user has asked about it."""
        item = None if self._item is None else self._item.id
        return any(act.act is Act.ASK and act.item == item for act in self._mind.said.acts)

    @property
    def _is_named(self) -> bool:
        """Whether a text of the system has named it."""
        return self._id in self._mind.named_in(self._mind.system_turns)

    def _was_told(self) -> bool:
        """Whether something was said about it since the user asked."""
        turns = self._mind.context.interaction
        asked = False
        for at, turn in enumerate(turns):
            if turn.speaker is Speaker.SYSTEM and asked and self._tells(turn, turns[:at]):
                return True
            asked = asked or any(
                act.act is Act.ASK and act.item in (self._id, None) for act in turn.acts
            )
        return False

    def _tells(self, turn: Turn, before: Sequence[Turn]) -> bool:
        """Whether a turn tells something of the item: it names it, or names nothing else."""
        named = self._mind.named_in((turn,))
        says = any(not each.endswith("?") for each in sentence_texts(turn.text))
        again = any(words(turn.text) == words(each.text) for each in before)
        about = self._id in named or not named
        return about and says and not again and not makes_no_sense(turn.text, before)
