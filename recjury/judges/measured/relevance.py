"""Semantic Relevance: the share of the items recommended in the text that are in the list."""

from collections.abc import Mapping

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    counted,
    from_share,
    join_first,
    not_applicable,
    scored,
)
from recjury.knowledge import TitleMention


def recommended(log: AnnotatedLog) -> Mapping[TitleMention, int]:
    """The items that the system names and the user had not, each with the index of its turn."""
    items: dict[str, tuple[TitleMention, int]] = {}
    heard = {key for user in log.heard_before for key in user.said.keys}
    for turn in log.system:
        if turn.user is not None:
            heard |= turn.user.said.keys
        for mention in turn.said.named if turn.spoke else ():
            if mention.key not in heard:
                items.setdefault(mention.key, (mention, turn.place))
    return dict(items.values())


def semantic_relevance(log: AnnotatedLog) -> Outcome:
    """Score the share of recommended items in the list by `from_share`; 0 without a recommendation.

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
    missing = {mention: index for mention, index in items.items() if mention.id not in ids}
    there = len(items) - len(missing)
    findings = [
        Finding(index, "not listed", f"{mention.text!r} is not in the list", mention.text)
        for mention, index in missing.items()
    ]
    summary = f"{there} of {counted(len(items), f'recommended {log.domain.item}')} in the list"
    names = join_first([mention.text for mention in missing])
    score = from_share(there, len(items))
    return scored(score, summary, findings, quoted=f"not {names}" if names else "")
