"""Semantic Relevance: the share of the items recommended in the text that are in the list."""

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, by_share, join_first, not_applicable, scored


def semantic_relevance(log: AnnotatedLog) -> Outcome:
    """Score the share of recommended items in the list; 0 without a recommendation.

    These are the items that the system names before the user does. A title that the catalogue does not have is never in the list.
    """
    if log.log.items_linked:
        return not_applicable(LINKED_LIST)
    if log.log.names_filled:
        return not_applicable(FILLED_NAMES)
    named = [(turn, mention) for turn in log.system for mention in turn.new]
    if not named:
        return scored(0, "the text recommends nothing")
    ids = {item.id for item in log.session}
    missing = [
        turn.finding("not listed", f"{mention.text!r} is not in the list", mention.text)
        for turn, mention in named
        if mention.key not in ids
    ]
    names = join_first([finding.quote for finding in missing])
    noun, quoted = f"recommended {log.domain.item}", f"not {names}" if names else ""
    return by_share(len(named) - len(missing), len(named), noun, "in the list", missing, quoted)
