"""Recommendation lists made of the names in the system's texts, for logs that have no lists."""

from functools import lru_cache, partial
from pathlib import Path

from recjury.corpora.opening import corpus_name, known_corpus
from recjury.errors import DataError
from recjury.knowledge import Catalogue, named_items
from recjury.records import ConversationLog, ItemRef, Speaker, Turn, first_hit

_REMEMBERED = 8  # corpora


class ItemLinker:
    """Gives logs without lists the items that their texts name."""

    def __init__(self, data: Path | None = None):
        """`data` is the folder of public data, for logs about a corpus that needs it."""
        self._corpus = lru_cache(_REMEMBERED)(partial(known_corpus, data=data))

    def link(self, log: ConversationLog) -> ConversationLog:
        """`log` with lists made of its texts, marked as `items_linked`.

        A log is returned as it is if any system turn has a list. Raises DataError if the catalogue
        of a log without lists is not known.
        """
        if any(turn.items for turn in log.system_turns):
            return log
        corpus = self._corpus(corpus_name(log.scenario.corpus))
        if corpus is None:
            raise DataError(
                f"conversation {log.scenario.record!r} names no catalogue, so its items cannot be "
                'linked: add "catalogue" to its line (redial, opendialkg, sample or a folder)'
            )
        return with_linked_items(log, corpus.catalogue)


def with_linked_items(log: ConversationLog, catalogue: Catalogue) -> ConversationLog:
    """`log` with the items that each system turn names, in text order, as the turn's list.

    Items that the user named earlier are left out: there the system refers to the user's words.
    """
    said = [turn.text for turn in log.scenario.history if turn.speaker is Speaker.USER]
    by_user = {_key(item) for text in said for item in named_items(text, catalogue)}
    turns: list[Turn] = []
    for turn in log.interaction:
        items = named_items(turn.text, catalogue)
        if turn.speaker is Speaker.USER:
            by_user.update(map(_key, items))
            turns.append(turn)
        else:
            new = tuple(item for item in items if _key(item) not in by_user)
            turns.append(turn.model_copy(update={"items": new}))
    return log.model_copy(
        update={
            "interaction": tuple(turns),
            "hit_round": first_hit(turns, log.scenario.targets, log.list_length),
            "items_linked": True,
        }
    )


def _key(item: ItemRef) -> str:
    return item.id if item.id is not None else f"?{item.name.casefold()}"
