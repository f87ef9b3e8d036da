"""Semantic Relevance: the share of the items recommended in the text that are in the list."""

from collections.abc import Mapping

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    by_share,
    join_first,
    not_applicable,
    scored,
)


def recommended(log: AnnotatedLog) -> Mapping[str, Finding]:
    """The items that the system names and the user had not, by key, with where it names them."""
    items: dict[str, Finding] = {}
    heard = {key for user in log.heard_before for key in user.said.keys}
    for turn in log.system:
        if turn.user is not None:
            heard |= turn.user.said.keys
        for mention in turn.said.named if turn.spoke else ():
            if mention.key not in heard:
                note = f"{mention.text!r} is not in the list"
                found = Finding(turn.place, "not listed", note, mention.text)
                items.setdefault(mention.key, found)
    return items


def semantic_relevance(log: AnnotatedLog) -> Outcome:
    """Score the share of recommended items in the list ; 0 without a recommendation.

    A title that the catalogue does not have is never in the list.
    """
    if log.log.items_linked:
        return not_applicable(LINKED_LIST)
    if log.log.names_filled:
        return not_applicable(FILLED_NAMES)
    items = recommended(log)
    if not items:
        return scored(0, "the text recommends nothing")
    ids = {item.id for item in log.session if item.id is not None}
    missing = [finding for key, finding in items.items() if key not in ids]
    names = join_first([finding.quote for finding in missing])
    noun, quoted = f"recommended {log.domain.item}", f"not {names}" if names else ""
    return by_share(len(items) - len(missing), len(items), noun, "in the list", missing, quoted)
